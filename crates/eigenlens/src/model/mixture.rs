//! A fitted mixture of probabilistic PCAs.

use super::ModelCore;
use super::capabilities::{Classifier, Density};
use super::fitted::Model;
use super::imputation::{Gaussian, Gaussians, jacobian};
use super::parts::{Parts, Value};
use super::ppca::{EmRecord, Filled, Imputation, ImputedEntry, check_imputations};
use super::summary::{Shares, Summary, SummaryColumn, number, opening, rows_value};
use super::verify;
use crate::data::{Dataset, Made, compiled_here};
use crate::em::{FactorGaussian, Latent};
use crate::error::{Error, Result};
use crate::linalg::dense::power_of_two;
use crate::linalg::random::{self, SAMPLES};
use crate::model::verified_by;
use crate::passes::Scaler;
use crate::scalar::Scalar;
use ndarray::{Array1, Array2};
use rand_chacha::ChaCha8Rng;

/// A fitted mixture: every sample comes from one of several Gaussians with a low-rank covariance
/// plus noise. See [`PpcaMixture`](crate::PpcaMixture) for how to make one.
#[derive(Debug)]
pub struct PpcaMixtureModel {
    pub(crate) core: ModelCore,
    pub(crate) scaler: Scaler,
    /// Largest share first.
    pub(crate) parts: Vec<FactorGaussian>,
    /// Of the observed training entries, in the units of the data.
    pub(crate) log_likelihood: f64,
    pub(crate) em: EmRecord,
    pub(crate) threads: Option<usize>,
}

/// What a mixture says of samples.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Memberships {
    /// The probability of each part given what is observed of each sample (n × parts).
    pub responsibilities: Array2<f64>,
    /// Logarithm of the density of what is observed of each sample (n); 0 where nothing is.
    pub log_likelihood: Array1<f64>,
}

impl PpcaMixtureModel {
    /// The number of parts.
    pub fn n_parts(&self) -> usize {
        self.parts.len()
    }

    /// The latent dimension of every part, k.
    pub fn latent_dimension(&self) -> usize {
        self.parts.first().map_or(0, FactorGaussian::k)
    }

    /// The number of features, d.
    pub fn n_features(&self) -> usize {
        self.scaler.inv_scale.len()
    }

    /// The share of the samples that each part accounts for.
    pub fn shares(&self) -> Vec<f64> {
        self.parts.iter().map(|p| p.share).collect()
    }

    /// σ² of each part, in the units the model was fitted in.
    pub fn noise_variances(&self) -> Vec<f64> {
        let unit = power_of_two(self.scaler.exponent);
        self.parts.iter().map(|p| p.noise * unit * unit).collect()
    }

    /// `W Wᵀ + σ²I` of one part (d × d), in the units the model was fitted in.
    pub fn covariance(&self, part: usize) -> Option<Array2<f64>> {
        let FactorGaussian { w, noise, .. } = self.parts.get(part)?;
        let unit = power_of_two(self.scaler.exponent);
        let mut covariance = w.dot(&w.t());
        covariance.diag_mut().iter_mut().for_each(|v| *v += noise);
        Some(covariance * (unit * unit))
    }

