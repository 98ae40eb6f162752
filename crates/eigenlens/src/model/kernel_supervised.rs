//! A fitted kernel supervised PCA: immutable and complete.

use super::ModelCore;
use super::supervised::ratios;
use super::{KernelMap, TargetRecord};
use crate::data::Dataset;
use crate::error::{Result, Warning};
use crate::kernel::ResolvedKernel;
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::solver::{Certificate, Convergence};
use ndarray::{Array2, ArrayView2};
use std::fmt;

/// Everything a fit found out.
pub(crate) struct KernelSupervisedParts {
    pub core: ModelCore,
    /// `z = K_t A − c`.
    pub map: KernelMap,
    /// k eigenvalues of `Δᵀ K_x Δ`; null ones are 0.
    pub values: Vec<f64>,
    pub hsic: Vec<f64>,
    pub total_hsic: f64,
    /// k variances of the training scores, and the total in feature space.
    pub variances: Vec<f64>,
    pub total: f64,
    pub n_features: usize,
    pub center: bool,
    pub target: TargetRecord,
    pub certificate: Certificate,
    pub convergence: Convergence,
    pub tolerance: f64,
}

/// A fitted kernel supervised PCA. See [`KernelSupervisedPca`](crate::KernelSupervisedPca) for how
/// to make one.
pub struct KernelSupervisedPcaModel {
    parts: KernelSupervisedParts,
}

impl fmt::Debug for KernelSupervisedPcaModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelSupervisedPcaModel")
            .field("kernel", self.kernel())
            .field("target", self.target())
            .field("eigenvalues", &self.eigenvalues())
            .finish_non_exhaustive()
    }
}

impl KernelSupervisedPcaModel {
    pub(crate) fn new(mut parts: KernelSupervisedParts) -> Self {
        parts.core.judge(&parts.certificate, parts.tolerance);
        Self::assemble(parts)
    }

    /// The model of these parts, as they are.
    pub(super) fn assemble(parts: KernelSupervisedParts) -> Self {
        KernelSupervisedPcaModel { parts }
    }

    pub(super) fn parts(&self) -> &KernelSupervisedParts {
        &self.parts
    }

    /// The same model, transforming with this many threads (`None`: one for each core). The answer
    /// does not depend on it.
    pub fn with_threads(mut self, threads: Option<usize>) -> Self {
        self.use_threads(threads);
        self
    }

    pub(super) fn use_threads(&mut self, threads: Option<usize>) {
        self.parts.map.threads = threads;
    }

    /// The kernel between samples, with its parameters as numbers.
    pub fn kernel(&self) -> &ResolvedKernel {
        &self.parts.map.projection.kernel
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

    /// Components that depend on the target; those after them are null.
    pub fn rank(&self) -> usize {
        self.parts.values.iter().filter(|v| **v > 0.0).count()
    }

    /// The leading eigenvalues of `Δᵀ H K_x H Δ` (k).
    pub fn eigenvalues(&self) -> &[f64] {
        &self.parts.values
    }

    /// What each component carries of [`KernelSupervisedPcaModel::total_hsic`] (k).
    pub fn hsic(&self) -> &[f64] {
        &self.parts.hsic
    }

    /// HSIC between samples and target, `tr(K_x H K_y H)/(n − 1)²`.
    pub fn total_hsic(&self) -> f64 {
        self.parts.total_hsic
    }

    /// Each component's share of HSIC (k); 0 where there is none.
    pub fn hsic_ratio(&self) -> Vec<f64> {
        ratios(&self.parts.hsic, self.parts.total_hsic)
    }

    /// The variance of the training scores of each component (k), not descending in general.
    pub fn explained_variance(&self) -> &[f64] {
        &self.parts.variances
    }

    /// Each component's share of the total variance in feature space (k).
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        ratios(&self.parts.variances, self.parts.total)
    }

    /// The total variance in feature space, `tr(H K_x H)/(n − 1)`.
    pub fn total_variance(&self) -> f64 {
        self.parts.total
    }

    /// The dual coefficients `H Δ V Σ⁻¹` (n × k): scores are the kernel with the training samples
    /// times the coefficients, less a constant.
    pub fn dual_coefficients(&self) -> ArrayView2<'_, f64> {
        self.parts.map.projection.coefficients.view()
    }

    /// What is known of the target.
    pub fn target(&self) -> &TargetRecord {
        &self.parts.target
    }

    /// The names of the features, where they had any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.parts.core.feature_names.as_deref()
    }

    /// How far the components can be trusted numerically.
    pub fn certificate(&self) -> &Certificate {
        &self.parts.certificate
    }

    /// The route that was taken, and why.
    pub fn plan(&self) -> &Plan {
        &self.parts.core.plan
    }

    /// What the user should know.
    pub fn warnings(&self) -> &[Warning] {
        &self.parts.core.warnings
    }

    /// Scores (n × k) of training or new samples; no target is needed.
    pub fn transform<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>> {
        self.parts.map.transform(&data.into())
    }

    /// Scores as they are made, in blocks of rows (· × k), for data larger than memory. Returns the
    /// number of rows.
    pub fn transform_blocks<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        sink: &mut (dyn FnMut(ArrayView2<T>) -> Result<()> + Send),
    ) -> Result<usize> {
        self.parts.map.transform_blocks(&data.into(), sink)
    }
}
