//! Gaussians `N(μ, W Wᵀ + σ²I)` against whatever entries the rows have: the likelihood, what one more step of
//! expectation maximisation would change, and the covariance expected of the whole data.

use super::rows::{Batch, Reader};
use super::{Sum, Sums, dot};
use crate::error::Result;
use crate::linalg::dense::power_of_two;
use crate::passes::Scaler;

/// One Gaussian, in standardised units about the mean of the scaler.
pub(crate) struct Factor {
    /// W by rows of features (d × k).
    pub w: Vec<Vec<f64>>,
    /// μ less the mean of the scaler (d).
    pub mean: Vec<f64>,
    /// σ², above 0.
    pub noise: f64,
    /// Share of the samples.
    pub share: f64,
}

impl Factor {
    pub fn k(&self) -> usize {
        self.w.first().map_or(0, Vec::len)
    }
}

/// What the observed entries of a row say.
struct Posterior {
    /// Cholesky factor of M = σ²I + Σ_o w wᵀ (k × k, by rows).
    factor: Vec<f64>,
    /// E[z].
    z: Vec<f64>,
    log_density: f64,
}

/// A row, standardised; NaN where nothing is known.
fn standardized(scaler: &Scaler, row: &[f64]) -> Vec<f64> {
    let one = |f: usize| match scaler.inv_scale[f] > 0.0 {
        true => ((row[f] - scaler.mean_hi[f]) - scaler.mean_lo[f]) * scaler.inv_scale[f],
        false => f64::NAN,
    };
    (0..row.len()).map(one).collect()
}

/// Lower Cholesky factor of a positive definite matrix (k × k, by rows); `None` where it is not.
fn cholesky(a: &[f64], k: usize) -> Option<Vec<f64>> {
    let mut l = vec![0.0; k * k];
    for i in 0..k {
        for j in 0..=i {
            let left = a[i * k + j] - dot(&l[i * k..i * k + j], &l[j * k..j * k + j]);
            if i == j && left <= 0.0 {
                return None;
            }
            l[i * k + j] = if i == j { left.sqrt() } else { left / l[j * k + j] };
        }
    }
    Some(l)
}

/// Solves `L Lᵀ x = b`.
fn solve(l: &[f64], k: usize, b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    for i in 0..k {
        let inside = dot(&l[i * k..i * k + i], &x[..i]);
        x[i] = (x[i] - inside) / l[i * k + i];
    }
    for i in (0..k).rev() {
        let inside: f64 = (i + 1..k).map(|p| l[p * k + i] * x[p]).sum();
        x[i] = (x[i] - inside) / l[i * k + i];
    }
    x
}

impl Factor {
    /// The posterior of a row of which something is observed.
    fn given(&self, x: &[f64]) -> Option<Posterior> {
        let k = self.k();
        let mut m = vec![0.0; k * k];
        let mut b = vec![0.0; k];
        let (mut observed, mut length) = (0usize, Sum::default());
        for f in (0..x.len()).filter(|&f| !x[f].is_nan()) {
            let (w, r) = (&self.w[f], x[f] - self.mean[f]);
            observed += 1;
            length.add(r * r);
            for i in 0..k {
                b[i] += w[i] * r;
                for j in 0..k {
                    m[i * k + j] += w[i] * w[j];
                }
            }
        }
        if observed == 0 {
            return None;
        }
        (0..k).for_each(|i| m[i * k + i] += self.noise);
        let factor = cholesky(&m, k)?;
        let z = solve(&factor, k, &b);
        let log_det: f64 = (0..k).map(|i| 2.0 * factor[i * k + i].ln()).sum::<f64>()
            + (observed as f64 - k as f64) * self.noise.ln();
        let distance = (length.value() - dot(&b, &z)) / self.noise;
        let constant = observed as f64 * std::f64::consts::TAU.ln();
        Some(Posterior { factor, z, log_density: -0.5 * (constant + log_det + distance) })
    }
}

/// What a pass over all rows finds of a mixture.
pub(crate) struct Likelihood {
    pub rows: usize,
    /// Weight of the rows with something observed.
    pub weight: f64,
    /// In the units of the data.
    pub log_likelihood: f64,
    /// Logarithms of units, summed over observed entries: what turns standardised units into those of the data.
    pub jacobian: f64,
    /// By how much one step would change the parameters, relative to their size.
    pub step: f64,
    /// The shares that the step gives.
    pub shares: Vec<f64>,
}

