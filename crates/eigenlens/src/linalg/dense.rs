//! Dense factorisations by faer, behind our checks: scaled by a power of two first, sequential so
//! that their bits do not depend on the machine's load, and never an unconverged result.

use super::gemm;
use crate::error::{Error, Result};
use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};
use ndarray::{Array2, ArrayView2};

/// Eigenpairs of a symmetric matrix, values **ascending**, vectors in the columns.
pub(crate) fn symmetric_eigen(a: ArrayView2<f64>) -> Result<(Vec<f64>, Array2<f64>)> {
    let (scaled, exponent) = scaled_copy(a);
    let eigen = scaled
        .self_adjoint_eigen(Side::Lower)
        .map_err(|e| Error::Internal(format!("symmetric eigenproblem: {e:?}")))?;
    let back = power_of_two(exponent);
    let values = eigen.S().column_vector().iter().map(|v| v * back).collect();
    Ok((values, to_array(eigen.U())))
}

/// Eigenvalues of a symmetric matrix, ascending.
pub(crate) fn symmetric_eigenvalues(a: ArrayView2<f64>) -> Result<Vec<f64>> {
    let (scaled, exponent) = scaled_copy(a);
    let back = power_of_two(exponent);
    let values = scaled
        .self_adjoint_eigenvalues(Side::Lower)
        .map_err(|e| Error::Internal(format!("symmetric eigenproblem: {e:?}")))?;
    Ok(values.into_iter().map(|v| v * back).collect())
}

/// A thin singular value decomposition `A = U diag(s) Vᵀ`, values descending.
pub(crate) struct ThinSvd {
    /// m × min(m, n).
    pub u: Array2<f64>,
    /// min(m, n), descending.
    pub s: Vec<f64>,
    /// n × min(m, n).
    pub v: Array2<f64>,
}

/// The thin singular value decomposition.
pub(crate) fn thin_svd(a: ArrayView2<f64>) -> Result<ThinSvd> {
    let (scaled, exponent) = scaled_copy(a);
    let svd = scaled.thin_svd().map_err(|e| Error::Internal(format!("singular values: {e:?}")))?;
    let back = power_of_two(exponent);
    let s = svd.S().column_vector().iter().map(|v| v * back).collect();
    Ok(ThinSvd { u: to_array(svd.U()), s, v: to_array(svd.V()) })
}

/// The triangular factor of `A = Q R`: min(m, n) × n.
pub(crate) fn qr_r(a: ArrayView2<f64>) -> Array2<f64> {
    let (scaled, exponent) = scaled_copy(a);
    let mut r = to_array(scaled.qr().thin_R());
    let back = power_of_two(exponent);
    for ((i, j), v) in r.indexed_iter_mut() {
        *v = if j < i { 0.0 } else { *v * back };
    }
    r
}

/// An orthonormal basis of the columns of a tall matrix: m × n.
pub(crate) fn qr_q(a: ArrayView2<f64>) -> Array2<f64> {
    let (scaled, _) = scaled_copy(a);
    to_array(scaled.qr().compute_thin_Q().as_ref())
}

/// An orthonormal basis of the whole space (m × m) whose first columns are those of [`qr_q`].
pub(crate) fn full_q(a: ArrayView2<f64>) -> Array2<f64> {
    let (scaled, _) = scaled_copy(a);
    to_array(scaled.qr().compute_Q().as_ref())
}

/// How many eigenvalues of the symmetric `a` lie above `shift`, by Sylvester's law of inertia on a
/// Bunch–Kaufman factorisation: code that shares nothing with the eigensolvers.
pub(crate) fn count_above(a: ArrayView2<f64>, shift: f64) -> usize {
    let n = a.nrows();
    let (mut scaled, exponent) = scaled_copy(a);
    let shift = shift * power_of_two(-exponent);
    for i in 0..n {
        scaled[(i, i)] -= shift;
    }
    let factor = scaled.lblt(Side::Lower);
    let (diagonal, below) = (factor.B_diag().column_vector(), factor.B_subdiag().column_vector());
    let mut above = 0;
    let mut i = 0;
    while i < n {
        if i + 1 < n && below[i] != 0.0 {
            // A 2 × 2 pivot: its determinant and trace tell the signs of its two eigenvalues.
            let determinant = diagonal[i] * diagonal[i + 1] - below[i] * below[i];
            let trace = diagonal[i] + diagonal[i + 1];
            above += if determinant < 0.0 {
                1
            } else if trace > 0.0 {
                2
            } else {
                0
            };
            i += 2;
        } else {
            above += usize::from(diagonal[i] > 0.0);
            i += 1;
        }
    }
    above
}

