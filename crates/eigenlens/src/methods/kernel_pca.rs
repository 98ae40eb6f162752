//! Kernel principal component analysis.

use super::estimator::{Estimator, FitContext, Fitted, Method, estimator};
use super::kernel_options::KERNEL;
use super::kernel_plan::KernelTask;
use super::option_spec::{OptionSpec, OptionValues, misfit};
use super::{kernel_exact, kernel_factor};
use crate::data::{AnyDataset, DataShape, Dataset, Target, compiled_here};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::linalg::pool;
use crate::model::KernelPcaModel;
use crate::n_components::{NComponents, Rule};
use crate::options::Options;
use crate::plan::{Plan, Route};
use crate::scalar::Scalar;
use ndarray::Array2;

/// What every surface knows of the method.
pub(super) const METHOD: Method = Method {
    name: "kernel-pca",
    about: "kernel PCA: PCA in the feature space of a kernel, for curved structure",
    axis: "KPC",
    linear: false,
    takes_missing: false,
    default_n_components: |shape| NComponents::Fixed(10.min(shape.n_samples.unwrap_or(10)).max(1)),
    supervised: false,
    options: &[KERNEL, OPTIONS],
    build,
    load: |parts| Ok(Box::new(KernelPcaModel::from_parts(parts)?)),
};

/// What a user may ask for.
const OPTIONS: &[OptionSpec] = &[
    OptionSpec::choice(
        "approximation",
        &[
            ("auto", "Exact within memory and patience, otherwise Nyström"),
            ("exact", "Every kernel value counts"),
            ("nystrom", "Landmarks"),
            ("random-features", "Random Fourier features"),
        ],
        "How to deal with the n × n kernel matrix",
    ),
    OptionSpec::count("landmarks", 1, "Landmarks of the Nyström approximation"),
    OptionSpec::choice(
        "selection",
        &[("cholesky", "Randomly pivoted Cholesky"), ("uniform", "Uniformly at random")],
        "How landmarks are chosen",
    ),
    OptionSpec::count("random_features", 1, "How many random Fourier features"),
    OptionSpec::flag("orthogonal", false, "Orthogonal random features"),
    OptionSpec::count("subset", 1, "Fit on this many samples, drawn at random"),
    OptionSpec::choice(
        "storage",
        &[
            ("auto", "Where memory allows"),
            ("matrix", "Keep it"),
            ("blocks", "Recompute it in blocks"),
        ],
        "Whether the exact kernel matrix is kept",
    ),
];

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    let storage = values.choice(
        "storage",
        &[
            ("auto", KernelStorage::Auto),
            ("matrix", KernelStorage::Matrix),
            ("blocks", KernelStorage::Blocks),
        ],
    );
    Ok(Box::new(
        KernelPca::new(values.n_components(shape))
            .kernel(values.kernel()?)
            .approximation(approximation(values)?)
            .storage(storage)
            .options(values.options.clone()),
    ))
}

/// A number of landmarks, features or samples says how by itself.
fn approximation(values: &OptionValues) -> Result<Approximation> {
    let mut way = values.word("approximation").unwrap_or_default();
    for (option, meant) in [("landmarks", "nystrom"), ("random_features", "random-features")] {
        if values.is_given(option) && way == "auto" {
            way = meant.into();
        } else if values.is_given(option) && way != meant {
            return Err(misfit(option, "does not go with this approximation"));
        }
    }
    if values.flag("orthogonal") && way != "random-features" {
        return Err(misfit("orthogonal", "is for random features"));
    }
    if values.word("selection").as_deref() != Some("cholesky") && way != "nystrom" {
        return Err(misfit("selection", "is for the nystrom approximation"));
    }
    if let Some(samples) = values.count("subset") {
        return match way.as_str() {
            "auto" => Ok(Approximation::Subset { samples }),
            _ => Err(misfit("subset", "does not go with another approximation")),
        };
    }
    let selection = values.choice(
        "selection",
        &[("cholesky", Landmarks::PivotedCholesky), ("uniform", Landmarks::Uniform)],
    );
    Ok(match way.as_str() {
        "exact" => Approximation::Exact,
        "nystrom" => Approximation::Nystrom { landmarks: values.count("landmarks"), selection },
        "random-features" => Approximation::RandomFeatures {
            features: values.count("random_features"),
            orthogonal: values.flag("orthogonal"),
        },
        _ => Approximation::Auto,
    })
}

