//! Latent semantic analysis: PCA without centring, for counts and other data where 0 means nothing.

use super::estimator::{Estimator, FitContext, Fitted, Method, at_most, estimator};
use super::fit::Fit;
use super::option_spec::{OptionSpec, OptionValues, SOLVER};
use crate::data::{AnyDataset, DataShape, Dataset, Target, TermWeighting};
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
    supervised: false,
    options: &[OPTIONS, SOLVER],
    build,
    load: |parts| Ok(Box::new(PcaModel::from_parts(parts)?)),
};

/// What a user may ask for.
const OPTIONS: &[OptionSpec] = &[OptionSpec::choice(
    "weighting",
    &[
        ("none", "Counts as they are"),
        ("tf-idf", "Count × inverse document frequency"),
        ("log-entropy", "Logarithm of the count × one minus the term's entropy"),
    ],
    "Weighting of term counts",
)];

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    let weighting = values.choice(
        "weighting",
        &[
            ("none", None),
            ("tf-idf", Some(TermWeighting::TfIdf)),
            ("log-entropy", Some(TermWeighting::LogEntropy)),
        ],
    );
    Ok(Box::new(
        Lsa::new(values.n_components(shape))
            .weighting(weighting)
            .solver(values.solver())
            .options(values.options.clone()),
    ))
}

/// Uncentred PCA: the right singular vectors of the data themselves, with `λ = s²/(n − 1)` and the
/// total `‖X‖²/(n − 1)`.
///
/// ```
/// use eigenlens::{Csr, Lsa};
/// // Three documents, four terms.
/// let counts = Csr::new(3, 4, vec![0, 2, 4, 5], vec![0, 1, 0, 1, 3], vec![2.0, 1.0, 4.0, 2.0, 3.0])?;
/// let model = Lsa::new(2).fit(&counts)?;
/// assert!((model.singular_values()[0] - 5.0).abs() < 1e-12);
/// assert!((model.singular_values()[1] - 3.0).abs() < 1e-12);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lsa {
    fit: Fit,
    weighting: Option<TermWeighting>,
}

impl Lsa {
    /// Keeps `n_components`: a number, or a [`NComponents`].
    pub fn new(n_components: impl Into<NComponents>) -> Self {
        Lsa { fit: Fit::new("lsa", n_components.into(), false), weighting: None }
    }

    /// As an [`Estimator`]: how counts of terms are to be weighted first (default: not at all).
    pub fn weighting(mut self, weighting: Option<TermWeighting>) -> Self {
        self.weighting = weighting;
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

    /// Fits the model and returns the training scores (n × k).
    pub fn fit_transform<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<(PcaModel, Array2<T>)> {
        self.fit.run(&data.into(), true)
    }
}

super::traits::fit_trait!(Lsa => PcaModel);
estimator!(Lsa, {
    fn term_weighting(&self) -> Option<TermWeighting> {
        self.weighting
    }
});
