//! `Xsᵀ W Xs V` for the narrow blocks of Krylov iterations: rows are centred in registers and read
//! once. The scale of the columns goes into V and into the result instead.

use super::Standardized;
use super::row_grid::{RowBatch, Workspace, reduction_block_rows};
use super::standardized::{REDUCTION_BLOCKS, SMALL_PRODUCT, all_finite};
use crate::error::Result;
use crate::linalg::aligned::Aligned;
use crate::linalg::buffer_pool::PooledBuffer;
use crate::linalg::ordered_reduce::ordered_reduce;
use crate::linalg::simd::{GRAM_APPLY_COLUMNS, GramApply, Next};
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2};

/// Whether dense data with so many features have this pass: a sum for every reduction block must be small.
pub(crate) fn has_gram_apply(n_features: usize) -> bool {
    n_features * GRAM_APPLY_COLUMNS * 8 <= SMALL_PRODUCT
}

impl<T: Scalar> Standardized<'_, T> {
    /// The product for V (d × 8); none where a wider pass must make it.
    pub(super) fn gram_apply_product(&self, v: ArrayView2<f64>) -> Result<Option<Array2<f64>>> {
        let (d, b) = v.dim();
        if b != GRAM_APPLY_COLUMNS || self.grid.is_sparse() || !has_gram_apply(d) {
            return Ok(None);
        }
        let scaler = self.scaler;
        let scaled = |f: usize, j: usize| scaler.inv_scale[f] * v[[f, j]];
        let Some(gram_apply) = GramApply::new(d, scaled, |f| scaler.mean_hi[f]) else {
            return Ok(None);
        };
        let mut low = [0.0; GRAM_APPLY_COLUMNS];
        for f in 0..d {
            (0..GRAM_APPLY_COLUMNS).for_each(|j| low[j] += scaler.mean_lo[f] * scaled(f, j));
        }
        let mut total = Sums::zeros(&gram_apply);
        self.grid.for_each_batch(self.grid.rows_together(REDUCTION_BLOCKS), |batch| {
            let starts = (0..batch.rows).step_by(reduction_block_rows(d));
            let sum_reduction_block =
                |work: &mut PooledBuffer<'_, Workspace<T>>, start: usize, next: usize| {
                    self.sum_reduction_block(&gram_apply, &low, &batch, start, next, work)
                };
            let add = |part| total.add(&part);
            ordered_reduce(
                starts,
                REDUCTION_BLOCKS,
                || self.grid.work.acquire(),
                sum_reduction_block,
                add,
            )
        })?;
        // What the rows' sums lack: each was centred by the leading digits of the means.
        let entry = |(f, j)| {
            (gram_apply.sum(&total.products, f, j) - scaler.mean_lo[f] * total.scores[j])
                * scaler.inv_scale[f]
        };
        Ok(Some(Array2::from_shape_fn((d, GRAM_APPLY_COLUMNS), entry)))
    }

    fn sum_reduction_block(
        &self,
        gram_apply: &GramApply,
        low: &[f64; GRAM_APPLY_COLUMNS],
        batch: &RowBatch<T>,
        start: usize,
        next: usize,
        work: &mut Workspace<T>,
    ) -> Result<Sums<PooledBuffer<'_, Aligned<f64>>>> {
        let d = batch.n_features;
        let end = (start + reduction_block_rows(d)).min(batch.rows);
        let mut sums = Sums {
            products: self.grid.zeros(gram_apply.sums_len()),
            scores: [0.0; GRAM_APPLY_COLUMNS],
        };
        let Workspace { scratch, z, lanes, .. } = work;
        let height = block_rows(d, size_of::<T>());
        z.resize(height * GRAM_APPLY_COLUMNS);
        for at in (start..end).step_by(height) {
            let count = height.min(end - at);
            let upcoming = batch.upcoming_or(at + count, height, end, next);
            let ahead = Next::new(upcoming, d, count);
            let block = batch.block(at, at + count, scratch);
            gram_apply.multiply(block.lines(0, d), lanes, &ahead, z);
            let z = &mut z[..count * GRAM_APPLY_COLUMNS];
            if !all_finite(z)
                && let Some((row, column, value)) = block.find_bad()
            {
                return Err(self.grid.data.bad_entry(row, column, value));
            }
            for (i, z) in z.chunks_exact_mut(GRAM_APPLY_COLUMNS).enumerate() {
                for j in 0..GRAM_APPLY_COLUMNS {
                    z[j] = block.count(i) * (z[j] - low[j]);
                    sums.scores[j] += z[j];
                }
            }
            gram_apply.add_transposed(block.lines(0, d), z, &ahead, &mut sums.products);
        }
        Ok(sums)
    }
}

