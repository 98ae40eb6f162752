//! Cross-validation of held-out entries.
//!
//! Rows fall into 5 groups and columns into 10. For each group I of rows the components `V` (d × K)
//! and the mean come from the other rows. For each group J of columns the scores of a held-out row
//! are estimated from its other columns by least squares, `t = (V₋ⱼᵀV₋ⱼ)⁻¹ V₋ⱼᵀ x₋ⱼ`, and its
//! entries in J are predicted as `V_J t`. No entry helps to predict itself, so the error falls while
//! components carry structure and rises when they carry noise; the k with the least is kept, 0
//! (the mean alone) included. This is the "eigenvector" scheme, the recommended one in the
//! comparison by Bro, Kjeldahl, Smilde & Kiers, *Analytical and Bioanalytical Chemistry* 390
//! (2008).
//!
//! Needs: data (thinned where large, which the notes state). At most 100 components are tried.
//! Cost: 5 eigenproblems on the short side and O(n d K) for all k together, since
//! `V₋ⱼᵀV₋ⱼ = I − V_JᵀV_J = L Lᵀ` has nested Cholesky factors: one more component is one more term.

use super::known::Known;
use super::rule::{Question, RuleSpec};
use super::sample::{affordable, columns, pick, rows_note, shuffle};
use super::{Curve, Evidence, Found, Need, Reason, Sample};
use crate::linalg::dense::symmetric_eigen;
use crate::linalg::gemm::{product, transposed_product};
use crate::linalg::random::stream;
use ndarray::{Array2, ArrayView2, Axis, concatenate, s};
use rayon::prelude::*;

const STREAM: u64 = 0x6372_6f73_0000;
const ROW_GROUPS: usize = 5;
const COLUMN_GROUPS: usize = 10;
const MOST_COMPONENTS: usize = 100;
/// Operations that the eigenproblems may take together before rows are thinned.
const LARGEST_COST: f64 = 1e11;

pub(super) const RULE: RuleSpec =
    RuleSpec { need: |_| Need::Data, ..RuleSpec::of_head("cross-validation", choose) };

/// The number of components with the least error on held-out entries.
fn choose(asked: &Question) -> Result<Found, Reason> {
    let (known, seed) = (asked.known, asked.seed);
    let sample = asked.sample.ok_or(Reason::NeedsData)?;
    let (n, d) = sample.rows.dim();
    if d != known.n_features {
        return Err(Reason::SampleShape { found: d, expected: known.n_features });
    }
    if n < 3 {
        return Err(Reason::TooFewSamples { found: n as f64, needed: 3 });
    }
    let rows = affordable(n, n.min(50), LARGEST_COST / ROW_GROUPS as f64, |n| {
        let (n, d) = (n as f64, d as f64);
        n * d * n.min(d) + 10.0 * n.min(d).powi(3)
    });
    let x = shuffled(known, sample, rows, seed)?;
    let d = x.ncols();
    if d < 2 {
        return Err(Reason::TooFewFeatures { found: d, needed: 2 });
    }
    let groups: Vec<(usize, usize)> = groups(rows, ROW_GROUPS);
    let errors: Vec<Vec<f64>> = groups
        .par_iter()
        .map(|&(from, to)| held_out(x.view(), from, to, known.centered))
        .collect::<Result<_, _>>()?;
    // A group of lower rank ends the comparison for all.
    let length = errors.iter().map(Vec::len).min().unwrap_or(0);
    let total: Vec<f64> = (0..length).map(|k| errors.iter().map(|e| e[k]).sum()).collect();
    Ok(verdict(&total, rows, sample))
}

fn verdict(total: &[f64], rows: usize, sample: &Sample) -> Found {
    let mut notes = vec![rows_note(rows, sample)];
    let none = total.first().copied().unwrap_or(0.0);
    if none <= 0.0 {
        notes.push("the sample has no variance".into());
        return Found { n_components: 0, evidence: Evidence { notes, ..Evidence::default() } };
    }
    let curve: Vec<f64> = total.iter().map(|e| (e / none).min(f64::MAX)).collect();
    let least = curve.iter().copied().fold(f64::INFINITY, f64::min);
    // Errors that differ by rounding are equal: the fewest components win.
    let n_components = curve.iter().position(|e| *e <= least * (1.0 + 1e-9) + 1e-20).unwrap_or(0);
    let tried = curve.len() - 1;
    notes.push(format!("0 to {tried} components were compared"));
    if n_components == tried && tried > 0 {
        notes.push("the error still falls at the last: more might do better".into());
    }
    let curves = vec![Curve { name: "relative_error", first: 0, values: curve }];
    Found { n_components, evidence: Evidence { curves, thresholds: vec![], notes } }
}

