//! Sparse principal component analysis: by cardinality, with a proof where asked for, by penalised
//! regression, or as a dictionary.

mod fit;
mod path;

use super::estimator::{Estimator, FitContext, Fitted, Method, estimator};
use super::fit::Fit;
use super::from_matrix::{self, INPUT};
use super::option_spec::{CENTER, OptionSpec, OptionValues, Range, STANDARDIZE};
use crate::data::{AnyDataset, DataShape, Dataset, Target, compiled_here};
use crate::error::{Error, Hint, Result};
use crate::model::{Projection, SparsePath, SparsePcaModel};
use crate::n_components::NComponents;
use crate::options::Options;
use crate::passes::Moments;
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::sparse_search::{Deflation, ProofLimits, Ridge};
use ndarray::{Array2, ArrayView2};
use std::time::Duration;

/// One number for every component, or one for each.
#[derive(Clone, Debug, PartialEq)]
pub struct PerComponent<V>(Vec<V>);

impl<V: Clone> PerComponent<V> {
    /// The numbers of `k` components.
    fn spread(&self, name: &'static str, k: usize) -> Result<Vec<V>> {
        match &self.0[..] {
            [one] => Ok(vec![one.clone(); k]),
            all if all.len() == k => Ok(all.to_vec()),
            all => Err(Error::Unsupported {
                what: format!("{} values of `{name}` for {k} components", all.len()),
                why: "do not fit: give one number, or one for each",
                instead: None,
            }),
        }
    }
}

impl<V> From<V> for PerComponent<V> {
    fn from(one: V) -> Self {
        PerComponent(vec![one])
    }
}

impl<V> From<Vec<V>> for PerComponent<V> {
    fn from(all: Vec<V>) -> Self {
        PerComponent(all)
    }
}

impl<V, const N: usize> From<[V; N]> for PerComponent<V> {
    fn from(all: [V; N]) -> Self {
        PerComponent(all.into())
    }
}

/// In which units penalties are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PenaltyScale {
    /// `(α − β)ᵀS(α − β) + λ₂‖β‖² + λ₁‖β‖₁`: the same from data and from a covariance matrix.
    #[default]
    Covariance,
    /// `‖Xc α − Xc β‖² + λ₂‖β‖² + λ₁‖β‖₁`: n − 1 times that, as programs that regress on rows have it.
    Sum,
}

/// The formulation, with its own options.
#[derive(Clone, Debug, PartialEq)]
enum Formulation {
    Cardinality(PerComponent<usize>),
    Penalties(PerComponent<f64>),
    NonZeros(PerComponent<usize>),
    Dictionary(f64),
}

/// What every surface knows of the method.
pub(super) const METHOD: Method = Method {
    name: "sparse-pca",
    about: "sparse PCA: few features in each component, proven best where asked for",
    axis: "SPC",
    linear: true,
    takes_missing: false,
    default_n_components: |shape| NComponents::Fixed(3.min(shape.n_features).max(1)),
    supervised: false,
    options: &[OPTIONS, INPUT],
    build,
    load: |parts| Ok(Box::new(SparsePcaModel::from_parts(parts)?)),
};

