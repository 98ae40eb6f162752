//! Warnings that follow from the data: none may be left out, none made up.

use super::Checks;
use super::covariance::Passed;
use super::rows::Reader;
use crate::error::Warning;
use crate::model::PcaParts;

/// What there is to warn of: a number beside the limit from which on a fit warns.
struct Expected {
    claim: String,
    is: Box<dyn Fn(&Warning) -> bool>,
    /// Whether it must be there, or must not; `None` near the limit.
    due: Option<bool>,
}

impl Expected {
    fn new(
        claim: impl Into<String>,
        due: Option<bool>,
        is: impl Fn(&Warning) -> bool + 'static,
    ) -> Expected {
        Expected { claim: claim.into(), is: Box::new(is), due }
    }
}

/// Above the limit or not; near it either may be said.
fn above(number: f64, limit: f64) -> Option<bool> {
    match number {
        n if n > 1.02 * limit => Some(true),
        n if n < 0.98 * limit => Some(false),
        _ => None,
    }
}

pub(super) fn check(
    checks: &mut Checks,
    parts: &PcaParts,
    reader: &Reader,
    passed: &Passed,
    variances: &[f64],
) {
    let mut expected = of_columns(parts, reader, passed, variances);
    expected.extend(of_scores(parts, passed));
    let residual = parts.certificate.relative_residual();
    let due = Some(residual > parts.tolerance);
    let is = |w: &Warning| matches!(w, Warning::NotCertified { .. });
    expected.push(Expected::new("a residual above the tolerance of the fit", due, is));
    for Expected { claim, is, due } in expected {
        let said = parts.core.warnings.iter().any(is);
        if let Some(due) = due.filter(|due| said || *due) {
            checks.other(format!("warning of {claim}"), said, due, said == due);
        }
    }
    for warning in &parts.core.warnings {
        use Warning::{Escalated, RuleFindsNone, ScoresOutOfRange, VarianceOutOfRange};
        if let Escalated { .. } | RuleFindsNone { .. } | ScoresOutOfRange | VarianceOutOfRange =
            warning
        {
            checks.skip(format!("the warning: {warning}"), "it tells of the fit, not of the data");
        }
    }
}

fn of_columns(
    parts: &PcaParts,
    reader: &Reader,
    passed: &Passed,
    variances: &[f64],
) -> Vec<Expected> {
    let total: f64 = variances.iter().sum();
    let (k, rank) = (parts.values.len(), parts.map.rank);
    let standardized = parts.map.scaler.scale.is_some();
    let none = total == 0.0;
    let mut expected = vec![
        Expected::new("no variance", Some(none), |w| *w == Warning::NoVariance),
        Expected::new("components that are null", Some(!none && rank < k), |w| {
            matches!(w, Warning::NullComponents { .. })
        }),
        Expected::new(
            "constant columns",
            Some(standardized && !parts.map.scaler.constant.is_empty()),
            |w| matches!(w, Warning::ConstantColumns { .. }),
        ),
    ];
    let largest = variances.iter().fold(0.0f64, |m, v| m.max(*v));
    let share =
        if total > 0.0 && !standardized && variances.len() > 1 { largest / total } else { 0.0 };
    // The limit is a share of 99.9 %: what counts is how much is left.
    let due = above(1e-3, 1.0 - share);
    expected.push(Expected::new("a column that carries nearly all variance", due, |w| {
        matches!(w, Warning::DominantColumn { .. })
    }));
    let n = passed.columns.weight.value();
    let levels = |f: usize| {
        let spacing = reader.epsilon() * passed.columns.mean(f).abs() / 2.0;
        let sd = (passed.columns.variance(f) * (n - 1.0) / n).sqrt();
        if spacing > 0.0 && sd > 0.0 { sd / spacing } else { f64::INFINITY }
    };
    let coarsest = (0..variances.len()).map(levels).fold(f64::INFINITY, f64::min);
    expected.push(Expected::new("a column that is coarsely stored", above(16.0, coarsest), |w| {
        matches!(w, Warning::Quantized { .. })
    }));
    expected
}

/// Samples that make a component by themselves, and heavy tails.
fn of_scores(parts: &PcaParts, passed: &Passed) -> Vec<Expected> {
    let n = passed.columns.weight.value();
    let mut expected = Vec::new();
    let mut heavy = Some(false);
    for (j, along) in passed.along.iter().enumerate().take(parts.map.rank) {
        let squares = along.squares();
        if n < 10.0 || squares <= 0.0 {
            continue;
        }
        let single = above(along.largest.0 / squares, 0.9);
        let claim = format!("component {} being one row", j + 1);
        expected.push(Expected::new(
            claim,
            single,
            move |w| matches!(w, Warning::DominantRow { component, .. } if *component == j),
        ));
        let kurtosis = n * along.fourth_powers.value() / (squares * squares) - 3.0;
        if parts.center && single != Some(true) {
            heavy = match (heavy, above(kurtosis, 10.0)) {
                (Some(true), _) => Some(true),
                (_, Some(true)) if single == Some(false) => Some(true),
                (heavy, Some(false)) => heavy,
                _ => None,
            };
        }
    }
    expected.push(Expected::new("heavy tails", heavy, |w| matches!(w, Warning::HeavyTails { .. })));
    expected
}
