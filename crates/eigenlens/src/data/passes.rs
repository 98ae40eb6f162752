//! Passes over standardised data: scores, products with the Gram matrix of the features, the Gram
//! matrix of the samples. Rows are standardised on their way into a cache-sized panel of f64.

use super::prepared::{BLOCK, Block, Prepared, Slab, slab_rows, unit_rows};
use super::{Source, Standardization, sparse};
use crate::error::{Error, Result};
use crate::linalg::gemm::{rows_of, slice_mut};
use crate::linalg::scatter::{PANEL, add_tile_row, mirror, packed_len};
use crate::linalg::simd::{How, Left, Tile, vectorized};
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

/// Bytes of a panel of standardised rows: half of a usual second-level cache.
const PANEL_BYTES: usize = 256 << 10;

/// Up to this many bytes every unit of rows has a product of its own; beyond it the rows of a slab
/// go in order into ranges of features.
const SMALL_PRODUCT: usize = 1 << 20;

/// Units of rows in flight.
const UNITS: usize = 16;

/// Features whose products one task computes, when rows go in order.
const FEATURES: usize = 512;

/// The standardised data `Xs` (n × d), with `W` the diagonal matrix of sample weights.
pub(crate) struct Standardized<'a, T: Scalar> {
    pub prepared: &'a Prepared<'a, T>,
    pub by: &'a Standardization,
}

/// Where scores go: `k` columns, each multiplied by its factor.
pub(crate) struct Scores<'o, T: Scalar> {
    /// One for each score column; 0 silences a column.
    pub factors: Vec<f64>,
    /// Rows not yet handed on.
    pub values: Vec<T>,
    /// Takes rows (· × k) as they come; without it they gather in `values`.
    pub sink: Option<&'o mut (dyn FnMut(ArrayView2<T>) -> Result<()> + Send)>,
}

impl<T: Scalar> Scores<'_, T> {
    /// Gathers scores, with room for `rows`.
    pub fn gather(factors: Vec<f64>, rows: usize) -> Self {
        let values = Vec::with_capacity(rows.saturating_mul(factors.len()));
        Scores { factors, values, sink: None }
    }

    pub(super) fn make_room(&mut self, rows: usize) -> &mut [T] {
        let from = self.values.len();
        self.values.resize(from + rows * self.factors.len(), T::default());
        &mut self.values[from..]
    }

    pub(super) fn hand_on(&mut self) -> Result<()> {
        if let Some(sink) = &mut self.sink {
            let k = self.factors.len();
            let rows = self.values.len() / k.max(1);
            let view = ArrayView2::from_shape((rows, k), &self.values)
                .map_err(|e| Error::Internal(e.to_string()))?;
            sink(view)?;
            self.values.clear();
        }
        Ok(())
    }
}

/// What a pass makes on its way; nothing of it costs a pass of its own.
pub(crate) struct Pass<'p, 'o, T: Scalar> {
    /// The leading columns of `Xs V`, in true units.
    pub scores: Option<&'p mut Scores<'o, T>>,
    /// `Xsᵀ W Xs V` of the columns from this one on (a multiple of [`Tile::PAD`]).
    pub gram: Option<(usize, &'p mut Array2<f64>)>,
    /// The tails of the leading columns of `Xs V`.
    pub tails: Option<&'p mut Tails>,
}

/// How the scores of each component are spread: what their normality is judged by.
#[derive(Clone, Debug)]
pub(crate) struct Tails {
    pub squares: Vec<f64>,
    pub fourth_powers: Vec<f64>,
    /// Largest weighted square, and the row it came from.
    pub largest: Vec<(f64, usize)>,
}

impl Tails {
    pub fn new(k: usize) -> Tails {
        Tails { squares: vec![0.0; k], fourth_powers: vec![0.0; k], largest: vec![(0.0, 0); k] }
    }

