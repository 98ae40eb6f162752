//! Where fields and records begin and end. The one place that knows the rules of quoting.
//!
//! - A quote opens a field only at its start, after blanks at most.
//! - Inside, two quotes are one; delimiters and line ends are text.
//! - After the closing quote only blanks may follow.

use memchr::{memchr, memchr3, memrchr2};
use std::borrow::Cow;

/// The marks that shape a text table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    /// Between two fields. Where it is a blank, any run of blanks is one delimiter.
    pub(super) delimiter: u8,
    /// Around fields that hold other marks.
    pub(super) quote: Option<u8>,
}

impl Marks {
    /// Whether runs of blanks separate the fields.
    pub(super) fn is_blank(self) -> bool {
        self.delimiter == b' '
    }

    /// Whether this byte can surround a field without belonging to it.
    #[inline]
    fn is_padding(self, byte: u8) -> bool {
        byte == b' ' || (byte == b'\t' && self.delimiter != b'\t')
    }

    #[inline]
    fn ends_field(self, byte: u8) -> bool {
        byte == self.delimiter
            || matches!(byte, b'\n' | b'\r')
            || (byte == b'\t' && self.is_blank())
    }
}

/// One field.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field<'a> {
    /// Its content: without quotes, or without blanks around it.
    pub(super) content: Cow<'a, [u8]>,
    /// Whether it was in quotes.
    pub(super) is_quoted: bool,
    /// Where its delimiter or line end is.
    pub(super) end: usize,
}

/// What is wrong with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldFault {
    /// The quote that opens at this position is never closed.
    Unclosed(usize),
    /// There is text between the closing quote and the delimiter, from this position on.
    TextAfterQuote(usize),
}

/// Reads the field that begins at `at`, which ends at `len` at the latest.
pub(super) fn field(
    bytes: &[u8],
    at: usize,
    len: usize,
    marks: Marks,
) -> Result<Field<'_>, FieldFault> {
    let bytes = bytes.get(..len).unwrap_or(bytes);
    let start = skip_padding(bytes, at, marks);
    if let Some(quote) = marks.quote
        && bytes.get(start) == Some(&quote)
    {
        return quoted_field(bytes, start, quote, marks);
    }
    let end = find_field_end(bytes, at, marks);
    let content = bytes.get(at..end).unwrap_or_default().trim_ascii();
    Ok(Field { content: Cow::Borrowed(content), is_quoted: false, end })
}

/// The position of the delimiter or line end of an unquoted field.
pub(super) fn find_field_end(bytes: &[u8], at: usize, marks: Marks) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let found = if marks.is_blank() {
        rest.iter().position(|&byte| marks.ends_field(byte))
    } else {
        memchr3(marks.delimiter, b'\n', b'\r', rest)
    };
    found.map_or(bytes.len(), |offset| at + offset)
}

/// The first position from `at` on that is not padding.
#[inline]
pub(super) fn skip_padding(bytes: &[u8], mut at: usize, marks: Marks) -> usize {
    while bytes.get(at).is_some_and(|&byte| marks.is_padding(byte)) {
        at += 1;
    }
    at
}

fn quoted_field(
    bytes: &[u8],
    open: usize,
    quote: u8,
    marks: Marks,
) -> Result<Field<'_>, FieldFault> {
    let mut content: Cow<[u8]> = Cow::Borrowed(&[]);
    let mut piece = open + 1;
    loop {
        let rest = bytes.get(piece..).unwrap_or_default();
        let close = piece + memchr(quote, rest).ok_or(FieldFault::Unclosed(open))?;
        let text = bytes.get(piece..close).unwrap_or_default();
        if content.is_empty() && matches!(content, Cow::Borrowed(_)) {
            content = Cow::Borrowed(text);
        } else {
            content.to_mut().extend_from_slice(text);
        }
        if bytes.get(close + 1) == Some(&quote) {
            content.to_mut().push(quote);
            piece = close + 2;
            continue;
        }
        // In a table separated by blanks the padding is the delimiter.
        let end = if marks.is_blank() { close + 1 } else { skip_padding(bytes, close + 1, marks) };
        return match bytes.get(end) {
            Some(&byte) if !marks.ends_field(byte) => Err(FieldFault::TextAfterQuote(end)),
            _ => Ok(Field { content, is_quoted: true, end }),
        };
    }
}

/// The position after the line end at `at`: LF, CR or CR LF.
#[inline]
pub(super) fn after_line_end(bytes: &[u8], at: usize) -> usize {
    let is_pair = bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n');
    at + 1 + usize::from(is_pair)
}

/// Whether there is nothing but blank lines.
pub(super) fn is_nothing(bytes: &[u8], marks: Marks) -> bool {
    bytes.iter().all(|&byte| marks.is_padding(byte) || matches!(byte, b'\n' | b'\r'))
}

/// The number of line ends: LF, CR or CR LF.
pub(super) fn count_lines(bytes: &[u8]) -> u64 {
    let mut lines = memchr::memchr_iter(b'\n', bytes).count() as u64;
    for at in memchr::memchr_iter(b'\r', bytes) {
        lines += u64::from(bytes.get(at + 1) != Some(&b'\n'));
    }
    lines
}

/// Finds the last end of a record in bytes that begin with one and grow at their end.
#[derive(Clone, Debug)]
pub(super) struct Splitter {
    marks: Marks,
    /// How far the bytes are understood.
    scanned: usize,
    /// Where the quoted field began in which `scanned` lies.
    open: Option<usize>,
    /// The end of the last complete record.
    end: usize,
}

