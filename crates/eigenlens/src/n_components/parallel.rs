//! Parallel analysis: components that data with independent columns would not show.
//!
//! The eigenvalues of the correlation matrix are compared, place by place, with the 95th percentile
//! of those of draws with the same margins but independent columns; the leading ones that beat
//! theirs are kept, up to the first that does not.
//!
//! - With a sample: each draw permutes every column independently. The observed eigenvalues are
//!   those of the sample, so both sides have the same number of rows.
//! - Without one, for a standardised spectrum (or with weights): Gaussian columns. Their scatter
//!   matrix is Wishart's, drawn through its Bartlett factor, chi on the diagonal and normal numbers
//!   below: min(n−1, d)·d random numbers whatever n is. Its rows scaled to length 1 give the
//!   correlations.
//!
//! For n − 1 < d the matrices are formed on the short side. Constant columns have weight 0.
//! Draws: 100, or fewer, down to 20, where one takes more than 2·10⁸ operations; rows are thinned where
//! even 20 would take long. Both are stated in the notes.
//!
//! Source: Horn, *Psychometrika* 30 (1965); permutations: Buja & Eyuboglu (1992); Bartlett (1933).
//! Needs: data, or a standardised spectrum as far as it beats the null; centred.

use super::known::Known;
use super::rule::{Question, RuleSpec};
use super::sample::{affordable, columns, pick, rows_note, shuffle};
use super::{Curve, Evidence, Found, Need, Reason, Sample};
use crate::linalg::dense::symmetric_eigenvalues;
use crate::linalg::gemm::transposed_product;
use crate::linalg::random::{normal, stream, uniform};
use ndarray::{Array2, ArrayView2};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Streams of random numbers of this rule: one for the rows, one for each draw.
const STREAM: u64 = 0x7061_7261_0000;
const FEWEST_DRAWS: usize = 20;
const MOST_DRAWS: usize = 100;
/// Operations that all draws may take together before their number falls …
const USUAL_COST: f64 = 2e10;
/// … and before rows are thinned.
const LARGEST_COST: f64 = 1e11;

pub(super) const RULE: RuleSpec = RuleSpec {
    need: |_| Need::Data,
    // The null of independent columns says nothing of the uncentred first component, which is mostly the mean.
    assumes_centered: true,
    ..RuleSpec::of_head("parallel-analysis", choose)
};

/// Correlation eigenvalues above the 95th percentile of independent columns'.
fn choose(asked: &Question) -> Result<Found, Reason> {
    let Question { known, sample, seed, .. } = *asked;
    // Permuting rows cannot honour weights; the Wishart null can.
    let weighted = |s: &Sample| (known.n_samples - s.of as f64).abs() > 1e-9 * known.n_samples;
    match sample {
        Some(sample) if !(known.standardized && weighted(sample)) => {
            let mut found = permuted(known, sample, seed)?;
            if weighted(sample) {
                found.evidence.notes.push("the weights are not used".into());
            }
            Ok(found)
        }
        _ if known.standardized => gaussian(known, seed),
        _ => Err(Reason::NeedsDataOrStandardized),
    }
}

fn permuted(known: &Known, sample: &Sample, seed: u64) -> Result<Found, Reason> {
    let (n, d) = sample.rows.dim();
    if d != known.n_features {
        return Err(Reason::SampleShape { found: d, expected: known.n_features });
    }
    if n < 2 {
        return Err(Reason::TooFewSamples { found: n as f64, needed: 2 });
    }
    let limit = LARGEST_COST / FEWEST_DRAWS as f64;
    let rows = affordable(n, n.min(50), limit, |n| cost(n, d));
    let picks = if rows == n { (0..n).collect() } else { pick(n, rows, &mut stream(seed, STREAM)) };
    let columns = columns(sample, &picks, true, true)?;
    let observed = eigenvalues(oriented(columns.clone()).view(), rows as f64 - 1.0)?;
    let draws = number_of_draws(cost(rows, columns.nrows()));
    let null = percentiles(draws, |b| {
        let mut rng = stream(seed, STREAM + 1 + b);
        let mut z = columns.clone();
        for mut column in z.rows_mut() {
            if let Some(values) = column.as_slice_mut() {
                shuffle(values, &mut rng);
            }
        }
        eigenvalues(oriented(z).view(), rows as f64 - 1.0)
    })?;
    let n_components = leading(&observed, &null);
    let mut notes =
        vec![format!("{draws} draws with columns permuted independently"), rows_note(rows, sample)];
    if columns.nrows() < d {
        notes.push(format!("{} constant columns have weight 0", d - columns.nrows()));
    }
    Ok(found(n_components, observed, null, notes))
}

