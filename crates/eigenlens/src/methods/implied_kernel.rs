//! The kernel that an embedding is the kernel PCA of (Ham, Lee, Mika & Schölkopf 2004).

use super::spectral;
use crate::error::Result;
use crate::linalg::dense::symmetric_eigen;
use crate::linalg::gemm;
use crate::options::Options;
use ndarray::{Array2, ArrayView2, Axis};

/// A kernel that an embedding learned from samples, and what it is made of.
///
/// Kernel PCA of it ([`Kernel::Precomputed`](crate::Kernel)) gives the embedding, up to the length that each definition
/// gives to its axes.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpliedKernel {
    /// n × n, symmetric.
    pub kernel: Array2<f64>,
    /// What it is made of (n × n each), by name: `distances`; `graph`, the lengths of edges, 0 where there is none;
    /// `affinities`; `weights`.
    pub parts: Vec<(&'static str, Array2<f64>)>,
}

impl ImpliedKernel {
    /// What it is made of, by name.
    pub fn part(&self, name: &str) -> Option<ArrayView2<'_, f64>> {
        Some(self.parts.iter().find(|(known, _)| *known == name)?.1.view())
    }
}

/// Refuses n samples whose kernel has no room.
pub(super) fn check_room(n: usize, options: &Options) -> Result<()> {
    // The kernel, what it is made of, and a decomposition.
    let matrices = 8 * 8 * (n as u64) * (n as u64);
    spectral::plan_stored("the implied kernel", n, 1, matrices, options)?.reserved().map(drop)
}

/// `−½ H A H` of squared distances A (n × n).
pub(super) fn of_squared_distances(squared: ArrayView2<f64>) -> Array2<f64> {
    let means = squared.mean_axis(Axis(0)).unwrap_or_default();
    let mean = means.mean().unwrap_or(0.0);
    Array2::from_shape_fn(squared.dim(), |(i, j)| {
        -0.5 * ((squared[[i, j]] - means[i]) + (mean - means[j]))
    })
}

/// The pseudo-inverse of a positive semi-definite matrix (n × n).
pub(super) fn pseudo_inverse(matrix: ArrayView2<f64>) -> Result<Array2<f64>> {
    let (values, vectors) = symmetric_eigen(matrix)?;
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let rounding = largest * f64::EPSILON * matrix.nrows() as f64;
    let mut scaled = vectors.clone();
    for (mut column, value) in scaled.columns_mut().into_iter().zip(&values) {
        column *= if *value > rounding { 1.0 / value } else { 0.0 };
    }
    Ok(gemm::product(scaled.view(), vectors.t().as_standard_layout().view()))
}

/// A matrix (n × n) from the entries of its rows.
pub(super) fn dense<'a>(n: usize, row: impl Fn(usize) -> (&'a [u32], &'a [f64])) -> Array2<f64> {
    let mut all = Array2::zeros((n, n));
    for i in 0..n {
        let (columns, values) = row(i);
        for (&j, &value) in columns.iter().zip(values) {
            all[[i, j as usize]] = value;
        }
    }
    all
}
