//! Text tables: CSV, TSV and their relatives.
//!
//! The first megabyte tells delimiter, decimal mark, header and the kinds of the columns; every
//! guess is told as a [`Note`] and can be overridden by [`CsvOptions`]. What the file holds is then
//! checked against it: text in a column that is mostly numbers, a row with other fields than the
//! header, a number too large are errors with their line and column.
//!
//! - Fields may be quoted; two quotes inside are one. Blanks around unquoted fields do not count.
//! - Lines end with LF, CR or CR LF. Blank lines are passed over.
//! - Numbers are correctly rounded. Thousands separators, underscores and `0x10` are text; `inf`
//!   is infinity, but `1e400` is an error. Missing values are [`MISSING_MARKS`].
//! - Text is UTF-8; other encodings are recognised and refused.

mod chunks;
mod decimal;
mod digits;
mod encoding;
mod fields;
mod ledger;
mod number;
mod options;
mod parse;
mod reader;
mod sniff;
mod survey;
mod whole;

pub use options::{CsvOptions, MISSING_MARKS};

use crate::budget::{self, check_columns};
use crate::error::{Error, NO_ROWS, Place, Result};
use crate::input::Input;
use crate::names::unique_names;
use crate::source::{Block, BlockReader, Column, Kind, Location, Note, Source, Told, Wanted};
use chunks::{Chunk, ChunkFault, Chunks};
use ledger::Ledger;
use parse::{Action, Layout, Parsed, shown};
use reader::CsvReader;
use sniff::{Dialect, Tally};
use std::sync::Arc;
use survey::{SAMPLE_BYTES, Sample, Survey};
use whole::Whole;

/// A text table.
pub struct CsvSource {
    input: Input,
    options: CsvOptions,
    dialect: Dialect,
    has_header: bool,
    columns: Vec<Column>,
    names: Arc<[String]>,
    is_truth: Vec<bool>,
    /// For each column whether it has a value, as far as the beginning tells.
    has_values: Vec<Option<bool>>,
    notes: Vec<Note>,
    rows_guess: usize,
}

impl CsvSource {
    /// Looks at the first records of a file.
    pub fn open(input: Input, options: &CsvOptions) -> Result<Self> {
        let extension = input.path().with_extension("");
        let name = if input.compression().is_some() { extension.as_path() } else { input.path() };
        let prefers_tab = name
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("tsv") || e.eq_ignore_ascii_case("tab"));
        let mut n = SAMPLE_BYTES;
        let (sample, dialect, survey) = loop {
            let sample = Sample::read(&input, n)?;
            let dialect = Dialect::sniff(&sample.bytes, options, prefers_tab);
            if let Some(records) = sample.whole_records(&input, &dialect, options)? {
                let survey = Survey::of(records, &dialect, options);
                // Names alone say nothing about the columns.
                let n_records = survey.as_ref().map_or(0, |survey| survey.n_records);
                if n_records > 1 || sample.is_whole || n >= options.max_row_bytes {
                    break (sample, dialect, survey);
                }
            }
            n *= 4;
            let what = || format!("{} with its long rows", input.path().display());
            budget::check(options.memory, SURVEY_BYTES * n as u64, what)?;
        };
        let Some(survey) = survey else {
            return Err(content(&input, None, "there is nothing in this file"));
        };
        let is_whole = sample.is_whole;
        if survey.n_rows == 0 && is_whole {
            let what = format!("below the row of names {NO_ROWS}");
            return Err(content(&input, None, &what));
        }
        let mut notes = sample.notes(&input, &dialect);
        let (has_header, reason) = (survey.has_header, survey.reason);
        let yes_or_no = if has_header { "yes" } else { "no" };
        notes.push(note("header", format!("{yes_or_no} ({reason})")));
        notes.extend(survey.missing_note());
        check_columns(options.memory, survey.names.len(), input.path())?;
        let (names, name_notes) = unique_names(survey.names);
        notes.extend(if has_header { name_notes } else { Vec::new() });
        for name in &options.text_columns {
            if !names.contains(name) {
                return Err(Error::Usage {
                    what: format!("{}: there is no column `{name}`", input.path().display()),
                    hint: None,
                });
            }
        }
        let mut columns = Vec::new();
        for (name, tally) in names.iter().zip(&survey.tallies) {
            let is_forced = options.text_columns.contains(name);
            let kind = if is_forced { Kind::Text } else { kind_of(tally) };
            if let (Kind::Text, false, Some((line, text))) = (&kind, is_forced, &tally.first_text)
                && 10 * tally.numbers() > tally.values()
            {
                notes.push(note(
                    &format!("column `{}`", name.escape_debug()),
                    format!("text, because of {} in line {}", shown(text), line + 1),
                ));
            }
            columns.push(Column { name: name.clone(), kind });
        }
        let is_truth = survey.tallies.iter().map(Tally::is_mostly_truth).collect();
        let has_values = survey.tallies.iter().map(|tally| match tally.values() {
            0 => is_whole.then_some(false),
            _ => Some(true),
        });
        let has_values = has_values.collect();
        let bytes_per_row = sample.stored_bytes_per_row(survey.n_rows);
        let rows_guess = if is_whole {
            survey.n_rows
        } else {
            (input.n_bytes() as f64 / bytes_per_row).ceil() as usize
        };
        Ok(Self {
            options: options.clone(),
            dialect,
            has_header,
            names: names.into(),
            columns,
            is_truth,
            has_values,
            notes,
            rows_guess,
            input,
        })
    }

    fn layout(&self, wanted: &Wanted) -> Result<Layout> {
        let mut actions: Vec<Action> = self
            .is_truth
            .iter()
            .map(|&is_truth| Action { is_truth, ..Action::default() })
            .collect();
        let mut give = |column: &usize, set: &mut dyn FnMut(&mut Action) -> bool| match actions
            .get_mut(*column)
            .is_some_and(set)
        {
            true => Ok(()),
            false => Err(Error::Usage {
                what: format!(
                    "{}: column {} cannot be read: it does not exist or is wanted twice",
                    self.input.path().display(),
                    column + 1
                ),
                hint: None,
            }),
        };
        for (slot, column) in wanted.numbers.iter().enumerate() {
            give(column, &mut |action| action.number.replace(slot).is_none())?;
        }
        for (slot, column) in wanted.labels.iter().enumerate() {
            give(column, &mut |action| action.label.replace(slot).is_none())?;
        }
        for column in &wanted.required {
            give(column, &mut |action| {
                action.is_required = true;
                true
            })?;
        }
        Ok(Layout {
            marks: self.dialect.marks,
            point: self.dialect.point,
            missing: self.dialect.missing.clone(),
            actions,
            n_numbers: wanted.numbers.len(),
            n_labels: wanted.labels.len(),
            skip_bad_rows: self.options.skip_bad_rows,
            bad_cells_are_missing: self.options.bad_cells_are_missing,
        })
    }

    fn chunks(&self, at_most: usize) -> Result<Chunks> {
        let mut sizes = self.options.sizes();
        sizes.chunk = sizes.chunk.min(at_most);
        Ok(Chunks::new(self.input.reader()?, self.dialect.marks, sizes))
    }

    fn n_header(&self) -> usize {
        usize::from(self.has_header)
    }

    fn ledger(&self) -> Ledger {
        Ledger::new(self.input.path().to_owned(), self.names.clone())
    }
}

