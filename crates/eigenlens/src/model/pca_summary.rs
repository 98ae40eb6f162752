//! A PCA as every surface sees it.

use super::ModelCore;
use super::capabilities::UncertainScores;
use super::fitted::{DISTANCES, Linear, Model, WHITENED, scaled_by};
use super::summary::{
    ScreeHeights, Shares, Summary, SummaryColumn, certificate_value, largest_weights, number,
    opening, percent, rows_value, treatment_value,
};
use super::{PcaModel, verify};
use crate::data::Dataset;
use crate::error::Result;
use crate::linalg::dense::power_of_two;
use crate::model::parts::{Parts, Value};
use crate::model::verified_by;
use crate::solver::Certificate;
use ndarray::{Array2, ArrayView2};

impl Model for PcaModel {
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
        let shares = self.explained_variance_ratio();
        let k = self.n_components();
        let keep = if k == 1 { "keeps" } else { "keep" };
        let opening = opening(self.method(), self.n_samples(), self.n_features(), k);
        Summary {
            headline: format!("{opening} {keep} {} of the variance", percent(shares.iter().sum())),
            columns: columns(self, &shares),
            facts: facts(self),
            trust: self.certificate().to_string(),
            scree: Some(scree(self)),
            values: values(self, &shares).into(),
        }
    }

    fn component_shares(&self) -> Option<Shares> {
        Some(Shares::of_variance(self.explained_variance_ratio()))
    }

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

    verified_by!(verify::pca, verify::pca_memory);

    fn certificate(&self) -> Option<&Certificate> {
        Some(self.certificate())
    }

    fn linear(&self) -> Option<Linear<'_>> {
        Some(Linear {
            components: self.components(),
            loadings: self.loadings(),
            scaled_by: scaled_by(self.centers(), !self.whitens()),
            distances: if self.whitens() { WHITENED } else { DISTANCES },
            mean: self.mean(),
            scale: self.parts().map.scaler.divisors(),
        })
    }

    fn uncertain_scores(&self) -> Option<&dyn UncertainScores> {
        Some(self)
    }

    fn pca(&self) -> Option<&PcaModel> {
        Some(self)
    }
}

fn scree(model: &PcaModel) -> ScreeHeights {
    let (parts, k) = (model.parts(), model.n_components());
    let all = match &parts.spectrum {
        Some(all) if all.len() >= k => all.iter().map(|v| v.max(0.0)).collect(),
        _ => parts.values.clone(),
    };
    let unit = power_of_two(parts.map.scaler.exponent) * model.divisor_factor().sqrt();
    ScreeHeights::new(&all, k, parts.total, unit).with_sampling_factor(model.sampling_factor())
}

fn facts(model: &PcaModel) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("total", format!("variance {}", number(model.total_variance()))),
        ("noise", format!("variance {}", number(model.noise_variance()))),
    ];
    facts.extend(model.missing().map(|m| ("missing", m.to_string())));
    facts
}

fn columns(model: &PcaModel, shares: &[f64]) -> Vec<SummaryColumn> {
    let mut columns = vec![SummaryColumn::numbers("variance", model.explained_variance().to_vec())];
    columns.extend(model.sampling_errors().map(|e| SummaryColumn::numbers("± error", e)));
    columns.push(SummaryColumn::shares("share", shares.to_vec()));
    columns.push(SummaryColumn::cumulative("together", shares));
    let words = |row| largest_weights(row, model.feature_names(), 2);
    let largest = model.components().rows().into_iter().map(words).collect();
    columns.push(SummaryColumn::words("largest weights", largest));
    columns
}

fn values(model: &PcaModel, shares: &[f64]) -> [(&'static str, Value); 11] {
    let numbers = |values: &[f64]| Value::list(values.iter().copied());
    [
        ("rank", model.rank().into()),
        ("explained_variance", numbers(model.explained_variance())),
        ("explained_variance_ratio", numbers(shares)),
        ("standard_errors", model.sampling_errors().map_or(Value::Null, |e| numbers(&e))),
        ("total_variance", model.total_variance().into()),
        ("noise_variance", model.noise_variance().into()),
        ("missing", model.missing().map_or(Value::Null, treatment_value)),
        ("mean", numbers(model.mean())),
        ("scale", model.scale().map_or(Value::Null, numbers)),
        ("components", rows_value(model.components())),
        ("certificate", certificate_value(model.certificate())),
    ]
}
