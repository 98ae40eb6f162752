//! Missing entries: every policy against the data it stands for, and what is said of samples with
//! holes against dense conditional Gaussians.

use crate::ppca::{invert, log_density, noisy, with_missing_values};
use crate::support::{Random, Storage, Table, assert_all_close, assert_close, frobenius, jacobi};
use eigenlens::{
    BayesianPca, Dataset, Error, Hint, Lsa, Missing, Model, NComponents, Options, Pca, Ppca,
    PpcaMixture, PpcaModel, SampleWeights, Target, Warning,
};
use ndarray::{Array1, Array2, ArrayView1, Axis, array, s};

fn holey(seed: u64, n: usize, d: usize, k: usize, rate: f64) -> (Array2<f64>, Array2<f64>) {
    let mut random = Random::new(seed);
    let x = noisy(&mut random, n, d, k, 0.5);
    let missing_counts = with_missing_values(&mut random, &x, rate);
    (x, missing_counts)
}

fn seen(row: ArrayView1<f64>) -> Vec<usize> {
    (0..row.len()).filter(|&f| !row[f].is_nan()).collect()
}

fn gone(row: ArrayView1<f64>) -> Vec<usize> {
    (0..row.len()).filter(|&f| row[f].is_nan()).collect()
}

/// The block of a matrix.
fn block(a: &Array2<f64>, rows: &[usize], columns: &[usize]) -> Array2<f64> {
    a.select(Axis(0), rows).select(Axis(1), columns)
}

fn same(what: &str, a: &dyn Model, b: &dyn Model) {
    let (a, b) = (a.to_parts().unwrap(), b.to_parts().unwrap());
    assert_eq!(a.arrays.keys().collect::<Vec<_>>(), b.arrays.keys().collect::<Vec<_>>(), "{what}");
    for name in ["components", "values", "mean"] {
        assert_eq!(a.arrays[name], b.arrays[name], "{what}: {name}");
    }
}

#[test]
fn simple_policies_are_fits_to_the_data_they_stand_for() {
    let (_, mut x) = holey(1, 60, 5, 2, 0.05);
    // Two columns without holes.
    let (whole, _) = holey(2, 60, 2, 1, 0.0);
    x.slice_mut(s![.., ..2]).assign(&whole);
    let rows: Vec<usize> = (0..60).filter(|&i| gone(x.row(i)).is_empty()).collect();
    let columns: Vec<usize> = (0..5).filter(|&f| x.column(f).iter().all(|v| !v.is_nan())).collect();
    let mut filled = x.clone();
    for mut column in filled.columns_mut() {
        let there: Vec<f64> = column.iter().copied().filter(|v| !v.is_nan()).collect();
        let mean = there.iter().sum::<f64>() / there.len() as f64;
        column.mapv_inplace(|v| if v.is_nan() { mean } else { v });
    }
    let cases = [
        (Missing::DropRows, x.select(Axis(0), &rows)),
        (Missing::DropColumns, x.select(Axis(1), &columns)),
        (Missing::Mean, filled),
    ];
    for (policy, whole) in cases {
        for storage in [Storage::RowMajor, Storage::Strided, Storage::Streamed(7, false)] {
            let table = Table::<f64>::new(&x, storage);
            let data = table.dataset().with_missing(policy);
            let (model, scores) = Pca::new(2).fit_transform(&data).unwrap();
            let expected = Pca::new(2).fit(&whole).unwrap();
            let what = format!("{} {storage:?}", policy.name());
            let size = expected.explained_variance()[0];
            for (a, b) in model.explained_variance().iter().zip(expected.explained_variance()) {
                assert_close(&what, *a, *b, 1e-11 * size);
            }
            assert_all_close(
                &what,
                &model.components().to_owned(),
                &expected.components().to_owned(),
                1e-9,
            );
            let done = model.missing().unwrap();
            assert_eq!(done.policy, policy);
            assert_eq!(done.missing, x.iter().filter(|v| v.is_nan()).count());
            assert_eq!(scores.nrows(), 60, "{what}: every sample has scores");
            assert!(scores.iter().all(|v| v.is_finite()));
            if policy == Missing::DropColumns {
                assert_eq!(done.dropped_columns.len(), 5 - columns.len());
                assert_eq!(model.n_features(), columns.len());
            } else {
                // Samples without holes have the same bits with and without company.
                let alone = model.transform(Dataset::from(&x.select(Axis(0), &rows))).unwrap();
                assert_eq!(alone, scores.select(Axis(0), &rows), "{what}");
            }
        }
    }
}

#[test]
fn weights_go_with_their_rows() {
    let (_, x) = holey(3, 40, 4, 2, 0.1);
    let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 3)).collect();
    let keep: Vec<usize> = (0..40).filter(|&i| gone(x.row(i)).is_empty()).collect();
    let data = Dataset::from(&x)
        .with_weights(SampleWeights::frequency(weights.clone()))
        .with_missing(Missing::DropRows);
    let model = Pca::new(2).fit(&data).unwrap();
    let whole = x.select(Axis(0), &keep);
    let kept: Vec<f64> = keep.iter().map(|&i| weights[i]).collect();
    let expected = Dataset::from(&whole).with_weights(SampleWeights::frequency(kept));
    let expected = Pca::new(2).fit(&expected).unwrap();
    assert_eq!(model.explained_variance(), expected.explained_variance());
    // Weights as repetition, also under expectation maximisation.
    let repeated: Vec<usize> =
        (0..40).flat_map(|i| std::iter::repeat_n(i, weights[i] as usize)).collect();
    let often = x.select(Axis(0), &repeated);
    let weighed = Ppca::new(1).fit(data.with_missing(Missing::Em)).unwrap();
    let plain = Ppca::new(1).fit(Dataset::from(&often).with_missing(Missing::Em)).unwrap();
    let size = frobenius(&plain.covariance());
    assert_all_close("C", &weighed.covariance(), &plain.covariance(), 1e-5 * size);
    assert_close("n", weighed.n_samples(), plain.n_samples(), 1e-12);
}

