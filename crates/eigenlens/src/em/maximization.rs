//! The parameters, and the step that maximises over them.

use super::expectation::Sums;
use crate::error::Result;
use crate::linalg::dense::symmetric_eigen;
use crate::linalg::small::{cholesky, inverse, packed_len, solve};
use ndarray::{Array1, Array2};

/// The parameters of one Gaussian, in standardised units about the reference mean.
#[derive(Clone, Debug)]
pub(crate) struct FactorGaussian {
    /// W (d × k).
    pub w: Array2<f64>,
    /// μ minus the reference mean (d).
    pub mean: Array1<f64>,
    /// σ².
    pub noise: f64,
    /// Share of the samples, in a mixture.
    pub share: f64,
    /// The prior on the columns of W and what it leaves uncertain, for Bayesian PCA.
    pub prior: Option<Prior>,
}

/// Automatic relevance determination: `w_fj ~ N(0, 1/α_j)`, with the posterior of every row of W
/// kept as mean and covariance (Bishop 1999, *Variational principal components*).
#[derive(Clone, Debug)]
pub(crate) struct Prior {
    /// α (k).
    pub alpha: Vec<f64>,
    /// Covariance of each row of W (d × k(k + 1)/2, packed).
    pub spread: Array2<f64>,
}

impl FactorGaussian {
    pub fn k(&self) -> usize {
        self.w.ncols()
    }

    pub fn d(&self) -> usize {
        self.w.nrows()
    }

    /// The same without the column of W that its prior holds smallest; `None` where there is none.
    pub fn without_weakest(&self) -> Option<FactorGaussian> {
        let (d, k) = self.w.dim();
        let prior = self.prior.as_ref()?;
        let mut weakest = 0;
        for j in 1..k {
            if prior.alpha[j] > prior.alpha[weakest] {
                weakest = j;
            }
        }
        let kept: Vec<usize> = (0..k).filter(|&j| j != weakest).collect();
        if kept.len() == k {
            return None;
        }
        let at: Vec<usize> = (0..kept.len())
            .flat_map(|i| (0..=i).map(move |j| (i, j)))
            .map(|(i, j)| packed_len(kept[i]) + kept[j])
            .collect();
        let spread = Array2::from_shape_fn((d, at.len()), |(f, p)| prior.spread[[f, at[p]]]);
        let alpha = kept.iter().map(|&j| prior.alpha[j]).collect();
        let w = Array2::from_shape_fn((d, kept.len()), |(f, j)| self.w[[f, kept[j]]]);
        Some(FactorGaussian { w, prior: Some(Prior { alpha, spread }), ..self.clone() })
    }

    /// `E[ŵ_f ŵ_fᵀ]` of every feature with `ŵ = (w, μ)`: d × q, packed and padded to `stride`.
    pub fn outer_products(&self, stride: usize, table: &mut [f64]) {
        let k = self.k();
        for (f, row) in table.chunks_mut(stride).enumerate() {
            let at = |j: usize| if j < k { self.w[[f, j]] } else { self.mean[f] };
            for i in 0..=k {
                for j in 0..=i {
                    row[packed_len(i) + j] = at(i) * at(j);
                }
            }
            if let Some(prior) = &self.prior {
                for (r, s) in row.iter_mut().zip(prior.spread.row(f)) {
                    *r += s;
                }
            }
        }
    }

    /// The parameters that maximise the expected likelihood under these sums. `noise_floor` is the least
    /// noise variance that is let happen.
    pub fn maximize(&self, sums: &Sums, noise_floor: f64) -> FactorGaussian {
        let (d, k) = self.w.dim();
        let q = packed_len(k + 1);
        let mut next = self.clone();
        let mut room = Vec::new();
        let (mut entries, mut squares) = (0.0, sums.squares);
        for f in 0..d {
            let (moments, products) = (sums.moments(f), sums.products(f));
            let count = moments[q - 1];
            if count <= 0.0 {
                continue;
            }
            entries += count;
            let mut system = moments.to_vec();
            if let Some(prior) = &self.prior {
                for j in 0..k {
                    system[packed_len(j) + j] += self.noise * prior.alpha[j];
                }
            }
            let mut right = products.to_vec();
            let mut factor = system.clone();
            if cholesky(&mut factor, k + 1).is_some() {
                solve(&factor, k + 1, &mut right);
                next.w.row_mut(f).iter_mut().zip(&right).for_each(|(w, r)| *w = *r);
                next.mean[f] = right[k];
            } else {
                // Directions that no row of this feature tells apart: only the mean is moved.
                let along: f64 = (0..k).map(|j| self.w[[f, j]] * moments[packed_len(k) + j]).sum();
                next.mean[f] = (products[k] - along) / count;
            }
            if let Some(prior) = &mut next.prior {
                // cov[w_f] = σ² (Σ E[zzᵀ] + σ² diag α)⁻¹.
                let mut block = system[..packed_len(k)].to_vec();
                if cholesky(&mut block, k).is_some() {
                    let mut spread = vec![0.0; packed_len(k)];
                    inverse(&block, k, &mut spread, &mut room);
                    for (s, v) in prior.spread.row_mut(f).iter_mut().zip(&spread) {
                        *s = self.noise * v;
                    }
                }
            }
            // Σ (x² − 2 ŵᵀ E[ẑ] x + E[ŵᵀ ẑ ẑᵀ ŵ]), with the moments as they are.
            let at = |j: usize| if j < k { next.w[[f, j]] } else { next.mean[f] };
            for i in 0..=k {
                squares -= 2.0 * at(i) * products[i];
                for j in 0..=i {
                    let twice = if i == j { 1.0 } else { 2.0 };
                    let spread = match &next.prior {
                        Some(prior) if i < k => prior.spread[[f, packed_len(i) + j]],
                        _ => 0.0,
                    };
                    squares += twice * (at(i) * at(j) + spread) * moments[packed_len(i) + j];
                }
            }
        }
        next.noise = if entries > 0.0 { (squares / entries).max(noise_floor) } else { self.noise };
        next
    }

