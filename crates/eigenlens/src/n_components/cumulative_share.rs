//! A cumulative share: the fewest components with `Σ_{j≤k} λ_j / tr S ≥ p`.
//!
//! Source: textbook practice, e.g. Jolliffe, *Principal Component Analysis* (2002), section 6.1.
//! Needs: the head of the spectrum, as far as the share reaches, and tr S.

use super::rule::{Question, RuleParameter, RuleSpec};
use super::{Curve, Evidence, Found, Reason};

pub(super) const RULE: RuleSpec = RuleSpec {
    parameter: Some(RuleParameter::share("cumulative_share", 0.95)),
    stops_early: true,
    ..RuleSpec::of_head("cumulative-share", choose)
};

fn choose(asked: &Question) -> Result<Found, Reason> {
    let (known, share) = (asked.known, asked.number());
    // A share of 1 must be reachable although the sum is rounded.
    let target = share - 1e-12;
    let mut curve = vec![0.0];
    let mut sum = 0.0;
    for part in known.shares() {
        sum += part;
        curve.push(sum.min(1.0));
    }
    let n_components = match curve.iter().position(|&c| c >= target) {
        Some(k) => k,
        None if known.complete() => known.values.len(),
        None => return Err(known.too_short()),
    };
    let curves = vec![Curve { name: "cumulative_share", first: 0, values: curve }];
    let thresholds = vec![("cumulative_share", share)];
    Ok(Found { n_components, evidence: Evidence { curves, thresholds, notes: vec![] } })
}
