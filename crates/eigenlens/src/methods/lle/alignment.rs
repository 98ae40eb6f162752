//! What the coordinates around every sample must satisfy: rows r with `Σ r_j y_j ≈ 0` over the sample
//! and its neighbours. The rows of all samples are R, and the embedding is that of `M = RᵀR`.

use crate::error::{Error, Result};
use crate::graph::Points;
use crate::linalg::dense;
use crate::model::{LleVariant, reconstruction_weights};
use ndarray::{Array2, ArrayView2, Axis, concatenate, s};
use rayon::prelude::*;

/// Node numbers with their factors.
pub(super) type Row = Vec<(u32, f64)>;

/// A variant with its numbers.
pub(super) struct Alignment<'a> {
    pub points: &'a Points,
    pub variant: LleVariant,
    pub n_components: usize,
    pub regularization: f64,
    pub hessian_tolerance: f64,
    pub modified_tolerance: f64,
}

/// Spread below this share of the neighbours' largest coordinate is rounding.
const NO_SPREAD: f64 = 1e-12;

/// The regularisation of modified LLE's weights, which decides nothing but their length.
const MODIFIED_REGULARIZATION: f64 = 1e-3;

impl Alignment<'_> {
    /// All rows, those of the first sample first.
    pub fn rows(&self, neighbors: impl Fn(usize) -> Vec<u32> + Sync) -> Result<Vec<Row>> {
        let samples = (0..self.points.n_samples()).into_par_iter();
        let around = samples.map(|i| Ok((i, self.enough(i, neighbors(i))?)));
        let all: Result<Vec<Vec<Row>>> = match self.variant {
            LleVariant::Standard => {
                around.map(|found| found.map(|(i, nodes)| vec![self.standard(i, nodes)])).collect()
            }
            LleVariant::Hessian => {
                around.map(|found| found.and_then(|(_, nodes)| self.hessian(&nodes))).collect()
            }
            LleVariant::Ltsa => {
                around.map(|found| found.and_then(|(_, nodes)| self.ltsa(&nodes))).collect()
            }
            LleVariant::Modified => {
                let local = around.map(|found| found.and_then(|(i, nodes)| self.local(i, nodes)));
                let local = local.collect::<Result<Vec<Local>>>()?;
                let across = median(local.iter().map(|l| l.across(self.n_components)).collect());
                local.into_par_iter().map(|local| Ok(self.modified(&local, across))).collect()
            }
        };
        Ok(all?.into_iter().flatten().collect())
    }

    /// Within a radius, some samples may have too few neighbours.
    fn enough(&self, row: usize, nodes: Vec<u32>) -> Result<Vec<u32>> {
        let needed = self.variant.least_neighbors(self.n_components);
        if nodes.len() >= needed {
            return Ok(nodes);
        }
        let by = self.variant.in_words();
        Err(Error::TooFewNeighbors { by, row: Some(row), found: nodes.len(), needed })
    }

    /// `y − Σ w_j y_j` with the weights that reconstruct the sample (Roweis & Saul 2000).
    fn standard(&self, i: usize, nodes: Vec<u32>) -> Row {
        let x = self.points.row(i);
        let weights = reconstruction_weights(self.points, x, &nodes, self.regularization);
        let minus = nodes.into_iter().zip(weights.into_iter().map(|w| -w));
        std::iter::once((i as u32, 1.0)).chain(minus).collect()
    }

    /// Local tangent space alignment (Zhang & Zha 2004): what is not constant and outside the tangent
    /// space.
    fn ltsa(&self, nodes: &[u32]) -> Result<Vec<Row>> {
        let inside = with_constant(&self.tangent_coordinates(nodes)?)?;
        let outside = dense::full_q(inside.view()).slice_move(s![.., inside.ncols()..]);
        Ok(rows_of(nodes, outside.view()))
    }

    /// Hessian eigenmaps (Donoho & Grimes 2003) as scikit-learn has them: what is left besides the
    /// constant and the tangent space, second derivatives first, each of sum 1 where its sum is not 0.
    fn hessian(&self, nodes: &[u32]) -> Result<Vec<Row>> {
        let tangent = self.tangent_coordinates(nodes)?;
        let r = tangent.ncols();
        let products: Vec<_> = (0..r)
            .flat_map(|a| (a..r).map(move |b| (a, b)))
            .map(|(a, b)| &tangent.column(a) * &tangent.column(b))
            .collect();
        let second = Array2::from_shape_fn((nodes.len(), products.len()), |(i, j)| products[j][i]);
        let basis = concatenate(Axis(1), &[with_constant(&tangent)?.view(), second.view()])
            .map_err(|e| Error::Internal(e.to_string()))?;
        let mut left = dense::full_q(basis.view()).slice_move(s![.., r + 1..]);
        for mut column in left.columns_mut() {
            let sum = column.sum();
            if sum.abs() >= self.hessian_tolerance {
                column /= sum;
            }
        }
        Ok(rows_of(nodes, left.view()))
    }

    /// Orthonormal coordinates of the nodes along their directions of largest spread (m × at most k):
    /// those without spread are left out, since any would do.
    fn tangent_coordinates(&self, nodes: &[u32]) -> Result<Array2<f64>> {
        let samples = self.samples(nodes);
        let size = samples.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let mean = samples.mean_axis(Axis(0)).unwrap_or_default();
        let svd = dense::thin_svd((samples - mean).view())?;
        let kept = svd.s.iter().take(self.n_components).filter(|s| **s > NO_SPREAD * size).count();
        Ok(svd.u.slice_move(s![.., ..kept]))
    }

    /// The nodes' samples (m × d).
    fn samples(&self, nodes: &[u32]) -> Array2<f64> {
        let d = self.points.n_features();
        Array2::from_shape_fn((nodes.len(), d), |(a, f)| self.points.row(nodes[a] as usize)[f])
    }

    /// How the neighbours lie around a sample.
    fn local(&self, i: usize, nodes: Vec<u32>) -> Result<Local> {
        let m = nodes.len();
        let mut differences = self.samples(&nodes);
        for mut row in differences.rows_mut() {
            row.iter_mut().zip(self.points.row(i)).for_each(|(v, x)| *v -= x);
        }
        let svd = dense::thin_svd(differences.view())?;
        let mut vectors = svd.u;
        if vectors.ncols() < m {
            let rest = dense::full_q(vectors.view()).slice_move(s![.., vectors.ncols()..]);
            vectors = concatenate(Axis(1), &[vectors.view(), rest.view()])
                .map_err(|e| Error::Internal(e.to_string()))?;
        }
        let values = svd.s.iter().map(|s| s * s).collect();
        Ok(Local { sample: i as u32, nodes, vectors, values })
    }

    /// Modified LLE (Zhang & Wang 2007): as many weights as there are directions across the surface,
    /// `y − Σ w_j y_j` of each.
    fn modified(&self, local: &Local, across: f64) -> Vec<Row> {
        let m = local.nodes.len();
        let count = local.almost_null(across);
        let null = local.vectors.slice(s![.., m - count..]);
        let sums = null.sum_axis(Axis(0));
        let length = (sums.dot(&sums) / count as f64).sqrt();
        // The reflection that makes the sums of all columns equal.
        let mut mirror = sums.mapv(|sum| length - sum);
        let size = mirror.dot(&mirror).sqrt();
        mirror.mapv_inplace(|v| if size >= self.modified_tolerance { v / size } else { 0.0 });
        let along = null.dot(&mirror);
        let usual = local.regularized_weights();
        let weight = |j: usize, c: usize| {
            null[[j, c]] - 2.0 * along[j] * mirror[c] + (1.0 - length) * usual[j]
        };
        let row = |c: usize| {
            let minus = local.nodes.iter().enumerate().map(|(j, &node)| (node, -weight(j, c)));
            std::iter::once((local.sample, 1.0)).chain(minus).collect()
        };
        (0..count).map(row).collect()
    }
}

