//! Locally linear embedding.

mod alignment;

use super::estimator::{Estimator, FitContext, Fitted, Method, estimator, for_a_picture};
use super::implied_kernel::{self, ImpliedKernel};
use super::option_spec::{GRAPH, OptionSpec, OptionValues, Range, on_graph};
use super::spectral::{self, Graph};
use crate::data::{AnyDataset, Csr, DataShape, Dataset, Target, compiled_here};
use crate::error::{Error, Result};
use crate::graph::{Judged, Kept, Metric, Neighborhood, Original, Points, judge};
use crate::linalg::dense::symmetric_eigenvalues;
use crate::linalg::pool;
use crate::model::ModelCore;
use crate::model::{EmbeddingMap, EmbeddingModel, EmbeddingParts, LleMap, LleVariant, Scaling};
use crate::n_components::NComponents;
use crate::operator::SparseSymmetric;
use crate::options::Options;
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::solver::krylov::{self, EigenRequest};
use alignment::{Alignment, Row};
use ndarray::Array2;
use rayon::prelude::*;

/// What every surface knows of the method.
pub(super) const METHOD: Method = Method {
    name: "lle",
    about: "locally linear embedding: keeps how samples are made of their neighbours",
    axis: "LLE",
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
        "variant",
        &[
            ("standard", "One set of weights around every sample"),
            ("modified", "Several sets of weights"),
            ("hessian", "Functions without second derivatives"),
            ("ltsa", "Local tangent spaces, aligned"),
        ],
        "What coordinates satisfy around every sample",
    ),
    OptionSpec::number(
        "regularization",
        Range::Any,
        "Added to the diagonal of every local Gram matrix, relative to its trace",
    )
    .or("0.001"),
    OptionSpec::number(
        "hessian_tolerance",
        Range::Any,
        "Rows of Hessian LLE whose sum is at least this are divided by it",
    )
    .or("0.0001")
    .needs(&[("variant", &["hessian"])]),
    OptionSpec::number(
        "modified_tolerance",
        Range::Any,
        "Sums of weights of modified LLE closer than this are equal",
    )
    .or("0.000000000001")
    .needs(&[("variant", &["modified"])]),
    OptionSpec::flag(
        "kernel_scaling",
        false,
        "Scale coordinates as kernel PCA does, in place of unit vectors",
    ),
];

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    let scaling = if values.flag("kernel_scaling") { Scaling::Kernel } else { Scaling::Unit };
    let lle = Lle::new(values.n_components(shape)).options(values.options.clone());
    Ok(Box::new(
        on_graph!(values, lle)
            .variant(values.choice("variant", &LleVariant::NAMES))
            .regularization(values.number("regularization").unwrap_or(1e-3))
            .hessian_tolerance(values.number("hessian_tolerance").unwrap_or(1e-4))
            .modified_tolerance(values.number("modified_tolerance").unwrap_or(1e-12))
            .scaling(scaling),
    ))
}

/// Locally linear embedding (Roweis & Saul 2000): every sample is written as a weighted mean of its
/// neighbours, and the coordinates are those that the same weights reconstruct best: the smallest
/// eigenvectors of `M = (I − W)ᵀ(I − W)` but for the constant one. Its variants have other operators M
/// ([`LleVariant`]).
///
/// ```
/// use eigenlens::{Lle, ndarray};
/// use ndarray::Array2;
/// let x = Array2::from_shape_fn((60, 2), |(i, f)| {
///     let angle = i as f64 / 20.0;
///     if f == 0 { angle.cos() } else { angle.sin() }
/// });
/// let model = Lle::new(1).neighbors(4).fit(&x)?;
/// let line = model.coordinates().column(0).to_owned();
/// let up = line[59] > line[0];
/// assert!((1..60).all(|i| (line[i] > line[i - 1]) == up));
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lle {
    n_components: NComponents,
    neighborhood: Option<Neighborhood>,
    bridges: bool,
    variant: LleVariant,
    regularization: f64,
    hessian_tolerance: f64,
    modified_tolerance: f64,
    scaling: Scaling,
    options: Options,
}

impl Lle {
    /// Keeps `n_components`.
    pub fn new(n_components: impl Into<NComponents>) -> Self {
        Lle {
            n_components: n_components.into(),
            neighborhood: None,
            bridges: false,
            variant: LleVariant::default(),
            regularization: 1e-3,
            hessian_tolerance: 1e-4,
            modified_tolerance: 1e-12,
            scaling: Scaling::default(),
            options: Options::default(),
        }
    }

    /// Reconstructs every sample from its `k` nearest (default: 10, or all of fewer).
    pub fn neighbors(mut self, k: usize) -> Self {
        self.neighborhood = Some(Neighborhood::Nearest(k));
        self
    }

    /// Reconstructs every sample from those at most `radius` away.
    pub fn radius(mut self, radius: f64) -> Self {
        self.neighborhood = Some(Neighborhood::Radius(radius));
        self
    }

