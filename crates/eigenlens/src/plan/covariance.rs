//! The routes to the leading pairs of a covariance, and what they cost.

use super::{Candidate, Demand, Plan, Route, cheapest, most_within};
use crate::data::DataShape;
use crate::error::{Error, Hint, Result};
use crate::n_components::{NComponents, Need};
use crate::options::{Options, Solver};
use crate::passes::{has_gram_apply, reading_memory, reduction_block_rows};
use crate::solver::{dense, krylov, tsqr};

/// What a plan is made from.
#[derive(Clone, Debug)]
pub(crate) struct CovarianceTask<'a> {
    pub shape: &'a DataShape,
    pub n_components: &'a NComponents,
    /// So many components are known to be needed at least, where their number depends on the data.
    pub at_least: usize,
    pub solver: Solver,
    pub options: &'a Options,
    pub beside: Beside,
}

/// Bytes that whoever asks for a fit allocates itself, within the same budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beside {
    /// Held from before the fit until after it.
    pub held: u64,
    /// Allocated at the peak of what follows, while the fit's model is held.
    pub afterwards: u64,
}

impl CovarianceTask<'_> {
    /// The number of samples, where known.
    pub fn n(&self) -> Option<usize> {
        self.shape.n_samples
    }

    /// The number of features.
    pub fn d(&self) -> usize {
        self.shape.n_features
    }

    /// The most components that there may be.
    pub fn limit(&self) -> usize {
        self.n().unwrap_or(usize::MAX).min(self.d())
    }

    pub fn sparse(&self) -> bool {
        self.shape.n_stored.is_some()
    }

    /// The number of components, as far as it is known before the spectrum.
    pub fn likely_k(&self) -> usize {
        let limit = self.limit();
        self.n_components.likely(limit).max(self.at_least.min(limit))
    }

    /// Seconds on a nominal machine: only their order matters.
    fn cost(&self, route: Route) -> f64 {
        let n = self.n().unwrap_or(1 << 24) as f64;
        let d = self.d() as f64;
        let k = self.likely_k() as f64;
        let eigen = |size: f64| {
            if dense::prefers_krylov(size as usize, k as usize) {
                (20.0 + 0.4 * k) * size * size * 16.0 / 2e10
            } else {
                2e-10 * size * size * size
            }
        };
        // Multiply-adds per second: products of panels, and of a thin block with the data.
        let panel = if self.shape.is_f32 { 1e11 } else { 5.5e10 };
        let narrow = route == Route::Iterative && !self.sparse() && has_gram_apply(self.d());
        let thin = if narrow { 2.3e10 } else { 1.6e10 };
        let thin_pass =
            n * d * 16.0 * if self.sparse() { self.shape.density() * 4.0 } else { 1.0 } / thin;
        match route {
            Route::Covariance => n * d * d / 2.0 / panel + eigen(d),
            Route::Dual => n * n * d / 2.0 / 5.5e10 + eigen(n) + n * d * k / 3e10,
            Route::Svd => {
                let short = n.min(d);
                2.0 * n * d * short / 1e10 + 1e-9 * short.powi(3)
            }
            Route::Iterative | Route::Randomized => {
                let likely = likely_applications(self.likely_k()) as f64;
                // The basis costs too: every block is made orthogonal to it, and a few times all pairs
                // of its projection are found.
                let basis = krylov::basis_columns(self.likely_k(), self.d()) as f64;
                likely * (thin_pass + 32.0 * d * basis / 4e10) + 4.0 * 2e-10 * basis.powi(3)
            }
            // Methods that iterate and kernel methods have plans of their own.
            _ => eigen(d),
        }
    }

    /// Products with the data after which another route would have been cheaper: where a flat
    /// spectrum makes an iteration crawl, this much is lost and no more.
    pub fn most_applications(&self) -> usize {
        let budget = self.options.memory.unwrap_or(u64::MAX);
        let likely = likely_applications(self.likely_k()) as f64;
        let one = self.cost(Route::Iterative) / likely;
        [Route::Covariance, Route::Dual]
            .into_iter()
            .filter(|&r| {
                self.solver == Solver::Auto && self.feasible(r) && self.memory(r) <= budget
            })
            .map(|r| (self.cost(r) / one).max(1.4 * likely) as usize)
            .min()
            .unwrap_or(usize::MAX)
    }

    /// Bytes allocated at the peak, beyond data and scores, with as many components as are likely.
    pub fn memory(&self, route: Route) -> u64 {
        self.memory_with(route, self.likely_k())
    }

    /// The most components that a route affords within the budget, up to `limit`.
    pub fn most_components(&self, route: Route, limit: usize) -> usize {
        most_within(self.options.memory, limit, |k| self.memory_with(route, k))
    }

    /// Bytes allocated at the peak, beyond data and scores, with `n_components`.
    pub fn memory_with(&self, route: Route, n_components: usize) -> u64 {
        let d = self.d() as u64;
        let n = self.n().unwrap_or(usize::MAX) as u64;
        let k = n_components as u64 + 1 + 8;
        let padded = k.next_multiple_of(8);
        let element = self.shape.element_bytes();
        let block_rows = reduction_block_rows(self.d()) as u64;
        let reading = reading_memory(self.n(), self.d(), element, self.shape.streamed)
            / if self.sparse() { 8 } else { 1 };
        // The last pass: scores, residuals, probes.
        let certificate = if d * padded * 8 <= 1 << 20 { 18 } else { 6 } * d * padded * 8
            + 2 * block_rows * padded * 8
            + (32 << 20) / 8
            // What an iteration believes is probed beside what it may have missed.
            + if route == Route::Iterative { (18 * 2 + 6) * d * 8 * 8 } else { 0 }
            + if self.sparse() { 9 * d * padded * 8 } else { 0 };
        // The model: components, loadings' worth of copies while they are made.
        let model = 6 * d * k * 8;
        let eigen = |size: u64| {
            if dense::prefers_krylov(size as usize, n_components) {
                let basis = krylov::basis_columns(n_components, size as usize) as u64 + 16;
                2 * size * basis * 8 + 4 * basis * basis * 8
            } else {
                0
            }
            .max(6 * size * size * 8 + (1 << 20))
        };
        let work = match route {
            Route::Covariance => {
                let scatter = if d <= 336 {
                    33 * d * d * 8
                } else {
                    4 * block_rows * (d + 48) * element + d * d * 8
                };
                scatter.max(2 * d * d * 8 + eigen(d)) + 2 * d * d * 8
            }
            Route::Dual => {
                2 * n.saturating_mul(n).saturating_mul(8)
                    + eigen(n.min(1 << 24))
                    + 16 * 128 * (n.min(1 << 24) + 48) * 8
            }
            Route::Svd => {
                tsqr::tall_memory(self.d().min(self.n().unwrap_or(self.d()))) + 2 * d * padded * 8
            }
            Route::Iterative => {
                let basis = krylov::basis_columns(n_components, self.d()) as u64 + 16;
                d * basis * 8 + d * padded * 8 * 2 + 6 * basis * basis * 8 + 24 * d * 8 * 8
            }
            Route::Randomized => {
                let extra = match self.solver {
                    Solver::Randomized { oversampling, .. } => oversampling as u64,
                    _ => 0,
                };
                let width = k.saturating_add(extra).min(d.max(k));
                8 * d * (width + 16) * 8
            }
            _ => 2 * d * d * 8 + eigen(d),
        };
        // Rules that look at data take a sample of at most a few million entries; eight draws at
        // once hold two copies each.
        let sample = match self.n_components {
            NComponents::Rule(rule) if rule.need() == Need::Data => {
                24 * 8 * n.saturating_mul(d).min(4_000_000 + d)
            }
            _ => 0,
        };
        let counts = 8 * self.shape.n_weights.unwrap_or(0) as u64;
        let Beside { held, afterwards } = self.beside;
        let peak = work.max(certificate).max(sample).max(afterwards);
        peak.saturating_add(model + reading + counts + (2 << 20)).saturating_add(held)
    }

    /// The routes that could be taken: the one asked for, or all that `Solver::Auto` knows.
    pub fn candidates(&self) -> Result<Vec<Candidate<'_>>> {
        let asked_for = match self.solver {
            Solver::Auto => {
                let routes = [Route::Covariance, Route::Dual, Route::Iterative].into_iter();
                return Ok(routes
                    .filter(|&r| self.feasible(r))
                    .map(|r| self.candidate(r))
                    .collect());
            }
            Solver::Covariance => Route::Covariance,
            Solver::Dual => Route::Dual,
            Solver::Svd => Route::Svd,
            Solver::Iterative => Route::Iterative,
            Solver::Randomized { .. } => Route::Randomized,
        };
        if !self.feasible(asked_for) {
            return Err(Error::Unsupported {
                what: format!("the {asked_for} route"),
                why: "does not work on these data (it needs them dense and in memory)",
                instead: Some(Hint::Set { option: "solver", value: "iterative".into() }),
            });
        }
        Ok(vec![Candidate { reason: "asked for".into(), ..self.candidate(asked_for) }])
    }

    pub fn candidate(&self, route: Route) -> Candidate<'_> {
        let shape = match (self.n(), self.d()) {
            (None, d) => format!("{d} features, samples not counted yet"),
            (Some(n), d) => format!("{n} × {d}"),
        };
        let reason = match route {
            Route::Covariance => format!("{shape}: the {0} × {0} covariance is cheap", self.d()),
            Route::Dual => format!("{shape}: fewer samples than features"),
            _ if self.sparse() => format!("{shape}, sparse: no matrix is formed"),
            _ => format!("{shape}: a few components of many"),
        };
        Candidate {
            cost: self.cost(route),
            second: Some(format!("{shape}: within the memory budget")),
            ..Candidate::new(route, reason, self.passes(route), move |k| self.memory_with(route, k))
        }
    }

    /// Passes over the data, as far as they can be counted beforehand.
    pub fn passes(&self, route: Route) -> usize {
        match route {
            Route::Covariance => 2,
            Route::Dual => 4,
            Route::Svd => 3,
            Route::Iterative => 14 + 3 * self.likely_k() / 10,
            Route::Randomized => match self.solver {
                Solver::Randomized { power_iterations, .. } => power_iterations.saturating_add(4),
                _ => 8,
            },
            _ => 0,
        }
    }

    /// What a plan must have room for.
    pub fn demand(&self) -> Demand<'_> {
        Demand {
            n_components: self.n_components,
            likely: self.likely_k(),
            limit: self.limit(),
            budget: self.options.memory,
        }
    }

    /// The cheapest route within the budget, or the one asked for.
    pub fn plan(&self) -> Result<Plan> {
        cheapest(&self.candidates()?, &self.demand())
    }

    pub fn feasible(&self, route: Route) -> bool {
        match route {
            Route::Dual => !self.shape.streamed && self.n().is_some(),
            Route::Svd => {
                self.n().is_none_or(|n| n >= self.d()) || !(self.shape.streamed || self.sparse())
            }
            _ => true,
        }
    }
}

/// Products with the data that an iteration for `k` components is likely to take.
pub(crate) fn likely_applications(k: usize) -> usize {
    12 + 3 * k / 10
}
