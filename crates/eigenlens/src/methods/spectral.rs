//! What the spectral embeddings share: checks, neighbours, and the extreme pairs of their operators.

use crate::data::{DataShape, Dataset, Missing};
use crate::error::{Error, Hint, Result, Warning};
use crate::graph::{Neighborhood, Neighbors, Network, Points, Search};
use crate::linalg::{digest, random};
use crate::model::NegativePart;
use crate::n_components::NComponents;
use crate::operator::{Centered, Deflated, Operator, SparseSymmetric, SymmetricMatrix};
use crate::options::Options;
use crate::passes::{RowGrid, reduction_block_rows};
use crate::plan::{self, Plan, Route};
use crate::scalar::Scalar;
use crate::solver::certificate::{
    self, Certificate, Evidence, Measured, NoneMissed, PROBES, Rounding,
};
use crate::solver::krylov::{self, EigenRequest};
use crate::solver::shift_invert::{Smallest, smallest_with_guard};
use crate::solver::{Convergence, dense, finish};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, concatenate, s};
use rand_chacha::ChaCha8Rng;

/// Neighbours of every sample, where none were asked for.
const DEFAULT_NEIGHBORS: usize = 10;

/// The number of components: a number, or all that the method has.
pub(super) fn resolve_k(request: &NComponents, limit: usize, n: usize, d: usize) -> Result<usize> {
    request.check()?;
    request.check_limit(limit, n, d)?;
    request.number(limit).ok_or_else(|| Error::Unsupported {
        what: "a rule for the number of components".into(),
        why: "is not defined for an embedding",
        instead: Some(Hint::Set { option: "n_components", value: "2".into() }),
    })
}

/// Refuses what cannot be meant, and counts the samples.
pub(super) fn check(shape: &DataShape, options: &Options) -> Result<usize> {
    options.check()?;
    if shape.missing != Missing::Error {
        return Err(Error::Unsupported {
            what: "a policy for missing entries".into(),
            why: "is not offered by embeddings: leave the samples or features out first",
            instead: Some(Hint::Set { option: "missing", value: "error".into() }),
        });
    }
    shape.check()?;
    if shape.n_weights.is_some() {
        return Err(Error::Unsupported {
            what: "a weight for each sample".into(),
            why: "has no meaning for distances or a graph of neighbours",
            instead: None,
        });
    }
    match shape.n_samples {
        Some(n) if n < 2 => Err(Error::TooFewRows { found: n, needed: 2 }),
        Some(n) => Ok(n),
        None => Err(Error::NotDefined {
            what: "a plan",
            why: "the samples have not been counted yet".into(),
        }),
    }
}

/// The shape of data with their samples counted.
pub(super) fn counted<T: Scalar>(data: &Dataset<T>) -> Result<DataShape> {
    let mut shape = data.shape();
    if shape.n_samples.is_none() {
        let rows = reduction_block_rows(shape.n_features);
        shape.n_samples = Some(RowGrid::new(data)?.for_each_batch(rows, |_| Ok(()))?);
    }
    Ok(shape)
}

/// The residual asked for.
pub(super) fn tolerance<T: Scalar>(options: &Options) -> f64 {
    options.tolerance.unwrap_or(if T::EPSILON > f64::EPSILON { 1e-6 } else { 1e-9 })
}

/// The plan of the leading pairs of a stored m × m matrix, beside `other` bytes.
pub(super) fn plan_stored(
    what: &str,
    m: usize,
    k: usize,
    other: u64,
    options: &Options,
) -> Result<Plan> {
    let size = m as u64;
    let basis = krylov::basis_columns(k, m) as u64 + 16;
    let (route, work) = if dense::prefers_krylov(m, k) {
        (Route::Iterative, 8 * size * (3 * basis + 64))
    } else {
        (Route::Dual, 8 * size * size * 8)
    };
    let needed = (8 * size).saturating_mul(size).saturating_add(work + other + (4 << 20));
    let reason = format!("{what}: {m} × {m}, {k} components");
    plan::only(route, reason, 1, needed, options.memory)
}