    /// Joins the parts of a disconnected graph by the shortest edges (default: no; it is an error).
    pub fn bridges(mut self, bridges: bool) -> Self {
        self.bridges = bridges;
        self
    }

    /// What coordinates must satisfy around every sample (default: the standard variant).
    pub fn variant(mut self, variant: LleVariant) -> Self {
        self.variant = variant;
        self
    }

    /// What is added to the diagonal of every local Gram matrix, relative to its trace (default:
    /// 1e-3). With more neighbours than features the weights are not unique without it. New samples
    /// are placed by such weights whatever the variant.
    pub fn regularization(mut self, regularization: f64) -> Self {
        self.regularization = regularization;
        self
    }

    /// A row of the Hessian whose sum is at least this is divided by it (default: 1e-4).
    pub fn hessian_tolerance(mut self, tolerance: f64) -> Self {
        self.hessian_tolerance = tolerance;
        self
    }

    /// Sums of modified LLE's weights closer than this are equal (default: 1e-12).
    pub fn modified_tolerance(mut self, tolerance: f64) -> Self {
        self.modified_tolerance = tolerance;
        self
    }

    /// Unit eigenvectors (default), or scaled as kernel PCA with the kernel `λ_max I − M` does.
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
        Ok(self.checked(n, shape.n_features)?.1)
    }

    /// Fits the model.
    pub fn fit<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<EmbeddingModel> {
        let data = &data.into();
        compiled_here!(Lle, self.fit_typed(data) -> Result<EmbeddingModel>)
    }

    fn fit_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<EmbeddingModel> {
        let n = spectral::check(&spectral::counted(data)?, &self.options)?;
        let (k, plan) = self.checked(n, data.n_features())?;
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

    /// The kernel that the embedding of these samples is the kernel PCA of: `λ_max I − M`.
    pub fn implied_kernel<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<ImpliedKernel> {
        let data = &data.into();
        compiled_here!(Lle, self.implied_kernel_typed(data) -> Result<ImpliedKernel>)
    }

    fn implied_kernel_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<ImpliedKernel> {
        let n = spectral::check(&spectral::counted(data)?, &self.options)?;
        let (k, _) = self.checked(n, data.n_features())?;
        implied_kernel::check_room(n, &self.options)?;
        pool::run(self.options.threads, || {
            let points = Points::read(data)?;
            let graph = spectral::graph(&points, self.which(n)?, self.bridges)?;
            let rows = self.alignment(&points, k).rows(|i| neighbors(&graph, i))?;
            let mut kernel = Array2::<f64>::zeros((n, n));
            for row in &rows {
                for &(i, v) in row {
                    row.iter().for_each(|&(j, w)| kernel[[i as usize, j as usize]] -= v * w);
                }
            }
            // What is the smallest of −M is the largest of M.
            let smallest = symmetric_eigenvalues(kernel.view())?;
            let largest = smallest.iter().fold(0.0f64, |m, v| m.max(-v));
            kernel.diag_mut().mapv_inplace(|v| v + largest);
            let mut parts = Vec::new();
            if self.variant == LleVariant::Standard {
                let mut weights = Array2::zeros((n, n));
                for (i, row) in rows.iter().enumerate() {
                    let others = row.iter().filter(|(j, _)| *j as usize != i);
                    others.for_each(|&(j, v)| weights[[i, j as usize]] = -v);
                }
                parts.push(("weights", weights));
            }
            Ok(ImpliedKernel { kernel, parts })
        })?
    }

    fn which(&self, n: usize) -> Result<Neighborhood> {
        spectral::neighborhood(self.neighborhood, n)
    }

    fn alignment<'a>(&self, points: &'a Points, k: usize) -> Alignment<'a> {
        Alignment {
            points,
            variant: self.variant,
            n_components: k,
            regularization: self.regularization,
            hessian_tolerance: self.hessian_tolerance,
            modified_tolerance: self.modified_tolerance,
        }
    }

    fn checked(&self, n: usize, d: usize) -> Result<(usize, Plan)> {
        let which = spectral::neighborhood(self.neighborhood, n)?;
        let limit = match self.variant {
            LleVariant::Standard => n - 1,
            // The tangent space is inside that of the features.
            _ => d.min(n - 1),
        };
        let k = spectral::resolve_k(&self.n_components, limit, n, d)?;
        self.check_numbers()?;
        let needed = self.variant.least_neighbors(k);
        if let Neighborhood::Nearest(found) = which
            && found < needed
        {
            let by = self.variant.in_words();
            return Err(Error::TooFewNeighbors { by, row: None, found, needed });
        }
        let row = spectral::likely_row(which);
        let plan = spectral::plan_sparse("weights", n, d, k, row * row, &self.options)?;
        Ok((k, plan))
    }

    fn check_numbers(&self) -> Result<()> {
        let wrong = |name, value: f64, expected| {
            Err(Error::Parameter { name, value: value.to_string(), expected })
        };
        if !(self.regularization > 0.0 && self.regularization.is_finite()) {
            return wrong("regularization", self.regularization, "a finite number above 0");
        }
        let tolerances = [
            ("hessian_tolerance", self.hessian_tolerance),
            ("modified_tolerance", self.modified_tolerance),
        ];
        match tolerances.into_iter().find(|(_, t)| !(*t >= 0.0 && t.is_finite())) {
            Some((name, value)) => wrong(name, value, "a finite number of at least 0"),
            None => Ok(()),
        }
    }

    fn run<T: Scalar>(
        &self,
        data: &Dataset<T>,
        n: usize,
        k: usize,
        plan: Plan,
    ) -> Result<EmbeddingModel> {
        // Step 1: the neighbours of every sample, and bridges where they were asked for.
        let points = Points::read(data)?;
        let which = self.which(n)?;
        let graph = spectral::graph(&points, which, self.bridges)?;
        // Step 2: what coordinates must satisfy; of the standard variant, the rows of I − W.
        let rows = self.alignment(&points, k).rows(|i| neighbors(&graph, i))?;
        // Step 3: the smallest pairs of M; the constant vector is null.
        let matrix = gram_of_rows(n, &rows)?;
        let null = vec![1.0 / (n as f64).sqrt(); n];
        let tolerance = spectral::tolerance::<T>(&self.options);
        let pairs = spectral::smallest_of_graph(&matrix, &null, k, tolerance, &self.options)?;
        // Step 4: coordinates.
        let largest = match self.scaling {
            Scaling::Unit => 0.0,
            Scaling::Kernel => {
                let request = EigenRequest::new(1, n, tolerance, &self.options);
                krylov::largest(&matrix, &request)?.values.first().copied().unwrap_or(0.0)
            }
        };
        let factor = |value: &f64| match self.scaling {
            Scaling::Unit => 1.0,
            Scaling::Kernel => (largest - value).max(0.0).sqrt(),
        };
        let factors: Vec<f64> = pairs.values.iter().map(factor).collect();
        let coordinates = spectral::scaled_and_signed(&pairs.vectors, &factors);
        let quality = judge(Judged {
            original: Original::Points(&points, Metric::Euclidean),
            kept: Kept::Nothing,
            coordinates: coordinates.view(),
            seed: self.options.seed,
        });
        let map = LleMap { points, variant: self.variant, regularization: self.regularization };
        Ok(EmbeddingModel::new(EmbeddingParts {
            core: ModelCore {
                method: "lle",
                n_samples: Some(coordinates.nrows() as f64),
                feature_names: data.feature_names().map(<[String]>::to_vec),
                plan,
                warnings: Vec::new(),
                missing: None,
            },
            coordinates,
            exponent: 0,
            eigenvalues: pairs.values,
            rank: k,
            trace: None,
            negative: None,
            quality,
            neighborhood: Some(which),
            bridges: graph.bridges,
            certificate: pairs.certificate,
            convergence: pairs.convergence,
            tolerance,
            threads: self.options.threads,
            map: EmbeddingMap::Lle(map),
        }))
    }
}

