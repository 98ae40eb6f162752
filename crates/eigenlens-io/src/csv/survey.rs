//! The start of a file, and what it says about the rest.

use super::chunks::BOM;
use super::fields::{self, Splitter, is_nothing};
use super::options::CsvOptions;
use super::parse::shown;
use super::sniff::{Dialect, Tally, each_record, judge_header};
use super::{content, encoding, note};
use crate::error::Result;
use crate::input::{Compression, Input};
use crate::source::Note;
use std::collections::BTreeMap;

/// The start of a file.
pub(super) struct Sample {
    pub(super) bytes: Vec<u8>,
    has_mark: bool,
    pub(super) is_whole: bool,
    stored: u64,
}

/// How much of a file is looked at to learn what it is.
pub(super) const SAMPLE_BYTES: usize = 1 << 20;

impl Sample {
    /// The first `n` bytes.
    pub(super) fn read(input: &Input, n: usize) -> Result<Self> {
        let mut reader = input.reader()?;
        let mut bytes = vec![0; n];
        let got = reader.fill(&mut bytes)?;
        bytes.truncate(got);
        if let Some((line, what)) = encoding::complaint(&bytes) {
            return Err(content(input, Some(line), &what));
        }
        let has_mark = bytes.starts_with(BOM);
        if has_mark {
            bytes.drain(..BOM.len());
        }
        Ok(Self { bytes, has_mark, is_whole: got < n, stored: reader.bytes_read() })
    }

    /// The records that are complete in the sample; `None` when there is none yet, and a longer
    /// sample can tell.
    pub(super) fn whole_records(
        &self,
        input: &Input,
        dialect: &Dialect,
        options: &CsvOptions,
    ) -> Result<Option<&[u8]>> {
        let mut splitter = Splitter::new(dialect.marks);
        splitter.scan(&self.bytes, self.is_whole);
        let n = self.bytes.len();
        let end = if self.is_whole { n } else { splitter.end() };
        let is_stuck = end == 0 || is_nothing(&self.bytes[..end], dialect.marks);
        let unclosed = splitter
            .open()
            .filter(|open| self.is_whole || (is_stuck && n - open > options.max_field_bytes));
        if let Some(open) = unclosed {
            let line = fields::count_lines(&self.bytes[..open]);
            return Err(content(input, Some(line), "a quote opens here and is never closed"));
        }
        if is_stuck && !self.is_whole && n >= options.max_row_bytes {
            let line = fields::count_lines(&self.bytes[..end]);
            let what = format!("no line end within {n} bytes: is this a text table?");
            return Err(content(input, Some(line), &what));
        }
        let is_enough = self.is_whole || !is_stuck;
        Ok(is_enough.then(|| &self.bytes[..end]))
    }

    pub(super) fn stored_bytes_per_row(&self, n_rows: usize) -> f64 {
        let stored = if self.bytes.is_empty() { 1.0 } else { self.stored as f64 };
        (stored / n_rows.max(1) as f64).max(1.0)
    }

    pub(super) fn notes(&self, input: &Input, dialect: &Dialect) -> Vec<Note> {
        let mut notes = Vec::new();
        if input.is_spooled() {
            let found = format!("{} bytes, kept in an unnamed temporary file", input.n_bytes());
            notes.push(note("input from a pipe", found));
        }
        match input.compression() {
            Some(Compression::Gzip) => notes.push(note("compression", "gzip".into())),
            Some(Compression::Zstd) => notes.push(note("compression", "Zstandard".into())),
            None => {}
        }
        let delimiter = match dialect.marks.delimiter {
            b'\t' => String::from("tab"),
            b' ' => String::from("blanks"),
            other => format!("`{}`", char::from(other).escape_debug()),
        };
        notes.push(note("delimiter", delimiter));
        if dialect.point == b',' {
            notes.push(note("decimal mark", "`,`".into()));
        }
        if dialect.marks.quote == Some(b'\'') {
            notes.push(note("quotes", "`'`".into()));
        }
        if self.has_mark {
            notes.push(note("encoding", "UTF-8 with a byte-order mark".into()));
        }
        notes
    }
}

/// What the records of the sample hold.
pub(super) struct Survey {
    pub(super) has_header: bool,
    pub(super) reason: &'static str,
    pub(super) names: Vec<String>,
    pub(super) tallies: Vec<Tally>,
    pub(super) n_records: usize,
    pub(super) n_rows: usize,
    missing: Vec<BTreeMap<Vec<u8>, usize>>,
}

impl Survey {
    pub(super) fn of(records: &[u8], dialect: &Dialect, options: &CsvOptions) -> Option<Self> {
        let mut first: Option<Vec<Vec<u8>>> = None;
        let mut tallies: Vec<Tally> = Vec::new();
        // The marks for missing values in each column, and how often they come.
        let mut missing: Vec<BTreeMap<Vec<u8>, usize>> = Vec::new();
        let (mut n_rows, mut n_wider) = (0, 0);
        each_record(records, dialect.marks, |line, fields| {
            let contents = fields.iter().map(|field| field.content.trim_ascii());
            let Some(names) = &first else {
                tallies = vec![Tally::default(); fields.len() + 1];
                missing = vec![BTreeMap::new(); fields.len() + 1];
                first = Some(contents.map(<[u8]>::to_vec).collect());
                return true;
            };
            n_rows += 1;
            n_wider += usize::from(fields.len() == names.len() + 1);
            for ((content, tally), marks) in contents.zip(&mut tallies).zip(&mut missing) {
                if let Some(mark) = tally.add(content, line, dialect) {
                    *marks.entry(mark.to_vec()).or_default() += 1;
                }
            }
            true
        });
        let mut first = first?;
        let n_records = n_rows + 1;
        // R writes a name less than there are columns when the first holds the names of the rows.
        let has_row_names = n_rows > 0 && n_wider == n_rows && options.header != Some(false);
        if has_row_names {
            first.insert(0, Vec::new());
        } else {
            tallies.pop();
        }
        let (has_header, reason) = match options.header {
            Some(true) => (true, "as asked"),
            Some(false) => (false, "as asked"),
            None if has_row_names => (true, "the first row has one field less: row names"),
            None => judge_header(&first, &tallies, dialect),
        };
        let names = if has_header {
            first.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
        } else {
            n_rows += 1;
            for (content, tally) in first.iter().zip(&mut tallies) {
                tally.add(content, 0, dialect);
            }
            (1..=first.len()).map(|number| format!("x{number}")).collect()
        };
        Some(Self { has_header, reason, names, tallies, n_records, n_rows, missing })
    }

    pub(super) fn missing_note(&self) -> Option<Note> {
        let mut marks: BTreeMap<&[u8], usize> = BTreeMap::new();
        for (missing, tally) in self.missing.iter().zip(&self.tallies) {
            for (mark, count) in missing.iter().filter(|_| tally.is_mostly_numeric()) {
                *marks.entry(mark).or_default() += count;
            }
        }
        let marks: Vec<String> = marks
            .into_iter()
            .map(|(mark, count)| match mark.is_empty() {
                true => format!("empty ({count} times)"),
                false => format!("{} ({count} times)", shown(mark)),
            })
            .collect();
        let found = format!("{} in the first rows", marks.join(", "));
        (!marks.is_empty()).then(|| note("missing values", found))
    }
}
