//! Exact kernel PCA: the leading eigenpairs of `H K H`, with K kept or recomputed in blocks.

use super::kernel_pca::{KernelPca, not_square};
use super::kernel_plan::KernelTask;
use crate::data::Dataset;
use crate::error::{Error, Result, Warning};
use crate::kernel::{Arithmetic, Gathering, Points, ResolvedKernel, sample_rows};
use crate::linalg::random;
use crate::model::ModelCore;
use crate::model::{
    KernelAccuracy, KernelBody, KernelMap, KernelPcaModel, KernelPcaParts, NegativePart,
};
use crate::n_components::{Head, LeadingPairs, Rule, Spectrum, resolve};
use crate::operator::{KernelGram, Operator};
use crate::plan::{Plan, Route};
use crate::scalar::Scalar;
use crate::solver::certificate::{self, Certificate, Evidence, Measured, NoneMissed, PROBES};
use crate::solver::krylov::{self, EigenRequest, RitzPairs};
use crate::solver::{dense, finish};
use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate, s};

/// Fits on some of the samples.
pub(super) fn subset<T: Scalar>(
    fit: &KernelPca,
    kernel: ResolvedKernel,
    data: &Dataset<T>,
    plan: Plan,
) -> Result<KernelPcaModel> {
    let super::kernel_pca::Approximation::Subset { samples } = fit.approximation else {
        return Err(Error::Internal("a subset that was not asked for".into()));
    };
    let rows = sample_rows(data, samples, fit.options.seed)?;
    let of = match data.n_samples() {
        Some(n) => n,
        None => Gathering::new(&kernel, data)?.n_samples(),
    };
    let names = data.feature_names().map(<[String]>::to_vec);
    let part = Dataset::from(&rows);
    let (mut parts, samples) = exact_parts(fit, kernel, &part, &plan)?;
    parts.accuracy = KernelAccuracy::Subset { samples, of };
    parts.core.feature_names = names;
    Ok(KernelPcaModel::new(parts))
}

/// Fits on all samples.
pub(super) fn fit<T: Scalar>(
    fit: &KernelPca,
    kernel: ResolvedKernel,
    data: &Dataset<T>,
    plan: Plan,
) -> Result<KernelPcaModel> {
    let task = KernelTask::new(fit, &data.shape());
    match exact_parts(fit, kernel.clone(), data, &plan) {
        Err(Error::Memory { route, needed, budget }) => {
            let n = data.n_samples().unwrap_or(0);
            let Some(leaner) = task.leaner(&plan, n, needed) else {
                return Err(Error::Memory { route, needed, budget });
            };
            let (mut parts, _) = exact_parts(fit, kernel, data, &leaner)?;
            parts.core.warnings.push(Warning::Escalated {
                from: plan.route.to_string(),
                to: leaner.route.to_string(),
                why: "more components are needed than it has room for".into(),
            });
            Ok(KernelPcaModel::new(parts))
        }
        parts => Ok(KernelPcaModel::new(parts?.0)),
    }
}

