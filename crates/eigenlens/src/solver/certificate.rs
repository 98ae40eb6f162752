//! How far to trust eigenpairs: residuals measured by other code than made them, and what follows
//! from them for values and angles. Numerical only; sampling errors belong to the model.

use crate::linalg::{dense, gemm};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};
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
    /// Bound on the error of each value, relative to λ₁; 1 where every value drowned in rounding.
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
    /// Whether a larger value could have been overlooked. Where that is not excluded, the bounds of values and
    /// angles hold on the condition that none was.
    pub none_missed: NoneMissed,
}

impl Certificate {
    /// The largest residual, relative to the largest eigenvalue.
    pub fn relative_residual(&self) -> f64 {
        largest(self.residuals.iter().copied())
    }

    /// The certificate of the same pairs rounded to float32, from the values and the components (k × d) that this one is
    /// of.
    pub fn of_single(&self, values: &[f64], components: ArrayView2<f64>) -> Certificate {
        let single = |v: f64| f64::from(v as f32);
        let rounded = components.mapv(single);
        let moved = (&rounded - &components).map_axis(Axis(1), |u| u.dot(&u).sqrt());
        let top = values.first().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
        let off: Vec<f64> = values.iter().map(|v| (v - single(*v)).abs() / top).collect();
        let mut of = self.clone();
        for (j, moved) in moved.iter().enumerate() {
            // ‖S − λ‖ ≤ λ₁; a vector that moves by δ turns by at most δ over its length.
            let off = off.get(j).copied().unwrap_or(0.0);
            of.residuals[j] += moved + off;
            of.value_errors[j] += off;
            of.angles[j] = (of.angles[j] + 2.0 * moved).min(1.0);
        }
        for (group, angle) in of.groups.iter().zip(&mut of.group_angles) {
            let inside = moved.iter().skip(group.start).take(group.len());
            *angle = (*angle + 2.0 * inside.map(|m| m * m).sum::<f64>().sqrt()).min(1.0);
        }
        let columns = rounded.t().as_standard_layout().into_owned();
        of.orthogonality = orthogonality(columns.view()) + ORTHOGONALITY_ROUNDING;
        of
    }

    /// Whether the bounds of values and angles assume that nothing was overlooked.
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
        writeln!(f, "rounding       bounded by a model that was tested, not proven")?;
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
    /// What rounding may have done to both.
    pub rounding: Rounding,
    /// The residuals apart, along the components and beside them, where that is known.
    pub parts: Option<ResidualParts>,
    /// Largest |UᵀU − I|.
    pub orthogonality: f64,
    /// Values at or below this are rounding.
    pub rounding_floor: f64,
    pub evidence: Evidence,
    pub none_missed: NoneMissed,
    /// What is left out of sight of `none_missed`: a value may have been overlooked that is this much above the
    /// last one (absolute).
    pub unseen: f64,
}

/// What rounding may have added to what was measured of each pair, or hidden in it; absolute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rounding {
    /// Of each residual (k + guard).
    pub residuals: Vec<f64>,
    /// Of each Rayleigh quotient (k + guard).
    pub values: Vec<f64>,
}

impl Rounding {
    /// The same for all pairs: an error of this norm in products with unit vectors.
    pub fn uniform(error: f64, pairs: usize) -> Rounding {
        Rounding { residuals: vec![error; pairs], values: vec![error; pairs] }
    }

    /// Of products with a matrix or operator of this norm, whose entries are sums of so many terms. Rounding errors
    /// of a sum add up as independent ones do (Higham & Mary 2019), twice for what is done with the products.
    pub fn of_products(norm: f64, terms: usize, pairs: usize) -> Rounding {
        Rounding::uniform(f64::EPSILON * (4.0 + (terms as f64).sqrt()) * norm, pairs)
    }
}

impl FromIterator<(f64, f64)> for Rounding {
    /// From what residual and Rayleigh quotient of each pair may be off by.
    fn from_iter<I: IntoIterator<Item = (f64, f64)>>(pairs: I) -> Rounding {
        let (residuals, values) = pairs.into_iter().unzip();
        Rounding { residuals, values }
    }
}

