//! A fitted kernel PCA: immutable and complete.

use super::ModelCore;
use super::feature_map::FeatureMap;
use super::kernel_map::KernelMap;
use crate::data::{Dataset, Made, compiled_here};
use crate::error::{Result, Warning};
use crate::kernel::{ResolvedKernel, Sink};
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::solver::{Certificate, Convergence};
use ndarray::{Array2, ArrayView2};
use std::fmt;

/// How a kernel PCA was computed, and what it cost in accuracy.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelAccuracy {
    /// Every kernel value between training samples counted.
    Exact,
    /// By landmarks (Nyström).
    Nystrom {
        /// Landmarks kept, m.
        landmarks: usize,
        /// `tr(K − K̂)`: what the landmarks miss, exactly.
        trace_error: f64,
        /// The same as a share of `tr K`.
        trace_error_share: f64,
    },
    /// By random Fourier features.
    RandomFeatures {
        /// Features, m.
        features: usize,
        /// Whether their frequencies are orthogonal.
        orthogonal: bool,
        /// Root mean square error of kernel values, over pairs of sampled rows.
        kernel_error: f64,
    },
    /// On some of the samples.
    Subset {
        /// Samples used.
        samples: usize,
        /// Samples there were.
        of: usize,
    },
}

impl fmt::Display for KernelAccuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelAccuracy::Exact => f.write_str("exact"),
            KernelAccuracy::Nystrom { landmarks, trace_error_share, .. } => write!(
                f,
                "nystrom with {landmarks} landmarks, which miss {:.2e} of the trace",
                trace_error_share
            ),
            KernelAccuracy::RandomFeatures { features, orthogonal, kernel_error } => write!(
                f,
                "{features} {}random Fourier features, kernel values off by {kernel_error:.1e}",
                if *orthogonal { "orthogonal " } else { "" }
            ),
            KernelAccuracy::Subset { samples, of } => {
                write!(f, "exact on {samples} of the {of} samples")
            }
        }
    }
}

/// The part of a spectrum that is below 0: of an indefinite kernel, or of distances that no points in
/// a Euclidean space have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NegativePart {
    /// Sum of the negative eigenvalues' moduli over the sum of all moduli; a lower bound where not
    /// all eigenvalues were computed.
    pub share: f64,
    /// The most negative eigenvalue; 0 where none is.
    pub smallest: f64,
    /// Whether all eigenvalues were computed.
    pub complete: bool,
}

/// Everything a fit found out.
pub(crate) struct KernelPcaParts {
    pub core: ModelCore,
    pub body: KernelBody,
    /// k eigenvalues of `H K H`; null ones are 0.
    pub values: Vec<f64>,
    /// `tr(H K H)`.
    pub total: f64,
    pub n_features: usize,
    /// Means of the training kernel's columns (n), where all of it was seen.
    pub column_means: Vec<f64>,
    /// The squared length of the mean in feature space: the mean of the kernel as the model has it.
    pub mean: f64,
    pub negative: Option<NegativePart>,
    pub accuracy: KernelAccuracy,
    pub certificate: Certificate,
    pub convergence: Convergence,
    pub tolerance: f64,
}

/// What maps samples to scores.
pub(crate) enum KernelBody {
    Points(KernelMap),
    Features(FeatureMap),
}

/// A fitted kernel PCA. See [`KernelPca`](crate::KernelPca) for how to make one.
pub struct KernelPcaModel {
    parts: KernelPcaParts,
}

impl fmt::Debug for KernelPcaModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelPcaModel")
            .field("kernel", self.kernel())
            .field("n_components", &self.n_components())
            .field("accuracy", self.accuracy())
            .finish_non_exhaustive()
    }
}

impl KernelPcaModel {
    pub(crate) fn new(mut parts: KernelPcaParts) -> Self {
        parts.core.judge(&parts.certificate, parts.tolerance);
        KernelPcaModel { parts }
    }

    pub(super) fn assemble(parts: KernelPcaParts) -> Self {
        KernelPcaModel { parts }
    }

    pub(super) fn parts(&self) -> &KernelPcaParts {
        &self.parts
    }