fn exact_parts<T: Scalar>(
    fit: &KernelPca,
    kernel: ResolvedKernel,
    data: &Dataset<T>,
    plan: &Plan,
) -> Result<(KernelPcaParts, usize)> {
    // 1. The points, checked and moved.
    let (points, exact) = gather(fit, &kernel, data)?;
    let (n, d) = (points.len(), data.n_features());
    let task = KernelTask::new(fit, &data.shape());
    let tolerance = fit.tolerance::<T>();
    // 2. The leading pairs; in f64 where float32 would leave too little of them.
    let solve =
        |points, route| Solved::new(fit, &task, &kernel, points, route, tolerance, T::SIGN_TIE);
    let mut solved = solve(&points, plan.route)?;
    let again = exact.as_ref().filter(|_| solved.is_drowned(tolerance));
    if let Some(exact) = again {
        drop(solved);
        solved = solve(exact, Route::KernelBlocks)?;
    }
    let used = again.unwrap_or(&points);
    let Solved { gram, means, k, pairs, leading, mut warnings, dense } = solved;
    gram.rest();
    // 3. The certificate, against the kernel computed once more.
    let certificate = certify(
        &KernelGram::recomputed(&kernel, exact.as_ref().unwrap_or(&points)).centered(),
        &leading.found(&pairs, n <= FEW && dense),
        &means,
        kernel.is_positive(),
        fit.options.seed,
    )?;
    // 4. What the user should know.
    let negative = if kernel.is_positive() {
        None
    } else {
        let floor = leading.rounding_floor;
        negative_part(fit, &kernel, used, &gram, means.total, floor, dense)?
    };
    drop(gram);
    warnings.extend(own_warnings(&kernel, &means, &leading, k, negative));
    // 5. The model.
    let points = if again.is_some() { exact.unwrap_or(points) } else { points };
    let points = if kernel.is_precomputed() { Points::absent(&kernel, n) } else { points };
    let Leading { values, vectors, .. } = leading;
    let (threads, column_means) = (fit.options.threads, means.columns);
    let map =
        KernelMap::of_eigenvectors(kernel, points, &vectors, &values, column_means.view(), threads);
    let parts = KernelPcaParts {
        core: ModelCore {
            method: "kernel-pca",
            n_samples: Some(n as f64),
            feature_names: data.feature_names().map(<[String]>::to_vec),
            plan: plan.clone(),
            warnings,
            missing: None,
        },
        body: KernelBody::Points(map),
        values,
        total: means.total,
        n_features: d,
        column_means: column_means.to_vec(),
        mean: means.mean,
        negative,
        accuracy: KernelAccuracy::Exact,
        certificate,
        convergence: pairs.convergence,
        tolerance,
    };
    Ok((parts, n))
}

/// The leading pairs of the centred kernel of some points, and what they were found with.
struct Solved<'a> {
    gram: KernelGram<'a>,
    means: KernelMeans,
    k: usize,
    pairs: RitzPairs,
    leading: Leading,
    warnings: Vec<Warning>,
    /// Whether the budget has room for a full decomposition.
    dense: bool,
}

impl<'a> Solved<'a> {
    fn new(
        fit: &KernelPca,
        task: &KernelTask,
        kernel: &'a ResolvedKernel,
        points: &'a Points,
        route: Route,
        tolerance: f64,
        tie: f64,
    ) -> Result<Solved<'a>> {
        let n = points.len();
        // Step 1: the kernel, its means and its trace.
        let gram = match route {
            Route::KernelBlocks => KernelGram::recomputed(kernel, points),
            _ => KernelGram::stored(kernel, points)?,
        };
        let means = KernelMeans::of(&gram, points.arithmetic())?;
        let gram = gram.centered();
        // Step 2: the leading pairs; order, sign, null directions.
        let dense = task.has_room_for_dense(route, n);
        let mut kernel_pairs = KernelPairs {
            fit,
            gram: &gram,
            n,
            total: means.total,
            rounding_floor: means.rounding_floor,
            tolerance,
            room: task.room(route, n),
            dense,
        };
        let mut warnings = Vec::new();
        let (k, pairs) = resolve(&fit.n_components, &mut kernel_pairs, &mut warnings)?
            .or_refuse(|at_least| task.too_many(route, n, at_least))?;
        let leading = Leading::new(&pairs, k, means.rounding_floor, tie);
        Ok(Solved { gram, means, k, pairs, leading, warnings, dense })
    }

    /// Whether the rounding of kernel values hides components, or is more than is asked for.
    fn is_drowned(&self, tolerance: f64) -> bool {
        let Leading { rank, top, rounding_floor, .. } = self.leading;
        rank < self.k.min(self.pairs.vectors.nrows() - 1) || rounding_floor > tolerance * top
    }
}

