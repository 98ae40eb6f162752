//! Laplacian eigenmaps.

mod ties;

use super::estimator::{Estimator, FitContext, Fitted, Method, estimator, for_a_picture};
use super::implied_kernel::{self, ImpliedKernel};
use super::option_spec::{GRAPH, OptionSpec, OptionValues, Range, misfit, on_graph};
use super::spectral;
use crate::data::{AnyDataset, DataShape, Dataset, Target, compiled_here};
use crate::error::{Error, Hint, Result, Warning};
use crate::graph::Neighborhood;
use crate::linalg::pool;
use crate::model::ModelCore;
use crate::model::{
    Affinity, EmbeddingMap, EmbeddingModel, EmbeddingParts, LaplacianMap, Normalization, Scaling,
    root_degree,
};
use crate::n_components::NComponents;
use crate::options::Options;
use crate::plan::Plan;
use crate::scalar::Scalar;
use ndarray::Array2;
use ties::Tied;

/// What every surface knows of the method.
pub(super) const METHOD: Method = Method {
    name: "laplacian",
    about: "Laplacian eigenmaps: keeps neighbours together",
    axis: "LE",
    linear: false,
    takes_missing: false,
    default_n_components: for_a_picture,
    supervised: false,
    options: &[GRAPH, OPTIONS],
    build,
    load: |parts| Ok(Box::new(EmbeddingModel::from_parts(parts)?)),
};

/// What a user may ask for.
const OPTIONS: &[OptionSpec] = &[
    OptionSpec::choice(
        "normalization",
        &[
            ("generalized", "L v = λ D v"),
            ("symmetric", "D^−½ L D^−½"),
            ("unnormalized", "L = D − W"),
        ],
        "Which Laplacian",
    ),
    OptionSpec::choice(
        "affinity",
        &[
            ("binary", "1 for neighbours"),
            ("averaged", "½ where only one is the other's neighbour"),
            ("heat", "exp(−γ‖x − y‖²) for neighbours"),
            ("rbf", "The same for all pairs"),
            ("precomputed", "The table holds the affinities"),
        ],
        "How samples are tied",
    ),
    OptionSpec::flag("heat", false, "The same as the affinity heat").excludes(&["affinity"]),
    OptionSpec::number_or(
        "gamma",
        Range::Any,
        &["median"],
        "γ of heat and rbf; for heat the median of the distances of neighbours [default: median; 1/d for rbf]",
    ),
    OptionSpec::flag("distances", false, "The table holds the distances between the samples"),
    OptionSpec::flag("keep_parts", false, "Embed a graph in several parts as it is"),
    OptionSpec::flag(
        "commute_time",
        false,
        "Commute-time coordinates: divided by the root of the eigenvalue",
    ),
];

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    let scaling = if values.flag("commute_time") { Scaling::Kernel } else { Scaling::Unit };
    let maps = LaplacianEigenmaps::new(values.n_components(shape));
    Ok(Box::new(
        on_graph!(values, maps.options(values.options.clone()))
            .normalization(values.choice("normalization", &Normalization::NAMES))
            .affinity(affinity(values)?)
            .distances(values.flag("distances"))
            .keep_parts(values.flag("keep_parts"))
            .scaling(scaling),
    ))
}

fn affinity(values: &OptionValues) -> Result<Affinity> {
    let word = values.word("affinity").unwrap_or_default();
    let name = if values.flag("heat") { "heat" } else { word.as_str() };
    let gamma = values.number("gamma");
    let is_width = name == "heat" || gamma.is_some() || !values.is_given("gamma");
    let affinity = Affinity::named(name, gamma).filter(|_| is_width);
    let affinity = affinity.ok_or_else(|| Error::Unsupported {
        what: "this `gamma`".into(),
        why: "does not fit the affinity",
        instead: Some(Hint::Set { option: "affinity", value: "heat".into() }),
    })?;
    let graph = ["n_neighbors", "radius", "bridges"];
    match graph.into_iter().find(|option| values.says(option)) {
        Some(option) if !affinity.is_of_neighbors() => {
            Err(misfit(option, "is for affinities of neighbours: this one ties all samples"))
        }
        _ => Ok(affinity),
    }
}

