//! `α Xsᵀ W Xs + β M Mᵀ`: between what varies most and what depends on the labels most.

use super::Operator;
use crate::error::Result;
use crate::linalg::{digest, gemm};
use crate::passes::Standardized;
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2};

/// The sum of both operators on features, never formed.
pub(crate) struct Blended<'b, 'a, T: Scalar> {
    pub data: &'b Standardized<'a, T>,
    /// `M = Xsᵀ W Δ` (d × ℓ).
    pub cross: &'b Array2<f64>,
    pub alpha: f64,
    pub beta: f64,
}

impl<T: Scalar> Operator for Blended<'_, '_, T> {
    fn dim(&self) -> usize {
        self.cross.nrows()
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        *out = self.data.gram_product(v)?;
        out.mapv_inplace(|x| self.alpha * x);
        let mut inner = gemm::transposed_product(self.cross.view(), v);
        inner.mapv_inplace(|x| self.beta * x);
        gemm::product_into(self.cross.view(), inner.view(), out, false);
        Ok(())
    }

    fn fingerprint(&self) -> u64 {
        digest::of_words(&[self.data.grid.fingerprint(), digest::of_matrix(self.cross.view())])
    }
}