/// The differences of m neighbours from their sample, decomposed.
struct Local {
    sample: u32,
    nodes: Vec<u32>,
    /// Left singular vectors, all of them (m × m).
    vectors: Array2<f64>,
    /// Squared singular values, largest first (min(m, d)).
    values: Vec<f64>,
}

impl Local {
    /// The spread outside the first k directions as a share of that inside.
    fn across(&self, k: usize) -> f64 {
        let (inside, outside) = self.values.split_at(k.min(self.values.len()));
        share(outside.iter().sum(), inside.iter().sum())
    }

    /// How many of the last directions together have a smaller share than `across`; at least one.
    fn almost_null(&self, across: f64) -> usize {
        let total: f64 = self.values.iter().sum();
        let mut inside = 0.0;
        let shares: Vec<f64> = self.values[..self.values.len() - 1]
            .iter()
            .map(|value| {
                inside += value;
                share(total - inside, inside)
            })
            .collect();
        let small = shares.iter().rev().take_while(|share| **share < across).count();
        (small + self.nodes.len() - self.values.len()).max(1)
    }

    /// The weights of the standard method, from the decomposition.
    fn regularized_weights(&self) -> Vec<f64> {
        let total: f64 = self.values.iter().sum();
        let ridge = if total > 0.0 { MODIFIED_REGULARIZATION * total } else { 1.0 };
        let sums = self.vectors.sum_axis(Axis(0));
        let scaled = |(j, sum): (usize, &f64)| sum / (self.values.get(j).unwrap_or(&0.0) + ridge);
        let scaled: ndarray::Array1<f64> = sums.iter().enumerate().map(scaled).collect();
        let found = self.vectors.dot(&scaled);
        let sum = found.sum();
        found.iter().map(|w| w / sum).collect()
    }
}

/// `part / rest`, and 0 where there is nothing: neighbours that coincide.
fn share(part: f64, rest: f64) -> f64 {
    if rest > 0.0 { part / rest } else { 0.0 }
}

/// The middle number, or the mean of the two in the middle.
fn median(mut numbers: Vec<f64>) -> f64 {
    let (half, even) = (numbers.len() / 2, numbers.len().is_multiple_of(2));
    let (below, middle, _) = numbers.select_nth_unstable_by(half, f64::total_cmp);
    let lower = below.iter().fold(0.0f64, |m, v| m.max(*v));
    if even { 0.5 * (lower + *middle) } else { *middle }
}

/// A column of the unit constant, then these.
fn with_constant(columns: &Array2<f64>) -> Result<Array2<f64>> {
    let m = columns.nrows();
    let constant = Array2::from_elem((m, 1), (m as f64).sqrt().recip());
    concatenate(Axis(1), &[constant.view(), columns.view()])
        .map_err(|e| Error::Internal(e.to_string()))
}

/// The columns (m × c) as rows over the nodes.
fn rows_of(nodes: &[u32], columns: ArrayView2<f64>) -> Vec<Row> {
    let row = |column: ndarray::ArrayView1<f64>| {
        nodes.iter().copied().zip(column.iter().copied()).collect()
    };
    columns.columns().into_iter().map(row).collect()
}