/// What rows add to the product, before the columns are scaled.
struct Sums<P> {
    /// `Xᵀ Z`, by [`GramApply::sum`].
    products: P,
    /// `1ᵀ Z`.
    scores: [f64; GRAM_APPLY_COLUMNS],
}

impl Sums<Aligned<f64>> {
    fn zeros(gram_apply: &GramApply) -> Self {
        Sums { products: Aligned::zeros(gram_apply.sums_len()), scores: [0.0; GRAM_APPLY_COLUMNS] }
    }

    fn add(&mut self, part: &Sums<PooledBuffer<'_, Aligned<f64>>>) {
        self.products.iter_mut().zip(part.products.iter()).for_each(|(t, p)| *t += p);
        self.scores.iter_mut().zip(part.scores).for_each(|(t, p)| *t += p);
    }
}

/// Rows that are used twice while they are in a second-level cache; a function of their size alone.
fn block_rows(d: usize, element: usize) -> usize {
    const BYTES: usize = 384 << 10;
    (BYTES / element / d.max(1) / 3 * 3).clamp(6, 24)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, SampleWeights};
    use crate::linalg::random;
    use crate::passes::{Columns, Pass, RowGrid, Scaler};

    /// Rows far from 0, with weights, of columns on scales of their own: against the wider pass, which
    /// centres and scales every entry before it is used.
    fn check<T: Scalar>(n: usize, d: usize, offset: f64) {
        let mut rng = random::stream(3, 0);
        let x = random::normal_matrix(&mut rng, n, d);
        let x = Array2::from_shape_fn((n, d), |(i, f)| {
            T::from_f64((offset + x[[i, f]]) * (1.0 + f as f64))
        });
        let weights = SampleWeights::frequency((0..n).map(|i| (i % 3) as f64).collect::<Vec<_>>());
        let v = random::normal_matrix(&mut rng, d, GRAM_APPLY_COLUMNS);
        for data in [Dataset::from(&x), Dataset::from(&x).with_weights(weights)] {
            let mut grid = RowGrid::new(&data).unwrap();
            let columns = Columns::of(&mut grid).unwrap();
            let scaler = Scaler::new::<T>(&columns, None, true, true);
            let standardized = Standardized { grid: &grid, scaler: &scaler };
            let mut expected = Array2::zeros((0, 0));
            let wanted = Pass { scores: None, gram: Some((0, &mut expected)), score_moments: None };
            standardized.pass(v.view(), wanted).unwrap();
            let product = standardized.gram_product(v.view()).unwrap();
            let size = expected.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            for (found, expected) in product.iter().zip(&expected) {
                assert!((found - expected).abs() <= 1e-13 * size, "{found} for {expected}");
            }
        }
    }

    #[test]
    fn narrow_products_are_those_of_the_wide_pass() {
        for (n, d) in [(50, 9), (1_100, 600), (300, 1_003)] {
            for offset in [0.0, 1e3, 1e9] {
                check::<f64>(n, d, offset);
            }
            check::<f32>(n, d, 1e3);
        }
    }
}
