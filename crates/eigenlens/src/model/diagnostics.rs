//! How far samples and features are described by the components.
//!
//! Everything is a ratio of first powers that is squared last, because a variance may underflow
//! where its standard deviation does not (data of size 1e-300). A null component (standard
//! deviation exactly 0) carries nothing: it adds 0, never 0/0.

use crate::error::{Error, Result};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Zip};

/// Diagnostics of n samples, training or new, against k components.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SampleDiagnostics {
    /// Hotelling's `T² = Σ_j z_j²/λ_j`: the distance from the mean inside the components (n).
    pub t_squared: Array1<f64>,
    /// Leverage `1/n + T²/(n−1)` with the training n; `T²/(n−1)` for an uncentred model (n).
    pub leverage: Array1<f64>,
    /// `‖r‖`, the distance from the components (n).
    pub residual_norms: Array1<f64>,
    /// `Q = ‖r‖²`, the squared prediction error (n).
    pub q: Array1<f64>,
    /// Share of component j's variance that sample i carries, `z_ij² / ((n−1)λ_j)` (n × k).
    pub contributions: Array2<f64>,
    /// Share of sample i's squared distance from the mean that component j carries,
    /// `z_ij² / ‖x_i−μ‖²`; 0 for a sample at the mean (n × k).
    pub squared_cosines: Array2<f64>,
}

impl SampleDiagnostics {
    /// Computes them.
    ///
    /// - `scores` (n × k): unwhitened;
    /// - `standard_deviations` (k): `√λ_j` with divisor n − 1, exactly 0 for a null component;
    /// - `norms` (n): `‖x_i − μ‖`; `residual_norms` (n): `‖r_i‖`;
    /// - `n_samples`: the number of **training** samples (Σw with weights), more than 1;
    /// - `centered`: whether the model subtracted a mean, which has the leverage 1/n.
    pub fn new(
        scores: ArrayView2<f64>,
        standard_deviations: ArrayView1<f64>,
        norms: ArrayView1<f64>,
        residual_norms: ArrayView1<f64>,
        n_samples: f64,
        centered: bool,
    ) -> Result<Self> {
        let (n, k) = scores.dim();
        check_length("the standard deviations", standard_deviations.len(), k)?;
        check_length("the norms", norms.len(), n)?;
        check_length("the residual norms", residual_norms.len(), n)?;
        check_sample_count(n_samples)?;

        let mut t_squared = Array1::zeros(n);
        let mut contributions = Array2::zeros((n, k));
        let mut squared_cosines = Array2::zeros((n, k));
        for i in 0..n {
            for j in 0..k {
                let squared = ratio(scores[[i, j]], standard_deviations[j]).powi(2);
                t_squared[i] += squared;
                contributions[[i, j]] = squared / (n_samples - 1.0);
                squared_cosines[[i, j]] = ratio(scores[[i, j]], norms[i]).powi(2);
            }
        }
        let mean_leverage = if centered { 1.0 / n_samples } else { 0.0 };
        Ok(SampleDiagnostics {
            leverage: t_squared.mapv(|t| mean_leverage + t / (n_samples - 1.0)),
            t_squared,
            residual_norms: residual_norms.to_owned(),
            q: residual_norms.mapv(|r| r * r),
            contributions,
            squared_cosines,
        })
    }
}

/// Diagnostics as a table: a column for each number, with its name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DiagnosticTable {
    /// The names of the columns.
    pub names: Vec<String>,
    /// Samples or features × columns.
    pub values: Array2<f64>,
}

impl DiagnosticTable {
    /// Columns of one number, then a column for each component of matrices of so many rows.
    fn new(
        single: &[(&str, &Array1<f64>)],
        by_component: &[(&str, &Array2<f64>)],
        component_names: &[String],
        n_rows: usize,
    ) -> Self {
        let mut names: Vec<String> = single.iter().map(|(name, _)| (*name).to_owned()).collect();
        for (what, _) in by_component {
            names.extend(component_names.iter().map(|component| format!("{component}_{what}")));
        }
        let mut values = Array2::zeros((n_rows, names.len()));
        let columns = single.iter().map(|(_, column)| column.view());
        let parts = by_component.iter().flat_map(|(_, matrix)| matrix.columns());
        for (mut to, column) in values.columns_mut().into_iter().zip(columns.chain(parts)) {
            to.assign(&column);
        }
        DiagnosticTable { names, values }
    }
}

