//! PCA as a Gaussian model: `N(μ, C)` with `C = U diag(λ) Uᵀ + σ²(I − UUᵀ)`.

use super::diagnostics::check_length;
use super::limits::{check_value, check_values};
use crate::error::{Error, Result};
use crate::linalg::dense::qr_r;
use crate::linalg::gemm::transposed_product;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

/// The Gaussian a set of components implies: variance `λ_j` along component j, the noise variance
/// `σ²` in every direction beside them.
///
/// When the data were standardised the model lives in standardised units; [`Units`] says which are
/// wanted. Standardised constant columns (scale 0) are not part of it: their rows and columns of
/// the covariance and the precision are 0, and the likelihood is that of the other features.
#[derive(Clone, Copy, Debug)]
pub struct Gaussian<'a> {
    components: ArrayView2<'a, f64>,
    standard_deviations: ArrayView1<'a, f64>,
    noise: f64,
    scale: Option<ArrayView1<'a, f64>>,
    /// Features the model speaks about, constant standardised ones not among them.
    features: usize,
    rounding: f64,
}

/// The units of a covariance or a density. They differ only when the data were standardised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Those of the data as they came.
    #[default]
    Original,
    /// Those the model was fitted in: each column divided by its scale.
    Fitted,
}

/// The log-likelihood of samples under the model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LogLikelihood {
    /// Natural logarithm of the density at each sample (n).
    pub samples: Array1<f64>,
    /// Their sum.
    pub total: f64,
    /// Their mean.
    pub mean: f64,
}

/// σ², the mean discarded eigenvalue: `(tr S − Σλ)/(d − k)`, without knowing the discarded ones.
///
/// `total_variance` is tr S, `variances` (k) the kept eigenvalues, `n_features` the d that can vary.
/// 0 for k ≥ d, and 0 when the difference is no larger than the rounding of its terms: the sign of
/// noise must not become a density.
pub fn noise_variance(total_variance: f64, variances: ArrayView1<f64>, n_features: usize) -> f64 {
    if variances.len() >= n_features {
        return 0.0;
    }
    let rest = total_variance - variances.sum();
    let rounding = 4.0 * f64::EPSILON * n_features as f64 * total_variance;
    if rest > rounding { rest / (n_features - variances.len()) as f64 } else { 0.0 }
}

impl<'a> Gaussian<'a> {
    /// The model of `components` (k × d, unit rows) with `standard_deviations` (k, `√λ_j`) and the
    /// noise `σ` in all other directions (square root of [`noise_variance`]).
    ///
    /// `scale` (d) are the standard deviations the columns were divided by, 0 for a constant column;
    /// `None` when the data were not standardised.
    pub fn new(
        components: ArrayView2<'a, f64>,
        standard_deviations: ArrayView1<'a, f64>,
        noise_standard_deviation: f64,
        scale: Option<ArrayView1<'a, f64>>,
    ) -> Result<Self> {
        let (k, d) = components.dim();
        check_length("the standard deviations", standard_deviations.len(), k)?;
        check_values("standard_deviations", standard_deviations)?;
        check_value("noise_standard_deviation", noise_standard_deviation)?;
        let mut features = d;
        if let Some(scale) = scale {
            check_length("the scale", scale.len(), d)?;
            check_values("scale", scale)?;
            features = scale.iter().filter(|&&s| s > 0.0).count();
        }
        let noise = if features > k { noise_standard_deviation } else { 0.0 };
        let rounding = f64::EPSILON;
        Ok(Gaussian { components, standard_deviations, noise, scale, features, rounding })
    }

    /// The same model of data and components that are known to this relative rounding.
    pub(crate) fn with_rounding(self, rounding: f64) -> Self {
        Gaussian { rounding, ..self }
    }

    /// `C` (d × d).
    pub fn covariance(&self, units: Units) -> Array2<f64> {
        let unit = self.unit();
        let noise = (self.noise / unit).powi(2);
        let along = self.standard_deviations.mapv(|sd| (sd / unit).powi(2) - noise);
        self.scaled(self.assemble(along, noise), units, |s| s * unit)
    }

