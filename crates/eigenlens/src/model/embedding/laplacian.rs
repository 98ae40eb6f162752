//! New samples in Laplacian eigenmaps: the eigenvectors continued by the affinities to training samples.

use super::{TOGETHER, neighborhood, neighbors_of};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::graph::{
    Metric, Neighborhood, Neighbors, Points, Search, for_each_given_row, nearest_given,
    squared_distances,
};
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2, ArrayViewMut1};

/// How strongly samples are tied.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Affinity {
    /// 1 for every neighbour.
    #[default]
    Binary,
    /// 1 where each is the other's neighbour, ½ where only one is: `½ (A + Aᵀ)` of the graph from
    /// every sample to its neighbours.
    Averaged,
    /// `exp(−γ ‖x − y‖²)` for neighbours; `None`: γ = 1/(2σ²) with σ the median distance of
    /// neighbours.
    Heat {
        /// γ, in the units of the data.
        gamma: Option<f64>,
    },
    /// `exp(−γ ‖x − y‖²)` for all pairs of samples; `None`: γ = 1/d.
    Rbf {
        /// γ, in the units of the data.
        gamma: Option<f64>,
    },
    /// The data are the affinities themselves (n × n), dense or sparse: symmetric and not negative.
    /// The diagonal does not matter.
    Precomputed,
}

impl Affinity {
    /// The name of every kind, the same on every surface.
    pub const NAMES: [&'static str; 5] = ["binary", "averaged", "heat", "rbf", "precomputed"];

    /// The kind of this name; γ is for those that have one.
    pub fn named(name: &str, gamma: Option<f64>) -> Option<Affinity> {
        match (name, gamma) {
            ("binary", None) => Some(Affinity::Binary),
            ("averaged", None) => Some(Affinity::Averaged),
            ("heat", gamma) => Some(Affinity::Heat { gamma }),
            ("rbf", gamma) => Some(Affinity::Rbf { gamma }),
            ("precomputed", None) => Some(Affinity::Precomputed),
            _ => None,
        }
    }

    /// The name it has on every surface.
    pub fn name(self) -> &'static str {
        match self {
            Affinity::Binary => "binary",
            Affinity::Averaged => "averaged",
            Affinity::Heat { .. } => "heat",
            Affinity::Rbf { .. } => "rbf",
            Affinity::Precomputed => "precomputed",
        }
    }

    /// γ, where it has one that was given.
    pub fn gamma(self) -> Option<f64> {
        match self {
            Affinity::Heat { gamma } | Affinity::Rbf { gamma } => gamma,
            _ => None,
        }
    }

    /// Whether only neighbours are tied.
    pub fn is_of_neighbors(self) -> bool {
        !matches!(self, Affinity::Rbf { .. } | Affinity::Precomputed)
    }
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

/// What the samples were known by, and new ones are.
pub(crate) enum Samples {
    /// Their features.
    Points(Points),
    /// Their affinities to the training samples.
    Affinities,
    /// Their distances to the training samples.
    Distances,
}

/// What continues the eigenvectors.
pub(crate) struct LaplacianMap {
    pub samples: Samples,
    /// γ is that in units of the points, and known.
    pub affinity: Affinity,
    pub normalization: Normalization,
    /// Degrees of the training samples (n).
    pub degrees: Vec<f64>,
    /// Squared distance of the farthest neighbour of every training sample (n), for graphs of the
    /// nearest: whoever is nearer becomes its neighbour. Of graphs that are not of neighbours, none.
    pub reach: Vec<f64>,
}

/// For each new sample some training samples with their distances.
type Reached = Vec<Vec<(u32, f64)>>;

/// A component whose value leaves less than this to divide by is not continued.
const CONTINUED: f64 = 1e-8;

/// The root of a degree, by which rows are divided; a sample that nobody is tied to is left as it is.
pub(crate) fn root_degree(degree: f64) -> f64 {
    if degree > 0.0 { degree.sqrt() } else { 1.0 }
}

impl LaplacianMap {
    /// The points, where there are any.
    pub fn points(&self) -> Option<&Points> {
        match &self.samples {
            Samples::Points(points) => Some(points),
            _ => None,
        }
    }

