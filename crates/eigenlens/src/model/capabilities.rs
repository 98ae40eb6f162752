//! What only some models can do: asked for once ([`Model::density`](super::Model::density) and the like), then
//! used whatever the method.

use super::observed::ObservedScores;
use super::ppca::{HeldOut, Imputation, ImputedEntry, Posterior};
use super::{PcaModel, PpcaMixtureModel, PpcaModel};
use crate::data::{AnyArray, AnyDataset};
use crate::error::Result;
use crate::linalg::random::{self, SAMPLES};
use crate::scalar::Scalar;
use ndarray::{Array1, Array2, Axis};

/// A probability density of samples.
pub trait Density: Send + Sync {
    /// Free parameters of the density.
    fn n_parameters(&self) -> f64;

    /// What [`Density::score_samples`] says of a sample, by name; the first is `log_likelihood`.
    fn score_names(&self) -> Vec<String>;

    /// How likely what is observed of each sample is, and what else the density says of it
    /// (n × names).
    fn score_samples(&self, data: &AnyDataset) -> Result<Array2<f64>>;

    /// Draws `n` samples.
    fn sample(&self, n: usize, seed: u64) -> Drawn {
        self.sampler(seed).draw(n)
    }

    /// Draws the same samples some at a time: those of a seed do not depend on how many that is.
    fn sampler(&self, seed: u64) -> Sampler<'_>;

    /// Fills missing entries by their conditional mean, or by so many draws.
    fn impute(&self, data: &AnyDataset, draws: usize, seed: u64) -> Result<Imputed>;
}

/// Draws samples from a density, each of them once.
pub struct Sampler<'a>(Box<dyn FnMut(usize) -> Drawn + 'a>);

impl Sampler<'_> {
    /// The next `n` samples.
    pub fn draw(&mut self, n: usize) -> Drawn {
        (self.0)(n)
    }
}

/// Samples drawn from a density.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The samples (n × d).
    pub rows: Array2<f64>,
    /// The class that each comes from, where the density has several.
    pub classes: Option<Vec<usize>>,
}

/// Tables whose missing entries were filled.
#[derive(Debug)]
pub struct Imputed {
    /// One table (n × d) with means, or one for each draw.
    pub tables: Vec<AnyArray>,
    /// The missing entries, row by row.
    pub entries: Vec<ImputedEntry>,
}

impl Imputed {
    /// The table with means, or those that are drawn in its place.
    fn new<T: Scalar>(
        means: Imputation<T>,
        draws: usize,
        draw: impl FnOnce() -> Result<Vec<Array2<T>>>,
    ) -> Result<Imputed> {
        let tables = if draws == 0 { vec![means.table] } else { draw()? };
        let tables = tables.into_iter().map(AnyArray::from).collect();
        Ok(Imputed { tables, entries: means.entries })
    }
}

/// Classes with a probability for each sample.
pub trait Classifier: Send + Sync {
    /// What a class is called: the name of the column that holds it.
    fn class_name(&self) -> &'static str {
        "class"
    }

    /// The names of the classes.
    fn classes(&self) -> Vec<String>;

    /// The probability of each class given what is observed of each sample (n × classes).
    fn predict_proba(&self, data: &AnyDataset) -> Result<Array2<f64>>;

    /// How much speaks for each class (n × classes): logarithms of the probabilities, less what all classes of
    /// a sample have in common.
    fn decision_function(&self, data: &AnyDataset) -> Result<Array2<f64>> {
        Ok(self.predict_proba(data)?.mapv(f64::ln))
    }
}

impl dyn Classifier + '_ {
    /// The most probable class of each sample, by its number.
    pub fn predict(&self, data: &AnyDataset) -> Result<Array1<usize>> {
        Ok(most_probable(&self.predict_proba(data)?))
    }
}

/// The column of the largest probability of each row; of equal ones the first.
pub fn most_probable(probabilities: &Array2<f64>) -> Array1<usize> {
    probabilities.map_axis(Axis(1), |row| {
        let better = |best: usize, (j, p): (usize, &f64)| if *p > row[best] { j } else { best };
        row.iter().enumerate().fold(0, better)
    })
}

/// Scores of samples with missing entries, and how sure they are.
pub trait UncertainScores: Send + Sync {
    /// The scores with their standard errors and, where a prior does not say it, the share of certainty
    /// that is left.
    fn scores_with_errors(&self, data: &AnyDataset) -> Result<ScoresWithErrors>;

    /// Whether there is a share of certainty.
    fn has_certainty(&self) -> bool;
}

/// Scores (n × k) with what is known of their errors.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoresWithErrors {
    /// The scores.
    pub scores: Array2<f64>,
    /// The standard error of each.
    pub standard_errors: Array2<f64>,
    /// The share of certainty that is left, where it is defined.
    pub certainty: Option<Array2<f64>>,
}

