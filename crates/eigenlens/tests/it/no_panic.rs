//! Arbitrary small matrices of the worst numbers there are, through every route: a finite answer or
//! a typed error, never a panic, never NaN.

use crate::torture_support::*;
use eigenlens::{
    Csr, Dataset, Error, Moments, NComponents, Options, Pca, PcaModel, ProofLimits, Rule,
    SampleWeights, Scalar, SparsePca, SparsePcaModel,
};
use ndarray::Array2;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Zeros, denormals, the ends of the range, duplicates, and a few plain numbers.
fn entry() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(-0.0),
        Just(1.0),
        Just(-1.0),
        Just(5e-324),
        Just(-2e-310),
        Just(f64::MIN_POSITIVE),
        Just(1e-160),
        Just(1e154),
        Just(1e300),
        Just(1e308),
        Just(-1e308),
        Just(f64::MAX),
        Just(1e16),
        Just(1.0 + f64::EPSILON),
        -3.0..3.0f64,
    ]
}

fn single() -> impl Strategy<Value = f32> {
    prop_oneof![
        Just(0.0f32),
        Just(-0.0),
        Just(1.0),
        Just(1e-45),
        Just(1e-39),
        Just(1e-20),
        Just(1e20),
        Just(3e38),
        Just(-3e38),
        Just(f32::MAX),
        -3.0..3.0f32,
    ]
}

fn matrix<T: Scalar>(entry: impl Strategy<Value = T>) -> impl Strategy<Value = Array2<T>> {
    (2usize..7, 1usize..6, prop::collection::vec(entry, 36))
        .prop_map(|(n, d, values)| Array2::from_shape_fn((n, d), |(i, f)| values[i * 6 + f]))
}

fn sane(error: Error, what: &str) {
    assert!(!matches!(error, Error::Internal(_)), "{what}: {error:?}");
    assert!(!error.to_string().is_empty());
}

fn sound<T: Scalar>(model: &PcaModel, scores: &Array2<T>, what: &str) {
    let u = model.components();
    assert!(u.iter().all(|v| v.is_finite()), "{what}: components {u}");
    let gram = u.dot(&u.t());
    for ((i, j), v) in gram.indexed_iter() {
        assert!((v - f64::from(u8::from(i == j))).abs() < 1e-10, "{what}: not orthonormal {gram}");
    }
    let ratios = model.explained_variance_ratio();
    assert!(ratios.iter().all(|r| (0.0..=1.0).contains(r)), "{what}: {ratios:?}");
    assert!(ratios.iter().sum::<f64>() < 1.0 + 1e-5, "{what}: {ratios:?}");
    assert!(model.standard_deviations().iter().all(|v| !v.is_nan() && *v >= 0.0), "{what}");
    assert!(model.explained_variance().iter().all(|v| !v.is_nan()), "{what}");
    assert!(!model.total_variance().is_nan() && !model.noise_variance().is_nan(), "{what}");
    assert!(model.mean().iter().all(|v| v.is_finite()), "{what}: mean {:?}", model.mean());
    // A score may lie beyond the range of numbers; it is never no number at all.
    assert!(scores.iter().all(|z| !z.to_f64().is_nan()), "{what}: scores {scores:?}");
    let certificate = model.certificate();
    assert!(
        certificate.residuals.iter().all(|r| !r.is_nan()),
        "{what}: {:?}",
        certificate.residuals
    );
    assert!(certificate.angles.iter().all(|a| (0.0..=1.0).contains(a)), "{what}");
}

