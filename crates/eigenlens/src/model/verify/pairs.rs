//! Eigenpairs and what a certificate says of them, against residuals that were measured here.

use super::missed::Left;
use super::{Checks, Sum};
use crate::solver::Certificate;
use crate::solver::certificate::{self, Evidence, Measured, NoneMissed};
use std::ops::Range;

/// Half a unit roundoff: no bound on what was computed in f64 is finer than about this.
const UNIT_ROUNDOFF: f64 = 0.5 * f64::EPSILON;

/// How pairs are called.
pub(crate) struct Wording {
    /// What the values are, such as `explained variance`.
    pub value: &'static str,
    /// What is beside them, such as `component`.
    pub vector: &'static str,
    /// Values times this are in the units that users see.
    pub unit: f64,
}

/// Pairs as the model has them, and as they were measured.
pub(crate) struct MeasuredPairs<'a> {
    pub certificate: &'a Certificate,
    /// The values claimed (k), largest first.
    pub values: &'a [f64],
    /// The first one left out, as the model has it: 0 where there is nothing, `None` where no direction is left.
    pub next: Option<f64>,
    /// ‖A u − λ u‖ of each.
    pub residuals: Vec<f64>,
    /// uᵀA u − λ of each.
    pub along: Vec<f64>,
    /// What the rounding of the measurement may have added to or taken from either.
    pub slack: Vec<f64>,
    /// Largest |UᵀU − I|.
    pub orthogonality: f64,
}

