//! What components that are neither orthogonal nor uncorrelated explain together.

use crate::error::Result;
use crate::linalg::dense;
use ndarray::{Array2, ArrayView2};

/// The adjusted variance of each component (Zou, Hastie & Tibshirani 2006, section 3.4): the
/// squared diagonal of R in the QR factorisation of the scores, `R_jj² / (n − 1)`. From the scores'
/// covariance `V = B S Bᵀ` (k × k) these are the pivots of its Cholesky factorisation.
pub(crate) fn adjusted_variance(covariance: ArrayView2<f64>) -> Vec<f64> {
    let k = covariance.nrows();
    let mut lower = Array2::<f64>::zeros((k, k));
    let mut pivots = vec![0.0; k];
    for j in 0..k {
        for i in 0..j {
            let known: f64 = (0..i).map(|m| lower[[j, m]] * lower[[i, m]]).sum();
            let rest = covariance[[j, i]] - known;
            // Scores that add nothing of their own explain nothing of the later ones.
            lower[[j, i]] = if pivots[i] > 0.0 { rest / lower[[i, i]] } else { 0.0 };
        }
        let known: f64 = (0..j).map(|m| lower[[j, m]] * lower[[j, m]]).sum();
        let rest = covariance[[j, j]] - known;
        let rounding = 1e-13 * covariance[[j, j]].abs();
        pivots[j] = if rest > rounding { rest } else { 0.0 };
        lower[[j, j]] = pivots[j].sqrt();
    }
    pivots
}

/// `(B Bᵀ)⁺ B` for components B (k × d): with it `x ↦ (B Bᵀ)⁺ B x` are the coefficients of the
/// least-squares fit of x by the components. Components that depend on each other share.
pub(crate) fn dual_frame(components: ArrayView2<f64>) -> Result<Array2<f64>> {
    let products = components.dot(&components.t());
    let (values, vectors) = dense::symmetric_eigen(products.view())?;
    let top = values.iter().fold(0.0f64, |m, v| m.max(*v));
    let cutoff = 1e-10 * top;
    let inverse: Vec<f64> =
        values.iter().map(|v| if *v > cutoff { 1.0 / v } else { 0.0 }).collect();
    let k = products.nrows();
    let pseudo = Array2::from_shape_fn((k, k), |(i, j)| {
        (0..k).map(|m| vectors[[i, m]] * inverse[m] * vectors[[j, m]]).sum()
    });
    Ok(pseudo.dot(&components))
}
