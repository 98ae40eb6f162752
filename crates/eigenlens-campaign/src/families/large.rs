//! Data large enough for iterations and probes, built so that their covariance is known exactly ([`crate::exact`]).

use super::columns::any_route;
use crate::exact::{Exact, Factor, directions_beside};
use crate::problem::{Judged, Problem, Storage};
use crate::random::Random;
use eigenlens::{Result, Solver};
use ndarray::{Array2, Axis, concatenate};

/// Bits of f64 and f32 numbers.
const DOUBLE: i32 = 53;
const SINGLE: i32 = 24;

/// Standard deviations that fall from 1, by the same factor or like a power of their number. Those after the first
/// `head` may be much smaller: only then do probes exclude that something was missed.
fn falling(random: &mut Random, m: usize, head: usize) -> Vec<f64> {
    let (ratio, power) = (random.log_between(0.85, 0.99), random.log_between(0.2, 1.5));
    let geometric = random.chance(0.5);
    let drop = if random.chance(0.7) { random.log_between(0.002, 0.2) } else { 1.0 };
    let each = |j: usize| {
        let falls = if geometric { ratio.powi(j as i32) } else { (1.0 + j as f64).powf(-power) };
        if j < head { falls } else { falls * drop }
    };
    (0..m).map(each).collect()
}

/// Some standard deviations, from `first` on, brought together: neighbours' variances differ by this share. Those after them
/// stay below.
fn cluster(deviations: &mut [f64], first: usize, size: usize, gap: f64) {
    let variance = deviations[first] * deviations[first];
    let last = (first + size).min(deviations.len());
    for (i, s) in deviations[first..last].iter_mut().enumerate() {
        *s = (variance * (1.0 - gap * i as f64)).max(0.0).sqrt();
    }
    deviations.sort_by(|a, b| b.total_cmp(a));
}

/// A few hundred features, with more directions than a short iteration exhausts; about 0 or with means.
fn tall(random: &mut Random, deviations: &[f64]) -> Exact {
    let d = random.pick(&[256, 384, 512, 768, 1536]);
    let repeats = random.pick(&[2, 3, 3, 8, if d <= 384 { 40 } else { 4 }]);
    let offset = random.pick(&[0, 0, 4, 12, 24]);
    let factor = match deviations.len() <= 60 {
        true => Factor::rotated(random, d, deviations, DOUBLE - offset),
        false => Factor::hadamard(random, d, deviations, DOUBLE - offset),
    };
    factor.data(random, 256, repeats).shifted(random, offset)
}

/// How many directions have variance: few in any position, or more in special ones.
fn directions(random: &mut Random) -> usize {
    if random.chance(0.4) { random.between(30, 60) } else { random.between(100, 200) }
}

/// Mostly as many products as it takes; for the rest an iteration that is cut short.
fn patience(random: &mut Random) -> Option<usize> {
    random.chance(0.3).then(|| random.between(3, 10))
}

fn tolerance(random: &mut Random) -> Option<f64> {
    random.pick(&[None, None, Some(1e-3), Some(1e-5), Some(1e-12)])
}

/// k, and how many values stand out: mostly as many.
fn head(random: &mut Random, most: usize) -> (usize, usize) {
    let k = random.between(1, most);
    (k, if random.chance(0.7) { k } else { k + random.between(1, 4) })
}

pub fn krylov(random: &mut Random) -> Result<Judged> {
    let m = directions(random);
    let (k, head) = head(random, 12);
    let deviations = falling(random, m, head);
    let Exact { x, truth, .. } = tall(random, &deviations);
    let (solver, tolerance) = (Solver::Iterative, tolerance(random));
    let problem = Problem { solver, tolerance, ..Problem::new(x, k) };
    Problem { max_iterations: patience(random), ..problem }.judge_by(&truth)
}

