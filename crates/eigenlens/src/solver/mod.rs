//! The one solver layer: eigenpairs of symmetric operators, whatever the method.
//!
//! It knows nothing of PCA. Every solver returns a [`Convergence`] record and goes through one
//! finish that orders and signs.

pub(crate) mod certificate;
pub(crate) mod covariance_solver;
pub(crate) mod dense;
pub(crate) mod finish;
pub(crate) mod krylov;
pub(crate) mod randomized;
pub(crate) mod shift_invert;
pub(crate) mod tsqr;

pub use certificate::{Certificate, Evidence, NoneMissed};
pub use shift_invert::smallest;

use crate::error::{Error, Result};
use crate::linalg::pool;
use crate::operator::Operator;
use crate::options::Options;
use ndarray::Array2;

/// What an iteration did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Convergence {
    /// Whether every residual met the tolerance.
    pub converged: bool,
    /// Estimated residual of each pair, in the operator's units.
    pub residuals: Vec<f64>,
    /// Rounds of the outer loop (restarts, for Krylov).
    pub iterations: usize,
    /// Times the operator was applied to a block.
    pub operator_applications: usize,
}

/// Eigenpairs, ordered and signed: the largest first from [`largest`], the smallest first from
/// [`smallest`].
#[derive(Clone, Debug, PartialEq)]
pub struct Eigenpairs {
    /// k values.
    pub values: Vec<f64>,
    /// d × k, orthonormal columns.
    pub vectors: Array2<f64>,
    /// How they were reached.
    pub convergence: Convergence,
}

/// The `k` largest eigenpairs of a symmetric operator, by block Krylov iteration.
pub fn largest(operator: &dyn Operator, k: usize, options: &Options) -> Result<Eigenpairs> {
    options.check()?;
    let limit = operator.dim();
    if k == 0 {
        return Err(Error::Parameter { name: "k", value: "0".into(), expected: "at least 1" });
    }
    if k > limit {
        return Err(Error::TooManyComponents {
            requested: k,
            limit,
            samples: limit,
            features: limit,
        });
    }
    pool::run(options.threads, || {
        let request =
            krylov::EigenRequest::new(k, limit, options.tolerance.unwrap_or(1e-9), options);
        let ritz = krylov::largest(operator, &request)?;
        if !ritz.convergence.converged {
            return Err(Error::NotConverged {
                what: "the block Krylov iteration",
                iterations: ritz.convergence.operator_applications,
                residual: ritz.convergence.residuals.iter().fold(0.0, |m, r| r.max(m)),
                tolerance: request.tolerance,
            });
        }
        Ok(finish::largest_pairs(&ritz.values, &ritz.vectors, k, ritz.convergence))
    })?
}