/// Residuals of k components, taken apart, or bounds on their parts. Absolute.
pub(crate) struct ResidualParts {
    /// |uᵢᵀ(A uⱼ − λⱼ uⱼ)| (k × k).
    pub inside: Array2<f64>,
    /// What lies outside the span of the components (k).
    pub outside: Vec<f64>,
}

impl ResidualParts {
    /// Of the leading residuals (d × at least k) of components U (d × k).
    pub fn of(residuals: &Array2<f64>, components: ArrayView2<f64>) -> ResidualParts {
        let mut rest = residuals.slice(s![.., ..components.ncols()]).to_owned();
        let inside = gemm::transposed_product(components, rest.view());
        let more = gemm::subtract_and_project(components, &inside, &mut rest);
        gemm::product_into(components, more.mapv(|x| -x).view(), &mut rest, false);
        let outside = rest.map_axis(Axis(0), |c| c.dot(&c).sqrt()).to_vec();
        ResidualParts { inside: inside.mapv_into(f64::abs), outside }
    }

    /// Allows for a matrix other than the one that these are of: its error E is at most `rows` long in each row of
    /// `Uᵀ E U`, and at most `error` in all. That matrix is symmetric: either of two rows bounds an entry.
    pub fn widen(&mut self, rows: &[f64], error: f64, values: &[f64]) {
        let known = self.inside.clone();
        for ((i, j), inside) in self.inside.indexed_iter_mut() {
            // The components are at right angles but for a little.
            let swapped = known[[j, i]] + 4.0 * f64::EPSILON * (values[i] - values[j]).abs();
            *inside = (known[[i, j]] + rows[i]).min(swapped + rows[j]);
        }
        self.outside.iter_mut().for_each(|outside| *outside += error);
    }
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
    let plain: Vec<f64> = groups.iter().map(|group| relative.plain_angle(group, k, cut)).collect();
    for (at, group) in groups.iter().enumerate() {
        let open = cut && group.end == k;
        let alone = group.len() == 1;
        let angle = if alone && !open { relative.angle(at, &groups, &plain) } else { plain[at] };
        for j in group.clone() {
            angles[j] = if alone { angle } else { 1.0 };
            value_errors[j] = match alone && !open {
                true => relative.value_error(j, relative.gap(group)),
                // In a group only the norm of all residuals together bounds every value (Kahan 1967); one that
                // goes on changes places with what comes after it.
                false => relative.size(&(group.start..group.end + usize::from(open))),
            };
        }
        if !alone || open {
            listed.push(group.clone());
            group_angles.push(angle);
        }
    }
    // A null component was completed, not found: its own residual does not see what lies beside it.
    // All that is known of its value is that it was below the rounding of the route.
    let worst = (0..k).fold(0.0f64, |m, j| m.max(relative.residual(j)));
    for j in (0..k).filter(|&j| values[j] <= rounding_floor) {
        value_errors[j] = value_errors[j].max(rounding_floor / top + worst);
    }
    let last = values.get(k.wrapping_sub(1)).copied().unwrap_or(0.0);
    for j in (0..k).filter(|&j| values[j] <= last + measured.unseen) {
        value_errors[j] += measured.unseen / top;
    }
    Certificate {
        evidence: measured.evidence,
        residuals: relative.residuals[..k].to_vec(),
        value_errors,
        angles,
        groups: listed,
        group_angles,
        orthogonality: measured.orthogonality + ORTHOGONALITY_ROUNDING,
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
        // Values that are 0 because nothing varies are exact; those that drowned are not known at all.
        value_errors: vec![f64::from(u8::from(measured.rounding_floor > 0.0)); k],
        angles: vec![1.0; k],
        groups: if k > 1 { std::iter::once(0..k).collect() } else { Vec::new() },
        group_angles: if k > 1 { vec![1.0] } else { Vec::new() },
        orthogonality: measured.orthogonality + ORTHOGONALITY_ROUNDING,
        rank: 0,
        none_missed: measured.none_missed,
    }
}