pub fn krylov_clusters(random: &mut Random) -> Result<Judged> {
    let m = directions(random);
    let (k, head) = head(random, 14);
    let mut deviations = falling(random, m, head);
    let (first, size) = (random.between(0, head - 1), random.between(2, 14));
    let gap = random.log_between(1e-10, 1e-2);
    cluster(&mut deviations, first, size, gap);
    let Exact { x, truth, .. } = tall(random, &deviations);
    let (solver, tolerance) = (Solver::Iterative, tolerance(random));
    let about = format!("cluster of {size} from {first}, gap {gap:.0e}");
    let problem = Problem { solver, tolerance, about, ..Problem::new(x, k) };
    Problem { max_iterations: patience(random), ..problem }.judge_by(&truth)
}

/// As many directions as there are features, on every route.
pub fn full_rank(random: &mut Random) -> Result<Judged> {
    let d = random.pick(&[32, 48, 64, 96, 128, 192]);
    let (k, head) = head(random, d / 4);
    let mut deviations = falling(random, d, head);
    if random.chance(0.3) {
        let (first, gap) = (random.between(0, head - 1), random.log_between(1e-10, 1e-3));
        cluster(&mut deviations, first, 3, gap);
    }
    let (repeats, offset) = (random.pick(&[1, 2, 8, 40]), random.pick(&[0, 0, 4, 12]));
    let factor = Factor::hadamard(random, d, &deviations, DOUBLE - offset);
    let Exact { x, truth, .. } = factor.data(random, 256, repeats).shifted(random, offset);
    let solver = any_route(random, 256 * repeats);
    Problem { solver, ..Problem::new(x, k) }.judge_by(&truth)
}

/// Float32 rows: their products are summed in f64, but are those of rows that were centred in float32.
pub fn krylov_single(random: &mut Random) -> Result<Judged> {
    let m = random.between(20, 30);
    let (k, head) = head(random, 10);
    let deviations = falling(random, m, head);
    let d = random.between(200, 500);
    let offset = random.pick(&[0, 0, 3, 7]);
    let factor = Factor::rotated(random, d, &deviations, SINGLE - offset);
    let Exact { x, truth, .. } = factor.data(random, 128, 4).shifted(random, offset);
    let solver = random.pick(&[Solver::Iterative, Solver::Covariance, Solver::Auto]);
    Problem { solver, ..Problem::new(x, k) }.single().judge_by(&truth)
}

/// A covariance so large that only its leading pairs are sought, and its values are counted.
pub fn inertia(random: &mut Random) -> Result<Judged> {
    let m = random.between(60, 150);
    let (k, head) = head(random, 12);
    let mut deviations = falling(random, m, head);
    if random.chance(0.5) {
        let (first, gap) = (random.between(0, head - 1), random.log_between(1e-10, 1e-3));
        cluster(&mut deviations, first, 4, gap);
    }
    let factor = Factor::hadamard(random, 768, &deviations, DOUBLE);
    let Exact { x, truth, .. } = factor.data(random, 256, 3);
    let (solver, tolerance) = (Solver::Covariance, tolerance(random));
    Problem { solver, tolerance, ..Problem::new(x, k) }.judge_by(&truth)
}

/// Blocks on the diagonal, each of them exact data of its own: the pairs are those of the blocks.
pub fn sparse_blocks(random: &mut Random) -> Result<Judged> {
    let (blocks, width, directions) = (random.between(8, 12), 32, 6);
    let (k, head) = head(random, 10);
    let deviations = falling(random, blocks * directions, head);
    let mut parts = Vec::new();
    for b in 0..blocks {
        // Every block has its share of large and small values.
        let own: Vec<f64> = deviations.iter().copied().skip(b).step_by(blocks).collect();
        parts.push(Factor::rotated(random, width, &own, DOUBLE));
    }
    let Exact { x, truth, .. } = Factor::block_data(&parts, random, 32);
    let solver = random.pick(&[Solver::Iterative, Solver::Auto]);
    let problem = Problem { storage: Storage::Sparse, ..Problem::new(x, k) };
    Problem { solver, tolerance: tolerance(random), ..problem }.judge_by(&truth)
}

