//! GEMM with few columns on the right (small n), straight from the rows in memory: they are converted to f64 and
//! centred in registers, both times they are used, and never written.

use super::rows::Row;
use super::{Ahead, Lines, has_wide_registers};

/// Columns that are few: rows are widened once for every twelve of them.
pub const SMALL_N: usize = 24;

/// A row-major operand of which `columns` count; the next ones, to a multiple of four (eight where it is
/// written), are there too.
pub struct Columns<M> {
    /// Its numbers.
    pub data: M,
    /// Distance between rows.
    pub stride: usize,
    /// Columns that count.
    pub columns: usize,
}

impl<M: std::ops::Deref<Target = [f64]>> Columns<M> {
    /// Panics unless columns are there to a multiple of four, or eight where whole vectors are written.
    fn check(&self, rows: usize, multiple: usize) {
        let columns = self.columns.next_multiple_of(multiple);
        let reach = rows.checked_sub(1).map_or(0, |last| last * self.stride + columns);
        assert!(columns <= self.stride);
        assert!(reach <= self.data.len(), "columns outside their slice");
    }
}

/// `Z = (X − 1 cᵀ) V`, or adds to it where `overwrite` is not set: each number one chain of fused
/// multiply-adds over the features. Columns of V past the last one that counts are zeros, and so become those
/// of Z, to a multiple of eight. For a CPU that [has the registers](has_wide_registers).
pub fn gemm_small_n<T: Row>(
    x: Lines<T>,
    center: &[f64],
    v: Columns<&[f64]>,
    z: Columns<&mut [f64]>,
    overwrite: bool,
    ahead: &Ahead,
) {
    v.check(x.width, 4);
    z.check(x.rows, 8);
    assert!(v.columns == z.columns && center.len() >= x.width && has_wide_registers());
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the CPU was asked; the extents are asserted here and in `Lines::new`.
    unsafe {
        wide::multiply(x, center, v, z, overwrite, ahead);
    }
}