/// The plan of the smallest pairs of a sparse matrix with `row` entries in a row.
pub(super) fn plan_sparse(
    what: &str,
    n: usize,
    d: usize,
    k: usize,
    row: usize,
    options: &Options,
) -> Result<Plan> {
    let (size, basis) = (n as u64, krylov::basis_columns(k, n) as u64 + 16);
    // The factor's size is known only once the graph is, and the solver checks it against the
    // budget. A small one is at most half full; a large one is taken to be that of a surface.
    let factor = if n <= 4000 { size * size / 2 } else { (12 * size * row as u64).max(8_000_000) };
    // The basis, or, where it is the whole space, the pairs in all their copies.
    let columns = (3 * basis).max(12 * (k as u64 + 1));
    let needed =
        8 * size * (2 * d as u64 + columns + 12 * row as u64 + 64) + 3 * 8 * factor + (4 << 20);
    let reason = format!("{what}: sparse, {n} × {n}, {k} components");
    plan::only(Route::ShiftInvert, reason, 1, needed, options.memory)
}

/// Entries in a row of the graph, as far as they can be known beforehand.
pub(super) fn likely_row(which: Neighborhood) -> usize {
    match which {
        Neighborhood::Nearest(k) => 2 * k + 1,
        Neighborhood::Radius(_) => 64,
    }
}

/// The graph of neighbours.
pub(super) struct Graph {
    pub neighbors: Neighbors,
    pub network: Network,
    pub bridges: usize,
}

/// What was asked for, or a usual number of neighbours.
pub(super) fn neighborhood(request: Option<Neighborhood>, n: usize) -> Result<Neighborhood> {
    let which = request.unwrap_or(Neighborhood::Nearest(DEFAULT_NEIGHBORS.min(n - 1)));
    which.check(n)?;
    Ok(which)
}

/// Finds the neighbours and joins them.
pub(super) fn graph(points: &Points, which: Neighborhood, join: bool) -> Result<Graph> {
    let neighbors = Search::new(points).among_themselves(which)?;
    let (network, bridges) = Network::connected(&neighbors, points, which, join)?;
    Ok(Graph { neighbors, network, bridges })
}

/// Extreme pairs, as an embedding needs them.
pub(super) struct EigenPairs {
    /// k values.
    pub values: Vec<f64>,
    /// n × k, signed, unit columns.
    pub vectors: Array2<f64>,
    /// Components that are not null.
    pub rank: usize,
    pub certificate: Certificate,
    pub convergence: Convergence,
    /// Of the centred distances.
    pub trace: f64,
    pub negative: NegativePart,
}

/// The leading k pairs of `−½ H A H` for squared distances A (n × n).
pub(super) fn leading_of_distances(
    squared: ArrayView2<f64>,
    k: usize,
    tolerance: f64,
    options: &Options,
) -> Result<EigenPairs> {
    let n = squared.nrows();
    let operator = Centered { matrix: squared, factor: -0.5 };
    let (sum, diagonal) = (sum_of(squared), squared.diag().sum());
    let trace = (sum / n as f64 - diagonal) * 0.5;
    // Step 1: the pairs, by iteration where they are few of many.
    let found = if dense::prefers_krylov(n, k) {
        Some(krylov::largest(&operator, &EigenRequest::new(k, n, 0.1 * tolerance, options))?)
    } else {
        None
    };
    let (ritz, spectrum) = match found.filter(|ritz| ritz.convergence.converged) {
        Some(ritz) => (ritz, None),
        None => {
            let all = dense::full(centered_matrix(squared).view(), k + 1)?;
            (all.ritz, all.spectrum)
        }
    };
    let negative = match &spectrum {
        Some(values) => negative_part(values, trace, true),
        None => negative_part(&smallest_values(&operator, options)?, trace, false),
    };
    // Step 2: order and sign; what rounding leaves of a rank is null.
    let order = finish::descending(&ritz.values);
    let mut measured: Vec<f64> = order.iter().take(k + 1).map(|&j| ritz.values[j]).collect();
    let size = measured.first().map_or(0.0, |v| v.abs()).max(trace);
    let rounding_floor = 8.0 * (n as f64).sqrt() * f64::EPSILON * size;
    let rank = measured.iter().take(k.min(n - 1)).filter(|v| **v > rounding_floor).count();
    let tie = finish::f64_tie();
    let (_, mut rows) = finish::largest_first(&ritz.values, &ritz.vectors, measured.len(), tie);
    let mut kept = rows.slice(s![..k, ..]).to_owned();
    finish::complete(&mut kept, rank, tie);
    rows.slice_mut(s![..k, ..]).assign(&kept);
    measured.iter_mut().skip(rank).for_each(|v| *v = v.max(0.0));
    measured[rank..k].fill(0.0);
    // Step 3: residuals and probes, in one more product.
    let columns = rows.t().as_standard_layout().into_owned();
    let known = KnownOfDistances { all: spectrum.is_some(), trace, smallest: negative.smallest };
    let certificate =
        certify_distances(&operator, &columns, &measured, k, rank, rounding_floor, known, options)?;
    measured.truncate(k);
    Ok(EigenPairs {
        values: measured,
        vectors: columns.slice(s![.., ..k]).as_standard_layout().into_owned(),
        rank,
        certificate,
        convergence: ritz.convergence,
        trace,
        negative,
    })
}

