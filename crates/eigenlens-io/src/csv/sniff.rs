//! What a table looks like, from its first records.

use super::fields::{
    Field, FieldFault, Marks, after_line_end, count_lines, field, find_field_end, is_nothing,
    skip_padding,
};
use super::number::{self, Number};
use super::options::{CsvOptions, MISSING_MARKS};
use super::parse::{MissingMarks, truth};

/// How a table is spelled.
#[derive(Clone, Debug)]
pub(super) struct Dialect {
    pub(super) marks: Marks,
    pub(super) point: u8,
    pub(super) missing: MissingMarks,
}

impl Dialect {
    /// Finds out what the options leave open. `prefers_tab`: the name of the file says so.
    pub(super) fn sniff(sample: &[u8], options: &CsvOptions, prefers_tab: bool) -> Self {
        let marks_of = options.missing.iter().map(String::as_str).chain(MISSING_MARKS);
        let missing = MissingMarks(marks_of.map(|mark| mark.as_bytes().to_vec()).collect());
        let mut best: Option<(f64, Self)> = None;
        // In case of a draw the earlier wins: commas are often part of the text.
        let mut candidates = vec![b'\t', b';', b'|', b',', b' '];
        if let Some(delimiter) = options.delimiter {
            candidates = vec![delimiter];
        }
        for delimiter in candidates {
            for quote in [b'"', b'\''] {
                let marks = Marks { delimiter, quote: Some(quote) };
                if quote == b'\'' && !uses_apostrophes(sample, marks) {
                    continue;
                }
                let Some(judged) = Judged::of(sample, marks, options.decimal, &missing) else {
                    continue;
                };
                let bonus = if prefers_tab && delimiter == b'\t' { 3.0 } else { 0.0 };
                let score = judged.score + bonus;
                if best.as_ref().is_none_or(|(best, _)| score > *best) {
                    let missing = missing.clone();
                    best = Some((score, Self { marks, point: judged.point, missing }));
                }
            }
        }
        best.map_or_else(
            || {
                let delimiter = options.delimiter.unwrap_or(if prefers_tab { b'\t' } else { b',' });
                let marks = Marks { delimiter, quote: Some(b'"') };
                let point = options.decimal.unwrap_or_else(|| {
                    let rows = first_records(sample, marks, JUDGED_RECORDS);
                    decimal_mark(rows.iter().flatten(), marks, &missing)
                });
                Self { marks, point, missing: missing.clone() }
            },
            |(_, dialect)| dialect,
        )
    }
}

/// How many records are looked at to choose the delimiter.
const JUDGED_RECORDS: usize = 200;

/// How well a delimiter fits.
struct Judged {
    score: f64,
    point: u8,
}

impl Judged {
    /// `None` when the delimiter makes a single column.
    fn of(sample: &[u8], marks: Marks, point: Option<u8>, missing: &MissingMarks) -> Option<Self> {
        let records = first_records(sample, marks, JUDGED_RECORDS);
        // The first record may be a header, which says nothing about the numbers below it.
        let rows = if records.len() > 1 { &records[1..] } else { &records[..] };
        let n_columns = most_frequent(rows.iter().map(Vec::len))?;
        if n_columns < 2 {
            return None;
        }
        let fitting = rows.iter().filter(|row| row.len() == n_columns).count();
        let point = point.unwrap_or_else(|| decimal_mark(rows.iter().flatten(), marks, missing));
        let (mut numbers, mut values) = (0.0, 0.0);
        for content in rows.iter().flatten().filter(|content| !missing.contains(content)) {
            values += 1.0;
            if number::parse(content, point) != Number::Other {
                numbers += 1.0;
            }
        }
        let share = if values > 0.0 { numbers / values } else { 0.0 };
        let consistency = fitting as f64 / rows.len() as f64;
        Some(Self { score: consistency * (1.0 + 2.0 * share), point })
    }
}

