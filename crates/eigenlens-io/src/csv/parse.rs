//! Complete records to numbers and labels: the hot loop of reading.

use super::fields::{FieldFault, Marks, after_line_end, count_lines, field, skip_padding};
use super::number::{self, Number};
use crate::source::Labels;

/// Zeros that must follow the records, so that the fast path may look ahead.
pub(super) const PADDING: usize = 64;

/// How records become rows.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Delimiter and quote.
    pub(super) marks: Marks,
    /// The decimal mark.
    pub(super) point: u8,
    /// What stands for a missing value.
    pub(super) missing: MissingMarks,
    /// One action for each column of the file.
    pub(super) actions: Vec<Action>,
    /// How many numbers a row has.
    pub(super) n_numbers: usize,
    /// How many labels a row has.
    pub(super) n_labels: usize,
    /// Whether rows that do not fit are left out instead of being an error.
    pub(super) skip_bad_rows: bool,
    /// Whether cells that are no numbers are taken for missing instead of being an error.
    pub(super) bad_cells_are_missing: bool,
}

/// What becomes of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Action {
    /// Its place among the numbers of a row.
    pub(super) number: Option<usize>,
    /// Its place among the labels of a row.
    pub(super) label: Option<usize>,
    /// Whether its values are `true` and `false`.
    pub(super) is_truth: bool,
    /// Whether a row without a number in it is a bad one.
    pub(super) is_required: bool,
}

/// The spellings of a missing value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MissingMarks(pub(super) Vec<Vec<u8>>);

impl MissingMarks {
    /// Whether a field stands for a missing value; an empty one always does.
    pub(super) fn contains(&self, field: &[u8]) -> bool {
        field.is_empty() || self.0.iter().any(|mark| mark == field)
    }
}

/// What some records held.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    /// The labels, one entry for each column.
    pub(super) labels: Vec<Labels>,
    /// How many rows.
    pub(super) n_rows: usize,
    /// How many lines, blank ones and those inside quotes included.
    pub(super) n_lines: u64,
    /// Rows left out.
    pub(super) bad_rows: Faults,
    /// Cells taken for missing.
    pub(super) bad_cells: Faults,
    /// Whole numbers beyond 2^53 that were rounded.
    pub(super) n_rounded: u64,
    /// The line of each row, where it was asked for.
    pub(super) row_lines: Option<Vec<u64>>,
    /// What ended the parsing.
    pub(super) fault: Option<Fault>,
}

/// Rows or cells that do not fit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Faults {
    /// How many.
    pub(super) count: u64,
    /// The first of them.
    pub(super) first: Option<Fault>,
}

impl Faults {
    /// Counts one more.
    pub(super) fn add(&mut self, fault: Fault) {
        self.count += 1;
        self.first.get_or_insert(fault);
    }

    /// Counts those of the next piece, which has so many lines before it.
    pub(super) fn append(&mut self, other: &Faults, lines_before: u64) {
        self.count += other.count;
        if let (None, Some(first)) = (&self.first, &other.first) {
            self.first = Some(Fault { line: lines_before + first.line, ..first.clone() });
        }
    }
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    /// Its line, counted from 0 at the first record.
    pub(super) line: u64,
    /// The column, where it is known.
    pub(super) column: Option<usize>,
    /// What is wrong.
    pub(super) what: Wrong,
    /// Whether it ends the reading even where bad rows are left out: faults that only some choices
    /// of columns meet must not change which rows there are.
    pub(super) is_fatal: bool,
}

/// What can be wrong with a record.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wrong {
    /// A cell that is not a number: its text, shortened.
    Cell(String),
    /// Anything else.
    Other(String),
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Wrong::Cell(cell) => write!(f, "`{}` is not a number", cell.escape_debug()),
            Wrong::Other(what) => f.write_str(what),
        }
    }
}

impl Layout {
    /// The most rows that these records can be, where `skip` of them are passed over.
    pub(super) fn rows_at_most(records: &[u8], skip: usize) -> usize {
        let is_ended = matches!(records.last(), None | Some(b'\n' | b'\r'));
        (count_lines(records) as usize + usize::from(!is_ended)).saturating_sub(skip)
    }

