//! New samples in a locally linear embedding: the same weights in the embedding as in the data.

use super::neighbors_of;
use crate::error::Result;
use crate::graph::{Neighborhood, Points};
use ndarray::{Array2, ArrayView2};

/// What the coordinates around a sample must satisfy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LleVariant {
    /// The weights that reconstruct the sample reconstruct its coordinates (Roweis & Saul 2000).
    #[default]
    Standard,
    /// Several weights, one for every direction across the surface (Zhang & Wang 2007).
    Modified,
    /// No second derivatives (Donoho & Grimes 2003).
    Hessian,
    /// Linear in the coordinates of the tangent space (Zhang & Zha 2004).
    Ltsa,
}

impl LleVariant {
    /// Every variant, by the name it has on every surface.
    pub const NAMES: [(&'static str, LleVariant); 4] = [
        ("standard", LleVariant::Standard),
        ("modified", LleVariant::Modified),
        ("hessian", LleVariant::Hessian),
        ("ltsa", LleVariant::Ltsa),
    ];

    /// The name it has on every surface.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, v)| *v == self).map_or("standard", |(name, _)| name)
    }

    /// The variant in a sentence.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            LleVariant::Standard => "locally linear embedding",
            LleVariant::Modified => "modified LLE",
            LleVariant::Hessian => "Hessian LLE",
            LleVariant::Ltsa => "local tangent space alignment",
        }
    }

    /// The neighbours that every sample needs for k components.
    pub fn least_neighbors(self, k: usize) -> usize {
        match self {
            LleVariant::Standard => 1,
            LleVariant::Modified => k,
            // The constant, k tangents and all their products, and one to be left.
            LleVariant::Hessian => k * (k + 3) / 2 + 1,
            LleVariant::Ltsa => k + 2,
        }
    }
}

/// What places new samples.
pub(crate) struct LleMap {
    pub points: Points,
    pub variant: LleVariant,
    /// Added to the diagonal of every local Gram matrix, relative to its trace.
    pub regularization: f64,
}

impl LleMap {
    /// `z = Σ w_i y_i` with the weights that reconstruct the new sample from its neighbours (Saul &
    /// Roweis 2003, section 6.1).
    pub fn place(
        &self,
        new: &Points,
        which: Neighborhood,
        coordinates: ArrayView2<f64>,
    ) -> Result<Array2<f64>> {
        let found = neighbors_of(&self.points, new, which)?;
        let mut placed = Array2::zeros((new.n_samples(), coordinates.ncols()));
        for (q, mut out) in placed.rows_mut().into_iter().enumerate() {
            let (nodes, distances) = found.of(q);
            if let (Some(&node), Some(0.0)) = (nodes.first(), distances.first().copied()) {
                out.assign(&coordinates.row(node as usize));
                continue;
            }
            let weights =
                reconstruction_weights(&self.points, new.row(q), nodes, self.regularization);
            for (&node, &w) in nodes.iter().zip(&weights) {
                out.scaled_add(w, &coordinates.row(node as usize));
            }
        }
        Ok(placed)
    }
}

/// The weights, of sum 1, that minimise `‖x − Σ w_i x_i‖² + r tr(G) ‖w‖²` with the local Gram matrix
/// `G_ij = (x − x_i)·(x − x_j)` and r the regularisation: `(G + r tr(G) I) w ∝ 1` (Saul & Roweis
/// 2003, section 5.1).
pub(crate) fn reconstruction_weights(
    points: &Points,
    x: &[f64],
    neighbors: &[u32],
    regularization: f64,
) -> Vec<f64> {
    let k = neighbors.len();
    let differences: Vec<f64> = neighbors
        .iter()
        .flat_map(|&i| x.iter().zip(points.row(i as usize)).map(|(a, b)| a - b))
        .collect();
    let d = x.len();
    let mut gram = vec![0.0; k * k];
    for i in 0..k {
        for j in 0..=i {
            let (a, b) = (&differences[i * d..(i + 1) * d], &differences[j * d..(j + 1) * d]);
            gram[i * k + j] = a.iter().zip(b).map(|(a, b)| a * b).sum();
        }
    }
    let trace: f64 = (0..k).map(|i| gram[i * k + i]).sum();
    // Where all neighbours coincide with the sample, every choice of weights is as good.
    let ridge = if trace > 0.0 { regularization * trace } else { 1.0 };
    (0..k).for_each(|i| gram[i * k + i] += ridge);
    let mut w = solve_ones(&mut gram, k);
    let sum: f64 = w.iter().sum();
    w.iter_mut().for_each(|w| *w /= sum);
    w
}

/// Solves `G w = 1` for a positive definite G (its lower triangle, row by row) by Cholesky.
fn solve_ones(g: &mut [f64], k: usize) -> Vec<f64> {
    for j in 0..k {
        for i in j..k {
            let inside: f64 = (0..j).map(|p| g[i * k + p] * g[j * k + p]).sum();
            let left = g[i * k + j] - inside;
            g[i * k + j] =
                if i == j { left.max(f64::MIN_POSITIVE).sqrt() } else { left / g[j * k + j] };
        }
    }
    let mut w = vec![1.0; k];
    for i in 0..k {
        let inside: f64 = (0..i).map(|p| g[i * k + p] * w[p]).sum();
        w[i] = (w[i] - inside) / g[i * k + i];
    }
    for i in (0..k).rev() {
        let inside: f64 = (i + 1..k).map(|p| g[p * k + i] * w[p]).sum();
        w[i] = (w[i] - inside) / g[i * k + i];
    }
    w
}