#[test]
fn samples_with_holes_are_projected_by_least_squares() {
    let (whole, x) = holey(4, 80, 7, 3, 0.3);
    for (standardize, whiten) in [(false, false), (true, false), (false, true)] {
        let pca = Pca::new(3).standardize(standardize).whiten(whiten);
        let model = pca.fit(&whole).unwrap();
        // Holes are refused unless a policy says otherwise.
        let refused = model.transform(&x);
        assert!(matches!(refused, Err(Error::MissingValue { .. })));
        let data = Dataset::from(&x).with_missing(Missing::Em);
        let scores = model.transform(&data).unwrap();
        let found = model.transform_observed(&data).unwrap();
        let u = model.components().t().to_owned();
        let (mean, scale) = (model.mean(), model.scale());
        for i in 0..80 {
            let o = seen(x.row(i));
            assert_eq!(found.observed[i], o.len());
            let uo = u.select(Axis(0), &o);
            let gram = uo.t().dot(&uo);
            if o.len() < 4 {
                continue;
            }
            let r: Array1<f64> =
                o.iter().map(|&f| (x[[i, f]] - mean[f]) / scale.map_or(1.0, |s| s[f])).collect();
            let (inverse, _) = invert(&gram);
            let z = inverse.dot(&uo.t().dot(&r));
            for j in 0..3 {
                assert_close("z", found.scores[[i, j]], z[j], 1e-8 * (1.0 + z[j].abs()));
                let sd = if whiten { model.standard_deviations()[j] } else { 1.0 };
                assert_close("z", scores[[i, j]], z[j] / sd, 1e-8 * (1.0 + z[j].abs()));
                let left = 1.0 / inverse[[j, j]];
                assert_close("certainty", found.certainty[[i, j]], left, 1e-9);
                let error = model.noise_variance().sqrt() / left.sqrt();
                assert_close("error", found.standard_errors[[i, j]], error, 1e-8 * error);
            }
        }
    }
}

#[test]
fn few_entries_give_little_certainty_and_no_nonsense() {
    let (whole, _) = holey(5, 50, 6, 3, 0.0);
    let model = Pca::new(3).fit(&whole).unwrap();
    let mut x = Array2::from_elem((3, 6), f64::NAN);
    x[[1, 2]] = 9.0;
    x.row_mut(2).assign(&whole.row(0));
    let data = Dataset::from(&x).with_missing(Missing::Em);
    let found = model.transform_observed(&data).unwrap();
    assert_eq!(found.observed, [0, 1, 6]);
    for j in 0..3 {
        assert_eq!(found.scores[[0, j]], 0.0, "nothing observed: the mean");
        assert_eq!(found.certainty[[0, j]], 0.0);
        let sd = model.standard_deviations()[j];
        assert_close("prior", found.standard_errors[[0, j]], sd, 1e-9 * sd);
        assert_eq!(found.certainty[[2, j]], 1.0);
    }
    // One entry cannot tell three scores, but it is fitted exactly.
    let back = model.inverse_transform(found.scores.view()).unwrap();
    assert_close("fit", back[[1, 2]], 9.0, 1e-8);
    assert!(found.certainty.row(1).iter().all(|c| *c == 0.0));
    assert!(found.standard_errors.iter().all(|e| e.is_finite()));
    let exact = model.transform(Dataset::from(&whole.slice(s![..1, ..]).to_owned())).unwrap();
    assert_eq!(exact.row(0), found.scores.row(2));
}

/// Models of every kind that says something of holes.
fn models(whole: &Array2<f64>, missing_counts: &Array2<f64>) -> Vec<(&'static str, PpcaModel)> {
    let whole = Dataset::from(whole);
    let missing_counts = Dataset::from(missing_counts).with_missing(Missing::Em);
    vec![
        ("closed form", Ppca::new(2).fit(&whole).unwrap()),
        ("standardised", Ppca::new(2).standardize(true).fit(&whole).unwrap()),
        ("k = d", Ppca::new(6).fit(&whole).unwrap()),
        ("em", Ppca::new(2).fit(&missing_counts).unwrap()),
        ("em, standardised", Ppca::new(2).standardize(true).fit(&missing_counts).unwrap()),
        ("em, k = d", Ppca::new(6).fit(&missing_counts).unwrap()),
    ]
}

