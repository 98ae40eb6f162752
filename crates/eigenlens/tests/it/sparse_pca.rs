//! Sparse PCA: its identities, every way to the same answer, and what is refused.

use crate::sparse_golden::pitprops;
use crate::support::*;
use eigenlens::{
    Dataset, Deflation, Error, ErrorKind, Moments, Options, Pca, PenaltyScale, Projection,
    ProofLimits, Ridge, Route, SparsePca, SparsePcaModel, Warning,
};
use ndarray::{Array2, array};

fn pca_rows(matrix: &Array2<f64>, k: usize) -> Array2<f64> {
    let model = Pca::new(k).fit_covariance(matrix.view(), None).unwrap();
    model.components().to_owned()
}

#[track_caller]
fn same_directions(what: &str, found: &SparsePcaModel, expected: &Array2<f64>, tolerance: f64) {
    for (j, (a, b)) in found.components().outer_iter().zip(expected.outer_iter()).enumerate() {
        let angle = sine(a, b);
        assert!(angle <= tolerance, "{what}, component {j}: {angle:e}");
    }
}

/// A covariance with separated eigenvalues.
fn covariance(seed: u64, d: usize) -> Array2<f64> {
    let mut random = Random::new(seed);
    let basis = random.orthonormal(d, d, false);
    let values =
        Array2::from_diag(&ndarray::Array1::from_shape_fn(d, |j| 4.0 * 0.7f64.powi(j as i32)));
    let s = basis.dot(&values).dot(&basis.t());
    (&s + &s.t()) / 2.0
}

fn precise(pca: SparsePca) -> SparsePca {
    let options = Options { tolerance: Some(1e-11), max_iterations: 10_000, ..Options::default() };
    pca.options(options)
}

#[test]
fn ridge_alone_returns_the_plain_directions() {
    let s = covariance(1, 9);
    let plain = pca_rows(&s, 3);
    for ridge in [0.0, 1e-6, 0.3, 50.0] {
        let pca = precise(SparsePca::penalty(3, 0.0)).ridge(Ridge::Finite(ridge));
        let model = pca.fit_covariance(s.view(), None).unwrap();
        same_directions(&format!("ridge {ridge}"), &model, &plain, 1e-8);
    }
    let model = precise(SparsePca::penalty(3, 0.0)).ridge(Ridge::Infinite);
    same_directions("infinite", &model.fit_covariance(s.view(), None).unwrap(), &plain, 1e-8);
}

#[test]
fn all_features_or_no_penalty_return_pca() {
    let s = covariance(2, 8);
    let plain = Pca::new(4).fit_covariance(s.view(), None).unwrap();
    let rows = plain.components().to_owned();
    for deflation in Deflation::ALL {
        let model = SparsePca::cardinality(4, 8).deflation(deflation);
        let model = model.fit_covariance(s.view(), None).unwrap();
        same_directions(deflation.name(), &model, &rows, 1e-7);
        for j in 0..4 {
            let expected = plain.explained_variance()[j];
            assert_close("adjusted", model.adjusted_variance()[j], expected, 1e-9);
        }
        assert!(model.variance_given_up() < 1e-9);
    }
    let exact = SparsePca::cardinality(1, 8).exact(ProofLimits::default());
    let exact = exact.fit_covariance(s.view(), None).unwrap();
    same_directions("exact", &exact, &rows, 1e-7);
    assert!(exact.optimality()[0].is_proven());
    for penalty in [1e-6, 1e-9] {
        let fit = |pca: SparsePca| pca.fit_covariance(s.view(), None).unwrap();
        let one = fit(precise(SparsePca::penalty(1, penalty)));
        same_directions(&format!("penalty {penalty}"), &one, &rows, 1e3 * penalty.max(1e-11));
        // Several components may be turned within their span at no cost but that of the penalty:
        // the span is that of PCA.
        let four = fit(SparsePca::penalty(4, penalty));
        let off = outside(four.components(), rows.view());
        assert!(off < 1e3 * penalty.max(1e-11), "penalty {penalty}: {off:e}");
    }
    let full = precise(SparsePca::non_zeros(4, 8)).fit_covariance(s.view(), None).unwrap();
    assert_eq!(full.n_non_zeros(), [8; 4]);
    same_directions("non-zeros", &full, &rows, 1e-7);
}

