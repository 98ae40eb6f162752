//! What is said on stderr.

use crate::failure::Failure;
use std::io::{IsTerminal, Write};

/// The voice of the program: results go to stdout, talk to stderr.
pub struct Reporter {
    quiet: bool,
    color: bool,
    pub terminal: bool,
}

impl Reporter {
    /// `quiet` says nothing but warnings and errors.
    pub fn new(quiet: bool) -> Reporter {
        let terminal = std::io::stderr().is_terminal();
        Reporter { quiet, color: terminal && wants_color(), terminal }
    }

    /// Whether progress is shown.
    pub fn shows_progress(&self) -> bool {
        self.terminal && !self.quiet
    }

    /// A line of what is going on.
    pub fn info(&self, line: impl AsRef<str>) {
        if !self.quiet {
            put(&disarm(line.as_ref()));
        }
    }

    /// Something the user should know.
    pub fn warn(&self, warning: impl AsRef<str>) {
        put(&format!("{} {}", self.paint("33", "warning:"), disarm(warning.as_ref())));
    }

    /// Why nothing came of it.
    pub fn fail(&self, failure: &Failure) {
        let Some(words) = failure.words() else { return };
        put(&format!("{} {}", self.paint("31;1", "error:"), disarm(&words.error)));
        if let Some(data) = &words.data {
            put(&format!("  data: {}", disarm(data)));
        }
        if let Some(hint) = &words.hint {
            put(&format!("{} {}", self.paint("36", "hint:"), disarm(hint)));
        }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.into() }
    }
}

/// Whether colours are welcome where there is a terminal.
pub fn wants_color() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
        && std::env::var_os("TERM").is_none_or(|v| v != "dumb")
}

/// The text without characters that would command a terminal: names come from files.
pub fn disarm(text: &str) -> String {
    let tame = |c: char| {
        let commands = (c.is_control() && c != '\n')
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if commands { c.escape_default().to_string() } else { c.to_string() }
    };
    text.chars().map(tame).collect()
}

fn put(line: &str) {
    // Where stderr is closed there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_command_the_terminal() {
        assert_eq!(disarm("a\u{1b}[31mb\u{202e}c\td"), "a\\u{1b}[31mb\\u{202e}c\\td");
        assert_eq!(disarm("naïve — 数\n"), "naïve — 数\n");
    }
}
