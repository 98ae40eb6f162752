//! The loop every pass begins with: a row less its centre, times its weights, in f64. In whole
//! vectors to its last number, where the compiler would end with one number at a time: a third of
//! the time for rows of a hundred.

use super::vectorized;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Elements a row may have.
pub trait Row: Copy + Into<f64> {
    /// Eight of them, widened; those that `mask` does not name are 0.
    ///
    /// # Safety
    /// The CPU has AVX-512; the elements that `mask` names can be read.
    #[cfg(target_arch = "x86_64")]
    unsafe fn load(p: *const Self, mask: u8) -> __m512d;
}

impl Row for f64 {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn load(p: *const f64, mask: u8) -> __m512d {
        // SAFETY: vouched for by the caller.
        unsafe { _mm512_maskz_loadu_pd(mask, p) }
    }
}

impl Row for f32 {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn load(p: *const f32, mask: u8) -> __m512d {
        // SAFETY: vouched for by the caller.
        unsafe { _mm512_cvtps_pd(_mm256_maskz_loadu_ps(mask, p)) }
    }
}

/// Writes `((x − mean) − low) · weight`, and zeros after it to the end of the last vector as far as
/// `out` reaches.
pub fn standardize<T: Row>(x: &[T], mean: &[f64], low: &[f64], weight: &[f64], out: &mut [f64]) {
    let d = x.len();
    let constants = [&mean[..d], &low[..d], &weight[..d]];
    assert!(d <= out.len());
    #[cfg(target_arch = "x86_64")]
    if super::x86::has_avx512() {
        // SAFETY: the features were detected; all slices are at least as long as the row.
        return unsafe { wide(x, constants, out) };
    }
    plain(x, constants, out);
}

fn plain<T: Row>(x: &[T], [mean, low, weight]: [&[f64]; 3], out: &mut [f64]) {
    vectorized(
        #[inline(always)]
        move || {
            let (line, beyond) = out.split_at_mut(x.len());
            beyond.iter_mut().take(x.len().next_multiple_of(8) - x.len()).for_each(|b| *b = 0.0);
            for f in 0..line.len() {
                line[f] = ((x[f].into() - mean[f]) - low[f]) * weight[f];
            }
        },
    );
}

/// SAFETY: the CPU has AVX-512; the constants and `out` are at least as long as `x`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn wide<T: Row>(x: &[T], [mean, low, weight]: [&[f64]; 3], out: &mut [f64]) {
    let first = |count: usize| if count >= 8 { u8::MAX } else { (1 << count) - 1 };
    for f in (0..x.len()).step_by(8) {
        let mask = first(x.len() - f);
        // SAFETY: one mask ends with the row, the other with `out`.
        unsafe {
            let at = |constants: &[f64]| f64::load(constants.as_ptr().add(f), mask);
            let centered = _mm512_sub_pd(T::load(x.as_ptr().add(f), mask), at(mean));
            let scaled = _mm512_mul_pd(_mm512_sub_pd(centered, at(low)), at(weight));
            _mm512_mask_storeu_pd(out.as_mut_ptr().add(f), first(out.len() - f), scaled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_vectors_give_what_plain_loops_give() {
        for d in 1..40 {
            let x: Vec<f64> = (0..d).map(|f| (f as f64 * 1.7).sin() * 3.0).collect();
            let constants: [Vec<f64>; 3] =
                [0.3, 1e-17, 1.3].map(|c| (0..d).map(|f| c * (1.0 + f as f64 / 7.0)).collect());
            let [mean, low, weight] = &constants;
            for room in [d, d + 1, d + 9] {
                let (mut out, mut expected) = (vec![7.0; room], vec![7.0; room]);
                standardize(&x, mean, low, weight, &mut out);
                plain(&x, [mean, low, weight], &mut expected);
                assert_eq!(out, expected);
                assert!((0..d).all(|f| out[f] == ((x[f] - mean[f]) - low[f]) * weight[f]));
                assert!(out[d..].iter().take(d.next_multiple_of(8) - d).all(|&b| b == 0.0));
                let narrow: Vec<f32> = x.iter().map(|&x| x as f32).collect();
                standardize(&narrow, mean, low, weight, &mut out);
                plain(&narrow, [mean, low, weight], &mut expected);
                assert_eq!(out, expected);
            }
        }
    }
}