/// Products of unit vectors are measured no closer than this.
const ORTHOGONALITY_ROUNDING: f64 = f64::EPSILON;

/// What was measured, relative to the largest value; residuals with what rounding may have hidden.
struct Relative {
    values: Vec<f64>,
    residuals: Vec<f64>,
    along: Vec<f64>,
    parts: Option<ResidualParts>,
}

impl Relative {
    fn new(measured: &Measured, top: f64) -> Relative {
        let Rounding { residuals, values } = &measured.rounding;
        let with = |numbers: &[f64], rounding: &[f64]| {
            let rounding = rounding.iter().copied().chain(std::iter::repeat(0.0));
            numbers.iter().zip(rounding).map(|(v, r)| (v + r) / top).collect()
        };
        let parts = measured.parts.as_ref().map(|parts| ResidualParts {
            inside: &parts.inside / top,
            outside: parts.outside.iter().map(|v| v / top).collect(),
        });
        Relative {
            values: measured.values.iter().map(|v| v / top).collect(),
            residuals: with(measured.residuals, residuals),
            along: with(measured.along, values),
            parts,
        }
    }

    fn residual(&self, j: usize) -> f64 {
        self.residuals.get(j).copied().unwrap_or(0.0)
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
        self.gap_above(group).min(self.gap_below(group, group.end))
    }

    fn gap_above(&self, group: &Range<usize>) -> f64 {
        let values = &self.values;
        match group.start.checked_sub(1) {
            Some(before) => values[before] - values[group.start] - self.residual(before),
            None => f64::INFINITY,
        }
    }

    /// From a group to the pair `next`, where there is one.
    fn gap_below(&self, group: &Range<usize>, next: usize) -> f64 {
        match self.values.get(next) {
            Some(value) => self.values[group.end - 1] - value - self.residual(next),
            None => f64::INFINITY,
        }
    }

    /// The norm of a group's residuals.
    fn size(&self, group: &Range<usize>) -> f64 {
        group.clone().map(|j| self.residual(j) * self.residual(j)).sum::<f64>().sqrt()
    }

    /// From the norm of a group's residuals and its gap alone (Davis & Kahan 1970).
    fn plain_angle(&self, group: &Range<usize>, k: usize, cut: bool) -> f64 {
        let gap = if cut && group.end == k { 0.0 } else { self.gap(group) };
        if gap > 0.0 { (self.size(group) / gap).min(1.0) } else { 1.0 }
    }

    /// Of the single component of group `at`: what its residual has along the other groups is divided by the gap to
    /// them, which may be far larger than that to the nearest one. With v the true eigenvector of a value μ,
    /// `vᵀ(A u − λ u) = (μ − λ) vᵀu`.
    fn angle(&self, at: usize, groups: &[Range<usize>], plain: &[f64]) -> f64 {
        let Some(ResidualParts { inside, outside }) = &self.parts else { return plain[at] };
        let (group, k) = (&groups[at], outside.len());
        let j = group.start;
        let below = self.gap_below(group, k);
        if below <= 0.0 {
            return plain[at];
        }
        // What lies outside the true components may have something along those that were found.
        let shared = |(other, angle): (&Range<usize>, &f64)| {
            angle * other.clone().map(|i| inside[[i, j]].powi(2)).sum::<f64>().sqrt()
        };
        let beside = outside[j] + groups.iter().zip(plain).map(shared).sum::<f64>();
        let mut square = (beside / below).powi(2);
        for (other, angle) in groups.iter().zip(plain).filter(|(other, _)| *other != group) {
            let gap = match other.start > j {
                true => self.gap_below(group, other.start),
                false => self.values[other.end - 1] - self.values[j] - self.residual(other.end - 1),
            };
            let along = other.clone().map(|i| inside[[i, j]].powi(2)).sum::<f64>().sqrt();
            // The directions of the group are known up to their angle.
            square += ((along + angle * self.residual(j)) / gap).powi(2);
        }
        square.sqrt().min(plain[at])
    }