/// Laplacian eigenmaps (Belkin & Niyogi 2003): the eigenvectors of the graph Laplacian with the
/// smallest eigenvalues above 0, in which neighbours stay together.
///
/// ```
/// use eigenlens::{LaplacianEigenmaps, ndarray};
/// use ndarray::Array2;
/// // A chain of samples comes out in its order.
/// let x = Array2::from_shape_fn((30, 2), |(i, f)| if f == 0 { i as f64 } else { (i as f64).sin() });
/// let model = LaplacianEigenmaps::new(1).neighbors(2).fit(&x)?;
/// let line = model.coordinates().column(0).to_owned();
/// let up = line[29] > line[0];
/// assert!((1..30).all(|i| (line[i] > line[i - 1]) == up));
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LaplacianEigenmaps {
    n_components: NComponents,
    neighborhood: Option<Neighborhood>,
    bridges: bool,
    keep_parts: bool,
    affinity: Affinity,
    distances: bool,
    normalization: Normalization,
    scaling: Scaling,
    options: Options,
}

impl LaplacianEigenmaps {
    /// Keeps `n_components`.
    pub fn new(n_components: impl Into<NComponents>) -> Self {
        LaplacianEigenmaps {
            n_components: n_components.into(),
            neighborhood: None,
            bridges: false,
            keep_parts: false,
            affinity: Affinity::default(),
            distances: false,
            normalization: Normalization::default(),
            scaling: Scaling::default(),
            options: Options::default(),
        }
    }

    /// Joins every sample to its `k` nearest (default: 10, or all of fewer).
    pub fn neighbors(mut self, k: usize) -> Self {
        self.neighborhood = Some(Neighborhood::Nearest(k));
        self
    }

    /// Joins every sample to those at most `radius` away.
    pub fn radius(mut self, radius: f64) -> Self {
        self.neighborhood = Some(Neighborhood::Radius(radius));
        self
    }

    /// Joins the parts of a disconnected graph by the shortest edges (default: no; it is an error).
    pub fn bridges(mut self, bridges: bool) -> Self {
        self.bridges = bridges;
        self
    }

    /// Embeds a graph in several parts as it is: the first components tell the parts apart (default: no;
    /// it is an error).
    pub fn keep_parts(mut self, keep_parts: bool) -> Self {
        self.keep_parts = keep_parts;
        self
    }

    /// The data are distances between the samples (n × n): neighbours are the nearest by them. In a
    /// sparse matrix those that are not stored are infinite.
    pub fn distances(mut self, distances: bool) -> Self {
        self.distances = distances;
        self
    }

    /// How strongly samples are tied (default: 1 for every neighbour).
    pub fn affinity(mut self, affinity: Affinity) -> Self {
        self.affinity = affinity;
        self
    }

    /// Which Laplacian (default: generalised).
    pub fn normalization(mut self, normalization: Normalization) -> Self {
        self.normalization = normalization;
        self
    }

    /// Unit eigenvectors (default), or commute-time coordinates: divided by √λ.
    pub fn scaling(mut self, scaling: Scaling) -> Self {
        self.scaling = scaling;
        self
    }

    /// Threads, memory, seed, tolerance.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// What would be done.
    pub fn plan(&self, shape: impl Into<DataShape>) -> Result<Plan> {
        let shape = shape.into();
        let n = spectral::check(&shape, &self.options)?;
        Ok(self.checked(&shape, n)?.1)
    }

    /// Fits the model.
    pub fn fit<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<EmbeddingModel> {
        let data = &data.into();
        compiled_here!(LaplacianEigenmaps, self.fit_typed(data) -> Result<EmbeddingModel>)
    }

    fn fit_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<EmbeddingModel> {
        let shape = spectral::counted(data)?;
        let n = spectral::check(&shape, &self.options)?;
        let (k, plan) = self.checked(&shape, n)?;
        let plan = plan.reserved()?;
        pool::run(self.options.threads, || self.run(data, n, k, plan))?
    }

