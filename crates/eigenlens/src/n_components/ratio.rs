//! Shares above a number: the components with `λ_j / tr S > p`.
//!
//! Source: textbook practice, e.g. Jolliffe, *Principal Component Analysis* (2002), section 6.1.
//! Needs: the head of the spectrum, as far as the share reaches, and tr S.

use super::rule::{Question, RuleParameter, RuleSpec};
use super::{Curve, Evidence, Found, Reason};

pub(super) const RULE: RuleSpec = RuleSpec {
    parameter: Some(RuleParameter::share("ratio", 0.05)),
    stops_early: true,
    ..RuleSpec::of_head("ratio", choose)
};

fn choose(asked: &Question) -> Result<Found, Reason> {
    let (known, above) = (asked.known, asked.number());
    let n_components = known.leading(|_| above * known.total)?;
    let curves = vec![Curve { name: "share", first: 1, values: known.shares() }];
    let thresholds = vec![("ratio", above)];
    Ok(Found { n_components, evidence: Evidence { curves, thresholds, notes: vec![] } })
}
