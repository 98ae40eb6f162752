//! The list of matrices that break PCA software: shapes, ranks, duplicates, invariances. The number
//! of a line of the list is in the name of its test.

use crate::torture_support::*;
use eigenlens::{
    Csr, Dataset, Error, Hint, Lsa, NComponents, Pca, PcaModel, Route, SampleWeights, Solver,
    Warning,
};
use ndarray::{Array2, Axis, array, concatenate, s};

fn no_variance(model: &PcaModel, k: usize) {
    assert!(model.explained_variance().iter().all(|v| *v == 0.0));
    assert!(model.explained_variance_ratio().iter().all(|v| *v == 0.0));
    assert_eq!(model.rank(), 0);
    assert_eq!(model.certificate().rank, 0);
    assert_eq!(model.total_variance(), 0.0);
    assert!(has(model, |w| *w == Warning::NoVariance));
    assert_eq!(model.components(), Array2::<f64>::eye(model.n_features()).slice(s![..k, ..]));
}

#[test]
fn line_1_all_zeros() {
    for solver in ROUTES {
        for center in [true, false] {
            let x = Array2::<f64>::zeros((30, 20));
            let pca = Pca::new(5).center(center).solver(solver);
            let (model, scores) = pca.fit_transform(&x).unwrap();
            no_variance(&model, 5);
            assert!(scores.iter().all(|z| *z == 0.0));
            let model = pca.fit(Dataset::from(&to_f32(&x))).unwrap();
            no_variance(&model, 5);
        }
    }
}

#[test]
fn line_2_one_value_everywhere() {
    for solver in ROUTES {
        for value in [0.1, -3.7e5, 1e-300, 1e300, 5e-324, f64::MAX] {
            let x = Array2::from_elem((100, 100), value);
            let (model, scores) = Pca::new(3).solver(solver).fit_transform(&x).unwrap();
            no_variance(&model, 3);
            assert!(model.mean().iter().all(|m| *m == value), "{solver:?} {value:e}");
            assert!(scores.iter().all(|z| *z == 0.0));
        }
        let x = Array2::from_elem((100, 100), 0.1f32);
        let model = Pca::new(3).solver(solver).fit(&x).unwrap();
        no_variance(&model, 3);
        assert!(model.mean().iter().all(|m| *m == f64::from(0.1f32)));
    }
}

#[test]
fn line_3_identity_is_one_multiplet() {
    for solver in EXACT_ROUTES {
        // Centred, the identity has nine equal variances 1/9 and a null direction.
        let model = fit_ok(&Array2::<f64>::eye(10), true, 10, solver);
        for v in &model.explained_variance()[..9] {
            relatively_close(*v, 1.0 / 9.0, 1e-13);
        }
        assert_eq!(model.explained_variance()[9], 0.0);
        assert!(has(&model, |w| *w == Warning::NullComponents { rank: 9, requested: 10 }));
        assert_eq!(model.certificate().groups[0], 0..9, "{solver:?}");
        assert!(model.certificate().angles.iter().take(9).all(|a| *a == 1.0));
        // ±I stacked: ten equal ones, 2/19.
        let model = fit_ok(&mirrored(&Array2::eye(10)), true, 10, solver);
        for v in model.explained_variance() {
            relatively_close(*v, 2.0 / 19.0, 1e-13);
        }
        assert_eq!(model.certificate().groups, std::iter::once(0..10).collect::<Vec<_>>());
        assert!(model.certificate().angles.iter().all(|a| *a == 1.0));
        // Fewer than there are: the group goes on past the last.
        let model = fit_ok(&mirrored(&Array2::eye(10)), true, 4, solver);
        assert_eq!(model.certificate().groups, std::iter::once(0..4).collect::<Vec<_>>());
        assert_eq!(model.certificate().group_angles, [1.0]);
    }
}

#[test]
fn line_6_two_rows() {
    for solver in ROUTES {
        let x = array![[1.0, 5.0, -2.0], [4.0, 1.0, 10.0]];
        let model = fit_ok(&x, true, 2, solver);
        // The difference is (3, −4, 12), of length 13: its variance is 13²/2.
        relatively_close(model.explained_variance()[0], 84.5, 1e-14);
        assert_eq!(model.explained_variance()[1], 0.0);
        relatively_close(model.explained_variance_ratio()[0], 1.0, 1e-14);
        for (found, expected) in model.components().row(0).iter().zip([3.0, -4.0, 12.0]) {
            close(*found, expected / 13.0, 1e-15);
        }
        assert!(has(&model, |w| *w == Warning::NullComponents { rank: 1, requested: 2 }));
    }
}