    /// Fits the model and returns the training coordinates (n × k).
    pub fn fit_transform<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<(EmbeddingModel, Array2<T>)> {
        let model = self.fit(data)?;
        let scores = model.coordinates().mapv(T::from_f64);
        Ok((model, scores))
    }

    /// The kernel that the embedding of these samples is the kernel PCA of: the pseudo-inverse of the Laplacian,
    /// of the symmetric one for the generalised.
    pub fn implied_kernel<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<ImpliedKernel> {
        let data = &data.into();
        compiled_here!(LaplacianEigenmaps, self.implied_kernel_typed(data) -> Result<ImpliedKernel>)
    }

    fn implied_kernel_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<ImpliedKernel> {
        let shape = spectral::counted(data)?;
        let n = spectral::check(&shape, &self.options)?;
        self.checked(&shape, n)?;
        implied_kernel::check_room(n, &self.options)?;
        pool::run(self.options.threads, || {
            let which = self.neighborhood(n)?;
            let ties = self.tied(data, which)?.ties;
            self.check_parts(&ties, which)?;
            let degrees = ties.degrees()?;
            let affinities = ties.into_dense();
            let laplacian = Array2::from_shape_fn((n, n), |(i, j)| {
                let degree = if i == j { degrees[i] } else { 0.0 };
                let entry = degree - affinities[[i, j]];
                match self.normalization {
                    Normalization::Unnormalized => entry,
                    _ => entry / root_degree(degrees[i]) / root_degree(degrees[j]),
                }
            });
            let kernel = implied_kernel::pseudo_inverse(laplacian.view())?;
            Ok(ImpliedKernel { kernel, parts: vec![("affinities", affinities)] })
        })?
    }

    /// Whether the data are a matrix between the samples.
    fn is_given(&self) -> bool {
        self.distances || self.affinity == Affinity::Precomputed
    }

    /// Who is a neighbour, where only neighbours are tied.
    fn neighborhood(&self, n: usize) -> Result<Option<Neighborhood>> {
        if !self.affinity.is_of_neighbors() {
            return Ok(None);
        }
        spectral::neighborhood(self.neighborhood, n).map(Some)
    }

    fn checked(&self, shape: &DataShape, n: usize) -> Result<(usize, Plan)> {
        let d = shape.n_features;
        let which = self.neighborhood(n)?;
        let k = spectral::resolve_k(&self.n_components, n - 1, n, d)?;
        if let Some(gamma) = self.affinity.gamma().filter(|g| !(*g > 0.0 && g.is_finite())) {
            return Err(Error::Parameter {
                name: "gamma",
                value: gamma.to_string(),
                expected: "a finite number above 0",
            });
        }
        if self.is_given() {
            self.check_given(shape, n)?;
        }
        // Of a given matrix, the part between the samples that neighbours are compared on is kept.
        let stored = if self.is_given() { n.min(1000) } else { d };
        let plan = match (which, shape.n_stored) {
            (Some(which), _) => {
                let row = spectral::likely_row(which);
                spectral::plan_sparse("graph Laplacian", n, stored, k, row, &self.options)?
            }
            (None, Some(entries)) if self.is_given() => {
                let row = entries / n + 1;
                spectral::plan_sparse("graph Laplacian", n, stored, k, row, &self.options)?
            }
            (None, _) => {
                let other = 16 * (n * stored) as u64;
                spectral::plan_stored("graph Laplacian of all pairs", n, k, other, &self.options)?
            }
        };
        Ok((k, plan))
    }

    fn check_given(&self, shape: &DataShape, n: usize) -> Result<()> {
        if shape.n_features != n {
            return Err(Error::Shape {
                what: if self.distances { "the distance matrix" } else { "the affinity matrix" },
                found: format!("{n} × {} entries", shape.n_features),
                expected: "a square matrix".into(),
            });
        }
        let unsupported =
            |what: &str, why| Err(Error::Unsupported { what: what.into(), why, instead: None });
        if self.distances && !self.affinity.is_of_neighbors() {
            return unsupported("an affinity of all pairs", "is not made of given distances");
        }
        if self.bridges {
            return unsupported("a bridge", "joins samples by their features, which are not given");
        }
        Ok(())
    }

