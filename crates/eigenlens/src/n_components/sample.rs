//! The columns of a sample, made ready for the rules that look at data.

use super::{Reason, Sample};
use crate::linalg::dense::{exponent_of, power_of_two};
use crate::linalg::random::uniform;
use ndarray::Array2;
use rand_chacha::ChaCha8Rng;

/// The sample's varying columns as **rows** of a d′ × n matrix, in units that square safely.
///
/// `picks` are the rows to use, in order. Constant columns (up to rounding) are left out where they
/// carry nothing: their weight is 0.
pub(super) fn columns(
    sample: &Sample,
    picks: &[usize],
    center: bool,
    standardize: bool,
) -> Result<Array2<f64>, Reason> {
    for ((row, column), v) in sample.rows.indexed_iter() {
        if !v.is_finite() {
            return Err(Reason::NotFinite { row, column });
        }
    }
    let largest = sample.rows.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut out = Vec::new();
    let mut kept = 0;
    for column in sample.rows.columns() {
        // Standardised columns may each have their own unit.
        let own = column.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let max = if standardize { own } else { largest };
        let unit = power_of_two(-exponent_of(max).clamp(-1000, 1000));
        let start = out.len();
        out.extend(picks.iter().map(|&i| column[i] * unit));
        let values = &mut out[start..];
        let first = values.first().copied().unwrap_or(0.0);
        let n = values.len() as f64;
        let shift = values.iter().map(|v| v - first).sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - first - shift).powi(2)).sum();
        let deviation = (squares / (n - 1.0).max(1.0)).sqrt();
        let constant = deviation <= 4.0 * f64::EPSILON * (first + shift).abs();
        if constant && (center || standardize || first == 0.0) {
            out.truncate(start);
            continue;
        }
        if center {
            values.iter_mut().for_each(|v| *v = *v - first - shift);
        }
        if standardize {
            values.iter_mut().for_each(|v| *v /= deviation);
        }
        kept += 1;
    }
    Array2::from_shape_vec((kept, picks.len()), out).map_err(|e| Reason::Failed(e.to_string()))
}

/// `take` of the numbers 0 … n − 1 in random order.
pub(super) fn pick(n: usize, take: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n).collect();
    shuffle(&mut all, rng);
    all.truncate(take);
    all
}

/// Random order (Fisher & Yates).
pub(super) fn shuffle<T>(values: &mut [T], rng: &mut ChaCha8Rng) {
    for i in (1..values.len()).rev() {
        let j = (uniform(rng) * (i + 1) as f64) as usize;
        values.swap(i, j.min(i));
    }
}

/// The most rows, at least `least` (or all), whose cost stays within the limit.
pub(super) fn affordable(n: usize, least: usize, limit: f64, cost: impl Fn(usize) -> f64) -> usize {
    let mut take = n;
    while take > least && cost(take) > limit {
        take = (take - take / 10 - 1).max(least);
    }
    take
}

/// Which rows were used, in words.
pub(super) fn rows_note(used: usize, sample: &Sample) -> String {
    if used == sample.of {
        format!("all {used} rows")
    } else {
        format!("a sample of {used} of the {} rows", sample.of)
    }
}
