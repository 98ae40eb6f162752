//! Sparse matrices by compressed rows.

use crate::error::{Error, Result};
use crate::linalg::digest;
use crate::scalar::Scalar;
use rayon::prelude::*;

/// A sparse matrix in compressed-row form. Entries that are not stored are 0; entries stored twice
/// count with their sum.
///
/// ```
/// let x = eigenlens::Csr::new(2, 3, vec![0, 1, 3], vec![2, 0, 1], vec![5.0, 1.0, 2.0])?;
/// assert_eq!((x.n_rows(), x.n_columns(), x.n_stored()), (2, 3, 3));
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<T> {
    n_columns: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Scalar> Csr<T> {
    /// Row `i` has the entries `starts[i]..starts[i + 1]` of `columns` and `values`.
    pub fn new(
        n_rows: usize,
        n_columns: usize,
        starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<T>,
    ) -> Result<Self> {
        let wrong = |found: String, expected: String| Error::Shape {
            what: "the sparse matrix",
            found,
            expected,
        };
        if starts.len() != n_rows + 1 {
            return Err(wrong(format!("{} row starts", starts.len()), format!("{}", n_rows + 1)));
        }
        if columns.len() != values.len() {
            return Err(wrong(
                format!("{} column numbers for {} values", columns.len(), values.len()),
                "as many of both".into(),
            ));
        }
        if starts[0] != 0
            || starts[n_rows] != values.len()
            || starts.windows(2).any(|w| w[0] > w[1])
        {
            return Err(wrong(
                "row starts that do not rise from 0 to the number of values".into(),
                "rising row starts".into(),
            ));
        }
        if let Some(column) = columns.iter().find(|&&c| c as usize >= n_columns) {
            return Err(wrong(
                format!("an entry in column {column}"),
                format!("a column below {n_columns}"),
            ));
        }
        Ok(Csr { n_columns, starts, columns, values })
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The number of stored entries.
    pub fn n_stored(&self) -> usize {
        self.values.len()
    }

    /// The column numbers and values of one row.
    pub fn row(&self, row: usize) -> (&[u32], &[T]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// A hash of the rows, in their order.
    pub(crate) fn fingerprint(&self) -> u64 {
        let starts: Vec<u64> = self.starts.iter().map(|&start| start as u64).collect();
        digest::of_words(&[
            digest::of_words(&starts),
            digest::of_indices(&self.columns),
            digest::of_numbers(&self.values),
        ])
    }

    /// The same pattern with other values, made from column and value.
    pub(crate) fn map_values(&self, value: impl Fn(usize, T) -> T) -> Csr<T> {
        let values =
            self.columns.iter().zip(&self.values).map(|(&c, &v)| value(c as usize, v)).collect();
        Csr { values, ..self.clone() }
    }

    /// The first entry that is not finite.
    pub(crate) fn find_bad(&self) -> Option<(usize, usize, f64)> {
        const RUN: usize = 1 << 16;
        let bad = |v: &T| !v.to_f64().is_finite();
        let run = self.values.par_chunks(RUN).position_first(|run| run.iter().any(bad))? * RUN;
        let at = run + self.values[run..].iter().position(bad)?;
        let row = self.starts.partition_point(|&start| start <= at) - 1;
        Some((row, self.columns[at] as usize, self.values[at].to_f64()))
    }
}