/// What a user may ask for.
const OPTIONS: &[OptionSpec] = &[
    OptionSpec::counts(
        "cardinality",
        "At most so many non-zeros: one number, or one for each component [default: √features]",
    )
    .excludes(REGRESSIONS),
    OptionSpec::numbers(
        "penalty",
        "Penalised regression with this λ₁: one number, or one for each component",
    )
    .excludes(&["non_zeros", "dictionary"]),
    OptionSpec::counts(
        "non_zeros",
        "Penalised regression with so many non-zeros: one number, or one for each component",
    )
    .excludes(&["dictionary"]),
    OptionSpec::number(
        "dictionary",
        Range::NotNegative,
        "A factorisation of the data with this λ, as in scikit-learn's SparsePCA",
    ),
    OptionSpec::flag(
        "exact",
        false,
        "Prove the optimum by branch and bound, or how far from it the best found can be",
    )
    .excludes(REGRESSIONS),
    OptionSpec::number("time_limit", Range::NotNegative, "Seconds for the proof of each component")
        .or("60")
        .needs(PROOF),
    OptionSpec::count("node_limit", 0, "Parts of the search tree for the proof of each component")
        .or("1000000")
        .needs(PROOF),
    OptionSpec::number("gap", Range::NotNegative, "A proven gap that is good enough, such as 0.01")
        .or("0")
        .needs(PROOF),
    OptionSpec::flag("non_negative", false, "Only components without negative entries")
        .excludes(REGRESSIONS),
    OptionSpec::choice(
        "deflation",
        &[
            ("projection", "(I − ββᵀ) S (I − ββᵀ)"),
            ("hotelling", "S − (βᵀSβ) ββᵀ"),
            ("schur", "S − Sββᵀ S / βᵀSβ"),
            (
                "orthogonalized-projection",
                "Projection with what is orthogonal to the components before",
            ),
        ],
        "What is taken out of the covariance after each component",
    )
    .excludes(REGRESSIONS),
    OptionSpec::number_or(
        "ridge",
        Range::NotNegative,
        &["infinite"],
        "λ₂ of the regression; `infinite` for many more features than samples [default: 1e-6]",
    )
    .excludes(&["cardinality", "dictionary"]),
    OptionSpec::choice(
        "penalty_scale",
        &[
            ("covariance", "The covariance: the same for any number of samples"),
            ("sum", "Sums over the samples"),
        ],
        "What penalties are relative to",
    )
    .excludes(&["cardinality", "dictionary"]),
    OptionSpec::choice(
        "projection",
        &[
            (
                "least-squares",
                "The coefficients with which the components come closest to a sample",
            ),
            ("product", "Products with the components"),
        ],
        "How samples are projected onto components that are not orthogonal",
    ),
    OptionSpec::count("starts", 0, "Random starts of the search, beside those the data suggest")
        .or("4"),
    OptionSpec::count(
        "path",
        1,
        "Follow the path from sparse to full in so many points, for a plot of it",
    )
    .excludes(&["dictionary"]),
    OptionSpec::matrix("start", "Components (k × d) from which a dictionary is learned"),
    OptionSpec::flag("learn", true, "Learn a dictionary; otherwise it is what it starts from")
        .excludes(&["cardinality", "penalty", "non_zeros"]),
    STANDARDIZE,
    CENTER,
];

/// The formulations that are no cardinalities.
const REGRESSIONS: &[&str] = &["penalty", "non_zeros", "dictionary"];

/// What limits of a proof need.
const PROOF: &[(&str, &[&str])] = &[("exact", &["true"])];

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    let d = shape.n_features;
    let k = match values.n_components(shape) {
        NComponents::Fixed(k) => k,
        NComponents::All => d,
        _ => {
            return Err(Error::Unsupported {
                what: "a share or a rule for the number of components".into(),
                why: "does not fit sparse components, which share variance: give a number",
                instead: Some(Hint::Set { option: "n_components", value: "3".into() }),
            });
        }
    };
    let mut pca = SparsePca::new(k, formulation(values, d));
    if values.flag("exact") {
        pca = pca.exact(proof_limits(values)?);
    }
    if values.is_given("deflation") {
        pca = pca.deflation(values.choice("deflation", DEFLATIONS));
    }
    pca.ridge = match values.word("ridge") {
        Some(_) => Some(Ridge::Infinite),
        None => values.number("ridge").map(Ridge::Finite),
    };
    if values.is_given("penalty_scale") {
        pca = pca.penalty_scale(values.choice(
            "penalty_scale",
            &[("covariance", PenaltyScale::Covariance), ("sum", PenaltyScale::Sum)],
        ));
    }
    pca.path_points = values.count("path");
    pca.fit.covariance = values.given_covariance();
    pca.start = values.matrix("start");
    pca.learns = values.flag("learn");
    let projection = values.choice(
        "projection",
        &[("least-squares", Projection::LeastSquares), ("product", Projection::Product)],
    );
    Ok(Box::new(
        pca.non_negative(values.flag("non_negative"))
            .projection(projection)
            .random_starts(values.count("starts").unwrap_or(4))
            .center(values.flag("center"))
            .standardize(values.flag("standardize"))
            .options(values.options.clone()),
    ))
}

const DEFLATIONS: &[(&str, Deflation)] = &[
    ("projection", Deflation::Projection),
    ("hotelling", Deflation::Hotelling),
    ("schur", Deflation::Schur),
    ("orthogonalized-projection", Deflation::OrthogonalizedProjection),
];

fn formulation(values: &OptionValues, d: usize) -> Formulation {
    if let Some(penalties) = values.numbers_of("penalty") {
        return Formulation::Penalties(penalties.into());
    }
    if let Some(counts) = values.counts_of("non_zeros") {
        return Formulation::NonZeros(counts.into());
    }
    if let Some(penalty) = values.number("dictionary") {
        return Formulation::Dictionary(penalty);
    }
    // Few enough to read, enough to mean something.
    let usual = ((d as f64).sqrt().round() as usize).clamp(1, d.max(1));
    Formulation::Cardinality(values.counts_of("cardinality").map_or(usual.into(), Into::into))
}

