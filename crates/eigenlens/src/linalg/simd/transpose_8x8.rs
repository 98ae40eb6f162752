//! Transposes of 8 × 8 numbers in registers: rows into lanes and back.

/// One number of each of eight rows.
pub type Lane = [f64; 8];

/// `lanes[p][l] = rows[l · stride + p]` for eight rows, a multiple of eight lanes.
pub fn into_lanes(rows: &[f64], stride: usize, lanes: &mut [Lane]) {
    assert!(lanes.len().is_multiple_of(8) && 7 * stride + lanes.len() <= rows.len());
    #[cfg(target_arch = "x86_64")]
    if super::x86::has_avx512() {
        let (from, to) = (rows.as_ptr(), lanes.as_mut_ptr().cast());
        // SAFETY: the features were detected, the extents asserted.
        return unsafe { wide::transpose_8x8((from, stride, 8), (to, 8, 64), lanes.len() / 8) };
    }
    for (p, lane) in lanes.iter_mut().enumerate() {
        for l in 0..8 {
            lane[l] = rows[l * stride + p];
        }
    }
}

/// The other way.
pub fn from_lanes(lanes: &[Lane], rows: &mut [f64], stride: usize) {
    assert!(lanes.len().is_multiple_of(8) && 7 * stride + lanes.len() <= rows.len());
    #[cfg(target_arch = "x86_64")]
    if super::x86::has_avx512() {
        let (from, to) = (lanes.as_ptr().cast(), rows.as_mut_ptr());
        // SAFETY: the features were detected, the extents asserted.
        return unsafe { wide::transpose_8x8((from, 8, 64), (to, stride, 8), lanes.len() / 8) };
    }
    for (p, lane) in lanes.iter().enumerate() {
        for l in 0..8 {
            rows[l * stride + p] = lane[l];
        }
    }
}