impl Splitter {
    pub(super) fn new(marks: Marks) -> Self {
        Self { marks, scanned: 0, open: None, end: 0 }
    }

    /// The end of the last complete record; 0 while there is none.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Where a quoted field began that is still open.
    pub(super) fn open(&self) -> Option<usize> {
        self.open
    }

    /// Goes on to the end of the bytes; `is_last` when no more will come.
    pub(super) fn scan(&mut self, bytes: &[u8], is_last: bool) {
        let Some(quote) = self.marks.quote else {
            return self.finish_scan(bytes, is_last);
        };
        while let Some(rest) = bytes.get(self.scanned..) {
            let Some(offset) = memchr(quote, rest) else { break };
            let at = self.scanned + offset;
            if self.open.is_some() {
                match bytes.get(at + 1) {
                    // Whether this quote closes depends on what comes next.
                    None if !is_last => {
                        self.scanned = at;
                        return;
                    }
                    Some(&next) if next == quote => self.scanned = at + 2,
                    _ => {
                        self.open = None;
                        self.scanned = at + 1;
                    }
                }
            } else {
                self.look_for_end(bytes, self.scanned, at, is_last);
                if self.opens(bytes, at) {
                    self.open = Some(at);
                }
                self.scanned = at + 1;
            }
        }
        self.finish_scan(bytes, is_last);
    }

    fn finish_scan(&mut self, bytes: &[u8], is_last: bool) {
        if self.open.is_none() {
            self.look_for_end(bytes, self.scanned, bytes.len(), is_last);
        }
        // A carriage return at the end is looked at again, together with what follows it.
        let is_half = self.open.is_none() && !is_last && bytes.last() == Some(&b'\r');
        self.scanned = bytes.len() - usize::from(is_half);
    }

    /// Forgets the complete records, after they have been taken from the bytes.
    pub(super) fn cut(&mut self) {
        self.scanned -= self.end;
        self.open = self.open.map(|open| open - self.end);
        self.end = 0;
    }

    fn opens(&self, bytes: &[u8], at: usize) -> bool {
        let before = bytes.get(..at).unwrap_or_default();
        let last = before.iter().rev().find(|&&byte| !self.marks.is_padding(byte));
        // In a table separated by blanks every blank before a quote ends a field.
        let follows_blank =
            self.marks.is_blank() && before.last().is_some_and(|&byte| self.marks.is_padding(byte));
        follows_blank || last.is_none_or(|&byte| self.marks.ends_field(byte))
    }

    fn look_for_end(&mut self, bytes: &[u8], from: usize, to: usize, is_last: bool) {
        let mut to = to;
        while let Some(at) = bytes.get(from..to).and_then(|part| memrchr2(b'\n', b'\r', part)) {
            let at = from + at;
            // The line feed of a pair may still be to come.
            if bytes[at] == b'\r' && at + 1 == bytes.len() && !is_last {
                to = at;
                continue;
            }
            self.end = at + 1;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: Marks = Marks { delimiter: b',', quote: Some(b'"') };

    #[test]
    fn a_field_ends_where_the_rules_of_quoting_say() {
        let check = |text: &str, content: &str, end: usize| {
            let found = field(text.as_bytes(), 0, text.len(), MARKS);
            let found = found.map(|f| (String::from_utf8_lossy(&f.content).into_owned(), f.end));
            assert_eq!(found, Ok((content.to_owned(), end)), "{text}");
        };
        check("a,b", "a", 1);
        check(" a ,b", "a", 3);
        check("\"a,b\",c", "a,b", 5);
        check(" \"a\" ,c", "a", 5);
        check("\"a\"\"b\"\n", "a\"b", 6);
        check("\"\"\n", "", 2);
        check("\"\"\"\"\"\"\n", "\"\"", 6);
        check("5\" pipe,x", "5\" pipe", 7);
        check("", "", 0);
        assert_eq!(field(b"\"a", 0, 2, MARKS), Err(FieldFault::Unclosed(0)));
        assert_eq!(field(b"\"a\"b,c", 0, 6, MARKS), Err(FieldFault::TextAfterQuote(3)));
    }

    #[test]
    fn records_end_at_the_same_place_however_the_bytes_come() {
        let text = b"a,\"x\ny\"\"\n\",b\r\n1,5\" wide,\"2\"\r3,\"\",4\n\"open\n,";
        let mut whole = Splitter::new(MARKS);
        whole.scan(text, false);
        let expected = text.len() - b"\"open\n,".len();
        assert_eq!(whole.end(), expected);
        assert_eq!(whole.open(), Some(expected));
        for first in 0..text.len() {
            for second in first..text.len() {
                let mut parts = Splitter::new(MARKS);
                parts.scan(&text[..first], false);
                parts.scan(&text[..second], false);
                parts.scan(text, false);
                assert_eq!((parts.end(), parts.open()), (whole.end(), whole.open()));
            }
        }
    }

    #[test]
    fn a_pair_of_line_ends_is_not_taken_apart() {
        let mut splitter = Splitter::new(MARKS);
        splitter.scan(b"1,2\r", false);
        assert_eq!(splitter.end(), 0);
        splitter.scan(b"1,2\r\n3", false);
        assert_eq!(splitter.end(), 5);
        assert_eq!(count_lines(b"a\r\nb\rc\nd"), 3);
    }
}
