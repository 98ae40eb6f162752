//! What the interactive page holds is what the library says.

use crate::numbers;
use eigenlens::{AnyDataset, Csr, Dataset, KernelPca, Model, Pca, Ppca, SparsePca};
use eigenlens_report::{Explorer, ExplorerValues};
use eigenlens_views::{ExplorerOptions, LabelColumn, Request, Samples, explorer};
use ndarray::Array2;

/// The share of the sum of squares that lies between two groups, by its definition.
fn share_between(z: &[f64], of: &[usize]) -> f64 {
    let mean = |keep: &dyn Fn(usize) -> bool| {
        let kept: Vec<f64> = (0..z.len()).filter(|&i| keep(i)).map(|i| z[i]).collect();
        kept.iter().sum::<f64>() / kept.len() as f64
    };
    let all = mean(&|_| true);
    let between: f64 = (0..z.len()).map(|i| (mean(&|j| of[j] == of[i]) - all).powi(2)).sum();
    between / z.iter().map(|v| (v - all).powi(2)).sum::<f64>()
}

fn page(model: &dyn Model, x: &Array2<f64>, options: &ExplorerOptions) -> Explorer {
    let groups: Vec<&str> = (0..x.nrows()).map(|i| ["left", "right"][i % 2]).collect();
    let ages: Vec<String> = (0..x.nrows()).map(|i| format!("{}.5", i * i)).collect();
    let ages: Vec<&str> = ages.iter().map(String::as_str).collect();
    let ids: Vec<String> = (0..x.nrows()).map(|i| format!("s{i}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let labels = [
        LabelColumn { name: "id".into(), values: ids },
        LabelColumn { name: "group".into(), values: groups },
        LabelColumn { name: "age".into(), values: ages },
    ];
    let samples = Samples::new(AnyDataset::from(Dataset::from(x))).with_labels(&labels, None);
    explorer(&Request::new(model).with_samples(samples), options).unwrap()
}

#[test]
fn samples_hold_scores_diagnostics_and_labels() {
    let x = numbers(40);
    let model = Pca::new(2).fit(&x).unwrap();
    let page = page(&model, &x, &ExplorerOptions::default());
    let samples = page.samples.unwrap();
    let scores = model.transform(&x).unwrap();
    let diagnostics = model.sample_diagnostics(&x).unwrap();
    for j in 0..2 {
        assert_eq!(samples.scores[j], scores.column(j).to_vec());
        assert_eq!(samples.squared_cosines[j], diagnostics.squared_cosines.column(j).to_vec());
    }
    let monitoring = samples.monitoring.unwrap();
    assert_eq!(monitoring.t_squared, diagnostics.t_squared.to_vec());
    assert_eq!(monitoring.q, diagnostics.q.to_vec());
    assert_eq!(monitoring.limits[0], model.t_squared_limit_training(0.95).ok());
    assert_eq!(samples.names[7], "s7");
    // The column of names is no group; the others are what they are.
    let names: Vec<&str> = samples.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!((names, samples.color), (vec!["group", "age"], Some(0)));
    let ExplorerValues::Groups { of, .. } = &samples.columns[0].values else { panic!() };
    let expected = share_between(&samples.scores[0], of);
    assert!((samples.columns[0].association[0] - expected).abs() < 1e-13);
    assert!(matches!(&samples.columns[1].values, ExplorerValues::Numbers(v) if v[3] == 9.5));
    for (f, column) in samples.features.iter().enumerate() {
        assert_eq!(*column, x.column(f).to_vec());
    }
    assert_eq!(page.features.loadings[1], model.loadings().column(1).to_vec());
    assert_eq!(page.rules.len(), eigenlens::Rule::all().len());
    assert!(page.rules.iter().filter(|rule| rule.n_components.is_some()).count() > 5);
    assert!(page.left_out.is_empty() && page.trust.len() >= 5);
}

/// Scores of whitened models are not sums of weighted values, so that no sample's score is taken apart.
#[test]
fn scores_are_taken_apart_only_where_they_are_sums() {
    let x = numbers(40);
    let sums = |model: &dyn Model| {
        !page(model, &x, &ExplorerOptions::default()).features.center.is_empty()
    };
    assert!(sums(&Pca::new(2).fit(&x).unwrap()));
    assert!(sums(&Pca::new(2).standardize(true).fit(&x).unwrap()));
    assert!(sums(&Pca::new(2).center(false).fit(&x).unwrap()));
    assert!(!sums(&Pca::new(2).whiten(true).fit(&x).unwrap()));
    assert!(!sums(&Ppca::new(2).fit(&x).unwrap()));
    assert!(!sums(&KernelPca::new(2).fit(&x).unwrap()));
}

#[test]
fn models_of_every_kind_have_a_page() {
    let x = numbers(40);
    let models: Vec<Box<dyn Model>> = vec![
        Box::new(Pca::new(1).fit(&x).unwrap()),
        Box::new(Ppca::new(2).fit(&x).unwrap()),
        Box::new(SparsePca::cardinality(2, 2).fit(&x).unwrap()),
        Box::new(KernelPca::new(2).fit(&x).unwrap()),
    ];
    for model in models {
        let page = page(&*model, &x, &ExplorerOptions::default());
        assert!(!page.trust.is_empty() && page.trust.iter().all(|(_, answer)| !answer.is_empty()));
        assert!(page.to_html().contains("id=\"data\""), "{}", model.method());
    }
}

#[test]
fn what_is_left_out_is_said() {
    let x = numbers(40);
    let model = Pca::new(2).fit(&x).unwrap();
    let options = ExplorerOptions {
        max_samples: Some(10),
        include_features: Some(false),
        ..ExplorerOptions::default()
    };
    let few = page(&model, &x, &options);
    let samples = few.samples.unwrap();
    assert_eq!(samples.numbers, [1, 5, 9, 13, 17, 21, 25, 29, 33, 37]);
    assert_eq!(samples.scores[0][3], model.transform(&x).unwrap()[[12, 0]]);
    assert!(samples.features.is_empty());
    assert!(few.left_out[0].starts_with("10 of 40 samples"), "{:?}", few.left_out);
    assert!(few.left_out[1].contains("not in this page, as was asked for"));

    let sparse = Csr::new(2, 4, vec![0, 1, 2], vec![0, 3], vec![1.0, 2.0]).unwrap();
    let samples = Samples::new(AnyDataset::from(Dataset::from(&sparse)));
    let page = explorer(&Request::new(&model).with_samples(samples), &ExplorerOptions::default());
    assert!(page.unwrap().left_out[0].contains("as the table is sparse"));
}
