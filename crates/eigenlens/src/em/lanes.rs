//! Eight small symmetric matrices at once, one in each lane of a vector: the divisions of one
//! factorisation wait for each other, those of eight do not.

pub(super) use crate::linalg::simd::Lane;
use crate::linalg::simd::{from_lanes, into_lanes, vectorized};
use crate::linalg::small::packed_len;
use std::f64::consts::{LN_2, SQRT_2};

/// Matrices that are worked on together.
pub(super) const LANES: usize = 8;

/// Room for the work, to be used again.
#[derive(Default)]
pub(super) struct Room {
    matrix: Vec<Lane>,
    /// One over the pivots.
    shares: Vec<Lane>,
    column: Vec<Lane>,
}

/// Replaces up to eight packed k × k matrices, `stride` apart (whole vectors), by their inverses; the
/// logarithms of their determinants. One that is not safely positive definite becomes 0 with the logarithm +∞.
pub(super) fn invert(matrices: &mut [f64], stride: usize, k: usize, room: &mut Room) -> Lane {
    let mut lanes = std::mem::take(&mut room.matrix);
    lanes.resize(packed_len(k).next_multiple_of(LANES), [0.0; LANES]);
    load(matrices, stride, &mut lanes);
    let logs = vectorized(
        #[inline(always)]
        || invert_lanes(&mut lanes, k, matrices.len() / stride, room),
    );
    store(&lanes, matrices, stride);
    room.matrix = lanes;
    logs
}

/// Numbers that lie one after the other, `stride` from one lane to the next; whole vectors of them, as
/// far as the last lane reaches.
pub(super) fn load(from: &[f64], stride: usize, lanes: &mut [Lane]) {
    if from.len() / stride >= LANES {
        return into_lanes(from, stride, lanes);
    }
    lanes.fill([0.0; LANES]);
    for (l, from) in from.chunks_exact(stride).enumerate() {
        for (lane, x) in lanes.iter_mut().zip(from) {
            lane[l] = *x;
        }
    }
}

/// The other way.
pub(super) fn store(lanes: &[Lane], to: &mut [f64], stride: usize) {
    if to.len() / stride >= LANES {
        return from_lanes(lanes, to, stride);
    }
    for (l, to) in to.chunks_exact_mut(stride).enumerate() {
        for (x, lane) in to.iter_mut().zip(lanes) {
            *x = lane[l];
        }
    }
}

/// The same where the matrices lie in lanes already, of which `count` are used.
#[inline(always)]
pub(super) fn invert_lanes(matrix: &mut [Lane], k: usize, count: usize, room: &mut Room) -> Lane {
    room.shares.resize(k, [0.0; LANES]);
    room.column.resize(k, [0.0; LANES]);
    let (shares, column) = (&mut room.shares[..k], &mut room.column[..k]);
    let matrix = &mut matrix[..packed_len(k)];
    // Lanes without a matrix hold I.
    if count < LANES {
        for i in 0..k {
            for j in 0..=i {
                matrix[packed_len(i) + j][count..].fill(if i == j { 1.0 } else { 0.0 });
            }
        }
    }
    let mut sound = [true; LANES];
    let mut logs = factor(matrix, k, shares, column, &mut sound);
    invert_factor(matrix, k, shares, column);
    if sound != [true; LANES] {
        for l in (0..LANES).filter(|&l| !sound[l]) {
            logs[l] = f64::INFINITY;
            matrix.iter_mut().for_each(|m| m[l] = 0.0);
        }
    }
    logs
}

/// `L D Lᵀ`: L without its ones below the diagonal, and one over D; the logarithms of the determinants.
#[inline(always)]
fn factor(
    matrix: &mut [Lane],
    k: usize,
    shares: &mut [Lane],
    column: &mut [Lane],
    sound: &mut [bool; LANES],
) -> Lane {
    let mut determinant = Product::default();
    for i in 0..k {
        let (above, row) = matrix.split_at_mut(packed_len(i));
        let row = &mut row[..=i];
        let diagonal = row[i];
        let mut pivot = diagonal;
        for j in 0..i {
            // c_j = l_ij d_j, before it is divided.
            let mut sum = row[j];
            for (c, o) in column[..j].iter().zip(&above[packed_len(j)..][..j]) {
                for l in 0..LANES {
                    sum[l] -= c[l] * o[l];
                }
            }
            column[j] = sum;
            for l in 0..LANES {
                row[j][l] = sum[l] * shares[j][l];
                pivot[l] -= sum[l] * row[j][l];
            }
        }
        for l in 0..LANES {
            // What is left of the pivot must be more than its own rounding (and no NaN).
            let least = (4.0 * f64::EPSILON * diagonal[l]).max(f64::MIN_POSITIVE);
            let fine = pivot[l] > least && pivot[l] < f64::INFINITY;
            sound[l] &= fine;
            pivot[l] = if fine { pivot[l] } else { 1.0 };
            shares[i][l] = 1.0 / pivot[l];
        }
        determinant.multiply(&pivot);
    }
    determinant.ln()
}

