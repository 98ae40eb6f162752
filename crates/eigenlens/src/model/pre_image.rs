//! Pre-images: samples whose place in feature space is near what the components keep of a sample.
//!
//! The feature map is not onto, so an exact pre-image need not exist: all but those of the linear
//! kernel are approximate, and come with the distance that is left in feature space.

use super::KernelPcaModel;
use super::kernel_map::KernelMap;
use super::kernel_pca::KernelBody;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::{ResolvedKernel, between, median_bandwidth};
use crate::linalg::{dense, gemm, pool};
use crate::scalar::Scalar;
use ndarray::{Array1, Array2, ArrayView1, Axis};
use rayon::prelude::*;

/// How pre-images are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreImage {
    /// Exact for the linear kernel, by fixed point for the Gaussian, by ridge for others.
    #[default]
    Auto,
    /// Fixed-point iteration from the sample itself (Mika et al. 1998); Gaussian kernel.
    FixedPoint,
    /// From distances to the ten nearest points, in closed form (Kwok & Tsang 2004); Gaussian
    /// kernel.
    Distances,
    /// Learned: kernel ridge regression from scores to samples (Bakir, Weston & Schölkopf 2003).
    Ridge,
}

/// Approximate pre-images, and how near they come.
#[derive(Clone, Debug, PartialEq)]
pub struct PreImages<T> {
    /// One for each sample (n × d).
    pub rows: Array2<T>,
    /// `‖φ(y) − Pφ(x)‖` of each (n): the distance in feature space between the pre-image and what
    /// the components keep of the sample.
    pub distances: Vec<f64>,
}

impl PreImage {
    /// The name: `auto`, `fixed-point`, `distances` or `ridge`.
    pub fn name(&self) -> &'static str {
        match self {
            PreImage::Auto => "auto",
            PreImage::FixedPoint => "fixed-point",
            PreImage::Distances => "distances",
            PreImage::Ridge => "ridge",
        }
    }

    /// The algorithm of this name.
    pub fn named(name: &str) -> Option<PreImage> {
        [PreImage::Auto, PreImage::FixedPoint, PreImage::Distances, PreImage::Ridge]
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
    }
}

/// Neighbours the closed form looks at.
const NEIGHBORS: usize = 10;
/// Points ridge regression learns from.
const LEARNED_FROM: usize = 1000;
/// Its ridge, beside a kernel that is 1 at no distance.
const RIDGE: f64 = 1e-3;
const MOST_STEPS: usize = 500;
/// The least spread of neighbours along a direction, relative to the largest.
const SPREAD: f64 = 0.3;

impl KernelPcaModel {
    /// Pre-images of what the components keep of each sample: reconstruction, or denoising.
    pub fn pre_images<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        algorithm: PreImage,
    ) -> Result<PreImages<T>> {
        let KernelBody::Points(map) = &self.parts().body else {
            return not_defined("random features keep no samples to build it from");
        };
        let inverter = Inverter::new(self, map, algorithm)?;
        let data = &data.into();
        let (rows, distances) = pool::run(map.threads, || inverter.run(data))??;
        Ok(PreImages { rows, distances })
    }
}

fn not_defined<T>(why: &str) -> Result<T> {
    Err(Error::NotDefined { what: "a pre-image", why: why.into() })
}

#[derive(Clone, Copy, PartialEq)]
enum Algorithm {
    Linear,
    FixedPoint(f64),
    Distances(f64),
    Ridge,
}

struct Inverter<'a> {
    map: &'a KernelMap,
    algorithm: Algorithm,
    /// Points as they are kept (m × d).
    points: Array2<f64>,
    /// ‖mean‖² in feature space.
    center_square: f64,
    /// `K g` (m), with g the mean as a combination of points: for the closed form.
    with_center: Vec<f64>,
    /// Scores of the points (m × k).
    scores: Array2<f64>,
    learned: Option<Learned>,
}

