//! The smallest end of a sparse symmetric matrix, by shift and invert (Ericsson & Ruhe 1980).
//!
//! The smallest eigenvalues λ of A are the largest ones, 1/(λ − σ), of `(A − σI)⁻¹` for a shift σ
//! below all of them, and far better separated there. A Cholesky factorisation that succeeds proves
//! that σ is below; a Bunch–Kaufman one past the last value found counts that none was missed.

use super::certificate::{self, NoneMissed};
use super::krylov::{self, EigenRequest, WIDTH};
use super::{Convergence, Eigenpairs, finish};
use crate::error::{Error, Result};
use crate::linalg::sparse::{Analysis, SparseFactor};
use crate::linalg::{dense, gemm, pool, random};
use crate::operator::{Deflated, Operator, SparseSymmetric};
use crate::options::Options;
use ndarray::{Array2, ArrayView2};

/// The `k` smallest eigenpairs of a sparse symmetric matrix (d × d), **smallest first**.
///
/// `known_null` holds null vectors known beforehand (d × m, orthonormal columns; the constant vector
/// of a connected graph's Laplacian, for one): they are not searched for and not returned, so that
/// k + m may be at most d. The matrix need not be positive semi-definite.
///
/// Residuals are measured on A itself, and are at most `options.tolerance` (1e-9) times its norm;
/// where the wanted values are much smaller than that norm, times their own size as far as rounding
/// allows. The inertia of a shifted matrix is compared with what was found, where its factorisation
/// is stable, and the search repeated if they disagree.
///
/// ```
/// use eigenlens::{Csr, Options, SparseSymmetric, ndarray, solver};
/// use ndarray::Array2;
///
/// // The Laplacian of a path of three nodes has the eigenvalues 0, 1 and 3.
/// let path = Csr::new(
///     3,
///     3,
///     vec![0, 2, 5, 7],
///     vec![0, 1, 0, 1, 2, 1, 2],
///     vec![1.0, -1.0, -1.0, 2.0, -1.0, -1.0, 1.0],
/// )?;
/// let path = SparseSymmetric::new(&path)?;
/// let constant = Array2::from_elem((3, 1), 3f64.sqrt().recip());
/// let pairs = solver::smallest(&path, 2, Some(constant.view()), &Options::default())?;
/// assert!((pairs.values[0] - 1.0).abs() < 1e-12 && (pairs.values[1] - 3.0).abs() < 1e-12);
/// # Ok::<(), eigenlens::Error>(())
/// ```
pub fn smallest(
    matrix: &SparseSymmetric,
    k: usize,
    known_null: Option<ArrayView2<f64>>,
    options: &Options,
) -> Result<Eigenpairs> {
    Ok(smallest_with_guard(matrix, k, known_null, options)?.pairs)
}

/// The smallest pairs, and what is known of the rest.
pub(crate) struct Smallest {
    pub pairs: Eigenpairs,
    /// The next value and its residual, where there is one.
    pub guard: Option<(f64, f64)>,
    /// Whether a smaller value could have been overlooked; `None` where no count could be trusted.
    pub none_missed: Option<NoneMissed>,
    /// An upper bound of ‖A‖.
    pub norm: f64,
}

/// [`smallest`], with what a certificate needs.
pub(crate) fn smallest_with_guard(
    matrix: &SparseSymmetric,
    k: usize,
    known_null: Option<ArrayView2<f64>>,
    options: &Options,
) -> Result<Smallest> {
    options.check()?;
    let d = matrix.dim();
    let known = known_null.filter(|n| n.ncols() > 0).map(|n| n.as_standard_layout().into_owned());
    let m = known.as_ref().map_or(0, |n| n.ncols());
    if k == 0 {
        let (name, expected) = ("n_components", "at least 1");
        return Err(Error::Parameter { name, value: "0".into(), expected });
    }
    if let Some(rows) = known.as_ref().map(|n| n.nrows()).filter(|rows| *rows != d) {
        return Err(Error::Shape {
            what: "`known_null`",
            found: format!("{rows} rows"),
            expected: d.to_string(),
        });
    }
    let limit = d.saturating_sub(m);
    if k > limit {
        return Err(Error::TooManyComponents { requested: k, limit, samples: d, features: d });
    }
    pool::run(options.threads, || {
        let (scaled, exponent) = matrix.scaled();
        let mut found = ShiftSearch::new(&scaled, k, known.as_ref(), options)?.run()?;
        let back = dense::power_of_two(exponent);
        found.pairs.values.iter_mut().for_each(|v| *v *= back);
        found.pairs.convergence.residuals.iter_mut().for_each(|r| *r *= back);
        found.guard = found.guard.map(|(value, residual)| (value * back, residual * back));
        found.norm *= back;
        Ok(found)
    })?
}

