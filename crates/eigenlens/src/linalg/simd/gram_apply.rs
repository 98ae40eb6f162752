//! `Xᵀ(X V)` for a block V of eight columns. Rows are read from memory once: they are centred in registers,
//! both times they are used, and never written.

use super::rows::Row;
use super::{Lines, has_wide_registers};
use crate::linalg::aligned::Aligned;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Columns of V.
pub const GRAM_APPLY_COLUMNS: usize = 8;

/// Features whose products are summed at a time: their part of V fills a third of a first-level cache.
const DEPTH: usize = 256;

/// V (d × 8) and what its products are made with.
pub struct GramApply {
    /// V by eight features: each column's eight numbers, padded with zeros.
    steps: Aligned<f64>,
    /// What is taken off every row.
    center: Aligned<f64>,
    /// Distance between the lines of sums.
    stride: usize,
    features: usize,
}

impl GramApply {
    /// Of the numbers `value(feature, column)` and `center(feature)`; none where the CPU has no
    /// kernel for it.
    pub fn new(
        features: usize,
        value: impl Fn(usize, usize) -> f64,
        center: impl Fn(usize) -> f64,
    ) -> Option<GramApply> {
        if !has_wide_registers() {
            return None;
        }
        // An odd number of cache lines: the sums of one feature do not share cache sets.
        let stride = (features.div_ceil(8) | 1) * 8;
        let mut gram_apply = GramApply {
            steps: Aligned::zeros(GRAM_APPLY_COLUMNS * stride),
            center: Aligned::zeros(stride),
            stride,
            features,
        };
        for f in 0..features {
            gram_apply.center[f] = center(f);
            (0..GRAM_APPLY_COLUMNS).for_each(|j| {
                gram_apply.steps[(f / 8 * GRAM_APPLY_COLUMNS + j) * 8 + f % 8] = value(f, j)
            });
        }
        Some(gram_apply)
    }

    /// Numbers that [`GramApply::add_transposed`] sums in: a line for each column of V.
    pub fn sums_len(&self) -> usize {
        GRAM_APPLY_COLUMNS * self.stride
    }

    /// The sum for one feature and one column of V.
    pub fn sum(&self, sums: &[f64], feature: usize, column: usize) -> f64 {
        sums[column * self.stride + feature]
    }

    /// `Z = (X − 1 cᵀ) V` (rows × 8); fetches `next` on the way.
    pub fn multiply<T: Row>(&self, x: Lines<T>, room: &mut Room, next: &Next, z: &mut [f64]) {
        assert!(x.width == self.features && z.len() >= x.rows * GRAM_APPLY_COLUMNS);
        room.resize(x.rows);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `new` asked for the features; the extents are asserted here and in `Lines::new`.
        unsafe {
            wide::multiply(self, x, &mut room.0, next, z);
        }
    }

    /// Adds `(X − 1 cᵀ)ᵀ Z` to `sums`; fetches `next` on the way.
    pub fn add_transposed<T: Row>(&self, x: Lines<T>, z: &[f64], next: &Next, sums: &mut [f64]) {
        assert!(x.width == self.features && z.len() >= x.rows * GRAM_APPLY_COLUMNS);
        assert!(sums.len() >= self.sums_len());
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        unsafe {
            wide::add_transposed(self, x, z, next, sums);
        }
    }
}

/// Sums of eight lanes for every row and column, between one range of features and the next.
#[derive(Default)]
pub struct Room(Aligned<f64>);

impl Room {
    fn resize(&mut self, rows: usize) {
        self.0.resize(rows * GRAM_APPLY_COLUMNS * 8);
        self.0.fill(0.0);
    }
}

/// Rows that will be read next, fetched at several places at once: the memory's pages are looked up
/// while others are read.
pub struct Next {
    at: std::cell::Cell<*const u8>,
    end: *const u8,
    apart: usize,
    stride: usize,
}

impl Next {
    const STREAMS: usize = 4;

    /// Of `rows`, while both products of `used` rows with so many features are made.
    pub fn new<T>(rows: &[T], features: usize, used: usize) -> Next {
        let bytes = size_of_val(rows);
        let apart = bytes / Self::STREAMS;
        // A step is three vectors of entries: of three rows in one product, of one row in the other.
        let steps = 2 * features.div_ceil(8) * used / 3;
        let at = rows.as_ptr().cast::<u8>();
        let stride = apart.div_ceil(steps.max(1)).min(64);
        Next { at: at.into(), end: at.wrapping_add(apart), apart, stride }
    }

