//! What the model says of samples, complete or not.

use super::PpcaModel;
use crate::data::{Dataset, compiled_here};
use crate::em::Group;
use crate::error::{Error, Result};
use crate::model::imputation::{chunks, jacobian};
use crate::scalar::Scalar;
use ndarray::{Array1, Array2, ArrayView2};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// The latent scores of samples given what is observed: normal, with these means and covariances.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Posterior {
    /// `E[z|x]` (n × k); 0, the prior's, where nothing is observed.
    pub means: Array2<f64>,
    /// Observed entries of each sample (n).
    pub observed: Vec<usize>,
    /// Which of the covariances belongs to each sample.
    which: Vec<usize>,
    covariances: Vec<Array2<f64>>,
}

impl Posterior {
    /// `cov[z|x]` of one sample (k × k); I, the prior's, where nothing is observed.
    pub fn covariance(&self, sample: usize) -> Option<ArrayView2<'_, f64>> {
        Some(self.covariances.get(*self.which.get(sample)?)?.view())
    }

    /// The standard deviation of every score (n × k).
    pub fn standard_deviations(&self) -> Array2<f64> {
        Array2::from_shape_fn(self.means.dim(), |(i, j)| {
            self.covariances[self.which[i]][[j, j]].max(0.0).sqrt()
        })
    }

    /// Samples with nothing observed.
    pub fn empty_samples(&self) -> Vec<usize> {
        (0..self.observed.len()).filter(|&i| self.observed[i] == 0).collect()
    }
}

/// The log-likelihood of samples under the model, missing entries integrated out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SampleLikelihood {
    /// Logarithm of the density of what is observed of each sample (n); 0 where nothing is.
    pub samples: Array1<f64>,
    /// Observed entries of each sample (n).
    pub observed: Vec<usize>,
    /// Their sum, times the weights where the data have some.
    pub total: f64,
    /// Free parameters of the model.
    pub n_parameters: f64,
    /// `2p − 2 ln L`.
    pub aic: f64,
    /// `p ln n − 2 ln L`, with the samples of these data.
    pub bic: f64,
}

/// How unusual samples are.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Anomalies {
    /// Squared Mahalanobis distance of what is observed from the mean (n).
    pub distances: Array1<f64>,
    /// Its degrees of freedom: observed entries (n).
    pub degrees: Vec<usize>,
    /// The chance of a distance as large under the model (n): the upper tail of χ².
    pub p_values: Array1<f64>,
}

/// What a sample's observed entries say.
struct Row {
    distance: f64,
    log_density: f64,
    observed: usize,
}

impl PpcaModel {
    /// Posterior mean and covariance of every sample's latent scores, complete or not.
    pub fn posterior<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Posterior> {
        let data = &data.into();
        compiled_here!(PpcaModel, self.posterior_typed(data) -> Result<Posterior>)
    }

    /// `cov[z|x] = σ² M⁻¹` of samples without missing entries (k × k).
    pub fn posterior_covariance(&self) -> Result<Array2<f64>> {
        let scaler = &self.map().scaler;
        Ok(self.latent().given(|f| scaler.inv_scale[f] > 0.0)?.full_covariance())
    }

    fn posterior_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<Posterior> {
        let latent = self.latent();
        let k = self.n_components();
        let (mut means, mut observed) = (Vec::new(), Vec::new());
        let (mut which, mut covariances) = (Vec::new(), Vec::new());
        chunks(
            data,
            &self.map().scaler,
            self.map().threads,
            |chunk| {
                let mut rows = vec![(0, 0, Vec::new()); chunk.rows];
                let mut spreads = Vec::with_capacity(chunk.groups().len());
                for (g, group) in chunk.groups().enumerate() {
                    let given = latent.given(|f| group.has(f))?;
                    for &i in group.rows {
                        rows[i] = (g, group.observed(), given.mean(&latent, chunk.row(i)));
                    }
                    spreads.push(given.full_covariance());
                }
                Ok((rows, spreads))
            },
            |(rows, spreads)| {
                for (g, count, mean) in rows {
                    which.push(covariances.len() + g);
                    observed.push(count);
                    means.extend(mean);
                }
                covariances.extend(spreads);
                Ok(())
            },
        )?;
        let means = Array2::from_shape_vec((observed.len(), k), means)
            .map_err(|e| Error::Internal(e.to_string()))?;
        Ok(Posterior { means, observed, which, covariances })
    }

