//! Tables out: a format is one [`TableWriter`] on top of an [`Output`].

mod arrow;
mod csv;
mod gathered;
mod journal;
mod litter;
mod npy;
mod output;
mod parquet;
mod temporaries;
mod temporary;

pub use arrow::ArrowWriter;
pub use csv::{CsvStyle, CsvWriter};
pub use litter::recover;
pub use npy::NpyWriter;
pub use output::{Complete, Output, OutputFormat, check_distinct, commit_together};
pub use parquet::ParquetWriter;
pub use temporaries::{cleanup_temporaries, cleanup_temporaries_and_exit};

use crate::error::{Error, Result};
use crate::source::Labels;
use ndarray::ArrayView2;

/// Opens the writer for an output, by the extension of its name.
///
/// A new format is one row of the `match` below and one variant of [`OutputFormat`].
pub fn table_writer(output: Output) -> Result<Box<dyn TableWriter>> {
    match output.format() {
        OutputFormat::Csv => Ok(Box::new(CsvWriter::new(output, CsvStyle::csv()))),
        OutputFormat::Tsv => Ok(Box::new(CsvWriter::new(output, CsvStyle::tsv()))),
        OutputFormat::Parquet => Ok(Box::new(ParquetWriter::new(output))),
        OutputFormat::Arrow => Ok(Box::new(ArrowWriter::new(output))),
        OutputFormat::Npy => Ok(Box::new(NpyWriter::new(output))),
        OutputFormat::Other(extension) => Err(Error::Usage {
            what: format!("{}: tables are not written as `.{extension}`", output.path().display()),
            hint: Some(String::from("use a name that ends in `.csv`")),
        }),
    }
}

/// Writes one table: [`begin`](Self::begin) once, [`write`](Self::write) for every block of rows in
/// order, [`finish`](Self::finish) once.
///
/// Nothing appears under the final name before `finish`; a writer that is dropped earlier leaves
/// nothing behind.
pub trait TableWriter: Send {
    /// Says what the table looks like, before any row.
    fn begin(&mut self, header: &Header) -> Result<()>;

    /// Writes some rows: one entry of `labels` for each label column, each with as many rows as
    /// `numbers` (rows × number columns).
    fn write(&mut self, labels: &[Labels], numbers: NumbersView<'_>) -> Result<()>;

    /// Completes the file, whose name is still to be given: alone or together with others by
    /// [`commit_together`].
    fn complete(self: Box<Self>) -> Result<Complete>;

    /// Completes the file, and gives it its name.
    fn finish(self: Box<Self>) -> Result<()> {
        self.complete()?.commit()
    }
}

/// What a table that is to be written looks like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// The names of the label columns, which come first.
    pub labels: Vec<String>,
    /// The names of the number columns.
    pub numbers: Vec<String>,
    /// Whether the numbers are single precision.
    pub is_f32: bool,
    /// The number of rows, where it is known already.
    pub n_rows: Option<usize>,
}

/// Numbers of either type, lent (rows × columns).
#[derive(Clone, Copy, Debug)]
pub enum NumbersView<'a> {
    /// Single precision.
    F32(ArrayView2<'a, f32>),
    /// Double precision.
    F64(ArrayView2<'a, f64>),
}

impl NumbersView<'_> {
    /// The shape: rows, columns.
    pub fn dim(&self) -> (usize, usize) {
        match self {
            Self::F32(numbers) => numbers.dim(),
            Self::F64(numbers) => numbers.dim(),
        }
    }
}

impl<'a> From<ArrayView2<'a, f32>> for NumbersView<'a> {
    fn from(numbers: ArrayView2<'a, f32>) -> Self {
        Self::F32(numbers)
    }
}

impl<'a> From<ArrayView2<'a, f64>> for NumbersView<'a> {
    fn from(numbers: ArrayView2<'a, f64>) -> Self {
        Self::F64(numbers)
    }
}
