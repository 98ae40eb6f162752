//! Broken stick: shares above those of a stick broken at random.
//!
//! The pieces of a stick broken at p − 1 uniform points have the expected sizes
//! `b_j = (1/p) Σ_{i=j}^p 1/i` in order. The leading components with `λ_j / tr S > b_j` are kept, up
//! to the first that is not. p is the number of components that can carry variance.
//!
//! Source: Frontier (1976); Jackson, *Ecology* 74 (1993).
//! Needs: the head of the spectrum of centred data and tr S.

use super::rule::{Question, RuleSpec};
use super::{Curve, Evidence, Found, Reason};

pub(super) const RULE: RuleSpec = RuleSpec {
    // The uncentred first component is mostly the mean, of which a stick says nothing.
    assumes_centered: true,
    ..RuleSpec::of_head("broken-stick", choose)
};

/// Shares above the broken stick's.
fn choose(asked: &Question) -> Result<Found, Reason> {
    let known = asked.known;
    let stick = stick(known.max_rank);
    let n_components =
        known.leading(|j| stick.get(j).copied().unwrap_or(0.0) * known.total * (1.0 + 1e-12))?;
    let curves = vec![
        Curve { name: "share", first: 1, values: known.shares() },
        Curve { name: "broken_stick", first: 1, values: stick },
    ];
    let notes = vec![format!("a stick of {} pieces", known.max_rank)];
    Ok(Found { n_components, evidence: Evidence { curves, thresholds: vec![], notes } })
}

/// The expected sizes of the p pieces, largest first.
fn stick(p: usize) -> Vec<f64> {
    let mut sizes = vec![0.0; p];
    let mut sum = 0.0;
    for j in (0..p).rev() {
        sum += 1.0 / (j + 1) as f64;
        sizes[j] = sum / p as f64;
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::stick;
    use crate::n_components::Rule;
    use crate::n_components::testing::{chosen, spectrum};

    #[test]
    fn sizes_are_the_direct_sums() {
        // p = 4: 25/48, 13/48, 7/48, 3/48.
        for (size, expected) in stick(4).iter().zip([25.0, 13.0, 7.0, 3.0]) {
            assert!((size - expected / 48.0).abs() < 1e-15);
        }
        let p = 37;
        for (j, size) in stick(p).iter().enumerate() {
            let direct: f64 = (j + 1..=p).map(|i| 1.0 / i as f64).sum::<f64>() / p as f64;
            assert!((size - direct).abs() < 1e-14);
        }
    }

    #[test]
    fn stops_at_the_first_share_below() {
        // The third is above its piece again, but the second is not.
        assert_eq!(chosen(Rule::BrokenStick, &spectrum(&[0.6, 0.2, 0.19, 0.01], 50)), 1);
        assert_eq!(chosen(Rule::BrokenStick, &spectrum(&[0.25; 4], 50)), 0);
    }
}
