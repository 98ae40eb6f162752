//! Which way to the components of a kernel, and what it will cost.

use super::kernel_pca::{Approximation, KernelPca, KernelStorage};
use crate::data::{DataShape, reduction_block_rows};
use crate::error::{Error, Hint, Result};
use crate::kernel::{Arithmetic, Kernel, Points};
use crate::operator::KernelGram;
use crate::plan::{Plan, Route, most_within};
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
        let budget = self.fit.options.memory.unwrap_or(u64::MAX);
        let within = |plan: Plan| {
            if plan.peak_memory <= budget {
                return Ok(plan);
            }
            let (route, needed) = (format!("the {} route", plan.route), plan.peak_memory);
            Err(Error::Memory { route, needed, budget })
        };
        match self.fit.approximation {
            Approximation::Exact => within(self.exact("exact, as asked for")?),
            Approximation::Nystrom { .. } => within(self.nystrom("asked for".into())),
            Approximation::RandomFeatures { .. } => within(self.random_features()),
            Approximation::Subset { samples } => within(self.subset(samples)),
            Approximation::Auto => {
                let must = self.fit.kernel == Kernel::Precomputed;
                let Some(n) = self.n else {
                    return within(self.nystrom("samples not counted yet".into()));
                };
                let patient = self.exact_cost(n) <= PATIENCE;
                let exact = self.exact("exact");
                match exact {
                    Ok(plan) if must => within(plan),
                    Ok(plan) if patient && plan.peak_memory <= budget => Ok(plan),
                    _ => {
                        let why = if patient { "within the memory budget" } else { "many samples" };
                        within(self.nystrom(format!("{n} × {}: {why}", self.d)))
                    }
                }
            }
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

    fn exact(&self, why: &str) -> Result<Plan> {
        let Some(n) = self.n else {
            return Err(Error::Unsupported {
                what: "exact kernel PCA of samples that are not counted".into(),
                why: "cannot be planned",
                instead: Some(Hint::Set { option: "approximation", value: "nystrom".into() }),
            });
        };
        let budget = self.fit.options.memory.unwrap_or(u64::MAX);
        let matrix = KernelGram::stored_memory(n, self.arithmetic());
        let stored = self.memory(Route::KernelMatrix, n, self.likely_k());
        let keeps = match self.fit.storage {
            KernelStorage::Matrix => true,
            KernelStorage::Blocks => false,
            KernelStorage::Auto if self.fit.kernel == Kernel::Precomputed => false,
            KernelStorage::Auto => {
                stored <= budget && (self.fit.options.memory.is_some() || matrix <= MATRIX)
            }
        };
        let (route, what) = if keeps {
            (Route::KernelMatrix, "the kernel matrix is kept")
        } else {
            (Route::KernelBlocks, "the kernel matrix is not kept")
        };
        Ok(self.exact_plan(route, n, format!("{n} × {}: {why}, {what}", self.d)))
    }

    /// The plan of an exact route; where the data decide, there may be as many components as fit.
    fn exact_plan(&self, route: Route, n: usize, reason: String) -> Plan {
        let mut plan = Plan::new(route, reason, 3, self.memory(route, n, self.likely_k()));
        if self.fit.n_components.grows() {
            let most = self.memory(route, n, self.room(route, n));
            plan.peak_memory = most.max(plan.peak_memory);
        }
        plan
    }

    /// The plan that keeps no kernel matrix in place of one that has no room for enough components.
    pub fn leaner(&self, than: &Plan, n: usize, needed: u64) -> Option<Plan> {
        let left_out = KernelGram::stored_memory(n, self.arithmetic());
        let fits =
            self.fit.options.memory.is_some_and(|budget| needed.saturating_sub(left_out) <= budget);
        let may = than.route == Route::KernelMatrix && self.fit.storage == KernelStorage::Auto;
        let reason = format!("leaner than {}", than.route);
        (may && fits).then(|| self.exact_plan(Route::KernelBlocks, n, reason))
    }

    /// The most components that an exact route affords within the budget.
    pub fn room(&self, route: Route, n: usize) -> usize {
        most_within(self.fit.options.memory, n, |k| self.memory(route, n, k))
    }

    /// The error for more components than that.
    pub fn too_many(&self, route: Route, n: usize, k: usize) -> Error {
        Error::Memory {
            route: format!("the {route} route with {k} components"),
            needed: self.memory(route, n, k),
            budget: self.fit.options.memory.unwrap_or(u64::MAX),
        }
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
    pub fn candidates(&self, m: usize) -> usize {
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
        let candidates = self.candidates(m as usize).min(self.n.unwrap_or(usize::MAX)) as u64;
        let choice = candidates * (2 * d + m + 200) * 8;
        let scatter =
            if m <= 336 { 33 * m * m * 8 } else { 4 * 2048 * (m + 48) * 8 + 12 * m * m * 8 };
        let rows = 2 * 4096 * m * 8 + 2048 * m * 8;
        let model = m * (d + 4 * k) * 8;
        choice.max(scatter + rows + 20 * m * k * 8) + model + m * m * 24 + self.reading()
    }

    fn nystrom(&self, why: String) -> Plan {
        let m = self.landmarks();
        let reason = format!(
            "{why}; approximate, {m} landmarks, the part of the trace they miss is reported"
        );
        Plan::new(Route::Nystrom, reason, 5, self.factor_memory(m))
    }

    fn random_features(&self) -> Plan {
        let m = self.features();
        let reason = format!(
            "asked for; approximate, {m} features, kernel values are off by about {:.0e}",
            1.0 / (m as f64).sqrt()
        );
        Plan::new(Route::RandomFeatures, reason, 4, self.factor_memory(m))
    }

    fn subset(&self, samples: usize) -> Plan {
        let n = samples.min(self.n.unwrap_or(samples));
        let reason = format!("asked for; approximate, exact on {n} samples drawn at random");
        self.exact_plan(Route::Subset, n, reason)
    }
}
