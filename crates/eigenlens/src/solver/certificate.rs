//! How far to trust eigenpairs: residuals measured by other code than made them, and what follows
//! from them for values and angles. Numerical only; sampling errors belong to the model.

use crate::linalg::{dense, gemm};
use ndarray::{Array2, ArrayView2, Axis, s};
use rayon::prelude::*;
use std::fmt;
use std::ops::Range;

/// What the residuals were measured against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Evidence {
    /// Every component against the data, in f64.
    Data,
    /// Components against the matrix the solver used or against what its iteration said was left of
    /// them, and either against the data by random probes: the bound fails with at most this
    /// probability.
    Probes {
        /// Probability that the bound does not hold.
        failure: f64,
    },
    /// Against the matrix that was given in place of data.
    Matrix,
    /// Against the covariance expected of the whole data given their observed entries.
    Expected,
    /// Against the kernel or graph operator that was made from the data.
    Operator,
}

/// Whether a larger eigenvalue could have been overlooked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoneMissed {
    /// No: all eigenvalues were computed.
    Complete,
    /// No: what is left of the trace is smaller than the last value kept.
    Trace,
    /// No: the inertia of the shifted matrix counts exactly the values found.
    Inertia,
    /// A value that was missed is at most `bound` times the last one kept, but for a probability of
    /// `failure`.
    Probabilistic {
        /// Relative to the last value kept; below 1 nothing can have been missed.
        bound: f64,
        /// Probability that the bound does not hold.
        failure: f64,
    },
    /// A count disagrees: something was missed.
    Disproved,
}

/// The numerical certificate of k components. All values and residuals are relative to the largest
/// eigenvalue.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// What the residuals were measured against.
    pub evidence: Evidence,
    /// ‖S u − λ u‖ / λ₁ for each component.
    pub residuals: Vec<f64>,
    /// Bound on the error of each value, relative to λ₁.
    pub value_errors: Vec<f64>,
    /// Bound on sin θ of each component; 1: undetermined, it is identified only with its group.
    pub angles: Vec<f64>,
    /// Components that are only identified together, as ranges; single ones are not listed.
    pub groups: Vec<Range<usize>>,
    /// Bound on sin θ of the span of each listed group; 1 where the group goes on past the last
    /// component.
    pub group_angles: Vec<f64>,
    /// Largest entry of |UᵀU − I|.
    pub orthogonality: f64,
    /// Components with a value above the rounding of the route taken.
    pub rank: usize,
    /// Whether a larger value could have been overlooked. Where that is not excluded, the angle
    /// bounds hold on the condition that none was.
    pub none_missed: NoneMissed,
}

impl Certificate {
    /// The largest residual, relative to the largest eigenvalue.
    pub fn relative_residual(&self) -> f64 {
        largest(self.residuals.iter().copied())
    }

    /// Whether the angle bounds assume that nothing was overlooked.
    pub fn is_conditional(&self) -> bool {
        match self.none_missed {
            NoneMissed::Probabilistic { bound, .. } => bound >= 1.0,
            NoneMissed::Disproved => true,
            _ => false,
        }
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let against = match self.evidence {
            Evidence::Data => "against the data".into(),
            Evidence::Probes { failure } => {
                format!("by random probes, failing with probability {failure:.0e}")
            }
            Evidence::Matrix => "against the matrix given".into(),
            Evidence::Expected => "against the covariance expected given what is observed".into(),
            Evidence::Operator => "against the operator".into(),
        };
        writeln!(
            f,
            "residual       {:.1e} of the largest variance, {against}",
            self.relative_residual()
        )?;
        let worst = self.angles.iter().fold(0.0f64, |m, a| if *a < 1.0 { m.max(*a) } else { m });
        let condition =
            if self.is_conditional() { " (if no component was overlooked)" } else { "" };
        writeln!(f, "angle          at most {worst:.1e} rad{condition}")?;
        for (group, angle) in self.groups.iter().zip(&self.group_angles) {
            let range = format!("{}–{}", group.start + 1, group.end);
            if *angle < 1.0 {
                writeln!(
                    f,
                    "group          components {range} only together (their span to {angle:.1e} rad)"
                )?;
            } else {
                writeln!(f, "group          components {range} and more only together")?;
            }
        }
        writeln!(f, "orthogonality  {:.1e}", self.orthogonality)?;
        let missed = match self.none_missed {
            NoneMissed::Complete => "excluded (all values were computed)".into(),
            NoneMissed::Trace => "excluded (by the trace)".into(),
            NoneMissed::Inertia => "excluded (by inertia)".into(),
            NoneMissed::Probabilistic { bound, failure } if bound < 1.0 => {
                format!("excluded but for a probability of {failure:.0e}")
            }
            NoneMissed::Probabilistic { bound, failure } => format!(
                "none above {bound:.1} times the last, but for a probability of {failure:.0e}"
            ),
            NoneMissed::Disproved => "something WAS missed".into(),
        };
        write!(f, "missed         {missed}")
    }
}

