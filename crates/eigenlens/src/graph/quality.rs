//! How well an embedding keeps distances and neighbours.

use super::distances::{Metric, squared_to_all};
use super::points::Points;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::linalg::random;
use crate::scalar::Scalar;
use ndarray::{ArrayView2, Axis};
use rayon::prelude::*;

/// What an embedding keeps of the data it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// 1 where every neighbour in the embedding is one in the data (Venna & Kaski 2001).
    pub trustworthiness: f64,
    /// 1 where every neighbour in the data is one in the embedding.
    pub continuity: f64,
    /// Neighbours that both look at.
    pub n_neighbors: usize,
    /// Samples they were measured on: all, or a random subset drawn with the seed.
    pub n_judged: usize,
    /// `√(Σ(δ − d)² / Σδ²)` over pairs, for distances δ that the method means to keep and distances
    /// d in the embedding (Kruskal's stress-1, relative to δ).
    pub stress: Option<f64>,
    /// `1 − R²(δ, d)` over pairs, R the linear correlation (Tenenbaum et al. 2000).
    pub residual_variance: Option<f64>,
}

/// The original distances.
#[derive(Clone, Copy)]
pub(crate) enum Original<'a> {
    /// Of these points, by this metric.
    Points(&'a Points, Metric),
    /// Squared, between all pairs.
    Squared(ArrayView2<'a, f64>),
}

/// The distances that a method means to keep.
#[derive(Clone, Copy)]
pub(crate) enum Kept<'a> {
    /// None: only neighbours count.
    Nothing,
    /// The original ones, of the samples that neighbours are compared on.
    Original,
    /// Squared, between all samples with these coordinates.
    Squared(ArrayView2<'a, f64>, ArrayView2<'a, f64>),
}

/// What is to be judged.
pub(crate) struct Judged<'a> {
    /// Where neighbours are looked for.
    pub original: Original<'a>,
    /// The distances that the method means to keep, in the units of the coordinates.
    pub kept: Kept<'a>,
    /// n × k.
    pub coordinates: ArrayView2<'a, f64>,
    pub seed: u64,
}

/// Samples that neighbours are compared on.
const MOST: usize = 1000;
/// Neighbours looked at.
const NEIGHBORS: usize = 5;

/// Measures quality: neighbours on at most 1,000 samples, distances that are stored on all pairs,
/// distances that are not on the same samples as neighbours.
pub(crate) fn judge(judged: Judged) -> Quality {
    let n = judged.coordinates.nrows();
    let chosen = subset(n, judged.seed);
    let m = chosen.len();
    let points = Points::from_stored(judged.coordinates.select(Axis(0), &chosen), 0);
    let embedded = |i: usize, out: &mut [f64]| squared_row(&points, i, out);
    let original = rows_of(judged.original, &chosen);
    let k = NEIGHBORS.min(m.saturating_sub(1) / 2);
    let sums = match judged.kept {
        Kept::Nothing => None,
        Kept::Original => Some(Sums::over(m, &original, embedded)),
        Kept::Squared(squared, coordinates) => {
            let all = Points::from_stored(coordinates.as_standard_layout().into_owned(), 0);
            let row = |i: usize, out: &mut [f64]| copy_row(squared, i, out);
            Some(Sums::over(all.n_samples(), row, |i, out| squared_row(&all, i, out)))
        }
    };
    let (trustworthiness, continuity) = kept_neighbors(m, k, &original, &embedded);
    Quality {
        trustworthiness,
        continuity,
        n_neighbors: k,
        n_judged: m,
        stress: sums.map(|s| s.stress()),
        residual_variance: sums.map(|s| s.residual_variance()),
    }
}

