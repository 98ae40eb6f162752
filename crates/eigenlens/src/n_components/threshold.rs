//! Variances above a number: the components with `λ_j > t`.
//!
//! Source: textbook practice, e.g. Jolliffe, *Principal Component Analysis* (2002), section 6.1.
//! Needs: the head of the spectrum, as far as the threshold reaches, and tr S.

use super::rule::{Question, RuleParameter, RuleSpec};
use super::{Curve, Evidence, Found, Reason};

pub(super) const RULE: RuleSpec = RuleSpec {
    parameter: Some(RuleParameter {
        name: "threshold",
        usual: Some(1.0),
        fits: f64::is_finite,
        expected: "a finite number",
    }),
    stops_early: true,
    ..RuleSpec::of_head("threshold", choose)
};

fn choose(asked: &Question) -> Result<Found, Reason> {
    let (known, above) = (asked.known, asked.number());
    let n_components = known.leading(|_| above)?;
    let curves = vec![Curve { name: "variance", first: 1, values: known.values.clone() }];
    let thresholds = vec![("threshold", above)];
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
