//! `Xsᵀ W Xs / (n − 1)` of standardised data, one pass per application, never formed.

use super::Operator;
use crate::error::Result;
use crate::passes::Standardized;
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2};

/// The covariance of standardised data as an operator on features.
pub(crate) struct FeatureGram<'a, T: Scalar> {
    pub data: Standardized<'a, T>,
    /// n − 1.
    pub divisor: f64,
}

impl<T: Scalar> Operator for FeatureGram<'_, T> {
    fn dim(&self) -> usize {
        self.data.grid.data.n_features()
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        *out = self.data.gram_product(v)?;
        out.mapv_inplace(|x| x / self.divisor);
        Ok(())
    }

    fn fingerprint(&self) -> u64 {
        self.data.grid.fingerprint()
    }
}
