//! The exact search: it agrees with trying everything, it is never worse than the fast one, and
//! what it claims when it is stopped is true.

use crate::sparse_golden::brute_force;
use crate::support::*;
use eigenlens::{Options, ProofLimits, SparsePca, SparsePcaModel, StoppedBy, Warning};
use ndarray::Array2;
use std::time::Duration;

/// Covariance matrices of all sorts: noise, few samples, blocks, repeated features, flat ones.
fn small_matrix(random: &mut Random, case: usize) -> Array2<f64> {
    let d = 3 + case % 8;
    let n = if case.is_multiple_of(3) { d / 2 + 1 } else { 3 * d };
    let mut x = random.matrix(n, d);
    match case % 5 {
        0 => {}
        1 => {
            // A common factor in some of the features.
            let factor: Vec<f64> = (0..n).map(|_| 2.0 * random.normal()).collect();
            for f in 0..d.div_ceil(2) {
                for i in 0..n {
                    x[[i, f]] += if f % 2 == 0 { factor[i] } else { -factor[i] };
                }
            }
        }
        2 => {
            let column = x.column(0).to_owned();
            x.column_mut(d - 1).assign(&column);
        }
        3 => x.mapv_inplace(f64::round),
        _ => {
            for (f, mut column) in x.columns_mut().into_iter().enumerate() {
                column *= 1.0 / (1.0 + f as f64);
            }
        }
    }
    x.t().dot(&x) / n as f64
}

fn exact(c: usize) -> SparsePca {
    SparsePca::cardinality(1, c).exact(ProofLimits::default())
}

#[test]
fn exact_equals_brute_force_on_hundreds_of_small_problems() {
    let mut random = Random::new(2);
    let mut problems = 0;
    for case in 0..120 {
        let matrix = small_matrix(&mut random, case);
        let d = matrix.nrows();
        for c in [1, 2, d / 2, d - 1, d] {
            let best = brute_force(&matrix, c.max(1));
            let model = exact(c.max(1)).fit_covariance(matrix.view(), None).unwrap();
            let proof = &model.optimality()[0];
            let found = model.explained_variance()[0];
            let slack = 1e-9 * best.max(1e-300);
            assert_close(&format!("case {case}, d = {d}, c = {c}"), found, best, slack);
            assert!(proof.is_proven(), "case {case}, c = {c}: {proof:?}");
            assert!(proof.upper_bound >= best - slack);
            let fast = SparsePca::cardinality(1, c.max(1)).fit_covariance(matrix.view(), None);
            assert!(fast.unwrap().explained_variance()[0] <= found * (1.0 + 1e-12));
            problems += 1;
        }
    }
    assert!(problems >= 500);
}

/// The best β ≥ 0 on up to `c` features: the leading eigenvector of some support, where it is of one
/// sign.
fn brute_force_non_negative(matrix: &Array2<f64>, c: usize) -> f64 {
    let d = matrix.nrows();
    let mut best = f64::NEG_INFINITY;
    for mask in 1u32..1 << d {
        if mask.count_ones() as usize > c {
            continue;
        }
        let at: Vec<usize> = (0..d).filter(|f| mask >> f & 1 == 1).collect();
        let part = Array2::from_shape_fn((at.len(), at.len()), |(i, j)| matrix[[at[i], at[j]]]);
        let (values, vectors) = jacobi(&part);
        let first = vectors.row(0);
        if first.iter().all(|v| *v >= -1e-9) || first.iter().all(|v| *v <= 1e-9) {
            best = best.max(values[0]);
        }
    }
    best
}

#[test]
fn non_negative_components_equal_brute_force() {
    let mut random = Random::new(3);
    for case in 0..60 {
        let matrix = small_matrix(&mut random, case);
        let d = matrix.nrows();
        for c in [1, d / 2 + 1, d] {
            let best = brute_force_non_negative(&matrix, c);
            let model = exact(c).non_negative(true).fit_covariance(matrix.view(), None).unwrap();
            assert!(model.components().iter().all(|v| *v >= 0.0));
            assert!(model.optimality()[0].is_proven());
            let found = model.explained_variance()[0];
            assert_close(&format!("case {case}, c = {c}"), found, best, 1e-8 * best);
            let fast = SparsePca::cardinality(1, c).non_negative(true);
            let fast = fast.fit_covariance(matrix.view(), None).unwrap();
            assert!(fast.components().iter().all(|v| *v >= 0.0));
            assert!(fast.explained_variance()[0] <= found * (1.0 + 1e-12));
        }
    }
}

