//! Pictures of loadings say what loadings are, and it is true.

use crate::{numbers, svg};
use eigenlens::{
    Dataset, Lda, Lsa, Model, Pca, Ppca, Projection, SparsePca, SupervisedPca, Target,
};
use ndarray::{Array2, ArrayView1};

fn standard_deviation(values: ArrayView1<f64>) -> f64 {
    let n = values.len() as f64;
    let mean = values.sum() / n;
    (values.mapv(|v| (v - mean).powi(2)).sum() / (n - 1.0)).sqrt()
}

fn root_mean_square(values: ArrayView1<f64>) -> f64 {
    (values.mapv(|v| v * v).sum() / (values.len() as f64 - 1.0)).sqrt()
}

/// Components have length 1, so that a column of loadings is as long as what its component was multiplied by:
/// a statistic of the scores, or of the samples along the component (features of one scale, no division).
#[test]
fn loadings_are_components_times_what_the_caption_says() {
    let x = numbers(60);
    let data = Dataset::from(&x);
    let classes: Vec<&str> = (0..60).map(|i| ["a", "b", "c"][i % 3]).collect();
    let target = Target::classes(classes);
    let sparse =
        |projection| SparsePca::cardinality(2, 3).projection(projection).fit(&data).unwrap();
    let models: Vec<Box<dyn Model>> = vec![
        Box::new(Pca::new(2).fit(&data).unwrap()),
        Box::new(Pca::new(2).whiten(true).fit(&data).unwrap()),
        Box::new(Pca::new(2).center(false).fit(&data).unwrap()),
        Box::new(Pca::new(2).center(false).whiten(true).fit(&data).unwrap()),
        Box::new(Lsa::new(2).fit(&data).unwrap()),
        Box::new(Ppca::new(2).fit(&data).unwrap()),
        Box::new(sparse(Projection::Product)),
        Box::new(sparse(Projection::LeastSquares)),
        Box::new(SupervisedPca::new(2).fit(&data, &target).unwrap()),
    ];
    for model in models {
        let linear = model.linear().unwrap();
        let words = linear.scaled_by;
        let scores = model.transform_f64(&data).unwrap();
        let along: Array2<f64> = x.dot(&linear.components.t());
        let values = if words.contains("of their scores") { &scores } else { &along };
        for (j, loadings) in linear.loadings.columns().into_iter().enumerate() {
            let length = loadings.mapv(|v| v * v).sum().sqrt();
            let expected = if words.starts_with("the standard deviations") {
                standard_deviation(values.column(j))
            } else {
                root_mean_square(values.column(j))
            };
            let close = (length - expected).abs() < 1e-9 * expected;
            assert!(close, "{} {words}: {length} is not {expected}", model.method());
        }
        for kind in ["loadings", "heat-map"] {
            let svg = svg(kind, &*model, &x).unwrap();
            assert!(svg.contains(&format!("Loadings: components times {words}.")), "{kind}");
        }
    }
}

/// Discriminants: loadings are the coefficients that give scores of variance 1 within classes, and distances between
/// scores are those of Mahalanobis, not those between samples.
#[test]
fn discriminants_say_what_their_loadings_and_distances_are() {
    let mut x = numbers(60);
    x.column_mut(1).iter_mut().enumerate().for_each(|(i, v)| *v += (i % 3) as f64);
    let target = Target::classes((0..60).map(|i| ["a", "b", "c"][i % 3]));
    let model = Lda::new(2).fit(&x, &target).unwrap();
    let linear = Model::linear(&model).unwrap();
    let scale = linear.scale.clone().unwrap();
    let standardized =
        Array2::from_shape_fn(x.dim(), |(i, f)| (x[[i, f]] - linear.mean[f]) / scale[f]);
    let scores = model.transform(&x).unwrap();
    let off = &standardized.dot(&linear.loadings) - &scores;
    assert!(off.iter().all(|v| v.abs() < 1e-9));
    let words = "components times what makes the variance of their scores within classes 1.";
    assert!(svg("loadings", &model, &x).unwrap().contains(words));
    let biplot = svg("biplot", &model, &x).unwrap();
    assert!(biplot.contains("in units of the spread within classes"), "{biplot}");
    assert!(!biplot.contains("approximate distances between samples."));
    let pca = Pca::new(2).fit(&x).unwrap();
    assert!(svg("biplot", &pca, &x).unwrap().contains("approximate distances between samples."));
    // The scree says of what its shares are.
    assert!(svg("scree", &model, &x).unwrap().contains("the variance between classes"));
}
