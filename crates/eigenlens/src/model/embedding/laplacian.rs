//! New samples in Laplacian eigenmaps: the eigenvectors continued by the affinities to neighbours.

use super::neighbors_of;
use crate::error::Result;
use crate::graph::{Neighborhood, Neighbors, Points, Search};
use ndarray::{Array2, ArrayView2};

/// How strongly neighbours are tied.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Affinity {
    /// 1 for every neighbour.
    #[default]
    Binary,
    /// `exp(−γ ‖x − y‖²)`; `None`: γ = 1/(2σ²) with σ the median distance of neighbours.
    Heat {
        /// γ, in the units of the data.
        gamma: Option<f64>,
    },
}

/// Which Laplacian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalization {
    /// `L f = λ D f`: f = D^{-1/2} v with unit v (Belkin & Niyogi 2003).
    #[default]
    Generalized,
    /// `(I − D^{-1/2} A D^{-1/2}) v = λ v`: unit v.
    Symmetric,
    /// `(D − A) f = λ f`: unit f.
    Unnormalized,
}

/// For each new sample some training samples with their distances.
type Reached = Vec<Vec<(u32, f64)>>;

impl Normalization {
    /// Every Laplacian, by the name it has on every surface.
    pub const NAMES: [(&'static str, Normalization); 3] = [
        ("generalized", Normalization::Generalized),
        ("symmetric", Normalization::Symmetric),
        ("unnormalized", Normalization::Unnormalized),
    ];

    /// The name it has on every surface.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, n)| *n == self).map_or("generalized", |(name, _)| name)
    }
}

/// What continues the eigenvectors.
pub(crate) struct LaplacianMap {
    pub points: Points,
    /// γ of the heat kernel in units of the points; `None`: binary.
    pub gamma: Option<f64>,
    pub normalization: Normalization,
    /// Degrees of the training samples (n).
    pub degrees: Vec<f64>,
    /// Squared distance of the farthest neighbour of every training sample (n), for graphs of the
    /// nearest: whoever is nearer becomes its neighbour.
    pub reach: Vec<f64>,
}

/// A component whose value leaves less than this to divide by is not continued.
const CONTINUED: f64 = 1e-8;

impl LaplacianMap {
    /// The affinity of two samples at this distance.
    pub fn affinity(&self, distance: f64) -> f64 {
        self.gamma.map_or(1.0, |gamma| (-gamma * distance * distance).exp())
    }

    /// With `a_i` the affinities of a new sample and `a` their sum, row by row of the eigenvector's
    /// equation: generalised `f = Σ a_i f_i / (a (1 − λ))`, symmetric
    /// `v = Σ a_i v_i / √d_i / (√a (1 − λ))`, unnormalised `f = Σ a_i f_i / (a − λ)` (Bengio et al.
    /// 2004).
    pub fn place(
        &self,
        new: &Points,
        which: Neighborhood,
        coordinates: ArrayView2<f64>,
        values: &[f64],
    ) -> Result<Array2<f64>> {
        let found = neighbors_of(&self.points, new, which)?;
        let reverse = self.reached(new, which)?;
        let mut placed = Array2::zeros((new.n_samples(), values.len()));
        for (q, mut out) in placed.rows_mut().into_iter().enumerate() {
            let (nodes, distances) = found.of(q);
            if let (Some(&node), Some(0.0)) = (nodes.first(), distances.first().copied()) {
                out.assign(&coordinates.row(node as usize));
                continue;
            }
            let more = reverse.iter().flat_map(|r| &r[q]);
            let more = more.filter(|(node, _)| !nodes.contains(node)).copied();
            let mut total = 0.0;
            for (node, distance) in nodes.iter().copied().zip(distances.iter().copied()).chain(more)
            {
                let i = node as usize;
                let affinity = self.affinity(distance);
                total += affinity;
                let share = match self.normalization {
                    Normalization::Symmetric => affinity / self.degrees[i].sqrt(),
                    _ => affinity,
                };
                out.scaled_add(share, &coordinates.row(i));
            }
            for (out, &value) in out.iter_mut().zip(values) {
                *out *= self.divisor(total, value);
            }
        }
        Ok(placed)
    }

    /// One over what a sum of affinities is divided by; 0 where that is nothing.
    fn divisor(&self, total: f64, value: f64) -> f64 {
        let left = 1.0 - value;
        let divisor = match self.normalization {
            Normalization::Generalized => total * left,
            Normalization::Symmetric => total.sqrt() * left,
            // Never less than half of the sum: a sample at the rim must not be thrown far out.
            Normalization::Unnormalized => return inverse((total - value).max(0.5 * total)),
        };
        if left.abs() < CONTINUED { 0.0 } else { inverse(divisor) }
    }

    /// For each new sample the training samples that it is nearer to than their own neighbours.
    fn reached(&self, new: &Points, which: Neighborhood) -> Result<Option<Reached>> {
        if let Neighborhood::Radius(_) = which {
            return Ok(None);
        }
        let found: Neighbors = Search::new(new).closer_than(&self.points, &self.reach)?;
        let mut reverse = vec![Vec::new(); new.n_samples()];
        for i in 0..found.n_queries() {
            let (queries, distances) = found.of(i);
            for (&q, &distance) in queries.iter().zip(distances) {
                reverse[q as usize].push((i as u32, distance));
            }
        }
        Ok(Some(reverse))
    }
}

fn inverse(v: f64) -> f64 {
    if v == 0.0 { 0.0 } else { 1.0 / v }
}
