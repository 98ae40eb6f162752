//! The loops every pass begins with: rows less their centre. In whole vectors to the last number,
//! where the compiler would end with one number at a time: a third of the time for rows of a hundred.

#[cfg(target_arch = "x86_64")]
use super::transpose_8x8::wide::{transposed, transposed_f32};
use super::{fetch_lines, vectorized};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::ops::Sub;

/// Rows of `width` elements, `stride` apart.
#[derive(Clone, Copy)]
pub struct Lines<'a, T> {
    pub(super) data: &'a [T],
    pub(super) stride: usize,
    pub(super) rows: usize,
    pub(super) width: usize,
}

impl<'a, T> Lines<'a, T> {
    /// `rows` rows of `data`.
    #[inline]
    pub fn new(data: &'a [T], stride: usize, rows: usize, width: usize) -> Self {
        let reach = rows.checked_sub(1).map_or(0, |last| last * stride + width);
        assert!(reach <= data.len(), "rows outside their slice");
        Lines { data, stride, rows, width }
    }

    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> &'a [T] {
        &self.data[i * self.stride..][..self.width]
    }

    /// Asks the cache for a row, where it is a piece of a longer one: the hardware follows memory no
    /// further than a page.
    #[inline(always)]
    pub fn fetch(&self, i: usize) {
        if self.stride != self.width && i < self.rows {
            fetch_lines(self.row(i));
        }
    }
}

/// Elements a row may have.
pub trait Row: Copy + Default + Into<f64> + Sub<Output = Self> {
    /// Elements of a vector.
    const LANES: usize;

    /// Whether sums in f64 lose digits beside a large mean. Those of float32 numbers have digits to spare.
    const SHIFTED: bool;

    /// The nearest number of this type.
    fn narrow(x: f64) -> Self;

    /// Writes those of eight numbers that `mask` names, rounded.
    ///
    /// # Safety
    /// The CPU has AVX-512; the elements that `mask` names can be written.
    #[cfg(target_arch = "x86_64")]
    unsafe fn store(p: *mut Self, mask: u8, x: __m512d);

    /// Eight of them, widened; those that `mask` does not name are 0, unless the vector is `WHOLE`.
    ///
    /// # Safety
    /// The CPU has AVX-512; the elements that `mask` names can be read.
    #[cfg(target_arch = "x86_64")]
    unsafe fn load<const WHOLE: bool>(p: *const Self, mask: u8) -> __m512d;

    /// Eight of them in each of eight rows, `stride` apart, widened and turned: one row to a lane. Those that
    /// `mask` does not name are 0, unless the vectors are `WHOLE`.
    ///
    /// # Safety
    /// The CPU has AVX-512; the elements that `mask` names can be read in every row.
    #[cfg(target_arch = "x86_64")]
    unsafe fn lanes<const WHOLE: bool>(p: *const Self, stride: usize, mask: u8) -> [__m512d; 8];

    /// One of them four times, widened.
    ///
    /// # Safety
    /// The CPU has AVX-512; the element can be read.
    #[cfg(target_arch = "x86_64")]
    unsafe fn splat(p: *const Self) -> __m256d;

    /// Sixteen of them cut to whole numbers, 0 where `mask` does not name them; which ones were cut.
    ///
    /// # Safety
    /// The CPU has AVX-512; the elements that `mask` names can be read.
    #[cfg(target_arch = "x86_64")]
    unsafe fn whole(p: *const Self, mask: u16) -> (__m512i, u16);

    /// `(x − high) − low` of the first `count` elements of a vector in R rows, zeros after them as far as
    /// there is `room`; the rows lie as far apart as the first of `strides` says, what is written as the
    /// second.
    ///
    /// # Safety
    /// The CPU has AVX-512; `count` elements can be read, and `room` be written, in every row.
    #[cfg(target_arch = "x86_64")]
    unsafe fn center<const R: usize>(
        x: *const Self,
        high_and_low: [*const Self; 2],
        out: *mut Self,
        strides: [usize; 2],
        count: usize,
        room: usize,
    );
}