/// A comma, where some fields are numbers only with it and none only with a point.
fn decimal_mark<'a>(
    fields: impl Iterator<Item = &'a Vec<u8>>,
    marks: Marks,
    missing: &MissingMarks,
) -> u8 {
    if marks.delimiter == b',' {
        return b'.';
    }
    let (mut with_comma, mut with_point) = (0, 0);
    for content in fields.filter(|content| !missing.contains(content)) {
        let is_number = |point| number::parse(content, point) != Number::Other;
        match (is_number(b','), is_number(b'.')) {
            (true, false) => with_comma += 1,
            (false, true) => with_point += 1,
            _ => {}
        }
    }
    if with_comma > 0 && with_point == 0 { b',' } else { b'.' }
}

/// Whether apostrophes quote: the sample has no quotes, and a column is in apostrophes throughout.
fn uses_apostrophes(sample: &[u8], marks: Marks) -> bool {
    if memchr::memchr(b'"', sample).is_some() || memchr::memchr(b'\'', sample).is_none() {
        return false;
    }
    let mut always: Option<Vec<bool>> = None;
    let mut n_records = 0;
    let fits = each_record(sample, marks, |_, fields| {
        n_records += 1;
        if n_records > 1 {
            let all = always.get_or_insert_with(|| vec![true; fields.len()]);
            for (column, always) in all.iter_mut().enumerate() {
                *always &= fields.get(column).is_some_and(|field| field.is_quoted);
            }
        }
        n_records < JUDGED_RECORDS
    });
    fits && always.is_some_and(|all| all.contains(&true))
}

fn most_frequent(counts: impl Iterator<Item = usize>) -> Option<usize> {
    let mut seen = std::collections::BTreeMap::new();
    for count in counts {
        *seen.entry(count).or_insert(0usize) += 1;
    }
    seen.into_iter().max_by_key(|&(columns, times)| (times, columns)).map(|(columns, _)| columns)
}

/// The contents of the first records; empty where the marks do not fit at all.
fn first_records(sample: &[u8], marks: Marks, at_most: usize) -> Vec<Vec<Vec<u8>>> {
    let mut records = Vec::new();
    let complete = each_record(sample, marks, |_, fields| {
        records.push(fields.iter().map(|field| field.content.trim_ascii().to_vec()).collect());
        records.len() < at_most
    });
    if complete { records } else { Vec::new() }
}

/// Calls `visit` with the line (from 0) and the fields of every record until it says no; `false`
/// when a quote is never closed. Records with text after a quote are passed over: reading them says
/// what is wrong.
pub(super) fn each_record(
    sample: &[u8],
    marks: Marks,
    mut visit: impl FnMut(u64, &[Field]) -> bool,
) -> bool {
    let mut fields = Vec::new();
    let (mut at, mut line) = (0, 0);
    while at < sample.len() {
        let start = at;
        if marks.is_blank() {
            at = skip_padding(sample, at, marks);
        }
        if matches!(sample.get(at), Some(b'\n' | b'\r')) {
            at = after_line_end(sample, at);
            line += 1;
            continue;
        }
        fields.clear();
        let mut is_broken = false;
        loop {
            match field(sample, at, sample.len(), marks) {
                Ok(found) => {
                    at = found.end;
                    fields.push(found);
                }
                Err(FieldFault::TextAfterQuote(text)) => {
                    at = find_field_end(sample, text, marks);
                    is_broken = true;
                }
                Err(FieldFault::Unclosed(_)) => return false,
            }
            if marks.is_blank() {
                let next = skip_padding(sample, at, marks);
                if next == sample.len() || matches!(sample.get(next), Some(b'\n' | b'\r')) {
                    at = next;
                    break;
                }
                at = next;
            } else if sample.get(at) == Some(&marks.delimiter) {
                at += 1;
            } else {
                break;
            }
        }
        if at < sample.len() {
            at = after_line_end(sample, at);
        }
        let record = sample.get(start..at).unwrap_or_default();
        if !is_broken && !is_nothing(record, marks) && !visit(line, &fields) {
            return true;
        }
        line += count_lines(record);
    }
    true
}