/// Kernel PCA (Schölkopf, Smola & Müller 1997): PCA in the feature space of a kernel, from the
/// eigenvectors of the centred kernel matrix `H K H`.
///
/// ```
/// use eigenlens::{Kernel, KernelPca, ndarray};
/// // Two circles: no line separates them, the first component of a Gaussian kernel does.
/// let x = ndarray::Array2::from_shape_fn((120, 2), |(i, f)| {
///     let (angle, radius) = (i as f64 * 0.1047, if i % 2 == 0 { 1.0 } else { 4.0 });
///     radius * if f == 0 { angle.cos() } else { angle.sin() }
/// });
/// let (model, scores) = KernelPca::new(2).kernel(Kernel::rbf()).fit_transform(&x)?;
/// println!("{}, {}", model.kernel(), model.plan());
/// assert_eq!(scores.dim(), (120, 2));
/// assert!(model.certificate().relative_residual() < 1e-9);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KernelPca {
    pub(super) n_components: NComponents,
    pub(super) kernel: Kernel,
    pub(super) approximation: Approximation,
    pub(super) storage: KernelStorage,
    pub(super) options: Options,
}

/// How kernel PCA deals with the n × n kernel matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Approximation {
    /// Exact where memory and patience allow it, otherwise Nyström.
    #[default]
    Auto,
    /// Every kernel value counts.
    Exact,
    /// By m landmarks.
    Nystrom {
        /// m; `None`: at least 512 and ten for each component, within memory.
        landmarks: Option<usize>,
        /// How they are chosen.
        selection: Landmarks,
    },
    /// By m random Fourier features; Gaussian kernel only.
    RandomFeatures {
        /// m; `None`: at least 1024 and twenty for each component, within memory.
        features: Option<usize>,
        /// Orthogonal frequencies: less variance at the same m.
        orthogonal: bool,
    },
    /// Exact on this many samples, drawn at random.
    Subset {
        /// Samples to use.
        samples: usize,
    },
}

/// How Nyström landmarks are chosen. From data larger than the memory for it, they are chosen among
/// a uniform sample of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Landmarks {
    /// Randomly pivoted Cholesky (Chen, Epperly, Tropp & Webber 2025).
    #[default]
    PivotedCholesky,
    /// Uniformly at random.
    Uniform,
}

/// Whether exact kernel PCA keeps the kernel matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KernelStorage {
    /// Keeps it where memory allows.
    #[default]
    Auto,
    /// Keeps it.
    Matrix,
    /// Recomputes it in blocks whenever it is applied.
    Blocks,
}

impl KernelPca {
    /// Keeps `n_components`: a number, or a [`NComponents`]. The kernel is Gaussian with the
    /// median heuristic unless [`KernelPca::kernel`] says otherwise.
    pub fn new(n_components: impl Into<NComponents>) -> Self {
        KernelPca {
            n_components: n_components.into(),
            kernel: Kernel::default(),
            approximation: Approximation::Auto,
            storage: KernelStorage::Auto,
            options: Options::default(),
        }
    }