/// The points, checked and moved; those that are kept in f32 in f64 too, for certificates are measured in that.
fn gather<T: Scalar>(
    fit: &KernelPca,
    kernel: &ResolvedKernel,
    data: &Dataset<T>,
) -> Result<(Points, Option<Points>)> {
    let gathering = Gathering::new(kernel, data)?.centered();
    let (n, d) = (gathering.n_samples(), data.n_features());
    fit.check_k(n, Some(n), d)?;
    let points = gathering.gather()?;
    if kernel.is_precomputed() {
        if n != d {
            return Err(not_square(n, d));
        }
        points.check_symmetric("the precomputed kernel", 10.0 * T::EPSILON.max(1e-9))?;
    }
    let exact = match points.arithmetic() {
        Some(Arithmetic::F32) => Some(gathering.exact().gather()?),
        _ => None,
    };
    Ok((points, exact))
}

/// Means of the kernel, and what follows from them.
struct KernelMeans {
    /// Of each column (n).
    columns: Array1<f64>,
    mean: f64,
    trace: f64,
    /// The trace of the centred kernel.
    total: f64,
    /// The largest modulus of a value on the diagonal, or of a column's mean.
    size: f64,
    /// Eigenvalues of the centred kernel at or below this are rounding.
    rounding_floor: f64,
}

impl KernelMeans {
    fn of(gram: &KernelGram, arithmetic: Option<Arithmetic>) -> Result<KernelMeans> {
        let diagonal = gram.diagonal();
        let n = diagonal.len() as f64;
        let columns: Array1<f64> = gram.row_sums()?.into_iter().map(|sum| sum / n).collect();
        check_finite(&columns)?;
        let mean = columns.sum() / n;
        let trace: f64 = diagonal.iter().sum();
        let largest = diagonal.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let rounding = match arithmetic {
            Some(Arithmetic::F32) => f64::from(f32::EPSILON),
            _ => f64::EPSILON,
        };
        // What rounding each value, and centring a kernel with a large mean, leave of an eigenvalue of 0.
        let row_sum = columns.iter().fold(0.0f64, |m, v| m.max(v.abs())) * n;
        let rounding_floor = 8.0 * n.sqrt() * rounding * largest + 4.0 * f64::EPSILON * row_sum;
        let total = (trace - n * mean).max(0.0);
        let size = columns.iter().fold(largest, |m, v| m.max(v.abs()));
        Ok(KernelMeans { columns, mean, trace, total, size, rounding_floor })
    }
}

/// `k` pairs, largest first, signed; those beyond the rank completed.
struct Leading {
    values: Vec<f64>,
    /// n × k.
    vectors: Array2<f64>,
    rank: usize,
    /// The largest value.
    top: f64,
    rounding_floor: f64,
    /// Which of the pairs comes after them, where there is one.
    next: Option<usize>,
}

impl Leading {
    fn new(pairs: &RitzPairs, k: usize, rounding_floor: f64, tie: f64) -> Leading {
        let n = pairs.vectors.nrows();
        let order = finish::descending(&pairs.values);
        let top = order.first().map_or(0.0, |&j| pairs.values[j].max(0.0));
        let rounding_floor = rounding_floor.max(1e-14 * top);
        let rank =
            order.iter().take(k.min(n - 1)).filter(|&&j| pairs.values[j] > rounding_floor).count();
        let (mut values, mut components) =
            finish::largest_first(&pairs.values, &pairs.vectors, k.min(pairs.values.len()), tie);
        values.iter_mut().skip(rank).for_each(|v| *v = 0.0);
        finish::complete(&mut components, rank, tie);
        let vectors = components.reversed_axes().as_standard_layout().into_owned();
        Leading { values, vectors, rank, top, rounding_floor, next: order.get(k).copied() }
    }

    /// What is to be certified, with the pair after them as the guard.
    fn found(&self, pairs: &RitzPairs, all: bool) -> Found<'_> {
        let guard =
            self.next.map(|j| (pairs.values[j], pairs.vectors.slice(s![.., j..j + 1]).to_owned()));
        let Leading { values, vectors, rank, rounding_floor, .. } = self;
        Found { vectors, values, rank: *rank, guard, rounding_floor: *rounding_floor, all }
    }
}

