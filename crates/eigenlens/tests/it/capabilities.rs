//! What only some models can do, asked for through `dyn Model`.

use crate::support::Random;
use eigenlens::model::most_probable;
use eigenlens::{AnyDataset, DataShape, Dataset, FitContext, METHODS, Model, PpcaMixture, Target};
use ndarray::{Array1, Array2, Axis, array, s};

/// Two stretched clouds, 30 and 60 samples, three features.
fn clouds() -> Array2<f64> {
    let mut x = Random::new(5).matrix(90, 3);
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        row[0] *= 3.0;
        if i % 3 == 0 {
            row[1] += 4.0;
            row[2] = 0.5 * row[0] + 0.2 * row[2];
        }
    }
    x
}

/// ln N(x; μ, C) by Gaussian elimination on the dense matrix.
fn log_density(x: &Array1<f64>, mean: &Array1<f64>, covariance: &Array2<f64>) -> f64 {
    let d = x.len();
    let (mut a, mut b) = (covariance.clone(), x - mean);
    let right = b.clone();
    let mut log_determinant = 0.0;
    for p in 0..d {
        log_determinant += a[[p, p]].ln();
        for i in p + 1..d {
            let factor = a[[i, p]] / a[[p, p]];
            let above = a.row(p).to_owned();
            a.row_mut(i).scaled_add(-factor, &above);
            b[i] -= factor * b[p];
        }
    }
    for p in (0..d).rev() {
        b[p] = (b[p] - a.slice(s![p, p + 1..]).dot(&b.slice(s![p + 1..]))) / a[[p, p]];
    }
    -0.5 * (d as f64 * std::f64::consts::TAU.ln() + log_determinant + right.dot(&b))
}

/// Bayes: the probability of a part is its share times its density, over the sum of these.
#[test]
fn probabilities_of_a_mixture_are_those_of_bayes() {
    let x = clouds();
    let model = PpcaMixture::new(2, 1).fit(&x).unwrap();
    let data = AnyDataset::from(Dataset::from(&x));
    let found = (&model as &dyn Model).classifier().unwrap().predict_proba(&data).unwrap();
    let (shares, means) = (model.shares(), model.means());
    for (i, row) in x.rows().into_iter().enumerate() {
        let joint: Vec<f64> = (0..2)
            .map(|c| {
                let covariance = model.covariance(c).unwrap();
                let density = log_density(&row.to_owned(), &means.row(c).to_owned(), &covariance);
                shares[c] * density.exp()
            })
            .collect();
        let total: f64 = joint.iter().sum();
        for c in 0..2 {
            assert!((found[[i, c]] - joint[c] / total).abs() < 1e-10);
        }
        let scores = (&model as &dyn Model).density().unwrap().score_samples(&data).unwrap();
        assert!((scores[[i, 0]] - total.ln()).abs() < 1e-9);
    }
    let predicted = (&model as &dyn Model).classifier().unwrap().predict(&data).unwrap();
    for (i, class) in predicted.iter().enumerate() {
        assert!(found[[i, *class]] >= 0.5);
    }
}

#[test]
fn of_equal_probabilities_the_first_counts() {
    let p = array![[0.2, 0.4, 0.4], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]];
    assert_eq!(most_probable(&p).to_vec(), [1, 0, 2]);
}

/// Whatever a model of any method says it can do, it does: right shapes, finite numbers, probabilities
/// that add up to 1, scores that lead back.
#[test]
fn capabilities_of_every_method_keep_their_word() {
    let x = clouds();
    let data = AnyDataset::from(Dataset::from(&x));
    let target = Target::classes((0..90).map(|i| ["a", "b", "c"][i % 3]));
    for method in METHODS {
        let mut values = method.values();
        values.set_n_components(2);
        let estimator = method.build(&values, &DataShape::dense(90, 3)).unwrap();
        let mut context = FitContext::new().with_target(Some(&target));
        let model = estimator.fit(&data, &mut context).unwrap().model;
        assert_eq!(model.linear().is_some(), method.linear, "{}", method.name);
        if let Some(density) = model.density() {
            let names = density.score_names();
            let scores = density.score_samples(&data).unwrap();
            assert_eq!((scores.dim(), names[0].as_str()), ((90, names.len()), "log_likelihood"));
            assert!(scores.iter().all(|v| v.is_finite()) && density.n_parameters() > 0.0);
            let drawn = density.sample(7, 1);
            assert_eq!(drawn.rows.dim(), (7, 3));
            assert_eq!(drawn.classes.is_some(), model.classifier().is_some());
            let mut holes = x.clone();
            holes[[4, 1]] = f64::NAN;
            let filled = density.impute(&AnyDataset::from(Dataset::from(&holes)), 0, 0).unwrap();
            assert_eq!((filled.tables.len(), filled.entries.len()), (1, 1));
            assert_eq!((filled.entries[0].row, filled.entries[0].column), (4, 1));
        }
        if let Some(classifier) = model.classifier() {
            let p = classifier.predict_proba(&data).unwrap();
            assert_eq!(p.dim(), (90, classifier.classes().len()));
            assert!(p.iter().all(|p| (0.0..=1.0).contains(p)));
            assert!(p.sum_axis(Axis(1)).iter().all(|sum| (sum - 1.0).abs() < 1e-12));
        }
        if let Some(latent) = model.latent() {
            let (w, covariance) = (latent.weights(), latent.covariance());
            assert_eq!(w.dim(), (3, model.n_components()));
            let noise = &covariance - &w.dot(&w.t());
            assert!((noise[[0, 0]] - noise[[2, 2]]).abs() < 1e-10 && noise[[0, 1]].abs() < 1e-10);
        }
        if let Some(uncertain) = model.uncertain_scores() {
            let found = uncertain.scores_with_errors(&data).unwrap();
            assert_eq!(found.scores.dim(), (90, model.n_components()));
            assert_eq!(found.certainty.is_some(), uncertain.has_certainty());
        }
        let scores = model.transform_f64(&Dataset::from(&x)).unwrap();
        if let Ok(back) = model.inverse_transform_f64(scores.view()) {
            let again = model.transform_f64(&Dataset::from(&back)).unwrap();
            // The way back is that of the scores, but for what a posterior shrinks.
            if model.latent().is_none() {
                assert!((&again - &scores).iter().all(|v| v.abs() < 1e-9), "{}", method.name);
            }
        }
    }
}
