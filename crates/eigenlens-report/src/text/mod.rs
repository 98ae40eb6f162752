//! Small plots for the terminal, as lines of text.
//!
//! Names are cleaned: no escape sequence of theirs reaches the terminal.

mod scores;
mod scree;

pub use scores::scores;
pub use scree::scree;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Columns there are.
    pub width: usize,
    /// Whether block and braille characters may be used; plain ASCII otherwise.
    pub unicode: bool,
    /// Whether colours may be used.
    pub color: bool,
}

impl Default for Options {
    /// Eighty columns of Unicode without colour.
    fn default() -> Options {
        Options { width: 80, unicode: true, color: false }
    }
}

impl Options {
    /// The text in one of the colours of the groups, if colours may be used.
    fn paint(&self, place: usize, text: &str) -> String {
        /// The pictures' colours, as far as every terminal has them.
        const CODES: [&str; 7] = ["34", "31", "32", "35", "33", "36", "37"];
        if self.color {
            format!("\u{1b}[{}m{text}\u{1b}[0m", CODES[place % CODES.len()])
        } else {
            text.to_owned()
        }
    }

    fn dim(&self, text: &str) -> String {
        if self.color { format!("\u{1b}[2m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// The text in ASCII, if that is all there is: signs of our own have ASCII forms, other
    /// characters become question marks.
    fn ascii(&self, text: &str) -> String {
        if self.unicode {
            return text.to_owned();
        }
        let mut plain = String::new();
        for c in text.chars() {
            match c {
                '−' => plain.push('-'),
                '×' => plain.push('x'),
                '·' => plain.push('.'),
                '…' => plain.push_str("..."),
                '²' => plain.push_str("^2"),
                _ if c.is_ascii() => plain.push(c),
                _ => plain.push('?'),
            }
        }
        plain
    }

    /// A name at most `limit` columns wide.
    fn name(&self, name: &str, limit: usize) -> String {
        use unicode_width::UnicodeWidthStr;
        let name = self.ascii(&crate::names::clean(name));
        // Three dots are wider than the sign they stand for.
        let limit = if self.unicode { limit } else { limit.saturating_sub(2) };
        self.ascii(&crate::names::shorten(&name, limit as f64, |text| text.width() as f64))
    }
}
