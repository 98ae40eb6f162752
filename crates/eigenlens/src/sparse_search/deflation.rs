//! What is taken out of the covariance once a component is found (Mackey 2009).

use super::gram::Gram;
use crate::error::Result;
use ndarray::{Array1, Array2, ArrayView1, Axis};

/// How a found component β is taken out of S before the next one is sought.
///
/// For eigenvectors all four agree; for sparse components they do not (Mackey 2009).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deflation {
    /// `(I − ββᵀ) S (I − ββᵀ)`: nothing is left along β, and S stays positive semi-definite.
    #[default]
    Projection,
    /// `S − (βᵀSβ) ββᵀ`: can leave negative directions.
    Hotelling,
    /// `S − Sβ βᵀS / (βᵀSβ)`: what the scores of β explain linearly is taken out, so later
    /// variances are those of residuals.
    Schur,
    /// Projection with the part of β that is orthogonal to the components before it.
    OrthogonalizedProjection,
}

impl Deflation {
    /// Every way, in the order of the documentation.
    pub const ALL: [Deflation; 4] = [
        Deflation::Projection,
        Deflation::Hotelling,
        Deflation::Schur,
        Deflation::OrthogonalizedProjection,
    ];

    /// The name on every surface.
    pub fn name(self) -> &'static str {
        match self {
            Deflation::Projection => "projection",
            Deflation::Hotelling => "hotelling",
            Deflation::Schur => "schur",
            Deflation::OrthogonalizedProjection => "orthogonalized-projection",
        }
    }
}

/// One step that was taken.
#[derive(Clone, Debug)]
pub(super) enum Removed {
    /// `(I − qqᵀ) · (I − qqᵀ)`.
    Projected(Array1<f64>),
    /// `· − uuᵀ`.
    Subtracted(Array1<f64>),
}

impl Removed {
    /// What to do for a component of unit length (d), with the directions found before it; `None`
    /// where it has nothing to take out.
    pub fn of(
        deflation: Deflation,
        gram: &Gram,
        component: ArrayView1<f64>,
        before: &[Array1<f64>],
    ) -> Result<Option<Removed>> {
        if component.iter().all(|v| *v == 0.0) {
            return Ok(None);
        }
        let product = || -> Result<Array1<f64>> {
            let block = component.to_owned().insert_axis(Axis(1));
            Ok(gram.apply(block.view())?.column(0).to_owned())
        };
        Ok(match deflation {
            Deflation::Projection => Some(Removed::Projected(component.to_owned())),
            Deflation::OrthogonalizedProjection => {
                let mut q = component.to_owned();
                // Twice: once leaves rounding errors along the earlier ones.
                for _ in 0..2 {
                    for earlier in before {
                        let inside = earlier.dot(&q);
                        q.scaled_add(-inside, earlier);
                    }
                }
                let norm = q.dot(&q).sqrt();
                (norm > 1e-12).then(|| Removed::Projected(q / norm))
            }
            Deflation::Hotelling => {
                let value = component.dot(&product()?).max(0.0);
                Some(Removed::Subtracted(component.mapv(|v| v * value.sqrt())))
            }
            Deflation::Schur => {
                let product = product()?;
                let value = component.dot(&product);
                (value > 0.0).then(|| Removed::Subtracted(product / value.sqrt()))
            }
        })
    }

    /// The direction that was projected out.
    pub fn direction(&self) -> Option<&Array1<f64>> {
        match self {
            Removed::Projected(q) => Some(q),
            Removed::Subtracted(_) => None,
        }
    }

    /// Before the product: what the matrix behind it is multiplied with.
    pub fn enter(&self, v: &mut Array2<f64>) {
        if let Removed::Projected(q) = self {
            project(q, v);
        }
    }

    /// After the product of `v` came out as `out`.
    pub fn leave(&self, v: &Array2<f64>, out: &mut Array2<f64>) {
        match self {
            Removed::Projected(q) => project(q, out),
            Removed::Subtracted(u) => {
                let inside = u.dot(v);
                for (mut row, &u) in out.axis_iter_mut(Axis(0)).zip(u) {
                    row.scaled_add(-u, &inside);
                }
            }
        }
    }

    /// The same on a matrix in memory.
    pub fn take_out_of(&self, matrix: &mut Array2<f64>) {
        match self {
            Removed::Projected(q) => {
                let g = matrix.dot(q);
                let h = q.dot(&g);
                for ((i, j), s) in matrix.indexed_iter_mut() {
                    *s += h * (q[i] * q[j]) - (q[i] * g[j] + g[i] * q[j]);
                }
            }
            Removed::Subtracted(u) => {
                for ((i, j), s) in matrix.indexed_iter_mut() {
                    *s -= u[i] * u[j];
                }
            }
        }
    }
}

fn project(q: &Array1<f64>, v: &mut Array2<f64>) {
    let inside = q.dot(v);
    for (mut row, &q) in v.axis_iter_mut(Axis(0)).zip(q) {
        row.scaled_add(-q, &inside);
    }
}
