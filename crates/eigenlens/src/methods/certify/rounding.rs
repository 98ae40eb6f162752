//! What rounding does to products with standardised data: how exact the measurement is that a certificate stands on.

use crate::passes::{Scaler, Standardized};
use crate::scalar::Scalar;
use crate::solver::certificate::{ResidualParts, Rounding};
use ndarray::{ArrayView2, s};

/// What one rounding may be off by, relative to what is rounded.
const UNIT: f64 = 0.5 * f64::EPSILON;

/// The sizes that the rounding of a pass over the data depends on, in units of variance.
///
/// Every addition is off by at most one unit of its result. So a sum of m terms over the samples is off by at most m
/// units of the sum of the moduli of its terms, and that of entries of a column times scores is at most the product of
/// their root mean squares.
pub(super) struct PassRounding {
    /// Additions that make one entry of `Xᵀ z`.
    over_samples: f64,
    /// The same where the rows of a block are added up one after the other.
    in_blocks: f64,
    /// Features that are added up at a time to make a score.
    depth: usize,
    /// Root mean square of each column as the pass sees it (d).
    sizes: Vec<f64>,
    /// The mean square of the longest partial sum: the largest eigenvalue of what is multiplied.
    norm: f64,
    /// What the columns' scales are off by, relative to them; 0 where they are not standardised.
    scales: f64,
}

/// What the rounding along one unit vector u depends on.
struct Direction {
    /// `Σ size_f |u_f|`: no sum of moduli has a larger root mean square.
    moduli: f64,
    /// What the scores along u are off by, root mean square.
    scores: f64,
}

impl PassRounding {
    /// Of a pass that multiplies `columns` vectors; `variances` are those of the standardised columns.
    pub fn new<T: Scalar>(
        data: &Standardized<T>,
        columns: usize,
        variances: &[f64],
        rows: usize,
        top: f64,
    ) -> PassRounding {
        let Scaler { mean_hi, inv_scale, scale, .. } = data.scaler;
        // Sparse rows are multiplied as they are stored: their means are taken off the products.
        let offset = |f: usize| match data.grid.is_sparse() && variances[f] > 0.0 {
            true => (mean_hi[f] * inv_scale[f]).powi(2),
            false => 0.0,
        };
        let squares = || variances.iter().enumerate().map(|(f, v)| v + offset(f));
        let over_samples = data.additions(columns, rows);
        PassRounding {
            over_samples,
            in_blocks: data.additions_in_blocks(rows),
            depth: data.score_depth(),
            sizes: squares().map(f64::sqrt).collect(),
            norm: top + (0..variances.len()).map(offset).sum::<f64>(),
            scales: if scale.is_some() { UNIT * (4.0 + over_samples) } else { 0.0 },
        }
    }

    /// Of the residuals and the Rayleigh quotients of unit vectors (d × m) with these values (m).
    pub fn of(&self, vectors: ArrayView2<f64>, values: &[f64]) -> Rounding {
        let top = values.first().copied().unwrap_or(0.0);
        let longest = self.longest();
        let directions = self.directions(vectors);
        let each = || directions.iter().zip(values).map(|(of, v)| (of, v.max(0.0)));
        let residuals = each().map(|(direction, value)| {
            let scores = self.norm.sqrt() * direction.scores;
            scores + self.of_sums(longest, value) + 2.0 * self.scales * top
        });
        // Quotients are sums of squares that carry their rounding along.
        let quotients = each().map(|(direction, value)| {
            let scores = 2.0 * value.sqrt() * direction.scores;
            scores + 8.0 * UNIT * value + 2.0 * self.scales * value
        });
        Rounding { residuals: residuals.collect(), values: quotients.collect() }
    }