pub fn randomized(random: &mut Random) -> Result<Judged> {
    let m = directions(random);
    let (k, head) = head(random, 12);
    let mut deviations = falling(random, m, head);
    if random.chance(0.3) {
        let gap = random.log_between(1e-9, 1e-2);
        cluster(&mut deviations, 0, 4, gap);
    }
    let Exact { x, truth, .. } = tall(random, &deviations);
    let solver = Solver::Randomized {
        oversampling: random.between(2, 12),
        power_iterations: random.between(0, 8),
    };
    Problem { solver, ..Problem::new(x, k) }.judge_by(&truth)
}

pub fn probes(random: &mut Random) -> Result<Judged> {
    let m = random.between(80, 120);
    let k = random.between(24, 70);
    let mut deviations = falling(random, m, k);
    if random.chance(0.4) {
        let (first, gap) = (random.between(0, 20), random.log_between(1e-9, 1e-3));
        cluster(&mut deviations, first, 5, gap);
    }
    let Exact { x, truth, .. } = tall(random, &deviations);
    let solver = random.pick(&[Solver::Auto, Solver::Covariance, Solver::Iterative]);
    Problem { solver, ..Problem::new(x, k) }.judge_by(&truth)
}

/// Fewer samples than features, in either element type.
pub fn dual(random: &mut Random) -> Result<Judged> {
    let single = random.chance(0.3);
    let m = random.between(6, 30);
    let deviations = falling(random, m, m / 2);
    let d = random.between(200, 600);
    let digits = if single { SINGLE } else { DOUBLE };
    let factor = Factor::rotated(random, d, &deviations, digits);
    let Exact { x, truth, .. } = factor.data(random, 64, 1);
    let k = random.between(1, m);
    let solver = random.pick(&[Solver::Auto, Solver::Dual, Solver::Svd, Solver::Iterative]);
    let problem = Problem { solver, ..Problem::new(x, k) };
    if single { problem.single().judge_by(&truth) } else { problem.judge_by(&truth) }
}

/// The leading direction is orthogonal to what the default seed would draw to begin with and to probe with, did
/// nothing of the data go into it: an iteration of its own never sees it, and the probes do not miss it.
pub fn against_the_seed(random: &mut Random) -> Result<Judged> {
    const SEED: u64 = 0;
    let (d, k, tail) = (random.pick(&[1000, 2000]), 2, 100);
    let draw = |purpose: u64, width: usize| Random::stream(SEED, purpose).matrix(d, width);
    let oversampling = 10;
    let (start, solver) = match random.chance(0.7) {
        true => (draw(1, 8), Solver::Auto),
        false => {
            let solver = Solver::Randomized { oversampling, power_iterations: 3 };
            (draw(2, k + 1 + oversampling), solver)
        }
    };
    let seen = concatenate(Axis(1), &[start.view(), draw(3, 8).view()]).unwrap_or_default();
    let hidden = directions_beside(random, &seen, 1);
    let others = directions_beside(random, &hidden, 2 + tail);
    let directions = concatenate(Axis(1), &[hidden.view(), others.view()]).unwrap_or_default();
    // The rest is spread: an iteration that had seen all of it would go on with vectors drawn anew.
    let rest = (0..tail).map(|j| 0.4 * (tail - j) as f64 / (tail * tail) as f64);
    let variances = [1.05, 1.0, 0.5].into_iter().chain(rest);
    let deviations: Vec<f64> = variances.map(f64::sqrt).map(|s| s / 2.0).collect();
    let directions: Array2<f64> = directions.as_standard_layout().into_owned();
    let factor = Factor::of_directions(directions, &deviations, DOUBLE);
    let Exact { x, truth, .. } = factor.data(random, 512, 5);
    Problem { solver, ..Problem::new(x, k) }.judge_by(&truth)
}
