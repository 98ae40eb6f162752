//! Sums, fourth powers and largest magnitude of the scores, in the pass that writes them.

use crate::linalg::simd::{Tile, vectorized};

/// How the scores of each component are spread: what their normality is judged by.
#[derive(Clone, Debug)]
pub(crate) struct ScoreMoments {
    pub squares: Vec<f64>,
    pub fourth_powers: Vec<f64>,
    /// Largest weighted square, and the row it came from.
    pub largest: Vec<f64>,
    pub row: Vec<u64>,
}

impl ScoreMoments {
    pub fn new(k: usize) -> ScoreMoments {
        ScoreMoments {
            squares: vec![0.0; k],
            fourth_powers: vec![0.0; k],
            largest: vec![0.0; k],
            row: vec![0; k],
        }
    }

    /// Adds those of later samples.
    pub(super) fn merge(&mut self, later: &ScoreMoments) {
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
                    // Sums of their own: equal terms that go one by one into a long sum all round alike.
                    let (mut square_sum, mut fourth) = ([0.0; LANES], [0.0; LANES]);
                    let (mut most, mut at) = (largest[c], row[c]);
                    for (i, z) in z.chunks_exact_mut(b).enumerate() {
                        let (w, z) = (weight(i), &mut z.as_chunks_mut::<LANES>().0[c]);
                        for j in 0..LANES {
                            let score = z[j] - rest[j];
                            z[j] = score;
                            sum[j] += w * score;
                            let square = w * score * score;
                            square_sum[j] += square;
                            fourth[j] += square * score * score;
                            let larger = square > most[j];
                            most[j] = if larger { square } else { most[j] };
                            at[j] = if larger { (first + i) as u64 } else { at[j] };
                        }
                    }
                    sums[c] = sum;
                    for j in 0..LANES {
                        squares[c][j] += square_sum[j];
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
