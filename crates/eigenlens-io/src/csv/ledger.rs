//! What the pieces of a text table held, added up in their order.

use super::chunks::ChunkFault;
use super::parse::{Fault, Faults, Parsed, Wrong};
use crate::error::{Error, NO_ROWS, Place, Result};
use crate::source::Note;
use eigenlens::AnyArray;
use ndarray::Array2;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows and lines so far, and with them the places of what is wrong.
pub(super) struct Ledger {
    file: PathBuf,
    /// The names of all columns.
    names: Arc<[String]>,
    lines: u64,
    bad_rows: Faults,
    bad_cells: Faults,
    n_rounded: u64,
    n_rows: u64,
}

impl Ledger {
    pub(super) fn new(file: PathBuf, names: Arc<[String]>) -> Self {
        let (bad_rows, bad_cells) = (Faults::default(), Faults::default());
        Self { file, names, lines: 0, bad_rows, bad_cells, n_rounded: 0, n_rows: 0 }
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Takes in the next piece; what ended its parsing is the error.
    pub(super) fn enter(&mut self, parsed: &Parsed) -> Result<()> {
        let lines_before = self.lines;
        self.lines += parsed.n_lines;
        self.n_rounded += parsed.n_rounded;
        self.n_rows += parsed.n_rows as u64;
        self.bad_rows.append(&parsed.bad_rows, lines_before);
        self.bad_cells.append(&parsed.bad_cells, lines_before);
        match &parsed.fault {
            Some(fault) => Err(self.error(fault, lines_before)),
            None => Ok(()),
        }
    }

    /// What it means that there is no further piece: an error, where there were no rows.
    pub(super) fn end(&self) -> Result<()> {
        if self.n_rows > 0 {
            return Ok(());
        }
        Err(self.content(NO_ROWS.into()))
    }

    /// The error that no further piece could be read.
    pub(super) fn fault(&self, fault: ChunkFault) -> Error {
        match fault {
            ChunkFault::Input(error) => error,
            ChunkFault::Record { line, what } => {
                let what = Wrong::Other(what);
                self.error(&Fault { line, column: None, what, is_fatal: true }, self.lines)
            }
        }
    }

    /// Numbers in rows of this shape.
    pub(super) fn matrix(&self, shape: (usize, usize), numbers: Vec<f64>) -> Result<AnyArray> {
        let matrix = Array2::from_shape_vec(shape, numbers);
        Ok(AnyArray::F64(matrix.map_err(|e| self.content(e.to_string()))?))
    }

    /// What is to be told about the pieces so far.
    pub(super) fn findings(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        let file = self.file.display();
        if let Some(first) = &self.bad_rows.first {
            let (count, line) = (self.bad_rows.count, first.line + 1);
            let found = format!("{file}: {count}; the first is line {line}: {}", first.what);
            notes.push(Note::new("rows left out", found));
        }
        if let Some(first) = &self.bad_cells.first {
            let (count, place) = (self.bad_cells.count, self.place(first, 0));
            let found = format!("{count}; the first is {file}{place}: {}", first.what);
            notes.push(Note::warning("cells taken for missing values", found));
        }
        if self.n_rounded > 0 {
            let found = format!("{file}: {} were rounded to double precision", self.n_rounded);
            notes.push(Note::new("whole numbers beyond 2^53", found));
        }
        notes
    }

    fn error(&self, fault: &Fault, lines_before: u64) -> Error {
        let (file, place) = (self.file.clone(), self.place(fault, lines_before));
        match &fault.what {
            Wrong::Cell(cell) => Error::BadCell { file, place, cell: cell.clone() },
            Wrong::Other(what) => Error::Content { file, place, what: what.clone() },
        }
    }

    fn place(&self, fault: &Fault, lines_before: u64) -> Place {
        let column = fault.column.map(|column| match self.names.get(column) {
            Some(name) => format!("`{}`", name.escape_debug()),
            None => (column + 1).to_string(),
        });
        Place { line: Some(lines_before + fault.line + 1), row: None, column }
    }

    fn content(&self, what: String) -> Error {
        Error::Content { file: self.file.clone(), place: Place::default(), what }
    }
}
