//! The checked spectrum that the rules see.

use super::{Reason, Spectrum};

/// A spectrum after its checks: finite, not negative, no longer than `max_rank`.
pub(super) struct Known {
    /// The variances that are known, descending.
    pub values: Vec<f64>,
    /// tr S.
    pub total: f64,
    pub n_samples: f64,
    pub n_features: usize,
    pub n_varying: usize,
    pub max_rank: usize,
    pub centered: bool,
    pub standardized: bool,
}

impl Known {
    pub fn new(spectrum: &Spectrum) -> Result<Known, Reason> {
        let wrong = |what| Err(Reason::NotASpectrum { what });
        // Components past `max_rank` are null: they are completed, not found.
        let known = spectrum.values.len().min(spectrum.max_rank);
        let values = &spectrum.values[..known];
        let largest = values.first().copied().unwrap_or(0.0);
        let slack = 1e-9 * largest.abs();
        if !values.iter().all(|v| v.is_finite()) || !spectrum.total_variance.is_finite() {
            return wrong("a variance is not finite");
        }
        if values.iter().any(|&v| v < -slack) || spectrum.total_variance < 0.0 {
            return wrong("a variance is negative");
        }
        if values.windows(2).any(|w| w[1] > w[0] + slack) {
            return wrong("the variances do not descend");
        }
        if !spectrum.n_samples.is_finite() || spectrum.n_samples < 0.0 {
            return wrong("the number of samples is not a number");
        }
        // Rounding may leave a null variance slightly below 0.
        let values: Vec<f64> = values.iter().map(|v| v.max(0.0)).collect();
        let total = spectrum.total_variance.max(largest);
        Ok(Known {
            values,
            total,
            n_samples: spectrum.n_samples,
            n_features: spectrum.n_features,
            n_varying: spectrum.n_varying,
            max_rank: spectrum.max_rank,
            centered: spectrum.centered,
            standardized: spectrum.standardized,
        })
    }

    /// Whether every variance that can be positive is known.
    pub fn complete(&self) -> bool {
        self.values.len() == self.max_rank
    }

    /// The full spectrum, or what is missing.
    pub fn full(&self) -> Result<&[f64], Reason> {
        if self.complete() {
            Ok(&self.values)
        } else {
            Err(Reason::NeedsSpectrum { known: self.values.len(), needed: self.max_rank })
        }
    }

    /// How many leading variances lie above `threshold(j)`, j counted from 0, up to the first that
    /// does not. Where all of an incomplete head do, what is left of the total variance may still
    /// show that the next one cannot.
    pub fn leading(&self, threshold: impl Fn(usize) -> f64) -> Result<usize, Reason> {
        let count = self.values.iter().enumerate().take_while(|&(j, &v)| v > threshold(j)).count();
        if count == self.values.len() && !self.complete() && self.next_at_most() > threshold(count)
        {
            return Err(self.too_short());
        }
        Ok(count)
    }

    pub fn too_short(&self) -> Reason {
        Reason::HeadTooShort { known: self.values.len(), max_rank: self.max_rank }
    }

    /// Each variance as a share of the total.
    pub fn shares(&self) -> Vec<f64> {
        self.values.iter().map(|v| v / self.total).collect()
    }

    /// Variances at or below this are rounding.
    pub fn rounding_floor(&self) -> f64 {
        let largest = self.values.first().copied().unwrap_or(0.0);
        largest * f64::EPSILON * self.max_rank.max(16) as f64
    }

    /// A bound on the first variance that is not known.
    fn next_at_most(&self) -> f64 {
        let rest = self.total - self.values.iter().sum::<f64>();
        // The difference carries the rounding of the total.
        let rest = rest.max(0.0) + 1e-12 * self.total;
        self.values.last().map_or(rest, |last| rest.min(*last))
    }
}
