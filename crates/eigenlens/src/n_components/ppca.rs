//! What two rules on the likelihood of probabilistic PCA share: Minka's evidence and BIC.
//!
//! With N samples, d features and the maximum-likelihood eigenvalues `l_j = λ_j (N−1)/N`, a model of
//! k components has the noise `v = Σ_{j>k} l_j / (d−k)` and the log-likelihood
//! `L = −N/2·(d ln 2π + Σ_{j≤k} ln l_j + (d−k) ln v + d)`.
//!
//! *Minka* integrates over directions, variances and noise by Laplace's method:
//! `ln p(D|k) = ln p(U) − N/2 Σ_{j≤k} ln l_j − N(d−k)/2 ln v + (m+k)/2 ln 2π − ½ ln|A| − k/2 ln N`,
//! `m = dk − k(k+1)/2`, `p(U) = 2⁻ᵏ Π_{i≤k} Γ((d−i+1)/2) π^{−(d−i+1)/2}`,
//! `|A| = Π_{i≤k} Π_{i<j≤d} (l̃_j⁻¹ − l̃_i⁻¹)(l_i − l_j) N`, where l̃ is l up to k and v beyond.
//! *BIC* takes the least `−2L + (dk − k(k−1)/2 + 1 + d) ln N`.
//!
//! d counts the features that vary: a constant one is left out of d and of the rank alike. Which k
//! are compared: 0 (pure noise, where the formula has only its noise term) to one less than the
//! number r of variances that are not zero: with k = r nothing would be left to estimate the noise
//! from. Special cases:
//! - n ≤ d: the formula as it stands, with all d features; the variances past n − 1 are zeros, as
//!   in Minka's own program (scikit-learn refuses this case);
//! - r < max_rank: features depend on each other exactly, which no lack of samples explains. As the
//!   d − r null variances go to 0, `ln p(D|r)` grows like `½(N − r)(d − r) |ln v|` and −BIC like
//!   `N(d − r) |ln v|`, while every k < r keeps a finite value: both choose r, the limit of ever
//!   smaller noise in those directions;
//! - equal variances: Laplace's method breaks down (A is singular). Two that agree up to rounding
//!   get `A_ij = d/e`, at which the integral over directions is 1: they say nothing.
//!
//! With n ≤ d the likelihood grows without bound as k nears n − 1, and BIC, whose penalty does not,
//! may run to the last k; the notes say so when a criterion still improves there.
//!
//! Source: Minka, *Automatic choice of dimensionality for PCA*, NIPS 13 (2000); Schwarz, *Annals of
//! Statistics* 6 (1978). Needs: the full spectrum of centred data.
//! Cost: O(r²) for all k together.

use super::known::Known;
use super::{Curve, Evidence, Found, Reason};
use statrs::function::gamma::ln_gamma;
use std::f64::consts::{E, PI, TAU};

/// What both criteria are made of.
pub(super) struct Model {
    n: f64,
    /// Features that vary.
    d: usize,
    /// Positive maximum-likelihood eigenvalues in units of the largest, descending.
    values: Vec<f64>,
    /// Their logarithms.
    logs: Vec<f64>,
    /// Logarithm of the unit.
    log_unit: f64,
    /// `noise[k]`: v in the same unit, for k = 0 … r − 1.
    noise: Vec<f64>,
    /// Whether features depend on each other exactly: fewer directions vary than the data allow.
    dependent: bool,
}

impl Model {
    pub fn new(known: &Known) -> Result<Model, Reason> {
        let full = known.full()?;
        let n = known.n_samples;
        if n <= 1.0 {
            return Err(Reason::TooFewSamples { found: n, needed: 2 });
        }
        let rounding_floor = known.rounding_floor();
        let unit = full.first().copied().unwrap_or(0.0);
        let values: Vec<f64> =
            full.iter().filter(|&&v| v > rounding_floor).map(|v| v / unit).collect();
        let rank = values.len();
        if rank == 0 {
            return Err(Reason::TooFewVariances { found: 0, needed: 1 });
        }
        let d = known.n_varying.max(rank);
        let mut noise = vec![0.0; rank];
        let mut tail = 0.0;
        for k in (0..rank).rev() {
            tail += values[k];
            noise[k] = tail / (d - k) as f64;
        }
        Ok(Model {
            n,
            d,
            logs: values.iter().map(|v| v.ln()).collect(),
            values,
            log_unit: unit.ln() + ((n - 1.0) / n).ln(),
            noise,
            dependent: rank < known.max_rank,
        })
    }

