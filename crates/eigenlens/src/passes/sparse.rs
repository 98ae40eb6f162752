//! The same passes over sparse rows: centring and scaling are applied to the thin side, so that
//! only stored entries are touched.

use super::Scaler;
use super::columns::Columns;
use super::cross::finish_rows;
use super::row_grid::RowGrid;
use super::score_moments::{ScoreAccumulator, ScoreMoments};
use super::standardized::{Pass, Standardized};
use super::target_projection::TargetProjection;
use crate::data::Factor;
use crate::data::{Csr, Source};
use crate::error::{Error, Result};
use crate::linalg::aligned::Aligned;
use crate::linalg::buffer_pool::PooledBuffer;
use crate::linalg::digest;
use crate::linalg::gemm::{rows_of, slice_mut};
use crate::linalg::scatter::mirror;
use crate::linalg::simd::{fetch_line, vectorized};
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;
use std::ops::Range;

/// Pieces of rows, each with an accumulator of its own: fixed, so that sums associate alike.
pub(super) const PIECES: usize = 8;

/// Columns of a thin operand that lie together: those of a line of the cache. A group of all features
/// comes after the other, so that a second-level cache holds most of what many rows need of one.
const GROUP: usize = 8;

/// Where entry (f, j) of a thin operand of `d` features lies.
fn place(d: usize, f: usize, j: usize) -> usize {
    (j / GROUP * d + f) * GROUP + j % GROUP
}

/// Rows that meet one group after the other: enough of them to meet each feature several times; few
/// where there is one group, so that their entries stay near.
fn rows_together<T: Scalar>(x: &Csr<T>, b: usize) -> usize {
    const VISITS: usize = 8;
    let entries = x.n_stored().div_ceil(x.n_rows().max(1)).max(1);
    if b <= GROUP { 8 } else { (VISITS * x.n_columns() / entries).clamp(64, 4096) }
}

/// Entries of a row between the asking for a line and its use.
const AHEAD: usize = 16;

/// Count, mean and squared deviations of each column; zeros that are not stored count too.
pub(super) fn columns<T: Scalar>(grid: &RowGrid<T>) -> Result<Columns> {
    let x = matrix(grid)?;
    if let Some((row, column, value)) = x.find_bad() {
        return Err(grid.data.bad_entry(row, column, value));
    }
    grid.set_fingerprint(digest::of_words(&[
        x.fingerprint(),
        grid.counts().map_or(0, digest::of_numbers),
    ]));
    let (n, d) = (x.n_rows(), x.n_columns());
    let count = |i: usize| grid.counts().map_or(1.0, |c| c[i]);
    let scale = |f: usize| grid.prescale().map_or(1.0, |p| p[f].to_f64());
    let weight: f64 = (0..n).map(count).sum();
    let rows = (0..n).filter(|&i| count(i) > 0.0).count();
    let sums = over_pieces(n, d, |range, sums: &mut Vec<f64>| {
        for i in range {
            let (columns, values) = x.row(i);
            for (&f, v) in columns.iter().zip(values) {
                sums[f as usize] += count(i) * (v.to_f64() * scale(f as usize));
            }
        }
    });
    let mut mean: Vec<f64> = sums.iter().map(|s| s / weight).collect();
    // Σ w (x − m)² = Σ_stored w (x − m)² + (Σw − Σ_stored w) m²: nothing cancels.
    // Entries stored twice would be squared apart: their rows are summed first.
    let duplicates = (0..n).into_par_iter().any(|i| has_duplicates(x.row(i).0));
    let sums = over_pieces(n, 3 * d, |range, sums: &mut Vec<f64>| {
        let (squares, rest) = sums.split_at_mut(d);
        let (stored, deviations) = rest.split_at_mut(d);
        let mut merged = Vec::new();
        for i in range {
            for (f, v) in entries(x, i, duplicates, &mut merged) {
                let deviation = v * scale(f) - mean[f];
                deviations[f] += count(i) * deviation;
                squares[f] += count(i) * deviation * deviation;
                stored[f] += count(i);
            }
        }
    });
    let mut squares = vec![0.0; d];
    for f in 0..d {
        let absent = (weight - sums[d + f]).max(0.0);
        // What the rounding of the mean has left, and its share of the squares.
        let left = (sums[2 * d + f] - absent * mean[f]) / weight;
        squares[f] = (sums[f] + absent * mean[f] * mean[f] - weight * left * left).max(0.0);
        mean[f] += left;
    }
    Columns { weight, rows, mean_hi: mean, mean_lo: vec![0.0; d], squares, varies: vec![true; d] }
        .check_rows()
}

