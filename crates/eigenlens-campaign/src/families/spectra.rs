//! Spectra that are hard: clusters, values of very different size, directions that are not there. The truth is that
//! of the stored numbers, whatever rounding did to the spectrum that was meant.

use super::columns::any_route;
use crate::problem::{Judged, Problem};
use crate::random::Random;
use eigenlens::Result;
use ndarray::Array2;

/// Data (n × d) with about these standard deviations along random directions: orthonormal scores times them, turned.
fn planted(random: &mut Random, n: usize, d: usize, deviations: &[f64]) -> Array2<f64> {
    let m = deviations.len();
    let mut scores = random.matrix(n, m);
    for mut column in scores.columns_mut() {
        let mean = column.mean().unwrap_or(0.0);
        column -= mean;
    }
    let mut scores = crate::random::orthonormalized(scores) * (n as f64 - 1.0).sqrt();
    for (mut column, s) in scores.columns_mut().into_iter().zip(deviations) {
        column *= *s;
    }
    scores.dot(&random.orthonormal(d, m).t())
}

pub fn clusters(random: &mut Random) -> Result<Judged> {
    let d = random.between(3, 14);
    let n = random.between(d + 3, 150);
    let gap = random.log_between(1e-14, 1e-2);
    let (first, size) = (random.between(0, d - 2), random.between(2, d));
    let mut variances: Vec<f64> = Vec::new();
    while variances.len() < d {
        let j = variances.len();
        let last = variances.last().copied().unwrap_or(1.0);
        let inside = j > first && j < first + size;
        variances.push(if inside { last - gap } else { last * random.log_between(0.3, 0.95) });
    }
    let deviations: Vec<f64> = variances.iter().map(|v| v.max(0.0).sqrt()).collect();
    let x = planted(random, n, d, &deviations) * random.log_between(0.01, 100.0);
    let (k, solver) = (random.between(1, d), any_route(random, n));
    let about = format!("cluster of {size} from {first}, gap {gap:.0e}");
    Problem { solver, about, ..Problem::new(x, k) }.judge()
}

pub fn graded(random: &mut Random) -> Result<Judged> {
    let d = random.between(3, 14);
    let n = random.between(d + 3, 150);
    let step = random.log_between(0.2, 3.0);
    let deviations: Vec<f64> = (0..d).map(|j| 10f64.powf(-step * j as f64 / 2.0)).collect();
    let x = planted(random, n, d, &deviations);
    let (k, solver) = (random.between(1, d), any_route(random, n));
    let about = format!("values of 10^-{step:.1}j");
    let problem = Problem { solver, about, ..Problem::new(x, k) };
    if random.chance(0.2) { problem.single().judge() } else { problem.judge() }
}

pub fn low_rank(random: &mut Random) -> Result<Judged> {
    let d = random.between(3, 14);
    let n = random.between(4, 60);
    let rank = random.between(1, (d - 1).min(n - 2));
    // Whole numbers, so that the rank is that of the stored data, or numbers whose rounding fills it up.
    let whole = random.chance(0.5);
    let deviations: Vec<f64> = (0..rank).map(|_| random.log_between(0.1, 3.0)).collect();
    let x = match whole {
        true => {
            let part = |random: &mut Random, rows: usize| {
                Array2::from_shape_simple_fn((rows, rank), || random.between(0, 40) as f64 - 20.0)
            };
            part(random, n).dot(&part(random, d).t())
        }
        false => planted(random, n, d, &deviations),
    };
    let (k, solver) = (random.between(1, d.min(n)), any_route(random, n));
    let about = format!("rank {rank}{}", if whole { " exactly" } else { "" });
    let problem = Problem { solver, about, ..Problem::new(x, k) };
    if random.chance(0.2) { problem.single().judge() } else { problem.judge() }
}
