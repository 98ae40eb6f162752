//! Linear discriminant analysis (Fisher): directions that separate classes most, measured by the spread
//! within them.

mod classes;
mod fit;
mod model;
mod parts;
mod plan;
mod verify;
mod within;

pub use model::LdaModel;

use super::estimator::{Estimator, FitContext, Fitted, Method, estimator, need_target};
use super::option_spec::{OptionSpec, OptionValues, Range};
use crate::data::{AnyDataset, DataShape, Dataset, Target, compiled_here};
use crate::error::{Error, Result};
use crate::n_components::NComponents;
use crate::options::Options;
use crate::plan::Plan;
use crate::scalar::{Scalar, typed};
use classes::Classes;
use ndarray::Array2;

/// What every surface knows of the method.
pub(super) const METHOD: Method = Method {
    name: "lda",
    about: "linear discriminant analysis: directions that separate classes most",
    axis: "LD",
    linear: true,
    takes_missing: false,
    default_n_components: |_| NComponents::All,
    supervised: true,
    options: &[OPTIONS],
    build,
    load: |parts| Ok(Box::new(LdaModel::from_parts(parts)?)),
};

/// What a user may ask for.
const OPTIONS: &[OptionSpec] = &[
    OptionSpec::number_or(
        "shrinkage",
        Range::Share,
        &["auto"],
        "Share of the within-class covariance that gives way to a multiple of the identity; auto: as much as Ledoit and Wolf find for each class",
    ),
    OptionSpec::choice(
        "singular",
        &[
            ("fisherfaces", "Keep as many principal components of the data as it has directions"),
            ("range", "Look only along the directions in which samples of a class differ"),
        ],
        "What to do with more features than the within-class covariance has directions",
    )
    .excludes(&["shrinkage"]),
    OptionSpec::numbers(
        "priors",
        "Probability of each class, in the order of their names [default: as observed]",
    ),
    OptionSpec::choice(
        "pooling",
        &[
            ("samples", "All samples together, divisor n − classes"),
            ("likelihood", "All samples together, divisor n: the most likely Gaussian"),
            ("priors", "Covariances of the classes (divisor n), weighted by their priors"),
        ],
        "How classes share one covariance",
    ),
    OptionSpec::number(
        "rank_tolerance",
        Range::NotNegative,
        "Directions whose standard deviation within classes is at most this share of that of the features are left out",
    )
    .or("0.0001"),
    OptionSpec::choice(
        "unlabelled",
        &[
            ("error", "Refuse, naming the rows"),
            ("keep", "Give them scores, but learn nothing from them"),
        ],
        "What to do with rows whose target is missing",
    ),
    OptionSpec::flag("center", true, "Subtract the mean from scores"),
    OptionSpec::matrix(
        "covariance",
        "The covariance within classes (d × d), in place of that of the samples",
    )
    .excludes(&["shrinkage"]),
    OptionSpec::flag("store_covariance", false, "Keep the within-class covariance in the model"),
];

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    let shrinkage = match values.word("shrinkage") {
        Some(_) => Some(Shrinkage::LedoitWolf),
        None => values.number("shrinkage").map(Shrinkage::Fixed),
    };
    Ok(Box::new(Lda {
        n_components: values.n_components(shape),
        shrinkage,
        singular: values.choice(
            "singular",
            &[("fisherfaces", SingularWithin::Fisherfaces), ("range", SingularWithin::Range)],
        ),
        priors: values.numbers_of("priors"),
        pooling: values.choice("pooling", &Pooling::NAMES),
        rank_tolerance: values.number("rank_tolerance").unwrap_or(RANK_TOLERANCE),
        keep_unlabelled: values.keeps_unlabelled(),
        center: values.flag("center"),
        covariance: values.matrix("covariance"),
        store_covariance: values.flag("store_covariance"),
        options: values.options.clone(),
    }))
}

/// Directions whose standard deviation within classes is at most this, of standardised features, do not count:
/// as in MASS and scikit-learn.
const RANK_TOLERANCE: f64 = 1e-4;