/// Scores and `Xsᵀ W Xs V`; see [`Standardized::pass`].
pub(super) fn pass<T: Scalar>(
    data: &Standardized<T>,
    v: ArrayView2<f64>,
    wanted: &mut Pass<'_, '_, T>,
    gram: Option<(usize, &mut Array2<f64>)>,
    labels: Option<(&TargetProjection, &mut [f64])>,
) -> Result<usize> {
    let x = matrix(data.grid)?;
    let (n, d, b) = (x.n_rows(), x.n_columns(), v.ncols());
    let (weight, prescale) = (&data.scaler.inv_scale, data.grid.prescale());
    // Xs V = X (D V) − 1 (mᵀ D V), with D the columns' weights.
    let mut right = Aligned::zeros(d * b);
    let mut offset = vec![0.0; b];
    for (f, v) in v.rows().into_iter().enumerate() {
        let (w, m) = (weight[f], data.scaler.mean_hi[f]);
        for (j, v) in v.iter().enumerate() {
            offset[j] += (m * w) * v;
            right[place(d, f, j)] = w * v;
        }
    }
    let (right, offset) = (right.as_chunks::<GROUP>().0, offset.as_chunks::<GROUP>().0);
    let scores = &mut wanted.scores;
    let factors = scores.as_ref().map_or_else(Vec::new, |s| s.factors.clone());
    let k = factors.len();
    let mut none: [T; 0] = [];
    let room = match scores {
        Some(s) => s.make_room(n),
        None => &mut none,
    };
    let from = gram.as_ref().map_or(b, |(from, _)| *from);
    let (nothing, no_rest) =
        (ScoreAccumulator::new(b, wanted.score_moments.as_deref()), vec![0.0; b]);
    let piece = n.div_ceil(PIECES).max(1);
    let mut rooms: Vec<&mut [T]> = if k > 0 {
        room.chunks_mut(piece * k).collect()
    } else {
        std::iter::repeat_with(Default::default).take(n.div_ceil(piece)).collect()
    };
    let mix = labels.as_ref().map(|(mix, _)| *mix);
    let height = rows_together(x, b);
    let parts: Vec<Part<'_>> = rooms
        .par_iter_mut()
        .enumerate()
        .map(|(index, room)| {
            let mut product = data.grid.zeros(d * (b - from));
            let mut accumulator = nothing.clone();
            // Of what labels have put in the place of the scores.
            let mut mixed = vec![0.0; b - from];
            let mut all = vec![0.0; height * b];
            let mut y = vec![0.0; b];
            let mut labels = mix.map_or_else(Vec::new, TargetProjection::zeros);
            let (start, end) = (index * piece, ((index + 1) * piece).min(n));
            for first in (start..end).step_by(height) {
                let rows = first..(first + height).min(end);
                let z = &mut all[..rows.len() * b];
                for (g, (right, offset)) in right.chunks_exact(d).zip(offset).enumerate() {
                    for (i, z) in rows.clone().zip(z.chunks_exact_mut(b)) {
                        z.as_chunks_mut::<GROUP>().0[g] =
                            row_product(x.row(i), prescale, right, offset);
                    }
                }
                let count = |i: usize| data.grid.counts().map_or(1.0, |c| c[i]);
                accumulator.take(z, &no_rest, rows.start, |i| count(rows.start + i));
                for (i, z) in rows.clone().zip(z.chunks_exact_mut(b)) {
                    for (j, &factor) in factors.iter().enumerate() {
                        // Plus 0: a silenced score is 0, never −0.
                        room[(i - start) * k + j] = T::from_f64(z[j] * factor + 0.0);
                    }
                    let w = count(i);
                    z.iter_mut().for_each(|z| *z *= w);
                    if let Some(mix) = mix {
                        mix.row(i, w, z, &mut y, &mut labels);
                        mixed.iter_mut().zip(&z[from..]).for_each(|(s, z)| *s += z);
                    }
                }
                update(x, rows, prescale, z, b, from, &mut product);
            }
            let sound = accumulator.is_finite();
            let sums = if mix.is_some() { mixed } else { accumulator.sums.split_off(from) };
            Part { product, sums, score_moments: accumulator.score_moments, labels, sound }
        })
        .collect();
    // A bad entry reaches every score of its row.
    let sound = parts.iter().all(|part| part.sound);
    if let Some((row, column, value)) = if sound { None } else { x.find_bad() } {
        return Err(data.grid.data.bad_entry(row, column, value));
    }
    if let Some(score_moments) = &mut wanted.score_moments {
        parts.iter().for_each(|part| score_moments.merge(&part.score_moments));
    }
    if let Some((_, sums)) = labels {
        for part in &parts {
            sums.iter_mut().zip(&part.labels).for_each(|(sum, part)| *sum += part);
        }
    }
    if let Some((_, total)) = gram {
        let parts = parts.into_iter().map(|part| (part.product, part.sums)).collect();
        finish_transposed(data.scaler, parts, total);
    }
    if let Some(scores) = scores {
        scores.hand_on()?;
    }
    Ok(n)
}

