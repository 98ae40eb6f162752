//! Who is tied to whom, and how strongly: the graph whose Laplacian is diagonalised.

use super::LaplacianEigenmaps;
use crate::data::{Csr, Dataset};
use crate::error::{Error, Hint, Result};
use crate::graph::{
    Judged, Kept, Metric, Neighborhood, Neighbors, Network, Original, Parts, Points, Quality,
    Search, for_each_given_row, given_neighbors, judge, parts, squared_distances, subset,
};
use crate::linalg::dense::power_of_two;
use crate::methods::implied_kernel;
use crate::methods::spectral::{self, EigenPairs};
use crate::model::{Affinity, LaplacianMap, Normalization, Samples, root_degree};
use crate::operator::SparseSymmetric;
use crate::options::Options;
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

/// The graph of a fit.
pub(super) struct Tied {
    pub samples: Samples,
    /// With the γ that was found, in units of the samples.
    pub affinity: Affinity,
    pub ties: Ties,
    /// Squared distance of every sample's farthest neighbour, where neighbours are tied.
    pub reach: Vec<f64>,
    pub bridges: usize,
}

/// Affinities (n × n), symmetric, without a diagonal: which changes no Laplacian.
pub(super) enum Ties {
    Sparse(Csr<f64>),
    Dense(Array2<f64>),
}

/// Given affinities that mirror each other may differ by this share of the largest one.
const SYMMETRY: f64 = 1e-12;

impl LaplacianEigenmaps {
    pub(super) fn tied<T: Scalar>(
        &self,
        data: &Dataset<T>,
        which: Option<Neighborhood>,
    ) -> Result<Tied> {
        match which {
            Some(which) if self.distances => self.tied_by_distances(data, which),
            Some(which) => self.tied_neighbors(Points::read(data)?, which),
            None if self.affinity == Affinity::Precomputed => given_affinities(data),
            None => Ok(self.tied_to_all(Points::read(data)?)),
        }
    }

    fn tied_neighbors(&self, points: Points, which: Neighborhood) -> Result<Tied> {
        let neighbors = Search::new(&points).among_themselves(which)?;
        let (network, bridges) = if self.keep_parts && !self.bridges {
            (Network::new(&neighbors), 0)
        } else {
            Network::connected(&neighbors, &points, which, self.bridges)?
        };
        self.of_network(Samples::Points(points), &neighbors, &network, bridges)
    }

    fn tied_by_distances<T: Scalar>(&self, data: &Dataset<T>, which: Neighborhood) -> Result<Tied> {
        let neighbors = given_neighbors(data, which)?;
        let network = Network::new(&neighbors);
        self.of_network(Samples::Distances, &neighbors, &network, 0)
    }

    fn of_network(
        &self,
        samples: Samples,
        neighbors: &Neighbors,
        network: &Network,
        bridges: usize,
    ) -> Result<Tied> {
        let exponent = if let Samples::Points(points) = &samples { points.exponent() } else { 0 };
        let affinity = self.resolved(network, exponent)?;
        let map = LaplacianMap {
            samples,
            affinity,
            normalization: self.normalization,
            degrees: Vec::new(),
            reach: farthest(neighbors),
        };
        let joined = |i: usize, j: u32| neighbors.of(i).0.contains(&j);
        let mut affinities = Vec::with_capacity(network.lengths.len());
        for i in 0..network.n_nodes() {
            let (columns, lengths) = network.of(i);
            for (&j, &length) in columns.iter().zip(lengths) {
                // A bridge is nobody's neighbour, and counts as much from both sides.
                let one_sided = joined(i, j) != joined(j as usize, i as u32);
                affinities.push(map.affinity(length, !one_sided));
            }
        }
        if affinities.iter().any(|a| *a < f64::MIN_POSITIVE) {
            return Err(Error::Unsupported {
                what: format!("`gamma` {}", affinity.gamma().unwrap_or(0.0)),
                why: "makes the affinity of some neighbours 0",
                instead: Some(Hint::Set { option: "gamma", value: "median".into() }),
            });
        }
        let n = network.n_nodes();
        let (starts, columns) = (network.starts.clone(), network.columns.clone());
        let ties = Ties::Sparse(Csr::new(n, n, starts, columns, affinities)?);
        Ok(Tied { samples: map.samples, affinity, ties, reach: map.reach, bridges })
    }

    /// With γ in the units of the points.
    fn resolved(&self, network: &Network, exponent: i32) -> Result<Affinity> {
        let Affinity::Heat { gamma } = self.affinity else { return Ok(self.affinity) };
        if let Some(gamma) = gamma {
            let unit = power_of_two(exponent);
            return Ok(Affinity::Heat { gamma: Some(gamma * unit * unit) });
        }
        let mut lengths = network.lengths.clone();
        let middle = lengths.len() / 2;
        let (_, median, _) = lengths.select_nth_unstable_by(middle, f64::total_cmp);
        if *median > 0.0 {
            return Ok(Affinity::Heat { gamma: Some(0.5 / (*median * *median)) });
        }
        Err(Error::NotDefined {
            what: "the median distance of neighbours as a bandwidth",
            why: "more than half of the neighbours coincide".into(),
        })
    }

