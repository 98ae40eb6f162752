//! Isomap: classical MDS of distances along the data.

use super::estimator::{Estimator, FitContext, Fitted, Method, estimator, for_a_picture};
use super::implied_kernel::{self, ImpliedKernel};
use super::option_spec::{GRAPH, OptionSpec, OptionValues, on_graph};
use super::spectral::{self, Graph};
use crate::data::{AnyDataset, DataShape, Dataset, Target, compiled_here};
use crate::error::{Error, Result};
use crate::graph::{Geodesics, Judged, Kept, Metric, Neighborhood, Original, Points, Seeds, judge};
use crate::linalg::dense::power_of_two;
use crate::linalg::{pool, random};
use crate::model::ModelCore;
use crate::model::{
    DistanceMap, Distances, EmbeddingMap, EmbeddingModel, EmbeddingParts, pick_columns,
};
use crate::n_components::NComponents;
use crate::options::Options;
use crate::plan::Plan;
use crate::scalar::Scalar;
use ndarray::{Array2, Axis};

/// What every surface knows of the method.
pub(super) const METHOD: Method = Method {
    name: "isomap",
    about: "Isomap: classical MDS of distances along the data",
    axis: "ISO",
    linear: false,
    takes_missing: false,
    default_n_components: for_a_picture,
    supervised: false,
    options: &[GRAPH, OPTIONS],
    build,
    load: |parts| Ok(Box::new(EmbeddingModel::from_parts(parts)?)),
};

/// What a user may ask for.
const OPTIONS: &[OptionSpec] = &[OptionSpec::count(
    "landmarks",
    1,
    "Compare only this many samples, drawn with the seed, with all others",
)];

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    let isomap = Isomap::new(values.n_components(shape)).options(values.options.clone());
    let isomap = on_graph!(values, isomap);
    Ok(Box::new(match values.count("landmarks") {
        Some(m) => isomap.landmarks(m),
        None => isomap,
    }))
}

/// Isomap (Tenenbaum, de Silva & Langford 2000): the leading eigenvectors of `−½ H D∘D H`, with D
/// the lengths of shortest paths on the graph of neighbours.
///
/// ```
/// use eigenlens::{Isomap, ndarray};
/// use ndarray::Array2;
/// // A half circle is a line to whoever walks along it.
/// let x = Array2::from_shape_fn((40, 2), |(i, f)| {
///     let angle = i as f64 / 39.0 * std::f64::consts::PI;
///     if f == 0 { angle.cos() } else { angle.sin() }
/// });
/// let model = Isomap::new(1).neighbors(2).fit(&x)?;
/// let line = model.coordinates().column(0).to_owned();
/// assert!(((line[0] - line[39]).abs() - std::f64::consts::PI).abs() < 0.01);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Isomap {
    n_components: NComponents,
    neighborhood: Option<Neighborhood>,
    bridges: bool,
    landmarks: Option<usize>,
    options: Options,
}