/// The conditions of the elastic net at the fixed point, with plain loops: A from S B by polar
/// decomposition, then every entry of B against its subgradient.
#[test]
fn the_regression_meets_its_optimality_conditions() {
    let (_, s) = pitprops();
    let (k, d) = (3, 13);
    let (penalty, ridge) = ([0.2, 0.15, 0.1], 0.05);
    let model = precise(SparsePca::penalty(k, penalty))
        .ridge(Ridge::Finite(ridge))
        .fit_covariance(s.view(), None)
        .unwrap();
    assert!(model.convergence().converged);
    let b = model.components();
    // The unit rows lost the lengths t that the regression gave them; A depends on them, so both
    // are found together: with A fixed, each t solves its own one-dimensional problem.
    let mut t = vec![1.0; k];
    let mut a = Array2::zeros((d, k));
    for _ in 0..2000 {
        let scaled = Array2::from_shape_fn((d, k), |(f, j)| b[[j, f]] * t[j]);
        let m = s.dot(&scaled);
        // M (MᵀM)^(-1/2).
        let (values, vectors) = jacobi(&m.t().dot(&m));
        let root = Array2::from_shape_fn((k, k), |(i, j)| {
            (0..k).map(|e| vectors[[e, i]] * vectors[[e, j]] / values[e].sqrt()).sum::<f64>()
        });
        a = m.dot(&root);
        let target = s.dot(&a);
        for j in 0..k {
            let row = b.row(j);
            let curvature = row.dot(&s.dot(&row)) + ridge;
            let size: f64 = row.iter().map(|v| v.abs()).sum();
            t[j] = (row.dot(&target.column(j)) - penalty[j] / 2.0 * size) / curvature;
        }
    }
    let target = s.dot(&a);
    for j in 0..k {
        let beta = b.row(j).mapv(|v| v * t[j]);
        let slope = &target.column(j) - &s.dot(&beta) - &beta.mapv(|v| ridge * v);
        for f in 0..d {
            let half = penalty[j] / 2.0;
            if beta[f] == 0.0 {
                assert!(slope[f].abs() <= half + 1e-7, "({j}, {f}): {}", slope[f]);
            } else {
                assert_close("slope", slope[f], half * beta[f].signum(), 1e-7);
            }
        }
    }
}

#[test]
fn a_wanted_number_of_non_zeros_is_that_number() {
    let (_, s) = pitprops();
    for ridge in [Ridge::Finite(1e-6), Ridge::Finite(0.5), Ridge::Infinite] {
        for counts in [[1, 1, 1], [7, 4, 4], [13, 12, 2]] {
            let pca = SparsePca::non_zeros(3, counts).ridge(ridge);
            let model = pca.fit_covariance(s.view(), None).unwrap();
            assert_eq!(model.n_non_zeros(), counts, "{ridge:?}");
            // Its penalties, given back, give the same components.
            let penalties = model.penalties().unwrap().to_vec();
            assert!(penalties.iter().all(|p| *p >= 0.0));
        }
    }
    // The path of one regression and the penalty it stops at agree.
    let options = Options { tolerance: Some(1e-10), max_iterations: 20_000, ..Options::default() };
    let by_count = SparsePca::non_zeros(1, 5).options(options.clone());
    let by_count = by_count.fit_covariance(s.view(), None).unwrap();
    let penalty = by_count.penalties().unwrap()[0] * (1.0 + 1e-9);
    let by_penalty = SparsePca::penalty(1, penalty).options(options);
    let by_penalty = by_penalty.fit_covariance(s.view(), None).unwrap();
    same_directions("penalty found", &by_penalty, &by_count.components().to_owned(), 1e-5);
}