impl<'a> Inverter<'a> {
    fn new(
        model: &KernelPcaModel,
        map: &'a KernelMap,
        algorithm: PreImage,
    ) -> Result<Inverter<'a>> {
        let kernel = &map.projection.kernel;
        if kernel.is_precomputed() {
            return not_defined("a precomputed kernel has no samples");
        }
        if kernel.is("delta") {
            return not_defined("labels have nothing between them");
        }
        let algorithm = match (algorithm, kernel.gaussian_gamma()) {
            (PreImage::Auto, None) if kernel.is("linear") => Algorithm::Linear,
            (PreImage::Auto | PreImage::FixedPoint, Some(gamma)) => Algorithm::FixedPoint(gamma),
            (PreImage::Distances, Some(gamma)) => Algorithm::Distances(gamma),
            (PreImage::Auto | PreImage::Ridge, _) => Algorithm::Ridge,
            (algorithm, _) => {
                return Err(Error::Unsupported {
                    what: format!(
                        "a pre-image by {} of the {} kernel",
                        algorithm.name(),
                        kernel.name()
                    ),
                    why: "does not exist: that algorithm is for the rbf kernel",
                    instead: Some(crate::error::Hint::Set {
                        option: "pre_image",
                        value: "ridge".into(),
                    }),
                });
            }
        };
        let points = map.projection.points.kept_rows();
        let needs_scores = matches!(algorithm, Algorithm::Distances(_) | Algorithm::Ridge);
        let scores = if needs_scores {
            let rows = map.projection.points.rows();
            map.projection.transform(&Dataset::from(&rows))?
        } else {
            Array2::zeros((0, 0))
        };
        let with_center = match (algorithm, model.kernel_means()) {
            (Algorithm::Distances(_), Some((means, _))) => means.to_vec(),
            (Algorithm::Distances(_), None) => {
                let points = &map.projection.points;
                between(kernel, points, points).dot(&ArrayView1::from(&map.center)).to_vec()
            }
            _ => Vec::new(),
        };
        let learned =
            (algorithm == Algorithm::Ridge).then(|| Learned::new(&points, &scores)).transpose()?;
        let center_square = model.parts().mean;
        Ok(Inverter { map, algorithm, points, center_square, with_center, scores, learned })
    }

    fn run<T: Scalar>(&self, data: &Dataset<T>) -> Result<(Array2<T>, Vec<f64>)> {
        let projection = &self.map.projection;
        let z = projection.transform_wide(data)?;
        let samples = projection.points.like_rows_of(data)?.kept_rows();
        let found: Vec<(Array1<f64>, f64)> = (0..z.nrows())
            .into_par_iter()
            .map(|i| {
                let place = self.place(z.row(i));
                let y = match self.algorithm {
                    Algorithm::Linear => place.weights.dot(&self.points),
                    Algorithm::FixedPoint(gamma) => self.fixed_point(&place, samples.row(i), gamma),
                    Algorithm::Distances(gamma) => self.by_distances(&place, z.row(i), gamma),
                    Algorithm::Ridge => match &self.learned {
                        Some(learned) => learned.at(z.row(i)),
                        None => samples.row(i).to_owned(),
                    },
                };
                let distance = self.distance(&place, y.view());
                (y, distance)
            })
            .collect();
        let shift = projection.points.shift();
        let d = self.points.ncols();
        let rows = Array2::from_shape_fn((found.len(), d), |(i, f)| {
            T::from_f64(found[i].0[f] + shift.get(f).copied().unwrap_or(0.0))
        });
        Ok((rows, found.into_iter().map(|(_, distance)| distance).collect()))
    }

    /// `Pφ(x) = mean + Σ z_j u_j` as a combination of the points, and its squared length.
    fn place(&self, z: ArrayView1<f64>) -> Place {
        let projection = &self.map.projection;
        let weights = projection.coefficients.dot(&z) + ArrayView1::from(&self.map.center);
        // The components are orthonormal, and their products with the mean are the offsets.
        let along: f64 = z.iter().zip(&projection.offsets).map(|(z, c)| z * c).sum();
        Place { weights, square: self.center_square + 2.0 * along + z.dot(&z) }
    }

    fn kernels(&self, y: ArrayView1<f64>) -> Vec<f64> {
        let y = y.to_vec();
        let kernel = &self.map.projection.kernel;
        self.points
            .rows()
            .into_iter()
            .map(|p| kernel.value(p.as_slice().unwrap_or(&p.to_vec()), &y))
            .collect()
    }

    /// `‖φ(y) − Pφ(x)‖`.
    fn distance(&self, place: &Place, y: ArrayView1<f64>) -> f64 {
        let own = y.to_vec();
        let own = self.map.projection.kernel.value(&own, &own);
        let with: f64 = self.kernels(y).iter().zip(&place.weights).map(|(k, w)| k * w).sum();
        (own - 2.0 * with + place.square).max(0.0).sqrt()
    }

    /// `y ← Σ w_i k(y, x_i) x_i / Σ w_i k(y, x_i)` (Mika et al. 1998, equation 10), keeping the
    /// best y on the way: nearest in feature space is largest `Σ w_i k(y, x_i)`.
    fn fixed_point(&self, place: &Place, start: ArrayView1<f64>, gamma: f64) -> Array1<f64> {
        let mut y = start.to_owned();
        let (mut best, mut best_sum) = (y.clone(), f64::NEG_INFINITY);
        let mut restarted = false;
        for _ in 0..MOST_STEPS {
            let mut sum = 0.0;
            let mut size = 0.0;
            let mut next = Array1::<f64>::zeros(y.len());
            for (p, &w) in self.points.rows().into_iter().zip(&place.weights) {
                let square: f64 = p.iter().zip(&y).map(|(a, b)| (a - b) * (a - b)).sum();
                let share = w * (-gamma * square).exp();
                sum += share;
                size += share.abs();
                next.scaled_add(share, &p);
            }
            if sum > best_sum {
                best_sum = sum;
                best.assign(&y);
            }
            if size < 1e-200 || sum <= 1e-9 * size {
                // Nowhere near any point, or torn between them: once more from the heaviest point.
                if restarted {
                    break;
                }
                restarted = true;
                let heaviest = largest(place.weights.view());
                y.assign(&self.points.row(heaviest));
                continue;
            }
            next /= sum;
            let step: f64 = next.iter().zip(&y).map(|(a, b)| (a - b) * (a - b)).sum();
            y = next;
            if gamma * step < 1e-18 {
                break;
            }
        }
        // The last step has not been judged yet.
        let (last, found) = (self.distance(place, y.view()), self.distance(place, best.view()));
        if last <= found { y } else { best }
    }

    /// Kwok & Tsang 2004: distances in feature space to the nearest points, those in the space of
    /// samples that follow, and the point that has them.
    fn by_distances(&self, place: &Place, z: ArrayView1<f64>, gamma: f64) -> Array1<f64> {
        let offsets = ArrayView1::from(&self.map.projection.offsets);
        let constant = z.dot(&offsets);
        let squares: Vec<f64> = (self.scores.rows().into_iter().zip(&self.with_center))
            .map(|(t, g)| place.square - 2.0 * (z.dot(&t) + constant + g) + 1.0)
            .collect();
        let nearest = smallest(&squares, NEIGHBORS);
        let some = self.points.select(Axis(0), &nearest);
        let mean = some.mean_axis(Axis(0)).unwrap_or_default();
        let centered = &some - &mean;
        // exp(−γ d²) is the cosine of the angle to φ(x_i): every φ(x) has length 1, but what the
        // components keep is shorter, so it is brought to that length first.
        let length = place.square.max(1e-300).sqrt();
        let inputs: Array1<f64> = nearest
            .iter()
            .map(|&i| {
                let product = 0.5 * (place.square + 1.0 - squares[i]);
                -(product / length).clamp(1e-30, 1.0).ln() / gamma
            })
            .collect();
        let lengths: Array1<f64> = centered.rows().into_iter().map(|r| r.dot(&r)).collect();
        // ‖y − x_i‖² = d_i² for all i at once, in least squares, along the directions in which the
        // neighbours spread: across them, small errors of the distances would be magnified.
        let Ok(svd) = dense::thin_svd(centered.view()) else { return mean };
        let mut target = (&lengths - &inputs) * 0.5;
        let average = target.mean().unwrap_or(0.0);
        target -= average;
        let top = svd.s.first().copied().unwrap_or(0.0);
        let mut y = mean;
        for (j, &s) in svd.s.iter().enumerate().filter(|(_, s)| **s > SPREAD * top) {
            let along = svd.u.column(j).dot(&target) / s;
            y.scaled_add(along, &svd.v.column(j));
        }
        y
    }
}