fn proof_limits(values: &OptionValues) -> Result<ProofLimits> {
    let seconds = values.number("time_limit").unwrap_or(60.0);
    let time = Duration::try_from_secs_f64(seconds).map_err(|_| Error::Parameter {
        name: "time_limit",
        value: seconds.to_string(),
        expected: "a number of seconds",
    })?;
    let usual = ProofLimits::default();
    Ok(ProofLimits {
        time: Some(time),
        nodes: values.count("node_limit").unwrap_or(usual.nodes),
        gap: values.number("gap").unwrap_or(usual.gap),
    })
}

/// Sparse principal component analysis: directions of large variance with few non-zeros.
///
/// Three formulations: [`SparsePca::cardinality`] maximises `βᵀSβ` with `‖β‖₀ ≤ c`, fast or, with
/// [`SparsePca::exact`], with a proof; [`SparsePca::penalty`] and [`SparsePca::non_zeros`] regress
/// the plain components on the features under an elastic net (Zou, Hastie & Tibshirani 2006);
/// [`SparsePca::dictionary`] factorises the data, as scikit-learn's `SparsePCA` does.
///
/// ```
/// use eigenlens::{ProofLimits, SparsePca, ndarray};
/// let x = ndarray::array![[2.0, 1.9, 0.1], [-1.0, -1.2, 0.4], [0.5, 0.4, -0.6], [-1.5, -1.1, 0.1]];
/// let model = SparsePca::cardinality(1, 2).exact(ProofLimits::default()).fit(&x)?;
/// assert_eq!(model.n_non_zeros(), [2]);
/// assert!(model.optimality()[0].is_proven());
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SparsePca {
    fit: Fit,
    k: usize,
    formulation: Formulation,
    proof: Option<ProofLimits>,
    non_negative: bool,
    ridge: Option<Ridge>,
    penalty_scale: Option<PenaltyScale>,
    deflation: Option<Deflation>,
    projection: Projection,
    random_starts: usize,
    start: Option<Array2<f64>>,
    learns: bool,
    path_points: Option<usize>,
}

impl SparsePca {
    fn new(n_components: usize, formulation: Formulation) -> Self {
        SparsePca {
            fit: Fit::new("sparse-pca", NComponents::Fixed(n_components), true),
            k: n_components,
            formulation,
            proof: None,
            non_negative: false,
            ridge: None,
            penalty_scale: None,
            deflation: None,
            projection: Projection::LeastSquares,
            random_starts: 4,
            start: None,
            learns: true,
            path_points: None,
        }
    }

    /// At most this many non-zeros in each component: one number, or one for each.
    pub fn cardinality(n_components: usize, counts: impl Into<PerComponent<usize>>) -> Self {
        Self::new(n_components, Formulation::Cardinality(counts.into()))
    }

    /// Penalised regression with this λ₁: one number, or one for each component.
    pub fn penalty(n_components: usize, penalties: impl Into<PerComponent<f64>>) -> Self {
        Self::new(n_components, Formulation::Penalties(penalties.into()))
    }

    /// Penalised regression that finds the λ₁ of a wanted number of non-zeros: one number, or one
    /// for each component.
    pub fn non_zeros(n_components: usize, counts: impl Into<PerComponent<usize>>) -> Self {
        Self::new(n_components, Formulation::NonZeros(counts.into()))
    }

    /// The factorisation `½‖Xc − U V‖² + λ‖V‖₁` with `‖u_j‖ ≤ 1` (Mairal, Bach, Ponce & Sapiro 2009),
    /// whose rows of V are the components. Sums over samples: λ grows with their number. The
    /// tolerance is the decrease of the objective, relative to it (default: 1e-8).
    ///
    /// ```
    /// use eigenlens::{SparsePca, ndarray};
    /// let x = ndarray::array![[2.0, 1.9, 0.1], [-1.0, -1.2, 0.4], [0.5, 0.4, -0.6], [-1.5, -1.1, 0.1]];
    /// let model = SparsePca::dictionary(1, 0.5).fit(&x)?;
    /// assert_eq!(model.n_non_zeros(), [2]);
    /// assert!(model.objective().windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-12)));
    /// # Ok::<(), eigenlens::Error>(())
    /// ```
    pub fn dictionary(n_components: usize, penalty: f64) -> Self {
        Self::new(n_components, Formulation::Dictionary(penalty))
    }