    #[inline]
    pub(super) fn add_row(&mut self, z: &[f64], w: f64, row: usize) {
        for (j, &z) in z.iter().take(self.squares.len()).enumerate() {
            let square = z * z;
            self.squares[j] += w * square;
            self.fourth_powers[j] += w * square * square;
            if w * square > self.largest[j].0 {
                self.largest[j] = (w * square, row);
            }
        }
    }

    pub(super) fn merge(&mut self, later: &Tails) {
        for j in 0..self.squares.len() {
            self.squares[j] += later.squares[j];
            self.fourth_powers[j] += later.fourth_powers[j];
            if later.largest[j].0 > self.largest[j].0 {
                self.largest[j] = later.largest[j];
            }
        }
    }
}

impl<T: Scalar> Standardized<'_, T> {
    fn n_features(&self) -> usize {
        self.prepared.data.n_features()
    }

    /// `Xsᵀ W Xs V` for V (d × b): the product every iterative solver is made of, in one pass.
    pub fn gram_product(&self, v: ArrayView2<f64>) -> Result<Array2<f64>> {
        let mut product = Array2::zeros((0, 0));
        self.pass(v, Pass { scores: None, gram: Some((0, &mut product)), tails: None })?;
        Ok(product)
    }

    /// One pass that makes `Xs V`, and of it whatever is asked for; the number of rows.
    pub fn pass(&self, v: ArrayView2<f64>, mut wanted: Pass<'_, '_, T>) -> Result<usize> {
        let (d, b) = v.dim();
        let padded = b.next_multiple_of(f64::PAD);
        let owned;
        let right = if padded == b && v.is_standard_layout() {
            v
        } else {
            let mut copy = Array2::zeros((d, padded));
            copy.slice_mut(s![.., ..b]).assign(&v);
            owned = copy;
            owned.view()
        };
        let gram_from = wanted.gram.as_ref().map(|(from, _)| *from);
        let columns = gram_from.map_or(0, |from| padded - from);
        let mut total = Array2::<f64>::zeros(if columns > 0 { (d, columns) } else { (0, 0) });
        let rows = if self.prepared.is_sparse() {
            sparse::pass(self, right, &mut wanted, gram_from.map(|from| (from, &mut total)))?
        } else {
            let small = d * columns * 8 <= SMALL_PRODUCT;
            let slab = slab_rows(d, if small { UNITS } else { 2 });
            let mut scores = wanted.scores;
            let mut tails = wanted.tails;
            self.prepared.for_each_slab(slab, |slab| {
                let room = scores.as_mut().map(|s| (s.factors.clone(), s.make_room(slab.rows)));
                let gram = gram_from.map(|from| (from, &mut total));
                if small {
                    self.slab_by_units(&slab, right, room, gram, tails.as_deref_mut())?;
                } else {
                    self.slab_by_features(&slab, right, room, gram, tails.as_deref_mut())?;
                }
                scores.as_mut().map_or(Ok(()), |s| s.hand_on())
            })?
        };
        if let Some((from, gram)) = wanted.gram {
            *gram = if padded == b { total } else { total.slice(s![.., ..b - from]).to_owned() };
        }
        Ok(rows)
    }

