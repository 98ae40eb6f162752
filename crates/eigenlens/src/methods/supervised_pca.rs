//! Supervised PCA: directions along which the data depend most on a target.

use super::estimator::{Estimator, FitContext, Fitted, Method, estimator, need_target};
use super::fit::Fit;
use super::kernel_options::LABELS;
use super::option_spec::{OptionSpec, OptionValues, Range, SOLVER, STANDARDIZE};
use super::supervised_fit::{self, Supervised};
use crate::data::{AnyDataset, DataShape, Dataset, Target, compiled_here};
use crate::dependence::{LabelKernel, Labels};
use crate::error::{Error, Result};
use crate::linalg::pool;
use crate::model::SupervisedPcaModel;
use crate::n_components::NComponents;
use crate::options::{Options, Solver};
use crate::passes::RowGrid;
use crate::plan::Plan;
use crate::scalar::{Scalar, typed};
use ndarray::Array2;

/// What every surface knows of the method.
pub(super) const METHOD: Method = Method {
    name: "supervised-pca",
    about: "supervised PCA: directions that depend most on a target",
    axis: "SPC",
    linear: true,
    takes_missing: false,
    default_n_components: |_| NComponents::VarianceShare(0.99),
    supervised: true,
    options: &[LABELS, OPTIONS, SOLVER],
    build,
    load: |parts| Ok(Box::new(SupervisedPcaModel::from_parts(parts)?)),
};

/// What a user may ask for.
const OPTIONS: &[OptionSpec] = &[
    OptionSpec::number("supervision", Range::Share, "From PCA (0) to supervised PCA (1)").or("1"),
    STANDARDIZE,
    OptionSpec::flag(
        "center",
        true,
        "Subtract the mean from scores (the textbook does not; the directions are the same)",
    ),
];

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    Ok(Box::new(
        SupervisedPca::new(values.n_components(shape))
            .label_kernel(values.label_kernel())
            .supervision(values.number("supervision").unwrap_or(1.0))
            .standardize(values.flag("standardize"))
            .center(values.flag("center"))
            .keep_unlabelled(values.keeps_unlabelled())
            .solver(values.solver())
            .options(values.options.clone()),
    ))
}

/// Supervised PCA (Barshan, Ghodsi, Azimifar & Zolghadri Jahromi 2011): orthonormal directions U
/// that maximise `tr(Uᵀ Xᵀ H K_y H X U)`, the dependence between projected data and a target as
/// HSIC measures it.
///
/// ```
/// use eigenlens::{SupervisedPca, Target, ndarray};
/// // The second column tells the classes apart; the first one only varies more.
/// let x = ndarray::array![[9.0, 0.1], [-7.0, 0.0], [8.0, 1.1], [-9.0, 1.0], [-2.0, 0.0], [1.0, 1.2]];
/// let target = Target::classes(["a", "a", "b", "b", "a", "b"]);
/// let (model, scores) = SupervisedPca::new(1).fit_transform(&x, &target)?;
/// assert!(model.components()[[0, 1]] > 0.9);
/// assert_eq!(model.target().rank, 1);
/// assert_eq!(scores.dim(), (6, 1));
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SupervisedPca {
    pub(super) n_components: NComponents,
    pub(super) kernel: LabelKernel,
    pub(super) supervision: f64,
    pub(super) center: bool,
    pub(super) standardize: bool,
    pub(super) keep_unlabelled: bool,
    pub(super) solver: Solver,
    pub(super) options: Options,
}

typed!(WithScores, T => Result<(SupervisedPcaModel, Array2<T>)>);

impl SupervisedPca {
    /// Keeps `n_components`: a number, or a [`NComponents`]; a share is a share of HSIC, and
    /// all are as many as the target can tell apart.
    pub fn new(n_components: impl Into<NComponents>) -> Self {
        SupervisedPca {
            n_components: n_components.into(),
            kernel: LabelKernel::Auto,
            supervision: 1.0,
            center: true,
            standardize: false,
            keep_unlabelled: false,
            solver: Solver::Auto,
            options: Options::default(),
        }
    }

    /// The kernel between targets (default: delta for classes, Gaussian for numbers).
    pub fn label_kernel(mut self, kernel: LabelKernel) -> Self {
        self.kernel = kernel;
        self
    }

    /// The dial between PCA (0) and supervised PCA (1, the default): the operator is a blend of
    /// `Xᵀ H X` and `Xᵀ H K_y H X`, each divided by its trace.
    pub fn supervision(mut self, supervision: f64) -> Self {
        self.supervision = supervision;
        self
    }

    /// Scores and reconstruction about the training mean (default: yes). Without, they are those of
    /// the textbook, `Uᵀ x` and `U Uᵀ x`; the directions are the same.
    pub fn center(mut self, center: bool) -> Self {
        self.center = center;
        self
    }