    /// `C⁻¹` (d × d), by the eigenvectors of C. Not defined when some direction has no variance.
    pub fn precision(&self, units: Units) -> Result<Array2<f64>> {
        self.require_density("the precision matrix")?;
        let unit = self.unit();
        let noise = if self.outside() > 0 { (unit / self.noise).powi(2) } else { 0.0 };
        let along = self.standard_deviations.mapv(|sd| (unit / sd).powi(2) - noise);
        Ok(self.scaled(self.assemble(along, noise), units, |s| 1.0 / s / unit))
    }

    /// `ln det C`. Not defined when some direction has no variance.
    pub fn log_determinant(&self, units: Units) -> Result<f64> {
        self.require_density("the log-determinant")?;
        let mut half: f64 = self.standard_deviations.iter().map(|sd| sd.ln()).sum();
        if self.outside() > 0 {
            half += self.outside() as f64 * self.noise.ln();
        }
        if let (Units::Original, Some(scale)) = (units, self.scale) {
            half += scale.iter().filter(|&&s| s > 0.0).map(|s| s.ln()).sum::<f64>();
        }
        Ok(2.0 * half)
    }

    /// Log-likelihood of n samples, training or new, from their unwhitened `scores` (n × k) and
    /// `residual_norms` (n), both in fitted units: O(nk), C is never formed.
    ///
    /// `−½ (d ln 2π + ln det C + Σ_j z_j²/λ_j + ‖r‖²/σ²)`; in original units the determinant holds
    /// the Jacobian of the scaling, `−Σ ln scale_f`.
    ///
    /// Where σ² is 0 beside components that do not span all directions, or some λ_j is 0, C has rank
    /// r < d, and the density is that on its support, the affine subspace through the mean along the
    /// r components with variance (Rao 1973, section 8a.4): `−½ (r ln 2π + ln pdet C + Σ_j z_j²/λ_j)`,
    /// with the product `pdet C` of the eigenvalues that are not 0. Off the support it is 0, and the
    /// logarithm −∞: for samples whose distance from it is more than `16 √(d ε)` of their distance
    /// from the mean and the largest standard deviation together, which rounding ε of data and
    /// components cannot explain. Not defined without any variance.
    pub fn log_likelihood(
        &self,
        scores: ArrayView2<f64>,
        residual_norms: ArrayView1<f64>,
        units: Units,
    ) -> Result<LogLikelihood> {
        self.require_variance("the log-likelihood")?;
        check_length("a row of scores", scores.ncols(), self.standard_deviations.len())?;
        check_length("the residual norms", residual_norms.len(), scores.nrows())?;
        if scores.nrows() == 0 {
            return Err(Error::NoRows);
        }
        let samples = match self.has_null_directions() {
            false => self.densities(scores, residual_norms, units)?,
            true => self.densities_on_support(scores, residual_norms, units)?,
        };
        let total = samples.sum();
        Ok(LogLikelihood { mean: total / samples.len() as f64, samples, total })
    }

    fn densities(
        &self,
        scores: ArrayView2<f64>,
        residual_norms: ArrayView1<f64>,
        units: Units,
    ) -> Result<Array1<f64>> {
        let constant = self.features as f64 * std::f64::consts::TAU.ln();
        let constant = constant + self.log_determinant(units)?;
        Ok(Array1::from_shape_fn(scores.nrows(), |i| {
            let inside: f64 = (scores.row(i).iter().zip(self.standard_deviations))
                .map(|(z, sd)| (z / sd).powi(2))
                .sum();
            // With k = d the residual is rounding, and there is no σ² to divide it by.
            let outside =
                if self.outside() > 0 { (residual_norms[i] / self.noise).powi(2) } else { 0.0 };
            -0.5 * (constant + inside + outside)
        }))
    }