/// What the user should know of the kernel and its components.
fn own_warnings(
    kernel: &ResolvedKernel,
    means: &KernelMeans,
    leading: &Leading,
    k: usize,
    negative: Option<NegativePart>,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if leading.rank == 0 {
        warnings.push(Warning::NoVariance);
    } else if leading.rank < k {
        warnings.push(Warning::NullComponents { rank: leading.rank, requested: k });
    }
    if let Some(gamma) = kernel.width()
        && let Some(value) = all_alike(means.columns.len() as f64, means.mean, means.trace)
    {
        warnings.push(Warning::DegenerateKernel { gamma, value });
    }
    if let Some(NegativePart { share, smallest, complete }) = negative
        && smallest < -1e-10 * leading.top
    {
        warnings.push(Warning::IndefiniteKernel { share, smallest, complete });
    }
    warnings
}

/// What nearly all kernel values between different samples are, where that is 0 or 1: duplicates
/// keep their 1.
fn all_alike(n: f64, mean: f64, trace: f64) -> Option<f64> {
    let others = (n * n * mean - trace) / (n * (n - 1.0));
    if others >= 1.0 - 1e-8 {
        Some(1.0)
    } else {
        // All that a sample has in common with others, together.
        (others * (n - 1.0) < 0.1).then_some(0.0)
    }
}

/// A kernel that overflows has no components.
fn check_finite(column_means: &Array1<f64>) -> Result<()> {
    match column_means.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(row) => Err(Error::NotDefined {
            what: "kernel PCA",
            why: format!("kernel values of row {row} are not finite"),
        }),
    }
}

/// The centred kernel, as the number of components is asked of it.
struct KernelPairs<'a> {
    fit: &'a KernelPca,
    gram: &'a KernelGram<'a>,
    n: usize,
    total: f64,
    rounding_floor: f64,
    tolerance: f64,
    room: usize,
    /// Whether the budget has room for a full decomposition.
    dense: bool,
}

impl LeadingPairs for KernelPairs<'_> {
    type Pairs = RitzPairs;

    fn leading(&mut self, k: usize) -> Result<RitzPairs> {
        // Half of the tolerance: the certificate sees the rounding of the kernel besides.
        let mut request = EigenRequest::new(k, self.n, 0.5 * self.tolerance, &self.fit.options);
        // Past this many products a full decomposition would have been cheaper.
        let small = self.n <= 4096 && self.dense;
        if small {
            request.affordable = (self.n / 4).max(60);
        }
        if self.n > FEW || !small {
            let pairs = krylov::largest(self.gram, &request)?;
            if pairs.convergence.converged || !small {
                return Ok(pairs);
            }
        }
        let mut matrix = Array2::zeros((self.n, self.n));
        self.gram.apply(Array2::eye(self.n).view(), &mut matrix)?;
        Ok(dense::full(matrix.view(), k + request.guard)?.ritz)
    }

    fn head(&self, pairs: &RitzPairs, _: usize) -> Result<Head> {
        // As variances: the rules know no other values.
        let divisor = self.n as f64 - 1.0;
        let order = finish::descending(&pairs.values);
        let values = order.iter().map(|&j| pairs.values[j] / divisor).collect();
        let (total, rounding_floor) = (self.total / divisor, self.rounding_floor / divisor);
        Ok(Head::above_rounding(values, total, rounding_floor, self.n - 1))
    }

    fn limit(&self) -> usize {
        self.n
    }

    fn room(&self) -> usize {
        self.room
    }

    fn check_rule(&self, rule: Rule) -> Result<()> {
        KernelPca::check_rule(rule)
    }

    fn spectrum<'h>(&'h self, head: &'h Head) -> Spectrum<'h> {
        Spectrum {
            values: &head.values,
            total_variance: head.total,
            n_samples: self.n as f64,
            n_features: self.n,
            n_varying: self.n,
            max_rank: head.max_rank,
            centered: true,
            standardized: false,
        }
    }
}

/// Up to this many samples all eigenvalues are computed: it takes no time, and none can be missed.
const FEW: usize = 512;

/// Eigenpairs that were found, as columns.
struct Found<'a> {
    vectors: &'a Array2<f64>,
    values: &'a [f64],
    rank: usize,
    guard: Option<(f64, Array2<f64>)>,
    rounding_floor: f64,
    /// Whether they were chosen among all there are.
    all: bool,
}

