//! All eigenvalues of a small symmetric matrix by a way of its own: Householder's reflections to a tridiagonal
//! matrix, then counts of its values on either side of a shift (Sturm sequences; Givens 1954).

use super::{dot, norm};

/// Matrices up to this order are formed and their values counted.
pub(crate) const SMALL: usize = 400;

/// A symmetric tridiagonal matrix.
pub(crate) struct Tridiagonal {
    diagonal: Vec<f64>,
    /// Squares of the entries beside it.
    beside: Vec<f64>,
}

impl Tridiagonal {
    /// With the same eigenvalues as a symmetric matrix (m × m, row by row), which is used up.
    pub fn of(mut a: Vec<f64>, m: usize) -> Tridiagonal {
        let mut diagonal = Vec::with_capacity(m);
        let mut beside = Vec::with_capacity(m.saturating_sub(1));
        for j in 0..m {
            diagonal.push(a[j * m + j]);
            if j + 1 == m {
                break;
            }
            let column: Vec<f64> = (j + 1..m).map(|i| a[i * m + j]).collect();
            let length = norm(&column);
            beside.push(length * length);
            if length > 0.0 {
                reflect(&mut a, m, j + 1, column, length);
            }
        }
        Tridiagonal { diagonal, beside }
    }

    /// How many eigenvalues lie above a shift.
    pub fn count_above(&self, shift: f64) -> usize {
        let mut above = 0;
        let mut pivot = 1.0f64;
        for (j, d) in self.diagonal.iter().enumerate() {
            let before = if j == 0 { 0.0 } else { self.beside[j - 1] };
            pivot = d - shift - before / pivot;
            if pivot == 0.0 {
                pivot = f64::MIN_POSITIVE;
            }
            above += usize::from(pivot > 0.0);
        }
        above
    }

    /// All eigenvalues, largest first, by bisection.
    pub fn values(&self) -> Vec<f64> {
        let beside = |j: usize| self.beside.get(j).map_or(0.0, |b| b.sqrt());
        // Gershgorin's discs.
        let radius = |j: usize| beside(j) + if j > 0 { beside(j - 1) } else { 0.0 };
        let most =
            (0..self.diagonal.len()).fold(0.0f64, |m, j| m.max(self.diagonal[j].abs() + radius(j)));
        (0..self.diagonal.len()).map(|j| self.value(j, most)).collect()
    }

    /// The value with `j` above it.
    fn value(&self, j: usize, most: f64) -> f64 {
        let (mut low, mut high) = (-most, most);
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if self.count_above(middle) > j { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}

/// `H A H` below and right of `first`, with the reflection that turns `column` into its first coordinate.
fn reflect(a: &mut [f64], m: usize, first: usize, mut v: Vec<f64>, length: f64) {
    v[0] += if v[0] >= 0.0 { length } else { -length };
    let size = norm(&v);
    v.iter_mut().for_each(|x| *x /= size);
    let rest = m - first;
    let row = |i: usize| (first + i) * m + first;
    // p = A v, q = p − (vᵀp) v, A ← A − 2 v qᵀ − 2 q vᵀ.
    let p: Vec<f64> = (0..rest).map(|i| dot(&a[row(i)..row(i) + rest], &v)).collect();
    let along = dot(&p, &v);
    let q: Vec<f64> = p.iter().zip(&v).map(|(p, v)| p - along * v).collect();
    for i in 0..rest {
        for (j, x) in a[row(i)..row(i) + rest].iter_mut().enumerate() {
            *x -= 2.0 * (v[i] * q[j] + q[i] * v[j]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the second difference, `2 − 2 cos(π j / (m + 1))` (von Neumann); a similar full matrix has the same.
    #[test]
    fn values_of_a_matrix_with_a_known_spectrum() {
        let m = 30;
        let mut a = vec![0.0; m * m];
        for i in 0..m {
            a[i * m + i] = 2.0;
            if i > 0 {
                a[i * m + i - 1] = -1.0;
                a[(i - 1) * m + i] = -1.0;
            }
        }
        // A reflection along (1, 2, 3, …) fills the matrix.
        let v: Vec<f64> = (1..=m).map(|i| i as f64).collect();
        let length = norm(&v);
        reflect(&mut a, m, 0, v, length);
        let found = Tridiagonal::of(a, m);
        let exact =
            |j: usize| 2.0 - 2.0 * (std::f64::consts::PI * j as f64 / (m as f64 + 1.0)).cos();
        for (j, value) in found.values().into_iter().enumerate() {
            assert!((value - exact(m - j)).abs() < 1e-13, "{j}: {value}");
        }
        assert_eq!(found.count_above(2.0), m / 2);
    }
}
