//! Probabilistic PCA: a Gaussian whose covariance is low rank plus noise.

use super::em::EmOptions;
use super::estimator::{Estimator, FitContext, Fitted, Method, at_most, estimator};
use super::fit::Fit;
use super::from_matrix::{self, INPUT};
use super::option_spec::{OptionSpec, OptionValues, SOLVER, STANDARDIZE};
use crate::data::{AnyDataset, DataShape, Dataset, Missing, Target, compiled_here};
use crate::em::{Observer, Progress};
use crate::error::{Error, Result};
use crate::linalg::pool;
use crate::model::PcaModel;
use crate::model::ppca::PpcaModel;
use crate::n_components::NComponents;
use crate::options::{Options, Solver};
use crate::passes::Moments;
use crate::plan::Plan;
use crate::scalar::{Scalar, typed};
use ndarray::parallel::prelude::*;
use ndarray::{Array2, ArrayView2, Axis};
use std::ops::ControlFlow;

/// What every surface knows of the method.
pub(super) const METHOD: Method = Method {
    name: "ppca",
    about: "probabilistic PCA: a density that fills missing entries and finds outliers",
    axis: "Z",
    linear: true,
    takes_missing: true,
    // A density needs something left for the noise.
    default_n_components: |shape| at_most(2, shape, shape.n_features.saturating_sub(1)),
    supervised: false,
    options: &[OPTIONS, INPUT, SOLVER],
    build,
    load: |parts| Ok(Box::new(PpcaModel::from_parts(parts)?)),
};

/// What a user may ask for.
const OPTIONS: &[OptionSpec] = &[
    STANDARDIZE,
    OptionSpec::flag("em", false, "Iterate also where the closed form would do")
        .excludes(&["input"]),
];

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    let algorithm = if values.flag("em") { Algorithm::Em } else { Algorithm::Auto };
    let mut ppca = Ppca::new(values.n_components(shape));
    ppca.fit.covariance = values.given_covariance();
    Ok(Box::new(
        ppca.standardize(values.flag("standardize"))
            .algorithm(algorithm)
            .solver(values.solver())
            .options(values.options.clone()),
    ))
}

/// Probabilistic PCA (Tipping & Bishop 1999): `x = W z + μ + ε` with `z ~ N(0, I)` and
/// `ε ~ N(0, σ²I)`, so that `x ~ N(μ, W Wᵀ + σ²I)`.
///
/// Without missing entries the maximum of the likelihood is known in closed form and costs what PCA costs;
/// with missing entries ([`Missing::Em`]) it is found by expectation maximisation.
///
/// ```
/// use eigenlens::{Dataset, Missing, Ppca, ndarray};
/// let x = ndarray::array![[-1.0, -1.1, 0.2], [-2.0, -1.9, f64::NAN], [-3.0, -3.1, 0.1], [1.0, 0.9, 0.0],
///                         [2.0, f64::NAN, 0.1], [3.0, 3.2, -0.2]];
/// let data = Dataset::from(&x).with_missing(Missing::Em);
/// let model = Ppca::new(1).fit(&data)?;
/// let filled = model.impute(&data)?;
/// assert!((filled.table[[4, 1]] - 2.0).abs() < 0.5);
/// assert!(filled.entries[1].standard_error < 0.5);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Ppca {
    fit: Fit,
    algorithm: Algorithm,
}

/// How the maximum of the likelihood is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// The closed form where there are no missing entries, expectation maximisation where there are.
    #[default]
    Auto,
    /// Expectation maximisation always, with expanded and extrapolated steps.
    Em,
    /// Expectation maximisation by the textbook's steps: slow, and easy to compare with.
    PlainEm,
}

typed!(WithScores, T => Result<(PpcaModel, Array2<T>)>);

impl Ppca {
    /// Keeps `n_components`: a number, or a [`NComponents`].
    pub fn new(n_components: impl Into<NComponents>) -> Self {
        let fit = Fit::new("ppca", n_components.into(), true);
        Ppca { fit, algorithm: Algorithm::Auto }
    }

