//! Sums over the entries that rows have, one entry at a time: where few are there, a product with a
//! matrix of zeros and ones would mostly multiply zeros.

use super::widths::{LANES, Sum, halves, with_widths};
use crate::linalg::simd::{has_wide_registers, vectorized};

/// Vectors that are summed together: they stay in registers, and this much of a large table in cache.
const VECTORS: usize = 4;

/// `out_i = Σ_f weight_i(f) · table_f` over the features of item i, which `entries` gives with their
/// weights (by place and feature). Rows of the table lie `stride` apart, those of `out` (items × width)
/// follow each other; both numbers are multiples of eight.
pub(super) fn gather<'f, W: Fn(usize, usize) -> f64>(
    entries: impl Fn(usize) -> (&'f [u32], W),
    table: &[f64],
    stride: usize,
    width: usize,
    out: &mut [f64],
) {
    vectorized(
        #[inline(always)]
        || {
            for start in (0..width).step_by(VECTORS * LANES) {
                match (width - start) / LANES {
                    1 => gather_columns::<1, W>(&entries, table, stride, width, start, out),
                    2 => gather_columns::<2, W>(&entries, table, stride, width, start, out),
                    3 => gather_columns::<3, W>(&entries, table, stride, width, start, out),
                    _ => gather_columns::<VECTORS, W>(&entries, table, stride, width, start, out),
                }
            }
        },
    );
}