/// What the rows of one piece give.
struct Part<'s> {
    product: PooledBuffer<'s, Aligned<f64>>,
    sums: Vec<f64>,
    score_moments: ScoreMoments,
    labels: Vec<f64>,
    sound: bool,
}

/// `Xsᵀ W Δ` (d × ℓ).
pub(super) fn label_product<T: Scalar>(
    grid: &RowGrid<T>,
    scaler: &Scaler,
    factor: &Factor,
) -> Result<Array2<f64>> {
    let x = matrix(grid)?;
    factor.check_rows(x.n_rows())?;
    let (n, d, width) = (x.n_rows(), x.n_columns(), factor.width());
    let padded = width.next_multiple_of(8);
    let prescale = grid.prescale();
    let piece = n.div_ceil(PIECES).max(1);
    let parts: Vec<_> = (0..n.div_ceil(piece))
        .into_par_iter()
        .map(|index| {
            let mut product = grid.zeros(d * padded);
            let mut sums = vec![0.0; padded];
            let mut label = vec![0.0; padded];
            for i in index * piece..((index + 1) * piece).min(n) {
                let w = grid.counts().map_or(1.0, |c| c[i]);
                let (columns, values) = x.row(i);
                if let Some(codes) = factor.codes() {
                    // One place of the product for each entry; the mean of the classes comes after.
                    let class = codes[i] as usize;
                    if class < width {
                        sums[class] += w;
                        for (&f, v) in columns.iter().zip(values) {
                            product[place(d, f as usize, class)] += w * scaled(*v, f, prescale);
                        }
                    }
                    continue;
                }
                factor.write_row(i, &mut label);
                label.iter_mut().for_each(|l| *l *= w);
                sums.iter_mut().zip(&label).for_each(|(s, l)| *s += l);
                update(x, i..i + 1, prescale, &label, padded, 0, &mut product);
            }
            (product, sums)
        })
        .collect();
    let mut total = Array2::zeros((d, padded));
    finish_transposed(scaler, parts, &mut total);
    let mut total = total.slice(s![.., ..width]).to_owned();
    finish_rows(factor, &mut total);
    Ok(total)
}

/// `Xsᵀ Y`.
pub(super) fn transposed_product<T: Scalar>(
    data: &Standardized<T>,
    y: ArrayView2<f64>,
    total: &mut Array2<f64>,
) -> Result<()> {
    let x = matrix(data.grid)?;
    let (n, d, b) = (x.n_rows(), x.n_columns(), y.ncols());
    let y = y.as_standard_layout();
    let y = rows_of(&y.view()).0;
    let prescale = data.grid.prescale();
    let height = rows_together(x, b);
    let piece = n.div_ceil(PIECES).max(1);
    let parts: Vec<_> = (0..n.div_ceil(piece))
        .into_par_iter()
        .map(|index| {
            let mut product = data.grid.zeros(d * b);
            let mut sums = vec![0.0; b];
            let (start, end) = (index * piece, ((index + 1) * piece).min(n));
            for first in (start..end).step_by(height) {
                let rows = first..(first + height).min(end);
                let z = &y[first * b..rows.end * b];
                for z in z.chunks_exact(b) {
                    sums.iter_mut().zip(z).for_each(|(s, z)| *s += z);
                }
                update(x, rows, prescale, z, b, 0, &mut product);
            }
            (product, sums)
        })
        .collect();
    finish_transposed(data.scaler, parts, total);
    Ok(())
}

