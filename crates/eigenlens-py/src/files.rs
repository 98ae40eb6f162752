//! Tables in files, read within a memory budget.

use crate::data::Failed;
use crate::errors;
use eigenlens::{AnyArray, AnyDataset, DataShape, Dataset, Error};
use eigenlens_io::csv::CsvOptions;
use eigenlens_io::matrix_market::{self, MatrixMarket, MatrixMarketOptions, is_matrix_market};
use eigenlens_io::{
    ColumnChoice, Fate, InMemory, Loaded, Location, ReadOptions, Selection, Table, open,
};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Files that were looked at: their columns are chosen, their rows are not read, but for sparse
/// matrices.
#[pyclass(frozen, module = "eigenlens._core")]
pub struct Files(Body);

enum Body {
    Table(Box<Chosen>),
    /// A Matrix Market file, in memory.
    Matrix(MatrixMarket),
}

struct Chosen {
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
        if paths.iter().any(|path| is_matrix_market(path)) {
            reading.check_matrix()?;
            let matrix = py.detach(|| read_matrix(&paths, reading.memory, names.as_deref()));
            return matrix.map(|matrix| Files(Body::Matrix(matrix))).map_err(errors::owned_file);
        }
        let csv = CsvOptions {
            delimiter: one_byte("delimiter", &reading.delimiter)?,
            header: reading.header,
            decimal: one_byte("decimal", &reading.decimal)?,
            missing: reading.missing,
            bad_cells_are_missing: reading.bad_cells_are_missing,
            ..CsvOptions::default()
        };
        let options = ReadOptions {
            csv,
            array: reading.array,
            memory: reading.memory.map(|memory| memory / 2),
            ..ReadOptions::default()
        };
        let choice = ColumnChoice { features: reading.columns, labels: Vec::new() };
        py.detach(|| {
            let table = open(&paths, &options)?;
            let selection = match names {
                Some(names) => table.select_named(&names)?,
                None => table.select(&choice)?,
            };
            // Labels are for tables that are written: here they would only take memory.
            let (selection, warnings) = (selection.without_labels(), Mutex::default());
            Ok(Files(Body::Table(Box::new(Chosen { table, selection, warnings }))))
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
        match &self.0 {
            Body::Table(chosen) => chosen.table.source().n_rows(),
            Body::Matrix(matrix) => Some(matrix.n_rows()),
        }
    }

    /// Whether the numbers are a sparse matrix.
    #[getter]
    fn is_sparse(&self) -> bool {
        matches!(self.0, Body::Matrix(MatrixMarket::Sparse(_)))
    }

    /// Whether the numbers are stored in single precision.
    #[getter(is_f32)]
    fn single(&self) -> bool {
        self.is_f32()
    }

    /// What the columns that are not features are, and what is suspicious about those that are.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let Body::Table(chosen) = &self.0 else { return Vec::new() };
        let fates = chosen.selection.fates().iter();
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
        match &self.0 {
            Body::Table(chosen) => chosen.selection.feature_names(),
            Body::Matrix(matrix) => matrix.column_names(),
        }
    }

    pub fn is_f32(&self) -> bool {
        matches!(&self.0, Body::Table(chosen) if chosen.table.source().is_f32())
    }

