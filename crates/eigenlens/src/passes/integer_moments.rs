//! Moments of small whole numbers (pixels, counts, answers on a scale, dummy variables): sums of bytes,
//! which are exact, and fast.

use super::Columns;
use super::moments::Moments;
use super::row_grid::{BLOCK, RowBatch, RowGrid};
use crate::error::{Error, Result};
use crate::linalg::aligned::Aligned;
use crate::linalg::gemm::slice_mut;
use crate::linalg::scatter::{Squares, packed_len};
use crate::linalg::simd::{Tile, U8X4_SHIFT, U8x4, has_u8x4, pack_u8x4};
use crate::scalar::Scalar;
use ndarray::Array2;
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a block: four at a step.
const ROWS: usize = 4 * BLOCK;

/// Sums over rows that are whole numbers from 0 to 255.
pub(super) struct IntegerMoments {
    rows: usize,
    columns: Vec<u64>,
    /// Of `x_i (x_j − 128)` for i ≥ j.
    products: Squares,
    packed: Aligned<U8x4>,
    /// Whether all rows so far were such numbers.
    pub whole: bool,
}

impl IntegerMoments {
    /// Of nothing yet, where the first rows are whole numbers that all count the same.
    pub fn begin<T: Scalar>(grid: &RowGrid<T>, batch: &RowBatch<T>) -> Option<IntegerMoments> {
        let plain = grid.counts().is_none() && grid.exponents().is_none();
        let d = batch.n_features;
        if !plain || grid.is_sparse() || !has_u8x4() {
            return None;
        }
        let (mut scratch, mut packed) = (Vec::new(), Aligned::default());
        let block = batch.block(0, 4.min(batch.rows), &mut scratch);
        let width = d.next_multiple_of(U8x4::PANEL);
        packed.resize(width);
        let whole = pack_u8x4(block.lines(0, d), &mut packed, &mut vec![0; width]);
        let (rows, columns, products) = (0, vec![0; d], Squares::zeros(d));
        whole.then_some(IntegerMoments { rows, columns, products, packed, whole })
    }

    /// Adds the rows of a batch; an error ends the pass where some are other numbers.
    pub fn add<T: Scalar>(&mut self, batch: &RowBatch<T>) -> Result<()> {
        // As much as stays in the last cache, or for few features is as little as all else.
        let width = batch.n_features.next_multiple_of(U8x4::PANEL);
        let bytes = if batch.n_features <= 336 { 1 << 20 } else { 13 << 19 };
        let height = (bytes / width / ROWS).max(1) * ROWS;
        for start in (0..batch.rows).step_by(height) {
            self.whole = self.add_rows(batch, start..(start + height).min(batch.rows));
            if !self.whole {
                return Err(Error::Internal("not whole numbers".into()));
            }
        }
        self.rows += batch.rows;
        Ok(())
    }

    fn add_rows<T: Scalar>(&mut self, batch: &RowBatch<T>, rows: Range<usize>) -> bool {
        let d = batch.n_features;
        let width = d.next_multiple_of(U8x4::PANEL);
        let length = packed_len::<U8x4>(d, BLOCK);
        let starts: Vec<usize> = rows.clone().step_by(ROWS).collect();
        self.packed.resize(length * starts.len());
        let parts: Option<Vec<Vec<u32>>> = (self.packed.par_chunks_mut(length).zip(&starts))
            .map_init(Vec::new, |scratch, (packed, &start)| {
                let block = batch.block(start, (start + ROWS).min(rows.end), scratch);
                let mut sums = vec![0; width];
                pack_u8x4(block.lines(0, d), packed, &mut sums).then_some(sums)
            })
            .collect();
        let Some(parts) = parts else { return false };
        for part in parts {
            self.columns.iter_mut().zip(part).for_each(|(sum, part)| *sum += u64::from(part));
        }
        self.products.for_each(|square| {
            for (block, &start) in starts.iter().enumerate() {
                let (packed, next) = self.packed[block * length..].split_at(length);
                let depth = ROWS.min(rows.end - start).div_ceil(4);
                square.add(packed, depth, next, None);
            }
        });
        true
    }

    /// The moments, each entry of the scatter rounded twice.
    pub fn finish(self) -> Moments {
        drop(self.packed);
        from_sums(self.rows, &self.columns, self.products.into_matrix())
    }
}