    pub fn n_features(&self) -> usize {
        self.points().map_or(self.degrees.len(), Points::n_features)
    }

    /// The affinity of two samples at this distance; `mutual` where each is the other's neighbour.
    pub fn affinity(&self, distance: f64, mutual: bool) -> f64 {
        match self.affinity {
            Affinity::Averaged if !mutual => 0.5,
            _ => self.affinity.gamma().map_or(1.0, |gamma| (-gamma * distance * distance).exp()),
        }
    }

    /// With `a_i` the affinities of a new sample and `a` their sum, row by row of the eigenvector's
    /// equation: generalised `f = Σ a_i f_i / (a (1 − λ))`, symmetric
    /// `v = Σ a_i v_i / √d_i / (√a (1 − λ))`, unnormalised `f = Σ a_i f_i / (a − λ)` (Bengio et al.
    /// 2004).
    pub fn place<T: Scalar>(
        &self,
        data: &Dataset<T>,
        which: Option<Neighborhood>,
        coordinates: ArrayView2<f64>,
        values: &[f64],
    ) -> Result<Array2<f64>> {
        match &self.samples {
            Samples::Points(points) if self.affinity.is_of_neighbors() => {
                let new = points.read_new(data)?;
                self.place_by_neighbors(points, &new, neighborhood(which)?, coordinates, values)
            }
            Samples::Points(points) => {
                Ok(self.place_by_all(points, &points.read_new(data)?, coordinates, values))
            }
            Samples::Affinities => {
                let tied = |row: &[(u32, f64)]| Tied::To(row.to_vec());
                self.place_given(data, "the affinity", coordinates, values, tied)
            }
            Samples::Distances => {
                let which = neighborhood(which)?;
                let tied = |row: &[(u32, f64)]| self.tied_by_distances(row, which);
                self.place_given(data, "the distance", coordinates, values, tied)
            }
        }
    }

    fn place_by_neighbors(
        &self,
        points: &Points,
        new: &Points,
        which: Neighborhood,
        coordinates: ArrayView2<f64>,
        values: &[f64],
    ) -> Result<Array2<f64>> {
        let found = neighbors_of(points, new, which)?;
        let reverse = self.reached(points, new, which)?;
        let mut placed = Array2::zeros((new.n_samples(), values.len()));
        for (q, mut out) in placed.rows_mut().into_iter().enumerate() {
            let (nodes, distances) = found.of(q);
            if let (Some(&node), Some(0.0)) = (nodes.first(), distances.first().copied()) {
                out.assign(&coordinates.row(node as usize));
                continue;
            }
            let own: Vec<(u32, f64)> =
                nodes.iter().copied().zip(distances.iter().copied()).collect();
            let reached = reverse.as_ref().map(|reverse| &reverse[q][..]);
            self.continued(&self.ties(&own, reached), coordinates, values, out);
        }
        Ok(placed)
    }

    /// Affinities to a sample's own neighbours, and to those that it is reached from.
    fn ties(&self, own: &[(u32, f64)], reached: Option<&[(u32, f64)]>) -> Vec<(u32, f64)> {
        let among = |them: &[(u32, f64)], node: u32| them.iter().any(|other| other.0 == node);
        // Within a radius every tie is mutual.
        let mutual = |node: u32| reached.is_none_or(|reached| among(reached, node));
        let near = own.iter().map(|&(node, d)| (node, self.affinity(d, mutual(node))));
        let more = reached.unwrap_or_default().iter().filter(|(node, _)| !among(own, *node));
        near.chain(more.map(|&(node, d)| (node, self.affinity(d, false)))).collect()
    }

