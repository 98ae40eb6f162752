//! Columns that are placed among the components without having taken part in the fit.
//!
//! Supplementary *rows* need nothing of their own: `transform` them and pass the scores to
//! [`SampleDiagnostics`](super::diagnostics::SampleDiagnostics), whose formulas hold for any row.

use super::diagnostics::{check_length, norm, ratio};
use crate::error::{Error, Result};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

/// Where m supplementary columns lie among k components.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SupplementaryColumns {
    /// `cov(y, z_j)/√λ_j`: for a column that did take part in the fit, its loadings (m × k).
    pub coordinates: Array2<f64>,
    /// Correlations of the columns with the components (m × k).
    pub correlations: Array2<f64>,
    /// Their squares: the share of a column's variance that a component carries (m × k).
    pub squared_cosines: Array2<f64>,
    /// Standard deviations of the columns (m).
    pub standard_deviations: Array1<f64>,
}

/// Places the columns of `columns` (n × m) among the components.
///
/// `scores` (n × k) are those of the training samples, `standard_deviations` (k) the components'
/// `√λ_j`, `weights` (n) the sample weights of the fit. A constant column and a null component give
/// 0.
pub fn supplementary_columns(
    scores: ArrayView2<f64>,
    standard_deviations: ArrayView1<f64>,
    weights: Option<ArrayView1<f64>>,
    columns: ArrayView2<f64>,
) -> Result<SupplementaryColumns> {
    let ((n, k), m) = (scores.dim(), columns.ncols());
    check_length("the standard deviations", standard_deviations.len(), k)?;
    check_length("a supplementary column", columns.nrows(), n)?;
    if n < 2 {
        return Err(Error::TooFewRows { found: n, needed: 2 });
    }
    check_finite(columns)?;
    let weights = match weights {
        Some(weights) => checked_weights(weights, n)?,
        None => Array1::ones(n),
    };
    let total = weights.sum();

    let mut result = SupplementaryColumns {
        coordinates: Array2::zeros((m, k)),
        correlations: Array2::zeros((m, k)),
        squared_cosines: Array2::zeros((m, k)),
        standard_deviations: Array1::zeros(m),
    };
    for (c, column) in columns.columns().into_iter().enumerate() {
        let (centered, scale) = centered(column, &weights, total);
        let spread = norm((&centered * &weights.mapv(f64::sqrt)).view()) / (total - 1.0).sqrt();
        result.standard_deviations[c] = spread * scale;
        for j in 0..k {
            // Dividing by the standard deviations before summing keeps every term near 1. The
            // centred column sums to 0 under the weights, so the scores need no centring.
            let mut sum = 0.0;
            for i in 0..n {
                sum += weights[i] * centered[i] * ratio(scores[[i, j]], standard_deviations[j]);
            }
            let coordinate = sum / (total - 1.0);
            result.coordinates[[c, j]] = coordinate * scale;
            let correlation = ratio(coordinate, spread).clamp(-1.0, 1.0);
            result.correlations[[c, j]] = correlation;
            result.squared_cosines[[c, j]] = correlation * correlation;
        }
    }
    Ok(result)
}

/// The column minus its weighted mean, divided by the scale returned beside it.
///
/// A constant column comes out as exact zeros: its first counted entry is subtracted before the
/// mean is taken, and the mean of zeros is 0.
fn centered(column: ArrayView1<f64>, weights: &Array1<f64>, total: f64) -> (Array1<f64>, f64) {
    let largest = column.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let first = column.iter().zip(weights).find(|&(_, &w)| w > 0.0).map_or(0.0, |(v, _)| v / scale);
    let mut shifted = column.mapv(|v| v / scale - first);
    let mean = shifted.dot(weights) / total;
    shifted -= mean;
    // Once more at the size of the spread: a column far from 0 would keep the mean's rounding.
    let spread = shifted.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let unit = if spread > 0.0 { spread } else { 1.0 };
    shifted /= unit;
    shifted -= shifted.dot(weights) / total;
    (shifted, scale * unit)
}

fn checked_weights(weights: ArrayView1<f64>, n: usize) -> Result<Array1<f64>> {
    check_length("the sample weights", weights.len(), n)?;
    for (row, &value) in weights.iter().enumerate() {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(Error::Weight { row, value });
        }
    }
    let sum = weights.sum();
    if sum > 1.0 { Ok(weights.to_owned()) } else { Err(Error::WeightSum { sum }) }
}