/// From `L D Lᵀ` to its inverse.
#[inline(always)]
fn invert_factor(matrix: &mut [Lane], k: usize, shares: &[Lane], column: &mut [Lane]) {
    // N = L⁻¹, row by row; what is left of a row of L is needed until it is overwritten.
    for i in 0..k {
        let (above, row) = matrix.split_at_mut(packed_len(i));
        let row = &mut row[..=i];
        for j in 0..i {
            let mut sum = row[j];
            for p in j + 1..i {
                let n = &above[packed_len(p) + j];
                for l in 0..LANES {
                    sum[l] += row[p][l] * n[l];
                }
            }
            row[j] = sum.map(|s| -s);
        }
    }
    // Nᵀ D⁻¹ N, row by row: row i needs the rows of N from i on.
    for i in 0..k {
        for p in i + 1..k {
            for l in 0..LANES {
                column[p][l] = matrix[packed_len(p) + i][l] * shares[p][l];
            }
        }
        for j in 0..=i {
            let mut sum = if i == j { [1.0; LANES] } else { matrix[packed_len(i) + j] };
            for l in 0..LANES {
                sum[l] *= shares[i][l];
            }
            for p in i + 1..k {
                let n = &matrix[packed_len(p) + j];
                for l in 0..LANES {
                    sum[l] += column[p][l] * n[l];
                }
            }
            matrix[packed_len(i) + j] = sum;
        }
    }
}

/// Products of positive normal numbers that leave no range: a mantissa and an exponent.
struct Product {
    mantissa: Lane,
    exponent: [i64; LANES],
}

impl Default for Product {
    fn default() -> Self {
        Product { mantissa: [1.0; LANES], exponent: [0; LANES] }
    }
}

impl Product {
    #[inline(always)]
    fn multiply(&mut self, factor: &Lane) {
        const ONE: u64 = 1023 << 52;
        const MANTISSA: u64 = (1 << 52) - 1;
        for l in 0..LANES {
            let bits = factor[l].to_bits();
            let product = self.mantissa[l] * f64::from_bits(bits & MANTISSA | ONE);
            let more = product.to_bits();
            self.exponent[l] += (bits >> 52) as i64 + (more >> 52) as i64 - 2 * 1023;
            self.mantissa[l] = f64::from_bits(more & MANTISSA | ONE);
        }
    }

    /// `ln m = 2 artanh((m − 1)/(m + 1))` with m about 1, by its series.
    #[inline(always)]
    fn ln(&self) -> Lane {
        let mut logs = [0.0; LANES];
        for l in 0..LANES {
            let large = self.mantissa[l] > SQRT_2;
            let m = if large { 0.5 * self.mantissa[l] } else { self.mantissa[l] };
            let exponent = self.exponent[l] as f64 + if large { 1.0 } else { 0.0 };
            let f = (m - 1.0) / (m + 1.0);
            let s = f * f;
            let mut series = 1.0 / 21.0;
            for term in (0..10).rev() {
                series = series * s + 1.0 / f64::from(2 * term + 1);
            }
            logs[l] = exponent * LN_2 + 2.0 * f * series;
        }
        logs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random;
    use crate::linalg::small::{cholesky, inverse};
    use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

    #[test]
    fn equals_one_at_a_time() {
        let mut rng = random::stream(4, 0);
        for (k, count) in [(0, 8), (1, 3), (2, 8), (5, 8), (5, 1), (9, 7)] {
            let stride = (packed_len(k) + 2).next_multiple_of(LANES);
            let mut matrices = Vec::new();
            for _ in 0..count {
                let b = random::normal_matrix(&mut rng, k + 2, k);
                let full = b.t().dot(&b);
                let packed = (0..k).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|at| full[at]);
                matrices.extend(packed);
                matrices.resize(matrices.len().next_multiple_of(stride), 7.0);
            }
            let mut expected = matrices.clone();
            let logs: Vec<f64> = (expected.chunks_mut(stride))
                .map(|m| {
                    let log = cholesky(&mut m[..packed_len(k)], k).unwrap();
                    let l = m.to_vec();
                    inverse(&l, k, &mut m[..packed_len(k)], &mut Vec::new());
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
    fn logarithms_of_products_are_exact_and_stay_in_range() {
        let ones = [1.0 + 1e-9, 1.0 - 1e-9, SQRT_2, SQRT_2.next_down(), FRAC_1_SQRT_2];
        let near = ones.map(|x| vec![x]);
        let far = [vec![], vec![2.0, 3.0], vec![1e300; 5], vec![1e-300; 9], vec![1.9; 3000]];
        for factors in near.into_iter().chain(far) {
            let expected: f64 = factors.iter().map(|f: &f64| f.ln()).sum();
            let mut product = Product::default();
            factors.iter().for_each(|f| product.multiply(&[*f; LANES]));
            let error = factors.len().max(1) as f64 * 4.0 * f64::EPSILON;
            for found in product.ln() {
                assert!((found - expected).abs() <= error * expected.abs(), "{found} {expected}");
            }
        }
    }
}
