//! Large data whose covariance is known exactly, by construction.
//!
//! `X = H Fᵀ` with H (n × m) columns of Sylvester's Hadamard matrix, none of them the constant one, and F (d × m)
//! with entries that are whole multiples of a power of two. The columns of H have entries ±1, sum to 0 and
//! are orthogonal, so the means are 0 and `Xᵀ X = n F Fᵀ` without any rounding; and while every sum of
//! m entries of F stays below 2⁵³ of that power (2²⁴ in float32), every entry of X is a number of its type, the sum itself.
//! So the covariance is `n/(n − 1) F Fᵀ`, and its pairs follow from the m × m matrix `Fᵀ F`.

use crate::double_double::DoubleDouble;
use crate::matrix::Matrix;
use crate::random::{Random, orthonormalized};
use crate::truth::Truth;
use ndarray::{Array2, s};

/// Data (n × d) and the truth about their covariance.
pub struct Exact {
    pub x: Array2<f64>,
    pub truth: Truth,
    /// A power of two that no entry reaches.
    limit: f64,
}

impl Exact {
    /// The same about means of up to 2^bits times the largest entry, where the entries were made with so many digits
    /// less than their type has: whole multiples of a power of two above them all, so that sums are exact.
    pub fn shifted(mut self, random: &mut Random, bits: i32) -> Exact {
        let most = (1usize << bits) - 1;
        for mut column in self.x.columns_mut() {
            let mean = random.between(0, most) as f64 * self.limit;
            column += if random.chance(0.5) { mean } else { -mean };
        }
        self
    }
}

/// The factor F (d × m), in multiples of 2^−bits.
pub struct Factor {
    columns: Array2<f64>,
    bits: i32,
    /// Bits of the type that is to hold the data.
    digits: i32,
    /// Whether its columns are exactly orthogonal.
    orthogonal: bool,
}

impl Factor {
    /// Random directions with these standard deviations (of at most 1), rounded to a grid that leaves room for their
    /// sum in a type with `digits` bits.
    pub fn rotated(random: &mut Random, d: usize, deviations: &[f64], digits: i32) -> Factor {
        let directions = random.orthonormal(d, deviations.len());
        Factor::of_directions(directions, deviations, digits)
    }

    /// Given directions (d × m).
    pub fn of_directions(directions: Array2<f64>, deviations: &[f64], digits: i32) -> Factor {
        let mut columns = directions;
        for (mut column, s) in columns.columns_mut().into_iter().zip(deviations) {
            column *= *s;
        }
        // The finest grid that leaves room for the largest sum there is, and for its being rounded up.
        let bits = digits - 1 - largest_sum(&columns).log2().ceil() as i32;
        columns.mapv_inplace(|v| on_grid(v, bits));
        Factor { columns, bits, digits, orthogonal: false }
    }

    /// Directions that are exactly orthogonal: columns of Sylvester's matrix of order d, a power of two, or where d is
    /// three times one, of its Kronecker product with [`THREE`]; with signs of rows changed at random, and
    /// reflected in a vector w of 0 and 1 with 2^q entries that are not 0, `h − 2 (w·h)/2^q w`, which takes
    /// q − 1 more bits. Standard deviations are rounded to the grid.
    pub fn hadamard(random: &mut Random, d: usize, deviations: &[f64], digits: i32) -> Factor {
        let q = 6.min(d.ilog2() as i32);
        let m = deviations.len();
        let signs: Vec<f64> = (0..d).map(|_| random.pick(&[-1.0, 1.0])).collect();
        let rows = distinct(random, d, 1 << q);
        let picked = distinct(random, d, m);
        // Entries are at most 2, and after the reflection at most three times that.
        let bits = digits - 4 - room(m) - (q - 1);
        let mut columns = Array2::zeros((d, m));
        for (j, mut column) in columns.columns_mut().into_iter().enumerate() {
            let entry = |f: usize| signs[f] * orthogonal(d, f, picked[j]);
            let inside: f64 = rows.iter().map(|&f| entry(f)).sum::<f64>() * 2f64.powi(1 - q);
            let length = (0..d).map(|f| entry(f) * entry(f)).sum::<f64>().sqrt();
            let size = on_grid(deviations[j] / length, bits);
            for (f, v) in column.iter_mut().enumerate() {
                *v = size * entry(f);
            }
            rows.iter().for_each(|&f| column[f] -= size * inside);
        }
        Factor { columns, bits: bits + q - 1, digits, orthogonal: true }
    }

