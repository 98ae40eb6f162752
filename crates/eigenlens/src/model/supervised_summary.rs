//! A supervised PCA as every surface sees it.

use super::ModelCore;
use super::fitted::{DISTANCES, Linear, Model, scaled_by};
use super::summary::{
    ScreeHeights, Shares, Summary, SummaryColumn, certificate_value, largest_weights, number,
    opening, percent, rows_value,
};
use super::{SupervisedPcaModel, TargetRecord, verify};
use crate::data::Dataset;
use crate::error::Result;
use crate::model::parts::{Parts, Value};
use crate::model::verified_by;
use crate::solver::Certificate;
use ndarray::{Array2, ArrayView2};

impl Model for SupervisedPcaModel {
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
        let (shares, variances) = (self.hsic_ratio(), self.explained_variance_ratio());
        let k = self.n_components();
        let carry = if k == 1 { "carries" } else { "carry" };
        let opening = opening(Model::method(self), Some(self.n_samples()), self.n_features(), k);
        let words = |row| largest_weights(row, self.feature_names(), 2);
        let largest = self.components().rows().into_iter().map(words).collect();
        let mut facts = target_facts(self.target());
        facts.push(("supervision", number(self.supervision())));
        facts.push(("dependence", format!("HSIC {}", number(self.total_hsic()))));
        facts.push(("total", format!("variance {}", number(self.total_variance()))));
        let mut scree = ScreeHeights::new(self.eigenvalues(), k, 1.0, 1.0);
        (scree.what, scree.of) = match self.supervision() {
            1.0 => ("Share of HSIC", HSIC),
            _ => ("Share of the blended operator", "the trace of the blended operator"),
        };
        Summary {
            headline: format!(
                "{opening} {carry} {} of HSIC with the target, {} of the variance",
                percent(shares.iter().sum::<f64>().min(1.0)),
                percent(variances.iter().sum::<f64>().min(1.0))
            ),
            columns: vec![
                SummaryColumn::numbers("HSIC", self.hsic()),
                SummaryColumn::shares("of HSIC", shares.clone()),
                SummaryColumn::cumulative("together", &shares),
                SummaryColumn::numbers("variance", self.explained_variance()),
                SummaryColumn::shares("of variance", variances),
                SummaryColumn::words("largest weights", largest),
            ],
            facts,
            trust: self.certificate().to_string(),
            scree: Some(scree),
            values: values(self).into(),
        }
    }

    fn component_shares(&self) -> Option<Shares> {
        Some(Shares::of_variance(self.explained_variance_ratio()))
    }

    verified_by!(verify::supervised, verify::supervised_memory);

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

    fn certificate(&self) -> Option<&Certificate> {
        Some(self.certificate())
    }

    fn linear(&self) -> Option<Linear<'_>> {
        Some(Linear {
            components: self.components(),
            loadings: self.loadings(),
            scaled_by: scaled_by(true, true),
            distances: DISTANCES,
            mean: self.mean(),
            scale: self.parts().map.scaler.divisors(),
        })
    }
}

/// What shares of the dependence are of.
pub(super) const HSIC: &str = "HSIC with the target";

/// What is told of a target.
pub(super) fn target_facts(target: &TargetRecord) -> Vec<(&'static str, String)> {
    let gamma = target.gamma.map_or(String::new(), |g| format!(", gamma {}", number(g)));
    let what = match &target.classes {
        Some(classes) => format!("{} classes", classes.len()),
        None => format!("a factor of {} columns", target.factor_width),
    };
    let cut = if target.trace_error > 0.0 {
        format!(", {:.1e} of its trace left out", target.trace_error)
    } else {
        String::new()
    };
    vec![
        ("target", format!("{} kernel{gamma}: {what}{cut}", target.kernel)),
        ("useful", format!("at most {} components (rank of the centred kernel)", target.rank)),
    ]
}

/// A target for programs.
pub(super) fn target_value(target: &TargetRecord) -> Value {
    let classes = target.classes.as_ref().map_or(Value::Null, Value::list);
    Value::map([
        ("kernel", Value::from(&target.kernel)),
        ("gamma", target.gamma.into()),
        ("classes", classes),
        ("rank", target.rank.into()),
        ("factor_width", target.factor_width.into()),
        ("trace_error", target.trace_error.into()),
        ("labelled", target.labelled.into()),
    ])
}

fn values(model: &SupervisedPcaModel) -> [(&'static str, Value); 14] {
    let numbers = |values: &[f64]| Value::list(values.iter().copied());
    [
        ("rank", model.rank().into()),
        ("supervision", model.supervision().into()),
        ("target", target_value(model.target())),
        ("eigenvalues", numbers(model.eigenvalues())),
        ("hsic", numbers(&model.hsic())),
        ("hsic_ratio", numbers(&model.hsic_ratio())),
        ("total_hsic", model.total_hsic().into()),
        ("explained_variance", numbers(&model.explained_variance())),
        ("explained_variance_ratio", numbers(&model.explained_variance_ratio())),
        ("total_variance", model.total_variance().into()),
        ("mean", numbers(model.mean())),
        ("scale", model.scale().map_or(Value::Null, numbers)),
        ("components", rows_value(model.components())),
        ("certificate", certificate_value(model.certificate())),
    ]
}
