//! The list of matrices that break PCA software: sizes of numbers, from denormal to nearly
//! infinite, far means and graded spectra.

use crate::torture_support::*;
use eigenlens::{Dataset, Lsa, Pca, PcaModel, Scalar, Solver, SupervisedPca, Target, Warning};
use ndarray::{Array2, array, s};

/// Components, ratios, scores, whitened scores and T² of scaled data are those of the data.
fn same_but_for_units<T: Scalar>(
    scaled: &Array2<T>,
    plain: &Array2<T>,
    factor: f64,
    solver: Solver,
    tolerance: f64,
) -> PcaModel {
    let fit =
        |x: &Array2<T>, whiten| Pca::new(4).solver(solver).whiten(whiten).fit_transform(x).unwrap();
    let (a, za) = fit(scaled, false);
    let (b, zb) = fit(plain, false);
    let what = format!("{solver:?} × {factor:e}");
    for j in 0..4 {
        assert!(sine(a.components().row(j), b.components().row(j)) < tolerance, "{what}");
        relatively_close(
            a.explained_variance_ratio()[j],
            b.explained_variance_ratio()[j],
            tolerance,
        );
        let expected = b.standard_deviations()[j] * factor;
        relatively_close(a.standard_deviations()[j], expected, tolerance);
    }
    let size = zb.iter().fold(0.0f64, |m, v| m.max(v.to_f64().abs()));
    for (p, q) in za.iter().zip(&zb) {
        close(p.to_f64() / factor, q.to_f64(), tolerance * size);
    }
    // Whitened scores have unit variance whatever the units; and back again.
    let (white, zw) = fit(scaled, true);
    for (j, column) in zw.columns().into_iter().enumerate() {
        for (i, w) in column.iter().enumerate() {
            close(w.to_f64(), zb[[i, j]].to_f64() / b.standard_deviations()[j], 10.0 * tolerance);
        }
    }
    let back = white.inverse_transform(zw.view()).unwrap();
    let kept = b.inverse_transform(zb.view()).unwrap();
    for (p, q) in back.iter().zip(&kept) {
        close(p.to_f64() / factor, q.to_f64(), 10.0 * tolerance * size);
    }
    let (own, reference) =
        (a.sample_diagnostics(scaled).unwrap(), b.sample_diagnostics(plain).unwrap());
    for (p, q) in own.t_squared.iter().zip(&reference.t_squared) {
        close(*p, *q, 30.0 * tolerance * (1.0 + q));
    }
    for (p, q) in own.leverage.iter().zip(&reference.leverage) {
        close(*p, *q, 10.0 * tolerance);
    }
    for (p, q) in own.squared_cosines.iter().zip(&reference.squared_cosines) {
        close(*p, *q, 30.0 * tolerance);
    }
    let features = a.feature_diagnostics().unwrap();
    let expected = b.feature_diagnostics().unwrap();
    for (p, q) in features.correlations.iter().zip(&expected.correlations) {
        close(*p, *q, 10.0 * tolerance);
    }
    assert!(a.certificate().relative_residual() < tolerance.max(1e-9));
    assert!(!has(&b, |w| *w == Warning::VarianceOutOfRange));
    a
}

#[test]
fn lines_11_12_tiny_and_huge_numbers() {
    let x = distinct(11, 60, 7) + 0.5;
    for solver in EXACT_ROUTES {
        // (factor, digits that the stored numbers have left)
        for (factor, tolerance) in [
            (1e-300, 1e-11),
            (1e-310, 1e-10),
            (1e-318, 1e-3),
            (2f64.powi(-1000), 1e-11),
            (1e300, 1e-11),
            (3e307, 1e-11),
        ] {
            let scaled = x.mapv(|v| v * factor);
            let model = same_but_for_units(&scaled, &x, factor, solver, tolerance);
            assert!(
                has(&model, |w| *w == Warning::VarianceOutOfRange),
                "{solver:?} × {factor:e}: {:?}",
                model.warnings()
            );
        }
        // In between nothing is out of range, and nothing is said.
        for factor in [1e-150, 1e-90, 1e90, 1e150] {
            let scaled = x.mapv(|v| v * factor);
            let model = same_but_for_units(&scaled, &x, factor, solver, 1e-11);
            assert!(!has(&model, |w| *w == Warning::VarianceOutOfRange), "{factor:e}");
            let (values, _) = oracle(&x, true);
            for (found, v) in model.explained_variance().iter().zip(&values) {
                relatively_close(*found, v * factor * factor, 1e-12);
            }
        }
    }
}

