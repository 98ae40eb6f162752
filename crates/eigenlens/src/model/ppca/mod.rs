//! A fitted probabilistic PCA: `x = W z + μ + ε`, so that `x ~ N(μ, W Wᵀ + σ²I)`.

mod imputation;
mod samples;
mod summary;

pub use imputation::{HeldOut, HeldOutEntry, Imputation, ImputedEntry};
pub use samples::{Anomalies, Posterior, SampleLikelihood};

pub(crate) use imputation::{Filled, check_imputations};
pub(crate) use summary::em_value;

use super::{LinearMap, PcaModel};
use crate::data::{Dataset, Made, MissingReport, compiled_here};
use crate::em::Latent;
use crate::error::{Error, Result, Warning};
use crate::linalg::dense::power_of_two;
use crate::linalg::pool;
use crate::linalg::random::{self, SAMPLES};
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::solver::Certificate;
use ndarray::{Array2, ArrayView2};
use rand_chacha::ChaCha8Rng;

/// How an expectation maximisation went.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EmRecord {
    /// Log-likelihood of the observed entries after every step, in the units the model was fitted
    /// in; for Bayesian PCA the lower bound of the evidence. It never falls.
    pub trace: Vec<f64>,
    /// Steps made.
    pub iterations: usize,
    /// Relative change of the parameters in the last step.
    pub change: f64,
    /// Whether that is within the tolerance.
    pub converged: bool,
}

/// A fitted probabilistic or Bayesian PCA. See [`Ppca`](crate::Ppca) for how to make one.
#[derive(Debug)]
pub struct PpcaModel {
    /// Components and variances (divisor n − 1), the mean, and everything a PCA knows.
    pub(crate) body: PcaModel,
    /// σ² in units of 2^(2·exponent).
    pub(crate) noise: f64,
    /// Of the training data, in their units; `None` where the model has no density.
    pub(crate) log_likelihood: Option<f64>,
    pub(crate) em: Option<EmRecord>,
    /// α of each component, for Bayesian PCA.
    pub(crate) relevance: Option<Vec<f64>>,
}