impl Isomap {
    /// Keeps `n_components`.
    pub fn new(n_components: impl Into<NComponents>) -> Self {
        Isomap {
            n_components: n_components.into(),
            neighborhood: None,
            bridges: false,
            landmarks: None,
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

    /// Compares only this many samples, drawn with the seed, with all others (de Silva & Tenenbaum
    /// 2004): m × n distances in place of n × n.
    pub fn landmarks(mut self, m: usize) -> Self {
        self.landmarks = Some(m);
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
        compiled_here!(Isomap, self.fit_typed(data) -> Result<EmbeddingModel>)
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

    /// The kernel that the embedding of these samples is the kernel PCA of: `−½ H D∘D H` of the distances along the
    /// graph, from everywhere to everywhere.
    pub fn implied_kernel<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<ImpliedKernel> {
        let data = &data.into();
        compiled_here!(Isomap, self.implied_kernel_typed(data) -> Result<ImpliedKernel>)
    }

    fn implied_kernel_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<ImpliedKernel> {
        let n = spectral::check(&spectral::counted(data)?, &self.options)?;
        implied_kernel::check_room(n, &self.options)?;
        pool::run(self.options.threads, || {
            let points = Points::read(data)?;
            let unit = power_of_two(points.exponent());
            let which = spectral::neighborhood(self.neighborhood, n)?;
            let network = spectral::graph(&points, which, self.bridges)?.network;
            let distances = Geodesics::new(&network, n)?.all()?;
            let squared = distances.mapv(|d| d * d);
            Ok(ImpliedKernel {
                kernel: implied_kernel::of_squared_distances(squared.view()) * (unit * unit),
                parts: vec![
                    ("distances", distances * unit),
                    ("graph", implied_kernel::dense(n, |i| network.of(i)) * unit),
                ],
            })
        })?
    }

    fn checked(&self, n: usize, d: usize) -> Result<(usize, Plan)> {
        spectral::neighborhood(self.neighborhood, n)?;
        if let Some(m) = self.landmarks.filter(|m| *m < 2 || *m > n) {
            return Err(Error::Parameter {
                name: "landmarks",
                value: m.to_string(),
                expected: "at least 2 and at most the number of samples",
            });
        }
        let m = self.landmarks.unwrap_or(n);
        let k = spectral::resolve_k(&self.n_components, m, m, d)?;
        // From the landmarks, and turned round.
        let rows = if self.landmarks.is_some() { 16 * (m * n) as u64 } else { 0 };
        let other = rows + 8 * (n * (3 * d + 200)) as u64;
        let plan = spectral::plan_stored("geodesic distances", m, k, other, &self.options)?;
        Ok((k, plan))
    }

    fn run<T: Scalar>(
        &self,
        data: &Dataset<T>,
        n: usize,
        k: usize,
        plan: Plan,
    ) -> Result<EmbeddingModel> {
        // Step 1: the graph.
        let points = Points::read(data)?;
        let which = spectral::neighborhood(self.neighborhood, n)?;
        let Graph { network, bridges, .. } = spectral::graph(&points, which, self.bridges)?;
        // Step 2: squared geodesic distances, from everywhere or from the landmarks (m × n).
        let landmarks: Option<Vec<u32>> = self.landmarks.map(|m| {
            let mut rng = random::stream(self.options.seed, 13);
            random::choose(&mut rng, n, m).into_iter().map(|i| i as u32).collect()
        });
        let geodesics = Geodesics::new(&network, self.landmarks.unwrap_or(n))?;
        let mut from = match &landmarks {
            Some(nodes) => {
                geodesics.rows(&nodes.iter().map(|&i| vec![(i, 0.0)]).collect::<Vec<Seeds>>())?
            }
            None => geodesics.all()?,
        };
        drop(geodesics);
        from.par_mapv_inplace(|v| v * v);
        // Step 3: the leading pairs.
        let among = landmarks.as_ref().map(|nodes| pick_columns(from.view(), nodes));
        let squared = among.as_ref().map_or(from.view(), |a| a.view());
        let tolerance = spectral::tolerance::<T>(&self.options);
        let pairs = spectral::leading_of_distances(squared, k, tolerance, &self.options)?;
        // Step 4: coordinates, and what places others.
        let means = squared.mean_axis(Axis(0)).unwrap_or_default().to_vec();
        let (projector, coordinates) = super::mds::dress(&pairs);
        let exponent = points.exponent();
        let from_points = Distances::Geodesic { points, network, landmarks };
        let map = DistanceMap { from: from_points, means, projector };
        let unit = power_of_two(exponent);
        let placed = match map.landmarks() {
            Some(_) => map.project(from.t().as_standard_layout().into_owned()) / unit,
            None => coordinates.clone(),
        };
        let Distances::Geodesic { points, .. } = &map.from else {
            return Err(Error::Internal("an Isomap without geodesics".into()));
        };
        let quality = judge(Judged {
            original: Original::Points(points, Metric::Euclidean),
            kept: Kept::Squared(squared, coordinates.view()),
            coordinates: placed.view(),
            seed: self.options.seed,
        });
        let placed = placed * unit;
        spectral::check_coordinates(&placed)?;
        Ok(EmbeddingModel::new(EmbeddingParts {
            core: ModelCore {
                method: "isomap",
                n_samples: Some(coordinates.nrows() as f64),
                feature_names: data.feature_names().map(<[String]>::to_vec),
                plan,
                warnings: spectral::null_warnings(pairs.rank, k),
                missing: None,
            },
            coordinates: placed,
            exponent,
            eigenvalues: pairs.values,
            rank: pairs.rank,
            trace: Some(pairs.trace),
            negative: Some(pairs.negative),
            quality,
            neighborhood: Some(which),
            bridges,
            certificate: pairs.certificate,
            convergence: pairs.convergence,
            tolerance,
            threads: self.options.threads,
            map: EmbeddingMap::Distances(map),
        }))
    }
}

super::traits::fit_trait!(Isomap => EmbeddingModel);
estimator!(Isomap, {
    fn implied_kernel(&self, data: &AnyDataset) -> Result<ImpliedKernel> {
        dispatch!(data, d => self.implied_kernel(d))
    }
});
