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
use ndarray::{Array2, Axis};
use parse::{Banner, Layout};
use std::collections::HashMap;
use std::io::Read;
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

impl MatrixMarket {
    /// Names of the features.
    pub fn column_names(&self) -> &[String] {
        match self {
            MatrixMarket::Sparse(table) => &table.column_names,
            MatrixMarket::Dense(table) => &table.column_names,
        }
    }

    /// The number of samples.
    pub fn n_rows(&self) -> usize {
        match self {
            MatrixMarket::Sparse(table) => table.matrix.n_rows(),
            MatrixMarket::Dense(table) => table.matrix.nrows(),
        }
    }

    /// Bytes held in memory.
    pub fn n_bytes(&self) -> u64 {
        match self {
            MatrixMarket::Sparse(SparseTable { matrix, .. }) => {
                12 * matrix.n_stored() as u64 + 8 * matrix.n_rows() as u64
            }
            MatrixMarket::Dense(table) => 8 * table.matrix.len() as u64,
        }
    }

    /// The same samples with these features, in this order; `file` is for the message where one is
    /// missing.
    pub fn select_named(self, names: &[String], file: &Path) -> Result<MatrixMarket> {
        if self.column_names() == names {
            return Ok(self);
        }
        let at: HashMap<&str, usize> =
            self.column_names().iter().enumerate().map(|(f, name)| (name.as_str(), f)).collect();
        let content =
            |what: String| Error::Content { file: file.to_owned(), place: Place::default(), what };
        let place = |name: &String| {
            let place = at.get(name.as_str()).copied();
            place.ok_or_else(|| content(format!("there is no feature `{name}`")))
        };
        let columns = names.iter().map(place).collect::<Result<Vec<usize>>>()?;
        let column_names = names.to_vec();
        Ok(match self {
            MatrixMarket::Sparse(table) => {
                let matrix = reordered(&table.matrix, &columns);
                let matrix = matrix.map_err(|error| content(error.to_string()))?;
                MatrixMarket::Sparse(SparseTable { matrix, column_names, ..table })
            }
            MatrixMarket::Dense(table) => {
                let matrix = table.matrix.select(Axis(1), &columns);
                MatrixMarket::Dense(DenseTable { matrix, column_names, ..table })
            }
        })
    }
}

/// Whether a file is in the Matrix Market format, by its name or its first bytes.
pub fn is_matrix_market(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    if name.is_some_and(|name| name.ends_with(".mtx") || name.ends_with(".mtx.gz")) {
        return true;
    }
    let mut head = Vec::new();
    // Only a regular file can be looked at twice.
    path.is_file()
        && std::fs::File::open(path).is_ok_and(|f| f.take(14).read_to_end(&mut head).is_ok())
        && head.eq_ignore_ascii_case(b"%%MatrixMarket")
}

/// The columns of a sparse matrix, chosen and reordered.
fn reordered(x: &Csr<f64>, columns: &[usize]) -> eigenlens::Result<Csr<f64>> {
    let mut to = vec![u32::MAX; x.n_columns()];
    for (new, &old) in columns.iter().enumerate() {
        to[old] = new as u32;
    }
    let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..x.n_rows() {
        let (old, numbers) = x.row(row);
        let mut kept: Vec<(u32, f64)> = (old.iter().zip(numbers))
            .map(|(&column, &value)| (to[column as usize], value))
            .filter(|(column, _)| *column != u32::MAX)
            .collect();
        kept.sort_by_key(|(column, _)| *column);
        places.extend(kept.iter().map(|(column, _)| *column));
        values.extend(kept.iter().map(|(_, value)| *value));
        starts.push(values.len());
    }
    Csr::new(x.n_rows(), columns.len(), starts, places, values)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_reordered_and_left_out() {
        let x = Csr::new(2, 3, vec![0, 2, 4], vec![0, 2, 1, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let y = reordered(&x, &[2, 0]).unwrap();
        assert_eq!((y.n_rows(), y.n_columns()), (2, 2));
        assert_eq!(y.row(0), (&[0u32, 1][..], &[2.0, 1.0][..]));
        assert_eq!(y.row(1), (&[0u32][..], &[4.0][..]));
    }
}
