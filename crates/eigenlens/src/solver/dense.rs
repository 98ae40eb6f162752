//! Eigenpairs of a symmetric matrix in memory: all of them, or the leading ones.

use super::Convergence;
use super::krylov::{self, EigenRequest, RitzPairs};
use crate::error::Result;
use crate::linalg::dense;
use crate::operator::SymmetricMatrix;
use ndarray::ArrayView2;

/// The leading `request.k` pairs (and guards) of a symmetric matrix.
pub(crate) struct Leading {
    pub ritz: RitzPairs,
    /// All eigenvalues, descending, where they were computed.
    pub spectrum: Option<Vec<f64>>,
}

/// Krylov where few are wanted of many, otherwise everything.
pub(crate) fn leading(matrix: ArrayView2<f64>, request: &EigenRequest) -> Result<Leading> {
    let d = matrix.nrows();
    if prefers_krylov(d, request.k) {
        // Past this many products the full decomposition would have been cheaper.
        let limit = request.max_applications.min((d / 8).max(40));
        let request = EigenRequest { max_applications: limit, ..*request };
        let ritz = krylov::largest(&SymmetricMatrix(matrix), &request)?;
        if ritz.convergence.converged {
            return Ok(Leading { ritz, spectrum: None });
        }
    }
    full(matrix, request.k + request.guard)
}

/// Whether a few pairs are cheaper than all.
pub(crate) fn prefers_krylov(d: usize, k: usize) -> bool {
    d >= 640 && k * 8 <= d
}

/// Every eigenvalue, and the vectors of the `wanted` largest.
pub(crate) fn full(matrix: ArrayView2<f64>, wanted: usize) -> Result<Leading> {
    let (values, vectors) = dense::leading_eigen(matrix, wanted)?;
    let wanted = vectors.ncols();
    let convergence = Convergence {
        converged: true,
        residuals: vec![f64::EPSILON * values.first().map_or(0.0, |v| v.abs()); wanted],
        iterations: 0,
        operator_applications: 0,
    };
    let ritz =
        RitzPairs { values: values[..wanted].to_vec(), vectors, convergence, remainder: None };
    Ok(Leading { ritz, spectrum: Some(values) })
}
