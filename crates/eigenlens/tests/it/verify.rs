//! Models of every method, verified against the data they were made from: honest ones pass, whatever the element
//! type, the storage and the way missing entries were treated; others do not.

use crate::estimators::{classes, estimator, values};
use crate::support::Random;
use crate::torture_support::{InBlocks, compressed};
use eigenlens::{
    AnyDataset, Dataset, Error, FitContext, METHODS, Method, Missing, Model, NComponents, Options,
    Pca, Ppca, Preprocessing, SampleWeights, Solver, Verification, VerifyOptions, from_parts,
    verify_model,
};
use ndarray::{Array2, Axis};

fn table(n: usize, d: usize) -> Array2<f64> {
    let mut x = Random::new(23).ordinary(n, d);
    for (j, mut column) in x.columns_mut().into_iter().enumerate() {
        column *= 4.0 / (1 << j.min(4)) as f64;
    }
    x
}

fn named(found: &Verification) -> Vec<String> {
    found.failures().map(ToString::to_string).collect()
}

fn options() -> VerifyOptions {
    VerifyOptions { seed: 77, ..VerifyOptions::default() }
}

/// Fits a method to data as surfaces do, stores the model and verifies what comes back.
fn verified(method: &'static Method, data: &AnyDataset, x: &Array2<f64>) -> Verification {
    let target = classes(x.column(0));
    let values = values(method, &NComponents::Fixed(2), &Options::default()).unwrap();
    let mut context = FitContext::new().with_target(Some(&target));
    let fitted = values.fit(data, &mut context).unwrap();
    let model = from_parts(&fitted.model.to_parts().unwrap()).unwrap();
    let target = method.supervised.then_some(&target);
    verify_model(&*model, &fitted.preprocessing, data, target, &options()).unwrap()
}

#[test]
fn honest_models_of_every_method_pass() {
    let x = table(80, 6);
    let single = x.mapv(|v| v as f32);
    let wide = single.mapv(f64::from);
    for method in METHODS {
        let f64s = AnyDataset::from(Dataset::from(&x));
        let found = verified(method, &f64s, &x);
        assert!(found.passed(), "{}: {:#?}", method.name, named(&found));
        assert!(found.checks.len() > 4, "{}: {found:#?}", method.name);
        assert_eq!(found.rows, 80, "{}", method.name);
        let f32s = AnyDataset::from(Dataset::from(&single));
        let found = verified(method, &f32s, &wide);
        assert!(found.passed(), "{} of float32: {:#?}", method.name, named(&found));
    }
}

#[test]
fn other_data_are_told_apart_by_every_method() {
    let x = table(80, 6);
    let other = {
        let mut random = Random::new(99);
        let noise = random.ordinary(80, 6);
        &x + &(noise * 0.01)
    };
    for method in METHODS {
        let data = AnyDataset::from(Dataset::from(&x));
        let changed = AnyDataset::from(Dataset::from(&other));
        let target = classes(x.column(0));
        let estimator =
            estimator(method, &NComponents::Fixed(2), &Options::default(), &data.shape()).unwrap();
        let mut context = FitContext::new().with_target(Some(&target));
        let model = estimator.fit(&data, &mut context).unwrap().model;
        let found = model.verify(&changed, Some(&target), &options()).unwrap();
        assert!(!found.passed(), "{}", method.name);
    }
}

#[test]
fn sparse_streamed_and_weighted_data_are_verified() {
    let mut x = table(120, 5);
    x.mapv_inplace(|v| if v.abs() < 1.0 { 0.0 } else { v });
    let csr = compressed(&x);
    let blocks = InBlocks::new(&x, 7);
    let weights: Vec<f64> = (0..120).map(|i| f64::from(i % 4)).collect();
    for solver in [Solver::Covariance, Solver::Iterative] {
        for standardize in [false, true] {
            let pca = Pca::new(2).solver(solver).standardize(standardize);
            let sets = [
                Dataset::sparse(&csr),
                Dataset::streamed(&blocks),
                Dataset::from(&x).with_weights(SampleWeights::frequency(weights.clone())),
                Dataset::sparse(&csr).with_weights(SampleWeights::frequency(weights.clone())),
            ];
            for data in &sets {
                let model = pca.fit(data).unwrap();
                let found = model.verify(data).unwrap();
                assert!(found.passed(), "{solver:?}: {:#?}", named(&found));
            }
            // A model of weighted data is none of the same data without weights.
            let model = pca.fit(&sets[2]).unwrap();
            assert!(!model.verify(&x).unwrap().passed());
        }
    }
}

/// More than 400 samples and features: the leading components are judged by random probes.
#[test]
fn large_matrices_are_probed() {
    let mut random = Random::new(5);
    let spectrum: Vec<f64> = (0..450).map(|j| 1.0 / (1.0 + j as f64)).collect();
    let (x, _) = random.planted(460, 450, &spectrum);
    for solver in [Solver::Covariance, Solver::Iterative] {
        let model = Pca::new(3).solver(solver).fit(&x).unwrap();
        let found = model.verify(&x).unwrap();
        assert!(found.passed(), "{solver:?}: {:#?}", named(&found));
    }
    // Few samples of many features: their inner products are the small matrix.
    let few = x.slice(ndarray::s![..60, ..]).to_owned();
    let model = Pca::new(3).fit(&few).unwrap();
    assert!(model.verify(&few).unwrap().passed());
}

