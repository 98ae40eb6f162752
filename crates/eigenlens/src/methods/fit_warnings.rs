//! What users of PCA and its kin should know of their data and scores.

use super::fit::Fit;
use crate::data::Dataset;
use crate::error::Warning;
use crate::linalg::dense::power_of_two;
use crate::passes::{Columns, Scaler, ScoreMoments};
use crate::scalar::Scalar;

/// Warnings that follow from means, variances and values.
#[expect(clippy::too_many_arguments)]
pub(super) fn warn<T: Scalar>(
    data: &Dataset<T>,
    columns: &Columns,
    scaler: &Scaler,
    variances: &[f64],
    values: &[f64],
    rank: usize,
    k: usize,
    fit: &Fit,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let total: f64 = variances.iter().sum();
    if total == 0.0 {
        warnings.push(Warning::NoVariance);
    } else if rank < k {
        warnings.push(Warning::NullComponents { rank, requested: k });
    }
    if fit.standardize && !scaler.constant.is_empty() {
        let names = scaler.constant.iter().map(|&f| data.column_name(f)).collect();
        warnings.push(Warning::ConstantColumns { columns: scaler.constant.clone(), names });
    }
    let d = variances.len();
    if d > 1 && !fit.standardize {
        let largest = (0..d).max_by(|&a, &b| variances[a].total_cmp(&variances[b])).unwrap_or(0);
        let share = variances[largest] / total;
        if share > 0.999 {
            let name = data.column_name(largest);
            warnings.push(Warning::DominantColumn { column: largest, name, share });
        }
    }
    // The coarsest column, where its spread is a few steps of its number type.
    let levels = |f: usize| {
        let spacing = T::EPSILON * columns.mean_hi[f].abs() / 2.0;
        let sd = (columns.squares[f] / columns.weight).sqrt();
        if spacing > 0.0 && sd > 0.0 { sd / spacing } else { f64::INFINITY }
    };
    if let Some(column) =
        (0..d).min_by(|&a, &b| levels(a).total_cmp(&levels(b))).filter(|&f| levels(f) < 16.0)
    {
        warnings.push(Warning::Quantized {
            column,
            name: data.column_name(column),
            levels: levels(column),
        });
    }
    // No score is longer than all samples together.
    let longest = ((columns.weight - 1.0) * total).sqrt() * power_of_two(scaler.exponent);
    if !fit.whiten && !is_number::<T>(longest) {
        warnings.push(Warning::ScoresOutOfRange);
    } else {
        warnings.extend(variance_warning(values, scaler));
    }
    warnings
}

/// Where a variance is no number in the units of the data.
fn variance_warning(values: &[f64], scaler: &Scaler) -> Option<Warning> {
    let out_of_range = |v: &f64| {
        let squared = v * power_of_two(scaler.exponent) * power_of_two(scaler.exponent);
        *v > 0.0 && (squared < f64::MIN_POSITIVE || !squared.is_finite())
    };
    values.iter().any(out_of_range).then_some(Warning::VarianceOutOfRange)
}

/// Whether it is a number of the elements' type.
fn is_number<T: Scalar>(value: f64) -> bool {
    T::from_f64(value).to_f64().is_finite()
}

/// Takes back that scores may be out of range where those of all training samples have been seen to be
/// numbers. Score moments hold weighted squares; `counts` are the weights.
pub(super) fn mind_seen_scores<T: Scalar>(
    warnings: &mut Vec<Warning>,
    score_moments: &ScoreMoments,
    counts: Option<&[f64]>,
    values: &[f64],
    scaler: &Scaler,
) {
    let Some(at) = warnings.iter().position(|w| *w == Warning::ScoresOutOfRange) else { return };
    let largest = |(square, row): (&f64, &u64)| {
        let weight = counts.and_then(|counts| counts.get(*row as usize)).copied().unwrap_or(1.0);
        (square / weight).sqrt() * power_of_two(scaler.exponent)
    };
    if score_moments.largest.iter().zip(&score_moments.row).map(largest).all(is_number::<T>) {
        warnings.remove(at);
        warnings.extend(variance_warning(values, scaler));
    }
}

/// Warnings that follow from how the scores of each component are spread.
pub(super) fn score_warnings(
    score_moments: &ScoreMoments,
    n: f64,
    rank: usize,
    center: bool,
) -> Vec<Warning> {
    const ONE_ROW: f64 = 0.9;
    const HEAVY: f64 = 10.0;
    let mut warnings = Vec::new();
    let (mut heavy, mut heaviest) = (Vec::new(), 0.0f64);
    // With few rows every component is mostly one of them.
    if n < 10.0 {
        return warnings;
    }
    for component in 0..rank {
        let squares = score_moments.squares[component];
        if squares <= 0.0 {
            continue;
        }
        let (largest, row) =
            (score_moments.largest[component], score_moments.row[component] as usize);
        let kurtosis = n * score_moments.fourth_powers[component] / (squares * squares) - 3.0;
        if largest / squares > ONE_ROW {
            warnings.push(Warning::DominantRow { component, row, share: largest / squares });
        } else if center && kurtosis > HEAVY {
            heavy.push(component);
            heaviest = heaviest.max(kurtosis);
        }
    }
    if !heavy.is_empty() {
        warnings.push(Warning::HeavyTails { components: heavy, kurtosis: heaviest });
    }
    warnings
}
