//! Tables as CSV or TSV, in numbers that read back to the last bit.

use super::{Complete, Header, NumbersView, Output, TableWriter};
use crate::error::{Error, Result};
use crate::source::Labels;
use ndarray::{ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;

/// How a text table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvStyle {
    /// Between two fields.
    pub delimiter: u8,
}

impl CsvStyle {
    /// Commas.
    pub fn csv() -> Self {
        Self { delimiter: b',' }
    }

    /// Tabs.
    pub fn tsv() -> Self {
        Self { delimiter: b'\t' }
    }
}

/// Writes a text table: a row of names, then for each row its labels and its numbers.
///
/// - Numbers are the shortest decimals that read back to the same bits; NaN is `NaN`.
/// - Text is quoted where a reader would otherwise take it apart: delimiters, quotes, line ends,
///   blanks at either end, and text that is empty.
/// - Text that a spreadsheet would run as a formula (it begins with `=`, `+`, `-`, `@`, a tab or a
///   carriage return, and is not a number) gets an apostrophe in front, inside quotes.
pub struct CsvWriter {
    output: Output,
    style: CsvStyle,
    columns: (usize, usize),
}

impl CsvWriter {
    /// A writer to this output.
    pub fn new(output: Output, style: CsvStyle) -> Self {
        Self { output, style, columns: (0, 0) }
    }

    fn write_rows<T: Format>(&mut self, labels: &[Labels], numbers: ArrayView2<T>) -> Result<()> {
        let delimiter = self.style.delimiter;
        // Pieces are formatted side by side and written in their order, some at a time, so that
        // memory stays small whatever the number of rows. While one group is written the next is
        // formatted.
        let per_row = 24 * numbers.ncols().max(1) + 16 * labels.len();
        let piece = (PIECE_BYTES / per_row).max(1);
        let starts: Vec<usize> = (0..numbers.nrows()).step_by(piece).collect();
        let format_piece = |text: &mut Vec<u8>, start: usize| {
            text.clear();
            for row in start..(start + piece).min(numbers.nrows()) {
                for label in labels {
                    push_text(text, label.get(row).unwrap_or_default(), delimiter);
                    text.push(delimiter);
                }
                push_numbers(text, numbers.index_axis(Axis(0), row), delimiter);
                end_row(text);
            }
        };
        // Many small pieces, so that no thread waits long for the last of a group.
        let n = 16 * rayon::current_num_threads();
        let (mut ready, mut next) = (vec![Vec::new(); n], vec![Vec::new(); n]);
        let mut n_ready = 0;
        for group in starts.chunks(n) {
            let output = &mut self.output;
            let write = || ready[..n_ready].iter().try_for_each(|text| output.put(text));
            let format = || {
                let pieces = next.par_iter_mut().zip(group);
                pieces.for_each(|(text, &start)| format_piece(text, start));
            };
            rayon::join(write, format).0?;
            std::mem::swap(&mut ready, &mut next);
            n_ready = group.len();
        }
        ready[..n_ready].iter().try_for_each(|text| self.output.put(text))
    }
}

/// About how much text one thread formats at a time.
const PIECE_BYTES: usize = 64 << 10;

impl TableWriter for CsvWriter {
    fn begin(&mut self, header: &Header) -> Result<()> {
        self.columns = (header.labels.len(), header.numbers.len());
        let mut text = Vec::new();
        for name in header.labels.iter().chain(&header.numbers) {
            push_text(&mut text, name, self.style.delimiter);
            text.push(self.style.delimiter);
        }
        end_row(&mut text);
        self.output.put(&text)
    }

    fn write(&mut self, labels: &[Labels], numbers: NumbersView<'_>) -> Result<()> {
        let (rows, columns) = numbers.dim();
        if (labels.len(), columns) != self.columns || labels.iter().any(|l| l.len() != rows) {
            return Err(Error::Usage {
                what: format!(
                    "{}: a block of {} label and {columns} number columns does not fit the header",
                    self.output.path().display(),
                    labels.len()
                ),
                hint: None,
            });
        }
        match numbers {
            NumbersView::F32(numbers) => self.write_rows(labels, numbers),
            NumbersView::F64(numbers) => self.write_rows(labels, numbers),
        }
    }

    fn complete(self: Box<Self>) -> Result<Complete> {
        self.output.complete()
    }
}

