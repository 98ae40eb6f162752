//! Sums, fourth powers and largest magnitude of the scores, in the pass that writes them.

use super::columns::two_sum;
use crate::linalg::simd::{Tile, vectorized};

/// How the scores of each component are spread: what their normality is judged by.
#[derive(Clone, Debug)]
pub(crate) struct ScoreMoments {
    pub squares: Vec<f64>,
    /// What rounding took from them: [`squares`](Self::squares) with it are the sums to the last digits, however
    /// unequal their terms.
    lost: Vec<f64>,
    pub fourth_powers: Vec<f64>,
    /// Largest weighted square, and the row it came from.
    pub largest: Vec<f64>,
    pub row: Vec<u64>,
}

impl ScoreMoments {
    pub fn new(k: usize) -> ScoreMoments {
        ScoreMoments {
            squares: vec![0.0; k],
            lost: vec![0.0; k],
            fourth_powers: vec![0.0; k],
            largest: vec![0.0; k],
            row: vec![0; k],
        }
    }

    /// The sum of the squares of every component.
    pub fn sums_of_squares(&self) -> impl Iterator<Item = f64> {
        self.squares.iter().zip(&self.lost).map(|(sum, lost)| sum + lost)
    }

    /// Adds those of later samples.
    pub(super) fn merge(&mut self, later: &ScoreMoments) {
        for j in 0..self.squares.len() {
            let (sum, lost) = two_sum(self.squares[j], later.squares[j]);
            self.squares[j] = sum;
            self.lost[j] += lost + later.lost[j];
            self.fourth_powers[j] += later.fourth_powers[j];
            if later.largest[j] > self.largest[j] {
                self.largest[j] = later.largest[j];
                self.row[j] = later.row[j];
            }
        }
    }
}

/// The weighted sum of every column of scores, in whole vectors of columns, and the moments of the leading ones.
#[derive(Clone)]
pub(super) struct ScoreAccumulator {
    pub sums: Vec<f64>,
    /// Those past the last column that is asked for are left out when merging.
    pub score_moments: ScoreMoments,
}

impl ScoreAccumulator {
    /// Of `b` columns, and of the tails that `of` has.
    pub fn new(b: usize, of: Option<&ScoreMoments>) -> ScoreAccumulator {
        let score_moments = of.map_or(0, |t| t.squares.len().next_multiple_of(f64::PAD));
        ScoreAccumulator { sums: vec![0.0; b], score_moments: ScoreMoments::new(score_moments) }
    }

    /// Takes `rest` off rows of scores, and counts them as those of the samples from `first` on.
    pub fn take(
        &mut self,
        z: &mut [f64],
        rest: &[f64],
        first: usize,
        weight: impl Fn(usize) -> f64,
    ) {
        const LANES: usize = f64::PAD;
        let b = self.sums.len();
        let (sums, _) = self.sums.as_chunks_mut::<LANES>();
        let (rest, _) = rest.as_chunks::<LANES>();
        let (squares, _) = self.score_moments.squares.as_chunks_mut::<LANES>();
        let (lost, _) = self.score_moments.lost.as_chunks_mut::<LANES>();
        let (fourth_powers, _) = self.score_moments.fourth_powers.as_chunks_mut::<LANES>();
        let (largest, _) = self.score_moments.largest.as_chunks_mut::<LANES>();
        let (row, _) = self.score_moments.row.as_chunks_mut::<LANES>();
        let weight = &weight;
        vectorized(
            #[inline(always)]
            move || {
                for c in 0..squares.len() {
                    // Copies stay in registers while the rows go by.
                    let (mut sum, rest) = (sums[c], rest[c]);
                    let (mut square_sum, mut square_lost) = (squares[c], lost[c]);
                    let mut fourth = [0.0; LANES];
                    let (mut most, mut at) = (largest[c], row[c]);
                    for (i, z) in z.chunks_exact_mut(b).enumerate() {
                        let (w, z) = (weight(i), &mut z.as_chunks_mut::<LANES>().0[c]);
                        for j in 0..LANES {
                            let score = z[j] - rest[j];
                            z[j] = score;
                            sum[j] += w * score;
                            let square = w * score * score;
                            let (sum, lost) = two_sum(square_sum[j], square);
                            square_sum[j] = sum;
                            square_lost[j] += lost;
                            fourth[j] += square * score * score;
                            let larger = square > most[j];
                            most[j] = if larger { square } else { most[j] };
                            at[j] = if larger { (first + i) as u64 } else { at[j] };
                        }
                    }
                    sums[c] = sum;
                    (squares[c], lost[c]) = (square_sum, square_lost);
                    for j in 0..LANES {
                        fourth_powers[c][j] += fourth[j];
                    }
                    (largest[c], row[c]) = (most, at);
                }
                for c in squares.len()..sums.len() {
                    let (mut sum, rest) = (sums[c], rest[c]);
                    for (i, z) in z.chunks_exact_mut(b).enumerate() {
                        let (w, z) = (weight(i), &mut z.as_chunks_mut::<LANES>().0[c]);
                        for j in 0..LANES {
                            z[j] -= rest[j];
                            sum[j] += w * z[j];
                        }
                    }
                    sums[c] = sum;
                }
            },
        );
    }

    /// Whether all scores may have been numbers: one that is not leaves its sum so.
    pub fn is_finite(&self) -> bool {
        self.sums.iter().all(|sum| sum.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beside one score of 2²⁷ the squares of all others are less than half a unit in the last place.
    #[test]
    fn squares_are_not_lost_beside_a_large_one() {
        let mut all = ScoreMoments::new(1);
        for block in 0..3 {
            let mut accumulator = ScoreAccumulator::new(f64::PAD, Some(&all));
            let mut z = vec![0.0; 64 * f64::PAD];
            z.iter_mut().step_by(f64::PAD).for_each(|z| *z = 1.0);
            if block == 0 {
                z[0] = 2f64.powi(27);
            }
            accumulator.take(&mut z, &[0.0; f64::PAD], 64 * block, |_| 1.0);
            all.merge(&accumulator.score_moments);
        }
        let exact = 2f64.powi(54) + 191.0;
        assert_eq!(all.sums_of_squares().next(), Some(exact));
    }
}