    fn run<T: Scalar>(
        &self,
        data: &Dataset<T>,
        n: usize,
        k: usize,
        plan: Plan,
    ) -> Result<EmbeddingModel> {
        // Step 1: the graph and its affinities, and the parts that it is in.
        let which = self.neighborhood(n)?;
        let Tied { samples, affinity, ties, reach, bridges } = self.tied(data, which)?;
        let degrees = ties.degrees()?;
        let warnings = self.check_parts(&ties, which)?;
        let map =
            LaplacianMap { samples, affinity, normalization: self.normalization, degrees, reach };
        // Step 2: the Laplacian and its smallest pairs; the null vector is known.
        let judged = ties.to_judge(&map.samples, data, self.options.seed)?;
        let null = null_vector(&map.degrees, self.normalization);
        let tolerance = spectral::tolerance::<T>(&self.options);
        let laplacian = ties.into_laplacian(&map.degrees, self.normalization)?;
        let pairs = laplacian.smallest(&null, k, tolerance, &self.options)?;
        // Step 3: coordinates.
        let mut vectors = pairs.vectors;
        if self.normalization == Normalization::Generalized {
            for (mut row, degree) in vectors.rows_mut().into_iter().zip(&map.degrees) {
                row /= root_degree(*degree);
            }
        }
        let factor = |value: &f64| match self.scaling {
            Scaling::Unit => 1.0,
            // The kernel is the Laplacian's pseudo-inverse.
            Scaling::Kernel => value.max(f64::MIN_POSITIVE).sqrt().recip(),
        };
        let factors: Vec<f64> = pairs.values.iter().map(factor).collect();
        let coordinates = spectral::scaled_and_signed(&vectors, &factors);
        let quality = judged.quality(&map.samples, coordinates.view(), self.options.seed);
        Ok(EmbeddingModel::new(EmbeddingParts {
            core: ModelCore {
                method: "laplacian",
                n_samples: Some(coordinates.nrows() as f64),
                feature_names: data.feature_names().map(<[String]>::to_vec),
                plan,
                warnings,
                missing: None,
            },
            coordinates,
            exponent: 0,
            eigenvalues: pairs.values,
            rank: k,
            trace: None,
            negative: None,
            quality,
            neighborhood: which,
            bridges,
            certificate: pairs.certificate,
            convergence: pairs.convergence,
            tolerance,
            threads: self.options.threads,
            map: EmbeddingMap::Laplacian(map),
        }))
    }

    /// A graph in several parts is an error, or a warning where the parts are kept.
    fn check_parts(&self, ties: &ties::Ties, which: Option<Neighborhood>) -> Result<Vec<Warning>> {
        let parts = ties.parts();
        let count = parts.sizes.len();
        if count == 1 {
            return Ok(Vec::new());
        }
        if !self.keep_parts {
            let words = which.map_or("these affinities".into(), Neighborhood::in_words);
            return Err(parts.refused(words, "keep_parts"));
        }
        if self.scaling == Scaling::Kernel {
            return Err(Error::Unsupported {
                what: "commute times".into(),
                why: "are infinite between the parts of a graph",
                instead: None,
            });
        }
        Ok(vec![Warning::SeveralParts { parts: count }])
    }
}

super::traits::fit_trait!(LaplacianEigenmaps => EmbeddingModel);
estimator!(LaplacianEigenmaps, {
    fn implied_kernel(&self, data: &AnyDataset) -> Result<ImpliedKernel> {
        dispatch!(data, d => self.implied_kernel(d))
    }
});

/// The unit vector along 1, or along D^{1/2} 1.
fn null_vector(degrees: &[f64], normalization: Normalization) -> Vec<f64> {
    let entry = |degree: &f64| match normalization {
        Normalization::Unnormalized => 1.0,
        _ => degree.sqrt(),
    };
    let null: Vec<f64> = degrees.iter().map(entry).collect();
    let norm = null.iter().map(|v| v * v).sum::<f64>().sqrt();
    // Where nobody is tied to anybody there is none.
    let norm = if norm > 0.0 { norm } else { 1.0 };
    null.into_iter().map(|v| v / norm).collect()
}