    fn tied_to_all(&self, points: Points) -> Tied {
        let (n, unit) = (points.n_samples(), power_of_two(points.exponent()));
        let gamma = self.affinity.gamma().unwrap_or(1.0 / points.n_features() as f64);
        let gamma = gamma * unit * unit;
        let mut all = squared_distances(Metric::Euclidean, &points, 0..n, &points);
        all.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(i, mut row)| {
            row.mapv_inplace(|squared| (-gamma * squared).exp());
            row[i] = 0.0;
        });
        Tied {
            samples: Samples::Points(points),
            affinity: Affinity::Rbf { gamma: Some(gamma) },
            ties: Ties::Dense(all),
            reach: Vec::new(),
            bridges: 0,
        }
    }
}

/// Affinities that are the data.
fn given_affinities<T: Scalar>(data: &Dataset<T>) -> Result<Tied> {
    const WHAT: &str = "the affinity";
    let n = data.n_features();
    let ties = if data.is_sparse() {
        for_each_given_row(data, WHAT, |_, _| Ok(()))?;
        Ties::Sparse(without_diagonal(&SparseSymmetric::new(&data.to_csr()?)?)?)
    } else {
        let mut all = Array2::zeros((n, n));
        for_each_given_row(data, WHAT, |i, row| {
            row.iter().for_each(|&(j, value)| all[[i, j as usize]] = value);
            Ok(())
        })?;
        symmetrize(&mut all)?;
        Ties::Dense(all)
    };
    Ok(Tied {
        samples: Samples::Affinities,
        affinity: Affinity::Precomputed,
        ties,
        reach: Vec::new(),
        bridges: 0,
    })
}

/// The entries off the diagonal that are not 0.
fn without_diagonal(matrix: &SparseSymmetric) -> Result<Csr<f64>> {
    let rows = matrix.rows();
    let n = rows.dim();
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n {
        let range = rows.starts[i]..rows.starts[i + 1];
        for (&j, &value) in rows.columns[range.clone()].iter().zip(&rows.values[range]) {
            if j as usize != i && value != 0.0 {
                columns.push(j);
                values.push(value);
            }
        }
        starts.push(columns.len());
    }
    Csr::new(n, n, starts, columns, values)
}

/// Makes a matrix that is symmetric but for rounding symmetric, with a diagonal of 0.
fn symmetrize(all: &mut Array2<f64>) -> Result<()> {
    let largest = all.iter().fold(0.0f64, |m, v| m.max(*v));
    for row in 0..all.nrows() {
        all[[row, row]] = 0.0;
        for column in row + 1..all.nrows() {
            let (upper, lower) = (all[[row, column]], all[[column, row]]);
            if (upper - lower).abs() > SYMMETRY * largest {
                let what = "the affinity matrix";
                return Err(Error::NotSymmetric { what, row, column, upper, lower });
            }
            let mean = if upper == lower { upper } else { 0.5 * upper + 0.5 * lower };
            (all[[row, column]], all[[column, row]]) = (mean, mean);
        }
    }
    Ok(())
}

/// Squared distance of every sample's farthest neighbour, which is its last.
fn farthest(neighbors: &Neighbors) -> Vec<f64> {
    let last = |i: usize| neighbors.of(i).1.last().map_or(0.0, |d| d * d);
    (0..neighbors.n_queries()).map(last).collect()
}

impl Ties {
    /// All affinities (n × n).
    pub fn into_dense(self) -> Array2<f64> {
        match self {
            Ties::Sparse(ties) => implied_kernel::dense(ties.n_rows(), |i| ties.row(i)),
            Ties::Dense(ties) => ties,
        }
    }

    /// The sum of every sample's affinities.
    pub fn degrees(&self) -> Result<Vec<f64>> {
        let degrees: Vec<f64> = match self {
            Ties::Sparse(ties) => (0..ties.n_rows()).map(|i| ties.row(i).1.iter().sum()).collect(),
            Ties::Dense(ties) => ties.rows().into_iter().map(|row| row.sum()).collect(),
        };
        match degrees.iter().all(|d| d.is_finite()) {
            true => Ok(degrees),
            false => Err(Error::OutOfRange { what: "the sums of affinities" }),
        }
    }

