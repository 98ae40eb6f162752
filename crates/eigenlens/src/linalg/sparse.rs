//! Symmetric sparse matrices: products, and Cholesky or Bunch–Kaufman factors by faer, behind our
//! checks. Sequential inside, parallel over fixed pieces: the same bits for any number of threads.

use super::dense::{exponent_of, power_of_two};
use super::gemm::{rows_of, slice_mut};
use super::random;
use super::simd::vectorized;
use crate::error::{Error, Result};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::perm::PermRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, IntranodeLbltRef, LltRef, SymbolicCholesky, SymbolicCholeskyRaw,
    SymmetricOrdering, factorize_symbolic_cholesky, supernodal::SupernodalIntranodeLbltRef,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, Mat, Par, Side};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};
use rayon::prelude::*;

/// A symmetric matrix (d × d) by rows: column numbers rise within a row, and every entry is finite.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SymmetricRows {
    /// d + 1 positions.
    pub starts: Vec<usize>,
    pub columns: Vec<u32>,
    pub values: Vec<f64>,
}

/// Rows handled as one piece.
const PIECE: usize = 256;

impl SymmetricRows {
    pub fn dim(&self) -> usize {
        self.starts.len() - 1
    }

    fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[i]..self.starts[i + 1];
        self.columns[range.clone()].iter().zip(&self.values[range]).map(|(&c, &v)| (c as usize, v))
    }

    /// A copy with entries near 1, and the exponent that brings it back.
    pub fn scaled(&self) -> (SymmetricRows, i32) {
        let max = self.values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        // 2⁻ᵉ must be a number too.
        let exponent = exponent_of(max).clamp(-1000, 1000);
        let scale = power_of_two(-exponent);
        let values = self.values.iter().map(|v| v * scale).collect();
        let (starts, columns) = (self.starts.clone(), self.columns.clone());
        (SymmetricRows { starts, columns, values }, exponent)
    }

    /// Bounds of the spectrum: Gershgorin's lower end, and the largest sum of moduli in a row.
    pub fn bounds(&self) -> (f64, f64) {
        (0..self.dim()).fold((f64::INFINITY, 0.0), |(low, norm): (f64, f64), i| {
            let (mut diagonal, mut sum) = (0.0, 0.0);
            for (j, v) in self.row(i) {
                if i == j { diagonal = v } else { sum += v.abs() }
            }
            (low.min(diagonal - sum), norm.max(diagonal.abs() + sum))
        })
    }

    /// `(A − shift I) V` for row-major V (d × b).
    pub fn product_into(&self, shift: f64, v: ArrayView2<f64>, out: &mut Array2<f64>) {
        let b = v.ncols();
        if b == 0 || self.dim() == 0 {
            return;
        }
        let (right, stride) = rows_of(&v);
        slice_mut(out).par_chunks_mut(PIECE * b).enumerate().for_each(|(piece, out)| {
            for (i, out) in (piece * PIECE..).zip(out.chunks_exact_mut(b)) {
                let range = self.starts[i]..self.starts[i + 1];
                let (columns, values) = (&self.columns[range.clone()], &self.values[range]);
                vectorized(
                    #[inline(always)]
                    || {
                        for (o, r) in out.iter_mut().zip(&right[i * stride..i * stride + b]) {
                            *o = -shift * r;
                        }
                        for (&c, &v) in columns.iter().zip(values) {
                            let at = c as usize * stride;
                            for (o, r) in out.iter_mut().zip(&right[at..at + b]) {
                                *o += v * r;
                            }
                        }
                    },
                );
            }
        });
    }
}

/// Where the factors of `A − shift I` have entries, whatever the shift: ordered once, by
/// approximate minimum degree, to keep them few.
pub(crate) struct Analysis<'a> {
    matrix: &'a SymmetricRows,
    /// The lower triangle by columns, every diagonal entry among them.
    starts: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
    norm: f64,
    symbolic: SymbolicCholesky<usize>,
}

