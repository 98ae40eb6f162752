//! How wide a kernel is: γ, or the rule that finds it.

use super::functions::SQUARED_DISTANCES;
use super::sample::{sample_rows, squared_distances};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::passes::{Columns, RowGrid};
use crate::scalar::Scalar;
use ndarray::ArrayView2;

/// γ of a Gaussian or Laplacian kernel, or the rule that finds it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Bandwidth {
    /// The median heuristic: σ is the median distance between samples (γ = 1/(2σ²) for the Gaussian
    /// kernel, 1/σ for the Laplacian), over all pairs of at most 1000 samples.
    #[default]
    Median,
    /// 1/(d · variance of all entries), called `scale` by scikit-learn.
    Scale,
    /// 1/d.
    PerFeature,
    /// This γ.
    Gamma(f64),
    /// This σ: γ = 1/(2σ²) for the Gaussian kernel, 1/σ for the Laplacian.
    Sigma(f64),
}

/// How a kernel of distances finds its γ.
pub(crate) struct WidthRule {
    /// From σ, a distance.
    pub of_sigma: fn(f64) -> f64,
    /// By the median heuristic from some rows (n × d).
    pub of_rows: fn(ArrayView2<f64>) -> f64,
}

/// Samples whose distances the median is taken of.
const SAMPLE: usize = 1000;

impl Bandwidth {
    pub(crate) fn check(&self) -> Result<()> {
        let (name, value) = match *self {
            Bandwidth::Gamma(gamma) => ("gamma", gamma),
            Bandwidth::Sigma(sigma) => ("sigma", sigma),
            _ => return Ok(()),
        };
        if value > 0.0 && value.is_finite() {
            return Ok(());
        }
        Err(Error::Parameter {
            name,
            value: value.to_string(),
            expected: "a finite number above 0",
        })
    }

    /// γ for `exp(−γ ‖x−y‖²)`.
    pub(crate) fn of_squared_distances<T: Scalar>(
        &self,
        data: &Dataset<T>,
        seed: u64,
    ) -> Result<f64> {
        self.resolve(&SQUARED_DISTANCES, data, seed)
    }

    /// γ of a kernel that finds it so.
    pub(super) fn resolve<T: Scalar>(
        &self,
        rule: &WidthRule,
        data: &Dataset<T>,
        seed: u64,
    ) -> Result<f64> {
        match *self {
            Bandwidth::Sigma(sigma) => sane((rule.of_sigma)(sigma)),
            Bandwidth::Median => {
                let rows = sample_rows(data, SAMPLE, seed)?;
                sane((rule.of_rows)(rows.view()))
            }
            _ => self.common(data),
        }
    }

    fn common<T: Scalar>(&self, data: &Dataset<T>) -> Result<f64> {
        let d = data.n_features() as f64;
        match *self {
            Bandwidth::Gamma(gamma) => Ok(gamma),
            Bandwidth::Scale => {
                let plain = data.unweighted();
                let columns = Columns::of(&mut RowGrid::new(&plain)?)?;
                let n = columns.weight;
                let grand = columns.mean_hi.iter().sum::<f64>() / d;
                let between: f64 = columns.mean_hi.iter().map(|m| (m - grand) * (m - grand)).sum();
                let variance = columns.squares.iter().sum::<f64>() / (n * d) + between / d;
                sane(1.0 / (d * variance))
            }
            _ => Ok(1.0 / d.max(1.0)),
        }
    }
}

/// γ of a Gaussian kernel on some rows (n × d), by the median heuristic.
pub(crate) fn median_bandwidth(rows: ArrayView2<f64>) -> f64 {
    let gamma = 0.5 / median(squared_distances(rows));
    if gamma > 0.0 && gamma.is_finite() { gamma } else { 1.0 }
}

/// A γ that is a number; without any distance between samples every γ gives the same kernel.
fn sane(gamma: f64) -> Result<f64> {
    if gamma > 0.0 && gamma.is_finite() { Ok(gamma) } else { Ok(1.0) }
}

/// The median; of those above 0 where more than half are 0 (duplicates).
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    let middle = |values: &mut Vec<f64>| {
        let half = values.len() / 2;
        (!values.is_empty()).then(|| *values.select_nth_unstable_by(half, f64::total_cmp).1)
    };
    match middle(&mut values) {
        Some(0.0) => {
            values.retain(|v| *v > 0.0);
            middle(&mut values).unwrap_or(0.0)
        }
        found => found.unwrap_or(0.0),
    }
}
