//! Classical multidimensional scaling.

use super::estimator::{Estimator, FitContext, Fitted, Method, estimator, for_a_picture};
use super::fit::Fit;
use super::implied_kernel::{self, ImpliedKernel};
use super::option_spec::{OptionSpec, OptionValues};
use super::spectral::{self, EigenPairs};
use crate::data::{AnyDataset, DataShape, Dataset, Target, compiled_here};
use crate::error::{Error, Result};
use crate::graph::{
    Judged, Kept, Metric, Original, Points, check_distances, judge, squared_distances, subset,
};
use crate::linalg::dense::{exponent_of, power_of_two};
use crate::linalg::pool;
use crate::model::ModelCore;
use crate::model::{
    DistanceMap, Distances, EmbeddingMap, EmbeddingModel, EmbeddingParts, NegativePart,
};
use crate::n_components::NComponents;
use crate::options::Options;
use crate::plan::Plan;
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2, Axis, s};

/// What every surface knows of the method.
pub(super) const METHOD: Method = Method {
    name: "mds",
    about: "classical multidimensional scaling: keeps distances, of data or given",
    axis: "MDS",
    linear: false,
    takes_missing: false,
    default_n_components: for_a_picture,
    supervised: false,
    options: &[OPTIONS],
    build,
    load: |parts| Ok(Box::new(EmbeddingModel::from_parts(parts)?)),
};

/// What a user may ask for.
const OPTIONS: &[OptionSpec] = &[
    OptionSpec::choice(
        "metric",
        &[
            ("euclidean", "‖x − y‖₂"),
            ("manhattan", "‖x − y‖₁"),
            ("chebyshev", "The largest difference in any feature"),
            ("cosine", "1 − x·y / (‖x‖‖y‖)"),
        ],
        "The distance",
    ),
    OptionSpec::flag(
        "distances",
        false,
        "The table holds the distances themselves, a row and a column for each sample",
    )
    .excludes(&["metric"]),
];

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    Ok(Box::new(
        Mds::new(values.n_components(shape))
            .metric(values.choice("metric", &Metric::NAMES))
            .distances(values.flag("distances"))
            .options(values.options.clone()),
    ))
}

/// Classical MDS (Torgerson 1952): the leading eigenvectors of `−½ H D∘D H`, scaled so that inner
/// products of coordinates are its best approximation. Of Euclidean distances it is PCA, and is
/// computed as such: no n × n matrix is formed.
///
/// ```
/// use eigenlens::{Mds, ndarray};
/// // Three towns on a road.
/// let distances = ndarray::array![[0.0, 3.0, 5.0], [3.0, 0.0, 2.0], [5.0, 2.0, 0.0]];
/// let model = Mds::new(1).fit_distances(distances.view())?;
/// let road = model.coordinates();
/// assert!(((road[[0, 0]] - road[[2, 0]]).abs() - 5.0).abs() < 1e-12);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mds {
    n_components: NComponents,
    metric: Metric,
    given: bool,
    options: Options,
}

impl Mds {
    /// Keeps `n_components`.
    pub fn new(n_components: impl Into<NComponents>) -> Self {
        let n_components = n_components.into();
        Mds { n_components, metric: Metric::default(), given: false, options: Options::default() }
    }

    /// How far two samples are apart (default: Euclidean).
    pub fn metric(mut self, metric: Metric) -> Self {
        self.metric = metric;
        self
    }

    /// The data are the distances themselves (n × n), as [`Mds::fit_distances`] takes them.
    pub fn distances(mut self, given: bool) -> Self {
        self.given = given;
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
        compiled_here!(Mds, self.fit_typed(data) -> Result<EmbeddingModel>)
    }