#[test]
fn what_is_said_of_holes_is_the_conditional_gaussian() {
    let (whole, x) = holey(6, 90, 6, 2, 0.3);
    for (what, model) in models(&whole, &x) {
        let (c, mean) = (model.covariance(), Array1::from(model.mean().to_vec()));
        let data = Dataset::from(&x);
        let imputed = model.impute(&data).unwrap();
        let likelihood = model.log_likelihood(&data).unwrap();
        let anomalies = model.anomalies(&data).unwrap();
        let mut entries = imputed.entries.iter();
        for i in 0..90 {
            let (o, m) = (seen(x.row(i)), gone(x.row(i)));
            let (inverse, _) = invert(&block(&c, &o, &o));
            let r: Array1<f64> = o.iter().map(|&f| x[[i, f]] - mean[f]).collect();
            let weights = block(&c, &m, &o).dot(&inverse);
            let expected = weights.dot(&r);
            let spread = block(&c, &m, &m) - weights.dot(&block(&c, &o, &m));
            for (a, &f) in m.iter().enumerate() {
                let entry = entries.next().unwrap();
                assert_eq!((entry.row, entry.column), (i, f));
                let value = expected[a] + mean[f];
                assert_close(what, entry.value, value, 1e-7 * (1.0 + value.abs()));
                assert_eq!(entry.value, imputed.table[[i, f]]);
                let error = spread[[a, a]].sqrt();
                assert_close(what, entry.standard_error, error, 1e-6 * error);
            }
            for &f in &o {
                assert_eq!(imputed.table[[i, f]].to_bits(), x[[i, f]].to_bits());
            }
            if !o.is_empty() {
                let naive = log_density(x.row(i), model.mean(), &c);
                assert_close(what, likelihood.samples[i], naive, 1e-6 * (1.0 + naive.abs()));
                let distance = r.dot(&inverse.dot(&r));
                assert_close(what, anomalies.distances[i], distance, 1e-6 * (1.0 + distance));
            }
            assert_eq!(anomalies.degrees[i], o.len());
        }
        assert!(entries.next().is_none());
    }
}

#[test]
fn the_posterior_is_the_conditional_gaussian() {
    let (whole, x) = holey(7, 70, 6, 2, 0.3);
    for (what, model) in models(&whole, &x).into_iter().filter(|(w, _)| !w.contains("standard")) {
        let (c, w) = (model.covariance(), model.weights());
        let posterior = model.posterior(&x).unwrap();
        let k = model.n_components();
        for i in 0..70 {
            let o = seen(x.row(i));
            let wo = w.select(Axis(0), &o);
            let (inverse, _) = invert(&block(&c, &o, &o));
            let r: Array1<f64> = o.iter().map(|&f| x[[i, f]] - model.mean()[f]).collect();
            // E[z|x] = Wᵀ C⁻¹ (x − μ), cov[z|x] = I − Wᵀ C⁻¹ W.
            let expected = wo.t().dot(&inverse.dot(&r));
            let spread = Array2::<f64>::eye(k) - wo.t().dot(&inverse.dot(&wo));
            let found = posterior.covariance(i).unwrap().to_owned();
            for j in 0..k {
                assert_close(what, posterior.means[[i, j]], expected[j], 1e-6);
            }
            assert_all_close(what, &found, &spread, 1e-6);
        }
        let scores = model.transform(Dataset::from(&x).with_missing(Missing::Em)).unwrap();
        assert_all_close(what, &scores, &posterior.means, 1e-9);
    }
}

#[test]
fn holes_of_a_low_rank_matrix_are_recovered() {
    let mut random = Random::new(8);
    let x = noisy(&mut random, 120, 10, 2, 0.0);
    let missing_counts = with_missing_values(&mut random, &x, 0.2);
    let data = Dataset::from(&missing_counts).with_missing(Missing::Em);
    let model = Ppca::new(2).fit(&data).unwrap();
    assert!(model.warnings().iter().any(|w| matches!(w, Warning::NoiseVanishes { .. })));
    let imputed = model.impute(&data).unwrap();
    assert!(imputed.entries.len() > 150);
    for entry in &imputed.entries {
        let truth = x[[entry.row, entry.column]];
        assert_close("a hole", entry.value, truth, 1e-4 * (1.0 + truth.abs()));
        assert!(entry.standard_error < 1e-3);
    }
}

#[test]
fn standard_errors_cover_at_their_nominal_rate() {
    let (whole, x) = holey(9, 2000, 8, 2, 0.25);
    let data = Dataset::from(&x).with_missing(Missing::Em);
    let model = Ppca::new(2).fit(&data).unwrap();
    let imputed = model.impute(&data).unwrap();
    let n = imputed.entries.len() as f64;
    assert!(n > 3500.0);
    for (z, nominal) in [(1.0, 0.6827), (1.96, 0.95), (2.576, 0.99)] {
        let covered = imputed
            .entries
            .iter()
            .filter(|e| (whole[[e.row, e.column]] - e.value).abs() <= z * e.standard_error)
            .count() as f64;
        // Five standard errors of the rate itself.
        let margin = 5.0 * (nominal * (1.0 - nominal) / n).sqrt();
        assert_close("coverage", covered / n, nominal, margin);
    }
}

#[test]
fn draws_have_the_conditional_distribution() {
    let (_, x) = holey(10, 60, 6, 2, 0.3);
    let data = Dataset::from(&x).with_missing(Missing::Em);
    let model = Ppca::new(2).fit(&data).unwrap();
    let imputed = model.impute(&data).unwrap();
    let draws = model.multiple_imputations(&data, 400, 7).unwrap();
    let m = draws.len() as f64;
    let (mut bias, mut ratio) = (0.0, 0.0);
    for e in &imputed.entries {
        let values: Vec<f64> = draws.iter().map(|d| d[[e.row, e.column]]).collect();
        let mean = values.iter().sum::<f64>() / m;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (m - 1.0);
        bias += ((mean - e.value) / e.standard_error * m.sqrt()).powi(2);
        ratio += variance / e.standard_error.powi(2);
    }
    let n = imputed.entries.len() as f64;
    assert_close("mean square of the standardised means", bias / n, 1.0, 0.5);
    assert_close("variance over squared error", ratio / n, 1.0, 0.05);
    for draw in &draws {
        for (a, b) in draw.iter().zip(&x).filter(|(_, b)| !b.is_nan()) {
            assert_eq!(a.to_bits(), b.to_bits());
        }
    }
    assert_eq!(model.multiple_imputations(&data, 2, 7).unwrap()[..], draws[..2]);
    assert_ne!(model.multiple_imputations(&data, 1, 8).unwrap()[0], draws[0]);
    let none = model.multiple_imputations(&data, 0, 0);
    assert!(matches!(none, Err(Error::Parameter { name: "n_imputations", .. })));
}

