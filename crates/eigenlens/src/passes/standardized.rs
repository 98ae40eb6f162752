//! Passes over standardised data: scores, products with the Gram matrix of the features, the Gram
//! matrix of the samples. Rows are standardised on their way into a cache-sized panel of f64.

use super::packed_rhs::{PANEL, PackedRhs};
use super::row_grid::{
    BLOCK, Block, RowBatch, RowGrid, Workspace, batch_rows, reduction_block_rows,
};
use super::score_moments::{ScoreAccumulator, ScoreMoments};
use super::target_projection::{LabelPass, TargetProjection};
use super::{Scaler, sparse};
use crate::data::Source;
use crate::error::{Error, Result};
use crate::linalg::aligned::Aligned;
use crate::linalg::buffer_pool::PooledBuffer;
use crate::linalg::gemm::{rows_of, slice_mut};
use crate::linalg::ordered_reduce::ordered_reduce;
use crate::linalg::pages::populate_pages;
use crate::linalg::scatter::{Squares, packed_len};
use crate::linalg::simd::{
    self, Ahead, Columns, GemmFlags, Left, Lines, Tile, add_gemm_small_n_transposed, fetch_lines,
    vectorized,
};
use crate::memory;
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

/// Bytes of a panel of standardised rows: half of a usual second-level cache.
const PANEL_BYTES: usize = 256 << 10;

/// Up to this many bytes every reduction block has a product of its own; beyond it the rows of a batch
/// go in order into ranges of features.
pub(super) const SMALL_PRODUCT: usize = 1 << 20;

/// Units of rows in flight.
pub(super) const REDUCTION_BLOCKS: usize = 16;

/// Features whose products one task computes, when rows go in order; the depth of an inner product's
/// sums, so that ranges do not touch its bits.
const FEATURES: usize = 512;

/// Rows that meet a range of features at a time: with it they fill half of a second-level cache.
const RANGE_ROWS: usize = 64;

/// The standardised data `Xs` (n × d), with `W` the diagonal matrix of sample weights.
pub(crate) struct Standardized<'a, T: Scalar> {
    pub grid: &'a RowGrid<'a, T>,
    pub scaler: &'a Scaler,
}

/// Takes blocks of scores (· × k) in order.
pub(crate) type Sink<'s, T> = dyn FnMut(ArrayView2<T>) -> Result<()> + Send + 's;

/// Where scores go: `k` columns, each multiplied by its factor.
pub(crate) struct Scores<'o, T: Scalar> {
    /// One for each score column; 0 silences a column.
    pub factors: Vec<f64>,
    /// Room for scores; zeroed pages are touched first by the tasks that fill them.
    values: Vec<T>,
    /// Entries filled and not handed on.
    used: usize,
    /// Takes rows (· × k) as they come; without it they gather in `values`.
    sink: Option<&'o mut Sink<'o, T>>,
}

impl<'o, T: Scalar> Scores<'o, T> {
    /// Gathers scores, with room for `rows`.
    pub fn gather(factors: Vec<f64>, rows: usize) -> Result<Self> {
        let values = memory::zeros("the scores", rows.saturating_mul(factors.len()))?;
        Ok(Scores { factors, values, used: 0, sink: None })
    }

    /// Hands scores on as they are made.
    pub fn hand_to(factors: Vec<f64>, sink: &'o mut Sink<'o, T>) -> Self {
        Scores { factors, values: Vec::new(), used: 0, sink: Some(sink) }
    }

    /// The scores gathered (n × k).
    pub fn into_array(mut self) -> Result<Array2<T>> {
        let k = self.factors.len();
        self.values.truncate(self.used);
        Array2::from_shape_vec((self.used / k.max(1), k), self.values)
            .map_err(|e| Error::Internal(e.to_string()))
    }

    pub(super) fn make_room(&mut self, rows: usize) -> &mut [T] {
        let from = self.used;
        self.used += rows * self.factors.len();
        if self.values.len() < self.used {
            self.values.resize(self.used, T::default());
        }
        &mut self.values[from..self.used]
    }

    pub(super) fn hand_on(&mut self) -> Result<()> {
        if let Some(sink) = &mut self.sink {
            let k = self.factors.len();
            let rows = self.used / k.max(1);
            let view = ArrayView2::from_shape((rows, k), &self.values[..self.used])
                .map_err(|e| Error::Internal(e.to_string()))?;
            sink(view)?;
            self.used = 0;
        }
        Ok(())
    }
}

