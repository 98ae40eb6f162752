//! Fixed thresholds: variances above a number, shares above a number, a cumulative share.
//!
//! - threshold t: the components with `λ_j > t`;
//! - ratio p: the components with `λ_j / tr S > p`;
//! - cumulative share p: the fewest components with `Σ_{j≤k} λ_j / tr S ≥ p`.
//!
//! Source: textbook practice, e.g. Jolliffe, *Principal Component Analysis* (2002), section 6.1.
//! Needs: the head of the spectrum, as far as the threshold reaches, and tr S.

use super::known::Known;
use super::{Curve, Evidence, Found, Reason};

/// Variances above `above`.
pub(super) fn variance(known: &Known, above: f64) -> Result<Found, Reason> {
    let n_components = known.leading(|_| above)?;
    let curves = vec![Curve { name: "variance", first: 1, values: known.values.clone() }];
    let thresholds = vec![("threshold", above)];
    Ok(Found { n_components, evidence: Evidence { curves, thresholds, notes: vec![] } })
}

/// Variances above the share `above` of the total.
pub(super) fn ratio(known: &Known, above: f64) -> Result<Found, Reason> {
    let n_components = known.leading(|_| above * known.total)?;
    let curves = vec![Curve { name: "share", first: 1, values: known.shares() }];
    let thresholds = vec![("ratio", above)];
    Ok(Found { n_components, evidence: Evidence { curves, thresholds, notes: vec![] } })
}

/// The fewest components that reach `share` of the total.
pub(super) fn cumulative_share(known: &Known, share: f64) -> Result<Found, Reason> {
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

#[cfg(test)]
mod tests {
    use crate::n_components::testing::{chosen, head, reason, spectrum};
    use crate::n_components::{Reason, Rule};

    const VALUES: [f64; 5] = [5.0, 3.0, 1.0, 0.75, 0.25];

    #[test]
    fn counts_by_hand() {
        let s = spectrum(&VALUES, 100);
        assert_eq!(chosen(Rule::Threshold(1.0), &s), 2);
        assert_eq!(chosen(Rule::Threshold(0.0), &s), 5);
        assert_eq!(chosen(Rule::Threshold(9.0), &s), 0);
        assert_eq!(chosen(Rule::Ratio(0.1), &s), 2);
        assert_eq!(chosen(Rule::Ratio(0.07), &s), 4);
        assert_eq!(chosen(Rule::CumulativeShare(0.8), &s), 2);
        assert_eq!(chosen(Rule::CumulativeShare(0.81), &s), 3);
        assert_eq!(chosen(Rule::CumulativeShare(1.0), &s), 5);
        assert_eq!(chosen(Rule::CumulativeShare(0.0), &s), 0);
    }

    #[test]
    fn a_head_decides_only_what_it_reaches() {
        let short = Reason::HeadTooShort { known: 2, max_rank: 5 };
        let s = head(&VALUES[..2], 10.0, 5, 100);
        assert_eq!(chosen(Rule::Threshold(4.0), &s), 1);
        assert_eq!(reason(Rule::Threshold(1.0), &s), short);
        // The rest of the variance, 2, cannot hold a variance above 2.5.
        assert_eq!(chosen(Rule::Threshold(2.5), &s), 2);
        assert_eq!(reason(Rule::Ratio(0.1), &s), short);
        assert_eq!(chosen(Rule::CumulativeShare(0.8), &s), 2);
        assert_eq!(reason(Rule::CumulativeShare(0.9), &s), short);
    }

    #[test]
    fn a_parameter_out_of_range_is_a_reason() {
        let s = spectrum(&VALUES, 100);
        for rule in [Rule::Threshold(f64::NAN), Rule::Ratio(-0.1), Rule::CumulativeShare(1.5)] {
            assert!(matches!(reason(rule, &s), Reason::Parameter { .. }));
        }
    }
}
