//! Mean and variance of every column, in one pass, without cancellation.

use super::row_grid::{BLOCK, Block, RowBatch, RowGrid, batch_rows, reduction_block_rows};
use super::sparse;
use crate::error::{Error, Result};
use crate::linalg::dense::exponent_of;
use crate::linalg::digest::Digest;
use crate::linalg::ordered_reduce::ordered_reduce;
use crate::linalg::simd::{add_deviations, fetch_lines, vectorized};
use crate::scalar::Scalar;
use rayon::prelude::*;

/// Units of rows in flight.
const REDUCTION_BLOCKS: usize = 32;

/// Count, mean and sum of squared deviations of each column, in the prescaled units of the data.
///
/// A mean is kept as `mean_hi + mean_lo`: a mean of 10¹² beside a spread of 1 must not round.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Columns {
    /// Σw, the number of samples.
    pub weight: f64,
    /// Rows of positive weight.
    pub rows: usize,
    pub mean_hi: Vec<f64>,
    pub mean_lo: Vec<f64>,
    /// Σ w (x − mean)².
    pub squares: Vec<f64>,
    /// Whether entries may differ. Squares of 0 do not tell: those of tiny numbers vanish.
    pub varies: Vec<bool>,
}

impl Columns {
    pub fn zero(n_features: usize) -> Self {
        let mut columns = Columns::default();
        columns.clear(n_features);
        columns
    }

    fn clear(&mut self, n_features: usize) {
        (self.weight, self.rows) = (0.0, 0);
        for numbers in [&mut self.mean_hi, &mut self.mean_lo, &mut self.squares] {
            numbers.clear();
            numbers.resize(n_features, 0.0);
        }
        self.varies.clear();
        self.varies.resize(n_features, false);
    }

    /// One pass over the data; a second one where a column's magnitude asks for a power of two.
    pub fn of<T: Scalar>(grid: &mut RowGrid<T>) -> Result<Columns> {
        let columns = Self::one_pass(grid)?;
        if rescale(grid, &columns)? {
            return Self::one_pass(grid);
        }
        Ok(columns)
    }

    fn one_pass<T: Scalar>(grid: &RowGrid<T>) -> Result<Columns> {
        if grid.is_sparse() {
            return sparse::columns(grid);
        }
        let d = grid.data.n_features();
        let (mut total, mut digest) = (Columns::zero(d), Digest::new());
        grid.for_each_batch(grid.rows_together(REDUCTION_BLOCKS), |batch| {
            let starts = (0..batch.rows).step_by(reduction_block_rows(d));
            let of_unit = |scratch: &mut Vec<T>, start: usize, next: usize| {
                Self::of_unit(grid, &batch, start, next, scratch)
            };
            ordered_reduce(starts, REDUCTION_BLOCKS, Vec::new, of_unit, |(part, hash)| {
                total.merge(&part);
                digest.words(&[hash]);
            })
        })?;
        grid.set_fingerprint(digest.finish());
        total.check_rows()
    }

    /// The same of one reduction block, with the hash of its rows.
    fn of_unit<T: Scalar>(
        grid: &RowGrid<T>,
        batch: &RowBatch<T>,
        start: usize,
        next: usize,
        scratch: &mut Vec<T>,
    ) -> Result<(Columns, u64)> {
        let end = (start + reduction_block_rows(batch.n_features)).min(batch.rows);
        let (mut total, mut digest) = (Columns::zero(batch.n_features), Digest::new());
        for at in (start..end).step_by(BLOCK) {
            let block = batch.block(at, (at + BLOCK).min(end), scratch);
            let upcoming = batch.upcoming_or(at + BLOCK, BLOCK, end, next);
            let whole = batch.n_features <= STRIP;
            let part = by_strips(&block, |_, strip| {
                let mut part = block_mean(strip);
                add_squares(strip, &mut part, if whole { upcoming } else { &[] });
                part
            });
            check_finite(grid, &block, &part)?;
            block.hash_into(&mut digest);
            total.merge(&part);
        }
        Ok((total, digest.finish()))
    }

    /// Adds the rows of `other` (Chan, Golub & LeVeque 1979), with the difference of the means taken
    /// before anything is rounded to the size of a mean.
    pub fn merge(&mut self, other: &Columns) {
        if other.weight == 0.0 {
            return;
        }
        if self.weight == 0.0 {
            *self = other.clone();
            return;
        }
        let weight = self.weight + other.weight;
        let (before, share) = (self.weight, other.weight / weight);
        let d = self.mean_hi.len();
        let (mean_hi, mean_lo) = (&mut self.mean_hi[..d], &mut self.mean_lo[..d]);
        let (squares, varies) = (&mut self.squares[..d], &mut self.varies[..d]);
        vectorized(
            #[inline(always)]
            move || {
                let (new_mean, new_low) = (&other.mean_hi[..d], &other.mean_lo[..d]);
                let (new_squares, new_varies) = (&other.squares[..d], &other.varies[..d]);
                for f in 0..d {
                    let difference = (new_mean[f] - mean_hi[f]) + (new_low[f] - mean_lo[f]);
                    // Means of constant columns are exact.
                    varies[f] |= new_varies[f] | (difference != 0.0);
                    (mean_hi[f], mean_lo[f]) = two_sum(mean_hi[f], mean_lo[f] + difference * share);
                    squares[f] += new_squares[f] + difference * difference * before * share;
                }
            },
        );
        self.weight = weight;
        self.rows += other.rows;
    }