/// What a pass makes on its way; nothing of it costs a pass of its own.
pub(crate) struct Pass<'p, 'o, T: Scalar> {
    /// The leading columns of `Xs V`, in true units.
    pub scores: Option<&'p mut Scores<'o, T>>,
    /// `Xsᵀ W Xs V` of the columns from this one on (a multiple of [`Standardized::column_step`]).
    pub gram: Option<(usize, &'p mut Array2<f64>)>,
    /// The tails of the leading columns of `Xs V`.
    pub score_moments: Option<&'p mut ScoreMoments>,
}

impl<T: Scalar> Standardized<'_, T> {
    fn n_features(&self) -> usize {
        self.grid.data.n_features()
    }

    /// The additions one entry of `Xsᵀ W Xs V` goes through, for V of so many columns and so many rows: within a
    /// panel of rows, within a reduction block, and over all of them.
    pub fn additions(&self, columns: usize, rows: usize) -> f64 {
        let (d, rows) = (self.n_features(), rows as f64);
        let (panel, block) = if self.grid.is_sparse() {
            let piece = rows / sparse::PIECES as f64;
            (piece, piece)
        } else if d * columns * 8 <= SMALL_PRODUCT {
            (panel_rows(d) as f64, reduction_block_rows(d) as f64)
        } else {
            (RANGE_ROWS as f64, rows)
        };
        let (panel, block) = (panel.min(rows).max(1.0), block.min(rows).max(1.0));
        panel + block / panel + rows / block
    }

    /// The same where the rows of a reduction block are added up one after the other.
    pub fn additions_in_blocks(&self, rows: usize) -> f64 {
        let block = match self.grid.is_sparse() {
            true => rows.div_ceil(sparse::PIECES),
            false => reduction_block_rows(self.n_features()).min(rows),
        };
        block as f64 + rows as f64 / block.max(1) as f64
    }

    /// The features that are added up at a time to make a score; sums of so many are added to one another.
    pub fn score_depth(&self) -> usize {
        if self.grid.is_sparse() { usize::MAX } else { PackedRhs::DEPTH }
    }

    /// Whole vectors of scores, or for dense rows halves of them.
    pub fn column_step(&self) -> usize {
        if self.grid.is_sparse() { f64::PAD } else { f64::PAD / 2 }
    }

    /// `Xsᵀ W Xs V` for V (d × b): the product every iterative solver is made of, in one pass.
    pub fn gram_product(&self, v: ArrayView2<f64>) -> Result<Array2<f64>> {
        if let Some(product) = self.gram_apply_product(v)? {
            return Ok(product);
        }
        let mut product = Array2::zeros((0, 0));
        self.pass(v, Pass { scores: None, gram: Some((0, &mut product)), score_moments: None })?;
        Ok(product)
    }

    /// One pass that makes `Xs V`, and of it whatever is asked for; the number of rows.
    pub fn pass(&self, v: ArrayView2<f64>, wanted: Pass<'_, '_, T>) -> Result<usize> {
        self.pass_with_labels(v, wanted, None)
    }