    /// Adds it to the residuals, taken apart, of the leading ones of these vectors (d × m).
    pub fn add_to(&self, parts: &mut ResidualParts, vectors: ArrayView2<f64>, values: &[f64]) {
        let k = parts.outside.len();
        let u = vectors.slice(s![.., ..k]);
        let directions = self.directions(u);
        let value = |j: usize| values[j].max(0.0);
        for ((i, j), inside) in parts.inside.indexed_iter_mut() {
            *inside += value(i).sqrt() * directions[j].scores
                + self.of_sums(directions[i].moduli, value(j))
                + self.scales * (value(i) + value(j));
        }
        // What is multiplied is symmetric: either of two products tells of an entry.
        for i in 0..k {
            for j in 0..i {
                let unequal = 8.0 * UNIT * (value(i) - value(j)).abs();
                let least = parts.inside[[i, j]].min(parts.inside[[j, i]]) + unequal;
                parts.inside[[i, j]] = parts.inside[[i, j]].min(least);
                parts.inside[[j, i]] = parts.inside[[j, i]].min(least);
            }
        }
        let next = values.get(k).copied().unwrap_or(0.0).max(0.0);
        // Errors of the sums lie along the features: those that the components span are not outside.
        let free = (self.sizes.iter().zip(u.rows()))
            .map(|(size, u)| size * (1.0 - u.dot(&u)).max(f64::EPSILON).sqrt())
            .sum::<f64>();
        for (j, outside) in parts.outside.iter_mut().enumerate() {
            *outside += next.sqrt() * directions[j].scores
                + self.of_sums(free.min(self.longest()), value(j))
                + self.scales * (value(j) + next);
        }
    }

    /// What a matrix or an operator made by passes may be off by, so that values below this drown: sums over the samples
    /// are added up over whole blocks of rows there.
    pub fn drowning(&self) -> f64 {
        UNIT * (4.0 + self.in_blocks) * self.longest().powi(2)
    }

    /// Root mean square length of the rows.
    fn longest(&self) -> f64 {
        self.sizes.iter().map(|s| s * s).sum::<f64>().sqrt()
    }

    fn directions(&self, vectors: ArrayView2<f64>) -> Vec<Direction> {
        let m = vectors.ncols();
        let mut moduli = vec![0.0; m];
        // The length of what a sum has come to, and those of all partial sums.
        let (mut squares, mut lengths) = (vec![0.0f64; m], vec![0.0f64; m]);
        let (mut whole, mut wholes) = (vec![0.0f64; m], vec![0.0f64; m]);
        for (f, (size, u)) in self.sizes.iter().zip(vectors.rows()).enumerate() {
            if f > 0 && f.is_multiple_of(self.depth) {
                for j in 0..m {
                    whole[j] += squares[j];
                    wholes[j] += whole[j].sqrt();
                    squares[j] = 0.0;
                }
            }
            for (j, u) in u.iter().enumerate() {
                moduli[j] += size * u.abs();
                squares[j] += u * u;
                lengths[j] += squares[j].sqrt();
            }
        }
        let d = self.sizes.len();
        let additions = (self.depth.min(d) + d / self.depth) as f64;
        let (norm, modelled) = (self.norm.sqrt(), 6.0 + modelled(additions));
        let direction = |j: usize| {
            let sums = (additions * moduli[j]).min(norm * (lengths[j] + wholes[j] + 1.0));
            let scores = (4.0 * moduli[j] + sums).min(modelled * moduli[j].min(norm));
            Direction { moduli: moduli[j], scores: UNIT * scores }
        };
        (0..m).map(direction).collect()
    }

    /// Of sums over the samples of columns of this root mean square times scores of this variance.
    fn of_sums(&self, size: f64, value: f64) -> f64 {
        UNIT * ((2.0 + self.over_samples) * size * value.sqrt() + 4.0 * value)
    }
}

/// What m additions that make a score come to, in units of it. They may add up to m units, which would say little of
/// many features. Independent errors come to √(m/3) (Higham & Mary 2019), and those of a sum that grows evenly to 3m/8
/// if all of them go the same way; twice the first and all of the second are allowed for. This alone is a model: whoever
/// makes data for the purpose may exceed it.
fn modelled(additions: f64) -> f64 {
    2.0 * (additions / 3.0).sqrt() + 0.375 * additions
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of equal terms, which all round alike: the error of each is known exactly, by whole numbers.
    #[test]
    fn no_sum_of_equal_terms_is_off_by_more_than_the_model_allows() {
        let mut worst = 0.0f64;
        for additions in [16u32, 64, 128] {
            for low in 0..2000u64 {
                let bits = (1u64 << 52) + low * 7 + (low << 40);
                let term = bits as f64;
                let sum = (0..additions).fold(0.0, |sum, _| sum + term);
                let exact = u128::from(bits) * u128::from(additions);
                let off = (sum as u128).abs_diff(exact) as f64 / (UNIT * exact as f64);
                assert!(off <= modelled(f64::from(additions)), "{additions} times {bits}: {off}");
                worst = worst.max(off / f64::from(additions));
            }
        }
        // A quarter is reached: independent errors would come to a tenth of that.
        assert!(worst > 0.2, "{worst}");
    }
}
