//! What columns and rows may be like: means, sizes, element types, zeros, weights. The truth is that of the stored
//! numbers: means, scales and products in double-double, and Jacobi's rotations.

use crate::problem::{Judged, Problem, Storage, Weights};
use crate::random::Random;
use eigenlens::{Result, Solver};
use ndarray::Array2;

/// Columns with unequal spreads, mixed or not.
pub fn table(random: &mut Random, n: usize, d: usize) -> Array2<f64> {
    let power = random.pick(&[0.0, 0.3, 1.0, 2.0]);
    let mut x = random.matrix(n, d);
    for (j, mut column) in x.columns_mut().into_iter().enumerate() {
        column *= 3.0 / (1.0 + j as f64).powf(power);
    }
    if random.chance(0.7) { x.dot(&random.orthonormal(d, d)) } else { x }
}

/// n, d and k of a tall table: small ones, and ones large enough that rounding adds up.
pub fn tall(random: &mut Random) -> (usize, usize, usize) {
    let (d, n) = match random.between(0, 19) {
        0..4 => (random.between(15, 36), random.between(40, 1500)),
        4..8 => (random.between(2, 14), random.between(1000, 8000)),
        8 => (random.between(2, 5), random.between(10_000, 40_000)),
        _ => {
            let d = random.between(2, 14);
            (d, random.between(d + 2, 40 + 20 * d))
        }
    };
    (n, d, random.between(1, d))
}

/// Routes that a dense table of n samples can take; the Gram matrix of many samples would fill the memory.
pub fn any_route(random: &mut Random, n: usize) -> Solver {
    let routes = [Solver::Covariance, Solver::Svd, Solver::Iterative, Solver::Dual];
    let sensible = if n <= 600 { &routes[..] } else { &routes[..3] };
    if random.chance(0.5) { Solver::Auto } else { random.pick(sensible) }
}

/// Adds to every column a mean of this many of its standard deviations, more or less.
pub fn shift(random: &mut Random, x: &mut Array2<f64>, offset: f64) {
    for mut column in x.columns_mut() {
        let sd = (column.dot(&column) / column.len() as f64).sqrt();
        let mean = offset * sd * random.log_between(0.3, 3.0) * random.pick(&[-1.0, 1.0]);
        column += mean;
    }
}

pub fn plain(random: &mut Random) -> Result<Judged> {
    let (n, d, k) = tall(random);
    let solver = any_route(random, n);
    Problem { solver, ..Problem::new(table(random, n, d), k) }.judge()
}

pub fn offsets(random: &mut Random) -> Result<Judged> {
    let (n, d, k) = tall(random);
    let mut x = table(random, n, d);
    let offset = random.log_between(1e3, 1e12);
    shift(random, &mut x, offset);
    let (solver, standardize) = (any_route(random, n), random.chance(0.3));
    let about = format!("means of {offset:.0e} sd");
    Problem { solver, standardize, about, ..Problem::new(x, k) }.judge()
}

pub fn standardized(random: &mut Random) -> Result<Judged> {
    let (n, d, k) = tall(random);
    let mut x = table(random, n, d);
    let offset = random.log_between(0.1, 1e4);
    shift(random, &mut x, offset);
    for mut column in x.columns_mut() {
        column *= random.log_between(1e-9, 1e9);
    }
    let solver = any_route(random, n);
    Problem { solver, standardize: true, ..Problem::new(x, k) }.judge()
}

pub fn single(random: &mut Random) -> Result<Judged> {
    let (n, d, k) = tall(random);
    let (solver, standardize) = (any_route(random, n), random.chance(0.5));
    Problem { solver, standardize, ..Problem::new(table(random, n, d), k) }.single().judge()
}

pub fn single_offsets(random: &mut Random) -> Result<Judged> {
    let (n, d, k) = tall(random);
    let mut x = table(random, n, d);
    let offset = random.log_between(3.0, 1e5);
    shift(random, &mut x, offset);
    let (solver, standardize) = (any_route(random, n), random.chance(0.5));
    let about = format!("means of {offset:.0e} sd");
    Problem { solver, standardize, about, ..Problem::new(x, k) }.single().judge()
}

pub fn scales(random: &mut Random) -> Result<Judged> {
    let (n, d, k) = tall(random);
    let exponent = random.between(0, 900) as i32 - 450;
    // Entries of any digits, of the size of this power of two.
    let unit = 2f64.powi(exponent);
    let x = table(random, n, d) * unit;
    let (solver, standardize) = (any_route(random, n), random.chance(0.2));
    let about = format!("entries of 2^{exponent}");
    let problem = Problem { solver, standardize, about, ..Problem::new(x, k) };
    Problem { unit, ..problem }.judge()
}

