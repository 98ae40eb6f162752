//! Tables in files, read within a memory budget.

use crate::data::Failed;
use crate::errors;
use eigenlens::{DataShape, Error};
use eigenlens_io::csv::CsvOptions;
use eigenlens_io::{
    ColumnChoice, Fate, Loaded, Location, MatrixOptions, Orientation, ReadOptions, Selection,
    Table, open,
};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Files that were looked at: their columns are chosen, their rows are not read.
#[pyclass(frozen, module = "eigenlens._core")]
pub struct Files {
    table: Table,
    selection: Selection,
    /// What reading found out that must not go unnoticed.
    warnings: Mutex<Vec<String>>,
}

/// What may be said about reading: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Reading {
    /// Features: names, ranges, patterns; empty: every column of numbers.
    columns: Vec<String>,
    /// Which array of an NPZ archive.
    array: Option<String>,
    delimiter: Option<String>,
    header: Option<bool>,
    decimal: Option<String>,
    missing: Vec<String>,
    /// Where the samples of a matrix without names are: `rows` or `columns`.
    samples: Option<String>,
    row_names: Option<PathBuf>,
    column_names: Option<PathBuf>,
    /// Whether cells that are no numbers in a column of numbers are taken for missing.
    bad_cells_are_missing: bool,
    memory: Option<u64>,
}

#[pymethods]
impl Files {
    /// Opens one or more files as one table. With `names` the features are those of a model, found
    /// by name.
    #[new]
    #[pyo3(signature = (paths, reading, names=None))]
    fn new(
        py: Python,
        paths: Vec<PathBuf>,
        reading: Reading,
        names: Option<Vec<String>>,
    ) -> PyResult<Files> {
        let choice = ColumnChoice { features: reading.columns.clone(), labels: Vec::new() };
        let options = reading.options()?;
        py.detach(|| {
            let table = open(&paths, &options)?;
            let selection = match names {
                Some(names) => table.select_named(&names)?,
                None => table.select(&choice)?,
            };
            // Labels are for tables that are written: here they would only take memory.
            let (selection, warnings) = (selection.without_labels(), Mutex::default());
            Ok(Files { table, selection, warnings })
        })
        .map_err(errors::owned_file)
    }

    /// The names of the features, in the order they are read.
    #[getter(feature_names)]
    fn names(&self) -> Vec<String> {
        self.feature_names().to_vec()
    }

    /// The number of rows, where it is known without reading.
    #[getter]
    fn n_rows(&self) -> Option<usize> {
        self.table.source().n_rows()
    }

    /// Whether the numbers are a sparse matrix; it is in memory then.
    #[getter(is_sparse)]
    fn sparse(&self) -> bool {
        self.is_sparse()
    }

    /// Whether the numbers are stored in single precision.
    #[getter(is_f32)]
    fn single(&self) -> bool {
        self.table.source().is_f32()
    }

    /// What the columns that are not features are, and what is suspicious about those that are.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let fates = self.selection.fates().iter();
        let skipped = fates
            .clone()
            .filter(|fate| fate.fate != Fate::Feature)
            .map(|fate| format!("column `{}` is not used: {}", fate.name, fate.reason));
        let suspicious = fates
            .filter_map(|fate| Some(format!("column `{}` {}", fate.name, fate.warning.as_ref()?)));
        skipped.chain(suspicious).collect()
    }
}

impl Files {
    pub fn feature_names(&self) -> &[String] {
        self.selection.feature_names()
    }

    pub fn is_sparse(&self) -> bool {
        self.table.source().sparse().is_some()
    }

    /// The shape as a plan sees it, the rows as known or as guessed.
    pub fn data_shape(&self) -> DataShape {
        let shape = self.table.shape(&self.selection);
        let rows = shape.n_samples.unwrap_or_else(|| self.table.source().rows_guess());
        DataShape { n_samples: Some(rows.max(2)), ..shape }
    }

    /// Bytes of the features in memory, as far as known.
    pub fn n_bytes(&self) -> u64 {
        self.table.n_bytes(&self.selection)
    }

    /// Reads the rows if they take at most this many bytes, else prepares to stream them.
    pub fn load(&self, memory: Option<u64>) -> eigenlens_io::Result<Loaded<'_>> {
        self.table.load(&self.selection, memory, None)
    }

    /// Keeps what a reading found out, after a pass over all rows.
    pub fn keep_findings(&self, loaded: &Loaded) {
        let warnings = loaded.findings().into_iter().filter(|note| note.is_warning);
        let words = warnings.map(|note| format!("{}: {}", note.what, note.found)).collect();
        *self.warnings.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }

    /// Tells what was kept, as Python's warnings.
    pub fn warn(&self, py: Python) -> PyResult<()> {
        let mut kept = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        for words in std::mem::take(&mut *kept) {
            let words = CString::new(words.replace('\0', " "))?;
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &words, 1)?;
        }
        Ok(())
    }

    /// An error of the library, with file and line where it is about a cell.
    pub fn explain(&self, error: Error) -> Failed {
        let (row, column, what) = match &error {
            Error::MissingValue { row, column, .. } => (*row, *column, "is missing (NaN)".into()),
            Error::Infinite { row, column, value, .. } => (*row, *column, format!("is {value}")),
            _ => return Failed::Library(error),
        };
        let found = self.table.locate(&self.selection, row);
        let Ok(Some(Location { file, mut place })) = found else {
            return Failed::Library(error);
        };
        place.column = self.feature_names().get(column).map(|name| format!("`{name}`"));
        Failed::File(eigenlens_io::Error::Content { file, place, what })
    }
}

impl Reading {
    /// In the words of the readers.
    fn options(self) -> PyResult<ReadOptions> {
        let csv = CsvOptions {
            delimiter: one_byte("delimiter", &self.delimiter)?,
            header: self.header,
            decimal: one_byte("decimal", &self.decimal)?,
            missing: self.missing,
            bad_cells_are_missing: self.bad_cells_are_missing,
            ..CsvOptions::default()
        };
        let orientation = match self.samples.as_deref() {
            None => Orientation::Auto,
            Some("rows") => Orientation::AsStored,
            Some("columns") => Orientation::Transposed,
            Some(other) => {
                let said = format!("`samples` is `{other}`, but it must be rows or columns");
                return Err(PyValueError::new_err(said));
            }
        };
        let (row_names, column_names) = (self.row_names, self.column_names);
        Ok(ReadOptions {
            csv,
            matrix: MatrixOptions { orientation, row_names, column_names },
            array: self.array,
            memory: self.memory.map(|memory| memory / 2),
            ..ReadOptions::default()
        })
    }
}

fn one_byte(name: &str, said: &Option<String>) -> PyResult<Option<u8>> {
    match said.as_deref() {
        None => Ok(None),
        Some(text) if text.len() == 1 => Ok(text.bytes().next()),
        Some(text) => Err(PyValueError::new_err(format!(
            "`{name}` is `{text}`, but it must be one character"
        ))),
    }
}