    /// Units of rows in parallel, their products added in order.
    fn slab_by_units(
        &self,
        slab: &Slab<T>,
        v: ArrayView2<f64>,
        room: Option<(Vec<f64>, &mut [T])>,
        gram: Option<(usize, &mut Array2<f64>)>,
        mut tails: Option<&mut Tails>,
    ) -> Result<()> {
        let (d, b) = v.dim();
        let unit = unit_rows(d);
        let starts: Vec<usize> = (0..slab.rows).step_by(unit).collect();
        let (factors, pieces) = score_pieces(room, unit, starts.len());
        let gram_from = gram.as_ref().map(|(from, _)| *from);
        let columns = gram_from.map_or(0, |from| b - from);
        let k = tails.as_ref().map_or(0, |t| t.squares.len());
        let parts: Vec<Result<(Vec<f64>, Tails)>> = starts
            .par_iter()
            .zip(pieces)
            .map_init(Workspace::default, |work, (&start, mut out)| {
                let mut product = vec![0.0; d * columns];
                let mut tails = Tails::new(k);
                let end = (start + unit).min(slab.rows);
                let height = panel_rows(d);
                for at in (start..end).step_by(height) {
                    let rows = height.min(end - at);
                    let out = out.as_mut().map(|out| &mut out[(at - start) * factors.len()..]);
                    self.project(slab, at, rows, v, work, &factors, out, &mut tails)?;
                    if let Some(from) = gram_from {
                        let left = Left::new(&work.panel, d, rows, 1, panel_stride(d));
                        let how = How { padded: true, ..How::default() };
                        f64::product(left, &work.z[from..], b, columns, &mut product, columns, how);
                    }
                }
                Ok((product, tails))
            })
            .collect();
        let mut total = gram.map(|(_, total)| slice_mut(total));
        for part in parts {
            let (product, part_tails) = part?;
            if let Some(total) = &mut total {
                for (t, p) in total.iter_mut().zip(product) {
                    *t += p;
                }
            }
            if let Some(tails) = &mut tails {
                tails.merge(&part_tails);
            }
        }
        Ok(())
    }

    /// `Xs V` of a few rows: written as scores, counted in the tails, and left in `work.z` times
    /// the weights, with the standardised rows in `work.panel`.
    #[expect(clippy::too_many_arguments)]
    fn project(
        &self,
        slab: &Slab<T>,
        at: usize,
        rows: usize,
        v: ArrayView2<f64>,
        work: &mut Workspace<T>,
        factors: &[f64],
        out: Option<&mut [T]>,
        tails: &mut Tails,
    ) -> Result<()> {
        let (d, b) = v.dim();
        let stride = panel_stride(d);
        work.panel.resize(panel_rows(d) * stride, 0.0);
        work.z.resize(panel_rows(d) * b, 0.0);
        let block = slab.block(at, at + rows, &mut work.scratch);
        standardize(&block, self.by, &mut work.panel, stride);
        let (right, right_stride) = rows_of(&v);
        let left = Left::new(&work.panel, rows, d, stride, 1);
        let how = How { fresh: true, padded: true, below_diagonal: None };
        f64::product(left, right, right_stride, b, &mut work.z, b, how);
        // A bad entry reaches every score of its row.
        if !work.z[..rows * b].iter().all(|z| z.is_finite()) {
            if let Some((row, column, value)) = block.find_bad() {
                return Err(self.prepared.data.bad_entry(row, column, value));
            }
        }
        if let Some(out) = out {
            write_scores(&work.z, b, factors, out, rows);
        }
        for (i, z) in work.z.chunks_exact_mut(b).take(rows).enumerate() {
            let w = block.count(i);
            tails.add_row(z, w, block.first + i);
            if w != 1.0 {
                z.iter_mut().for_each(|z| *z *= w);
            }
        }
        Ok(())
    }

    /// Scores of the whole slab first, then ranges of features take its rows in order.
    fn slab_by_features(
        &self,
        slab: &Slab<T>,
        v: ArrayView2<f64>,
        room: Option<(Vec<f64>, &mut [T])>,
        gram: Option<(usize, &mut Array2<f64>)>,
        tails: Option<&mut Tails>,
    ) -> Result<()> {
        let (d, b) = v.dim();
        let height = panel_rows(d);
        let starts: Vec<usize> = (0..slab.rows).step_by(height).collect();
        let (factors, pieces) = score_pieces(room, height, starts.len());
        let (from, total) = match gram {
            Some((from, total)) => (from, Some(total)),
            None => (b, None),
        };
        let columns = b - from;
        let k = tails.as_ref().map_or(0, |t| t.squares.len());
        let mut z = vec![0.0; slab.rows * columns];
        let parts: Vec<Result<Tails>> = z
            .par_chunks_mut((height * columns).max(1))
            .zip(&starts)
            .zip(pieces)
            .map_init(Workspace::default, |work, ((z, &at), out)| {
                let rows = height.min(slab.rows - at);
                let mut tails = Tails::new(k);
                self.project(slab, at, rows, v, work, &factors, out, &mut tails)?;
                for (z, all) in z.chunks_exact_mut(columns).zip(work.z.chunks_exact(b)) {
                    z.copy_from_slice(&all[from..]);
                }
                Ok(tails)
            })
            .collect();
        let mut merged = Tails::new(k);
        for part in parts {
            merged.merge(&part?);
        }
        if let Some(tails) = tails {
            tails.merge(&merged);
        }
        if let Some(total) = total {
            self.add_transposed(slab, &z, columns, total);
        }
        Ok(())
    }

