//! The fit that PCA and latent semantic analysis share: plan, decompose, certify, and, where the
//! certificate is not good enough, once more on a more careful route.

use super::certify::Certifier;
use super::em::EmOptions;
use crate::data::{DataShape, Dataset, Missing, compiled_here};
use crate::em::Observer;
use crate::error::{Error, Result, Warning};
use crate::linalg::dense::power_of_two;
use crate::linalg::{gemm, pool};
use crate::model::ModelCore;
use crate::model::{LinearMap, PcaModel, PcaParts, factors};
use crate::n_components::{Head, LeadingPairs, NComponents, Resolved, Rule, Spectrum, resolve};
use crate::operator::FeatureGram;
use crate::options::{Options, Solver};
use crate::plan::{self, Beside, CovarianceTask, Plan, Route};
use crate::scalar::{Scalar, typed};
use crate::solver::covariance_solver::{CovarianceSolver, EigenPairs};
use crate::solver::{finish, krylov};
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
            solver: Solver::Auto,
            options: Options::default(),
            beside: Beside::default(),
        }
    }

    pub fn plan(&self, shape: &DataShape) -> Result<Plan> {
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

    /// The model alone; `observer` is told of every step where holes are integrated out.
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
        if data.missing() != Missing::Em {
            return Ok(self.run(data, false)?.0);
        }
        match self.run_em(data, &EmOptions::default(), observer)? {
            Some(found) => Ok(found.body),
            None => Ok(self.run_whole(&data.clone().with_missing(Missing::Error), false)?.0),
        }
    }

    fn run_typed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        want_scores: bool,
    ) -> Result<(PcaModel, Array2<T>)> {
        match data.missing() {
            Missing::Error => self.run_whole(data, want_scores),
            Missing::Em => {
                let found =
                    self.run_em(data, &EmOptions::default(), &mut |_| ControlFlow::Continue(()))?;
                let Some(found) = found else {
                    return self.run_whole(&data.clone().with_missing(Missing::Error), want_scores);
                };
                let scores =
                    if want_scores { found.body.transform(data)? } else { empty(&found.body) };
                Ok((found.body, scores))
            }
            _ => {
                let resolved = data.resolve_missing(&self.options)?;
                let whole = resolved.dataset();
                let Some(missing_report) = resolved.missing_report() else {
                    return self.run_whole(&whole, want_scores);
                };
                let columns = data.missing() == Missing::DropColumns;
                let (mut model, mut scores) = self.run_whole(&whole, want_scores && columns)?;
                model.set_missing(Some(missing_report.clone()));
                if want_scores && !columns {
                    scores = model.transform(data)?;
                }
                Ok((model, scores))
            }
        }
    }

    /// Fits data without holes.
    fn run_whole<T: Scalar>(
        &self,
        data: &Dataset<T>,
        want_scores: bool,
    ) -> Result<(PcaModel, Array2<T>)> {
        let shape = data.shape();
        let plan = self.plan(&shape)?;
        pool::run(self.options.threads, || {
            let (why, careful) = match self.follow(data, &plan, want_scores, false)? {
                Followed::GaveUp { why, next } => (why, next),
                Followed::Fitted(first) => {
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
            let Followed::Fitted(mut second) = self.follow(data, &careful, want_scores, true)?
            else {
                return Err(Error::Internal("a careful route was given up".into()));
            };
            second.model.add_warning(escalated);
            Ok((second.model, second.scores))
        })?
    }

    /// One route from beginning to end; the `last` one is not given up.
    fn follow<T: Scalar>(
        &self,
        data: &Dataset<T>,
        plan: &Plan,
        want_scores: bool,
        last: bool,
    ) -> Result<Followed<T>> {
        let mut grid = RowGrid::new(data)?;
        let d = data.n_features();
        // Step 1: means and variances, and with them the standardisation.
        let (columns, scatter) = if plan.route == Route::Covariance {
            let moments = Moments::of_grid(&mut grid)?;
            (moments.columns, Some(moments.scatter))
        } else {
            (Columns::of(&mut grid)?, None)
        };
        let scaler = Scaler::new::<T>(&columns, grid.exponents(), self.center, self.standardize);
        let divisor = columns.weight - 1.0;
        let variances = standardized_variances(&columns, &scaler, self.center);
        let total: f64 = variances.iter().sum();
        // Step 2: the route's matrix or operator.
        let limit = self.limit(&columns, d)?;
        let max_rank = max_rank(&columns, &variances, self.center);
        let standardized = || Standardized { grid: &grid, scaler: &scaler };
        let solver = self.covariance_solver(plan.route, standardized(), &columns, scatter)?;
        // Step 3: the pairs.
        let shape = data.shape();
        let task = self.task(&shape);
        let next = |at_least: usize| match last {
            true => None,
            false => self.next_route(&shape, plan.route, columns.rows, at_least),
        };
        let slower = next(0).filter(|_| plan.route == Route::Iterative);
        let mut asked_pairs = CovariancePairs {
            fit: self,
            solver: &solver,
            data,
            columns: &columns,
            n_varying: n_varying(&variances),
            total,
            limit,
            max_rank,
            tolerance: self.tolerance::<T>(),
            affordable: slower.as_ref().map_or(usize::MAX, |_| task.most_applications()),
            room: task.most_components(plan.route, limit),
            applications: 0,
        };
        let mut notes = Vec::new();
        let too_slow =
            |next| Ok(Followed::GaveUp { why: "the iteration would take longer".into(), next });
        let (k, asked, mut pairs) = match resolve(&self.n_components, &mut asked_pairs, &mut notes)?
        {
            Resolved::Found { k, asked, pairs } => (k, asked, pairs),
            Resolved::TooMany { at_least } => {
                let Some(next) = next(at_least) else {
                    let needed = task.memory_with(plan.route, at_least);
                    let budget = self.options.memory;
                    return Err(plan::too_many(plan.route, at_least, needed, budget));
                };
                let why = format!("at least {at_least} components are needed");
                return Ok(Followed::GaveUp { why, next });
            }
            Resolved::TooSlow => match slower {
                Some(next) => return too_slow(next),
                None => return Err(Error::Internal("an iteration that was not begun".into())),
            },
        };
        if let Some(next) = slower.filter(|_| !pairs.convergence.converged) {
            return too_slow(next);
        }
        // Step 4: what is rounding, order, sign, null directions.
        let rank = null_below_rounding(&mut pairs, k, max_rank);
        let below_rounding = rank < k.min(max_rank) && total > 0.0;
        let (values, components) = ordered(&pairs, k, rank, T::SIGN_TIE)?;
        // Step 5: scores and certificate, in one pass over the data.
        let map =
            LinearMap { scaler: scaler.clone(), components, rank, threads: self.options.threads };
        let certifier = Certifier {
            map: &map,
            values: &values,
            pairs: &pairs,
            rank,
            total,
            divisor,
            tolerance: self.tolerance::<T>(),
            seed: self.options.seed,
        };
        let mut scores = want_scores.then(|| {
            let factors = factors(&values, self.whiten, scaler.exponent);
            Scores::gather(factors, grid.n_rows().unwrap_or(0))
        });
        let mut score_moments = ScoreMoments::new(k);
        let certificate =
            certifier.certify(&standardized(), &solver, scores.as_mut(), &mut score_moments)?;
        drop(solver);
        // Step 6: what the user should know.
        let mut warnings = warn::<T>(data, &columns, &scaler, &variances, &values, rank, k, self);
        mind_seen_scores::<T>(&mut warnings, &score_moments, grid.counts(), &values, &scaler);
        warnings.extend(score_warnings(&score_moments, columns.weight, rank, self.center));
        warnings.extend(notes);
        let scores = scores.map_or_else(|| Ok(Array2::default((0, k))), Scores::into_array)?;
        let model = PcaModel::new(PcaParts {
            core: ModelCore {
                method: self.method,
                n_samples: Some(columns.weight),
                feature_names: data.feature_names().map(<[String]>::to_vec),
                plan: Plan::new(
                    plan.route,
                    plan.reason.clone(),
                    plan.passes,
                    task.memory_with(plan.route, asked),
                ),
                warnings,
                missing: None,
            },
            map,
            values,
            total,
            column_variances: variances,
            spectrum: pairs.spectrum,
            next_value: pairs.values.get(k).copied(),
            center: self.center,
            whiten: self.whiten,
            certificate,
            convergence: pairs.convergence,
            tolerance: self.tolerance::<T>(),
        });
        let rows = columns.rows;
        Ok(Followed::Fitted(Box::new(Fitted { model, scores, below_rounding, rows })))
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
fn ordered(pairs: &EigenPairs, k: usize, rank: usize, tie: f64) -> Result<(Vec<f64>, Array2<f64>)> {
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

fn empty<T: Scalar>(model: &PcaModel) -> Array2<T> {
    Array2::default((0, model.n_components()))
}

/// What came of a route.
enum Followed<T: Scalar> {
    Fitted(Box<Fitted<T>>),
    /// Another route would be done sooner, or has room for the components that are needed.
    GaveUp {
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

/// A route to the covariance's pairs, as the number of components is asked of it.
struct CovariancePairs<'a, 's, 'd, T: Scalar> {
    fit: &'a Fit,
    solver: &'a CovarianceSolver<'s, T>,
    data: &'a Dataset<'d, T>,
    columns: &'a Columns,
    n_varying: usize,
    total: f64,
    limit: usize,
    max_rank: usize,
    tolerance: f64,
    /// Products with the data after which another route would have been done.
    affordable: usize,
    room: usize,
    /// Products made so far.
    applications: usize,
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

#[expect(clippy::too_many_arguments)]
pub(super) fn warn<T: Scalar>(
    data: &Dataset<T>,
    columns: &Columns,
    scaler: &Scaler,
    variances: &[f64],
    values: &[f64],
    rank: usize,
    k: usize,
    fit: &Fit,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let total: f64 = variances.iter().sum();
    if total == 0.0 {
        warnings.push(Warning::NoVariance);
    } else if rank < k {
        warnings.push(Warning::NullComponents { rank, requested: k });
    }
    if fit.standardize && !scaler.constant.is_empty() {
        let names = scaler.constant.iter().map(|&f| data.column_name(f)).collect();
        warnings.push(Warning::ConstantColumns { columns: scaler.constant.clone(), names });
    }
    let d = variances.len();
    if d > 1 && !fit.standardize {
        let largest = (0..d).max_by(|&a, &b| variances[a].total_cmp(&variances[b])).unwrap_or(0);
        let share = variances[largest] / total;
        if share > 0.999 {
            let name = data.column_name(largest);
            warnings.push(Warning::DominantColumn { column: largest, name, share });
        }
    }
    // The coarsest column, where its spread is a few steps of its number type.
    let levels = |f: usize| {
        let spacing = T::EPSILON * columns.mean_hi[f].abs() / 2.0;
        let sd = (columns.squares[f] / columns.weight).sqrt();
        if spacing > 0.0 && sd > 0.0 { sd / spacing } else { f64::INFINITY }
    };
    if let Some(column) =
        (0..d).min_by(|&a, &b| levels(a).total_cmp(&levels(b))).filter(|&f| levels(f) < 16.0)
    {
        warnings.push(Warning::Quantized {
            column,
            name: data.column_name(column),
            levels: levels(column),
        });
    }
    // No score is longer than all samples together.
    let longest = ((columns.weight - 1.0) * total).sqrt() * power_of_two(scaler.exponent);
    if !fit.whiten && !is_number::<T>(longest) {
        warnings.push(Warning::ScoresOutOfRange);
    } else {
        warnings.extend(variance_warning(values, scaler));
    }
    warnings
}

/// Where a variance is no number in the units of the data.
fn variance_warning(values: &[f64], scaler: &Scaler) -> Option<Warning> {
    let out_of_range = |v: &f64| {
        let squared = v * power_of_two(scaler.exponent) * power_of_two(scaler.exponent);
        *v > 0.0 && (squared < f64::MIN_POSITIVE || !squared.is_finite())
    };
    values.iter().any(out_of_range).then_some(Warning::VarianceOutOfRange)
}

/// Whether it is a number of the elements' type.
fn is_number<T: Scalar>(value: f64) -> bool {
    T::from_f64(value).to_f64().is_finite()
}

/// Takes back that scores may be out of range where those of all training samples have been seen to be
/// numbers. Tails hold weighted squares; `counts` are the weights.
pub(super) fn mind_seen_scores<T: Scalar>(
    warnings: &mut Vec<Warning>,
    score_moments: &ScoreMoments,
    counts: Option<&[f64]>,
    values: &[f64],
    scaler: &Scaler,
) {
    let Some(at) = warnings.iter().position(|w| *w == Warning::ScoresOutOfRange) else { return };
    let largest = |(square, row): (&f64, &u64)| {
        let weight = counts.and_then(|counts| counts.get(*row as usize)).copied().unwrap_or(1.0);
        (square / weight).sqrt() * power_of_two(scaler.exponent)
    };
    if score_moments.largest.iter().zip(&score_moments.row).map(largest).all(is_number::<T>) {
        warnings.remove(at);
        warnings.extend(variance_warning(values, scaler));
    }
}

fn score_warnings(score_moments: &ScoreMoments, n: f64, rank: usize, center: bool) -> Vec<Warning> {
    const ONE_ROW: f64 = 0.9;
    const HEAVY: f64 = 10.0;
    let mut warnings = Vec::new();
    let (mut heavy, mut heaviest) = (Vec::new(), 0.0f64);
    // With few rows every component is mostly one of them.
    if n < 10.0 {
        return warnings;
    }
    for component in 0..rank {
        let squares = score_moments.squares[component];
        if squares <= 0.0 {
            continue;
        }
        let (largest, row) =
            (score_moments.largest[component], score_moments.row[component] as usize);
        let kurtosis = n * score_moments.fourth_powers[component] / (squares * squares) - 3.0;
        if largest / squares > ONE_ROW {
            warnings.push(Warning::DominantRow { component, row, share: largest / squares });
        } else if center && kurtosis > HEAVY {
            heavy.push(component);
            heaviest = heaviest.max(kurtosis);
        }
    }
    if !heavy.is_empty() {
        warnings.push(Warning::HeavyTails { components: heavy, kurtosis: heaviest });
    }
    warnings
}