    fn fit_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<EmbeddingModel> {
        let shape = spectral::counted(data)?;
        let n = spectral::check(&shape, &self.options)?;
        let (k, plan) = self.checked(&shape, n)?;
        let plan = plan.reserved()?;
        if self.given {
            return self.embed_distances(data);
        }
        if self.metric == Metric::Euclidean {
            return self.by_pca(data, k, plan);
        }
        pool::run(self.options.threads, || {
            let points = Points::read(data)?;
            let squared = squared_distances(self.metric, &points, 0..n, &points);
            let from = Distances::Metric { points, metric: self.metric };
            let tolerance = spectral::tolerance::<T>(&self.options);
            let names = data.feature_names().map(<[String]>::to_vec);
            self.by_distances(squared, from, k, plan, tolerance, names)
        })?
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

    /// The kernel that the embedding of these samples is the kernel PCA of: `−½ H D∘D H`.
    pub fn implied_kernel<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<ImpliedKernel> {
        let data = &data.into();
        compiled_here!(Mds, self.implied_kernel_typed(data) -> Result<ImpliedKernel>)
    }

    fn implied_kernel_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<ImpliedKernel> {
        let n = spectral::check(&spectral::counted(data)?, &self.options)?;
        implied_kernel::check_room(n, &self.options)?;
        pool::run(self.options.threads, || {
            let points = Points::read(data)?;
            let unit = power_of_two(points.exponent());
            let squared = if self.given {
                check_distances(points.view())?;
                points.view().mapv(|d| d * d)
            } else {
                squared_distances(self.metric, &points, 0..n, &points)
            };
            let unit = if self.given || self.metric.has_units() { unit } else { 1.0 };
            Ok(ImpliedKernel {
                kernel: implied_kernel::of_squared_distances(squared.view()) * (unit * unit),
                parts: vec![("distances", squared.mapv(|s| s.sqrt() * unit))],
            })
        })?
    }

    /// Fits from a matrix of distances (n × n): symmetric, not negative, 0 on the diagonal. The
    /// model takes distances to the training samples as new data.
    pub fn fit_distances(&self, distances: ArrayView2<f64>) -> Result<EmbeddingModel> {
        self.by_given(distances, None)
    }

    /// Reads the distances; the names of the columns are those of the samples.
    fn embed_distances<T: Scalar>(&self, data: &Dataset<T>) -> Result<EmbeddingModel> {
        let points = Points::read(data)?;
        let unit = power_of_two(points.exponent());
        let names = data.feature_names().map(<[String]>::to_vec);
        self.by_given(points.view().mapv(|v| v * unit).view(), names)
    }

    fn by_given(
        &self,
        distances: ArrayView2<f64>,
        names: Option<Vec<String>>,
    ) -> Result<EmbeddingModel> {
        self.options.check()?;
        check_distances(distances)?;
        let n = distances.nrows();
        if n < 2 {
            return Err(Error::TooFewRows { found: n, needed: 2 });
        }
        let k = spectral::resolve_k(&self.n_components, n, n, n)?;
        let plan = spectral::plan_stored("given distances", n, k, 0, &self.options)?;
        // Squares of what is near 1 stay in range.
        let largest = distances.iter().fold(0.0f64, |m, v| m.max(*v));
        let exponent = exponent_of(largest).clamp(-1000, 1000);
        let exponent = if exponent.abs() > 200 { exponent } else { 0 };
        let down = power_of_two(-exponent);
        pool::run(self.options.threads, || {
            let squared = Array2::from_shape_fn((n, n), |(i, j)| {
                let mean = 0.5 * (distances[[i, j]] * down) + 0.5 * (distances[[j, i]] * down);
                if i == j { 0.0 } else { mean * mean }
            });
            let tolerance = self.options.tolerance.unwrap_or(1e-9);
            let from = Distances::Given { exponent };
            self.by_distances(squared, from, k, plan, tolerance, names)
        })?
    }

    fn checked(&self, shape: &DataShape, n: usize) -> Result<(usize, Plan)> {
        let d = shape.n_features;
        let k = spectral::resolve_k(&self.n_components, n, n, d)?;
        let plan = if self.given {
            spectral::plan_stored("given distances", n, k, 16 * (n * d) as u64, &self.options)?
        } else if self.metric == Metric::Euclidean {
            self.pca(k.min(n).min(d)).plan(shape)?
        } else {
            let other = 16 * (n * d) as u64;
            let what = format!("{} distances", self.metric.name());
            spectral::plan_stored(&what, n, k, other, &self.options)?
        };
        Ok((k, plan))
    }

    fn pca(&self, k: usize) -> Fit {
        let fit = Fit::new("pca", NComponents::Fixed(k), true);
        Fit { options: self.options.clone(), ..fit }
    }

    /// The eigenvectors of `−½ H D∘D H = Xc Xcᵀ` are the scores of PCA, up to length.
    fn by_pca<T: Scalar>(&self, data: &Dataset<T>, k: usize, plan: Plan) -> Result<EmbeddingModel> {
        let n = spectral::check(&spectral::counted(data)?, &self.options)?;
        let (pca, scores) = self.pca(k.min(n).min(data.n_features())).run(data, true)?;
        let mut coordinates = Array2::zeros((n, k));
        for (j, column) in scores.columns().into_iter().enumerate() {
            coordinates.column_mut(j).assign(&column.mapv(T::to_f64));
        }
        let signs =
            (0..pca.n_components()).map(|j| spectral::sign(coordinates.column(j))).collect();
        let coordinates = spectral::scaled_and_signed(&coordinates, &vec![1.0; k]);
        spectral::check_coordinates(&coordinates)?;
        let chosen = subset(n, self.options.seed);
        let points = Points::read_some(data, &chosen)?;
        let down = power_of_two(-points.exponent());
        let some = coordinates.select(Axis(0), &chosen) * down;
        let quality = pool::run(self.options.threads, || {
            judge(Judged {
                original: Original::Points(&points, Metric::Euclidean),
                kept: Kept::Original,
                coordinates: some.view(),
                seed: self.options.seed,
            })
        })?;
        let divisor = n as f64 - 1.0;
        let parts = pca.parts();
        let mut eigenvalues: Vec<f64> = parts.values.iter().map(|v| v * divisor).collect();
        eigenvalues.resize(k, 0.0);
        let rank = pca.rank();
        Ok(EmbeddingModel::new(EmbeddingParts {
            core: ModelCore {
                method: "mds",
                n_samples: Some(coordinates.nrows() as f64),
                feature_names: data.feature_names().map(<[String]>::to_vec),
                plan,
                warnings: spectral::null_warnings(rank, k),
                missing: None,
            },
            coordinates,
            exponent: parts.map.scaler.exponent,
            eigenvalues,
            rank,
            trace: Some(parts.total * divisor),
            negative: Some(NegativePart { share: 0.0, smallest: 0.0, complete: true }),
            quality,
            neighborhood: None,
            bridges: 0,
            certificate: spectral::padded(pca.certificate(), k),
            convergence: pca.convergence().clone(),
            tolerance: spectral::tolerance::<T>(&self.options),
            threads: self.options.threads,
            map: EmbeddingMap::Linear { pca: Box::new(pca), signs },
        }))
    }

    fn by_distances(
        &self,
        squared: Array2<f64>,
        from: Distances,
        k: usize,
        plan: Plan,
        tolerance: f64,
        feature_names: Option<Vec<String>>,
    ) -> Result<EmbeddingModel> {
        let pairs = spectral::leading_of_distances(squared.view(), k, tolerance, &self.options)?;
        let (projector, coordinates) = dress(&pairs);
        let quality = judge(Judged {
            original: Original::Squared(squared.view()),
            kept: Kept::Squared(squared.view(), coordinates.view()),
            coordinates: coordinates.view(),
            seed: self.options.seed,
        });
        let means = squared.mean_axis(Axis(0)).unwrap_or_default().to_vec();
        let map = DistanceMap { from, means, projector };
        let coordinates = coordinates * power_of_two(map.exponent());
        spectral::check_coordinates(&coordinates)?;
        Ok(EmbeddingModel::new(EmbeddingParts {
            core: ModelCore {
                method: "mds",
                n_samples: Some(coordinates.nrows() as f64),
                feature_names,
                plan,
                warnings: spectral::null_warnings(pairs.rank, k),
                missing: None,
            },
            coordinates,
            exponent: map.exponent(),
            eigenvalues: pairs.values,
            rank: pairs.rank,
            trace: Some(pairs.trace),
            negative: Some(pairs.negative),
            quality,
            neighborhood: None,
            bridges: 0,
            certificate: pairs.certificate,
            convergence: pairs.convergence,
            tolerance,
            threads: self.options.threads,
            map: EmbeddingMap::Distances(map),
        }))
    }
}

super::traits::fit_trait!(Mds => EmbeddingModel);
estimator!(Mds, {
    fn implied_kernel(&self, data: &AnyDataset) -> Result<ImpliedKernel> {
        dispatch!(data, d => self.implied_kernel(d))
    }
});

/// `V Λ^{-1/2}`, which places others, and `V Λ^{1/2}`, the coordinates; 0 for null components.
pub(super) fn dress(pairs: &EigenPairs) -> (Array2<f64>, Array2<f64>) {
    let roots: Vec<f64> = pairs.values.iter().map(|v| v.sqrt()).collect();
    let mut projector = pairs.vectors.clone();
    let mut coordinates = pairs.vectors.clone();
    for j in 0..roots.len() {
        let null = j >= pairs.rank;
        let (up, down) = if null { (0.0, 0.0) } else { (roots[j], 1.0 / roots[j]) };
        projector.slice_mut(s![.., j]).mapv_inplace(|v| v * down);
        coordinates.slice_mut(s![.., j]).mapv_inplace(|v| v * up);
    }
    (projector, coordinates)
}
