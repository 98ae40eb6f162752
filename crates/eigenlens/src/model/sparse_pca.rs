//! A fitted sparse PCA: components that are neither orthogonal nor uncorrelated, and what that means.

use super::ModelCore;
use super::{LinearMap, SparsePath};
use crate::data::Dataset;
use crate::error::{Result, Warning};
use crate::linalg::dense::power_of_two;
use crate::passes::Scaler;
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::solver::Convergence;
use crate::sparse_search::{self, Proof, StoppedBy};
use ndarray::{Array2, ArrayView2};

/// How samples are projected onto components that are not orthogonal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Projection {
    /// `z = (B Bᵀ)⁺ B (x − μ)`: the coefficients with which the components come closest to x.
    #[default]
    LeastSquares,
    /// `z = B (x − μ)`: the scores whose variances are reported.
    Product,
}

impl Projection {
    /// The name on every surface.
    pub fn name(self) -> &'static str {
        match self {
            Projection::LeastSquares => "least-squares",
            Projection::Product => "product",
        }
    }
}

/// What is proven of one component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimality {
    /// The variance found, on the deflated covariance the component was sought on.
    pub value: f64,
    /// No vector of the same cardinality has more.
    pub upper_bound: f64,
    /// The proven gap `(upper bound − value) / upper bound`; 0 where it is rounding.
    pub gap: f64,
    /// Parts of the search tree that were looked at.
    pub nodes: usize,
    /// What ended the search before the proof was complete.
    pub stopped_by: Option<StoppedBy>,
}

impl Optimality {
    /// Bounds this close are equal but for rounding.
    const ROUNDING: f64 = 1e-9;

    /// What a search proved, in units of 2^exponent.
    pub(crate) fn new(proof: &Proof, exponent: i32) -> Optimality {
        let (value, upper_bound) = (proof.found.value, proof.upper_bound);
        let gap = (upper_bound - value) / upper_bound;
        let unit = power_of_two(exponent);
        Optimality {
            value: value * unit * unit,
            upper_bound: upper_bound * unit * unit,
            gap: if upper_bound <= 0.0 || gap < Optimality::ROUNDING { 0.0 } else { gap },
            nodes: proof.nodes,
            stopped_by: proof.stopped_by,
        }
    }

    /// Whether no better vector exists.
    pub fn is_proven(&self) -> bool {
        self.gap == 0.0
    }
}

/// Everything a fit found out, in units of 2^exponent of the standardised data.
#[derive(Clone, Debug)]
pub(crate) struct SparseParts {
    pub core: ModelCore,
    pub scaler: Scaler,
    /// k × d, unit rows, or 0 where a penalty left nothing.
    pub components: Array2<f64>,
    pub projection: Projection,
    /// The covariance of the scores `B S Bᵀ` (k × k).
    pub score_covariance: Array2<f64>,
    /// The variances of the first k plain components.
    pub plain: Vec<f64>,
    pub total: f64,
    pub center: bool,
    /// λ₁ of each component, where they were regressed.
    pub penalties: Option<Vec<f64>>,
    /// What a dictionary minimises, after each round; otherwise empty.
    pub objective: Vec<f64>,
    /// One for each component, where the exact search was asked for.
    pub optimality: Vec<Optimality>,
    pub path: Option<SparsePath>,
    pub convergence: Convergence,
    pub threads: Option<usize>,
}

/// A fitted sparse PCA. See [`SparsePca`](crate::SparsePca) for how to make one.
#[derive(Clone, Debug)]
pub struct SparsePcaModel {
    parts: SparseParts,
    /// `(B Bᵀ)⁺ B`, k × d.
    dual: Array2<f64>,
    explained_variance: Vec<f64>,
    /// In units of 2^exponent, as the parts are.
    adjusted: Vec<f64>,
    adjusted_variance: Vec<f64>,
    mean: Vec<f64>,
}