    fn densities_on_support(
        &self,
        scores: ArrayView2<f64>,
        residual_norms: ArrayView1<f64>,
        units: Units,
    ) -> Result<Array1<f64>> {
        let rank = self.standard_deviations.iter().filter(|sd| **sd > 0.0).count();
        let constant = rank as f64 * std::f64::consts::TAU.ln();
        let constant = constant + self.log_pseudo_determinant(units)?;
        let slack = 16.0 * (self.features as f64 * self.rounding).sqrt();
        Ok(Array1::from_shape_fn(scores.nrows(), |i| {
            let (mut inside, mut along, mut off) = (0.0, 0.0f64, residual_norms[i]);
            for (z, sd) in scores.row(i).iter().zip(self.standard_deviations) {
                if *sd > 0.0 {
                    inside += (z / sd).powi(2);
                    along = along.hypot(*z);
                } else {
                    off = off.hypot(*z);
                }
            }
            let is_on = off <= slack * along.hypot(off).hypot(self.unit());
            if is_on { -0.5 * (constant + inside) } else { f64::NEG_INFINITY }
        }))
    }

    /// The logarithm of the product of the eigenvalues of C that are not 0, where there is no noise.
    fn log_pseudo_determinant(&self, units: Units) -> Result<f64> {
        let deviations = self.standard_deviations.iter().filter(|sd| **sd > 0.0);
        let fitted = 2.0 * deviations.map(|sd| sd.ln()).sum::<f64>();
        let (Units::Original, Some(scale)) = (units, self.scale) else { return Ok(fitted) };
        // C = D U Λ Uᵀ D with D = diag(scale), the r components with variance as columns of U: with
        // D U = Q R the product is det Λ (det R)². Rows of largest scale come first, so that those
        // of small ones, in other units, keep their digits.
        let kept: Vec<usize> = (0..self.standard_deviations.len())
            .filter(|&j| self.standard_deviations[j] > 0.0)
            .collect();
        let mut order: Vec<usize> = (0..scale.len()).collect();
        order.sort_by(|a, b| scale[*b].total_cmp(&scale[*a]));
        let scaled = Array2::from_shape_fn((order.len(), kept.len()), |(i, j)| {
            self.components[[kept[j], order[i]]] * scale[order[i]]
        });
        let stretched: f64 = qr_r(scaled.view()).diag().iter().map(|r| r.abs().ln()).sum();
        Ok(fitted + 2.0 * stretched)
    }

    /// The largest standard deviation: squares are taken in units of it, so that data of size 1e±300
    /// give zeros or infinities in the end, never the difference of two infinities on the way.
    fn unit(&self) -> f64 {
        let largest = self.standard_deviations.iter().fold(self.noise, |m, &sd| m.max(sd));
        if largest > 0.0 { largest } else { 1.0 }
    }

    /// How many directions lie beside the components.
    fn outside(&self) -> usize {
        self.features.saturating_sub(self.standard_deviations.len())
    }

    /// Whether C is singular.
    fn has_null_directions(&self) -> bool {
        let noise_is_null = self.outside() > 0 && self.noise == 0.0;
        noise_is_null || self.standard_deviations.iter().any(|sd| *sd == 0.0)
    }

    /// Refuses what has no density on any subspace, or noise beside components without variance.
    fn require_variance(&self, what: &'static str) -> Result<()> {
        if self.noise > 0.0 {
            return self.require_density(what);
        }
        if self.standard_deviations.iter().all(|sd| *sd == 0.0) {
            return Err(Error::NotDefined { what, why: "the data have no variance".into() });
        }
        Ok(())
    }

    fn require_density(&self, what: &'static str) -> Result<()> {
        if self.noise == 0.0 && self.standard_deviations.iter().all(|sd| *sd == 0.0) {
            return Err(Error::NotDefined { what, why: "the data have no variance".into() });
        }
        if let Some(j) = self.standard_deviations.iter().position(|sd| *sd == 0.0) {
            let why = format!(
                "component {} has no variance, so the samples lie in a subspace without volume; keep fewer components",
                j + 1
            );
            return Err(Error::NotDefined { what, why });
        }
        if self.outside() > 0 && self.noise == 0.0 {
            let why = format!(
                "the components carry all of the variance, so nothing is known about the {} directions beside them; keep fewer components",
                self.outside()
            );
            return Err(Error::NotDefined { what, why });
        }
        Ok(())
    }

