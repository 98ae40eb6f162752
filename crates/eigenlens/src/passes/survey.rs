//! What a look at all rows tells of a data set: missing entries, a sample, the entries that are not 0.

use super::observed::Observed;
use super::row_grid::{BLOCK, RowGrid, reduction_block_rows};
use crate::data::{Csr, Dataset, MissingCounts, Source};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use ndarray::Array2;

impl<T: Scalar> Dataset<'_, T> {
    /// Row and column of the first missing entry.
    pub(crate) fn first_missing(&self) -> Result<Option<(usize, usize)>> {
        let mut found = None;
        RowGrid::surveying(self)?.for_each_batch(
            reduction_block_rows(self.n_features()),
            |batch| {
                let mut scratch = Vec::new();
                for at in (0..batch.rows).step_by(BLOCK) {
                    let block = batch.block(at, (at + BLOCK).min(batch.rows), &mut scratch);
                    let first = (0..block.rows).find_map(|i| {
                        let f = block.row(i).iter().position(|x| x.to_f64().is_nan())?;
                        Some((block.first + i, f))
                    });
                    found = found.or(first);
                }
                Ok(())
            },
        )?;
        Ok(found)
    }

    /// Where the missing entries are, in one pass.
    pub fn missing_counts(&self) -> Result<MissingCounts> {
        Ok(Observed::of(&mut RowGrid::surveying(self)?)?.missing_counts)
    }

    /// At most a few million entries of evenly spaced rows, and the number of all rows, for rules
    /// that look at data; `None` for weighted data, whose rows are not alike.
    pub fn sample_rows(&self) -> Result<Option<(Array2<f64>, usize)>> {
        const ENTRIES: usize = 4_000_000;
        if self.weights().is_some() {
            return Ok(None);
        }
        let d = self.n_features();
        let n = match self.n_samples() {
            Some(n) => n,
            None => RowGrid::new(self)?.for_each_batch(reduction_block_rows(d), |_| Ok(()))?,
        };
        let step = n.div_ceil((ENTRIES / d.max(1)).max(2)).max(1);
        let mut rows = Vec::with_capacity(n.div_ceil(step) * d);
        RowGrid::new(self)?.for_each_batch(reduction_block_rows(d), |batch| {
            let mut scratch = Vec::new();
            for i in (0..batch.rows).filter(|i| (batch.first + i) % step == 0) {
                let block = batch.block(i, i + 1, &mut scratch);
                rows.extend(block.row(0).iter().map(|v| v.to_f64()));
            }
            Ok(())
        })?;
        let matrix = Array2::from_shape_vec((rows.len() / d, d), rows)
            .map_err(|e| Error::Internal(e.to_string()))?;
        Ok(Some((matrix, n)))
    }

    /// The entries that are not 0, as compressed rows.
    pub fn to_csr(&self) -> Result<Csr<f64>> {
        let d = self.n_features();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        if let Source::Sparse(x) = self.source() {
            for row in 0..x.n_rows() {
                let (at, entries) = x.row(row);
                columns.extend_from_slice(at);
                values.extend(entries.iter().map(|v| v.to_f64()));
                starts.push(values.len());
            }
            return Csr::new(x.n_rows(), d, starts, columns, values);
        }
        let rows = RowGrid::new(self)?.for_each_batch(reduction_block_rows(d), |batch| {
            let mut scratch = Vec::new();
            for i in 0..batch.rows {
                let block = batch.block(i, i + 1, &mut scratch);
                let entries = block.row(0).iter().map(|v| v.to_f64()).enumerate();
                for (column, value) in entries.filter(|(_, value)| *value != 0.0) {
                    columns.push(column as u32);
                    values.push(value);
                }
                starts.push(values.len());
            }
            Ok(())
        })?;
        Csr::new(rows, d, starts, columns, values)
    }
}
