//! Small matrices of double-double numbers, and the eigenpairs of symmetric ones.

use crate::double_double::DoubleDouble;

/// A matrix, row after row.
#[derive(Clone, Debug)]
pub struct Matrix {
    columns: usize,
    entries: Vec<DoubleDouble>,
}

impl Matrix {
    pub fn from_fn(
        rows: usize,
        columns: usize,
        mut entry: impl FnMut(usize, usize) -> DoubleDouble,
    ) -> Matrix {
        let each = (0..rows * columns).map(|at| entry(at / columns, at % columns));
        Matrix { columns, entries: each.collect() }
    }

    pub fn rows(&self) -> usize {
        self.entries.len().checked_div(self.columns).unwrap_or(0)
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    pub fn row(&self, i: usize) -> &[DoubleDouble] {
        &self.entries[i * self.columns..(i + 1) * self.columns]
    }

    pub fn row_mut(&mut self, i: usize) -> &mut [DoubleDouble] {
        &mut self.entries[i * self.columns..(i + 1) * self.columns]
    }

    pub fn at(&self, i: usize, j: usize) -> DoubleDouble {
        self.entries[i * self.columns + j]
    }

    pub fn transposed(&self) -> Matrix {
        Matrix::from_fn(self.columns, self.rows(), |i, j| self.at(j, i))
    }

    /// The inner products of the rows (rows × rows).
    pub fn gram(&self) -> Matrix {
        let n = self.rows();
        let mut gram = Matrix::from_fn(n, n, |_, _| DoubleDouble::ZERO);
        for i in 0..n {
            for j in 0..=i {
                let product = dot(self.row(i), self.row(j));
                gram.entries[i * n + j] = product;
                gram.entries[j * n + i] = product;
            }
        }
        gram
    }

    /// Two rows p < q at once.
    fn two_rows(&mut self, p: usize, q: usize) -> (&mut [DoubleDouble], &mut [DoubleDouble]) {
        let (head, tail) = self.entries.split_at_mut(q * self.columns);
        (&mut head[p * self.columns..(p + 1) * self.columns], &mut tail[..self.columns])
    }
}

/// The inner product of two vectors.
pub fn dot(a: &[DoubleDouble], b: &[DoubleDouble]) -> DoubleDouble {
    a.iter().zip(b).fold(DoubleDouble::ZERO, |sum, (a, b)| sum + *a * *b)
}

/// `y + a x` in place.
pub fn add_scaled(y: &mut [DoubleDouble], a: DoubleDouble, x: &[DoubleDouble]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * *x);
}

/// The length of a vector.
pub fn norm(v: &[DoubleDouble]) -> DoubleDouble {
    dot(v, v).sqrt()
}

/// Entries below this share of the largest are as good as 0: they move values by its square, and vectors whose
/// values differ by 1e-14 of the largest by 1e-19.
const NEGLIGIBLE: f64 = 1e-33;