/// The sample (rows × d′) with rows and columns in random order, so that groups are ranges.
fn shuffled(known: &Known, sample: &Sample, rows: usize, seed: u64) -> Result<Array2<f64>, Reason> {
    let mut rng = stream(seed, STREAM);
    let picks = pick(sample.rows.nrows(), rows, &mut rng);
    let columns = columns(sample, &picks, known.centered, known.standardized)?;
    let mut order: Vec<usize> = (0..columns.nrows()).collect();
    shuffle(&mut order, &mut rng);
    Ok(columns.select(Axis(0), &order).t().as_standard_layout().into_owned())
}

/// Squared errors of the entries of rows `from..to` with 0, 1, 2 … components.
fn held_out(
    x: ArrayView2<f64>,
    from: usize,
    to: usize,
    centered: bool,
) -> Result<Vec<f64>, Reason> {
    // 1. Mean and components from the other rows.
    let mut others = concatenate![Axis(0), x.slice(s![..from, ..]), x.slice(s![to.., ..])];
    let mut held = x.slice(s![from..to, ..]).to_owned();
    if centered && let Some(mean) = others.mean_axis(Axis(0)) {
        others -= &mean;
        held -= &mean;
    }
    let columns = groups(x.ncols(), COLUMN_GROUPS);
    let widest = columns.iter().map(|(a, b)| b - a).max().unwrap_or(0);
    let most = MOST_COMPONENTS
        .min(x.ncols() - widest)
        .min(others.nrows().saturating_sub(usize::from(centered)));
    let v = components(&others, most)?;
    // 2. Predict each group of columns from the rest.
    let scores = product(held.view(), v.view());
    let mut errors = vec![0.0; v.ncols() + 1];
    for (a, b) in columns {
        let (v_j, x_j) = (v.slice(s![a..b, ..]), held.slice(s![.., a..b]));
        let factor = cholesky_of_complement(&transposed_product(v_j, v_j));
        // V₋ⱼᵀ x₋ⱼ for every held-out row.
        let from_rest = &scores - &product(x_j, v_j);
        predict(x_j, v_j, &factor, &from_rest, &mut errors);
    }
    Ok(errors)
}

/// The leading eigenvectors (d × at most `most`) of the scatter of these rows.
fn components(rows: &Array2<f64>, most: usize) -> Result<Array2<f64>, Reason> {
    let (n, d) = rows.dim();
    let failed = |e: crate::error::Error| Reason::Failed(e.to_string());
    let tall = n >= d;
    let transposed = rows.t().as_standard_layout().into_owned();
    let side = if tall { rows.view() } else { transposed.view() };
    let (values, vectors) =
        symmetric_eigen(transposed_product(side, side).view()).map_err(failed)?;
    let largest = values.last().copied().unwrap_or(0.0);
    // Below this the squared problem shows rounding.
    let useful = values.iter().rev().take(most).take_while(|&&v| v > 1e-12 * largest).count();
    let order: Vec<usize> = (0..values.len()).rev().take(useful).collect();
    let mut leading = vectors.select(Axis(1), &order).as_standard_layout().into_owned();
    if !tall {
        leading = product(transposed.view(), leading.view());
        for (mut column, &j) in leading.columns_mut().into_iter().zip(&order) {
            column /= values[j].sqrt();
        }
    }
    Ok(leading)
}

/// L of `I − G = L Lᵀ`. A component that lives in the held-out columns alone has no pivot: its row
/// and column are 0, and it predicts nothing.
fn cholesky_of_complement(gram: &Array2<f64>) -> Array2<f64> {
    let k = gram.nrows();
    let mut l = Array2::<f64>::zeros((k, k));
    for j in 0..k {
        for i in j..k {
            let unit = if i == j { 1.0 } else { 0.0 };
            let known: f64 = (0..j).map(|p| l[[i, p]] * l[[j, p]]).sum();
            let rest = unit - gram[[i, j]] - known;
            if i == j {
                l[[j, j]] = if rest > 1e-10 { rest.sqrt() } else { 0.0 };
            } else if l[[j, j]] > 0.0 {
                l[[i, j]] = rest / l[[j, j]];
            }
        }
    }
    l
}

