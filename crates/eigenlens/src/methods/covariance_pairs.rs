//! The leading pairs of a covariance, as the search for the number of components asks for them.

use super::fit::Fit;
use crate::data::Dataset;
use crate::error::Result;
use crate::n_components::{Head, LeadingPairs, Rule, Spectrum};
use crate::passes::Columns;
use crate::plan;
use crate::scalar::Scalar;
use crate::solver::covariance_solver::{CovarianceSolver, EigenPairs};
use crate::solver::krylov;
use ndarray::Array2;

/// A route to the covariance's pairs, as the number of components is asked of it.
pub(super) struct CovariancePairs<'a, 's, 'd, T: Scalar> {
    pub fit: &'a Fit,
    pub solver: &'a CovarianceSolver<'s, T>,
    pub data: &'a Dataset<'d, T>,
    pub columns: &'a Columns,
    pub n_varying: usize,
    pub total: f64,
    pub limit: usize,
    pub max_rank: usize,
    pub tolerance: f64,
    /// Products with the data after which another route would have been done.
    pub affordable: usize,
    pub room: usize,
    /// Products made so far.
    pub applications: usize,
}

impl<T: Scalar> CovariancePairs<'_, '_, '_, T> {
    fn ask(&mut self, k: usize, tolerance: f64) -> Result<EigenPairs> {
        let options = &self.fit.options;
        let pairs = self.solver.leading(k, self.limit, tolerance, self.affordable, options)?;
        self.applications += pairs.convergence.operator_applications;
        Ok(pairs)
    }
}

impl<T: Scalar> LeadingPairs for CovariancePairs<'_, '_, '_, T> {
    type Pairs = EigenPairs;

    fn leading(&mut self, k: usize) -> Result<EigenPairs> {
        // Krylov stops a little below the tolerance, so that rounding does not undo it.
        self.ask(k, 0.3 * self.tolerance)
    }

    fn head(&self, pairs: &EigenPairs, k: usize) -> Result<Head> {
        let values = match &pairs.spectrum {
            Some(all) => &all[..all.len().min(self.limit)],
            None => &pairs.values[..pairs.values.len().min(k)],
        };
        Ok(Head {
            values: values.to_vec(),
            total: self.total,
            rounding_floor: pairs.rounding_floor,
            max_rank: self.max_rank,
        })
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn room(&self) -> usize {
        self.room
    }

    fn first_value(&mut self) -> Result<Option<Head>> {
        const ROUGHLY: f64 = 0.05;
        let d = self.data.n_features();
        let iterates = matches!(self.solver, CovarianceSolver::Iterative { .. });
        if !iterates || krylov::basis_columns(1, d) == d {
            return Ok(None);
        }
        let first = self.ask(1, ROUGHLY)?;
        self.head(&first, 1).map(Some)
    }

    fn finds_all(&self, k: usize) -> bool {
        self.solver.finds_all(k)
    }

    fn too_slow(&self, k: usize) -> bool {
        // However many are wanted, more blocks than these span everything.
        let blocks = self.data.n_features().div_ceil(krylov::WIDTH);
        let likely = plan::likely_applications(k).min(blocks);
        self.applications + likely > self.affordable
    }

    fn check_rule(&self, _: Rule) -> Result<()> {
        Ok(())
    }

    fn spectrum<'h>(&'h self, head: &'h Head) -> Spectrum<'h> {
        Spectrum {
            values: &head.values,
            total_variance: head.total,
            n_samples: self.columns.weight,
            n_features: self.data.n_features(),
            n_varying: self.n_varying,
            max_rank: head.max_rank,
            centered: self.fit.center,
            standardized: self.fit.standardize,
        }
    }

    fn sample(&self) -> Result<Option<(Array2<f64>, usize)>> {
        self.data.sample_rows()
    }

    fn seed(&self) -> u64 {
        self.fit.options.seed
    }
}
