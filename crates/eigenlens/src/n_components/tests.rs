//! The rules against each other, on published settings and on degenerate input.

use super::testing::{data, head, outcome, sample_of, spectrum, spectrum_of};
use super::{Evidence, Outcome, Reason, Rule, Sample, Spectrum, apply_all};
use crate::linalg::pool;

/// Minka (2000): true k = 5 with variances 10 8 6 4 2 and noise, three shapes.
#[test]
fn minkas_settings() {
    let rules = [
        Rule::Minka,
        Rule::Bic,
        Rule::Elbow,
        Rule::BrokenStick,
        Rule::CumulativeShare(0.95),
        Rule::GavishDonoho { noise: None },
        Rule::ParallelAnalysis,
        Rule::CrossValidation,
    ];
    let seeds = 60;
    for (d, noise, n) in [(10, 1.0, 100), (15, 0.1, 10), (100, 0.25, 60)] {
        let mut right = vec![0; rules.len()];
        for seed in 0..seeds {
            let x = data(n, d, &[10.0, 8.0, 6.0, 4.0, 2.0], noise, seed);
            let values = spectrum_of(&x, false);
            let outcomes = apply_all(&rules, &values.spectrum(), Some(&sample_of(&x)), seed);
            for (count, outcome) in right.iter_mut().zip(outcomes) {
                *count += usize::from(outcome.n_components() == Some(5));
            }
        }
        assert!(2 * right[0] > seeds as usize, "{d} {noise} {n}: {right:?}");
        // Best or tied: no other is ahead by more than a standard error of a count, √(60/4).
        assert!(right.iter().all(|&r| r <= right[0] + 3), "{d} {noise} {n}: {right:?}");
    }
}

#[test]
fn noise_and_a_spike_about_the_edge() {
    // The edge for a spike is a variance of 1 + √β = 1.7.
    let (n, d) = (300, 150);
    let noise_rules = [Rule::ParallelAnalysis, Rule::GavishDonoho { noise: None }];
    for (spikes, expected) in [(vec![], 0), (vec![1.2], 0), (vec![12.0], 1)] {
        let x = data(n, d, &spikes, 1.0, 11);
        let sample = sample_of(&x);
        let values = spectrum_of(&x, false);
        for got in apply_all(&noise_rules, &values.spectrum(), Some(&sample), 1) {
            assert_eq!(got.n_components(), Some(expected), "{:?} {spikes:?}", got.rule());
        }
        let known = Rule::GavishDonoho { noise: Some(1.0) };
        assert_eq!(outcome(known, &values.spectrum(), None).n_components(), Some(expected));
        // The Gaussian null needs no data.
        let values = spectrum_of(&x, true);
        let got = outcome(Rule::ParallelAnalysis, &values.spectrum(), None);
        assert_eq!(got.n_components(), Some(expected));
        if spikes.is_empty() {
            for rule in [Rule::Minka, Rule::Bic] {
                assert_eq!(outcome(rule, &values.spectrum(), None).n_components(), Some(0));
            }
        }
    }
}

#[test]
fn each_rule_is_listed_once() {
    let all = Rule::all();
    let mut names: Vec<_> = all.iter().map(|r| r.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 11);
}

#[test]
fn uncentered_data_rule_out_what_assumes_centering() {
    let mut s = spectrum(&[5.0, 2.0, 1.0, 0.5], 30);
    (s.centered, s.standardized) = (false, true);
    for outcome in apply_all(&Rule::all(), &s, None, 0) {
        let assumes = matches!(
            outcome.rule(),
            Rule::Minka | Rule::Bic | Rule::ParallelAnalysis | Rule::BrokenStick | Rule::Kaiser
        );
        let refused = matches!(outcome, Outcome::NotComputed { reason: Reason::NeedsCentered, .. });
        assert_eq!(refused, assumes, "{outcome:?}");
    }
}

fn numbers(evidence: &Evidence) -> impl Iterator<Item = f64> + '_ {
    let curves = evidence.curves.iter().flat_map(|c| c.values.iter().copied());
    curves.chain(evidence.thresholds.iter().map(|t| t.1))
}