    /// Divides every feature by its standard deviation first (default: no).
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.fit.standardize = standardize;
        self
    }

    /// Closed form or iteration (default: [`Algorithm::Auto`]).
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// The route of the closed form (default: [`Solver::Auto`]).
    pub fn solver(mut self, solver: Solver) -> Self {
        self.fit.solver = solver;
        self
    }

    /// Threads, memory, seed, tolerance.
    pub fn options(mut self, options: Options) -> Self {
        self.fit.options = options;
        self
    }

    /// Fits from a covariance or correlation matrix (d × d, divisor n − 1) of `n_samples` samples.
    pub fn fit_covariance(&self, covariance: ArrayView2<f64>, n_samples: f64) -> Result<PpcaModel> {
        Ok(closed_form(from_matrix::from_covariance(&self.fit, covariance, Some(n_samples))?))
    }

    /// Fits from count, mean and scatter.
    pub fn fit_moments(&self, moments: &Moments) -> Result<PpcaModel> {
        Ok(closed_form(from_matrix::from_moments(&self.fit, moments)?))
    }

    /// What would be done, without reading a row.
    pub fn plan(&self, shape: impl Into<DataShape>) -> Result<Plan> {
        let shape = shape.into();
        match self.algorithm {
            Algorithm::Auto => self.fit.plan(&shape),
            _ => self.fit.plan(&shape.with_missing(Missing::Em)),
        }
    }

    /// Fits the model.
    pub fn fit<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<PpcaModel> {
        self.fit_observed(data, &mut |_| ControlFlow::Continue(()))
    }

    /// Fits the model and returns the posterior means of the training samples (n × k).
    pub fn fit_transform<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<(PpcaModel, Array2<T>)> {
        let data = &data.into();
        compiled_here!(Ppca, self.fit_transform_typed(data) -> WithScores of T)
    }

    fn fit_transform_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<(PpcaModel, Array2<T>)> {
        let iterates = self.algorithm != Algorithm::Auto || data.missing() != Missing::Error;
        let iterates = iterates && self.fit.covariance.is_none();
        if iterates {
            let model = self.fit(data)?;
            let scores = match data.missing() {
                Missing::DropColumns => {
                    model.transform(data.resolve_missing(&self.fit.options)?.dataset())?
                }
                _ => model.transform(data)?,
            };
            return Ok((model, scores));
        }
        // The scores of PCA, made in the pass that certifies it, shrunk in place.
        let (body, mut scores) = self.fit.run(data, true)?;
        let in_units = body.parts().map.scaler.exponent != 0;
        let model = closed_form(body);
        if in_units {
            // Scores of PCA may be beyond the range of numbers where posterior means are not.
            let scores = model.transform(data)?;
            return Ok((model, scores));
        }
        let factors = model.shrinkage();
        pool::run(self.fit.options.threads, || {
            scores.axis_chunks_iter_mut(Axis(0), 4096).into_par_iter().for_each(|mut rows| {
                for mut row in rows.rows_mut() {
                    for (z, factor) in row.iter_mut().zip(&factors) {
                        *z = T::from_f64(z.to_f64() * factor);
                    }
                }
            });
        })?;
        Ok((model, scores))
    }

    /// Fits the model and tells `observer` of every step of an iteration; it may end it.
    pub fn fit_observed<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        observer: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<PpcaModel> {
        let data = &data.into();
        compiled_here!(Ppca, self.fit_typed(data, observer: &mut Observer) -> Result<PpcaModel>)
    }

    fn fit_typed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        observer: &mut Observer,
    ) -> Result<PpcaModel> {
        if let Some(given) = self.fit.covariance {
            if given.n_samples.is_none() {
                return Err(Error::NotDefined {
                    what: "a maximum of the likelihood",
                    why: "the number of samples behind the matrix is not known".into(),
                });
            }
            return Ok(closed_form(self.fit.run(data, false)?.0));
        }
        let always = self.algorithm != Algorithm::Auto;
        let plain = self.algorithm == Algorithm::PlainEm;
        if always && !matches!(data.missing(), Missing::Error | Missing::Em) {
            let resolved = data.resolve_missing(&self.fit.options)?;
            let mut model = self.fit_observed(resolved.dataset(), observer)?;
            model.body.set_missing(resolved.missing_report().cloned());
            return Ok(model);
        }
        if always || data.missing() == Missing::Em {
            if data.missing() == Missing::Error {
                refuse_missing(data)?;
            }
            let em_options = EmOptions { always, plain, bayesian: false };
            if let Some(found) = self.fit.run_em(data, &em_options, observer)? {
                return Ok(iterated(found));
            }
        }
        let data = match data.missing() {
            Missing::Em => data.clone().with_missing(Missing::Error),
            _ => data.clone(),
        };
        Ok(closed_form(self.fit.run(&data, false)?.0))
    }
}

super::traits::fit_trait!(Ppca => PpcaModel);
estimator!(Ppca, iterates: |this, missing| missing == Missing::Em
        || missing == Missing::Error && this.algorithm != Algorithm::Auto, {
    fn fit_moments(&self, moments: &Moments) -> Result<Fitted> {
        self.fit_moments(moments).map(Fitted::without_scores)
    }
});

/// Names a missing entry where none is expected.
pub(super) fn refuse_missing<T: Scalar>(data: &Dataset<T>) -> Result<()> {
    match data.first_missing()? {
        None => Ok(()),
        Some((row, column)) => Err(data.bad_entry(row, column, f64::NAN)),
    }
}

pub(super) fn iterated(found: super::em::EmFit) -> PpcaModel {
    PpcaModel {
        body: found.body,
        noise: found.noise,
        log_likelihood: found.log_likelihood,
        em: Some(found.record),
        relevance: found.relevance,
    }
}

/// The maximum of the likelihood from a PCA: σ² is what the trace leaves, never the full spectrum.
pub(super) fn closed_form(body: PcaModel) -> PpcaModel {
    let n = body.n_samples().unwrap_or(f64::NAN);
    let noise = body.scaled_noise() * ((n - 1.0) / n);
    let mut model = PpcaModel { body, noise, log_likelihood: None, em: None, relevance: None };
    model.log_likelihood = model.likelihood_at_maximum();
    model
}