/// All eigenvalues, descending, and unit eigenvectors (rows) of a symmetric matrix, by cyclic Jacobi rotations
/// (Golub & Van Loan, section 8.5): every rotation is orthogonal to working precision, so values are right
/// to about 1e-30 of the largest whatever the matrix.
pub fn symmetric_eigen(mut a: Matrix) -> (Vec<DoubleDouble>, Matrix) {
    let n = a.rows();
    let unit = |i: usize, j: usize| if i == j { DoubleDouble::ONE } else { DoubleDouble::ZERO };
    let mut vectors = Matrix::from_fn(n, n, unit);
    let size = a.entries.iter().fold(0.0f64, |m, v| m.max(v.to_f64().abs()));
    for _sweep in 0..60 {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                if a.at(p, q).to_f64().abs() > NEGLIGIBLE * size {
                    rotate(&mut a, &mut vectors, p, q);
                    rotated = true;
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order
        .sort_by(|&i, &j| a.at(j, j).partial_cmp(&a.at(i, i)).unwrap_or(std::cmp::Ordering::Equal));
    let values = order.iter().map(|&i| a.at(i, i)).collect();
    let sorted = Matrix::from_fn(n, n, |i, j| vectors.at(order[i], j));
    (values, sorted)
}

/// One rotation that makes entry (p, q) 0; the rows of `vectors` turn with it.
fn rotate(a: &mut Matrix, vectors: &mut Matrix, p: usize, q: usize) {
    let (app, aqq, apq) = (a.at(p, p), a.at(q, q), a.at(p, q));
    // tan of the angle: the smaller root of t² + 2 τ t − 1 = 0.
    let tau = (aqq - app) / (apq + apq);
    let root = (DoubleDouble::ONE + tau * tau).sqrt();
    let t = DoubleDouble::ONE / if tau < DoubleDouble::ZERO { tau - root } else { tau + root };
    let c = DoubleDouble::ONE / (DoubleDouble::ONE + t * t).sqrt();
    let s = c * t;
    turn(a.two_rows(p, q), c, s);
    turn(vectors.two_rows(p, q), c, s);
    // The matrix is symmetric: its columns p and q are its rows, but for the 2 × 2 block.
    let n = a.rows();
    for i in (0..n).filter(|&i| i != p && i != q) {
        a.entries[i * n + p] = a.at(p, i);
        a.entries[i * n + q] = a.at(q, i);
    }
    a.entries[p * n + p] = app - t * apq;
    a.entries[q * n + q] = aqq + t * apq;
    a.entries[p * n + q] = DoubleDouble::ZERO;
    a.entries[q * n + p] = DoubleDouble::ZERO;
}

/// Rows x and y become `c x − s y` and `s x + c y`.
fn turn((x, y): (&mut [DoubleDouble], &mut [DoubleDouble]), c: DoubleDouble, s: DoubleDouble) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `A v = λ v` and `V Vᵀ = I` to thirty digits, for a full matrix with a repeated value and one that is
    /// 0: `A = 2 I` on part of the space, Hilbert's matrix on the rest, turned together.
    #[test]
    fn pairs_have_residuals_of_thirty_digits() {
        let number = |v: usize| DoubleDouble::from(v as f64);
        let hilbert = Matrix::from_fn(5, 5, |i, j| DoubleDouble::ONE / number(i + j + 1));
        let mut a = Matrix::from_fn(8, 8, |i, j| match (i < 5, j < 5, i == j) {
            (true, true, _) => hilbert.at(i, j),
            (false, false, true) if i < 7 => number(2),
            _ => DoubleDouble::ZERO,
        });
        // A reflection I − 2 w wᵀ with w = (1, …, 1)/√8: A − (w bᵀ + b wᵀ) …, written out.
        let reflect = |i: usize, j: usize| number(usize::from(i == j)) - number(1) / number(4);
        let turned = Matrix::from_fn(8, 8, |i, j| {
            let mut sum = DoubleDouble::ZERO;
            for k in 0..8 {
                for l in 0..8 {
                    sum += reflect(i, k) * a.at(k, l) * reflect(l, j);
                }
            }
            sum
        });
        a = turned.clone();
        let (values, vectors) = symmetric_eigen(a);
        for i in 0..8 {
            let mut rest: Vec<DoubleDouble> =
                (0..8).map(|j| dot(turned.row(j), vectors.row(i))).collect();
            add_scaled(&mut rest, -values[i], vectors.row(i));
            assert!(norm(&rest).to_f64() < 1e-30, "{i}: {:e}", norm(&rest).to_f64());
            for j in 0..8 {
                let off = dot(vectors.row(i), vectors.row(j)) - number(usize::from(i == j));
                assert!(off.abs().to_f64() < 1e-30);
            }
        }
        assert!((values[0] - number(2)).abs().to_f64() < 1e-30);
        assert!((values[1] - number(2)).abs().to_f64() < 1e-30);
        assert!(values[7].abs().to_f64() < 1e-30);
    }
}
