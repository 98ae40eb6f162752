//! Distances between all pairs of samples: by a metric, or given.

use super::points::{Points, squared_distance};
use crate::error::{Error, Result};
use crate::linalg::simd::vectorized;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// How far two samples are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// `‖x − y‖₂`.
    #[default]
    Euclidean,
    /// `‖x − y‖₁`.
    Manhattan,
    /// The largest difference in any feature.
    Chebyshev,
    /// `1 − x·y / (‖x‖‖y‖)`; 1 from a row of zeros to any other row.
    Cosine,
}

impl Metric {
    /// Every metric, by the name it has on every surface.
    pub const NAMES: [(&'static str, Metric); 4] = [
        ("euclidean", Metric::Euclidean),
        ("manhattan", Metric::Manhattan),
        ("chebyshev", Metric::Chebyshev),
        ("cosine", Metric::Cosine),
    ];

    /// The name it has on every surface.
    pub fn name(self) -> &'static str {
        Metric::NAMES
            .iter()
            .find(|(_, metric)| *metric == self)
            .map_or("euclidean", |(name, _)| name)
    }

    fn squared(self, a: &[f64], b: &[f64]) -> f64 {
        let pairs = || a.iter().zip(b);
        let distance = match self {
            Metric::Euclidean => return squared_distance(a, b),
            Metric::Manhattan => pairs().map(|(x, y)| (x - y).abs()).sum::<f64>(),
            Metric::Chebyshev => pairs().fold(0.0f64, |m, (x, y)| m.max((x - y).abs())),
            Metric::Cosine if a == b => 0.0,
            Metric::Cosine => {
                let product: f64 = pairs().map(|(x, y)| x * y).sum();
                let norms = (dot(a, a) * dot(b, b)).sqrt();
                if norms > 0.0 { (1.0 - product / norms).max(0.0) } else { 1.0 }
            }
        };
        distance * distance
    }

    /// Whether distances are in the units of the data.
    pub(crate) fn has_units(self) -> bool {
        self != Metric::Cosine
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Squared distances of one row from every point.
pub(crate) fn squared_to_all(metric: Metric, row: &[f64], to: &Points, out: &mut [f64]) {
    vectorized(
        #[inline(always)]
        || {
            for (j, out) in out.iter_mut().enumerate() {
                *out = metric.squared(row, to.row(j));
            }
        },
    );
}

/// Squared distances of some rows of `from` from every point of `to`.
pub(crate) fn squared_distances(
    metric: Metric,
    from: &Points,
    rows: std::ops::Range<usize>,
    to: &Points,
) -> Array2<f64> {
    let n = to.n_samples();
    let mut squared = Array2::zeros((rows.len(), n));
    if let Some(entries) = squared.as_slice_mut() {
        entries.par_chunks_mut(n.max(1)).enumerate().for_each(|(i, out)| {
            squared_to_all(metric, from.row(rows.start + i), to, out);
        });
    }
    squared
}

/// Two distances that mirror each other may differ by this share of the largest one.
const SYMMETRY: f64 = 1e-8;

/// Checks that a matrix holds distances: square, finite, not negative, 0 on the diagonal, symmetric.
pub(crate) fn check_distances(distances: ArrayView2<f64>) -> Result<()> {
    let (rows, columns) = distances.dim();
    if rows == 0 {
        return Err(Error::NoRows);
    }
    if rows != columns {
        return Err(Error::Shape {
            what: "the distance matrix",
            found: format!("{rows} × {columns} entries"),
            expected: "a square matrix".into(),
        });
    }
    check_entries(distances)?;
    let largest = distances.iter().fold(0.0f64, |m, v| m.max(*v));
    for row in 0..rows {
        let value = distances[[row, row]];
        if value > SYMMETRY * largest {
            return Err(Error::NotADistance { row, column: row, value, expected: "0" });
        }
        for column in 0..row {
            let (upper, lower) = (distances[[column, row]], distances[[row, column]]);
            if (upper - lower).abs() > SYMMETRY * largest {
                let (what, row, column) = ("the distance matrix", column, row);
                return Err(Error::NotSymmetric { what, row, column, upper, lower });
            }
        }
    }
    Ok(())
}

/// Checks that every entry can be a distance.
pub(crate) fn check_entries(distances: ArrayView2<f64>) -> Result<()> {
    for ((row, column), &value) in distances.indexed_iter() {
        if value.is_nan() {
            return Err(Error::MissingValue { row, column, name: None });
        }
        if value.is_infinite() {
            return Err(Error::Infinite { row, column, name: None, value });
        }
        if value < 0.0 {
            return Err(Error::NotADistance { row, column, value, expected: "at least 0" });
        }
    }
    Ok(())
}