/// What the values of a column look like.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) integers: usize,
    pub(super) floats: usize,
    pub(super) truths: usize,
    pub(super) texts: usize,
    /// The first text, with its line from 0.
    pub(super) first_text: Option<(u64, Vec<u8>)>,
}

impl Tally {
    /// Counts a field; gives it back when it is a mark for a missing value.
    pub(super) fn add<'a>(
        &mut self,
        content: &'a [u8],
        line: u64,
        dialect: &Dialect,
    ) -> Option<&'a [u8]> {
        if dialect.missing.contains(content) {
            return Some(content);
        }
        match number::parse(content, dialect.point) {
            Number::Integer(_) | Number::Rounded(_) => self.integers += 1,
            Number::Float(_) | Number::Overflow => self.floats += 1,
            Number::Other if truth(content).is_some() => self.truths += 1,
            Number::Other => {
                self.texts += 1;
                self.first_text.get_or_insert_with(|| (line, content.to_vec()));
            }
        }
        None
    }

    /// How many values are numbers.
    pub(super) fn numbers(&self) -> usize {
        self.integers + self.floats
    }

    /// How many values there are.
    pub(super) fn values(&self) -> usize {
        self.numbers() + self.truths + self.texts
    }

    /// Whether every value is a number, and there is one.
    pub(super) fn is_numeric(&self) -> bool {
        self.numbers() > 0 && self.numbers() == self.values()
    }

    /// Whether more than half of the values are numbers: a few that are not are mistakes.
    pub(super) fn is_mostly_numeric(&self) -> bool {
        2 * self.numbers() > self.values()
    }

    /// Whether more than half of the values are `true` or `false`.
    pub(super) fn is_mostly_truth(&self) -> bool {
        2 * self.truths > self.values()
    }
}

/// Whether the first record holds names, and the reason.
///
/// It does when a column of numbers begins with text; or when no column holds numbers; or when its
/// numbers are three or more whole numbers going up by one (0, 1, 2, … or years), as programs write
/// them over tables without names; two, 0 and 1, only where no other number is a whole one.
pub(super) fn judge_header(
    first: &[Vec<u8>],
    below: &[Tally],
    dialect: &Dialect,
) -> (bool, &'static str) {
    let is_text = |content: &Vec<u8>| {
        !dialect.missing.contains(content) && number::parse(content, dialect.point) == Number::Other
    };
    if below.iter().all(|tally| *tally == Tally::default()) {
        return match first.iter().any(is_text) {
            true => (true, "the only row holds text"),
            false => (false, "the only row holds numbers"),
        };
    }
    // Where no column is free of mistakes, numbers with some have to tell.
    let is_numeric = match below.iter().any(Tally::is_numeric) {
        true => Tally::is_numeric,
        false => Tally::is_mostly_numeric,
    };
    let mut columns = first.iter().zip(below);
    if columns.any(|(content, tally)| {
        is_text(content) && (is_numeric(tally) || (tally.truths > 0 && truth(content).is_none()))
    }) {
        return (true, "the first row has text where the others have numbers");
    }
    if !below.iter().any(is_numeric) {
        return match first.iter().any(is_text) {
            true => (true, "no column holds numbers, so the first row is taken for names"),
            false => (false, "the first row holds numbers"),
        };
    }
    let whole: Option<Vec<f64>> = first
        .iter()
        .filter(|content| !is_text(content) && !content.is_empty())
        .map(|content| match number::parse(content, dialect.point) {
            Number::Integer(value) => Some(value),
            _ => None,
        })
        .collect();
    let has_fractions = |tally: &Tally| tally.floats > 0 && tally.integers == 0;
    match whole {
        Some(whole) if whole.len() >= 3 && whole.windows(2).all(|w| w[1] == w[0] + 1.0) => {
            (true, "the first row counts up by one")
        }
        Some(whole) if whole == [0.0, 1.0] && below.iter().all(has_fractions) => {
            (true, "the first row is 0 and 1 over numbers that all have a fraction")
        }
        _ => (false, "the first row holds numbers where the others do"),
    }
}