/// Trustworthiness of an embedding (n × k) of all the data: 1 − a penalty for every one of the
/// `n_neighbors` nearest in the embedding that is farther than that in the data. O(n² d).
///
/// ```
/// use eigenlens::{graph, ndarray};
/// let x = ndarray::array![[0.0, 0.0], [1.0, 0.1], [2.0, 0.0], [3.0, 0.1], [4.0, 0.0], [5.0, 0.1]];
/// let along = x.slice(ndarray::s![.., ..1]);
/// assert_eq!(graph::trustworthiness(&x, along, 2)?, 1.0);
/// # Ok::<(), eigenlens::Error>(())
/// ```
pub fn trustworthiness<'a, T: Scalar>(
    data: impl Into<Dataset<'a, T>>,
    coordinates: ArrayView2<f64>,
    n_neighbors: usize,
) -> Result<f64> {
    Ok(kept_in_embedding(&data.into(), coordinates, n_neighbors)?.0)
}

/// Continuity of an embedding (n × k) of all the data: 1 − a penalty for every one of the
/// `n_neighbors` nearest in the data that is farther than that in the embedding. O(n² d).
pub fn continuity<'a, T: Scalar>(
    data: impl Into<Dataset<'a, T>>,
    coordinates: ArrayView2<f64>,
    n_neighbors: usize,
) -> Result<f64> {
    Ok(kept_in_embedding(&data.into(), coordinates, n_neighbors)?.1)
}

/// Trustworthiness and continuity.
fn kept_in_embedding<T: Scalar>(
    data: &Dataset<T>,
    coordinates: ArrayView2<f64>,
    n_neighbors: usize,
) -> Result<(f64, f64)> {
    let (points, embedded) = pair(data, coordinates, n_neighbors)?;
    let original = |i: usize, out: &mut [f64]| squared_row(&points, i, out);
    let embedding = |i: usize, out: &mut [f64]| squared_row(&embedded, i, out);
    Ok(kept_neighbors(points.n_samples(), n_neighbors, &original, &embedding))
}

fn pair<T: Scalar>(
    data: &Dataset<T>,
    coordinates: ArrayView2<f64>,
    k: usize,
) -> Result<(Points, Points)> {
    let points = Points::read(data)?;
    let embedded = Points::read(&Dataset::dense(coordinates))?;
    let n = points.n_samples();
    if embedded.n_samples() != n {
        return Err(Error::Shape {
            what: "the embedding",
            found: format!("{} rows", embedded.n_samples()),
            expected: n.to_string(),
        });
    }
    if k == 0 || 2 * k >= n {
        return Err(Error::Parameter {
            name: "n_neighbors",
            value: k.to_string(),
            expected: "at least 1 and below half the number of samples",
        });
    }
    Ok((points, embedded))
}

/// Trustworthiness and continuity: `1 − 2/(n k (2n − 3k − 1)) Σ (r − k)` over the k nearest by
/// `embedding` that are not among the k nearest by `original`, r their rank there; and the other way
/// round.
fn kept_neighbors(
    n: usize,
    k: usize,
    original: &(impl Fn(usize, &mut [f64]) + Sync),
    embedding: &(impl Fn(usize, &mut [f64]) + Sync),
) -> (f64, f64) {
    if k == 0 {
        return (1.0, 1.0);
    }
    let penalty = |row: &[f64], i: usize, near: &[usize], truly: &[usize]| {
        let before = |a: usize, b: usize| row[a] < row[b] || (row[a] == row[b] && a < b);
        near.iter()
            .filter(|j| !truly.contains(j))
            .map(|&j| {
                let rank = 1 + (0..n).filter(|&l| l != i && before(l, j)).count();
                rank.saturating_sub(k) as u64
            })
            .sum::<u64>()
    };
    // A sum of whole numbers is the same in any order.
    let (untrue, torn) = (0..n)
        .into_par_iter()
        .map_init(
            || (vec![0.0; n], vec![0.0; n]),
            |(data, image), i| {
                original(i, data);
                embedding(i, image);
                let (near, truly) = (nearest(image, i, k), nearest(data, i, k));
                (penalty(data, i, &near, &truly), penalty(image, i, &truly, &near))
            },
        )
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    let worst = n as f64 * k as f64 * (2.0 * n as f64 - 3.0 * k as f64 - 1.0) / 2.0;
    (1.0 - untrue as f64 / worst, 1.0 - torn as f64 / worst)
}

