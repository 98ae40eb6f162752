//! Data ready for passes: weights resolved, columns prescaled where their squares would not be
//! numbers, and rows cut into a fixed grid, whatever blocks the reader lends.

use super::Columns;
use crate::data::{Dataset, SampleWeights, Source, check_weight_count, wrong_weight_count};
use crate::error::{Error, Result};
use crate::linalg::aligned::Aligned;
use crate::linalg::buffer_pool::{BufferPool, PooledBuffer};
use crate::linalg::cancel;
use crate::linalg::dense::power_of_two;
use crate::linalg::digest::Digest;
use crate::linalg::gemm::rows_of;
use crate::linalg::simd::{Lines, Room};
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2, s};
use std::ops::Range;
use std::sync::OnceLock;

/// Rows centred and multiplied together; few enough that float32 products may be summed in float32.
pub(crate) const BLOCK: usize = 128;

/// Rows whose partial result is one term of the sum over samples: the grid that makes every answer
/// independent of threads and of the reader's blocks.
pub(crate) fn reduction_block_rows(n_features: usize) -> usize {
    let most = if n_features <= 512 { 16 * BLOCK } else { 4 * BLOCK };
    ((1 << 20) / n_features.max(1) / BLOCK * BLOCK).clamp(BLOCK, most)
}

/// Rows handed to one parallel step, when `units` partial results may be held at once.
pub(crate) fn batch_rows(n_features: usize, units: usize) -> usize {
    reduction_block_rows(n_features) * units.max(1)
}

/// Bytes that reading takes beyond the data: one reduction block waits when streamed; blocks are copied
/// where rows are not contiguous, by up to 32 threads.
pub(crate) fn reading_memory(
    rows: Option<usize>,
    n_features: usize,
    element: u64,
    streamed: bool,
) -> u64 {
    let most = rows.unwrap_or(usize::MAX);
    let waiting = if streamed { reduction_block_rows(n_features) } else { 0 };
    let copied = waiting.min(most) + (64 * 32).min(most);
    copied as u64 * n_features as u64 * element
}

/// A data set with its weights as counts and its columns' powers of two.
pub(crate) struct RowGrid<'a, T: Scalar> {
    pub data: Dataset<'a, T>,
    counts: Option<Vec<f64>>,
    exponents: Option<Vec<i32>>,
    prescale: Option<Vec<T>>,
    /// Whether squares of columns are summed in f64 beside a scatter matrix of float32 products.
    pub exact_squares: bool,
    /// The number of rows, once they have been read.
    rows: OnceLock<usize>,
    /// A hash of the data, once they have been read.
    fingerprint: OnceLock<u64>,
    /// Room for the tasks of a pass, kept for the next pass.
    pub(super) work: BufferPool<Workspace<T>>,
    /// Room for sums over reduction blocks.
    sums: BufferPool<Aligned<f64>>,
}

/// Buffers of one task.
#[derive(Default)]
pub(super) struct Workspace<T> {
    /// Rows copied to lie together.
    pub scratch: Vec<T>,
    /// Rows packed for a product in their own type.
    pub packed: Aligned<T>,
    /// Standardised rows, or rows that stand for the means of blocks.
    pub panel: Aligned<f64>,
    /// Scores.
    pub z: Aligned<f64>,
    /// A range of features of a product.
    pub product: Aligned<f64>,
    /// Sums of lanes.
    pub lanes: Room,
    /// The mean of a block.
    pub columns: Columns,
    /// The same in the type of the data.
    pub shift: Shift<T>,
}

/// What rows are centred by: a mean in the elements' type, and what it lacks.
#[derive(Default)]
pub(super) struct Shift<T> {
    pub high: Vec<T>,
    pub low: Vec<T>,
}

impl<'a, T: Scalar> RowGrid<'a, T> {
    /// Checks what can be checked before any row is read.
    ///
    /// Passes know no missing entries: a policy for them must have been carried out.
    pub fn new(data: &'a Dataset<'_, T>) -> Result<Self> {
        data.shape().check_complete()?;
        Self::surveying(data)
    }

    /// The same for samples that others will be added to: there may be none yet.
    pub fn part(data: &'a Dataset<'_, T>) -> Result<Self> {
        data.shape().check_policy()?;
        Self::checked(data, SampleWeights::counts_of_part)
    }

    /// The same for a pass that expects missing entries.
    pub fn surveying(data: &'a Dataset<'_, T>) -> Result<Self> {
        data.shape().check()?;
        Self::checked(data, SampleWeights::counts)
    }

    fn checked(
        data: &'a Dataset<'_, T>,
        counts: impl Fn(&SampleWeights) -> Result<Vec<f64>>,
    ) -> Result<Self> {
        data.shape().check_columns()?;
        let counts = data.weights().map(counts).transpose()?;
        Ok(RowGrid { counts, ..Self::plain(data.unweighted()) })
    }

