//! A fitted supervised PCA: immutable and complete.

use super::LinearMap;
use super::ModelCore;
use crate::data::{Dataset, Target};
use crate::dependence::Labels;
use crate::error::{Result, Warning};
use crate::linalg::dense::power_of_two;
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::solver::{Certificate, Convergence};
use ndarray::{Array2, ArrayView2};

/// What a model knows of the target it was fitted to.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetRecord {
    /// The label kernel: `delta`, `linear`, `gaussian` or `given`.
    pub kernel: String,
    /// γ of a Gaussian label kernel.
    pub gamma: Option<f64>,
    /// The classes, where the target is a class.
    pub classes: Option<Vec<String>>,
    /// The rank of the centred label kernel: how many directions the target can tell apart.
    pub rank: usize,
    /// Columns of the factor Δ that stood for the label kernel.
    pub factor_width: usize,
    /// Share of the label kernel's trace that the factor leaves out.
    pub trace_error: f64,
    /// Training samples with a label.
    pub labelled: usize,
}

impl TargetRecord {
    pub(crate) fn new(target: &Target, labels: &Labels) -> TargetRecord {
        TargetRecord {
            kernel: labels.kernel.into(),
            gamma: labels.gamma,
            classes: target.class_names().map(<[String]>::to_vec),
            rank: labels.rank,
            factor_width: labels.factor.width(),
            trace_error: labels.left,
            labelled: labels.labelled,
        }
    }
}

/// Everything a fit found out, in units of 2^exponent of the standardised data.
#[derive(Debug)]
pub(crate) struct SupervisedParts {
    pub core: ModelCore,
    pub map: LinearMap,
    /// k shares of the operator's trace, descending.
    pub values: Vec<f64>,
    /// k contributions to HSIC, and the whole.
    pub hsic: Vec<f64>,
    pub total_hsic: f64,
    /// k variances, in no order, and the total.
    pub variances: Vec<f64>,
    pub total: f64,
    pub center: bool,
    pub supervision: f64,
    pub target: TargetRecord,
    pub certificate: Certificate,
    pub convergence: Convergence,
    pub tolerance: f64,
}

/// A fitted supervised PCA. See [`SupervisedPca`](crate::SupervisedPca) for how to make one.
#[derive(Debug)]
pub struct SupervisedPcaModel {
    parts: SupervisedParts,
    mean: Vec<f64>,
}

impl SupervisedPcaModel {
    pub(crate) fn new(mut parts: SupervisedParts) -> Self {
        parts.core.judge(&parts.certificate, parts.tolerance);
        Self::assemble(parts)
    }

    /// The model of these parts, as they are.
    pub(super) fn assemble(parts: SupervisedParts) -> Self {
        SupervisedPcaModel { mean: parts.map.scaler.true_mean(), parts }
    }

    pub(super) fn parts(&self) -> &SupervisedParts {
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

    /// The number of components, k.
    pub fn n_components(&self) -> usize {
        self.parts.map.n_components()
    }

    /// The number of features, d.
    pub fn n_features(&self) -> usize {
        self.parts.map.components.ncols()
    }

    /// The number of training samples, or the sum of their weights.
    pub fn n_samples(&self) -> f64 {
        self.parts.core.weight()
    }

    /// Components that depend on the target (or, with supervision below 1, vary); those after them
    /// are null.
    pub fn rank(&self) -> usize {
        self.parts.map.rank
    }

    /// The components (k × d): orthonormal rows, the largest eigenvalue first.
    pub fn components(&self) -> ArrayView2<'_, f64> {
        self.parts.map.components.view()
    }

    /// Each component's share of the trace of the operator (k), descending: with supervision 1 its
    /// share of HSIC, with supervision 0 its share of the variance.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.parts.values
    }

    /// What each component carries of [`SupervisedPcaModel::total_hsic`] (k):
    /// `uᵀ Xᵀ H K_y H X u / (n − 1)²`.
    pub fn hsic(&self) -> Vec<f64> {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        self.parts.hsic.iter().map(|h| h * unit * unit).collect()
    }

    /// HSIC between the (standardised) features under a linear kernel and the target:
    /// `tr(Xᵀ H K_y H X) / (n − 1)²`.
    pub fn total_hsic(&self) -> f64 {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        self.parts.total_hsic * unit * unit
    }

    /// Each component's share of HSIC (k); 0 where there is none.
    pub fn hsic_ratio(&self) -> Vec<f64> {
        ratios(&self.parts.hsic, self.parts.total_hsic)
    }

    /// The variance of the scores of each component (k), divisor n − 1, not descending in general.
    /// Scores of different components may be correlated.
    pub fn explained_variance(&self) -> Vec<f64> {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        self.parts.variances.iter().map(|v| v * unit * unit).collect()
    }

    /// The loadings (d × k): components times the standard deviation of their scores, a number also where its
    /// square is not.
    pub fn loadings(&self) -> Array2<f64> {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        let mut loadings = self.components().t().to_owned();
        for (mut column, v) in loadings.columns_mut().into_iter().zip(&self.parts.variances) {
            column *= v.sqrt() * unit;
        }
        loadings
    }

    /// Each component's share of the total variance (k). Components are orthonormal, so that shares
    /// add up.
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        ratios(&self.parts.variances, self.parts.total)
    }

    /// The total variance, tr S.
    pub fn total_variance(&self) -> f64 {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        self.parts.total * unit * unit
    }

    /// The mean subtracted from every feature (d); 0 in the uncentred form.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// What every feature was divided by (d), where standardised.
    pub fn scale(&self) -> Option<&[f64]> {
        self.parts.map.scaler.scale.as_deref()
    }

    /// The dial: 0 is PCA, 1 supervised PCA.
    pub fn supervision(&self) -> f64 {
        self.parts.supervision
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

    fn factors(&self) -> Vec<f64> {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        let rank = self.parts.map.rank;
        (0..self.n_components()).map(|j| if j < rank { unit } else { 0.0 }).collect()
    }

    /// Scores (n × k) of training or new samples; no target is needed.
    pub fn transform<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>> {
        self.parts.map.transform(&data.into(), &self.factors())
    }

    /// Scores as they are made, in blocks of rows (· × k), for data larger than memory. Returns the
    /// number of rows.
    pub fn transform_blocks<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        sink: &mut (dyn FnMut(ArrayView2<T>) -> Result<()> + Send),
    ) -> Result<usize> {
        self.parts.map.transform_blocks(&data.into(), &self.factors(), sink)
    }

    /// Samples (n × d) from scores (n × k).
    pub fn inverse_transform<T: Scalar>(&self, scores: ArrayView2<T>) -> Result<Array2<T>> {
        self.parts.map.inverse_transform(scores, &self.factors())
    }

    /// The round trip: what the components keep of each sample (n × d),
    /// `U Uᵀ (x − μ) + μ` (without μ in the uncentred form).
    pub fn reconstruct<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>> {
        self.inverse_transform(self.transform(data)?.view())
    }
}

pub(super) fn ratios(values: &[f64], total: f64) -> Vec<f64> {
    values.iter().map(|v| if total > 0.0 { (v / total).min(1.0) } else { 0.0 }).collect()
}