/// `W^½ Xs Xsᵀ W^½` (n × n).
pub(super) fn gram_matrix<T: Scalar>(data: &Standardized<T>) -> Result<Array2<f64>> {
    let x = matrix(data.grid)?;
    let (n, d) = (x.n_rows(), x.n_columns());
    let (weight, prescale) = (&data.scaler.inv_scale, data.grid.prescale());
    let offset: Vec<f64> = (0..d).map(|f| data.scaler.mean_hi[f] * weight[f]).collect();
    let squared_offset: f64 = offset.iter().map(|o| o * o).sum();
    let inner = |i: usize| -> f64 {
        let (columns, values) = x.row(i);
        columns
            .iter()
            .zip(values)
            .map(|(&f, v)| scaled(*v, f, prescale) * weight[f as usize] * offset[f as usize])
            .sum()
    };
    let inner: Vec<f64> = (0..n).into_par_iter().map(inner).collect();
    let root = |i: usize| data.grid.counts().map_or(1.0, |c| c[i].sqrt());
    let mut gram = Array2::<f64>::zeros((n, n));
    slice_mut(&mut gram).par_chunks_mut(n).enumerate().for_each_init(
        || vec![0.0; d],
        |dense, (i, out)| {
            let (columns, values) = x.row(i);
            for (&f, v) in columns.iter().zip(values) {
                let w = weight[f as usize];
                dense[f as usize] += scaled(*v, f, prescale) * w * w;
            }
            for (j, out) in out.iter_mut().enumerate().take(i + 1) {
                let (columns, values) = x.row(j);
                let entries = columns.iter().zip(values);
                let product: f64 =
                    entries.map(|(&f, v)| scaled(*v, f, prescale) * dense[f as usize]).sum();
                *out = (product - inner[i] - inner[j] + squared_offset) * root(i) * root(j);
            }
            columns.iter().for_each(|&f| dense[f as usize] = 0.0);
        },
    );
    mirror(&mut gram);
    Ok(gram)
}