    /// Of a Rayleigh quotient the error is quadratic; a value that is none (of a matrix that was formed with
    /// rounding) is off by the difference besides.
    fn value_error(&self, j: usize, gap: f64) -> f64 {
        let residual = self.residual(j);
        let quadratic = if gap > 0.0 { residual * residual / gap } else { f64::INFINITY };
        let shift = self.along.get(j).copied().unwrap_or(0.0);
        residual.max(shift).min(quadratic + shift)
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

/// |uᵀr| of each column of residuals R and vectors U (d × m).
pub(crate) fn inner(residuals: &Array2<f64>, vectors: ArrayView2<f64>) -> Vec<f64> {
    along(residuals.view(), vectors, &vec![0.0; vectors.ncols()])
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

/// Whether k components of d features, `kept` with the guard, are so many that measuring every one of them would cost more than
/// their scores.
pub(crate) fn leaves_to_probes(k: usize, kept: usize, d: usize) -> bool {
    8 * k > d.max(64) || kept > 3 * PROBES
}

/// A Gaussian coordinate is smaller than this with probability below 0.8 × this.
const SMALL_COORDINATE: f64 = 0.1;

/// The same for bounds that are to be close.
const LARGER_COORDINATE: f64 = 0.2;

/// The squares of [`PROBES`] normal numbers are hardly ever less together: see [`error_failure`].
const SMALL_SQUARES: f64 = 0.04;

/// The probability that all [`PROBES`] Gaussian probes are nearly orthogonal to a given direction.
pub(crate) fn probe_failure() -> f64 {
    (0.8 * SMALL_COORDINATE).powi(PROBES as i32)
}

/// The probability that [`error_bound`] or one of k [`row_bounds`] does not hold.
pub(crate) fn error_failure(k: usize) -> f64 {
    // χ² with 8 degrees of freedom is below x with a probability of at most (x/2)⁴/4!.
    let row = (0.5 * SMALL_SQUARES).powi(PROBES as i32 / 2) / 24.0;
    (0.8 * LARGER_COORDINATE).powi(PROBES as i32) + k as f64 * row
}

/// A bound on the spectral norm of a matrix from its products with Gaussian probes
/// (columns): it fails with [`probe_failure`].
fn norm_bound(products: ArrayView2<f64>) -> f64 {
    longest(products) / SMALL_COORDINATE
}

/// The same for an error that is looked for everywhere: a closer bound that fails with [`error_failure`].
pub(crate) fn error_bound(products: ArrayView2<f64>) -> f64 {
    longest(products) / LARGER_COORDINATE
}

/// Bounds on the length of every row of a matrix, from its products with Gaussian probes (k × 8): of a row they are
/// normal numbers, and the sum of their squares is its square times one that has the χ² distribution.
pub(crate) fn row_bounds(products: ArrayView2<f64>) -> Vec<f64> {
    let bound = |row: ArrayView1<f64>| (row.dot(&row) / SMALL_SQUARES).sqrt();
    products.rows().into_iter().map(bound).collect()
}

fn longest(columns: ArrayView2<f64>) -> f64 {
    largest(columns.columns().into_iter().map(|c| c.dot(&c))).sqrt()
}

/// Bounds what was missed, from the products of the operator with Gaussian probes: everything the
/// found pairs do not explain. Where the trace of the operator is known, what the probes saw must account for it.
pub(crate) fn missed_by_probes(
    products: ArrayView2<f64>,
    probes: ArrayView2<f64>,
    vectors: ArrayView2<f64>,
    values: &[f64],
    trace: Option<f64>,
) -> NoneMissed {
    let mut inside = gemm::transposed_product(vectors, probes);
    for (mut row, &value) in inside.rows_mut().into_iter().zip(values) {
        row *= -value;
    }
    let mut rest: Array2<f64> = products.to_owned();
    gemm::product_into(vectors, inside.view(), &mut rest, false);
    let left = trace.map_or(0.0, |trace| trace - values.iter().sum::<f64>());
    let hidden = if trace.is_some() { hidden_trace(rest.view(), probes, left) } else { 0.0 };
    let last = values.last().copied().unwrap_or(0.0);
    let bound = norm_bound(rest.view()).max(hidden);
    let bound = if last > 0.0 { bound / last } else { f64::INFINITY };
    NoneMissed::Probabilistic { bound, failure: probe_failure() }
}

/// How much of the trace that is `left` the probes cannot have seen. Of a rest R they see `gᵀR g`, on average its
/// trace, with a variance of 2 ‖R‖² (Hutchinson 1990), and `‖R g‖²`, on average ‖R‖².
fn hidden_trace(rest: ArrayView2<f64>, probes: ArrayView2<f64>, left: f64) -> f64 {
    /// Standard deviations that chance does not explain.
    const DEVIATIONS: f64 = 8.0;
    let count = probes.ncols().max(1) as f64;
    let pairs = || rest.columns().into_iter().zip(probes.columns());
    let seen = pairs().map(|(r, g)| r.dot(&g)).sum::<f64>() / count;
    let square = pairs().map(|(r, _)| r.dot(&r)).sum::<f64>() / count;
    let deviation = (2.0 * square / count).sqrt();
    let hidden = left - seen;
    if hidden > DEVIATIONS * deviation + 1e-9 * left.abs() { hidden } else { 0.0 }
}

/// Whether the values of a matrix are counted: the inertia of a large one would cost more than the pairs did.
pub(crate) fn counts_values(matrix: ArrayView2<f64>) -> bool {
    matrix.nrows() <= 1000
}

/// What can be said without looking at the data again: from the trace, or by counting the values of
/// the matrix, with the vectors found; and how far above the last one kept a value may lie unseen. `noise` is what
/// the matrix is off by, relative to its largest value.
pub(crate) fn missed_by_matrix(
    matrix: Option<(ArrayView2<f64>, ArrayView2<f64>)>,
    values: &[f64],
    k: usize,
    total: f64,
    noise: f64,
) -> Option<(NoneMissed, f64)> {
    let top = values.first().copied().unwrap_or(0.0);
    let last = *values.get(k.checked_sub(1)?)?;
    let rest = total - values[..k].iter().sum::<f64>();
    if rest + 1e-12 * total < last {
        return Some((NoneMissed::Trace, 0.0));
    }
    let (matrix, vectors) = matrix.filter(|(matrix, _)| counts_values(*matrix))?;
    // No shift is finer than the factorisation is exact, and the matrix.
    let finest = (8.0 * matrix.nrows() as f64 * f64::EPSILON + noise) * top;
    let counts = |found: usize, shift: f64| {
        let leading = vectors.slice(s![.., ..found]);
        dense::at_most_above(matrix, leading, &values[..found], shift)
            || dense::count_above(matrix, shift) == found
    };
    let next = values.get(k).copied().unwrap_or(0.0);
    if last - next > 2.0 * finest && counts(k, 0.5 * (last + next)) {
        return Some((NoneMissed::Inertia, 0.0));
    }
    // The last one is not alone, or what comes after it is not known well: what lies above those beside it?
    let apart = |j: usize| j == 0 || values[j - 1] - values[j] > 4.0 * finest;
    let found = (0..k).rev().find(|&j| apart(j))?;
    let shift = values[found] + 2.0 * finest;
    Some(match counts(found, shift) {
        true => (NoneMissed::Inertia, shift - last),
        false => (NoneMissed::Disproved, 0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Of a rest `diag(0, 0, 5)` probes without a third coordinate see nothing: the trace says that 5 are hidden.
    #[test]
    fn what_probes_cannot_have_seen_is_told_by_the_trace() {
        let blind =
            Array2::from_shape_fn(
                (3, PROBES),
                |(f, p)| {
                    if f < 2 { [1.0, -1.0][(f + p) % 2] } else { 0.0 }
                },
            );
        let first = array![[1.0], [0.0], [0.0]];
        let mut products = Array2::<f64>::zeros((3, PROBES));
        products.row_mut(0).assign(&(&blind.row(0) * 9.0));
        let missed = |products: &Array2<f64>, trace| {
            let found = (blind.view(), first.view());
            match missed_by_probes(products.view(), found.0, found.1, &[9.0], trace) {
                NoneMissed::Probabilistic { bound, .. } => bound,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(missed(&products, None), 0.0);
        assert_eq!(missed(&products, Some(14.0)), 5.0 / 9.0);
        assert_eq!(missed(&products, Some(9.0)), 0.0);
        // What they do see accounts for the trace: of `diag(9, 5, 0)` every one sees 5.
        products.row_mut(1).assign(&(&blind.row(1) * 5.0));
        let bound = missed(&products, Some(14.0));
        assert!((bound - 5.0 / SMALL_COORDINATE / 9.0).abs() < 1e-12, "{bound}");
    }

    /// Of `diag(2, 1, 1)` the second value is not alone: values are counted above it, by as much as the factorisation
    /// of a 3 × 3 matrix of norm 2 is exact to, twice.
    #[test]
    fn what_inertia_leaves_unseen_is_said() {
        let matrix = Array2::from_diag(&ndarray::arr1(&[2.0, 1.0, 1.0]));
        let vectors = array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let found = |noise: f64| {
            let both = Some((matrix.view(), vectors.view()));
            missed_by_matrix(both, &[2.0, 1.0, 1.0], 2, 4.0, noise).unwrap()
        };
        let (missed, unseen) = found(0.0);
        assert_eq!(missed, NoneMissed::Inertia);
        assert!((unseen / (96.0 * f64::EPSILON) - 1.0).abs() < 0.05, "{unseen:e}");
        // With noise in the matrix, by that much more.
        let (missed, unseen) = found(1e-6);
        assert_eq!(missed, NoneMissed::Inertia);
        assert!((unseen / 4e-6 - 1.0).abs() < 1e-6, "{unseen:e}");
    }

    /// `√(Σ 0.1² · 8 / 0.04)`, and χ² with 8 degrees below 0.04 with a probability of `0.02⁴/4!` at most.
    #[test]
    fn rows_are_bounded_by_the_squares_that_probes_see() {
        let bounds = row_bounds(Array2::from_elem((2, PROBES), 0.1).view());
        assert!((bounds[0] - 2f64.sqrt()).abs() < 1e-15 && bounds.len() == 2);
        let expected = 0.16f64.powi(8) + 3.0 * 0.02f64.powi(4) / 24.0;
        assert!((error_failure(3) / expected - 1.0).abs() < 1e-14);
        let mut parts =
            ResidualParts { inside: array![[1.0, 5.0], [2.0, 1.0]], outside: vec![3.0; 2] };
        parts.widen(&[10.0, 0.5], 7.0, &[2.0, 1.0]);
        assert_eq!(parts.outside, [10.0, 10.0]);
        // Of (0, 1): 5 + 10 by its own row, 2 + 0.5 by that of (1, 0).
        let off = (parts.inside[[0, 1]] - 2.5).abs() + (parts.inside[[1, 0]] - 2.5).abs();
        assert!(off < 1e-14, "{}", parts.inside);
    }

    #[test]
    fn rounded_vectors_have_a_certificate_of_their_own() {
        let (a, b) = (0.6f64.cos(), 0.6f64.sin());
        let of = Certificate {
            evidence: Evidence::Data,
            residuals: vec![1e-16; 2],
            value_errors: vec![1e-16; 2],
            angles: vec![1e-16; 2],
            groups: Vec::new(),
            group_angles: Vec::new(),
            orthogonality: 1e-16,
            rank: 2,
            none_missed: NoneMissed::Complete,
        };
        let single = of.of_single(&[1.1, 0.3], array![[a, b], [-b, a]].view());
        let [x, y] = [a, b].map(|v| f64::from(v as f32));
        assert!((single.orthogonality - (x * x + y * y - 1.0).abs()).abs() < 1e-15);
        assert!(single.orthogonality > 1e-9);
        let moved = ((x - a).powi(2) + (y - b).powi(2)).sqrt();
        assert!((single.angles[0] - 1e-16 - 2.0 * moved).abs() < 1e-20);
        let off = (1.1 - f64::from(1.1f32)).abs() / 1.1;
        assert!((single.value_errors[0] - 1e-16 - off).abs() < 1e-20);
    }
}
