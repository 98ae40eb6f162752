//! Dense factorisations by faer, behind our checks: scaled by a power of two first, never an unconverged
//! result, and large ones on all cores with the same bits for any number of them.
//!
//! faer cuts its work into as many parts as [`Par`] says, each part a range of columns or a tile of a
//! product, and adds what parts made in their order; which thread takes a part touches no bit. So the
//! number of parts depends on the size of the matrix alone, and the threads are those of the pool.

use super::transpose::{columns_as_rows, transpose_into};
use super::{gemm, pool};
use crate::error::{Error, Result};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::solvers::Solve;
use faer::linalg::{evd, householder, qr::no_pivoting::factor as qr, svd};
use faer::{Conj, Mat, MatMut, MatRef, Par, Side};
use ndarray::{Array2, ArrayView2, s};

/// Eigenpairs of a symmetric matrix, values **ascending**, vectors in the columns.
pub(crate) fn symmetric_eigen(a: ArrayView2<f64>) -> Result<(Vec<f64>, Array2<f64>)> {
    let (values, vectors) = eigen(a, true)?;
    Ok((values, vectors.as_rows()))
}

/// All eigenvalues of a symmetric matrix, **descending**, and the vectors (n × wanted) of the largest.
pub(crate) fn leading_eigen(a: ArrayView2<f64>, wanted: usize) -> Result<(Vec<f64>, Array2<f64>)> {
    let (mut values, vectors) = eigen(a, true)?;
    values.reverse();
    let all = vectors.columns.view();
    let leading = all.slice(s![all.nrows() - wanted.min(all.nrows()).., ..]);
    Ok((values, all_columns_as_rows(leading.slice(s![..;-1, ..]))))
}

/// Eigenvalues of a symmetric matrix, ascending.
pub(crate) fn symmetric_eigenvalues(a: ArrayView2<f64>) -> Result<Vec<f64>> {
    Ok(eigen(a, false)?.0)
}

/// Eigenvalues, ascending, and the vectors where they are wanted.
fn eigen(a: ArrayView2<f64>, vectors: bool) -> Result<(Vec<f64>, ByColumns)> {
    let (scaled, exponent) = ByColumns::scaled(a);
    let (n, par) = (a.nrows(), parts(a.nrows()));
    let (mut values, mut u) = (Diag::zeros(n), ByColumns::zeros(n, if vectors { n } else { 0 }));
    let compute = match vectors {
        true => evd::ComputeEigenvectors::Yes,
        false => evd::ComputeEigenvectors::No,
    };
    let request = evd::self_adjoint_evd_scratch::<f64>(n, compute, par, Default::default());
    let (into, u_into) = (values.as_mut(), vectors.then(|| u.as_mut()));
    with_scratch(par, request, |stack| {
        evd::self_adjoint_evd(scaled.as_ref(), into, u_into, par, stack, Default::default())
    })
    .map_err(|e| Error::Internal(format!("symmetric eigenproblem: {e:?}")))?;
    let back = power_of_two(exponent);
    Ok((values.column_vector().iter().map(|v| v * back).collect(), u))
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
    let (scaled, exponent) = ByColumns::scaled(a);
    let (m, n) = a.dim();
    let size = m.min(n);
    let par = parts(size);
    let (mut u, mut v) = (ByColumns::zeros(m, size), ByColumns::zeros(n, size));
    let mut values = Diag::zeros(size);
    let thin = svd::ComputeSvdVectors::Thin;
    let request = svd::svd_scratch::<f64>(m, n, thin, thin, par, Default::default());
    let (into, u_into, v_into) = (values.as_mut(), Some(u.as_mut()), Some(v.as_mut()));
    with_scratch(par, request, |stack| {
        svd::svd(scaled.as_ref(), into, u_into, v_into, par, stack, Default::default())
    })
    .map_err(|e| Error::Internal(format!("singular values: {e:?}")))?;
    let back = power_of_two(exponent);
    let s = values.column_vector().iter().map(|v| v * back).collect();
    Ok(ThinSvd { u: u.as_rows(), s, v: v.as_rows() })
}

