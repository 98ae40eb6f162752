//! Data, an oracle that shares no code with the library, and ways to compare.

use eigenlens::{Csr, Dataset, Result, RowReader, Rows, Scalar, Solver};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ShapeBuilder, s};

/// Seeded random numbers (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform on (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) * 2f64.powi(-53)
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Standard normal entries.
    pub fn matrix(&mut self, rows: usize, columns: usize) -> Array2<f64> {
        Array2::from_shape_simple_fn((rows, columns), || self.normal())
    }

    /// Orthonormal columns (rows × columns), orthogonal to the constant vector where `centered`.
    pub fn orthonormal(&mut self, rows: usize, columns: usize, centered: bool) -> Array2<f64> {
        let mut basis: Vec<Array1<f64>> = Vec::new();
        if centered {
            basis.push(Array1::from_elem(rows, 1.0 / (rows as f64).sqrt()));
        }
        let first = basis.len();
        while basis.len() < first + columns {
            let mut v = Array1::from_shape_simple_fn(rows, || self.normal());
            for _ in 0..2 {
                for b in &basis {
                    let inside = b.dot(&v);
                    v.scaled_add(-inside, b);
                }
            }
            let norm = v.dot(&v).sqrt();
            basis.push(v / norm);
        }
        Array2::from_shape_fn((rows, columns), |(i, j)| basis[first + j][i])
    }

    /// Data (n × d) whose covariance has exactly these variances (as far as rounding goes), and
    /// its components as rows. Column means are 0.
    pub fn planted(&mut self, n: usize, d: usize, variances: &[f64]) -> (Array2<f64>, Array2<f64>) {
        let left = self.orthonormal(n, variances.len(), true);
        let right = self.orthonormal(d, variances.len(), false);
        let mut scaled = left;
        for (mut column, v) in scaled.columns_mut().into_iter().zip(variances) {
            column *= (v * (n as f64 - 1.0)).sqrt();
        }
        (scaled.dot(&right.t()), right.reversed_axes())
    }

    /// Data with unequal spreads, correlated columns, means that are not 0, and some exact zeros.
    pub fn ordinary(&mut self, n: usize, d: usize) -> Array2<f64> {
        let mixing = self.orthonormal(d, d, false);
        let mut x = self.matrix(n, d);
        for (j, mut column) in x.columns_mut().into_iter().enumerate() {
            column *= 3.0 / (1.0 + j as f64).powf(0.7);
        }
        let mut x = x.dot(&mixing);
        let means = Array1::from_shape_simple_fn(d, || 2.0 * self.normal());
        x += &means;
        x.mapv_inplace(|v| if self.uniform() < 0.25 { 0.0 } else { v });
        x
    }
}

/// How a table is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Storage {
    RowMajor,
    ColumnMajor,
    /// A view with gaps between columns and rows in reverse order in memory.
    Strided,
    Sparse,
    /// Blocks of this many rows; the number of rows is told beforehand where the flag is set.
    Streamed(usize, bool),
}

pub const STORAGES: [Storage; 7] = [
    Storage::RowMajor,
    Storage::ColumnMajor,
    Storage::Strided,
    Storage::Sparse,
    Storage::Streamed(1, true),
    Storage::Streamed(5, false),
    Storage::Streamed(1000, true),
];

pub const SOLVERS: [Solver; 5] =
    [Solver::Auto, Solver::Covariance, Solver::Dual, Solver::Svd, Solver::Iterative];

/// Whether a route can be taken at all.
pub fn feasible(storage: Storage, solver: Solver, n: usize, d: usize) -> bool {
    let streamed = matches!(storage, Storage::Streamed(..));
    match solver {
        Solver::Dual => !streamed,
        Solver::Svd => n >= d || !(streamed || storage == Storage::Sparse),
        _ => true,
    }
}

/// A table in one storage and element type.
pub struct Table<T> {
    storage: Storage,
    /// Row-major values.
    pub x: Array2<T>,
    other: Array2<T>,
    sparse: Option<Csr<T>>,
}

impl<T: Scalar> Table<T> {
    /// Rounds `x` to the element type.
    pub fn new(x: &Array2<f64>, storage: Storage) -> Table<T> {
        let x = x.mapv(T::from_f64);
        let (n, d) = x.dim();
        let other = match storage {
            Storage::ColumnMajor => {
                let mut other = Array2::default((n, d).f());
                other.assign(&x);
                other
            }
            Storage::Strided => {
                let mut other = Array2::from_elem((2 * n, 3 * d), T::from_f64(f64::NAN));
                for ((i, f), v) in x.indexed_iter() {
                    other[[2 * (n - 1 - i) + 1, 3 * f + 1]] = *v;
                }
                other
            }
            _ => Array2::default((0, 0)),
        };
        let sparse = (storage == Storage::Sparse).then(|| to_csr(&x));
        Table { storage, x, other, sparse }
    }

