//! An operator with known vectors taken out of it.

use super::Operator;
use crate::error::Result;
use crate::linalg::gemm;
use ndarray::{Array2, ArrayView2};

/// `(I − NNᵀ) A (I − NNᵀ)` for known orthonormal columns N (d × m): they become eigenvectors of
/// value 0 and are not searched for again.
pub struct Deflated<'a> {
    operator: &'a dyn Operator,
    known: ArrayView2<'a, f64>,
}

impl<'a> Deflated<'a> {
    /// Takes the orthonormal columns of `known` out of `operator`.
    pub fn new(operator: &'a dyn Operator, known: ArrayView2<'a, f64>) -> Self {
        Deflated { operator, known }
    }
}

impl Operator for Deflated<'_> {
    fn dim(&self) -> usize {
        self.operator.dim()
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        let mut inside = v.as_standard_layout().into_owned();
        project_out(self.known, &mut inside);
        self.operator.apply(inside.view(), out)?;
        project_out(self.known, out);
        Ok(())
    }

    fn fingerprint(&self) -> u64 {
        self.operator.fingerprint()
    }
}

/// `v −= N (Nᵀ v)`, twice: once leaves rounding errors along N, twice does not.
pub(crate) fn project_out(known: ArrayView2<f64>, v: &mut Array2<f64>) {
    for _ in 0..2 {
        let mut inside = gemm::transposed_product(known, v.view());
        inside.mapv_inplace(|x| -x);
        gemm::product_into(known, inside.view(), v, false);
    }
}