#[test]
fn every_treatment_of_missing_entries_is_verified() {
    let mut x = table(90, 5);
    for i in (0..90).step_by(7) {
        x[[i, i % 5]] = f64::NAN;
    }
    let gaps = Dataset::from(&x);
    for policy in [Missing::DropRows, Missing::Mean, Missing::Em, Missing::DropColumns] {
        let mut x = x.clone();
        if policy == Missing::DropColumns {
            x.column_mut(1).mapv_inplace(|v| if v.is_nan() { 0.5 } else { v });
            x.column_mut(3).mapv_inplace(|v| if v.is_nan() { 0.5 } else { v });
        }
        let data = Dataset::from(&x).with_missing(policy);
        let any = AnyDataset::from(data.clone());
        let models: [Box<dyn Model>; 2] =
            [Box::new(Pca::new(1).fit(&data).unwrap()), Box::new(Ppca::new(1).fit(&data).unwrap())];
        for model in models {
            let found = model.verify(&any, None, &options()).unwrap();
            assert!(found.passed(), "{policy:?}, {}: {:#?}", model.method(), named(&found));
            assert_eq!(found.rows, 90);
        }
    }
    // Other methods are completed before they see the data.
    let method = Method::named("kernel-pca").unwrap();
    let data = AnyDataset::from(gaps.with_missing(Missing::Mean));
    let found = verified(method, &data, &x.mapv(|v| if v.is_nan() { 0.0 } else { v }));
    assert!(found.passed(), "{:#?}", named(&found));
    assert!(found.checks.iter().any(|check| check.claim.contains("missing entries of feature")));
}

#[test]
fn what_goes_into_missing_entries_is_a_claim() {
    let mut x = table(60, 4);
    x[[3, 1]] = f64::NAN;
    let data = AnyDataset::from(Dataset::from(&x).with_missing(Missing::Mean));
    let method = Method::named("kernel-pca").unwrap();
    let values = values(method, &NComponents::Fixed(2), &Options::default()).unwrap();
    let fitted = values.fit(&data, &mut FitContext::new()).unwrap();
    let mut fill = fitted.preprocessing.fill.clone().unwrap();
    fill[1] += 0.1;
    let steps = Preprocessing { fill: Some(fill), ..fitted.preprocessing };
    let found = verify_model(&*fitted.model, &steps, &data, None, &options()).unwrap();
    assert!(named(&found)[0].starts_with("what goes into missing entries of feature 1"));
}

#[test]
fn a_check_keeps_to_its_budget_or_is_refused() {
    let x = table(100, 6);
    let model = Pca::new(2).fit(&x).unwrap();
    let data = AnyDataset::from(Dataset::from(&x));
    let needed = model.verification_memory(&data.shape());
    let within = |memory| VerifyOptions { memory: Some(memory), ..options() };
    assert!(Model::verify(&model, &data, None, &within(needed)).unwrap().passed());
    let refused = Model::verify(&model, &data, None, &within(needed - 1));
    assert!(matches!(refused, Err(Error::Memory { .. })), "{refused:?}");
    let loose = VerifyOptions { tolerance: 1.5, ..options() };
    let refused = Model::verify(&model, &data, None, &loose);
    assert!(matches!(refused, Err(Error::Parameter { name: "tolerance", .. })), "{refused:?}");
}

/// The tolerance is the check's own: a rough answer is refused, and passes where so much is allowed.
#[test]
fn the_tolerance_is_that_of_the_check() {
    let spectrum: Vec<f64> = (0..200).map(|j| 1.0 / (1.0 + 0.05 * j as f64)).collect();
    let (x, _) = Random::new(53).planted(260, 200, &spectrum);
    let solver = Solver::Randomized { oversampling: 4, power_iterations: 2 };
    let model = Pca::new(2).solver(solver).fit(&x).unwrap();
    let data = AnyDataset::from(Dataset::from(&x));
    let found = Model::verify(&model, &data, None, &options()).unwrap();
    assert!(named(&found).iter().any(|s| s.contains("is an eigenvector")), "{:?}", named(&found));
}

/// The same check with the same seed says the same; another seed draws other probes.
#[test]
fn a_check_is_repeatable() {
    let x = table(500, 420).select(Axis(0), &(0..450).collect::<Vec<_>>());
    let model = Pca::new(2).fit(&x).unwrap();
    let data = AnyDataset::from(Dataset::from(&x));
    let run = |seed| {
        let options = VerifyOptions { seed, ..VerifyOptions::default() };
        Model::verify(&model, &data, None, &options).unwrap()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).checks, run(2).checks);
    assert!(run(1).passed() && run(2).passed(), "{:#?}", named(&run(1)));
}
