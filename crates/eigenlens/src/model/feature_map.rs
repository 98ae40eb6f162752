//! The body of a kernel model on random features: no sample is kept.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::{RandomFeatures, Sink};
use crate::linalg::{gemm, pool};
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2};

/// `z = f(x) U − c`, with f the random features (m), U (m × k; 0 for null components), c (k).
pub(crate) struct FeatureMap {
    pub features: RandomFeatures,
    pub components: Array2<f64>,
    pub offsets: Vec<f64>,
    pub threads: Option<usize>,
}

impl FeatureMap {
    /// Scores (n × k).
    pub fn transform<T: Scalar>(&self, data: &Dataset<T>) -> Result<Array2<T>> {
        let k = self.offsets.len();
        let mut scores = Vec::with_capacity(data.n_samples().unwrap_or(0) * k);
        let rows = self.transform_blocks(data, &mut |block| {
            scores.extend(block.iter().copied());
            Ok(())
        })?;
        Array2::from_shape_vec((rows, k), scores).map_err(|e| Error::Internal(e.to_string()))
    }

    /// The same, handed on in order as it is made.
    pub fn transform_blocks<T: Scalar>(
        &self,
        data: &Dataset<T>,
        sink: &mut Sink<'_, T>,
    ) -> Result<usize> {
        let m = self.features.n_features();
        pool::run(self.threads, || {
            self.features.for_each_block(data, |features| {
                let rows = features.len() / m;
                let features = ArrayView2::from_shape((rows, m), features)
                    .map_err(|e| Error::Internal(e.to_string()))?;
                let sums = gemm::product(features, self.components.view());
                // Plus 0: a silenced score is 0, never −0.
                let scores = Array2::from_shape_fn(sums.dim(), |(i, j)| {
                    T::from_f64((sums[[i, j]] - self.offsets[j]) + 0.0)
                });
                sink(scores.view())
            })
        })?
    }
}