impl<'a> Analysis<'a> {
    /// Analyses a matrix with entries near 1 (see [`SymmetricRows::scaled`]).
    pub fn new(matrix: &'a SymmetricRows) -> Result<Analysis<'a>> {
        let d = matrix.dim();
        let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..d {
            // The diagonal entry comes first: it is what a shift changes.
            rows.push(i);
            values.push(0.0);
            for (j, v) in matrix.row(i) {
                if j == i {
                    values[starts[i]] = v;
                } else if j > i {
                    rows.push(j);
                    values.push(v);
                }
            }
            starts.push(rows.len());
        }
        let pattern = SymbolicSparseColMatRef::new_checked(d, d, &starts, None, &rows);
        let symbolic = factorize_symbolic_cholesky(
            pattern,
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .map_err(broken)?;
        Ok(Analysis { matrix, starts, rows, values, norm: matrix.bounds().1, symbolic })
    }

    /// Bytes of one factor.
    pub fn bytes(&self) -> u64 {
        8 * self.symbolic.len_val() as u64
    }

    /// The Cholesky factor of `A − shift I`; `None` where that is not positive definite.
    pub fn definite(&self, shift: f64) -> Result<Option<SparseFactor<'_>>> {
        let shifted = self.shifted(shift);
        let mut values = zeros(self.symbolic.len_val())?;
        let scratch =
            self.symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let factor = self.symbolic.factorize_numeric_llt(
            &mut values,
            self.view(&shifted),
            Side::Lower,
            Default::default(),
            Par::Seq,
            MemStack::new(&mut buffer(scratch)?),
            Default::default(),
        );
        if factor.is_err() || values.iter().any(|v| !v.is_finite()) {
            return Ok(None);
        }
        Ok(Some(SparseFactor { analysis: self, shift, factor: Factor::Cholesky(values) }))
    }

    /// The Bunch–Kaufman factor `L B Lᵀ` of `A − shift I`, pivoting within supernodes only: it may
    /// be inaccurate, which [`SparseFactor::backward_error`] shows.
    pub fn indefinite(&self, shift: f64) -> Result<SparseFactor<'_>> {
        let d = self.matrix.dim();
        let order = match self.symbolic.perm() {
            Some(order) => SymmetricOrdering::Custom(order),
            None => SymmetricOrdering::Identity,
        };
        // Supernodes, always: without them faer would not pivot at all.
        let symbolic = factorize_symbolic_cholesky(
            SymbolicSparseColMatRef::new_checked(d, d, &self.starts, None, &self.rows),
            Side::Lower,
            order,
            CholeskySymbolicParams {
                supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
                ..Default::default()
            },
        )
        .map_err(broken)?;
        let shifted = self.shifted(shift);
        let (mut values, mut below) = (zeros(symbolic.len_val())?, zeros(d)?);
        let (mut forward, mut inverse) = (vec![0usize; d], vec![0usize; d]);
        let scratch =
            symbolic.factorize_numeric_intranode_lblt_scratch::<f64>(Par::Seq, Default::default());
        symbolic.factorize_numeric_intranode_lblt(
            &mut values,
            &mut below,
            &mut forward,
            &mut inverse,
            self.view(&shifted),
            Side::Lower,
            Par::Seq,
            MemStack::new(&mut buffer(scratch)?),
            Default::default(),
        );
        let symbolic = Box::new(symbolic);
        let factor = Factor::BunchKaufman { symbolic, values, below, forward, inverse };
        Ok(SparseFactor { analysis: self, shift, factor })
    }

    fn shifted(&self, shift: f64) -> Vec<f64> {
        let mut values = self.values.clone();
        self.starts[..self.matrix.dim()].iter().for_each(|&at| values[at] -= shift);
        values
    }

    fn view<'b>(&'b self, values: &'b [f64]) -> SparseColMatRef<'b, usize, f64> {
        let d = self.matrix.dim();
        let pattern = SymbolicSparseColMatRef::new_checked(d, d, &self.starts, None, &self.rows);
        SparseColMatRef::new(pattern, values)
    }
}

/// Where the Cholesky factor of a symmetric matrix has entries below its diagonal.
pub(crate) struct Pattern {
    /// Row i of the factor belongs to row `order[i]` of the matrix: few entries are added so.
    pub order: Vec<u32>,
    /// d + 1 positions.
    pub starts: Vec<usize>,
    /// For each column the rows below, rising.
    pub rows: Vec<u32>,
}