/// Data with a few strong groups of features.
fn grouped(seed: u64, n: usize, d: usize) -> Array2<f64> {
    let mut random = Random::new(seed);
    let mut x = random.matrix(n, d);
    for i in 0..n {
        for group in 0..3 {
            let score = (3.0 - 0.7 * group as f64) * random.normal();
            for f in 0..4 {
                x[[i, 1 + 5 * group + f]] += score;
            }
        }
        x[[i, 0]] += 10.0;
    }
    x
}

#[test]
fn every_way_to_the_covariance_gives_the_same_model() {
    let x = grouped(4, 120, 18);
    let moments = Moments::of(&x, &Options::default()).unwrap();
    let configurations = [
        SparsePca::cardinality(3, [4, 4, 3]),
        SparsePca::penalty(3, 2.0),
        SparsePca::non_zeros(3, 5),
        SparsePca::non_zeros(3, 5).ridge(Ridge::Infinite),
    ];
    for pca in configurations {
        let expected = pca.fit(&x).unwrap();
        assert_eq!(expected.plan().route, Route::Covariance);
        let same = |what: &str, model: SparsePcaModel| {
            let components = expected.components().to_owned();
            assert_eq!(model.n_non_zeros(), expected.n_non_zeros(), "{what}");
            assert_all_close(what, &model.components().to_owned(), &components, 1e-6);
            for (a, b) in model.adjusted_variance().iter().zip(expected.adjusted_variance()) {
                assert_close(what, *a, *b, 1e-6 * b);
            }
        };
        same("moments", pca.fit_moments(&moments).unwrap());
        let given = moments.covariance();
        same("covariance", pca.fit_covariance(given.view(), Some(120.0)).unwrap());
        for storage in [Storage::Sparse, Storage::ColumnMajor, Storage::Streamed(7, false)] {
            let table = Table::<f64>::new(&x, storage);
            same(&format!("{storage:?}"), pca.fit(table.dataset()).unwrap());
        }
    }
}

/// d ≫ n: products with the data in place of a d × d matrix, and the same answer.
#[test]
fn no_matrix_is_formed_where_features_are_many() {
    let x = grouped(5, 40, 1100);
    let moments = Moments::of(&x, &Options::default()).unwrap();
    let covariance = moments.covariance();
    for pca in [
        SparsePca::cardinality(2, 4),
        SparsePca::non_zeros(2, 4).ridge(Ridge::Infinite),
        SparsePca::non_zeros(2, 6),
        SparsePca::penalty(2, 8.0),
    ] {
        let model = pca.fit(&x).unwrap();
        assert_eq!(model.plan().route, Route::Iterative);
        let formed = pca.fit_covariance(covariance.view(), None).unwrap();
        assert_eq!(model.n_non_zeros(), formed.n_non_zeros());
        let expected = formed.components().to_owned();
        assert_all_close("components", &model.components().to_owned(), &expected, 1e-5);
    }
}

#[test]
fn penalties_on_sums_are_those_on_the_covariance_times_n_minus_1() {
    let x = grouped(6, 50, 16);
    let data = Dataset::from(&x);
    let of_covariance = SparsePca::penalty(2, 1.5).fit(&data).unwrap();
    let of_sums = SparsePca::penalty(2, 1.5 * 49.0)
        .ridge(Ridge::Finite(49e-6))
        .penalty_scale(PenaltyScale::Sum)
        .fit(&data)
        .unwrap();
    let expected = of_covariance.components().to_owned();
    assert_all_close("components", &of_sums.components().to_owned(), &expected, 1e-9);
    assert_close("penalty", of_sums.penalties().unwrap()[0], 1.5 * 49.0, 1e-9);
}

