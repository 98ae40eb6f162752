//! The routes to the leading eigenpairs of the covariance of standardised data, behind one face.

use super::krylov::{self, EigenRequest, Remainder};
use super::{Convergence, dense, randomized, tsqr};
use crate::error::Result;
use crate::operator::FeatureGram;
use crate::options::Options;
use crate::passes::Standardized;
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2, Axis};

/// Leading eigenpairs, largest first.
pub(crate) struct EigenPairs {
    /// At least as many as asked for, where there are so many; one more as a guard.
    pub values: Vec<f64>,
    /// d × values.len(), orthonormal columns (0 for directions the data do not have).
    pub vectors: Array2<f64>,
    /// All values, where they were computed.
    pub spectrum: Option<Vec<f64>>,
    /// Values at or below this are rounding.
    pub rounding_floor: f64,
    pub convergence: Convergence,
    /// What the solver believes is left of the pairs, where it knows.
    pub remainder: Option<Remainder>,
}

/// One route, ready to be asked for any number of pairs.
pub(crate) enum CovarianceSolver<'a, T: Scalar> {
    /// The covariance (d × d) has been formed; `noise` is the relative error of its entries.
    Covariance {
        matrix: Array2<f64>,
        noise: f64,
    },
    /// The Gram matrix (n × n) has been formed.
    Dual {
        data: Standardized<'a, T>,
        gram: Array2<f64>,
        divisor: f64,
    },
    Svd {
        data: Standardized<'a, T>,
        tall: bool,
        divisor: f64,
    },
    Iterative {
        operator: FeatureGram<'a, T>,
    },
    Randomized {
        operator: FeatureGram<'a, T>,
        oversampling: usize,
        power: usize,
    },
}

impl<T: Scalar> CovarianceSolver<'_, T> {
    /// Whether the route computes all pairs to find `k` of them.
    pub fn finds_all(&self, k: usize) -> bool {
        matches!(self, CovarianceSolver::Covariance { matrix, .. } if !dense::prefers_krylov(matrix.nrows(), k))
    }

    /// The `k` leading pairs and a guard; an iteration on the data stops unconverged where it would
    /// take more than `affordable` products.
    pub fn leading(
        &self,
        k: usize,
        limit: usize,
        tolerance: f64,
        affordable: usize,
        options: &Options,
    ) -> Result<EigenPairs> {
        let guard = usize::from(k < limit);
        let request =
            |dim: usize| EigenRequest { guard, ..EigenRequest::new(k, dim, tolerance, options) };
        match self {
            CovarianceSolver::Covariance { matrix, noise } => {
                let d = matrix.nrows();
                let leading = dense::leading(matrix.view(), &request(d))?;
                let top = leading.ritz.values.first().copied().unwrap_or(0.0);
                Ok(EigenPairs {
                    rounding_floor: squared_rounding_floor(top, d).max(noise * top),
                    values: leading.ritz.values,
                    vectors: leading.ritz.vectors,
                    spectrum: leading.spectrum,
                    convergence: leading.ritz.convergence,
                    remainder: None,
                })
            }
            CovarianceSolver::Dual { data, gram, divisor } => {
                let n = gram.nrows();
                let k = k.min(n);
                let guard = usize::from(k < limit.min(n));
                let leading =
                    dense::leading(gram.view(), &EigenRequest { k, guard, ..request(n) })?;
                from_samples(data, leading, *divisor)
            }
            CovarianceSolver::Svd { data, tall, divisor } => {
                let wanted = k + guard;
                let svd = if *tall { tsqr::tall(data, wanted)? } else { tsqr::wide(data, wanted)? };
                Ok(from_singular(svd, *divisor))
            }
            CovarianceSolver::Iterative { operator } => {
                let d = operator.data.grid.data.n_features();
                let ritz = krylov::largest(operator, &EigenRequest { affordable, ..request(d) })?;
                Ok(from_ritz(ritz, d))
            }
            CovarianceSolver::Randomized { operator, oversampling, power } => {
                let d = operator.data.grid.data.n_features();
                let ritz =
                    randomized::largest(operator, k + guard, *oversampling, *power, options.seed)?;
                Ok(from_ritz(ritz, d))
            }
        }
    }

    /// What the entries of the matrix are off by, relative to its largest value, beyond rounding in f64.
    pub fn noise(&self) -> f64 {
        match self {
            CovarianceSolver::Covariance { noise, .. } => *noise,
            _ => 0.0,
        }
    }

    /// The matrix formed from the data, where there is one on the side of the features.
    pub fn matrix(&self) -> Option<ArrayView2<'_, f64>> {
        match self {
            CovarianceSolver::Covariance { matrix, .. } => Some(matrix.view()),
            _ => None,
        }
    }
}

/// From the pairs of the samples' Gram matrix (n × n): `Xᵀ W^½ v / ‖·‖` of its vectors v.
fn from_samples<T: Scalar>(
    data: &Standardized<T>,
    dense::Leading { ritz, spectrum }: dense::Leading,
    divisor: f64,
) -> Result<EigenPairs> {
    let roots: Vec<f64> = ritz.values.iter().map(|v| v.max(0.0).sqrt()).collect();
    let mut left = ritz.vectors;
    let n = left.nrows();
    weigh_rows(data, &mut left);
    let mut vectors = data.transposed_product(left.view())?;
    tsqr::orthonormalize(&mut vectors, &roots);
    let values: Vec<f64> = ritz.values.iter().map(|v| v / divisor).collect();
    let top = values.first().copied().unwrap_or(0.0);
    let exact = spectrum.is_some();
    Ok(EigenPairs {
        rounding_floor: squared_rounding_floor(top, n),
        values,
        vectors,
        spectrum: spectrum.map(|all| all.iter().map(|v| v / divisor).collect()),
        convergence: ritz.convergence,
        remainder: exact.then(|| Remainder::nothing(data.grid.data.n_features())),
    })
}

/// From singular values and right vectors: nothing was squared.
fn from_singular(svd: tsqr::RightSvd, divisor: f64) -> EigenPairs {
    let all: Vec<f64> = svd.values.iter().map(|s| s / divisor * s).collect();
    let top = svd.values.first().copied().unwrap_or(0.0);
    let smallest = 8.0 * (svd.values.len() as f64).sqrt() * f64::EPSILON * top;
    let found = svd.vectors.ncols();
    EigenPairs {
        values: all[..found].to_vec(),
        vectors: svd.vectors,
        rounding_floor: smallest / divisor * smallest,
        convergence: Convergence {
            converged: true,
            residuals: vec![f64::EPSILON * all.first().copied().unwrap_or(0.0); found],
            ..Convergence::default()
        },
        spectrum: Some(all),
        remainder: None,
    }
}

fn from_ritz(ritz: krylov::RitzPairs, d: usize) -> EigenPairs {
    let top = ritz.values.first().copied().unwrap_or(0.0);
    EigenPairs {
        rounding_floor: squared_rounding_floor(top, d),
        values: ritz.values,
        vectors: ritz.vectors,
        spectrum: None,
        convergence: ritz.convergence,
        remainder: ritz.remainder,
    }
}

/// Squaring the data leaves eigenvalues with errors of about this size.
fn squared_rounding_floor(top: f64, dim: usize) -> f64 {
    8.0 * (dim as f64).sqrt() * f64::EPSILON * top.max(0.0)
}

fn weigh_rows<T: Scalar>(data: &Standardized<T>, left: &mut Array2<f64>) {
    if let Some(counts) = data.grid.counts() {
        for (mut row, w) in left.axis_iter_mut(Axis(0)).zip(counts) {
            row *= w.sqrt();
        }
    }
}
