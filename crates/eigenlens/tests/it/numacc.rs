//! Line 19: NIST's NumAcc1–4, whose standard deviations naive sums lose, against exact arithmetic.

use crate::torture_support::*;
use eigenlens::{Dataset, Moments, Options, Pca};
use ndarray::{Array2, Axis};

fn numacc(which: usize) -> Vec<f64> {
    let (first, even, odd) = match which {
        1 => return vec![10_000_001.0, 10_000_003.0, 10_000_002.0],
        2 => (1.2, 1.1, 1.3),
        3 => (1_000_000.2, 1_000_000.1, 1_000_000.3),
        _ => (10_000_000.2, 10_000_000.1, 10_000_000.3),
    };
    let mut values = vec![first];
    for _ in 0..500 {
        values.extend([even, odd]);
    }
    values
}

/// Every entry as a whole number of 2⁻⁵²; all are multiples of it and below 2²⁴.
fn whole(values: &[f64]) -> Vec<i128> {
    values
        .iter()
        .map(|v| {
            let (high, low) = (v.floor(), v - v.floor());
            let scaled = low * 2f64.powi(52);
            assert_eq!(scaled.fract(), 0.0);
            ((high as i128) << 52) + scaled as i128
        })
        .collect()
}

/// The exact covariance of the stored numbers, rounded once: `(n Σxy − Σx Σy) / (n (n − 1))`.
fn exact_covariance(x: &[f64], y: &[f64]) -> f64 {
    let (x, y) = (whole(x), whole(y));
    let n = x.len() as i128;
    // About the first entries: exact, and small enough that no product overflows 127 bits.
    let (x0, y0) = (x[0], y[0]);
    let mut sums = (0i128, 0i128, 0i128);
    for (a, b) in x.iter().zip(&y) {
        let (a, b) = (a - x0, b - y0);
        sums.0 += a;
        sums.1 += b;
        sums.2 += a * b;
    }
    let numerator = n * sums.2 - sums.0 * sums.1;
    numerator as f64 / (n * (n - 1)) as f64 * 2f64.powi(-104)
}

#[test]
fn line_19_oracle_against_the_certified_values() {
    // The certified values belong to the decimal numbers; the stored ones are a few roundings off.
    for (which, certified, digits) in
        [(1, 1.0, 1e-15), (2, 0.1, 1e-14), (3, 0.1, 1e-9), (4, 0.1, 1e-8)]
    {
        let x = numacc(which);
        relatively_close(exact_covariance(&x, &x).sqrt(), certified, digits);
    }
}

#[test]
fn line_19_standard_deviations_to_fourteen_digits() {
    for which in 1..=4 {
        let x = numacc(which);
        let expected = exact_covariance(&x, &x).sqrt();
        let column = Array2::from_shape_vec((x.len(), 1), x).unwrap();
        let moments = Moments::of(&column, &Options::default()).unwrap();
        relatively_close(moments.covariance()[[0, 0]].sqrt(), expected, 1e-14);
        for solver in EXACT_ROUTES {
            let model = Pca::new(1).solver(solver).fit(&column).unwrap();
            relatively_close(model.standard_deviations()[0], expected, 1e-14);
            let model = Pca::new(1).standardize(true).solver(solver).fit(&column).unwrap();
            relatively_close(model.scale().unwrap()[0], expected, 1e-14);
            // Streamed row by row: the same sums.
            let rows = InBlocks::new(&column, 1);
            if solver != eigenlens::Solver::Dual {
                let model = Pca::new(1).solver(solver).fit(Dataset::streamed(&rows)).unwrap();
                relatively_close(model.standard_deviations()[0], expected, 1e-14);
            }
        }
    }
}

#[test]
fn line_19_as_columns() {
    let columns = [numacc(2), numacc(3), numacc(4)];
    let x = Array2::from_shape_fn((1001, 3), |(i, f)| columns[f][i]);
    let exact = Array2::from_shape_fn((3, 3), |(i, j)| exact_covariance(&columns[i], &columns[j]));
    // A symmetric positive matrix has its eigenvalues as singular values.
    let (values, _) = jacobi_svd(&exact);
    let moments = Moments::of(&x, &Options::default()).unwrap();
    for (found, expected) in moments.covariance().iter().zip(&exact) {
        relatively_close(*found, *expected, 1e-14);
    }
    for solver in EXACT_ROUTES {
        let model = Pca::new(3).standardize(true).solver(solver).fit(&x).unwrap();
        for (found, f) in model.scale().unwrap().iter().zip(0..) {
            relatively_close(*found, exact[[f, f]].sqrt(), 1e-14);
        }
        let model = Pca::new(3).solver(solver).fit(&x).unwrap();
        for (found, expected) in model.explained_variance().iter().zip(&values) {
            close(*found, *expected, 2e-14 * values[0]);
        }
        relatively_close(model.total_variance(), exact.diag().sum(), 2e-14);
        for (found, column) in model.mean().iter().zip(&columns) {
            let sum: i128 = whole(column).iter().sum();
            let mean = sum as f64 / 1001.0 * 2f64.powi(-52);
            relatively_close(*found, mean, 4e-16);
        }
    }
    // Merged from parts.
    let mut merged = Moments::empty(3);
    for part in x.axis_chunks_iter(Axis(0), 77) {
        merged.update(&Moments::of(part, &Options::default()).unwrap()).unwrap();
    }
    for (found, expected) in merged.covariance().iter().zip(&exact) {
        relatively_close(*found, *expected, 1e-13);
    }
}
