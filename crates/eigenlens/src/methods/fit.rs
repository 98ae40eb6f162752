//! The fit that PCA and latent semantic analysis share: plan, decompose, certify, and, where the
//! certificate is not good enough, once more on a more careful route.

use super::certify::Certifier;
use super::covariance_pairs::CovariancePairs;
use super::em::EmOptions;
use super::fit_warnings::{mind_seen_scores, score_warnings, warn};
use super::from_matrix::{self, GivenCovariance};
use crate::data::{DataShape, Dataset, Missing, compiled_here};
use crate::em::Observer;
use crate::error::{Error, Result, Warning};
use crate::linalg::{gemm, pool, random};
use crate::model::ModelCore;
use crate::model::{Divisor, LinearMap, PcaModel, PcaParts, factors};
use crate::n_components::{NComponents, Resolved, resolve};
use crate::operator::FeatureGram;
use crate::options::{Options, Solver};
use crate::passes::{Columns, Moments, RowGrid, Scaler, ScoreMoments, Scores, Standardized};
use crate::plan::{self, Beside, CovarianceTask, Plan, Route};
use crate::scalar::{Scalar, typed};
use crate::solver::certificate::Certificate;
use crate::solver::covariance_solver::{CovarianceSolver, EigenPairs};
use crate::solver::finish;
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// What PCA and LSA are asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    pub method: &'static str,
    pub n_components: NComponents,
    pub center: bool,
    pub standardize: bool,
    pub whiten: bool,
    pub divisor: Divisor,
    /// The table is a covariance matrix.
    pub covariance: Option<GivenCovariance>,
    pub solver: Solver,
    pub options: Options,
    /// What the caller allocates beside the fit: part of the plan.
    pub beside: Beside,
}

typed!(WithScores, T => Result<(PcaModel, Array2<T>)>);

impl Fit {
    pub fn new(method: &'static str, n_components: NComponents, center: bool) -> Fit {
        Fit {
            method,
            n_components,
            center,
            standardize: false,
            whiten: false,
            divisor: Divisor::Unbiased,
            covariance: None,
            solver: Solver::Auto,
            options: Options::default(),
            beside: Beside::default(),
        }
    }

    pub fn plan(&self, shape: &DataShape) -> Result<Plan> {
        if self.covariance.is_some() {
            return from_matrix::plan_table(shape, &self.options);
        }
        self.check(shape)?;
        if shape.missing == Missing::Em {
            return self.plan_em(shape);
        }
        self.task(shape).plan()
    }

    /// Fits, and returns the training scores where they are wanted (else an empty matrix).
    pub fn run<T: Scalar>(
        &self,
        data: &Dataset<T>,
        want_scores: bool,
    ) -> Result<(PcaModel, Array2<T>)> {
        compiled_here!(Fit, self.run_typed(data, want_scores: bool) -> WithScores of T)
    }