    /// Expands the parameters so that the latent scores have mean 0 and covariance I, which never
    /// lowers the likelihood and takes most of the slowness out of the iteration (Liu, Rubin & Wu
    /// 1998). With a prior the columns of W are made orthogonal too, which never lowers the bound
    /// (Luttinen & Ilin 2010), and α is set to its best value.
    pub fn expand(&mut self, sums: &Sums) -> Result<()> {
        let (d, k) = self.w.dim();
        let n = sums.weight();
        if k == 0 || n <= 0.0 {
            return Ok(());
        }
        let mean: Vec<f64> = (0..k).map(|j| sums.latent[packed_len(k) + j] / n).collect();
        let mut l = vec![0.0; packed_len(k)];
        for i in 0..k {
            for j in 0..=i {
                let at = packed_len(i) + j;
                l[at] = sums.latent[at] / n - mean[i] * mean[j];
            }
        }
        if cholesky(&mut l, k).is_none() {
            return Ok(());
        }
        let mut turn =
            Array2::from_shape_fn((k, k), |(i, j)| if j <= i { l[packed_len(i) + j] } else { 0.0 });
        self.mean += &self.w.dot(&Array1::from(mean));
        if let Some(prior) = &self.prior {
            let mut total = self.w.t().dot(&self.w);
            for row in prior.spread.rows() {
                total += &unpack(row.iter().copied(), k);
            }
            let turned = turn.t().dot(&total).dot(&turn);
            let (_, vectors) = symmetric_eigen(turned.view())?;
            turn = turn.dot(&vectors);
            // Near the end the turn is none: a flipped sign must not look like a step.
            for (j, mut column) in turn.columns_mut().into_iter().enumerate() {
                if column[j] < 0.0 {
                    column.mapv_inplace(|v| -v);
                }
            }
        }
        self.w = self.w.dot(&turn);
        if let Some(prior) = &mut self.prior {
            let mut energy = vec![0.0; k];
            for f in 0..d {
                let spread = unpack(prior.spread.row(f).iter().copied(), k);
                let turned = turn.t().dot(&spread).dot(&turn);
                for i in 0..k {
                    for j in 0..=i {
                        prior.spread[[f, packed_len(i) + j]] = turned[[i, j]];
                    }
                    energy[i] += self.w[[f, i]].powi(2) + turned[[i, i]];
                }
            }
            prior.alpha = energy.iter().map(|e| d as f64 / e.max(f64::MIN_POSITIVE)).collect();
        }
        Ok(())
    }

    /// How far another state is from this one, relative to the size of the data.
    pub fn distance(&self, other: &FactorGaussian) -> f64 {
        let moved: f64 = (self.w.iter().zip(&other.w)).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
            + (self.mean.iter().zip(&other.mean)).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let size = other.w.iter().map(|v| v * v).sum::<f64>() + self.d() as f64 * other.noise;
        let noise = (self.noise.ln() - other.noise.ln()).abs();
        (moved / size.max(f64::MIN_POSITIVE)).sqrt().max(noise)
    }
}

/// A full symmetric matrix from its packed lower triangle.
fn unpack(packed: impl Iterator<Item = f64>, k: usize) -> Array2<f64> {
    let mut full = Array2::zeros((k, k));
    let at = (0..k).flat_map(|i| (0..=i).map(move |j| (i, j)));
    for ((i, j), v) in at.zip(packed) {
        (full[[i, j]], full[[j, i]]) = (v, v);
    }
    full
}
