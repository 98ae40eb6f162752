//! From data or a matrix to a model: the covariance, the search, what the components explain.

use super::{Formulation, PenaltyScale, SparsePca, path};
use crate::data::{DataShape, Dataset};
use crate::error::{Error, Result, Warning};
use crate::linalg::dense::power_of_two;
use crate::linalg::pool;
use crate::methods::fit::{covariance, standardized_variances};
use crate::methods::fit_warnings::warn;
use crate::methods::from_matrix;
use crate::model::ModelCore;
use crate::model::{Optimality, SparseParts, SparsePcaModel};
use crate::operator::{FeatureGram, Operator};
use crate::passes::{Columns, Moments, RowGrid, Scaler, Standardized};
use crate::plan::{self, Candidate, Plan, Route};
use crate::scalar::Scalar;
use crate::solver::krylov::{self, EigenRequest};
use crate::solver::{Convergence, dense, finish};
use crate::sparse_search::{
    Alternation, Gram, Learning, MOST_ROWS, Ridge, Shrinkage, SparseVector, SupportSearch, learn,
    prove, regress, search,
};
use ndarray::{Array2, ArrayView2, Axis};

/// Features up to which the covariance matrix is formed in any case.
const SMALL: usize = 1024;

/// The most features for which it is formed where there are samples enough to fill it.
const LARGE: usize = 6000;

/// The change of an entry at which the alternation ends, where nothing else is asked for.
const AT_REST: f64 = 1e-6;

/// The relative decrease of the objective at which a dictionary is learned, as in scikit-learn.
const LEARNED: f64 = 1e-8;

/// λ₂, where nothing else is asked for: Zou, Hastie & Tibshirani's for n > d.
const RIDGE: f64 = 1e-6;

pub(super) fn plan(of: &SparsePca, shape: &DataShape) -> Result<Plan> {
    let d = shape.n_features;
    of.check(d)?;
    if of.fit.covariance.is_some() {
        from_matrix::plan_table(shape, &of.fit.options)?;
        return plan_given(of, Route::GivenCovariance, d);
    }
    shape.check_complete()?;
    if let Some(n) = shape.n_samples.filter(|n| *n < 2) {
        return Err(Error::TooFewRows { found: n, needed: 2 });
    }
    let exact = of.proof.is_some();
    let enough = shape.n_samples.is_none_or(|n| 4 * n >= d);
    let prefers_formed = exact || d <= SMALL || (d <= LARGE && enough);
    let task = of.fit.task(shape);
    let candidate = |route: Route| {
        let extra = extra_memory(of, d as u64, route, exact);
        let (passes, reason) = match route {
            Route::Covariance if exact => (1, format!("the proof needs the {d} × {d} covariance")),
            Route::Covariance => (1, format!("the {d} × {d} covariance is cheap")),
            _ => {
                // Beside the plain components: a step of all starts, or two products of a round.
                let search = match of.formulation {
                    Formulation::Cardinality(_) => 15 * of.k,
                    _ => 100,
                };
                let reason = "products with the data: no d × d matrix is formed".into();
                (task.passes(route) + search, reason)
            }
        };
        let task = &task;
        let memory = move |k| task.memory_with(route, k).saturating_add(extra);
        // In the order of preference.
        let cost = if prefers_formed == (route == Route::Covariance) { 0.0 } else { 1.0 };
        Candidate { cost, ..Candidate::new(route, reason, passes, memory) }
    };
    let routes: &[Route] = match (exact, prefers_formed) {
        (true, _) => &[Route::Covariance],
        (false, true) => &[Route::Covariance, Route::Iterative],
        (false, false) => &[Route::Iterative],
    };
    let candidates: Vec<Candidate> = routes.iter().map(|&route| candidate(route)).collect();
    plan::cheapest(&candidates, &task.demand())
}