/// Every number with a delimiter after it.
fn push_numbers<T: Format>(text: &mut Vec<u8>, numbers: ArrayView1<T>, delimiter: u8) {
    let mut at = text.len();
    text.resize(at + numbers.len() * (LONGEST + 1), 0);
    for &number in numbers {
        let mut buffer = zmij::Buffer::new();
        let digits = number.format(&mut buffer).as_bytes();
        let end = at + digits.len();
        // Most numbers have so many digits that two copies of a fixed length, which overlap, do:
        // a call for each number would cost as much as its digits.
        match (digits.first_chunk::<16>(), digits.last_chunk::<16>()) {
            (Some(first), Some(last)) => {
                text[at..][..16].copy_from_slice(first);
                text[end - 16..][..16].copy_from_slice(last);
            }
            _ => text[at..end].copy_from_slice(digits),
        }
        text[end] = delimiter;
        at = end + 1;
    }
    text.truncate(at);
}

/// The longest number: a sign, 17 digits, a point, and `e-308`.
const LONGEST: usize = 24;

/// Turns the last delimiter into the end of the line; a table without columns has empty lines.
fn end_row(text: &mut Vec<u8>) {
    match text.last_mut() {
        Some(last) => *last = b'\n',
        None => text.push(b'\n'),
    }
}

fn push_text(text: &mut Vec<u8>, field: &str, delimiter: u8) {
    let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r'])
        && field.parse::<f64>().is_err()
        && field != "-";
    let needs_quotes = is_formula
        || field.is_empty()
        || field.bytes().any(|b| b == delimiter || matches!(b, b'"' | b'\n' | b'\r'))
        || field.starts_with(char::is_whitespace)
        || field.ends_with(char::is_whitespace)
        || field.starts_with('\u{feff}');
    if !needs_quotes {
        text.extend_from_slice(field.as_bytes());
        return;
    }
    text.push(b'"');
    if is_formula {
        text.push(b'\'');
    }
    for byte in field.bytes() {
        if byte == b'"' {
            text.push(b'"');
        }
        text.push(byte);
    }
    text.push(b'"');
}

/// Numbers that can be written as text.
trait Format: Copy + Sync {
    fn format(self, buffer: &mut zmij::Buffer) -> &str;
}

macro_rules! format {
    ($type:ty) => {
        impl Format for $type {
            #[inline]
            fn format(self, buffer: &mut zmij::Buffer) -> &str {
                if self.is_finite() {
                    buffer.format_finite(self)
                } else if self.is_nan() {
                    "NaN"
                } else if self > 0.0 {
                    "inf"
                } else {
                    "-inf"
                }
            }
        }
    };
}

format!(f32);
format!(f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(field: &str) -> String {
        let mut text = Vec::new();
        push_text(&mut text, field, b',');
        String::from_utf8(text).expect("text in, text out")
    }

    #[test]
    fn text_is_quoted_where_a_reader_needs_it() {
        for (field, expected) in [
            ("plain", "plain"),
            ("", "\"\""),
            ("a,b", "\"a,b\""),
            ("say \"no\"", "\"say \"\"no\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            (" padded", "\" padded\""),
            ("a;b", "a;b"),
        ] {
            assert_eq!(quoted(field), expected);
        }
    }

    #[test]
    fn formulas_are_disarmed_and_numbers_are_not() {
        for field in ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\tx"] {
            assert_eq!(quoted(field), std::format!("\"'{field}\""));
        }
        for field in ["-1.5", "+2", "-", "-inf"] {
            assert_eq!(quoted(field), field);
        }
    }

    #[test]
    fn numbers_of_every_length_are_followed_by_the_delimiter() {
        let numbers = [
            0.0,
            -5e-324,
            -2.2250738585072014e-308,
            0.1,
            -123456.75,
            1.7976931348623157e308,
            -0.000012345678901234567,
            f64::NAN,
            f64::NEG_INFINITY,
            123456789012345.6,
            1234567890123456.0,
        ];
        let mut text = b"label;".to_vec();
        push_numbers(&mut text, ArrayView1::from(&numbers), b';');
        let expected: String = numbers
            .iter()
            .map(|x| {
                let mut buffer = zmij::Buffer::new();
                std::format!("{};", buffer.format(*x))
            })
            .collect();
        assert_eq!(String::from_utf8(text).unwrap(), std::format!("label;{expected}"));
    }
}
