//! What every table format offers.

use crate::error::{Place, Result};
use crate::images::ImageShape;
use crate::sparse::AnyCsr;
use eigenlens::AnyArray;
use std::path::PathBuf;

/// One or more files of one kind that are one table: opened and looked at, not yet read.
///
/// Readings are repeatable: every [`open`](Source::open) gives the same rows in the same order, and
/// a file that changed meanwhile is an error.
pub trait Source: Send + Sync {
    /// Every column, in the order of the file. Names are unique (made so deterministically).
    fn columns(&self) -> &[Column];

    /// The number of rows, where it is known without reading.
    fn n_rows(&self) -> Option<usize>;

    /// A guess at the number of rows (from file size), for choosing between loading and streaming.
    fn rows_guess(&self) -> usize;

    /// Whether the numbers are stored as f32 (or narrower floats): blocks then are
    /// [`AnyArray::F32`], else [`AnyArray::F64`].
    fn is_f32(&self) -> bool;

    /// What was found out or assumed while looking at the files, to be told to the user.
    fn notes(&self) -> &[Note];

    /// Starts reading these columns from the first row.
    fn open(&self, wanted: &Wanted) -> Result<Box<dyn BlockReader + Send + '_>>;

    /// Bytes to read and bytes read so far are counted in this unit (compressed size, for files
    /// that are compressed); 0 when unknown.
    fn n_bytes(&self) -> u64;

    /// The whole of a selection with what only reading could find out, where a format has a faster
    /// way to it than block by block. `told` is given the share that is done.
    fn read_whole(&self, wanted: &Wanted, told: &Told) -> Option<Result<(Block, Vec<Note>)>> {
        let _ = (wanted, told);
        None
    }

    /// The numbers as compressed rows, where they are sparse.
    fn sparse(&self) -> Option<&dyn SparseRows> {
        None
    }

    /// The size of the images, where samples are images and features all their pixels in order.
    fn image_shape(&self) -> Option<ImageShape> {
        None
    }

    /// Whether a column has a value at all, where that is known without reading the rows.
    fn has_values(&self, column: usize) -> Option<bool> {
        let _ = column;
        None
    }

    /// Where the row with this index (from 0) of a reading of these columns is in the files: its
    /// line, where the format has lines. May read the files again, so only for messages.
    fn locate(&self, wanted: &Wanted, row: usize) -> Result<Option<Location>> {
        let _ = (wanted, row);
        Ok(None)
    }
}

/// Sparse numbers, which the source holds in memory. Blocks are dense all the same: for those who
/// want a few columns, or a few rows at a time.
pub trait SparseRows: Sync {
    /// The entries stored in these columns.
    fn n_stored(&self, columns: &[usize]) -> usize;

    /// These columns (samples × columns), in this order.
    fn csr(&self, columns: &[usize]) -> Result<AnyCsr>;

    /// The bytes in memory when these columns are read: what the source holds, and the copy where
    /// they are not all columns in their order.
    fn held_bytes(&self, columns: &[usize]) -> u64;
}

/// Told which share of a reading is done.
pub type Told<'a> = dyn Fn(f64) + Sync + 'a;

/// Where a row came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub file: PathBuf,
    /// The place in it.
    pub place: Place,
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name, unique in the table.
    pub name: String,
    /// What is in it.
    pub kind: Kind,
}

/// What is in a column.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// Floating-point numbers.
    Float,
    /// Whole numbers or truth values, which become floating-point numbers.
    Integer,
    /// Anything that becomes a label: text, dates, categories.
    Text,
    /// Nothing, as far as is known: numbers that are all missing, or labels that are all empty.
    Empty,
    /// Something neither numbers nor labels; the reason is told when it is skipped.
    Unusable(String),
}

impl Kind {
    /// Whether its values are numbers, or missing ones.
    pub fn is_number(&self) -> bool {
        matches!(self, Kind::Float | Kind::Integer | Kind::Empty)
    }
}

/// What a reading shall deliver: indices into [`Source::columns`], in the order wanted, each at most
/// once in either list. Any column can be wanted as a label, also one of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Columns to become numbers. Missing values become NaN.
    pub numbers: Vec<usize>,
    /// Columns to become text.
    pub labels: Vec<usize>,
    /// Columns that must hold numbers in a row that counts, delivered or not: where bad rows are
    /// left out, readings with the same of these have the same rows. Those of `numbers` always are.
    pub required: Vec<usize>,
}

/// One reading of a [`Source`], from the first row to the last.
pub trait BlockReader {
    /// The next rows, at least one; `None` at the end. Blocks hold some thousands of rows, less
    /// where rows are long: about a megabyte of numbers per thread.
    fn next_block(&mut self) -> Result<Option<Block>>;

    /// How far this reading is, in the unit of [`Source::n_bytes`].
    fn bytes_read(&self) -> u64;

    /// What only reading could find out: rows left out, whole numbers that lost digits. Complete
    /// after the last block.
    fn findings(&self) -> Vec<Note> {
        Vec::new()
    }
}

/// Some rows.
#[derive(Clone, Debug)]
pub struct Block {
    /// The numbers (rows × wanted numbers), in standard (row-major) layout.
    pub numbers: AnyArray,
    /// One entry for each wanted label column.
    pub labels: Vec<Labels>,
}

/// The text of one column over some rows, in one allocation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    text: String,
    ends: Vec<usize>,
}

impl Block {
    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.numbers.dim().0
    }
}

impl Labels {
    /// Adds the next row's text.
    pub fn push(&mut self, label: &str) {
        self.text.push_str(label);
        self.ends.push(self.text.len());
    }

    /// Adds another block's rows.
    pub fn append(&mut self, other: &Labels) {
        let start = self.text.len();
        self.text.push_str(&other.text);
        self.ends.extend(other.ends.iter().map(|end| start + end));
    }

    /// Keeps only this many rows.
    pub fn truncate(&mut self, rows: usize) {
        self.ends.truncate(rows);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// About the bytes it takes in memory.
    pub fn n_bytes(&self) -> u64 {
        (self.text.len() + size_of::<usize>() * self.ends.len()) as u64
    }

    /// The text of a row.
    pub fn get(&self, row: usize) -> Option<&str> {
        let end = *self.ends.get(row)?;
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        self.text.get(start..end)
    }

    /// The text of every row.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|row| self.get(row))
    }
}

/// Something a reader found out or assumed: `delimiter` is `;`.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// What it is about.
    pub what: String,
    /// What was found.
    pub found: String,
    /// Whether it makes the result another than the file says, so that it must not go unnoticed.
    pub is_warning: bool,
}

impl Note {
    /// A note that may go unnoticed.
    pub fn new(what: impl Into<String>, found: impl Into<String>) -> Self {
        Self { what: what.into(), found: found.into(), is_warning: false }
    }

    /// A note that must not go unnoticed.
    pub fn warning(what: impl Into<String>, found: impl Into<String>) -> Self {
        Self { is_warning: true, ..Self::new(what, found) }
    }
}
