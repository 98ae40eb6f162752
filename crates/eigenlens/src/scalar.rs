//! The two element types of data: `f32` and `f64`.

use crate::linalg::simd::Tile;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// An element of a data matrix: `f32` or `f64`, and nothing else.
///
/// Data keep their own type in memory; every sum over samples is made in `f64`.
pub trait Scalar:
    sealed::Sealed
    + Tile
    + Copy
    + Send
    + Sync
    + PartialOrd
    + std::fmt::Debug
    + Default
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + 'static
{
    /// The distance from 1 to the next number of this type.
    const EPSILON: f64;
    /// How far a column's spread may lie from 1 (as a power of two) before products of its entries
    /// would overflow or lose digits; beyond it columns are scaled by powers of two first.
    const SAFE_EXPONENT: i32;
    /// Two entries of a component closer than this (relatively) tie under the sign rule.
    const SIGN_TIE: f64;
    /// `"f32"` or `"f64"`.
    const NAME: &'static str;

    /// Widens, exactly.
    fn to_f64(self) -> f64;
    /// Rounds to this type.
    fn from_f64(value: f64) -> Self;
}

impl Scalar for f64 {
    const EPSILON: f64 = f64::EPSILON;
    const SAFE_EXPONENT: i32 = 200;
    const SIGN_TIE: f64 = 1e-6;
    const NAME: &'static str = "f64";

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn from_f64(value: f64) -> f64 {
        value
    }
}

impl Scalar for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    const SAFE_EXPONENT: i32 = 30;
    const SIGN_TIE: f64 = 1e-3;
    const NAME: &'static str = "f32";

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
}