/// Sums of one Gaussian over the rows.
struct Expected {
    /// Σ r E[ẑ ẑᵀ] of each feature, ẑ = (z, 1): d × (k + 1)².
    moments: Vec<f64>,
    /// Σ r E[ẑ] x: d × (k + 1).
    products: Vec<f64>,
    squares: Sum,
    weight: Sum,
    entries: Sum,
}

impl Likelihood {
    pub fn of(reader: &Reader, scaler: &Scaler, parts: &[Factor]) -> Result<Likelihood> {
        let d = scaler.inv_scale.len();
        let mut sums: Vec<Expected> = parts.iter().map(|part| Expected::new(d, part.k())).collect();
        let (mut total, mut weight, mut jacobian) =
            (Sum::default(), Sum::default(), Sum::default());
        let units: Vec<f64> = (0..d).map(|f| log_unit(scaler, f)).collect();
        let rows = reader.for_each(&mut |batch: &Batch| {
            for (i, &w) in batch.weights.iter().enumerate() {
                let x = standardized(scaler, &batch.dense_row(i));
                let given: Option<Vec<Posterior>> =
                    parts.iter().map(|part| part.given(&x)).collect();
                let Some(given) = given else { continue };
                let logs: Vec<f64> =
                    given.iter().zip(parts).map(|(g, p)| g.log_density + p.share.ln()).collect();
                let most = logs.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
                let sum: f64 = logs.iter().map(|l| (l - most).exp()).sum();
                total.add(w * (most + sum.ln()));
                weight.add(w);
                for f in (0..d).filter(|&f| !x[f].is_nan()) {
                    jacobian.add(w * units[f]);
                }
                for ((part, sums), (g, l)) in
                    parts.iter().zip(&mut sums).zip(given.iter().zip(&logs))
                {
                    sums.add(part, g, &x, w * (l - most).exp() / sum);
                }
            }
            Ok(())
        })?;
        let n = weight.value();
        let steps = parts.iter().zip(&sums).map(|(part, sums)| sums.step(part));
        Ok(Likelihood {
            rows,
            weight: n,
            log_likelihood: total.value() + jacobian.value(),
            jacobian: jacobian.value(),
            step: steps.fold(0.0f64, |m, s| if s.is_nan() { f64::INFINITY } else { m.max(s) }),
            shares: sums.iter().map(|s| s.weight.value() / n).collect(),
        })
    }
}

/// Logarithm of one over the length of a unit, of a feature that varies.
fn log_unit(scaler: &Scaler, f: usize) -> f64 {
    let exponent = scaler.column_exponents.as_ref().map_or(0, |e| e[f]);
    match scaler.inv_scale[f] > 0.0 {
        true => (scaler.inv_scale[f] * power_of_two(-exponent)).ln(),
        false => 0.0,
    }
}

impl Expected {
    fn new(d: usize, k: usize) -> Expected {
        Expected {
            moments: vec![0.0; d * (k + 1) * (k + 1)],
            products: vec![0.0; d * (k + 1)],
            squares: Sum::default(),
            weight: Sum::default(),
            entries: Sum::default(),
        }
    }

    fn add(&mut self, part: &Factor, given: &Posterior, x: &[f64], r: f64) {
        let (k, q) = (part.k(), part.k() + 1);
        // E[ẑ ẑᵀ] = (z, 1)(z, 1)ᵀ, and σ² M⁻¹ beside it.
        let mut second = vec![0.0; q * q];
        for i in 0..q {
            let zi = if i < k { given.z[i] } else { 1.0 };
            for j in 0..q {
                second[i * q + j] = zi * if j < k { given.z[j] } else { 1.0 };
            }
        }
        for j in 0..k {
            let unit: Vec<f64> = (0..k).map(|i| f64::from(u8::from(i == j))).collect();
            for (i, v) in solve(&given.factor, k, &unit).into_iter().enumerate() {
                second[i * q + j] += part.noise * v;
            }
        }
        self.weight.add(r);
        for f in (0..x.len()).filter(|&f| !x[f].is_nan()) {
            self.entries.add(r);
            self.squares.add(r * x[f] * x[f]);
            let moments = &mut self.moments[f * q * q..(f + 1) * q * q];
            moments.iter_mut().zip(&second).for_each(|(m, s)| *m += r * s);
            let products = &mut self.products[f * q..(f + 1) * q];
            for (i, p) in products.iter_mut().enumerate() {
                *p += r * x[f] * if i < k { given.z[i] } else { 1.0 };
            }
        }
    }