    /// The mean of each part (parts × d), in the units of the data.
    pub fn means(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.n_parts(), self.n_features()), |(c, f)| {
            self.scaler.unstandardize(self.parts[c].mean[f], f)
        })
    }

    /// The log-likelihood of the observed training entries, in the units of the data.
    pub fn training_log_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// Free parameters: those of every part, and their shares.
    pub fn n_parameters(&self) -> f64 {
        let d = self.scaler.inv_scale.iter().filter(|w| **w > 0.0).count();
        let k = self.latent_dimension().min(d.saturating_sub(1));
        let one = (d * k) as f64 - 0.5 * (k as f64) * (k as f64 - 1.0) + 1.0 + d as f64;
        let parts = self.n_parts() as f64;
        parts * one + parts - 1.0
    }

    /// Schwarz' criterion on the training data: `p ln n − 2 ln L`.
    pub fn bic(&self) -> f64 {
        self.n_parameters() * self.core.weight().ln() - 2.0 * self.log_likelihood
    }

    /// Akaike's criterion on the training data: `2p − 2 ln L`.
    pub fn aic(&self) -> f64 {
        2.0 * self.n_parameters() - 2.0 * self.log_likelihood
    }

    /// How the expectation maximisation went.
    pub fn em(&self) -> &EmRecord {
        &self.em
    }

    /// What each sample belongs to and how likely it is, complete or not.
    pub fn memberships<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<Memberships> {
        let data = &data.into();
        compiled_here!(PpcaMixtureModel, self.memberships_typed(data) -> Result<Memberships>)
    }

    fn memberships_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<Memberships> {
        let gaussians = self.gaussians();
        let jacobian = jacobian(&self.scaler);
        let (mut all, mut likelihoods) = (Vec::new(), Vec::new());
        gaussians.chunks(
            data,
            |chunk| {
                let mut rows = vec![(self.shares(), 0.0); chunk.rows];
                for group in chunk.groups().filter(|g| g.observed() > 0) {
                    let given = gaussians.given(&group)?;
                    let own: f64 = group.features.iter().map(|f| jacobian[*f as usize]).sum();
                    let constant = own - 0.5 * group.observed() as f64 * std::f64::consts::TAU.ln();
                    for &i in group.rows {
                        let found = gaussians.belonging(&group, &given, chunk.row(i));
                        rows[i] = (found.shares, constant + found.log_density);
                    }
                }
                Ok(rows)
            },
            |rows| {
                for (shares, total) in rows {
                    all.extend(shares);
                    likelihoods.push(total);
                }
                Ok(())
            },
        )?;
        Ok(Memberships {
            responsibilities: Array2::from_shape_vec((likelihoods.len(), self.n_parts()), all)
                .map_err(|e| Error::Internal(e.to_string()))?,
            log_likelihood: Array1::from(likelihoods),
        })
    }

    /// Fills missing entries with their conditional mean given the observed entries of their row: the parts'
    /// means weighted by the probability of each part, with standard errors by the law of total
    /// variance.
    pub fn impute<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Imputation<T>> {
        let (tables, entries) = self.filled(&data.into(), 0, 0)?;
        Imputation::new(tables, entries)
    }

    /// Several tables (each n × d) whose missing entries are drawn: a part for each row, then its missing
    /// entries jointly.
    /// A row's draws depend on the seed and its number only.
    pub fn multiple_imputations<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        n_imputations: usize,
        seed: u64,
    ) -> Result<Vec<Array2<T>>> {
        check_imputations(n_imputations)?;
        Ok(self.filled(&data.into(), n_imputations, seed)?.0)
    }

    fn filled<T: Scalar>(
        &self,
        data: &Dataset<T>,
        draws: usize,
        seed: u64,
    ) -> Result<(Vec<Array2<T>>, Vec<ImputedEntry>)> {
        compiled_here!(
            PpcaMixtureModel,
            self.filled_typed(data, draws: usize, seed: u64) -> Filled of T
        )
    }

    fn filled_typed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        draws: usize,
        seed: u64,
    ) -> Result<(Vec<Array2<T>>, Vec<ImputedEntry>)> {
        self.gaussians().fill(data, draws, seed)
    }

    fn gaussians(&self) -> Gaussians<'_> {
        let part = |p: &'_ FactorGaussian| Latent { w: p.w.clone(), noise: p.noise };
        let parts = (self.parts.iter())
            .map(|p| Gaussian { latent: part(p), mean: Some(&p.mean), share: p.share })
            .collect();
        Gaussians { scaler: &self.scaler, threads: self.threads, parts }
    }

    /// Draws `n` samples (n × d), and the part that each comes from.
    pub fn sample(&self, n: usize, seed: u64) -> (Array2<f64>, Vec<usize>) {
        self.draw(n, &mut random::stream(seed, SAMPLES))
    }

    /// The next `n` samples (n × d), and the part that each comes from.
    pub(super) fn draw(&self, n: usize, rng: &mut ChaCha8Rng) -> (Array2<f64>, Vec<usize>) {
        let mut rows = Array2::zeros((n, self.n_features()));
        let mut from = Vec::with_capacity(n);
        for mut row in rows.rows_mut() {
            let mut left = random::uniform(rng);
            let c = self.parts.iter().position(|p| {
                left -= p.share;
                left <= 0.0
            });
            let c = c.unwrap_or(self.parts.len() - 1);
            let part = &self.parts[c];
            let z: Vec<f64> = (0..part.k()).map(|_| random::normal(rng)).collect();
            for (f, x) in row.iter_mut().enumerate() {
                let along: f64 = part.w.row(f).iter().zip(&z).map(|(w, z)| w * z).sum();
                let noise = part.noise.sqrt() * random::normal(rng);
                *x = self.scaler.unstandardize(part.mean[f] + along + noise, f);
            }
            from.push(c);
        }
        (rows, from)
    }

    /// The probabilities (n × parts) that samples come from each part: what the model has for scores.
    pub fn transform<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>> {
        let data = &data.into();
        compiled_here!(PpcaMixtureModel, self.transform_typed(data) -> Made of T)
    }

    fn transform_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<Array2<T>> {
        let missing_counts =
            self.core.missing.is_some() || data.missing() != crate::data::Missing::Error;
        if !missing_counts && let Some((row, column)) = data.first_missing()? {
            return Err(data.bad_entry(row, column, f64::NAN));
        }
        Ok(self.memberships(data)?.responsibilities.mapv(T::from_f64))
    }
}