/// Bytes beyond those of plain components.
fn extra_memory(of: &SparsePca, d: u64, route: Route, exact: bool) -> u64 {
    let k = of.k as u64;
    let learning = if matches!(of.formulation, Formulation::Dictionary(_)) { 8 } else { 0 };
    let block = 8 * d * ((k + 16) * 6 + k * learning);
    match route {
        // The deflated copy; the parts of the tree that are looked at together.
        Route::Covariance => block + 8 * d * d * if exact { 2 + 8 * 4 } else { 2 },
        // Rows of the features that are active, and the blocks in which they are made.
        _ => {
            let active = match &of.formulation {
                Formulation::NonZeros(counts) | Formulation::Cardinality(counts) => {
                    counts.0.iter().copied().max().unwrap_or(0) as u64
                }
                Formulation::Penalties(_) => MOST_ROWS as u64,
                Formulation::Dictionary(_) => 0,
            };
            let kept = if of.ridge == Some(Ridge::Infinite) { 0 } else { k * active };
            block + 8 * d * (kept.min(MOST_ROWS as u64).max(active).min(d) + 5 * 64)
        }
    }
}

pub(super) fn from_data<T: Scalar>(of: &SparsePca, data: &Dataset<T>) -> Result<SparsePcaModel> {
    with_gram(of, data, |gram, mut context| {
        let warnings = std::mem::take(&mut context.warnings);
        finish_model(of, gram, context, warnings)
    })
}

/// What a fit knows beside the covariance.
pub(super) struct Context {
    pub scaler: Scaler,
    pub variances: Vec<f64>,
    pub n_samples: Option<f64>,
    feature_names: Option<Vec<String>>,
    plan: Plan,
    warnings: Vec<Warning>,
}

/// Reads the data once for their covariance, or for their means and variances, and goes on with it.
pub(super) fn with_gram<T: Scalar, R: Send>(
    of: &SparsePca,
    data: &Dataset<T>,
    work: impl FnOnce(Gram, Context) -> Result<R> + Send,
) -> Result<R> {
    if let Some(given) = of.fit.covariance {
        let matrix = from_matrix::read_table(data, &of.fit.options)?;
        return with_matrix(of, matrix.view(), given.n_samples, |gram, context| {
            let feature_names = data.feature_names().map(<[String]>::to_vec);
            work(gram, Context { feature_names, ..context })
        });
    }
    let plan = plan(of, &data.shape())?.reserved()?;
    pool::run(of.fit.options.threads, || {
        let mut grid = RowGrid::new(data)?;
        let (columns, scatter) = if plan.route == Route::Covariance {
            let moments = Moments::of_grid(&mut grid)?;
            (moments.columns, Some(moments.scatter))
        } else {
            (Columns::of(&mut grid)?, None)
        };
        let fit = &of.fit;
        let scaler = Scaler::new::<T>(&columns, grid.exponents(), fit.center, fit.standardize);
        let variances = standardized_variances(&columns, &scaler, fit.center);
        let warnings = warn::<T>(data, &columns, &scaler, &variances, &variances, of.k, of.k, fit);
        let operator = FeatureGram {
            data: Standardized { grid: &grid, scaler: &scaler },
            divisor: columns.weight - 1.0,
        };
        let gram = match scatter {
            Some(scatter) => Gram::Matrix(covariance(scatter, &columns, &scaler, fit.center)),
            None => Gram::operator(&operator, variances.clone()),
        };
        let context = Context {
            scaler: scaler.clone(),
            variances,
            n_samples: Some(columns.weight),
            feature_names: data.feature_names().map(<[String]>::to_vec),
            plan,
            warnings,
        };
        work(gram, context)
    })?
}

pub(super) fn from_moments(of: &SparsePca, moments: &Moments) -> Result<SparsePcaModel> {
    of.check(moments.n_features())?;
    let columns = moments.columns.clone().check_rows()?;
    let exponents =
        moments.exponents.iter().any(|&e| e != 0).then_some(moments.exponents.as_slice());
    let fit = &of.fit;
    let scaler = Scaler::new::<f64>(&columns, exponents, fit.center, fit.standardize);
    let matrix = covariance(moments.scatter.clone(), &columns, &scaler, fit.center);
    let weight = columns.weight;
    let feature_names = moments.feature_names.clone();
    let context =
        Context { feature_names, ..given(of, Route::Given, scaler, &matrix, Some(weight))? };
    pool::run(fit.options.threads, || finish_model(of, Gram::Matrix(matrix), context, Vec::new()))?
}