    /// Variance needs two samples.
    pub fn check_rows(self) -> Result<Columns> {
        if self.rows < 2 {
            return Err(Error::TooFewRows { found: self.rows, needed: 2 });
        }
        Ok(self)
    }
}

/// Chooses powers of two for columns whose squares are not numbers, or lose digits; whether any
/// was needed. Sane data are never touched, and pay nothing for the question.
pub(crate) fn rescale<T: Scalar>(grid: &mut RowGrid<T>, columns: &Columns) -> Result<bool> {
    if grid.exponents().is_some() {
        return Ok(false);
    }
    let (low, high) = (2f64.powi(-2 * T::SAFE_EXPONENT), 2f64.powi(2 * T::SAFE_EXPONENT));
    let suspects: Vec<usize> = (0..columns.mean_hi.len())
        .filter(|&f| {
            if !columns.varies[f] && exponent_of(columns.mean_hi[f].abs()).abs() <= T::SAFE_EXPONENT
            {
                return false;
            }
            let mean_square = columns.squares[f] / columns.weight;
            let sound = (low..=high).contains(&mean_square) && columns.mean_hi[f].is_finite();
            !sound || exponent_of(columns.mean_hi[f].abs()) > 2 * T::SAFE_EXPONENT
        })
        .collect();
    if suspects.is_empty() {
        return Ok(false);
    }
    let d = columns.mean_hi.len();
    // The range of the suspects tells small from constant.
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); suspects.len()];
    grid.for_each_batch(batch_rows(d, 32), |batch| {
        let starts: Vec<usize> = (0..batch.rows).step_by(BLOCK).collect();
        let parts: Vec<Vec<(f64, f64)>> = starts
            .par_iter()
            .map_init(Vec::new, |scratch, &at| {
                let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); suspects.len()];
                let block = batch.block(at, (at + BLOCK).min(batch.rows), scratch);
                for i in (0..block.rows).filter(|&i| block.count(i) > 0.0) {
                    let row = block.row(i);
                    for (range, &f) in ranges.iter_mut().zip(&suspects) {
                        let x = row[f].to_f64();
                        *range = (range.0.min(x), range.1.max(x));
                    }
                }
                ranges
            })
            .collect();
        for part in parts {
            for (range, (min, max)) in ranges.iter_mut().zip(part) {
                *range = (range.0.min(min), range.1.max(max));
            }
        }
        Ok(())
    })?;
    // 2⁻ᵉ must be a number of the element type.
    let most = if T::EPSILON == f64::EPSILON { 1000 } else { 120 };
    let mut exponents = vec![0; d];
    for (&(min, max), &f) in ranges.iter().zip(&suspects) {
        let size = max.abs().max(min.abs());
        let spread = if max > min && (max - min).is_finite() { max - min } else { size };
        let exponent = exponent_of(spread);
        if spread > 0.0 && exponent.abs() > T::SAFE_EXPONENT {
            exponents[f] = exponent.clamp(-most, most);
        }
    }
    if exponents.iter().all(|&e| e == 0) {
        return Ok(false);
    }
    grid.set_exponents(exponents);
    Ok(true)
}

/// Features of a strip: 128 rows of it stay in a second-level cache; whole panels of every type.
const STRIP: usize = 480;

/// What `of` finds of a block, put together from strips of features (each with its first feature): a
/// strip's rows are still in the cache when they are looked at again.
pub(crate) fn by_strips<T: Scalar>(
    block: &Block<T>,
    mut of: impl FnMut(usize, &Block<T>) -> Columns,
) -> Columns {
    let d = block.n_features;
    if d <= STRIP {
        return of(0, block);
    }
    let mut whole = Columns::default();
    for first in (0..d).step_by(STRIP) {
        let part = of(first, &block.strip(first, STRIP.min(d - first)));
        (whole.weight, whole.rows) = (part.weight, part.rows);
        whole.mean_hi.extend(part.mean_hi);
        whole.mean_lo.extend(part.mean_lo);
        whole.squares.extend(part.squares);
        whole.varies.extend(part.varies);
    }
    whole
}

/// Row `i` of rows that lie together; empty past the last one.
#[inline(always)]
pub(crate) fn row_of<T>(rows: &[T], i: usize, d: usize) -> &[T] {
    rows.get(i * d..(i + 1) * d).unwrap_or_default()
}