fn gaussian(known: &Known, seed: u64) -> Result<Found, Reason> {
    let freedom = known.n_samples - 1.0;
    if freedom < 1.0 {
        return Err(Reason::TooFewSamples { found: known.n_samples, needed: 2 });
    }
    // The trace of a correlation matrix counts the columns that are not constant.
    let d = (known.total.round() as usize).clamp(1, known.n_varying.max(1));
    let order = if freedom >= d as f64 { d } else { freedom as usize };
    let one = cost(order, d);
    if one * FEWEST_DRAWS as f64 > LARGEST_COST {
        return Err(Reason::TooCostly { order });
    }
    let draws = number_of_draws(one);
    let null = percentiles(draws, |b| {
        let factor = correlation_factor(&mut stream(seed, STREAM + 1 + b), d, order, freedom);
        // d × order: the short side is the columns'.
        eigenvalues(factor.view(), 1.0)
    })?;
    let n_components = leading(&known.values, &null);
    if n_components == known.values.len() && !known.complete() {
        return Err(known.too_short());
    }
    let notes = vec![format!(
        "{draws} draws of Gaussian correlation matrices ({} degrees of freedom, {d} columns)",
        freedom
    )];
    Ok(found(n_components, known.values.clone(), null, notes))
}

fn found(n_components: usize, observed: Vec<f64>, null: Vec<f64>, notes: Vec<String>) -> Found {
    let curves = vec![
        Curve { name: "correlation_eigenvalue", first: 1, values: observed },
        Curve { name: "null_95th_percentile", first: 1, values: null },
    ];
    Found { n_components, evidence: Evidence { curves, thresholds: vec![], notes } }
}

/// The strict comparison leaves room for rounding: two samples always tie with their permutations.
fn leading(observed: &[f64], null: &[f64]) -> usize {
    observed.iter().zip(null).take_while(|&(o, t)| *o > t * (1.0 + 1e-9)).count()
}

/// Operations of one draw: the product and the eigenvalues, which run slower.
fn cost(n: usize, d: usize) -> f64 {
    let (n, d) = (n as f64, d as f64);
    let short = n.min(d);
    n * d * short + 4.0 * short.powi(3)
}

fn number_of_draws(cost: f64) -> usize {
    (USUAL_COST / cost.max(1.0)).clamp(FEWEST_DRAWS as f64, MOST_DRAWS as f64) as usize
}

/// The matrix d × n or its transpose, whichever is tall: the Gram matrix of its columns is on the
/// short side.
fn oriented(columns: Array2<f64>) -> Array2<f64> {
    if columns.nrows() >= columns.ncols() {
        columns
    } else {
        columns.t().as_standard_layout().into_owned()
    }
}

/// Eigenvalues of `ZᵀZ/divisor` for tall Z, descending.
fn eigenvalues(z: ArrayView2<f64>, divisor: f64) -> Result<Vec<f64>, Reason> {
    let gram = transposed_product(z, z) / divisor;
    let ascending =
        symmetric_eigenvalues(gram.view()).map_err(|e| Reason::Failed(e.to_string()))?;
    Ok(ascending.into_iter().rev().map(|v| v.max(0.0)).collect())
}

/// A factor F (d × order) of a random correlation matrix `F Fᵀ` of Gaussian columns.
fn correlation_factor(rng: &mut ChaCha8Rng, d: usize, order: usize, freedom: f64) -> Array2<f64> {
    let mut factor = Array2::zeros((d, order));
    for (i, mut row) in factor.rows_mut().into_iter().enumerate() {
        for v in row.iter_mut().take(i) {
            *v = normal(rng);
        }
        if i < order {
            row[i] = chi_square(rng, freedom - i as f64).sqrt();
        }
        let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
        if length > 0.0 {
            row /= length;
        }
    }
    factor
}

/// A chi-square number of any positive degrees of freedom (Marsaglia & Tsang 2000).
fn chi_square(rng: &mut ChaCha8Rng, freedom: f64) -> f64 {
    let shape = 0.5 * freedom;
    if shape < 1.0 {
        // Γ(a) = Γ(a + 1)·U^{1/a}.
        return chi_square(rng, freedom + 2.0) * uniform(rng).powf(1.0 / shape.max(1e-3));
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && uniform(rng).ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
            return 2.0 * d * v;
        }
    }
}