/// What was measured: the input of a certificate.
pub(crate) struct Measured<'a> {
    /// k + guard values, descending.
    pub values: &'a [f64],
    /// Components kept.
    pub k: usize,
    /// Absolute residual of each of the k + guard pairs.
    pub residuals: &'a [f64],
    /// Its part along the vector itself, |uᵀSu − λ|: how far the value is from a Rayleigh quotient.
    pub along: &'a [f64],
    /// Largest |UᵀU − I|.
    pub orthogonality: f64,
    /// Values at or below this are rounding.
    pub rounding_floor: f64,
    pub evidence: Evidence,
    pub none_missed: NoneMissed,
}

/// A residual below this share of its gap separates two components.
const SEPARATES: f64 = 0.1;

/// Draws the conclusions.
pub(crate) fn certify(measured: Measured) -> Certificate {
    let Measured { values, k, rounding_floor, .. } = measured;
    let top = values.first().copied().unwrap_or(0.0);
    if top <= 0.0 {
        return of_nothing(measured);
    }
    let relative = Relative::new(&measured, top);
    let (groups, cut) = relative.groups(k);
    let mut angles = vec![0.0; k];
    let mut value_errors = vec![0.0; k];
    let mut listed = Vec::new();
    let mut group_angles = Vec::new();
    for group in groups {
        let open = cut && group.end == k;
        let gap = if open { 0.0 } else { relative.gap(&group) };
        let size = relative.size(&group);
        let angle = if gap > 0.0 { (size / gap).min(1.0) } else { 1.0 };
        let alone = group.len() == 1;
        for j in group.clone() {
            angles[j] = if alone { angle } else { 1.0 };
            // In a group only the norm of all residuals together bounds every value (Kahan 1967).
            value_errors[j] = if alone { relative.value_error(j, size, gap) } else { size };
        }
        if !alone || open {
            listed.push(group);
            group_angles.push(angle);
        }
    }
    // A null component was completed, not found: its own residual does not see what lies beside it.
    // All that is known of its value is that it was below the rounding of the route.
    let worst = relative.residuals.iter().take(k).fold(0.0f64, |m, r| m.max(*r));
    for j in (0..k).filter(|&j| values[j] <= rounding_floor) {
        value_errors[j] = value_errors[j].max(rounding_floor / top + worst);
    }
    Certificate {
        evidence: measured.evidence,
        residuals: relative.residuals[..k].to_vec(),
        value_errors,
        angles,
        groups: listed,
        group_angles,
        orthogonality: measured.orthogonality,
        rank: values.iter().take(k).filter(|v| **v > rounding_floor).count(),
        none_missed: measured.none_missed,
    }
}

/// Of data without any variance: every direction is as good as another.
fn of_nothing(measured: Measured) -> Certificate {
    let k = measured.k;
    Certificate {
        evidence: measured.evidence,
        residuals: vec![0.0; k],
        value_errors: vec![0.0; k],
        angles: vec![1.0; k],
        groups: if k > 1 { std::iter::once(0..k).collect() } else { Vec::new() },
        group_angles: if k > 1 { vec![1.0] } else { Vec::new() },
        orthogonality: measured.orthogonality,
        rank: 0,
        none_missed: measured.none_missed,
    }
}

