//! A probabilistic PCA as every surface sees it.

use super::{EmRecord, PpcaModel};
use crate::data::Dataset;
use crate::error::Result;
use crate::model::ModelCore;
use crate::model::capabilities::{Density, LatentGaussian, UncertainScores};
use crate::model::fitted::{Linear, Model, scaled_by};
use crate::model::parts::{Parts, Value};
use crate::model::summary::{Shares, Summary, SummaryColumn, number, rows_value};
use crate::model::verified_by;
use crate::model::{PcaModel, verify};
use crate::solver::Certificate;
use ndarray::{Array2, ArrayView2};

impl Model for PpcaModel {
    fn core(&self) -> &ModelCore {
        self.body.core()
    }

    fn n_features(&self) -> usize {
        self.n_features()
    }

    fn n_components(&self) -> usize {
        self.n_components()
    }

    fn summary(&self) -> Summary {
        let mut summary = self.body.summary();
        let variances = self.explained_variance();
        if let Some(first) = summary.columns.first_mut() {
            *first = SummaryColumn::numbers("variance", variances.clone());
        }
        if let Some(relevance) = self.relevance() {
            let at = summary.columns.len() - 1;
            summary.columns.insert(at, SummaryColumn::numbers("α", relevance.to_vec()));
        }
        // Like the variances the maximum-likelihood estimate, of which their shares are shares.
        let total = self.body.total_variance() * (1.0 - 1.0 / self.n_samples());
        summary.facts.retain(|(name, _)| *name != "noise");
        for (name, fact) in &mut summary.facts {
            if *name == "total" {
                *fact = format!("variance {}", number(total));
            }
        }
        summary.facts.insert(1, ("noise", format!("variance {}", number(self.noise_variance()))));
        let likelihood = match (self.log_likelihood, self.aic(), self.bic()) {
            (Some(l), Ok(aic), Ok(bic)) => format!(
                "ln L {} with {} free parameters, AIC {}, BIC {}",
                number(l),
                self.n_parameters(),
                number(aic),
                number(bic)
            ),
            _ => "not defined: the components carry all of the variance".into(),
        };
        summary.facts.push(("likelihood", likelihood));
        summary.facts.extend(self.em().map(|em| ("em", in_words(em))));
        summary.values.extend([
            ("explained_variance", Value::list(variances)),
            ("total_variance", total.into()),
            ("noise_variance", self.noise_variance().into()),
            (
                "posterior_covariance",
                self.posterior_covariance().map_or(Value::Null, |c| rows_value(c.view())),
            ),
            ("log_likelihood", self.log_likelihood.into()),
            ("n_parameters", self.n_parameters().into()),
            ("aic", self.aic().ok().into()),
            ("bic", self.bic().ok().into()),
            ("relevance", self.relevance().map(|r| Value::list(r.iter().copied())).into()),
            ("em", self.em().map_or(Value::Null, em_value)),
        ]);
        summary
    }

    fn component_shares(&self) -> Option<Shares> {
        self.body.component_shares()
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

    verified_by!(verify::ppca, verify::ppca_memory);

    fn certificate(&self) -> Option<&Certificate> {
        Some(self.certificate())
    }

    fn linear(&self) -> Option<Linear<'_>> {
        // Scores are posterior means, which vary less than the samples along the components.
        let scaled_by = scaled_by(self.body.centers(), false);
        Some(Linear { scaled_by, ..self.body.linear()? })
    }

    fn density(&self) -> Option<&dyn Density> {
        Some(self)
    }

    fn latent(&self) -> Option<&dyn LatentGaussian> {
        Some(self)
    }

    fn uncertain_scores(&self) -> Option<&dyn UncertainScores> {
        Some(self)
    }

    fn pca(&self) -> Option<&PcaModel> {
        Some(&self.body)
    }
}

fn in_words(em: &EmRecord) -> String {
    let end = if em.converged { "arrived" } else { "NOT arrived" };
    format!("{end} after {} iterations, last change {:.1e}", em.iterations, em.change)
}

/// How an iteration went, for programs.
pub(crate) fn em_value(em: &EmRecord) -> Value {
    Value::map([
        ("iterations", Value::from(em.iterations)),
        ("change", em.change.into()),
        ("converged", em.converged.into()),
        ("log_likelihood", Value::list(em.trace.iter().copied())),
    ])
}