/// The triangular factor of `A = Q R`: min(m, n) × n.
pub(crate) fn qr_r(a: ArrayView2<f64>) -> Array2<f64> {
    let (scaled, exponent) = ByColumns::scaled(a);
    let size = a.nrows().min(a.ncols());
    let factors = householder_qr(scaled).0;
    let mut r = all_columns_as_rows(factors.columns.slice(s![.., ..size]));
    let back = power_of_two(exponent);
    for ((i, j), v) in r.indexed_iter_mut() {
        *v = if j < i { 0.0 } else { *v * back };
    }
    r
}

/// An orthonormal basis of the columns of a tall matrix: m × n.
pub(crate) fn qr_q(a: ArrayView2<f64>) -> Array2<f64> {
    q_columns(a, a.nrows().min(a.ncols()))
}

/// An orthonormal basis of the whole space (m × m) whose first columns are those of [`qr_q`].
pub(crate) fn full_q(a: ArrayView2<f64>) -> Array2<f64> {
    q_columns(a, a.nrows())
}

/// The first columns of Q.
fn q_columns(a: ArrayView2<f64>, columns: usize) -> Array2<f64> {
    let (m, size) = (a.nrows(), a.nrows().min(a.ncols()));
    let (factors, coefficients) = householder_qr(ByColumns::scaled(a).0);
    let mut q = ByColumns::zeros(m, columns);
    (0..columns).for_each(|j| q.columns[[j, j]] = 1.0);
    let par = parts(size);
    let request = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(
        m,
        coefficients.nrows(),
        columns,
    );
    let into = q.as_mut();
    with_scratch(par, request, |stack| {
        householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
            factors.as_ref().get(.., ..size),
            coefficients.as_ref(),
            Conj::No,
            into,
            par,
            stack,
        );
    });
    q.as_rows()
}

/// R above the diagonal and the reflections below it, and the reflections' coefficients.
fn householder_qr(mut a: ByColumns) -> (ByColumns, Mat<f64>) {
    let (n, m) = a.columns.dim();
    let (size, block) = (m.min(n), qr::recommended_block_size::<f64>(m, n));
    let par = parts(size);
    let mut coefficients = Mat::zeros(block, size);
    let request = qr::qr_in_place_scratch::<f64>(m, n, block, par, Default::default());
    let (into, coefficients_into) = (a.as_mut(), coefficients.as_mut());
    with_scratch(par, request, |stack| {
        qr::qr_in_place(into, coefficients_into, par, stack, Default::default());
    });
    (a, coefficients)
}

/// How many parts a factorisation of so many columns is cut into: small ones are done before another
/// thread has heard of them.
fn parts(size: usize) -> Par {
    match size {
        0..384 => Par::Seq,
        384..1024 => Par::rayon(4),
        _ => Par::rayon(8),
    }
}

/// Runs a factorisation in the fit's pool. Its threads wait for each other in a loop: where there are more
/// of them than cores, in a pool that has no more.
fn with_scratch<R: Send>(
    par: Par,
    request: StackReq,
    work: impl FnOnce(&mut MemStack) -> R + Send,
) -> R {
    let work = || work(MemStack::new(&mut MemBuffer::new(request)));
    match par {
        Par::Seq => work(),
        _ => pool::run_within_cores(work),
    }
}

/// A matrix as faer takes it.
struct ByColumns {
    /// Its columns as rows (columns × rows), in standard layout.
    columns: Array2<f64>,
}

impl ByColumns {
    fn zeros(rows: usize, columns: usize) -> ByColumns {
        ByColumns { columns: Array2::zeros((columns, rows)) }
    }

    /// `2⁻ᵉ A` with entries of about 1 at most, and e.
    fn scaled(a: ArrayView2<f64>) -> (ByColumns, i32) {
        let mut scaled = ByColumns::zeros(a.nrows(), a.ncols());
        transpose_into(a, scaled.columns.as_slice_mut().unwrap_or_default(), a.nrows());
        let max = scaled.columns.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        // 2⁻ᵉ must be a number too.
        let exponent = exponent_of(max).clamp(-1000, 1000);
        if exponent != 0 {
            let scale = power_of_two(-exponent);
            scaled.columns.mapv_inplace(|v| v * scale);
        }
        (scaled, exponent)
    }

