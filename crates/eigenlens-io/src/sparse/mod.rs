//! Sparse matrices with names: what every sparse format is read into.
//!
//! A format hands over compressed rows, which a [`SparseTable`] holds; everything else that a table
//! can do (choice of columns, labels, several files) is the same as for any other.
//!
//! Names of rows and columns are looked for beside `NAME.mtx`, one per line, also with `.gz`:
//! `NAME.rows` and `NAME.columns`; or the customary `genes.tsv`, `features.tsv`, `terms.txt` for
//! features and `barcodes.tsv`, `documents.txt` for samples, whichever side they fit. Of lines with
//! tabs (identifier, name, …) the second part is the name. Names of samples are the column `sample`.

mod csr;
mod names;

pub use csr::AnyCsr;
pub(crate) use csr::{bytes_of, transposed};
pub(crate) use names::Names;

use crate::budget::{self, COLUMN_BYTES};
use crate::error::{Error, Place, Result};
use crate::source::{Block, BlockReader, Column, Labels, Note, Source, SparseRows, Wanted};
use crate::transpose::rows_per_block;
use csr::{chosen, dense, each, slots};
use eigenlens::AnyArray;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How a matrix is read whose file has no names: Matrix Market, and SciPy's sparse arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatrixOptions {
    /// Which way the samples lie.
    pub orientation: Orientation,
    /// Names of the rows as the file stores them, one per line.
    pub row_names: Option<PathBuf>,
    /// Names of the columns as the file stores them, one per line.
    pub column_names: Option<PathBuf>,
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

/// A sparse matrix in memory.
pub(crate) struct SparseTable {
    path: PathBuf,
    matrix: AnyCsr,
    names: Names,
    n_bytes: u64,
    /// The last choice of columns that is not all of them in order: several readings share it.
    chosen: Mutex<Option<(Vec<usize>, AnyCsr)>>,
}

impl SparseTable {
    /// The matrix (samples × features) that a file of so many bytes holds.
    pub(crate) fn new(path: &Path, n_bytes: u64, matrix: AnyCsr, names: Names) -> SparseTable {
        SparseTable { path: path.to_owned(), matrix, names, n_bytes, chosen: Mutex::default() }
    }

    /// The features of these columns; `None` where they are all, in their order.
    fn some_features(&self, columns: &[usize]) -> Result<Option<Vec<usize>>> {
        let features = self.names.features(columns)?;
        let is_all = features.iter().copied().eq(0..self.matrix.dim().1);
        Ok((!is_all).then_some(features))
    }
}

impl Source for SparseTable {
    fn columns(&self) -> &[Column] {
        &self.names.columns
    }

    fn n_rows(&self) -> Option<usize> {
        Some(self.matrix.dim().0)
    }

    fn rows_guess(&self) -> usize {
        self.matrix.dim().0
    }

    fn is_f32(&self) -> bool {
        matches!(self.matrix, AnyCsr::F32(_))
    }

    fn notes(&self) -> &[Note] {
        &self.names.notes
    }

    fn open(&self, wanted: &Wanted) -> Result<Box<dyn BlockReader + Send + '_>> {
        self.names.check(&wanted.labels)?;
        let slots = slots(&self.names.features(&wanted.numbers)?, self.matrix.dim().1);
        let rows_per_block = rows_per_block(wanted.numbers.len(), 8);
        Ok(Box::new(Reader { table: self, wanted: wanted.clone(), slots, rows_per_block, row: 0 }))
    }

    fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    fn has_values(&self, _: usize) -> Option<bool> {
        Some(true)
    }

    fn sparse(&self) -> Option<&dyn SparseRows> {
        Some(self)
    }
}

impl SparseRows for SparseTable {
    fn n_stored(&self, columns: &[usize]) -> usize {
        // A column that does not exist is an error when it is read.
        let Ok(Some(features)) = self.some_features(columns) else { return self.matrix.n_stored() };
        let mut is_wanted = vec![false; self.matrix.dim().1];
        features.into_iter().for_each(|feature| is_wanted[feature] = true);
        let stored = |columns: &[u32]| columns.iter().filter(|&&c| is_wanted[c as usize]).count();
        each!(&self.matrix, x => (0..x.n_rows()).map(|row| stored(x.row(row).0)).sum())
    }