    /// The same with labels.
    pub fn pass_with_labels(
        &self,
        v: ArrayView2<f64>,
        mut wanted: Pass<'_, '_, T>,
        labels: Option<&mut LabelPass>,
    ) -> Result<usize> {
        let (d, b) = v.dim();
        let padded = b.next_multiple_of(f64::PAD);
        let gram_from = wanted.gram.as_ref().map(|(from, _)| *from);
        let columns = gram_from.map_or(0, |from| b.next_multiple_of(self.column_step()) - from);
        let target_projection = labels.as_ref().map(|l| TargetProjection::new(l, padded));
        let mut label_sums =
            target_projection.as_ref().map_or_else(Vec::new, TargetProjection::zeros);
        let sparse = self.grid.is_sparse();
        let few = |lines: usize| !sparse && d * lines * 8 <= SMALL_PRODUCT;
        let by_class = target_projection
            .as_ref()
            .and_then(TargetProjection::classes)
            .filter(|(_, count)| few(*count));
        let small = by_class.is_some() || few(columns);
        let by_features = !sparse && !small;
        // The product is summed transposed (lines × d) where reduction blocks have one each.
        let shape = match (gram_from, by_class) {
            (Some(from), _) if by_features => (d, b - from),
            (Some(_), Some((_, count))) => (count, d.next_multiple_of(f64::PAD)),
            // Whole tiles of the product, not whole vectors of the scores.
            (Some(from), None) if small => {
                ((b - from).next_multiple_of(4), d.next_multiple_of(f64::PAD))
            }
            _ => (d, columns),
        };
        let mut total = Array2::<f64>::zeros(if columns > 0 { shape } else { (0, 0) });
        let mut score_sums = vec![0.0; columns];
        let rows = if sparse {
            let owned;
            let packed_rhs = if padded == b {
                v
            } else {
                let mut copy = Array2::zeros((d, padded));
                copy.slice_mut(s![.., ..b]).assign(&v);
                owned = copy;
                owned.view()
            };
            let gram = gram_from.map(|from| (from, &mut total));
            let labels = target_projection
                .as_ref()
                .map(|target_projection| (target_projection, &mut label_sums[..]));
            sparse::pass(self, packed_rhs, &mut wanted, gram, labels)?
        } else {
            let packed_rhs = &PackedRhs::new(v, self.scaler);
            let handed_on = wanted.scores.as_ref().is_some_and(|scores| scores.sink.is_some());
            let batch = match small {
                true if !handed_on => self.grid.rows_together(REDUCTION_BLOCKS),
                true => batch_rows(d, REDUCTION_BLOCKS),
                false => batch_rows(d, 2),
            };
            let mut scores = wanted.scores;
            let mut score_moments = wanted.score_moments;
            self.grid.for_each_batch(batch, |batch| {
                let room = scores.as_mut().map(|s| (s.factors.clone(), s.make_room(batch.rows)));
                let gram = gram_from.map(|from| (from, &mut total));
                if let Some(target_projection) = &target_projection {
                    target_projection.factor.check_reaches(batch.first + batch.rows)?;
                }
                let (score_moments, mix) =
                    (score_moments.as_deref_mut(), target_projection.as_ref());
                let (score_sums, label_sums) = (&mut score_sums[..], &mut label_sums[..]);
                let totals = Totals { gram, score_sums, score_moments, label_sums };
                if small {
                    self.batch_by_reduction_blocks(
                        &batch, packed_rhs, room, mix, by_class, totals,
                    )?;
                } else {
                    self.batch_by_features(&batch, packed_rhs, room, mix, totals)?;
                }
                scores.as_mut().map_or(Ok(()), |s| s.hand_on())
            })?
        };
        if let Some((from, gram)) = wanted.gram {
            let lines = total.slice(s![.., ..d.min(total.ncols())]);
            let whole = match &target_projection {
                Some(target_projection) if by_class.is_some() => {
                    target_projection.of_classes(lines)
                }
                // Rows were only centred, by the leading digits of the means.
                _ if small => Array2::from_shape_fn((d, lines.nrows()), |(f, j)| {
                    (lines[[j, f]] - self.scaler.mean_lo[f] * score_sums[j])
                        * self.scaler.inv_scale[f]
                }),
                _ => total,
            };
            let first = if by_class.is_some() { from } else { 0 };
            *gram = if first == 0 && whole.ncols() + from == b {
                whole
            } else {
                whole.slice(s![.., first..first + b - from]).to_owned()
            };
        }
        if let (Some(target_projection), Some(labels)) = (target_projection, labels) {
            target_projection.factor.check_rows(rows)?;
            target_projection.finish(label_sums, labels);
        }
        Ok(rows)
    }

