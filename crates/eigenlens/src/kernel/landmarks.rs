//! Landmarks: the points by which the Nyström method knows a kernel.

use super::ResolvedKernel;
use super::points::{Points, TILE};
use super::tile::{self, Scratch};
use crate::linalg::{gemm, random};
use ndarray::{Array2, ArrayView2, s};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Candidates drawn at a time.
const TOGETHER: usize = 64;

/// Up to m landmarks by randomly pivoted Cholesky (Chen, Epperly, Tropp & Webber 2025): each is
/// drawn with probability proportional to what those before it leave of its `k(x, x)`.
///
/// Candidates are drawn in blocks and accepted by rejection (Epperly, Tropp & Webber 2024), which
/// has the same distribution as one at a time, at the speed of matrix products. Fewer than m come
/// back where nothing is left to explain. The positions are in the order of their choice.
pub(crate) fn pivoted_cholesky(
    kernel: &ResolvedKernel,
    points: &Points,
    m: usize,
    seed: u64,
) -> Vec<usize> {
    let n = points.len();
    let mut rng = random::stream(seed, 13);
    let mut left: Vec<f64> = (0..points.n_panels())
        .flat_map(|i| tile::diagonal(kernel, &points.panel(i)))
        .map(|v| v.max(0.0))
        .collect();
    let nothing = 1e-13 * left.iter().sum::<f64>();
    let largest = left.iter().fold(0.0f64, |a, b| a.max(*b));
    // n × m, of which the first columns are filled: K ≈ F Fᵀ.
    let mut factor = Array2::<f64>::zeros((n, m.min(n)));
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < m.min(n) {
        let total: f64 = left.iter().sum();
        if total <= nothing {
            break;
        }
        let candidates: Vec<usize> = (0..TOGETHER).map(|_| draw(&left, total, &mut rng)).collect();
        let known = factor.slice(s![.., ..chosen.len()]);
        let mut rest = residual(kernel, points, known, &candidates);
        let accepted = accept(
            &mut rest,
            &candidates,
            &left,
            1e-14 * largest,
            m.min(n) - chosen.len(),
            &mut rng,
        );
        if accepted.is_empty() {
            continue;
        }
        let pivots: Vec<usize> = accepted.iter().map(|&c| candidates[c]).collect();
        let columns = new_columns(kernel, points, known, &pivots, &rest, &accepted);
        for (left, row) in left.iter_mut().zip(columns.rows()) {
            *left = (*left - row.dot(&row)).max(0.0);
        }
        let from = chosen.len();
        factor.slice_mut(s![.., from..from + pivots.len()]).assign(&columns);
        chosen.extend(&pivots);
        for &p in &pivots {
            left[p] = 0.0;
        }
    }
    chosen
}

/// m positions of n, without replacement.
pub(crate) fn uniform(n: usize, m: usize, seed: u64) -> Vec<usize> {
    let mut rng = random::stream(seed, 14);
    let mut positions: Vec<usize> = (0..n).collect();
    for i in 0..m.min(n) {
        let j = i + (rng.next_u64() % (n - i) as u64) as usize;
        positions.swap(i, j);
    }
    positions.truncate(m);
    positions
}

/// A position, with probability proportional to its weight.
fn draw(weights: &[f64], total: f64, rng: &mut ChaCha8Rng) -> usize {
    let mut rest = random::uniform(rng) * total;
    let mut last = 0;
    for (i, &w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
        last = i;
        rest -= w;
        if rest <= 0.0 {
            break;
        }
    }
    last
}

/// What the factor leaves of the kernel among the candidates.
fn residual(
    kernel: &ResolvedKernel,
    points: &Points,
    known: ArrayView2<f64>,
    candidates: &[usize],
) -> Array2<f64> {
    let some = points.select(candidates);
    let mut rest = between(kernel, &some, &some);
    let rows = select_rows(known, candidates);
    rest -= &rows.dot(&rows.t());
    rest
}

/// Accepts candidates in turn, each with the share that those accepted before leave of it, and
/// leaves the rows of the Cholesky factor of the accepted in the rows of `rest`.
fn accept(
    rest: &mut Array2<f64>,
    candidates: &[usize],
    left: &[f64],
    nothing: f64,
    most: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<usize> {
    let b = candidates.len();
    let mut accepted = Vec::new();
    let mut lower = Array2::<f64>::zeros((b, b));
    for c in 0..b {
        let value = rest[[c, c]];
        let fair = random::uniform(rng) * left[candidates[c]] < value;
        if accepted.len() == most || !fair || value <= nothing {
            continue;
        }
        let at = accepted.len();
        let root = value.sqrt();
        let column = rest.column(c).mapv(|v| v / root);
        for i in 0..b {
            lower[[i, at]] = column[i];
            for j in 0..b {
                rest[[i, j]] -= column[i] * column[j];
            }
        }
        accepted.push(c);
    }
    *rest = lower;
    accepted
}

/// The new columns of the factor: `(K(:, T) − F F_Tᵀ) L⁻ᵀ`.
fn new_columns(
    kernel: &ResolvedKernel,
    points: &Points,
    known: ArrayView2<f64>,
    pivots: &[usize],
    lower: &Array2<f64>,
    accepted: &[usize],
) -> Array2<f64> {
    let some = points.select(pivots);
    let mut columns = between(kernel, points, &some);
    let rows = select_rows(known, pivots);
    let mut negative = rows.t().as_standard_layout().into_owned();
    negative.mapv_inplace(|v| -v);
    if known.ncols() > 0 {
        gemm::product_into(known, negative.view(), &mut columns, false);
    }
    let t = pivots.len();
    let triangle = Array2::from_shape_fn((t, t), |(i, j)| lower[[accepted[i], j]]);
    gemm::slice_mut(&mut columns).par_chunks_mut(t).for_each(|row| {
        for j in 0..t {
            let inside: f64 = (0..j).map(|i| triangle[[j, i]] * row[i]).sum();
            row[j] = (row[j] - inside) / triangle[[j, j]];
        }
    });
    columns
}

fn select_rows(from: ArrayView2<f64>, rows: &[usize]) -> Array2<f64> {
    Array2::from_shape_fn((rows.len(), from.ncols()), |(i, j)| from[[rows[i], j]])
}

/// The kernel between two sets of points of one form (m × n).
pub(crate) fn between(kernel: &ResolvedKernel, left: &Points, right: &Points) -> Array2<f64> {
    let (m, n) = (left.len(), right.len());
    let mut values = Array2::<f64>::zeros((m, n));
    if m == 0 || n == 0 {
        return values;
    }
    let pieces: Vec<&mut [f64]> = gemm::slice_mut(&mut values).chunks_mut(TILE * n).collect();
    pieces.into_par_iter().enumerate().for_each_init(Scratch::default, |scratch, (i, out)| {
        for j in 0..right.n_panels() {
            let (a, b) = (left.panel(i), right.panel(j));
            let tile = tile::values::<f64>(kernel, &a, &b, scratch);
            for r in 0..a.rows {
                let to = r * n + j * TILE;
                out[to..to + b.rows].copy_from_slice(&tile[r * TILE..r * TILE + b.rows]);
            }
        }
    });
    values
}