/// What is known of the values beside the leading ones.
struct KnownOfDistances {
    /// All values were computed.
    all: bool,
    trace: f64,
    /// The smallest value.
    smallest: f64,
}

/// Random numbers for the probes of an operator.
fn probe_stream(seed: u64, operator: &dyn Operator) -> ChaCha8Rng {
    random::stream(random::seed_for(seed, operator.fingerprint()), 12)
}

/// Measures `k` pairs, and the one after them, against the operator.
#[expect(clippy::too_many_arguments)]
fn certify_distances(
    operator: &Centered,
    columns: &Array2<f64>,
    values: &[f64],
    k: usize,
    rank: usize,
    rounding_floor: f64,
    known: KnownOfDistances,
    options: &Options,
) -> Result<Certificate> {
    let (n, width) = columns.dim();
    let probes = random::normal_matrix(&mut probe_stream(options.seed, operator), n, PROBES);
    let both = join_columns(columns.view(), probes.view())?;
    let mut product = Array2::zeros(both.dim());
    operator.apply(both.view(), &mut product)?;
    let of_pairs = product.slice(s![.., ..width]);
    let mut residuals = certificate::residuals(of_pairs, columns.view(), values);
    residuals.iter_mut().skip(rank).take(k - rank).for_each(|r| *r = r.min(rounding_floor));
    let kept = columns.slice(s![.., ..k]);
    let none_missed = if known.all {
        NoneMissed::Complete
    } else {
        // What is left of the trace bounds the other values only where none is negative.
        certificate::missed_by_matrix(None, values, k, known.trace, 0.0)
            .map(|(missed, _)| missed)
            .filter(|_| known.smallest >= -rounding_floor)
            .unwrap_or_else(|| {
                let (probes, of_probes) = (probes.view(), product.slice(s![.., width..]));
                let trace = Some(known.trace);
                certificate::missed_by_probes(of_probes, probes, kept, &values[..k], trace)
            })
    };
    Ok(certificate::certify(Measured {
        values,
        k,
        residuals: &residuals,
        along: &certificate::along(of_pairs, columns.view(), values),
        rounding: Rounding::of_products(operator.norm(), n, values.len()),
        parts: None,
        orthogonality: certificate::orthogonality(kept.as_standard_layout().view()),
        rounding_floor,
        evidence: Evidence::Operator,
        none_missed,
        unseen: 0.0,
    }))
}

/// The smallest k pairs of a sparse matrix besides the null vector that is known.
pub(super) fn smallest_of_graph(
    matrix: &SparseSymmetric,
    null: &[f64],
    k: usize,
    tolerance: f64,
    options: &Options,
) -> Result<EigenPairs> {
    let known = known_column(null)?;
    let options = Options { tolerance: Some(tolerance), ..options.clone() };
    let found = smallest_with_guard(matrix, k, Some(known.view()), &options)?;
    let Smallest { pairs, guard, none_missed, norm } = found;
    let mut product = Array2::zeros(pairs.vectors.dim());
    matrix.apply(pairs.vectors.view(), &mut product)?;
    let (vectors, values) = (pairs.vectors, pairs.values);
    // The kernel view, norm − λ, has its largest values where the operator has its smallest.
    let mut measured: Vec<f64> = values.iter().map(|v| norm - v).collect();
    let mut residuals = certificate::residuals(product.view(), vectors.view(), &values);
    if let Some((next, residual)) = guard {
        measured.push(norm - next);
        residuals.push(residual);
    }
    let certificate = certificate::certify(Measured {
        values: &measured,
        k,
        residuals: &residuals,
        along: &certificate::along(product.view(), vectors.view(), &values),
        rounding: Rounding::of_products(norm, matrix.terms(), measured.len()),
        parts: None,
        orthogonality: certificate::orthogonality(vectors.view()),
        rounding_floor: 0.0,
        evidence: Evidence::Operator,
        none_missed: none_missed
            .unwrap_or(NoneMissed::Probabilistic { bound: f64::INFINITY, failure: 1.0 }),
        unseen: 0.0,
    });
    Ok(EigenPairs {
        values,
        vectors,
        rank: k,
        certificate,
        convergence: pairs.convergence,
        trace: 0.0,
        negative: NegativePart { share: 0.0, smallest: 0.0, complete: true },
    })
}