    /// `U diag(along) Uᵀ + everywhere · I` on the features of the model.
    fn assemble(&self, along: Array1<f64>, everywhere: f64) -> Array2<f64> {
        let components = self.components.as_standard_layout();
        let weighted = &components * &along.insert_axis(Axis(1));
        let mut matrix = transposed_product(weighted.view(), components.view());
        let d = matrix.nrows();
        for f in 0..d {
            matrix[[f, f]] += everywhere;
            // The product rounds (f, g) and (g, f) apart; a covariance is symmetric to the bit.
            for g in 0..f {
                matrix[[f, g]] = matrix[[g, f]];
            }
        }
        matrix
    }

    /// Multiplies row and column f by `factor(scale_f)` (of 1 in fitted units); constant columns
    /// get 0.
    fn scaled(
        &self,
        mut matrix: Array2<f64>,
        units: Units,
        factor: impl Fn(f64) -> f64,
    ) -> Array2<f64> {
        let factors = Array1::from_shape_fn(matrix.nrows(), |f| match self.scale {
            Some(scale) if scale[f] == 0.0 => 0.0,
            Some(scale) if units == Units::Original => factor(scale[f]),
            _ => factor(1.0),
        });
        for ((f, g), value) in matrix.indexed_iter_mut() {
            // An infinite factor must not meet the exact zeros outside a block.
            if *value != 0.0 {
                // The smaller index first in both triangles: symmetric to the bit.
                *value = *value * factors[f.min(g)] * factors[f.max(g)];
            }
        }
        matrix
    }
}

#[cfg(test)]
mod tests {
    use super::super::diagnostics::tests::{Pca, assert_close, nist, pca};
    use super::*;
    use crate::linalg::dense::{solve_positive, symmetric_eigenvalues};
    use ndarray::{Axis, array, s};

    fn noise(p: &Pca) -> f64 {
        let n = p.centered.nrows() as f64;
        let total = p.centered.iter().map(|v| v * v).sum::<f64>() / (n - 1.0);
        noise_variance(total, p.sd.mapv(|s| s * s).view(), p.centered.ncols()).sqrt()
    }

    /// The density written out with a dense covariance (centred rows in, log-densities out).
    fn dense(centered: &Array2<f64>, covariance: &Array2<f64>) -> Vec<f64> {
        let eigenvalues = symmetric_eigenvalues(covariance.view()).unwrap();
        let log_determinant: f64 = eigenvalues.iter().map(|v| v.ln()).sum();
        let solved = solve_positive(covariance.view(), centered.t()).unwrap();
        let constant = covariance.nrows() as f64 * (2.0 * std::f64::consts::PI).ln();
        (0..centered.nrows())
            .map(|i| -0.5 * (constant + log_determinant + centered.row(i).dot(&solved.column(i))))
            .collect()
    }

    #[test]
    fn likelihood_is_that_of_the_dense_normal() {
        let x = nist();
        for k in 0..=3 {
            let p = pca(&x, k, false);
            let model = Gaussian::new(p.components.view(), p.sd.view(), noise(&p), None).unwrap();
            let covariance = model.covariance(Units::Original);
            // Column-major components are the same components.
            let transposed = p.components.t().as_standard_layout().into_owned();
            let same = Gaussian::new(transposed.t(), p.sd.view(), noise(&p), None).unwrap();
            assert_eq!(same.covariance(Units::Original), covariance);
            let found = model
                .log_likelihood(p.scores.view(), p.residual_norms.view(), Units::Original)
                .unwrap();
            let expected = dense(&p.centered, &covariance);
            for (a, b) in found.samples.iter().zip(&expected) {
                assert_close(*a, *b, 1e-11);
            }
            assert_close(found.total, expected.iter().sum(), 1e-10);
            assert_close(found.mean, found.total / 10.0, 1e-13);

            let identity = covariance.dot(&model.precision(Units::Original).unwrap());
            for ((i, j), v) in identity.indexed_iter() {
                assert_close(*v, if i == j { 1.0 } else { 0.0 }, 1e-12);
            }
            // The trace is that of the data, and all components give the sample covariance back.
            let sample = p.centered.t().dot(&p.centered) / 9.0;
            assert_close(covariance.diag().sum(), sample.diag().sum(), 1e-12);
            if k == 3 {
                assert!((&covariance - &sample).iter().all(|v| v.abs() < 1e-13));
            }
        }
    }