/// Adds `((X − 1 cᵀ)ᵀ Z)ᵀ` to lines of sums, one for each column of Z to a multiple of four. Lines have whole
/// vectors, as has the centre. For a CPU that [has the registers](has_wide_registers).
pub fn add_gemm_small_n_transposed<T: Row>(
    x: Lines<T>,
    center: &[f64],
    z: Columns<&[f64]>,
    sums: &mut [f64],
    stride: usize,
    ahead: &Ahead,
) {
    let width = x.width.next_multiple_of(8);
    z.check(x.rows, 4);
    assert!(center.len() >= width && stride >= width);
    assert!(sums.len() >= z.columns.next_multiple_of(4) * stride);
    assert!(has_wide_registers());
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the CPU was asked; the extents are asserted here and in `Lines::new`.
    unsafe {
        wide::add_transposed(x, center, z, sums, stride, ahead);
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod wide {
    use super::super::rows::first;
    use super::super::transpose_8x8::wide::transposed;
    use super::super::{Ahead, Fetch};
    use super::{Columns, Lines, Row};
    use std::arch::x86_64::*;

    /// Calls a function of eight rows for a number of columns, from 1 to 12.
    macro_rules! by_columns {
        ($columns:expr, $of:ident::<$t:ty>($job:expr), $($count:literal)*) => {
            match $columns {
                $($count => $of::<$t, $count>($job),)*
                _ => $of::<$t, 12>($job),
            }
        };
    }

    /// The same for fours of columns.
    macro_rules! by_quarters {
        ($columns:expr, $of:ident::<$t:ty, $rows:literal>($job:expr)) => {
            match $columns {
                0..=4 => $of::<$t, $rows, 1>($job),
                5..=8 => $of::<$t, $rows, 2>($job),
                _ => $of::<$t, $rows, 3>($job),
            }
        };
    }

    /// Something to fetch from memory at every step of a loop.
    pub trait Fetching {
        fn fetch(&mut self);
    }

    impl Fetching for Fetch {
        #[inline(always)]
        fn fetch(&mut self) {
            self.step();
        }
    }

    /// SAFETY: the CPU has AVX-512; the operands are as large as they claim.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    pub unsafe fn multiply<T: Row>(
        x: Lines<T>,
        center: &[f64],
        v: Columns<&[f64]>,
        z: Columns<&mut [f64]>,
        overwrite: bool,
        ahead: &Ahead,
    ) {
        for column in (0..v.columns).step_by(12) {
            let columns = (v.columns - column).min(12);
            // The last columns bring the zeros after them.
            let last = column + columns == v.columns;
            let room = if last { v.columns.next_multiple_of(8) - column } else { columns };
            let mut i = 0;
            while i < x.rows {
                let rows = match x.rows - i {
                    8.. => 8,
                    4.. => 4,
                    2.. => 2,
                    _ => 1,
                };
                // SAFETY: so many rows and columns lie within the operands.
                unsafe {
                    let job = Job {
                        x: x.data.as_ptr().add(i * x.stride),
                        stride: x.stride,
                        center: center.as_ptr(),
                        depth: x.width,
                        v: v.data.as_ptr().add(column),
                        v_stride: v.stride,
                        z: z.data.as_mut_ptr().add(i * z.stride + column),
                        z_stride: z.stride,
                        room,
                        overwrite,
                        fetch: Fetch::share(Some(ahead), x.width, center.as_ptr().cast()),
                    };
                    match rows {
                        8 => by_columns!(columns, eight_rows::<T>(job), 1 2 3 4 5 6 7 8 9 10 11),
                        4 => by_quarters!(columns, some_rows::<T, 4>(job)),
                        2 => by_quarters!(columns, some_rows::<T, 2>(job)),
                        _ => by_quarters!(columns, some_rows::<T, 1>(job)),
                    }
                }
                i += rows;
            }
        }
    }

    /// Some rows, and some columns of V.
    struct Job<T> {
        x: *const T,
        stride: usize,
        center: *const f64,
        depth: usize,
        v: *const f64,
        v_stride: usize,
        z: *mut f64,
        z_stride: usize,
        /// Columns of Z to be written: those of V, and zeros.
        room: usize,
        overwrite: bool,
        fetch: Fetch,
    }

    /// Eight rows, one in each lane: they are turned in registers, and every column costs what it is, none
    /// is padded.
    ///
    /// SAFETY: the CPU has AVX-512; eight rows are there and C columns, of Z as many as it has room.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    unsafe fn eight_rows<T: Row, const C: usize>(job: Job<T>) {
        let Job { x, stride, center, depth, mut v, v_stride, mut fetch, .. } = job;
        let whole = depth / 8 * 8;
        // SAFETY: vouched for by the caller; the mask ends with the rows.
        unsafe {
            let mut sums = [_mm512_setzero_pd(); C];
            macro_rules! add_lane {
                ($lane:expr, $f:expr) => {
                    let entries = _mm512_sub_pd($lane, _mm512_set1_pd(*center.add($f)));
                    for j in 0..C {
                        sums[j] = _mm512_fmadd_pd(entries, _mm512_set1_pd(*v.add(j)), sums[j]);
                    }
                    fetch.step();
                    v = v.wrapping_add(v_stride);
                };
            }
            for f in (0..whole).step_by(8) {
                // One by one: a loop would write the lanes and read them again.
                let [l0, l1, l2, l3, l4, l5, l6, l7] = T::lanes::<true>(x.add(f), stride, u8::MAX);
                add_lane!(l0, f);
                add_lane!(l1, f + 1);
                add_lane!(l2, f + 2);
                add_lane!(l3, f + 3);
                add_lane!(l4, f + 4);
                add_lane!(l5, f + 5);
                add_lane!(l6, f + 6);
                add_lane!(l7, f + 7);
            }
            if whole < depth {
                let lanes = T::lanes::<false>(x.add(whole), stride, first(depth - whole));
                for (l, lane) in lanes.into_iter().enumerate().take(depth - whole) {
                    add_lane!(lane, whole + l);
                }
            }
            // A range that is known when compiling: sums that were looked up would not stay in registers.
            for from in [0, 8] {
                if from >= job.room {
                    break;
                }
                let mut lanes = [_mm512_setzero_pd(); 8];
                let count = C.saturating_sub(from).min(8);
                lanes[..count].copy_from_slice(&sums[from.min(C)..][..count]);
                let mask = first(job.room - from);
                for (r, new) in transposed(lanes).into_iter().enumerate() {
                    let out = job.z.add(r * job.z_stride + from);
                    let old = match job.overwrite {
                        true => _mm512_setzero_pd(),
                        false => _mm512_maskz_loadu_pd(mask, out),
                    };
                    _mm512_mask_storeu_pd(out, mask, _mm512_add_pd(old, new));
                }
            }
        }
    }

    /// Fewer rows, with the same bits. A function of its own: inlined among others its sums would not stay in
    /// registers. In vectors of four, as twelve columns are three of them.
    ///
    /// SAFETY: the CPU has AVX-512; R rows are there and Q fours of columns, of Z as many as it has room.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    unsafe fn some_rows<T: Row, const R: usize, const Q: usize>(job: Job<T>) {
        let Job { mut x, stride, mut center, depth, mut v, v_stride, mut fetch, .. } = job;
        // SAFETY: vouched for by the caller.
        unsafe {
            let mut sums = [[_mm256_setzero_pd(); Q]; R];
            for _ in 0..depth {
                let mut right = [_mm256_setzero_pd(); Q];
                for q in 0..Q {
                    right[q] = _mm256_loadu_pd(v.add(q * 4));
                }
                let c = _mm256_set1_pd(*center);
                for r in 0..R {
                    let left = _mm256_sub_pd(T::splat(x.wrapping_add(r * stride)), c);
                    for q in 0..Q {
                        sums[r][q] = _mm256_fmadd_pd(left, right[q], sums[r][q]);
                    }
                }
                fetch.step();
                x = x.wrapping_add(1);
                center = center.wrapping_add(1);
                v = v.wrapping_add(v_stride);
            }
            for r in 0..R {
                for q in 0..Q {
                    let out = job.z.add(r * job.z_stride + q * 4);
                    let old =
                        if job.overwrite { _mm256_setzero_pd() } else { _mm256_loadu_pd(out) };
                    _mm256_storeu_pd(out, _mm256_add_pd(old, sums[r][q]));
                }
                for column in (Q * 4..job.room).filter(|_| job.overwrite) {
                    *job.z.add(r * job.z_stride + column) = 0.0;
                }
            }
        }
    }

    /// SAFETY: the CPU has AVX-512; the operands are as large as they claim, sums and centre to the end of
    /// the last vector.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    pub unsafe fn add_transposed<T: Row>(
        x: Lines<T>,
        center: &[f64],
        z: Columns<&[f64]>,
        sums: &mut [f64],
        stride: usize,
        ahead: &Ahead,
    ) {
        let mut column = 0;
        while column < z.columns {
            let columns = (z.columns - column).min(12);
            let fetch = || Fetch::share(Some(ahead), x.rows, center.as_ptr().cast());
            // SAFETY: the columns are there, and lines of sums for them.
            unsafe {
                let z = (z.data.as_ptr().add(column), z.stride);
                let out = (sums.as_mut_ptr().add(column * stride), stride);
                match columns {
                    0..=4 => add_columns::<T, _, 4, 3>(x, center, z, out, fetch),
                    5..=8 => add_columns::<T, _, 8, 3>(x, center, z, out, fetch),
                    9 => add_columns::<T, _, 9, 2>(x, center, z, out, fetch),
                    10 => add_columns::<T, _, 10, 2>(x, center, z, out, fetch),
                    11 => add_columns::<T, _, 11, 2>(x, center, z, out, fetch),
                    _ => add_columns::<T, _, 12, 2>(x, center, z, out, fetch),
                }
            }
            column += columns;
        }
    }

    /// `MOST` (2 or 3) vectors of features at a time.
    ///
    /// SAFETY: the CPU has AVX-512; Z has C columns, and there are as many lines of sums, to the end of the
    /// last vector.
    #[inline(always)]
    pub unsafe fn add_columns<T: Row, F: Fetching, const C: usize, const MOST: usize>(
        x: Lines<T>,
        center: &[f64],
        z: (*const f64, usize),
        (out, stride): (*mut f64, usize),
        fetch: impl Fn() -> F,
    ) {
        let mut f = 0;
        while f < x.width {
            let left = x.width - f;
            // SAFETY: whole vectors lie within the rows, the last one is masked.
            unsafe {
                let center = center.as_ptr().add(f);
                let out = (out.add(f), stride);
                match left {
                    24.. if MOST == 3 => {
                        some_features::<T, F, C, 3, true>(x, f, center, z, out, fetch())
                    }
                    16.. => some_features::<T, F, C, 2, true>(x, f, center, z, out, fetch()),
                    8.. => some_features::<T, F, C, 1, true>(x, f, center, z, out, fetch()),
                    _ => some_features::<T, F, C, 1, false>(x, f, center, z, out, fetch()),
                }
            }
            f += if left >= 8 { (left / 8).min(MOST) * 8 } else { left };
        }
    }

    /// SAFETY: as for `add_columns`; NV vectors from feature `f` on are there if `WHOLE`.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    unsafe fn some_features<
        T: Row,
        F: Fetching,
        const C: usize,
        const NV: usize,
        const WHOLE: bool,
    >(
        x: Lines<T>,
        f: usize,
        center: *const f64,
        (z, z_stride): (*const f64, usize),
        (out, stride): (*mut f64, usize),
        mut fetch: F,
    ) {
        let mask = first(x.width - f);
        // SAFETY: vouched for by the caller.
        unsafe {
            let mut row = x.data.as_ptr().add(f);
            let mut z = z;
            let mut sums = [[_mm512_setzero_pd(); NV]; C];
            let mut middle = [_mm512_setzero_pd(); NV];
            for v in 0..NV {
                middle[v] = _mm512_loadu_pd(center.add(v * 8));
            }
            for _ in 0..x.rows {
                let mut entries = [_mm512_setzero_pd(); NV];
                for v in 0..NV {
                    let loaded = T::load::<WHOLE>(row.wrapping_add(v * 8), mask);
                    entries[v] = _mm512_sub_pd(loaded, middle[v]);
                }
                for j in 0..C {
                    let z = _mm512_set1_pd(*z.add(j));
                    for v in 0..NV {
                        sums[j][v] = _mm512_fmadd_pd(z, entries[v], sums[j][v]);
                    }
                }
                fetch.fetch();
                row = row.wrapping_add(x.stride);
                z = z.wrapping_add(z_stride);
            }
            for v in 0..NV {
                for j in 0..C {
                    // Sums of their own first: every addition to a long one would round as much as its last.
                    let out = out.add(j * stride + v * 8);
                    _mm512_storeu_pd(out, _mm512_add_pd(_mm512_loadu_pd(out), sums[j][v]));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both products against sums one entry at a time.
    fn check<T: Row>(of: impl Fn(f64) -> T) {
        if !has_wide_registers() {
            return;
        }
        let sizes = [(1, 1usize), (7, 8), (9, 23), (16, 12), (15, 49), (24, 100)];
        for ((rows, d), columns) in
            sizes.into_iter().flat_map(|size| (1..=SMALL_N).map(move |columns| (size, columns)))
        {
            let (stride, padded) = (d + 2, columns.next_multiple_of(8) + 4);
            let x: Vec<T> = (0..rows * stride).map(|i| of((i as f64 * 1.3).sin() + 9.0)).collect();
            let of_column = |j: usize, v: f64| if j < columns { v } else { 0.0 };
            let v: Vec<f64> =
                (0..d * padded).map(|i| of_column(i % padded, (i as f64 * 0.7).cos())).collect();
            let width = d.next_multiple_of(8);
            let center: Vec<f64> = (0..width).map(|f| 9.0 + f as f64 * 1e-3).collect();
            let lines = Lines::new(&x, stride, rows, d);
            let ahead = Ahead::new(&x, rows);
            let entry = |i: usize, f: usize| -> f64 { x[i * stride + f].into() - center[f] };
            let mut z = vec![0.25; rows * padded];
            for overwrite in [true, false] {
                let v = Columns { data: &v[..], stride: padded, columns };
                let z = Columns { data: &mut z[..], stride: padded, columns };
                gemm_small_n(lines, &center, v, z, overwrite, &ahead);
            }
            for (i, j) in (0..rows).flat_map(|i| (0..padded).map(move |j| (i, j))) {
                let once: f64 = (0..d).map(|f| entry(i, f) * v[f * padded + j]).sum();
                let expected = if j + 4 < padded { 2.0 * once } else { 0.25 };
                let found = z[i * padded + j];
                assert!((found - expected).abs() < 1e-12 * d as f64, "{rows} × {d} × {columns}");
            }
            let mut sums = vec![0.5; (padded - 4) * width];
            let scores = Columns { data: &z[..], stride: padded, columns };
            add_gemm_small_n_transposed(lines, &center, scores, &mut sums, width, &ahead);
            for (f, j) in (0..d).flat_map(|f| (0..columns).map(move |j| (f, j))) {
                let product: f64 = (0..rows).map(|i| entry(i, f) * z[i * padded + j]).sum();
                let found = sums[j * width + f];
                assert!((found - 0.5 - product).abs() < 1e-10 * (1.0 + product.abs()));
            }
        }
    }

    #[test]
    fn products_of_rows_as_they_lie() {
        check(|v| v);
        check(|v| v as f32);
    }
}