pub(super) fn from_covariance(
    of: &SparsePca,
    covariance: ArrayView2<f64>,
    n_samples: Option<f64>,
) -> Result<SparsePcaModel> {
    with_matrix(of, covariance, n_samples, |gram, context| {
        finish_model(of, gram, context, Vec::new())
    })
}

/// Checks a covariance matrix and goes on with it.
pub(super) fn with_matrix<R: Send>(
    of: &SparsePca,
    covariance: ArrayView2<f64>,
    n_samples: Option<f64>,
    work: impl FnOnce(Gram, Context) -> Result<R> + Send,
) -> Result<R> {
    let (matrix, scaler) = from_matrix::standardized(&of.fit, covariance, n_samples)?;
    of.check(matrix.nrows())?;
    if of.penalty_scale == Some(PenaltyScale::Sum) && n_samples.is_none() {
        return Err(Error::NotDefined {
            what: "a penalty on sums over samples",
            why: "the number of samples behind the matrix is not known".into(),
        });
    }
    let context = given(of, Route::GivenCovariance, scaler, &matrix, n_samples)?;
    pool::run(of.fit.options.threads, || {
        from_matrix::check_positive(matrix.view())?;
        work(Gram::Matrix(matrix), context)
    })?
}

fn given(
    of: &SparsePca,
    route: Route,
    scaler: Scaler,
    matrix: &Array2<f64>,
    n_samples: Option<f64>,
) -> Result<Context> {
    let plan = plan_given(of, route, matrix.nrows())?.reserved()?;
    let variances = matrix.diag().to_vec();
    Ok(Context { scaler, variances, n_samples, feature_names: None, plan, warnings: Vec::new() })
}

/// The plan of a d × d matrix in place of data: it may be a copy.
fn plan_given(of: &SparsePca, route: Route, d: usize) -> Result<Plan> {
    let d = d as u64;
    let exact = of.proof.is_some();
    let reading = if of.fit.covariance.is_some() { from_matrix::BATCHES } else { 0 };
    let needed = 8 * 10 * d * d + extra_memory(of, d, Route::Covariance, exact) + reading;
    let reason = "a matrix in place of data".into();
    plan::only(route, reason, 0, needed, of.fit.options.memory)
}

/// The search on a covariance, and the model of what it found.
fn finish_model(
    of: &SparsePca,
    gram: Gram,
    context: Context,
    mut warnings: Vec<Warning>,
) -> Result<SparsePcaModel> {
    let total: f64 = context.variances.iter().sum();
    if total == 0.0 && !warnings.contains(&Warning::NoVariance) {
        warnings.push(Warning::NoVariance);
    }
    let plain = plain_components(of, &gram)?;
    let path = match of.path_points {
        Some(points) => Some(path::along(of, &gram, &context, &plain, points)?),
        None => None,
    };
    let found = match &of.formulation {
        Formulation::Cardinality(counts) => {
            let counts = counts.spread("cardinality", of.k)?;
            extraction(of, &gram, &counts, &plain, None, context.scaler.exponent)?
        }
        Formulation::Dictionary(penalty) => dictionary(of, &gram, &context, &plain, *penalty)?,
        Formulation::Penalties(_) | Formulation::NonZeros(_) => {
            let shrinkage = shrinkage(of, &context)?;
            let ridge = scaled_ridge(of, &context);
            regression(of, &gram, &plain, &shrinkage, ridge, None)?.0
        }
    };
    let zero: Vec<usize> =
        (0..of.k).filter(|&j| found.components.row(j).iter().all(|v| *v == 0.0)).collect();
    if !zero.is_empty() && total > 0.0 {
        warnings.push(match &of.formulation {
            Formulation::Penalties(_) | Formulation::Dictionary(_) => {
                Warning::ZeroComponents { components: zero }
            }
            _ => Warning::NullComponents { rank: of.k - zero.len(), requested: of.k },
        });
    }
    warnings.extend(found.warnings);
    let units = PenaltyUnits::new(of, &context);
    let penalties = match of.formulation {
        Formulation::Dictionary(penalty) => Some(vec![penalty; of.k]),
        _ => found.penalties.map(|all| all.iter().map(|p| units.outside(*p)).collect()),
    };
    SparsePcaModel::new(SparseParts {
        core: ModelCore {
            method: "sparse-pca",
            n_samples: context.n_samples,
            feature_names: context.feature_names,
            plan: context.plan,
            warnings,
            missing: None,
        },
        components: found.components,
        projection: of.projection,
        score_covariance: found.score_covariance,
        plain: plain.values,
        total,
        center: of.fit.center,
        penalties,
        objective: found.objective,
        optimality: found.optimality,
        path,
        convergence: found.convergence,
        threads: of.fit.options.threads,
        scaler: context.scaler,
    })
}

