//! A selection that is read again for each pass.

use super::Table;
use super::choice::Selection;
use super::load::Progress;
use crate::error::Error;
use crate::source::{BlockReader, Note, Wanted};
use eigenlens::AnyArray;
use eigenlens::{RowReader, Rows, Scalar};
use ndarray::{Array2, ArrayView2, s};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The features of a selection as [`Rows`]: bounded memory, however many rows there are.
///
/// Failures come as [`eigenlens::Error::Read`] with an [`Error`] inside.
pub struct Streamed<'a> {
    table: &'a Table,
    wanted: Wanted,
    progress: Option<Progress<'a>>,
    /// Known after the first complete pass.
    n_rows: OnceLock<usize>,
    findings: Mutex<Vec<Note>>,
}

impl<'a> Streamed<'a> {
    pub(super) fn new(
        table: &'a Table,
        selection: &Selection,
        progress: Option<Progress<'a>>,
    ) -> Self {
        let n_rows = OnceLock::new();
        if let Some(known) = table.source().n_rows() {
            n_rows.get_or_init(|| known);
        }
        let wanted = Wanted { labels: Vec::new(), ..selection.wanted().clone() };
        Self { table, wanted, progress, n_rows, findings: Mutex::default() }
    }

    /// Whether the numbers are stored in single precision: then use it as `Rows<f32>`.
    pub fn is_f32(&self) -> bool {
        self.table.source().is_f32()
    }

    /// What only reading could find out; complete after the first pass.
    pub fn findings(&self) -> Vec<Note> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn open_as<T: FromNumbers>(&self) -> eigenlens::Result<Box<dyn RowReader<T> + '_>> {
        let reader = self.table.source().open(&self.wanted).map_err(read_error)?;
        let block = Array2::default((0, self.wanted.numbers.len()));
        Ok(Box::new(Reader { rows: self, reader, block, used: 0, n_rows: 0 }))
    }
}

impl Rows<f64> for Streamed<'_> {
    fn n_features(&self) -> usize {
        self.wanted.numbers.len()
    }

    fn n_samples(&self) -> Option<usize> {
        self.n_rows.get().copied()
    }

    fn open(&self) -> eigenlens::Result<Box<dyn RowReader<f64> + '_>> {
        self.open_as()
    }
}

impl Rows<f32> for Streamed<'_> {
    fn n_features(&self) -> usize {
        self.wanted.numbers.len()
    }

    fn n_samples(&self) -> Option<usize> {
        self.n_rows.get().copied()
    }

    fn open(&self) -> eigenlens::Result<Box<dyn RowReader<f32> + '_>> {
        self.open_as()
    }
}

struct Reader<'a, T> {
    rows: &'a Streamed<'a>,
    reader: Box<dyn BlockReader + Send + 'a>,
    block: Array2<T>,
    used: usize,
    n_rows: usize,
}

impl<T: FromNumbers> RowReader<T> for Reader<'_, T> {
    fn next_rows(&mut self, at_most: usize) -> eigenlens::Result<Option<ArrayView2<'_, T>>> {
        if self.used == self.block.nrows() {
            let block = self.reader.next_block().map_err(read_error)?;
            if let Some(progress) = self.rows.progress {
                progress(self.reader.bytes_read(), self.rows.table.source().n_bytes());
            }
            let Some(block) = block else {
                self.rows.n_rows.get_or_init(|| self.n_rows);
                let findings = self.reader.findings();
                *self.rows.findings.lock().unwrap_or_else(PoisonError::into_inner) = findings;
                return Ok(None);
            };
            self.n_rows += block.n_rows();
            self.block = T::from_numbers(block.numbers)?;
            self.used = 0;
        }
        let start = self.used;
        self.used = start.saturating_add(at_most).min(self.block.nrows());
        Ok(Some(self.block.slice(s![start..self.used, ..])))
    }
}

/// Element types that blocks can be turned into without losing digits.
trait FromNumbers: Scalar + Default {
    fn from_numbers(numbers: AnyArray) -> eigenlens::Result<Array2<Self>>;
}

impl FromNumbers for f64 {
    fn from_numbers(numbers: AnyArray) -> eigenlens::Result<Array2<f64>> {
        Ok(match numbers {
            AnyArray::F32(numbers) => numbers.mapv(f64::from),
            AnyArray::F64(numbers) => numbers,
        })
    }
}

impl FromNumbers for f32 {
    fn from_numbers(numbers: AnyArray) -> eigenlens::Result<Array2<f32>> {
        match numbers {
            AnyArray::F32(numbers) => Ok(numbers),
            AnyArray::F64(_) => Err(read_error(Error::Usage {
                what: String::from("the table is in double precision, but single is asked for"),
                hint: None,
            })),
        }
    }
}

fn read_error(error: Error) -> eigenlens::Error {
    eigenlens::Error::Read(Box::new(error))
}
