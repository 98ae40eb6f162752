//! Sums over the entries that rows have, one entry at a time: where few are there, a product with a
//! matrix of zeros and ones would mostly multiply zeros.

use crate::linalg::simd::{Tile, vectorized};

const LANES: usize = f64::PAD;

/// Vectors that are summed together: they stay in registers, and this much of a large table in cache.
const VECTORS: usize = 4;

/// `out_i = Σ_f weight_i(f) · table_f` over the features of item i, which `entries` gives with their
/// weights (by place and feature). The table is d × width, `out` items × width, with `width` a
/// multiple of eight.
pub(super) fn gather<'f, W: Fn(usize, usize) -> f64>(
    entries: impl Fn(usize) -> (&'f [u32], W),
    table: &[f64],
    width: usize,
    out: &mut [f64],
) {
    vectorized(
        #[inline(always)]
        || {
            for start in (0..width).step_by(VECTORS * LANES) {
                match (width - start) / LANES {
                    1 => gather_columns::<1, W>(&entries, table, width, start, out),
                    2 => gather_columns::<2, W>(&entries, table, width, start, out),
                    3 => gather_columns::<3, W>(&entries, table, width, start, out),
                    _ => gather_columns::<VECTORS, W>(&entries, table, width, start, out),
                }
            }
        },
    );
}

#[inline(always)]
fn gather_columns<'f, const V: usize, W: Fn(usize, usize) -> f64>(
    entries: &impl Fn(usize) -> (&'f [u32], W),
    table: &[f64],
    width: usize,
    start: usize,
    out: &mut [f64],
) {
    for (i, out) in out.chunks_exact_mut(width).enumerate() {
        let (features, weight) = entries(i);
        let mut sums = [[0.0; LANES]; V];
        for (at, &f) in features.iter().enumerate() {
            let f = f as usize;
            let row = &table[f * width + start..f * width + start + V * LANES];
            let w = weight(at, f);
            for v in 0..V {
                for l in 0..LANES {
                    sums[v][l] += w * row[v * LANES + l];
                }
            }
        }
        for v in 0..V {
            out[start + v * LANES..start + (v + 1) * LANES].copy_from_slice(&sums[v]);
        }
    }
}

/// The other way: `table_f += weight_i(f) · from_i` for every feature of every item, in their order.
pub(super) fn scatter<'f, W: Fn(usize, usize) -> f64>(
    entries: impl Fn(usize) -> (&'f [u32], W),
    from: &[f64],
    width: usize,
    table: &mut [f64],
) {
    vectorized(
        #[inline(always)]
        || {
            for start in (0..width).step_by(VECTORS * LANES) {
                match (width - start) / LANES {
                    1 => scatter_columns::<1, W>(&entries, from, width, start, table),
                    2 => scatter_columns::<2, W>(&entries, from, width, start, table),
                    3 => scatter_columns::<3, W>(&entries, from, width, start, table),
                    _ => scatter_columns::<VECTORS, W>(&entries, from, width, start, table),
                }
            }
        },
    );
}

#[inline(always)]
fn scatter_columns<'f, const V: usize, W: Fn(usize, usize) -> f64>(
    entries: &impl Fn(usize) -> (&'f [u32], W),
    from: &[f64],
    width: usize,
    start: usize,
    table: &mut [f64],
) {
    for (i, from) in from.chunks_exact(width).enumerate() {
        let (features, weight) = entries(i);
        let mut item = [[0.0; LANES]; V];
        for v in 0..V {
            item[v].copy_from_slice(&from[start + v * LANES..start + (v + 1) * LANES]);
        }
        for (at, &f) in features.iter().enumerate() {
            let f = f as usize;
            let row = &mut table[f * width + start..f * width + start + V * LANES];
            let w = weight(at, f);
            for v in 0..V {
                for l in 0..LANES {
                    row[v * LANES + l] += w * item[v][l];
                }
            }
        }
    }
}