fn check_finite(columns: ArrayView2<f64>) -> Result<()> {
    for ((row, column), &value) in columns.indexed_iter() {
        if value.is_nan() {
            return Err(Error::MissingValue { row, column, name: None });
        }
        if value.is_infinite() {
            return Err(Error::Infinite { row, column, name: None, value });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::diagnostics::FeatureDiagnostics;
    use super::super::diagnostics::tests::{assert_close, nist, pca};
    use super::*;
    use ndarray::{Axis, array, concatenate};

    #[test]
    fn a_column_of_the_fit_gets_its_loadings() {
        let x = nist();
        let p = pca(&x, 3, false);
        let sd = p.centered.map_axis(Axis(0), |c| norm(c) / 3.0);
        let expected =
            FeatureDiagnostics::new(p.components.view(), p.sd.view(), sd.view()).unwrap();
        // Far from 0, and at both ends of the range of numbers.
        for (shift, scale, tolerance) in
            [(0.0, 1.0, 1e-13), (1e8, 1.0, 1e-6), (0.0, 1e-305, 1e-13), (0.0, 1e307, 1e-13)]
        {
            let columns = x.mapv(|v| v * scale + shift);
            let s = supplementary_columns(p.scores.view(), p.sd.view(), None, columns.view());
            let s = s.unwrap();
            for f in 0..3 {
                assert_close(s.standard_deviations[f] / scale, sd[f], tolerance);
                for j in 0..3 {
                    let (found, e) = (s.correlations[[f, j]], expected.correlations[[f, j]]);
                    assert_close(found, e, tolerance);
                    assert_close(s.coordinates[[f, j]] / scale, expected.loadings[[f, j]], 1e-6);
                }
                assert_close(s.squared_cosines.row(f).sum(), 1.0, 1e-6);
            }
        }
    }

    #[test]
    fn weights_count_rows() {
        let p = pca(&nist(), 2, false);
        let y = nist().column(0).mapv(|v| v * v).insert_axis(Axis(1));
        let weights = Array1::from_shape_fn(10, |i| (i % 3) as f64);
        let repeat = |a: &Array2<f64>| {
            let rows: Vec<_> = (0..10)
                .flat_map(|i| {
                    std::iter::repeat_n(a.row(i).insert_axis(Axis(0)), weights[i] as usize)
                })
                .collect();
            concatenate(Axis(0), &rows).unwrap()
        };
        let weighted =
            supplementary_columns(p.scores.view(), p.sd.view(), Some(weights.view()), y.view())
                .unwrap();
        let (scores, columns) = (repeat(&p.scores), repeat(&y));
        let repeated =
            supplementary_columns(scores.view(), p.sd.view(), None, columns.view()).unwrap();
        for (a, b) in weighted.coordinates.iter().zip(&repeated.coordinates) {
            assert_close(*a, *b, 1e-12);
        }
        assert_close(weighted.standard_deviations[0], repeated.standard_deviations[0], 1e-12);
    }

    #[test]
    fn constant_columns_and_null_components_give_zeros() {
        let scores = array![[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]];
        let columns = array![[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]];
        let s = supplementary_columns(scores.view(), array![1.0, 0.0].view(), None, columns.view())
            .unwrap();
        assert_eq!(s.standard_deviations[0], 0.0);
        assert_eq!(s.correlations.row(0), array![0.0, 0.0]);
        assert_eq!(s.coordinates.column(1), array![0.0, 0.0]);
        assert!(s.correlations[[1, 0]] < 0.0);
    }

    #[test]
    fn what_cannot_be_placed_is_named() {
        let (scores, sd) = (array![[1.0], [-1.0]], array![1.0]);
        let place = |columns: Array2<f64>, weights: Option<Array1<f64>>| {
            let weights = weights.as_ref().map(|w| w.view());
            supplementary_columns(scores.view(), sd.view(), weights, columns.view())
        };
        let missing = place(array![[1.0, 0.0], [1.0, f64::NAN]], None);
        assert!(matches!(missing, Err(Error::MissingValue { row: 1, column: 1, .. })));
        let infinite = place(array![[f64::INFINITY], [1.0]], None);
        assert!(matches!(infinite, Err(Error::Infinite { row: 0, column: 0, .. })));
        assert!(matches!(place(array![[1.0]], None), Err(Error::Shape { .. })));
        let negative = place(array![[1.0], [2.0]], Some(array![1.0, -1.0]));
        assert!(matches!(negative, Err(Error::Weight { row: 1, .. })));
        let small = place(array![[1.0], [2.0]], Some(array![0.5, 0.5]));
        assert!(matches!(small, Err(Error::WeightSum { .. })));
    }
}