/// Adjusted variances against Gram & Schmidt on the scores themselves.
#[test]
fn adjusted_variances_are_those_of_orthogonalised_scores() {
    let x = grouped(7, 90, 17);
    let data = Dataset::from(&x);
    let model = SparsePca::cardinality(4, 6).projection(Projection::Product).fit(&data).unwrap();
    let z = model.transform(&data).unwrap();
    let n = z.nrows() as f64;
    for j in 0..4 {
        let mut rest = z.column(j).to_owned();
        let own = rest.dot(&rest) / (n - 1.0);
        assert_close("variance", model.explained_variance()[j], own, 1e-9 * own);
        // Against an orthonormal basis of the scores before.
        let mut basis: Vec<ndarray::Array1<f64>> = Vec::new();
        for i in 0..j {
            let mut q = z.column(i).to_owned();
            for _ in 0..2 {
                for b in &basis {
                    let inside = b.dot(&q);
                    q.scaled_add(-inside, b);
                }
            }
            let norm = q.dot(&q).sqrt();
            basis.push(q / norm);
        }
        for b in &basis {
            let inside = b.dot(&rest);
            rest.scaled_add(-inside, b);
        }
        let adjusted = rest.dot(&rest) / (n - 1.0);
        assert_close("adjusted", model.adjusted_variance()[j], adjusted, 1e-9 * own);
        for i in 0..4 {
            let (a, b) = (z.column(i), z.column(j));
            let correlation = a.dot(&b) / (a.dot(&a) * b.dot(&b)).sqrt();
            let found = model.score_correlations()[[i, j]];
            assert_close("correlation", found, correlation, 1e-9);
        }
    }
    let together: f64 = model.adjusted_variance().iter().sum();
    let plain: f64 = model.plain_variance().iter().sum();
    assert!(together <= plain * (1.0 + 1e-12));
    assert_close("given up", model.variance_given_up(), 1.0 - together / plain, 1e-12);
}

#[test]
fn projections_and_the_way_back() {
    let x = grouped(8, 60, 16);
    let data = Dataset::from(&x);
    let least = SparsePca::cardinality(3, 9).fit(&data).unwrap();
    let product = least.clone().with_projection(Projection::Product);
    let b = least.components().to_owned();
    assert!(orthogonality(b.view()) > 1e-3, "components that overlap are wanted here");
    let mean = x.mean_axis(ndarray::Axis(0)).unwrap();
    let centered = &x - &mean;
    // The plain product.
    let z = product.transform(&data).unwrap();
    assert_all_close("product", &z, &centered.dot(&b.t()), 1e-9);
    // Least squares: what is left of a sample is orthogonal to every component.
    let back = least.reconstruct(&data).unwrap();
    let left = (&x - &back).dot(&b.t());
    assert!(left.iter().all(|v| v.abs() < 1e-9));
    let coefficients = least.transform(&data).unwrap();
    assert_all_close("fit", &(coefficients.dot(&b) + &mean), &back, 1e-9);
    // Either projection comes back to the same place.
    assert_all_close("round trip", &product.reconstruct(&data).unwrap(), &back, 1e-9);
}

#[test]
fn deflations_leave_what_they_promise() {
    let x = grouped(9, 100, 18);
    let data = Dataset::from(&x);
    let mut firsts = Vec::new();
    for deflation in Deflation::ALL {
        let model = SparsePca::cardinality(3, 4).deflation(deflation).fit(&data).unwrap();
        // Strong separate groups: any way finds the three of them.
        for j in 0..3 {
            let support: Vec<usize> =
                (0..18).filter(|&f| model.components()[[j, f]] != 0.0).collect();
            let group: Vec<usize> = (0..4).map(|f| 1 + 5 * j + f).collect();
            assert_eq!(support, group, "{}", deflation.name());
        }
        firsts.push(model.components().row(0).to_owned());
    }
    assert!(firsts.windows(2).all(|pair| pair[0] == pair[1]));
    // With operators in place of matrices too.
    let wide = grouped(10, 30, 1050);
    for deflation in Deflation::ALL {
        let pca = SparsePca::cardinality(3, 4).deflation(deflation);
        let model = pca.fit(&wide).unwrap();
        assert_eq!(model.plan().route, Route::Iterative);
        let formed = Moments::of(&wide, &Options::default()).unwrap();
        let formed = pca.fit_covariance(formed.covariance().view(), None).unwrap();
        let expected = formed.components().to_owned();
        let found = model.components().to_owned();
        assert_all_close(deflation.name(), &found, &expected, 1e-5);
    }
}

