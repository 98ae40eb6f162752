//! Kernel values, a tile of [`TILE`] × [`TILE`] at a time, at the speed of the micro-kernel.

use super::ResolvedKernel;
use super::functions::Start;
use super::points::{Body, PanelRef, TILE};
use super::sparse_points::SparsePair;
use crate::linalg::aligned::Aligned;
use crate::linalg::simd::{GemmFlags, Left, vectorized};
use crate::scalar::Scalar;

/// Buffers of one thread.
#[derive(Default)]
pub(crate) struct Scratch {
    products: Aligned<f64>,
    narrow: Aligned<f32>,
    spread: Vec<f64>,
    rows: Vec<f64>,
}

/// The numbers a tile is made of.
pub(crate) trait TileValue: Scalar {
    /// The tile of values from the tile of products.
    fn finish<'s>(
        kernel: &ResolvedKernel,
        a: &PanelRef,
        b: &PanelRef,
        scratch: &'s mut Scratch,
    ) -> &'s mut [Self];
}

impl TileValue for f64 {
    fn finish<'s>(
        kernel: &ResolvedKernel,
        a: &PanelRef,
        b: &PanelRef,
        scratch: &'s mut Scratch,
    ) -> &'s mut [f64] {
        kernel.finish(a, b, &mut scratch.products);
        &mut scratch.products
    }
}

impl TileValue for f32 {
    fn finish<'s>(
        kernel: &ResolvedKernel,
        a: &PanelRef,
        b: &PanelRef,
        scratch: &'s mut Scratch,
    ) -> &'s mut [f32] {
        scratch.narrow.resize(TILE * TILE);
        kernel.finish_f32(a, b, &mut scratch.products, &mut scratch.narrow);
        &mut scratch.narrow
    }
}

/// `k(x, y)` for the rows of two panels: entry (i, j) at `i·TILE + j`. What lies past the panels'
/// rows is finite and means nothing.
pub(crate) fn values<'s, S: TileValue>(
    kernel: &ResolvedKernel,
    a: &PanelRef,
    b: &PanelRef,
    scratch: &'s mut Scratch,
) -> &'s mut [S] {
    scratch.products.resize(TILE * TILE);
    let Scratch { products, spread, rows, .. } = scratch;
    let start = kernel.spec().start;
    match (a.body, b.body) {
        (Body::F64(given), _) if kernel.is_precomputed() => copy_given(given, a, b, products),
        (Body::F64(x), Body::F64(y)) => match start {
            Start::Sums(dense, _) => dense(a, x, y, products),
            Start::Rows => by_rows(kernel, (a, x), (b, y), rows, products),
            Start::Products | Start::Given => inner(x, a.rows, y, TILE, a.n_features, products),
        },
        (Body::F32(x), Body::F32(y)) => inner(x, a.rows, y, TILE, a.n_features, products),
        (Body::Sparse(left), Body::Sparse(right)) => {
            let pair = SparsePair {
                left,
                left_rows: (a.first, a.rows),
                right,
                right_rows: (b.first, b.rows),
                n_features: a.n_features,
            };
            match start {
                Start::Sums(_, sparse) => sparse(&pair, spread, products),
                _ => pair.products(spread, products),
            }
        }
        // Points that meet are of one form: `Points::empty_like` sees to it.
        _ => products.fill(f64::NAN),
    }
    S::finish(kernel, a, b, scratch)
}

/// Values of a precomputed kernel.
fn copy_given(given: &[f64], a: &PanelRef, b: &PanelRef, out: &mut [f64]) {
    for i in 0..a.rows {
        for j in 0..b.rows {
            out[i * TILE + j] = given[(b.first + j) * TILE + i];
        }
    }
}

/// The kernel of every pair of rows by its formula; `rows` is scratch.
fn by_rows(
    kernel: &ResolvedKernel,
    (a, x): (&PanelRef, &[f64]),
    (b, y): (&PanelRef, &[f64]),
    rows: &mut Vec<f64>,
    out: &mut [f64],
) {
    let d = a.n_features;
    rows.resize((TILE + 1) * d, 0.0);
    let (left, right) = rows.split_at_mut(d);
    for j in 0..b.rows {
        (0..d).for_each(|f| right[j * d + f] = y[f * TILE + j]);
    }
    for i in 0..a.rows {
        (0..d).for_each(|f| left[f] = x[f * TILE + i]);
        for j in 0..b.rows {
            out[i * TILE + j] = kernel.value(left, &right[j * d..(j + 1) * d]);
        }
    }
}

/// `k(x, x)` of the rows of a panel.
pub(crate) fn diagonal(kernel: &ResolvedKernel, a: &PanelRef) -> Vec<f64> {
    let one = |i: usize| match (kernel.spec().start, a.body) {
        (Start::Given, Body::F64(given)) => given[(a.first + i) * TILE + i],
        (Start::Rows, Body::F64(x)) => {
            let row: Vec<f64> = (0..a.n_features).map(|f| x[f * TILE + i]).collect();
            kernel.value(&row, &row)
        }
        (_, Body::Absent) => kernel.diagonal(0.0),
        _ => kernel.diagonal(a.norms[i]),
    };
    (0..a.rows).map(one).collect()
}

/// Depth of one sum: a stretch of two panels that stays in the second-level cache, and, of f32, few
/// enough products that they may be summed in f32.
const DEPTH: usize = 128;

/// Inner products of the rows of two panels.
#[inline]
fn inner<S: Scalar>(x: &[S], rows: usize, y: &[S], columns: usize, d: usize, out: &mut [f64]) {
    out[..rows * TILE].fill(0.0);
    let flags = GemmFlags { padded: true, ..GemmFlags::default() };
    for from in (0..d).step_by(DEPTH) {
        let depth = DEPTH.min(d - from);
        let left = Left::new(&x[from * TILE..], rows, depth, 1, TILE);
        S::product(left, &y[from * TILE..], TILE, columns, out, TILE, flags);
    }
}

/// `x·x` of every row of a panel by the sums of [`inner`], so that the distance of a row to its
/// equal is exactly 0; zeros up to [`TILE`].
pub(super) fn self_products<S: Scalar>(panel: &[S], rows: usize, d: usize) -> Vec<f64> {
    let mut norms = vec![0.0; TILE];
    let mut out = vec![0.0; 16 * TILE];
    for from in (0..rows).step_by(16) {
        // The diagonal of 16 × 16 products; columns past the panel would be the next feature's.
        let here = 16.min(rows - from);
        inner(&panel[from..], here, &panel[from..], 16, d, &mut out);
        for i in 0..here {
            norms[from + i] = out[i * TILE + i];
        }
    }
    norms
}

/// Sums over the features of a function of two entries.
#[inline(always)]
pub(super) fn sums(
    a: &PanelRef,
    x: &[f64],
    y: &[f64],
    out: &mut [f64],
    term: impl Fn(f64, f64) -> f64 + Copy,
) {
    let d = a.n_features;
    let rows = a.rows;
    vectorized(
        #[inline(always)]
        move || {
            for i in 0..rows {
                let line = &mut out[i * TILE..(i + 1) * TILE];
                line.fill(0.0);
                for f in 0..d {
                    let left = x[f * TILE + i];
                    let right = &y[f * TILE..(f + 1) * TILE];
                    for (sum, &right) in line.iter_mut().zip(right) {
                        *sum += term(left, right);
                    }
                }
            }
        },
    );
}

#[cfg(test)]
mod tests;