/// No measurement in f64, relative to the largest value, is finer than this.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// What was measured, relative to the largest value.
struct Relative {
    values: Vec<f64>,
    residuals: Vec<f64>,
    along: Vec<f64>,
}

impl Relative {
    fn new(measured: &Measured, top: f64) -> Relative {
        let relative = |numbers: &[f64]| numbers.iter().map(|v| v / top).collect();
        Relative {
            values: relative(measured.values),
            residuals: relative(measured.residuals),
            along: relative(measured.along),
        }
    }

    /// A residual, no finer than it can be measured.
    fn residual(&self, j: usize) -> f64 {
        self.residuals.get(j).copied().unwrap_or(0.0) + ROUNDING
    }

    /// Whether j and j + 1 cannot be told apart; a null neighbour after the last value bounds the gap from below.
    fn together(&self, j: usize) -> bool {
        let gap = self.values[j] - self.values.get(j + 1).copied().unwrap_or(0.0);
        (self.residual(j) + self.residual(j + 1)) > SEPARATES * gap
    }

    /// The first k, in groups that can be told apart; whether the last one goes on after them.
    fn groups(&self, k: usize) -> (Vec<Range<usize>>, bool) {
        let mut groups = Vec::new();
        let mut start = 0;
        for j in 0..k {
            let more = j + 1 < self.values.len() && self.together(j);
            if j + 1 == k || !more {
                groups.push(start..j + 1);
                start = j + 1;
            }
        }
        (groups, k < self.values.len() && k > 0 && self.together(k - 1))
    }

    /// From a group to its neighbours.
    fn gap(&self, group: &Range<usize>) -> f64 {
        let values = &self.values;
        let above = if group.start == 0 {
            f64::INFINITY
        } else {
            values[group.start - 1] - values[group.start] - self.residual(group.start - 1)
        };
        let below = match values.get(group.end) {
            Some(next) => values[group.end - 1] - next - self.residual(group.end),
            None => f64::INFINITY,
        };
        above.min(below)
    }

    /// The norm of a group's residuals.
    fn size(&self, group: &Range<usize>) -> f64 {
        group.clone().map(|j| self.residual(j) * self.residual(j)).sum::<f64>().sqrt()
    }

    /// Of a Rayleigh quotient the error is quadratic; a value that is none (of a matrix that was formed with
    /// rounding) is off by the difference besides.
    fn value_error(&self, j: usize, size: f64, gap: f64) -> f64 {
        let quadratic = if gap > 0.0 { self.residual(j) * size / gap } else { f64::INFINITY };
        let shift = self.along.get(j).copied().unwrap_or(0.0) + ROUNDING;
        self.residual(j).min(quadratic + shift)
    }
}

/// ‖A u − λ u‖ of each column, from the product `A U` (d × m).
pub(crate) fn residuals(
    product: ArrayView2<f64>,
    vectors: ArrayView2<f64>,
    values: &[f64],
) -> Vec<f64> {
    let squares = sums_of_columns(product, vectors, values, |rest, _| rest * rest);
    squares.into_iter().map(f64::sqrt).collect()
}

/// |uᵀA u − λ| of each column, from the product `A U` (d × m).
pub(crate) fn along(
    product: ArrayView2<f64>,
    vectors: ArrayView2<f64>,
    values: &[f64],
) -> Vec<f64> {
    let sums = sums_of_columns(product, vectors, values, |rest, u| u * rest);
    sums.into_iter().map(f64::abs).collect()
}

