//! The optimal hard threshold for singular values.
//!
//! A matrix of N rows and d columns is a low-rank one plus white noise of standard deviation σ. With
//! `β = min(N, d)/max(N, d)`, the singular values `s_j = sqrt((n − 1) λ_j)` are kept above
//! - known σ: `λ*(β)·σ·sqrt(max(N, d))`, `λ*(β) = sqrt(2(β+1) + 8β/((β+1) + sqrt(β² + 14β + 1)))`;
//! - unknown σ: `ω(β)·median(s)`, `ω(β) = λ*(β)/sqrt(μ_β)`, with μ_β the median of the
//!   Marčenko–Pastur law.
//!
//! Centring takes away one dimension: centred data are a matrix of N = n − 1 rows in a rotated
//! basis, uncentred data one of N = n.
//!
//! Source: Gavish & Donoho, *IEEE Transactions on Information Theory* 60 (2014).
//! Needs: the head of the spectrum for known noise, else as much of it as reaches the median.

use super::known::Known;
use super::rule::{Question, RuleParameter, RuleSpec};
use super::{Curve, Evidence, Found, Need, Reason};
use std::f64::consts::PI;

pub(super) const RULE: RuleSpec = RuleSpec {
    parameter: Some(RuleParameter {
        name: "noise",
        usual: None,
        fits: |noise| noise.is_finite() && noise >= 0.0,
        expected: "finite and not negative",
    }),
    need: |noise| if noise.is_some() { Need::Head } else { Need::FullSpectrum },
    // A low-rank matrix plus noise need not be centred.
    ..RuleSpec::of_head("gavish-donoho", choose)
};

/// Singular values above the threshold.
fn choose(asked: &Question) -> Result<Found, Reason> {
    let (known, noise) = (asked.known, asked.number);
    let rows = if known.centered { known.n_samples - 1.0 } else { known.n_samples };
    let divisor = known.n_samples - 1.0;
    if divisor <= 0.0 {
        return Err(Reason::TooFewSamples { found: known.n_samples, needed: 2 });
    }
    let columns = known.n_varying.max(1) as f64;
    let (short, long) = (rows.min(columns), rows.max(columns));
    let beta = short / long;
    let mut notes = vec![];
    let mut thresholds = vec![("beta", beta)];
    // λ is compared rather than s, so that no root is taken of what may under- or overflow.
    let threshold = match noise {
        Some(sigma) => {
            let factor = known_noise_factor(beta) * sigma;
            if known.standardized {
                notes.push("the noise is that of the standardised columns".into());
            }
            factor * factor * (long / divisor)
        }
        None => {
            let median = median_root(known)?;
            let factor = unknown_noise_factor(beta);
            thresholds.push(("omega", factor));
            if median * median <= known.rounding_floor() {
                notes.push("half of the singular values are zero: no noise is seen".into());
            }
            (factor * median).powi(2)
        }
    };
    let threshold = threshold.clamp(known.rounding_floor(), f64::MAX);
    let n_components = known.leading(|_| threshold)?;
    let root = divisor.sqrt();
    thresholds.push(("singular_value", threshold.sqrt() * root));
    let values = known.values.iter().map(|v| v.sqrt() * root).collect();
    let curves = vec![Curve { name: "singular_value", first: 1, values }];
    Ok(Found { n_components, evidence: Evidence { curves, thresholds, notes } })
}

/// The median of sqrt λ over all components that can carry variance.
fn median_root(known: &Known) -> Result<f64, Reason> {
    let p = known.max_rank;
    let (lower, upper) = (p.saturating_sub(1) / 2, p / 2);
    match (known.values.get(lower), known.values.get(upper)) {
        (Some(a), Some(b)) => Ok(0.5 * (a.sqrt() + b.sqrt())),
        _ => Err(Reason::NeedsSpectrum { known: known.values.len(), needed: upper + 1 }),
    }
}

/// λ*(β).
fn known_noise_factor(beta: f64) -> f64 {
    let b = beta + 1.0;
    (2.0 * b + 8.0 * beta / (b + (beta * beta + 14.0 * beta + 1.0).sqrt())).sqrt()
}