    /// Units of rows in parallel, their sums added in order.
    fn batch_by_reduction_blocks(
        &self,
        batch: &RowBatch<T>,
        v: &PackedRhs,
        room: Option<(Vec<f64>, &mut [T])>,
        mix: Option<&TargetProjection>,
        by_class: Option<(&[u32], usize)>,
        totals: Totals,
    ) -> Result<()> {
        let Totals { mut gram, score_sums, mut score_moments, label_sums } = totals;
        let (d, b) = (v.features, v.columns);
        let width = d.next_multiple_of(f64::PAD);
        let unit = reduction_block_rows(d);
        let (factors, pieces) = score_pieces(room, unit, batch.rows.div_ceil(unit));
        let gram_from = gram.as_ref().map(|(from, _)| *from);
        let columns = gram.as_ref().map_or(0, |(_, total)| total.nrows());
        let nothing = ScoreAccumulator::new(b, score_moments.as_deref());
        let narrow = v.is_narrow();
        let sum_reduction_block = |work: &mut PooledBuffer<'_, Workspace<T>>,
                                   unit_of: Unit<T>,
                                   next: usize| {
            let (start, mut out) = unit_of;
            if let Some(out) = &mut out {
                populate_pages(out);
            }
            let mut product = self.grid.zeros(width * columns);
            let mut accumulator = nothing.clone();
            // Of what labels have put in the place of the scores.
            let mut mixed = vec![0.0; if mix.is_some() { b } else { 0 }];
            let mut labels = mix.map_or_else(Vec::new, TargetProjection::zeros);
            let end = (start + unit).min(batch.rows);
            let height = panel_rows(d);
            for at in (start..end).step_by(height) {
                let rows = height.min(end - at);
                let out = out.as_mut().map(|out| &mut out[(at - start) * factors.len()..]);
                let multiplied = if by_class.is_some() { 0 } else { columns };
                let steps = if narrow {
                    v.narrow_steps(rows, multiplied)
                } else {
                    steps(d, b, multiplied, rows)
                };
                let ahead = Ahead::new(batch.upcoming_or(at + rows, height, end, next), steps);
                let stride = panel_stride(d);
                if !narrow || by_class.is_some() {
                    work.panel.resize(height * stride);
                }
                work.z.resize(height * b);
                let Workspace { scratch, panel, z, .. } = &mut **work;
                let block = batch.block(at, at + rows, scratch);
                if narrow {
                    v.multiply_rows(&block, z, &ahead);
                } else {
                    v.center(&block, 0, panel, stride);
                    v.multiply(panel, stride, rows, 0, d, z, &ahead);
                }
                self.take_scores(batch, (at, rows), v, z, &factors, out, &mut accumulator)?;
                match (mix, by_class) {
                    (Some(mix), None) => mix.rows(batch, at, z, rows, &mut labels),
                    (Some(mix), Some(_)) => mix.add(batch, at, &z[..rows * b], &mut labels),
                    (None, _) => {}
                }
                if let (Some((codes, _)), Some(_)) = (by_class, gram_from) {
                    let codes = &codes[batch.first + at..];
                    standardize(&block, self.scaler, 0, panel, stride);
                    add_by_class(panel, stride, &block, codes, &mut product, width);
                } else if let Some(from) = gram_from {
                    if mix.is_some() {
                        add_rows(&z[..rows * b], &mut mixed);
                    }
                    // (Xᵀ Z)ᵀ: features across the vectors, columns of Z broadcast.
                    if narrow {
                        let columns = v.count - from;
                        let scores = Columns { data: &z[from..], stride: b, columns };
                        let (lines, c) = (block.lines(0, d), &v.center);
                        add_gemm_small_n_transposed(lines, c, scores, &mut product, width, &ahead);
                    } else {
                        let left = Left::new(&z[from..], columns, rows, 1, b);
                        let flags =
                            GemmFlags { padded: true, ahead: Some(&ahead), ..GemmFlags::default() };
                        f64::product(left, panel, stride, width, &mut product, width, flags);
                    }
                }
            }
            let ScoreAccumulator { sums: scores, score_moments } = accumulator;
            let scores = if mix.is_some() { mixed } else { scores };
            Ok(UnitSums { product, scores, score_moments, labels })
        };
        let mut begun = batch.first > 0;
        let add = |part: UnitSums<'_>| {
            if let Some((from, total)) = &mut gram {
                add_to(slice_mut(total), &part.product, begun);
                add_all(score_sums, &part.scores[*from..]);
            }
            begun = true;
            add_all(label_sums, &part.labels);
            if let Some(score_moments) = &mut score_moments {
                score_moments.merge(&part.score_moments);
            }
        };
        let units = (0..batch.rows).step_by(unit).zip(pieces);
        ordered_reduce(
            units,
            REDUCTION_BLOCKS,
            || self.grid.work.acquire(),
            sum_reduction_block,
            add,
        )
    }

    /// `Z = Xs V` of a few rows is written as scores, counted in the tails, and multiplied by the
    /// weights.
    #[expect(clippy::too_many_arguments)]
    fn take_scores(
        &self,
        batch: &RowBatch<T>,
        (at, rows): (usize, usize),
        v: &PackedRhs,
        z: &mut [f64],
        factors: &[f64],
        out: Option<&mut [T]>,
        accumulator: &mut ScoreAccumulator,
    ) -> Result<()> {
        let b = v.columns;
        let counts = batch.counts(at, at + rows);
        match counts {
            None => accumulator.take(&mut z[..rows * b], &v.rest, batch.first + at, |_| 1.0),
            Some(c) => accumulator.take(&mut z[..rows * b], &v.rest, batch.first + at, |i| c[i]),
        }
        // A bad entry reaches every score of its row.
        if !accumulator.is_finite()
            && let Some((row, column, value)) =
                batch.block(at, at + rows, &mut Vec::new()).find_bad()
        {
            return Err(self.grid.data.bad_entry(row, column, value));
        }
        if let Some(out) = out {
            simd::scale(Lines::new(z, b, rows, b), factors, out);
        }
        for (z, w) in z.chunks_exact_mut(b).zip(counts.unwrap_or_default()) {
            z.iter_mut().for_each(|z| *z *= w);
        }
        Ok(())
    }

    /// Scores of the whole batch first, then ranges of features take its rows in order.
    fn batch_by_features(
        &self,
        batch: &RowBatch<T>,
        v: &PackedRhs,
        room: Option<(Vec<f64>, &mut [T])>,
        mix: Option<&TargetProjection>,
        Totals { gram, mut score_moments, label_sums, .. }: Totals,
    ) -> Result<()> {
        let (d, b) = (v.features, v.columns);
        let height = RANGE_ROWS;
        let starts: Vec<usize> = (0..batch.rows).step_by(height).collect();
        let (factors, pieces) = score_pieces(room, height, starts.len());
        let (from, total) = match gram {
            Some((from, total)) => (from, Some(total)),
            None => (b, None),
        };
        let columns = v.used.saturating_sub(from);
        let nothing = ScoreAccumulator::new(b, score_moments.as_deref());
        let mut z = vec![0.0; batch.rows * columns];
        let parts: Vec<Result<(ScoreMoments, Vec<f64>)>> = z
            .par_chunks_mut((height * columns).max(1))
            .zip(&starts)
            .zip(pieces)
            .map_init(
                || self.grid.work.acquire(),
                |work, ((z, &at), mut out)| {
                    if let Some(out) = &mut out {
                        populate_pages(out);
                    }
                    let rows = height.min(batch.rows - at);
                    let mut accumulator = nothing.clone();
                    let ahead = Ahead::new::<T>(&[], 1);
                    let stride = panel_stride(FEATURES);
                    work.panel.resize(height * stride);
                    work.z.resize(height * b);
                    let Workspace { scratch, panel, z: all, .. } = &mut **work;
                    // A range of features at a time: its part of V stays in the cache for all rows.
                    for first in (0..d).step_by(FEATURES) {
                        let width = FEATURES.min(d - first);
                        let strip = batch.strip(at, at + rows, first..first + width, scratch);
                        v.center(&strip, first, panel, stride);
                        v.multiply(panel, stride, rows, first, width, all, &ahead);
                    }
                    self.take_scores(batch, (at, rows), v, all, &factors, out, &mut accumulator)?;
                    let mut sums = mix.map_or_else(Vec::new, TargetProjection::zeros);
                    if let Some(mix) = mix {
                        mix.rows(batch, at, all, rows, &mut sums);
                    }
                    for (z, all) in z.chunks_exact_mut(columns).zip(all.chunks_exact(b)) {
                        z.copy_from_slice(&all[from..v.used]);
                    }
                    Ok((accumulator.score_moments, sums))
                },
            )
            .collect();
        for part in parts {
            let (part, sums) = part?;
            if let Some(score_moments) = &mut score_moments {
                score_moments.merge(&part);
            }
            add_all(label_sums, &sums);
        }
        if let Some(total) = total {
            self.add_transposed(batch, &z, columns, total);
        }
        Ok(())
    }

    /// Adds `Xsᵀ Z` of a batch, for Z (· × b), to `total` (d × at most b), in ranges of features. Unit by unit:
    /// where batches end depends on the reader.
    fn add_transposed(&self, batch: &RowBatch<T>, z: &[f64], b: usize, total: &mut Array2<f64>) {
        let columns = total.ncols();
        let unit = reduction_block_rows(batch.n_features);
        slice_mut(total).par_chunks_mut(FEATURES * columns).enumerate().for_each_init(
            || self.grid.work.acquire(),
            |work, (range, total)| {
                let (first, width) = (range * FEATURES, total.len() / columns);
                let stride = panel_stride(FEATURES);
                work.panel.resize(RANGE_ROWS * stride);
                work.product.resize(b * stride);
                let Workspace { scratch, panel, product, .. } = &mut **work;
                for at in (0..batch.rows).step_by(RANGE_ROWS) {
                    let rows = RANGE_ROWS.min(batch.rows - at);
                    let strip = batch.strip(at, at + rows, first..first + width, scratch);
                    standardize(&strip, self.scaler, first, panel, stride);
                    let left = Left::new(&z[at * b..], b, rows, 1, b);
                    let overwrite = at.is_multiple_of(unit);
                    let flags = GemmFlags { padded: true, overwrite, ..GemmFlags::default() };
                    f64::product(left, panel, stride, width, product, stride, flags);
                    if at + rows < batch.rows && !(at + rows).is_multiple_of(unit) {
                        continue;
                    }
                    let begun = batch.first > 0 || at >= unit;
                    for (f, row) in total.chunks_exact_mut(columns).enumerate() {
                        for (j, t) in row.iter_mut().enumerate() {
                            let new = product[j * stride + f];
                            *t = if begun { *t + new } else { new };
                        }
                    }
                }
            },
        );
    }

    /// `Xsᵀ Y` for Y (n × b), with the rows in order.
    pub fn transposed_product(&self, y: ArrayView2<f64>) -> Result<Array2<f64>> {
        let (d, b) = (self.n_features(), y.ncols());
        let padded = b.next_multiple_of(f64::PAD);
        let mut packed_rhs = Array2::<f64>::zeros((y.nrows(), padded));
        packed_rhs.slice_mut(s![.., ..b]).assign(&y);
        if self.grid.is_sparse() {
            let mut total = Array2::<f64>::zeros((d, padded));
            sparse::transposed_product(self, packed_rhs.view(), &mut total)?;
            return Ok(total.slice(s![.., ..b]).to_owned());
        }
        let mut total = Array2::<f64>::zeros((d, b));
        self.grid.for_each_batch(batch_rows(d, REDUCTION_BLOCKS), |batch| {
            let z = packed_rhs.slice(s![batch.first..batch.first + batch.rows, ..]);
            self.add_transposed(&batch, rows_of(&z).0, padded, &mut total);
            Ok(())
        })?;
        Ok(total)
    }

    /// `W^½ Xs Xsᵀ W^½` (n × n), for data in memory.
    pub fn gram_matrix(&self) -> Result<Array2<f64>> {
        let Source::Dense(x) = self.grid.data.source() else {
            return sparse::gram_matrix(self);
        };
        let (n, d) = x.dim();
        const WAVE: usize = 16;
        let length = packed_len::<f64>(n, BLOCK);
        let mut packed = Aligned::zeros(length * WAVE.min(d.div_ceil(BLOCK)));
        let mut squares = Squares::zeros(n);
        let starts: Vec<usize> = (0..d).step_by(BLOCK).collect();
        for wave in starts.chunks(WAVE) {
            packed.par_chunks_mut(length).zip(wave).for_each(|(packed, &first)| {
                self.pack_features(x, first, BLOCK.min(d - first), packed);
            });
            squares.for_each(|square| {
                for (block, &first) in wave.iter().enumerate() {
                    let (packed, next) = packed[block * length..].split_at(length);
                    square.add(packed, BLOCK.min(d - first), next, None);
                }
            });
        }
        Ok(squares.into_matrix())
    }

    /// Standardised features `first..first + depth`, one after the other, samples in panels.
    fn pack_features(&self, x: &ArrayView2<T>, first: usize, depth: usize, packed: &mut [f64]) {
        let n = x.nrows();
        let range = first..first + depth;
        let part = x.slice(s![.., range.clone()]);
        let prescale = self.grid.prescale().map(|s| &s[range.clone()]);
        let (mean, low, weight) = (
            &self.scaler.mean_hi[range.clone()],
            &self.scaler.mean_lo[range.clone()],
            &self.scaler.inv_scale[range.clone()],
        );
        // Samples one after the other, then turned: a panel's worth stays in the nearest cache.
        let mut rows = vec![0.0; PANEL * BLOCK];
        let panels = packed.chunks_exact_mut(depth * PANEL).take(n.div_ceil(PANEL));
        for (panel, out) in panels.enumerate() {
            let from = panel * PANEL;
            let count = PANEL.min(n - from);
            for (i, line) in rows.chunks_exact_mut(BLOCK).enumerate() {
                let line = &mut line[..depth];
                if i >= count {
                    line.fill(0.0);
                    continue;
                }
                // Rows lie far apart: the CPU does not guess where the next one begins.
                let later = part.row((from + i + 4).min(n - 1));
                fetch_lines(later.to_slice().unwrap_or_default());
                match (part.row(from + i).to_slice(), prescale) {
                    (Some(row), None) => {
                        let row = Lines::new(row, depth, 1, depth);
                        simd::standardize(row, [mean, low, weight], line, depth);
                    }
                    _ => {
                        for (o, &value) in line.iter_mut().zip(part.row(from + i)) {
                            *o = value.to_f64();
                        }
                        if let Some(prescale) = prescale {
                            line.iter_mut().zip(prescale).for_each(|(o, s)| *o *= s.to_f64());
                        }
                        for p in 0..depth {
                            line[p] = ((line[p] - mean[p]) - low[p]) * weight[p];
                        }
                    }
                }
                if let Some(counts) = self.grid.counts() {
                    let root = counts[from + i].sqrt();
                    line.iter_mut().for_each(|v| *v *= root);
                }
            }
            // Whole squares of numbers, then what is left of the features.
            let whole = depth / f64::PAD * f64::PAD;
            simd::transpose_8x8(&rows, BLOCK, PANEL, whole, out, PANEL);
            for p in whole..depth {
                (0..PANEL).for_each(|i| out[p * PANEL + i] = rows[i * BLOCK + p]);
            }
        }
    }

    /// Whether rows and columns can be read in any order.
    pub fn in_memory(&self) -> bool {
        matches!(self.grid.data.source(), Source::Dense(_))
    }

    /// Features `first..first + width` of `W^½ Xs`, one in each row (width × n).
    pub fn features(&self, first: usize, width: usize) -> Result<Array2<f64>> {
        let Source::Dense(x) = self.grid.data.source() else {
            return Err(Error::Internal("features of data that are not in memory".into()));
        };
        let prescale = self.grid.prescale();
        Ok(Array2::from_shape_fn((width, x.nrows()), |(p, i)| {
            let f = first + p;
            let value = prescale.map_or(x[[i, f]], |s| x[[i, f]] * s[f]).to_f64();
            let centered = (value - self.scaler.mean_hi[f]) - self.scaler.mean_lo[f];
            centered * self.scaler.inv_scale[f] * self.grid.counts().map_or(1.0, |c| c[i].sqrt())
        }))
    }

    /// Standardised rows of the whole data, times √w, handed on in order in blocks of at most
    /// `height` rows (· × d).
    pub fn for_each_panel(
        &self,
        height: usize,
        mut visit: impl FnMut(&mut Array2<f64>) -> Result<()>,
    ) -> Result<()> {
        let d = self.n_features();
        let mut panel = Array2::<f64>::zeros((height, d));
        let mut filled = 0;
        self.grid.for_each_batch(batch_rows(d, 1), |batch| {
            let mut scratch = Vec::new();
            let mut at = 0;
            while at < batch.rows {
                let rows = (height - filled).min(batch.rows - at).min(BLOCK);
                let block = batch.block(at, at + rows, &mut scratch);
                let out = &mut slice_mut(&mut panel)[filled * d..(filled + rows) * d];
                standardize(&block, self.scaler, 0, out, d);
                for (i, row) in out.chunks_exact_mut(d).enumerate() {
                    let root = block.count(i).sqrt();
                    row.iter_mut().for_each(|v| *v *= root);
                }
                filled += rows;
                at += rows;
                if filled == height {
                    visit(&mut panel)?;
                    filled = 0;
                }
            }
            Ok(())
        })?;
        if filled > 0 {
            let mut rest = panel.slice(s![..filled, ..]).to_owned();
            visit(&mut rest)?;
        }
        Ok(())
    }
}

