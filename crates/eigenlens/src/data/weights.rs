//! Sample weights: counts, or relative.

use crate::error::{Error, Result};

/// How much each sample counts.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleWeights {
    values: Vec<f64>,
    relative: bool,
}

impl SampleWeights {
    /// Weight w means "this row counted w times": whole weights give the result of repeated rows,
    /// and the divisor of variances is Σw − 1.
    pub fn frequency(weights: impl Into<Vec<f64>>) -> Self {
        SampleWeights { values: weights.into(), relative: false }
    }

    /// Only ratios matter: the weights are rescaled to mean 1 over the non-zero ones.
    pub fn relative(weights: impl Into<Vec<f64>>) -> Self {
        SampleWeights { values: weights.into(), relative: true }
    }

    /// The weights as they were given.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Other weights of the same kind.
    pub(crate) fn with_values(&self, values: Vec<f64>) -> SampleWeights {
        SampleWeights { values, relative: self.relative }
    }

    /// The weights as counts, checked: enough of them to speak of variance.
    pub(crate) fn counts(&self) -> Result<Vec<f64>> {
        let counts = self.counts_of_part()?;
        let used = counts.iter().filter(|w| **w > 0.0).count();
        if used < 2 {
            return Err(Error::TooFewRows { found: used, needed: 2 });
        }
        let sum: f64 = counts.iter().sum();
        if !self.relative && sum <= 1.0 {
            return Err(Error::WeightSum { sum });
        }
        Ok(counts)
    }

    /// The same for samples that others will be added to: any of them may weigh little or nothing.
    pub(crate) fn counts_of_part(&self) -> Result<Vec<f64>> {
        if let Some(row) = self.values.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(Error::Weight { row, value: self.values[row] });
        }
        let used = self.values.iter().filter(|w| **w > 0.0).count();
        if self.relative && used > 0 {
            // By the largest first, so that no sum can overflow.
            let largest = self.values.iter().fold(0.0f64, |m, w| m.max(*w));
            let mean = self.values.iter().map(|w| w / largest).sum::<f64>() / used as f64;
            return Ok(self.values.iter().map(|w| w / largest / mean).collect());
        }
        let sum: f64 = self.values.iter().sum();
        if !sum.is_finite() {
            return Err(Error::WeightSum { sum });
        }
        Ok(self.values.clone())
    }
}

/// Refuses weights that are not one for each row.
pub(crate) fn check_weight_count(weights: usize, rows: usize) -> Result<()> {
    if weights == rows { Ok(()) } else { Err(wrong_weight_count(weights, rows.to_string())) }
}

pub(crate) fn wrong_weight_count(weights: usize, expected: String) -> Error {
    Error::Shape { what: "the list of weights", found: format!("{weights} weights"), expected }
}