impl MeasuredPairs<'_> {
    fn top(&self) -> f64 {
        self.values.first().copied().unwrap_or(0.0)
    }

    /// Values, residuals and every bound that the certificate has.
    pub fn check(&self, checks: &mut Checks, wording: &Wording, tolerance: f64) {
        if self.top() <= 0.0 {
            return self.check_nothing(checks, wording);
        }
        self.check_values(checks, wording, tolerance);
        self.check_residuals(checks, wording, tolerance);
        self.check_conclusions(checks, wording);
        self.check_orthogonality(checks, wording);
        self.check_evidence(checks);
    }

    /// Data without any variance: every value is 0.
    fn check_nothing(&self, checks: &mut Checks, wording: &Wording) {
        for (j, along) in self.along.iter().enumerate() {
            let claim = format!("{} of {} {}", wording.value, wording.vector, j + 1);
            checks.number(claim, 0.0, along * wording.unit, self.slack[j] * wording.unit);
        }
        self.check_orthogonality(checks, wording);
    }

    fn check_values(&self, checks: &mut Checks, wording: &Wording, tolerance: f64) {
        let top = self.top();
        for (j, &value) in self.values.iter().enumerate() {
            // No more than the model itself allows for, and never more than the tolerance.
            let stated = self.certificate.value_errors.get(j).copied().unwrap_or(0.0);
            let allowed = stated.min(tolerance) * top + self.slack[j];
            let found = value + self.along[j];
            let claim = format!("{} of {} {}", wording.value, wording.vector, j + 1);
            checks.number(
                claim,
                value * wording.unit,
                found * wording.unit,
                allowed * wording.unit,
            );
        }
    }

    fn check_residuals(&self, checks: &mut Checks, wording: &Wording, tolerance: f64) {
        let top = self.top();
        for (j, residual) in self.residuals.iter().enumerate() {
            let (found, slack) = (residual / top, self.slack[j] / top);
            let size = self.values[j].max(0.0) / top;
            let name = format!("{} {}", wording.vector, j + 1);
            let claimed = self.certificate.residuals.get(j).copied().unwrap_or(0.0);
            let claim = format!("bound on the relative residual of {name}");
            believable(checks, claim, claimed, found, slack, size);
            if tolerance.is_finite() {
                checks.other(
                    format!("{name} is an eigenvector"),
                    format!("a relative residual of at most {tolerance:e}"),
                    found,
                    found <= tolerance + slack,
                );
            }
        }
    }

    /// What follows from residuals for values, angles and groups, by the theorems of the certificate.
    fn check_conclusions(&self, checks: &mut Checks, wording: &Wording) {
        let (top, k) = (self.top(), self.values.len());
        let of = self.certificate;
        let least = self.least_certificate();
        for j in 0..k {
            let name = format!("{} {}", wording.vector, j + 1);
            let claim = format!("bound on the error of the {} of {name}", wording.value);
            covers(checks, claim, of.value_errors[j], least.value_errors[j]);
            let claim = format!("bound on the angle of {name}");
            covers(checks, claim, of.angles[j], self.least_angle_of(j).max(least.angles[j]));
        }
        let range = |g: &Range<usize>| format!("{}–{}", g.start + 1, g.end);
        // Groups may go on with null components, which are not measured everywhere.
        let known = of.groups.iter().zip(&of.group_angles).filter(|(g, _)| g.end <= k);
        for (group, claimed) in known {
            let claim =
                format!("bound on the angle of {}s {} together", wording.vector, range(group));
            covers(checks, claim, *claimed, self.least_angle(group, top));
        }
        for group in &least.groups {
            let inside = of.groups.iter().any(|g| g.start <= group.start && group.end <= g.end);
            let claim = format!("{}s identified only together", wording.vector);
            let claimed: Vec<String> = of.groups.iter().map(range).collect();
            let claimed = if claimed.is_empty() { "none".into() } else { claimed.join(", ") };
            checks.other(claim, claimed, range(group), inside);
        }
    }

    /// The certificate of values that are as good as the measurement allows, and of directions that are as good as
    /// numbers can be.
    fn least_certificate(&self) -> Certificate {
        let less = |(measured, slack): (&f64, &f64)| (measured.abs() - slack).max(0.0);
        let along: Vec<f64> = self.along.iter().zip(&self.slack).map(less).collect();
        let values: Vec<f64> = self.values.iter().copied().chain(self.next).collect();
        let rounding = values.iter().map(|v| LEAST_ROUNDING * v.max(0.0)).map(|r| (r, r));
        certificate::certify(Measured {
            values: &values,
            k: self.values.len(),
            residuals: &vec![0.0; values.len()],
            along: &along,
            rounding: rounding.collect(),
            parts: None,
            orthogonality: self.orthogonality,
            rounding_floor: 0.0,
            evidence: self.certificate.evidence,
            none_missed: self.certificate.none_missed,
            unseen: 0.0,
        })
    }

    /// sin θ of component j is at least its residual, but for what is along it, over the largest gap there is.
    fn least_angle_of(&self, j: usize) -> f64 {
        let (top, value) = (self.top(), self.values[j]);
        let across = (self.residuals[j].powi(2) - self.along[j].powi(2)).max(0.0).sqrt();
        (across - self.slack[j]).max(0.0) / (top - value).max(value).max(f64::MIN_POSITIVE)
    }

    /// sin θ of the span of a group can be bounded by nothing less (Davis & Kahan 1970).
    fn least_angle(&self, group: &Range<usize>, top: f64) -> f64 {
        let less = |j: usize| ((self.residuals[j] - self.slack[j]).max(0.0) / top).powi(2);
        let rounding = LEAST_ROUNDING * self.values[group.end - 1].max(0.0) / top;
        let size = Sum::of(group.clone().map(less)).sqrt() + rounding;
        let above = match group.start {
            0 => f64::INFINITY,
            start => (self.values[start - 1] - self.values[start]) / top,
        };
        let next = self.values.get(group.end).copied().or(self.next);
        let below = next.map_or(f64::INFINITY, |v| (self.values[group.end - 1] - v) / top);
        let gap = above.min(below);
        if gap > 0.0 { (size / gap).min(1.0) } else { 1.0 }
    }

    fn check_orthogonality(&self, checks: &mut Checks, wording: &Wording) {
        let claim = format!("bound on the products of different {}s", wording.vector);
        let (claimed, found) = (self.certificate.orthogonality, self.orthogonality);
        believable(checks, claim, claimed, found, 2.0 * f64::EPSILON, 1.0);
    }

    /// Whether what residuals were measured against is what the measurement here is against.
    fn check_evidence(&self, checks: &mut Checks) {
        if let Evidence::Probes { failure } = self.certificate.evidence {
            let claim = "probability that the bounds on residuals fail";
            let k = self.certificate.residuals.len();
            checks.bound(claim, failure, certificate::error_failure(k), 1e-3 * failure);
        }
    }

    /// Whether a larger value was missed, as the model says and as was found.
    pub fn check_missed(
        &self,
        checks: &mut Checks,
        wording: &Wording,
        left: &Left,
        total: Option<f64>,
        tolerance: f64,
    ) {
        let rank = self.certificate.rank.min(self.values.len());
        let Some(&last) = rank.checked_sub(1).and_then(|j| self.values.get(j)) else { return };
        let top = self.top();
        let slack = self.slack[rank - 1] + 4.0 * f64::EPSILON * top;
        let allowed = self.certificate.value_errors[rank - 1].min(tolerance) * top + slack;
        let claim = format!("largest {} beside the {}s", wording.value, wording.vector);
        // A Rayleigh quotient above the last value refutes; a bound below it proves.
        let words = format!("at most {:e}", last * wording.unit);
        let beside = left.at_least;
        checks.other(claim.clone(), words, beside * wording.unit, beside <= last + allowed);
        if beside <= last + allowed && left.at_most > last + allowed {
            let (from, to) = (last * wording.unit, left.at_most * wording.unit);
            let reason = format!(
                "random probes exclude more than {to:.3e} only (but for a probability of {:.0e})",
                left.failure
            );
            checks.skip(format!("{claim} between {from:.3e} and {to:.3e}"), reason);
        }
        match self.certificate.none_missed {
            NoneMissed::Trace => {
                let rest = total.map_or(f64::INFINITY, |t| {
                    super::missed::rest_of_trace(t, &self.values[..rank])
                });
                let claim = "that nothing was missed, by the trace";
                let words = format!("less than {:e} is left", last * wording.unit);
                let found = rest * wording.unit;
                checks.other(claim, words, found, rest <= last + allowed.max(1e-9 * top));
            }
            NoneMissed::Probabilistic { bound, failure } => {
                let claim = format!("bound on a missed {}, relative to the last", wording.value);
                // Other probes give other numbers, but hardly less than half of these.
                let one_pass = 0.5 * left.one_pass / last;
                checks.bound(claim, bound, one_pass.max(beside / last), slack / last);
                let claim = "probability that the bound on a missed value fails";
                checks.bound(claim, failure, certificate::probe_failure(), 1e-3 * failure);
            }
            NoneMissed::Disproved => {
                let claim = "that something was missed";
                checks.other(claim, "yes", "not found", left.at_least > last - allowed);
            }
            NoneMissed::Complete | NoneMissed::Inertia => {}
        }
    }
}

/// No bound is smaller, relative to the value it is of: of few numbers some may come out a little better than they
/// are rounded.
const LEAST_ROUNDING: f64 = 1e-3 * UNIT_ROUNDOFF;

/// A bound that must cover a measurement; smaller than rounding can be it is believed only of 0, and only where
/// nothing is found. `size` is that of what was rounded.
fn believable(checks: &mut Checks, claim: String, claimed: f64, found: f64, slack: f64, size: f64) {
    let floor = LEAST_ROUNDING * size;
    let fine_enough = claimed >= floor || (claimed == 0.0 && found <= 16.0 * UNIT_ROUNDOFF * size);
    let holds = found <= claimed + slack && fine_enough;
    checks.push(claim, claimed.into(), found.into(), Some(slack), holds);
}

/// A bound that must be at least what follows from the measurement.
fn covers(checks: &mut Checks, claim: String, claimed: f64, least: f64) {
    checks.bound(claim, claimed, least, 1e-3 * least);
}