    /// Twice the log-likelihood over −N without its constants, for each k:
    /// `Σ_{j≤k} ln l_j + (d−k) ln v`.
    fn deviance(&self) -> Vec<f64> {
        let mut head = 0.0;
        let mut out = Vec::with_capacity(self.noise.len());
        for (k, v) in self.noise.iter().enumerate() {
            out.push(head + (self.d - k) as f64 * v.ln() + self.d as f64 * self.log_unit);
            head += self.logs[k];
        }
        out
    }

    pub fn evidence(&self) -> Vec<f64> {
        let (rank, d) = (self.values.len(), self.d as f64);
        let log_n = self.n.ln();
        let mut out = self.deviance();
        let mut prior = 0.0; // ln p(U)
        let mut inner = 0.0; // Σ_{i<j≤k} [ln(1/l_j − 1/l_i)]
        let mut outer = 0.0; // Σ_{i≤k} Σ_{j>i} [ln(l_i − l_j)]
        for (k, value) in out.iter_mut().enumerate() {
            if k > 0 {
                // Component i = k joins: O(r), so O(r²) for all k together.
                let i = k - 1;
                let half = 0.5 * (self.d - i) as f64;
                prior += ln_gamma(half) - half * PI.ln() - 2f64.ln();
                for j in 0..i {
                    inner += self.log_gap(j, i) - self.logs[i] - self.logs[j];
                }
                for j in i + 1..rank {
                    outer += self.log_gap(i, j);
                }
                // The zeros past the last variance: l_i − 0.
                outer += (self.d - rank) as f64 * self.logs[i];
            }
            let v = self.noise[k];
            let log_v = v.ln();
            let to_noise: f64 =
                (0..k).map(|i| self.log_difference(i, v, log_v) - log_v - self.logs[i]).sum();
            let m = (self.d * k) as f64 - 0.5 * (k * (k + 1)) as f64;
            let log_det = inner + outer + (d - k as f64) * to_noise + m * log_n;
            let k = k as f64;
            *value = prior - 0.5 * self.n * *value + 0.5 * (m + k) * TAU.ln()
                - 0.5 * log_det
                - 0.5 * k * log_n;
        }
        out
    }

    pub fn bic(&self) -> Vec<f64> {
        let mut out = self.deviance();
        for (k, value) in out.iter_mut().enumerate() {
            let (d, k) = (self.d as f64, k as f64);
            let free = d * k - 0.5 * k * (k - 1.0) + 1.0 + d;
            *value = self.n * (*value + d * TAU.ln() + d) + free * self.n.ln();
        }
        out
    }

    fn log_gap(&self, i: usize, j: usize) -> f64 {
        self.log_difference(i, self.values[j], self.logs[j])
    }

    /// `ln(l_i − b)`; for a tie what makes `A_ij` equal to d/e.
    fn log_difference(&self, i: usize, b: f64, log_b: f64) -> f64 {
        let gap = self.values[i] - b;
        if gap > 64.0 * f64::EPSILON * self.values[i] {
            gap.ln()
        } else {
            0.5 * (self.logs[i] + log_b + (self.d as f64 / (E * self.n)).ln())
        }
    }

