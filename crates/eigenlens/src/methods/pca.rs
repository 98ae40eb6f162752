//! Principal component analysis.

use super::estimator::{Estimator, FitContext, Fitted, Method, estimator};
use super::fit::Fit;
use super::from_matrix::{self, GivenCovariance, INPUT};
use super::option_spec::{CENTER, OptionSpec, OptionValues, SOLVER, STANDARDIZE};
use crate::data::{AnyDataset, DataShape, Dataset, Missing, Target};
use crate::em::Progress;
use crate::error::Result;
use crate::model::{Divisor, PcaModel};
use crate::n_components::NComponents;
use crate::options::{Options, Solver};
use crate::passes::Moments;
use crate::plan::Plan;
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2};
use std::ops::ControlFlow;

/// What every surface knows of the method.
pub(super) const METHOD: Method = Method {
    name: "pca",
    about: "principal component analysis: directions of largest variance",
    axis: "PC",
    linear: true,
    takes_missing: true,
    default_n_components: |_| NComponents::VarianceShare(0.95),
    supervised: false,
    options: &[OPTIONS, INPUT, SOLVER],
    build,
    load: |parts| Ok(Box::new(PcaModel::from_parts(parts)?)),
};

/// What a user may ask for.
const OPTIONS: &[OptionSpec] = &[
    CENTER,
    STANDARDIZE,
    OptionSpec::flag("whiten", false, "Scores of unit variance"),
    OptionSpec::choice(
        "ddof",
        &[("1", "n − 1: unbiased"), ("0", "n: the maximum-likelihood estimate")],
        "Variances are sums of squares divided by n − ddof",
    ),
];

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    let divisor = values.choice("ddof", &[("1", Divisor::Unbiased), ("0", Divisor::Samples)]);
    let mut pca = Pca::new(values.n_components(shape));
    pca.fit.covariance = values.given_covariance();
    Ok(Box::new(
        pca.divisor(divisor)
            .center(values.flag("center"))
            .standardize(values.flag("standardize"))
            .whiten(values.flag("whiten"))
            .solver(values.solver())
            .options(values.options.clone()),
    ))
}

/// Principal component analysis: orthonormal directions U that maximise `tr(Uᵀ S U)`, with S the
/// covariance (or, standardised, the correlation) of the data.
///
/// ```
/// use eigenlens::{Pca, ndarray};
/// let x = ndarray::array![[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]];
/// let (model, scores) = Pca::new(2).fit_transform(&x)?;
/// assert!((model.explained_variance_ratio()[0] - 0.99244).abs() < 5e-6);
/// assert_eq!(scores.dim(), (6, 2));
/// assert!(model.certificate().relative_residual() < 1e-14);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pca {
    fit: Fit,
}

impl Pca {
    /// Keeps `n_components`: a number, or a [`NComponents`].
    pub fn new(n_components: impl Into<NComponents>) -> Self {
        Pca { fit: Fit::new("pca", n_components.into(), true) }
    }

    /// Subtracts the mean of every feature (default: yes). [`Lsa`](crate::Lsa) is the method without.
    pub fn center(mut self, center: bool) -> Self {
        self.fit.center = center;
        self
    }

    /// Divides every feature by its standard deviation (default: no).
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.fit.standardize = standardize;
        self
    }

    /// Scores of unit variance (default: no).
    pub fn whiten(mut self, whiten: bool) -> Self {
        self.fit.whiten = whiten;
        self
    }

    /// What variances are divided by (default: [`Divisor::Unbiased`], n − 1). Standardised features have variances
    /// of 1 with any.
    pub fn divisor(mut self, divisor: Divisor) -> Self {
        self.fit.divisor = divisor;
        self
    }

    /// The data are the covariance matrix itself (d × d), as [`Pca::fit_covariance`] takes it.
    pub fn covariance(mut self, n_samples: Option<f64>) -> Self {
        self.fit.covariance = Some(GivenCovariance { n_samples });
        self
    }

    /// The route to take (default: [`Solver::Auto`]).
    pub fn solver(mut self, solver: Solver) -> Self {
        self.fit.solver = solver;
        self
    }

    /// Threads, memory, seed, tolerance.
    pub fn options(mut self, options: Options) -> Self {
        self.fit.options = options;
        self
    }

    /// What would be done, without reading a row.
    pub fn plan(&self, shape: impl Into<DataShape>) -> Result<Plan> {
        self.fit.plan(&shape.into())
    }

    /// Fits the model.
    pub fn fit<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<PcaModel> {
        Ok(self.fit.run(&data.into(), false)?.0)
    }

    /// Fits the model and returns the training scores (n × k), made in the pass that certifies it.
    pub fn fit_transform<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<(PcaModel, Array2<T>)> {
        self.fit.run(&data.into(), true)
    }

    /// Fits the model and tells `observer` of every step where missing entries are integrated out
    /// ([`Missing::Em`](crate::Missing::Em)); it may end the iteration.
    pub fn fit_observed<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        observer: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<PcaModel> {
        self.fit.run_observed(&data.into(), observer)
    }

    /// Fits from count, mean and scatter; residuals are measured against the scatter.
    pub fn fit_moments(&self, moments: &Moments) -> Result<PcaModel> {
        from_matrix::from_moments(&self.fit, moments)
    }

    /// Fits from a covariance matrix (d × d) of `n_samples` samples. Without their number there are
    /// no standard errors, limits or evidence. Standardising turns it into a correlation matrix; a
    /// correlation matrix is fitted as it is.
    pub fn fit_covariance(
        &self,
        covariance: ArrayView2<f64>,
        n_samples: Option<f64>,
    ) -> Result<PcaModel> {
        from_matrix::from_covariance(&self.fit, covariance, n_samples)
    }

    /// Explained variances and training scores from a Gram matrix (n × n) of inner products, which
    /// is centred first unless [`Pca::center`] is off.
    pub fn fit_gram(&self, gram: ArrayView2<f64>) -> Result<crate::model::GramPca> {
        from_matrix::from_gram(&self.fit, gram)
    }
}

super::traits::fit_trait!(Pca => PcaModel);
estimator!(Pca, iterates: |_, missing| missing == Missing::Em, {
    fn fit_moments(&self, moments: &Moments) -> Result<Fitted> {
        self.fit_moments(moments).map(Fitted::without_scores)
    }
});
