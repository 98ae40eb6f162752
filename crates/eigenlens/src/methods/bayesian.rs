//! Bayesian PCA: probabilistic PCA that finds its own dimension.

use super::em::EmOptions;
use super::estimator::{Estimator, FitContext, Fitted, Method, at_most, estimator};
use super::fit::Fit;
use super::option_spec::{OptionValues, STANDARDIZE};
use super::ppca::{iterated, refuse_missing};
use crate::data::{AnyDataset, DataShape, Dataset, Missing, Target, compiled_here};
use crate::em::{Observer, Progress};
use crate::error::{Error, Result};
use crate::model::PpcaModel;
use crate::n_components::NComponents;
use crate::options::Options;
use crate::plan::Plan;
use crate::scalar::Scalar;
use ndarray::Array2;
use std::ops::ControlFlow;

/// What every surface knows of the method.
pub(super) const METHOD: Method = Method {
    name: "bayesian-pca",
    about: "probabilistic PCA with a prior that finds the number of components",
    axis: "Z",
    linear: true,
    takes_missing: true,
    // The most there may be: beyond some dozens a prior is no cheap way to find fewer.
    default_n_components: |shape| at_most(30, shape, shape.n_features.saturating_sub(1)),
    supervised: false,
    options: &[&[STANDARDIZE]],
    build,
    load: |parts| Ok(Box::new(PpcaModel::from_parts(parts)?)),
};

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    Ok(Box::new(
        BayesianPca::new(values.n_components(shape))
            .standardize(values.flag("standardize"))
            .options(values.options.clone()),
    ))
}

/// Bayesian PCA (Bishop 1999): a prior `N(0, 1/α_j)` on every column of W, whose α grows without
/// bound where a direction is not needed and switches it off. The number of components asked for is
/// the most there may be; as many are kept as the data support.
///
/// It begins where the likelihood is largest without a prior. The posterior of W is kept as mean and
/// covariance, and from there a lower bound of the evidence rises with every step. Missing entries
/// ([`Missing::Em`]) are integrated out.
///
/// ```
/// use eigenlens::{BayesianPca, ndarray};
/// use ndarray::Array2;
/// // Two directions in five features, and a little noise.
/// let x = Array2::from_shape_fn((60, 5), |(i, f)| {
///     let (a, b) = ((i as f64 * 0.7).sin(), (i as f64 * 1.3).cos());
///     let noise = 0.01 * ((i * i * 31 + f * f * 17 + i * f * 7) as f64).sin();
///     let place = f as f64 - 2.0;
///     a * place + b * (place * place - 2.0) + noise
/// });
/// let model = BayesianPca::new(4).fit(&x)?;
/// assert_eq!(model.n_components(), 2);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BayesianPca {
    fit: Fit,
}

impl BayesianPca {
    /// At most this many components; [`NComponents::All`] for d − 1, the most that leave noise.
    pub fn new(most: impl Into<NComponents>) -> Self {
        BayesianPca { fit: Fit::new("bayesian-pca", most.into(), true) }
    }

    /// Divides every feature by its standard deviation first (default: no).
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.fit.standardize = standardize;
        self
    }

    /// Threads, memory, seed, tolerance.
    pub fn options(mut self, options: Options) -> Self {
        self.fit.options = options;
        self
    }

    /// What would be done, without reading a row.
    pub fn plan(&self, shape: impl Into<DataShape>) -> Result<Plan> {
        self.fit.plan(&shape.into().with_missing(Missing::Em))
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
        let model = self.fit(data)?;
        let scores = match data.missing() {
            Missing::DropColumns => {
                model.transform(data.resolve_missing(&self.fit.options)?.dataset())?
            }
            _ => model.transform(data)?,
        };
        Ok((model, scores))
    }

    /// Fits the model and tells `observer` of every step; it may end the iteration.
    pub fn fit_observed<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        observer: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<PpcaModel> {
        let data = &data.into();
        compiled_here!(BayesianPca, self.fit_typed(data, observer: &mut Observer) -> Result<PpcaModel>)
    }

    fn fit_typed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        observer: &mut Observer,
    ) -> Result<PpcaModel> {
        if !matches!(self.fit.n_components, NComponents::Fixed(_) | NComponents::All) {
            return Err(Error::Unsupported {
                what: "a share or a rule for the number of components".into(),
                why: "does not fit Bayesian PCA, which finds it by itself",
                instead: None,
            });
        }
        self.plan(data)?;
        match data.missing() {
            Missing::Error => refuse_missing(data)?,
            Missing::Em => {}
            _ => {
                let resolved = data.resolve_missing(&self.fit.options)?;
                let mut model = self.fit_observed(resolved.dataset(), observer)?;
                model.body.set_missing(resolved.missing_report().cloned());
                return Ok(model);
            }
        }
        let em_options = EmOptions { always: true, bayesian: true, plain: false };
        match self.fit.run_em(data, &em_options, observer)? {
            Some(found) => Ok(iterated(found)),
            None => Err(Error::Internal("an iteration that was not made".into())),
        }
    }
}

super::traits::fit_trait!(BayesianPca => PpcaModel);
estimator!(BayesianPca, iterates: |_, missing| matches!(missing, Missing::Em | Missing::Error));