    /// Divides every feature by its standard deviation (default: no).
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.standardize = standardize;
        self
    }

    /// Lets samples without a label take part in means, variances and the unsupervised side of the
    /// dial (default: no, they are an error).
    pub fn keep_unlabelled(mut self, keep: bool) -> Self {
        self.keep_unlabelled = keep;
        self
    }

    /// The route to take where the dial is below 1 (default: [`Solver::Auto`]); at 1 there is one.
    pub fn solver(mut self, solver: Solver) -> Self {
        self.solver = solver;
        self
    }

    /// Threads, memory, seed, tolerance.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// What would be done, without reading a row of the data.
    pub fn plan(&self, shape: impl Into<DataShape>, target: &Target) -> Result<Plan> {
        let shape = shape.into();
        self.check(&shape, target)?;
        shape.check_complete()?;
        pool::run(self.options.threads, || {
            // Weights change no width: what is planned is what is done.
            let labels = self.labels(None, target)?;
            supervised_fit::plan(self, &shape, &labels)
        })?
    }

    /// Fits the model.
    pub fn fit<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        target: &Target,
    ) -> Result<SupervisedPcaModel> {
        Ok(self.run(&data.into(), target, false)?.0)
    }

    /// Fits the model and returns the training scores (n × k), made in the pass that certifies it.
    pub fn fit_transform<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        target: &Target,
    ) -> Result<(SupervisedPcaModel, Array2<T>)> {
        self.run(&data.into(), target, true)
    }

    fn run<T: Scalar>(
        &self,
        data: &Dataset<T>,
        target: &Target,
        want_scores: bool,
    ) -> Result<(SupervisedPcaModel, Array2<T>)> {
        compiled_here!(
            SupervisedPca,
            self.run_typed(data, target: &Target, want_scores: bool) -> WithScores of T
        )
    }

    fn run_typed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        target: &Target,
        want_scores: bool,
    ) -> Result<(SupervisedPcaModel, Array2<T>)> {
        self.check(&data.shape(), target)?;
        pool::run(self.options.threads, || {
            let labels = self.labels(RowGrid::new(data)?.counts(), target)?;
            let plan = supervised_fit::plan(self, &data.shape(), &labels)?.reserved()?;
            let fit = Supervised { estimator: self, data, target, labels: &labels };
            if self.supervision == 0.0 {
                fit.unsupervised(want_scores)
            } else {
                fit.supervised(plan, want_scores)
            }
        })?
    }

    fn labels(&self, counts: Option<&[f64]>, target: &Target) -> Result<Labels> {
        Labels::new(target, self.kernel, self.keep_unlabelled, counts, self.options.memory)
    }

    /// PCA with the same options: the other end of the dial.
    pub(super) fn unsupervised(&self) -> Fit {
        let mut fit = Fit::new("pca", self.n_components.clone(), true);
        fit.standardize = self.standardize;
        fit.solver = self.solver;
        fit.options = self.options.clone();
        fit
    }

    /// Refuses what cannot be meant, before any row is read.
    fn check(&self, shape: &DataShape, target: &Target) -> Result<()> {
        self.options.check()?;
        self.n_components.check()?;
        if !(0.0..=1.0).contains(&self.supervision) {
            return Err(Error::Parameter {
                name: "supervision",
                value: self.supervision.to_string(),
                expected: "between 0 and 1",
            });
        }
        if self.supervision > 0.0 {
            refuse_rules(&self.n_components)?;
        }
        if self.supervision == 1.0 && self.solver != Solver::Auto {
            return Err(Error::Unsupported {
                what: "a choice of solver".into(),
                why: "does not apply at supervision 1, where only a thin product is decomposed",
                instead: None,
            });
        }
        let d = shape.n_features;
        if let Some(n) = shape.n_samples {
            if n != target.n_samples() {
                return Err(Error::Shape {
                    what: "the target",
                    found: format!("{} values", target.n_samples()),
                    expected: format!("one for each of {n} samples"),
                });
            }
            if n < 2 {
                return Err(Error::TooFewRows { found: n, needed: 2 });
            }
        }
        // As many directions as there are features; those past the rank of the labels are null.
        self.n_components.check_limit(d, target.n_samples(), d)
    }
}

super::traits::fit_trait!(SupervisedPca => SupervisedPcaModel, supervised);
estimator!(SupervisedPca, supervised);

/// Why rules do not go with supervised components.
pub(super) const NO_RULES: &str =
    "looks at variances, and supervised components do not come in their order";

/// Refuses a rule where components are supervised.
pub(super) fn refuse_rules(request: &NComponents) -> Result<()> {
    let NComponents::Rule(rule) = request else { return Ok(()) };
    let what = format!("the rule `{}`", rule.name());
    Err(Error::Unsupported { what, why: NO_RULES, instead: None })
}
