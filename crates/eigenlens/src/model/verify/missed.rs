//! Whether something larger was missed: by all values of a small matrix, or by fresh random probes.

use super::{Sum, dot, norm};
use crate::linalg::random;

/// Probes in a block.
pub(crate) const PROBES: usize = 8;

/// Applications of the operator to every probe.
pub(crate) const APPLICATIONS: usize = 8;

/// A Gaussian coordinate is smaller than this with probability below 0.8 × this.
const SMALL_COORDINATE: f64 = 0.1;

/// The probability that all probes are nearly orthogonal to a given direction.
pub(crate) fn failure() -> f64 {
    (0.8 * SMALL_COORDINATE).powi(PROBES as i32)
}

/// The largest eigenvalue of what is left of a positive semi-definite operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Left {
    /// It is at least this (a Rayleigh quotient).
    pub at_least: f64,
    /// It is at most this, but for [`failure`] (0 where all values are known).
    pub at_most: f64,
    pub failure: f64,
    /// What one application to Gaussian probes bounds it by: what a fit can know from one pass.
    pub one_pass: f64,
}

impl Left {
    /// Where the value is known.
    pub fn exactly(value: f64, one_pass: f64) -> Left {
        Left { at_least: value, at_most: value, failure: 0.0, one_pass }
    }
}

/// Gaussian probes and what is left of them, in powers of the operator beside the pairs found.
pub(crate) struct Probes {
    /// Row by row (probes × d).
    vectors: Vec<Vec<f64>>,
    /// Logarithm of what they were divided by, each.
    scales: Vec<f64>,
    applications: usize,
    one_pass: f64,
}

impl Probes {
    /// Drawn afresh: nobody could know them when the model was made.
    pub fn new(seed: u64, d: usize) -> Probes {
        let drawn = random::normal_matrix(&mut random::stream(seed, 31), PROBES, d);
        Probes {
            vectors: drawn.outer_iter().map(|row| row.to_vec()).collect(),
            scales: vec![0.0; PROBES],
            applications: 0,
            one_pass: 0.0,
        }
    }

    /// What the operator is to be applied to: probes without their part along the components.
    pub fn deflated(&mut self, components: &[Vec<f64>]) -> &[Vec<f64>] {
        for vector in &mut self.vectors {
            deflate(vector, components);
        }
        &self.vectors
    }

    /// Takes in the operator's products with the deflated probes.
    pub fn applied(&mut self, products: Vec<Vec<f64>>, components: &[Vec<f64>]) {
        self.applications += 1;
        for (at, mut product) in products.into_iter().enumerate() {
            deflate(&mut product, components);
            let size = norm(&product);
            self.scales[at] += size.ln();
            if size > 0.0 {
                product.iter_mut().for_each(|x| *x /= size);
            }
            self.vectors[at] = product;
        }
        if self.applications == 1 {
            self.one_pass = self.at_most();
        }
    }

    /// `‖Bᑫ g‖ ≥ |g·v| λᑫ` for the leading pair (λ, v) of B: unless all coordinates are small, this bounds λ.
    pub fn at_most(&self) -> f64 {
        let longest = self.scales.iter().fold(f64::NEG_INFINITY, |m, s| m.max(*s));
        let bound = (longest - SMALL_COORDINATE.ln()) / self.applications.max(1) as f64;
        bound.exp()
    }

    /// The conclusion, from one more application to what has become of the probes.
    pub fn conclude(&self, products: &[Vec<f64>]) -> Left {
        let quotient = |(vector, product): (&Vec<f64>, &Vec<f64>)| {
            let size = dot(vector, vector);
            if size > 0.0 { dot(vector, product) / size } else { 0.0 }
        };
        let quotients = self.vectors.iter().zip(products).map(quotient);
        let at_least = quotients.fold(0.0f64, f64::max);
        let (at_most, failure) = (self.at_most().max(at_least), failure());
        Left { at_least, at_most, failure, one_pass: self.one_pass }
    }

    pub fn vectors(&self) -> &[Vec<f64>] {
        &self.vectors
    }

    pub fn one_pass(&self) -> f64 {
        self.one_pass
    }
}

/// Takes the part along orthonormal rows away, twice for what rounding leaves.
fn deflate(vector: &mut [f64], components: &[Vec<f64>]) {
    for _ in 0..2 {
        for component in components {
            let along = dot(component, vector);
            vector.iter_mut().zip(component).for_each(|(x, u)| *x -= along * u);
        }
    }
}

/// What is left of a trace.
pub(crate) fn rest_of_trace(total: f64, values: &[f64]) -> f64 {
    Sum::of(std::iter::once(total).chain(values.iter().map(|v| -v)))
}
