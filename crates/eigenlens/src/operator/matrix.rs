//! A symmetric matrix in memory.

use super::Operator;
use crate::error::Result;
use crate::linalg::{digest, gemm};
use ndarray::{Array2, ArrayView2};

/// A symmetric matrix (d × d) as an operator.
pub struct SymmetricMatrix<'a>(pub ArrayView2<'a, f64>);

impl Operator for SymmetricMatrix<'_> {
    fn dim(&self) -> usize {
        self.0.nrows()
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        let forward = |a: &ArrayView2<f64>| a.strides()[1] == 1 && a.strides()[0] > 0;
        // Of a symmetric matrix the columns are the rows.
        if forward(&self.0) {
            gemm::product_into(self.0, v, out, true);
        } else if forward(&self.0.t()) {
            gemm::product_into(self.0.t(), v, out, true);
        } else {
            gemm::product_into(self.0.as_standard_layout().view(), v, out, true);
        }
        Ok(())
    }

    fn fingerprint(&self) -> u64 {
        digest::of_matrix(self.0)
    }
}
