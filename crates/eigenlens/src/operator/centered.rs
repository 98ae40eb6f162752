//! A symmetric matrix between two centring matrices, applied without forming the product.

use super::{Operator, SymmetricMatrix};
use crate::error::Result;
use crate::linalg::digest;
use ndarray::{Array2, ArrayView2, Axis};

/// `f · H A H` for a symmetric A (n × n), a factor f and `H = I − 11ᵀ/n`: with f = −½ and squared
/// distances the inner products behind them (Torgerson 1952).
pub(crate) struct Centered<'a> {
    pub matrix: ArrayView2<'a, f64>,
    pub factor: f64,
}

impl Centered<'_> {
    /// What bounds the sums of a product with a unit vector: the Frobenius norm, of the matrix as it is.
    pub fn norm(&self) -> f64 {
        let squares: f64 = self.matrix.iter().map(|v| v * v).sum();
        self.factor.abs() * squares.sqrt()
    }
}

impl Operator for Centered<'_> {
    fn dim(&self) -> usize {
        self.matrix.nrows()
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        let mut inside = v.as_standard_layout().into_owned();
        center_columns(&mut inside);
        SymmetricMatrix(self.matrix).apply(inside.view(), out)?;
        center_columns(out);
        out.mapv_inplace(|x| self.factor * x);
        Ok(())
    }

    fn fingerprint(&self) -> u64 {
        digest::of_matrix(self.matrix)
    }
}

/// `H V`.
pub(crate) fn center_columns(v: &mut Array2<f64>) {
    if let Some(means) = v.mean_axis(Axis(0)) {
        *v -= &means;
    }
}
