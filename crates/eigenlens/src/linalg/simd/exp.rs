//! The exponential function and the cosine as plain arithmetic, so that a loop over them fills
//! vector registers.
//!
//! `eˣ = 2ⁿ eʳ` with n the nearest whole number to x/ln 2 and |r| ≤ ln 2 / 2 (Cody & Waite 1980);
//! eʳ by its Taylor series, whose remainder is below the last bit.

/// eˣ to within 2 units of the last place, for x ≤ 709; exactly 0 below −708, exactly 1 at 0.
#[inline(always)]
pub fn exp<const FUSED: bool>(x: f64) -> f64 {
    // Added to a number below 2⁵¹, this leaves its nearest whole number in the last bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // 1/2!, 1/3!, …, 1/13!
    const SERIES: [f64; 12] = [
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5_040.0,
        1.0 / 40_320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
        1.0 / 39_916_800.0,
        1.0 / 479_001_600.0,
        1.0 / 6_227_020_800.0,
    ];
    let inside = x.clamp(-708.0, 709.0);
    let shifted = fma::<FUSED>(inside, std::f64::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = fma::<FUSED>(n, -LN2_LOW, fma::<FUSED>(n, -LN2_HIGH, inside));
    let mut sum = SERIES[11];
    for c in SERIES[..11].iter().rev() {
        sum = fma::<FUSED>(sum, r, *c);
    }
    let near_one = fma::<FUSED>(r * r, sum, r) + 1.0;
    let scaled = f64::from_bits(near_one.to_bits().wrapping_add(shifted.to_bits() << 52));
    if x < -708.0 { 0.0 } else { scaled }
}

/// eˣ to within 2 units of the last place of `f32`, for x ≤ 88; exactly 0 below −87.
#[inline(always)]
pub fn exp_f32<const FUSED: bool>(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    const SERIES: [f32; 6] =
        [1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5_040.0];
    let inside = x.clamp(-87.0, 88.0);
    let shifted = fma_f32::<FUSED>(inside, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = fma_f32::<FUSED>(n, -LN2_LOW, fma_f32::<FUSED>(n, -LN2_HIGH, inside));
    let mut sum = SERIES[5];
    for c in SERIES[..5].iter().rev() {
        sum = fma_f32::<FUSED>(sum, r, *c);
    }
    let near_one = fma_f32::<FUSED>(r * r, sum, r) + 1.0;
    let scaled = f32::from_bits(near_one.to_bits().wrapping_add(shifted.to_bits() << 23));
    if x < -87.0 { 0.0 } else { scaled }
}

/// cos x to about 4e-16, for |x| below a million: `cos x = (−1)ⁿ cos r` with n the nearest whole
/// number to x/π, and the Taylor series on |r| ≤ π/2.
#[inline(always)]
pub fn cos<const FUSED: bool>(x: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    // π in two parts, the first with zeros at its end (fdlibm).
    const PI_HIGH: f64 = 2.0 * 1.570_796_326_734_125_6;
    const PI_LOW: f64 = 2.0 * 6.077_100_506_506_192e-11;
    // −1/2!, 1/4!, −1/6!, …, −1/22!
    const SERIES: [f64; 11] = [
        -1.0 / 2.0,
        1.0 / 24.0,
        -1.0 / 720.0,
        1.0 / 40_320.0,
        -1.0 / 3_628_800.0,
        1.0 / 479_001_600.0,
        -1.0 / 87_178_291_200.0,
        1.0 / 20_922_789_888_000.0,
        -1.0 / 6_402_373_705_728_000.0,
        1.0 / 2_432_902_008_176_640_000.0,
        -1.0 / 1_124_000_727_777_607_680_000.0,
    ];
    let shifted = fma::<FUSED>(x, std::f64::consts::FRAC_1_PI, ROUND);
    let n = shifted - ROUND;
    let r = fma::<FUSED>(n, -PI_LOW, fma::<FUSED>(n, -PI_HIGH, x));
    let square = r * r;
    let mut sum = SERIES[10];
    for c in SERIES[..10].iter().rev() {
        sum = fma::<FUSED>(sum, square, *c);
    }
    let value = fma::<FUSED>(square, sum, 1.0);
    f64::from_bits(value.to_bits() ^ (shifted.to_bits() << 63))
}

#[inline(always)]
fn fma<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

#[inline(always)]
fn fma_f32<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

#[cfg(test)]
mod tests {
    use super::super::{Elementwise, elementwise};
    use super::*;

    struct All<'a>(&'a mut [f64], &'a mut [f32]);

    impl Elementwise for All<'_> {
        type Output = ();
        #[inline(always)]
        fn run<const FUSED: bool>(self) {
            self.0.iter_mut().for_each(|x| *x = exp::<FUSED>(*x));
            self.1.iter_mut().for_each(|x| *x = exp_f32::<FUSED>(*x));
        }
    }

    /// Units of the last place between two positive numbers.
    fn ulps(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    #[test]
    fn two_units_of_the_last_place() {
        let at: Vec<f64> = (0..200_000).map(|i| 708.9 - f64::from(i) * 0.007_084).collect();
        let narrow: Vec<f32> = at.iter().map(|x| (*x * 0.122) as f32).collect();
        for fused in [false, true] {
            let (mut wide, mut small) = (at.clone(), narrow.clone());
            if fused {
                elementwise(All(&mut wide, &mut small));
            } else {
                All(&mut wide, &mut small).run::<false>();
            }
            for (x, y) in at.iter().zip(&wide) {
                if *x >= -708.0 {
                    assert!(ulps(*y, x.exp()) <= 2, "exp({x}) is {y}, not {}", x.exp());
                } else {
                    assert_eq!(*y, 0.0);
                }
            }
            for (x, y) in narrow.iter().zip(&small).filter(|(x, _)| (-87.0..=88.0).contains(*x)) {
                let true_value = f64::from(*x).exp() as f32;
                let off = y.to_bits().abs_diff(true_value.to_bits());
                assert!(off <= 2, "exp({x}) is {y}, not {true_value}");
            }
        }
    }

    struct Cosines<'a>(&'a mut [f64]);

    impl Elementwise for Cosines<'_> {
        type Output = ();
        #[inline(always)]
        fn run<const FUSED: bool>(self) {
            self.0.iter_mut().for_each(|x| *x = cos::<FUSED>(*x));
        }
    }

    #[test]
    fn cosines_are_those_of_the_standard_library() {
        let at: Vec<f64> = (0..100_000).map(|i| f64::from(i) * 0.37 - 18_000.0).collect();
        let (mut fused, mut plain) = (at.clone(), at.clone());
        elementwise(Cosines(&mut fused));
        Cosines(&mut plain).run::<false>();
        for ((x, a), b) in at.iter().zip(&fused).zip(&plain) {
            assert!((a - x.cos()).abs() < 1e-15, "cos({x}) is {a}");
            assert!((b - x.cos()).abs() < 1e-15, "cos({x}) is {b}");
        }
    }

    #[test]
    fn the_ends_are_exact() {
        let mut wide = [0.0, -0.0, -708.1, -1e308, f64::NEG_INFINITY];
        let mut narrow = [0.0f32, -0.0, -87.1, -1e38, f32::NEG_INFINITY];
        elementwise(All(&mut wide, &mut narrow));
        assert_eq!(wide, [1.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(narrow, [1.0, 1.0, 0.0, 0.0, 0.0]);
    }
}