/// Adds the pieces in order and applies the columns' weights and means: `D (Xᵀ Z − m 1ᵀZ)`.
fn finish_transposed(
    scaler: &Scaler,
    parts: Vec<(PooledBuffer<'_, Aligned<f64>>, Vec<f64>)>,
    total: &mut Array2<f64>,
) {
    let (d, b) = total.dim();
    let mut sums = vec![0.0; b];
    for (_, part) in &parts {
        for (s, p) in sums.iter_mut().zip(part) {
            *s += p;
        }
    }
    const FEATURES: usize = 1024;
    slice_mut(total).par_chunks_mut(FEATURES * b).enumerate().for_each(|(range, total)| {
        for (index, (part, _)) in parts.iter().enumerate() {
            for (i, row) in total.chunks_exact_mut(b).enumerate() {
                let f = range * FEATURES + i;
                for (g, row) in row.chunks_mut(GROUP).enumerate() {
                    for (t, p) in row.iter_mut().zip(&part[place(d, f, g * GROUP)..]) {
                        *t = if index > 0 { *t + p } else { *p };
                    }
                }
            }
        }
        for (i, row) in total.chunks_exact_mut(b).enumerate() {
            let f = range * FEATURES + i;
            for (t, s) in row.iter_mut().zip(&sums) {
                *t = scaler.inv_scale[f] * (*t - scaler.mean_hi[f] * s);
            }
        }
    });
}

/// Eight columns of z, `Σ value · right[column] − offset`, in registers.
fn row_product<T: Scalar>(
    (columns, values): (&[u32], &[T]),
    prescale: Option<&[T]>,
    right: &[[f64; GROUP]],
    offset: &[f64; GROUP],
) -> [f64; GROUP] {
    vectorized(
        #[inline(always)]
        || {
            // Two sums: one would wait for itself.
            let (mut even, mut odd) = ([0.0; GROUP], [0.0; GROUP]);
            let (pairs, last) = columns.as_chunks::<2>();
            let (value_pairs, last_value) = values.as_chunks::<2>();
            for (at, (&[f0, f1], &[v0, v1])) in pairs.iter().zip(value_pairs).enumerate() {
                if let Some(soon) = pairs.get(at + AHEAD / 2) {
                    soon.iter().for_each(|&f| fetch_line(&right[f as usize]));
                }
                let (r0, r1) = (&right[f0 as usize], &right[f1 as usize]);
                let (v0, v1) = (scaled(v0, f0, prescale), scaled(v1, f1, prescale));
                for j in 0..GROUP {
                    even[j] += v0 * r0[j];
                    odd[j] += v1 * r1[j];
                }
            }
            for (&f, v) in last.iter().zip(last_value) {
                let (r, v) = (&right[f as usize], scaled(*v, f, prescale));
                for j in 0..GROUP {
                    even[j] += v * r[j];
                }
            }
            std::array::from_fn(|j| (even[j] + odd[j]) - offset[j])
        },
    )
}

/// `product += Xᵀ Z` for some rows, with Z row by row (· × b), of its columns from `from` on.
fn update<T: Scalar>(
    x: &Csr<T>,
    rows: Range<usize>,
    prescale: Option<&[T]>,
    z: &[f64],
    b: usize,
    from: usize,
    product: &mut [f64],
) {
    let groups = product.as_chunks_mut::<GROUP>().0.chunks_exact_mut(x.n_columns());
    for (g, product) in groups.enumerate() {
        for (i, z) in rows.clone().zip(z.chunks_exact(b)) {
            row_update(x.row(i), prescale, &z.as_chunks::<GROUP>().0[from / GROUP + g], product);
        }
    }
}

/// `product[column] += value · z`, eight columns of z.
fn row_update<T: Scalar>(
    (columns, values): (&[u32], &[T]),
    prescale: Option<&[T]>,
    z: &[f64; GROUP],
    product: &mut [[f64; GROUP]],
) {
    // A copy: the compiler cannot know that z is no part of the product.
    let z = *z;
    vectorized(
        #[inline(always)]
        move || {
            for (at, (&f, v)) in columns.iter().zip(values).enumerate() {
                if let Some(&soon) = columns.get(at + AHEAD) {
                    fetch_line(&product[soon as usize]);
                }
                let (p, v) = (&mut product[f as usize], scaled(*v, f, prescale));
                for j in 0..GROUP {
                    p[j] += v * z[j];
                }
            }
        },
    );
}

/// A stored entry times its column's power of two: before anything is summed, where its square or
/// a sum of a few such entries would not be a number.
#[inline(always)]
fn scaled<T: Scalar>(value: T, column: u32, prescale: Option<&[T]>) -> f64 {
    match prescale {
        None => value.to_f64(),
        Some(p) => value.to_f64() * p[column as usize].to_f64(),
    }
}

fn matrix<'p, T: Scalar>(grid: &'p RowGrid<'_, T>) -> Result<&'p Csr<T>> {
    match grid.data.source() {
        Source::Sparse(x) => Ok(x),
        _ => Err(Error::Unsupported {
            what: "this route".into(),
            why: "needs the data in memory",
            instead: Some(crate::error::Hint::Set { option: "solver", value: "iterative".into() }),
        }),
    }
}

/// Runs `work` on fixed pieces of the rows, each with a zeroed vector of length d, and adds those
/// in order.
fn over_pieces(n: usize, d: usize, work: impl Fn(Range<usize>, &mut Vec<f64>) + Sync) -> Vec<f64> {
    let piece = n.div_ceil(PIECES).max(1);
    let parts: Vec<Vec<f64>> = (0..n.div_ceil(piece))
        .into_par_iter()
        .map(|index| {
            let mut part = vec![0.0; d];
            work(index * piece..((index + 1) * piece).min(n), &mut part);
            part
        })
        .collect();
    let mut total = vec![0.0; d];
    for part in parts {
        for (t, p) in total.iter_mut().zip(part) {
            *t += p;
        }
    }
    total
}

fn has_duplicates(columns: &[u32]) -> bool {
    if columns.windows(2).all(|w| w[0] < w[1]) {
        return false;
    }
    let mut sorted = columns.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|w| w[0] == w[1])
}

/// The entries of a row; with `merge`, those of one column added up.
fn entries<'m, T: Scalar>(
    x: &'m Csr<T>,
    row: usize,
    merge: bool,
    merged: &'m mut Vec<(usize, f64)>,
) -> impl Iterator<Item = (usize, f64)> + 'm {
    let (columns, values) = x.row(row);
    merged.clear();
    merged.extend(columns.iter().zip(values).map(|(&f, v)| (f as usize, v.to_f64())));
    if merge {
        merged.sort_by_key(|e| e.0);
        merged.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 += later.1;
            }
            same
        });
    }
    merged.iter().copied()
}