impl SparsePcaModel {
    pub(crate) fn new(parts: SparseParts) -> Result<Self> {
        let unit = power_of_two(parts.scaler.exponent);
        let scaled = |v: f64| v * unit * unit;
        let adjusted = sparse_search::adjusted_variance(parts.score_covariance.view());
        Ok(SparsePcaModel {
            dual: sparse_search::dual_frame(parts.components.view())?,
            explained_variance: parts.score_covariance.diag().iter().map(|v| scaled(*v)).collect(),
            adjusted_variance: adjusted.iter().map(|v| scaled(*v)).collect(),
            adjusted,
            mean: parts.scaler.true_mean(),
            parts,
        })
    }

    pub(super) fn parts(&self) -> &SparseParts {
        &self.parts
    }

    /// The adjusted variances (k) in squares of [`SparsePcaModel::unit`].
    pub(super) fn adjusted(&self) -> &[f64] {
        &self.adjusted
    }

    pub(super) fn unit(&self) -> f64 {
        power_of_two(self.parts.scaler.exponent)
    }

    /// The method that made the model.
    pub fn method(&self) -> &'static str {
        "sparse-pca"
    }

    /// The number of components, k.
    pub fn n_components(&self) -> usize {
        self.parts.components.nrows()
    }

    /// The number of features, d.
    pub fn n_features(&self) -> usize {
        self.parts.components.ncols()
    }

    /// The number of training samples, or the sum of their weights, where known.
    pub fn n_samples(&self) -> Option<f64> {
        self.parts.core.n_samples
    }

    /// The components B (k × d): unit rows, mostly zeros, not orthogonal; a row of zeros where a
    /// penalty left nothing. In the order in which they were found.
    pub fn components(&self) -> ArrayView2<'_, f64> {
        self.parts.components.view()
    }

    /// The number of non-zeros of each component (k).
    pub fn n_non_zeros(&self) -> Vec<usize> {
        let rows = self.parts.components.outer_iter();
        rows.map(|row| row.iter().filter(|v| **v != 0.0).count()).collect()
    }

    /// The variance along each component (k), `βᵀSβ`. Components share variance: these do not add up.
    pub fn explained_variance(&self) -> &[f64] {
        &self.explained_variance
    }

    /// The variance each component adds to those before it (k), by a QR factorisation of the scores
    /// (Zou, Hastie & Tibshirani 2006): these add up.
    pub fn adjusted_variance(&self) -> &[f64] {
        &self.adjusted_variance
    }

    /// The adjusted variance of each component as a share of the total (k); 0 where there is none.
    pub fn adjusted_variance_ratio(&self) -> Vec<f64> {
        self.shares(&self.adjusted)
    }

    /// The variance along each component as a share of the total (k); components share variance.
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        self.shares(&self.parts.score_covariance.diag().to_vec())
    }

    /// Variances in units of 2^exponent as shares of the total.
    fn shares(&self, variances: &[f64]) -> Vec<f64> {
        let total = self.parts.total;
        let share = |v: &f64| if total > 0.0 { (v / total).min(1.0) } else { 0.0 };
        variances.iter().map(share).collect()
    }

    /// The total variance, tr S.
    pub fn total_variance(&self) -> f64 {
        self.parts.total * self.unit() * self.unit()
    }

    /// The variances of the first k plain components: the most that any k directions explain.
    pub fn plain_variance(&self) -> Vec<f64> {
        let unit = self.unit();
        self.parts.plain.iter().map(|v| v * unit * unit).collect()
    }

    /// The share of what k plain components explain that sparsity gives up, between 0 and 1.
    pub fn variance_given_up(&self) -> f64 {
        let plain: f64 = self.parts.plain.iter().sum();
        let adjusted: f64 = self.adjusted.iter().sum();
        if plain > 0.0 { (1.0 - adjusted / plain).max(0.0) } else { 0.0 }
    }

    /// The inner products of the components (k × k), B Bᵀ: the identity were they orthogonal.
    pub fn component_products(&self) -> Array2<f64> {
        self.components().dot(&self.components().t())
    }

    /// The correlations of the scores (k × k); 0 beside a component without variance.
    pub fn score_correlations(&self) -> Array2<f64> {
        let v = &self.parts.score_covariance;
        Array2::from_shape_fn(v.dim(), |(i, j)| {
            let size = (v[[i, i]] * v[[j, j]]).sqrt();
            if i == j {
                f64::from(u8::from(size > 0.0))
            } else if size > 0.0 {
                (v[[i, j]] / size).clamp(-1.0, 1.0)
            } else {
                0.0
            }
        })
    }

    /// The loadings (d × k): components times the standard deviation of their scores.
    pub fn loadings(&self) -> Array2<f64> {
        let mut loadings = self.components().t().to_owned();
        let variances = self.parts.score_covariance.diag();
        for (mut column, v) in loadings.columns_mut().into_iter().zip(variances) {
            column *= v.sqrt() * self.unit();
        }
        loadings
    }

    /// What is proven of each component (k), where the exact search was asked for; otherwise empty.
    pub fn optimality(&self) -> &[Optimality] {
        &self.parts.optimality
    }

    /// λ₁ of each component (k), given or found, where they were regressed; λ of a dictionary.
    pub fn penalties(&self) -> Option<&[f64]> {
        self.parts.penalties.as_deref()
    }

    /// What a dictionary minimises, after each round; empty for other formulations.
    pub fn objective(&self) -> &[f64] {
        &self.parts.objective
    }

    /// The regularisation path, where one was asked for.
    pub fn path(&self) -> Option<&SparsePath> {
        self.parts.path.as_ref()
    }

    /// The mean subtracted from every feature (d); 0 without centring.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// What every feature was divided by (d), where standardised.
    pub fn scale(&self) -> Option<&[f64]> {
        self.parts.scaler.scale.as_deref()
    }

    /// The names of the features, where they had any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.parts.core.feature_names.as_deref()
    }

    /// How samples are projected.
    pub fn projection(&self) -> Projection {
        self.parts.projection
    }

    /// What the search did.
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

    /// The same model, transforming with this many threads (`None`: one for each core).
    pub fn with_threads(mut self, threads: Option<usize>) -> Self {
        self.use_threads(threads);
        self
    }

    pub(super) fn use_threads(&mut self, threads: Option<usize>) {
        self.parts.threads = threads;
    }

    /// The same model with another projection.
    pub fn with_projection(mut self, projection: Projection) -> Self {
        self.parts.projection = projection;
        self
    }

    /// Scores (n × k) of training or new samples, about the **training** mean, by the model's
    /// [`Projection`].
    pub fn transform<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>> {
        self.projector().transform(&data.into(), &self.factors())
    }

    /// Scores as they are made, in blocks of rows (· × k). Returns the number of rows.
    pub fn transform_blocks<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        sink: &mut (dyn FnMut(ArrayView2<T>) -> Result<()> + Send),
    ) -> Result<usize> {
        self.projector().transform_blocks(&data.into(), &self.factors(), sink)
    }

    /// Samples (n × d) from scores (n × k). Whichever projection made the scores, the way back is
    /// the one that makes the round trip an orthogonal projection onto the components' span.
    pub fn inverse_transform<T: Scalar>(&self, scores: ArrayView2<T>) -> Result<Array2<T>> {
        let back = match self.parts.projection {
            Projection::LeastSquares => &self.parts.components,
            Projection::Product => &self.dual,
        };
        self.map(back).inverse_transform(scores, &self.factors())
    }

    /// The round trip: what the components keep of each sample (n × d), the same for either
    /// projection.
    pub fn reconstruct<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>> {
        self.inverse_transform(self.transform(data)?.view())
    }

    fn factors(&self) -> Vec<f64> {
        vec![self.unit(); self.n_components()]
    }

    fn projector(&self) -> LinearMap {
        self.map(match self.parts.projection {
            Projection::LeastSquares => &self.dual,
            Projection::Product => &self.parts.components,
        })
    }

    fn map(&self, rows: &Array2<f64>) -> LinearMap {
        LinearMap {
            scaler: self.parts.scaler.clone(),
            components: rows.clone(),
            rank: rows.nrows(),
            threads: self.parts.threads,
        }
    }
}