    pub fn dataset(&self) -> Dataset<'_, T> {
        match self.storage {
            Storage::RowMajor => Dataset::dense(self.x.view()),
            Storage::ColumnMajor => Dataset::dense(self.other.view()),
            Storage::Strided => Dataset::dense(self.other.slice(s![1..;-2, 1..;3])),
            Storage::Sparse => Dataset::sparse(self.sparse.as_ref().unwrap()),
            Storage::Streamed(..) => Dataset::streamed(self),
        }
    }

    /// The stored values.
    pub fn values(&self) -> Array2<f64> {
        widen(&self.x)
    }
}

impl<T: Scalar> Rows<T> for Table<T> {
    fn n_features(&self) -> usize {
        self.x.ncols()
    }

    fn n_samples(&self) -> Option<usize> {
        matches!(self.storage, Storage::Streamed(_, true)).then(|| self.x.nrows())
    }

    fn open(&self) -> Result<Box<dyn RowReader<T> + '_>> {
        Ok(Box::new(Pieces { table: self, next: 0 }))
    }
}

struct Pieces<'a, T> {
    table: &'a Table<T>,
    next: usize,
}

impl<T: Scalar> RowReader<T> for Pieces<'_, T> {
    fn next_rows(&mut self, at_most: usize) -> Result<Option<ArrayView2<'_, T>>> {
        let Storage::Streamed(block, _) = self.table.storage else { unreachable!() };
        let start = self.next;
        self.next = (start + block.min(at_most)).min(self.table.x.nrows());
        Ok((start < self.next).then(|| self.table.x.slice(s![start..self.next, ..])))
    }
}

/// The entries that are not 0.
pub fn to_csr<T: Scalar>(x: &Array2<T>) -> Csr<T> {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in x.rows() {
        for (f, v) in row.iter().enumerate().filter(|(_, v)| v.to_f64() != 0.0) {
            columns.push(f as u32);
            values.push(*v);
        }
        starts.push(values.len());
    }
    Csr::new(x.nrows(), x.ncols(), starts, columns, values).unwrap()
}

pub fn widen<T: Scalar>(x: &Array2<T>) -> Array2<f64> {
    x.mapv(|v| v.to_f64())
}

/// PCA written down as it is defined: plain loops and Jacobi's rotations.
pub struct Oracle {
    pub mean: Vec<f64>,
    /// What each column is divided by; infinite for a constant column that was standardised.
    pub scale: Vec<f64>,
    /// The centred and scaled rows.
    pub rows: Array2<f64>,
    pub covariance: Array2<f64>,
    /// d values, descending.
    pub values: Vec<f64>,
    /// d × d, one eigenvector in each row.
    pub vectors: Array2<f64>,
}

impl Oracle {
    pub fn new(x: &Array2<f64>, center: bool, standardize: bool) -> Oracle {
        Self::weighted(x, &vec![1.0; x.nrows()], center, standardize)
    }

    pub fn weighted(x: &Array2<f64>, weights: &[f64], center: bool, standardize: bool) -> Oracle {
        let (n, d) = x.dim();
        let total: f64 = weights.iter().sum();
        let mut mean = vec![0.0; d];
        let mut scale = vec![1.0; d];
        for f in 0..d {
            let average = (0..n).map(|i| weights[i] * x[[i, f]]).sum::<f64>() / total;
            // Once more from there: what rounding left.
            let average =
                average + (0..n).map(|i| weights[i] * (x[[i, f]] - average)).sum::<f64>() / total;
            let squares: f64 = (0..n).map(|i| weights[i] * (x[[i, f]] - average).powi(2)).sum();
            let sd = (squares / (total - 1.0)).sqrt();
            if center {
                mean[f] = average;
            }
            if standardize {
                let constant = sd <= 4.0 * f64::EPSILON * average.abs();
                scale[f] = if constant { f64::INFINITY } else { sd };
            }
        }
        let rows = Array2::from_shape_fn((n, d), |(i, f)| (x[[i, f]] - mean[f]) / scale[f]);
        let mut covariance = Array2::zeros((d, d));
        for f in 0..d {
            for g in 0..d {
                let sum: f64 = (0..n).map(|i| weights[i] * rows[[i, f]] * rows[[i, g]]).sum();
                covariance[[f, g]] = sum / (total - 1.0);
            }
        }
        let (values, vectors) = jacobi(&covariance);
        Oracle { mean, scale, rows, covariance, values, vectors }
    }