#[test]
fn the_path_goes_from_sparse_to_full() {
    let (_, s) = pitprops();
    let cardinality = SparsePca::cardinality(2, 1).path_covariance(s.view(), 20).unwrap();
    assert_eq!(cardinality.points.len(), 13);
    for (c, point) in cardinality.points.iter().enumerate() {
        assert_eq!(point.n_non_zeros, [c + 1, c + 1]);
        assert!(point.penalties.is_empty());
    }
    // More features in the first component never explain less.
    let firsts: Vec<f64> =
        cardinality.points.iter().map(|p| p.adjusted_variance_ratio[0]).collect();
    assert!(firsts.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12), "{firsts:?}");
    let last = cardinality.points.last().unwrap();
    assert_close("end", last.explained(), cardinality.plain_variance_ratio, 1e-9);
    let penalties = SparsePca::penalty(2, 0.0).path_covariance(s.view(), 25).unwrap();
    let counts: Vec<usize> = penalties.points.iter().map(|p| p.total_non_zeros()).collect();
    assert!(counts[0] <= 2 && *counts.last().unwrap() >= 20, "{counts:?}");
    assert!(
        penalties.points.iter().all(|p| p.explained() <= penalties.plain_variance_ratio + 1e-9)
    );
    for pair in penalties.points.windows(2) {
        assert!(pair[1].penalties[0] < pair[0].penalties[0]);
    }
    // Warm starts change nothing: a point alone gives the same.
    let middle = &penalties.points[14];
    let alone = precise(SparsePca::penalty(2, middle.penalties.clone()));
    let alone = alone.fit_covariance(s.view(), None).unwrap();
    assert_eq!(alone.n_non_zeros(), middle.n_non_zeros);
    let (a, b) = (alone.adjusted_variance_ratio(), &middle.adjusted_variance_ratio);
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3), "{a:?} {b:?}");
    // And kept in the model.
    let kept = SparsePca::non_zeros(2, 4).with_path(5).fit_covariance(s.view(), None).unwrap();
    assert_eq!(kept.path().unwrap().points.len(), 5);
}

#[test]
fn penalties_that_zero_everything_are_told() {
    let x = grouped(11, 50, 16);
    for ridge in [Ridge::Finite(1e-6), Ridge::Infinite] {
        let model = SparsePca::penalty(2, 1e9).ridge(ridge).fit(&x).unwrap();
        let warning = Warning::ZeroComponents { components: vec![0, 1] };
        assert!(model.warnings().contains(&warning), "{:?}", model.warnings());
        assert!(model.components().iter().all(|v| *v == 0.0));
        assert_eq!(model.adjusted_variance(), [0.0, 0.0]);
        assert_eq!(model.variance_given_up(), 1.0);
        let scores = model.transform(&x).unwrap();
        assert!(scores.iter().all(|v| *v == 0.0));
        assert!(model.reconstruct(&x).unwrap().iter().all(|v| v.is_finite()));
    }
    // One of two: the other is as ever.
    let model = SparsePca::penalty(2, [0.5, 1e9]).fit(&x).unwrap();
    assert!(model.warnings().contains(&Warning::ZeroComponents { components: vec![1] }));
    assert!(model.n_non_zeros()[0] > 0);
}

#[test]
fn fewer_directions_than_components_are_null() {
    // Two directions of variance, four components asked for.
    let mut random = Random::new(12);
    let x = random.matrix(30, 2).dot(&random.matrix(2, 6));
    for pca in [SparsePca::cardinality(4, 6), SparsePca::non_zeros(4, 6)] {
        let model = pca.fit(&x).unwrap();
        let counts = model.n_non_zeros();
        assert_eq!(counts[2..], [0, 0], "{counts:?}");
        let warning = Warning::NullComponents { rank: 2, requested: 4 };
        assert!(model.warnings().contains(&warning), "{:?}", model.warnings());
        assert!(model.transform(&x).unwrap().iter().all(|v| v.is_finite()));
    }
}

