//! Fits from a table that is a covariance matrix, and variances divided by n.

use crate::support::*;
use eigenlens::model::Divisor;
use eigenlens::{
    AnyDataset, Dataset, FitContext, Method, Missing, Model, OptionValue, OptionValues, Pca,
    PcaModel, Ppca, SampleWeights, SparsePca, VerifyOptions, ndarray,
};
use ndarray::{Array2, Axis, array};

fn word(text: &str) -> OptionValue {
    OptionValue::Word(text.into())
}

fn from_covariance(method: &str, n_samples: Option<f64>, k: usize) -> OptionValues {
    let mut values = Method::named(method).unwrap().values();
    values.set("input", word("covariance")).unwrap();
    if let Some(n) = n_samples {
        values.set("sample_count", OptionValue::Number(n)).unwrap();
    }
    values.set_n_components(k);
    values
}

fn covariance_of(x: &Array2<f64>) -> Array2<f64> {
    let mean = x.mean_axis(Axis(0)).unwrap();
    let centered = x - &mean;
    centered.t().dot(&centered) / (x.nrows() as f64 - 1.0)
}

/// Every method that takes one finds in the covariance of samples what it finds in the samples.
#[test]
fn a_table_of_covariances_gives_what_its_samples_give() {
    let x = Random::new(1).ordinary(60, 6);
    let names: Vec<String> = "abcdef".chars().map(String::from).collect();
    let covariance = covariance_of(&x);
    for method in ["pca", "ppca", "sparse-pca"] {
        let mut of_samples = Method::named(method).unwrap().values();
        of_samples.set_n_components(2);
        let samples = AnyDataset::from(Dataset::from(&x));
        let wanted = of_samples.fit(&samples, &mut FitContext::new()).unwrap().model;
        let table = Dataset::from(&covariance).with_feature_names(&names).unwrap();
        let table = AnyDataset::from(table);
        let values = from_covariance(method, Some(60.0), 2);
        let found = values.fit(&table, &mut FitContext::new()).unwrap().model;
        let loadings = |model: &dyn Model| model.linear().unwrap().loadings;
        assert_all_close(method, &loadings(&*found), &loadings(&*wanted), 1e-9);
        assert_eq!(found.n_samples(), Some(60.0));
        assert_eq!(found.feature_names().unwrap(), names);
        assert_eq!(found.plan().route.to_string(), "given covariance");
        // It goes through a model file's parts, and knows no samples to be checked against.
        let again = eigenlens::from_parts(&found.to_parts().unwrap()).unwrap();
        assert_all_close(method, &loadings(&*again), &loadings(&*found), 0.0);
        let error = found.verify(&samples, None, &VerifyOptions::default()).unwrap_err();
        assert!(error.to_string().contains("does not tell their means"), "{error}");
    }
    let typed = Ppca::new(2).fit_covariance(covariance.view(), 60.0).unwrap();
    assert_close(
        "noise",
        typed.noise_variance(),
        Ppca::new(2).fit(&x).unwrap().noise_variance(),
        1e-9,
    );
}

