//! Sparse PCA against the published results on the pitprops.

use crate::support::*;
use eigenlens::{Options, ProofLimits, SparsePca, SparsePcaModel};
use ndarray::Array2;

const CORRELATIONS: &str = include_str!("../../../../golden/pitprops/correlations.csv");
const EXPECTED: &str = include_str!("../../../../golden/pitprops/expected.csv");

pub fn pitprops() -> (Vec<String>, Array2<f64>) {
    let mut lines = CORRELATIONS.lines();
    let names: Vec<String> = lines.next().unwrap().split(',').map(str::to_string).collect();
    let numbers: Vec<f64> =
        lines.flat_map(|line| line.split(',')).map(|v| v.parse().unwrap()).collect();
    (names, Array2::from_shape_vec((13, 13), numbers).unwrap())
}

/// The values of a quantity, by what they are of.
fn expected(quantity: &str, of: &str) -> Vec<&'static str> {
    let line = EXPECTED.lines().find(|line| line.starts_with(&format!("{quantity},{of},")));
    line.unwrap().rsplit(',').next().unwrap().split(' ').collect()
}

/// A printed number and half a unit of its last digit.
fn printed(number: &str) -> (f64, f64) {
    let decimals = number.split('.').nth(1).map_or(0, str::len);
    (number.parse().unwrap(), 0.5 * 10f64.powi(-(decimals as i32)) * (1.0 + 1e-9))
}

fn zou(tolerance: f64) -> SparsePcaModel {
    let options =
        Options { tolerance: Some(tolerance), max_iterations: 20_000, ..Options::default() };
    SparsePca::penalty(6, [0.06, 0.16, 0.1, 0.5, 0.5, 0.5])
        .options(options)
        .fit_covariance(pitprops().1.view(), None)
        .unwrap()
}

#[test]
fn the_matrix_has_the_published_spectrum() {
    let (values, _) = jacobi(&pitprops().1);
    for (found, number) in values.iter().zip(expected("eigenvalues", "correlation")) {
        let (value, half) = printed(number);
        assert_close("eigenvalue", *found, value, half);
    }
}

#[test]
fn the_published_components_with_the_papers_stopping_rule() {
    let model = zou(1e-3);
    assert_eq!(model.n_non_zeros(), [7, 4, 4, 1, 1, 1]);
    for (j, row) in model.components().outer_iter().enumerate() {
        let numbers: Vec<f64> = expected("component", &(j + 1).to_string())
            .into_iter()
            .map(|n| n.parse().unwrap())
            .collect();
        let sign = row.iter().zip(&numbers).map(|(a, b)| a * b).sum::<f64>().signum();
        for (found, number) in row.iter().zip(numbers) {
            assert_close(&format!("component {}", j + 1), sign * found, number, 2e-3);
        }
    }
    for (found, number) in
        model.adjusted_variance_ratio().iter().zip(expected("adjusted", "printed"))
    {
        let (value, half) = printed(number);
        // The paper's own loose run: 2e-3 of a share is 0.2 per cent.
        assert_close("adjusted variance", 100.0 * found, value, half.max(0.2));
    }
    let together: f64 = model.adjusted_variance_ratio().iter().sum();
    assert_close("together", 100.0 * together, 75.8, 0.2);
}

#[test]
fn the_published_components_fully_converged() {
    let (names, _) = pitprops();
    let model = zou(1e-10);
    assert!(model.convergence().converged);
    assert_eq!(model.n_non_zeros(), [7, 4, 4, 1, 1, 1]);
    for (found, number) in
        model.adjusted_variance_ratio().iter().zip(expected("adjusted", "converged"))
    {
        let (value, half) = printed(number);
        assert_close("adjusted variance", 100.0 * found, value, half);
    }
    for j in [2, 3] {
        for pair in expected("converged", &j.to_string()).chunks(2) {
            let f = names.iter().position(|n| n == pair[0]).unwrap();
            let (value, half) = printed(pair[1]);
            assert_close(pair[0], model.components()[[j - 1, f]].abs(), value, half);
        }
    }
}

/// The largest eigenvalue over all supports of `c` features.
pub fn brute_force(matrix: &Array2<f64>, c: usize) -> f64 {
    let d = matrix.nrows();
    let mut best = f64::NEG_INFINITY;
    for mask in 0u32..1 << d {
        if mask.count_ones() as usize != c {
            continue;
        }
        let at: Vec<usize> = (0..d).filter(|f| mask >> f & 1 == 1).collect();
        let part = Array2::from_shape_fn((c, c), |(i, j)| matrix[[at[i], at[j]]]);
        best = best.max(jacobi(&part).0[0]);
    }
    best
}

#[test]
fn the_exact_optimum_for_every_cardinality() {
    let (names, matrix) = pitprops();
    for c in 1..=13 {
        let model = SparsePca::cardinality(1, c)
            .exact(ProofLimits::default())
            .fit_covariance(matrix.view(), None)
            .unwrap();
        let proof = &model.optimality()[0];
        assert!(proof.is_proven() && proof.gap == 0.0, "c = {c}: {proof:?}");
        assert!(model.warnings().is_empty());
        let found = model.explained_variance()[0];
        assert_close(&format!("c = {c}"), found, brute_force(&matrix, c), 1e-9);
        if let Some(line) = EXPECTED.lines().find(|l| l.starts_with(&format!("optimum,{c},"))) {
            let mut words = line.rsplit(',').next().unwrap().split(' ');
            let (value, half) = printed(words.next().unwrap());
            assert_close("published", found, value, half);
            let features: Vec<&str> = words.collect();
            let support = model.components();
            let support: Vec<&str> =
                (0..13).filter(|&f| support[[0, f]] != 0.0).map(|f| names[f].as_str()).collect();
            assert!(features.is_empty() || features == support, "c = {c}: {support:?}");
        }
    }
}
