//! Laplacian eigenmaps.

use super::estimator::{Estimator, FitContext, Fitted, Method, estimator, for_a_picture};
use super::option_spec::{GRAPH, OptionSpec, OptionValues, Range, on_graph};
use super::spectral::{self, Graph};
use crate::data::{AnyDataset, Csr, DataShape, Dataset, Target, compiled_here};
use crate::error::{Error, Hint, Result};
use crate::graph::{Judged, Kept, Metric, Neighborhood, Network, Original, Points, judge};
use crate::linalg::dense::power_of_two;
use crate::linalg::pool;
use crate::model::{
    Affinity, EmbeddingMap, EmbeddingModel, EmbeddingParts, LaplacianMap, Normalization, Scaling,
};
use crate::n_components::NComponents;
use crate::operator::SparseSymmetric;
use crate::options::Options;
use crate::plan::Plan;
use crate::scalar::Scalar;
use ndarray::Array2;

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
    OptionSpec::flag("heat", false, "Tie neighbours by exp(−γ‖x − y‖²) in place of 1"),
    OptionSpec::number_or(
        "gamma",
        Range::Any,
        &["median"],
        "γ of the heat kernel, or by the median of the distances of neighbours [default: median]",
    )
    .needs(&[("heat", &["true"])]),
    OptionSpec::flag(
        "commute_time",
        false,
        "Commute-time coordinates: divided by the root of the eigenvalue",
    ),
];

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    let gamma = values.number("gamma");
    let affinity = if values.flag("heat") { Affinity::Heat { gamma } } else { Affinity::Binary };
    let scaling = if values.flag("commute_time") { Scaling::Kernel } else { Scaling::Unit };
    let maps = LaplacianEigenmaps::new(values.n_components(shape));
    Ok(Box::new(
        on_graph!(values, maps.options(values.options.clone()))
            .normalization(values.choice("normalization", &Normalization::NAMES))
            .affinity(affinity)
            .scaling(scaling),
    ))
}