/// ω(β).
fn unknown_noise_factor(beta: f64) -> f64 {
    known_noise_factor(beta) / marchenko_pastur_median(beta).sqrt()
}

/// The median of the Marčenko–Pastur law with ratio 0 < β ≤ 1.
///
/// With `x = 1 + β + 2√β cos θ` the law has the smooth density `(2/π) sin²θ / x` in θ. Its mass is
/// counted from the upper edge (θ = 0), since at the lower one x may come close to 0.
fn marchenko_pastur_median(beta: f64) -> f64 {
    let x = |theta: f64| 1.0 + beta + 2.0 * beta.sqrt() * theta.cos();
    let density = |theta: f64| {
        let sine = theta.sin();
        2.0 / PI * sine * sine / x(theta)
    };
    let mass = |theta: f64| {
        // Simpson's rule; the integrand is analytic on the way to the median.
        let steps = 400;
        let h = theta / steps as f64;
        let inner: f64 =
            (1..steps).map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * density(i as f64 * h)).sum();
        (density(0.0) + inner + density(theta)) * h / 3.0
    };
    // The median lies between the middle of the support (θ = π/2) and the lower edge.
    let (mut low, mut high) = (0.0, 0.95 * PI);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if mass(middle) < 0.5 { low = middle } else { high = middle }
    }
    x(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::n_components::Rule;
    use crate::n_components::testing::{chosen, head, reason, spectrum};

    #[test]
    fn the_papers_numbers() {
        assert!((known_noise_factor(1.0) - 4.0 / 3f64.sqrt()).abs() < 1e-14);
        assert!((unknown_noise_factor(1.0) - 2.858).abs() < 5e-4);
        // The paper's cubic, good to 0.02.
        for beta in [0.05, 0.25, 0.5, 0.75, 1.0] {
            let cubic = 0.56 * f64::powi(beta, 3) - 0.95 * beta * beta + 1.82 * beta + 1.43;
            assert!((unknown_noise_factor(beta) - cubic).abs() < 0.02, "{beta}");
        }
    }

    #[test]
    fn the_median_halves_the_law() {
        // For β = 1, x = y² with y on the quarter circle, whose mass up to y is in closed form.
        let y = marchenko_pastur_median(1.0).sqrt();
        let quarter = (y * (4.0 - y * y).sqrt() / 2.0 + 2.0 * (y / 2.0).asin()) / PI;
        assert!((quarter - 0.5).abs() < 1e-9);
        // Else: the midpoint rule in x, coarse but independent of the substitution.
        for beta in [0.1, 0.6, 0.99] {
            let (a, b) = ((1.0 - f64::sqrt(beta)).powi(2), (1.0 + f64::sqrt(beta)).powi(2));
            let median = marchenko_pastur_median(beta);
            let steps = 200_000;
            let h = (b - median) / steps as f64;
            let mass: f64 = (0..steps)
                .map(|i| {
                    let x = median + (i as f64 + 0.5) * h;
                    h * ((b - x) * (x - a)).max(0.0).sqrt() / (2.0 * PI * beta * x)
                })
                .sum();
            assert!((mass - 0.5).abs() < 1e-6, "{beta}");
        }
        assert!((marchenko_pastur_median(1e-9) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn known_noise_by_hand() {
        // 11 samples centred are 10 rows; 10 columns: β = 1, threshold (4/√3)·√10 = 7.303.
        let values: Vec<f64> = [8.0, 7.31, 7.29, 1.0].iter().map(|s| s * s / 10.0).collect();
        let mut s = spectrum(&values, 11);
        s.n_varying = 10;
        assert_eq!(chosen(Rule::GavishDonoho { noise: Some(1.0) }, &s), 2);
    }

    #[test]
    fn the_head_is_enough_once_it_reaches_the_median() {
        let rule = Rule::GavishDonoho { noise: None };
        let needs = Reason::NeedsSpectrum { known: 2, needed: 5 };
        assert_eq!(reason(rule, &head(&[90.0, 1.0], 100.0, 9, 1000)), needs);
        let values = [90.0, 1.1, 1.05, 1.0, 1.0];
        assert_eq!(chosen(rule, &head(&values, 98.0, 9, 1000)), 1);
    }
}
