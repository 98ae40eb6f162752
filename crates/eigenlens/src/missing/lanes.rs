//! Eight small symmetric matrices at once, one in each lane of a vector: the divisions of one
//! factorisation wait for each other, those of eight do not.

use crate::linalg::simd::vectorized;
use crate::linalg::small::packed_len;

/// Matrices that are worked on together.
pub(super) const LANES: usize = 8;

type Lane = [f64; LANES];

/// Room for the work, to be used again.
#[derive(Default)]
pub(super) struct Room {
    matrix: Vec<Lane>,
    pivots: Vec<Lane>,
    /// One over the pivots.
    shares: Vec<Lane>,
    column: Vec<Lane>,
}

/// Replaces up to eight packed k × k matrices, `stride` apart, by their inverses; the logarithms of
/// their determinants. One that is not safely positive definite becomes 0 with the logarithm +∞.
pub(super) fn invert(matrices: &mut [f64], stride: usize, k: usize, room: &mut Room) -> Lane {
    let triangle = packed_len(k);
    room.matrix.clear();
    room.matrix.resize(triangle, [0.0; LANES]);
    room.pivots.clear();
    room.pivots.resize(k, [1.0; LANES]);
    room.shares.resize(k, [1.0; LANES]);
    room.column.resize(k, [0.0; LANES]);
    let count = matrices.chunks(stride).len();
    // Lanes without a matrix hold I.
    for (lane, matrix) in matrices.chunks(stride).enumerate() {
        for (a, m) in room.matrix.iter_mut().zip(matrix) {
            a[lane] = *m;
        }
    }
    for j in 0..k {
        room.matrix[packed_len(j) + j][count..].fill(1.0);
    }
    let mut sound = [true; LANES];
    vectorized(
        #[inline(always)]
        || {
            factor(k, room, &mut sound);
            invert_factor(k, room);
        },
    );
    let mut log_determinants = [f64::INFINITY; LANES];
    for (lane, matrix) in matrices.chunks_mut(stride).enumerate() {
        if sound[lane] {
            log_determinants[lane] = log_product(room.pivots.iter().map(|p| p[lane]));
        }
        for (m, a) in matrix.iter_mut().zip(&room.matrix) {
            *m = if sound[lane] { a[lane] } else { 0.0 };
        }
    }
    log_determinants
}

/// `L D Lᵀ`: L without its ones below the diagonal, D as pivots.
#[inline(always)]
fn factor(k: usize, room: &mut Room, sound: &mut [bool; LANES]) {
    let Room { matrix, pivots, shares, column } = room;
    for i in 0..k {
        let row = packed_len(i);
        let diagonal = matrix[row + i];
        let mut pivot = diagonal;
        for j in 0..i {
            let other = packed_len(j);
            // c_j = l_ij d_j, before it is divided.
            let mut sum = matrix[row + j];
            for p in 0..j {
                for l in 0..LANES {
                    sum[l] -= column[p][l] * matrix[other + p][l];
                }
            }
            column[j] = sum;
            for l in 0..LANES {
                matrix[row + j][l] = sum[l] * shares[j][l];
                pivot[l] -= sum[l] * matrix[row + j][l];
            }
        }
        for l in 0..LANES {
            // What is left of the pivot must be more than its own rounding (and no NaN).
            let fine = pivot[l] > 4.0 * f64::EPSILON * diagonal[l] && pivot[l].is_finite();
            sound[l] &= fine;
            pivots[i][l] = if fine { pivot[l] } else { 1.0 };
            shares[i][l] = 1.0 / pivots[i][l];
        }
    }
}

/// From `L D Lᵀ` to its inverse.
#[inline(always)]
fn invert_factor(k: usize, room: &mut Room) {
    let Room { matrix, shares, column, .. } = room;
    // N = L⁻¹, row by row; what is left of a row of L is needed until it is overwritten.
    for i in 0..k {
        let row = packed_len(i);
        for j in 0..i {
            let mut sum = matrix[row + j];
            for p in j + 1..i {
                for l in 0..LANES {
                    sum[l] += matrix[row + p][l] * matrix[packed_len(p) + j][l];
                }
            }
            matrix[row + j] = sum.map(|s| -s);
        }
    }
    // Nᵀ D⁻¹ N, row by row: row i needs the rows of N from i on.
    for i in 0..k {
        let row = packed_len(i);
        for p in i + 1..k {
            for l in 0..LANES {
                column[p][l] = matrix[packed_len(p) + i][l] * shares[p][l];
            }
        }
        for j in 0..=i {
            let mut sum = if i == j { [1.0; LANES] } else { matrix[row + j] };
            for l in 0..LANES {
                sum[l] *= shares[i][l];
            }
            for p in i + 1..k {
                for l in 0..LANES {
                    sum[l] += column[p][l] * matrix[packed_len(p) + j][l];
                }
            }
            matrix[row + j] = sum;
        }
    }
}

/// The logarithm of a product of positive numbers, with one logarithm as long as it stays in range.
fn log_product(factors: impl Iterator<Item = f64>) -> f64 {
    let moderate = 1e-140..1e140;
    let (mut sum, mut product) = (0.0, 1.0);
    for factor in factors {
        if !moderate.contains(&factor) {
            sum += factor.ln();
            continue;
        }
        product *= factor;
        if !moderate.contains(&product) {
            sum += product.ln();
            product = 1.0;
        }
    }
    sum + product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random;
    use crate::linalg::small::{cholesky, inverse};

    #[test]
    fn equals_one_at_a_time() {
        let mut rng = random::stream(4, 0);
        for (k, count) in [(0, 8), (1, 3), (2, 8), (5, 8), (5, 1), (9, 7)] {
            let stride = packed_len(k) + 2;
            let mut matrices = Vec::new();
            for _ in 0..count {
                let b = random::normal_matrix(&mut rng, k + 2, k);
                let full = b.t().dot(&b);
                let packed = (0..k).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|at| full[at]);
                matrices.extend(packed);
                matrices.extend([7.0, 7.0]);
            }
            let mut expected = matrices.clone();
            let logs: Vec<f64> = (expected.chunks_mut(stride))
                .map(|m| {
                    let log = cholesky(&mut m[..stride - 2], k).unwrap();
                    let l = m.to_vec();
                    inverse(&l, k, &mut m[..stride - 2], &mut Vec::new());
                    log
                })
                .collect();
            let found = invert(&mut matrices, stride, k, &mut Room::default());
            for (a, b) in found.iter().zip(&logs) {
                assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
            }
            for (a, b) in matrices.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-7 * (1.0 + b.abs()), "{a} {b}");
            }
        }
    }

    #[test]
    fn one_that_is_not_definite_spoils_no_other() {
        let mut matrices = [1.0, 1.0, 1.0, 4.0, 0.0, 4.0, f64::NAN, 0.0, 1.0];
        let logs = invert(&mut matrices, 3, 2, &mut Room::default());
        assert_eq!(logs[0], f64::INFINITY);
        assert!((logs[1] - 16f64.ln()).abs() < 1e-15);
        assert_eq!(logs[2], f64::INFINITY);
        assert_eq!(matrices, [0.0, 0.0, 0.0, 0.25, 0.0, 0.25, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn logarithms_of_products_stay_in_range() {
        for factors in [vec![], vec![2.0, 3.0], vec![1e300; 5], vec![1e-120; 9], vec![1e139; 4]] {
            let expected: f64 = factors.iter().map(|f: &f64| f.ln()).sum();
            assert!(
                (log_product(factors.into_iter()) - expected).abs()
                    < 1e-12 * (1.0 + expected.abs())
            );
        }
    }
}