#[test]
fn line_7_one_column() {
    for solver in ROUTES {
        let x = array![[3.0], [-1.0], [4.0], [6.0]];
        let model = fit_ok(&x, true, 1, solver);
        close(model.explained_variance_ratio()[0], 1.0, 4e-16);
        assert_eq!(model.components(), array![[1.0]]);
        relatively_close(model.explained_variance()[0], 26.0 / 3.0, 1e-15);
        let model = fit_ok(&to_f32(&x), true, 1, solver);
        assert_eq!(model.components(), array![[1.0]]);
    }
}

#[test]
fn lines_4_5_8_9_all_small_sizes() {
    let sizes = [0usize, 1, 2, 3, 10, 16, 30, 40];
    for n in sizes {
        for d in sizes {
            let x = Random::new((n * 100 + d) as u64).normals(n, d);
            for solver in ROUTES {
                for center in [true, false] {
                    let k = n.min(d).max(1);
                    let pca = Pca::new(k).center(center).solver(solver);
                    let result = pca.fit_transform(&x);
                    match (n, d) {
                        (_, 0) => assert!(matches!(result, Err(Error::NoColumns))),
                        (0, _) => assert!(matches!(result, Err(Error::NoRows))),
                        (1, _) => assert!(matches!(
                            result,
                            Err(Error::TooFewRows { found: 1, needed: 2 })
                        )),
                        _ => {
                            let (model, scores) = result.unwrap();
                            check_ok(&x, center, &model, &scores);
                            let (values, _) = oracle(&x, center);
                            for (found, expected) in model.explained_variance().iter().zip(&values)
                            {
                                let size = n.max(d) as f64 * f64::EPSILON;
                                close(*found, *expected, 35.0 * size * values[0]);
                            }
                        }
                    }
                }
            }
        }
    }
}

fn rank_three(n: usize) -> Array2<f64> {
    let mut random = Random::new(24);
    random.normals(n, 3).dot(&random.normals(3, 600)) + 7.0
}

#[test]
fn lines_24_25_rank_below_k() {
    for n in [900, 100] {
        let x = rank_three(n);
        for solver in EXACT_ROUTES {
            for whiten in [false, true] {
                let pca = Pca::new(5).solver(solver).whiten(whiten);
                let (model, scores) = pca.fit_transform(&x).unwrap();
                assert_eq!(model.rank(), 3, "{solver:?}");
                assert_eq!(model.certificate().rank, 3);
                assert!(has(&model, |w| *w == Warning::NullComponents { rank: 3, requested: 5 }));
                assert_eq!(model.explained_variance()[3..], [0.0, 0.0]);
                assert!(model.certificate().orthogonality < 1e-13);
                assert!(model.noise_variance() >= 0.0);
                relatively_close(model.explained_variance_ratio().iter().sum(), 1.0, 1e-12);
                assert!(scores.slice(s![.., 3..]).iter().all(|z| *z == 0.0));
                let again = model.transform(&x).unwrap();
                assert!(again.slice(s![.., 3..]).iter().all(|z| *z == 0.0));
                let new = Random::new(5).normals(4, 600);
                let new = model.transform(&new).unwrap();
                assert!(new.slice(s![.., 3..]).iter().all(|z| *z == 0.0));
                if whiten {
                    for column in scores.slice(s![.., ..3]).columns() {
                        relatively_close(column.dot(&column) / (n - 1) as f64, 1.0, 1e-11);
                    }
                }
                let back = model.inverse_transform(scores.view()).unwrap();
                let error = (&back - &x).iter().fold(0.0f64, |m, v| m.max(v.abs()));
                assert!(error < 1e-10, "{solver:?}: {error:e}");
            }
        }
    }
}

fn finite_or_not_defined<R>(result: eigenlens::Result<R>, finite: impl Fn(&R) -> bool) {
    match result {
        Ok(value) => assert!(finite(&value)),
        Err(e) => assert!(matches!(e, Error::NotDefined { .. }), "{e}"),
    }
}