    /// Adds `Xsᵀ Z` of a slab to `total` (d × b), in ranges of features.
    fn add_transposed(&self, slab: &Slab<T>, z: &[f64], b: usize, total: &mut Array2<f64>) {
        slice_mut(total).par_chunks_mut(FEATURES * b).enumerate().for_each_init(
            Workspace::default,
            |work, (range, total)| {
                let (first, width) = (range * FEATURES, total.len() / b);
                let stride = panel_stride(FEATURES);
                const ROWS: usize = 64;
                work.panel.resize(ROWS * stride, 0.0);
                for at in (0..slab.rows).step_by(ROWS) {
                    let rows = ROWS.min(slab.rows - at);
                    let block = slab.block(at, at + rows, &mut work.scratch);
                    standardize_columns(&block, self.by, first, width, &mut work.panel, stride);
                    let left = Left::new(&work.panel, width, rows, 1, stride);
                    let how = How { padded: true, ..How::default() };
                    f64::product(left, &z[at * b..], b, b, total, b, how);
                }
            },
        );
    }

    /// `Xsᵀ Y` for Y (n × b), with the rows in order.
    pub fn transposed_product(&self, y: ArrayView2<f64>) -> Result<Array2<f64>> {
        let (d, b) = (self.n_features(), y.ncols());
        let padded = b.next_multiple_of(f64::PAD);
        let mut right = Array2::<f64>::zeros((y.nrows(), padded));
        right.slice_mut(s![.., ..b]).assign(&y);
        let mut total = Array2::<f64>::zeros((d, padded));
        if self.prepared.is_sparse() {
            sparse::transposed_product(self, right.view(), &mut total)?;
        } else {
            self.prepared.for_each_slab(slab_rows(d, UNITS), |slab| {
                let z = right.slice(s![slab.first..slab.first + slab.rows, ..]);
                self.add_transposed(&slab, rows_of(&z).0, padded, &mut total);
                Ok(())
            })?;
        }
        Ok(total.slice(s![.., ..b]).to_owned())
    }

    /// `W^½ Xs Xsᵀ W^½` (n × n), for data in memory.
    pub fn gram_matrix(&self) -> Result<Array2<f64>> {
        let Source::Dense(x) = self.prepared.data.source() else {
            return sparse::gram_matrix(self);
        };
        let (n, d) = x.dim();
        const WAVE: usize = 16;
        let length = packed_len(n, BLOCK);
        let mut packed = vec![0.0; length * WAVE.min(d.div_ceil(BLOCK))];
        let mut gram = Array2::<f64>::zeros((n, n));
        let starts: Vec<usize> = (0..d).step_by(BLOCK).collect();
        for wave in starts.chunks(WAVE) {
            packed.par_chunks_mut(length).zip(wave).for_each(|(packed, &first)| {
                self.pack_features(x, first, BLOCK.min(d - first), packed);
            });
            slice_mut(&mut gram).par_chunks_mut(PANEL * n).enumerate().rev().for_each(
                |(panel, rows)| {
                    for (packed, &first) in packed.chunks_exact(length).zip(wave) {
                        add_tile_row(packed, BLOCK.min(d - first), n, panel, rows);
                    }
                },
            );
        }
        mirror(&mut gram);
        Ok(gram)
    }

