//! What the tests of the rules share.

use super::{Outcome, Reason, Rule, Sample, Spectrum, apply};
use crate::linalg::dense::thin_svd;
use crate::linalg::random::{normal_matrix, stream};
use ndarray::{Array2, Axis};

/// A complete centred spectrum of n samples.
pub(super) fn spectrum(values: &[f64], n: usize) -> Spectrum<'_> {
    head(values, values.iter().sum(), values.len(), n)
}

/// The head of a centred spectrum of n samples.
pub(super) fn head(values: &[f64], total: f64, max_rank: usize, n: usize) -> Spectrum<'_> {
    Spectrum {
        values,
        total_variance: total,
        n_samples: n as f64,
        n_features: max_rank,
        n_varying: max_rank,
        max_rank,
        centered: true,
        standardized: false,
    }
}

pub(super) fn outcome(rule: Rule, spectrum: &Spectrum, sample: Option<&Sample>) -> Outcome {
    apply(rule, spectrum, sample, 7)
}

pub(super) fn chosen(rule: Rule, spectrum: &Spectrum) -> usize {
    match outcome(rule, spectrum, None) {
        Outcome::Chosen(choice) => choice.n_components,
        Outcome::NotComputed { reason, .. } => panic!("{}: {reason}", rule.name()),
    }
}

pub(super) fn reason(rule: Rule, spectrum: &Spectrum) -> Reason {
    match outcome(rule, spectrum, None) {
        Outcome::Chosen(choice) => panic!("{}: {}", rule.name(), choice.n_components),
        Outcome::NotComputed { reason, .. } => reason,
    }
}

pub(super) fn curve(rule: Rule, spectrum: &Spectrum, name: &str) -> (usize, Vec<f64>) {
    match outcome(rule, spectrum, None) {
        Outcome::Chosen(choice) => {
            let curve = choice.evidence.curves.iter().find(|c| c.name == name).unwrap();
            (curve.first, curve.values.clone())
        }
        Outcome::NotComputed { reason, .. } => panic!("{}: {reason}", rule.name()),
    }
}

/// Gaussian data (n × d) about a mean that is not 0: variance `variances[j]` along the j-th of some
/// random orthonormal directions, `noise` along the others.
pub(super) fn data(n: usize, d: usize, variances: &[f64], noise: f64, seed: u64) -> Array2<f64> {
    let mut rng = stream(seed, 99);
    let mut x = normal_matrix(&mut rng, n, d) * noise.sqrt();
    if !variances.is_empty() {
        let directions = normal_matrix(&mut rng, d, variances.len());
        let basis = thin_svd(directions.view()).unwrap().u;
        let mut inside = x.dot(&basis);
        let mut fresh = normal_matrix(&mut rng, n, variances.len());
        for (mut column, v) in fresh.columns_mut().into_iter().zip(variances) {
            column *= v.sqrt();
        }
        inside = fresh - inside;
        x += &inside.dot(&basis.t());
    }
    x + 3.0
}

pub(super) fn sample_of(x: &Array2<f64>) -> Sample<'_> {
    Sample { rows: x.view(), of: x.nrows() }
}

/// A spectrum that owns its values.
pub(super) struct Owned {
    pub values: Vec<f64>,
    n: usize,
    d: usize,
    standardized: bool,
}

impl Owned {
    pub fn spectrum(&self) -> Spectrum<'_> {
        Spectrum {
            n_features: self.d,
            n_varying: self.d,
            standardized: self.standardized,
            ..head(&self.values, self.values.iter().sum(), (self.n - 1).min(self.d), self.n)
        }
    }
}

/// The full centred spectrum of data.
pub(super) fn spectrum_of(x: &Array2<f64>, standardize: bool) -> Owned {
    let (n, d) = x.dim();
    let mut z = x - &x.mean_axis(Axis(0)).unwrap();
    if standardize {
        for mut column in z.columns_mut() {
            let deviation = (column.dot(&column) / (n as f64 - 1.0)).sqrt();
            // The shared offset leaves rounding in a constant column.
            column.mapv_inplace(|v| if deviation > 1e-12 { v / deviation } else { 0.0 });
        }
    }
    let s = thin_svd(z.view()).unwrap().s;
    let values = s.iter().take((n - 1).min(d)).map(|s| s * s / (n as f64 - 1.0)).collect();
    Owned { values, n, d, standardized: standardize }
}
