//! Whole numbers from 0 to 255, four samples of a feature in 32 bits: the products of images and counts,
//! exact and many at a time.

use super::rows::Row;
use super::{Lines, Portable, Tile, Vector};

/// Four numbers of one feature. A product of them takes 128 off those on the right, as processors multiply
/// bytes without a sign by bytes with one: `Σ a (b − 128)`, summed in 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(transparent)]
pub struct U8x4(pub(super) u32);

/// What is taken off the right operand.
pub const U8X4_SHIFT: u32 = 128;

/// The largest number that fits.
const MOST: f64 = 255.0;

/// 128 off each of four bytes, as bytes with a sign.
const SIGNS: u32 = 0x8080_8080;

/// Whether the CPU multiplies bytes faster than floats.
pub fn has_u8x4() -> bool {
    #[cfg(target_arch = "x86_64")]
    return super::x86::has_vnni();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Packs rows in panels of [`Tile::PANEL`] features, four rows at a step, with zeros after the last row and
/// feature; adds the columns to `sums`. False where an entry is not a whole number from 0 to 255.
pub fn pack_u8x4<T: Row>(x: Lines<T>, packed: &mut [U8x4], sums: &mut [u32]) -> bool {
    let (depth, width) = (x.rows.div_ceil(4), x.width.next_multiple_of(U8x4::PANEL));
    assert!(packed.len() >= depth * width && sums.len() >= width);
    #[cfg(target_arch = "x86_64")]
    if super::x86::has_vnni() {
        // SAFETY: the features were detected; the extents are asserted here and in `Lines::new`.
        return unsafe { wide::pack(x, packed, sums) };
    }
    plain_pack(x, packed, sums)
}

/// The same, number by number.
fn plain_pack<T: Row>(x: Lines<T>, packed: &mut [U8x4], sums: &mut [u32]) -> bool {
    let depth = x.rows.div_ceil(4);
    for f in 0..x.width.next_multiple_of(U8x4::PANEL) {
        let (panel, lane) = (f / U8x4::PANEL, f % U8x4::PANEL);
        for step in 0..depth {
            let mut four = 0;
            for r in 0..4 {
                let i = 4 * step + r;
                if i < x.rows && f < x.width {
                    let value: f64 = x.row(i)[f].into();
                    if !(0.0..=MOST).contains(&value) || value.fract() != 0.0 {
                        return false;
                    }
                    sums[f] += value as u32;
                    four |= (value as u32) << (8 * r);
                }
            }
            packed[(panel * depth + step) * U8x4::PANEL + lane] = U8x4(four);
        }
    }
    true
}

impl Vector<U8x4> for Portable<U8x4> {
    const LANES: usize = 2;
    type Half = Self;
    #[inline(always)]
    unsafe fn low(self) -> Self {
        self
    }
    #[inline(always)]
    unsafe fn zero() -> Self {
        Portable([U8x4(0); 2])
    }
    #[inline(always)]
    unsafe fn load(p: *const U8x4) -> Self {
        // SAFETY: the caller vouches for two elements.
        unsafe { Portable([U8x4((*p).0 ^ SIGNS), U8x4((*p.add(1)).0 ^ SIGNS)]) }
    }
    #[inline(always)]
    unsafe fn splat(p: *const U8x4) -> Self {
        // SAFETY: the caller vouches for one element.
        unsafe { Portable([*p; 2]) }
    }
    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        let dot = |lane: usize| {
            let (a, b) = (self.0[lane].0.to_le_bytes(), b.0[lane].0.to_le_bytes());
            (0..4).map(|i| i32::from(a[i]) * i32::from(b[i] as i8)).sum::<i32>()
        };
        Portable([0, 1].map(|lane| U8x4(c.0[lane].0.wrapping_add_signed(dot(lane)))))
    }
    #[inline(always)]
    unsafe fn add_f64(self, p: *mut f64, overwrite: bool) {
        for (lane, &v) in self.0.iter().enumerate() {
            // SAFETY: the caller vouches for two elements.
            let out = unsafe { &mut *p.add(lane) };
            *out = f64::from(v.0 as i32) + if overwrite { 0.0 } else { *out };
        }
    }
    unsafe fn tile<const MR: usize, const NV: usize, const NH: usize, const NR: usize>(
        job: &super::Job<U8x4>,
    ) {
        // SAFETY: vouched for by the caller.
        unsafe { super::tile::<U8x4, Self, MR, NV, NH, NR, { super::LhsLayout::STRIDED }>(job) }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod wide {
    use super::{Lines, MOST, Row, SIGNS, Tile, U8x4};
    use std::arch::x86_64::*;

    /// SAFETY: the CPU has AVX-512; sixteen elements can be read.
    #[inline(always)]
    pub unsafe fn load_512(p: *const U8x4) -> __m512i {
        // SAFETY: vouched for by the caller.
        unsafe { _mm512_xor_si512(_mm512_loadu_si512(p.cast()), _mm512_set1_epi32(SIGNS as i32)) }
    }

    /// SAFETY: the CPU has AVX-512.
    #[inline(always)]
    pub unsafe fn splat_512(x: U8x4) -> __m512i {
        // SAFETY: vouched for by the caller.
        unsafe { _mm512_set1_epi32(x.0 as i32) }
    }

    /// SAFETY: the CPU has the instruction.
    #[inline(always)]
    pub unsafe fn dot_512(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        // SAFETY: vouched for by the caller.
        unsafe { _mm512_dpbusd_epi32(c, a, b) }
    }

    /// SAFETY: the CPU has AVX-512; `p` has room for sixteen.
    #[inline(always)]
    pub unsafe fn add_512(v: __m512i, p: *mut f64, overwrite: bool) {
        // SAFETY: vouched for by the caller.
        unsafe {
            add_256(_mm512_castsi512_si256(v), p, overwrite);
            add_256(_mm512_extracti64x4_epi64::<1>(v), p.add(8), overwrite);
        }
    }

    /// SAFETY: the CPU has AVX-512; eight elements can be read.
    #[inline(always)]
    pub unsafe fn load_256(p: *const U8x4) -> __m256i {
        // SAFETY: vouched for by the caller.
        unsafe { _mm256_xor_si256(_mm256_loadu_si256(p.cast()), _mm256_set1_epi32(SIGNS as i32)) }
    }

    /// SAFETY: the CPU has AVX-512.
    #[inline(always)]
    pub unsafe fn splat_256(x: U8x4) -> __m256i {
        // SAFETY: vouched for by the caller.
        unsafe { _mm256_set1_epi32(x.0 as i32) }
    }

    /// SAFETY: the CPU has the instruction.
    #[inline(always)]
    pub unsafe fn dot_256(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        // SAFETY: vouched for by the caller.
        unsafe { _mm256_dpbusd_epi32(c, a, b) }
    }

    /// SAFETY: the CPU has AVX-512; `p` has room for eight.
    #[inline(always)]
    pub unsafe fn add_256(v: __m256i, p: *mut f64, overwrite: bool) {
        // SAFETY: vouched for by the caller.
        unsafe {
            let old = if overwrite { _mm512_setzero_pd() } else { _mm512_loadu_pd(p) };
            _mm512_storeu_pd(p, _mm512_add_pd(old, _mm512_cvtepi32_pd(v)));
        }
    }

    /// SAFETY: the CPU has AVX-512 and its products of bytes; there is room for all features and steps.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512vnni")]
    pub unsafe fn pack<T: Row>(x: Lines<T>, packed: &mut [U8x4], sums: &mut [u32]) -> bool {
        let depth = x.rows.div_ceil(4);
        let width = x.width.next_multiple_of(U8x4::PANEL);
        let ones = _mm512_set1_epi8(1);
        let beyond = _mm512_set1_epi32(!(MOST as i32));
        for step in 0..depth {
            let rows = (x.rows - 4 * step).min(4);
            let mut all = _mm512_setzero_si512();
            let mut bad = 0;
            for f in (0..width).step_by(16) {
                let mask = match x.width.saturating_sub(f) {
                    16.. => u16::MAX,
                    left => (1 << left) - 1,
                };
                let mut four = _mm512_setzero_si512();
                for r in 0..rows {
                    let row = x.data.as_ptr().wrapping_add((4 * step + r) * x.stride + f);
                    // SAFETY: the mask ends with the row.
                    let (whole, lost) = unsafe { T::whole(row, mask) };
                    bad |= lost;
                    all = _mm512_or_si512(all, whole);
                    four = _mm512_or_si512(
                        four,
                        _mm512_sllv_epi32(whole, _mm512_set1_epi32(8 * r as i32)),
                    );
                }
                let at = (f / U8x4::PANEL * depth + step) * U8x4::PANEL + f % U8x4::PANEL;
                // SAFETY: both have whole vectors for all features.
                unsafe {
                    _mm512_storeu_si512(packed.as_mut_ptr().add(at).cast(), four);
                    let sum: *mut __m512i = sums.as_mut_ptr().add(f).cast();
                    let added = _mm512_dpbusd_epi32(_mm512_loadu_si512(sum), four, ones);
                    _mm512_storeu_si512(sum, added);
                }
            }
            if bad != 0 || _mm512_test_epi32_mask(all, beyond) != 0 {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::{GemmFlags, Left, drive};
    use super::*;

    fn number(i: usize, f: usize) -> u8 {
        // Extremes among them.
        [0, 255, 128, 127, 1][(i * 7 + f) % 5]
            ^ ((i * 31 + f * 17) as u8 & if f.is_multiple_of(3) { 0 } else { 0xff })
    }

    /// Numbers packed and multiplied against sums one at a time, by every kernel there is.
    fn check<T: Row>(rows: usize, d: usize) {
        let stride = d + 3;
        let x: Vec<T> = (0..rows * stride)
            .map(|at| T::narrow(f64::from(number(at / stride, at % stride))))
            .collect();
        let lines = Lines::new(&x, stride, rows, d);
        let (depth, width) = (rows.div_ceil(4), d.next_multiple_of(U8x4::PANEL));
        let (mut packed, mut sums) = (vec![U8x4(9); depth * width], vec![0; width]);
        assert!(pack_u8x4(lines, &mut packed, &mut sums));
        let (mut plain, mut plain_sums) = (packed.clone(), vec![0; width]);
        plain.fill(U8x4(7));
        assert!(plain_pack(lines, &mut plain, &mut plain_sums));
        assert!(packed == plain && sums == plain_sums);
        let panel = &packed[..depth * U8x4::PANEL];
        let columns = d.min(U8x4::PANEL);
        let left = || Left::new(panel, columns, depth, 1, U8x4::PANEL);
        let mut found = vec![0.5; columns * columns];
        let flags = GemmFlags { padded: true, ..GemmFlags::default() };
        U8x4::product(left(), panel, U8x4::PANEL, columns, &mut found, columns, flags);
        let mut portable = vec![0.5; columns * columns];
        // SAFETY: the operands are as large as they claim.
        unsafe {
            drive::<U8x4, Portable<U8x4>, 4, 2, 4>(
                left(),
                panel,
                U8x4::PANEL,
                columns,
                &mut portable,
                columns,
                flags,
            );
        }
        for f in 0..columns {
            let sum: u32 = (0..rows).map(|i| u32::from(number(i, f))).sum();
            assert_eq!(sums[f], sum);
            for g in 0..columns {
                let product = |i: usize| i32::from(number(i, f)) * (i32::from(number(i, g)) - 128);
                let expected = 0.5 + f64::from((0..rows).map(product).sum::<i32>());
                assert_eq!(found[f * columns + g], expected, "{rows} × {d} at {f}, {g}");
                assert_eq!(portable[f * columns + g], expected);
            }
        }
    }

    #[test]
    fn products_of_bytes_are_exact() {
        for (rows, d) in [(1, 1), (4, 16), (5, 17), (31, 48), (512, 60), (130, 100)] {
            check::<f32>(rows, d);
            check::<f64>(rows, d);
        }
    }

    #[test]
    fn other_numbers_are_refused() {
        for bad in
            [-1.0, 0.5, 256.0, 255.000_01, 1e300, f64::NAN, f64::INFINITY, -3e9, 4_294_967_296.0]
        {
            for at in [0, 18, 40] {
                let mut x = vec![3.0; 44];
                x[at] = bad;
                let narrow: Vec<f32> = x.iter().map(|v| *v as f32).collect();
                let (mut packed, mut sums) = (vec![U8x4(0); 48], vec![0; 48]);
                let refused = |found: bool| assert!(!found, "{bad} at {at}");
                refused(pack_u8x4(Lines::new(&x, 11, 4, 11), &mut packed, &mut sums));
                refused(plain_pack(Lines::new(&x, 11, 4, 11), &mut packed, &mut sums));
                refused(pack_u8x4(Lines::new(&narrow, 11, 4, 11), &mut packed, &mut sums));
            }
        }
        // −0 is 0.
        let (mut packed, mut sums) = (vec![U8x4(1); 48], vec![0; 48]);
        assert!(pack_u8x4(Lines::new(&[-0.0f64], 1, 1, 1), &mut packed, &mut sums));
        assert_eq!((packed[0], sums[0]), (U8x4(0), 0));
    }
}