/// Adds the squared errors of `x_j` with 0, 1, 2 … components.
fn predict(
    x_j: ArrayView2<f64>,
    v_j: ArrayView2<f64>,
    l: &Array2<f64>,
    from_rest: &Array2<f64>,
    errors: &mut [f64],
) {
    let k = l.nrows();
    // W = V_J L⁻ᵀ, stored k × |J|: its first rows do not depend on how many follow.
    let mut w = v_j.t().as_standard_layout().into_owned();
    for i in 0..k {
        for p in 0..i {
            let (done, mut rest) = w.view_mut().split_at(Axis(0), i);
            rest.row_mut(0).scaled_add(-l[[i, p]], &done.row(p));
        }
        let scale = if l[[i, i]] > 0.0 { 1.0 / l[[i, i]] } else { 0.0 };
        w.row_mut(i).mapv_inplace(|v| v * scale);
    }
    let mut weights = vec![0.0; k];
    for (row, rest) in x_j.rows().into_iter().zip(from_rest.rows()) {
        let mut residual = row.to_owned();
        errors[0] += residual.dot(&residual);
        for i in 0..k {
            let known: f64 = (0..i).map(|p| l[[i, p]] * weights[p]).sum();
            weights[i] = if l[[i, i]] > 0.0 { (rest[i] - known) / l[[i, i]] } else { 0.0 };
            residual.scaled_add(-weights[i], &w.row(i));
            errors[i + 1] += residual.dot(&residual);
        }
    }
}

/// 0..n in at most `count` ranges of nearly equal length.
fn groups(n: usize, count: usize) -> Vec<(usize, usize)> {
    let count = count.min(n).max(1);
    (0..count).map(|g| (g * n / count, (g + 1) * n / count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::dense::solve_positive;
    use crate::n_components::testing::{data, outcome, sample_of, spectrum_of};
    use crate::n_components::{Outcome, Rule};

    #[test]
    fn finds_the_planted_rank() {
        for (n, d, seed) in [(150, 30, 1), (40, 120, 2), (60, 60, 3)] {
            for k in [0, 1, 4] {
                let spikes: Vec<f64> = (0..k).map(|j| 40.0 - 5.0 * j as f64).collect();
                let x = data(n, d, &spikes, 1.0, seed);
                let values = spectrum_of(&x, false);
                let got = outcome(Rule::CrossValidation, &values.spectrum(), Some(&sample_of(&x)));
                assert_eq!(got.n_components(), Some(k), "{n} × {d}");
            }
        }
    }

    #[test]
    fn an_exact_rank_has_no_error_left() {
        let x = data(30, 12, &[9.0, 4.0, 1.0], 0.0, 1);
        let values = spectrum_of(&x, false);
        let got = outcome(Rule::CrossValidation, &values.spectrum(), Some(&sample_of(&x)));
        assert_eq!(got.n_components(), Some(3));
    }

    #[test]
    fn predictions_are_least_squares() {
        // One held-out row and group of columns, each k solved by itself.
        let x = data(20, 7, &[9.0, 4.0], 1.0, 8);
        let v = components(&x, 4).unwrap();
        let row = x.slice(s![..1, ..]);
        let (v_j, x_j) = (v.slice(s![..3, ..]), row.slice(s![.., ..3]));
        let l = cholesky_of_complement(&transposed_product(v_j, v_j));
        let from_rest = product(row.slice(s![.., 3..]), v.slice(s![3.., ..]));
        let mut errors = vec![0.0; 5];
        predict(x_j, v_j, &l, &from_rest, &mut errors);
        for (k, error) in errors.iter().enumerate().skip(1) {
            let (head, rest) = (v.slice(s![..3, ..k]), v.slice(s![3.., ..k]));
            let right = rest.t().dot(&row.slice(s![.., 3..]).t());
            let t = solve_positive(rest.t().dot(&rest).view(), right.view()).unwrap();
            let residual = &x_j.t() - &head.dot(&t);
            let expected = residual.iter().map(|r| r * r).sum::<f64>();
            assert!((error - expected).abs() < 1e-10 * expected, "{k}");
        }
    }

    #[test]
    fn says_which_rows_it_used() {
        let x = data(50, 6, &[20.0], 1.0, 2);
        let values = spectrum_of(&x, false);
        let sample = Sample { rows: x.view(), of: 5000 };
        let Outcome::Chosen(choice) =
            outcome(Rule::CrossValidation, &values.spectrum(), Some(&sample))
        else {
            panic!("a sample is enough")
        };
        assert_eq!(choice.evidence.notes[0], "a sample of 50 of the 5000 rows");
    }
}