/// Jeffers' pitprops: eigenvalues of the published correlation matrix.
#[test]
fn pitprops_fit_from_their_correlations() {
    let rows: Vec<Vec<f64>> = include_str!("../../../../golden/pitprops/correlations.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|v| v.parse().unwrap()).collect())
        .collect();
    let matrix = Array2::from_shape_fn((13, 13), |(i, j)| rows[i][j]);
    let model = Pca::new(6).covariance(Some(180.0)).fit(&matrix).unwrap();
    for (found, printed) in
        model.explained_variance().iter().zip([4.2186, 2.3781, 1.8782, 1.1094, 0.9100, 0.8154])
    {
        assert_close("eigenvalue", *found, printed, 0.5e-4);
    }
    let errors = model.sampling_errors().unwrap();
    assert_close("error", errors[0], 4.2186 * (2.0f64 / 179.0).sqrt(), 1e-4);
}

#[test]
fn what_is_no_covariance_table_is_refused() {
    let refused = |method: &str, data: Dataset<f64>, scores: bool, words: &str| {
        let mut context = FitContext::new().with_scores(scores);
        let values = from_covariance(method, Some(9.0), 1);
        let error = values.fit(&AnyDataset::from(data), &mut context).unwrap_err().to_string();
        assert!(error.contains(words), "{method}: {error}");
    };
    let square = array![[2.0, 0.5], [0.5, 1.0]];
    let tall = array![[2.0, 0.5], [0.5, 1.0], [0.0, 0.0]];
    let askew = array![[2.0, 0.5], [0.25, 1.0]];
    let holes = array![[2.0, f64::NAN], [0.5, 1.0]];
    let negative = array![[2.0, 3.0], [3.0, 1.0]];
    for method in ["pca", "ppca", "sparse-pca"] {
        refused(method, Dataset::from(&tall), false, "square");
        refused(method, Dataset::from(&askew), false, "symmetric");
        refused(method, Dataset::from(&holes), false, "is missing");
        refused(method, Dataset::from(&negative), false, "eigenvalue");
        refused(method, Dataset::from(&square), true, "has no samples");
        for missing in [Missing::Em, Missing::Mean, Missing::DropRows] {
            let data = Dataset::from(&square).with_missing(missing);
            refused(method, data, false, "a covariance matrix has none");
        }
        let weights = SampleWeights::frequency(vec![1.0, 2.0]);
        let weighted = Dataset::from(&square).with_weights(weights);
        refused(method, weighted, false, "a covariance matrix has none");
    }
    let values = from_covariance("ppca", None, 1);
    let data = AnyDataset::from(Dataset::from(&square));
    let error = values.fit(&data, &mut FitContext::new()).unwrap_err().to_string();
    assert!(error.contains("not known"), "{error}");
    let error = SparsePca::cardinality(1, 1).fit_covariance(tall.view(), None).unwrap_err();
    assert!(error.to_string().contains("square"), "{error}");
}

/// Mean square of a column.
fn mean_square(scores: &Array2<f64>, j: usize) -> f64 {
    scores.column(j).iter().map(|v| v * v).sum::<f64>() / scores.nrows() as f64
}

/// With the divisor n variances are mean squares, by plain sums over the scores; what is defined with n − 1 stays.
#[test]
fn variances_divided_by_n_are_mean_squares() {
    let x = Random::new(2).ordinary(25, 5);
    let fit = |divisor| Pca::new(3).divisor(divisor).fit_transform(&x).unwrap();
    let ((unbiased, _), (model, scores)) = (fit(Divisor::Unbiased), fit(Divisor::Samples));
    let total: f64 = {
        let centered = &x - &x.mean_axis(Axis(0)).unwrap();
        centered.iter().map(|v| v * v).sum::<f64>() / 25.0
    };
    assert_close("total", model.total_variance(), total, 1e-12);
    for j in 0..3 {
        assert_close("variance", model.explained_variance()[j], mean_square(&scores, j), 1e-12);
        let share = mean_square(&scores, j) / total;
        assert_close("share", model.explained_variance_ratio()[j], share, 1e-12);
        let length: f64 = model.loadings().column(j).iter().map(|v| v * v).sum();
        assert_close("loading", length, mean_square(&scores, j), 1e-12);
    }
    let left = (total - model.explained_variance().iter().sum::<f64>()) / 2.0;
    assert_close("noise", model.noise_variance(), left, 1e-12);
    assert_close("trace", model.covariance().unwrap().diag().sum(), total, 1e-12);
    let product = model.covariance().unwrap().dot(&model.precision().unwrap());
    assert_all_close("inverse", &product, &Array2::eye(5), 1e-10);
    // What does not depend on it.
    assert_eq!(model.singular_values(), unbiased.singular_values());
    let diagnostics = |model: &PcaModel| model.sample_diagnostics(&x).unwrap().t_squared;
    assert_eq!(diagnostics(&model), diagnostics(&unbiased));
    assert_eq!(model.components(), unbiased.components());
    // Whitened scores have mean square 1, lead back, and a stored model says the same.
    let whitened = Pca::new(3).divisor(Divisor::Samples).whiten(true);
    let (model, scores) = whitened.fit_transform(&x).unwrap();
    assert_close("whitened", mean_square(&scores, 1), 1.0, 1e-12);
    let back = model.inverse_transform(scores.view()).unwrap();
    assert_all_close("way back", &back, &unbiased.reconstruct(&x).unwrap(), 1e-10);
    let again = PcaModel::from_parts(&model.to_parts()).unwrap();
    assert_eq!(again.transform(&x).unwrap(), model.transform(&x).unwrap());
    assert_eq!(again.explained_variance(), model.explained_variance());
    assert!(model.verify(&x).unwrap().passed());
    // The likelihood under maximum-likelihood variances is the larger one.
    let whole = |divisor| {
        let model = Pca::new(3).divisor(divisor).fit(&x).unwrap();
        model.log_likelihood(&x).unwrap().total
    };
    assert!(whole(Divisor::Samples) > whole(Divisor::Unbiased));
    let error = Pca::new(2).standardize(true).divisor(Divisor::Samples).fit(&x).unwrap_err();
    assert!(error.to_string().contains("their variances are 1"), "{error}");
    let error =
        Pca::new(1).divisor(Divisor::Samples).fit_covariance(covariance_of(&x).view(), None);
    assert!(error.unwrap_err().to_string().contains("not known"));
}