impl Source for CsvSource {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_rows(&self) -> Option<usize> {
        None
    }

    fn rows_guess(&self) -> usize {
        self.rows_guess
    }

    fn is_f32(&self) -> bool {
        false
    }

    fn notes(&self) -> &[Note] {
        &self.notes
    }

    fn open(&self, wanted: &Wanted) -> Result<Box<dyn BlockReader + Send + '_>> {
        let layout = self.layout(wanted)?;
        Ok(Box::new(CsvReader::new(
            self.chunks(usize::MAX)?,
            layout,
            self.n_header(),
            self.ledger(),
        )))
    }

    fn read_whole(&self, wanted: &Wanted, told: &Told) -> Option<Result<(Block, Vec<Note>)>> {
        let read = || {
            let (chunks, layout) = (self.chunks(CACHED_BYTES)?, &self.layout(wanted)?);
            let (n_header, n_bytes) = (self.n_header(), self.n_bytes());
            let whole = Whole { chunks, layout, n_header, n_bytes, told };
            whole.read(self.rows_guess, self.ledger())
        };
        Some(read())
    }

    fn n_bytes(&self) -> u64 {
        self.input.n_bytes()
    }

    fn has_values(&self, column: usize) -> Option<bool> {
        self.has_values.get(column).copied().flatten()
    }

    fn locate(&self, wanted: &Wanted, row: usize) -> Result<Option<Location>> {
        let layout = self.layout(wanted)?;
        let mut chunks = self.chunks(usize::MAX)?;
        let mut chunk = Chunk::default();
        let (mut rows, mut lines) = (0, 0);
        let mut skip = self.n_header();
        loop {
            match chunks.next(&mut chunk) {
                Ok(true) => {}
                Ok(false) | Err(ChunkFault::Record { .. }) => return Ok(None),
                Err(ChunkFault::Input(error)) => return Err(error),
            }
            let mut parsed = Parsed { row_lines: Some(Vec::new()), ..Parsed::default() };
            let skip = std::mem::take(&mut skip);
            let most = Layout::rows_at_most(chunk.records(), skip);
            let mut numbers = vec![0.0; most * layout.n_numbers];
            layout.parse(chunk.padded(), chunk.len(), skip, &mut numbers, &mut parsed);
            let found = parsed.row_lines.as_ref().and_then(|all| all.get(row - rows));
            if let Some(line) = found {
                let place = Place { line: Some(lines + line + 1), ..Place::default() };
                return Ok(Some(Location { file: self.input.path().to_owned(), place }));
            }
            rows += parsed.n_rows;
            lines += parsed.n_lines;
        }
    }
}

/// What a byte of the first rows takes while they are looked at: a field of one digit is a few words.
const SURVEY_BYTES: u64 = 24;

/// So much text stays in a processor's own cache while it is read, counted and parsed.
const CACHED_BYTES: usize = 256 << 10;

/// What most of the values are. A few others do not make a feature vanish: they are errors when
/// they are read.
fn kind_of(tally: &Tally) -> Kind {
    match tally {
        Tally { floats, .. } if tally.is_mostly_numeric() && *floats > 0 => Kind::Float,
        _ if tally.is_mostly_numeric() || tally.is_mostly_truth() => Kind::Integer,
        _ if tally.values() == 0 => Kind::Empty,
        _ => Kind::Text,
    }
}

fn note(what: &str, found: String) -> Note {
    Note::new(what, found)
}

fn content(input: &Input, line: Option<u64>, what: &str) -> Error {
    let place = Place { line: line.map(|line| line + 1), ..Place::default() };
    Error::Content { file: input.path().to_owned(), place, what: what.to_owned() }
}