    /// `kernel-pca`.
    pub fn method(&self) -> &'static str {
        "kernel-pca"
    }

    /// The same model, transforming with this many threads (`None`: one for each core). The answer
    /// does not depend on it.
    pub fn with_threads(mut self, threads: Option<usize>) -> Self {
        self.use_threads(threads);
        self
    }

    pub(super) fn use_threads(&mut self, threads: Option<usize>) {
        match &mut self.parts.body {
            KernelBody::Points(map) => map.threads = threads,
            KernelBody::Features(map) => map.threads = threads,
        }
    }

    /// The kernel, with its parameters as numbers.
    pub fn kernel(&self) -> &ResolvedKernel {
        match &self.parts.body {
            KernelBody::Points(map) => &map.projection.kernel,
            KernelBody::Features(map) => &map.features.kernel,
        }
    }

    /// How it was computed, and what that cost in accuracy.
    pub fn accuracy(&self) -> &KernelAccuracy {
        &self.parts.accuracy
    }

    /// The number of components, k.
    pub fn n_components(&self) -> usize {
        self.parts.values.len()
    }

    /// The number of features, d; of a precomputed kernel the number of training samples.
    pub fn n_features(&self) -> usize {
        self.parts.n_features
    }

    /// The number of training samples, n.
    pub fn n_samples(&self) -> usize {
        self.parts.core.count()
    }

    /// Components that carry variance; those after them are null.
    pub fn rank(&self) -> usize {
        self.parts.values.iter().filter(|v| **v > 0.0).count()
    }

    /// The leading eigenvalues of the centred kernel matrix (k).
    pub fn eigenvalues(&self) -> &[f64] {
        &self.parts.values
    }

    /// The variance along each component (k): eigenvalues over n − 1.
    pub fn explained_variance(&self) -> Vec<f64> {
        let divisor = self.parts.core.weight() - 1.0;
        self.parts.values.iter().map(|v| v / divisor).collect()
    }

    /// The total variance in feature space, `tr(H K H)/(n − 1)`; for Nyström with what its
    /// landmarks miss, so that shares are not overstated.
    pub fn total_variance(&self) -> f64 {
        self.parts.total / (self.parts.core.weight() - 1.0)
    }

    /// Each component's share of the total variance (k); 0 where there is none.
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        let total = self.parts.total;
        let share = |v: &f64| if total > 0.0 { (v / total).min(1.0) } else { 0.0 };
        self.parts.values.iter().map(share).collect()
    }

    /// The dual coefficients (m × k) of the points kept: scores are the kernel with these points
    /// times the coefficients, less a constant. `None` for random features.
    pub fn dual_coefficients(&self) -> Option<ArrayView2<'_, f64>> {
        match &self.parts.body {
            KernelBody::Points(map) => Some(map.projection.coefficients.view()),
            KernelBody::Features(_) => None,
        }
    }

    /// Means of the training kernel's columns (n) and of all its entries, where all were seen.
    pub fn kernel_means(&self) -> Option<(&[f64], f64)> {
        let means = &self.parts.column_means;
        (!means.is_empty()).then_some((means.as_slice(), self.parts.mean))
    }

    /// The negative part of the spectrum, where the kernel is not known to be positive
    /// semi-definite.
    pub fn negative_part(&self) -> Option<NegativePart> {
        self.parts.negative
    }

    /// The names of the features, where they had any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.parts.core.feature_names.as_deref()
    }

    /// How far the components can be trusted numerically.
    pub fn certificate(&self) -> &Certificate {
        &self.parts.certificate
    }

    /// What the solver did.
    pub fn convergence(&self) -> &Convergence {
        &self.parts.convergence
    }

    /// The route that was taken, and why.
    pub fn plan(&self) -> &Plan {
        &self.parts.core.plan
    }

    /// What the user should know.
    pub fn warnings(&self) -> &[Warning] {
        &self.parts.core.warnings
    }

    /// Scores (n × k) of training or new samples, centred by the **training** kernel's means.
    pub fn transform<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>> {
        let data = &data.into();
        compiled_here!(KernelPcaModel, self.transform_typed(data) -> Made of T)
    }

    fn transform_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<Array2<T>> {
        match &self.parts.body {
            KernelBody::Points(map) => map.transform(data),
            KernelBody::Features(map) => map.transform(data),
        }
    }

    /// Scores as they are made, in blocks of rows (· × k), for data larger than memory. Returns the
    /// number of rows.
    pub fn transform_blocks<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        sink: &mut Sink<'_, T>,
    ) -> Result<usize> {
        let data = &data.into();
        match &self.parts.body {
            KernelBody::Points(map) => map.transform_blocks(data, sink),
            KernelBody::Features(map) => map.transform_blocks(data, sink),
        }
    }
}
