//! Data as they are handed over: an array, a view, a sparse matrix, a data set, and references to them.

use crate::support::{Random, assert_all_close, to_csr};
use eigenlens::{
    AnyArray, AnyDataset, BayesianPca, Csr, Dataset, Estimator, Fit, FitContext, Isomap, KernelPca,
    KernelSupervisedPca, LaplacianEigenmaps, Lda, Lle, Lsa, METHODS, Mds, Missing, Model, Pca,
    Ppca, PpcaMixture, SampleWeights, SparsePca, SupervisedPca, Target, Transformer,
};
use ndarray::{Array2, Axis, array, s};

/// The scores of the fit and of the model, as bits.
type Bits = (Vec<u64>, Vec<u64>);

fn bits(x: &Array2<f64>) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

fn data() -> (Array2<f64>, Csr<f64>) {
    let mut x = Random::new(11).planted(40, 5, &[9.0, 4.0, 1.0, 0.5, 0.2]).0;
    x.iter_mut().step_by(7).for_each(|v| *v = 0.0);
    let sparse = to_csr(&x);
    (x, sparse)
}

/// Fits in every way that the data can be handed over; the name of the method.
fn same_for_every_input(method: &impl Fit, chosen: &dyn Estimator, target: &Target) -> String {
    let (x, sparse) = data();
    let view = x.view();
    let dataset = Dataset::dense(x.view());
    let name = chosen.method().name;
    let of = |(model, scores): (_, Array2<f64>), again: Array2<f64>| -> Bits {
        let _: &dyn Model = &model;
        (bits(&scores), bits(&again))
    };
    macro_rules! fitted {
        ($x:expr) => {{
            let again = method.fit($x).and_then(|m| Transformer::transform(&m, $x)).expect(name);
            of(method.fit_transform($x).expect(name), again)
        }};
    }
    let expected = fitted!(&x);
    assert!(expected == fitted!(view), "{name}: a view");
    assert!(expected == fitted!(&view), "{name}: a reference to a view");
    assert!(expected == fitted!(&dataset), "{name}: a reference to a data set");
    assert!(expected == fitted!(dataset.clone()), "{name}: a data set");
    assert!(fitted!(&sparse) == fitted!(Dataset::sparse(&sparse)), "{name}: a sparse matrix");

    let mut context = FitContext::new().with_scores(true).with_target(Some(target));
    let boxed = chosen.fit(&AnyDataset::from(dataset), &mut context).expect(name);
    let Some(AnyArray::F64(scores)) = boxed.scores else { panic!("{name}: no scores") };
    assert!(expected.0 == bits(&scores), "{name}: behind a box");
    assert!(expected.1 == bits(&boxed.model.transform(&x).expect(name)), "{name}: boxed model");
    boxed.model.method().to_owned()
}

#[test]
fn every_method_gives_the_same_bits_however_its_data_are_handed_over() {
    let target = Target::classes((0..40).map(|i| ["a", "b"][i % 2]));
    macro_rules! each {
        ($($method:expr),*) => { vec![$(same_for_every_input(&$method, &$method, &target)),*] };
        (supervised: $($method:expr),*) => {
            vec![$(same_for_every_input(&$method.with_target(&target), &$method, &target)),*]
        };
    }
    let mut found = each!(
        Pca::new(2),
        Lsa::new(2),
        Ppca::new(2),
        BayesianPca::new(3),
        PpcaMixture::new(2, 1),
        SparsePca::cardinality(2, 3),
        KernelPca::new(2),
        Mds::new(2),
        Isomap::new(2).neighbors(12),
        LaplacianEigenmaps::new(2).neighbors(12),
        Lle::new(2).neighbors(12)
    );
    found
        .extend(each!(supervised: SupervisedPca::new(2), KernelSupervisedPca::new(2), Lda::new(1)));
    let mut all: Vec<_> = METHODS.iter().map(|method| method.name).collect();
    found.sort();
    all.sort_unstable();
    assert_eq!(found, all, "a method without `Fit`");
}

#[test]
fn a_sparse_matrix_is_the_dense_one() {
    let (x, sparse) = data();
    let (dense, scores) = Pca::new(2).fit_transform(&x).unwrap();
    let (_, of_sparse) = Pca::new(2).fit_transform(&sparse).unwrap();
    assert_all_close("scores", &of_sparse, &scores, 1e-12);
    assert_all_close("scores of new samples", &dense.transform(&sparse).unwrap(), &scores, 1e-12);
    let kept = dense.reconstruct(x.slice(s![..3, ..])).unwrap();
    assert_all_close(
        "reconstruction",
        &dense.reconstruct(&sparse).unwrap().slice(s![..3, ..]).to_owned(),
        &kept,
        1e-12,
    );
}

#[test]
fn a_reference_keeps_names_weights_and_policy() {
    let x = array![[1.0, 2.0], [3.0, 5.0], [4.0, 4.0], [0.0, 1.0]];
    let data = Dataset::from(&x)
        .with_feature_names(["a", "b"])
        .unwrap()
        .with_weights(SampleWeights::frequency([1.0, 2.0, 1.0, 3.0]));
    let model = Pca::new(1).fit(&data).unwrap();
    assert_eq!(model.feature_names().unwrap(), ["a", "b"]);

    // A weight of w is the row w times.
    let repeated = x.select(Axis(0), &[0, 1, 1, 2, 3, 3, 3]);
    let of_repeated = Pca::new(1).fit(&repeated).unwrap();
    let (found, expected) = (model.explained_variance()[0], of_repeated.explained_variance()[0]);
    assert!((found - expected).abs() < 1e-13 * expected, "{found} {expected}");

    let with_hole = array![[1.0, 2.0], [3.0, 5.0], [f64::NAN, 4.0], [0.0, 1.0]];
    let data = Dataset::from(&with_hole).with_missing(Missing::DropRows);
    let found = Pca::new(1).fit(&data).unwrap().explained_variance()[0];
    let expected = Pca::new(1).fit(&x.select(Axis(0), &[0, 1, 3])).unwrap().explained_variance()[0];
    assert!((found - expected).abs() < 1e-13 * expected, "{found} {expected}");
    assert!(Pca::new(1).fit(&with_hole).is_err());
}