    /// The data of `repeats` times the order of a Hadamard matrix, of which there must be more columns than
    /// F has; the order of the samples is random.
    pub fn data(&self, random: &mut Random, order: usize, repeats: usize) -> Exact {
        let n = order * repeats;
        let x = self.rows(random, order, repeats);
        let root = (DoubleDouble::from(n as f64) / DoubleDouble::from(n as f64 - 1.0)).sqrt();
        let (d, m) = self.columns.dim();
        let entry = |j: usize, f: usize| DoubleDouble::from(self.columns[[f, j]]) * root;
        let rows = Matrix::from_fn(m, d, entry);
        let truth = match self.orthogonal {
            true => Truth::of_orthogonal_rows(rows),
            false => Truth::of_factor(&rows),
        };
        Exact { x, truth, limit: 2f64.powi(self.digits - self.bits) }
    }

    /// Data of several factors of one shape (d × m), each with samples and features of its own, on the diagonal of a
    /// matrix of zeros: the sum of every column is still 0, and products of columns of different blocks too.
    pub fn block_data(blocks: &[Factor], random: &mut Random, order: usize) -> Exact {
        let (d, m) = blocks.first().map_or((0, 0), |block| block.columns.dim());
        let n = blocks.len() * order;
        let mut x = Array2::zeros((n, blocks.len() * d));
        for (b, block) in blocks.iter().enumerate() {
            let place = s![b * order..(b + 1) * order, b * d..(b + 1) * d];
            x.slice_mut(place).assign(&block.rows(random, order, 1));
        }
        let share = DoubleDouble::from(order as f64) / DoubleDouble::from(n as f64 - 1.0);
        let root = share.sqrt();
        let entry = |j: usize, f: usize| match j / m == f / d {
            true => DoubleDouble::from(blocks[j / m].columns[[f % d, j % m]]) * root,
            false => DoubleDouble::ZERO,
        };
        let rows = Matrix::from_fn(blocks.len() * m, blocks.len() * d, entry);
        let limits = blocks.iter().map(|block| 2f64.powi(block.digits - block.bits));
        let limit = limits.fold(0.0, f64::max);
        Exact { x, truth: Truth::of_factor(&rows), limit }
    }

    /// `H Fᵀ`.
    fn rows(&self, random: &mut Random, order: usize, repeats: usize) -> Array2<f64> {
        let (m, n) = (self.columns.ncols(), order * repeats);
        // The first column of Sylvester's matrix is the constant one.
        let picked: Vec<usize> = distinct(random, order - 1, m).iter().map(|c| c + 1).collect();
        let samples = distinct(random, n, n);
        let signs = Array2::from_shape_fn((n, m), |(i, j)| sign(samples[i] % order, picked[j]));
        let most = largest_sum(&self.columns) * 2f64.powi(self.bits);
        assert!(most < 2f64.powi(self.digits), "an entry would be rounded");
        // Every product and sum is a multiple of the grid, and small enough: exact in any order.
        signs.dot(&self.columns.t())
    }
}

/// Random directions (d × m) orthogonal to given ones (d × ·), as far as rounding goes.
pub fn directions_beside(random: &mut Random, given: &Array2<f64>, m: usize) -> Array2<f64> {
    let (d, known) = given.dim();
    let mut all = Array2::zeros((d, known + m));
    all.slice_mut(s![.., ..known]).assign(given);
    all.slice_mut(s![.., known..]).assign(&random.matrix(d, m));
    orthonormalized(all).slice(s![.., known..]).to_owned()
}