#[test]
fn line_26_gaussian_of_as_many_components_as_can_be() {
    for (n, d) in [(12, 5), (5, 12), (6, 6)] {
        let x = distinct(26, n, d);
        let data = Dataset::from(&x);
        for k in [n.min(d), n - 1, d] {
            if k > n.min(d) {
                assert!(Pca::new(k).fit(&data).is_err());
                continue;
            }
            for standardize in [false, true] {
                let model = Pca::new(k).standardize(standardize).fit(&data).unwrap();
                assert!(model.noise_variance() >= 0.0);
                finite_or_not_defined(model.precision(), |p| p.iter().all(|v| v.is_finite()));
                finite_or_not_defined(model.covariance(), |p| p.iter().all(|v| v.is_finite()));
                finite_or_not_defined(model.log_likelihood(&data), |l| l.mean.is_finite());
                finite_or_not_defined(model.t_squared_limit_training(0.95), |l| l.is_finite());
                finite_or_not_defined(model.t_squared_limit_new(0.95), |l| l.is_finite());
                finite_or_not_defined(model.q_limit(&data, 0.95), |l| l.q().is_finite());
                let samples = model.sample_diagnostics(&data).unwrap();
                assert!(samples.t_squared.iter().chain(&samples.leverage).all(|v| v.is_finite()));
            }
        }
        // All of them: the covariance of the model is the covariance of the data.
        if n > d {
            let model = Pca::new(d).fit(&data).unwrap();
            let xc = centered(&x);
            let expected = xc.t().dot(&xc) / (n - 1) as f64;
            for (found, expected) in model.covariance().unwrap().iter().zip(&expected) {
                close(*found, *expected, 1e-13);
            }
        }
    }
}

#[test]
fn line_27_too_many_components() {
    let x = distinct(27, 6, 9);
    for solver in ROUTES {
        match Pca::new(7).solver(solver).fit(&x) {
            Err(
                e @ Error::TooManyComponents { requested: 7, limit: 6, samples: 6, features: 9 },
            ) => {
                let value = "6".into();
                assert_eq!(e.hint(), Some(Hint::Set { option: "n_components", value }));
                assert_eq!(e.kind(), eigenlens::ErrorKind::Usage);
            }
            other => panic!("{:?}", other.map(|m| m.n_components())),
        }
        // k = n is allowed; centred, the last one is null.
        let model = fit_ok(&x, true, 6, solver);
        assert_eq!(model.explained_variance()[5], 0.0);
        assert!(has(&model, |w| *w == Warning::NullComponents { rank: 5, requested: 6 }));
        let model = Pca::new(NComponents::All).solver(solver).fit(&x).unwrap();
        assert_eq!(model.n_components(), 6);
        // Uncentred there is no null one.
        assert_eq!(fit_ok(&x, false, 6, solver).rank(), 6);
        for k in [usize::MAX, usize::MAX / 2] {
            let result = Pca::new(k).solver(solver).fit(&x);
            assert!(matches!(result, Err(Error::TooManyComponents { .. })));
        }
    }
}

#[test]
fn line_28_duplicates() {
    let mut random = Random::new(28);
    let one = random.normals(50, 1);
    let columns = Array2::from_shape_fn((50, 30), |(i, _)| one[[i, 0]]);
    let (variance, _) = oracle(&one, true);
    for solver in EXACT_ROUTES {
        let model = fit_ok(&columns, true, 4, solver);
        assert_eq!(model.rank(), 1);
        relatively_close(model.explained_variance()[0], 30.0 * variance[0], 1e-13);
        for v in model.components().row(0) {
            relatively_close(*v, 1.0 / 30f64.sqrt(), 1e-13);
        }
    }
    // Every row twice: variances change by (2 (n − 1))/(2n − 1) alone; weights 2 are the same.
    let x = distinct(2, 20, 6);
    let twice = concatenate(Axis(0), &[x.view(), x.view()]).unwrap();
    for solver in EXACT_ROUTES {
        let once = fit_ok(&x, true, 6, solver);
        let doubled = fit_ok(&twice, true, 6, solver);
        let weighted = Pca::new(6)
            .solver(solver)
            .fit(Dataset::from(&x).with_weights(SampleWeights::frequency(vec![2.0; 20])))
            .unwrap();
        for j in 0..6 {
            let expected = once.explained_variance()[j] * 38.0 / 39.0;
            relatively_close(doubled.explained_variance()[j], expected, 1e-12);
            relatively_close(weighted.explained_variance()[j], expected, 1e-12);
            assert!(sine(doubled.components().row(j), once.components().row(j)) < 1e-11);
        }
    }
}

