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
use ndarray::Array2;

/// Data (n × d) and the truth about their covariance.
pub struct Exact {
    pub x: Array2<f64>,
    pub truth: Truth,
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
        let bits = digits - 1 - room(deviations.len());
        let mut columns = directions;
        for (mut column, s) in columns.columns_mut().into_iter().zip(deviations) {
            column.mapv_inplace(|v| on_grid(v * s, bits));
        }
        Factor { columns, bits, digits, orthogonal: false }
    }

    /// Directions that are exactly orthogonal: columns of Sylvester's matrix of order d (a power of two), with
    /// signs of rows changed at random and reflected in a vector w of 0, 1 and −1 with 2^q entries that are not 0,
    /// `h − 2 (w·h)/2^q w`, which takes q − 1 more bits. Standard deviations are rounded to the grid.
    pub fn hadamard(random: &mut Random, d: usize, deviations: &[f64], digits: i32) -> Factor {
        const Q: i32 = 6;
        let m = deviations.len();
        let signs: Vec<f64> = (0..d).map(|_| random.pick(&[-1.0, 1.0])).collect();
        let rows = distinct(random, d, 1 << Q);
        let picked = distinct(random, d, m);
        // After the reflection an entry is at most three times as large.
        let bits = digits - 3 - room(m) - (Q - 1);
        let mut columns = Array2::zeros((d, m));
        for (j, mut column) in columns.columns_mut().into_iter().enumerate() {
            let entry = |f: usize| signs[f] * sign(f, picked[j]);
            let inside: f64 = rows.iter().map(|&f| entry(f)).sum::<f64>() * 2f64.powi(1 - Q);
            let size = on_grid(deviations[j] / (d as f64).sqrt(), bits);
            for (f, v) in column.iter_mut().enumerate() {
                *v = size * (entry(f) - if rows.contains(&f) { inside } else { 0.0 });
            }
        }
        Factor { columns, bits: bits + Q - 1, digits, orthogonal: true }
    }

    /// The data of `repeats` times the order of a Hadamard matrix, of which there must be more columns than
    /// F has; the order of the samples is random.
    pub fn data(&self, random: &mut Random, order: usize, repeats: usize) -> Exact {
        let (d, m) = self.columns.dim();
        let n = order * repeats;
        // The first column of Sylvester's matrix is the constant one.
        let picked: Vec<usize> = distinct(random, order - 1, m).iter().map(|c| c + 1).collect();
        let samples = distinct(random, n, n);
        let signs = Array2::from_shape_fn((n, m), |(i, j)| sign(samples[i] % order, picked[j]));
        // Every product and sum is a multiple of the grid below 2⁵³ of it: exact in any order.
        let x = signs.dot(&self.columns.t());
        let most = self.columns.rows().into_iter().map(|row| row.mapv(f64::abs).sum());
        let most = most.fold(0.0, f64::max) * 2f64.powi(self.bits);
        assert!(most < 2f64.powi(self.digits), "an entry would be rounded");
        let root = (DoubleDouble::from(n as f64) / DoubleDouble::from(n as f64 - 1.0)).sqrt();
        let entry = |j: usize, f: usize| DoubleDouble::from(self.columns[[f, j]]) * root;
        let rows = Matrix::from_fn(m, d, entry);
        let truth = match self.orthogonal {
            true => Truth::of_orthogonal_rows(rows),
            false => Truth::of_factor(&rows),
        };
        Exact { x, truth }
    }
}

/// Random directions (d × m) orthogonal to given ones (d × ·), as far as rounding goes.
pub fn directions_beside(random: &mut Random, given: &Array2<f64>, m: usize) -> Array2<f64> {
    let (d, known) = given.dim();
    let mut all = Array2::zeros((d, known + m));
    all.slice_mut(ndarray::s![.., ..known]).assign(given);
    all.slice_mut(ndarray::s![.., known..]).assign(&random.matrix(d, m));
    orthonormalized(all).slice(ndarray::s![.., known..]).to_owned()
}

/// An entry of Sylvester's Hadamard matrix.
fn sign(i: usize, j: usize) -> f64 {
    if (i & j).count_ones() % 2 == 0 { 1.0 } else { -1.0 }
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
