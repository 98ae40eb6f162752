//! What the observed entries of a row say about its latent scores and its missing entries.

use crate::error::Result;
use crate::linalg::dense::symmetric_eigen;
use crate::linalg::small::{cholesky, inverse, multiply, packed_len};
use ndarray::{Array2, ArrayView2};

/// `x = W z + ε` about the mean, in standardised units: `W = U diag(s)`, `ε ~ N(0, σ²I)`.
#[derive(Clone, Debug)]
pub(crate) struct Latent {
    /// W by rows of features (d × k).
    pub w: Array2<f64>,
    /// σ².
    pub noise: f64,
}

/// The posterior that all rows of one pattern share.
#[derive(Clone, Debug)]
pub(crate) struct Conditional {
    k: usize,
    /// `E[z] = gain · Σ_o w_f x_f` (packed).
    pub(super) gain: Vec<f64>,
    /// `cov[z]` (packed).
    pub covariance: Vec<f64>,
    /// `ln det C_oo`; `None` where the observed entries span no volume.
    pub log_determinant: Option<f64>,
}

impl Latent {
    /// The model of unit components (k × d) with these variances along them.
    pub fn new(components: ArrayView2<f64>, variances: &[f64], noise: f64) -> Latent {
        let mut w = components.t().as_standard_layout().into_owned();
        for (mut column, v) in w.columns_mut().into_iter().zip(variances) {
            column *= (v - noise).max(0.0).sqrt();
        }
        Latent { w, noise }
    }

    /// The same Gaussian with some noise, where it has none because the components span all
    /// `features`: the smallest variance may as well be called noise, and then formulas that divide
    /// by it hold.
    pub fn with_noise(
        components: ArrayView2<f64>,
        variances: &[f64],
        noise: f64,
        features: usize,
    ) -> Latent {
        let least = variances.iter().fold(f64::INFINITY, |m, v| m.min(*v));
        let noise = if variances.len() >= features { least } else { noise };
        Self::new(components, variances, noise)
    }

    fn k(&self) -> usize {
        self.w.ncols()
    }

    /// The posterior given the features that `has` names.
    pub fn given(&self, has: impl Fn(usize) -> bool) -> Result<Conditional> {
        let k = self.k();
        let mut sums = vec![0.0; packed_len(k)];
        let mut observed = 0usize;
        for (_, w) in self.w.rows().into_iter().enumerate().filter(|(f, _)| has(*f)) {
            observed += 1;
            for i in 0..k {
                for j in 0..=i {
                    sums[packed_len(i) + j] += w[i] * w[j];
                }
            }
        }
        let mut factor = sums.clone();
        for j in 0..k {
            factor[packed_len(j) + j] += self.noise;
        }
        let noise = self.noise;
        if noise > 0.0
            && let Some(determinant) = cholesky(&mut factor, k)
        {
            let mut gain = vec![0.0; packed_len(k)];
            inverse(&factor, k, &mut gain, &mut Vec::new());
            let covariance = gain.iter().map(|g| noise * g).collect();
            // det C = σ^{2(m − k)} det M.
            let log_determinant = (observed as f64 - k as f64) * noise.ln() + determinant;
            let log_determinant = Some(log_determinant);
            return Ok(Conditional { k, gain, covariance, log_determinant });
        }
        // Without noise: by eigenvectors, with nothing inverted that is zero.
        let full = Array2::from_shape_fn((k, k), |(i, j)| {
            let (i, j) = (i.max(j), i.min(j));
            sums[packed_len(i) + j]
        });
        let (values, vectors) = symmetric_eigen(full.view())?;
        let largest = values.iter().fold(0.0f64, |m, v| m.max(*v));
        let noise_floor = 1e-13 * largest;
        let mut gain = vec![0.0; packed_len(k)];
        let mut covariance = vec![0.0; packed_len(k)];
        for (value, v) in values.iter().zip(vectors.columns()) {
            let known = *value > noise_floor && *value > 0.0;
            let g = if known { 1.0 / (value + noise) } else { 0.0 };
            let c = if known { noise / (value + noise) } else { 1.0 };
            for i in 0..k {
                for j in 0..=i {
                    gain[packed_len(i) + j] += g * v[i] * v[j];
                    covariance[packed_len(i) + j] += c * v[i] * v[j];
                }
            }
        }
        Ok(Conditional { k, gain, covariance, log_determinant: None })
    }
}

impl Conditional {
    /// Posterior mean of a standardised row about the mean (0 in its missing entries).
    pub fn mean(&self, latent: &Latent, x: &[f64]) -> Vec<f64> {
        let b = self.along(latent, x);
        let mut z = vec![0.0; self.k];
        multiply(&self.gain, self.k, &b, &mut z);
        z
    }

    /// `xᵀ C_oo⁻¹ x` and the posterior mean, by the matrix inversion lemma.
    pub fn distance(&self, latent: &Latent, x: &[f64]) -> (f64, Vec<f64>) {
        let b = self.along(latent, x);
        let mut z = vec![0.0; self.k];
        multiply(&self.gain, self.k, &b, &mut z);
        let length: f64 = x.iter().map(|x| x * x).sum();
        let explained: f64 = b.iter().zip(&z).map(|(b, z)| b * z).sum();
        (((length - explained) / latent.noise).max(0.0), z)
    }

    /// `Σ_o w_f x_f`.
    fn along(&self, latent: &Latent, x: &[f64]) -> Vec<f64> {
        let mut b = vec![0.0; self.k];
        for (w, x) in latent.w.rows().into_iter().zip(x).filter(|(_, x)| **x != 0.0) {
            for (b, w) in b.iter_mut().zip(w) {
                *b += w * x;
            }
        }
        b
    }

    /// The variance of feature f in a row that lacks it: `σ² + w_fᵀ cov[z] w_f`.
    pub fn variance(&self, latent: &Latent, f: usize) -> f64 {
        let w: Vec<f64> = latent.w.row(f).to_vec();
        let mut spread = vec![0.0; self.k];
        multiply(&self.covariance, self.k, &w, &mut spread);
        latent.noise + w.iter().zip(&spread).map(|(w, s)| w * s).sum::<f64>().max(0.0)
    }

    /// cov[z] (k × k).
    pub fn full_covariance(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.k, self.k), |(i, j)| {
            self.covariance[packed_len(i.max(j)) + i.min(j)]
        })
    }

    /// A factor L (k × k, lower) with `L Lᵀ = cov[z]`, for drawing.
    pub fn factor(&self) -> Result<Array2<f64>> {
        let (values, vectors) = symmetric_eigen(self.full_covariance().view())?;
        let mut factor = vectors;
        for (mut column, v) in factor.columns_mut().into_iter().zip(&values) {
            column *= v.max(0.0).sqrt();
        }
        Ok(factor)
    }
}