/// Orders the nodes of a graph (both directions of every edge, no loops) by approximate minimum
/// degree, and says which edges eliminating them in that order adds.
pub(crate) fn eliminate(starts: &[usize], columns: &[u32]) -> Result<Pattern> {
    let d = starts.len() - 1;
    let (mut lower_starts, mut lower) = (vec![0], Vec::new());
    for i in 0..d {
        lower.push(i);
        let row = columns[starts[i]..starts[i + 1]].iter().map(|&j| j as usize);
        lower.extend(row.filter(|&j| j > i));
        lower_starts.push(lower.len());
    }
    let symbolic = factorize_symbolic_cholesky(
        SymbolicSparseColMatRef::new_checked(d, d, &lower_starts, None, &lower),
        Side::Lower,
        SymmetricOrdering::Amd,
        CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SIMPLICIAL,
            ..Default::default()
        },
    )
    .map_err(broken)?;
    let SymbolicCholeskyRaw::Simplicial(factor) = symbolic.raw() else {
        return Err(Error::Internal("a simplicial factor was asked for".into()));
    };
    let order = match symbolic.perm() {
        Some(order) => order.arrays().0.iter().map(|&i| i as u32).collect(),
        None => (0..d as u32).collect(),
    };
    let (mut below_starts, mut rows) = (vec![0], Vec::with_capacity(factor.row_idx().len()));
    for (j, ends) in factor.col_ptr().windows(2).enumerate() {
        let first = rows.len();
        rows.extend(
            factor.row_idx()[ends[0]..ends[1]].iter().filter(|&&i| i > j).map(|&i| i as u32),
        );
        rows[first..].sort_unstable();
        below_starts.push(rows.len());
    }
    Ok(Pattern { order, starts: below_starts, rows })
}

enum Factor {
    Cholesky(Vec<f64>),
    BunchKaufman {
        symbolic: Box<SymbolicCholesky<usize>>,
        values: Vec<f64>,
        /// The off-diagonal entries of B.
        below: Vec<f64>,
        forward: Vec<usize>,
        inverse: Vec<usize>,
    },
}

/// A factorisation of `A − shift I`.
pub(crate) struct SparseFactor<'a> {
    analysis: &'a Analysis<'a>,
    shift: f64,
    factor: Factor,
}

/// Right-hand sides solved together.
const SOLVE_TOGETHER: usize = 4;
/// A backward error that a refinement would hardly improve.
const CLEAN: f64 = 16.0 * f64::EPSILON;
/// A backward error that says the factor is of no use.
const USELESS: f64 = 1e-10;