#[test]
fn line_49_shapes_of_the_same_data_have_the_same_singular_values() {
    for (n, d) in [(9, 30), (20, 20), (40, 12)] {
        let x = distinct(49, n, d);
        let k = n.min(d);
        let (expected, _) = jacobi_svd(&if n >= d { x.clone() } else { x.t().to_owned() });
        let mut rows = Array2::zeros((n + 7, d));
        rows.slice_mut(s![..n, ..]).assign(&x);
        let mut columns = Array2::zeros((n, d + 11));
        columns.slice_mut(s![.., 11..]).assign(&x);
        for solver in [Solver::Auto, Solver::Covariance, Solver::Dual, Solver::Svd] {
            for form in [x.clone(), x.t().to_owned(), rows.clone(), columns.clone()] {
                let model = Lsa::new(k).solver(solver).fit(&form).unwrap();
                for (found, expected_value) in model.singular_values().iter().zip(&expected) {
                    // Squaring: s² is right to ε s₁².
                    let tolerance = 1e-13 * expected[0] * expected[0] / expected_value;
                    close(*found, *expected_value, tolerance);
                }
            }
        }
    }
}

#[test]
fn line_53_rows_permuted() {
    let x = distinct(53, 400, 12);
    let mut order: Vec<usize> = (0..400).collect();
    let mut random = Random::new(1);
    for i in (1..400).rev() {
        order.swap(i, random.below(i + 1));
    }
    let permuted = x.select(Axis(0), &order);
    for solver in EXACT_ROUTES {
        let (a, b) = (fit_ok(&x, true, 5, solver), fit_ok(&permuted, true, 5, solver));
        for j in 0..5 {
            let tolerance = if solver == Solver::Iterative { 1e-13 } else { 1e-14 };
            close(
                b.explained_variance()[j],
                a.explained_variance()[j],
                tolerance * a.explained_variance()[0],
            );
            let bound = a.certificate().angles[j] + b.certificate().angles[j];
            assert!(sine(a.components().row(j), b.components().row(j)) <= 2.0 * bound);
        }
    }
}

#[test]
fn line_54_columns_permuted_flipped_and_scaled() {
    let x = distinct(54, 60, 8);
    let order = [3usize, 0, 7, 1, 6, 2, 5, 4];
    for solver in EXACT_ROUTES {
        let model = fit_ok(&x, true, 4, solver);
        let permuted = fit_ok(&x.select(Axis(1), &order), true, 4, solver);
        let mut flipped = x.clone();
        flipped.column_mut(2).mapv_inplace(|v| -v);
        flipped.column_mut(5).mapv_inplace(|v| -v);
        let flipped = fit_ok(&flipped, true, 4, solver);
        for j in 0..4 {
            relatively_close(
                permuted.explained_variance()[j],
                model.explained_variance()[j],
                1e-13,
            );
            let moved = model.components().row(j).select(Axis(0), &order);
            assert!(sine(permuted.components().row(j), moved.view()) < 1e-12);
            relatively_close(flipped.explained_variance()[j], model.explained_variance()[j], 1e-13);
            let mut turned = model.components().row(j).to_owned();
            turned[2] = -turned[2];
            turned[5] = -turned[5];
            assert!(sine(flipped.components().row(j), turned.view()) < 1e-12);
        }
        // Powers of two change nothing but the units: the same bits.
        for power in [-30i32, 1, 17, 90] {
            let factor = 2f64.powi(power);
            let scaled = fit_ok(&x.mapv(|v| v * factor), true, 4, solver);
            assert_eq!(scaled.components(), model.components(), "{solver:?} 2^{power}");
            for j in 0..4 {
                let expected = model.explained_variance()[j] * factor * factor;
                assert_eq!(scaled.explained_variance()[j], expected, "{solver:?} 2^{power}");
            }
            assert_eq!(scaled.explained_variance_ratio(), model.explained_variance_ratio());
        }
    }
}