/// The squares of a block about its mean, and what its mean lacks (Chan, Golub & LeVeque 1983). The rows of the `next`
/// block are fetched meanwhile: these are in the cache already.
pub(crate) fn add_squares<T: Scalar>(block: &Block<T>, columns: &mut Columns, next: &[T]) {
    let (d, weight) = (block.n_features, columns.weight);
    let mut sums = vec![0.0; d];
    let (mean_hi, mean_lo) = (&mut columns.mean_hi[..d], &mut columns.mean_lo[..d]);
    let (squares, sums) = (&mut columns.squares[..d], &mut sums[..d]);
    vectorized(
        #[inline(always)]
        move || {
            for i in (0..block.rows).filter(|&i| block.count(i) > 0.0) {
                fetch_lines(row_of(next, i, d));
                let (w, x) = (block.count(i), &block.row(i)[..d]);
                for f in 0..d {
                    let centered = (x[f].to_f64() - mean_hi[f]) - mean_lo[f];
                    squares[f] += w * centered * centered;
                    sums[f] += w * centered;
                }
            }
            for f in 0..d {
                let off = if weight > 0.0 { sums[f] / weight } else { 0.0 };
                squares[f] = (squares[f] - weight * off * off).max(0.0);
                (mean_hi[f], mean_lo[f]) = two_sum(mean_hi[f], mean_lo[f] + off);
            }
        },
    );
}

/// Weight and mean of a block; its squares are left 0.
///
/// Deviations are summed from the block's own first sample: their rounding is then in proportion to
/// the spread of the block, wherever it lies and whatever the other blocks hold. A float32 number that
/// is not constant has at least 2⁻²⁴ of its size as spread, far above what a sum in float64 rounds off:
/// those are summed as they are.
pub(crate) fn block_mean<T: Scalar>(block: &Block<T>) -> Columns {
    let mut columns = Columns::default();
    block_mean_into(block, &mut columns);
    columns
}

/// The same in the room of an earlier one.
pub(crate) fn block_mean_into<T: Scalar>(block: &Block<T>, columns: &mut Columns) {
    let d = block.n_features;
    columns.clear(d);
    let Some(origin) = (0..block.rows).find(|&i| block.count(i) > 0.0) else { return };
    let counted = || (0..block.rows).filter(|&i| block.count(i) > 0.0);
    columns.rows = counted().count();
    columns.weight = (0..block.rows).map(|i| block.count(i)).sum();
    let origin = &block.row(origin)[..d];
    let shifted = T::SHIFTED || block.counts.is_some();
    let weight = columns.weight;
    let (sums, mean_lo) = (&mut columns.mean_hi[..d], &mut columns.mean_lo[..d]);
    let varies = &mut columns.varies[..d];
    // Four rows at a time: the sums are loaded and stored a quarter as often.
    let summed = if block.counts.is_none() {
        add_deviations(block.lines(0, d), origin, sums);
        block.rows / 4 * 4
    } else {
        0
    };
    vectorized(
        // Moved in: a slice behind a reference would be looked up again after every store.
        #[inline(always)]
        move || {
            for i in (summed..block.rows).filter(|&i| block.count(i) > 0.0) {
                let w = block.count(i);
                for ((sum, &x), &o) in sums.iter_mut().zip(block.row(i)).zip(origin) {
                    *sum += w * (x.to_f64() - if shifted { o.to_f64() } else { 0.0 });
                }
            }
            for f in 0..d {
                let from = if shifted { origin[f].to_f64() } else { 0.0 };
                (sums[f], mean_lo[f]) = two_sum(from, sums[f] / weight);
                varies[f] = sums[f] != origin[f].to_f64() || mean_lo[f] != 0.0;
            }
        },
    );
    // Deviations may cancel.
    for (f, varies) in columns.varies.iter_mut().enumerate().filter(|(_, varies)| !**varies) {
        *varies = counted().any(|i| block.row(i)[f] != origin[f]);
    }
}

/// Names the bad entry where a block's mean shows that there is one.
///
/// A mean that overflowed without one is left to [`rescale`].
pub(crate) fn check_finite<T: Scalar>(
    grid: &RowGrid<T>,
    block: &Block<T>,
    columns: &Columns,
) -> Result<()> {
    let sound =
        columns.mean_hi.iter().zip(&columns.mean_lo).all(|(m, l)| m.is_finite() && l.is_finite());
    // Rows of weight 0 are not summed, but a bad entry in one is an error all the same.
    if (!sound || columns.rows < block.rows)
        && let Some((row, column, value)) = block.find_bad()
    {
        return Err(grid.data.bad_entry(row, column, value));
    }
    Ok(())
}

/// `a + b` as a rounded sum and what was lost (Knuth).
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let virtual_b = sum - a;
    (sum, (a - (sum - virtual_b)) + (b - virtual_b))
}