    /// Components (k × d) from which the dictionary is learned (default: the plain ones). Only their
    /// directions matter.
    pub fn start(mut self, components: Array2<f64>) -> Self {
        self.start = Some(components);
        self
    }

    /// Learns the dictionary (default: yes). Otherwise its components are the directions of its start.
    pub fn learn(mut self, wanted: bool) -> Self {
        self.learns = wanted;
        self
    }

    /// Proves the cardinality-constrained optimum by branch and bound, or how far the best found can
    /// be from it. With several components each proof is about the deflated matrix of its step.
    pub fn exact(mut self, limits: ProofLimits) -> Self {
        self.proof = Some(limits);
        self
    }

    /// Only components without negative entries (default: no). For cardinalities.
    pub fn non_negative(mut self, wanted: bool) -> Self {
        self.non_negative = wanted;
        self
    }

    /// λ₂ of the regression (default: 1e-6); [`Ridge::Infinite`] for d ≫ n.
    pub fn ridge(mut self, ridge: Ridge) -> Self {
        self.ridge = Some(ridge);
        self
    }

    /// The units of λ₁ and λ₂ (default: those of the covariance).
    pub fn penalty_scale(mut self, scale: PenaltyScale) -> Self {
        self.penalty_scale = Some(scale);
        self
    }

    /// What is taken out of S after each component (default: [`Deflation::Projection`]). For
    /// cardinalities; the regression finds all components together.
    pub fn deflation(mut self, deflation: Deflation) -> Self {
        self.deflation = Some(deflation);
        self
    }

    /// How samples are projected (default: [`Projection::LeastSquares`]).
    pub fn projection(mut self, projection: Projection) -> Self {
        self.projection = projection;
        self
    }

    /// Random starts of the fast search beside those that the data suggest (default: 4).
    pub fn random_starts(mut self, starts: usize) -> Self {
        self.random_starts = starts;
        self
    }

    /// Follows the whole [path](SparsePca::path) too, in at most so many points, and keeps it in the
    /// model (default: no).
    pub fn with_path(mut self, points: usize) -> Self {
        self.path_points = Some(points);
        self
    }

    /// Subtracts the mean of every feature (default: yes).
    pub fn center(mut self, center: bool) -> Self {
        self.fit.center = center;
        self
    }