    /// How far the maximum of the expected likelihood is from the parameters, relative to their size.
    fn step(&self, part: &Factor) -> f64 {
        let (q, d) = (part.k() + 1, part.w.len());
        let (mut moved, mut size) = (Sum::default(), Sum::default());
        let mut squares = self.squares;
        for f in 0..d {
            let moments = &self.moments[f * q * q..(f + 1) * q * q];
            let products = &self.products[f * q..(f + 1) * q];
            if moments[q * q - 1] <= 0.0 {
                continue;
            }
            let mut known = part.w[f].clone();
            known.push(part.mean[f]);
            let next = match cholesky(moments, q) {
                Some(factor) => solve(&factor, q, products),
                None => known.clone(),
            };
            moved.add(known.iter().zip(&next).map(|(a, b)| (a - b) * (a - b)).sum());
            size.add(dot(&part.w[f], &part.w[f]) + part.noise);
            for i in 0..q {
                squares.add(-2.0 * next[i] * products[i]);
                squares.add(next[i] * dot(&moments[i * q..(i + 1) * q], &next));
            }
        }
        let noise = squares.value() / self.entries.value();
        let change = (moved.value() / size.value().max(f64::MIN_POSITIVE)).sqrt();
        change.max((noise.max(f64::MIN_POSITIVE).ln() - part.noise.ln()).abs())
    }
}

/// The covariance expected of the whole data given their observed entries (divisor n), times vectors.
pub(crate) fn expected_covariance(
    reader: &Reader,
    scaler: &Scaler,
    part: &Factor,
    vectors: &[Vec<f64>],
) -> Result<Vec<Vec<f64>>> {
    let d = scaler.inv_scale.len();
    let mut products: Vec<Sums> = vectors.iter().map(|_| Sums::zeros(d)).collect();
    let mut weight = Sum::default();
    reader.for_each(&mut |batch: &Batch| {
        for (i, &w) in batch.weights.iter().enumerate() {
            let x = standardized(scaler, &batch.dense_row(i));
            let Some(given) = part.given(&x) else { continue };
            weight.add(w);
            let filled: Vec<f64> = (0..d).map(|f| part.filled(&x, &given, scaler, f)).collect();
            for (v, products) in vectors.iter().zip(&mut products) {
                products.add_scaled(w * dot(&filled, v), &filled);
                part.add_unsure(&x, &given, scaler, v, w, products);
            }
        }
        Ok(())
    })?;
    let n = weight.value();
    Ok(products.iter().map(|p| p.values().iter().map(|v| v / n).collect()).collect())
}

impl Factor {
    /// An entry about the mean, or what is expected of it.
    fn filled(&self, x: &[f64], given: &Posterior, scaler: &Scaler, f: usize) -> f64 {
        match (x[f].is_nan(), scaler.inv_scale[f] > 0.0) {
            (false, _) => x[f] - self.mean[f],
            (true, true) => dot(&self.w[f], &given.z),
            (true, false) => 0.0,
        }
    }

    /// What missing entries may vary by: `σ² (W_m M⁻¹ W_mᵀ + I) v`.
    fn add_unsure(
        &self,
        x: &[f64],
        given: &Posterior,
        scaler: &Scaler,
        v: &[f64],
        weight: f64,
        products: &mut Sums,
    ) {
        let k = self.k();
        let missing = || (0..x.len()).filter(|&f| x[f].is_nan() && scaler.inv_scale[f] > 0.0);
        let mut along = vec![0.0; k];
        for f in missing() {
            along.iter_mut().zip(&self.w[f]).for_each(|(a, w)| *a += w * v[f]);
        }
        let along = solve(&given.factor, k, &along);
        for f in missing() {
            products.add(f, weight * self.noise * (dot(&self.w[f], &along) + v[f]));
        }
    }
}