#[test]
fn line_55_rotation_leaves_variances() {
    let x = distinct(55, 80, 10);
    let mut turned = x.clone();
    reflect_columns(&mut turned, &mut Random::new(9));
    for solver in EXACT_ROUTES {
        let (a, b) = (fit_ok(&x, true, 10, solver), fit_ok(&turned, true, 10, solver));
        for (v, w) in a.explained_variance().iter().zip(b.explained_variance()) {
            close(*v, *w, 1e-13 * a.explained_variance()[0]);
        }
        relatively_close(a.total_variance(), b.total_variance(), 1e-13);
    }
}

#[test]
fn line_56_scores_of_fit_and_transform() {
    for (n, d) in [(700, 9), (60, 500), (150, 40)] {
        let x = distinct(56, n, d);
        let single = to_f32(&x);
        for solver in EXACT_ROUTES {
            for whiten in [false, true] {
                let pca = Pca::new(4).solver(solver).whiten(whiten);
                let (model, scores) = pca.fit_transform(&x).unwrap();
                let separate = pca.fit(&x).unwrap();
                assert_eq!(bits(&model), bits(&separate));
                let transformed = separate.transform(&x).unwrap();
                assert_eq!(score_bits(&scores), score_bits(&transformed), "{solver:?} {n} × {d}");
                for i in [0, n / 2, n - 1] {
                    let row = x.slice(s![i..i + 1, ..]);
                    let z = model.transform(row).unwrap();
                    for j in 0..4 {
                        close(z[[0, j]], scores[[i, j]], 1e-12);
                    }
                }
                let (model, scores) = pca.fit_transform(&single).unwrap();
                let transformed = model.transform(&single).unwrap();
                assert_eq!(score_bits(&scores), score_bits(&transformed));
            }
        }
    }
}

#[test]
fn line_58_odd_sparse_matrices() {
    // One entry; empty rows and columns; entries stored twice, in any order.
    let one = Csr::new(6, 5, vec![0, 0, 0, 1, 1, 1, 1], vec![3], vec![2.0]).unwrap();
    let mut one_dense = Array2::zeros((6, 5));
    one_dense[[2, 3]] = 2.0;
    let starts = vec![0, 3, 3, 6, 7, 7, 9];
    let columns = vec![4, 0, 4, 2, 2, 2, 0, 4, 2];
    let values = vec![1.0, 2.0, 0.5, 3.0, -1.0, 0.25, 7.0, 1.0, -2.0];
    let duplicated = Csr::new(6, 5, starts, columns, values).unwrap();
    let dense = array![
        [2.0, 0.0, 0.0, 0.0, 1.5],
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 2.25, 0.0, 0.0],
        [7.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, -2.0, 0.0, 1.0],
    ];
    let nothing = Csr::new(6, 5, vec![0; 7], vec![], vec![]).unwrap();
    for (sparse, dense) in
        [(&one, &one_dense), (&duplicated, &dense), (&nothing, &Array2::zeros((6, 5)))]
    {
        for solver in EXACT_ROUTES {
            for (center, standardize) in [(true, false), (false, false), (true, true)] {
                let pca = Pca::new(3).center(center).standardize(standardize).solver(solver);
                let sparse_data = Dataset::sparse(sparse);
                let (a, za) = pca.fit_transform(&sparse_data).unwrap();
                let (b, zb) = pca.fit_transform(dense).unwrap();
                assert_eq!(a.rank(), b.rank());
                let top = b.explained_variance()[0].max(f64::MIN_POSITIVE);
                for j in 0..3 {
                    close(a.explained_variance()[j], b.explained_variance()[j], 1e-13 * top);
                }
                for (p, q) in a.components().iter().zip(b.components()) {
                    close(*p, *q, 1e-12);
                }
                for (p, q) in za.iter().zip(&zb) {
                    close(*p, *q, 1e-12);
                }
                relatively_close(a.total_variance(), b.total_variance(), 1e-13);
            }
        }
    }
}