/// Hidden variables with a Gaussian prior, of which the samples are noisy images.
pub trait LatentGaussian: Send + Sync {
    /// W (d × k): samples are `W z + μ + ε`.
    fn weights(&self) -> Array2<f64>;

    /// `W Wᵀ + σ²I` (d × d).
    fn covariance(&self) -> Array2<f64>;

    /// What each sample says of its hidden variables.
    fn posterior(&self, data: &AnyDataset) -> Result<Posterior>;

    /// Hides a share of the observed entries and fills them again.
    fn held_out(&self, data: &AnyDataset, share: f64, seed: u64) -> Result<HeldOut>;
}

impl Density for PpcaModel {
    fn n_parameters(&self) -> f64 {
        self.n_parameters()
    }

    fn score_names(&self) -> Vec<String> {
        ["log_likelihood", "distance", "degrees", "p_value"].map(String::from).into()
    }

    fn score_samples(&self, data: &AnyDataset) -> Result<Array2<f64>> {
        let likelihood = dispatch!(data, d => self.log_likelihood(d))?;
        let anomalies = dispatch!(data, d => self.anomalies(d))?;
        Ok(Array2::from_shape_fn((likelihood.samples.len(), 4), |(i, j)| match j {
            0 => likelihood.samples[i],
            1 => anomalies.distances[i],
            2 => anomalies.degrees[i] as f64,
            _ => anomalies.p_values[i],
        }))
    }

    fn sampler(&self, seed: u64) -> Sampler<'_> {
        let mut rng = random::stream(seed, SAMPLES);
        Sampler(Box::new(move |n| Drawn { rows: self.draw(n, &mut rng), classes: None }))
    }

    fn impute(&self, data: &AnyDataset, draws: usize, seed: u64) -> Result<Imputed> {
        dispatch!(data, d => {
            Imputed::new(self.impute(d)?, draws, || self.multiple_imputations(d, draws, seed))
        })
    }
}

impl Density for PpcaMixtureModel {
    fn n_parameters(&self) -> f64 {
        self.n_parameters()
    }

    fn score_names(&self) -> Vec<String> {
        let likelihood = std::iter::once("log_likelihood".to_string());
        likelihood.chain(Classifier::classes(self)).collect()
    }

    fn score_samples(&self, data: &AnyDataset) -> Result<Array2<f64>> {
        let found = dispatch!(data, d => self.memberships(d))?;
        let (n, parts) = found.responsibilities.dim();
        Ok(Array2::from_shape_fn((n, parts + 1), |(i, j)| match j {
            0 => found.log_likelihood[i],
            _ => found.responsibilities[[i, j - 1]],
        }))
    }

    fn sampler(&self, seed: u64) -> Sampler<'_> {
        let mut rng = random::stream(seed, SAMPLES);
        Sampler(Box::new(move |n| {
            let (rows, parts) = self.draw(n, &mut rng);
            Drawn { rows, classes: Some(parts) }
        }))
    }

    fn impute(&self, data: &AnyDataset, draws: usize, seed: u64) -> Result<Imputed> {
        dispatch!(data, d => {
            Imputed::new(self.impute(d)?, draws, || self.multiple_imputations(d, draws, seed))
        })
    }
}

/// The parts of a mixture are its classes.
impl Classifier for PpcaMixtureModel {
    fn class_name(&self) -> &'static str {
        "part"
    }

    fn classes(&self) -> Vec<String> {
        (1..=self.n_parts()).map(|part| format!("part{part}")).collect()
    }

    fn predict_proba(&self, data: &AnyDataset) -> Result<Array2<f64>> {
        Ok(dispatch!(data, d => self.memberships(d))?.responsibilities)
    }
}

impl UncertainScores for PcaModel {
    fn scores_with_errors(&self, data: &AnyDataset) -> Result<ScoresWithErrors> {
        let ObservedScores { scores, standard_errors, certainty, .. } =
            dispatch!(data, d => self.transform_observed(d))?;
        Ok(ScoresWithErrors { scores, standard_errors, certainty: Some(certainty) })
    }

    fn has_certainty(&self) -> bool {
        true
    }
}

impl UncertainScores for PpcaModel {
    fn scores_with_errors(&self, data: &AnyDataset) -> Result<ScoresWithErrors> {
        let found = dispatch!(data, d => self.posterior(d))?;
        let standard_errors = found.standard_deviations();
        Ok(ScoresWithErrors { scores: found.means, standard_errors, certainty: None })
    }

    fn has_certainty(&self) -> bool {
        false
    }
}

impl LatentGaussian for PpcaModel {
    fn weights(&self) -> Array2<f64> {
        self.weights()
    }

    fn covariance(&self) -> Array2<f64> {
        self.covariance()
    }

    fn posterior(&self, data: &AnyDataset) -> Result<Posterior> {
        dispatch!(data, d => self.posterior(d))
    }

    fn held_out(&self, data: &AnyDataset, share: f64, seed: u64) -> Result<HeldOut> {
        dispatch!(data, d => self.held_out(d, share, seed))
    }
}
