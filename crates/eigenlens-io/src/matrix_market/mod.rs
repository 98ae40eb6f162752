//! Matrix Market files, also compressed by gzip: sparse matrices stay sparse.
//!
//! Coordinate files become [`SparseTable`], array files [`DenseTable`]. Real, integer and pattern
//! fields are read (a pattern's entries are 1); general, symmetric and skew-symmetric storage.
//! Entries given twice count with their sum, and a note says how many there were. Symmetric storage
//! may use either triangle, not both. Complex numbers, NaN and infinity are errors.
//!
//! Names of rows and columns are looked for beside `NAME.mtx`, one per line, also with `.gz`:
//! `NAME.rows` and `NAME.columns`; or the customary `genes.tsv`, `features.tsv`, `terms.txt` for
//! features and `barcodes.tsv`, `documents.txt` for samples, whichever side they fit. Of lines with
//! tabs (identifier, name, …) the second part is the name.

mod assemble;
mod lines;
mod names;
mod parse;

use crate::error::{Error, Place, Result};
use crate::positioned::InputFile;
use crate::source::Note;
use eigenlens::Csr;
use lines::Lines;
use names::Names;
use ndarray::Array2;
use parse::{Banner, Layout};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a Matrix Market file is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatrixMarketOptions {
    /// Which way the samples lie.
    pub orientation: Orientation,
    /// Names of the rows as the file stores them, one per line.
    pub row_names: Option<PathBuf>,
    /// Names of the columns as the file stores them, one per line.
    pub column_names: Option<PathBuf>,
    /// Bytes of memory that reading may take.
    pub memory: Option<u64>,
}

/// Which way the samples lie in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Orientation {
    /// Samples are rows, unless customary name files beside the matrix say that its rows are
    /// features (genes, terms) or its columns samples (barcodes, documents).
    #[default]
    Auto,
    /// Samples are rows.
    AsStored,
    /// Samples are columns: the matrix is transposed.
    Transposed,
}

/// What a Matrix Market file holds.
#[derive(Clone, Debug)]
pub enum MatrixMarket {
    /// Coordinates of entries.
    Sparse(SparseTable),
    /// All entries.
    Dense(DenseTable),
}

/// A sparse matrix with names, samples as rows.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseTable {
    /// The entries (samples × features), columns rising in each row.
    pub matrix: Csr<f64>,
    /// Labels of the samples, where a file gives them.
    pub row_names: Option<Vec<String>>,
    /// Names of the features, each once: from a file, or `x1`, `x2`, …
    pub column_names: Vec<String>,
    /// What was found out or assumed, to be told to the user.
    pub notes: Vec<Note>,
}

/// A dense matrix with names, samples as rows.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseTable {
    /// The entries (samples × features), in standard layout.
    pub matrix: Array2<f64>,
    /// Labels of the samples, where a file gives them.
    pub row_names: Option<Vec<String>>,
    /// Names of the features, each once: from a file, or `x1`, `x2`, …
    pub column_names: Vec<String>,
    /// What was found out or assumed, to be told to the user.
    pub notes: Vec<Note>,
}

/// Reads a Matrix Market file and the names beside it.
pub fn read(path: &Path, options: &MatrixMarketOptions) -> Result<MatrixMarket> {
    let input = Arc::new(InputFile::open(path)?);
    let at = At { input: &input };
    let mut lines = Lines::open(input.clone())?;
    let banner = Banner::read(&mut lines, at)?;
    let (n_rows, n_columns) = (banner.n_rows, banner.n_columns);
    let Names { rows, columns, is_transposed, mut notes } =
        names::find(path, options, n_rows, n_columns)?;
    let (samples, features) = if is_transposed { (columns, rows) } else { (rows, columns) };
    let n_features = if is_transposed { n_rows } else { n_columns };
    let column_names = names::of_features(features, n_features, &mut notes);
    let table = match banner.layout {
        Layout::Coordinate => {
            let entries = parse::entries(&mut lines, &banner, at, options.memory)?;
            let (matrix, n_doubled) = assemble::csr(entries, &banner, is_transposed, at)?;
            if n_doubled > 0 {
                let found = format!("{n_doubled} given twice, which count with their sum");
                notes.push(Note::new("entries", found));
            }
            let row_names = samples;
            MatrixMarket::Sparse(SparseTable { matrix, row_names, column_names, notes })
        }
        Layout::Array => {
            let values = parse::values(&mut lines, &banner, at, options.memory)?;
            let matrix = assemble::dense(values, &banner, is_transposed);
            let row_names = samples;
            MatrixMarket::Dense(DenseTable { matrix, row_names, column_names, notes })
        }
    };
    input.check_unchanged()?;
    Ok(table)
}

/// The file, for messages about a line of it.
#[derive(Clone, Copy)]
struct At<'a> {
    input: &'a InputFile,
}

impl At<'_> {
    fn line(self, line: u64, what: impl Into<String>) -> Error {
        Error::Content {
            file: self.input.path().to_owned(),
            place: Place { line: Some(line), ..Place::default() },
            what: what.into(),
        }
    }

    fn memory(self, needed: u64, budget: u64) -> Error {
        let what = format!("the matrix in {}", self.input.path().display());
        Error::Memory { what, needed, budget }
    }
}