/// Laplacian eigenmaps (Belkin & Niyogi 2003): the eigenvectors of the graph Laplacian with the
/// smallest eigenvalues above 0, in which neighbours stay together.
///
/// ```
/// use eigenlens::{Dataset, LaplacianEigenmaps};
/// use ndarray::Array2;
/// // A chain of samples comes out in its order.
/// let x = Array2::from_shape_fn((30, 2), |(i, f)| if f == 0 { i as f64 } else { (i as f64).sin() });
/// let model = LaplacianEigenmaps::new(1).neighbors(2).fit(&Dataset::from(&x))?;
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
    affinity: Affinity,
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
            affinity: Affinity::default(),
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

    /// How strongly neighbours are tied (default: 1 each).
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
        Ok(self.checked(n, shape.n_features)?.1)
    }

    /// Fits the model.
    pub fn fit<T: Scalar>(&self, data: &Dataset<T>) -> Result<EmbeddingModel> {
        compiled_here!(LaplacianEigenmaps, self.fit_typed(data) -> Result<EmbeddingModel>)
    }

    fn fit_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<EmbeddingModel> {
        let n = spectral::check(&spectral::counted(data)?, &self.options)?;
        let (k, plan) = self.checked(n, data.n_features())?;
        pool::run(self.options.threads, || self.run(data, n, k, plan))?
    }

    /// Fits the model and returns the training coordinates (n × k).
    pub fn fit_transform<T: Scalar>(
        &self,
        data: &Dataset<T>,
    ) -> Result<(EmbeddingModel, Array2<T>)> {
        let model = self.fit(data)?;
        let scores = model.coordinates().mapv(T::from_f64);
        Ok((model, scores))
    }

    fn checked(&self, n: usize, d: usize) -> Result<(usize, Plan)> {
        let which = spectral::neighborhood(self.neighborhood, n)?;
        let k = spectral::resolve_k(&self.n_components, n - 1, n, d)?;
        if let Affinity::Heat { gamma: Some(gamma) } = self.affinity
            && !(gamma > 0.0 && gamma.is_finite())
        {
            return Err(Error::Parameter {
                name: "gamma",
                value: gamma.to_string(),
                expected: "a finite number above 0",
            });
        }
        let row = spectral::likely_row(which);
        let plan = spectral::plan_sparse("graph Laplacian", n, d, k, row, &self.options)?;
        Ok((k, plan))
    }

    fn run<T: Scalar>(
        &self,
        data: &Dataset<T>,
        n: usize,
        k: usize,
        plan: Plan,
    ) -> Result<EmbeddingModel> {
        // Step 1: the graph and its affinities.
        let points = Points::read(data)?;
        let which = spectral::neighborhood(self.neighborhood, n)?;
        let graph = spectral::graph(&points, which, self.bridges)?;
        let gamma = self.gamma(&graph.network, points.exponent())?;
        let mut map = LaplacianMap {
            points,
            gamma,
            normalization: self.normalization,
            degrees: Vec::new(),
            reach: farthest(&graph),
        };
        let network = graph.network;
        let affinities: Vec<f64> = network.lengths.iter().map(|l| map.affinity(*l)).collect();
        map.degrees = network
            .starts
            .windows(2)
            .map(|ends| affinities[ends[0]..ends[1]].iter().sum())
            .collect();
        if affinities.iter().any(|a| *a < f64::MIN_POSITIVE) {
            return Err(Error::Unsupported {
                what: format!("`gamma` {}", gamma.unwrap_or(0.0)),
                why: "makes the affinity of some neighbours 0",
                instead: Some(Hint::Set { option: "gamma", value: "median".into() }),
            });
        }
        // Step 2: the Laplacian and its smallest pairs; the null vector is known.
        let laplacian = laplacian(&network, &affinities, &map.degrees, self.normalization)?;
        let null = null_vector(&map.degrees, self.normalization);
        let tolerance = spectral::tolerance::<T>(&self.options);
        let pairs = spectral::smallest_of_graph(&laplacian, &null, k, tolerance, &self.options)?;
        // Step 3: coordinates.
        let mut vectors = pairs.vectors;
        if self.normalization == Normalization::Generalized {
            for (mut row, degree) in vectors.rows_mut().into_iter().zip(&map.degrees) {
                row /= degree.sqrt();
            }
        }
        let factor = |value: &f64| match self.scaling {
            Scaling::Unit => 1.0,
            // The kernel is the Laplacian's pseudo-inverse.
            Scaling::Kernel => value.max(f64::MIN_POSITIVE).sqrt().recip(),
        };
        let factors: Vec<f64> = pairs.values.iter().map(factor).collect();
        let coordinates = spectral::scaled_and_signed(&vectors, &factors);
        let quality = judge(Judged {
            original: Original::Points(&map.points, Metric::Euclidean),
            kept: Kept::Nothing,
            coordinates: coordinates.view(),
            seed: self.options.seed,
        });
        Ok(EmbeddingModel::new(EmbeddingParts {
            method: "laplacian",
            coordinates,
            exponent: 0,
            eigenvalues: pairs.values,
            rank: k,
            trace: None,
            negative: None,
            quality,
            neighborhood: Some(which),
            bridges: graph.bridges,
            feature_names: data.feature_names().map(<[String]>::to_vec),
            certificate: pairs.certificate,
            convergence: pairs.convergence,
            plan,
            tolerance,
            threads: self.options.threads,
            warnings: Vec::new(),
            map: EmbeddingMap::Laplacian(map),
        }))
    }

    /// γ in the units of the points.
    fn gamma(&self, network: &Network, exponent: i32) -> Result<Option<f64>> {
        match self.affinity {
            Affinity::Binary => Ok(None),
            Affinity::Heat { gamma: Some(gamma) } => {
                let unit = power_of_two(exponent);
                Ok(Some(gamma * unit * unit))
            }
            Affinity::Heat { gamma: None } => {
                let mut lengths = network.lengths.clone();
                let middle = lengths.len() / 2;
                let (_, median, _) = lengths.select_nth_unstable_by(middle, f64::total_cmp);
                if *median > 0.0 {
                    return Ok(Some(0.5 / (*median * *median)));
                }
                Err(Error::NotDefined {
                    what: "the median distance of neighbours as a bandwidth",
                    why: "more than half of the neighbours coincide".into(),
                })
            }
        }
    }
}

estimator!(LaplacianEigenmaps);

/// Squared distance of every sample's farthest neighbour, which is its last.
fn farthest(graph: &Graph) -> Vec<f64> {
    let last = |i: usize| graph.neighbors.of(i).1.last().map_or(0.0, |d| d * d);
    (0..graph.neighbors.n_queries()).map(last).collect()
}

/// `D − A`, or `I − D^{-1/2} A D^{-1/2}`.
fn laplacian(
    network: &Network,
    affinities: &[f64],
    degrees: &[f64],
    normalization: Normalization,
) -> Result<SparseSymmetric> {
    let n = degrees.len();
    let plain = normalization == Normalization::Unnormalized;
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n {
        columns.push(i as u32);
        values.push(if plain { degrees[i] } else { 1.0 });
        let range = network.starts[i]..network.starts[i + 1];
        for (&j, &a) in network.columns[range.clone()].iter().zip(&affinities[range]) {
            columns.push(j);
            let scale = if plain { 1.0 } else { (degrees[i] * degrees[j as usize]).sqrt() };
            values.push(-a / scale);
        }
        starts.push(columns.len());
    }
    SparseSymmetric::new(&Csr::new(n, n, starts, columns, values)?)
}

/// The unit vector along 1, or along D^{1/2} 1.
fn null_vector(degrees: &[f64], normalization: Normalization) -> Vec<f64> {
    let entry = |degree: &f64| match normalization {
        Normalization::Unnormalized => 1.0,
        _ => degree.sqrt(),
    };
    let null: Vec<f64> = degrees.iter().map(entry).collect();
    let norm = null.iter().map(|v| v * v).sum::<f64>().sqrt();
    null.into_iter().map(|v| v / norm).collect()
}