/// Linear discriminant analysis (Fisher 1936, Rao 1948): directions W that maximise
/// `|Wᵀ S_b W| / |Wᵀ S_w W|`, the spread between classes by the spread within them; at most one less than
/// there are classes.
///
/// ```
/// use eigenlens::{Lda, NComponents, Target, ndarray};
/// // The first column varies most, but it is the difference of the two that tells the classes apart.
/// let x = ndarray::array![[9.0, 9.1], [-7.0, -7.2], [1.0, 1.1], [8.0, 9.1], [-9.0, -8.0], [2.0, 3.2]];
/// let target = Target::classes(["a", "a", "a", "b", "b", "b"]);
/// let (model, scores) = Lda::new(NComponents::All).fit_transform(&x, &target)?;
/// assert_eq!(scores.dim(), (6, 1));
/// assert_eq!(model.predict(&x)?, [0, 0, 0, 1, 1, 1]);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lda {
    n_components: NComponents,
    shrinkage: Option<Shrinkage>,
    singular: SingularWithin,
    priors: Option<Vec<f64>>,
    pooling: Pooling,
    rank_tolerance: f64,
    keep_unlabelled: bool,
    center: bool,
    covariance: Option<Array2<f64>>,
    store_covariance: bool,
    options: Options,
}

/// How far the within-class covariance is drawn towards a simpler one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shrinkage {
    /// `(1 − α) S_w + α tr(S_w)/d · I`, with α from 0 to 1.
    Fixed(f64),
    /// `Σ π_c [(1 − α_c) S_c + α_c diag(S_c)]`, with the α_c that Ledoit & Wolf (2004) find for the standardised
    /// samples of each class.
    LedoitWolf,
}

/// What is done where the within-class covariance is singular because there are more features than samples tell
/// about: d > n − c.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SingularWithin {
    /// The data are projected onto their n − c leading principal components first (Belhumeur, Hespanha &
    /// Kriegman 1997).
    #[default]
    Fisherfaces,
    /// Only directions in which samples of a class differ are looked at.
    Range,
}

/// How the classes share one covariance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pooling {
    /// All samples about the means of their classes, divisor n − c: the unbiased estimate.
    #[default]
    Samples,
    /// The same with divisor n: the maximum of the likelihood.
    Likelihood,
    /// `Σ π_c S_c`, the covariance of every class with divisor n_c.
    Priors,
}

impl Pooling {
    /// Every way, by its name on every surface and in model files.
    pub(super) const NAMES: [(&'static str, Pooling); 3] = [
        ("samples", Pooling::Samples),
        ("likelihood", Pooling::Likelihood),
        ("priors", Pooling::Priors),
    ];
}

typed!(WithScores, T => Result<(LdaModel, Array2<T>)>);

impl Lda {
    /// Keeps `n_components`: a number, or a [`NComponents`]; a share is a share of the variance between
    /// classes, and all are one less than there are classes.
    pub fn new(n_components: impl Into<NComponents>) -> Self {
        Lda {
            n_components: n_components.into(),
            shrinkage: None,
            singular: SingularWithin::default(),
            priors: None,
            pooling: Pooling::default(),
            rank_tolerance: RANK_TOLERANCE,
            keep_unlabelled: false,
            center: true,
            covariance: None,
            store_covariance: false,
            options: Options::default(),
        }
    }

    /// Draws the within-class covariance towards a simpler one (default: not).
    pub fn shrinkage(mut self, shrinkage: Shrinkage) -> Self {
        self.shrinkage = Some(shrinkage);
        self
    }

    /// What is done where there are more features than the within-class covariance has directions.
    pub fn singular(mut self, singular: SingularWithin) -> Self {
        self.singular = singular;
        self
    }

    /// The probability of each class, in the order of [`Target::class_names`] (default: as observed).
    pub fn priors(mut self, priors: impl Into<Vec<f64>>) -> Self {
        self.priors = Some(priors.into());
        self
    }

