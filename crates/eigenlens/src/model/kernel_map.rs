//! The body of every kernel model: new samples meet the points that were kept.

use crate::data::Dataset;
use crate::error::Result;
use crate::kernel::{Points, Projection, ResolvedKernel, Sink};
use crate::linalg::pool;
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView1};

/// `z = K_t A − c`, with `K_t` the kernel of new samples with the points kept: training rows or
/// landmarks (m), A their dual coefficients (m × k; 0 for null components), c the offsets (k).
///
/// For kernel PCA `A = H V Σ⁻¹` and `c = colmean(K) A`: since the columns of A sum to 0, that is
/// `K̃_t V Σ⁻¹` with the new kernel centred by the training kernel's means.
pub(crate) struct KernelMap {
    pub projection: Projection,
    /// The mean in feature space as a combination of the points (m).
    pub center: Vec<f64>,
    pub threads: Option<usize>,
}

impl KernelMap {
    /// The map of exact kernel PCA: unit eigenvectors (n × k) of `H K H`, which sum to 0, their
    /// eigenvalues (k), and the means of the kernel's columns (n). Values that are 0 score 0.
    pub fn of_eigenvectors(
        kernel: ResolvedKernel,
        points: Points,
        vectors: &Array2<f64>,
        values: &[f64],
        column_means: ArrayView1<f64>,
        threads: Option<usize>,
    ) -> KernelMap {
        let mut coefficients = vectors.clone();
        for (mut column, &value) in coefficients.columns_mut().into_iter().zip(values) {
            let mean = column.mean().unwrap_or(0.0);
            let factor = if value > 0.0 { 1.0 / value.sqrt() } else { 0.0 };
            column.mapv_inplace(|v| (v - mean) * factor);
        }
        let offsets = column_means.dot(&coefficients).to_vec();
        let center = vec![1.0 / points.len() as f64; points.len()];
        let projection = Projection { kernel, points, coefficients, offsets };
        KernelMap { projection, center, threads }
    }

    /// Scores (n × k).
    pub fn transform<T: Scalar>(&self, data: &Dataset<T>) -> Result<Array2<T>> {
        pool::run(self.threads, || self.projection.transform(data))?
    }

    /// The same, handed on in order as it is made; never more than a few tiles of the kernel exist.
    pub fn transform_blocks<T: Scalar>(
        &self,
        data: &Dataset<T>,
        sink: &mut Sink<'_, T>,
    ) -> Result<usize> {
        pool::run(self.threads, || self.projection.transform_blocks(data, sink))?
    }
}