    pub fn found(
        &self,
        name: &'static str,
        curve: Vec<f64>,
        better: fn(f64, f64) -> bool,
    ) -> Found {
        let rank = self.values.len();
        let mut n_components = 0;
        for k in 1..curve.len() {
            if better(curve[k], curve[n_components]) {
                n_components = k;
            }
        }
        let mut notes = vec![];
        if self.dependent {
            n_components = rank;
            notes.push(format!(
                "{rank} of {} directions carry variance, the others show no noise",
                self.d
            ));
        } else if self.d > rank && n_components > 0 && n_components == rank - 1 {
            notes.push(format!(
                "the criterion still improves at {n_components}, the last: \
                 with no more samples than features do not rely on it"
            ));
        }
        let curves = vec![Curve { name, first: 0, values: curve }];
        Found { n_components, evidence: Evidence { curves, thresholds: vec![], notes } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::n_components::testing::{
        chosen, curve, data, outcome, reason, spectrum, spectrum_of,
    };
    use crate::n_components::{Outcome, Rule, Spectrum};
    use ndarray::{Axis, concatenate};

    /// The evidence by the letter of the paper: d values, zeros included, three nested loops.
    fn literal(variances: &[f64], d: usize, n: f64, k: usize) -> f64 {
        let mut l: Vec<f64> = variances.iter().map(|v| v * (n - 1.0) / n).collect();
        l.resize(d, 0.0);
        let v = l[k..].iter().sum::<f64>() / (d - k) as f64;
        let tilde = |j: usize| if j < k { l[j] } else { v };
        let mut log_p = 0.0;
        for i in 1..=k {
            let half = (d - i + 1) as f64 / 2.0;
            log_p += -(2f64.ln()) + ln_gamma(half) - half * PI.ln();
        }
        for value in &l[..k] {
            log_p -= n / 2.0 * value.ln();
        }
        log_p -= n * (d - k) as f64 / 2.0 * v.ln();
        let m = (d * k) as f64 - (k * (k + 1)) as f64 / 2.0;
        log_p += (m + k as f64) / 2.0 * (2.0 * PI).ln();
        for i in 0..k {
            for j in i + 1..d {
                log_p -= 0.5 * ((1.0 / tilde(j) - 1.0 / tilde(i)) * (l[i] - l[j]) * n).ln();
            }
        }
        log_p - k as f64 / 2.0 * n.ln()
    }

    #[test]
    fn evidence_is_the_papers_formula() {
        let values = [10.2, 8.1, 5.7, 4.4, 2.2, 1.3, 1.1, 0.9, 0.8, 0.6];
        // d = 10 = number of values; d = 17 > n: zeros past them.
        for (n, d) in [(100usize, 10usize), (11, 17)] {
            let s = Spectrum { n_varying: d, ..spectrum(&values, n) };
            let (first, got) = curve(Rule::Minka, &s, "log_evidence");
            assert_eq!((first, got.len()), (0, 10));
            for (k, value) in got.iter().enumerate() {
                let expected = literal(&values, d, n as f64, k);
                assert!((value - expected).abs() < 1e-9 * expected.abs(), "{k} {value} {expected}");
            }
        }
    }

    #[test]
    fn bic_is_the_definition() {
        // −2L from the model's own log-likelihood: tr(C⁻¹ S) = d at the maximum.
        let values = [6.0, 3.0, 1.2, 1.0, 0.8];
        let (n, d) = (40.0, 5.0);
        let (_, got) = curve(Rule::Bic, &spectrum(&values, 40), "bic");
        for (k, value) in got.iter().enumerate() {
            let l: Vec<f64> = values.iter().map(|v| v * 39.0 / 40.0).collect();
            let v = l[k..].iter().sum::<f64>() / (5 - k) as f64;
            let log_det: f64 = l[..k].iter().map(|x| x.ln()).sum::<f64>() + (d - k as f64) * v.ln();
            let likelihood = -n / 2.0 * (d * (2.0 * PI).ln() + log_det + d);
            let free = d * k as f64 - (k as f64) * (k as f64 - 1.0) / 2.0 + 1.0 + d;
            assert!((value - (-2.0 * likelihood + free * n.ln())).abs() < 1e-9);
        }
    }

    #[test]
    fn ties_and_zeros_give_finite_evidence() {
        let equal = spectrum(&[1.0; 10], 100);
        assert_eq!(chosen(Rule::Minka, &equal), 0);
        assert_eq!(chosen(Rule::Bic, &equal), 0);
        let pairs = spectrum(&[9.0, 9.0, 4.0, 4.0, 1.0, 1.0, 1.0, 1.0], 200);
        assert_eq!(chosen(Rule::Minka, &pairs), 4);
        assert_eq!(chosen(Rule::Bic, &pairs), 4);
        let values = [30.0, 20.0, 1.1, 1.0, 0.9, 0.0, 0.0];
        for s in [&equal, &pairs, &spectrum(&values, 50), &spectrum(&[3.0], 2)] {
            for (rule, name) in [(Rule::Minka, "log_evidence"), (Rule::Bic, "bic")] {
                assert!(curve(rule, s, name).1.iter().all(|v| v.is_finite()));
            }
        }
    }

    /// The k of the largest evidence by the letter of the paper, over every k.
    fn largest_literal(variances: &[f64], n: f64) -> usize {
        let d = variances.len();
        let evidence: Vec<f64> = (0..d).map(|k| literal(variances, d, n, k)).collect();
        (0..d).max_by(|&a, &b| evidence[a].total_cmp(&evidence[b])).unwrap()
    }

    #[test]
    fn null_directions_are_the_limit_of_small_noise() {
        // Leading values that alone would give 2, 0 and 3; the null ones spread like a sample's.
        let heads: [&[f64]; 3] =
            [&[30.0, 20.0, 1.1, 1.0, 0.9, 0.8], &[1.05, 1.02, 1.0, 0.98, 0.95], &[30.0, 12.0, 5.0]];
        for head in heads {
            for null in 1..4 {
                let with_noise = |v: f64| {
                    let noise = [1.1 * v, v, 0.9 * v];
                    [head, &noise[..null]].concat()
                };
                let d = head.len() + null;
                // The letter of the paper: the evidence of the rank rises without bound, and wins.
                let mut before = f64::NEG_INFINITY;
                for v in [1e-6, 1e-18, 1e-36, 1e-72] {
                    let evidence = literal(&with_noise(v), d, 50.0, head.len());
                    assert!(evidence > before + 100.0, "{evidence} after {before}");
                    before = evidence;
                    assert_eq!(largest_literal(&with_noise(v), 50.0), head.len());
                }
                for v in [1e-6, 1e-12, 1e-18, 0.0] {
                    let values = with_noise(v);
                    for rule in [Rule::Minka, Rule::Bic] {
                        assert_eq!(chosen(rule, &spectrum(&values, 50)), head.len(), "{v}");
                    }
                }
            }
        }
    }

    #[test]
    fn noise_with_a_dependent_column_keeps_its_rank() {
        let x = data(1000, 9, &[], 1.0, 5);
        let noise = data(1000, 1, &[], 1.0, 6);
        for extra in [1e-6, 1e-9, 0.0] {
            let dependent = x.mean_axis(Axis(1)).unwrap().insert_axis(Axis(1)) + extra * &noise;
            let x = concatenate![Axis(1), x, dependent];
            for rule in [Rule::Minka, Rule::Bic] {
                assert_eq!(chosen(rule, &spectrum_of(&x, false).spectrum()), 9, "{extra}");
            }
        }
        let isotropic = data(200, 6, &[1.0; 3], 0.0, 7);
        for rule in [Rule::Minka, Rule::Bic] {
            assert_eq!(chosen(rule, &spectrum_of(&isotropic, false).spectrum()), 3);
        }
    }

    #[test]
    fn the_units_do_not_matter() {
        let values = [10.2, 8.1, 5.7, 1.3, 1.1, 0.9, 0.8, 0.6];
        for scale in [1e-300, 1e-9, 1e12, 1e300] {
            let scaled: Vec<f64> = values.iter().map(|v| v * scale).collect();
            assert_eq!(chosen(Rule::Minka, &spectrum(&scaled, 60)), 3);
        }
    }

    #[test]
    fn a_criterion_that_runs_away_says_so() {
        let x = data(10, 15, &[10.0, 8.0, 6.0, 4.0, 2.0], 0.1, 1);
        let values = spectrum_of(&x, false);
        let Outcome::Chosen(choice) = outcome(Rule::Bic, &values.spectrum(), None) else {
            panic!("the spectrum is full")
        };
        assert_eq!(choice.n_components, 8);
        assert!(choice.evidence.notes[0].contains("do not rely"));
    }

    #[test]
    fn a_head_is_not_enough() {
        let s = Spectrum { max_rank: 9, n_varying: 9, ..spectrum(&[3.0, 2.0], 50) };
        assert_eq!(reason(Rule::Minka, &s), Reason::NeedsSpectrum { known: 2, needed: 9 });
    }
}