    /// Divides every feature by its standard deviation (default: no).
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.fit.standardize = standardize;
        self
    }

    /// Threads, memory, seed, tolerance. The tolerance is the change of an entry at which the
    /// alternation of the regression ends (default: 1e-6; Zou, Hastie & Tibshirani used 1e-3).
    pub fn options(mut self, options: Options) -> Self {
        self.fit.options = options;
        self
    }

    /// What would be done, without reading a row. Its memory allows for 1,024 active features of a
    /// regression on many more; penalties so small that more are active need a row of S for each.
    pub fn plan(&self, shape: impl Into<DataShape>) -> Result<Plan> {
        fit::plan(self, &shape.into())
    }

    /// Fits the model.
    pub fn fit<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<SparsePcaModel> {
        let data = &data.into();
        compiled_here!(SparsePca, self.fit_typed(data) -> Result<SparsePcaModel>)
    }

    fn fit_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<SparsePcaModel> {
        fit::from_data(self, data)
    }

    /// Fits the model and returns the training scores (n × k).
    pub fn fit_transform<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<(SparsePcaModel, Array2<T>)> {
        if self.fit.covariance.is_some() {
            return Err(from_matrix::no_scores());
        }
        let data = &data.into();
        let model = self.fit(data)?;
        let scores = model.transform(data)?;
        Ok((model, scores))
    }

    /// Fits from count, mean and scatter.
    pub fn fit_moments(&self, moments: &Moments) -> Result<SparsePcaModel> {
        fit::from_moments(self, moments)
    }

    /// Fits from a covariance or correlation matrix (d × d) of `n_samples` samples, where known.
    pub fn fit_covariance(
        &self,
        covariance: ArrayView2<f64>,
        n_samples: Option<f64>,
    ) -> Result<SparsePcaModel> {
        fit::from_covariance(self, covariance, n_samples)
    }

    /// The whole path in one call: variance explained against non-zeros. At most `points` points,
    /// evenly spread on a logarithmic scale, each started from the one before: from one non-zero in
    /// each component to all of them, or, where penalties were asked for, from those that leave
    /// nothing down to a thousandth of them (the penalties given do not matter).
    pub fn path<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        points: usize,
    ) -> Result<SparsePath> {
        let data = &data.into();
        compiled_here!(SparsePca, self.path_typed(data, points: usize) -> Result<SparsePath>)
    }

    fn path_typed<T: Scalar>(&self, data: &Dataset<T>, points: usize) -> Result<SparsePath> {
        path::from_data(self, data, points)
    }

    /// The same from a covariance or correlation matrix.
    pub fn path_covariance(
        &self,
        covariance: ArrayView2<f64>,
        points: usize,
    ) -> Result<SparsePath> {
        path::from_covariance(self, covariance, points)
    }

    /// Refuses what cannot be meant for d features.
    fn check(&self, d: usize) -> Result<()> {
        self.fit.options.check()?;
        self.fit.n_components.check()?;
        self.path_points.map_or(Ok(()), path::check_points)?;
        if self.k > d {
            return Err(Error::Parameter {
                name: "n_components",
                value: self.k.to_string(),
                expected: "at most the number of features",
            });
        }
        if !matches!(self.formulation, Formulation::Dictionary(_)) {
            let of_dictionaries =
                [(self.start.is_some(), "a start"), (!self.learns, "not to learn")];
            misplaced(&of_dictionaries, "belongs to dictionaries")?;
        }
        if let Some(start) = &self.start
            && (start.dim() != (self.k, d) || start.iter().any(|v| !v.is_finite()))
        {
            return Err(Error::Shape {
                what: "the start",
                found: format!("the shape {} × {}", start.nrows(), start.ncols()),
                expected: format!("{} × {d} finite numbers", self.k),
            });
        }
        let check_counts = |name, counts: &PerComponent<usize>| {
            let counts = counts.spread(name, self.k)?;
            match counts.iter().find(|c| **c == 0 || **c > d) {
                Some(0) => {
                    Err(Error::Parameter { name, value: "0".into(), expected: "at least 1" })
                }
                Some(c) => Err(Error::TooManyNonZeros { name, requested: *c, features: d }),
                None => Ok(()),
            }
        };
        match &self.formulation {
            Formulation::Cardinality(counts) => {
                check_counts("cardinality", counts)?;
                let regressions = [
                    (self.ridge.is_some(), "a ridge penalty"),
                    (self.penalty_scale.is_some(), "a scale of penalties"),
                ];
                misplaced(&regressions, "belongs to penalised regression, not to cardinalities")?;
                self.proof.as_ref().map_or(Ok(()), ProofLimits::check)
            }
            Formulation::NonZeros(counts) => {
                check_counts("non_zeros", counts)?;
                self.check_regression()
            }
            Formulation::Dictionary(penalty) => {
                let others = [
                    (self.ridge.is_some(), "a ridge penalty"),
                    (self.penalty_scale.is_some(), "a scale of penalties"),
                    (self.path_points.is_some(), "a path"),
                ];
                misplaced(&others, "does not fit a dictionary")?;
                check_penalty("penalty", *penalty)?;
                self.check_regression()
            }
            Formulation::Penalties(penalties) => {
                for penalty in penalties.spread("penalty", self.k)? {
                    check_penalty("penalty", penalty)?;
                }
                self.check_regression()
            }
        }
    }

    fn check_regression(&self) -> Result<()> {
        let cardinalities = [
            (self.proof.is_some(), "a proof"),
            (self.non_negative, "non-negativity"),
            (self.deflation.is_some(), "a deflation"),
        ];
        misplaced(&cardinalities, "belongs to cardinalities")?;
        match self.ridge {
            Some(Ridge::Finite(ridge)) => check_penalty("ridge", ridge),
            _ => Ok(()),
        }
    }
}

super::traits::fit_trait!(SparsePca => SparsePcaModel);
estimator!(SparsePca, {
    fn fit_moments(&self, moments: &Moments) -> Result<Fitted> {
        self.fit_moments(moments).map(Fitted::without_scores)
    }
});

/// Refuses options of the other formulation: none is ignored.
fn misplaced(asked: &[(bool, &str)], why: &'static str) -> Result<()> {
    match asked.iter().find(|(asked, _)| *asked) {
        Some((_, what)) => Err(Error::Unsupported { what: (*what).into(), why, instead: None }),
        None => Ok(()),
    }
}

fn check_penalty(name: &'static str, value: f64) -> Result<()> {
    match value >= 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(Error::Parameter {
            name,
            value: value.to_string(),
            expected: "a finite number, at least 0",
        }),
    }
}