macro_rules! center {
    ($load:ident, $masked:ident, $store:ident, $store_some:ident, $sub:ident, $mask:ty) => {
        #[cfg(target_arch = "x86_64")]
        #[inline(always)]
        unsafe fn center<const R: usize>(
            x: *const Self,
            [high, low]: [*const Self; 2],
            out: *mut Self,
            [apart, width]: [usize; 2],
            count: usize,
            room: usize,
        ) {
            // SAFETY: vouched for by the caller; one mask ends with the elements, one with the room.
            unsafe {
                if count >= Self::LANES {
                    let (high, low) = ($load(high), $load(low));
                    for i in 0..R {
                        let centered = $sub($load(x.add(i * apart)), high);
                        $store(out.add(i * width), $sub(centered, low));
                    }
                } else {
                    let mask = ((1 << count) - 1) as $mask;
                    let room = ((1u32 << room.min(Self::LANES)) - 1) as $mask;
                    let (high, low) = ($masked(mask, high), $masked(mask, low));
                    for i in 0..R {
                        let centered = $sub($masked(mask, x.add(i * apart)), high);
                        $store_some(out.add(i * width), room, $sub(centered, low));
                    }
                }
            }
        }
    };
}

impl Row for f64 {
    const LANES: usize = 8;
    const SHIFTED: bool = true;