    /// The kernel (default: Gaussian, median heuristic).
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }

    /// How to deal with the n × n kernel matrix (default: [`Approximation::Auto`]).
    pub fn approximation(mut self, approximation: Approximation) -> Self {
        self.approximation = approximation;
        self
    }

    /// Whether the exact kernel matrix is kept (default: where memory allows).
    pub fn storage(mut self, storage: KernelStorage) -> Self {
        self.storage = storage;
        self
    }

    /// Threads, memory, seed, tolerance.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// What would be done, without reading a row.
    pub fn plan(&self, shape: impl Into<DataShape>) -> Result<Plan> {
        let shape = shape.into();
        self.check(&shape)?;
        KernelTask::new(self, &shape).plan()
    }

    /// Fits the model.
    pub fn fit<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<KernelPcaModel> {
        let data = &data.into();
        compiled_here!(KernelPca, self.fit_typed(data) -> Result<KernelPcaModel>)
    }

    fn fit_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<KernelPcaModel> {
        let plan = self.plan(data)?.reserved()?;
        pool::run(self.options.threads, || {
            let kernel = self.kernel.resolve(data, self.options.seed)?;
            match plan.route {
                Route::Nystrom => kernel_factor::nystrom(self, kernel, data, plan),
                Route::RandomFeatures => kernel_factor::random_features(self, kernel, data, plan),
                Route::Subset => kernel_exact::subset(self, kernel, data, plan),
                _ => kernel_exact::fit(self, kernel, data, plan),
            }
        })?
    }

    /// Fits the model and returns the training scores (n × k).
    pub fn fit_transform<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<(KernelPcaModel, Array2<T>)> {
        let data = &data.into();
        let model = self.fit(data)?;
        let scores = model.transform(data)?;
        Ok((model, scores))
    }

    pub(super) fn tolerance<T: Scalar>(&self) -> f64 {
        let usual = if T::EPSILON > f64::EPSILON { 1e-6 } else { 1e-9 };
        self.options.tolerance.unwrap_or(usual)
    }

    /// Refuses what cannot be meant, before any row is read.
    fn check(&self, shape: &DataShape) -> Result<()> {
        self.options.check()?;
        self.kernel.check()?;
        shape.check()?;
        let d = shape.n_features;
        if let Some(n) = shape.n_samples {
            if n < 2 {
                return Err(Error::TooFewRows { found: n, needed: 2 });
            }
            if self.kernel == Kernel::Precomputed && n != d {
                return Err(not_square(n, d));
            }
        }
        self.n_components.check()?;
        if let NComponents::Rule(rule) = self.n_components {
            Self::check_rule(rule)?;
        }
        self.check_approximation()?;
        self.check_k(self.limit(shape.n_samples.unwrap_or(usize::MAX)), shape.n_samples, d)
    }

    /// Rules that go with a kernel: those that look at nothing but its eigenvalues.
    pub(super) fn check_rule(rule: Rule) -> Result<()> {
        if rule.stops_early() {
            return Ok(());
        }
        Err(Error::Unsupported {
            what: format!("the rule `{}`", rule.name()),
            why: "does not go with a kernel: it needs the number of features",
            instead: None,
        })
    }

    fn check_approximation(&self) -> Result<()> {
        let wrong = |name, value: usize| {
            Err(Error::Parameter { name, value: value.to_string(), expected: "at least 2" })
        };
        let needs_rows = |what: &str| Error::Unsupported {
            what: what.into(),
            why: "does not go with a precomputed kernel",
            instead: None,
        };
        match self.approximation {
            Approximation::Nystrom { landmarks: Some(m), .. } if m < 2 => wrong("landmarks", m),
            Approximation::RandomFeatures { features: Some(m), .. } if m < 2 => {
                wrong("features", m)
            }
            Approximation::Subset { samples } if samples < 2 => wrong("samples", samples),
            Approximation::RandomFeatures { .. } if !matches!(self.kernel, Kernel::Rbf { .. }) => {
                Err(Error::Unsupported {
                    what: format!("random Fourier features of the {} kernel", self.kernel.name()),
                    why: "do not exist here: they are those of the rbf kernel",
                    instead: Some(crate::error::Hint::Set {
                        option: "approximation",
                        value: "nystrom".into(),
                    }),
                })
            }
            Approximation::Nystrom { .. } if self.kernel == Kernel::Precomputed => {
                Err(needs_rows("the Nyström method"))
            }
            Approximation::Subset { .. } if self.kernel == Kernel::Precomputed => {
                Err(needs_rows("a subset"))
            }
            _ => Ok(()),
        }
    }

    /// The most components n samples allow.
    pub(super) fn limit(&self, n: usize) -> usize {
        match self.approximation {
            Approximation::Nystrom { landmarks: Some(m), .. } => m.min(n),
            Approximation::RandomFeatures { features: Some(m), .. } => m.min(n),
            Approximation::Subset { samples } => samples.min(n),
            _ => n,
        }
    }

    pub(super) fn check_k(&self, limit: usize, n: Option<usize>, d: usize) -> Result<()> {
        self.n_components.check_limit(limit, n.unwrap_or(limit), d)
    }
}

super::traits::fit_trait!(KernelPca => KernelPcaModel);
estimator!(KernelPca);

pub(super) fn not_square(n: usize, d: usize) -> Error {
    Error::Shape {
        what: "the precomputed kernel",
        found: format!("{n} × {d} entries"),
        expected: "a square matrix".into(),
    }
}