    /// The model alone; `observer` is told of every step where missing entries are integrated out.
    pub fn run_observed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        observer: &mut Observer,
    ) -> Result<PcaModel> {
        compiled_here!(Fit, self.observed_typed(data, observer: &mut Observer) -> Result<PcaModel>)
    }

    fn observed_typed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        observer: &mut Observer,
    ) -> Result<PcaModel> {
        if data.missing() != Missing::Em || self.covariance.is_some() {
            return Ok(self.run(data, false)?.0);
        }
        match self.run_em(data, &EmOptions::default(), observer)? {
            Some(found) => Ok(found.body),
            None => Ok(self.run_complete(&data.clone().with_missing(Missing::Error), false)?.0),
        }
    }

    fn run_typed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        want_scores: bool,
    ) -> Result<(PcaModel, Array2<T>)> {
        if let Some(given) = self.covariance {
            return from_matrix::from_table(self, data, given, want_scores);
        }
        match data.missing() {
            Missing::Error => self.run_complete(data, want_scores),
            Missing::Em => {
                let found =
                    self.run_em(data, &EmOptions::default(), &mut |_| ControlFlow::Continue(()))?;
                let Some(found) = found else {
                    return self
                        .run_complete(&data.clone().with_missing(Missing::Error), want_scores);
                };
                let scores =
                    if want_scores { found.body.transform(data)? } else { empty(&found.body) };
                Ok((found.body, scores))
            }
            _ => {
                let resolved = data.resolve_missing(&self.options)?;
                let whole = resolved.dataset();
                let Some(missing_report) = resolved.missing_report() else {
                    return self.run_complete(&whole, want_scores);
                };
                let columns = data.missing() == Missing::DropColumns;
                let (mut model, mut scores) = self.run_complete(&whole, want_scores && columns)?;
                model.set_missing(Some(missing_report.clone()));
                if want_scores && !columns {
                    scores = model.transform(data)?;
                }
                Ok((model, scores))
            }
        }
    }

    /// Fits data without missing entries: by the planned route, and where its answer is not good enough once more
    /// by a more careful one.
    fn run_complete<T: Scalar>(
        &self,
        data: &Dataset<T>,
        want_scores: bool,
    ) -> Result<(PcaModel, Array2<T>)> {
        let shape = data.shape();
        let plan = self.plan(&shape)?.reserved()?;
        pool::run_sized(self.options.threads, multiplications(&shape), || {
            let (why, careful) = match self.fit_by_route(data, &plan, want_scores, false)? {
                RouteOutcome::GivenUp { why, next } => (why, next),
                RouteOutcome::Fitted(first) => {
                    let why = self.too_coarse(&first);
                    match why.and_then(|why| {
                        Some((why, self.next_route(&shape, plan.route, first.rows, 0)?))
                    }) {
                        Some(again) => again,
                        None => return Ok((first.model, first.scores)),
                    }
                }
            };
            let escalated = Warning::Escalated {
                from: plan.route.to_string(),
                to: careful.route.to_string(),
                why,
            };
            let RouteOutcome::Fitted(mut second) =
                self.fit_by_route(data, &careful, want_scores, true)?
            else {
                return Err(Error::Internal("a careful route was given up".into()));
            };
            second.model.add_warning(escalated);
            Ok((second.model, second.scores))
        })?
    }

    /// One route from beginning to end; the `last` one is not given up.
    fn fit_by_route<T: Scalar>(
        &self,
        data: &Dataset<T>,
        plan: &Plan,
        want_scores: bool,
        last: bool,
    ) -> Result<RouteOutcome<T>> {
        // 1. Means and variances; centring and scaling are applied in passing, never stored.
        let mut grid = RowGrid::new(data)?;
        let (first, scatter) = self.first_pass(&mut grid, plan.route)?;
        let standardized = || Standardized { grid: &grid, scaler: &first.scaler };
        // 2. The leading pairs of the covariance, by the planned route.
        let solver = self.covariance_solver(plan.route, standardized(), &first.columns, scatter)?;
        let mut found = match self.leading_pairs(data, plan, &first, &solver, last)? {
            Search::Found(found) => *found,
            Search::GivenUp { why, next } => return Ok(RouteOutcome::GivenUp { why, next }),
        };
        // 3. What is rounding becomes 0; order, sign, null directions.
        let rank = null_below_rounding(&mut found.pairs, found.k, first.max_rank);
        let (values, components) = ordered(&found.pairs, found.k, rank, T::SIGN_TIE)?;
        let (scaler, threads) = (first.scaler.clone(), self.options.threads);
        let map = LinearMap { scaler, components, rank, threads };
        // 4. Scores and certificate, in one pass over the data.
        let certifier = Certifier {
            map: &map,
            values: &values,
            pairs: &found.pairs,
            rank,
            variances: &first.variances,
            total: first.total,
            rows: first.columns.rows,
            divisor: first.columns.weight - 1.0,
            tolerance: self.tolerance::<T>(),
            seed: random::seed_for(self.options.seed, grid.fingerprint()),
        };
        let mut scores = want_scores
            .then(|| {
                let factors = factors(
                    &values,
                    self.whiten.then(|| self.divisor.factor(Some(first.columns.weight))),
                    first.scaler.exponent,
                );
                Scores::gather(factors, grid.n_rows().unwrap_or(0))
            })
            .transpose()?;
        let mut moments = ScoreMoments::new(found.k);
        let certificate =
            certifier.certify(&standardized(), &solver, scores.as_mut(), &mut moments)?;
        drop(solver);
        // 5. A model: the linear map, and what is known about it.
        let warnings = self.warnings(data, &grid, &first, &values, &found, rank, &moments);
        let scores =
            scores.map_or_else(|| Ok(Array2::default((0, found.k))), Scores::into_array)?;
        let below_rounding = rank < found.k.min(first.max_rank) && first.total > 0.0;
        let rows = first.columns.rows;
        let model = self.model(data, plan, first, found, map, values, certificate, warnings);
        Ok(RouteOutcome::Fitted(Box::new(Fitted { model, scores, below_rounding, rows })))
    }

    /// Means, variances and the standardisation; on the covariance route with the scatter (d × d).
    fn first_pass<T: Scalar>(
        &self,
        grid: &mut RowGrid<T>,
        route: Route,
    ) -> Result<(FirstPass, Option<Array2<f64>>)> {
        let (columns, scatter) = if route == Route::Covariance {
            // What is divided by its standard deviation needs it to the last digit.
            grid.exact_squares = self.standardize && T::EPSILON > f64::EPSILON;
            let moments = Moments::of_grid(grid)?;
            (moments.columns, Some(moments.scatter))
        } else {
            (Columns::of(grid)?, None)
        };
        let scaler = Scaler::new::<T>(&columns, grid.exponents(), self.center, self.standardize);
        let variances = standardized_variances(&columns, &scaler, self.center);
        let first = FirstPass {
            total: variances.iter().sum(),
            limit: self.limit(&columns, variances.len())?,
            max_rank: max_rank(&columns, &variances, self.center),
            columns,
            scaler,
            variances,
        };
        Ok((first, scatter))
    }

    /// As many pairs as are asked for, or another route that has room for them or is done sooner.
    fn leading_pairs<T: Scalar>(
        &self,
        data: &Dataset<T>,
        plan: &Plan,
        first: &FirstPass,
        solver: &CovarianceSolver<T>,
        last: bool,
    ) -> Result<Search> {
        let shape = data.shape();
        let task = self.task(&shape);
        let next = |at_least: usize| match last {
            true => None,
            false => self.next_route(&shape, plan.route, first.columns.rows, at_least),
        };
        let sooner = next(0).filter(|_| plan.route == Route::Iterative);
        let mut covariance_pairs = CovariancePairs {
            fit: self,
            solver,
            data,
            columns: &first.columns,
            n_varying: n_varying(&first.variances),
            total: first.total,
            limit: first.limit,
            max_rank: first.max_rank,
            tolerance: self.tolerance::<T>(),
            affordable: sooner.as_ref().map_or(usize::MAX, |_| task.most_applications()),
            room: task.most_components(plan.route, first.limit),
            applications: 0,
        };
        let mut notes = Vec::new();
        let too_slow =
            |next| Ok(Search::GivenUp { why: "the iteration would take longer".into(), next });
        match resolve(&self.n_components, &mut covariance_pairs, &mut notes)? {
            Resolved::Found { k, asked, pairs } => match sooner {
                Some(next) if !pairs.convergence.converged => too_slow(next),
                _ => Ok(Search::Found(Box::new(FoundPairs { k, asked, pairs, notes }))),
            },
            Resolved::TooMany { at_least } => match next(at_least) {
                Some(next) => {
                    let why = format!("at least {at_least} components are needed");
                    Ok(Search::GivenUp { why, next })
                }
                None => {
                    let needed = task.memory_with(plan.route, at_least);
                    Err(plan::too_many(plan.route, at_least, needed, self.options.memory))
                }
            },
            Resolved::TooSlow => match sooner {
                Some(next) => too_slow(next),
                None => Err(Error::Internal("an iteration that was not begun".into())),
            },
        }
    }

    /// What the user should know.
    #[expect(clippy::too_many_arguments)]
    fn warnings<T: Scalar>(
        &self,
        data: &Dataset<T>,
        grid: &RowGrid<T>,
        first: &FirstPass,
        values: &[f64],
        found: &FoundPairs,
        rank: usize,
        moments: &ScoreMoments,
    ) -> Vec<Warning> {
        let FirstPass { columns, scaler, variances, .. } = first;
        let mut warnings = warn::<T>(data, columns, scaler, variances, values, rank, found.k, self);
        mind_seen_scores::<T>(&mut warnings, moments, grid.counts(), values, scaler);
        warnings.extend(score_warnings(moments, columns.weight, rank, self.center));
        warnings.extend(found.notes.iter().cloned());
        warnings
    }

    #[expect(clippy::too_many_arguments)]
    fn model<T: Scalar>(
        &self,
        data: &Dataset<T>,
        plan: &Plan,
        first: FirstPass,
        found: FoundPairs,
        map: LinearMap,
        values: Vec<f64>,
        certificate: Certificate,
        warnings: Vec<Warning>,
    ) -> PcaModel {
        let shape = data.shape();
        let FoundPairs { k, asked, pairs, .. } = found;
        let needed = self.task(&shape).memory_with(plan.route, asked);
        PcaModel::new(PcaParts {
            core: ModelCore {
                method: self.method,
                n_samples: Some(first.columns.weight),
                feature_names: data.feature_names().map(<[String]>::to_vec),
                plan: Plan::new(plan.route, plan.reason.clone(), plan.passes, needed),
                warnings,
                missing: None,
            },
            map,
            values,
            total: first.total,
            column_variances: first.variances,
            spectrum: pairs.spectrum,
            next_value: pairs.values.get(k).copied(),
            center: self.center,
            whiten: self.whiten,
            divisor: self.divisor,
            certificate,
            convergence: pairs.convergence,
            tolerance: self.tolerance::<T>(),
        })
    }

    /// The route's matrix or operator.
    fn covariance_solver<'a, T: Scalar>(
        &self,
        route: Route,
        data: Standardized<'a, T>,
        columns: &Columns,
        scatter: Option<Array2<f64>>,
    ) -> Result<CovarianceSolver<'a, T>> {
        let divisor = columns.weight - 1.0;
        Ok(match (route, self.solver) {
            (Route::Covariance, _) => CovarianceSolver::Covariance {
                matrix: covariance(scatter.unwrap_or_default(), columns, data.scaler, self.center),
                noise: if T::EPSILON > f64::EPSILON { 2.0 * T::EPSILON } else { 0.0 },
            },
            (Route::Dual, _) => CovarianceSolver::Dual { gram: data.gram_matrix()?, data, divisor },
            (Route::Svd, _) => {
                let tall = columns.rows >= data.scaler.inv_scale.len();
                CovarianceSolver::Svd { data, tall, divisor }
            }
            (Route::Randomized, Solver::Randomized { oversampling, power_iterations: power }) => {
                let operator = FeatureGram { data, divisor };
                CovarianceSolver::Randomized { operator, oversampling, power }
            }
            _ => CovarianceSolver::Iterative { operator: FeatureGram { data, divisor } },
        })
    }

    /// Why the answer of a fast route is not good enough, if it is not.
    fn too_coarse<T: Scalar>(&self, fitted: &Fitted<T>) -> Option<String> {
        if fitted.below_rounding {
            return Some("components asked for lie below its rounding".into());
        }
        let residual = fitted.model.certificate().relative_residual();
        (residual > self.tolerance::<T>())
            .then(|| format!("its relative residual was {residual:.1e}"))
    }

    /// The more careful route after `route`, where it can be taken.
    fn next_route(
        &self,
        shape: &DataShape,
        route: Route,
        rows: usize,
        at_least: usize,
    ) -> Option<Plan> {
        if self.solver != Solver::Auto {
            return None;
        }
        let task = CovarianceTask { at_least, ..self.task(shape) };
        let wide = task.n().is_some_and(|n| n < task.d());
        let order: &[Route] = match route {
            Route::Iterative if wide => &[Route::Dual, Route::Svd],
            Route::Iterative => &[Route::Covariance, Route::Svd],
            Route::Svd => &[],
            // Sums of float32 products are coarser than passes over the data.
            Route::Covariance if shape.is_f32 => &[Route::Svd, Route::Iterative],
            _ => &[Route::Svd],
        };
        // Of a stream the number of rows that count is known only now.
        let tall_enough = rows >= task.d() || !(shape.streamed || task.sparse());
        let order = order.iter().filter(|&&next| next != Route::Svd || tall_enough);
        order.into_iter().find_map(|&next| {
            let forced = match next {
                Route::Covariance => Solver::Covariance,
                Route::Dual => Solver::Dual,
                Route::Iterative => Solver::Iterative,
                _ => Solver::Svd,
            };
            let task = CovarianceTask { solver: forced, ..task.clone() };
            task.plan().ok().map(|p| Plan { reason: format!("more careful than {route}"), ..p })
        })
    }

    pub(super) fn tolerance<T: Scalar>(&self) -> f64 {
        let usual = if T::EPSILON > f64::EPSILON { 1e-6 } else { 1e-9 };
        self.options.tolerance.unwrap_or(usual)
    }

    pub(super) fn task<'a>(&'a self, shape: &'a DataShape) -> CovarianceTask<'a> {
        CovarianceTask {
            shape,
            n_components: &self.n_components,
            at_least: 0,
            solver: self.solver,
            options: &self.options,
            beside: self.beside,
        }
    }

    /// Refuses what cannot be meant, before any row is read.
    fn check(&self, shape: &DataShape) -> Result<()> {
        self.options.check()?;
        shape.check()?;
        if self.standardize && self.divisor == Divisor::Samples {
            return Err(Error::Unsupported {
                what: "a divisor for standardised features".into(),
                why: "changes nothing: their variances are 1 with any",
                instead: None,
            });
        }
        match (shape.n_samples, shape.n_weights) {
            (Some(n), _) if n < 2 => return Err(Error::TooFewRows { found: n, needed: 2 }),
            (Some(n), None) => {
                self.n_components.check_limit(n.min(shape.n_features), n, shape.n_features)?
            }
            _ => {}
        }
        self.n_components.check()
    }

    /// The most components these data allow: min(n, d), with n the sum of the weights.
    pub(super) fn limit(&self, columns: &Columns, d: usize) -> Result<usize> {
        let n = if columns.weight < 1e15 { (columns.weight + 0.5) as usize } else { usize::MAX };
        let limit = n.max(columns.rows).min(d);
        self.n_components.check_limit(limit, n, d)?;
        Ok(limit)
    }
}

