//! Fitted spectral embeddings: coordinates of the training samples, and a kernel learned from them
//! that places new ones.

mod distances;
mod laplacian;
mod lle;
mod summary;

pub(crate) use distances::{DistanceMap, Distances, pick_columns};
pub(crate) use laplacian::{LaplacianMap, Samples, root_degree};
pub(crate) use lle::{LleMap, reconstruction_weights};

pub use laplacian::{Affinity, Normalization};
pub use lle::LleVariant;

use super::NegativePart;
use crate::data::{Dataset, compiled_here};
use crate::error::{Error, Result, Warning};
use crate::graph::{Neighborhood, Points, Quality, Search};
use crate::linalg::dense::power_of_two;
use crate::linalg::pool;
use crate::model::ModelCore;
use crate::model::PcaModel;
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::solver::{Certificate, Convergence};
use ndarray::{Array2, ArrayView2};

/// How coordinates are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scaling {
    /// As eigenvectors of unit length.
    #[default]
    Unit,
    /// As kernel PCA scales its scores, by the root of the kernel's eigenvalue. For a graph
    /// Laplacian L, whose kernel is L⁺, these are commute-time coordinates: squared distances are
    /// commute times divided by the graph's volume.
    Kernel,
}

/// Where new samples go.
pub(crate) enum EmbeddingMap {
    /// Euclidean MDS is PCA, each score times +1 or −1: the sign rule looks at samples here.
    Linear {
        pca: Box<PcaModel>,
        signs: Vec<f64>,
    },
    /// By distances to training samples: MDS, Isomap.
    Distances(DistanceMap),
    Laplacian(LaplacianMap),
    Lle(LleMap),
}

impl EmbeddingMap {
    /// The number of features of the samples that it places.
    pub(crate) fn n_features(&self) -> usize {
        match self {
            EmbeddingMap::Linear { pca, .. } => pca.n_features(),
            EmbeddingMap::Distances(map) => map.n_features(),
            EmbeddingMap::Laplacian(map) => map.n_features(),
            EmbeddingMap::Lle(map) => map.points.n_features(),
        }
    }
}

/// Everything a fit found out.
pub(crate) struct EmbeddingParts {
    pub core: ModelCore,
    pub map: EmbeddingMap,
    /// n × k.
    pub coordinates: Array2<f64>,
    /// Eigenvalues, their sum and the negative part are in units of 4^exponent: squares of distances may
    /// be no numbers where distances are.
    pub exponent: i32,
    pub eigenvalues: Vec<f64>,
    /// Components that carry something; those after them are 0.
    pub rank: usize,
    /// The sum of all eigenvalues, where it is known.
    pub trace: Option<f64>,
    pub negative: Option<NegativePart>,
    pub quality: Quality,
    pub neighborhood: Option<Neighborhood>,
    pub bridges: usize,
    pub certificate: Certificate,
    pub convergence: Convergence,
    pub tolerance: f64,
    pub threads: Option<usize>,
}

/// A fitted embedding: [`Mds`](crate::Mds), [`Isomap`](crate::Isomap),
/// [`LaplacianEigenmaps`](crate::LaplacianEigenmaps) or [`Lle`](crate::Lle).
pub struct EmbeddingModel {
    parts: EmbeddingParts,
    /// In the units of the data.
    eigenvalues: Vec<f64>,
}

/// New samples handled together: bounds the memory of their distances.
const TOGETHER: usize = 512;

impl EmbeddingModel {
    pub(crate) fn new(mut parts: EmbeddingParts) -> Self {
        parts.core.judge(&parts.certificate, parts.tolerance);
        let mut model = EmbeddingModel::assemble(parts);
        let pairs = model.parts.eigenvalues.iter().zip(&model.eigenvalues);
        let lost = |(v, found): (&f64, &f64)| {
            *v > 0.0 && (*found < f64::MIN_POSITIVE || !found.is_finite())
        };
        if model.parts.exponent != 0 && pairs.into_iter().any(lost) {
            model.parts.core.warnings.push(Warning::VarianceOutOfRange);
        }
        model
    }

    /// The model of these parts, as they are.
    pub(super) fn assemble(parts: EmbeddingParts) -> Self {
        let unit = power_of_two(parts.exponent);
        let eigenvalues = parts.eigenvalues.iter().map(|v| v * unit * unit).collect();
        EmbeddingModel { parts, eigenvalues }
    }