impl SampleDiagnostics {
    /// One row for each sample; the components have these names (k).
    pub fn table(&self, component_names: &[String]) -> DiagnosticTable {
        DiagnosticTable::new(
            &[("t_squared", &self.t_squared), ("q", &self.q), ("leverage", &self.leverage)],
            &[("squared_cosine", &self.squared_cosines), ("contribution", &self.contributions)],
            component_names,
            self.t_squared.len(),
        )
    }
}

impl FeatureDiagnostics {
    /// One row for each feature; the components have these names (k).
    pub fn table(&self, component_names: &[String]) -> DiagnosticTable {
        DiagnosticTable::new(
            &[("communality", &self.communalities)],
            &[
                ("loading", &self.loadings),
                ("correlation", &self.correlations),
                ("squared_cosine", &self.squared_cosines),
                ("contribution", &self.contributions),
            ],
            component_names,
            self.communalities.len(),
        )
    }
}

impl FeatureContributions {
    /// One row for each sample: what each of the features (d) adds to T², then to Q.
    pub fn table(&self, feature_names: &[String]) -> DiagnosticTable {
        let by_feature = [("t_squared", &self.t_squared), ("q", &self.q)];
        DiagnosticTable::new(&[], &by_feature, feature_names, self.t_squared.nrows())
    }
}

/// What each feature adds to T² and Q of each sample: which ones make it unusual.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FeatureContributions {
    /// `x_if Σ_j u_fj z_ij/λ_j` of the standardised entry x_if (n × d): a row adds up to T². One feature may take
    /// away what another one adds.
    pub t_squared: Array2<f64>,
    /// The squared residual of the entry (n × d): a row adds up to Q.
    pub q: Array2<f64>,
}

/// Diagnostics of d features against k components.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FeatureDiagnostics {
    /// `u_fj √λ_j`, the covariance of feature f with the standardised score j (d × k).
    pub loadings: Array2<f64>,
    /// Share of the unit vector j that feature f makes up, `u_fj²` (d × k).
    pub contributions: Array2<f64>,
    /// Correlation of feature f with score j; 0 for a constant feature (d × k).
    pub correlations: Array2<f64>,
    /// Share of feature f's variance that component j carries, `λ_j u_fj² / S_ff`; 0 for a
    /// constant feature (d × k).
    pub squared_cosines: Array2<f64>,
    /// Share of feature f's variance that all components together carry, `Σ_j cos²` (d). For
    /// standardised data this is the communality `Σ_j loading²` of factor analysis.
    pub communalities: Array1<f64>,
}

impl FeatureDiagnostics {
    /// Computes them.
    ///
    /// - `components` (k × d): unit rows;
    /// - `standard_deviations` (k): `√λ_j`, exactly 0 for a null component;
    /// - `feature_standard_deviations` (d): `√S_ff` of the data the components were found on (all 1
    ///   when standardised), exactly 0 for a constant feature.
    pub fn new(
        components: ArrayView2<f64>,
        standard_deviations: ArrayView1<f64>,
        feature_standard_deviations: ArrayView1<f64>,
    ) -> Result<Self> {
        let (k, d) = components.dim();
        check_length("the standard deviations", standard_deviations.len(), k)?;
        check_length("the features' standard deviations", feature_standard_deviations.len(), d)?;

        let entries = |value: &dyn Fn(usize, usize) -> f64| {
            Array2::from_shape_fn((d, k), |(f, j)| value(f, j))
        };
        let loadings = entries(&|f, j| components[[j, f]] * standard_deviations[j]);
        let correlations = entries(&|f, j| {
            // √λ/√S_ff first: u·√λ alone may underflow to a subnormal number and lose digits.
            components[[j, f]] * ratio(standard_deviations[j], feature_standard_deviations[f])
        });
        let squared_cosines = correlations.mapv(|r| r * r);
        Ok(FeatureDiagnostics {
            loadings,
            contributions: entries(&|f, j| components[[j, f]].powi(2)),
            communalities: squared_cosines.sum_axis(ndarray::Axis(1)),
            correlations,
            squared_cosines,
        })
    }
}

/// `a / b`, and 0 where b is 0: nothing is a share of nothing.
pub(super) fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// Refuses a vector whose length does not fit.
pub(super) fn check_length(what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Shape {
        what,
        found: format!("{found} entries"),
        expected: format!("{expected} entries"),
    })
}

