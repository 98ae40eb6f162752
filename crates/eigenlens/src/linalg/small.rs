//! Small symmetric matrices, packed by rows of their lower triangle: entry (i, j) at
//! `i(i + 1)/2 + j`. For the thousands of k × k systems of expectation maximisation, where calling a
//! general factorisation would cost more than the arithmetic.

/// Entries of the lower triangle of a k × k matrix.
pub(crate) const fn packed_len(k: usize) -> usize {
    k * (k + 1) / 2
}

/// Replaces the lower triangle by its Cholesky factor; the logarithm of the determinant, or `None`
/// where the matrix is not safely positive definite.
pub(crate) fn cholesky(a: &mut [f64], k: usize) -> Option<f64> {
    let mut log_determinant = 0.0;
    for i in 0..k {
        let row = packed_len(i);
        for j in 0..=i {
            let other = packed_len(j);
            let mut sum = a[row + j];
            for p in 0..j {
                sum -= a[row + p] * a[other + p];
            }
            if i == j {
                // What is left of the pivot must be more than its own rounding (and no NaN).
                let sound = sum > 4.0 * f64::EPSILON * a[row + i] && sum.is_finite();
                if !sound {
                    return None;
                }
                log_determinant += sum.ln();
                a[row + i] = sum.sqrt();
            } else {
                a[row + j] = sum / a[other + j];
            }
        }
    }
    Some(log_determinant)
}

/// Solves `L Lᵀ x = b` in place.
pub(crate) fn solve(l: &[f64], k: usize, b: &mut [f64]) {
    for i in 0..k {
        let row = packed_len(i);
        let mut sum = b[i];
        for j in 0..i {
            sum -= l[row + j] * b[j];
        }
        b[i] = sum / l[row + i];
    }
    for i in (0..k).rev() {
        let mut sum = b[i];
        for j in i + 1..k {
            sum -= l[packed_len(j) + i] * b[j];
        }
        b[i] = sum / l[packed_len(i) + i];
    }
}

/// The lower triangle of `(L Lᵀ)⁻¹`; `column` is room for k numbers.
pub(crate) fn inverse(l: &[f64], k: usize, out: &mut [f64], column: &mut Vec<f64>) {
    // L⁻¹ first, row by row; then L⁻ᵀ L⁻¹ column by column, none of which is needed once it is done.
    for i in 0..k {
        let row = packed_len(i);
        for j in 0..=i {
            let mut sum = if i == j { 1.0 } else { 0.0 };
            for p in j..i {
                sum -= l[row + p] * out[packed_len(p) + j];
            }
            out[row + j] = sum / l[row + i];
        }
    }
    column.resize(k, 0.0);
    for j in 0..k {
        for (i, c) in column.iter_mut().enumerate().take(k).skip(j) {
            *c = (i..k).map(|p| out[packed_len(p) + i] * out[packed_len(p) + j]).sum();
        }
        for i in j..k {
            out[packed_len(i) + j] = column[i];
        }
    }
}

/// The product of the symmetric matrix with a vector.
pub(crate) fn multiply(a: &[f64], k: usize, x: &[f64], out: &mut [f64]) {
    out[..k].fill(0.0);
    for i in 0..k {
        let row = packed_len(i);
        let mut sum = 0.0;
        for j in 0..i {
            sum += a[row + j] * x[j];
            out[j] += a[row + j] * x[i];
        }
        out[i] += sum + a[row + i] * x[i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random;

    #[test]
    fn factors_solve_and_invert() {
        let mut rng = random::stream(3, 0);
        for k in [0, 1, 2, 5, 9] {
            let b = random::normal_matrix(&mut rng, k + 2, k);
            let full = b.t().dot(&b);
            let packed: Vec<f64> =
                (0..k).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|at| full[at]).collect();
            let mut l = packed.clone();
            let log_determinant = cholesky(&mut l, k).unwrap();
            let mut inverted = vec![0.0; packed_len(k)];
            inverse(&l, k, &mut inverted, &mut Vec::new());
            let x: Vec<f64> = (0..k).map(|i| i as f64 - 1.5).collect();
            let (mut ax, mut back, mut solved) = (vec![0.0; k], vec![0.0; k], Vec::new());
            multiply(&packed, k, &x, &mut ax);
            multiply(&inverted, k, &ax, &mut back);
            solved.extend_from_slice(&ax);
            solve(&l, k, &mut solved);
            for i in 0..k {
                assert!((back[i] - x[i]).abs() < 1e-9 && (solved[i] - x[i]).abs() < 1e-9);
                let row: f64 = (0..k).map(|j| full[[i, j]] * x[j]).sum();
                assert!((row - ax[i]).abs() < 1e-12);
            }
            let product: f64 = (0..k).map(|i| 2.0 * l[packed_len(i) + i].ln()).sum();
            assert!((product - log_determinant).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_not_definite_is_refused() {
        assert_eq!(cholesky(&mut [1.0, 1.0, 1.0], 2), None);
        assert_eq!(cholesky(&mut [0.0], 1), None);
        assert_eq!(cholesky(&mut [f64::NAN], 1), None);
    }
}