    #[test]
    fn standardized_models_speak_both_units() {
        // A constant column beside the three: it has scale 0 and is not part of the model.
        let x = ndarray::concatenate![Axis(1), nist(), Array2::from_elem((10, 1), 5.0)];
        let mean = x.mean_axis(Axis(0)).unwrap();
        let scale = x.std_axis(Axis(0), 1.0);
        assert_eq!(scale[3], 0.0);
        let p = pca(&x, 2, true);
        let sigma = noise_variance(3.0, p.sd.mapv(|s| s * s).view(), 3).sqrt();
        let model =
            Gaussian::new(p.components.view(), p.sd.view(), sigma, Some(scale.view())).unwrap();
        for (units, rows) in [(Units::Fitted, p.centered.clone()), (Units::Original, &x - &mean)] {
            let covariance = model.covariance(units);
            assert!(covariance.row(3).iter().chain(covariance.column(3)).all(|v| *v == 0.0));
            let active = covariance.slice(s![..3, ..3]).to_owned();
            let found =
                model.log_likelihood(p.scores.view(), p.residual_norms.view(), units).unwrap();
            let expected = dense(&rows.slice(s![.., ..3]).to_owned(), &active);
            for (a, b) in found.samples.iter().zip(&expected) {
                assert_close(*a, *b, 1e-11);
            }
            let precision = model.precision(units).unwrap();
            let identity = active.dot(&precision.slice(s![..3, ..3]));
            for ((i, j), v) in identity.indexed_iter() {
                assert_close(*v, if i == j { 1.0 } else { 0.0 }, 1e-12);
            }
            let by_eigenvalues: f64 =
                symmetric_eigenvalues(active.view()).unwrap().iter().map(|v| v.ln()).sum();
            assert_close(model.log_determinant(units).unwrap(), by_eigenvalues, 1e-12);
        }
    }

    #[test]
    fn directions_without_variance_have_no_precision() {
        let components = array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let (scores, residuals) = (array![[1.0, 0.0]], array![0.0]);
        for (sd, noise) in [(array![1.0, 0.0], 1.0), (array![1.0, 0.5], 0.0)] {
            let model = Gaussian::new(components.view(), sd.view(), noise, None).unwrap();
            let undefined = |r: Result<()>| assert!(matches!(r, Err(Error::NotDefined { .. })));
            undefined(model.precision(Units::Original).map(drop));
            undefined(model.log_determinant(Units::Original).map(drop));
            assert!(model.covariance(Units::Original).iter().all(|v| v.is_finite()));
            // Noise beside a component that has none is no support.
            let likelihood = model.log_likelihood(scores.view(), residuals.view(), Units::Original);
            assert_eq!(likelihood.is_err(), noise > 0.0);
        }
        let sd = array![0.0, 0.0];
        let model = Gaussian::new(components.view(), sd.view(), 0.0, None).unwrap();
        let likelihood = model.log_likelihood(scores.view(), residuals.view(), Units::Original);
        assert!(matches!(likelihood, Err(Error::NotDefined { .. })));
        let sd = array![1.0, f64::NAN];
        let nan = Gaussian::new(components.view(), sd.view(), 1.0, None);
        assert!(matches!(nan, Err(Error::Parameter { .. })));
    }

