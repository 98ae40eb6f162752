//! How scores are spread, found while they are made.

use crate::linalg::simd::{Tile, vectorized};

/// How the scores of each component are spread: what their normality is judged by.
#[derive(Clone, Debug)]
pub(crate) struct Tails {
    pub squares: Vec<f64>,
    pub fourth_powers: Vec<f64>,
    /// Largest weighted square, and the row it came from.
    pub largest: Vec<f64>,
    pub row: Vec<u64>,
}

impl Tails {
    pub fn new(k: usize) -> Tails {
        Tails {
            squares: vec![0.0; k],
            fourth_powers: vec![0.0; k],
            largest: vec![0.0; k],
            row: vec![0; k],
        }
    }

    /// Room for whole vectors of the columns that `of` has; those past its last are left out when
    /// merging.
    pub(super) fn padded(of: Option<&Tails>) -> Tails {
        Tails::new(of.map_or(0, |t| t.squares.len().next_multiple_of(f64::PAD)))
    }

    /// Takes in rows of `b` scores, of the samples from `first` on; whole vectors of columns.
    pub(super) fn add_rows(
        &mut self,
        z: &[f64],
        b: usize,
        first: usize,
        weight: impl Fn(usize) -> f64,
    ) {
        const LANES: usize = f64::PAD;
        let (squares, _) = self.squares.as_chunks_mut::<LANES>();
        let (fourth_powers, _) = self.fourth_powers.as_chunks_mut::<LANES>();
        let (largest, _) = self.largest.as_chunks_mut::<LANES>();
        let (row, _) = self.row.as_chunks_mut::<LANES>();
        let weight = &weight;
        vectorized(
            #[inline(always)]
            move || {
                for c in 0..squares.len() {
                    // Copies stay in registers while the rows go by.
                    let (mut sum, mut fourth) = (squares[c], fourth_powers[c]);
                    let (mut most, mut at) = (largest[c], row[c]);
                    for (i, z) in z.chunks_exact(b).enumerate() {
                        let (w, z) = (weight(i), &z.as_chunks::<LANES>().0[c]);
                        for j in 0..LANES {
                            let square = w * z[j] * z[j];
                            sum[j] += square;
                            fourth[j] += square * z[j] * z[j];
                            let larger = square > most[j];
                            most[j] = if larger { square } else { most[j] };
                            at[j] = if larger { (first + i) as u64 } else { at[j] };
                        }
                    }
                    (squares[c], fourth_powers[c], largest[c], row[c]) = (sum, fourth, most, at);
                }
            },
        );
    }

    pub(super) fn merge(&mut self, later: &Tails) {
        for j in 0..self.squares.len() {
            self.squares[j] += later.squares[j];
            self.fourth_powers[j] += later.fourth_powers[j];
            if later.largest[j] > self.largest[j] {
                self.largest[j] = later.largest[j];
                self.row[j] = later.row[j];
            }
        }
    }
}