/// The smallest k pairs of a stored matrix (n × n) besides the null vector that is known; all its values are
/// between 0 and `norm`.
pub(super) fn smallest_of_matrix(
    matrix: ArrayView2<f64>,
    null: &[f64],
    norm: f64,
    k: usize,
    tolerance: f64,
    options: &Options,
) -> Result<EigenPairs> {
    let n = matrix.nrows();
    let known = known_column(null)?;
    let flipped = Flipped { matrix, norm };
    let operator = Deflated::new(&flipped, known.view());
    // Step 1: the pairs, by iteration where they are few of many.
    let found = if dense::prefers_krylov(n, k) {
        Some(krylov::largest(&operator, &EigenRequest::new(k, n, 0.1 * tolerance, options))?)
    } else {
        None
    };
    let (ritz, complete) = match found.filter(|ritz| ritz.convergence.converged) {
        Some(ritz) => (ritz, false),
        None => (dense::full(flipped.without(null).view(), k + 1)?.ritz, true),
    };
    // Step 2: order and sign.
    let width = (k + 1).min(ritz.values.len());
    let tie = finish::f64_tie();
    let (measured, rows) = finish::largest_first(&ritz.values, &ritz.vectors, width, tie);
    let columns = rows.t().as_standard_layout().into_owned();
    // Step 3: residuals and probes, in one more product.
    let probes = random::normal_matrix(&mut probe_stream(options.seed, &operator), n, PROBES);
    let both = join_columns(columns.view(), probes.view())?;
    let mut product = Array2::zeros(both.dim());
    operator.apply(both.view(), &mut product)?;
    let of_pairs = product.slice(s![.., ..width]);
    let kept = columns.slice(s![.., ..k]).as_standard_layout().into_owned();
    let none_missed = if complete {
        NoneMissed::Complete
    } else {
        let of_probes = product.slice(s![.., width..]);
        let values = &measured[..k];
        certificate::missed_by_probes(of_probes, probes.view(), kept.view(), values, None)
    };
    let certificate = certificate::certify(Measured {
        values: &measured,
        k,
        residuals: &certificate::residuals(of_pairs, columns.view(), &measured),
        along: &certificate::along(of_pairs, columns.view(), &measured),
        rounding: Rounding::of_products(norm, n, measured.len()),
        parts: None,
        orthogonality: certificate::orthogonality(kept.view()),
        rounding_floor: 0.0,
        evidence: Evidence::Operator,
        none_missed,
        unseen: 0.0,
    });
    Ok(EigenPairs {
        values: measured[..k].iter().map(|v| norm - v).collect(),
        vectors: kept,
        rank: k,
        certificate,
        convergence: ritz.convergence,
        trace: 0.0,
        negative: NegativePart { share: 0.0, smallest: 0.0, complete: true },
    })
}

/// A known vector as the columns that a solver leaves out: none, where it is 0.
fn known_column(null: &[f64]) -> Result<Array2<f64>> {
    let width = usize::from(null.iter().any(|v| *v != 0.0));
    let entries = null[..null.len() * width].to_vec();
    Array2::from_shape_vec((null.len(), width), entries).map_err(|e| Error::Internal(e.to_string()))
}

/// `norm·I − A`: the smallest values of A are its largest.
struct Flipped<'a> {
    matrix: ArrayView2<'a, f64>,
    norm: f64,
}

impl Flipped<'_> {
    /// The matrix (n × n), without its part along a unit vector.
    fn without(&self, null: &[f64]) -> Array2<f64> {
        let mut all = Array2::from_shape_fn(self.matrix.dim(), |(i, j)| {
            -self.matrix[[i, j]] - self.norm * null[i] * null[j]
        });
        all.diag_mut().mapv_inplace(|v| v + self.norm);
        all
    }
}

