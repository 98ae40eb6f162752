//! The lines of a Matrix Market file.

use super::At;
use super::lines::Lines;
use crate::error::{NO_ROWS, Result};
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
    pub(super) fn read(lines: &mut Lines, at: At) -> Result<Banner> {
        let first = lines.line()?.unwrap_or_default();
        let first = String::from_utf8_lossy(&first).to_lowercase();
        let words: Vec<&str> = first.split_whitespace().collect();
        let (layout, is_pattern, symmetry) = match words.as_slice() {
            ["%%matrixmarket", "matrix", layout, field, symmetry] => (
                match *layout {
                    "coordinate" => Layout::Coordinate,
                    "array" => Layout::Array,
                    other => return Err(at.line(1, format!("the layout `{other}` is not known"))),
                },
                match *field {
                    "real" | "double" | "integer" | "unsigned-integer" => false,
                    "pattern" => true,
                    "complex" => return Err(at.line(1, "its numbers are complex")),
                    other => return Err(at.line(1, format!("the field `{other}` is not known"))),
                },
                match *symmetry {
                    "general" => Symmetry::General,
                    "symmetric" => Symmetry::Symmetric,
                    "skew-symmetric" => Symmetry::Skew,
                    "hermitian" => return Err(at.line(1, "its numbers are complex (Hermitian)")),
                    other => return Err(at.line(1, format!("the symmetry `{other}` is not known"))),
                },
            ),
            _ => {
                let what = "a Matrix Market file begins with `%%MatrixMarket matrix`, layout, field \
                            and symmetry";
                return Err(at.line(1, what));
            }
        };
        if is_pattern && (layout == Layout::Array || symmetry == Symmetry::Skew) {
            return Err(at.line(1, "a pattern is neither an array nor skew-symmetric"));
        }
        let sizes = loop {
            let Some(line) = lines.line()? else {
                return Err(at.line(lines.next_line, "the file ends before the line of sizes"));
            };
            if !is_comment(&line) {
                break line;
            }
        };
        let line = lines.next_line - 1;
        let sizes = String::from_utf8_lossy(&sizes).into_owned();
        let sizes: Option<Vec<usize>> = sizes.split_whitespace().map(|n| n.parse().ok()).collect();
        let (n_rows, n_columns, n_stored) = match (layout, sizes.as_deref()) {
            (Layout::Coordinate, Some(&[n, d, stored])) => (n, d, stored),
            (Layout::Array, Some(&[n, d])) => (n, d, stored_of_array(symmetry, n, d)),
            (Layout::Coordinate, _) => {
                return Err(at.line(line, "rows, columns and entries belong here"));
            }
            (Layout::Array, _) => return Err(at.line(line, "rows and columns belong here")),
        };
        if n_rows == 0 || n_columns == 0 {
            let what = if n_rows == 0 { NO_ROWS } else { "there are no columns" };
            return Err(at.line(line, what));
        }
        // Indices are 32-bit, and sides far longer than the number of entries a slip or an attack.
        let implausible = |n: usize| n > 1 << 28 && n / 16 > n_stored;
        if u32::try_from(n_rows.max(n_columns)).is_err() || implausible(n_rows.max(n_columns)) {
            let what = format!("{n_rows} rows, {n_columns} columns and {n_stored} entries");
            return Err(at.line(line, format!("{what} are more than can be right")));
        }
        if symmetry != Symmetry::General && n_rows != n_columns {
            let what = format!("a symmetric matrix has {n_rows} rows and {n_columns} columns");
            return Err(at.line(line, what));
        }
        Ok(Banner { layout, is_pattern, symmetry, n_rows, n_columns, n_stored })
    }
}

/// All entries, as they are in the file.
pub(super) fn entries(
    lines: &mut Lines,
    banner: &Banner,
    at: At,
    memory: Option<u64>,
) -> Result<Vec<Vec<Entry>>> {
    // While rows are formed, an entry is there twice.
    let bytes = 2 * size_of::<Entry>() as u64;
    parallel(lines, banner, at, memory, bytes, |line| entry(line, banner))
}

/// All values of an array, as they are in the file.
pub(super) fn values(
    lines: &mut Lines,
    banner: &Banner,
    at: At,
    memory: Option<u64>,
) -> Result<Vec<Vec<f64>>> {
    parallel(lines, banner, at, memory, 24, |line| {
        let (value, rest) = number(line)?;
        ended(rest)?;
        Ok(value)
    })
}

/// Parses every line, pieces in parallel.
fn parallel<T: Send>(
    lines: &mut Lines,
    banner: &Banner,
    at: At,
    memory: Option<u64>,
    bytes_each: u64,
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
                return Err(at.line(lines.next_line + line, what));
            }
            let room = banner.n_stored - n_found;
            if piece.found.len() > room {
                let line = lines.next_line + piece.line_of(room);
                let what = format!("an entry more than the {} announced", banner.n_stored);
                return Err(at.line(line, what));
            }
            n_found += piece.found.len();
            lines.next_line += piece.n_lines;
            all.push(piece.found);
        }
        if let Some(budget) = memory.filter(|&budget| n_found as u64 * bytes_each > budget) {
            return Err(at.memory(banner.n_stored as u64 * bytes_each, budget));
        }
    }
    if n_found < banner.n_stored {
        let what =
            format!("the file ends after {n_found} entries, but it announces {}", banner.n_stored);
        return Err(at.line(lines.next_line.max(2) - 1, what));
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