    fn place_by_all(
        &self,
        points: &Points,
        new: &Points,
        coordinates: ArrayView2<f64>,
        values: &[f64],
    ) -> Array2<f64> {
        let mut placed = Array2::zeros((new.n_samples(), values.len()));
        for first in (0..new.n_samples()).step_by(TOGETHER) {
            let last = (first + TOGETHER).min(new.n_samples());
            let squared = squared_distances(Metric::Euclidean, new, first..last, points);
            for (q, row) in squared.rows().into_iter().enumerate() {
                let mut out = placed.row_mut(first + q);
                if let Some(node) = row.iter().position(|d| *d == 0.0) {
                    out.assign(&coordinates.row(node));
                    continue;
                }
                let tie = |(node, d): (u32, &f64)| (node, self.affinity(d.sqrt(), true));
                let ties: Vec<(u32, f64)> = (0..).zip(row).map(tie).collect();
                self.continued(&ties, coordinates, values, out);
            }
        }
        placed
    }

    fn place_given<T: Scalar>(
        &self,
        data: &Dataset<T>,
        what: &'static str,
        coordinates: ArrayView2<f64>,
        values: &[f64],
        tied: impl Fn(&[(u32, f64)]) -> Tied,
    ) -> Result<Array2<f64>> {
        let n = self.degrees.len();
        if data.n_features() != n {
            return Err(Error::Shape {
                what: "the data",
                found: format!("{} numbers in a row", data.n_features()),
                expected: format!("one for each of {n} training samples"),
            });
        }
        let mut placed = Vec::new();
        for_each_given_row(data, what, |_, row| {
            let first = placed.len();
            placed.resize(first + values.len(), 0.0);
            let mut out = ArrayViewMut1::from(&mut placed[first..]);
            match tied(row) {
                Tied::Same(node) => out.assign(&coordinates.row(node as usize)),
                Tied::To(ties) => self.continued(&ties, coordinates, values, out),
            }
            Ok(())
        })?;
        let shape = (placed.len() / values.len(), values.len());
        Array2::from_shape_vec(shape, placed).map_err(|e| Error::Internal(e.to_string()))
    }

    fn tied_by_distances(&self, row: &[(u32, f64)], which: Neighborhood) -> Tied {
        let own = nearest_given(row.to_vec(), which);
        if let Some(&(node, 0.0)) = own.first() {
            return Tied::Same(node);
        }
        let reached: Vec<(u32, f64)> =
            row.iter().copied().filter(|(i, d)| d * d <= self.reach[*i as usize]).collect();
        let by_number = matches!(which, Neighborhood::Nearest(_));
        Tied::To(self.ties(&own, by_number.then_some(&reached[..])))
    }

    /// The eigenvectors where these are the affinities.
    fn continued(
        &self,
        ties: &[(u32, f64)],
        coordinates: ArrayView2<f64>,
        values: &[f64],
        mut out: ArrayViewMut1<f64>,
    ) {
        let mut total = 0.0;
        for &(node, affinity) in ties {
            let i = node as usize;
            total += affinity;
            let share = match self.normalization {
                Normalization::Symmetric => affinity / root_degree(self.degrees[i]),
                _ => affinity,
            };
            out.scaled_add(share, &coordinates.row(i));
        }
        for (out, &value) in out.iter_mut().zip(values) {
            *out *= self.divisor(total, value);
        }
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
    fn reached(
        &self,
        points: &Points,
        new: &Points,
        which: Neighborhood,
    ) -> Result<Option<Reached>> {
        if let Neighborhood::Radius(_) = which {
            return Ok(None);
        }
        let found: Neighbors = Search::new(new).closer_than(points, &self.reach)?;
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

/// Who a new sample is tied to.
enum Tied {
    /// It coincides with a training sample.
    Same(u32),
    /// Affinities.
    To(Vec<(u32, f64)>),
}

fn inverse(v: f64) -> f64 {
    if v == 0.0 { 0.0 } else { 1.0 / v }
}