/// How far below the spectrum the first shift lies, relative to the norm.
const FIRST_STEP: f64 = 1e-5;
/// No shift comes nearer to the spectrum than about this, relative to the norm.
const NEAREST: f64 = 1e-8;
/// Times the shift may be moved.
const MOVES: usize = 3;
/// A residual below this (relative to the norm) is rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

struct ShiftSearch<'a> {
    /// Entries near 1.
    matrix: &'a SparseSymmetric,
    k: usize,
    /// d × m, row-major.
    known: Option<&'a Array2<f64>>,
    options: &'a Options,
    tolerance: f64,
    /// A lower bound of the spectrum.
    low: f64,
    /// An upper bound of ‖A‖, or 1 if that is 0.
    norm: f64,
}

/// Approximate pairs, values ascending.
struct Estimate {
    values: Vec<f64>,
    vectors: Array2<f64>,
    /// ‖A u − λ u‖ of each.
    residuals: Vec<f64>,
}

impl<'a> ShiftSearch<'a> {
    fn new(
        matrix: &'a SparseSymmetric,
        k: usize,
        known: Option<&'a Array2<f64>>,
        options: &'a Options,
    ) -> Result<ShiftSearch<'a>> {
        let (low, norm) = matrix.rows().bounds();
        let norm = if norm > 0.0 { norm } else { 1.0 };
        let tolerance = options.tolerance.unwrap_or(1e-9);
        if let Some(known) = known {
            check_null(matrix, known, norm)?;
        }
        Ok(ShiftSearch { matrix, k, known, options, tolerance, low, norm })
    }

    fn run(&self) -> Result<Smallest> {
        let analysis = Analysis::new(self.matrix.rows())?;
        let request = self.request();
        let needed = analysis.bytes() + 8 * (self.matrix.dim() * (2 * request.max_basis)) as u64;
        if let Some(budget) = self.options.memory.filter(|budget| *budget < needed) {
            return Err(Error::Memory { route: "shift and invert".into(), needed, budget });
        }
        let mut record = Convergence::default();
        // A second look, with other random vectors, if the count says that something was missed.
        for seed in 0..2 {
            let found = self.search(&analysis, seed, &mut record)?;
            let none_missed = self.none_missed(&analysis, &found)?;
            if none_missed != Some(NoneMissed::Disproved) {
                let next = found.values.get(self.k).copied();
                let guard = next.zip(found.residuals.get(self.k).copied());
                record.converged = true;
                record.residuals = found.residuals;
                let pairs = finish::smallest_pairs(&found.values, &found.vectors, self.k, record);
                return Ok(Smallest { pairs, guard, none_missed, norm: self.norm });
            }
        }
        Err(Error::NotConverged {
            what: "the search for the smallest eigenvalues (by inertia there are more)",
            iterations: record.operator_applications,
            residual: 1.0,
            tolerance: self.tolerance,
        })
    }

    fn request(&self) -> EigenRequest {
        let free = self.matrix.dim() - self.known.map_or(0, |n| n.ncols());
        EigenRequest::new(self.k, free, self.tolerance, self.options)
    }

    /// k pairs and a guard, whose residuals meet the tolerance.
    fn search(&self, analysis: &Analysis, seed: u64, record: &mut Convergence) -> Result<Estimate> {
        // Step 1: a shift below the spectrum.
        let mut factor = self.first_factor(analysis)?;
        let mut left = self.options.max_iterations;
        let mut request = self.request();
        request.seed =
            random::seed_for(self.options.seed.wrapping_add(seed), self.matrix.fingerprint());
        // Enough to see where the wanted values are, and often enough to find them.
        let mut short = (request.k + request.guard) / WIDTH + 16;
        let mut moves = 0;
        loop {
            // Step 2: the largest values of the inverse; at first only a look.
            request.max_applications = if moves < MOVES { short.min(left) } else { left };
            let inverse = Inverse(&factor);
            let deflated = self.known.map(|known| Deflated::new(&inverse, known.view()));
            let operator: &dyn Operator = match &deflated {
                Some(deflated) => deflated,
                None => &inverse,
            };
            let ritz = krylov::largest(operator, &request)?;
            left = left.saturating_sub(ritz.convergence.operator_applications);
            record.operator_applications += ritz.convergence.operator_applications;
            record.iterations += ritz.convergence.iterations;
            // Step 3: a step of inverse iteration takes the large end out of the vectors, which the
            // inverse hardly sees; then Rayleigh–Ritz on A itself.
            let mut estimate = Estimate {
                values: Vec::new(),
                vectors: ritz.vectors,
                residuals: vec![f64::INFINITY],
            };
            for _ in 0..3 {
                estimate = self.polish(operator, estimate.vectors)?;
                record.operator_applications += estimate.values.len().div_ceil(WIDTH);
                if self.worst(&estimate) <= self.goal(&estimate, factor.shift()) {
                    break;
                }
            }
            let worst = self.worst(&estimate);
            let found = ritz.convergence.converged && estimate.values.len() >= self.k;
            if found && worst <= self.goal(&estimate, factor.shift()) {
                return Ok(estimate);
            }
            if moves >= MOVES || left == 0 {
                if found && worst <= self.tolerance * self.norm {
                    return Ok(estimate);
                }
                return Err(Error::NotConverged {
                    what: "the shift-and-invert iteration",
                    iterations: record.operator_applications,
                    residual: worst / self.norm,
                    tolerance: self.tolerance,
                });
            }
            // Step 4: a better shift, now that something is known of the spectrum.
            moves = match self.better_factor(analysis, &estimate, factor.shift())? {
                Some(better) => {
                    factor = better;
                    moves + 1
                }
                None => MOVES,
            };
            short *= 4;
        }
    }

    /// Starts just below 0 or Gershgorin's bound, whichever is higher, and goes down until the
    /// shifted matrix is positive definite.
    fn first_factor<'b>(&self, analysis: &'b Analysis) -> Result<SparseFactor<'b>> {
        let last = self.low - FIRST_STEP * self.norm;
        let mut step = FIRST_STEP * self.norm;
        loop {
            let shift = (self.low.max(0.0) - step).max(last);
            if let Some(factor) = analysis.definite(shift)? {
                return Ok(factor);
            }
            if shift <= last {
                return Err(Error::Internal("no factor below Gershgorin's bound".into()));
            }
            step *= 10.0;
        }
    }

    /// Moves the shift to a tenth of the wanted values' spread below them; `None` where it is
    /// already well placed.
    fn better_factor<'b>(
        &self,
        analysis: &'b Analysis,
        estimate: &Estimate,
        shift: f64,
    ) -> Result<Option<SparseFactor<'b>>> {
        let (Some(&first), Some(&last)) = (estimate.values.first(), estimate.values.last()) else {
            return Ok(None);
        };
        // The known null vectors are not searched for, but the factor must be definite on them too.
        let low = if self.known.is_some() { first.min(0.0) } else { first };
        let spread = (last - low).max(NEAREST * self.norm);
        let too_far = low - shift > 0.5 * spread;
        let too_near = first - shift < 0.01 * (last - first);
        if !too_far && !too_near {
            return Ok(None);
        }
        let mut distance = 0.1 * spread;
        while too_near || low - distance > shift {
            if let Some(factor) = analysis.definite(low - distance)? {
                return Ok(Some(factor));
            }
            // Ritz values are never below the smallest value, but may be above it.
            distance *= 3.0;
        }
        Ok(None)
    }

    /// One step of inverse iteration on the block (d × w), then Rayleigh–Ritz on A.
    fn polish(&self, inverse: &dyn Operator, block: Array2<f64>) -> Result<Estimate> {
        let mut next = Array2::zeros(block.dim());
        inverse.apply(block.view(), &mut next)?;
        let q = dense::qr_q(next.view());
        let mut product = Array2::zeros(q.dim());
        self.matrix.apply(q.view(), &mut product)?;
        let projected = gemm::transposed_product(q.view(), product.view());
        let (values, inner) = dense::symmetric_eigen(projected.view())?;
        let vectors = gemm::product(q.view(), inner.view());
        let product = gemm::product(product.view(), inner.view());
        let residuals = certificate::residuals(product.view(), vectors.view(), &values);
        Ok(Estimate { values, vectors, residuals })
    }

    /// The largest residual of the wanted pairs.
    fn worst(&self, estimate: &Estimate) -> f64 {
        estimate.residuals.iter().take(self.k).fold(0.0, |m: f64, r| m.max(*r))
    }

    /// The residual wanted: relative to the wanted values' own size, where rounding allows.
    fn goal(&self, estimate: &Estimate, shift: f64) -> f64 {
        let last = estimate.values.get(self.k - 1).map_or(0.0, |v| v - shift);
        (self.tolerance * last).max(ROUNDING * self.norm).min(self.tolerance * self.norm)
    }

    /// Counts the eigenvalues up to the last one found; `None` where no count can be trusted.
    fn none_missed(&self, analysis: &Analysis, found: &Estimate) -> Result<Option<NoneMissed>> {
        let m = self.known.map_or(0, |n| n.ncols());
        if self.k + m == self.matrix.dim() {
            return Ok(Some(NoneMissed::Complete));
        }
        let values = &found.values[..self.k];
        let last = values[self.k - 1];
        let margin = 10.0 * self.worst(found) + 1e-11 * self.norm;
        let gap = found.values.get(self.k).map_or(0.0, |next| next - last);
        // The guard's value may be too large, so a count in the gap that disagrees is repeated
        // nearer to the last value. Where a cluster goes on, what lies before it is counted; a
        // second cut is for the pivots that vanish along with an eigenvalue of regular graphs.
        let cuts = if gap > 8.0 * margin {
            vec![last + 0.25 * gap, last + 2.0 * margin]
        } else {
            vec![last - 2.0 * margin, last - 1e4 * margin]
        };
        let mut answer = None;
        for cut in cuts {
            let near = |v: &f64| (v - cut).abs() < margin;
            if values.iter().any(near) || (m > 0 && near(&0.0)) {
                continue;
            }
            let factor = analysis.indefinite(cut)?;
            let sound = factor.backward_error()? * self.norm <= 0.1 * margin;
            let Some(count) = factor.negative_count().filter(|_| sound) else { continue };
            let nulls = if cut > 0.0 { m } else { 0 };
            if count == nulls + values.iter().filter(|v| **v < cut).count() {
                return Ok(Some(NoneMissed::Inertia));
            }
            answer = Some(NoneMissed::Disproved);
        }
        Ok(answer)
    }
}

