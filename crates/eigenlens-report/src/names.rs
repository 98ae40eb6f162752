//! Names as data bring them: of any length, with any characters, never trusted.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// The name on one line, without characters that command: line breaks become spaces, control and
/// direction-changing characters the replacement character.
pub(crate) fn clean(name: &str) -> Cow<'_, str> {
    if name.chars().all(|c| tamed(c) == c) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.chars().map(tamed).collect())
    }
}

/// The cleaned name with the five characters of XML and HTML escaped.
pub(crate) fn escape(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for c in clean(name).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// Shortens in the middle, where names of one family differ least, until `width` of the result is
/// at most `limit`. The cleaned name itself where it fits.
pub(crate) fn shorten(name: &str, limit: f64, width: impl Fn(&str) -> f64) -> String {
    let name = clean(name);
    // No line of ours holds more; without this a name of megabytes would be measured again and again.
    const MOST: usize = 400;
    let chars: Vec<char> = name.chars().take(MOST + 1).collect();
    if chars.len() <= MOST && width(&name) <= limit {
        return name.into_owned();
    }
    let tail: Vec<char> = name.chars().rev().take(MOST).collect();
    let cut = |kept: usize| -> String {
        let end = kept / 3;
        let mut text: String = chars.iter().take(kept - end).collect();
        text.push('…');
        let ending: Vec<char> = tail.iter().take(end).rev().copied().collect();
        // A combining mark without its letter would cling to the ellipsis.
        text.extend(ending.iter().skip_while(|c| c.width() == Some(0)));
        text
    };
    // Widths grow with the characters kept, so halving finds the most that fit.
    let (mut fits, mut too_many) = (0, chars.len());
    while fits + 1 < too_many {
        let middle = (fits + too_many) / 2;
        if width(&cut(middle)) <= limit {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    cut(fits)
}

fn tamed(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => ' ',
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => '\u{fffd}',
        '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => '\u{fffd}',
        '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        _ if c.is_control() => '\u{fffd}',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> f64 {
        text.chars().count() as f64
    }

    #[test]
    fn commands_are_disarmed() {
        assert_eq!(clean("a\u{1b}[31mb\nc\u{202e}d\0"), "a\u{fffd}[31mb c\u{fffd}d\u{fffd}");
        assert_eq!(
            escape("<a href='x'>&\"</a>"),
            "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;"
        );
    }

    #[test]
    fn short_names_stay_and_long_names_keep_both_ends() {
        assert_eq!(shorten("petal_length", 12.0, count), "petal_length");
        let cut = shorten("expression_of_gene_0042", 12.0, count);
        assert_eq!(cut, "expressi…042");
        assert_eq!(shorten("anything", 0.0, count), "…");
    }

    #[test]
    fn huge_names_are_cut() {
        let name = "x".repeat(5_000_000);
        assert_eq!(count(&shorten(&name, 1e9, count)), 401.0);
        assert_eq!(count(&shorten(&name, 20.0, count)), 20.0);
    }
}