/// What a search found, in the units of the standardised data.
pub(super) struct Found {
    /// k × d, unit rows, signed.
    pub components: Array2<f64>,
    /// B S Bᵀ.
    pub score_covariance: Array2<f64>,
    pub penalties: Option<Vec<f64>>,
    /// What a dictionary minimises, after each round, in the units of the data.
    objective: Vec<f64>,
    optimality: Vec<Optimality>,
    convergence: Convergence,
    warnings: Vec<Warning>,
}

/// The first k plain components: what sparse ones start from and are compared with.
pub(super) struct Plain {
    pub values: Vec<f64>,
    /// d × k.
    pub vectors: Array2<f64>,
    /// Variances up to this are rounding.
    pub rounding_floor: f64,
}

pub(super) fn plain_components(of: &SparsePca, gram: &Gram) -> Result<Plain> {
    let d = gram.dim();
    let request = EigenRequest { guard: 0, ..EigenRequest::new(of.k, d, 1e-9, &of.fit.options) };
    let ritz = match gram {
        Gram::Matrix(matrix) => dense::leading(matrix.view(), &request)?.ritz,
        Gram::Operator(_) => krylov::largest(&AsOperator(gram), &request)?,
    };
    let (values, rows) =
        finish::largest_first(&ritz.values, &ritz.vectors, of.k, finish::f64_tie());
    let values: Vec<f64> = values.into_iter().map(|v| v.max(0.0)).collect();
    let rounding_floor =
        8.0 * (d as f64).sqrt() * f64::EPSILON * values.first().copied().unwrap_or(0.0);
    Ok(Plain {
        rounding_floor,
        values,
        vectors: rows.reversed_axes().as_standard_layout().into_owned(),
    })
}

struct AsOperator<'a, 'g>(&'a Gram<'g>);

impl Operator for AsOperator<'_, '_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        *out = self.0.apply(v)?;
        Ok(())
    }

    fn fingerprint(&self) -> u64 {
        self.0.fingerprint()
    }
}

