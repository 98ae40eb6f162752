//! The elbow of the scree plot by profile likelihood.
//!
//! The ordered variances are split at q into two groups with means of their own and one pooled
//! variance `σ²(q) = (SS₁ + SS₂)/(p − 2)`; the q with the largest Gaussian log-likelihood
//! `−p/2·ln(2πσ²) − (SS₁ + SS₂)/(2σ²)` is chosen, 1 ≤ q < p.
//!
//! Source: Zhu & Ghodsi, *Computational Statistics & Data Analysis* 51 (2006).
//! Needs: the head of the spectrum; the elbow is that of the values it is given, so all of them is
//! better.

use super::rule::{Question, RuleSpec};
use super::{Curve, Evidence, Found, Reason};
use std::f64::consts::TAU;

pub(super) const RULE: RuleSpec = RuleSpec::of_head("elbow", choose);

/// The split with the largest profile likelihood.
fn choose(asked: &Question) -> Result<Found, Reason> {
    let known = asked.known;
    let p = known.values.len();
    if p < 3 {
        return Err(Reason::TooFewVariances { found: p, needed: 3 });
    }
    let mut notes = vec![];
    if !known.complete() {
        notes.push(format!("the elbow of the first {p} of {} variances", known.max_rank));
    }
    let first = known.values[0];
    // Values that are equal up to rounding have no elbow.
    if first - known.values[p - 1] <= 1e-12 * first {
        notes.push("the variances are all equal: there is no elbow".into());
        let evidence = Evidence { notes, ..Evidence::default() };
        return Ok(Found { n_components: 0, evidence });
    }
    let curve = profile(&known.values);
    let mut best = 0;
    for (q, value) in curve.iter().enumerate() {
        if *value > curve[best] {
            best = q;
        }
    }
    let curves = vec![Curve { name: "log_likelihood", first: 1, values: curve }];
    let evidence = Evidence { curves, thresholds: vec![], notes };
    Ok(Found { n_components: best + 1, evidence })
}

/// The profile log-likelihood for q = 1 … p − 1; p ≥ 3 values, the first positive.
fn profile(values: &[f64]) -> Vec<f64> {
    let p = values.len();
    // In units of the first value no square over- or underflows that matters.
    let unit = values[0];
    let scaled: Vec<f64> = values.iter().map(|v| v / unit).collect();
    let before = sums_of_squares(scaled.iter());
    let after = sums_of_squares(scaled.iter().rev());
    (1..p)
        .map(|q| {
            let squares = before[q] + after[p - q];
            // A perfect split would have no variance: rounding bounds it.
            let variance = (squares / (p - 2) as f64).max(1e-30);
            let n = p as f64;
            -0.5 * n * ((TAU * variance).ln() + 2.0 * unit.ln()) - 0.5 * squares / variance
        })
        .collect()
}

/// Sums of squares about the mean of the first 0, 1, 2 … values (Welford 1962, so that a small
/// spread survives beside large values).
fn sums_of_squares<'a>(values: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut sums = vec![0.0];
    for (count, v) in values.enumerate() {
        let step = v - mean;
        mean += step / (count + 1) as f64;
        squares += step * (v - mean);
        sums.push(squares);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::profile;
    use crate::n_components::testing::{chosen, head, reason, spectrum};
    use crate::n_components::{Outcome, Reason, Rule, apply};

    /// The log-likelihood as a sum of log densities, group by group.
    fn brute_force(values: &[f64], q: usize) -> f64 {
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let (a, b) = values.split_at(q);
        let (ma, mb) = (mean(a), mean(b));
        let squares = a.iter().map(|v| (v - ma).powi(2)).sum::<f64>()
            + b.iter().map(|v| (v - mb).powi(2)).sum::<f64>();
        let variance = squares / (values.len() - 2) as f64;
        let density = |v: f64, m: f64| {
            (-(v - m).powi(2) / (2.0 * variance)).exp()
                / (2.0 * std::f64::consts::PI * variance).sqrt()
        };
        a.iter().map(|&v| density(v, ma).ln()).sum::<f64>()
            + b.iter().map(|&v| density(v, mb).ln()).sum::<f64>()
    }

    #[test]
    fn matches_brute_force() {
        let values = [9.1, 8.7, 7.9, 3.0, 1.2, 1.1, 0.9, 0.7, 0.65, 0.2];
        for (i, l) in profile(&values).iter().enumerate() {
            let expected = brute_force(&values, i + 1);
            assert!((l - expected).abs() < 1e-10 * expected.abs(), "{l} {expected}");
        }
        assert_eq!(chosen(Rule::Elbow, &spectrum(&values, 50)), 3);
    }

    #[test]
    fn special_spectra() {
        assert_eq!(chosen(Rule::Elbow, &spectrum(&[2.0; 6], 50)), 0);
        assert_eq!(chosen(Rule::Elbow, &spectrum(&[5.0, 5.0, 1.0, 1.0, 1.0], 50)), 2);
        // A tiny but clear step far below the first value.
        assert_eq!(chosen(Rule::Elbow, &spectrum(&[1.0, 1e-9, 1e-9, 1e-9], 50)), 1);
        assert_eq!(
            reason(Rule::Elbow, &spectrum(&[2.0, 1.0], 50)),
            Reason::TooFewVariances { found: 2, needed: 3 }
        );
        let Outcome::Chosen(choice) =
            apply(Rule::Elbow, &head(&[5.0, 4.9, 1.0, 0.9], 15.0, 9, 50), None, 0)
        else {
            panic!("an elbow of a head is an elbow")
        };
        assert_eq!(choice.n_components, 2);
        assert!(choice.evidence.notes[0].contains("first 4 of 9"));
    }
}
