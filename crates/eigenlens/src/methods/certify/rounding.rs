//! What rounding does to products with standardised data: how exact the measurement is that a certificate stands on.

use crate::passes::{Scaler, Standardized};
use crate::scalar::Scalar;
use crate::solver::certificate::{ResidualParts, Rounding};
use ndarray::{Array2, ArrayView2, s};

/// Rounding errors are at most half of this, relative to what is rounded. What is said of them below holds on average:
/// twice that is never exceeded, as far as `cargo xtask campaign` can tell.
const UNIT: f64 = f64::EPSILON;

/// The sizes that the rounding of a pass over the data depends on, in units of variance.
///
/// Errors of a sum add up like independent ones (Higham & Mary 2019), or more where terms are equal (see [`growth`]). Over all samples, the partial sums of `xᵀu` have a mean square of at most λ₁, and of at most
/// `(Σ size_f |u_f|)²`.
pub(super) struct PassRounding {
    /// How the errors of the additions that make one entry of `Xᵀ z` add up.
    over_samples: f64,
    /// The same for those that make one score.
    over_features: f64,
    /// Root mean square of each column as the pass sees it (d).
    sizes: Vec<f64>,
    /// The mean square of the longest partial sum: the largest eigenvalue of what is multiplied.
    norm: f64,
    /// What the columns' scales are off by, relative to them; 0 where they are not standardised.
    scales: f64,
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
        let over_samples = growth(data.additions(columns, rows));
        PassRounding {
            over_samples,
            over_features: growth(data.score_additions()),
            sizes: squares().map(f64::sqrt).collect(),
            norm: top + (0..variances.len()).map(offset).sum::<f64>(),
            scales: if scale.is_some() { UNIT * (2.0 + over_samples) } else { 0.0 },
        }
    }

    /// Of the residuals and the Rayleigh quotients of unit vectors (d × m) with these values (m).
    pub fn of(&self, vectors: ArrayView2<f64>, values: &[f64]) -> Rounding {
        let top = values.first().copied().unwrap_or(0.0);
        let total: f64 = self.sizes.iter().map(|s| s * s).sum();
        let each = || vectors.columns().into_iter().zip(values).map(|(u, v)| (u, v.max(0.0)));
        let residuals = each().map(|(u, value)| {
            let scores = self.norm.sqrt() * self.of_scores(u.iter());
            let sums = UNIT * ((4.0 + self.over_samples) * value + 2.0 * (total * value).sqrt());
            scores + sums + 2.0 * self.scales * top
        });
        let quotients = each().map(|(u, value)| {
            let scores = 2.0 * value.sqrt() * self.of_scores(u.iter());
            scores + self.of_sums(u.iter(), value) + 2.0 * self.scales * value
        });
        Rounding { residuals: residuals.collect(), values: quotients.collect() }
    }

    /// The residuals of the first `k` of these vectors (d × m) taken apart, from the products with them (d × m).
    pub fn parts(
        &self,
        product: ArrayView2<f64>,
        vectors: ArrayView2<f64>,
        values: &[f64],
        k: usize,
    ) -> ResidualParts {
        let u = vectors.slice(s![.., ..k]);
        let mut inside = u.t().dot(&product.slice(s![.., ..k]));
        let gram = u.t().dot(&u);
        let scores: Vec<f64> = u.columns().into_iter().map(|u| self.of_scores(u.iter())).collect();
        for i in 0..k {
            for j in 0..k {
                let rest = (inside[[i, j]] - values[j] * gram[[i, j]]).abs();
                let rounding = values[i].max(0.0).sqrt() * scores[j]
                    + self.of_sums(u.column(i).iter(), values[j].max(0.0))
                    + self.scales * (values[i] + values[j]);
                inside[[i, j]] = rest + rounding;
            }
        }
        let outside = self.outside(product, vectors, values, &scores, k);
        ResidualParts { inside, outside }
    }

    /// What the residuals have outside the span of the components.
    fn outside(
        &self,
        product: ArrayView2<f64>,
        vectors: ArrayView2<f64>,
        values: &[f64],
        scores: &[f64],
        k: usize,
    ) -> Vec<f64> {
        let u = vectors.slice(s![.., ..k]);
        let mut rest: Array2<f64> = product.slice(s![.., ..k]).to_owned();
        for _ in 0..2 {
            rest = &rest - &u.dot(&u.t().dot(&rest));
        }
        let next = values.get(k).copied().unwrap_or(0.0).max(0.0);
        // Errors of the sums lie along the features: those that the components span are not outside.
        let free = (self.sizes.iter().zip(u.rows()))
            .map(|(size, u)| size * size * (1.0 - u.dot(&u)).max(f64::EPSILON))
            .sum::<f64>();
        (0..k)
            .map(|j| {
                let value = values[j].max(0.0);
                let sums = UNIT * (4.0 + self.over_samples) * (free * value).sqrt();
                rest.column(j).dot(&rest.column(j)).sqrt()
                    + next.sqrt() * scores[j]
                    + sums
                    + self.scales * (value + next)
            })
            .collect()
    }

    /// Root mean square of the errors of the scores along u.
    fn of_scores<'u>(&self, u: impl Iterator<Item = &'u f64>) -> f64 {
        let moduli: f64 = self.sizes.iter().zip(u).map(|(size, u)| size * u.abs()).sum();
        UNIT * (3.0 + self.over_features) * moduli.min(self.norm.sqrt())
    }

    /// Of the sums over samples and features in `uᵀ Xᵀ z`, for scores of this variance.
    fn of_sums<'u>(&self, u: impl Iterator<Item = &'u f64>, value: f64) -> f64 {
        let squares: f64 = self.sizes.iter().zip(u).map(|(size, u)| (size * u).powi(2)).sum();
        let growth = 4.0 + self.over_samples + self.over_features;
        UNIT * growth * (value * squares.max(value)).sqrt()
    }
}

/// What m additions add up to, in rounding errors of the last partial sum: √(m/3) where these grow evenly and errors are
/// independent. Terms that are all equal round alike for long, by up to m/4.
fn growth(additions: f64) -> f64 {
    (additions / 3.0).sqrt() + additions / 16.0
}