#[test]
fn line_59_implicit_centring_of_sparse_data() {
    for (n, d) in [(300, 40), (50, 450), (420, 410)] {
        let x = sparse_normals(59, n, d, 0.1);
        let sparse = compressed(&x);
        for solver in [Solver::Auto, Solver::Covariance, Solver::Dual, Solver::Iterative] {
            for standardize in [false, true] {
                let options = eigenlens::Options { tolerance: Some(1e-13), ..Default::default() };
                let pca = Pca::new(3).standardize(standardize).solver(solver).options(options);
                let (a, za) = pca.fit_transform(&sparse).unwrap();
                let (b, zb) = pca.fit_transform(&x).unwrap();
                for (p, q) in a.mean().iter().zip(b.mean()) {
                    close(*p, *q, 1e-15);
                }
                let allowed = 1e-12 + 4.0 * a.certificate().angles[..3].iter().sum::<f64>();
                for j in 0..3 {
                    let (p, q) = (a.explained_variance()[j], b.explained_variance()[j]);
                    relatively_close(p, q, 1e-12);
                    assert!(sine(a.components().row(j), b.components().row(j)) < allowed);
                }
                let size = zb.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                for (p, q) in za.iter().zip(&zb) {
                    close(*p, *q, allowed * 20.0 * size);
                }
                // A model of one form transforms the other.
                let crossed = b.transform(&sparse).unwrap();
                for (p, q) in crossed.iter().zip(&zb) {
                    close(*p, *q, 1e-12 * size);
                }
            }
        }
    }
}

#[test]
fn line_64_weights() {
    let x = distinct(64, 40, 5);
    for solver in EXACT_ROUTES {
        let fit = |weights: SampleWeights| {
            Pca::new(3).solver(solver).fit(Dataset::from(&x).with_weights(weights))
        };
        // Zero: the row is not there.
        let mut weights = vec![1.0; 40];
        weights[3] = 0.0;
        weights[39] = 0.0;
        let kept: Vec<usize> = (0..39).filter(|i| *i != 3).collect();
        let model = fit(SampleWeights::frequency(weights)).unwrap();
        let rest =
            Pca::new(3).solver(solver).fit(Dataset::from(&x.select(Axis(0), &kept))).unwrap();
        assert_eq!(model.n_samples(), Some(38.0));
        for j in 0..3 {
            relatively_close(model.explained_variance()[j], rest.explained_variance()[j], 1e-12);
            assert!(sine(model.components().row(j), rest.components().row(j)) < 1e-11);
        }
        // Whole numbers: repeated rows.
        let weights: Vec<f64> = (0..40).map(|i| (i % 4) as f64).collect();
        let repeated: Vec<usize> = (0..40).flat_map(|i| std::iter::repeat_n(i, i % 4)).collect();
        let model = fit(SampleWeights::frequency(weights)).unwrap();
        let copies =
            Pca::new(3).solver(solver).fit(Dataset::from(&x.select(Axis(0), &repeated))).unwrap();
        for j in 0..3 {
            relatively_close(model.explained_variance()[j], copies.explained_variance()[j], 1e-12);
        }
        // One dominant: the divisor is Σw − 1, by hand from the definition.
        let mut weights = vec![1.0; 40];
        weights[7] = 1e6;
        let sum = 1e6 + 39.0;
        let model = fit(SampleWeights::frequency(weights.clone())).unwrap();
        let w = ndarray::Array1::from(weights);
        let mean = x.t().dot(&w) / sum;
        let rooted = (&x - &mean) * &w.mapv(f64::sqrt).insert_axis(Axis(1));
        let (singular, _) = jacobi_svd(&rooted);
        for (found, s) in model.explained_variance().iter().zip(&singular) {
            relatively_close(*found, s * s / (sum - 1.0), 1e-11);
        }
        // Σw = 1e300, as counts and relative.
        let weights: Vec<f64> = (0..40).map(|i| 1e300 / 40.0 * (1.0 + (i % 3) as f64)).collect();
        for weights in [SampleWeights::frequency(weights.clone()), SampleWeights::relative(weights)]
        {
            let model = fit(weights).unwrap();
            assert!(model.explained_variance().iter().all(|v| v.is_finite() && *v > 0.0));
            assert!(model.certificate().relative_residual() < 1e-9);
        }
        // Sum beyond the range of numbers: an error for counts, no matter as ratios.
        assert!(matches!(
            fit(SampleWeights::frequency(vec![1e308; 40])),
            Err(Error::WeightSum { .. })
        ));
        let same = fit(SampleWeights::relative(vec![1e308; 40])).unwrap();
        let plain = Pca::new(3).solver(solver).fit(&x).unwrap();
        for j in 0..3 {
            relatively_close(same.explained_variance()[j], plain.explained_variance()[j], 1e-12);
        }
        assert!(matches!(
            fit(SampleWeights::frequency(
                (0..40).map(|i| if i == 4 { -1.0 } else { 1.0 }).collect::<Vec<_>>()
            )),
            Err(Error::Weight { row: 4, .. })
        ));
    }
}