/// Every rule on every degenerate spectrum: an answer within bounds or a reason, never NaN.
#[test]
fn degenerate_spectra() {
    let mut rules = Rule::all();
    rules.push(Rule::GavishDonoho { noise: Some(0.0) });
    rules.push(Rule::GavishDonoho { noise: Some(1e300) });
    let zeros = [0.0; 4];
    let cases: Vec<Spectrum> = vec![
        head(&[], 0.0, 0, 1),
        head(&[], 0.0, 0, 0),
        head(&[], 5.0, 4, 10),
        head(&[], 5.0, 0, 10),
        spectrum(&zeros, 10),
        spectrum(&[2.0], 2),
        spectrum(&[2.0], 10),
        spectrum(&[2.0, 1.0], 3),
        spectrum(&[2.0, 1.0, -1e-17], 4),
        spectrum(&[1.0, 1.0, 1.0], 4),
        spectrum(&[1.0, 0.0, 0.0], 2),
        spectrum(&[1e308, 1e-308], 9),
        spectrum(&[5e-324, 5e-324, 0.0], 9),
        spectrum(&[f64::NAN, 1.0], 9),
        spectrum(&[1.0, 2.0], 9),
        head(&[1.0, 0.5], f64::INFINITY, 4, 9),
        Spectrum { n_samples: 1.5, ..spectrum(&[2.0, 1.0, 0.5], 9) },
        Spectrum { n_samples: 0.5, ..spectrum(&[2.0, 1.0, 0.5], 9) },
        Spectrum { n_features: 0, n_varying: 0, ..spectrum(&[2.0, 1.0, 0.5], 9) },
        Spectrum { n_features: 50, n_varying: 50, ..spectrum(&[2.0, 1.0, 0.5], 4) },
    ];
    for case in &cases {
        for standardized in [false, true] {
            let s = Spectrum { standardized, ..case.clone() };
            for outcome in apply_all(&rules, &s, None, 0) {
                match outcome {
                    Outcome::Chosen(choice) => {
                        assert!(choice.n_components <= s.max_rank, "{s:?} {choice:?}");
                        assert!(numbers(&choice.evidence).all(f64::is_finite), "{s:?} {choice:?}");
                    }
                    Outcome::NotComputed { reason, .. } => assert!(!reason.to_string().is_empty()),
                }
            }
        }
    }
    for outcome in apply_all(&Rule::all(), &spectrum(&zeros, 10), None, 0) {
        if !matches!(outcome.rule(), Rule::Kaiser) {
            assert_eq!(outcome.n_components(), Some(0), "{outcome:?}");
        }
    }
}

/// The rules on data, with samples that are small, constant, huge, tiny, strided or broken.
#[test]
fn degenerate_samples() {
    let rules = [Rule::ParallelAnalysis, Rule::CrossValidation];
    let base = data(12, 5, &[8.0], 1.0, 3);
    let mut constant = base.clone();
    constant.fill(4.0);
    let mut broken = base.clone();
    broken[[3, 2]] = f64::NAN;
    let samples = [
        base.slice(ndarray::s![..0, ..]).to_owned(),
        base.slice(ndarray::s![..1, ..]).to_owned(),
        base.slice(ndarray::s![..2, ..]).to_owned(),
        base.slice(ndarray::s![..3, ..]).to_owned(),
        constant,
        &base * 1e306,
        &base * 1e-300,
        broken,
        base.slice(ndarray::s![.., ..4]).to_owned(),
    ];
    let values = spectrum_of(&base, false);
    for x in &samples {
        for centered in [true, false] {
            let s = Spectrum { centered, ..values.spectrum() };
            for outcome in apply_all(&rules, &s, Some(&sample_of(x)), 0) {
                if let Outcome::Chosen(choice) = outcome {
                    assert!(choice.n_components <= s.max_rank);
                    assert!(numbers(&choice.evidence).all(f64::is_finite), "{choice:?}");
                }
            }
        }
    }
    // The layout of the sample does not matter.
    let turned = base.t().as_standard_layout().into_owned();
    let other = Sample { rows: turned.t(), of: 12 };
    let s = values.spectrum();
    assert_eq!(
        apply_all(&rules, &s, Some(&sample_of(&base)), 5),
        apply_all(&rules, &s, Some(&other), 5)
    );
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let x = data(80, 20, &[9.0, 5.0], 1.0, 6);
    let values = spectrum_of(&x, true);
    let run = |threads| {
        pool::run(Some(threads), || {
            let sample = sample_of(&x);
            let mut all = apply_all(&Rule::all(), &values.spectrum(), Some(&sample), 3);
            all.push(outcome(Rule::ParallelAnalysis, &values.spectrum(), None));
            all
        })
        .unwrap()
    };
    let one = run(1);
    for threads in [2, 3, 8] {
        assert_eq!(run(threads), one);
    }
}

/// Rows and columns are counted from 1 in words, as everywhere.
#[test]
fn words_count_from_one() {
    let words = Reason::NotFinite { row: 0, column: 1 }.to_string();
    assert_eq!(words, "row 1, column 2 of the sample is missing or infinite");
}
