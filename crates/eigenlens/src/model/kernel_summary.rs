//! A kernel PCA as every surface sees it.

use super::ModelCore;
use super::fitted::Model;
use super::pre_image::{PreImage, PreImages};
use super::summary::{
    ScreeHeights, Shares, Summary, SummaryColumn, certificate_value, number, opening, percent,
};
use super::{KernelAccuracy, KernelPcaModel, verify};
use crate::data::Dataset;
use crate::error::Result;
use crate::kernel::{ParameterKind, ResolvedKernel};
use crate::model::parts::{Parts, Value};
use crate::model::verified_by;
use crate::solver::Certificate;
use ndarray::Array2;

impl Model for KernelPcaModel {
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
        let opening = opening(self.method(), Some(self.n_samples() as f64), self.n_features(), k);
        let variances = self.explained_variance();
        let mut facts = vec![("total", format!("variance {}", number(self.total_variance())))];
        if let Some(negative) = self.negative_part() {
            let least = if negative.complete { "" } else { "at least " };
            let words = format!("{least}{} of the spectrum is negative", percent(negative.share));
            facts.push(("negative", words));
        }
        Summary {
            headline: format!("{opening} {keep} {} of the variance", percent(shares.iter().sum())),
            columns: vec![
                SummaryColumn::numbers("eigenvalue", self.eigenvalues().to_vec()),
                SummaryColumn::numbers("variance", variances.clone()),
                SummaryColumn::shares("share", shares.clone()),
                SummaryColumn::cumulative("together", &shares),
            ],
            facts,
            trust: format!(
                "kernel         {}\naccuracy       {}\n{}",
                self.kernel(),
                self.accuracy(),
                self.certificate()
            ),
            scree: Some(ScreeHeights::new(&variances, k, self.total_variance(), 1.0)),
            values: values(self, &variances, &shares).into(),
        }
    }

    fn component_shares(&self) -> Option<Shares> {
        Some(Shares::of_variance(self.explained_variance_ratio()))
    }

    verified_by!(verify::kernel_pca, verify::kernel_pca_memory);

    fn transform_f32(&self, data: &Dataset<f32>) -> Result<Array2<f32>> {
        self.transform(data)
    }

    fn transform_f64(&self, data: &Dataset<f64>) -> Result<Array2<f64>> {
        self.transform(data)
    }

    fn to_parts(&self) -> Result<Parts> {
        self.to_parts()
    }

    fn set_threads(&mut self, threads: Option<usize>) {
        self.use_threads(threads);
    }

    fn reconstruct_f32(&self, data: &Dataset<f32>) -> Result<Array2<f32>> {
        Ok(self.pre_images(data, PreImage::Auto)?.rows)
    }

    fn reconstruct_f64(&self, data: &Dataset<f64>) -> Result<Array2<f64>> {
        Ok(self.pre_images(data, PreImage::Auto)?.rows)
    }

    fn pre_images_f32(&self, data: &Dataset<f32>, way: PreImage) -> Option<Result<PreImages<f32>>> {
        Some(self.pre_images(data, way))
    }

    fn pre_images_f64(&self, data: &Dataset<f64>, way: PreImage) -> Option<Result<PreImages<f64>>> {
        Some(self.pre_images(data, way))
    }

    fn certificate(&self) -> Option<&Certificate> {
        Some(self.certificate())
    }
}

fn values(model: &KernelPcaModel, variances: &[f64], shares: &[f64]) -> [(&'static str, Value); 8] {
    let numbers = |values: &[f64]| Value::list(values.iter().copied());
    [
        ("rank", model.rank().into()),
        ("eigenvalues", numbers(model.eigenvalues())),
        ("explained_variance", numbers(variances)),
        ("explained_variance_ratio", numbers(shares)),
        ("total_variance", model.total_variance().into()),
        ("kernel", kernel_value(model.kernel())),
        ("accuracy", accuracy_value(model.accuracy())),
        ("certificate", certificate_value(model.certificate())),
    ]
}

/// A kernel by its name and numbers.
pub(super) fn kernel_value(kernel: &ResolvedKernel) -> Value {
    let parameters = kernel.parameters().map(|(name, kind, number)| match kind {
        ParameterKind::Degree(_) => (name, Value::from(number as u64)),
        _ => (name, Value::from(number)),
    });
    Value::map([("name", Value::from(kernel.name()))].into_iter().chain(parameters))
}

/// What an approximation cost.
pub(super) fn accuracy_value(accuracy: &KernelAccuracy) -> Value {
    match *accuracy {
        KernelAccuracy::Exact => Value::map([("kind", Value::from("exact"))]),
        KernelAccuracy::Nystrom { landmarks, trace_error, trace_error_share } => Value::map([
            ("kind", Value::from("nystrom")),
            ("landmarks", landmarks.into()),
            ("trace_error", trace_error.into()),
            ("trace_error_share", trace_error_share.into()),
        ]),
        KernelAccuracy::RandomFeatures { features, orthogonal, kernel_error } => Value::map([
            ("kind", Value::from("random_features")),
            ("features", features.into()),
            ("orthogonal", orthogonal.into()),
            ("kernel_error", kernel_error.into()),
        ]),
        KernelAccuracy::Subset { samples, of } => Value::map([
            ("kind", Value::from("subset")),
            ("samples", samples.into()),
            ("of", of.into()),
        ]),
    }
}