/// How many of the first `k` pairs carry something; the others become exactly 0. The value after the last one
/// asked for keeps its size: it is the guard that gaps are measured to.
fn null_below_rounding(pairs: &mut EigenPairs, k: usize, max_rank: usize) -> usize {
    let floor = pairs.rounding_floor;
    let rank = pairs.values.iter().take(k.min(max_rank)).filter(|v| **v > floor).count();
    let carries = if rank < k { rank } else { max_rank };
    for (j, v) in pairs.values.iter_mut().enumerate().skip(rank) {
        if j >= carries || *v <= floor {
            *v = 0.0;
        }
    }
    rank
}

/// `k` values and components (k × d), largest first, signed; those beyond the rank completed.
pub(super) fn ordered(
    pairs: &EigenPairs,
    k: usize,
    rank: usize,
    tie: f64,
) -> Result<(Vec<f64>, Array2<f64>)> {
    let (mut values, mut components) =
        finish::largest_first(&pairs.values, &pairs.vectors, k.min(pairs.values.len()), tie);
    values.resize(k, 0.0);
    if components.nrows() < k {
        let missing = Array2::zeros((k - components.nrows(), components.ncols()));
        components = ndarray::concatenate(Axis(0), &[components.view(), missing.view()])
            .map_err(|e| Error::Internal(e.to_string()))?;
    }
    finish::complete(&mut components, rank, tie);
    Ok((values, components))
}