struct Place {
    weights: Array1<f64>,
    square: f64,
}

/// Kernel ridge regression from scores to points.
struct Learned {
    scores: Array2<f64>,
    gamma: f64,
    mean: Array1<f64>,
    weights: Array2<f64>,
}

impl Learned {
    fn new(points: &Array2<f64>, scores: &Array2<f64>) -> Result<Learned> {
        let n = points.nrows();
        let step = n.div_ceil(LEARNED_FROM).max(1);
        let some: Vec<usize> = (0..n).step_by(step).collect();
        let (points, scores) = (points.select(Axis(0), &some), scores.select(Axis(0), &some));
        let gamma = median_bandwidth(scores.view());
        let kernel = ResolvedKernel::rbf(gamma);
        let m = some.len();
        let mut matrix = Array2::from_shape_fn((m, m), |(i, j)| {
            kernel.value(&scores.row(i).to_vec(), &scores.row(j).to_vec())
        });
        matrix.diag_mut().mapv_inplace(|v| v + RIDGE);
        let mean = points.mean_axis(Axis(0)).unwrap_or_default();
        let target = &points - &mean;
        let weights = dense::solve_positive(matrix.view(), target.view())
            .ok_or_else(|| Error::Internal("a ridge regression broke down".into()))?;
        Ok(Learned { scores, gamma, mean, weights })
    }

    fn at(&self, z: ArrayView1<f64>) -> Array1<f64> {
        let values: Array1<f64> = self
            .scores
            .rows()
            .into_iter()
            .map(|t| {
                let square: f64 = t.iter().zip(&z).map(|(a, b)| (a - b) * (a - b)).sum();
                (-self.gamma * square).exp()
            })
            .collect();
        let row = values.insert_axis(Axis(0));
        let product = gemm::product(row.view(), self.weights.view());
        &product.row(0) + &self.mean
    }
}

fn largest(values: ArrayView1<f64>) -> usize {
    values.iter().enumerate().fold(0, |best, (i, v)| if *v > values[best] { i } else { best })
}

/// Positions of the `count` smallest values, found one after the other.
fn smallest(values: &[f64], count: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::with_capacity(count);
    for _ in 0..count.min(values.len()) {
        let left = (0..values.len()).filter(|i| !found.contains(i));
        let next = left.fold(None, |best: Option<usize>, i| match best {
            Some(b) if values[b] <= values[i] => Some(b),
            _ => Some(i),
        });
        found.extend(next);
    }
    found
}
