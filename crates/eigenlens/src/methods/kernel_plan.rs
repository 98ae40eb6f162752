//! Which way to the components of a kernel, and what it will cost.

use super::kernel_pca::{Approximation, KernelPca, KernelStorage};
use crate::data::DataShape;
use crate::error::{Error, Hint, Result};
use crate::kernel::{Arithmetic, Kernel, Points};
use crate::operator::KernelGram;
use crate::passes::reduction_block_rows;
use crate::plan::{Candidate, Demand, Plan, Route, cheapest, most_within, too_many};
use crate::solver::krylov;

/// What a plan is made from.
pub(super) struct KernelTask<'a> {
    fit: &'a KernelPca,
    n: Option<usize>,
    d: usize,
    /// Stored entries of one row.
    row_entries: f64,
    f32: bool,
}

/// Without a budget the kernel matrix may take this much.
const MATRIX: u64 = 2 << 30;

/// Seconds on a nominal machine after which an exact answer is too dear for `auto`.
const PATIENCE: f64 = 120.0;

impl<'a> KernelTask<'a> {
    pub fn new(fit: &'a KernelPca, shape: &DataShape) -> KernelTask<'a> {
        let (n, d) = (shape.n_samples, shape.n_features);
        let rows = n.unwrap_or(1).max(1) as f64;
        KernelTask {
            fit,
            n,
            d,
            row_entries: shape.n_stored.map_or(d as f64, |s| 4.0 * s as f64 / rows),
            f32: shape.is_f32,
        }
    }

    /// Chooses a route within the budget, or checks the one asked for.
    pub fn plan(&self) -> Result<Plan> {
        cheapest(&self.candidates()?, &self.demand())
    }

    /// The routes, in the order of preference.
    fn candidates(&self) -> Result<Vec<Candidate<'_>>> {
        let exact = |why| Ok(self.exact(self.counted()?, why));
        match self.fit.approximation {
            Approximation::Exact => exact("exact, as asked for"),
            Approximation::Nystrom { .. } => Ok(vec![self.nystrom("asked for".into())]),
            Approximation::RandomFeatures { .. } => Ok(vec![self.random_features()]),
            Approximation::Subset { samples } => Ok(vec![self.subset(samples)]),
            Approximation::Auto if self.fit.kernel == Kernel::Precomputed => exact("exact"),
            Approximation::Auto => {
                let Some(n) = self.n else {
                    return Ok(vec![self.nystrom("samples not counted yet".into())]);
                };
                if self.exact_cost(n) > PATIENCE {
                    return Ok(vec![self.nystrom(format!("{n} × {}: many samples", self.d))]);
                }
                let why = format!("{n} × {}: within the memory budget", self.d);
                let mut candidates = self.exact(n, "exact");
                candidates.push(Candidate { cost: 2.0, ..self.nystrom(why) });
                Ok(candidates)
            }
        }
    }