    /// The same rows without weights, as new samples are seen.
    pub fn unweighted(data: &'a Dataset<'_, T>, exponents: Option<Vec<i32>>) -> Result<Self> {
        if data.n_features() == 0 {
            return Err(Error::NoColumns);
        }
        let mut grid = Self::plain(data.unweighted());
        if let Some(exponents) = exponents {
            let fits = |e: &i32| {
                (f64::MIN_POSITIVE..f64::INFINITY).contains(&T::from_f64(power_of_two(-e)).to_f64())
            };
            if !exponents.iter().all(fits) {
                return Err(Error::Unsupported {
                    what: format!("a model of data beyond the range of {}", T::NAME),
                    why: "does not transform data of that type",
                    instead: None,
                });
            }
            grid.set_exponents(exponents);
        }
        Ok(grid)
    }

    fn plain(data: Dataset<'a, T>) -> Self {
        RowGrid {
            data,
            counts: None,
            exponents: None,
            prescale: None,
            exact_squares: false,
            rows: OnceLock::new(),
            fingerprint: OnceLock::new(),
            work: BufferPool::default(),
            sums: BufferPool::default(),
        }
    }

    /// Multiplies column f by 2⁻ᵉ from now on, wherever it is read.
    pub fn set_exponents(&mut self, exponents: Vec<i32>) {
        self.prescale = Some(exponents.iter().map(|&e| T::from_f64(power_of_two(-e))).collect());
        self.exponents = Some(exponents);
    }

    /// The columns' exponents, where any is not 0.
    pub fn exponents(&self) -> Option<&[i32]> {
        self.exponents.as_deref()
    }

    /// 2⁻ᵉ of each column, where any is not 1.
    pub fn prescale(&self) -> Option<&[T]> {
        self.prescale.as_deref()
    }

    /// The weights as counts, where there are any.
    pub fn counts(&self) -> Option<&[f64]> {
        self.counts.as_deref()
    }

    /// A hash of the rows in their order and of their weights, or of all their moments: whatever the first pass
    /// saw. It depends neither on threads nor on the reader's blocks.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint.get().copied().unwrap_or(0)
    }

    /// Takes the hash that a pass has made; that of the first one stays.
    pub(super) fn set_fingerprint(&self, hash: u64) {
        self.fingerprint.get_or_init(|| hash);
    }

    /// The number of rows, where it was announced or they have been read.
    pub fn n_rows(&self) -> Option<usize> {
        self.data.n_samples().or_else(|| self.rows.get().copied())
    }

    /// Zeros to sum in: written ones, see [`crate::linalg::buffer_pool`].
    pub fn zeros(&self, length: usize) -> PooledBuffer<'_, Aligned<f64>> {
        let mut sums = self.room(length);
        sums.fill(0.0);
        sums
    }

    /// Room for sums, with any numbers in it.
    pub fn room(&self, length: usize) -> PooledBuffer<'_, Aligned<f64>> {
        let mut sums = self.sums.acquire();
        sums.resize(length);
        sums
    }

    /// Rows to be handed to tasks at a time, where at most `units` partial results wait: all that are in
    /// memory.
    pub fn rows_together(&self, units: usize) -> usize {
        let batch = batch_rows(self.data.n_features(), units);
        match self.data.source() {
            Source::Dense(x) => batch.max(x.nrows()),
            _ => batch,
        }
    }

    /// Whether the rows are a sparse matrix.
    pub fn is_sparse(&self) -> bool {
        matches!(self.data.source(), Source::Sparse(_))
    }

    /// Calls `visit` with all rows in order, at most `batch` at a time; each time a whole number of
    /// units, but for the last. Returns the number of rows.
    ///
    /// What `visit` computes must be combined unit by unit: where batches begin and end depends on
    /// the reader.
    pub fn for_each_batch(
        &self,
        batch: usize,
        mut visit: impl FnMut(RowBatch<'_, T>) -> Result<()>,
    ) -> Result<usize> {
        let n_features = self.data.n_features();
        let unit = reduction_block_rows(n_features);
        let total = match self.data.source() {
            Source::Dense(x) => {
                for first in (0..x.nrows()).step_by(batch) {
                    let rows = batch.min(x.nrows() - first);
                    let part = x.slice(s![first..first + rows, ..]);
                    visit(self.batch(first, rows, Body::Dense(part))?)?;
                }
                x.nrows()
            }
            Source::Sparse(x) => {
                for first in (0..x.n_rows()).step_by(batch) {
                    let rows = batch.min(x.n_rows() - first);
                    visit(self.batch(first, rows, Body::Sparse(x))?)?;
                }
                x.n_rows()
            }
            Source::Streamed(rows) => {
                let mut reader = rows.open()?;
                // Rows that do not fill a unit yet wait here; whole units are used where they lie.
                let mut waiting = Array2::<T>::default((0, 0));
                let mut filled = 0;
                let mut first = 0;
                while let Some(lent) = reader.next_rows(batch)? {
                    if lent.ncols() != n_features {
                        return Err(Error::Shape {
                            what: "a block of rows",
                            found: format!("{} columns", lent.ncols()),
                            expected: format!("{n_features}"),
                        });
                    }
                    let mut used = 0;
                    if filled > 0 {
                        used = (unit - filled).min(lent.nrows());
                        waiting
                            .slice_mut(s![filled..filled + used, ..])
                            .assign(&lent.slice(s![..used, ..]));
                        filled += used;
                        if filled == unit {
                            visit(self.batch(first, unit, Body::Dense(waiting.view()))?)?;
                            first += unit;
                            filled = 0;
                        }
                    }
                    while lent.nrows() - used >= unit {
                        let rows = ((lent.nrows() - used) / unit * unit).min(batch);
                        let part = lent.slice(s![used..used + rows, ..]);
                        visit(self.batch(first, rows, Body::Dense(part))?)?;
                        first += rows;
                        used += rows;
                    }
                    let rest = lent.nrows() - used;
                    if rest > 0 {
                        if waiting.is_empty() {
                            waiting = Array2::default((unit, n_features));
                        }
                        waiting
                            .slice_mut(s![filled..filled + rest, ..])
                            .assign(&lent.slice(s![used.., ..]));
                        filled += rest;
                    }
                }
                if filled > 0 {
                    let part = waiting.slice(s![..filled, ..]);
                    visit(self.batch(first, filled, Body::Dense(part))?)?;
                }
                first + filled
            }
        };
        if total == 0 {
            return Err(Error::NoRows);
        }
        let known = self.data.n_samples().unwrap_or_else(|| *self.rows.get_or_init(|| total));
        if total != known {
            return Err(Error::Changed { what: format!("{total} rows came in place of {known}") });
        }
        if let Some(counts) = &self.counts {
            check_weight_count(counts.len(), total)?;
        }
        Ok(total)
    }
}