/// Component after component, each on what the ones before it left; `warm` components (k × d) of
/// another run are further starts.
pub(super) fn extraction(
    of: &SparsePca,
    gram: &Gram,
    counts: &[usize],
    plain: &Plain,
    warm: Option<&Array2<f64>>,
    exponent: i32,
) -> Result<Found> {
    let d = gram.dim();
    let mut deflated: Option<Gram> = None;
    let mut directions = Vec::new();
    let mut components = Array2::zeros((counts.len(), d));
    let mut optimality = Vec::new();
    let mut warnings = Vec::new();
    let mut convergence = Convergence { converged: true, ..Convergence::default() };
    for (j, &cardinality) in counts.iter().enumerate() {
        let present = deflated.as_ref().unwrap_or(gram);
        let search_options = SupportSearch {
            cardinality,
            non_negative: of.non_negative,
            random_starts: of.random_starts,
            seed: of.fit.options.seed,
            max_iterations: of.fit.options.max_iterations,
            hints: std::iter::once(plain.vectors.column(j))
                .chain(warm.map(|components| components.row(j)))
                .collect(),
        };
        let mut found = search(present, &search_options)?;
        convergence.converged &= found.converged;
        convergence.iterations = convergence.iterations.max(found.iterations);
        if let (Some(limits), Some(matrix)) = (&of.proof, present.matrix()) {
            let proof = prove(matrix, &search_options, found, limits)?;
            let known = Optimality::new(&proof, exponent);
            if let Some(stopped_by) = known.stopped_by.filter(|_| !known.is_proven()) {
                let (gap, limit) = (known.gap, stopped_by.name());
                warnings.push(Warning::OptimalityGap { component: j, gap, limit });
            }
            optimality.push(known);
            found = proof.found;
        }
        // What deflation leaves of a covariance of lower rank is rounding (or, Hotelling's, negative).
        if found.value <= plain.rounding_floor {
            continue;
        }
        let mut component = found.vector.dense(d);
        component *= finish::sign_of(component.view(), finish::f64_tie());
        components.row_mut(j).assign(&component);
        if j + 1 < counts.len() {
            let deflation = of.deflation.unwrap_or_default();
            let left = deflated.get_or_insert_with(|| gram.clone());
            left.deflate(deflation, &component, &mut directions)?;
        }
    }
    // Variances are those of the data, not of what deflation left of them.
    let score_covariance = score_covariance(gram, &components)?;
    Ok(Found {
        components,
        score_covariance,
        penalties: None,
        objective: Vec::new(),
        optimality,
        convergence,
        warnings,
    })
}

/// All components together, by penalised regression; and as the regression left them, to start from.
pub(super) fn regression(
    of: &SparsePca,
    gram: &Gram,
    plain: &Plain,
    shrinkage: &Shrinkage,
    ridge: Ridge,
    warm: Option<&[SparseVector]>,
) -> Result<(Found, Vec<SparseVector>)> {
    let tolerance = of.fit.options.tolerance.unwrap_or(AT_REST);
    let regressed = regress(
        gram,
        &Alternation {
            start: plain.vectors.view(),
            warm,
            shrinkage,
            ridge,
            rounding_floor: plain.rounding_floor,
            tolerance,
            max_iterations: of.fit.options.max_iterations,
        },
    )?;
    let components = signed_units(&regressed.vectors, gram.dim());
    let converged = regressed.change <= tolerance;
    let mut warnings = Vec::new();
    if !converged {
        warnings.push(Warning::Unsettled {
            what: "the alternation",
            iterations: regressed.iterations,
            change: regressed.change,
            tolerance,
        });
    }
    let score_covariance = score_covariance(gram, &components)?;
    let found = Found {
        components,
        score_covariance,
        penalties: Some(regressed.penalties),
        objective: Vec::new(),
        optimality: Vec::new(),
        convergence: Convergence {
            converged,
            residuals: vec![regressed.change],
            iterations: regressed.iterations,
            operator_applications: 2 * regressed.iterations,
        },
        warnings,
    };
    Ok((found, regressed.vectors))
}

/// All components together, as the sparse factor of the data.
fn dictionary(
    of: &SparsePca,
    gram: &Gram,
    context: &Context,
    plain: &Plain,
    penalty: f64,
) -> Result<Found> {
    let Some(n) = context.n_samples else {
        return Err(Error::NotDefined {
            what: "a dictionary",
            why: "the number of samples behind the matrix is not known".into(),
        });
    };
    let tolerance = of.fit.options.tolerance.unwrap_or(LEARNED);
    // X in units of 2^exponent makes V smaller by as much: so is the penalty.
    let unit = power_of_two(context.scaler.exponent);
    let learned = learn(
        gram,
        &Learning {
            start: plain.vectors.view(),
            components: of.start.as_ref().map(|start| start.view()),
            penalty: penalty / unit,
            divisor: n - 1.0,
            tolerance,
            max_iterations: if of.learns { of.fit.options.max_iterations } else { 0 },
        },
    )?;
    let components = signed_units(&learned.vectors, gram.dim());
    let (iterations, change) = (learned.objective.len(), learned.change);
    let converged = change < tolerance;
    let mut warnings = Vec::new();
    if !converged {
        let what = "the factorisation";
        warnings.push(Warning::Unsettled { what, iterations, change, tolerance });
    }
    Ok(Found {
        score_covariance: score_covariance(gram, &components)?,
        components,
        penalties: None,
        objective: learned.objective.iter().map(|v| v * unit * unit).collect(),
        optimality: Vec::new(),
        convergence: Convergence {
            converged,
            residuals: vec![change],
            iterations,
            operator_applications: iterations + 1,
        },
        warnings,
    })
}