    /// On its support a singular Gaussian is one of fewer dimensions.
    #[test]
    fn the_support_has_a_density() {
        let p = pca(&nist(), 2, false);
        let plane = Gaussian::new(p.components.view(), p.sd.view(), 0.0, None).unwrap();
        let null = Array1::zeros(10);
        let found = plane.log_likelihood(p.scores.view(), null.view(), Units::Original).unwrap();
        // The normal distribution of the scores, which are coordinates of the plane.
        let covariance = Array2::from_diag(&p.sd.mapv(|sd| sd * sd));
        for (a, b) in found.samples.iter().zip(&dense(&p.scores, &covariance)) {
            assert_close(*a, *b, 1e-12);
        }
        // What lies beside it, by more than rounding, has no density.
        let off = plane.log_likelihood(p.scores.view(), p.residual_norms.view(), Units::Original);
        assert!(off.unwrap().samples.iter().all(|l| *l == f64::NEG_INFINITY));
        let near = Array1::from_elem(10, 1e-10);
        let near = plane.log_likelihood(p.scores.view(), near.view(), Units::Original).unwrap();
        assert_eq!(near.samples, found.samples);
        // A component that has no variance is beside it too.
        let (sd, axes) = (array![p.sd[0], 0.0], &p.components);
        let line = Gaussian::new(axes.view(), sd.view(), 0.0, None).unwrap();
        let scores = array![[0.3, 0.0], [0.3, 0.1]];
        let zero = array![0.0, 0.0];
        let found = line.log_likelihood(scores.view(), zero.view(), Units::Original).unwrap();
        let variance = Array2::from_elem((1, 1), p.sd[0].powi(2));
        assert_close(found.samples[0], dense(&array![[0.3]], &variance)[0], 1e-12);
        assert_eq!(found.samples[1], f64::NEG_INFINITY);
    }

    /// In other units the support is another plane, stretched by the square root of the determinant
    /// of `Uᵀ D² U`.
    #[test]
    fn the_density_of_a_support_knows_its_units() {
        let p = pca(&nist(), 2, true);
        for scale in [array![2.0, 0.5, 3.0], array![1e-6, 1e9, 1.0]] {
            let model =
                Gaussian::new(p.components.view(), p.sd.view(), 0.0, Some(scale.view())).unwrap();
            let null = Array1::zeros(10);
            let mean =
                |units| model.log_likelihood(p.scores.view(), null.view(), units).unwrap().mean;
            // Cauchy & Binet: the sum over pairs of rows of the squared minors.
            let minor = |a: usize, b: usize| {
                let u = &p.components;
                (u[[0, a]] * u[[1, b]] - u[[0, b]] * u[[1, a]]) * scale[a] * scale[b]
            };
            let squares: f64 =
                [(0, 1), (0, 2), (1, 2)].iter().map(|&(a, b)| minor(a, b).powi(2)).sum();
            let expected = mean(Units::Fitted) - 0.5 * squares.ln();
            assert_close(mean(Units::Original), expected, 1e-9);
        }
    }

    #[test]
    fn tiny_data_shift_the_likelihood_by_the_jacobian() {
        let p = pca(&nist(), 2, false);
        let (sigma, scale) = (noise(&p), 1e-300);
        let likelihood = |scale: f64| {
            let sd = &p.sd * scale;
            let model = Gaussian::new(p.components.view(), sd.view(), sigma * scale, None).unwrap();
            let (scores, residuals) = (&p.scores * scale, &p.residual_norms * scale);
            model.log_likelihood(scores.view(), residuals.view(), Units::Original).unwrap().mean
        };
        assert_close(likelihood(scale), likelihood(1.0) - 3.0 * scale.ln(), 1e-9);
        for scale in [1e-300, 1e-160, 1e160, 1e300] {
            let sd = &p.sd * scale;
            let model = Gaussian::new(p.components.view(), sd.view(), sigma * scale, None).unwrap();
            let precision = model.precision(Units::Original).unwrap();
            assert!(precision.iter().chain(&model.covariance(Units::Fitted)).all(|v| !v.is_nan()));
        }
    }

    #[test]
    fn noise_is_never_rounding() {
        assert_close(noise_variance(3.0, array![2.0, 0.4].view(), 5), 0.2, 1e-15);
        assert_eq!(noise_variance(3.0, array![2.0, 1.0].view(), 2), 0.0);
        assert_eq!(noise_variance(1.0, array![1.0 - 1e-16].view(), 4), 0.0);
        assert_eq!(noise_variance(1.0, array![1.0 + 1e-15].view(), 4), 0.0);
        assert_eq!(noise_variance(0.0, array![0.0].view(), 4), 0.0);
    }
}