/// `to[p · to_stride + i] = from[i · from_stride + p]` for `rows` rows of `columns` numbers, both multiples
/// of eight.
pub fn transpose_8x8(
    from: &[f64],
    from_stride: usize,
    rows: usize,
    columns: usize,
    to: &mut [f64],
    to_stride: usize,
) {
    if rows == 0 || columns == 0 {
        return;
    }
    assert!(rows.is_multiple_of(8) && columns.is_multiple_of(8));
    assert!((rows - 1) * from_stride + columns <= from.len());
    assert!((columns - 1) * to_stride + rows <= to.len());
    #[cfg(target_arch = "x86_64")]
    if super::x86::has_avx512() {
        for i in (0..rows).step_by(8) {
            let source = (from[i * from_stride..].as_ptr(), from_stride, 8);
            let target = (to[i..].as_mut_ptr(), to_stride, 8 * to_stride);
            // SAFETY: the features were detected, the extents asserted.
            unsafe { wide::transpose_8x8(source, target, columns / 8) };
        }
        return;
    }
    for (p, out) in to.chunks_mut(to_stride).take(columns).enumerate() {
        for (i, o) in out[..rows].iter_mut().enumerate() {
            *o = from[i * from_stride + p];
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod wide {
    use std::arch::x86_64::*;

    /// Turns `count` squares of 8 × 8, given as where the first begins, the distance of its rows, and
    /// how far it is to the next square.
    ///
    /// SAFETY: the CPU has AVX-512; all squares can be read, and written.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    pub unsafe fn transpose_8x8(
        (from, from_stride, from_next): (*const f64, usize, usize),
        (to, to_stride, to_next): (*mut f64, usize, usize),
        count: usize,
    ) {
        for square in 0..count {
            // SAFETY: vouched for by the caller.
            unsafe {
                let (from, to) = (from.add(square * from_next), to.add(square * to_next));
                let mut rows = [_mm512_setzero_pd(); 8];
                for (l, row) in rows.iter_mut().enumerate() {
                    *row = _mm512_loadu_pd(from.add(l * from_stride));
                }
                for (p, row) in transposed(rows).into_iter().enumerate() {
                    _mm512_storeu_pd(to.add(p * to_stride), row);
                }
            }
        }
    }

    /// Columns become rows.
    ///
    /// SAFETY: the CPU has AVX-512.
    #[inline(always)]
    pub unsafe fn transposed(r: [__m512d; 8]) -> [__m512d; 8] {
        // SAFETY: vouched for by the caller.
        unsafe {
            // Pairs of rows, then quarters of four rows, then of eight.
            let pair =
                |i: usize| [_mm512_unpacklo_pd(r[i], r[i + 1]), _mm512_unpackhi_pd(r[i], r[i + 1])];
            let (a, b, c, e) = (pair(0), pair(2), pair(4), pair(6));
            let four = |x: __m512d, y: __m512d| {
                [_mm512_shuffle_f64x2::<0x88>(x, y), _mm512_shuffle_f64x2::<0xdd>(x, y)]
            };
            let mut out = r;
            for odd in 0..2 {
                let (low, high) = (four(a[odd], b[odd]), four(c[odd], e[odd]));
                for half in 0..2 {
                    let [first, second] = four(low[half], high[half]);
                    out[2 * half + odd] = first;
                    out[2 * half + odd + 4] = second;
                }
            }
            out
        }
    }

    /// The same of float32 numbers.
    ///
    /// SAFETY: the CPU has AVX-512.
    #[inline(always)]
    pub unsafe fn transposed_f32(r: [__m256; 8]) -> [__m256; 8] {
        // SAFETY: vouched for by the caller.
        unsafe {
            // Pairs of rows, then four rows, each in both halves; then the halves.
            let mut quads = r;
            for four in [0, 4] {
                let [a, b, c, e] = [r[four], r[four + 1], r[four + 2], r[four + 3]];
                let [low, high] = [_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)];
                let [low_next, high_next] = [_mm256_unpacklo_ps(c, e), _mm256_unpackhi_ps(c, e)];
                quads[four] = _mm256_shuffle_ps::<0x44>(low, low_next);
                quads[four + 1] = _mm256_shuffle_ps::<0xee>(low, low_next);
                quads[four + 2] = _mm256_shuffle_ps::<0x44>(high, high_next);
                quads[four + 3] = _mm256_shuffle_ps::<0xee>(high, high_next);
            }
            let mut out = r;
            for i in 0..4 {
                out[i] = _mm256_permute2f128_ps::<0x20>(quads[i], quads[i + 4]);
                out[i + 4] = _mm256_permute2f128_ps::<0x31>(quads[i], quads[i + 4]);
            }
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_rows() {
        for (rows, columns, from_stride, to_stride) in
            [(8, 8, 8, 8), (24, 40, 43, 24), (16, 8, 9, 21)]
        {
            let from: Vec<f64> = (0..rows * from_stride).map(|i| i as f64).collect();
            let mut to = vec![-1.0; columns * to_stride];
            transpose_8x8(&from, from_stride, rows, columns, &mut to, to_stride);
            for (at, v) in to.iter().enumerate() {
                let (p, i) = (at / to_stride, at % to_stride);
                assert_eq!(*v, if i < rows { (i * from_stride + p) as f64 } else { -1.0 });
            }
        }
    }

    #[test]
    fn rows_become_lanes_and_rows_again() {
        for (height, stride) in [(8, 8), (8, 11), (24, 24), (40, 48)] {
            let rows: Vec<f64> = (0..7 * stride + height).map(|i| i as f64).collect();
            let mut lanes = vec![[-1.0; 8]; height];
            into_lanes(&rows, stride, &mut lanes);
            for (p, lane) in lanes.iter().enumerate() {
                assert!((0..8).all(|l| lane[l] == (l * stride + p) as f64));
            }
            let mut back = vec![-1.0; rows.len()];
            from_lanes(&lanes, &mut back, stride);
            for (i, v) in back.iter().enumerate() {
                assert_eq!(*v, if i % stride < height { i as f64 } else { -1.0 });
            }
        }
    }
}