    pub(super) fn parts(&self) -> &EmbeddingParts {
        &self.parts
    }

    /// The method that made the model: `mds`, `isomap`, `laplacian` or `lle`.
    pub fn method(&self) -> &'static str {
        self.parts.core.method
    }

    /// The same model, transforming with this many threads (`None`: one for each core). The answer
    /// does not depend on it.
    pub fn with_threads(mut self, threads: Option<usize>) -> Self {
        self.use_threads(threads);
        self
    }

    pub(super) fn use_threads(&mut self, threads: Option<usize>) {
        self.parts.threads = threads;
        if let EmbeddingMap::Linear { pca, .. } = &mut self.parts.map {
            pca.use_threads(threads);
        }
    }

    /// The number of components, k.
    pub fn n_components(&self) -> usize {
        self.parts.coordinates.ncols()
    }

    /// Components that carry something; the coordinates of those after them are 0.
    pub fn rank(&self) -> usize {
        self.parts.rank
    }

    /// The number of training samples, n.
    pub fn n_samples(&self) -> usize {
        self.parts.coordinates.nrows()
    }

    /// The number of features, d, that new samples must have. A model made from a matrix of distances or
    /// affinities takes those to the n training samples in their place.
    pub fn n_features(&self) -> usize {
        self.parts.map.n_features()
    }

    /// Whether the model was made from a distance matrix and takes distances to the training
    /// samples (m × n) as new data.
    pub fn takes_distances(&self) -> bool {
        match &self.parts.map {
            EmbeddingMap::Distances(map) => map.is_given(),
            EmbeddingMap::Laplacian(map) => matches!(map.samples, Samples::Distances),
            _ => false,
        }
    }

    /// Whether the model was made from a matrix of affinities and takes affinities to the training
    /// samples (m × n) as new data.
    pub fn takes_affinities(&self) -> bool {
        matches!(&self.parts.map, EmbeddingMap::Laplacian(map) if matches!(map.samples, Samples::Affinities))
    }

    /// The coordinates of the training samples (n × k).
    pub fn coordinates(&self) -> ArrayView2<'_, f64> {
        self.parts.coordinates.view()
    }

    /// The eigenvalues (k). MDS and Isomap: of `−½ H D∘D H`, largest first; Laplacian eigenmaps: of
    /// the Laplacian, and LLE: of its operator M, smallest first.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// The sum of all eigenvalues, where the method's operator is a kernel (MDS, Isomap).
    pub fn trace(&self) -> Option<f64> {
        let unit = power_of_two(self.parts.exponent);
        self.parts.trace.map(|trace| trace * unit * unit)
    }

    /// The variance along each component (k), eigenvalue / (n − 1), for MDS and Isomap.
    pub fn explained_variance(&self) -> Option<Vec<f64>> {
        let divisor = self.n_kernel_samples() as f64 - 1.0;
        self.parts.trace.map(|_| self.eigenvalues.iter().map(|v| v / divisor).collect())
    }

    /// Each component's share (k) of the sum of all positive eigenvalues, for MDS and Isomap. Where
    /// not all negative ones were computed, the sum is that of the trace and those that were.
    pub fn explained_variance_ratio(&self) -> Option<Vec<f64>> {
        let total = self.positive_sum()?;
        let share = |v: &f64| if total > 0.0 { v / total } else { 0.0 };
        Some(self.parts.eigenvalues.iter().map(share).collect())
    }

    /// `Σ max(λ, 0)` in units of 4^exponent: the trace, and what the negative part took from it.
    fn positive_sum(&self) -> Option<f64> {
        let (trace, share) = (self.parts.trace?, self.parts.negative.map_or(0.0, |n| n.share));
        // share = N / (trace + 2 N) for negative values of sum −N.
        let negative = if share < 0.5 { share * trace / (1.0 - 2.0 * share) } else { 0.0 };
        Some((trace + negative).max(self.parts.eigenvalues.iter().sum()))
    }

    /// Samples that the kernel is of: all, or the landmarks.
    fn n_kernel_samples(&self) -> usize {
        match &self.parts.map {
            EmbeddingMap::Distances(map) => map.n_references(),
            _ => self.n_samples(),
        }
    }

    /// The landmarks (row numbers of training samples), where only these were compared with all.
    pub fn landmarks(&self) -> Option<&[u32]> {
        match &self.parts.map {
            EmbeddingMap::Distances(map) => map.landmarks(),
            _ => None,
        }
    }

    /// The part of the spectrum below 0, for MDS and Isomap.
    pub fn negative_part(&self) -> Option<NegativePart> {
        let unit = power_of_two(self.parts.exponent);
        let in_units =
            |part: NegativePart| NegativePart { smallest: part.smallest * unit * unit, ..part };
        self.parts.negative.map(in_units)
    }

    /// What the embedding keeps of the data.
    pub fn quality(&self) -> &Quality {
        &self.parts.quality
    }

    /// Which samples were joined, for methods on graphs.
    pub fn neighborhood(&self) -> Option<Neighborhood> {
        self.parts.neighborhood
    }

    /// Edges added to join the parts of the graph.
    pub fn n_bridges(&self) -> usize {
        self.parts.bridges
    }

    /// The names of the features, where they had any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.parts.core.feature_names.as_deref()
    }

    /// How far the components can be trusted numerically.
    pub fn certificate(&self) -> &Certificate {
        &self.parts.certificate
    }

    /// How the solver got there.
    pub fn convergence(&self) -> &Convergence {
        &self.parts.convergence
    }

    /// What was planned and done.
    pub fn plan(&self) -> &Plan {
        &self.parts.core.plan
    }

    /// What the user should know.
    pub fn warnings(&self) -> &[Warning] {
        &self.parts.core.warnings
    }

    /// The variant of locally linear embedding.
    pub fn lle_variant(&self) -> Option<LleVariant> {
        match &self.parts.map {
            EmbeddingMap::Lle(map) => Some(map.variant),
            _ => None,
        }
    }

    /// The PCA behind Euclidean MDS.
    pub fn pca(&self) -> Option<&PcaModel> {
        match &self.parts.map {
            EmbeddingMap::Linear { pca, .. } => Some(pca),
            _ => None,
        }
    }

    /// Coordinates (m × k) of new samples, or of the training samples again.
    ///
    /// MDS and Isomap place them by the kernel view (Bengio et al. 2004), which gives training
    /// samples their own coordinates to rounding. Laplacian eigenmaps and LLE average over
    /// neighbours; a sample that coincides with a training sample gets exactly its coordinates.
    pub fn transform<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>> {
        let data = &data.into();
        let rows = pool::run(self.parts.threads, || self.place(data))??;
        Ok(rows.mapv(T::from_f64))
    }

    fn place<T: Scalar>(&self, data: &Dataset<T>) -> Result<Array2<f64>> {
        compiled_here!(EmbeddingModel, self.place_typed(data) -> Result<Array2<f64>>)
    }

    fn place_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<Array2<f64>> {
        let k = self.n_components();
        let coordinates = self.parts.coordinates.view();
        match &self.parts.map {
            EmbeddingMap::Linear { pca, signs } => {
                let scores = pca.transform(data)?;
                let mut padded = Array2::zeros((scores.nrows(), k));
                for ((i, j), v) in scores.indexed_iter() {
                    padded[[i, j]] = signs[j] * v.to_f64();
                }
                Ok(padded)
            }
            EmbeddingMap::Distances(map) => map.place(data, self.parts.neighborhood),
            EmbeddingMap::Laplacian(map) => {
                map.place(data, self.parts.neighborhood, coordinates, &self.eigenvalues)
            }
            EmbeddingMap::Lle(map) => {
                let which = neighborhood(self.parts.neighborhood)?;
                map.place(&map.points.read_new(data)?, which, coordinates)
            }
        }
    }
}

impl std::fmt::Debug for EmbeddingModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddingModel")
            .field("method", &self.method())
            .field("n_samples", &self.n_samples())
            .field("n_features", &self.n_features())
            .field("n_components", &self.n_components())
            .finish_non_exhaustive()
    }
}

fn neighborhood(of: Option<Neighborhood>) -> Result<Neighborhood> {
    of.ok_or_else(|| Error::Internal("a graph model without a neighbourhood".into()))
}

/// The neighbours of new samples; none within a radius is an error that names the row.
fn neighbors_of(
    points: &Points,
    new: &Points,
    which: Neighborhood,
) -> Result<crate::graph::Neighbors> {
    let found = Search::new(points).of(new, which)?;
    let alone = (0..found.n_queries()).find(|&q| found.of(q).0.is_empty());
    if let (Neighborhood::Radius(radius), Some(row)) = (which, alone) {
        return Err(Error::Isolated { row, radius });
    }
    Ok(found)
}
