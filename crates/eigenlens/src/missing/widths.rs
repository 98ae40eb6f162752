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

/// Calls what is compiled for the vectors of `ẑ` and of a packed `ẑ ẑᵀ` with up to [`WIDEST`] dimensions.
macro_rules! with_widths {
    ($k:expr, $sum:ident($($argument:expr),*)) => {
        match $k {
            0..=2 => $sum::<1, 1>($($argument),*),
            3..=4 => $sum::<1, 2>($($argument),*),
            5 => $sum::<1, 3>($($argument),*),
            6 => $sum::<1, 4>($($argument),*),
            7 => $sum::<1, 5>($($argument),*),
            8 => $sum::<2, 6>($($argument),*),
            9 => $sum::<2, 7>($($argument),*),
            10 => $sum::<2, 9>($($argument),*),
            11 => $sum::<2, 10>($($argument),*),
            _ => $sum::<2, 12>($($argument),*),
        }
    };
}
pub(super) use with_widths;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_those_of_the_widths() {
        fn numbers<const U: usize, const P: usize>() -> (usize, usize) {
            (U * LANES, P * LANES)
        }
        for k in 0..=WIDEST {
            assert_eq!(with_widths!(k, numbers()), (width(k), packed_width(k)));
        }
    }
}