impl Model for PpcaMixtureModel {
    fn core(&self) -> &ModelCore {
        &self.core
    }

    fn n_features(&self) -> usize {
        self.n_features()
    }

    fn size(&self) -> String {
        let (parts, latent) = (self.n_parts(), self.latent_dimension());
        format!("parts: {parts} of {latent} latent dimensions")
    }

    /// The number of parts: a sample's scores are its responsibilities.
    fn n_components(&self) -> usize {
        self.n_parts()
    }

    fn summary(&self) -> Summary {
        let parts = self.n_parts();
        let opening = opening(self.method(), self.core.n_samples, self.n_features(), parts);
        let em = &self.em;
        let end = if em.converged { "arrived" } else { "NOT arrived" };
        let arrived =
            format!("{end} after {} iterations, last change {:.1e}", em.iterations, em.change);
        let mut facts = vec![(
            "likelihood",
            format!(
                "ln L {} with {} free parameters, AIC {}, BIC {}",
                number(self.log_likelihood),
                self.n_parameters(),
                number(self.aic()),
                number(self.bic())
            ),
        )];
        facts.extend(self.core.missing.as_ref().map(|m| ("missing", m.to_string())));
        Summary {
            headline: format!("{opening} of {} latent dimensions", self.latent_dimension()),
            columns: vec![
                SummaryColumn::shares("of samples", self.shares()),
                SummaryColumn::numbers("noise variance", self.noise_variances()),
            ],
            facts,
            trust: format!("em             {arrived}"),
            scree: None,
            values: [
                ("shares", Value::list(self.shares())),
                ("noise_variances", Value::list(self.noise_variances())),
                ("means", rows_value(self.means().view())),
                ("latent_dimension", self.latent_dimension().into()),
                ("log_likelihood", self.log_likelihood.into()),
                ("n_parameters", self.n_parameters().into()),
                ("aic", self.aic().into()),
                ("bic", self.bic().into()),
                ("em", super::ppca::em_value(&self.em)),
            ]
            .into(),
        }
    }

    fn component_shares(&self) -> Option<Shares> {
        None
    }

    fn scores_are_probabilities(&self) -> bool {
        true
    }

    verified_by!(verify::mixture, verify::mixture_memory);

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
        self.threads = threads;
    }

    fn density(&self) -> Option<&dyn Density> {
        Some(self)
    }

    fn classifier(&self) -> Option<&dyn Classifier> {
        Some(self)
    }
}
