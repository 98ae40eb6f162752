//! Rows gathered as columns, for formats that store columns.

use super::{Header, NumbersView};
use crate::error::{Error, Result};
use crate::source::Labels;
use ndarray::ArrayView2;
use std::path::Path;

/// Rows not yet written, column by column.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) labels: Vec<Labels>,
    pub(super) numbers: Columns,
    pub(super) n_rows: usize,
}

pub(super) enum Columns {
    F32(Vec<Vec<f32>>),
    F64(Vec<Vec<f64>>),
}

impl Default for Columns {
    fn default() -> Self {
        Columns::F64(Vec::new())
    }
}

impl Gathered {
    pub(super) fn new(header: &Header) -> Gathered {
        let n = header.numbers.len();
        let numbers = if header.is_f32 {
            Columns::F32(vec![Vec::new(); n])
        } else {
            Columns::F64(vec![Vec::new(); n])
        };
        Gathered { labels: vec![Labels::default(); header.labels.len()], numbers, n_rows: 0 }
    }

    /// Adds some rows, which must be as the header says.
    pub(super) fn add(
        &mut self,
        file: &Path,
        labels: &[Labels],
        numbers: NumbersView<'_>,
    ) -> Result<()> {
        let (n_rows, n_columns) = numbers.dim();
        let expected = match &self.numbers {
            Columns::F32(columns) => columns.len(),
            Columns::F64(columns) => columns.len(),
        };
        let fits = labels.len() == self.labels.len() && n_columns == expected;
        if !fits || labels.iter().any(|l| l.len() != n_rows) {
            let shape = format!("{} label and {n_columns} number columns", labels.len());
            return Err(misfit(file, &format!("a block of {shape}")));
        }
        match (&mut self.numbers, numbers) {
            (Columns::F32(columns), NumbersView::F32(rows)) => extend(columns, rows, |x| x),
            (Columns::F64(columns), NumbersView::F64(rows)) => extend(columns, rows, |x| x),
            (Columns::F64(columns), NumbersView::F32(rows)) => extend(columns, rows, f64::from),
            (Columns::F32(_), NumbersView::F64(_)) => {
                return Err(misfit(file, "a block of double precision"));
            }
        }
        for (all, more) in self.labels.iter_mut().zip(labels) {
            all.append(more);
        }
        self.n_rows += n_rows;
        Ok(())
    }

    /// About the bytes it takes in memory.
    pub(super) fn n_bytes(&self) -> u64 {
        let (n_columns, bytes) = match &self.numbers {
            Columns::F32(columns) => (columns.len(), 4),
            Columns::F64(columns) => (columns.len(), 8),
        };
        let labels: u64 = self.labels.iter().map(Labels::n_bytes).sum();
        labels + (self.n_rows * n_columns * bytes) as u64
    }

    /// Forgets the rows.
    pub(super) fn clear(&mut self) {
        self.labels.iter_mut().for_each(|labels| labels.truncate(0));
        match &mut self.numbers {
            Columns::F32(columns) => columns.iter_mut().for_each(Vec::clear),
            Columns::F64(columns) => columns.iter_mut().for_each(Vec::clear),
        }
        self.n_rows = 0;
    }
}

/// The error that rows are not what the header announced.
pub(super) fn misfit(file: &Path, what: &str) -> Error {
    let what = format!("{}: {what} does not fit the header", file.display());
    Error::Usage { what, hint: None }
}

fn extend<T: Copy, U>(columns: &mut [Vec<U>], rows: ArrayView2<T>, convert: impl Fn(T) -> U) {
    for (column, from) in columns.iter_mut().zip(rows.columns()) {
        column.extend(from.iter().map(|&value| convert(value)));
    }
}