    /// The share of a loop of some steps.
    #[inline(always)]
    fn share(&self, steps: usize, resting: *const u8) -> Next {
        let at = self.at.get();
        if at >= self.end {
            return Next { at: resting.into(), end: resting, apart: 0, stride: 0 };
        }
        self.at.set(at.wrapping_add(steps * self.stride));
        Next { at: at.into(), ..*self }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn step(&self) {
        let at = self.at.get();
        for stream in 0..Self::STREAMS {
            // SAFETY: a prefetch has no effect but on the cache, whatever the address.
            unsafe {
                _mm_prefetch::<_MM_HINT_T1>(at.wrapping_add(stream * self.apart).cast());
            }
        }
        self.at.set(at.wrapping_add(self.stride));
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::super::gemm_small_n::wide::{Fetching, add_columns};
    use super::super::rows::first;
    use super::{DEPTH, GRAM_APPLY_COLUMNS, GramApply, Lines, Next, Row};
    use std::arch::x86_64::*;

    /// SAFETY: the CPU has AVX-512; `room` has eight lanes for every row and column.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    pub unsafe fn multiply<T: Row>(
        gram_apply: &GramApply,
        x: Lines<T>,
        room: &mut [f64],
        next: &Next,
        z: &mut [f64],
    ) {
        // SAFETY: rows and features stay within the operands.
        unsafe {
            for from in (0..x.width).step_by(DEPTH) {
                let width = DEPTH.min(x.width - from);
                let mut i = 0;
                while i < x.rows {
                    let lanes = room.as_mut_ptr().add(i * GRAM_APPLY_COLUMNS * 8);
                    let rows = x.data.as_ptr().add(i * x.stride + from);
                    let part = Part { rows, stride: x.stride, from, width };
                    match x.rows - i {
                        1 => some_rows::<T, 1>(gram_apply, part, lanes, next),
                        2 => some_rows::<T, 2>(gram_apply, part, lanes, next),
                        _ => some_rows::<T, 3>(gram_apply, part, lanes, next),
                    }
                    i += 3;
                }
            }
            for (z, lanes) in
                z.iter_mut().zip(room.chunks_exact(8)).take(x.rows * GRAM_APPLY_COLUMNS)
            {
                *z = _mm512_reduce_add_pd(_mm512_loadu_pd(lanes.as_ptr()));
            }
        }
    }

    /// Some features of some rows.
    #[derive(Clone, Copy)]
    struct Part<T> {
        rows: *const T,
        stride: usize,
        from: usize,
        width: usize,
    }

    /// A function of its own: inlined among others its sums would not stay in registers.
    ///
    /// SAFETY: the CPU has AVX-512; R rows are there, and 8 × R vectors of sums.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    unsafe fn some_rows<T: Row, const R: usize>(
        gram_apply: &GramApply,
        part: Part<T>,
        lanes: *mut f64,
        next: &Next,
    ) {
        let whole = part.width / 8 * 8;
        // SAFETY: vouched for by the caller; the mask ends with the row.
        unsafe {
            let mut sums = [[_mm512_setzero_pd(); GRAM_APPLY_COLUMNS]; R];
            for i in 0..R {
                for j in 0..GRAM_APPLY_COLUMNS {
                    sums[i][j] = _mm512_loadu_pd(lanes.add((i * GRAM_APPLY_COLUMNS + j) * 8));
                }
            }
            let next = next.share(whole / 8, part.rows.cast());
            for f in (0..whole).step_by(8) {
                add_products::<T, R, true>(gram_apply, part, f, u8::MAX, &mut sums);
                next.step();
            }
            if whole < part.width {
                let mask = first(part.width - whole);
                add_products::<T, R, false>(gram_apply, part, whole, mask, &mut sums);
            }
            for i in 0..R {
                for j in 0..GRAM_APPLY_COLUMNS {
                    _mm512_storeu_pd(lanes.add((i * GRAM_APPLY_COLUMNS + j) * 8), sums[i][j]);
                }
            }
        }
    }