pub fn wide(random: &mut Random) -> Result<Judged> {
    let n = random.between(3, 30);
    // From 170 features on an iteration is one, and no longer the decomposition of a small matrix.
    let d = if random.chance(0.7) { random.between(n + 1, 120) } else { random.between(170, 500) };
    let k = random.between(1, n);
    let mut x = table(random, n, d);
    if random.chance(0.4) {
        let offset = random.log_between(1.0, 1e6);
        shift(random, &mut x, offset);
    }
    let solver = any_route(random, n);
    let problem = Problem { solver, standardize: random.chance(0.2), ..Problem::new(x, k) };
    if random.chance(0.3) { problem.single().judge() } else { problem.judge() }
}

pub fn sparse(random: &mut Random) -> Result<Judged> {
    let (n, d, k) = tall(random);
    let filled = random.log_between(0.05, 0.6);
    let mut x = table(random, n, d);
    let offset = random.pick(&[0.0, 1.0, 100.0, 1e6]);
    x.mapv_inplace(|v| if random.chance(filled) { v + offset } else { 0.0 });
    let solver = random.pick(&[Solver::Auto, Solver::Covariance, Solver::Iterative]);
    let (center, standardize) = (random.chance(0.7), random.chance(0.3));
    let about = format!("{:.0} % filled, about {offset}", 100.0 * filled);
    let problem = Problem { solver, center, standardize, about, ..Problem::new(x, k) };
    let problem = Problem { storage: Storage::Sparse, ..problem };
    if random.chance(0.3) { problem.single().judge() } else { problem.judge() }
}

pub fn weights(random: &mut Random) -> Result<Judged> {
    let (n, d, k) = tall(random);
    let mut x = table(random, n, d);
    if random.chance(0.5) {
        let offset = random.log_between(1.0, 1e6);
        shift(random, &mut x, offset);
    }
    let whole = random.chance(0.5);
    let weight = |random: &mut Random| match whole {
        true => random.between(0, 3) as f64,
        false => random.log_between(1e-3, 10.0),
    };
    let mut weights: Vec<f64> = (0..n).map(|_| weight(random)).collect();
    // At least as many count as there are features.
    weights[..=d].fill(1.0);
    let weights = match random.chance(0.5) {
        true => Weights::Frequency(weights),
        false => Weights::Relative(weights),
    };
    let (solver, standardize) = (any_route(random, n), random.chance(0.3));
    let about = if whole { "whole weights".into() } else { "weights of any size".into() };
    let weights = Some(weights);
    Problem { solver, standardize, weights, about, ..Problem::new(x, k) }.judge()
}

pub fn streamed(random: &mut Random) -> Result<Judged> {
    let (n, d, k) = tall(random);
    let mut x = table(random, n, d);
    let offset = random.log_between(1.0, 1e6);
    shift(random, &mut x, offset);
    let storage = Storage::Streamed(random.between(1, n));
    let solver = random.pick(&[Solver::Auto, Solver::Covariance, Solver::Svd, Solver::Iterative]);
    let problem = Problem { solver, storage, ..Problem::new(x, k) };
    if random.chance(0.3) { problem.single().judge() } else { problem.judge() }
}

pub fn uncentred(random: &mut Random) -> Result<Judged> {
    let (n, d, k) = tall(random);
    let mut x = table(random, n, d);
    let offset = random.pick(&[0.0, 1.0, 1e3, 1e6]);
    shift(random, &mut x, offset);
    let (solver, standardize) = (any_route(random, n), random.chance(0.2));
    let about = format!("means of {offset:.0e} sd");
    let problem = Problem { solver, standardize, about, ..Problem::new(x, k) };
    let problem = Problem { center: false, ..problem };
    if random.chance(0.3) { problem.single().judge() } else { problem.judge() }
}

pub fn many(random: &mut Random) -> Result<Judged> {
    let d = random.between(12, 30);
    let n = random.between(d + 2, 150);
    let k = random.between(9, d);
    let mut x = table(random, n, d);
    if random.chance(0.4) {
        let offset = random.log_between(1.0, 1e6);
        shift(random, &mut x, offset);
    }
    let solver = any_route(random, n);
    let problem = Problem { solver, standardize: random.chance(0.2), ..Problem::new(x, k) };
    if random.chance(0.3) { problem.single().judge() } else { problem.judge() }
}
