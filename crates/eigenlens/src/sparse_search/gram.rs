//! The covariance as the searches see it: a matrix in memory, or an operator on the data.

use super::deflation::{Deflation, Removed};
use super::vector::SparseVector;
use crate::error::Result;
use crate::linalg::{digest, gemm};
use crate::operator::Operator;
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rayon::prelude::*;

/// Rows of an operator's matrix that one product computes.
const ROWS_AT_ONCE: usize = 64;

/// A symmetric positive semi-definite matrix S (d × d), perhaps with components taken out.
#[derive(Clone)]
pub(crate) enum Gram<'a> {
    /// In memory, row-major.
    Matrix(Array2<f64>),
    /// Known by its products: nothing d × d is formed.
    Operator(Products<'a>),
}

/// An operator, its diagonal, and what was taken out of it.
#[derive(Clone)]
pub(crate) struct Products<'a> {
    operator: &'a dyn Operator,
    diagonal: Vec<f64>,
    removed: Vec<Removed>,
}

impl<'a> Gram<'a> {
    /// An operator whose diagonal (d) is known.
    pub fn operator(operator: &'a dyn Operator, diagonal: Vec<f64>) -> Gram<'a> {
        Gram::Operator(Products { operator, diagonal, removed: Vec::new() })
    }

    /// A hash of the matrix, or of what its operator is made of.
    pub fn fingerprint(&self) -> u64 {
        match self {
            Gram::Matrix(matrix) => digest::of_matrix(matrix.view()),
            Gram::Operator(products) => products.operator.fingerprint(),
        }
    }

    /// The number of features, d.
    pub fn dim(&self) -> usize {
        match self {
            Gram::Matrix(matrix) => matrix.nrows(),
            Gram::Operator(products) => products.diagonal.len(),
        }
    }

    pub fn diagonal(&self) -> Vec<f64> {
        match self {
            Gram::Matrix(matrix) => matrix.diag().to_vec(),
            Gram::Operator(products) => products.diagonal.clone(),
        }
    }

    /// The matrix, where it is in memory.
    pub fn matrix(&self) -> Option<ArrayView2<'_, f64>> {
        match self {
            Gram::Matrix(matrix) => Some(matrix.view()),
            Gram::Operator(_) => None,
        }
    }

    /// `S V` for V (d × b).
    pub fn apply(&self, v: ArrayView2<f64>) -> Result<Array2<f64>> {
        let mut out = Array2::zeros(v.dim());
        match self {
            Gram::Matrix(matrix) => {
                let v = v.as_standard_layout();
                gemm::product_into(matrix.view(), v.view(), &mut out, true);
            }
            Gram::Operator(products) => products.apply(v, products.removed.len(), &mut out)?,
        }
        Ok(out)
    }

    /// `S v` of each vector, as rows (b × d).
    pub fn apply_sparse(&self, vectors: &[SparseVector]) -> Result<Array2<f64>> {
        let d = self.dim();
        match self {
            Gram::Matrix(matrix) => {
                let mut out = Array2::zeros((vectors.len(), d));
                let rows: Vec<_> = out.axis_iter_mut(Axis(0)).zip(vectors).collect();
                rows.into_par_iter().for_each(|(mut out, vector)| {
                    for (&f, &v) in vector.support.iter().zip(&vector.values) {
                        out.scaled_add(v, &matrix.row(f));
                    }
                });
                Ok(out)
            }
            Gram::Operator(_) => {
                let mut block = Array2::zeros((d, vectors.len()));
                for (j, vector) in vectors.iter().enumerate() {
                    for (&f, &v) in vector.support.iter().zip(&vector.values) {
                        block[[f, j]] = v;
                    }
                }
                Ok(self.apply(block.view())?.reversed_axes().as_standard_layout().into_owned())
            }
        }
    }

    /// Rows of S (m × d).
    pub fn rows(&self, at: &[usize]) -> Result<Array2<f64>> {
        let d = self.dim();
        match self {
            Gram::Matrix(matrix) => Ok(matrix.select(Axis(0), at)),
            Gram::Operator(_) => {
                let mut rows = Array2::zeros((at.len(), d));
                for (first, chunk) in at.chunks(ROWS_AT_ONCE).enumerate() {
                    let mut block = Array2::zeros((d, chunk.len()));
                    for (j, &f) in chunk.iter().enumerate() {
                        block[[f, j]] = 1.0;
                    }
                    let product = self.apply(block.view())?;
                    for j in 0..chunk.len() {
                        rows.row_mut(first * ROWS_AT_ONCE + j).assign(&product.column(j));
                    }
                }
                Ok(rows)
            }
        }
    }

    /// The principal submatrix of some features.
    pub fn principal(&self, at: &[usize]) -> Result<Array2<f64>> {
        match self {
            Gram::Matrix(matrix) => Ok(principal(matrix.view(), at)),
            Gram::Operator(_) => Ok(self.rows(at)?.select(Axis(1), at)),
        }
    }

    /// Takes a component of unit length (d) out.
    pub fn deflate(
        &mut self,
        deflation: Deflation,
        component: &Array1<f64>,
        directions: &mut Vec<Array1<f64>>,
    ) -> Result<()> {
        let Some(step) = Removed::of(deflation, self, component.view(), directions)? else {
            return Ok(());
        };
        directions.extend(step.direction().cloned());
        match self {
            Gram::Matrix(matrix) => step.take_out_of(matrix),
            Gram::Operator(products) => products.remove(step)?,
        }
        Ok(())
    }
}

/// The principal submatrix of some features.
pub(super) fn principal(matrix: ArrayView2<f64>, at: &[usize]) -> Array2<f64> {
    Array2::from_shape_fn((at.len(), at.len()), |(i, j)| matrix[[at[i], at[j]]])
}

impl Products<'_> {
    /// The product with what the first `level` steps left.
    fn apply(&self, v: ArrayView2<f64>, level: usize, out: &mut Array2<f64>) -> Result<()> {
        let Some(step) = level.checked_sub(1).map(|last| &self.removed[last]) else {
            return self.operator.apply(v.as_standard_layout().view(), out);
        };
        let mut inside = v.as_standard_layout().into_owned();
        step.enter(&mut inside);
        self.apply(inside.view(), level - 1, out)?;
        step.leave(&inside, out);
        Ok(())
    }

    fn remove(&mut self, step: Removed) -> Result<()> {
        match &step {
            Removed::Projected(q) => {
                let mut g = Array2::zeros((q.len(), 1));
                let block = q.view().insert_axis(Axis(1));
                self.apply(block, self.removed.len(), &mut g)?;
                let h = q.dot(&g.column(0));
                for (i, s) in self.diagonal.iter_mut().enumerate() {
                    *s = (*s + h * q[i] * q[i] - 2.0 * q[i] * g[[i, 0]]).max(0.0);
                }
            }
            Removed::Subtracted(u) => {
                for (s, u) in self.diagonal.iter_mut().zip(u) {
                    *s -= u * u;
                }
            }
        }
        self.removed.push(step);
        Ok(())
    }
}