/// Whether no more eigenvalues of the symmetric `a` lie above `shift` than `vectors` has columns, by a
/// Cholesky factorisation of `shift·I − (A − V diag(values) Vᵀ)`.
///
/// What is taken away has no higher rank, so by Weyl's inequality a definite rest proves it, however
/// good or bad the pairs are. A rest that is not definite proves nothing.
pub(crate) fn at_most_above(
    a: ArrayView2<f64>,
    vectors: ArrayView2<f64>,
    values: &[f64],
    shift: f64,
) -> bool {
    let largest = a.diag().fold(0.0f64, |m, v| m.max(v.abs()));
    let scale = power_of_two(-exponent_of(largest).clamp(-1000, 1000));
    let weighted =
        Array2::from_shape_fn(vectors.dim(), |(i, j)| vectors[[i, j]] * (values[j] * scale));
    let taken = gemm::product(weighted.view(), vectors.t().as_standard_layout().view());
    let mut rest = Mat::zeros(a.nrows(), a.ncols());
    // Both are symmetric: rows are read where columns are meant, from the diagonal on.
    for (j, column) in rest.col_iter_mut().enumerate() {
        let known = a.row(j).into_iter().zip(taken.row(j));
        for (v, (a, taken)) in column.iter_mut().zip(known).skip(j) {
            *v = taken - a * scale;
        }
    }
    // Two matrices at a time, as the plan says: the factor is another one.
    drop(taken);
    for j in 0..a.nrows() {
        rest[(j, j)] += shift * scale;
    }
    rest.llt(Side::Lower).is_ok()
}

/// Solves the symmetric positive definite system `A X = B`; `None` where `A` is not definite.
pub(crate) fn solve_positive(a: ArrayView2<f64>, b: ArrayView2<f64>) -> Option<Array2<f64>> {
    let factor = to_mat(a).llt(Side::Lower).ok()?;
    Some(to_array(factor.solve(to_mat(b)).as_ref()))
}

/// The power of two that brings `max` to about 1, as an exponent; 0 for 0.
pub(crate) fn exponent_of(max: f64) -> i32 {
    if max > 0.0 && max.is_finite() { max.log2().floor() as i32 } else { 0 }
}

/// 2ᵉ, also where it needs a subnormal number.
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    // In two steps: `powi` of a negative power is one over the positive one, which may overflow.
    let half = exponent / 2;
    2f64.powi(half) * 2f64.powi(exponent - half)
}

fn scaled_copy(a: ArrayView2<f64>) -> (Mat<f64>, i32) {
    let max = a.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    // 2⁻ᵉ must be a number too.
    let exponent = exponent_of(max).clamp(-1000, 1000);
    let scale = power_of_two(-exponent);
    (Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[[i, j]] * scale), exponent)
}

fn to_mat(a: ArrayView2<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[[i, j]])
}

fn to_array(a: MatRef<'_, f64>) -> Array2<f64> {
    Array2::from_shape_fn((a.nrows(), a.ncols()), |(i, j)| a[(i, j)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random;
    use ndarray::s;

    #[test]
    fn values_above_a_shift_are_bounded_whatever_the_vectors() {
        let d = 60;
        let values: Vec<f64> = (0..d).map(|j| 1e3 / (1.0 + j as f64)).collect();
        let q = qr_q(random::normal_matrix(&mut random::stream(5, 0), d, d).view());
        let a = q.dot(&Array2::from_diag(&ndarray::arr1(&values))).dot(&q.t());
        for k in [1, 7, 30] {
            let shift = 0.5 * (values[k - 1] + values[k]);
            let leading = |k: usize| (q.slice(s![.., ..k]), &values[..k]);
            let (vectors, known) = leading(k);
            assert!(at_most_above(a.view(), vectors, known, shift));
            assert_eq!(count_above(a.view(), shift), k);
            // One of them was missed: by the number, or by a wrong vector in its place.
            let (fewer, fewer_known) = leading(k - 1);
            assert!(!at_most_above(a.view(), fewer, fewer_known, shift));
            let mut wrong = vectors.to_owned();
            wrong.column_mut(k - 1).assign(&q.column(d - 1));
            assert!(!at_most_above(a.view(), wrong.view(), known, shift));
        }
    }
}
