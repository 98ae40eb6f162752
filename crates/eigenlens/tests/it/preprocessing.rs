//! What is done to data before a method sees them, against the same done by hand.

use crate::support::{Random, to_csr};
use eigenlens::{
    AnyDataset, Dataset, FitContext, Fitted, Lsa, Mds, Method, Missing, Model, OptionValue,
    Options, Preprocessing, SampleWeights, SupervisedPca, Target, TermWeighting, TermWeights,
};
use ndarray::{Array2, Axis};

const N: usize = 40;

/// Every seventh entry is missing.
fn with_gaps() -> Array2<f64> {
    let x = Random::new(3).matrix(N, 4);
    Array2::from_shape_fn((N, 4), |(i, f)| if (i * 4 + f) % 7 == 0 { f64::NAN } else { x[[i, f]] })
}

fn fit(method: &str, data: AnyDataset, target: Option<&Target>) -> Fitted {
    let mut values = Method::named(method).unwrap().values();
    values.set_n_components(2);
    values.fit(&data, &mut FitContext::new().with_target(target)).unwrap()
}

fn scores(model: &dyn Model, x: &Array2<f64>) -> Array2<f64> {
    model.transform_f64(&Dataset::from(x)).unwrap()
}

#[test]
fn means_are_learned_and_go_into_new_data() {
    let x = with_gaps();
    let means: Vec<f64> = (x.columns().into_iter())
        .map(|column| {
            let known: Vec<f64> = column.iter().copied().filter(|v| !v.is_nan()).collect();
            known.iter().sum::<f64>() / known.len() as f64
        })
        .collect();
    let filled =
        Array2::from_shape_fn(x.dim(), |at| if x[at].is_nan() { means[at.1] } else { x[at] });
    let by_hand = Mds::new(2).fit(Dataset::from(&filled)).unwrap();

    let fitted = fit("mds", Dataset::from(&x).with_missing(Missing::Mean).into(), None);
    let fill = fitted.preprocessing.fill.clone().unwrap();
    assert!(fill.iter().zip(&means).all(|(a, b)| (a - b).abs() < 1e-12));
    assert_eq!(fitted.missing.map(|report| report.missing), Some(23));
    let expected = scores(&by_hand, &filled);
    assert!((&scores(&*fitted.model, &filled) - &expected).iter().all(|v| v.abs() < 1e-9));
    let data = AnyDataset::from(Dataset::from(&x));
    let prepared = fitted.preprocessing.apply(&data, &Options::default()).unwrap();
    let AnyDataset::F64(new) = prepared.data() else { panic!("float64 stays float64") };
    let found = fitted.model.transform_f64(&new).unwrap();
    assert!((&found - &expected).iter().all(|v| v.abs() < 1e-9));
}

#[test]
fn counts_are_weighted_with_their_samples_weights() {
    let mut random = Random::new(5);
    let counts = Array2::from_shape_fn((N, 6), |_| (4.0 * random.uniform()).floor());
    let csr = to_csr(&counts);
    let weights =
        SampleWeights::frequency((0..N).map(|i| 1.0 + (i % 3) as f64).collect::<Vec<_>>());
    let term_weights = TermWeights::fit(TermWeighting::TfIdf, &csr).unwrap();
    let by_hand = term_weights.apply(&csr).unwrap();
    let data = Dataset::sparse(&by_hand).with_weights(weights.clone());
    let expected = Lsa::new(2).fit(&data).unwrap();

    let mut values = Method::named("lsa").unwrap().values();
    values.set_n_components(2);
    values.set("weighting", OptionValue::Word("tf-idf".into())).unwrap();
    // Dense or sparse, the same counts are the same counts.
    for data in [Dataset::from(&counts), Dataset::sparse(&csr)] {
        let data = AnyDataset::from(data.with_weights(weights.clone()));
        let fitted = values.fit(&data, &mut FitContext::new()).unwrap();
        assert_eq!(fitted.preprocessing.term_weights.as_ref(), Some(&term_weights));
        let components = fitted.model.linear().unwrap().components.to_owned();
        assert_eq!(components, expected.components());
        let prepared = fitted.preprocessing.apply(&data, &Options::default()).unwrap();
        let AnyDataset::F64(weighted) = prepared.data() else { panic!("weights are float64") };
        let found = fitted.model.transform_f64(&weighted).unwrap();
        assert_eq!(found, expected.transform(Dataset::sparse(&by_hand)).unwrap());
    }
}

#[test]
fn a_target_goes_with_its_samples() {
    let x = with_gaps();
    let class = |i: usize| ["a", "b", "c"][i % 3];
    let complete: Vec<usize> = (0..N).filter(|i| x.row(*i).iter().all(|v| !v.is_nan())).collect();
    let left = x.select(Axis(0), &complete);
    let target = Target::classes(complete.iter().map(|i| class(*i)));
    let expected = SupervisedPca::new(2).fit(Dataset::from(&left), &target).unwrap();

    let all = Target::classes((0..N).map(class));
    let data = Dataset::from(&x).with_missing(Missing::DropRows);
    let fitted = fit("supervised-pca", data.into(), Some(&all));
    let components = fitted.model.linear().unwrap().components.to_owned();
    assert_eq!(components, expected.components());
    assert_eq!(fitted.preprocessing, Preprocessing::default());
}