    /// Whether the rows are in memory already.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.0, Body::Matrix(_))
    }

    /// The shape as a plan sees it, the rows as known or as guessed.
    pub fn data_shape(&self) -> DataShape {
        let (rows, n_stored) = match &self.0 {
            Body::Table(chosen) => {
                let source = chosen.table.source();
                (source.n_rows().unwrap_or_else(|| source.rows_guess()), None)
            }
            Body::Matrix(MatrixMarket::Sparse(table)) => {
                (table.matrix.n_rows(), Some(table.matrix.n_stored()))
            }
            Body::Matrix(matrix) => (matrix.n_rows(), None),
        };
        let dense = DataShape::dense(rows.max(2), self.feature_names().len());
        DataShape { n_stored, is_f32: self.is_f32(), ..dense }
    }

    /// Bytes of the features in memory, as far as known.
    pub fn n_bytes(&self) -> u64 {
        if let Body::Matrix(matrix) = &self.0 {
            return matrix.n_bytes();
        }
        let shape = self.data_shape();
        let entries = shape.n_samples.unwrap_or(0) as u64 * shape.n_features as u64;
        entries.saturating_mul(if shape.is_f32 { 4 } else { 8 })
    }

    /// Reads the rows if they take at most this many bytes, else prepares to stream them.
    pub fn load(&self, memory: Option<u64>) -> eigenlens_io::Result<Held<'_>> {
        Ok(match &self.0 {
            Body::Table(chosen) => {
                Held::Table(chosen.table.load(&chosen.selection, memory, None)?)
            }
            Body::Matrix(matrix) => Held::Matrix(matrix),
        })
    }

    /// Keeps what a reading found out, after a pass over all rows.
    pub fn keep_findings(&self, held: &Held) {
        let (Body::Table(chosen), Held::Table(loaded)) = (&self.0, held) else { return };
        let findings = match loaded {
            Loaded::InMemory(read) => read.findings.clone(),
            Loaded::Streamed(rows) => rows.findings(),
        };
        let warnings = findings.into_iter().filter(|note| note.is_warning);
        let words = warnings.map(|note| format!("{}: {}", note.what, note.found)).collect();
        *chosen.warnings.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }

    /// Tells what was kept, as Python's warnings.
    pub fn warn(&self, py: Python) -> PyResult<()> {
        let Body::Table(chosen) = &self.0 else { return Ok(()) };
        let mut kept = chosen.warnings.lock().unwrap_or_else(PoisonError::into_inner);
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
        let Body::Table(chosen) = &self.0 else { return Failed::Library(error) };
        let found = chosen.table.locate(&chosen.selection, row);
        let Ok(Some(Location { file, mut place })) = found else {
            return Failed::Library(error);
        };
        place.column = self.feature_names().get(column).map(|name| format!("`{name}`"));
        Failed::File(eigenlens_io::Error::Content { file, place, what })
    }
}

/// Rows in memory, or to be streamed.
pub enum Held<'a> {
    Table(Loaded<'a>),
    Matrix(&'a MatrixMarket),
}

impl Held<'_> {
    pub fn data(&self) -> AnyDataset<'_> {
        match self {
            Held::Table(Loaded::InMemory(InMemory { numbers: AnyArray::F32(x), .. })) => {
                AnyDataset::F32(Dataset::from(x))
            }
            Held::Table(Loaded::InMemory(InMemory { numbers: AnyArray::F64(x), .. })) => {
                AnyDataset::F64(Dataset::from(x))
            }
            Held::Table(Loaded::Streamed(rows)) if rows.is_f32() => {
                AnyDataset::F32(Dataset::streamed(rows))
            }
            Held::Table(Loaded::Streamed(rows)) => AnyDataset::F64(Dataset::streamed(rows)),
            Held::Matrix(MatrixMarket::Sparse(table)) => {
                AnyDataset::F64(Dataset::sparse(&table.matrix))
            }
            Held::Matrix(MatrixMarket::Dense(table)) => {
                AnyDataset::F64(Dataset::from(&table.matrix))
            }
        }
    }

    /// Bytes held in memory.
    pub fn n_bytes(&self) -> u64 {
        match self {
            Held::Table(Loaded::InMemory(InMemory { numbers: AnyArray::F32(x), .. })) => {
                4 * x.len() as u64
            }
            Held::Table(Loaded::InMemory(InMemory { numbers: AnyArray::F64(x), .. })) => {
                8 * x.len() as u64
            }
            Held::Table(Loaded::Streamed(_)) => 0,
            Held::Matrix(matrix) => matrix.n_bytes(),
        }
    }
}

impl Reading {
    /// Refuses what is said about tables where a Matrix Market file is read.
    fn check_matrix(&self) -> PyResult<()> {
        let said = [
            ("columns", !self.columns.is_empty()),
            ("array", self.array.is_some()),
            ("delimiter", self.delimiter.is_some()),
            ("header", self.header.is_some()),
            ("decimal", self.decimal.is_some()),
            ("missing", !self.missing.is_empty()),
        ];
        match said.iter().find(|(_, said)| *said) {
            Some((option, _)) => Err(PyValueError::new_err(format!(
                "`{option}` does not fit a Matrix Market file; leave out `{option}`"
            ))),
            None => Ok(()),
        }
    }
}

/// A Matrix Market file; with `names` the features are those of a model, found by name.
fn read_matrix(
    paths: &[PathBuf],
    memory: Option<u64>,
    names: Option<&[String]>,
) -> eigenlens_io::Result<MatrixMarket> {
    let [path] = paths else {
        return Err(eigenlens_io::Error::Usage {
            what: "several Matrix Market files are not one table".into(),
            hint: Some("give one file".into()),
        });
    };
    let memory = memory.map(|memory| memory / 2);
    let matrix = matrix_market::read(path, &MatrixMarketOptions { memory, ..Default::default() })?;
    match names {
        Some(names) => matrix.select_named(names, path),
        None => Ok(matrix),
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