impl PpcaModel {
    /// The method that made the model: `ppca` or `bayesian-pca`.
    pub fn method(&self) -> &'static str {
        self.body.method()
    }

    /// The same model as a PCA: components, explained variance with the divisor n − 1, loadings,
    /// diagnostics, certificate.
    pub fn pca(&self) -> &PcaModel {
        &self.body
    }

    pub(super) fn use_threads(&mut self, threads: Option<usize>) {
        self.body.use_threads(threads);
    }

    /// The same model, working with this many threads (`None`: one for each core). The answer does
    /// not depend on it.
    pub fn with_threads(mut self, threads: Option<usize>) -> Self {
        self.body = self.body.with_threads(threads);
        self
    }

    /// The number of components, k.
    pub fn n_components(&self) -> usize {
        self.body.n_components()
    }

    /// The number of features, d.
    pub fn n_features(&self) -> usize {
        self.body.n_features()
    }

    /// The number of training samples with something observed, or the sum of their weights.
    pub fn n_samples(&self) -> f64 {
        self.body.n_samples().unwrap_or(f64::NAN)
    }

    /// The components (k × d): orthonormal rows that span the columns of W.
    pub fn components(&self) -> ArrayView2<'_, f64> {
        self.body.components()
    }

    /// The variance along each component under the model (k), the maximum-likelihood estimate
    /// (divisor n).
    pub fn explained_variance(&self) -> Vec<f64> {
        let unit = self.unit();
        self.variances().iter().map(|v| v * unit * unit).collect()
    }

    /// σ², the variance beside the components.
    pub fn noise_variance(&self) -> f64 {
        self.noise * self.unit() * self.unit()
    }

    /// μ (d).
    pub fn mean(&self) -> &[f64] {
        self.body.mean()
    }

    /// W (d × k) in the units the model was fitted in: `U (Λ − σ²I)^½`.
    pub fn weights(&self) -> Array2<f64> {
        self.latent().w * self.unit()
    }

    /// `C = W Wᵀ + σ²I` (d × d), in the units of the data.
    pub fn covariance(&self) -> Array2<f64> {
        let latent = self.latent();
        let scaler = &self.body.parts().map.scaler;
        let deviation = |f: usize| {
            let exponent = scaler.column_exponents.as_ref().map_or(0, |e| e[f]);
            if scaler.inv_scale[f] > 0.0 {
                power_of_two(exponent) / scaler.inv_scale[f]
            } else {
                0.0
            }
        };
        let mut c = latent.w.dot(&latent.w.t());
        for ((f, g), v) in c.indexed_iter_mut() {
            let noise = if f == g { self.noise } else { 0.0 };
            *v = (*v + noise) * deviation(f) * deviation(g);
        }
        c
    }

    /// The precision α of the prior on each column of W (k), for Bayesian PCA: large where a
    /// direction is not needed.
    pub fn relevance(&self) -> Option<&[f64]> {
        self.relevance.as_deref()
    }

    /// How the expectation maximisation went, where there was one.
    pub fn em(&self) -> Option<&EmRecord> {
        self.em.as_ref()
    }

    /// What was done about missing entries, where there were any.
    pub fn missing(&self) -> Option<&MissingReport> {
        self.body.missing()
    }

    /// The names of the features, where they had any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.body.feature_names()
    }

    /// The route that was taken, and why.
    pub fn plan(&self) -> &Plan {
        self.body.plan()
    }

    /// How far the components can be trusted numerically.
    pub fn certificate(&self) -> &Certificate {
        self.body.certificate()
    }

    /// What the user should know.
    pub fn warnings(&self) -> &[Warning] {
        self.body.warnings()
    }

    /// The log-likelihood of the observed training entries, in the units of the data. Not defined
    /// where the model has no volume (σ² = 0 with directions left out).
    pub fn training_log_likelihood(&self) -> Result<f64> {
        self.log_likelihood.ok_or_else(|| self.no_density())
    }

    /// Free parameters: `dk − k(k − 1)/2` for W up to rotation, d for the mean, 1 for the noise; a
    /// full covariance for k ≥ d − 1.
    pub fn n_parameters(&self) -> f64 {
        let d = self.varying();
        let k = self.n_components().min(d.saturating_sub(1));
        (d * k) as f64 - 0.5 * (k as f64) * (k as f64 - 1.0) + 1.0 + d as f64
    }

    /// Akaike's criterion on the training data: `2p − 2 ln L`.
    pub fn aic(&self) -> Result<f64> {
        Ok(2.0 * self.n_parameters() - 2.0 * self.training_log_likelihood()?)
    }

    /// Schwarz' criterion on the training data: `p ln n − 2 ln L`.
    pub fn bic(&self) -> Result<f64> {
        Ok(self.n_parameters() * self.n_samples().ln() - 2.0 * self.training_log_likelihood()?)
    }

    /// Posterior means `E[z|x] = M⁻¹Wᵀ(x − μ)` (n × k) of training or new samples. Samples with
    /// missing entries are taken where the model was fitted to data with missing entries or the data have a policy for
    /// them; [`PpcaModel::posterior`] takes them always.
    pub fn transform<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>> {
        let data = &data.into();
        compiled_here!(PpcaModel, self.transform_typed(data) -> Made of T)
    }

    fn transform_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<Array2<T>> {
        let mut rows = 0;
        let mut scores = Vec::with_capacity(data.n_samples().unwrap_or(0) * self.n_components());
        self.transform_blocks(data, &mut |block| {
            rows += block.nrows();
            scores.extend(block.iter().copied());
            Ok(())
        })?;
        Array2::from_shape_vec((rows, self.n_components()), scores)
            .map_err(|e| Error::Internal(e.to_string()))
    }

    /// The same as they are made, in blocks of rows; the number of rows.
    pub fn transform_blocks<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        sink: &mut (dyn FnMut(ArrayView2<T>) -> Result<()> + Send),
    ) -> Result<usize> {
        self.hand_to(&data.into(), sink)
    }

    fn hand_to<T: Scalar>(
        &self,
        data: &Dataset<T>,
        sink: &mut (dyn FnMut(ArrayView2<T>) -> Result<()> + Send),
    ) -> Result<usize> {
        let (map, factors) = (self.map(), self.shrinkage());
        if !self.body.takes_missing(data) {
            return map.transform_blocks(data, &factors, sink);
        }
        let latent = self.latent();
        let solve = |rows: &Array2<T>, missing_counts: &[super::observed::RowHoles]| {
            let one = |(row, bits): &super::observed::RowHoles| {
                let has =
                    |f: usize| bits[f / 64] >> (f % 64) & 1 == 0 && map.scaler.inv_scale[f] > 0.0;
                let x: Vec<f64> = (0..map.scaler.inv_scale.len())
                    .map(|f| if has(f) { map.standardize(rows[[*row, f]], f) } else { 0.0 })
                    .collect();
                Ok(latent.given(has)?.mean(&latent, &x))
            };
            missing_counts.iter().map(one).collect()
        };
        map.transform_missing(data, &factors, &solve, sink)
    }

    /// Samples (n × d) from latent scores (n × k): `x̂ = W (WᵀW)⁺ M z + μ`, which gives PCA's
    /// reconstruction back for posterior means of whole samples.
    pub fn inverse_transform<T: Scalar>(&self, scores: ArrayView2<T>) -> Result<Array2<T>> {
        self.map().inverse_transform(scores, &self.shrinkage())
    }

    /// The optimal reconstruction, PCA's: `x̂ = W (WᵀW)⁺ M E[z|x] + μ`; for samples with missing entries the
    /// least-squares fit to what is observed.
    pub fn reconstruct<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>> {
        self.body.reconstruct(data)
    }

    /// The reconstruction that shrinks towards the mean: `W E[z|x] + μ`.
    pub fn reconstruct_shrunk<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<Array2<T>> {
        let z = self.transform(data)?.mapv(|v| v.to_f64());
        let map = self.map();
        let latent = self.latent();
        let rows = pool::run(map.threads, || z.dot(&latent.w.t()))?;
        Ok(Array2::from_shape_fn(rows.dim(), |(i, f)| {
            T::from_f64(map.scaler.unstandardize(rows[[i, f]], f))
        }))
    }

    /// Draws `n` samples (n × d).
    pub fn sample(&self, n: usize, seed: u64) -> Array2<f64> {
        self.draw(n, &mut random::stream(seed, SAMPLES))
    }

    /// The next `n` samples (n × d).
    pub(super) fn draw(&self, n: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
        let (latent, map) = (self.latent(), self.map());
        let (d, k) = latent.w.dim();
        let sd = self.noise.sqrt();
        let mut rows = Array2::zeros((n, d));
        for mut row in rows.rows_mut() {
            let z: Vec<f64> = (0..k).map(|_| random::normal(rng)).collect();
            for (f, x) in row.iter_mut().enumerate() {
                let along: f64 = latent.w.row(f).iter().zip(&z).map(|(w, z)| w * z).sum();
                *x = map.scaler.unstandardize(along + sd * random::normal(rng), f);
            }
        }
        rows
    }

    /// `−n/2 (d ln 2π + Σ ln λ + (d − k) ln σ² + d)`, in the units of the data: what the training
    /// samples have at the closed form. `None` where the model has no volume.
    pub(crate) fn likelihood_at_maximum(&self) -> Option<f64> {
        let (n, scaler) = (self.n_samples(), &self.map().scaler);
        let d = self.varying() as f64;
        let variances = self.variances();
        let beside = self.varying().saturating_sub(variances.len()) as f64;
        if variances.iter().any(|v| *v <= 0.0) || (beside > 0.0 && self.noise <= 0.0) {
            return None;
        }
        let inside: f64 = variances.iter().map(|v| v.ln()).sum();
        let outside = if beside > 0.0 { beside * self.noise.ln() } else { 0.0 };
        let jacobian: f64 = (0..scaler.inv_scale.len())
            .filter(|&f| scaler.inv_scale[f] > 0.0)
            .map(|f| {
                let exponent = scaler.column_exponents.as_ref().map_or(0, |e| e[f]);
                (scaler.inv_scale[f] * power_of_two(-exponent)).ln()
            })
            .sum();
        let constant = d * std::f64::consts::TAU.ln() + d;
        Some(n * (jacobian - 0.5 * (constant + inside + outside)))
    }

    fn map(&self) -> &LinearMap {
        &self.body.parts().map
    }

    fn unit(&self) -> f64 {
        power_of_two(self.map().scaler.exponent)
    }

    /// Features that vary: standardised constant ones are not part of the model.
    fn varying(&self) -> usize {
        self.map().scaler.inv_scale.iter().filter(|w| **w > 0.0).count()
    }

    /// Maximum-likelihood variances along the components, in the model's units.
    fn variances(&self) -> Vec<f64> {
        let n = self.n_samples();
        self.body.parts().values.iter().map(|v| v * ((n - 1.0) / n)).collect()
    }

    /// `E[z_j|x] = s_j/λ_j · u_jᵀ(x − μ)` with `s² = λ − σ²`, for whole samples; 0 where W is 0.
    pub(crate) fn shrinkage(&self) -> Vec<f64> {
        let one = |v: f64| if v > self.noise { (v - self.noise).sqrt() / v } else { 0.0 };
        self.variances().into_iter().map(one).collect()
    }

    fn latent(&self) -> Latent {
        Latent::new(self.components(), &self.variances(), self.noise)
    }

    /// The same Gaussian in the form that densities need.
    fn density(&self) -> Result<Latent> {
        let variances = self.variances();
        let latent = Latent::with_noise(self.components(), &variances, self.noise, self.varying());
        if latent.noise > 0.0 { Ok(latent) } else { Err(self.no_density()) }
    }

    fn no_density(&self) -> Error {
        let why = if self.variances().iter().all(|v| *v == 0.0) {
            "the data have no variance"
        } else {
            "the components carry all of the variance, so the samples lie in a subspace \
             without volume; keep fewer components"
        };
        Error::NotDefined { what: "the log-likelihood", why: why.into() }
    }
}
