//! The lines of a Matrix Market file.

use crate::error::{NO_ROWS, Result};
use crate::input::Input;
use crate::lines::Lines;
use crate::sparse::plausible;
use rayon::prelude::*;

/// What the first lines say.
#[derive(Clone, Debug)]
pub(super) struct Banner {
    pub(super) layout: Layout,
    pub(super) is_pattern: bool,
    pub(super) symmetry: Symmetry,
    pub(super) n_rows: usize,
    pub(super) n_columns: usize,
    /// Entries that are announced: of coordinates, or of an array.
    pub(super) n_stored: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Layout {
    Coordinate,
    Array,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// One entry; row and column count from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) value: f64,
}

impl Banner {
    /// Reads the first lines. What they announce is no more than a file of its size can hold.
    pub(super) fn read(lines: &mut Lines, input: &Input) -> Result<Banner> {
        let first = lines.line()?.unwrap_or_default();
        let (layout, is_pattern, symmetry) =
            kind(&String::from_utf8_lossy(&first)).map_err(|what| lines.wrong(1, what))?;
        let sizes = loop {
            let Some(line) = lines.line()? else {
                return Err(lines.wrong(lines.next_line, "the file ends before the line of sizes"));
            };
            if !is_comment(&line) {
                break String::from_utf8_lossy(&line).into_owned();
            }
        };
        let sizes: Option<Vec<usize>> = sizes.split_whitespace().map(|n| n.parse().ok()).collect();
        let banner = match (layout, sizes.as_deref()) {
            (Layout::Coordinate, Some(&[n_rows, n_columns, n_stored])) => {
                Ok(Banner { layout, is_pattern, symmetry, n_rows, n_columns, n_stored })
            }
            (Layout::Array, Some(&[n_rows, n_columns])) => {
                let n_stored = stored_of_array(symmetry, n_rows, n_columns);
                Ok(Banner { layout, is_pattern, symmetry, n_rows, n_columns, n_stored })
            }
            (Layout::Coordinate, _) => Err("rows, columns and entries belong here".into()),
            (Layout::Array, _) => Err("rows and columns belong here".into()),
        };
        let banner = banner.and_then(|banner| banner.checked(input));
        banner.map_err(|what| lines.wrong(lines.next_line - 1, what))
    }

    /// The banner, if its sizes can be right.
    fn checked(self, input: &Input) -> std::result::Result<Banner, String> {
        let Banner { n_rows, n_columns, n_stored, .. } = self;
        if n_rows == 0 || n_columns == 0 {
            return Err(if n_rows == 0 { NO_ROWS } else { "there are no columns" }.into());
        }
        let (ratio, shortest) = match (input.compression(), self.layout) {
            (None, Layout::Coordinate) => (1, "1 1\n".len()),
            (None, Layout::Array) => (1, "1\n".len()),
            (Some(_), _) => (LARGEST_RATIO, "1\n".len()),
        };
        let most = input.n_bytes().saturating_mul(ratio) / shortest as u64 + 1;
        plausible(n_rows, n_columns, n_stored)?;
        if n_stored as u64 > most {
            let bytes = input.n_bytes();
            return Err(format!("{n_stored} entries are announced in a file of {bytes} bytes"));
        }
        if self.symmetry != Symmetry::General && n_rows != n_columns {
            return Err(format!("a symmetric matrix has {n_rows} rows and {n_columns} columns"));
        }
        Ok(self)
    }
}

/// Neither gzip nor Zstandard does better on lines of numbers than this.
const LARGEST_RATIO: u64 = 1100;

/// Layout, whether it is a pattern, symmetry: what the first line says.
fn kind(line: &str) -> std::result::Result<(Layout, bool, Symmetry), String> {
    let line = line.to_lowercase();
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["%%matrixmarket", "matrix", layout, field, symmetry] = words[..] else {
        let what = "a Matrix Market file begins with `%%MatrixMarket matrix`, layout, field and \
                    symmetry";
        return Err(what.into());
    };
    let layout = match layout {
        "coordinate" => Layout::Coordinate,
        "array" => Layout::Array,
        other => return Err(format!("the layout `{other}` is not known")),
    };
    let is_pattern = match field {
        "real" | "double" | "integer" | "unsigned-integer" => false,
        "pattern" => true,
        "complex" => return Err("its numbers are complex".into()),
        other => return Err(format!("the field `{other}` is not known")),
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" => Symmetry::Skew,
        "hermitian" => return Err("its numbers are complex (Hermitian)".into()),
        other => return Err(format!("the symmetry `{other}` is not known")),
    };
    if is_pattern && (layout == Layout::Array || symmetry == Symmetry::Skew) {
        return Err("a pattern is neither an array nor skew-symmetric".into());
    }
    Ok((layout, is_pattern, symmetry))
}

/// All entries, as they are in the file.
pub(super) fn entries(lines: &mut Lines, banner: &Banner) -> Result<Vec<Vec<Entry>>> {
    parallel(lines, banner, |line| entry(line, banner))
}

/// All values of an array, as they are in the file.
pub(super) fn values(lines: &mut Lines, banner: &Banner) -> Result<Vec<Vec<f64>>> {
    parallel(lines, banner, |line| {
        let (value, rest) = number(line)?;
        ended(rest)?;
        Ok(value)
    })
}

/// Parses every line, pieces in parallel.
fn parallel<T: Send>(
    lines: &mut Lines,
    banner: &Banner,
    parse: impl Fn(&[u8]) -> std::result::Result<T, String> + Sync,
) -> Result<Vec<Vec<T>>> {
    let mut all = Vec::new();
    let mut n_found = 0;
    loop {
        let pieces = lines.pieces()?;
        if pieces.is_empty() {
            break;
        }
        let parsed: Vec<Parsed<T>> =
            pieces.par_iter().map(|piece| Parsed::of(piece, &parse)).collect();
        for piece in parsed {
            if let Some((line, what)) = piece.wrong {
                return Err(lines.wrong(lines.next_line + line, what));
            }
            let room = banner.n_stored - n_found;
            if piece.found.len() > room {
                let line = lines.next_line + piece.line_of(room);
                let what = format!("an entry more than the {} announced", banner.n_stored);
                return Err(lines.wrong(line, what));
            }
            n_found += piece.found.len();
            lines.next_line += piece.n_lines;
            all.push(piece.found);
        }
    }
    if n_found < banner.n_stored {
        let what =
            format!("the file ends after {n_found} entries, but it announces {}", banner.n_stored);
        return Err(lines.wrong(lines.next_line.max(2) - 1, what));
    }
    Ok(all)
}

/// One piece, parsed.
struct Parsed<T> {
    found: Vec<T>,
    /// Lines without an entry.
    empty: Vec<u64>,
    n_lines: u64,
    wrong: Option<(u64, String)>,
}

impl<T> Parsed<T> {
    fn of(piece: &[u8], parse: impl Fn(&[u8]) -> std::result::Result<T, String>) -> Parsed<T> {
        let mut found = Vec::with_capacity(piece.len() / 12);
        let mut empty = Vec::new();
        let mut n_lines = 0;
        for line in piece.split_inclusive(|&b| b == b'\n') {
            if is_comment(line) {
                empty.push(n_lines);
            } else {
                match parse(line) {
                    Ok(value) => found.push(value),
                    Err(what) => {
                        return Parsed { found, empty, n_lines, wrong: Some((n_lines, what)) };
                    }
                }
            }
            n_lines += 1;
        }
        Parsed { found, empty, n_lines, wrong: None }
    }