/// `(A − σI)⁻¹`.
struct Inverse<'a>(&'a SparseFactor<'a>);

impl Operator for Inverse<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        *out = self.0.solve(v)?;
        Ok(())
    }
}

/// Refuses vectors that are not orthonormal or not null.
fn check_null(matrix: &SparseSymmetric, known: &Array2<f64>, norm: f64) -> Result<()> {
    const ENOUGH: f64 = 1e-8;
    let wrong = |value: String, expected| Error::Parameter { name: "known_null", value, expected };
    if known.iter().any(|v| !v.is_finite()) {
        return Err(wrong("not finite".into(), "finite"));
    }
    let off = certificate::orthogonality(known.view());
    if off > ENOUGH {
        return Err(wrong(format!("off by {off:.1e}"), "d × m with orthonormal columns"));
    }
    let mut product = Array2::zeros(known.dim());
    matrix.apply(known.view(), &mut product)?;
    let zeros = vec![0.0; known.ncols()];
    let residuals = certificate::residuals(product.view(), known.view(), &zeros);
    let off = residuals.iter().fold(0.0, |m: f64, r| m.max(*r)) / norm;
    if off > ENOUGH {
        return Err(wrong(format!("mapped to {off:.1e} of the norm"), "mapped to 0 by the matrix"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
