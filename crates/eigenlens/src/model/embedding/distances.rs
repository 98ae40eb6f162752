//! New samples placed by their distances to training samples: MDS, Isomap, landmarks.

use super::{TOGETHER, neighborhood, neighbors_of};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::graph::{
    Geodesics, Metric, Neighborhood, Network, Points, Seeds, check_entries, squared_distances,
};
use crate::linalg::dense::power_of_two;
use crate::linalg::gemm;
use crate::passes::RowGrid;
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2, Axis, s};

/// `z = −½ (δ² − mean δ²) V Λ^{-1/2}`: the centred kernel row of a new sample times the scaled
/// vectors (Bengio et al. 2004; with landmarks, de Silva & Tenenbaum 2004).
pub(crate) struct DistanceMap {
    pub from: Distances,
    /// Mean squared distance of each reference sample from the others (m).
    pub means: Vec<f64>,
    /// `V Λ^{-1/2}` (m × k), 0 for null components.
    pub projector: Array2<f64>,
}

/// How distances to the reference samples are made.
pub(crate) enum Distances {
    /// They are given in place of features.
    Given {
        /// Distances were divided by 2^exponent.
        exponent: i32,
    },
    /// By a metric.
    Metric { points: Points, metric: Metric },
    /// Along a graph; the reference samples are the landmarks, where there are any.
    Geodesic { points: Points, network: Network, landmarks: Option<Vec<u32>> },
}

impl DistanceMap {
    pub fn is_given(&self) -> bool {
        matches!(self.from, Distances::Given { .. })
    }

    pub fn n_references(&self) -> usize {
        self.means.len()
    }

    pub fn n_features(&self) -> usize {
        match &self.from {
            Distances::Given { .. } => self.n_references(),
            Distances::Metric { points, .. } | Distances::Geodesic { points, .. } => {
                points.n_features()
            }
        }
    }

    pub fn landmarks(&self) -> Option<&[u32]> {
        match &self.from {
            Distances::Geodesic { landmarks, .. } => landmarks.as_deref(),
            _ => None,
        }
    }

    /// Distances are in units of 2^this.
    pub fn exponent(&self) -> i32 {
        match &self.from {
            Distances::Given { exponent } => *exponent,
            Distances::Metric { points, metric } if metric.has_units() => points.exponent(),
            Distances::Metric { .. } => 0,
            Distances::Geodesic { points, .. } => points.exponent(),
        }
    }

    /// Coordinates (b × k) from squared distances to the reference samples (b × m).
    pub fn project(&self, mut squared: Array2<f64>) -> Array2<f64> {
        for mut row in squared.rows_mut() {
            row.iter_mut().zip(&self.means).for_each(|(v, mean)| *v -= mean);
            // The vectors are orthogonal to 1: this changes nothing but rounding.
            let mean = row.mean().unwrap_or(0.0);
            row -= mean;
        }
        let mut coordinates = gemm::product(squared.view(), self.projector.view());
        let unit = -0.5 * power_of_two(self.exponent());
        coordinates.mapv_inplace(|v| unit * v);
        coordinates
    }

    pub fn place<T: Scalar>(
        &self,
        data: &Dataset<T>,
        which: Option<Neighborhood>,
    ) -> Result<Array2<f64>> {
        match &self.from {
            Distances::Given { exponent } => self.place_given(data, *exponent),
            Distances::Metric { points, metric } => {
                let new = points.read_new(data)?;
                self.in_pieces(new.n_samples(), |rows| {
                    Ok(squared_distances(*metric, &new, rows, points))
                })
            }
            Distances::Geodesic { points, network, landmarks } => {
                let new = points.read_new(data)?;
                let found = neighbors_of(points, &new, neighborhood(which)?)?;
                let seeds: Vec<Seeds> = (0..new.n_samples())
                    .map(|q| {
                        let (nodes, lengths) = found.of(q);
                        nodes.iter().copied().zip(lengths.iter().copied()).collect()
                    })
                    .collect();
                let geodesics = Geodesics::new(network, seeds.len())?;
                self.in_pieces(seeds.len(), |rows| {
                    let mut distances = geodesics.rows(&seeds[rows])?;
                    if let Some(landmarks) = landmarks {
                        distances = pick_columns(distances.view(), landmarks);
                    }
                    distances.mapv_inplace(|v| v * v);
                    Ok(distances)
                })
            }
        }
    }

    fn place_given<T: Scalar>(&self, data: &Dataset<T>, exponent: i32) -> Result<Array2<f64>> {
        let n = self.n_references();
        if data.n_features() != n {
            return Err(Error::Shape {
                what: "the data",
                found: format!("{} distances in a row", data.n_features()),
                expected: format!("one to each of {n} training samples"),
            });
        }
        let mut pieces = Vec::new();
        let down = power_of_two(-exponent);
        RowGrid::unweighted(data, None)?.for_each_batch(TOGETHER, |batch| {
            let mut scratch = Vec::new();
            let block = batch.block(0, batch.rows, &mut scratch);
            let rows = Array2::from_shape_fn((batch.rows, n), |(i, j)| block.row(i)[j].to_f64());
            check_entries(rows.view()).map_err(|e| in_row(e, batch.first))?;
            pieces.push(self.project(rows.mapv(|v| (v * down) * (v * down))));
            Ok(())
        })?;
        join(&pieces, self.projector.ncols())
    }

    fn in_pieces(
        &self,
        n: usize,
        squared: impl Fn(std::ops::Range<usize>) -> Result<Array2<f64>>,
    ) -> Result<Array2<f64>> {
        let mut all = Array2::zeros((n, self.projector.ncols()));
        for first in (0..n).step_by(TOGETHER) {
            let last = (first + TOGETHER).min(n);
            let placed = self.project(squared(first..last)?);
            all.slice_mut(s![first..last, ..]).assign(&placed);
        }
        Ok(all)
    }
}

/// Some columns of a matrix.
pub(crate) fn pick_columns(a: ArrayView2<f64>, columns: &[u32]) -> Array2<f64> {
    Array2::from_shape_fn((a.nrows(), columns.len()), |(i, j)| a[[i, columns[j] as usize]])
}

/// The same complaint about a row of the whole data.
fn in_row(error: Error, first: usize) -> Error {
    match error {
        Error::MissingValue { row, column, name } => {
            Error::MissingValue { row: row + first, column, name }
        }
        Error::Infinite { row, column, name, value } => {
            Error::Infinite { row: row + first, column, name, value }
        }
        Error::NotADistance { row, column, value, expected } => {
            Error::NotADistance { row: row + first, column, value, expected }
        }
        other => other,
    }
}

fn join(pieces: &[Array2<f64>], k: usize) -> Result<Array2<f64>> {
    let views: Vec<ArrayView2<f64>> = pieces.iter().map(|p| p.view()).collect();
    if views.is_empty() {
        return Ok(Array2::zeros((0, k)));
    }
    ndarray::concatenate(Axis(0), &views).map_err(|e| Error::Internal(e.to_string()))
}