#[inline(always)]
fn gather_columns<'f, const V: usize, W: Fn(usize, usize) -> f64>(
    entries: &impl Fn(usize) -> (&'f [u32], W),
    table: &[f64],
    stride: usize,
    width: usize,
    start: usize,
    out: &mut [f64],
) {
    for (i, out) in out.chunks_exact_mut(width).enumerate() {
        let (features, weight) = entries(i);
        let mut sums = [[0.0; LANES]; V];
        for (at, &f) in features.iter().enumerate() {
            let f = f as usize;
            let row = &table[f * stride + start..f * stride + start + V * LANES];
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
    stride: usize,
) {
    vectorized(
        #[inline(always)]
        || {
            for start in (0..width).step_by(VECTORS * LANES) {
                match (width - start) / LANES {
                    1 => scatter_columns::<1, W>(&entries, from, width, start, table, stride),
                    2 => scatter_columns::<2, W>(&entries, from, width, start, table, stride),
                    3 => scatter_columns::<3, W>(&entries, from, width, start, table, stride),
                    _ => scatter_columns::<VECTORS, W>(&entries, from, width, start, table, stride),
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
    stride: usize,
) {
    for (i, from) in from.chunks_exact(width).enumerate() {
        let (features, weight) = entries(i);
        let mut item = [[0.0; LANES]; V];
        for v in 0..V {
            item[v].copy_from_slice(&from[start + v * LANES..start + (v + 1) * LANES]);
        }
        for (at, &f) in features.iter().enumerate() {
            let f = f as usize;
            let row = &mut table[f * stride + start..f * stride + start + V * LANES];
            let w = weight(at, f);
            for v in 0..V {
                for l in 0..LANES {
                    row[v * LANES + l] += w * item[v][l];
                }
            }
        }
    }
}

/// Of the first vectors of a table's rows the sum with the entries as weights goes to `rows`, of the
/// others the plain sum to `groups`: what every item needs where no two have the same features.
pub(super) fn gather_both<'f>(
    entries: impl Fn(usize) -> (&'f [u32], &'f [f64]),
    k: usize,
    table: &[f64],
    rows: &mut [f64],
    groups: &mut [f64],
) {
    vectorized(
        #[inline(always)]
        || with_widths!(k, gather_vectors(&entries, table, rows, groups)),
    );
}

#[inline(always)]
fn gather_vectors<'f, const U: usize, const P: usize, const V: usize>(
    entries: &impl Fn(usize) -> (&'f [u32], &'f [f64]),
    table: &[f64],
    rows: &mut [f64],
    groups: &mut [f64],
) {
    let table = table.as_chunks::<LANES>().0.as_chunks::<V>().0;
    let rows = rows.as_chunks_mut::<LANES>().0.as_chunks_mut::<U>().0;
    let groups = groups.as_chunks_mut::<LANES>().0.as_chunks_mut::<P>().0;
    let pairs = in_pairs(V);
    for (i, (row, group)) in rows.iter_mut().zip(groups).enumerate() {
        let (features, values) = entries(i);
        let mut sum = Sum::<U, P>::ZERO;
        let mut rest = 0;
        if pairs {
            let mut other = Sum::<U, P>::ZERO;
            let both = features.as_chunks::<2>().0.iter().zip(values.as_chunks::<2>().0);
            for (f, x) in both {
                sum.add(x[0], halves(&table[f[0] as usize]));
                other.add(x[1], halves(&table[f[1] as usize]));
            }
            sum.merge(&other);
            rest = features.len() / 2 * 2;
        }
        for (&f, &x) in features[rest..].iter().zip(&values[rest..]) {
            sum.add(x, halves(&table[f as usize]));
        }
        (*row, *group) = (sum.weighted, sum.plain);
    }
}

/// Whether every other item is best added to a sum of its own: an addition takes as long as eight of them side
/// by side, so that one sum of a few vectors waits for itself. Where there are registers for two.
fn in_pairs(vectors: usize) -> bool {
    vectors <= 6 && has_wide_registers()
}

impl<const U: usize, const P: usize> Sum<U, P> {
    #[inline(always)]
    fn add(&mut self, x: f64, (weighted, plain): (&[[f64; LANES]; U], &[[f64; LANES]; P])) {
        for u in 0..U {
            for l in 0..LANES {
                self.weighted[u][l] += x * weighted[u][l];
            }
        }
        for p in 0..P {
            for l in 0..LANES {
                self.plain[p][l] += plain[p][l];
            }
        }
    }

    #[inline(always)]
    fn merge(&mut self, other: &Self) {
        self.add(1.0, (&other.weighted, &other.plain));
    }
}

/// Entries by features: a row's values lie in the order of its features, so that they need be kept
/// only once.
#[derive(Clone, Copy)]
pub(super) struct ByFeature<'e> {
    /// Where each feature begins in `holders`, and the last ends.
    pub starts: &'e [u32],
    /// The rows that have a feature.
    pub holders: &'e [u8],
    /// Where each row begins in `values`.
    pub row_starts: &'e [u32],
    pub values: &'e [f64],
}

/// The other way: adds what rows and groups have to the table's rows of their features, feature by
/// feature, so that the sums stay in registers.
pub(super) fn scatter_both(
    entries: ByFeature,
    k: usize,
    rows: &[f64],
    groups: &[f64],
    table: &mut [f64],
) {
    vectorized(
        #[inline(always)]
        || with_widths!(k, scatter_vectors(entries, rows, groups, table)),
    );
}

#[inline(always)]
fn scatter_vectors<const U: usize, const P: usize, const V: usize>(
    entries: ByFeature,
    rows: &[f64],
    groups: &[f64],
    table: &mut [f64],
) {
    let rows = rows.as_chunks::<LANES>().0.as_chunks::<U>().0;
    let groups = groups.as_chunks::<LANES>().0.as_chunks::<P>().0;
    let table = table.as_chunks_mut::<LANES>().0.as_chunks_mut::<V>().0;
    // The entry of every row that comes next.
    let mut next = [0u32; u8::MAX as usize + 1];
    next.iter_mut().zip(entries.row_starts).for_each(|(next, start)| *next = *start);
    let pairs = in_pairs(V);
    for (to, ends) in table.iter_mut().zip(entries.starts.windows(2)) {
        let mut holders = &entries.holders[ends[0] as usize..ends[1] as usize];
        let mut sum = Sum::<U, P>::load(to);
        let mut value = |i: u8| {
            let next = &mut next[usize::from(i)];
            *next += 1;
            entries.values[*next as usize - 1]
        };
        let of = |i: u8| (&rows[usize::from(i)], &groups[usize::from(i)]);
        if pairs {
            let mut other = Sum::<U, P>::ZERO;
            let (both, last) = holders.as_chunks::<2>();
            for &[i, j] in both {
                let (x, y) = (value(i), value(j));
                sum.add(x, of(i));
                other.add(y, of(j));
            }
            sum.merge(&other);
            holders = last;
        }
        for &i in holders {
            sum.add(value(i), of(i));
        }
        sum.store(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::em::widths::{WIDEST, packed_width, width};

    /// Both at once, against one after the other and against plain sums. Whole numbers: exact.
    #[test]
    fn rows_and_groups_together_are_rows_and_groups_apart() {
        let features: [&[u32]; 6] =
            [&[0, 3, 4], &[], &[2], &[0, 1, 2, 3, 4], &[0, 3, 4], &[0, 1, 3, 4]];
        let values: [&[f64]; 6] = [
            &[1.0, -2.0, 3.0],
            &[],
            &[5.0],
            &[2.0, 0.0, 1.0, -1.0, 4.0],
            &[7.0, 6.0, -3.0],
            &[-5.0, 2.0, 8.0, 1.0],
        ];
        let (n, d) = (features.len(), 5);
        for k in 0..=WIDEST {
            let (width, packed) = (width(k), packed_width(k));
            let stride = width + packed;
            let table: Vec<f64> = (0..d * stride).map(|i| ((i * 7919) % 23) as f64).collect();
            let (mut rows, mut groups) = (vec![9.0; n * width], vec![9.0; n * packed]);
            gather_both(|i| (features[i], values[i]), k, &table, &mut rows, &mut groups);
            let weighted = |i: usize| (features[i], move |place: usize, _: usize| values[i][place]);
            let plain = |i: usize| (features[i], |_: usize, _: usize| 1.0);
            let (mut apart, mut apart_groups) = (vec![0.0; n * width], vec![0.0; n * packed]);
            gather(weighted, &table, stride, width, &mut apart);
            gather(plain, &table[width..], stride, packed, &mut apart_groups);
            assert_eq!((&rows, &groups), (&apart, &apart_groups));
            for (i, row) in rows.chunks(width).enumerate() {
                let terms = || features[i].iter().zip(values[i]);
                let sum = |l: usize| {
                    terms().map(|(&f, x)| x * table[f as usize * stride + l]).sum::<f64>()
                };
                assert!((0..width).all(|l| row[l] == sum(l)));
            }
            let (mut both, mut one_by_one) = (table.clone(), table);
            let entries = ByFeature {
                // One to four rows have a feature.
                starts: &[0, 4, 6, 8, 12, 16],
                holders: &[0, 3, 4, 5, 3, 5, 2, 3, 0, 3, 4, 5, 0, 3, 4, 5],
                row_starts: &[0, 3, 3, 4, 9, 12],
                values: &values.concat(),
            };
            scatter_both(entries, k, &rows, &groups, &mut both);
            scatter(plain, &groups, packed, &mut one_by_one[width..], stride);
            scatter(weighted, &rows, width, &mut one_by_one, stride);
            assert_eq!(both, one_by_one);
        }
    }
}