    /// The line of an entry, counted from the first line of the piece.
    fn line_of(&self, entry: usize) -> u64 {
        let mut line = entry as u64;
        for &empty in &self.empty {
            line += u64::from(empty <= line);
        }
        line
    }
}

fn entry(line: &[u8], banner: &Banner) -> std::result::Result<Entry, String> {
    let (row, rest) = index(line, banner.n_rows, "row")?;
    let (column, rest) = index(rest, banner.n_columns, "column")?;
    if banner.symmetry == Symmetry::Skew && row == column {
        return Err("an entry on the diagonal of a skew-symmetric matrix".into());
    }
    let (value, rest) = if banner.is_pattern { (1.0, rest) } else { number(rest)? };
    ended(rest)?;
    Ok(Entry { row, column, value })
}

/// An index that counts from 1, as one that counts from 0.
fn index<'a>(line: &'a [u8], n: usize, what: &str) -> std::result::Result<(u32, &'a [u8]), String> {
    let (word, rest) = word(line);
    let mut index = 0usize;
    for &byte in word {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 || index > n {
            index = usize::MAX;
            break;
        }
        index = index * 10 + usize::from(digit);
    }
    if word.is_empty() {
        return Err(format!("the {what} is missing"));
    }
    if index == 0 {
        return Err(format!("{what} 0: rows and columns count from 1"));
    }
    if index > n {
        return Err(format!("`{}` is not a {what} from 1 to {n}", shown(word)));
    }
    Ok(((index - 1) as u32, rest))
}

fn number(line: &[u8]) -> std::result::Result<(f64, &[u8]), String> {
    let (word, rest) = word(line);
    if let Some(value) = short_decimal(word) {
        return Ok((value, rest));
    }
    let value = str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok());
    match value.filter(|value| value.is_finite()) {
        Some(value) => Ok((value, rest)),
        None if word.is_empty() => Err("the value is missing".into()),
        None => Err(format!("`{}` is not a finite number", shown(word))),
    }
}

/// Numbers of at most 15 digits without an exponent: both parts are exact, so that the division
/// rounds once (W. D. Clinger, "How to read floating point numbers accurately", 1990).
fn short_decimal(word: &[u8]) -> Option<f64> {
    let (is_negative, digits) = match word {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let (mut value, mut n_digits, mut after_point) = (0u64, 0, None);
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            value = value * 10 + u64::from(digit);
            n_digits += 1;
        } else if byte == b'.' && after_point.is_none() {
            after_point = Some(n_digits);
        } else {
            return None;
        }
    }
    if n_digits == 0 || n_digits > 15 {
        return None;
    }
    let n_decimals = after_point.map_or(0, |point| n_digits - point);
    let value = value as f64 / 10f64.powi(n_decimals);
    Some(if is_negative { -value } else { value })
}

/// The next word of a line, and what follows it.
fn word(line: &[u8]) -> (&[u8], &[u8]) {
    let line = line.trim_ascii_start();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    line.split_at(end)
}

fn ended(rest: &[u8]) -> std::result::Result<(), String> {
    match word(rest).0 {
        [] => Ok(()),
        surplus => Err(format!("`{}` after the end of the entry", shown(surplus))),
    }
}

fn is_comment(line: &[u8]) -> bool {
    line.trim_ascii_start().first().is_none_or(|&b| b == b'%')
}

fn shown(word: &[u8]) -> String {
    String::from_utf8_lossy(&word[..word.len().min(30)]).into_owned()
}

fn stored_of_array(symmetry: Symmetry, n: usize, d: usize) -> usize {
    match symmetry {
        Symmetry::General => n.saturating_mul(d),
        Symmetry::Symmetric => n.saturating_mul(n.saturating_add(1)) / 2,
        Symmetry::Skew => n.saturating_mul(n.saturating_sub(1)) / 2,
    }
}
