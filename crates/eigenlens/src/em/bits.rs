//! Sums over the entries that rows have, by bits that say which, where most are there: no list need be
//! read, and no zero is multiplied. Tables are worked through in strips that stay in the nearest cache, two
//! rows (or features) at a time, whose sums stay in registers.

use super::chunk::ROWS;
use super::patterns::Patterns;
use super::widths::{LANES, Sum, halves, with_widths};
use crate::linalg::simd::vectorized;

/// Words of 64 rows in a chunk.
const SIDE: usize = ROWS / 64;

/// Which entries some rows have.
#[derive(Clone, Default)]
pub(super) struct Bits {
    /// Of every row, 64 features to a word.
    rows: Vec<u64>,
    /// Of every feature, 64 rows to a word.
    features: Vec<[u64; SIDE]>,
}

impl Bits {
    /// Those of the rows that were looked at, which have d features.
    pub fn find(&mut self, patterns: &Patterns, d: usize) {
        let words = d.div_ceil(64);
        let n = patterns.of_rows().len();
        self.rows.clear();
        (0..n).for_each(|i| self.rows.extend(patterns.of_row(i).bits()));
        self.features.clear();
        self.features.resize(d, [0; SIDE]);
        for side in 0..n.div_ceil(64) {
            for (word, features) in self.features.chunks_mut(64).enumerate() {
                let mut square = [0; 64];
                for (row, bits) in square.iter_mut().zip(64 * side..n) {
                    *row = self.rows[bits * words + word];
                }
                turn(&mut square);
                features.iter_mut().zip(square).for_each(|(f, bits)| f[side] = bits);
            }
        }
    }

    /// Bytes of a copy.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.rows[..]) + size_of_val(&self.features[..])
    }
}

/// Rows and which of their entries there are.
#[derive(Clone, Copy)]
pub(super) struct Marked<'v> {
    pub bits: &'v Bits,
    /// The entries, and anything in missing entries (rows × stride).
    pub x: &'v [f64],
    pub stride: usize,
    /// Fetches some of what will be read next.
    pub ahead: &'v dyn Fn(),
}

impl Marked<'_> {
    /// How often `ahead` is called while the sums of n rows with d features are taken both ways.
    pub fn steps(n: usize, d: usize, k: usize) -> usize {
        #[inline(always)]
        fn count<const U: usize, const P: usize, const V: usize>(n: usize, d: usize) -> usize {
            let strips = |items: usize| items.div_ceil(strip(V));
            n.div_ceil(2) * strips(d) + d.div_ceil(2) * strips(n)
        }
        with_widths!(k, count(n, d))
    }
}

/// Of every row `Σ x_f · (first vectors of f)` to `rows` and `Σ (other vectors of f)` to `groups`, over the
/// features f that it has, whose vectors are in `table`.
pub(super) fn gather_marked(
    marked: Marked,
    k: usize,
    table: &[f64],
    rows: &mut [f64],
    groups: &mut [f64],
) {
    vectorized(
        #[inline(always)]
        || with_widths!(k, gather_strips(marked, table, rows, groups)),
    );
}

#[inline(always)]
fn gather_strips<const U: usize, const P: usize, const V: usize>(
    marked: Marked,
    table: &[f64],
    rows: &mut [f64],
    groups: &mut [f64],
) {
    let Marked { bits, x, stride, ahead } = marked;
    let d = bits.features.len();
    let table = table.as_chunks::<LANES>().0.as_chunks::<V>().0;
    let rows = rows.as_chunks_mut::<LANES>().0.as_chunks_mut::<U>().0;
    let groups = groups.as_chunks_mut::<LANES>().0.as_chunks_mut::<P>().0;
    rows.fill([[0.0; LANES]; U]);
    groups.fill([[0.0; LANES]; P]);
    for start in (0..d).step_by(strip(V)) {
        let strip = &table[start..];
        let of = |f: usize| halves(&strip[f]);
        let has = |i: usize| part(bits.rows[i * d.div_ceil(64) + start / 64], start, V);
        let pairs = rows.chunks_mut(2).zip(groups.chunks_mut(2));
        for (i, (rows, groups)) in (0..).step_by(2).zip(pairs) {
            ahead();
            let x = &x[i * stride + start..];
            let first = Sum { weighted: rows[0], plain: groups[0] };
            if rows.len() == 1 {
                let sum = first.add_all(has(i), |f| x[f], of);
                (rows[0], groups[0]) = (sum.weighted, sum.plain);
                continue;
            }
            let second = Sum { weighted: rows[1], plain: groups[1] };
            let x = (&x[..stride], &x[stride..]);
            let x = (|f: usize| x.0[f], |f: usize| x.1[f]);
            let sums = add_two([first, second], [has(i), has(i + 1)], x, of);
            (rows[0], groups[0]) = (sums[0].weighted, sums[0].plain);
            (rows[1], groups[1]) = (sums[1].weighted, sums[1].plain);
        }
    }
}

