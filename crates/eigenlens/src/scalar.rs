//! The two element types of data: `f32` and `f64`.

use crate::linalg::simd::{Row, Tile};

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
    + Row
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
    /// The numbers as they lie in memory.
    fn as_bytes(numbers: &[Self]) -> &[u8];

    /// Hands what is made of this type to the function for it.
    ///
    /// Generic functions are compiled in the crate that calls them, with everything they call. A
    /// public one that only chooses between two functions of one type each leaves the work, and the
    /// time to compile it, in this crate.
    #[doc(hidden)]
    fn choose<In: Typed, Out: Typed>(
        given: In::Of<Self>,
        single: impl FnOnce(In::Of<f32>) -> Out::Of<f32>,
        double: impl FnOnce(In::Of<f64>) -> Out::Of<f64>,
    ) -> Out::Of<Self>;
}

/// A type with an element type: `Of<f32>` and `Of<f64>`.
#[doc(hidden)]
pub trait Typed {
    /// The type for these elements.
    type Of<T: Scalar>;
}

/// Declares a [`Typed`]: `typed!(Matrix, T => Array2<T>)`.
macro_rules! typed {
    ($name:ident, $t:ident => $of:ty) => {
        pub(crate) struct $name;

        impl $crate::scalar::Typed for $name {
            type Of<$t: $crate::scalar::Scalar> = $of;
        }
    };
}
pub(crate) use typed;

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

    fn as_bytes(numbers: &[f64]) -> &[u8] {
        bytemuck::cast_slice(numbers)
    }

    fn choose<In: Typed, Out: Typed>(
        given: In::Of<f64>,
        _: impl FnOnce(In::Of<f32>) -> Out::Of<f32>,
        double: impl FnOnce(In::Of<f64>) -> Out::Of<f64>,
    ) -> Out::Of<f64> {
        double(given)
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

    fn as_bytes(numbers: &[f32]) -> &[u8] {
        bytemuck::cast_slice(numbers)
    }

    fn choose<In: Typed, Out: Typed>(
        given: In::Of<f32>,
        single: impl FnOnce(In::Of<f32>) -> Out::Of<f32>,
        _: impl FnOnce(In::Of<f64>) -> Out::Of<f64>,
    ) -> Out::Of<f32> {
        single(given)
    }
}