#[test]
fn scale_does_not_matter() {
    let x = grouped(13, 60, 16);
    let pca = SparsePca::cardinality(2, 4).exact(ProofLimits::default());
    let expected = pca.fit(&x).unwrap();
    for scale in [1e-170, 1e-20, 1e20, 1e160] {
        let scaled = x.mapv(|v| v * scale);
        let model = pca.fit(&scaled).unwrap();
        let components = expected.components().to_owned();
        assert_all_close("components", &model.components().to_owned(), &components, 1e-9);
        let (a, b) = (model.adjusted_variance_ratio(), expected.adjusted_variance_ratio());
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9), "{scale:e}: {a:?}");
    }
}

#[track_caller]
fn refused(pca: SparsePca, kind: ErrorKind, words: &str) {
    let x = Random::new(1).matrix(20, 6);
    let data = Dataset::from(&x);
    for error in [pca.fit(&data).err(), pca.plan(&data).err(), pca.path(&data, 5).err()] {
        let error = error.expect(words);
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    use ErrorKind::Usage;
    refused(SparsePca::cardinality(2, 0), Usage, "`cardinality` is 0, but it must be at least 1");
    refused(SparsePca::cardinality(2, 7), Usage, "`cardinality` is 7, but there are only 6");
    refused(SparsePca::cardinality(2, [3, 9]), Usage, "`cardinality` is 9");
    refused(SparsePca::cardinality(2, [3, 3, 3]), Usage, "3 values of `cardinality`");
    refused(SparsePca::cardinality(0, 2), Usage, "`n_components` is 0");
    refused(SparsePca::cardinality(7, 2), Usage, "`n_components` is 7");
    refused(SparsePca::non_zeros(1, 0), Usage, "`non_zeros` is 0");
    refused(SparsePca::penalty(1, -1.0), Usage, "`penalty` is -1");
    refused(SparsePca::penalty(1, f64::NAN), Usage, "`penalty` is NaN");
    refused(SparsePca::penalty(1, f64::INFINITY), Usage, "`penalty` is inf");
    refused(SparsePca::penalty(1, 0.1).ridge(Ridge::Finite(-2.0)), Usage, "`ridge` is -2");
    refused(SparsePca::penalty(1, 0.1).exact(ProofLimits::default()), Usage, "a proof");
    refused(SparsePca::penalty(1, 0.1).non_negative(true), Usage, "non-negativity");
    refused(SparsePca::non_zeros(1, 2).deflation(Deflation::Schur), Usage, "a deflation");
    refused(SparsePca::cardinality(1, 2).ridge(Ridge::Infinite), Usage, "a ridge");
    let gap = ProofLimits { gap: 1.0, ..ProofLimits::default() };
    refused(SparsePca::cardinality(1, 2).exact(gap), Usage, "`gap` is 1");
    let memory = Options { memory: Some(1000), ..Options::default() };
    refused(SparsePca::cardinality(1, 2).options(memory), ErrorKind::Memory, "budget");
    let x = Random::new(1).matrix(20, 6);
    assert!(SparsePca::cardinality(1, 2).path(&x, 1).is_err());
    assert!(SparsePca::cardinality(1, 2).with_path(0).fit(&x).is_err());
}

#[test]
fn a_matrix_that_is_no_covariance_is_refused() {
    let fit = |s: Array2<f64>| SparsePca::cardinality(1, 2).fit_covariance(s.view(), None).err();
    let skew = array![[1.0, 0.5, 0.0], [0.2, 1.0, 0.0], [0.0, 0.0, 1.0]];
    assert!(matches!(fit(skew), Some(Error::NotSymmetric { row: 0, column: 1, .. })));
    let indefinite = array![[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    assert!(matches!(fit(indefinite), Some(Error::NotPositive { .. })));
    let negative = array![[1.0, 0.0], [0.0, -1.0]];
    assert!(matches!(fit(negative), Some(Error::NotPositive { .. })));
    let hole = array![[1.0, f64::NAN], [f64::NAN, 1.0]];
    assert!(matches!(fit(hole), Some(Error::MissingValue { .. })));
    let flat = Array2::zeros((2, 3));
    assert!(matches!(fit(flat), Some(Error::Shape { .. })));
    let sums = SparsePca::penalty(1, 0.1).penalty_scale(PenaltyScale::Sum);
    let error = sums.fit_covariance(Array2::eye(3).view(), None).err();
    assert!(matches!(error, Some(Error::NotDefined { .. })));
}

/// `½‖X − U V‖² + λ‖V‖₁`, minimised on the data themselves by plain loops: a lasso for every feature,
/// then every column of U, from the plain components.
fn naive_dictionary(x: &Array2<f64>, k: usize, penalty: f64) -> (f64, Array2<f64>) {
    let (n, d) = x.dim();
    let scores = Pca::new(k).fit_transform(x).unwrap().1;
    let mut u = scores;
    let mut v = Array2::<f64>::zeros((k, d));
    let misfit = |u: &Array2<f64>, v: &Array2<f64>| x - &u.dot(v);
    for _ in 0..2000 {
        for f in 0..d {
            for _ in 0..200 {
                for j in 0..k {
                    let own = u.column(j).dot(&u.column(j));
                    let mut with = 0.0;
                    for i in 0..n {
                        let others: f64 =
                            (0..k).filter(|&l| l != j).map(|l| u[[i, l]] * v[[l, f]]).sum();
                        with += u[[i, j]] * (x[[i, f]] - others);
                    }
                    v[[j, f]] = with.signum() * (with.abs() - penalty).max(0.0) / own;
                }
            }
        }
        for j in 0..k {
            let own = v.row(j).dot(&v.row(j));
            assert!(own > 0.0, "a component that is not used");
            let left = misfit(&u, &v).dot(&v.row(j)) / own + u.column(j);
            let length = left.dot(&left).sqrt().max(1.0);
            u.column_mut(j).assign(&(left / length));
        }
    }
    let left = misfit(&u, &v);
    let value = 0.5 * left.iter().map(|r| r * r).sum::<f64>()
        + penalty * v.iter().map(|w| w.abs()).sum::<f64>();
    for mut row in v.rows_mut() {
        let length = row.dot(&row).sqrt();
        row /= length;
    }
    (value, v)
}

#[test]
fn a_dictionary_that_is_not_learned_is_what_it_starts_from() {
    let mut random = Random::new(9);
    let (x, start) = (random.matrix(20, 5), random.matrix(2, 5));
    let fit = SparsePca::dictionary(2, 1.0).learn(false);
    let model = fit.clone().start(start.clone()).fit(&x).unwrap();
    let mut units = start;
    for mut row in units.rows_mut() {
        let norm = row.dot(&row).sqrt();
        row /= norm;
    }
    same_directions("start", &model, &units, 1e-14);
    assert!(model.objective().is_empty());
    assert!(!model.warnings().iter().any(|w| matches!(w, Warning::Unsettled { .. })));
    let plain = Pca::new(2).fit(&x).unwrap();
    same_directions("plain", &fit.fit(&x).unwrap(), &plain.components().to_owned(), 1e-9);
}

#[test]
fn a_dictionary_is_that_of_plain_loops_over_the_data() {
    for (seed, n, d, k, penalty) in [(3, 30, 6, 2, 4.0), (4, 12, 9, 3, 1.5)] {
        let mut random = Random::new(seed);
        let mut x = random.matrix(n, d);
        for mut row in x.rows_mut() {
            let factor = 2.0 * random.normal();
            row.iter_mut().take(d / 2).for_each(|v| *v += factor);
        }
        let centered = &x - &x.mean_axis(ndarray::Axis(0)).unwrap();
        let (least, expected) = naive_dictionary(&centered, k, penalty);
        let options =
            Options { tolerance: Some(1e-13), max_iterations: 10_000, ..Options::default() };
        let model = SparsePca::dictionary(k, penalty).options(options).fit(&x).unwrap();
        let objective = model.objective();
        assert!(objective.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-12)));
        assert_close("objective", *objective.last().unwrap(), least, 1e-7 * least);
        same_directions("dictionary", &model, &expected, 1e-4);
        assert!(model.n_non_zeros().iter().sum::<usize>() < k * d, "nothing is sparse");
        for (a, b) in model.components().iter().zip(&expected) {
            assert_eq!(*a == 0.0, *b == 0.0, "other zeros");
        }
    }
}
