//! A kernel supervised PCA as every surface sees it.

use super::KernelSupervisedPcaModel;
use super::ModelCore;
use super::fitted::Model;
use super::kernel_summary::kernel_value;
use super::summary::{
    ScreeHeights, Shares, Summary, SummaryColumn, certificate_value, number, opening, percent,
};
use super::supervised_summary::{HSIC, target_facts, target_value};
use super::verify;
use crate::data::Dataset;
use crate::error::Result;
use crate::model::parts::{Parts, Value};
use crate::model::verified_by;
use crate::solver::Certificate;
use ndarray::Array2;

impl Model for KernelSupervisedPcaModel {
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
        let n = Some(self.n_samples() as f64);
        let opening = opening(Model::method(self), n, self.n_features(), k);
        let mut facts = vec![("kernel", self.kernel().to_string())];
        facts.extend(target_facts(self.target()));
        facts.push(("dependence", format!("HSIC {}", number(self.total_hsic()))));
        facts.push(("total", format!("variance {}", number(self.total_variance()))));
        let mut scree = ScreeHeights::new(&shares, k, 1.0, 1.0);
        (scree.what, scree.of) = ("Share of HSIC", HSIC);
        Summary {
            headline: format!(
                "{opening} {carry} {} of HSIC with the target, {} of the variance",
                percent(shares.iter().sum::<f64>().min(1.0)),
                percent(variances.iter().sum::<f64>().min(1.0))
            ),
            columns: vec![
                SummaryColumn::numbers("HSIC", self.hsic().to_vec()),
                SummaryColumn::shares("of HSIC", shares.clone()),
                SummaryColumn::cumulative("together", &shares),
                SummaryColumn::numbers("variance", self.explained_variance().to_vec()),
                SummaryColumn::shares("of variance", variances),
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

    verified_by!(verify::kernel_supervised, verify::kernel_supervised_memory);

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

    fn certificate(&self) -> Option<&Certificate> {
        Some(self.certificate())
    }
}

fn values(model: &KernelSupervisedPcaModel) -> [(&'static str, Value); 10] {
    let numbers = |values: &[f64]| Value::list(values.iter().copied());
    [
        ("rank", model.rank().into()),
        ("kernel", kernel_value(model.kernel())),
        ("target", target_value(model.target())),
        ("eigenvalues", numbers(model.eigenvalues())),
        ("hsic", numbers(model.hsic())),
        ("hsic_ratio", numbers(&model.hsic_ratio())),
        ("total_hsic", model.total_hsic().into()),
        ("explained_variance", numbers(model.explained_variance())),
        ("explained_variance_ratio", numbers(&model.explained_variance_ratio())),
        ("certificate", certificate_value(model.certificate())),
    ]
}
