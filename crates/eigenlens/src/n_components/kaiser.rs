//! Kaiser's rule: correlation eigenvalues above 1, the average.
//!
//! Source: Kaiser, *Educational and Psychological Measurement* 20 (1960). Known to keep too many.
//! Needs: the head of the spectrum of centred, standardised columns.

use super::rule::{Question, RuleSpec};
use super::{Curve, Evidence, Found, Reason};

pub(super) const RULE: RuleSpec = RuleSpec {
    assumes_centered: true,
    assumes_standardized: true,
    ..RuleSpec::of_head("kaiser", choose)
};

/// Variances above 1.
fn choose(asked: &Question) -> Result<Found, Reason> {
    let known = asked.known;
    // Uncorrelated columns have variances of 1 up to rounding: those do not count.
    let n_components = known.leading(|_| 1.0 + 1e-12)?;
    let curves = vec![Curve { name: "variance", first: 1, values: known.values.clone() }];
    let thresholds = vec![("threshold", 1.0)];
    Ok(Found { n_components, evidence: Evidence { curves, thresholds, notes: vec![] } })
}

#[cfg(test)]
mod tests {
    use crate::n_components::testing::{chosen, reason, spectrum};
    use crate::n_components::{Reason, Rule};

    #[test]
    fn pitprops_has_four_above_one() {
        // The correlation spectrum of Jeffers' pitprops (1967).
        let values = [
            4.2186, 2.3781, 1.8782, 1.1094, 0.9100, 0.8154, 0.5763, 0.4396, 0.3527, 0.1908, 0.0506,
            0.0415, 0.0387,
        ];
        let mut s = spectrum(&values, 180);
        assert_eq!(reason(Rule::Kaiser, &s), Reason::NeedsStandardized);
        s.standardized = true;
        assert_eq!(chosen(Rule::Kaiser, &s), 4);
        s.centered = false;
        assert_eq!(reason(Rule::Kaiser, &s), Reason::NeedsCentered);
    }
}