/// The other way: adds what rows and groups have to the vectors of their features in `table`.
pub(super) fn scatter_marked(
    marked: Marked,
    k: usize,
    rows: &[f64],
    groups: &[f64],
    table: &mut [f64],
) {
    vectorized(
        #[inline(always)]
        || with_widths!(k, scatter_strips(marked, rows, groups, table)),
    );
}

#[inline(always)]
fn scatter_strips<const U: usize, const P: usize, const V: usize>(
    marked: Marked,
    rows: &[f64],
    groups: &[f64],
    table: &mut [f64],
) {
    let Marked { bits, x, stride, ahead } = marked;
    let rows = rows.as_chunks::<LANES>().0.as_chunks::<U>().0;
    let groups = groups.as_chunks::<LANES>().0.as_chunks::<P>().0;
    let table = table.as_chunks_mut::<LANES>().0.as_chunks_mut::<V>().0;
    for start in (0..rows.len()).step_by(strip(V)) {
        let (rows, groups) = (&rows[start..], &groups[start..]);
        let of = |i: usize| (&rows[i], &groups[i]);
        let has = |f: usize| part(bits.features[f][start / 64], start, V);
        for (f, to) in (0..).step_by(2).zip(table[..bits.features.len()].chunks_mut(2)) {
            ahead();
            let x = &x[start * stride + f..];
            let first = Sum::<U, P>::load(&to[0]);
            let [_, other] = to else {
                first.add_all(has(f), |i| x[i * stride], of).store(&mut to[0]);
                continue;
            };
            let second = Sum::<U, P>::load(other);
            let x = (|i: usize| x[i * stride], |i: usize| x[i * stride + 1]);
            let sums = add_two([first, second], [has(f), has(f + 1)], x, of);
            sums[0].store(&mut to[0]);
            sums[1].store(&mut to[1]);
        }
    }
}

impl<const U: usize, const P: usize> Sum<U, P> {
    /// Adds the vectors of every item whose bit is set, the first ones with weights.
    #[inline(always)]
    fn add_all<'t>(
        mut self,
        mut left: u64,
        weight: impl Fn(usize) -> f64,
        of: impl Fn(usize) -> (&'t [[f64; LANES]; U], &'t [[f64; LANES]; P]),
    ) -> Self {
        while left != 0 {
            let item = take(&mut left);
            self.add_fused(weight(item), of(item));
        }
        self
    }

    #[inline(always)]
    fn add_fused(
        &mut self,
        weight: f64,
        (weighted, plain): (&[[f64; LANES]; U], &[[f64; LANES]; P]),
    ) {
        for u in 0..U {
            for l in 0..LANES {
                // One instruction wherever this is used: additions take the time, so one less counts.
                self.weighted[u][l] = weight.mul_add(weighted[u][l], self.weighted[u][l]);
            }
        }
        for p in 0..P {
            for l in 0..LANES {
                self.plain[p][l] += plain[p][l];
            }
        }
    }
}

/// The same for two sums: items that both have are loaded once, the others in turn. An addition takes as long
/// as eight of them side by side, so that one sum after the other would wait for itself.
#[inline(always)]
fn add_two<'t, const U: usize, const P: usize>(
    [mut first, mut second]: [Sum<U, P>; 2],
    [a, b]: [u64; 2],
    weights: (impl Fn(usize) -> f64, impl Fn(usize) -> f64),
    of: impl Fn(usize) -> (&'t [[f64; LANES]; U], &'t [[f64; LANES]; P]),
) -> [Sum<U, P>; 2] {
    let mut both = a & b;
    while both != 0 {
        let item = take(&mut both);
        let from = of(item);
        first.add_fused(weights.0(item), from);
        second.add_fused(weights.1(item), from);
    }
    let (mut a, mut b) = (a & !b, b & !a);
    while a != 0 && b != 0 {
        let (one, other) = (take(&mut a), take(&mut b));
        first.add_fused(weights.0(one), of(one));
        second.add_fused(weights.1(other), of(other));
    }
    [first.add_all(a, weights.0, &of), second.add_all(b, weights.1, &of)]
}

