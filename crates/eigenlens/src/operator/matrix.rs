//! A symmetric matrix in memory.

use super::Operator;
use crate::error::Result;
use crate::linalg::gemm;
use ndarray::{Array2, ArrayView2};

/// A symmetric matrix (d × d) as an operator.
pub struct SymmetricMatrix<'a>(pub ArrayView2<'a, f64>);

impl Operator for SymmetricMatrix<'_> {
    fn dim(&self) -> usize {
        self.0.nrows()
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        gemm::product_rows(self.0, v, out);
        Ok(())
    }
}
