//! How much of a component goes with what else is known of the samples.

/// The share of the variance of `values` (n) that lies between groups: the correlation ratio η² of analysis of
/// variance, 0 to 1. `None` where nothing varies or no value is finite.
pub fn correlation_ratio(values: &[f64], group_of: &[usize]) -> Option<f64> {
    let n_groups = group_of.iter().max()? + 1;
    let known = || values.iter().zip(group_of).filter(|(value, _)| value.is_finite());
    let (mean, scale) = center_and_scale(known().map(|(value, _)| *value))?;
    let (mut sums, mut counts) = (vec![0.0; n_groups], vec![0.0; n_groups]);
    let mut total = 0.0;
    for (value, &group) in known() {
        let off = (value - mean) / scale;
        sums[group] += off;
        counts[group] += 1.0;
        total += off * off;
    }
    let between: f64 =
        sums.iter().zip(&counts).filter(|(_, n)| **n > 0.0).map(|(sum, n)| sum * sum / n).sum();
    Some((between / total).clamp(0.0, 1.0))
}

/// The squared correlation of two columns (n), over the samples where both are finite. `None` where one of them does
/// not vary there.
pub fn squared_correlation(x: &[f64], y: &[f64]) -> Option<f64> {
    let known = || x.iter().zip(y).filter(|(x, y)| x.is_finite() && y.is_finite());
    let (mean_x, scale_x) = center_and_scale(known().map(|(x, _)| *x))?;
    let (mean_y, scale_y) = center_and_scale(known().map(|(_, y)| *y))?;
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in known() {
        let (a, b) = ((x - mean_x) / scale_x, (y - mean_y) / scale_y);
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    Some((xy * xy / (xx * yy)).clamp(0.0, 1.0))
}

/// The mean, and the largest distance from it: squares of what is divided by it neither over- nor underflow.
fn center_and_scale(values: impl Iterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    let (n, first) = (values.clone().count() as f64, values.clone().next()?);
    // About the first value, so that what does not vary is found out exactly.
    let mean = first + values.clone().map(|value| value / n - first / n).sum::<f64>();
    let scale = values.map(|value| (value - mean).abs()).fold(0.0, f64::max);
    (scale > 0.0 && scale.is_finite()).then_some((mean, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between: 3·(2−4)² + 2·(7−4)² = 30; within: 1 + 0 + 1 + 1 + 1 = 4.
    #[test]
    fn the_share_between_groups_is_that_of_analysis_of_variance() {
        let (values, groups) = ([1.0, 2.0, 3.0, 6.0, 8.0], [0, 0, 0, 2, 2]);
        let found = correlation_ratio(&values, &groups).unwrap();
        assert!((found - 30.0 / 34.0).abs() < 1e-15, "{found}");
        let huge = values.map(|value| value * 1e300);
        assert!((correlation_ratio(&huge, &groups).unwrap() - found).abs() < 1e-14);
        assert_eq!(correlation_ratio(&[1.0, 1.0], &[0, 1]), None);
        assert_eq!(correlation_ratio(&[], &[]), None);
    }

    /// Anscombe's first quartet: r = 0.81642 (1973), to the digits printed.
    #[test]
    fn squared_correlations_are_those_of_anscombe() {
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0, f64::NAN];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68, 1.0];
        let found = squared_correlation(&x, &y).unwrap();
        assert!((found.sqrt() - 0.81642).abs() < 0.5e-5, "{found}");
        assert_eq!(squared_correlation(&x, &[2.0; 12]), None);
    }
}