/// Draws made at once, each with copies of the sample: their memory must not grow with the threads.
const AT_ONCE: usize = 8;

/// The 95th percentile of each place over the draws.
///
/// Each draw has a stream of its own, so the order in which threads take them does not matter.
fn percentiles(
    draws: usize,
    draw: impl Fn(u64) -> Result<Vec<f64>, Reason> + Send + Sync,
) -> Result<Vec<f64>, Reason> {
    let mut all = Vec::with_capacity(draws);
    for first in (0..draws as u64).step_by(AT_ONCE) {
        let wave = first..(first + AT_ONCE as u64).min(draws as u64);
        all.extend(wave.into_par_iter().map(&draw).collect::<Result<Vec<Vec<f64>>, _>>()?);
    }
    let places = all.iter().map(Vec::len).min().unwrap_or(0);
    Ok((0..places)
        .map(|place| {
            let mut values: Vec<f64> = all.iter().map(|v| v[place]).collect();
            values.sort_by(f64::total_cmp);
            let at = 0.95 * (draws - 1) as f64;
            let (low, part) = (at as usize, at.fract());
            let high = (low + 1).min(draws - 1);
            values[low] + part * (values[high] - values[low])
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::n_components::testing::{data, outcome, sample_of, spectrum_of};
    use crate::n_components::{Outcome, Rule};

    fn null_of(outcome: Outcome) -> Vec<f64> {
        match outcome {
            Outcome::Chosen(choice) => choice.evidence.curves[1].values.clone(),
            other => panic!("not chosen: {other:?}"),
        }
    }

    #[test]
    fn chi_square_has_its_moments() {
        let mut rng = stream(1, 2);
        for freedom in [0.5, 1.0, 7.5, 400.0] {
            let draws: Vec<f64> = (0..20_000).map(|_| chi_square(&mut rng, freedom)).collect();
            let mean = draws.iter().sum::<f64>() / 20_000.0;
            let variance = draws.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 20_000.0;
            assert!((mean / freedom - 1.0).abs() < 0.06, "{freedom} {mean}");
            assert!((variance / (2.0 * freedom) - 1.0).abs() < 0.12, "{freedom} {variance}");
        }
    }

    #[test]
    fn wishart_and_permutation_nulls_agree() {
        // Both sides of n − 1 = d.
        for (n, d) in [(120, 30), (30, 80)] {
            let x = data(n, d, &[], 1.0, 5);
            let values = spectrum_of(&x, true);
            let s = values.spectrum();
            let by_permutation = null_of(outcome(Rule::ParallelAnalysis, &s, Some(&sample_of(&x))));
            let by_wishart = null_of(outcome(Rule::ParallelAnalysis, &s, None));
            assert!(by_wishart.len() >= (n - 1).min(d));
            for place in 0..5 {
                let ratio = by_permutation[place] / by_wishart[place];
                assert!((ratio - 1.0).abs() < 0.05, "{place} {ratio}");
            }
        }
    }

    #[test]
    fn an_unscaled_spectrum_needs_the_data() {
        let x = data(60, 8, &[30.0], 1.0, 3);
        let values = spectrum_of(&x, false);
        let Outcome::NotComputed { reason, .. } =
            outcome(Rule::ParallelAnalysis, &values.spectrum(), None)
        else {
            panic!("covariances are not correlations")
        };
        assert_eq!(reason, Reason::NeedsDataOrStandardized);
        let sample = sample_of(&x);
        let with = outcome(Rule::ParallelAnalysis, &values.spectrum(), Some(&sample));
        assert!(with.n_components().is_some());
    }

    #[test]
    fn constant_columns_have_no_weight() {
        let mut x = data(100, 6, &[12.0], 1.0, 4);
        let without = outcome(
            Rule::ParallelAnalysis,
            &spectrum_of(&x, true).spectrum(),
            Some(&sample_of(&x)),
        );
        let constant = Array2::from_elem((100, 1), 0.1);
        x = ndarray::concatenate![ndarray::Axis(1), x, constant];
        let values = spectrum_of(&x, true);
        let with = outcome(Rule::ParallelAnalysis, &values.spectrum(), Some(&sample_of(&x)));
        assert_eq!(with.n_components(), without.n_components());
    }
}