/// Refuses a number of samples (or sum of weights) that leaves no divisor n − 1.
pub(super) fn check_sample_count(n_samples: f64) -> Result<()> {
    if n_samples > 1.0 && n_samples.is_finite() {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "n_samples",
        value: n_samples.to_string(),
        expected: "finite and more than 1",
    })
}

/// `√Σx²` of a vector whose squares may under- or overflow.
pub(super) fn norm(x: ArrayView1<f64>) -> f64 {
    let largest = x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let mut sum = 0.0;
    Zip::from(x).for_each(|v| sum += (v / largest).powi(2));
    largest * sum.sqrt()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::linalg::dense::symmetric_eigen;
    use ndarray::{Axis, array, s};

    /// A plain PCA by the textbook, to have something to diagnose.
    pub(crate) struct Pca {
        pub components: Array2<f64>,
        pub sd: Array1<f64>,
        pub scores: Array2<f64>,
        pub centered: Array2<f64>,
        pub residual_norms: Array1<f64>,
    }

    pub(crate) fn pca(x: &Array2<f64>, k: usize, standardize: bool) -> Pca {
        let n = x.nrows() as f64;
        let mut centered = x - &x.mean_axis(Axis(0)).unwrap();
        if standardize {
            for mut column in centered.columns_mut() {
                let sd = (column.dot(&column) / (n - 1.0)).sqrt();
                column.mapv_inplace(|v| ratio(v, sd));
            }
        }
        let covariance = centered.t().dot(&centered) / (n - 1.0);
        let (values, vectors) = symmetric_eigen(covariance.view()).unwrap();
        let d = values.len();
        let components = Array2::from_shape_fn((k, d), |(j, f)| vectors[[f, d - 1 - j]]);
        let scores = centered.dot(&components.t());
        let residuals = &centered - &scores.dot(&components);
        Pca {
            sd: Array1::from_shape_fn(k, |j| values[d - 1 - j].max(0.0).sqrt()),
            residual_norms: residuals.map_axis(Axis(1), norm),
            components,
            scores,
            centered,
        }
    }

    /// The ten samples of NIST/SEMATECH e-Handbook 6.5.5.2.
    pub(crate) fn nist() -> Array2<f64> {
        array![
            [7.0, 4.0, 3.0],
            [4.0, 1.0, 8.0],
            [6.0, 3.0, 5.0],
            [8.0, 6.0, 1.0],
            [8.0, 5.0, 7.0],
            [7.0, 2.0, 9.0],
            [5.0, 3.0, 3.0],
            [9.0, 5.0, 8.0],
            [7.0, 4.0, 5.0],
            [8.0, 2.0, 2.0]
        ]
    }

    pub(crate) fn assert_close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected} ± {tolerance}");
    }

    fn diagnose(p: &Pca, n: f64) -> SampleDiagnostics {
        let norms = p.centered.map_axis(Axis(1), norm);
        let residuals = p.residual_norms.view();
        SampleDiagnostics::new(p.scores.view(), p.sd.view(), norms.view(), residuals, n, true)
            .unwrap()
    }

    #[test]
    fn communalities_of_the_nist_example() {
        let p = pca(&nist(), 2, true);
        let ones = Array1::ones(3);
        let f = FeatureDiagnostics::new(p.components.view(), p.sd.view(), ones.view()).unwrap();
        for (found, printed) in f.communalities.iter().zip([0.8662, 0.8420, 0.9876]) {
            assert_close(*found, printed, 0.5e-4);
        }
        let squares = f.loadings.mapv(|v| v * v).sum_axis(Axis(1));
        for (found, expected) in f.communalities.iter().zip(&squares) {
            assert_close(*found, *expected, 1e-14);
        }
    }

    #[test]
    fn sums_over_training_samples() {
        let x = nist();
        for k in 1..=3 {
            let s = diagnose(&pca(&x, k, false), 10.0);
            // Σ T² = k(n−1); leverages sum to the number of parameters, mean included.
            assert_close(s.t_squared.sum(), 9.0 * k as f64, 1e-11);
            assert_close(s.leverage.sum(), 1.0 + k as f64, 1e-12);
            for share in s.contributions.sum_axis(Axis(0)) {
                assert_close(share, 1.0, 1e-12);
            }
            for (i, share) in s.squared_cosines.sum_axis(Axis(1)).iter().enumerate() {
                // cos² and the residual's share make up the whole.
                let total = pca(&x, k, false).centered.row(i).mapv(|v| v * v).sum();
                assert_close(share + s.q[i] / total, 1.0, 1e-12);
                assert!(k < 3 || (share - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn correlations_are_those_of_features_and_scores() {
        let p = pca(&nist(), 3, false);
        let sd = p.centered.map_axis(Axis(0), |c| norm(c) / 3.0);
        let f = FeatureDiagnostics::new(p.components.view(), p.sd.view(), sd.view()).unwrap();
        for feature in 0..3 {
            for j in 0..3 {
                let (x, z) = (p.centered.column(feature), p.scores.column(j));
                assert_close(f.correlations[[feature, j]], x.dot(&z) / norm(x) / norm(z), 1e-13);
            }
            assert_close(f.communalities[feature], 1.0, 1e-13);
        }
        for total in f.contributions.sum_axis(Axis(0)) {
            assert_close(total, 1.0, 1e-13);
        }
    }

    #[test]
    fn null_components_and_samples_at_the_mean_give_zeros() {
        let scores = array![[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]];
        let zeros = Array1::zeros(3);
        let s = SampleDiagnostics::new(
            scores.view(),
            array![1.0, 0.0].view(),
            array![1.0, 1.0, 0.0].view(),
            zeros.view(),
            3.0,
            true,
        )
        .unwrap();
        assert_eq!(s.t_squared, array![1.0, 1.0, 0.0]);
        assert_eq!(s.contributions.column(1), zeros);
        assert_eq!(s.squared_cosines.row(2), array![0.0, 0.0]);
        let f = FeatureDiagnostics::new(
            array![[1.0, 0.0], [0.0, 1.0]].view(),
            array![1.0, 0.0].view(),
            array![1.0, 0.0].view(),
        )
        .unwrap();
        assert_eq!(f.correlations, array![[1.0, 0.0], [0.0, 0.0]]);
        assert_eq!(f.communalities, array![1.0, 0.0]);
    }

    #[test]
    fn tiny_and_huge_data_give_the_same_ratios() {
        let p = pca(&nist(), 2, false);
        let expected = diagnose(&p, 10.0);
        let sd = p.centered.map_axis(Axis(0), |c| norm(c) / 3.0);
        let features = |scale: f64| {
            FeatureDiagnostics::new(
                p.components.view(),
                (&p.sd * scale).view(),
                (&sd * scale).view(),
            )
            .unwrap()
        };
        for scale in [1e-300, 1e300] {
            let tiny = Pca {
                components: p.components.clone(),
                sd: &p.sd * scale,
                scores: &p.scores * scale,
                centered: &p.centered * scale,
                residual_norms: &p.residual_norms * scale,
            };
            let found = diagnose(&tiny, 10.0);
            for (a, b) in found.t_squared.iter().zip(&expected.t_squared) {
                assert_close(*a, *b, 1e-12);
            }
            for (a, b) in found.squared_cosines.iter().zip(&expected.squared_cosines) {
                assert_close(*a, *b, 1e-13);
            }
            for (a, b) in found.contributions.iter().zip(&expected.contributions) {
                assert_close(*a, *b, 1e-13);
            }
            for (a, b) in features(scale).communalities.iter().zip(&features(1.0).communalities) {
                assert_close(*a, *b, 1e-13);
            }
        }
    }

    #[test]
    fn lengths_that_do_not_fit_are_named() {
        let scores = Array2::zeros((3, 2));
        let (two, three) = (Array1::zeros(2), Array1::zeros(3));
        let new = |sd: &Array1<f64>, norms: &Array1<f64>, n: f64| {
            SampleDiagnostics::new(scores.view(), sd.view(), norms.view(), three.view(), n, true)
        };
        assert!(matches!(new(&three, &three, 3.0), Err(Error::Shape { .. })));
        assert!(matches!(new(&two, &two, 3.0), Err(Error::Shape { .. })));
        assert!(matches!(new(&two, &three, 1.0), Err(Error::Parameter { .. })));
        assert!(matches!(new(&two, &three, f64::NAN), Err(Error::Parameter { .. })));
        let components = scores.slice(s![..2, ..]);
        let short = FeatureDiagnostics::new(components, two.view(), three.view());
        assert!(matches!(short, Err(Error::Shape { .. })));
    }
}
