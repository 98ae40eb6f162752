//! A sparse PCA as every surface sees it.

use super::ModelCore;
use super::fitted::{DISTANCES, Linear, Model, scaled_by};
use super::summary::{
    ScreeHeights, Shares, Summary, SummaryColumn, largest_weights, number, opening, percent,
    rows_value,
};
use super::{Optimality, Projection, SparsePath, SparsePcaModel, verify};
use crate::data::Dataset;
use crate::error::Result;
use crate::model::parts::{Parts, Value};
use crate::model::verified_by;
use ndarray::{Array2, ArrayView2};

impl Model for SparsePcaModel {
    fn core(&self) -> &ModelCore {
        &self.parts().core
    }

    fn n_features(&self) -> usize {
        self.n_features()
    }

    fn n_components(&self) -> usize {
        self.n_components()
    }

    fn summary(&self) -> Summary {
        let shares = self.adjusted_variance_ratio();
        let k = self.n_components();
        let keep = if k == 1 { "keeps" } else { "keep" };
        let opening = opening(self.method(), self.n_samples(), self.n_features(), k);
        let non_zeros: usize = self.n_non_zeros().iter().sum();
        let scree = ScreeHeights::new(self.adjusted(), k, self.parts().total, self.unit());
        Summary {
            headline: format!(
                "{opening} with {non_zeros} non-zeros {keep} {} of the variance",
                percent(shares.iter().sum())
            ),
            columns: columns(self, &shares),
            facts: facts(self),
            trust: trust(self),
            scree: Some(scree.named("Adjusted variance")),
            values: values(self, &shares).into(),
        }
    }

    fn component_shares(&self) -> Option<Shares> {
        Some(Shares::of_variance(self.adjusted_variance_ratio()))
    }

    verified_by!(verify::sparse_pca, verify::sparse_pca_memory);

    fn transform_f32(&self, data: &Dataset<f32>) -> Result<Array2<f32>> {
        self.transform(data)
    }

    fn transform_f64(&self, data: &Dataset<f64>) -> Result<Array2<f64>> {
        self.transform(data)
    }

    fn to_parts(&self) -> Result<Parts> {
        Ok(self.to_parts())
    }

    fn set_threads(&mut self, threads: Option<usize>) {
        self.use_threads(threads);
    }

    fn inverse_transform_f32(&self, scores: ArrayView2<f32>) -> Result<Array2<f32>> {
        self.inverse_transform(scores)
    }

    fn inverse_transform_f64(&self, scores: ArrayView2<f64>) -> Result<Array2<f64>> {
        self.inverse_transform(scores)
    }

    fn reconstruct_f32(&self, data: &Dataset<f32>) -> Result<Array2<f32>> {
        self.reconstruct(data)
    }

    fn reconstruct_f64(&self, data: &Dataset<f64>) -> Result<Array2<f64>> {
        self.reconstruct(data)
    }

    fn linear(&self) -> Option<Linear<'_>> {
        let scores_are_projections = self.projection() == Projection::Product;
        Some(Linear {
            components: self.components(),
            loadings: self.loadings(),
            scaled_by: scaled_by(self.parts().center, scores_are_projections),
            distances: DISTANCES,
            mean: self.mean(),
            scale: self.parts().scaler.divisors(),
        })
    }

    fn path(&self) -> Option<&SparsePath> {
        self.path()
    }
}

fn columns(model: &SparsePcaModel, shares: &[f64]) -> Vec<SummaryColumn> {
    let counts = model.n_non_zeros().iter().map(usize::to_string).collect();
    let mut columns = vec![
        SummaryColumn::words("non-zeros", counts),
        SummaryColumn::numbers("variance", model.explained_variance().to_vec()),
        SummaryColumn::numbers("adjusted", model.adjusted_variance().to_vec()),
        SummaryColumn::shares("share", shares.to_vec()),
        SummaryColumn::cumulative("together", shares),
    ];
    if !model.optimality().is_empty() {
        let gap = |o: &Optimality| match o.is_proven() {
            true => "proven".into(),
            false => percent(o.gap),
        };
        columns.push(SummaryColumn::words("gap", model.optimality().iter().map(gap).collect()));
    }
    let words = |row| largest_weights(row, model.feature_names(), 2);
    let largest = model.components().rows().into_iter().map(words).collect();
    columns.push(SummaryColumn::words("largest weights", largest));
    columns
}