    fn as_ref(&self) -> MatRef<'_, f64> {
        let (columns, rows) = self.columns.dim();
        MatRef::from_column_major_slice(self.columns.as_slice().unwrap_or_default(), rows, columns)
    }

    fn as_mut(&mut self) -> MatMut<'_, f64> {
        let (columns, rows) = self.columns.dim();
        let entries = self.columns.as_slice_mut().unwrap_or_default();
        MatMut::from_column_major_slice_mut(entries, rows, columns)
    }

    /// The same row by row (rows × columns).
    fn as_rows(&self) -> Array2<f64> {
        all_columns_as_rows(self.columns.view())
    }
}

fn all_columns_as_rows(a: ArrayView2<f64>) -> Array2<f64> {
    let columns: Vec<usize> = (0..a.ncols()).collect();
    columns_as_rows(a, &columns)
}

/// How many eigenvalues of the symmetric `a` lie above `shift`, by Sylvester's law of inertia on a
/// Bunch–Kaufman factorisation: code that shares nothing with the eigensolvers.
pub(crate) fn count_above(a: ArrayView2<f64>, shift: f64) -> usize {
    let n = a.nrows();
    let (mut scaled, exponent) = ByColumns::scaled(a);
    let shift = shift * power_of_two(-exponent);
    for i in 0..n {
        scaled.columns[[i, i]] -= shift;
    }
    let factor = scaled.as_ref().lblt(Side::Lower);
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
    let solved = factor.solve(to_mat(b));
    Some(Array2::from_shape_fn(b.dim(), |(i, j)| solved[(i, j)]))
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

fn to_mat(a: ArrayView2<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[[i, j]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random;
    use ndarray::s;

    /// The bits of every factorisation are those of one thread, whatever the pool, at sizes on both sides of
    /// every border.
    #[test]
    fn factorisations_have_the_same_bits_in_any_pool() {
        for n in [5, 383, 384, 700, 1100] {
            let mut rng = random::stream(7, n as u64);
            let a = random::normal_matrix(&mut rng, n, n);
            let tall = random::normal_matrix(&mut rng, n + 130, n);
            let symmetric = &a + &a.t();
            let all = || {
                let (values, vectors) = symmetric_eigen(symmetric.view()).unwrap();
                let ThinSvd { u, s, v } = thin_svd(tall.view()).unwrap();
                let numbers = [vectors, u, v, qr_q(tall.view()), qr_r(tall.view())];
                let bits = numbers.iter().flatten().chain(&values).chain(&s);
                bits.map(|v| v.to_bits()).collect::<Vec<_>>()
            };
            let once = pool::run(Some(1), all).unwrap();
            for threads in [2, 3, 8] {
                assert!(pool::run(Some(threads), all).unwrap() == once, "{n}, {threads} threads");
            }
            assert!(all() == once, "{n} without a pool");
        }
    }

    /// What is found is a decomposition, at sizes of every number of parts; `leading_eigen` has the same pairs.
    #[test]
    fn factorisations_are_those_of_the_matrix() {
        for n in [1, 37, 400, 1030] {
            let mut rng = random::stream(8, n as u64);
            let a = random::normal_matrix(&mut rng, n, n);
            let symmetric = &a + &a.t();
            let within = 1e-13 * (n as f64).powf(1.5).max(10.0);
            let close = |a: &Array2<f64>, b: &Array2<f64>| (a - b).iter().all(|v| v.abs() < within);
            let (values, u) = symmetric_eigen(symmetric.view()).unwrap();
            assert!(close(&symmetric.dot(&u), &(&u * &ndarray::arr1(&values))));
            assert!(close(&u.t().dot(&u), &Array2::eye(n)));
            let (descending, leading) = leading_eigen(symmetric.view(), n.div_ceil(3)).unwrap();
            assert!(descending.iter().rev().eq(&values));
            assert_eq!(leading, u.slice(s![.., n - n.div_ceil(3)..;-1]));
            let q = full_q(a.slice(s![.., ..n.div_ceil(2)]));
            assert!(close(&q.t().dot(&q), &Array2::eye(n)));
            let (q, r) = (qr_q(a.view()), qr_r(a.view()));
            assert!(close(&q.dot(&r), &a));
            let svd = thin_svd(a.view()).unwrap();
            assert!(close(&(&svd.u * &ndarray::arr1(&svd.s)).dot(&svd.v.t()), &a));
        }
    }

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