fn through_everything<T: Scalar>(x: &Array2<T>) {
    let (n, d) = x.dim();
    let csr: Csr<T> = compressed(x);
    let streamed = InBlocks::new(x, 2);
    for solver in ROUTES {
        for (center, standardize, whiten) in
            [(true, false, false), (true, true, true), (false, false, true)]
        {
            let pca = Pca::new(n.min(d))
                .center(center)
                .standardize(standardize)
                .whiten(whiten)
                .solver(solver);
            let weights =
                SampleWeights::relative((0..n).map(|i| (1 + i % 3) as f64).collect::<Vec<_>>());
            let forms = [
                ("dense", Dataset::from(x)),
                ("sparse", Dataset::sparse(&csr)),
                ("streamed", Dataset::streamed(&streamed)),
                ("weighted", Dataset::from(x).with_weights(weights)),
            ];
            for (form, data) in forms {
                let what = format!("{solver:?} {form} {center} {standardize} {x:?}");
                match pca.fit_transform(&data) {
                    Err(error) => sane(error, &what),
                    Ok((model, scores)) => {
                        sound(&model, &scores, &what);
                        let _ = model.sample_diagnostics(&data).map_err(|e| sane(e, &what));
                        let _ = model.feature_diagnostics().map_err(|e| sane(e, &what));
                        let _ = model.log_likelihood(&data).map_err(|e| sane(e, &what));
                        let _ = model.precision().map_err(|e| sane(e, &what));
                        let _ = model.q_limit(&data, 0.95).map_err(|e| sane(e, &what));
                        let _ = model.verify(&data).map_err(|e| sane(e, &what));
                        let _ = model.inverse_transform(scores.view()).map_err(|e| sane(e, &what));
                        let _ = format!("{} {}", model.certificate(), model.plan());
                    }
                }
            }
        }
    }
    for n_components in
        [NComponents::VarianceShare(0.9), NComponents::All, NComponents::Rule(Rule::Elbow)]
    {
        let what = format!("{n_components:?} {x:?}");
        match Pca::new(n_components).fit_transform(x) {
            Err(error) => sane(error, &what),
            Ok((model, scores)) => sound(&model, &scores, &what),
        }
    }
    sparse_components(x);
    let what = format!("moments {x:?}");
    match Moments::of(x, &Options::default()) {
        Err(error) => sane(error, &what),
        Ok(moments) => {
            assert_eq!(Moments::from_bytes(&moments.to_bytes()).unwrap(), moments);
            let twice = moments.merge(&moments).unwrap();
            match Pca::new(1).fit_moments(&twice) {
                Err(error) => sane(error, &what),
                Ok(model) => assert!(model.components().iter().all(|v| v.is_finite())),
            }
        }
    }
}

fn sparse_components<T: Scalar>(x: &Array2<T>) {
    let d = x.ncols();
    let limits = ProofLimits { time: None, nodes: 8, gap: 0.0 };
    for pca in [
        SparsePca::cardinality(1, 1).exact(limits.clone()),
        SparsePca::cardinality(d, d.div_ceil(2)).exact(limits).non_negative(true),
        SparsePca::penalty(1, 0.5).with_path(3),
        SparsePca::non_zeros(d, 1).standardize(true),
    ] {
        // Whether an alternation rests does not matter here.
        let pca = pca.options(Options { max_iterations: 50, ..Options::default() });
        let what = format!("{pca:?} {x:?}");
        match pca.fit_transform(x) {
            Err(error) => sane(error, &what),
            Ok((model, scores)) => {
                assert!(model.components().iter().all(|v| v.is_finite()), "{what}");
                assert!(scores.iter().all(|z| !z.to_f64().is_nan()), "{what}: {scores:?}");
                let shares = model.adjusted_variance_ratio();
                assert!(shares.iter().all(|s| (0.0..=1.0).contains(s)), "{what}: {shares:?}");
                assert!((0.0..=1.0).contains(&model.variance_given_up()), "{what}");
                assert!(model.optimality().iter().all(|o| (0.0..=1.0).contains(&o.gap)), "{what}");
                let parts = model.to_parts();
                let back = SparsePcaModel::from_parts(&parts).unwrap();
                assert_eq!(back.to_parts(), parts, "{what}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None,
        rng_seed: RngSeed::Fixed(20), ..ProptestConfig::default() })]

    #[test]
    fn doubles(x in matrix(entry())) {
        through_everything(&x);
    }

    #[test]
    fn singles(x in matrix(single())) {
        through_everything(&x);
    }

    #[test]
    fn bytes_of_moments(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Moments::from_bytes(&bytes).is_err());
        let mut begun = b"EIGMOM\x01\x00".to_vec();
        begun.extend(bytes);
        prop_assert!(Moments::from_bytes(&begun).is_err());
    }

    #[test]
    fn compressed_rows(
        n in 0usize..5,
        d in 0usize..5,
        starts in prop::collection::vec(0usize..6, 0..6),
        columns in prop::collection::vec(0u32..6, 0..6),
        values in prop::collection::vec(-2.0..2.0f64, 0..6),
    ) {
        let Ok(x) = Csr::new(n, d, starts, columns, values) else { return Ok(()) };
        if let Ok((model, scores)) = Pca::new(1).fit_transform(&x) {
            sound(&model, &scores, "sparse");
        }
    }
}