pub(super) fn empty<T: Scalar>(model: &PcaModel) -> Array2<T> {
    Array2::default((0, model.n_components()))
}

/// What the first pass finds, and what follows from it.
struct FirstPass {
    columns: Columns,
    scaler: Scaler,
    /// Of each standardised column.
    variances: Vec<f64>,
    /// Their sum.
    total: f64,
    /// The most components that may be asked for.
    limit: usize,
    /// The most that can carry variance.
    max_rank: usize,
}

/// `k` components are wanted; room was needed for `asked`.
struct FoundPairs {
    k: usize,
    asked: usize,
    pairs: EigenPairs,
    notes: Vec<Warning>,
}

/// What came of looking for the pairs.
enum Search {
    Found(Box<FoundPairs>),
    GivenUp { why: String, next: Plan },
}

/// What came of a route.
enum RouteOutcome<T: Scalar> {
    Fitted(Box<Fitted<T>>),
    /// Another route would be done sooner, or has room for the components that are needed.
    GivenUp {
        why: String,
        next: Plan,
    },
}

/// A model, its scores, and whether components drowned in the route's rounding.
struct Fitted<T: Scalar> {
    model: PcaModel,
    scores: Array2<T>,
    below_rounding: bool,
    /// Rows of positive weight.
    rows: usize,
}