    fn csr(&self, columns: &[usize]) -> Result<AnyCsr> {
        let Some(features) = self.some_features(columns)? else { return Ok(self.matrix.clone()) };
        let mut kept = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, csr)) = &*kept
            && *of == features
        {
            return Ok(csr.clone());
        }
        let csr = match &self.matrix {
            AnyCsr::F32(x) => chosen(x, &features).map(|x| AnyCsr::F32(Arc::new(x))),
            AnyCsr::F64(x) => chosen(x, &features).map(|x| AnyCsr::F64(Arc::new(x))),
        };
        let csr = csr.map_err(|error| content(&self.path, error.to_string()))?;
        *kept = Some((features, csr.clone()));
        Ok(csr)
    }

    fn held_bytes(&self, columns: &[usize]) -> u64 {
        match self.some_features(columns) {
            Ok(Some(_)) => {
                let n_stored = self.n_stored(columns);
                self.matrix.n_bytes() + bytes_of(self.matrix.dim().0, n_stored, self.is_f32())
            }
            _ => self.matrix.n_bytes(),
        }
    }
}

/// Dense rows, block by block.
struct Reader<'a> {
    table: &'a SparseTable,
    wanted: Wanted,
    slots: Vec<u32>,
    rows_per_block: usize,
    row: usize,
}

impl BlockReader for Reader<'_> {
    fn next_block(&mut self) -> Result<Option<Block>> {
        let end = (self.row + self.rows_per_block).min(self.table.matrix.dim().0);
        let rows = self.row..end;
        if rows.is_empty() {
            return Ok(None);
        }
        let n = self.wanted.numbers.len();
        let numbers: AnyArray =
            each!(&self.table.matrix, x => dense(x, rows.clone(), &self.slots, n).into());
        let labels = self.wanted.labels.iter().map(|&column| self.labels(column, rows.clone()));
        let labels = labels.collect::<Result<_>>()?;
        self.row = end;
        Ok(Some(Block { numbers, labels }))
    }

    fn bytes_read(&self) -> u64 {
        let share = self.row as f64 / self.table.matrix.dim().0.max(1) as f64;
        (share * self.table.n_bytes as f64) as u64
    }
}

impl Reader<'_> {
    fn labels(&self, column: usize, rows: Range<usize>) -> Result<Labels> {
        let SparseTable { matrix, names, .. } = self.table;
        each!(matrix, x => names.labels(column, rows.clone(), |feature| {
            Ok(dense(x, rows, &slots(&[feature], x.n_columns()), 1).into_iter().collect())
        }))
    }
}

/// The error that the content of a file cannot be right.
pub(crate) fn content(path: &Path, what: String) -> Error {
    Error::Content { file: path.to_owned(), place: Place::default(), what }
}

/// Refuses sides that no file of so many entries is likely to have: indices are 32-bit, and what is
/// allocated must be in proportion to what is there.
pub(crate) fn plausible(
    n_rows: usize,
    n_columns: usize,
    n_stored: usize,
) -> std::result::Result<(), String> {
    /// Hashed terms have so many columns, however few there are.
    const ALWAYS: usize = 1 << 21;
    const PER_ENTRY: usize = 16;
    let longer = n_rows.max(n_columns);
    if longer >= u32::MAX as usize || longer > ALWAYS.max(PER_ENTRY.saturating_mul(n_stored)) {
        let what = format!("{n_rows} rows, {n_columns} columns and {n_stored} entries");
        return Err(format!("{what} are more than can be right"));
    }
    Ok(())
}

/// An error where a matrix that is read whole, with names of its features, does not fit a budget.
fn within(
    memory: Option<u64>,
    path: &Path,
    n_samples: usize,
    n_features: usize,
    bytes_of_entries: u64,
) -> Result<()> {
    let sides = 16 * n_samples as u64 + COLUMN_BYTES * n_features as u64;
    let needed = bytes_of_entries.saturating_add(sides);
    budget::check(memory, needed, || format!("the matrix in {}", path.display()))
}