/// Unit rows (k × d), signed.
fn signed_units(vectors: &[SparseVector], d: usize) -> Array2<f64> {
    let mut components = Array2::zeros((vectors.len(), d));
    for (mut row, vector) in components.axis_iter_mut(Axis(0)).zip(vectors) {
        let unit = vector.clone().normalized().dense(d);
        let sign = finish::sign_of(unit.view(), finish::f64_tie());
        row.assign(&(unit * sign));
    }
    components
}

/// Penalties in the user's units and in those of the standardised, prescaled data. The square of the
/// prescaling need not be a number: it is applied in two steps.
pub(super) struct PenaltyUnits {
    rows: f64,
    unit: f64,
}

impl PenaltyUnits {
    pub fn new(of: &SparsePca, context: &Context) -> PenaltyUnits {
        let rows = match (of.penalty_scale, context.n_samples) {
            (Some(PenaltyScale::Sum), Some(n)) => n - 1.0,
            _ => 1.0,
        };
        PenaltyUnits { rows, unit: power_of_two(context.scaler.exponent) }
    }

    pub fn inside(&self, penalty: f64) -> f64 {
        penalty / self.rows / self.unit / self.unit
    }

    pub fn outside(&self, penalty: f64) -> f64 {
        penalty * self.rows * self.unit * self.unit
    }
}

pub(super) fn scaled_ridge(of: &SparsePca, context: &Context) -> Ridge {
    // A ridge this far above every variance is infinite in all but its arithmetic.
    const MOST: f64 = 1e150;
    match of.ridge.unwrap_or(Ridge::Finite(RIDGE)) {
        Ridge::Finite(ridge) => {
            Ridge::Finite(PenaltyUnits::new(of, context).inside(ridge).min(MOST))
        }
        Ridge::Infinite => Ridge::Infinite,
    }
}

fn shrinkage(of: &SparsePca, context: &Context) -> Result<Shrinkage> {
    Ok(match &of.formulation {
        Formulation::Penalties(penalties) => {
            let units = PenaltyUnits::new(of, context);
            let penalties = penalties.spread("penalty", of.k)?;
            Shrinkage::Penalties(penalties.into_iter().map(|p| units.inside(p)).collect())
        }
        Formulation::Dictionary(penalty) => Shrinkage::Penalties(vec![*penalty; of.k]),
        Formulation::NonZeros(counts) | Formulation::Cardinality(counts) => {
            Shrinkage::Counts(counts.spread("non_zeros", of.k)?)
        }
    })
}

/// `B S Bᵀ` (k × k), symmetric to the last bit.
fn score_covariance(gram: &Gram, components: &Array2<f64>) -> Result<Array2<f64>> {
    let vectors: Vec<SparseVector> = components
        .outer_iter()
        .map(|row| {
            let support: Vec<usize> = (0..row.len()).filter(|&f| row[f] != 0.0).collect();
            let values: Vec<f64> = support.iter().map(|&f| row[f]).collect();
            SparseVector { support, values }
        })
        .collect();
    let products = gram.apply_sparse(&vectors)?;
    let k = vectors.len();
    Ok(Array2::from_shape_fn((k, k), |(i, j)| {
        let (i, j) = (i.min(j), i.max(j));
        let product = vectors[i].dot(products.row(j));
        if i == j { product.max(0.0) } else { product }
    }))
}