/// The k smallest entries of a row but for its own; equal ones in order.
fn nearest(row: &[f64], own: usize, k: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::with_capacity(k + 1);
    for j in (0..row.len()).filter(|&j| j != own) {
        if found.len() == k && found.last().is_some_and(|&last| row[j] >= row[last]) {
            continue;
        }
        let at = found.iter().position(|&f| row[j] < row[f]).unwrap_or(found.len());
        found.insert(at, j);
        found.truncate(k);
    }
    found
}

/// Sums over pairs of distances δ and d.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: f64,
    original: f64,
    embedded: f64,
    original_squares: f64,
    embedded_squares: f64,
    products: f64,
    differences: f64,
}

impl Sums {
    fn over(
        n: usize,
        original: impl Fn(usize, &mut [f64]) + Sync,
        embedded: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Sums {
        let rows: Vec<Sums> = (0..n)
            .into_par_iter()
            .map_init(
                || (vec![0.0; n], vec![0.0; n]),
                |(data, image), i| {
                    let (data, image) = (&mut data[..i], &mut image[..i]);
                    original(i, data);
                    embedded(i, image);
                    let mut sums = Sums::default();
                    for (x, y) in data.iter().zip(image) {
                        sums.add(x.sqrt(), y.sqrt());
                    }
                    sums
                },
            )
            .collect();
        rows.into_iter().fold(Sums::default(), Sums::plus)
    }

    fn add(&mut self, x: f64, y: f64) {
        self.count += 1.0;
        self.original += x;
        self.embedded += y;
        self.original_squares += x * x;
        self.embedded_squares += y * y;
        self.products += x * y;
        self.differences += (x - y) * (x - y);
    }

    fn plus(self, other: Sums) -> Sums {
        Sums {
            count: self.count + other.count,
            original: self.original + other.original,
            embedded: self.embedded + other.embedded,
            original_squares: self.original_squares + other.original_squares,
            embedded_squares: self.embedded_squares + other.embedded_squares,
            products: self.products + other.products,
            differences: self.differences + other.differences,
        }
    }

    fn stress(&self) -> f64 {
        if self.original_squares > 0.0 {
            (self.differences / self.original_squares).sqrt()
        } else {
            0.0
        }
    }

    fn residual_variance(&self) -> f64 {
        let n = self.count.max(1.0);
        let covariance = self.products - self.original * self.embedded / n;
        let of = |squares: f64, sum: f64| squares - sum * sum / n;
        let variances =
            of(self.original_squares, self.original) * of(self.embedded_squares, self.embedded);
        if variances > 0.0 {
            (1.0 - covariance * covariance / variances).clamp(0.0, 1.0)
        } else {
            1.0
        }
    }
}

/// All samples, or a seeded choice of [`MOST`] in the order of the rows.
pub(crate) fn subset(n: usize, seed: u64) -> Vec<usize> {
    if n <= MOST {
        return (0..n).collect();
    }
    random::choose(&mut random::stream(seed, 11), n, MOST)
}

/// Fills in a row of distances.
type Row<'a> = dyn Fn(usize, &mut [f64]) + Sync + 'a;

/// Squared original distances between the chosen samples, row by row.
fn rows_of<'a>(original: Original<'a>, chosen: &[usize]) -> Box<Row<'a>> {
    let chosen = chosen.to_vec();
    match original {
        Original::Points(points, metric) => {
            let rows = points.view().select(Axis(0), &chosen);
            let points = Points::from_stored(rows, 0);
            Box::new(move |i, out| {
                squared_to_all(metric, points.row(i), &points, out);
            })
        }
        Original::Squared(squared) => Box::new(move |i, out| {
            for (out, &j) in out.iter_mut().zip(&chosen) {
                *out = squared[[chosen[i], j]];
            }
        }),
    }
}

fn copy_row(squared: ArrayView2<f64>, i: usize, out: &mut [f64]) {
    for (out, &v) in out.iter_mut().zip(squared.row(i)) {
        *out = v;
    }
}

fn squared_row(points: &Points, i: usize, out: &mut [f64]) {
    squared_to_all(Metric::Euclidean, points.row(i), points, out);
}