fn certify(
    gram: &KernelGram,
    found: &Found,
    means: &KernelMeans,
    positive: bool,
    seed: u64,
) -> Result<Certificate> {
    let Found { vectors, values, rank, ref guard, rounding_floor, all: complete } = *found;
    let (n, k) = vectors.dim();
    let seed = random::seed_for(seed, gram.fingerprint());
    let probes = random::normal_matrix(&mut random::stream(seed, 3), n, PROBES);
    let mut blocks: Vec<ArrayView2<f64>> = vec![vectors.view()];
    let mut measured = values.to_vec();
    if let Some((value, vector)) = guard {
        measured.push(value.max(0.0));
        blocks.push(vector.view());
    }
    blocks.push(probes.view());
    let all = concatenate(Axis(1), &blocks).map_err(|e| Error::Internal(e.to_string()))?;
    let mut product = Array2::zeros(all.dim());
    gram.apply(all.view(), &mut product)?;
    let m = measured.len();
    let (left, right) = (product.slice(s![.., ..m]), all.slice(s![.., ..m]));
    let mut residuals = certificate::residuals(left, right, &measured);
    residuals.iter_mut().take(k).skip(rank).for_each(|r| *r = r.min(rounding_floor));
    let by_trace = certificate::missed_by_matrix(None, values, rank.max(1), means.total, 0.0);
    let none_missed = match by_trace {
        _ if complete || rank == k && k == n => NoneMissed::Complete,
        Some((excluded, _)) if positive && rank > 0 => excluded,
        _ => certificate::missed_by_probes(
            product.slice(s![.., m..]).as_standard_layout().view(),
            probes.view(),
            vectors.slice(s![.., ..rank]).as_standard_layout().view(),
            &values[..rank],
            positive.then_some(means.total),
        ),
    };
    Ok(certificate::certify(Measured {
        values: &measured,
        k,
        residuals: &residuals,
        along: &certificate::along(left, right, &measured),
        rounding: gram.rounding(means.size, right).into_iter().collect(),
        parts: None,
        orthogonality: certificate::orthogonality(vectors.view()),
        rounding_floor,
        evidence: Evidence::Data,
        none_missed,
        unseen: 0.0,
    }))
}

/// All eigenvalues are computed up to this many samples.
const ALL_VALUES: usize = 1500;

/// The eigenvalues below 0 of a kernel that may have some.
fn negative_part(
    fit: &KernelPca,
    kernel: &ResolvedKernel,
    points: &Points,
    gram: &KernelGram,
    total: f64,
    rounding_floor: f64,
    dense: bool,
) -> Result<Option<NegativePart>> {
    let n = points.len();
    let (values, complete) = if n <= ALL_VALUES && dense {
        let mut matrix = Array2::zeros((n, n));
        KernelGram::recomputed(kernel, points)
            .centered()
            .apply(Array2::eye(n).view(), &mut matrix)?;
        let symmetric = (&matrix + &matrix.t()) * 0.5;
        (crate::linalg::dense::symmetric_eigenvalues(symmetric.view())?, true)
    } else {
        let request =
            EigenRequest { guard: 0, ..EigenRequest::new(8.min(n), n, 1e-3, &fit.options) };
        let pairs = krylov::largest(&Negated(gram), &request)?;
        (pairs.values.iter().map(|v| -v).collect(), false)
    };
    let below: Vec<f64> = values.iter().copied().filter(|v| *v < -rounding_floor).collect();
    let size: f64 = below.iter().map(|v| v.abs()).sum();
    let smallest = below.iter().copied().fold(0.0, f64::min);
    let all = if complete { values.iter().map(|v| v.abs()).sum() } else { total + 2.0 * size };
    let share = if all > 0.0 { size / all } else { 0.0 };
    Ok(Some(NegativePart { share, smallest, complete }))
}

struct Negated<'a>(&'a KernelGram<'a>);

impl Operator for Negated<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        self.0.apply(v, out)?;
        out.mapv_inplace(|x| -x);
        Ok(())
    }

    fn fingerprint(&self) -> u64 {
        self.0.fingerprint()
    }
}