    /// The same with the columns divided by other scales.
    pub fn rescaled(&self, scale: &[f64]) -> Oracle {
        let d = scale.len();
        let factor =
            |f: usize| if self.scale[f].is_finite() { self.scale[f] / scale[f] } else { 0.0 };
        let n = self.rows.nrows();
        let rows = Array2::from_shape_fn((n, d), |(i, f)| self.rows[[i, f]] * factor(f));
        let covariance =
            Array2::from_shape_fn((d, d), |(f, g)| self.covariance[[f, g]] * factor(f) * factor(g));
        let (values, vectors) = jacobi(&covariance);
        let (mean, scale) = (self.mean.clone(), self.scale.clone());
        Oracle { mean, scale, rows, covariance, values, vectors }
    }

    pub fn total(&self) -> f64 {
        self.covariance.diag().sum()
    }

    /// The distance from value j to the nearest other one.
    pub fn gap(&self, j: usize) -> f64 {
        let others = (0..self.values.len()).filter(|&i| i != j);
        others.map(|i| (self.values[i] - self.values[j]).abs()).fold(f64::INFINITY, f64::min)
    }
}

/// Eigenvalues (descending) and eigenvectors (rows) of a symmetric matrix by cyclic Jacobi
/// rotations (Golub & Van Loan, section 8.5).
pub fn jacobi(matrix: &Array2<f64>) -> (Vec<f64>, Array2<f64>) {
    let d = matrix.nrows();
    let size = matrix.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut a = if size > 0.0 { matrix / size } else { matrix.clone() };
    let mut v = Array2::<f64>::eye(d);
    for _ in 0..60 {
        let mut rotated = false;
        for p in 0..d {
            for q in p + 1..d {
                if a[[p, q]].abs() <= 1e-17 * (a[[p, p]] * a[[q, q]]).abs().sqrt().max(1e-3) {
                    continue;
                }
                rotated = true;
                let tau = (a[[q, q]] - a[[p, p]]) / (2.0 * a[[p, q]]);
                let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
                let c = 1.0 / (1.0 + t * t).sqrt();
                let s = t * c;
                for i in 0..d {
                    let (x, y) = (a[[i, p]], a[[i, q]]);
                    (a[[i, p]], a[[i, q]]) = (c * x - s * y, s * x + c * y);
                }
                for i in 0..d {
                    let (x, y) = (a[[p, i]], a[[q, i]]);
                    (a[[p, i]], a[[q, i]]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (v[[p, i]], v[[q, i]]);
                    (v[[p, i]], v[[q, i]]) = (c * x - s * y, s * x + c * y);
                }
                (a[[p, q]], a[[q, p]]) = (0.0, 0.0);
            }
        }
        if !rotated {
            break;
        }
    }
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&i, &j| a[[j, j]].total_cmp(&a[[i, i]]));
    let values = order.iter().map(|&j| a[[j, j]] * if size > 0.0 { size } else { 1.0 }).collect();
    (values, v.select(ndarray::Axis(0), &order))
}

/// What a type and its routes are held to, relative to the largest variance.
pub fn tolerance<T: Scalar>() -> f64 {
    if T::NAME == "f32" { 1e-5 } else { 1e-10 }
}

#[track_caller]
pub fn assert_close(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: found {found:e}, expected {expected:e} within {tolerance:e} (off by {:e})",
        (found - expected).abs()
    );
}

#[track_caller]
pub fn assert_all_close(what: &str, found: &Array2<f64>, expected: &Array2<f64>, tolerance: f64) {
    assert_eq!(found.dim(), expected.dim(), "{what}: shapes");
    for ((i, j), v) in found.indexed_iter() {
        assert_close(&format!("{what} ({i}, {j})"), *v, expected[[i, j]], tolerance);
    }
}

/// sin of the angle between two unit vectors, accurate when it is small.
pub fn sine(u: ArrayView1<f64>, v: ArrayView1<f64>) -> f64 {
    let cosine = u.dot(&v);
    let rest = &u - &(&v * cosine);
    rest.dot(&rest).sqrt().min(1.0)
}

/// The largest part of a unit row of `a` outside the span of the orthonormal rows of `b`.
pub fn outside(a: ArrayView2<f64>, b: ArrayView2<f64>) -> f64 {
    let mut worst = 0.0f64;
    for u in a.rows() {
        let mut rest = u.to_owned();
        for v in b.rows() {
            let inside = u.dot(&v);
            rest.scaled_add(-inside, &v);
        }
        worst = worst.max(rest.dot(&rest).sqrt());
    }
    worst
}

/// Largest |UUᵀ − I| of rows.
pub fn orthogonality(rows: ArrayView2<f64>) -> f64 {
    let gram = rows.dot(&rows.t());
    gram.indexed_iter().fold(0.0f64, |m, ((i, j), v)| m.max((v - f64::from(i == j)).abs()))
}

/// ‖A‖ in the sense of Frobenius.
pub fn frobenius(a: &Array2<f64>) -> f64 {
    a.iter().map(|v| v * v).sum::<f64>().sqrt()
}
