//! Latent semantic analysis: PCA without centring, for counts and other data where 0 means nothing.

use super::estimator::{Estimator, FitContext, Fitted, Method, at_most};
use super::fit::Fit;
use crate::data::{AnyDataset, DataShape, Dataset, Target};
use crate::error::Result;
use crate::model::PcaModel;
use crate::n_components::NComponents;
use crate::options::{Options, Solver};
use crate::plan::Plan;
use crate::scalar::Scalar;
use ndarray::Array2;

/// What every surface knows of the method.
pub(super) const METHOD: Method = Method {
    name: "lsa",
    about: "latent semantic analysis: PCA without centring, for counts and sparse data",
    axis: "LS",
    linear: true,
    takes_missing: true,
    // The usual number for text (Deerwester et al. 1990); a share would mean a long tail.
    default_n_components: |shape| at_most(100, shape, shape.n_features),
    load: |parts| Ok(Box::new(PcaModel::from_parts(parts)?)),
};

/// Uncentred PCA: the right singular vectors of the data themselves, with `λ = s²/(n − 1)` and the
/// total `‖X‖²/(n − 1)`.
///
/// ```
/// use eigenlens::{Csr, Dataset, Lsa};
/// // Three documents, four terms.
/// let counts = Csr::new(3, 4, vec![0, 2, 4, 5], vec![0, 1, 0, 1, 3], vec![2.0, 1.0, 4.0, 2.0, 3.0])?;
/// let model = Lsa::new(2).fit(&Dataset::sparse(&counts))?;
/// assert!((model.singular_values()[0] - 5.0).abs() < 1e-12);
/// assert!((model.singular_values()[1] - 3.0).abs() < 1e-12);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lsa {
    fit: Fit,
}

impl Lsa {
    /// Keeps `n_components`: a number, or a [`NComponents`].
    pub fn new(n_components: impl Into<NComponents>) -> Self {
        Lsa { fit: Fit::new("lsa", n_components.into(), false) }
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
    pub fn fit<T: Scalar>(&self, data: &Dataset<T>) -> Result<PcaModel> {
        Ok(self.fit.run(data, false)?.0)
    }

    /// Fits the model and returns the training scores (n × k).
    pub fn fit_transform<T: Scalar>(&self, data: &Dataset<T>) -> Result<(PcaModel, Array2<T>)> {
        self.fit.run(data, true)
    }
}

impl Estimator for Lsa {
    fn method(&self) -> &'static Method {
        &METHOD
    }

    fn plan(&self, shape: &DataShape, _: Option<&Target>) -> Result<Plan> {
        self.plan(shape)
    }

    fn fit(&self, data: &AnyDataset, context: &mut FitContext) -> Result<Fitted> {
        dispatch!(data, d => match context.wants_scores() {
            true => self.fit_transform(d).map(|(model, scores)| Fitted::new(model, Some(scores))),
            false => Ok(Fitted::new::<f64>(self.fit(d)?, None)),
        })
    }
}