    /// Standardised features `first..first + depth`, one after the other, samples in panels.
    fn pack_features(&self, x: &ArrayView2<T>, first: usize, depth: usize, packed: &mut [f64]) {
        let n = x.nrows();
        packed.fill(0.0);
        let prescale = self.prepared.prescale();
        let part = x.slice(s![.., first..first + depth]);
        for i in 0..n {
            let root = self.prepared.counts().map_or(1.0, |c| c[i].sqrt());
            let at = (i / PANEL) * depth * PANEL + i % PANEL;
            for (p, &value) in part.row(i).iter().enumerate() {
                let f = first + p;
                let value = prescale.map_or(value, |s| value * s[f]).to_f64();
                let centered = (value - self.by.mean[f]) - self.by.low[f];
                packed[at + p * PANEL] = centered * self.by.weight[f] * root;
            }
        }
    }

    /// Whether rows and columns can be read in any order.
    pub fn in_memory(&self) -> bool {
        matches!(self.prepared.data.source(), Source::Dense(_))
    }

    /// Features `first..first + width` of `W^½ Xs`, one in each row (width × n).
    pub fn features(&self, first: usize, width: usize) -> Result<Array2<f64>> {
        let Source::Dense(x) = self.prepared.data.source() else {
            return Err(Error::Internal("features of data that are not in memory".into()));
        };
        let prescale = self.prepared.prescale();
        Ok(Array2::from_shape_fn((width, x.nrows()), |(p, i)| {
            let f = first + p;
            let value = prescale.map_or(x[[i, f]], |s| x[[i, f]] * s[f]).to_f64();
            let centered = (value - self.by.mean[f]) - self.by.low[f];
            centered * self.by.weight[f] * self.prepared.counts().map_or(1.0, |c| c[i].sqrt())
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
        self.prepared.for_each_slab(slab_rows(d, 1), |slab| {
            let mut scratch = Vec::new();
            let mut at = 0;
            while at < slab.rows {
                let rows = (height - filled).min(slab.rows - at).min(BLOCK);
                let block = slab.block(at, at + rows, &mut scratch);
                let out = &mut slice_mut(&mut panel)[filled * d..(filled + rows) * d];
                standardize(&block, self.by, out, d);
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

/// Buffers of one task.
struct Workspace<T> {
    scratch: Vec<T>,
    panel: Vec<f64>,
    z: Vec<f64>,
}

impl<T> Default for Workspace<T> {
    fn default() -> Self {
        Workspace { scratch: Vec::new(), panel: Vec::new(), z: Vec::new() }
    }
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

fn standardize<T: Scalar>(
    block: &Block<T>,
    by: &Standardization,
    panel: &mut [f64],
    stride: usize,
) {
    standardize_columns(block, by, 0, block.n_features, panel, stride);
}

/// Columns `first..first + width` of a block, standardised.
fn standardize_columns<T: Scalar>(
    block: &Block<T>,
    by: &Standardization,
    first: usize,
    width: usize,
    panel: &mut [f64],
    stride: usize,
) {
    let range = first..first + width;
    let (mean, low, weight) =
        (&by.mean[range.clone()], &by.low[range.clone()], &by.weight[range.clone()]);
    vectorized(
        #[inline(always)]
        || {
            for (i, out) in panel.chunks_mut(stride).take(block.rows).enumerate() {
                let (out, x) = (&mut out[..width], &block.row(i)[range.clone()]);
                for f in 0..width {
                    out[f] = ((x[f].to_f64() - mean[f]) - low[f]) * weight[f];
                }
            }
        },
    );
}

/// One slice of the scores' room for each piece of rows.
#[expect(clippy::type_complexity)]
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

fn write_scores<T: Scalar>(z: &[f64], b: usize, factors: &[f64], out: &mut [T], rows: usize) {
    for (z, out) in z.chunks_exact(b).zip(out.chunks_exact_mut(factors.len())).take(rows) {
        for ((o, &z), &factor) in out.iter_mut().zip(z).zip(factors) {
            // Plus 0: a silenced score is 0, never −0.
            *o = T::from_f64(z * factor + 0.0);
        }
    }
}