/// `Σ term(A u − λ u, u)` of each column; pieces of rows in parallel, their sums added in order.
fn sums_of_columns(
    product: ArrayView2<f64>,
    vectors: ArrayView2<f64>,
    values: &[f64],
    term: impl Fn(f64, f64) -> f64 + Sync,
) -> Vec<f64> {
    const PIECE: usize = 4096;
    let parts: Vec<Vec<f64>> = product
        .axis_chunks_iter(Axis(0), PIECE)
        .into_par_iter()
        .zip(vectors.axis_chunks_iter(Axis(0), PIECE))
        .map(|(product, vectors)| {
            let mut sums = vec![0.0; values.len()];
            for (p, u) in product.rows().into_iter().zip(vectors.rows()) {
                for j in 0..values.len() {
                    sums[j] += term(p[j] - values[j] * u[j], u[j]);
                }
            }
            sums
        })
        .collect();
    let mut total = vec![0.0; values.len()];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
    }
    total
}

/// Largest entry of |UᵀU − I|, for columns U (d × m).
pub(crate) fn orthogonality(vectors: ArrayView2<f64>) -> f64 {
    let gram = gemm::lower_gram(vectors);
    let lower = gram.indexed_iter().filter(|((i, j), _)| j <= i);
    largest(lower.map(|((i, j), v)| (v - f64::from(u8::from(i == j))).abs()))
}

/// The largest of some numbers ≥ 0; a NaN counts as infinite and never passes unseen.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |m, v| if v.is_nan() { f64::INFINITY } else { m.max(v) })
}

/// Probes in a block.
pub(crate) const PROBES: usize = 8;

/// A Gaussian coordinate is smaller than this with probability below 0.8 × this.
const SMALL_COORDINATE: f64 = 0.1;

/// The probability that all [`PROBES`] Gaussian probes are nearly orthogonal to a given direction.
pub(crate) fn probe_failure() -> f64 {
    (0.8 * SMALL_COORDINATE).powi(PROBES as i32)
}

/// A bound on the spectral norm of a matrix from its products with Gaussian probes
/// (columns): it fails with [`probe_failure`].
pub(crate) fn norm_bound(products: ArrayView2<f64>) -> f64 {
    largest(products.columns().into_iter().map(|c| c.dot(&c))).sqrt() / SMALL_COORDINATE
}

/// Bounds what was missed, from the products of the operator with Gaussian probes: everything the
/// found pairs do not explain.
pub(crate) fn missed_by_probes(
    products: ArrayView2<f64>,
    probes: ArrayView2<f64>,
    vectors: ArrayView2<f64>,
    values: &[f64],
) -> NoneMissed {
    let mut inside = gemm::transposed_product(vectors, probes);
    for (mut row, &value) in inside.rows_mut().into_iter().zip(values) {
        row *= -value;
    }
    let mut rest: Array2<f64> = products.to_owned();
    gemm::product_into(vectors, inside.view(), &mut rest, false);
    let last = values.last().copied().unwrap_or(0.0);
    let bound = if last > 0.0 { norm_bound(rest.view()) / last } else { f64::INFINITY };
    NoneMissed::Probabilistic { bound, failure: probe_failure() }
}

/// What can be said without looking at the data again: from the trace, or by counting the values of
/// the matrix, with the vectors found.
pub(crate) fn missed_by_matrix(
    matrix: Option<(ArrayView2<f64>, ArrayView2<f64>)>,
    values: &[f64],
    k: usize,
    total: f64,
) -> Option<NoneMissed> {
    let top = values.first().copied().unwrap_or(0.0);
    let last = *values.get(k.checked_sub(1)?)?;
    let rest = total - values[..k].iter().sum::<f64>();
    if rest + 1e-12 * total < last {
        return Some(NoneMissed::Trace);
    }
    // The inertia of a large matrix would cost more than the pairs did.
    let (matrix, vectors) = matrix.filter(|(m, _)| m.nrows() <= 1000)?;
    let next = values.get(k).copied().unwrap_or(0.0);
    let shift = if last - next > 1e-9 * top { 0.5 * (last + next) } else { last + 1e-9 * top };
    let found = values[..k].iter().filter(|v| **v > shift).count();
    let leading = vectors.slice(s![.., ..found]);
    let excluded = dense::at_most_above(matrix, leading, &values[..found], shift)
        || dense::count_above(matrix, shift) == found;
    Some(if excluded { NoneMissed::Inertia } else { NoneMissed::Disproved })
}
