//! PCA of samples known only by their inner products.

use super::pca::factors;
use crate::error::{Error, Result};
use crate::n_components::{AllValues, NComponents};
use crate::solver::certificate::{self, Certificate, Evidence, Measured, NoneMissed, Rounding};
use crate::solver::{dense, finish};
use ndarray::{Array2, ArrayView2};

/// Explained variances and training scores from a Gram matrix. There are no components: the
/// features were never seen.
#[derive(Clone, Debug, PartialEq)]
pub struct GramPca {
    explained_variance: Vec<f64>,
    total_variance: f64,
    scores: Array2<f64>,
    certificate: Certificate,
}

impl GramPca {
    /// Decomposes a Gram matrix (n × n), already centred where it should be.
    pub(crate) fn decompose(
        gram: Array2<f64>,
        n_components: &NComponents,
        whiten: bool,
        center: bool,
    ) -> Result<GramPca> {
        let n = gram.nrows();
        let divisor = n as f64 - 1.0;
        let all = dense::full(gram.view(), n)?;
        let spectrum = all.spectrum.unwrap_or_default();
        let total: f64 = gram.diag().iter().sum();
        let top = spectrum.first().copied().unwrap_or(0.0).max(0.0);
        let rounding_floor = 8.0 * (n as f64).sqrt() * f64::EPSILON * top;
        if let Some(&least) =
            spectrum.last().filter(|v| **v < -1e3 * rounding_floor && **v < -1e-10 * top)
        {
            return Err(Error::NotPositive {
                what: "the Gram matrix",
                eigenvalue: least,
                largest: top,
            });
        }
        let max_rank = n - usize::from(center);
        let carry = &spectrum[..max_rank];
        let why = "needs the number of features, which a Gram matrix does not tell";
        let k = AllValues::without_rules(carry, total, rounding_floor, n, why)
            .resolve(n_components, &mut Vec::new())?;
        let rank = spectrum.iter().take(k.min(max_rank)).filter(|v| **v > rounding_floor).count();
        let mut values = spectrum[..k].to_vec();
        values.iter_mut().skip(rank).for_each(|v| *v = 0.0);
        // The sign rule applies to the scores, where vectors live on samples.
        let (_, mut vectors) =
            finish::largest_first(&spectrum, &all.ritz.vectors, k, finish::f64_tie());
        finish::complete(&mut vectors, rank, finish::f64_tie());
        let columns = vectors.t().as_standard_layout().into_owned();
        let product = crate::linalg::gemm::product(gram.view(), columns.view());
        let mut measured = values.clone();
        let mut residuals = certificate::residuals(product.view(), columns.view(), &values);
        if let Some(next) = spectrum.get(k) {
            measured.push(next.max(0.0));
            residuals.push(rounding_floor);
        }
        let certificate = certificate::certify(Measured {
            values: &measured,
            k,
            residuals: &residuals,
            along: &certificate::along(product.view(), columns.view(), &values),
            rounding: Rounding::of_products((top * total.max(top)).sqrt(), n, measured.len()),
            parts: None,
            orthogonality: certificate::orthogonality(columns.view()),
            rounding_floor,
            evidence: Evidence::Matrix,
            none_missed: NoneMissed::Complete,
            unseen: 0.0,
        });
        let explained_variance: Vec<f64> = values.iter().map(|v| v / divisor).collect();
        let scale: Vec<f64> = factors(&explained_variance, whiten.then_some(1.0), 0)
            .iter()
            .zip(&values)
            .map(|(f, v)| f * v.sqrt())
            .collect();
        let scores = Array2::from_shape_fn((n, k), |(i, j)| columns[[i, j]] * scale[j]);
        Ok(GramPca { explained_variance, total_variance: total / divisor, scores, certificate })
    }

    /// The number of components, k.
    pub fn n_components(&self) -> usize {
        self.explained_variance.len()
    }

    /// The variance along each component (k), divisor n − 1.
    pub fn explained_variance(&self) -> &[f64] {
        &self.explained_variance
    }

    /// Each component's share of the total variance (k).
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        let total = self.total_variance;
        self.explained_variance.iter().map(|v| if total > 0.0 { v / total } else { 0.0 }).collect()
    }

    /// The total variance.
    pub fn total_variance(&self) -> f64 {
        self.total_variance
    }

    /// Training scores (n × k).
    pub fn scores(&self) -> ArrayView2<'_, f64> {
        self.scores.view()
    }

    /// How far to trust them numerically.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }
}