fn facts(model: &SparsePcaModel) -> Vec<(&'static str, String)> {
    let given_up = percent(model.variance_given_up());
    vec![
        ("total", format!("variance {}", number(model.total_variance()))),
        ("given up", format!("{given_up} of what as many plain components explain")),
    ]
}

/// How far to trust it: what is proven, whether the search rests, how far from orthogonal it is.
fn trust(model: &SparsePcaModel) -> String {
    let convergence = model.convergence();
    let optimum = match (model.optimality(), model.penalties()) {
        ([], None) => "best of several starts; not proven (ask for the exact search)".into(),
        ([], Some(_)) if convergence.converged => {
            format!("the alternation rests after {} iterations", convergence.iterations)
        }
        ([], Some(_)) => {
            format!("the alternation did not rest in {} iterations", convergence.iterations)
        }
        (all, _) => {
            let proven = all.iter().filter(|o| o.is_proven()).count();
            let worst = all.iter().map(|o| o.gap).fold(0.0, f64::max);
            let nodes: usize = all.iter().map(|o| o.nodes).sum();
            let all = all.len();
            match proven == all {
                true => format!("proven for every component ({nodes} nodes)"),
                false => format!(
                    "proven for {proven} of {all} components, largest gap {} ({nodes} nodes)",
                    percent(worst)
                ),
            }
        }
    };
    let overlap = off_diagonal(model.component_products().view());
    let correlation = off_diagonal(model.score_correlations().view());
    format!(
        "optimum       {optimum}\n\
         overlap       cosines between components up to {overlap:.3}\n\
         correlation   between scores up to {correlation:.3}"
    )
}

fn off_diagonal(matrix: ArrayView2<f64>) -> f64 {
    let off = matrix.indexed_iter().filter(|((i, j), _)| i != j);
    off.fold(0.0, |m: f64, (_, v)| m.max(v.abs()))
}

fn values(model: &SparsePcaModel, shares: &[f64]) -> [(&'static str, Value); 19] {
    let numbers = |values: &[f64]| Value::list(values.iter().copied());
    [
        ("n_non_zeros", Value::list(model.n_non_zeros())),
        ("explained_variance", numbers(model.explained_variance())),
        ("explained_variance_ratio", numbers(&model.explained_variance_ratio())),
        ("adjusted_variance", numbers(model.adjusted_variance())),
        ("adjusted_variance_ratio", numbers(shares)),
        ("total_variance", model.total_variance().into()),
        ("plain_variance", numbers(&model.plain_variance())),
        ("variance_given_up", model.variance_given_up().into()),
        ("component_products", rows_value(model.component_products().view())),
        ("score_correlations", rows_value(model.score_correlations().view())),
        ("penalties", model.penalties().map_or(Value::Null, numbers)),
        ("objective", numbers(model.objective())),
        ("iterations", model.convergence().iterations.into()),
        ("optimality", Value::List(model.optimality().iter().map(optimality_value).collect())),
        ("projection", model.projection().name().into()),
        ("mean", numbers(model.mean())),
        ("scale", model.scale().map_or(Value::Null, numbers)),
        ("components", rows_value(model.components())),
        ("path", model.path().map_or(Value::Null, path_value)),
    ]
}

fn optimality_value(of: &Optimality) -> Value {
    Value::map([
        ("value", Value::from(of.value)),
        ("upper_bound", of.upper_bound.into()),
        ("gap", of.gap.into()),
        ("proven", of.is_proven().into()),
        ("nodes", of.nodes.into()),
        ("stopped_by", of.stopped_by.map(|limit| limit.name()).into()),
    ])
}

fn path_value(path: &SparsePath) -> Value {
    let points = path.points.iter().map(|point| {
        Value::map([
            ("n_non_zeros", Value::list(point.n_non_zeros.iter().copied())),
            ("penalties", Value::list(point.penalties.iter().copied())),
            ("adjusted_variance_ratio", Value::list(point.adjusted_variance_ratio.iter().copied())),
        ])
    });
    Value::map([
        ("points", Value::List(points.collect())),
        ("plain_variance_ratio", path.plain_variance_ratio.into()),
    ])
}
