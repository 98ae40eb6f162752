//! How many numbers a row and a pattern have, in whole vectors.

use crate::linalg::simd::{Tile, has_wide_registers};
use crate::linalg::small::packed_len;

/// Numbers of a vector.
pub(super) const LANES: usize = f64::PAD;

/// Numbers from one `ẑ` to the next, and from one packed `ẑ ẑᵀ` to the next: whole vectors.
pub(super) fn width(k: usize) -> usize {
    (k + 1).next_multiple_of(LANES)
}

pub(super) fn packed_width(k: usize) -> usize {
    packed_len(k + 1).next_multiple_of(LANES)
}

/// The most latent dimensions that anything is compiled for: more vectors than those of two rows would not
/// stay in the registers of any processor.
pub(super) const WIDEST: usize = 12;

/// The most latent dimensions for which the sums of a row stay in registers.
pub(super) fn most_at_once() -> usize {
    if has_wide_registers() { WIDEST } else { 7 }
}

/// Calls what is compiled for the vectors of `ẑ` and of a packed `ẑ ẑᵀ`, and for their sum, with up to
/// [`WIDEST`] dimensions.
macro_rules! with_widths {
    ($k:expr, $sum:ident($($argument:expr),*)) => {
        match $k {
            0..=2 => $sum::<1, 1, 2>($($argument),*),
            3..=4 => $sum::<1, 2, 3>($($argument),*),
            5 => $sum::<1, 3, 4>($($argument),*),
            6 => $sum::<1, 4, 5>($($argument),*),
            7 => $sum::<1, 5, 6>($($argument),*),
            8 => $sum::<2, 6, 8>($($argument),*),
            9 => $sum::<2, 7, 9>($($argument),*),
            10 => $sum::<2, 9, 11>($($argument),*),
            11 => $sum::<2, 10, 12>($($argument),*),
            _ => $sum::<2, 12, 14>($($argument),*),
        }
    };
}
pub(super) use with_widths;

/// Sums of vectors, in registers: of the first ones with weights, and of the others.
#[derive(Clone, Copy)]
pub(super) struct Sum<const U: usize, const P: usize> {
    pub weighted: [[f64; LANES]; U],
    pub plain: [[f64; LANES]; P],
}

impl<const U: usize, const P: usize> Sum<U, P> {
    pub const ZERO: Self = Sum { weighted: [[0.0; LANES]; U], plain: [[0.0; LANES]; P] };

    /// From the vectors of a feature.
    #[inline(always)]
    pub fn load<const V: usize>(from: &[[f64; LANES]; V]) -> Self {
        let (weighted, plain) = halves(from);
        Sum { weighted: *weighted, plain: *plain }
    }

    /// To the vectors of a feature.
    #[inline(always)]
    pub fn store<const V: usize>(&self, to: &mut [[f64; LANES]; V]) {
        to[..U].copy_from_slice(&self.weighted);
        to[U..].copy_from_slice(&self.plain);
    }
}

/// The vectors of a feature: the first ones, which are weighted, and the others.
#[inline(always)]
pub(super) fn halves<const U: usize, const P: usize, const V: usize>(
    vectors: &[[f64; LANES]; V],
) -> (&[[f64; LANES]; U], &[[f64; LANES]; P]) {
    let (weighted, plain) = vectors.split_at(U);
    (&weighted.as_chunks::<U>().0[0], &plain.as_chunks::<P>().0[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_those_of_the_widths() {
        fn numbers<const U: usize, const P: usize, const V: usize>() -> (usize, usize) {
            assert_eq!(U + P, V);
            (U * LANES, P * LANES)
        }
        for k in 0..=WIDEST {
            assert_eq!(with_widths!(k, numbers()), (width(k), packed_width(k)));
        }
    }
}