impl<T: Scalar> RowGrid<'_, T> {
    /// The next rows of a pass, unless it was cancelled.
    fn batch<'s>(
        &'s self,
        first: usize,
        rows: usize,
        body: Body<'s, T>,
    ) -> Result<RowBatch<'s, T>> {
        cancel::check()?;
        let counts = match &self.counts {
            None => None,
            Some(counts) => Some(counts.get(first..first + rows).ok_or_else(|| {
                wrong_weight_count(counts.len(), format!("at least {}", first + rows))
            })?),
        };
        let n_features = self.data.n_features();
        Ok(RowBatch { first, rows, n_features, body, counts, prescale: self.prescale.as_deref() })
    }
}

/// Consecutive rows.
pub(crate) struct RowBatch<'s, T: Scalar> {
    /// Number of the first row.
    pub first: usize,
    pub rows: usize,
    pub n_features: usize,
    body: Body<'s, T>,
    counts: Option<&'s [f64]>,
    prescale: Option<&'s [T]>,
}

enum Body<'s, T: Scalar> {
    Dense(ArrayView2<'s, T>),
    Sparse(&'s crate::data::Csr<T>),
}

impl<T: Scalar> RowBatch<'_, T> {
    /// Rows `start..end` of the batch, row by row in memory: where they lie if they lie so, otherwise
    /// copied to `scratch` (a block at a time: never the data).
    pub fn block<'b>(&'b self, start: usize, end: usize, scratch: &'b mut Vec<T>) -> Block<'b, T> {
        self.strip(start, end, 0..self.n_features, scratch)
    }

    /// The same of some features alone.
    pub fn strip<'b>(
        &'b self,
        start: usize,
        end: usize,
        features: Range<usize>,
        scratch: &'b mut Vec<T>,
    ) -> Block<'b, T> {
        let width = features.len();
        let counts = self.counts(start, end);
        let first = self.first + start;
        let block = |data, stride| Block {
            first,
            data,
            stride,
            rows: end - start,
            n_features: width,
            counts,
        };
        if let (Body::Dense(x), None) = (&self.body, self.prescale) {
            let part = x.slice_move(s![start..end, features.clone()]);
            if (width == 1 || part.strides()[1] == 1)
                && (part.nrows() == 1 || part.strides()[0] > 0)
            {
                let (data, stride) = rows_of(&part);
                return block(data, stride);
            }
        }
        self.copy_rows(start, end, features.clone(), scratch);
        if let Some(prescale) = self.prescale {
            for row in scratch.chunks_exact_mut(width) {
                for (x, &p) in row.iter_mut().zip(&prescale[features.clone()]) {
                    *x = *x * p;
                }
            }
        }
        block(scratch, width)
    }

    /// The weights of some rows of the batch, where there are any.
    pub fn counts(&self, start: usize, end: usize) -> Option<&[f64]> {
        self.counts.map(|counts| &counts[start..end])
    }

    /// The weight of one row of the batch.
    #[inline(always)]
    pub fn count(&self, row: usize) -> f64 {
        self.counts.map_or(1.0, |c| c[row])
    }

    /// Where the block after the one at `start` lies; empty where it does not lie together.
    pub fn next_block(&self, start: usize, end: usize) -> &[T] {
        self.upcoming(start + BLOCK, BLOCK, end)
    }

    /// Where up to `rows` rows from `start` on (before `end`) lie, to be fetched ahead of their use;
    /// empty where they do not lie together.
    pub fn upcoming(&self, start: usize, rows: usize, end: usize) -> &[T] {
        match &self.body {
            Body::Dense(x) if start < end => {
                let part = x.slice_move(s![start..(start + rows).min(end), ..]);
                part.to_slice().unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// The same, or where there are none before `end` the rows of the unit that a task is likely to do
    /// `next`.
    pub fn upcoming_or(&self, start: usize, rows: usize, end: usize, next: usize) -> &[T] {
        if start < end {
            return self.upcoming(start, rows, end);
        }
        self.upcoming(next * reduction_block_rows(self.n_features), rows, self.rows)
    }

    fn copy_rows(&self, start: usize, end: usize, features: Range<usize>, scratch: &mut Vec<T>) {
        let width = features.len();
        scratch.clear();
        scratch.resize((end - start) * width, T::default());
        match &self.body {
            Body::Dense(x) => {
                // Column by column where columns are contiguous; whichever way, the same numbers.
                let part = x.slice_move(s![start..end, features]);
                if part.strides()[0].unsigned_abs() <= part.strides()[1].unsigned_abs() {
                    for (f, column) in part.columns().into_iter().enumerate() {
                        for (i, &v) in column.iter().enumerate() {
                            scratch[i * width + f] = v;
                        }
                    }
                } else {
                    for (row, out) in part.rows().into_iter().zip(scratch.chunks_exact_mut(width)) {
                        for (o, &v) in out.iter_mut().zip(row) {
                            *o = v;
                        }
                    }
                }
            }
            Body::Sparse(x) => {
                for (row, out) in
                    (self.first + start..self.first + end).zip(scratch.chunks_exact_mut(width))
                {
                    let (columns, values) = x.row(row);
                    for (&f, &v) in columns.iter().zip(values) {
                        let place = (f as usize).wrapping_sub(features.start);
                        if let Some(out) = out.get_mut(place) {
                            *out = *out + v;
                        }
                    }
                }
            }
        }
    }
}

/// A few rows, each contiguous, already prescaled.
pub(crate) struct Block<'b, T: Scalar> {
    /// Number of the first row in the data.
    pub first: usize,
    data: &'b [T],
    stride: usize,
    pub rows: usize,
    pub n_features: usize,
    /// The rows' weights.
    pub counts: Option<&'b [f64]>,
}

impl<T: Scalar> Block<'_, T> {
    /// One row.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[T] {
        &self.data[i * self.stride..i * self.stride + self.n_features]
    }

    /// All rows, of features `first..first + width`.
    #[inline(always)]
    pub fn lines(&self, first: usize, width: usize) -> Lines<'_, T> {
        Lines::new(&self.data[first..], self.stride, self.rows, width)
    }

    /// Adds the rows and their weights to a hash.
    pub fn hash_into(&self, digest: &mut Digest) {
        if self.stride == self.n_features {
            digest.numbers(&self.data[..self.rows * self.stride]);
        } else {
            (0..self.rows).for_each(|i| digest.numbers(self.row(i)));
        }
        if let Some(counts) = self.counts {
            digest.numbers(counts);
        }
    }

    /// The weight of one row.
    #[inline(always)]
    pub fn count(&self, i: usize) -> f64 {
        self.counts.map_or(1.0, |c| c[i])
    }

    /// Features `first..first + width` alone.
    pub fn strip(&self, first: usize, width: usize) -> Block<'_, T> {
        let data = self.data.get(first..).unwrap_or_default();
        Block { data, n_features: width, ..*self }
    }

    /// The first entry that is not finite, as (row, column, value).
    pub fn find_bad(&self) -> Option<(usize, usize, f64)> {
        (0..self.rows).find_map(|i| {
            let row = self.row(i);
            let f = row.iter().position(|v| !v.to_f64().is_finite())?;
            Some((self.first + i, f, row[f].to_f64()))
        })
    }
}