    /// Parses complete records: `bytes` up to `len`, which a line end or nothing follows, then at
    /// least [`PADDING`] zeros. The first `skip` records are passed over. The numbers go to the
    /// front of `numbers`, row after row; it has room for [`rows_at_most`](Self::rows_at_most).
    pub(super) fn parse(
        &self,
        bytes: &[u8],
        len: usize,
        skip: usize,
        numbers: &mut [f64],
        parsed: &mut Parsed,
    ) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
        {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { self.parse_on_new(bytes, len, skip, numbers, parsed) };
        }
        self.parse_records(bytes, len, skip, numbers, parsed);
    }

    /// The same, compiled for processors of the last ten years: a fifth fewer instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn parse_on_new(
        &self,
        bytes: &[u8],
        len: usize,
        skip: usize,
        numbers: &mut [f64],
        parsed: &mut Parsed,
    ) {
        self.parse_records(bytes, len, skip, numbers, parsed);
    }

    #[inline(always)]
    fn parse_records(
        &self,
        bytes: &[u8],
        len: usize,
        skip: usize,
        numbers: &mut [f64],
        parsed: &mut Parsed,
    ) {
        parsed.labels.resize(self.n_labels, Labels::default());
        let mut skip = skip;
        let mut at = 0;
        while at < len {
            // A line of nothing but blanks is a blank line.
            let content = skip_padding(bytes, at, self.marks);
            match bytes.get(content) {
                Some(b'\n' | b'\r') => {
                    at = after_line_end(bytes, content);
                    parsed.n_lines += 1;
                    continue;
                }
                _ if content >= len => break,
                _ if self.marks.is_blank() => at = content,
                _ => {}
            }
            if skip > 0 {
                at = self.pass_over(bytes, at, len, parsed);
                skip -= 1;
                continue;
            }
            let line = parsed.n_lines;
            let row = &mut numbers[parsed.n_rows * self.n_numbers..][..self.n_numbers];
            match self.row(bytes, at, len, row, parsed) {
                Ok(next) => {
                    at = next;
                    parsed.n_rows += 1;
                    parsed.n_lines += 1;
                    if let Some(lines) = &mut parsed.row_lines {
                        lines.push(line);
                    }
                }
                Err(fault) => {
                    for labels in &mut parsed.labels {
                        labels.truncate(parsed.n_rows);
                    }
                    parsed.n_lines = line;
                    at = self.pass_over(bytes, at, len, parsed);
                    let fault = Fault { line, ..fault };
                    if fault.is_fatal || !self.skip_bad_rows {
                        parsed.fault = Some(fault);
                        return;
                    }
                    parsed.bad_rows.add(fault);
                }
            }
        }
    }

    /// Reads one record whose numbers go to `row`; gives the start of the next.
    #[inline(always)]
    fn row(
        &self,
        bytes: &[u8],
        start: usize,
        len: usize,
        row: &mut [f64],
        parsed: &mut Parsed,
    ) -> Result<usize, Fault> {
        let last = self.actions.len().saturating_sub(1);
        let mut at = start;
        for (column, action) in self.actions.iter().enumerate() {
            let is_last = column == last;
            let end = if let (Some(slot), None) = (action.number, action.label) {
                match number::scan(bytes, at, self.point) {
                    Some((value, end)) if end < len && self.ends_plainly(bytes, end, is_last) => {
                        row[slot] = value;
                        end
                    }
                    _ => {
                        let (value, end) = self.number(bytes, at, len, column, parsed)?;
                        row[slot] = value;
                        end
                    }
                }
            } else {
                self.rare_field(bytes, at, len, column, row, parsed)?
            };
            let next = match is_last {
                false => self.after_delimiter(bytes, end, len),
                true => self.after_record(bytes, end, len),
            };
            at = match next {
                Some(next) => next,
                None => return Err(self.ragged(bytes, start, len)),
            };
        }
        Ok(at)
    }

    /// Whether the byte after a number ends its field, without blanks that need a second look.
    #[inline(always)]
    fn ends_plainly(&self, bytes: &[u8], end: usize, is_last: bool) -> bool {
        match bytes.get(end) {
            Some(&byte) if is_last => matches!(byte, b'\n' | b'\r'),
            Some(&byte) => byte == self.marks.delimiter,
            None => false,
        }
    }

    /// The start of the next field, where a delimiter is at `end`.
    #[inline(always)]
    fn after_delimiter(&self, bytes: &[u8], end: usize, len: usize) -> Option<usize> {
        let byte = *bytes.get(end)?;
        if !self.marks.is_blank() {
            return (end < len && byte == self.marks.delimiter).then_some(end + 1);
        }
        let next = skip_padding(bytes, end, self.marks);
        (next > end && next < len && !matches!(bytes.get(next), Some(b'\n' | b'\r')))
            .then_some(next)
    }

    /// The start of the next record, where this one ends at `end`.
    #[inline(always)]
    fn after_record(&self, bytes: &[u8], end: usize, len: usize) -> Option<usize> {
        let end = if self.marks.is_blank() { skip_padding(bytes, end, self.marks) } else { end };
        if end >= len {
            return Some(len);
        }
        match bytes.get(end) {
            Some(b'\n' | b'\r') => Some(after_line_end(bytes, end)),
            _ => None,
        }
    }

    /// A number that the fast path did not take: quoted, padded, missing, long, or wrong.
    #[cold]
    fn number(
        &self,
        bytes: &[u8],
        at: usize,
        len: usize,
        column: usize,
        parsed: &mut Parsed,
    ) -> Result<(f64, usize), Fault> {
        let line = parsed.n_lines;
        let fault = |what| Fault { line, column: Some(column), what, is_fatal: false };
        let found = field(bytes, at, len, self.marks).map_err(|e| field_fault(e, column))?;
        if found.is_quoted {
            parsed.n_lines += count_lines(bytes.get(at..found.end).unwrap_or_default());
        }
        let content = found.content.trim_ascii();
        if self.missing.contains(content) {
            return Ok((f64::NAN, found.end));
        }
        let is_truth = self.actions.get(column).is_some_and(|action| action.is_truth);
        if is_truth && let Some(truth) = truth(content) {
            return Ok((f64::from(u8::from(truth)), found.end));
        }
        match number::parse(content, self.point) {
            Number::Float(value) | Number::Integer(value) => Ok((value, found.end)),
            Number::Rounded(value) => {
                parsed.n_rounded += 1;
                Ok((value, found.end))
            }
            Number::Overflow => {
                let what = format!("{} is too large for a number", shown(content));
                Err(fault(Wrong::Other(what)))
            }
            Number::Other if self.bad_cells_are_missing && !self.skip_bad_rows => {
                parsed.bad_cells.add(fault(Wrong::Cell(shortened(content))));
                Ok((f64::NAN, found.end))
            }
            Number::Other => Err(fault(Wrong::Cell(shortened(content)))),
        }
    }

    /// A field that is a label, a label and a number, or neither.
    fn rare_field(
        &self,
        bytes: &[u8],
        at: usize,
        len: usize,
        column: usize,
        row: &mut [f64],
        parsed: &mut Parsed,
    ) -> Result<usize, Fault> {
        let action = self.actions.get(column).copied().unwrap_or_default();
        let found = field(bytes, at, len, self.marks).map_err(|e| field_fault(e, column))?;
        if let Some(slot) = action.number {
            (row[slot], _) = self.number(bytes, at, len, column, parsed)?;
        } else if action.is_required && self.skip_bad_rows {
            self.number(bytes, at, len, column, parsed)?;
        } else if found.is_quoted {
            parsed.n_lines += count_lines(bytes.get(at..found.end).unwrap_or_default());
        }
        if let Some(labels) = action.label.and_then(|slot| parsed.labels.get_mut(slot)) {
            let text = match std::str::from_utf8(&found.content) {
                Ok(text) if !text.contains('\0') => text,
                _ => {
                    let what = Wrong::Other(format!(
                        "{} is not UTF-8 text (Latin-1 or another encoding?); \
                         convert the file to UTF-8",
                        shown(&found.content)
                    ));
                    return Err(Fault { line: 0, column: Some(column), what, is_fatal: true });
                }
            };
            labels.push(text);
        }
        Ok(found.end)
    }

    /// Says how many fields a record has that has too many or too few.
    #[cold]
    fn ragged(&self, bytes: &[u8], start: usize, len: usize) -> Fault {
        let mut n_fields = 0u64;
        let mut at = start;
        loop {
            let found = match field(bytes, at, len, self.marks) {
                Ok(found) => found,
                Err(fault) => return field_fault(fault, n_fields as usize),
            };
            n_fields += 1;
            match self.after_delimiter(bytes, found.end, len) {
                Some(next) => at = next,
                None => break,
            }
        }
        let what = format!(
            "this row has {n_fields} field{}, but the table has {} column{}",
            if n_fields == 1 { "" } else { "s" },
            self.actions.len(),
            if self.actions.len() == 1 { "" } else { "s" }
        );
        Fault { line: 0, column: None, what: Wrong::Other(what), is_fatal: false }
    }

    /// Passes over one record, counts its lines, and gives the start of the next.
    fn pass_over(&self, bytes: &[u8], start: usize, len: usize, parsed: &mut Parsed) -> usize {
        let mut at = start;
        let end = loop {
            let end = match field(bytes, at, len, self.marks) {
                Ok(found) => found.end,
                Err(FieldFault::Unclosed(_)) => break len,
                Err(FieldFault::TextAfterQuote(text)) => super::fields::find_field_end(
                    bytes.get(..len).unwrap_or(bytes),
                    text,
                    self.marks,
                ),
            };
            match self.after_delimiter(bytes, end, len) {
                Some(next) => at = next,
                None => break self.after_record(bytes, end, len).unwrap_or(len),
            }
        };
        let record = bytes.get(start..end.min(len)).unwrap_or_default();
        let is_ended = matches!(record.last(), Some(b'\n' | b'\r'));
        parsed.n_lines += count_lines(record) + u64::from(!is_ended);
        end
    }
}

/// `true` or `false`, in the spellings that programs write.
pub(super) fn truth(field: &[u8]) -> Option<bool> {
    match field {
        b"true" | b"True" | b"TRUE" => Some(true),
        b"false" | b"False" | b"FALSE" => Some(false),
        _ => None,
    }
}

/// A field as it can be shown in a message: short, on one line.
pub(super) fn shown(field: &[u8]) -> String {
    format!("`{}`", shortened(field).escape_debug())
}

/// The beginning of a field.
fn shortened(field: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(field.get(..4 * LONGEST).unwrap_or(field));
    let mut short: String = text.chars().take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() || field.len() > 4 * LONGEST {
        short.push('…');
    }
    short
}

fn field_fault(fault: FieldFault, column: usize) -> Fault {
    let what = match fault {
        FieldFault::Unclosed(_) => "a quote opens here and is never closed",
        FieldFault::TextAfterQuote(_) => "there is text after a closing quote",
    };
    Fault { line: 0, column: Some(column), what: Wrong::Other(what.to_owned()), is_fatal: false }
}