/// `total += part`, or a copy where the sum has not begun: fresh memory that is read before it is
/// written faults twice, and stops the other cores.
fn add_to(total: &mut [f64], part: &[f64], begun: bool) {
    if begun {
        total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
    } else {
        total.copy_from_slice(part);
    }
}

fn add_all(sums: &mut [f64], more: &[f64]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// Adds rows to the sums of their columns.
fn add_rows(z: &[f64], sums: &mut [f64]) {
    vectorized(
        #[inline(always)]
        || {
            for z in z.chunks_exact(sums.len()) {
                sums.iter_mut().zip(z).for_each(|(sum, z)| *sum += z);
            }
        },
    );
}

/// Adds each row of a panel, times its weight, to the line of its class; rows without one to none.
fn add_by_class<T: Scalar>(
    panel: &[f64],
    stride: usize,
    block: &Block<T>,
    codes: &[u32],
    sums: &mut [f64],
    width: usize,
) {
    vectorized(
        #[inline(always)]
        move || {
            for (i, row) in panel.chunks(stride).take(block.rows).enumerate() {
                let (w, at) = (block.count(i), codes[i] as usize * width);
                if let Some(sums) = sums.get_mut(at..at + width) {
                    sums.iter_mut().zip(row).for_each(|(s, x)| *s += w * x);
                }
            }
        },
    );
}

/// Where the sums over reduction blocks go.
struct Totals<'t> {
    /// The first column of Z that is multiplied, and its products.
    gram: Option<(usize, &'t mut Array2<f64>)>,
    /// Of the columns of Z that are multiplied.
    score_sums: &'t mut [f64],
    score_moments: Option<&'t mut ScoreMoments>,
    /// Of what the scores have in common with labels.
    label_sums: &'t mut [f64],
}

/// The first row of a unit, and room for its scores.
type Unit<'r, T> = (usize, Option<&'r mut [T]>);