/// n samples of d features with noise of variance 1, and `strength` along a flat vector of c of them.
fn spiked(seed: u64, n: usize, d: usize, c: usize, strength: f64) -> (Array2<f64>, Vec<usize>) {
    let mut random = Random::new(seed);
    let mut x = random.matrix(n, d);
    // Spread over the features, not side by side.
    let support: Vec<usize> = (0..c).map(|j| 7 + j * (d - 10) / c).collect();
    for i in 0..n {
        let score = (strength / c as f64).sqrt() * random.normal();
        for (j, &f) in support.iter().enumerate() {
            x[[i, f]] += if j % 3 == 0 { -score } else { score };
        }
    }
    (x, support)
}

fn support(model: &SparsePcaModel, j: usize) -> Vec<usize> {
    let row = model.components().row(j).to_vec();
    (0..row.len()).filter(|&f| row[f] != 0.0).collect()
}

#[test]
fn a_planted_spike_is_found_and_proven() {
    for (seed, strength) in [(1, 5.0), (3, 4.0)] {
        let (x, planted) = spiked(seed, 200, 500, 10, strength);
        let fast = SparsePca::cardinality(1, 10).fit(&x).unwrap();
        assert_eq!(support(&fast, 0), planted, "strength {strength}");
        // Few nodes are enough; with a limit on them the test does not depend on the machine.
        let limits = ProofLimits { time: None, nodes: 200, gap: 0.0 };
        let model = SparsePca::cardinality(1, 10).exact(limits).fit(&x).unwrap();
        let proof = &model.optimality()[0];
        assert!(proof.gap < 0.01, "strength {strength}: {proof:?}");
        assert_eq!(support(&model, 0), planted);
    }
}

#[test]
fn a_stopped_search_says_what_it_proved() {
    // Noise alone: nothing stands out, and the tree is large.
    let x = Random::new(5).matrix(60, 60);
    let limits = ProofLimits { time: None, nodes: 20, gap: 0.0 };
    let stopped = SparsePca::cardinality(1, 8).exact(limits).fit(&x).unwrap();
    let proof = stopped.optimality()[0];
    assert_eq!(proof.stopped_by, Some(StoppedBy::Nodes));
    assert!(proof.gap > 0.0 && proof.gap < 1.0, "{proof:?}");
    assert!(proof.upper_bound > proof.value);
    let gap = proof.gap;
    let warning = Warning::OptimalityGap { component: 0, gap, limit: "node" };
    assert!(stopped.warnings().contains(&warning), "{:?}", stopped.warnings());
    // More nodes find no more than the bound, and bring it down.
    let limits = ProofLimits { time: None, nodes: 400, gap: 0.0 };
    let longer = SparsePca::cardinality(1, 8).exact(limits).fit(&x).unwrap();
    let later = longer.optimality()[0];
    assert!(later.value >= proof.value && later.upper_bound <= proof.upper_bound);
    // Time that is up before anything is looked at still bounds.
    let limits = ProofLimits { time: Some(Duration::ZERO), ..ProofLimits::default() };
    let timed = SparsePca::cardinality(1, 8).exact(limits).fit(&x).unwrap();
    let proof = timed.optimality()[0];
    assert_eq!(proof.stopped_by, Some(StoppedBy::Time));
    assert!(proof.upper_bound.is_finite() && proof.upper_bound >= later.value, "{proof:?}");
}

#[test]
fn a_gap_that_is_good_enough_ends_the_search() {
    let x = Random::new(6).matrix(80, 30);
    let fit = |gap| {
        let limits = ProofLimits { time: None, nodes: 100_000, gap };
        let model = SparsePca::cardinality(1, 4).exact(limits).fit(&x).unwrap();
        assert_eq!(model.optimality()[0].stopped_by, None);
        model.optimality()[0]
    };
    let (rough, full) = (fit(0.2), fit(0.0));
    assert!(rough.gap <= 0.2 + 1e-12 && full.gap == 0.0);
    assert!(rough.nodes <= full.nodes);
    assert!(rough.upper_bound >= full.value && rough.value <= full.value);
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let (x, _) = spiked(9, 100, 60, 5, 3.0);
    let fit = |threads| {
        let options = Options { threads: Some(threads), ..Options::default() };
        let limits = ProofLimits { time: None, nodes: 64, gap: 0.0 };
        SparsePca::cardinality(3, 5).exact(limits).options(options).fit(&x).unwrap()
    };
    let (one, three) = (fit(1), fit(3));
    assert_eq!(one.components(), three.components());
    assert_eq!(one.optimality(), three.optimality());
}