#[test]
fn lines_11_12_uncentred_and_sparse() {
    let x = sparse_normals(12, 80, 9, 0.4);
    for factor in [1e-300, 1e300] {
        let scaled = x.mapv(|v| v * factor);
        for solver in EXACT_ROUTES {
            for center in [true, false] {
                let pca = Pca::new(3).center(center).solver(solver);
                let plain = pca.fit(&x).unwrap();
                let dense = pca.fit(&scaled).unwrap();
                let sparse = pca.fit(Dataset::sparse(&compressed(&scaled))).unwrap();
                for model in [dense, sparse] {
                    for j in 0..3 {
                        let sine = sine(model.components().row(j), plain.components().row(j));
                        assert!(sine < 1e-11, "{solver:?} {factor:e} {sine:e}");
                        relatively_close(
                            model.standard_deviations()[j],
                            plain.standard_deviations()[j] * factor,
                            1e-12,
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn line_13_single_precision_out_of_its_squares_range() {
    let x = to_f32(&(distinct(13, 60, 7) + 0.5));
    for solver in EXACT_ROUTES {
        for factor in [1e-30f32, 1e25, 1e-35, 1e37] {
            let scaled = x.mapv(|v| v * factor);
            // Their squares are numbers in f64, so that nothing is out of range.
            let model = same_but_for_units(&scaled, &x, f64::from(factor), solver, 1e-4);
            assert!(!has(&model, |w| *w == Warning::VarianceOutOfRange));
            let (values, _) = oracle(&widened(&scaled), true);
            for (found, expected) in model.explained_variance().iter().zip(&values) {
                relatively_close(*found, *expected, 1e-5);
            }
            check_ok(&scaled, true, &model, &model.transform(&scaled).unwrap());
        }
    }
}

#[test]
fn line_14_columns_of_very_different_size() {
    let plain = Random::new(14).normals(50, 7);
    let powers = [-150, -100, -50, 0, 50, 100, 150];
    let x = Array2::from_shape_fn(plain.dim(), |(i, f)| plain[[i, f]] * 10f64.powi(powers[f]));
    let sds = column_sds(&plain);
    for solver in EXACT_ROUTES {
        let model = Pca::new(1).solver(solver).fit(&x).unwrap();
        assert!(has(
            &model,
            |w| matches!(w, Warning::DominantColumn { column: 6, share, .. } if *share > 0.999_999)
        ));
        close(model.components()[[0, 6]], 1.0, 1e-14);
        relatively_close(model.standard_deviations()[0], sds[6] * 1e150, 1e-13);
        relatively_close(model.explained_variance_ratio()[0], 1.0, 1e-14);
        // Standardised, the units do not matter.
        let pca = Pca::new(7).standardize(true).solver(solver);
        let (a, za) = pca.fit_transform(&x).unwrap();
        let (b, zb) = pca.fit_transform(&plain).unwrap();
        assert!(!has(&a, |w| matches!(w, Warning::DominantColumn { .. })));
        for j in 0..7 {
            relatively_close(a.explained_variance()[j], b.explained_variance()[j], 1e-12);
            assert!(sine(a.components().row(j), b.components().row(j)) < 1e-11);
            relatively_close(a.scale().unwrap()[j], sds[j] * 10f64.powi(powers[j]), 1e-13);
        }
        for (p, q) in za.iter().zip(&zb) {
            close(*p, *q, 1e-11);
        }
        assert!(model.reconstruct(&x).unwrap().iter().all(|v| v.is_finite()));
    }
}

#[test]
fn line_15_single_precision_far_from_the_origin() {
    for shift in [0f32, 1e3, 1e4, 1e5] {
        let x = array![[1f32, 0.0], [0.0, 1.0]] + shift;
        for solver in ROUTES {
            let model = Pca::new(1).solver(solver).fit(&x).unwrap();
            close(model.components()[[0, 0]], 0.5f64.sqrt(), 1e-12);
            close(model.components()[[0, 1]], -(0.5f64.sqrt()), 1e-12);
            assert!(model.mean().iter().all(|m| *m == f64::from(shift) + 0.5));
            relatively_close(model.explained_variance()[0], 1.0, 1e-12);
        }
    }
}

#[test]
fn line_16_quantised_single_precision() {
    // Near 1e7 neighbouring single-precision numbers are 1 apart.
    let x = to_f32(&(Random::new(16).normals(200, 4) * 2.0 + 1e7));
    let (values, vectors) = oracle(&widened(&x), true);
    for solver in EXACT_ROUTES {
        let model = Pca::new(4).solver(solver).fit(&x).unwrap();
        for (j, expected) in values.iter().enumerate() {
            relatively_close(model.explained_variance()[j], *expected, 1e-6);
            assert!(sine(model.components().row(j), vectors.row(j)) < 1e-4);
        }
        assert!(has(&model, |w| matches!(w, Warning::Quantized { levels, .. } if *levels < 8.0)));
        // The same numbers as doubles are not coarse.
        let wide = Pca::new(4).solver(solver).fit(Dataset::from(&widened(&x))).unwrap();
        assert!(!has(&wide, |w| matches!(w, Warning::Quantized { .. })));
    }
}

#[test]
fn line_17_far_means() {
    for mean in [1e6, 1e8, 1e10, 1e12] {
        let x = distinct(17, 3000, 5) + mean;
        // Exact: the stored numbers less a number near them.
        let shifted = x.mapv(|v| v - mean);
        let (values, vectors) = oracle(&shifted, true);
        for solver in EXACT_ROUTES {
            let (model, scores) = Pca::new(5).solver(solver).fit_transform(&x).unwrap();
            for j in 0..5 {
                close(model.explained_variance()[j], values[j], 1e-14 * 20.0 * values[0]);
                assert!(sine(model.components().row(j), vectors.row(j)) < 1e-11);
            }
            let expected = centered(&shifted).dot(&model.components().t());
            for (p, q) in scores.iter().zip(&expected) {
                close(*p, *q, 1e-13);
            }
        }
    }
}

#[test]
fn line_10_evenly_spaced_singular_values() {
    let k = 20;
    let sigma: Vec<f64> =
        (0..k).map(|j| 1.0 + (f64::EPSILON - 1.0) * j as f64 / (k - 1) as f64).collect();
    for (n, d) in [(40, 20), (20, 20), (20, 35)] {
        let x = with_singular_values(10, n, d, &sigma);
        let size = n.max(d) as f64 * f64::EPSILON;
        for solver in EXACT_ROUTES {
            let model = fit_ok(&x, false, k, solver);
            for (found, expected) in model.singular_values().iter().zip(&sigma) {
                // Squaring routes: the square is right.
                close(found * found, expected * expected, 35.0 * size);
            }
        }
        let model = fit_ok(&x, false, k, Solver::Svd);
        for (found, expected) in model.singular_values().iter().zip(&sigma) {
            close(*found, *expected, 35.0 * size);
        }
    }
}

#[test]
fn line_21_lauchli() {
    let epsilon = 1e-9;
    let mut x = Array2::<f64>::zeros((4, 3));
    x.slice_mut(s![0, ..]).fill(1.0);
    for j in 0..3 {
        x[[j + 1, j]] = epsilon;
    }
    let top = (3.0 + epsilon * epsilon).sqrt();
    let model = Lsa::new(3).solver(Solver::Svd).fit(&x).unwrap();
    relatively_close(model.singular_values()[0], top, 1e-14);
    for s in &model.singular_values()[1..] {
        relatively_close(*s, epsilon, 1e-6);
    }
    assert_eq!(model.rank(), 3);
    // Squaring loses them, and says so.
    for solver in [Solver::Covariance, Solver::Dual, Solver::Iterative] {
        let model = Lsa::new(3).solver(solver).fit(&x).unwrap();
        relatively_close(model.singular_values()[0], top, 1e-14);
        assert_eq!(model.rank(), 1, "{solver:?}");
        assert!(has(&model, |w| *w == Warning::NullComponents { rank: 1, requested: 3 }));
    }
    // Left to itself the library moves on to the careful route.
    let model = Lsa::new(3).fit(&x).unwrap();
    assert!(has(&model, |w| matches!(w, Warning::Escalated { .. })));
    relatively_close(model.singular_values()[2], epsilon, 1e-6);
}

#[test]
fn line_22_ill_conditioned_matrices() {
    let hilbert = Array2::from_shape_fn((40, 40), |(i, j)| 1.0 / (i + j + 1) as f64);
    let vandermonde =
        Array2::from_shape_fn((30, 20), |(i, j)| ((i + 1) as f64 / 30.0).powi(j as i32));
    let (s, c) = (0.3f64.sin(), 0.3f64.cos());
    let kahan = Array2::from_shape_fn((30, 30), |(i, j)| match i.cmp(&j) {
        std::cmp::Ordering::Greater => 0.0,
        std::cmp::Ordering::Equal => s.powi(i as i32),
        std::cmp::Ordering::Less => -c * s.powi(i as i32),
    });
    for x in [hilbert, vandermonde, kahan] {
        let (n, d) = x.dim();
        for center in [true, false] {
            let (values, _) = oracle(&x, center);
            for solver in EXACT_ROUTES {
                let model = fit_ok(&x, center, n.min(d), solver);
                for (found, expected) in model.explained_variance().iter().zip(&values) {
                    close(*found, *expected, 35.0 * n as f64 * f64::EPSILON * values[0]);
                }
                if solver == Solver::Svd {
                    for (found, expected) in model.standard_deviations().iter().zip(&values) {
                        close(
                            *found,
                            expected.sqrt(),
                            35.0 * n as f64 * f64::EPSILON * values[0].sqrt(),
                        );
                    }
                }
                assert!(!has(&model, |w| matches!(w, Warning::NotCertified { .. })));
            }
        }
    }
}

#[test]
fn line_23_graded_columns() {
    let mut x = Random::new(23).normals(60, 8);
    for (j, mut column) in x.columns_mut().into_iter().enumerate() {
        column *= 10f64.powi(-4 * j as i32);
    }
    for solver in EXACT_ROUTES {
        fit_ok(&x, true, 8, solver);
        // Standardised there is nothing hard about it.
        let model = Pca::new(8).standardize(true).solver(solver).fit(&x).unwrap();
        assert_eq!(model.rank(), 8);
        assert!(model.certificate().relative_residual() < 1e-13);
    }
}

#[test]
fn line_41_almost_constant_column() {
    // A mean of 1e8 with a spread of a few roundings (spacing 1.5e-8), and 1e4 in single precision.
    let mut x = distinct(41, 60, 4);
    for (i, v) in x.column_mut(1).iter_mut().enumerate() {
        *v = 1e8 + 1.4901161193847656e-8 * (i % 3) as f64;
    }
    let mut single = to_f32(&distinct(41, 60, 4));
    for (i, v) in single.column_mut(1).iter_mut().enumerate() {
        *v = 1e4 + 0.0009765625 * (i % 3) as f32;
    }
    for solver in EXACT_ROUTES {
        let pca = Pca::new(4).standardize(true).solver(solver);
        for model in [pca.fit(&x).unwrap(), pca.fit(&single).unwrap()] {
            assert_eq!(model.constant_columns(), [1], "{solver:?}");
            assert!(has(
                &model,
                |w| matches!(w, Warning::ConstantColumns { columns, .. } if columns[..] == [1])
            ));
            assert!(model.components().slice(s![..3, 1]).iter().all(|v| v.abs() <= 1e-15));
            assert_eq!(model.rank(), 3);
        }
        // As doubles the same single-precision numbers do vary.
        let model = pca.fit(Dataset::from(&widened(&single))).unwrap();
        assert_eq!(model.constant_columns(), [0usize; 0]);
    }
}

/// Deviations of tiny numbers that cancel in every block, and squares that vanish: a column that
/// varies all the same, beside one that is constant and one that is constant in every block alone.
#[test]
fn tiny_numbers_whose_deviations_cancel_are_not_constant() {
    let rows = 1024;
    let mut x = distinct(43, rows, 5);
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        row[1] = [0.0, 1e-200, 0.0, -1e-200][i % 4];
        row[2] = 7.0;
        row[3] = if i < rows / 2 { 1e-190 } else { 3e-190 };
    }
    let mut plain = x.clone();
    plain.column_mut(1).mapv_inplace(|v| v * 1e200);
    plain.column_mut(3).mapv_inplace(|v| v * 1e190);
    for solver in EXACT_ROUTES {
        let fit = |x: &Array2<f64>| Pca::new(4).standardize(true).solver(solver).fit(x).unwrap();
        let (tiny, plain) = (fit(&x), fit(&plain));
        assert_eq!(tiny.constant_columns(), [2], "{solver:?}");
        for j in 0..4 {
            relatively_close(tiny.explained_variance()[j], plain.explained_variance()[j], 1e-12);
            assert!(sine(tiny.components().row(j), plain.components().row(j)) < 1e-10);
        }
    }
}

#[test]
fn line_42_negative_zero_and_denormals() {
    let mut x = distinct(42, 30, 5);
    x.column_mut(0).fill(-0.0);
    for (i, v) in x.column_mut(1).iter_mut().enumerate() {
        *v = if i % 2 == 0 { 5e-324 } else { -5e-324 };
    }
    x[[3, 2]] = -0.0;
    x[[4, 2]] = 2e-310;
    let mut plain = x.clone();
    plain.column_mut(0).fill(0.0);
    plain[[3, 2]] = 0.0;
    for solver in EXACT_ROUTES {
        let model = fit_ok(&x, true, 5, solver);
        assert_eq!(bits(&model), bits(&fit_ok(&plain, true, 5, solver)), "{solver:?}");
        let model = Pca::new(4).standardize(true).solver(solver).fit(&x).unwrap();
        assert_eq!(model.constant_columns(), [0]);
        // ±5e-324 is a column like any other once it is standardised: its sd is √(30/29) · 5e-324,
        // which rounds to 5e-324.
        assert_eq!(model.scale().unwrap()[1], 5e-324);
        assert_eq!(model.rank(), 4);
    }
}

/// Rows of one number each, alternately up and down: the first score of a row is √d times as long.
fn as_long_as_numbers_go<T: Scalar>(largest: f64) -> Array2<T> {
    Array2::from_shape_fn((20, 6), |(i, f)| {
        let size = largest * (1.0 - 0.001 * (i + f) as f64);
        T::from_f64(if i % 2 == 0 { size } else { -size })
    })
}

#[test]
fn scores_that_overflow_are_not_called_right() {
    let out = |w: &Warning| *w == Warning::ScoresOutOfRange;
    let variance = |w: &Warning| *w == Warning::VarianceOutOfRange;
    let huge = as_long_as_numbers_go::<f64>(1.7e308);
    let (model, scores) = Pca::new(2).fit_transform(&huge).unwrap();
    assert!(scores.iter().any(|z| z.is_infinite()));
    assert!(has(&model, out) && !has(&model, variance), "{:?}", model.warnings());
    // Whitened scores are of size 1.
    let (model, scores) = Pca::new(1).whiten(true).fit_transform(&huge).unwrap();
    assert!(scores.iter().all(|z| z.is_finite()) && !has(&model, out));
    // As long as a number can be, and no longer.
    let (model, scores) = Pca::new(2).fit_transform(Dataset::from(&(huge / 2.6))).unwrap();
    assert!(scores.iter().all(|z| z.is_finite()));
    assert!(!has(&model, out) && has(&model, variance), "{:?}", model.warnings());
    // Single precision ends sooner than its variances do.
    let huge = as_long_as_numbers_go::<f32>(3.4e38);
    let (model, scores) = Pca::new(2).fit_transform(&huge).unwrap();
    assert!(scores.iter().any(|z| z.is_infinite()));
    assert!(has(&model, out) && !has(&model, variance), "{:?}", model.warnings());
    let (model, scores) = Pca::new(2).fit_transform(Dataset::from(&(huge / 2.6))).unwrap();
    assert!(scores.iter().all(|z| z.is_finite()));
    assert!(!has(&model, out), "{:?}", model.warnings());
}

#[test]
fn supervised_scores_that_overflow_are_not_called_right() {
    let target = Target::classes((0..20).map(|i| ["up", "down"][i % 2]));
    for (largest, overflows) in [(1.7e308, true), (6e307, false)] {
        let x = as_long_as_numbers_go::<f64>(largest);
        let fit = SupervisedPca::new(1);
        let (model, scores) = fit.fit_transform(&x, &target).unwrap();
        assert_eq!(scores.iter().any(|z| z.is_infinite()), overflows);
        assert_eq!(model.warnings().contains(&Warning::ScoresOutOfRange), overflows);
        assert_eq!(model.warnings().contains(&Warning::VarianceOutOfRange), !overflows);
    }
}