    /// SAFETY: as for `some_rows`; the features from `f` on that `mask` names are there.
    #[inline(always)]
    unsafe fn add_products<T: Row, const R: usize, const WHOLE: bool>(
        gram_apply: &GramApply,
        part: Part<T>,
        f: usize,
        mask: u8,
        sums: &mut [[__m512d; GRAM_APPLY_COLUMNS]; R],
    ) {
        // SAFETY: vouched for by the caller; V and the centre are padded to whole vectors.
        unsafe {
            let center = _mm512_loadu_pd(gram_apply.center.as_ptr().add(part.from + f));
            let mut x = [_mm512_setzero_pd(); R];
            for i in 0..R {
                let entries = T::load::<WHOLE>(part.rows.add(i * part.stride + f), mask);
                x[i] = _mm512_sub_pd(entries, center);
            }
            let v = gram_apply.steps.as_ptr().add((part.from + f) * GRAM_APPLY_COLUMNS);
            for j in 0..GRAM_APPLY_COLUMNS {
                let v = _mm512_loadu_pd(v.add(j * 8));
                for i in 0..R {
                    sums[i][j] = _mm512_fmadd_pd(x[i], v, sums[i][j]);
                }
            }
        }
    }

    /// SAFETY: the CPU has AVX-512; Z has eight numbers for every row, `sums` a line for each of them.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    pub unsafe fn add_transposed<T: Row>(
        gram_apply: &GramApply,
        x: Lines<T>,
        z: &[f64],
        next: &Next,
        sums: &mut [f64],
    ) {
        let share = || next.share(x.rows, x.data.as_ptr().cast());
        let (z, sums) = ((z.as_ptr(), GRAM_APPLY_COLUMNS), (sums.as_mut_ptr(), gram_apply.stride));
        // SAFETY: vouched for by the caller; lines and centre are padded.
        unsafe {
            add_columns::<T, _, GRAM_APPLY_COLUMNS, 3>(x, &gram_apply.center, z, sums, share)
        };
    }

    impl Fetching for Next {
        #[inline(always)]
        fn fetch(&mut self) {
            self.step();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both products against sums one entry at a time.
    fn check<T: Row>(of: impl Fn(f64) -> T) {
        for (rows, d) in [(1, 1), (2, 8), (3, 23), (7, 24), (11, 33), (24, 100), (5, 531)] {
            let stride = d + 2;
            let x: Vec<T> = (0..rows * stride).map(|i| of((i as f64 * 1.3).sin() + 9.0)).collect();
            let v = |f: usize, j: usize| ((f * 8 + j) as f64 * 0.7).cos();
            let center = |f: usize| 9.0 + f as f64 * 1e-3;
            let Some(gram_apply) = GramApply::new(d, v, center) else { return };
            let lines = Lines::new(&x, stride, rows, d);
            let next = Next::new(&x, d, rows);
            let entry = |i: usize, f: usize| -> f64 { x[i * stride + f].into() - center(f) };
            let mut z = vec![0.0; rows * GRAM_APPLY_COLUMNS];
            gram_apply.multiply(lines, &mut Room::default(), &next, &mut z);
            for (i, j) in (0..rows).flat_map(|i| (0..GRAM_APPLY_COLUMNS).map(move |j| (i, j))) {
                let expected: f64 = (0..d).map(|f| entry(i, f) * v(f, j)).sum();
                assert!(
                    (z[i * GRAM_APPLY_COLUMNS + j] - expected).abs() < 1e-12 * d as f64,
                    "{rows} × {d}"
                );
            }
            let mut sums = vec![0.5; gram_apply.sums_len()];
            gram_apply.add_transposed(lines, &z, &next, &mut sums);
            for (f, j) in (0..d).flat_map(|f| (0..GRAM_APPLY_COLUMNS).map(move |j| (f, j))) {
                let product: f64 =
                    (0..rows).map(|i| entry(i, f) * z[i * GRAM_APPLY_COLUMNS + j]).sum();
                let found = gram_apply.sum(&sums, f, j);
                assert!((found - 0.5 - product).abs() < 1e-10 * (1.0 + product.abs()));
            }
        }
    }

    #[test]
    fn products_of_rows_that_lie_apart() {
        check(|v| v);
        check(|v| v as f32);
    }
}