impl SparseFactor<'_> {
    pub fn dim(&self) -> usize {
        self.analysis.matrix.dim()
    }

    pub fn shift(&self) -> f64 {
        self.shift
    }

    /// `(A − shift I)⁻¹ B` for B (d × b), refined once where the residual asks for it.
    pub fn solve(&self, rhs: ArrayView2<f64>) -> Result<Array2<f64>> {
        let mut x = self.solve_once(rhs)?;
        let (mut error, residual) = self.residual(rhs, &x);
        if error > CLEAN {
            let refined = &x + &self.solve_once(residual.view())?;
            let (after, _) = self.residual(rhs, &refined);
            if after < error {
                (x, error) = (refined, after);
            }
        }
        if error <= USELESS {
            return Ok(x);
        }
        Err(Error::NotConverged {
            what: "the solution of a sparse system",
            iterations: 1,
            residual: error,
            tolerance: USELESS,
        })
    }

    /// How far the factors are from those of `A − shift I`, relative to its norm, as seen by random
    /// right-hand sides: their solutions lie along the eigenvectors nearest to the shift.
    pub fn backward_error(&self) -> Result<f64> {
        let d = self.analysis.matrix.dim();
        let rhs = random::normal_matrix(&mut random::stream(0, 7), d, SOLVE_TOGETHER);
        let x = self.solve_once(rhs.view())?;
        Ok(self.residual(rhs.view(), &x).0)
    }

    /// How many eigenvalues of A lie below the shift, by Sylvester's law of inertia; `None` where a
    /// pivot is 0 or no number.
    pub fn negative_count(&self) -> Option<usize> {
        let Factor::BunchKaufman { symbolic, values, below, forward, inverse } = &self.factor
        else {
            return Some(0);
        };
        let SymbolicCholeskyRaw::Supernodal(nodes) = symbolic.raw() else { return None };
        let order = PermRef::new_checked(forward, inverse, forward.len());
        let factor = SupernodalIntranodeLbltRef::new(nodes, values, below, order);
        let mut negative = 0;
        for s in 0..nodes.n_supernodes() {
            let node = factor.supernode(s);
            let (start, block) = (node.start(), node.val());
            let mut i = 0;
            while i < block.ncols() {
                let (pivot, off) = (block[(i, i)], below[start + i]);
                if off != 0.0 && i + 1 < block.ncols() {
                    // A 2 × 2 pivot by Bunch and Kaufman has one eigenvalue of each sign.
                    let next = block[(i + 1, i + 1)];
                    let product = (pivot / off) * (next / off);
                    if product.is_nan() || product >= 1.0 {
                        return None;
                    }
                    negative += 1;
                    i += 2;
                } else {
                    if pivot == 0.0 || !pivot.is_finite() {
                        return None;
                    }
                    negative += usize::from(pivot < 0.0);
                    i += 1;
                }
            }
        }
        Some(negative)
    }

    /// The largest backward error ‖r‖ / (‖A‖‖x‖ + ‖b‖) of a column (∞ where it is no number), and
    /// r = b − (A − shift I) x.
    fn residual(&self, rhs: ArrayView2<f64>, x: &Array2<f64>) -> (f64, Array2<f64>) {
        let mut r = Array2::zeros(x.dim());
        self.analysis.matrix.product_into(self.shift, x.view(), &mut r);
        r.zip_mut_with(&rhs, |r, b| *r = b - *r);
        let norm = self.analysis.norm + self.shift.abs();
        let mut worst = 0.0f64;
        for ((r, x), b) in r.columns().into_iter().zip(x.columns()).zip(rhs.columns()) {
            let size = norm * x.dot(&x).sqrt() + b.dot(&b).sqrt();
            let error = if size == 0.0 { 0.0 } else { r.dot(&r).sqrt() / size };
            worst = worst.max(if error.is_nan() { f64::INFINITY } else { error });
        }
        (worst, r)
    }

    fn solve_once(&self, rhs: ArrayView2<f64>) -> Result<Array2<f64>> {
        let mut x = Array2::zeros(rhs.dim());
        let parts: Vec<_> = rhs.axis_chunks_iter(Axis(1), SOLVE_TOGETHER).collect();
        let solved: Vec<Result<Mat<f64>>> =
            parts.par_iter().map(|part| self.solve_part(part.view())).collect();
        for (mut to, from) in x.axis_chunks_iter_mut(Axis(1), SOLVE_TOGETHER).zip(solved) {
            copy_to(&from?, &mut to);
        }
        Ok(x)
    }

    fn solve_part(&self, rhs: ArrayView2<f64>) -> Result<Mat<f64>> {
        let mut x = Mat::from_fn(rhs.nrows(), rhs.ncols(), |i, j| rhs[[i, j]]);
        match &self.factor {
            Factor::Cholesky(values) => {
                let symbolic = &self.analysis.symbolic;
                let scratch = symbolic.solve_in_place_scratch::<f64>(rhs.ncols(), Par::Seq);
                LltRef::new(symbolic, values).solve_in_place_with_conj(
                    Conj::No,
                    x.as_mut(),
                    Par::Seq,
                    MemStack::new(&mut buffer(scratch)?),
                );
            }
            Factor::BunchKaufman { symbolic, values, below, forward, inverse } => {
                let order = PermRef::new_checked(forward, inverse, forward.len());
                let scratch = symbolic.solve_in_place_scratch::<f64>(rhs.ncols(), Par::Seq);
                IntranodeLbltRef::new(symbolic, values, below, order).solve_in_place_with_conj(
                    Conj::No,
                    x.as_mut(),
                    Par::Seq,
                    MemStack::new(&mut buffer(scratch)?),
                );
            }
        }
        Ok(x)
    }
}

fn copy_to(from: &Mat<f64>, to: &mut ArrayViewMut2<f64>) {
    for ((i, j), v) in to.indexed_iter_mut() {
        *v = from[(i, j)];
    }
}

fn zeros(length: usize) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    values.try_reserve_exact(length).map_err(broken)?;
    values.resize(length, 0.0);
    Ok(values)
}

fn buffer(size: StackReq) -> Result<MemBuffer> {
    MemBuffer::try_new(size).map_err(broken)
}

fn broken(error: impl std::fmt::Debug) -> Error {
    Error::Internal(format!("sparse factorisation: {error:?}"))
}
