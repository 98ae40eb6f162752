//! What a fit will do, from the shapes of data and classes alone.

use super::classes::Classes;
use super::{Lda, Shrinkage, SingularWithin};
use crate::data::DataShape;
use crate::error::Result;
use crate::methods::fit::Fit;
use crate::n_components::NComponents;
use crate::passes::{lent_rows, reading_memory};
use crate::plan::{self, Beside, Candidate, CovarianceTask, Demand, Plan, Route};

/// What is decomposed.
pub(super) enum Steps {
    /// The spread of the features within classes.
    Direct,
    /// That of the leading principal components; these may take so much of the budget.
    Fisherfaces { room: Option<u64> },
}

/// What a plan is made from.
pub(super) struct Task<'a> {
    lda: &'a Lda,
    shape: &'a DataShape,
    /// The rows about their class, which are read as a stream.
    centered: DataShape,
    /// The samples of positive weight, n.
    n: usize,
    /// The classes, c.
    c: usize,
}

impl<'a> Task<'a> {
    pub fn new(lda: &'a Lda, shape: &'a DataShape, classes: &Classes) -> Task<'a> {
        let rows = classes.codes.len();
        let centered = DataShape {
            n_samples: Some(rows),
            n_stored: None,
            streamed: true,
            is_f32: false,
            ..shape.clone()
        };
        Task { lda, shape, centered, n: classes.rows, c: classes.len() }
    }

    pub fn plan(&self) -> Result<(Steps, Plan)> {
        let (d, limit) = (self.shape.n_features, (self.c - 1).min(self.shape.n_features));
        self.lda.n_components.check_limit(limit, self.n, d)?;
        if self.projects() {
            return self.fisherfaces();
        }
        let demand = Demand {
            n_components: &NComponents::All,
            likely: limit,
            limit,
            budget: self.lda.options.memory,
        };
        Ok((Steps::Direct, plan::cheapest(&self.candidates(), &demand)?))
    }

    /// Whether principal components come first.
    fn projects(&self) -> bool {
        self.lda.shrinkage.is_none()
            && self.lda.covariance.is_none()
            && self.lda.singular == SingularWithin::Fisherfaces
            && self.shape.n_features > self.n - self.c
    }

    fn fisherfaces(&self) -> Result<(Steps, Plan)> {
        let pca =
            Fit { options: self.lda.options.clone(), ..Fit::new("pca", NComponents::All, true) };
        let task = pca.task(self.shape);
        let own = self.projected_memory() + self.own_memory(1) + self.stored_memory();
        let candidates = task.candidates()?;
        let with_own = candidates.into_iter().map(|of_pca| {
            let memory = of_pca.memory;
            Candidate {
                reason: format!(
                    "{}, more features than the {} directions within {} classes: principal components first",
                    self.size(),
                    self.n - self.c,
                    self.c
                ),
                second: None,
                passes: of_pca.passes + 2,
                memory: Box::new(move |k| memory(k).saturating_add(own)),
                ..of_pca
            }
        });
        let plan = plan::cheapest(&with_own.collect::<Vec<_>>(), &task.demand())?;
        let room = self.lda.options.memory.map(|budget| budget.saturating_sub(own));
        Ok((Steps::Fisherfaces { room }, plan))
    }

    fn size(&self) -> String {
        format!("{} × {}", self.centered.n_samples.unwrap_or(0), self.shape.n_features)
    }

    /// The routes to the basis that whitens the spread within classes.
    fn candidates(&self) -> Vec<Candidate<'_>> {
        let (n, d) = (self.centered.n_samples.unwrap_or(0) as f64, self.shape.n_features as f64);
        let auto = self.lda.shrinkage == Some(Shrinkage::LedoitWolf);
        let means = if self.shape.n_stored.is_some() { 2 } else { 1 };
        let more = if auto { 2 * self.c } else { 0 } + usize::from(self.lda.store_covariance);
        let reason = |matrix: &str| format!("{}, {} classes: the {matrix}", self.size(), self.c);
        let covariance = Candidate {
            cost: n * d * d / 1e11 + 2e-9 * d * d * d,
            second: Some(format!("{}: within the memory budget", self.size())),
            ..Candidate::new(
                Route::Covariance,
                reason(&format!("{0} × {0} covariance within classes", self.shape.n_features)),
                means + 3 + more,
                |_| self.covariance_memory(),
            )
        };
        if auto || self.shape.streamed || self.lda.covariance.is_some() {
            return vec![covariance];
        }
        let strips = self.shape.n_features.div_ceil(256);
        let passes = if self.shape.n_stored.is_some() { 2 * strips } else { 2 };
        let dual = Candidate {
            cost: n * n * d / 3e10 + 2e-9 * n * n * n + n * n * d / 3e10,
            second: Some(format!("{}: within the memory budget", self.size())),
            ..Candidate::new(
                Route::Dual,
                reason("Gram matrix of samples about their class"),
                means + 3 + more + passes,
                |_| self.dual_memory(),
            )
        };
        vec![covariance, dual]
    }

    /// Bytes with the d × d covariance and all of its pairs.
    fn covariance_memory(&self) -> u64 {
        let d = self.shape.n_features as u64;
        let pca = self.task_of(&self.centered).memory_with(Route::Covariance, self.c);
        pca.saturating_add(6 * d * d * 8 + self.own_memory(self.shape.n_features))
            .saturating_add(self.stored_memory())
    }

    /// Bytes with the n × n Gram matrix and all of its pairs.
    fn dual_memory(&self) -> u64 {
        let (n, d) = (self.centered.n_samples.unwrap_or(0) as u64, self.shape.n_features as u64);
        let pairs = 12 * n * n * 8 + 4 * 256 * n * 8;
        let vectors = 6 * d * n.min(d) * 8;
        let counts = 32 * n;
        pairs + vectors + counts + self.own_memory(self.shape.n_features) + self.stored_memory()
    }

    /// Bytes of the scores of principal components and what is made of them.
    fn projected_memory(&self) -> u64 {
        let (n, p) = (self.centered.n_samples.unwrap_or(0), (self.n - self.c).max(1));
        let shape = DataShape { n_features: p, ..self.centered.clone() };
        let inner = self.task_of(&shape).memory_with(Route::Covariance, self.c);
        let (n, p, d) = (n as u64, p as u64, self.shape.n_features as u64);
        inner + 6 * p * p * 8 + 3 * n * p * 8 + 2 * p * d * 8 + self.own_memory(p as usize)
    }

    fn task_of<'s>(&'s self, shape: &'s DataShape) -> CovarianceTask<'s> {
        CovarianceTask {
            shape,
            n_components: &NComponents::All,
            at_least: 0,
            solver: crate::options::Solver::Covariance,
            options: &self.lda.options,
            beside: Beside::default(),
        }
    }

    /// Bytes of the covariance that the model keeps, and of making it.
    fn stored_memory(&self) -> u64 {
        let d = self.shape.n_features as u64;
        if self.lda.store_covariance { 40 * d * d * 8 } else { 0 }
    }

    /// What classes need beside the pairs: their means and products with them, rows about them, the model.
    fn own_memory(&self, width: usize) -> u64 {
        let (d, c) = (self.shape.n_features as u64, self.c as u64);
        let n = self.centered.n_samples.unwrap_or(0) as u64;
        let shape = self.shape;
        let product = d * c * 8;
        let first = if product <= 1 << 20 { 24 * product + 120 * d * 8 } else { 8 * product };
        let lent = (lent_rows(width) * width * 8) as u64;
        let reading = reading_memory(
            shape.n_samples,
            shape.n_features,
            shape.element_bytes(),
            shape.streamed,
        );
        let labels = 16 * n + 40 * shape.n_weights.unwrap_or(0) as u64;
        first + 16 * product + 60 * d * 8 + 2 * lent + reading + labels + (4 << 20)
    }
}