/// `D (scatter + n m mᵀ) D / (n − 1)`, the second term only where not centred; in place.
pub(super) fn covariance(
    mut scatter: Array2<f64>,
    columns: &Columns,
    scaler: &Scaler,
    center: bool,
) -> Array2<f64> {
    let divisor = columns.weight - 1.0;
    let mean: Vec<f64> = if center {
        vec![0.0; columns.mean_hi.len()]
    } else {
        columns.mean_hi.iter().zip(&columns.mean_lo).map(|(m, l)| m + l).collect()
    };
    let root = columns.weight.sqrt();
    let d = columns.mean_hi.len().max(1);
    gemm::slice_mut(&mut scatter).par_chunks_mut(d).enumerate().for_each(|(i, row)| {
        for (j, v) in row.iter_mut().enumerate() {
            // Each factor on its own stays within the range of numbers.
            let offset = (root * mean[i]) * (root * mean[j]);
            *v = (*v + offset) / divisor * scaler.inv_scale[i] * scaler.inv_scale[j];
        }
    });
    scatter
}

/// About what the most thorough route takes.
fn multiplications(shape: &DataShape) -> f64 {
    let (n, d) = (shape.n_samples.map_or(f64::INFINITY, |n| n as f64), shape.n_features as f64);
    let short = n.min(d);
    n * d * short + 10.0 * short.powi(3)
}

/// Variance of each standardised column.
pub(super) fn standardized_variances(columns: &Columns, scaler: &Scaler, center: bool) -> Vec<f64> {
    let divisor = columns.weight - 1.0;
    (0..columns.mean_hi.len())
        .map(|f| {
            let mean = columns.mean_hi[f] + columns.mean_lo[f];
            let offset = if center { 0.0 } else { columns.weight * mean * mean };
            (columns.squares[f] + offset) / divisor * scaler.inv_scale[f] * scaler.inv_scale[f]
        })
        .collect()
}

/// The most components that can carry variance.
pub(super) fn max_rank(columns: &Columns, variances: &[f64], center: bool) -> usize {
    (columns.rows - usize::from(center)).min(n_varying(variances))
}

/// How many columns have variance (uncentred: are not all 0).
pub(super) fn n_varying(variances: &[f64]) -> usize {
    variances.iter().filter(|v| **v > 0.0).count()
}