/// What one reduction block gives.
struct UnitSums<'s> {
    product: PooledBuffer<'s, Aligned<f64>>,
    /// Of each column of the scores, times the weights.
    scores: Vec<f64>,
    score_moments: ScoreMoments,
    labels: Vec<f64>,
}

/// About how many lines the products of one panel can fetch.
fn steps(d: usize, b: usize, gram_columns: usize, rows: usize) -> usize {
    let scores = d * rows.div_ceil(8) * b.div_ceil(24);
    (scores + rows * d.div_ceil(24) * gram_columns.div_ceil(8)).max(1)
}

/// Whether every number is finite, without a branch for each.
pub(super) fn all_finite(z: &[f64]) -> bool {
    vectorized(
        #[inline(always)]
        || {
            const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
            let bad = z.iter().map(|z| u64::from(z.to_bits() & EXPONENT == EXPONENT)).sum::<u64>();
            bad == 0
        },
    )
}

/// Rows of a panel; a function of d alone.
fn panel_rows(d: usize) -> usize {
    (PANEL_BYTES / 8 / d.max(1) / 8 * 8).clamp(8, 64)
}

/// Distance between a panel's rows: never a multiple of 4 KiB, where rows would share cache sets.
fn panel_stride(d: usize) -> usize {
    let stride = d.next_multiple_of(8);
    if stride % 512 < 64 { stride + 64 } else { stride }
}

/// The rows of a block that begins at feature `first`, standardised.
fn standardize<T: Scalar>(
    block: &Block<T>,
    scaler: &Scaler,
    first: usize,
    panel: &mut [f64],
    stride: usize,
) {
    let width = block.n_features;
    let range = first..first + width;
    let constants =
        [&scaler.mean_hi[range.clone()], &scaler.mean_lo[range.clone()], &scaler.inv_scale[range]];
    simd::standardize(block.lines(0, width), constants, panel, stride);
}

/// One slice of the scores' room for each piece of rows.
fn score_pieces<T>(
    room: Option<(Vec<f64>, &mut [T])>,
    rows: usize,
    pieces: usize,
) -> (Vec<f64>, Vec<Option<&mut [T]>>) {
    match room {
        Some((factors, room)) if !factors.is_empty() => {
            let pieces = room.chunks_mut(rows * factors.len()).map(Some).collect();
            (factors, pieces)
        }
        _ => (Vec::new(), std::iter::repeat_with(|| None).take(pieces).collect()),
    }
}
