//! Data made so that rounding errors add up instead of cancelling: equal terms that all round alike, terms that are lost
//! beside a large one, partial sums far above what they end in. The truth is that of the stored numbers.

use super::columns::any_route;
use crate::problem::{Judged, Problem, Storage};
use crate::random::Random;
use eigenlens::{Result, Solver};
use ndarray::Array2;

/// n and d: mostly a few thousand samples of a few features, now and then a million.
fn shape(random: &mut Random) -> (usize, usize) {
    match random.between(0, 39) {
        0 => (1_000_000, random.between(1, 2)),
        1..8 => (random.between(20_000, 60_000), random.between(1, 3)),
        _ => (random.between(100, 8000), random.between(1, 12)),
    }
}

/// A number whose products are rounded far and in the same direction: just past a power of two or the middle between
/// two, or one with a pattern of low bits.
fn awkward(random: &mut Random) -> f64 {
    let low = random.between(1, 400) as f64 * f64::EPSILON;
    let leading = random.pick(&[1.0, 1.25, 1.5, 1.75, 4.0 / 3.0, 2f64.sqrt(), 1.1]);
    let sum: f64 = leading + low;
    sum * 2f64.powi(random.between(0, 6) as i32 - 3)
}

/// On every route that many samples can take, in any storage, about the mean or not.
fn judge(random: &mut Random, x: Array2<f64>, about: &str, center: bool) -> Result<Judged> {
    let (n, d) = x.dim();
    let k = random.between(1, d);
    let solver = if n > 8000 { Solver::Auto } else { any_route(random, n) };
    let storage = match random.between(0, 5) {
        0 => Storage::Streamed(random.between(1, n)),
        1 => Storage::Sparse,
        _ => Storage::Dense,
    };
    let solver = match storage {
        Storage::Dense => solver,
        _ => random.pick(&[Solver::Auto, Solver::Covariance, Solver::Iterative]),
    };
    let problem = Problem { solver, storage, center, about: about.into(), ..Problem::new(x, k) };
    if random.chance(0.2) { problem.single().judge() } else { problem.judge() }
}

/// Two values of one modulus in every column: all squares are equal.
pub fn equal(random: &mut Random) -> Result<Judged> {
    let (n, d) = shape(random);
    let moduli: Vec<f64> = (0..d).map(|_| awkward(random)).collect();
    let agree = random.pick(&[0.5, 0.7, 0.95]);
    let mut x = Array2::zeros((n, d));
    for mut row in x.rows_mut() {
        let sign = random.pick(&[-1.0, 1.0]);
        for (v, modulus) in row.iter_mut().zip(&moduli) {
            *v = if random.chance(agree) { sign * modulus } else { -sign * modulus };
        }
    }
    let center = random.chance(0.6);
    judge(random, x, "two values in each column", center)
}

/// A few rows beside whose squares those of all others are at most a rounding error.
pub fn lost(random: &mut Random) -> Result<Judged> {
    let (n, d) = shape(random);
    let large = 2f64.powi(random.between(24, 28) as i32);
    let every = random.pick(&[64, 128, 2048, n]);
    let direction: Vec<f64> = (0..d).map(|_| random.pick(&[1.0, 0.5, -1.0])).collect();
    let size = random.log_between(0.2, 2.0);
    let mut x = Array2::zeros((n, d));
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        // In pairs, so that the mean is 0.
        let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
        let factor = if i % every < 2 { large } else { size };
        for (v, u) in row.iter_mut().zip(&direction) {
            *v = sign * factor * if i % every < 2 { *u } else { u.abs() };
        }
    }
    let center = random.chance(0.5);
    judge(random, x, "rows beside which all others are lost", center)
}

/// Sorted rows: sums that rise far above what they come to, and go back.
pub fn drift(random: &mut Random) -> Result<Judged> {
    let (n, d) = shape(random);
    let (power, offset) = (random.pick(&[1.0, 3.0]), random.pick(&[0.0, 1.0, 1e4]));
    let steps = random.pick(&[7, 100, n]);
    let sizes: Vec<f64> = (0..d).map(|_| awkward(random)).collect();
    let x = Array2::from_shape_fn((n, d), |(i, f)| {
        // Equal within a step; the second half of some columns mirrors the first.
        let at = (i * steps / n) as f64 / steps as f64 - 0.5;
        let mirrored = if f % 2 == 1 { at.abs() } else { at };
        offset + sizes[f] * mirrored.signum() * mirrored.abs().powf(power)
    });
    let center = random.chance(0.8);
    judge(random, x, "sorted rows", center)
}

/// Float32 of a few decimal fractions, most of them one and the same.
pub fn fractions(random: &mut Random) -> Result<Judged> {
    let (n, d) = shape(random);
    let (constant, rare) =
        (random.pick(&[0.1, 0.3, 1.0 / 3.0, 0.7]), random.log_between(0.01, 0.5));
    let mut x = Array2::zeros((n, d));
    for v in x.iter_mut() {
        let other = random.between(1, 9) as f64 * 0.1;
        *v = if random.chance(rare) { other } else { constant };
    }
    let (solver, standardize) = (any_route(random, n), random.chance(0.5));
    let solver = if n > 600 { Solver::Auto } else { solver };
    let k = random.between(1, d);
    let about = "float32 of decimal fractions".into();
    let center = random.chance(0.7);
    Problem { solver, standardize, center, about, ..Problem::new(x, k) }.single().judge()
}

/// Samples that are multiples of one row, in which many entries are small beside the first: every score is rounded alike.
pub fn one_row(random: &mut Random) -> Result<Judged> {
    let (n, d) = (random.between(20, 60), random.between(100, 400));
    let (first, size) = (2f64.powi(random.between(0, 27) as i32), awkward(random));
    let wide = random.chance(0.5);
    let noise = random.pick(&[0.0, 1e-9, 1e-3]);
    let entries: Vec<f64> = (0..d)
        .map(|f| match f % 128 {
            0 if f == 0 || wide => first,
            _ => size,
        })
        .collect();
    let mut x = random.matrix(n, d) * (noise * size);
    for mut row in x.rows_mut() {
        let sign = random.pick(&[-1.0, 1.0]);
        row.iter_mut().zip(&entries).for_each(|(v, e)| *v += sign * e);
    }
    let k = random.between(1, 3);
    let (solver, center) = (any_route(random, n), random.chance(0.5));
    let about = format!("multiples of one row, noise {noise:.0e}");
    Problem { solver, center, about, ..Problem::new(x, k) }.judge()
}