    /// The log-likelihood of samples, complete or not, in O(dk) each beyond one k × k system for every
    /// pattern of missing entries. Not defined where the model has no volume.
    pub fn log_likelihood<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<SampleLikelihood> {
        let data = &data.into();
        compiled_here!(PpcaModel, self.log_likelihood_typed(data) -> Result<SampleLikelihood>)
    }

    fn log_likelihood_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<SampleLikelihood> {
        let rows = self.densities(data)?;
        let samples: Array1<f64> = rows.iter().map(|r| r.log_density).collect();
        let counts = data.weights().map(|w| w.counts()).transpose()?;
        let weight = |i: usize| counts.as_ref().and_then(|c| c.get(i)).copied().unwrap_or(1.0);
        let total = samples.iter().enumerate().map(|(i, l)| weight(i) * l).sum::<f64>();
        let n: f64 = (0..rows.len()).filter(|&i| rows[i].observed > 0).map(weight).sum();
        let p = self.n_parameters();
        Ok(SampleLikelihood {
            samples,
            observed: rows.iter().map(|r| r.observed).collect(),
            total,
            n_parameters: p,
            aic: 2.0 * p - 2.0 * total,
            bic: p * n.max(1.0).ln() - 2.0 * total,
        })
    }

    /// How far samples lie from the mean, and how unlikely that is under the model.
    pub fn anomalies<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Anomalies> {
        let rows = self.densities(&data.into())?;
        let p_value = |row: &Row| match ChiSquared::new(row.observed as f64) {
            Ok(chi) if row.observed > 0 => chi.sf(row.distance),
            _ => 1.0,
        };
        Ok(Anomalies {
            p_values: rows.iter().map(p_value).collect(),
            distances: rows.iter().map(|r| r.distance).collect(),
            degrees: rows.iter().map(|r| r.observed).collect(),
        })
    }

    fn densities<T: Scalar>(&self, data: &Dataset<T>) -> Result<Vec<Row>> {
        compiled_here!(PpcaModel, self.densities_typed(data) -> Result<Vec<Row>>)
    }

    fn densities_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<Vec<Row>> {
        let latent = self.density()?;
        let jacobian = jacobian(&self.map().scaler);
        let constant = |group: &Group| -> f64 {
            let own: f64 = group.features.iter().map(|f| jacobian[*f as usize]).sum();
            own - 0.5 * group.observed() as f64 * std::f64::consts::TAU.ln()
        };
        let mut all = Vec::new();
        chunks(
            data,
            &self.map().scaler,
            self.map().threads,
            |chunk| {
                let mut rows: Vec<Row> = Vec::new();
                rows.resize_with(chunk.rows, || Row {
                    distance: 0.0,
                    log_density: 0.0,
                    observed: 0,
                });
                for group in chunk.groups().filter(|g| g.observed() > 0) {
                    let given = latent.given(|f| group.has(f))?;
                    let determinant = given.log_determinant.unwrap_or(f64::INFINITY);
                    let constant = constant(&group) - 0.5 * determinant;
                    for &i in group.rows {
                        let (distance, _) = given.distance(&latent, chunk.row(i));
                        let log_density = constant - 0.5 * distance;
                        rows[i] = Row { distance, log_density, observed: group.observed() };
                    }
                }
                Ok(rows)
            },
            |rows| {
                all.extend(rows);
                Ok(())
            },
        )?;
        Ok(all)
    }
}