/// Orthogonal columns of length 3.
const THREE: [[f64; 3]; 3] = [[1.0, 2.0, 2.0], [2.0, 1.0, -2.0], [2.0, -2.0, 1.0]];

/// An entry of a matrix of whole numbers with orthogonal columns of one length, of order 2^q or 3 · 2^q.
fn orthogonal(d: usize, i: usize, j: usize) -> f64 {
    if d.is_power_of_two() {
        return sign(i, j);
    }
    let third = d / 3;
    THREE[i / third][j / third] * sign(i % third, j % third)
}

/// An entry of Sylvester's Hadamard matrix.
fn sign(i: usize, j: usize) -> f64 {
    if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// The largest sum of the moduli of a row.
fn largest_sum(columns: &Array2<f64>) -> f64 {
    let sums = columns.rows().into_iter().map(|row| row.mapv(f64::abs).sum());
    sums.fold(0.0, f64::max)
}

/// Bits that a sum of `m` numbers has more than each.
fn room(m: usize) -> i32 {
    m.next_power_of_two().trailing_zeros() as i32
}

fn on_grid(v: f64, bits: i32) -> f64 {
    (v * 2f64.powi(bits)).round() * 2f64.powi(-bits)
}

/// `m` of the numbers below `n`, in random order.
fn distinct(random: &mut Random, n: usize, m: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n).collect();
    for i in 0..m {
        let j = random.between(i, n - 1);
        all.swap(i, j);
    }
    all.truncate(m);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The covariance by its definition, in double-double from the entries as they are, has the pairs that the construction
    /// says: every listed vector is one to thirty digits, and their values are the whole trace.
    fn check(Exact { x, truth, .. }: Exact) {
        let (n, d) = x.dim();
        let number = |v: f64| DoubleDouble::from(v);
        let mut rows = Matrix::from_fn(n, d, |i, f| number(x[[i, f]]));
        for f in 0..d {
            let sum = (0..n).fold(DoubleDouble::ZERO, |sum, i| sum + rows.at(i, f));
            let (mean, root) = (sum / number(n as f64), number(n as f64 - 1.0).sqrt());
            (0..n).for_each(|i| rows.row_mut(i)[f] = (rows.at(i, f) - mean) / root);
        }
        let by_definition = Truth::of_factor(&rows);
        for j in 0..d {
            let off = (truth.value(j) - by_definition.value(j)).abs().to_f64();
            assert!(off < 1e-28 * truth.largest().to_f64(), "{j}: {off:e}");
        }
        let mut u: Vec<DoubleDouble> = (0..d).map(|f| number(1.0 + f as f64)).collect();
        let expected = by_definition.apply(&u);
        u = truth.apply(&u);
        for (a, b) in u.iter().zip(&expected) {
            assert!((*a - *b).abs().to_f64() < 1e-26, "{a:?} {b:?}");
        }
    }

    #[test]
    fn data_have_the_covariance_they_were_built_with() {
        let mut random = Random::stream(3, 0);
        let deviations = [1.0, 0.9, 0.9 - 1e-9, 0.3, 0.01];
        for digits in [24, 53] {
            let factor = Factor::rotated(&mut random, 20, &deviations, digits);
            check(factor.data(&mut random, 16, 3));
        }
        for d in [32, 48, 64, 96] {
            let factor = Factor::hadamard(&mut random, d, &deviations, 53);
            check(factor.data(&mut random, 16, 3));
            let factor = Factor::hadamard(&mut random, d, &deviations, 43);
            check(factor.data(&mut random, 16, 3).shifted(&mut random, 10));
        }
        let block = |random: &mut Random| Factor::rotated(random, 7, &deviations, 53);
        let blocks = [block(&mut random), block(&mut random), block(&mut random)];
        check(Factor::block_data(&blocks, &mut random, 8));
    }
}