    /// How the classes share one covariance. [`Shrinkage::LedoitWolf`] weighs classes by their priors anyway.
    pub fn pooling(mut self, pooling: Pooling) -> Self {
        self.pooling = pooling;
        self
    }

    /// Directions whose standard deviation within classes, of standardised features, is at most this are left
    /// out (default 1e-4).
    pub fn rank_tolerance(mut self, tolerance: f64) -> Self {
        self.rank_tolerance = tolerance;
        self
    }

    /// Gives samples without a label scores, but learns nothing from them (default: no, they are an error).
    pub fn keep_unlabelled(mut self, keep: bool) -> Self {
        self.keep_unlabelled = keep;
        self
    }

    /// Scores about the mean, weighted by the priors (default: yes).
    pub fn center(mut self, center: bool) -> Self {
        self.center = center;
        self
    }

    /// Takes this covariance within classes (d × d) in place of that of the samples.
    pub fn covariance(mut self, covariance: Array2<f64>) -> Self {
        self.covariance = Some(covariance);
        self
    }

    /// Keeps the within-class covariance (d × d) in the model (default: no).
    pub fn store_covariance(mut self, store: bool) -> Self {
        self.store_covariance = store;
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
        Ok(plan::Task::new(self, &shape, &Classes::new(self, target, None)?).plan()?.1)
    }

    /// Fits the model.
    pub fn fit<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        target: &Target,
    ) -> Result<LdaModel> {
        Ok(self.run(&data.into(), target, false)?.0)
    }

    /// Fits the model and returns the training scores (n × k).
    pub fn fit_transform<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        target: &Target,
    ) -> Result<(LdaModel, Array2<T>)> {
        self.run(&data.into(), target, true)
    }

    fn run<T: Scalar>(
        &self,
        data: &Dataset<T>,
        target: &Target,
        want_scores: bool,
    ) -> Result<(LdaModel, Array2<T>)> {
        compiled_here!(
            Lda,
            self.run_typed(data, target: &Target, want_scores: bool) -> WithScores of T
        )
    }

    fn run_typed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        target: &Target,
        want_scores: bool,
    ) -> Result<(LdaModel, Array2<T>)> {
        self.check(&data.shape(), target)?;
        fit::run(self, data, target, want_scores)
    }

    /// Refuses what cannot be meant, before any row is read.
    fn check(&self, shape: &DataShape, target: &Target) -> Result<()> {
        self.options.check()?;
        self.n_components.check()?;
        refuse_rules(&self.n_components)?;
        let parameter = |name, value: f64, expected| {
            Err(Error::Parameter { name, value: value.to_string(), expected })
        };
        if let Some(Shrinkage::Fixed(alpha)) = self.shrinkage
            && !(0.0..=1.0).contains(&alpha)
        {
            return parameter("shrinkage", alpha, "between 0 and 1");
        }
        if !(0.0..1.0).contains(&self.rank_tolerance) {
            return parameter("rank_tolerance", self.rank_tolerance, "between 0 and 1");
        }
        if let Some(given) = &self.covariance {
            within::check_given(given, shape.n_features)?;
        }
        match shape.n_samples {
            Some(n) if n != target.n_samples() => Err(Error::Shape {
                what: "the target",
                found: format!("{} values", target.n_samples()),
                expected: format!("one for each of {n} samples"),
            }),
            _ => Ok(()),
        }
    }

    /// The residual that a certificate is judged by.
    fn tolerance<T: Scalar>(&self) -> f64 {
        let usual = if T::EPSILON > f64::EPSILON { 1e-6 } else { 1e-9 };
        self.options.tolerance.unwrap_or(usual)
    }
}

super::traits::fit_trait!(Lda => LdaModel, supervised);
estimator!(Lda, supervised);

/// Refuses a rule for the number of components.
fn refuse_rules(request: &NComponents) -> Result<()> {
    let NComponents::Rule(rule) = request else { return Ok(()) };
    Err(Error::Unsupported {
        what: format!("the rule `{}`", rule.name()),
        why: "looks at variances, and discriminants are ratios of them",
        instead: None,
    })
}