#[test]
fn samples_and_p_values_are_the_models() {
    let (whole, _) = holey(11, 300, 5, 2, 0.0);
    let model = Ppca::new(2).fit(&whole).unwrap();
    let drawn = model.sample(20_000, 3);
    assert_eq!(drawn, model.sample(20_000, 3));
    let refit = Ppca::new(4).fit(&drawn).unwrap();
    let size = frobenius(&model.covariance());
    assert_all_close("C", &refit.covariance(), &model.covariance(), 0.04 * size);
    let p = model.anomalies(&drawn).unwrap().p_values;
    for level in [0.01, 0.05, 0.5] {
        let rate = p.iter().filter(|p| **p < level).count() as f64 / 20_000.0;
        assert_close("rate", rate, level, 5.0 * (level / 20_000.0f64).sqrt());
    }
    let outlier = Array2::from_elem((1, 5), 1e4);
    assert!(model.anomalies(&outlier).unwrap().p_values[0] < 1e-12);
}

#[test]
fn threads_blocks_and_storage_change_no_bit() {
    // Most entries there, in patterns that repeat or do not, and few, of which all or some are kept from
    // pass to pass.
    for (d, k, rate) in [(6, 2, 0.2), (30, 3, 0.3), (70, 8, 0.6), (20, 2, 0.8), (30, 2, 0.88)] {
        no_bit_changes(&holey(12, 5000, d, 2, rate).1, k);
    }
}

fn no_bit_changes(x: &Array2<f64>, k: usize) {
    let short = Options { max_iterations: 6, ..Options::default() };
    let fit = |storage: Storage, threads: usize| {
        let table = Table::<f64>::new(x, storage);
        let options = Options { threads: Some(threads), ..short.clone() };
        let data = table.dataset().with_missing(Missing::Em);
        let model = Ppca::new(k).options(options).fit(&data).unwrap();
        let imputed = model.impute(&data).unwrap();
        (model.to_parts().arrays, imputed.entries)
    };
    let first = fit(Storage::RowMajor, 1);
    for (storage, threads) in [
        (Storage::RowMajor, 2),
        (Storage::RowMajor, 3),
        (Storage::RowMajor, 8),
        (Storage::ColumnMajor, 2),
        (Storage::Streamed(5, false), 3),
        (Storage::Streamed(1000, true), 2),
    ] {
        assert!(fit(storage, threads) == first, "{storage:?}, {threads} threads");
    }
    let f32s = Table::<f32>::new(x, Storage::RowMajor);
    let single = Ppca::new(k).options(short.clone());
    let single = single.fit(f32s.dataset().with_missing(Missing::Em)).unwrap();
    let double = Ppca::new(k).options(short);
    let double = double.fit(Dataset::from(x).with_missing(Missing::Em)).unwrap();
    let size = frobenius(&double.covariance());
    assert_all_close("C", &single.covariance(), &double.covariance(), 1e-5 * size);
}