#[test]
fn line_40_constant_column_in_every_path() {
    let mut x = distinct(40, 60, 6);
    x.column_mut(2).fill(4.0);
    let names = ["a", "b", "c", "d", "e", "f"];
    let sparse = compressed(&x);
    let streamed = InBlocks::new(&x, 7);
    let single = to_f32(&x);
    for solver in EXACT_ROUTES {
        let pca = Pca::new(5).standardize(true).solver(solver);
        let mut models = vec![
            pca.fit(Dataset::from(&x).with_feature_names(names).unwrap()).unwrap(),
            pca.fit(Dataset::from(&single).with_feature_names(names).unwrap()).unwrap(),
            pca.fit(Dataset::sparse(&sparse).with_feature_names(names).unwrap()).unwrap(),
        ];
        if solver != Solver::Dual {
            models.push(
                pca.fit(Dataset::streamed(&streamed).with_feature_names(names).unwrap()).unwrap(),
            );
        }
        for model in models {
            assert_eq!(model.constant_columns(), [2]);
            assert_eq!(model.scale().unwrap()[2], 1.0);
            let expected = Warning::ConstantColumns { columns: vec![2], names: vec!["`c`".into()] };
            assert!(has(&model, |w| *w == expected), "{solver:?}: {:?}", model.warnings());
            let column = model.components().column(2).to_owned();
            assert!(column.iter().all(|v| v.abs() <= 1e-15), "{solver:?}: {column}");
            relatively_close(model.total_variance(), 5.0, 1e-6);
            let back = model.reconstruct(&x).unwrap();
            assert!(back.column(2).iter().all(|v| (*v - 4.0).abs() < 1e-6));
        }
    }
}

#[test]
fn line_46_few_rows_of_many_columns() {
    let x = to_f32(&Random::new(46).normals(50, 70_000));
    let pca = Pca::new(3);
    let plan = pca.plan(&Dataset::from(&x)).unwrap();
    assert_eq!(plan.route, Route::Dual);
    // A 70 000 × 70 000 matrix would be 39 GB.
    assert!(plan.peak_memory < 1 << 30, "{plan}");
    let model = pca.fit(&x).unwrap();
    assert!(model.certificate().relative_residual() < 1e-6);
    let centered = centered(&widened(&x));
    let (values, _) = jacobi_svd(&centered.dot(&centered.t()));
    for (found, expected) in model.explained_variance().iter().zip(&values) {
        relatively_close(*found, expected / 49.0, 1e-6);
    }
}

#[test]
fn lines_17_59_sparse_columns_far_from_zero() {
    // A full column far from zero beside sparse ones: its variance must not cancel.
    for mean in [1e4, 1e6, 1e8] {
        let mut x = sparse_normals(17, 500, 6, 0.3);
        for (v, z) in x.column_mut(2).iter_mut().zip(Random::new(3).normals(500, 1)) {
            *v = mean + z;
        }
        let sds = column_sds(&x);
        let sparse = compressed(&x);
        for solver in [Solver::Covariance, Solver::Iterative, Solver::Svd] {
            let pca = Pca::new(3).solver(solver);
            let model = pca.fit(&sparse).unwrap();
            relatively_close(model.total_variance(), sds.mapv(|s| s * s).sum(), 1e-12);
            let model = pca.standardize(true).fit(&sparse).unwrap();
            for (found, expected) in model.scale().unwrap().iter().zip(&sds) {
                relatively_close(*found, *expected, 1e-12);
            }
        }
    }
}