/// The first bit that is set, which is cleared.
#[inline(always)]
fn take(bits: &mut u64) -> usize {
    let first = bits.trailing_zeros() as usize;
    *bits &= *bits - 1;
    first
}

/// Items of so many vectors that are gone through together: a whole part of a word of bits, and no more
/// than stay in the nearest cache beside what comes and goes.
const fn strip(vectors: usize) -> usize {
    match vectors {
        ..=6 => 64,
        7..=12 => 32,
        _ => 16,
    }
}

/// The bits of a word that belong to the strip of so many vectors that starts here.
#[inline(always)]
const fn part(word: u64, start: usize, vectors: usize) -> u64 {
    (word >> (start % 64)) & (u64::MAX >> (64 - strip(vectors)))
}

/// Turns a square of bits: bit j of word i goes to bit i of word j (Warren 2012, *Hacker's delight*, 7-3).
fn turn(square: &mut [u64; 64]) {
    let mut mask = u64::MAX >> 32;
    let mut width = 32;
    while width > 0 {
        for i in (0..64).filter(|i| i & width == 0) {
            let swapped = (square[i] >> width ^ square[i + width]) & mask;
            square[i] ^= swapped << width;
            square[i + width] ^= swapped;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::em::widths::{WIDEST, packed_width, width};
    use std::cell::Cell;

    /// Whole numbers, so that sums are exact in any order.
    fn whole(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 7919 + seed * 104_729) % 23) as f64 - 11.0).collect()
    }

    #[test]
    fn sums_by_bits_are_plain_sums() {
        for k in 0..=WIDEST {
            for (n, d) in [(1, 1), (3, 64), (64, 65), (ROWS - 7, 130), (ROWS, 31)] {
                let has = |i: usize, f: usize| (i * 131 + f * 37 + i * f) % 7 > 1 && i % 50 != 9;
                let mut patterns = Patterns::default();
                patterns.begin(d, n);
                for i in 0..n {
                    let mut words = vec![0u64; d.div_ceil(64)];
                    let there = (0..d).filter(|&f| has(i, f));
                    there.for_each(|f| words[f / 64] |= 1 << (f % 64));
                    patterns.add(&words);
                }
                patterns.end();
                let mut bits = Bits::default();
                bits.find(&patterns, d);
                let (width, packed, stride) = (width(k), packed_width(k), d + 3);
                let each = width + packed;
                let (table, x) = (whole(d * each, k), whole(n * stride, 5));
                let calls = Cell::new(0);
                let ahead = || calls.set(calls.get() + 1);
                let marked = Marked { bits: &bits, x: &x, stride, ahead: &ahead };
                let (mut rows, mut groups) = (vec![9.0; n * width], vec![9.0; n * packed]);
                gather_marked(marked, k, &table, &mut rows, &mut groups);
                let mut back = table.clone();
                scatter_marked(marked, k, &rows, &groups, &mut back);
                assert_eq!(calls.get(), Marked::steps(n, d, k));
                let weight = |i: usize, f: usize, p: usize| match has(i, f) {
                    true if p < width => x[i * stride + f],
                    there => f64::from(u8::from(there)),
                };
                let item = |i: usize, p: usize| match p.checked_sub(width) {
                    None => rows[i * width + p],
                    Some(p) => groups[i * packed + p],
                };
                for p in 0..each {
                    for i in 0..n {
                        let sum: f64 = (0..d).map(|f| weight(i, f, p) * table[f * each + p]).sum();
                        assert_eq!(item(i, p), sum, "k = {k}, row {i} of {n} × {d}, {p}");
                    }
                    for f in 0..d {
                        let sum: f64 = (0..n).map(|i| weight(i, f, p) * item(i, p)).sum();
                        let expected = table[f * each + p] + sum;
                        assert_eq!(back[f * each + p], expected, "k = {k}, feature {f}, {p}");
                    }
                }
            }
        }
    }
}