    fn demand(&self) -> Demand<'_> {
        Demand {
            n_components: &self.fit.n_components,
            likely: self.likely_k(),
            limit: self.fit.limit(self.n.unwrap_or(usize::MAX)),
            budget: self.fit.options.memory,
        }
    }

    fn likely_k(&self) -> usize {
        self.fit.n_components.likely(self.fit.limit(self.n.unwrap_or(usize::MAX)))
    }

    /// Seconds on a nominal machine.
    fn exact_cost(&self, n: usize) -> f64 {
        let n = n as f64;
        let applications = 25.0 + self.likely_k() as f64;
        applications * n * n / 2.0 * (self.row_entries + 40.0) / 6e10
    }

    fn arithmetic(&self) -> Arithmetic {
        if self.f32 { Arithmetic::F32 } else { Arithmetic::F64 }
    }

    /// The number of samples, without which an exact route cannot be planned.
    fn counted(&self) -> Result<usize> {
        self.n.ok_or_else(|| Error::Unsupported {
            what: "exact kernel PCA of samples that are not counted".into(),
            why: "cannot be planned",
            instead: Some(Hint::Set { option: "approximation", value: "nystrom".into() }),
        })
    }

    /// With the kernel matrix kept, or else recomputed in blocks.
    fn exact(&self, n: usize, why: &str) -> Vec<Candidate<'_>> {
        let matrix = KernelGram::stored_memory(n, self.arithmetic());
        let worth_keeping = self.fit.options.memory.is_some() || matrix <= MATRIX;
        let (keeps, recomputes) = match self.fit.storage {
            KernelStorage::Matrix => (true, false),
            KernelStorage::Blocks => (false, true),
            KernelStorage::Auto if self.fit.kernel == Kernel::Precomputed => (false, true),
            KernelStorage::Auto => (worth_keeping, true),
        };
        let candidate = |route: Route, cost: f64, what: &str| {
            let reason = format!("{n} × {}: {why}, {what}", self.d);
            Candidate { cost, ..self.exact_candidate(route, n, reason) }
        };
        let kept = candidate(Route::KernelMatrix, 0.0, "the kernel matrix is kept");
        let blocks = candidate(Route::KernelBlocks, 1.0, "the kernel matrix is not kept");
        let both = [(keeps, kept), (recomputes, blocks)];
        both.into_iter().filter(|(may, _)| *may).map(|(_, candidate)| candidate).collect()
    }

    fn exact_candidate(&self, route: Route, n: usize, reason: String) -> Candidate<'_> {
        Candidate::new(route, reason, 3, move |k| self.memory(route, n, k))
    }

    /// The plan that keeps no kernel matrix in place of one that has no room for enough components.
    pub fn leaner(&self, than: &Plan, n: usize, needed: u64) -> Option<Plan> {
        let left_out = KernelGram::stored_memory(n, self.arithmetic());
        let fits = |budget| needed.saturating_sub(left_out) <= budget;
        let may = than.route == Route::KernelMatrix && self.fit.storage == KernelStorage::Auto;
        if !may || !self.fit.options.memory.is_some_and(fits) {
            return None;
        }
        let reason = format!("leaner than {}", than.route);
        cheapest(&[self.exact_candidate(Route::KernelBlocks, n, reason)], &self.demand()).ok()
    }

    /// The most components that an exact route affords within the budget.
    pub fn room(&self, route: Route, n: usize) -> usize {
        most_within(self.fit.options.memory, n, |k| self.memory(route, n, k))
    }

    /// The error for more components than that.
    pub fn too_many(&self, route: Route, n: usize, k: usize) -> Error {
        too_many(route, k, self.memory(route, n, k), self.fit.options.memory)
    }

    /// Whether an exact route may hold the whole kernel as a dense matrix for a while, to decompose it.
    pub fn has_room_for_dense(&self, route: Route, n: usize) -> bool {
        let square = 8 * (n as u64).saturating_mul(n as u64);
        let work = KernelGram::apply_memory(n, n).saturating_add(9 * square);
        let needed = self.points_memory(n).saturating_add(self.held(route, n)) + self.reading();
        self.fit.options.memory.is_none_or(|budget| needed.saturating_add(work) <= budget)
    }

    /// Bytes that an exact route of n samples and k components allocates at its peak.
    fn memory(&self, route: Route, n: usize, k: usize) -> u64 {
        self.exact_memory(n, k).saturating_add(self.held(route, n))
    }

    /// What a route holds beside points, basis and model: the kernel matrix, the rows of a subset.
    fn held(&self, route: Route, n: usize) -> u64 {
        match route {
            Route::KernelMatrix => KernelGram::stored_memory(n, self.arithmetic()),
            Route::Subset => {
                KernelGram::stored_memory(n, Arithmetic::F64) + n as u64 * self.d as u64 * 8
            }
            _ => 0,
        }
    }

    fn points_memory(&self, n: usize) -> u64 {
        Points::memory(n, self.d, Arithmetic::F64) * if self.f32 { 2 } else { 1 }
    }

    /// Everything but the matrix: points, basis, partial sums, model.
    fn exact_memory(&self, n: usize, k: usize) -> u64 {
        let points = self.points_memory(n);
        let basis = krylov::basis_columns(k, n) as u64 + 16;
        let vectors = 2 * n as u64 * basis * 8 + 6 * basis * basis * 8;
        let certificate =
            KernelGram::apply_memory(n, k + 10).saturating_add(8 * n as u64 * (k as u64 + 10) * 8);
        let work = vectors.saturating_add(KernelGram::apply_memory(n, 8)).max(certificate);
        points
            .saturating_add(work)
            .saturating_add(4 * n as u64 * k as u64 * 8)
            .saturating_add(self.reading())
    }

    /// Blocks of rows in flight, and the sample a bandwidth is found from.
    fn reading(&self) -> u64 {
        let d = self.d as u64;
        3 * d * 8 * reduction_block_rows(self.d) as u64
            + 32 * 128 * d * 8
            + 1000 * d * 8
            + (24 << 20)
    }

    /// Landmarks or features: what was asked for, or as many as the budget holds, up to `usual`.
    pub fn rank(&self, asked: Option<usize>, usual: usize) -> usize {
        if let Some(m) = asked {
            return m.min(self.n.unwrap_or(m)).max(2);
        }
        let budget = self.fit.options.memory.unwrap_or(u64::MAX);
        let mut m = usual.min(self.n.unwrap_or(usual)).max(2);
        while m > 64 && self.factor_memory(m) > budget {
            m = m * 7 / 8;
        }
        m
    }

    pub fn landmarks(&self) -> usize {
        let asked = match self.fit.approximation {
            Approximation::Nystrom { landmarks, .. } => landmarks,
            _ => None,
        };
        self.rank(asked, 512.max(10 * self.likely_k().min(400)))
    }

    pub fn features(&self) -> usize {
        match self.fit.approximation {
            // More features than samples are worth having: their error falls with their number.
            Approximation::RandomFeatures { features: Some(m), .. } => m.max(2),
            _ => self.rank(None, 1024.max(20 * self.likely_k().min(400))),
        }
    }

    /// Rows that landmarks are chosen among.
    pub fn landmark_candidates(&self, m: usize) -> usize {
        // The factor of the candidates may take 128 MiB and their rows as much; less under a budget.
        let budget = self.fit.options.memory.unwrap_or(u64::MAX);
        let entries = (budget / 64).clamp(1 << 20, 16 << 20) as usize;
        (entries / m.max(1)).min(entries / self.d.max(1)).max(2 * m)
    }

    /// PCA on a factor of m columns: its scatter, eigenvectors, and rows on the way.
    fn factor_memory(&self, m: usize) -> u64 {
        let (m, d) = (m as u64, self.d as u64);
        // As many as there are landmarks or features may be needed where the data decide.
        let most = if self.fit.n_components.grows() { m as usize } else { self.likely_k() };
        let k = most.min(m as usize) as u64 + 9;
        let candidates =
            self.landmark_candidates(m as usize).min(self.n.unwrap_or(usize::MAX)) as u64;
        let choice = candidates * (2 * d + m + 200) * 8;
        let scatter =
            if m <= 336 { 33 * m * m * 8 } else { 4 * 2048 * (m + 48) * 8 + 12 * m * m * 8 };
        let rows = 2 * 4096 * m * 8 + 2048 * m * 8;
        let model = m * (d + 4 * k) * 8;
        choice.max(scatter + rows + 20 * m * k * 8) + model + m * m * 24 + self.reading()
    }

    fn nystrom(&self, why: String) -> Candidate<'_> {
        let m = self.landmarks();
        let reason = format!(
            "{why}; approximate, {m} landmarks, the part of the trace they miss is reported"
        );
        Candidate::new(Route::Nystrom, reason, 5, move |_| self.factor_memory(m))
    }

    fn random_features(&self) -> Candidate<'_> {
        let m = self.features();
        let reason = format!(
            "asked for; approximate, {m} features, kernel values are off by about {:.0e}",
            1.0 / (m as f64).sqrt()
        );
        Candidate::new(Route::RandomFeatures, reason, 4, move |_| self.factor_memory(m))
    }

    fn subset(&self, samples: usize) -> Candidate<'_> {
        let n = samples.min(self.n.unwrap_or(samples));
        let reason = format!("asked for; approximate, exact on {n} samples drawn at random");
        self.exact_candidate(Route::Subset, n, reason)
    }
}