    /// The parts that the graph is in.
    pub fn parts(&self) -> Parts {
        match self {
            Ties::Sparse(ties) => {
                parts(ties.n_rows(), |i| ties.row(i).0.iter().map(|&j| j as usize))
            }
            Ties::Dense(ties) => parts(ties.nrows(), |i| {
                ties.row(i).into_iter().enumerate().filter(|(_, a)| **a > 0.0).map(|(j, _)| j)
            }),
        }
    }

    /// What the embedding is judged by.
    pub fn to_judge<T: Scalar>(
        &self,
        samples: &Samples,
        data: &Dataset<T>,
        seed: u64,
    ) -> Result<ToJudge> {
        if let Samples::Points(_) = samples {
            return Ok(ToJudge { chosen: Vec::new(), distances: Array2::zeros((0, 0)) });
        }
        let chosen = subset(data.n_features(), seed);
        let mut position = vec![None; data.n_features()];
        chosen.iter().enumerate().for_each(|(p, &i)| position[i] = Some(p));
        // Whoever is not tied is farthest.
        let mut distances = Array2::from_elem((chosen.len(), chosen.len()), f64::INFINITY);
        let given = matches!(samples, Samples::Distances);
        for_each_given_row(data, "the entry", |i, row| {
            let Some(p) = position[i] else { return Ok(()) };
            for &(j, value) in row {
                if let Some(q) = position[j as usize] {
                    // Only the order counts.
                    distances[[p, q]] = if given { value } else { -value };
                }
            }
            Ok(())
        })?;
        Ok(ToJudge { chosen, distances })
    }

    /// `D − A`, or `I − D^{-1/2} A D^{-1/2}`.
    pub fn into_laplacian(
        self,
        degrees: &[f64],
        normalization: Normalization,
    ) -> Result<Laplacian> {
        let plain = normalization == Normalization::Unnormalized;
        match self {
            Ties::Sparse(ties) => sparse_laplacian(&ties, degrees, plain).map(Laplacian::Sparse),
            Ties::Dense(mut matrix) => {
                let root = |i: usize| if plain { 1.0 } else { root_degree(degrees[i]) };
                matrix.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(
                    |(i, mut row)| {
                        let own = root(i);
                        row.iter_mut().enumerate().for_each(|(j, a)| *a /= -own * root(j));
                        row[i] = if plain { degrees[i] } else { 1.0 };
                    },
                );
                let largest = degrees.iter().fold(0.0f64, |m, d| m.max(*d));
                // Gershgorin's bound; where nobody is tied to anybody, any.
                let norm = if plain && largest > 0.0 { 2.0 * largest } else { 2.0 };
                Ok(Laplacian::Dense { matrix, norm })
            }
        }
    }
}

fn sparse_laplacian(ties: &Csr<f64>, degrees: &[f64], plain: bool) -> Result<SparseSymmetric> {
    let n = degrees.len();
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n {
        columns.push(i as u32);
        values.push(if plain { degrees[i] } else { 1.0 });
        let (tied, affinities) = ties.row(i);
        for (&j, &a) in tied.iter().zip(affinities) {
            columns.push(j);
            let scale = if plain { 1.0 } else { (degrees[i] * degrees[j as usize]).sqrt() };
            values.push(-a / scale);
        }
        starts.push(columns.len());
    }
    SparseSymmetric::new(&Csr::new(n, n, starts, columns, values)?)
}

/// The operator.
pub(super) enum Laplacian {
    Sparse(SparseSymmetric),
    Dense {
        matrix: Array2<f64>,
        /// An upper bound of its eigenvalues.
        norm: f64,
    },
}

impl Laplacian {
    /// The smallest k pairs besides the null vector that is known.
    pub fn smallest(
        &self,
        null: &[f64],
        k: usize,
        tolerance: f64,
        options: &Options,
    ) -> Result<EigenPairs> {
        match self {
            Laplacian::Sparse(matrix) => {
                spectral::smallest_of_graph(matrix, null, k, tolerance, options)
            }
            Laplacian::Dense { matrix, norm } => {
                spectral::smallest_of_matrix(matrix.view(), null, *norm, k, tolerance, options)
            }
        }
    }
}

/// What given matrices are judged by: nothing, where there are points.
pub(super) struct ToJudge {
    /// Samples that neighbours are compared on.
    chosen: Vec<usize>,
    /// Numbers in the order of the distances between them.
    distances: Array2<f64>,
}

impl ToJudge {
    /// What the coordinates (n × k) keep.
    pub fn quality(&self, samples: &Samples, coordinates: ArrayView2<f64>, seed: u64) -> Quality {
        if let Samples::Points(points) = samples {
            let original = Original::Points(points, Metric::Euclidean);
            return judge(Judged { original, kept: Kept::Nothing, coordinates, seed });
        }
        let some = coordinates.select(Axis(0), &self.chosen);
        let original = Original::Squared(self.distances.view());
        judge(Judged { original, kept: Kept::Nothing, coordinates: some.view(), seed })
    }
}
