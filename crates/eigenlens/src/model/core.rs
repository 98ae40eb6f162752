//! What every model knows of its making.

use crate::data::MissingReport;
use crate::error::Warning;
use crate::plan::Plan;
use crate::solver::Certificate;

/// What every model knows of its making, whatever method made it.
#[derive(Clone, Debug)]
pub struct ModelCore {
    /// The method, by its name in the registry.
    pub(crate) method: &'static str,
    /// The number of training samples, or the sum of their weights, where known.
    pub(crate) n_samples: Option<f64>,
    /// The names of the features, where they had any.
    pub(crate) feature_names: Option<Vec<String>>,
    /// The route that was taken, and why.
    pub(crate) plan: Plan,
    /// What the user should know.
    pub(crate) warnings: Vec<Warning>,
    /// What was done about missing entries, where there were any.
    pub(crate) missing: Option<MissingReport>,
}

impl ModelCore {
    /// Warns of a certificate that does not meet the tolerance, once.
    pub(crate) fn judge(&mut self, certificate: &Certificate, tolerance: f64) {
        let residual = certificate.relative_residual();
        let known = self.warnings.iter().any(|w| matches!(w, Warning::NotCertified { .. }));
        if residual > tolerance && !known {
            self.warnings.push(Warning::NotCertified { residual, tolerance });
        }
    }

    /// The sum of the samples' weights; 0 where it is not known.
    pub(crate) fn weight(&self) -> f64 {
        self.n_samples.unwrap_or(0.0)
    }

    /// The number of samples, for methods without weights.
    pub(crate) fn count(&self) -> usize {
        self.weight() as usize
    }
}