impl Operator for Flipped<'_> {
    fn dim(&self) -> usize {
        self.matrix.nrows()
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        SymmetricMatrix(self.matrix).apply(v, out)?;
        ndarray::Zip::from(out).and(v).for_each(|out, v| *out = self.norm * v - *out);
        Ok(())
    }

    fn fingerprint(&self) -> u64 {
        digest::of_matrix(self.matrix)
    }
}

/// A certificate of more components, those added being null.
pub(super) fn padded(of: &Certificate, k: usize) -> Certificate {
    let mut padded = of.clone();
    padded.residuals.resize(k, 0.0);
    let last = of.value_errors.iter().fold(0.0f64, |m, v| m.max(*v));
    padded.value_errors.resize(k, last);
    padded.angles.resize(k, 1.0);
    padded
}

/// +1 or −1: what the sign rule asks of training scores.
pub(super) fn sign(scores: ArrayView1<f64>) -> f64 {
    finish::sign_of(scores, finish::f64_tie())
}

/// Multiplies every column by its factor and lets the training scores decide its sign.
pub(super) fn scaled_and_signed(vectors: &Array2<f64>, factors: &[f64]) -> Array2<f64> {
    let mut coordinates = vectors.clone();
    for (mut column, &factor) in coordinates.columns_mut().into_iter().zip(factors) {
        let sign = sign(column.view());
        column.mapv_inplace(|v| if v == 0.0 { 0.0 } else { sign * factor * v });
    }
    coordinates
}

/// Refuses coordinates that are no numbers in the units of the data: a model holds them.
pub(super) fn check_coordinates(coordinates: &Array2<f64>) -> Result<()> {
    if coordinates.iter().all(|v| v.is_finite()) {
        return Ok(());
    }
    Err(Error::OutOfRange { what: "the coordinates" })
}

/// What the user should know about null components.
pub(super) fn null_warnings(rank: usize, requested: usize) -> Vec<Warning> {
    match rank {
        0 => vec![Warning::NoVariance],
        _ if rank < requested => vec![Warning::NullComponents { rank, requested }],
        _ => Vec::new(),
    }
}

/// Negative values looked for, and the products spent on them: enough to see how large they are.
const NEGATIVE_VALUES: usize = 8;
const NEGATIVE_PRODUCTS: usize = 16;

/// About the smallest eigenvalues. They are Ritz values: never below the true ones.
fn smallest_values(operator: &dyn Operator, options: &Options) -> Result<Vec<f64>> {
    let request = EigenRequest::new(NEGATIVE_VALUES, operator.dim(), 1e-3, options);
    let max_applications = request.max_applications.min(NEGATIVE_PRODUCTS);
    let ritz = krylov::largest(&Negative(operator), &EigenRequest { max_applications, ..request })?;
    Ok(ritz.values.iter().map(|v| -v).collect())
}

/// −A.
struct Negative<'a>(&'a dyn Operator);

impl Operator for Negative<'_> {
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

/// From all values, or from some of the smallest. Rounding is not negative.
fn negative_part(values: &[f64], trace: f64, complete: bool) -> NegativePart {
    let below = |v: f64| if -v > 1e-13 * trace { -v } else { 0.0 };
    let smallest = values.iter().fold(0.0f64, |m, v| m.min(-below(*v)));
    let sum: f64 = values.iter().map(|v| below(*v)).sum();
    let all = trace + 2.0 * sum;
    NegativePart { share: if all > 0.0 { sum / all } else { 0.0 }, smallest, complete }
}

/// `−½ H A H`, formed.
fn centered_matrix(squared: ArrayView2<f64>) -> Array2<f64> {
    let means = squared.mean_axis(Axis(0)).unwrap_or_default();
    let mean = means.mean().unwrap_or(0.0);
    Array2::from_shape_fn(squared.dim(), |(i, j)| {
        -0.5 * ((squared[[i, j]] - means[i]) - (means[j] - mean))
    })
}

fn sum_of(a: ArrayView2<f64>) -> f64 {
    a.rows().into_iter().map(|row| row.sum()).sum()
}

fn join_columns(a: ArrayView2<f64>, b: ArrayView2<f64>) -> Result<Array2<f64>> {
    let joined = concatenate(Axis(1), &[a, b]).map_err(|e| Error::Internal(e.to_string()))?;
    Ok(joined.as_standard_layout().into_owned())
}