/// From sums of the columns and of `x_i (x_j − 128)` for i ≥ j, all of them whole numbers.
fn from_sums(rows: usize, sums: &[u64], products: Array2<f64>) -> Moments {
    let (n, d) = (rows as f64, sums.len());
    let few = rows <= 1 << 23;
    let mut scatter = products;
    slice_mut(&mut scatter).par_chunks_mut(d).enumerate().for_each(|(i, line)| {
        for (j, entry) in line.iter_mut().enumerate() {
            // n Σ x_i x_j − Σ x_i Σ x_j, which is no larger than (255 n)².
            let products = *entry as i64 + i64::from(U8X4_SHIFT) * sums[i.max(j)] as i64;
            *entry = if few {
                (rows as i64 * products - sums[i] as i64 * sums[j] as i64) as f64 / n
            } else {
                let squares = i128::from(sums[i]) * i128::from(sums[j]);
                (rows as i128 * i128::from(products) - squares) as f64 / n
            };
        }
    });
    let squares = scatter.diag().to_vec();
    let mean: Vec<f64> = sums.iter().map(|&sum| sum as f64 / n).collect();
    let low = mean.iter().zip(sums).map(|(mean, &sum)| -mean.mul_add(n, -(sum as f64)) / n);
    let columns = Columns {
        weight: n,
        rows,
        mean_lo: low.collect(),
        varies: squares.iter().map(|s| *s > 0.0).collect(),
        mean_hi: mean,
        squares,
    };
    Moments { columns, exponents: vec![0; d], scatter, feature_names: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::options::Options;

    fn number(i: usize, f: usize) -> u64 {
        (((i * 7919 + f * 104_729) * 2_654_435_761) >> 7) as u64 % [2, 256, 5, 17][f % 4]
    }

    /// The moments by bytes, if the data have them.
    fn exactly<T: Scalar>(data: &Dataset<T>) -> Option<Moments> {
        let grid = RowGrid::new(data).unwrap();
        let mut sums = None;
        let read = grid.for_each_batch(usize::MAX, |batch| {
            sums = IntegerMoments::begin(&grid, &batch);
            sums.as_mut().map_or(Ok(()), |sums| sums.add(&batch))
        });
        assert_eq!(read.is_ok(), sums.as_ref().is_none_or(|sums| sums.whole));
        sums.filter(|sums| sums.whole).map(IntegerMoments::finish)
    }

    /// Against sums of whole numbers, one at a time.
    fn check<T: Scalar>(n: usize, d: usize) {
        let x = Array2::from_shape_fn((n, d), |(i, f)| T::from_f64(number(i, f) as f64));
        let data = Dataset::from(&x);
        let Some(found) = exactly(&data) else { return assert!(!has_u8x4()) };
        let sum = |f: usize| (0..n).map(|i| number(i, f)).sum::<u64>();
        for f in 0..d {
            let mean = sum(f) as f64 / n as f64;
            assert_eq!(found.columns.mean_hi[f], mean);
            assert!(found.columns.mean_lo[f].abs() <= 2e-16 * mean);
            for g in 0..d {
                let products = (0..n).map(|i| number(i, f) * number(i, g)).sum::<u64>();
                let times_n = (n as u64 * products) as i64 - (sum(f) * sum(g)) as i64;
                assert_eq!(found.scatter[[f, g]], times_n as f64 / n as f64, "{n} × {d}");
            }
        }
        assert_eq!((found.columns.rows, found.columns.weight), (n, n as f64));
    }

    #[test]
    fn sums_of_whole_numbers_are_exact() {
        for (n, d) in [(1, 1), (3, 5), (513, 49), (2_100, 100)] {
            check::<f32>(n, d);
            check::<f64>(n, d);
        }
    }

    /// A number that is not whole, in the first block or in a later one: the sums in floats take over.
    #[test]
    fn other_numbers_anywhere_are_noticed() {
        for at in [0, 300, 40_000] {
            let mut x = Array2::from_shape_fn((40_001, 7), |(i, f)| number(i, f) as f64);
            x[[at, 6]] = 0.25;
            let data = Dataset::from(&x);
            assert!(exactly(&data).is_none());
            let found = Moments::of(&data, &Options::default()).unwrap();
            let mean = x.column(6).sum() / 40_001.0;
            let squares: f64 = x.column(6).iter().map(|x| (x - mean) * (x - mean)).sum();
            assert!((found.scatter[[6, 6]] - squares).abs() < 1e-12 * squares);
        }
    }
}