    #[inline(always)]
    fn narrow(x: f64) -> f64 {
        x
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn store(p: *mut f64, mask: u8, x: __m512d) {
        // SAFETY: vouched for by the caller.
        unsafe { _mm512_mask_storeu_pd(p, mask, x) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn load<const WHOLE: bool>(p: *const f64, mask: u8) -> __m512d {
        // SAFETY: vouched for by the caller.
        unsafe { if WHOLE { _mm512_loadu_pd(p) } else { _mm512_maskz_loadu_pd(mask, p) } }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn lanes<const WHOLE: bool>(p: *const f64, stride: usize, mask: u8) -> [__m512d; 8] {
        // SAFETY: vouched for by the caller.
        unsafe {
            let mut rows = [_mm512_setzero_pd(); 8];
            for (r, row) in rows.iter_mut().enumerate() {
                *row = Self::load::<WHOLE>(p.add(r * stride), mask);
            }
            transposed(rows)
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn splat(p: *const f64) -> __m256d {
        // SAFETY: vouched for by the caller.
        unsafe { _mm256_set1_pd(*p) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn whole(p: *const f64, mask: u16) -> (__m512i, u16) {
        // SAFETY: vouched for by the caller.
        unsafe {
            let low = _mm512_maskz_loadu_pd(mask as u8, p);
            let high = _mm512_maskz_loadu_pd((mask >> 8) as u8, p.wrapping_add(8));
            let [a, b] = [_mm512_cvttpd_epi32(low), _mm512_cvttpd_epi32(high)];
            let cut = _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(_mm512_cvtepi32_pd(a), low);
            let cut_high = _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(_mm512_cvtepi32_pd(b), high);
            let both = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(a), b);
            (both, u16::from(cut) | u16::from(cut_high) << 8)
        }
    }
    center!(
        _mm512_loadu_pd,
        _mm512_maskz_loadu_pd,
        _mm512_storeu_pd,
        _mm512_mask_storeu_pd,
        _mm512_sub_pd,
        u8
    );
}

impl Row for f32 {
    const LANES: usize = 16;
    const SHIFTED: bool = false;

    #[inline(always)]
    fn narrow(x: f64) -> f32 {
        x as f32
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn store(p: *mut f32, mask: u8, x: __m512d) {
        // SAFETY: vouched for by the caller.
        unsafe { _mm256_mask_storeu_ps(p, mask, _mm512_cvtpd_ps(x)) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn load<const WHOLE: bool>(p: *const f32, mask: u8) -> __m512d {
        // SAFETY: vouched for by the caller.
        unsafe {
            let narrow = if WHOLE { _mm256_loadu_ps(p) } else { _mm256_maskz_loadu_ps(mask, p) };
            _mm512_cvtps_pd(narrow)
        }
    }

    /// Turned first: half of the bytes.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn lanes<const WHOLE: bool>(p: *const f32, stride: usize, mask: u8) -> [__m512d; 8] {
        // SAFETY: vouched for by the caller.
        unsafe {
            let mut rows = [_mm256_setzero_ps(); 8];
            for (r, row) in rows.iter_mut().enumerate() {
                let p = p.add(r * stride);
                *row = if WHOLE { _mm256_loadu_ps(p) } else { _mm256_maskz_loadu_ps(mask, p) };
            }
            let mut lanes = [_mm512_setzero_pd(); 8];
            for (lane, narrow) in lanes.iter_mut().zip(transposed_f32(rows)) {
                *lane = _mm512_cvtps_pd(narrow);
            }
            lanes
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn splat(p: *const f32) -> __m256d {
        // SAFETY: vouched for by the caller.
        unsafe { _mm256_cvtps_pd(_mm_set1_ps(*p)) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn whole(p: *const f32, mask: u16) -> (__m512i, u16) {
        // SAFETY: vouched for by the caller.
        unsafe {
            let x = _mm512_maskz_loadu_ps(mask, p);
            let whole = _mm512_cvttps_epi32(x);
            (whole, _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(_mm512_cvtepi32_ps(whole), x))
        }
    }
    center!(
        _mm512_loadu_ps,
        _mm512_maskz_loadu_ps,
        _mm512_storeu_ps,
        _mm512_mask_storeu_ps,
        _mm512_sub_ps,
        u16
    );
}

/// Writes `((x − mean) − low) · weight` of every row, `stride` apart, with zeros to the end of the last
/// vector as far as `out` reaches; `constants` are mean, low and weight.
pub fn standardize<T: Row>(x: Lines<T>, constants: [&[f64]; 3], out: &mut [f64], stride: usize) {
    let [mean, low, weight] = constants;
    let constants = [&mean[..x.width], &low[..x.width], &weight[..x.width]];
    let reach = x.rows.checked_sub(1).map_or(0, |last| last * stride + x.width);
    assert!(stride >= x.width && out.len() >= reach);
    #[cfg(target_arch = "x86_64")]
    if super::x86::has_avx512() {
        // SAFETY: the features were detected; the extents are asserted.
        return unsafe { wide::standardize(x, constants, out, stride) };
    }
    plain::standardize(x, constants, out, stride);
}

/// Writes each row's leading numbers times their factors, row after row, in the type of the data. Plus 0:
/// what a factor of 0 silences is 0, never −0.
pub fn scale<T: Row>(x: Lines<f64>, factors: &[f64], out: &mut [T]) {
    let count = factors.len();
    assert!(x.width >= count.next_multiple_of(8) && out.len() >= x.rows * count);
    #[cfg(target_arch = "x86_64")]
    if super::x86::has_avx512() {
        // SAFETY: the features were detected; the extents are asserted.
        return unsafe { wide::scale(x, factors, out) };
    }
    plain::scale(x, factors, out);
}

/// Adds the rows' deviations from `origin` (from 0 where they are not [shifted](Row::SHIFTED)) to `sums`, four
/// rows at a time: as many of the rows as are a multiple of four.
pub fn add_deviations<T: Row>(x: Lines<T>, origin: &[T], sums: &mut [f64]) {
    let (origin, sums) = (&origin[..x.width], &mut sums[..x.width]);
    #[cfg(target_arch = "x86_64")]
    if super::x86::has_avx512() {
        // SAFETY: the features were detected; origin and sums are as long as the rows.
        return unsafe { wide::add_deviations(x, origin, sums) };
    }
    plain::add_deviations(x, origin, sums);
}

/// Writes `(x − high) − low` of every row, `width` apart, with zeros to the end of the last vector as far
/// as the first `room` elements reach.
pub fn center<T: Row>(
    x: Lines<T>,
    high: &[T],
    low: &[T],
    out: &mut [T],
    width: usize,
    room: usize,
) {
    let (high, low) = (&high[..x.width], &low[..x.width]);
    let reach = x.rows.checked_sub(1).map_or(0, |last| last * width + room);
    assert!(width >= room && room >= x.width && out.len() >= reach);
    #[cfg(target_arch = "x86_64")]
    if super::x86::has_avx512() {
        // SAFETY: the features were detected; the extents are asserted.
        return unsafe { wide::center(x, high, low, out, width, room) };
    }
    plain::center(x, high, low, out, width, room);
}

/// The same loops as the compiler makes them.
mod plain {
    use super::{Lines, Row, vectorized};

    pub fn standardize<T: Row>(
        x: Lines<T>,
        [mean, low, weight]: [&[f64]; 3],
        out: &mut [f64],
        stride: usize,
    ) {
        vectorized(
            #[inline(always)]
            move || {
                for (i, line) in out.chunks_mut(stride).take(x.rows).enumerate() {
                    x.fetch(i + 2);
                    let row = x.row(i);
                    let (line, beyond) = line.split_at_mut(x.width);
                    let pad = x.width.next_multiple_of(8) - x.width;
                    beyond.iter_mut().take(pad).for_each(|b| *b = 0.0);
                    for f in 0..line.len() {
                        line[f] = ((row[f].into() - mean[f]) - low[f]) * weight[f];
                    }
                }
            },
        );
    }

    pub fn scale<T: Row>(x: Lines<f64>, factors: &[f64], out: &mut [T]) {
        let lines = out.chunks_exact_mut(factors.len().max(1)).take(x.rows);
        for (i, out) in lines.enumerate() {
            for ((o, &x), &factor) in out.iter_mut().zip(x.row(i)).zip(factors) {
                *o = T::narrow(x * factor + 0.0);
            }
        }
    }

    pub fn add_deviations<T: Row>(x: Lines<T>, origin: &[T], sums: &mut [f64]) {
        vectorized(
            #[inline(always)]
            move || {
                for i in (0..x.rows / 4 * 4).step_by(4) {
                    (i + 4..i + 8).for_each(|next| x.fetch(next));
                    let [a, b, c, e] = [0, 1, 2, 3].map(|r| x.row(i + r));
                    for f in 0..x.width {
                        let o = if T::SHIFTED { origin[f].into() } else { 0.0 };
                        sums[f] += ((a[f].into() - o) + (b[f].into() - o))
                            + ((c[f].into() - o) + (e[f].into() - o));
                    }
                }
            },
        );
    }

    pub fn center<T: Row>(
        x: Lines<T>,
        high: &[T],
        low: &[T],
        out: &mut [T],
        width: usize,
        room: usize,
    ) {
        vectorized(
            #[inline(always)]
            move || {
                let end = x.width.next_multiple_of(T::LANES).min(room);
                for (i, line) in out.chunks_mut(width).take(x.rows).enumerate() {
                    let row = x.row(i);
                    let (line, beyond) = line.split_at_mut(x.width);
                    let pad = end - x.width;
                    beyond[..pad].fill(T::default());
                    for f in 0..x.width {
                        line[f] = (row[f] - high[f]) - low[f];
                    }
                }
            },
        );
    }
}

/// The mask of the first elements of eight.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn first(count: usize) -> u8 {
    if count >= 8 { u8::MAX } else { (1 << count) - 1 }
}

/// The same loops for AVX-512. Without closures, which would be compiled for a lesser CPU.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Lines, Row, first};
    use std::arch::x86_64::*;

    /// SAFETY: the CPU has AVX-512; the constants are as long as the rows, and `out` reaches to the end
    /// of the last of them.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    pub unsafe fn standardize<T: Row>(
        x: Lines<T>,
        constants: [&[f64]; 3],
        out: &mut [f64],
        stride: usize,
    ) {
        let mut i = 0;
        while i < x.rows {
            // Rows share the constants, but for the last ones.
            let rows = if x.rows - i >= 4 { 4 } else { 1 };
            (i + 4..i + 4 + rows).for_each(|next| x.fetch(next));
            // SAFETY: `rows` rows from `i` on are there.
            unsafe {
                let from = x.data.as_ptr().add(i * x.stride);
                let out = &mut out[i * stride..];
                match rows {
                    4 => standardize_some::<T, 4>(from, x, constants, out, stride),
                    _ => standardize_some::<T, 1>(from, x, constants, out, stride),
                }
            }
            i += rows;
        }
    }

    /// SAFETY: the CPU has AVX-512; R rows are there, and room for each as far as it goes.
    #[inline(always)]
    unsafe fn standardize_some<T: Row, const R: usize>(
        rows: *const T,
        x: Lines<T>,
        constants: [&[f64]; 3],
        out: &mut [f64],
        stride: usize,
    ) {
        let whole = x.width / 8 * 8;
        // SAFETY: one mask ends with the row, the other with the room for it.
        unsafe {
            for f in (0..whole).step_by(8) {
                let standard = standardized::<T, R, true>(rows, x.stride, constants, f, u8::MAX);
                for i in 0..R {
                    _mm512_storeu_pd(out.as_mut_ptr().add(i * stride + f), standard[i]);
                }
            }
            if whole < x.width {
                let mask = first(x.width - whole);
                let standard = standardized::<T, R, false>(rows, x.stride, constants, whole, mask);
                for i in 0..R {
                    let at = i * stride + whole;
                    let reach = first((stride - whole).min(out.len() - at));
                    _mm512_mask_storeu_pd(out.as_mut_ptr().add(at), reach, standard[i]);
                }
            }
        }
    }

    /// SAFETY: the CPU has AVX-512; the elements from `f` on that `mask` names are there.
    #[inline(always)]
    unsafe fn standardized<T: Row, const R: usize, const WHOLE: bool>(
        rows: *const T,
        stride: usize,
        [mean, low, weight]: [&[f64]; 3],
        f: usize,
        mask: u8,
    ) -> [__m512d; R] {
        // SAFETY: vouched for by the caller.
        unsafe {
            let mean = f64::load::<WHOLE>(mean.as_ptr().add(f), mask);
            let low = f64::load::<WHOLE>(low.as_ptr().add(f), mask);
            let weight = f64::load::<WHOLE>(weight.as_ptr().add(f), mask);
            let mut standard = [_mm512_setzero_pd(); R];
            for i in 0..R {
                let entries = T::load::<WHOLE>(rows.add(i * stride + f), mask);
                let centered = _mm512_sub_pd(entries, mean);
                standard[i] = _mm512_mul_pd(_mm512_sub_pd(centered, low), weight);
            }
            standard
        }
    }

    /// SAFETY: the CPU has AVX-512; every row has whole vectors of numbers for the factors, and `out` room
    /// for as many numbers as there are factors.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    pub unsafe fn scale<T: Row>(x: Lines<f64>, factors: &[f64], out: &mut [T]) {
        let count = factors.len();
        for c in (0..count).step_by(8) {
            let mask = first(count - c);
            // SAFETY: vouched for by the caller; the mask ends with the factors.
            unsafe {
                let factor = _mm512_maskz_loadu_pd(mask, factors.as_ptr().add(c));
                for i in 0..x.rows {
                    let numbers = _mm512_loadu_pd(x.data.as_ptr().add(i * x.stride + c));
                    let scaled = _mm512_mul_pd(numbers, factor);
                    let scaled = _mm512_add_pd(scaled, _mm512_setzero_pd());
                    T::store(out.as_mut_ptr().add(i * count + c), mask, scaled);
                }
            }
        }
    }

    /// SAFETY: the CPU has AVX-512; `origin` and `sums` are as long as the rows.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    pub unsafe fn add_deviations<T: Row>(x: Lines<T>, origin: &[T], sums: &mut [f64]) {
        let whole = x.width / 8 * 8;
        for i in (0..x.rows / 4 * 4).step_by(4) {
            (i + 4..i + 8).for_each(|next| x.fetch(next));
            // SAFETY: four rows from `i` on are there; the mask ends with them.
            unsafe {
                let rows = x.data.as_ptr().add(i * x.stride);
                for f in (0..whole).step_by(8) {
                    add_four::<T, true>(rows.add(f), x.stride, &origin[f], &mut sums[f], u8::MAX);
                }
                if whole < x.width {
                    let mask = first(x.width - whole);
                    let (origin, sums) = (&origin[whole], &mut sums[whole]);
                    add_four::<T, false>(rows.add(whole), x.stride, origin, sums, mask);
                }
            }
        }
    }

    /// SAFETY: the CPU has AVX-512; all elements that `mask` names are there, in four rows.
    #[inline(always)]
    unsafe fn add_four<T: Row, const WHOLE: bool>(
        x: *const T,
        stride: usize,
        origin: *const T,
        sums: *mut f64,
        mask: u8,
    ) {
        // SAFETY: vouched for by the caller.
        unsafe {
            let mut rows = [_mm512_setzero_pd(); 4];
            for r in 0..4 {
                rows[r] = T::load::<WHOLE>(x.add(r * stride), mask);
                if T::SHIFTED {
                    rows[r] = _mm512_sub_pd(rows[r], T::load::<WHOLE>(origin, mask));
                }
            }
            let [a, b, c, e] = rows;
            let four = _mm512_add_pd(_mm512_add_pd(a, b), _mm512_add_pd(c, e));
            let sum = _mm512_add_pd(f64::load::<WHOLE>(sums, mask), four);
            if WHOLE {
                _mm512_storeu_pd(sums, sum);
            } else {
                _mm512_mask_storeu_pd(sums, mask, sum);
            }
        }
    }

    /// SAFETY: the CPU has AVX-512; `high` and `low` are as long as the rows, and `room` elements of `out`
    /// are there for each, no fewer than it has.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    pub unsafe fn center<T: Row>(
        x: Lines<T>,
        high: &[T],
        low: &[T],
        out: &mut [T],
        width: usize,
        room: usize,
    ) {
        let strides = [x.stride, width];
        let mut i = 0;
        while i < x.rows {
            let rows = if x.rows - i >= 4 { 4 } else { 1 };
            // SAFETY: vouched for by the caller.
            unsafe {
                let row = x.data.as_ptr().add(i * x.stride);
                let out = out.as_mut_ptr().add(i * width);
                for f in (0..x.width).step_by(T::LANES) {
                    let (row, out, left) = (row.add(f), out.add(f), x.width - f);
                    let shift = [high.as_ptr().add(f), low.as_ptr().add(f)];
                    match rows {
                        4 => T::center::<4>(row, shift, out, strides, left, room - f),
                        _ => T::center::<1>(row, shift, out, strides, left, room - f),
                    }
                }
            }
            i += rows;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_vectors_give_what_plain_loops_give() {
        for d in 1..40 {
            let (rows, apart) = (6, d + 2);
            let x: Vec<f64> = (0..rows * apart).map(|i| (i as f64 * 1.7).sin() * 3.0).collect();
            let narrow: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            let constants: [Vec<f64>; 3] =
                [0.3, 1e-17, 1.3].map(|c| (0..d).map(|f| c * (1.0 + f as f64 / 7.0)).collect());
            let [mean, low, weight] = &constants;
            let constants = [&mean[..], low, weight];
            for stride in [d, d + 1, d + 9] {
                let room = (rows - 1) * stride + d;
                for room in [room, room + 1, room + 9] {
                    let (mut out, mut expected) = (vec![7.0; room], vec![7.0; room]);
                    let lines = Lines::new(&x, apart, rows, d);
                    standardize(lines, constants, &mut out, stride);
                    plain::standardize(lines, constants, &mut expected, stride);
                    assert_eq!(out, expected);
                    for (i, line) in out.chunks(stride).take(rows).enumerate() {
                        let x = &x[i * apart..];
                        assert!((0..d).all(|f| line[f] == ((x[f] - mean[f]) - low[f]) * weight[f]));
                        let pad = d.next_multiple_of(8) - d;
                        assert!(line[d..].iter().take(pad).all(|&b| b == 0.0));
                    }
                    let lines = Lines::new(&narrow, apart, rows, d);
                    standardize(lines, constants, &mut out, stride);
                    plain::standardize(lines, constants, &mut expected, stride);
                    assert_eq!(out, expected);
                }
            }
        }
    }

    fn check_scale<T: Row + PartialEq + std::fmt::Debug>(of: impl Fn(f64) -> T) {
        let (rows, stride) = (5, 24);
        let x: Vec<f64> = (0..rows * stride).map(|i| (i as f64 * 1.7).sin() - 0.3).collect();
        let lines = Lines::new(&x, stride, rows, stride);
        for count in 1..=stride {
            let factors: Vec<f64> = (0..count).map(|j| (j % 3) as f64 * 1.1).collect();
            let (mut out, mut expected) =
                (vec![of(7.0); rows * count + 1], vec![of(7.0); rows * count + 1]);
            scale(lines, &factors, &mut out);
            plain::scale(lines, &factors, &mut expected);
            assert_eq!(out, expected);
            assert_eq!(out[rows * count], of(7.0));
            for (at, &found) in out[..rows * count].iter().enumerate() {
                let (i, j) = (at / count, at % count);
                assert_eq!(found, of(x[i * stride + j] * factors[j]));
                assert!(found.into() != 0.0 || found.into().is_sign_positive(), "no −0");
            }
        }
    }

    #[test]
    fn leading_numbers_are_scaled() {
        check_scale(|v| v);
        check_scale(|v| v as f32);
    }

    /// Both loops, of rows that lie apart, against the sums they stand for.
    fn check_rows<T: Row + PartialEq + std::fmt::Debug>(of: impl Fn(f64) -> T) {
        for d in 1..40 {
            let (rows, stride) = (7, d + 3);
            let x: Vec<T> = (0..rows * stride).map(|i| of((i as f64 * 1.3).sin() + 1e3)).collect();
            let lines = Lines::new(&x, stride, rows, d);
            let (high, low): (Vec<T>, Vec<T>) =
                (0..d).map(|f| (of(1e3 + f as f64 / 9.0), of(1e-5 * f as f64))).unzip();
            let (mut sums, mut expected) = (vec![0.5; d + 1], vec![0.5; d + 1]);
            add_deviations(lines, &high, &mut sums);
            plain::add_deviations(lines, &high, &mut expected[..d]);
            assert_eq!(sums, expected);
            for f in 0..d {
                let o: f64 = if T::SHIFTED { high[f].into() } else { 0.0 };
                let [a, b, c, e] = [0, 1, 2, 3].map(|r| x[r * stride + f].into() - o);
                assert_eq!(sums[f], 0.5 + ((a + b) + (c + e)), "the first four of seven rows");
            }
            let width = d.next_multiple_of(T::LANES) + T::LANES;
            for room in [d, d + 1, width] {
                let reach = (rows - 1) * width + room;
                let (mut out, mut expected) = (vec![of(7.0); reach], vec![of(7.0); reach]);
                center(lines, &high, &low, &mut out, width, room);
                plain::center(lines, &high, &low, &mut expected, width, room);
                assert_eq!(out, expected);
                let end = d.next_multiple_of(T::LANES).min(room);
                for (i, line) in out.chunks(width).enumerate() {
                    assert!((0..d).all(|f| line[f] == (x[i * stride + f] - high[f]) - low[f]));
                    assert!(line[d..end].iter().all(|&v| v == T::default()));
                    assert!(line[end..].iter().all(|&v| v == of(7.0)));
                }
            }
        }
    }

    #[test]
    fn rows_that_lie_apart_are_centred_and_summed() {
        check_rows(|v| v);
        check_rows(|v| v as f32);
    }
}