#[test]
fn bad_holes_are_refused_with_words() {
    let (_, mut x) = holey(13, 40, 4, 1, 0.1);
    x.column_mut(2).fill(f64::NAN);
    let names = ["a", "b", "c", "d"];
    let data = |x: &Array2<f64>, policy| {
        Pca::new(1).fit(Dataset::from(x).with_feature_names(names).unwrap().with_missing(policy))
    };
    for policy in [Missing::Mean, Missing::Em, Missing::DropRows] {
        let error = data(&x, policy).err().unwrap();
        assert!(error.to_string().contains("`c` has no value"), "{error}");
        assert_eq!(error.hint(), Some(Hint::DropColumn(2)));
    }
    let nothing = data(&x, Missing::DropColumns).err().unwrap().to_string();
    assert_eq!(nothing, "`drop-columns` leaves 0, because the others have missing entries");
    // Above 90 %.
    let mut sparse = Array2::from_elem((50, 4), f64::NAN);
    for i in 0..16 {
        sparse[[i, i % 4]] = i as f64;
    }
    for policy in [Missing::Mean, Missing::Em, Missing::DropRows, Missing::DropColumns] {
        let error = data(&sparse, policy).err().unwrap();
        assert!(matches!(error, Error::TooManyHoles { missing: 184, .. }), "{error}");
        assert!(error.to_string().contains("92.0 %"), "{error}");
    }
    let allowed = Dataset::from(&sparse).with_missing(Missing::Em).with_most_missing(1.0);
    let model = Ppca::new(1).fit(&allowed).unwrap();
    assert!(model.covariance().iter().all(|v| v.is_finite()));
    let counts: usize = match &model.warnings()[0] {
        Warning::EmptyRows { count, rows } => {
            assert_eq!(rows[0], 16);
            *count
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(counts, 34);
    // Infinite entries are no holes.
    let mut infinite = x.slice(s![.., ..2]).to_owned();
    infinite[[3, 1]] = f64::INFINITY;
    let error = Pca::new(1).fit(Dataset::from(&infinite).with_missing(Missing::Em)).err();
    assert!(matches!(error, Some(Error::Infinite { row: 3, column: 1, .. })), "{error:?}");
    // What cannot be done is said.
    let (_, x) = holey(14, 40, 4, 1, 0.1);
    let em = Dataset::from(&x).with_missing(Missing::Em);
    assert!(matches!(Lsa::new(1).fit(&em), Err(Error::Unsupported { .. })));
    let rule = NComponents::Rule(eigenlens::Rule::Minka);
    assert!(matches!(Pca::new(rule).fit(&em), Err(Error::Unsupported { .. })));
    let small = Options { memory: Some(1000), ..Options::default() };
    assert!(matches!(Ppca::new(1).options(small).fit(&em), Err(Error::Memory { .. })));
    assert!(matches!(Ppca::new(5).fit(&em), Err(Error::TooManyComponents { limit: 4, .. })));
    let missing_counts = em.missing_counts().unwrap();
    assert!(missing_counts.to_string().contains("entries missing"), "{missing_counts}");
}

#[test]
fn a_sample_with_nothing_observed_gets_the_prior() {
    let (_, mut x) = holey(15, 60, 5, 2, 0.2);
    x.row_mut(7).fill(f64::NAN);
    let data = Dataset::from(&x).with_missing(Missing::Em);
    let (model, scores) = Ppca::new(2).fit_transform(&data).unwrap();
    assert!(matches!(&model.warnings()[0], Warning::EmptyRows { count: 1, rows } if rows == &[7]));
    assert_eq!(model.n_samples(), 59.0);
    assert!(scores.row(7).iter().all(|z| *z == 0.0));
    let posterior = model.posterior(&data).unwrap();
    assert_eq!(posterior.empty_samples(), [7]);
    assert_all_close("prior", &posterior.covariance(7).unwrap().to_owned(), &Array2::eye(2), 1e-12);
    let imputed = model.impute(&data).unwrap();
    for f in 0..5 {
        assert_close("mean", imputed.table[[7, f]], model.mean()[f], 1e-12 * model.mean()[f].abs());
    }
    let likelihood = model.log_likelihood(&data).unwrap();
    assert_eq!((likelihood.samples[7], likelihood.observed[7]), (0.0, 0));
    assert_eq!(model.anomalies(&data).unwrap().p_values[7], 1.0);
    let (_, scores) = Pca::new(2).fit_transform(&data).unwrap();
    assert!(scores.iter().all(|z| z.is_finite()) && scores.row(7).iter().all(|z| *z == 0.0));
}

#[test]
fn degenerate_data_give_no_nan() {
    let mut random = Random::new(16);
    let rank_one = random.matrix(40, 1).dot(&random.matrix(1, 5));
    let mut constant = noisy(&mut random, 40, 5, 2, 0.5);
    constant.column_mut(1).fill(4.0);
    let same = Array2::from_elem((40, 5), 2.5);
    let narrow = random.matrix(40, 1);
    let wide = noisy(&mut random, 8, 20, 2, 0.3);
    for (what, x) in [
        ("rank 1", &rank_one),
        ("constant column", &constant),
        ("all the same", &same),
        ("one feature", &narrow),
        ("more features than samples", &wide),
        ("huge", &(&constant * 1e300)),
        ("tiny", &(&constant * 1e-300)),
    ] {
        let missing_counts = with_missing_values(&mut Random::new(3), x, 0.15);
        for standardize in [false, true] {
            for k in [1, x.ncols().min(3), x.ncols().min(x.nrows())] {
                for rows in [x, &missing_counts] {
                    let data = Dataset::from(rows).with_missing(Missing::Em);
                    let options = Options { max_iterations: 60, ..Options::default() };
                    let ppca = Ppca::new(k).standardize(standardize).options(options.clone());
                    let what = format!("{what}, k = {k}, standardize = {standardize}");
                    let (model, scores) =
                        ppca.fit_transform(&data).unwrap_or_else(|e| panic!("{what}: {e}"));
                    let finite = |values: &Array2<f64>| values.iter().all(|v| v.is_finite());
                    assert!(finite(&scores), "{what}: scores");
                    let imputed = model.impute(&data).unwrap();
                    assert!(finite(&imputed.table), "{what}: imputed");
                    assert!(imputed.entries.iter().all(|e| e.standard_error.is_finite()), "{what}");
                    let posterior = model.posterior(&data).unwrap();
                    assert!(finite(&posterior.means), "{what}: posterior");
                    assert!(finite(&posterior.standard_deviations()), "{what}: posterior");
                    assert!(finite(&model.reconstruct(&data).unwrap()), "{what}: reconstruction");
                    if let Ok(likelihood) = model.log_likelihood(&data) {
                        assert!(likelihood.samples.iter().all(|l| !l.is_nan()), "{what}: ln p");
                    }
                    assert!(finite(&model.sample(5, 1)), "{what}: samples");
                    let pca = Pca::new(k).standardize(standardize).options(options);
                    let (_, scores) = pca.fit_transform(&data).unwrap();
                    assert!(finite(&scores), "{what}: scores of PCA");
                }
            }
        }
    }
}

#[test]
fn data_without_variance_are_told_so() {
    let same = Array2::from_elem((40, 5), 2.5);
    let missing_counts = with_missing_values(&mut Random::new(3), &same, 0.15);
    for x in [&same, &missing_counts] {
        let data = Dataset::from(x).with_missing(Missing::Em);
        let error = Ppca::new(2).fit(&data).unwrap().log_likelihood(&data).unwrap_err();
        assert!(error.to_string().contains("the data have no variance"), "{error}");
    }
    let data = Dataset::from(&same);
    let error = Pca::new(2).fit(&data).unwrap().precision().unwrap_err();
    assert!(error.to_string().contains("the data have no variance"), "{error}");
}

#[test]
fn a_share_of_the_variance_is_found_by_growing() {
    let (_, x) = holey(17, 200, 8, 3, 0.15);
    let data = Dataset::from(&x).with_missing(Missing::Em);
    let model = Pca::new(NComponents::VarianceShare(0.8)).fit(&data).unwrap();
    let shares = model.explained_variance_ratio();
    assert!(shares.iter().sum::<f64>() >= 0.8 - 1e-9);
    assert!(shares[..shares.len() - 1].iter().sum::<f64>() < 0.8);
}

#[test]
fn bayesian_pca_finds_its_dimension() {
    let mut random = Random::new(18);
    for (n, d, k, rate) in [(300, 8, 3, 0.0), (400, 10, 2, 0.2), (150, 6, 1, 0.1)] {
        let x = noisy(&mut random, n, d, k, 0.3);
        let x = with_missing_values(&mut random, &x, rate);
        let data = Dataset::from(&x).with_missing(Missing::Em);
        let model = BayesianPca::new(d - 1).fit(&data).unwrap();
        assert_eq!(model.n_components(), k, "{n} × {d}");
        assert_eq!(model.relevance().unwrap().len(), k);
        let trace = &model.em().unwrap().trace;
        assert!(trace.windows(2).all(|w| w[1] >= w[0]), "the bound never falls");
        assert_close("σ²", model.noise_variance(), 0.09, 0.02);
        let total: f64 = x
            .rows()
            .into_iter()
            .filter(|r| !seen(*r).is_empty())
            .map(|r| log_density(r, model.mean(), &model.covariance()))
            .sum();
        let stated = model.training_log_likelihood().unwrap();
        assert_close("ln L", stated, total, 1e-7 * total.abs());
    }
    let noise = random.matrix(300, 5);
    let none = BayesianPca::new(4).fit(&noise).unwrap();
    assert_eq!(none.n_components(), 1, "noise has no direction; one stands for none");
    assert!(none.relevance().unwrap().is_empty());
}

#[test]
fn bayesian_pca_keeps_what_is_weak_beside_the_first_but_clear_of_the_noise() {
    let mut random = Random::new(23);
    let (n, d) = (200, 5);
    // Variances of about 20, 0.17 and 1e-8 in each direction of the noise.
    for weak in [0.1, 0.01] {
        let x = Array2::from_shape_fn((n, d), |(i, f)| {
            let (a, b) = ((i as f64 * 0.7).sin(), (i as f64 * 1.3).cos());
            let place = f as f64 - 2.0;
            2.0 * a * place + weak * b * (place * place - 2.0) + 1e-4 * random.normal()
        });
        let model = BayesianPca::new(4).fit(&x).unwrap();
        assert_eq!(model.n_components(), 2, "{weak}");
        assert_close("σ²", model.noise_variance(), 1e-8, 2e-9);
    }
}

#[test]
fn mixtures_find_their_parts() {
    let mut random = Random::new(19);
    let centers = array![[0.0, 0.0, 0.0, 0.0], [9.0, 0.0, 5.0, 0.0], [0.0, 12.0, 0.0, -6.0]];
    let n = 300;
    let directions = random.matrix(3, 4);
    let mut x = Array2::<f64>::zeros((n, 4));
    for i in 0..n {
        let c = i % 3;
        let z = random.normal();
        for f in 0..4 {
            x[[i, f]] = centers[[c, f]] + z * directions[[c, f]] + 0.4 * random.normal();
        }
    }
    let missing_counts = with_missing_values(&mut random, &x, 0.1);
    for (rows, rate) in [(&x, 0.0), (&missing_counts, 0.1)] {
        let data = Dataset::from(rows).with_missing(Missing::Em);
        let compared = PpcaMixture::new(4, 1).fit_best(&data).unwrap();
        assert_eq!(compared.best.n_parts(), 3, "{:?}", compared.bic);
        let model = &compared.best;
        for share in model.shares() {
            assert_close("share", share, 1.0 / 3.0, 0.03);
        }
        for noise in model.noise_variances() {
            assert_close("σ²", noise, 0.16, 0.05);
        }
        let found = model.memberships(&data).unwrap();
        // Every part of the truth is one part of the model.
        let part = |i: usize| {
            let r = found.responsibilities.row(i);
            (0..3).max_by(|&a, &b| r[a].total_cmp(&r[b])).unwrap()
        };
        let wrong = (0..n).filter(|&i| part(i) != part(i % 3)).count();
        assert!(wrong as f64 <= (0.01 + rate * 0.3) * n as f64, "{wrong} samples in wrong parts");
        for r in found.responsibilities.rows() {
            assert_close("shares of a sample", r.sum(), 1.0, 1e-12);
        }
        let trace = &model.em().trace;
        assert!(trace.windows(2).all(|w| w[1] >= w[0]), "the likelihood never falls");
        let total: f64 = found.log_likelihood.sum();
        let stated = model.training_log_likelihood();
        assert_close("ln L", stated, total, 1e-8 * total.abs());
        let back = eigenlens::from_parts(&Model::to_parts(model).unwrap()).unwrap();
        assert_eq!(
            back.transform_f64(&data).unwrap(),
            model.transform_f64(&data).unwrap(),
            "a stored mixture is the same"
        );
        let (drawn, from) = model.sample(50, 1);
        assert_eq!((drawn.dim(), from.len()), ((50, 4), 50));
    }
    // One part is a probabilistic PCA.
    let data = Dataset::from(&missing_counts).with_missing(Missing::Em);
    let one = PpcaMixture::new(1, 2).fit(&data).unwrap();
    let ppca = Ppca::new(2).fit(&data).unwrap();
    let (a, b) = (one.training_log_likelihood(), ppca.training_log_likelihood().unwrap());
    assert_close("ln L", a, b, 1e-7 * b.abs());
    assert_eq!(one.n_parameters(), ppca.n_parameters());
    let none = PpcaMixture::new(0, 1).fit(&data);
    assert!(matches!(none, Err(Error::Parameter { name: "n_parts", .. })));
}

#[test]
fn holes_are_filled_by_the_parts_together() {
    let mut random = Random::new(23);
    let (n, d) = (240, 4);
    let x = Array2::from_shape_fn((n, d), |(i, f)| {
        // Two parts so near each other that many rows may belong to either.
        let (part, sign) = (i % 2, if f % 2 == 0 { 1.0 } else { -1.0 });
        1.5 * part as f64 * sign + random.normal()
    });
    let mut x = with_missing_values(&mut random, &x, 0.3);
    x.row_mut(5).fill(f64::NAN);
    let data = Dataset::from(&x).with_missing(Missing::Em);
    let model = PpcaMixture::new(2, 1).fit(&data).unwrap();
    let (shares, means) = (model.shares(), model.means());
    let covariances: Vec<Array2<f64>> = (0..2).map(|c| model.covariance(c).unwrap()).collect();
    let found = model.impute(&data).unwrap();
    let memberships = model.memberships(&data).unwrap();
    let mut entries = found.entries.iter();
    let mut uncertain = 0;
    for (i, row) in x.rows().into_iter().enumerate() {
        let (seen, gone) = (seen(row), gone(row));
        // Straight from the definition: densities of what is seen, conditional moments, their mixture.
        let mut weights = Vec::new();
        let mut moments = Vec::new();
        for c in 0..2 {
            let mean = means.row(c);
            let all = log_density(row, &mean.to_vec(), &covariances[c]);
            weights.push(shares[c] * if seen.is_empty() { 1.0 } else { all.exp() });
            let (inverse, _) = invert(&block(&covariances[c], &seen, &seen));
            let deviations = Array1::from_iter(seen.iter().map(|&f| row[f] - mean[f]));
            let across = block(&covariances[c], &gone, &seen);
            let values = across.dot(&inverse).dot(&deviations);
            let spread =
                block(&covariances[c], &gone, &gone) - across.dot(&inverse).dot(&across.t());
            moments.push((values, spread));
        }
        let total: f64 = weights.iter().sum();
        let r: Vec<f64> = weights.iter().map(|w| w / total).collect();
        assert_close("responsibility", memberships.responsibilities[[i, 0]], r[0], 1e-9);
        uncertain += usize::from(r[0] > 0.1 && r[0] < 0.9 && !gone.is_empty());
        for (j, &f) in gone.iter().enumerate() {
            let value = |c: usize| means[[c, f]] + moments[c].0[j];
            let mean = r[0] * value(0) + r[1] * value(1);
            let second: f64 =
                (0..2).map(|c| r[c] * (moments[c].1[[j, j]] + value(c).powi(2))).sum();
            let entry = entries.next().unwrap();
            assert_eq!((entry.row, entry.column), (i, f));
            assert_close("mean", entry.value, mean, 1e-9);
            assert_close("error", entry.standard_error, (second - mean * mean).sqrt(), 1e-7);
            assert_eq!(found.table[[i, f]], entry.value);
        }
        assert!(seen.iter().all(|&f| found.table[[i, f]] == row[f]));
    }
    assert!(entries.next().is_none() && uncertain > 20, "{uncertain}");
    // Draws have these means and spreads.
    let draws = model.multiple_imputations(&data, 400, 9).unwrap();
    assert!(draws == model.multiple_imputations(&data, 400, 9).unwrap());
    for entry in found.entries.iter().take(60) {
        let values: Vec<f64> = draws.iter().map(|t| t[[entry.row, entry.column]]).collect();
        let mean = values.iter().sum::<f64>() / 400.0;
        let spread = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
        assert_close("mean of draws", mean, entry.value, 5.0 * entry.standard_error / 20.0);
        assert_close("spread of draws", spread, entry.standard_error, 0.25 * entry.standard_error);
    }
    let none = model.multiple_imputations(&data, 0, 1);
    assert!(matches!(none, Err(Error::Parameter { name: "n_imputations", .. })));
}

#[test]
fn pca_tells_its_steps_where_holes_are_integrated_out() {
    let (whole, x) = holey(24, 60, 5, 2, 0.2);
    let told = |x: &Array2<f64>| {
        let mut steps = Vec::new();
        let data = Dataset::from(x).with_missing(Missing::Em);
        let model = Pca::new(2)
            .fit_observed(&data, &mut |step| {
                steps.push(step.log_likelihood);
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
        same("the model", &model, &Pca::new(2).fit(&data).unwrap());
        steps
    };
    let steps = told(&x);
    assert!(steps.len() > 3 && steps.windows(2).all(|w| w[1] >= w[0]), "{steps:?}");
    assert!(told(&whole).is_empty());
}

#[test]
fn treated_models_are_stored_and_read() {
    let (_, x) = holey(20, 60, 5, 2, 0.2);
    for policy in [Missing::Mean, Missing::Em] {
        let data = Dataset::from(&x).with_missing(policy);
        let models: [Box<dyn Model>; 3] = [
            Box::new(Pca::new(2).fit(&data).unwrap()),
            Box::new(Ppca::new(2).fit(&data).unwrap()),
            Box::new(BayesianPca::new(3).fit(&data).unwrap()),
        ];
        for model in models {
            let parts = model.to_parts().unwrap();
            let back = eigenlens::from_parts(&parts).unwrap();
            same(model.method(), &*back, &*model);
            assert_eq!(back.to_parts().unwrap(), parts);
            assert_eq!(back.missing(), model.missing());
            assert_eq!(back.missing().unwrap().policy, policy);
            let facts = back.summary().facts;
            assert!(
                facts.iter().any(|(name, text)| *name == "missing" && text.contains(policy.name()))
            );
            // A model that was fitted to holes takes them.
            assert!(back.transform_f64(&Dataset::from(&x)).unwrap().iter().all(|z| z.is_finite()));
            let mut spoilt = parts.clone();
            spoilt.description.insert("missing".into(), eigenlens::Value::Bool(true));
            assert!(eigenlens::from_parts(&spoilt).is_err());
        }
    }
}

/// What is put into holes is the mean of what the column has, and is there for new data too.
#[test]
fn holes_are_filled_with_means_that_can_be_kept() {
    let (_, missing_counts) = holey(31, 60, 5, 2, 0.2);
    let data = Dataset::from(&missing_counts).with_missing(Missing::Mean);
    let resolved = data.resolve_missing(&Options::default()).unwrap();
    let fill = resolved.fill().unwrap().to_vec();
    for (f, mean) in fill.iter().enumerate() {
        let known: Vec<f64> =
            missing_counts.column(f).iter().copied().filter(|v| !v.is_nan()).collect();
        assert_close("mean", *mean, known.iter().sum::<f64>() / known.len() as f64, 1e-14);
    }
    let new = array![[1.0, f64::NAN, 2.0, 3.0, f64::NAN], [0.0, 1.0, 2.0, 3.0, 4.0]];
    let expected = array![[1.0, fill[1], 2.0, 3.0, fill[4]], [0.0, 1.0, 2.0, 3.0, 4.0]];
    let filled = Dataset::from(&new).fill_missing(&fill, &Options::default()).unwrap();
    assert_eq!(filled.dataset().sample_rows().unwrap().unwrap().0, expected);
    // The same through a sieve, where a copy does not fit; and nothing is lost without holes.
    let lean = Options { memory: Some(16), ..Options::default() };
    let filled = Dataset::from(&new).fill_missing(&fill, &lean).unwrap();
    assert_eq!(filled.dataset().sample_rows().unwrap().unwrap().0, expected);
    let whole = Dataset::from(&expected).with_missing(Missing::Mean);
    let whole = whole.resolve_missing(&Options::default()).unwrap();
    assert_eq!(whole.fill().unwrap()[3], 3.0);
    assert!(whole.missing_report().is_none());
    let wrong = Dataset::from(&new).fill_missing(&fill[1..], &Options::default());
    assert!(matches!(wrong.err(), Some(Error::Shape { .. })));
}

#[test]
fn a_target_follows_the_rows_that_are_left() {
    let x = array![[1.0, 2.0], [f64::NAN, 1.0], [3.0, 4.0], [5.0, f64::NAN], [7.0, 1.0]];
    let data = Dataset::from(&x).with_missing(Missing::DropRows);
    let resolved = data.resolve_missing(&Options::default()).unwrap();
    assert_eq!(resolved.kept_rows(), Some(&[0, 2, 4][..]));
    let target = Target::classes_or_missing([Some("b"), Some("a"), None, Some("c"), Some("d")]);
    let left = resolved.target(&target).unwrap();
    assert_eq!(left.class_names().unwrap(), ["b", "d"]);
    assert_eq!(left.missing_rows(), [1]);
    // Complaints about the rows that are left name those of the table.
    let error = resolved.in_original_rows(Error::MissingLabels { rows: left.missing_rows() });
    assert!(matches!(error, Error::MissingLabels { rows } if rows == [2]));
    let short = resolved.target(&Target::column(&[1.0, 2.0, 3.0]));
    assert!(matches!(short.err(), Some(Error::Shape { .. })));
}

/// Of d features an estimate of d − 1 components and a noise is a covariance as free as any: its
/// eigenvalues are the spectrum.
#[test]
fn rules_see_the_whole_spectrum_of_an_estimate_that_is_free() {
    let (_, missing_counts) = holey(32, 200, 5, 2, 0.1);
    let data = Dataset::from(&missing_counts).with_missing(Missing::Em);
    let model = Pca::new(4).fit(&data).unwrap();
    let spectrum = model.spectrum().unwrap();
    let values = spectrum.view().values.to_vec();
    let (mut expected, _) = jacobi(&model.covariance().unwrap());
    expected.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(values.len(), 5);
    for (found, expected) in values.iter().zip(&expected) {
        assert_close("eigenvalue", *found, *expected, 1e-10);
    }
    // Fewer components leave values that are only known together.
    let model = Pca::new(3).fit(&data).unwrap();
    assert_eq!(model.spectrum().unwrap().view().values.len(), 3);
}

#[test]
fn constant_data_have_no_variance_and_no_mixture() {
    for value in [0.0, 0.1, 1e6, 1e200] {
        let x = Array2::from_elem((40, 5), value);
        let data = Dataset::from(&x);
        for standardize in [false, true] {
            let model =
                BayesianPca::new(NComponents::All).standardize(standardize).fit(&data).unwrap();
            assert_eq!(model.explained_variance(), [0.0]);
            assert!(Model::warnings(&model).contains(&Warning::NoVariance));
            let parts = Model::to_parts(&model).unwrap();
            assert!(eigenlens::from_parts(&parts).is_ok());
            for n_parts in [1, 2] {
                let mixture = PpcaMixture::new(n_parts, 1).standardize(standardize).fit(&data);
                assert!(matches!(mixture.err(), Some(Error::NoVariance { .. })), "{value}");
            }
        }
    }
}