super::traits::fit_trait!(Lle => EmbeddingModel);
estimator!(Lle, {
    fn implied_kernel(&self, data: &AnyDataset) -> Result<ImpliedKernel> {
        dispatch!(data, d => self.implied_kernel(d))
    }
});

/// The neighbours of a sample, and whom a bridge joins it to.
fn neighbors(graph: &Graph, i: usize) -> Vec<u32> {
    let own = graph.neighbors.of(i).0;
    let bridged =
        |j: &u32| !own.contains(j) && !graph.neighbors.of(*j as usize).0.contains(&(i as u32));
    let across = graph.network.of(i).0.iter().copied().filter(bridged);
    own.iter().copied().chain(across).collect()
}

/// `RᵀR` (n × n) of sparse rows.
fn gram_of_rows(n: usize, rows: &[Row]) -> Result<SparseSymmetric> {
    // Which rows have an entry in a column, and what it is.
    let mut columns_of: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
    for (i, row) in rows.iter().enumerate() {
        row.iter().for_each(|&(j, v)| columns_of[j as usize].push((i as u32, v)));
    }
    let products: Vec<Vec<(u32, f64)>> = (0..n)
        .into_par_iter()
        .map_init(
            || vec![None; n],
            |sums: &mut Vec<Option<f64>>, a| {
                let mut touched: Vec<u32> = Vec::new();
                for &(i, v) in &columns_of[a] {
                    for &(b, w) in &rows[i as usize] {
                        match &mut sums[b as usize] {
                            Some(sum) => *sum += v * w,
                            none => {
                                *none = Some(v * w);
                                touched.push(b);
                            }
                        }
                    }
                }
                touched.iter().map(|&b| (b, sums[b as usize].take().unwrap_or(0.0))).collect()
            },
        )
        .collect();
    let mut starts = vec![0];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for row in &products {
        columns.extend(row.iter().map(|e| e.0));
        values.extend(row.iter().map(|e| e.1));
        starts.push(columns.len());
    }
    SparseSymmetric::new(&Csr::new(n, n, starts, columns, values)?)
}
