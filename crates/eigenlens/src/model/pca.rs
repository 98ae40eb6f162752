//! A fitted PCA: immutable and complete.

use super::ModelCore;
use super::diagnostics::{FeatureContributions, FeatureDiagnostics, SampleDiagnostics};
use super::gaussian::{self, Gaussian, LogLikelihood, Units};
use super::limits::{self, QLimit};
use super::observed::ObservedScores;
use super::rotation::{Varimax, VarimaxOptions, varimax};
use super::supplementary::{SupplementaryColumns, supplementary_columns};
use super::{LinearMap, Verification, VerifyOptions, verify};
use crate::data::{Dataset, Made, Missing, MissingReport, compiled_here};
use crate::error::{Error, Result, Warning};
use crate::linalg::dense::power_of_two;
use crate::n_components::Spectrum;
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::solver::{Certificate, Convergence};
use ndarray::{Array1, Array2, ArrayView2};
use std::ops::Range;

/// What sums of squares are divided by to give the variances that a PCA reports and whitens with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Divisor {
    /// n − 1: variances are unbiased.
    #[default]
    Unbiased,
    /// n: the maximum-likelihood estimate.
    Samples,
}

impl Divisor {
    /// What a variance with the divisor n − 1 is multiplied by, n being the weight of all samples.
    pub(crate) fn factor(self, n_samples: Option<f64>) -> f64 {
        match (self, n_samples) {
            (Divisor::Samples, Some(n)) => (n - 1.0) / n,
            _ => 1.0,
        }
    }
}

/// Everything a fit found out, in units of 2^exponent of the standardised data; variances with the divisor n − 1.
#[derive(Debug)]
pub(crate) struct PcaParts {
    pub core: ModelCore,
    pub map: LinearMap,
    /// k variances.
    pub values: Vec<f64>,
    pub total: f64,
    pub column_variances: Vec<f64>,
    /// All variances, where they were computed.
    pub spectrum: Option<Vec<f64>>,
    /// The first one left out, where it is known.
    pub next_value: Option<f64>,
    pub center: bool,
    pub whiten: bool,
    pub divisor: Divisor,
    pub certificate: Certificate,
    pub convergence: Convergence,
    pub tolerance: f64,
}

/// A fitted PCA or LSA. See [`Pca`](crate::Pca) for how to make one.
#[derive(Debug)]
pub struct PcaModel {
    parts: PcaParts,
    explained_variance: Vec<f64>,
    standard_deviations: Vec<f64>,
    mean: Vec<f64>,
}

impl PcaModel {
    pub(crate) fn new(mut parts: PcaParts) -> Self {
        parts.core.judge(&parts.certificate, parts.tolerance);
        Self::assemble(parts)
    }

    /// The model of these parts, as they are.
    pub(crate) fn assemble(parts: PcaParts) -> Self {
        let unit = power_of_two(parts.map.scaler.exponent);
        let factor = parts.divisor.factor(parts.core.n_samples);
        let root = factor.sqrt();
        PcaModel {
            explained_variance: parts.values.iter().map(|v| v * factor * unit * unit).collect(),
            standard_deviations: parts.values.iter().map(|v| v.sqrt() * root * unit).collect(),
            mean: parts.map.scaler.true_mean(),
            parts,
        }
    }

    pub(crate) fn parts(&self) -> &PcaParts {
        &self.parts
    }

    pub(crate) fn into_parts(self) -> PcaParts {
        self.parts
    }

    /// The method that made the model: `pca` or `lsa`.
    pub fn method(&self) -> &'static str {
        self.parts.core.method
    }

    /// The same model, transforming with this many threads (`None`: one for each core). The answer
    /// does not depend on it.
    pub fn with_threads(mut self, threads: Option<usize>) -> Self {
        self.use_threads(threads);
        self
    }

    /// What was done about missing entries, where there were any.
    pub fn missing(&self) -> Option<&MissingReport> {
        self.parts.core.missing.as_ref()
    }

    pub(crate) fn with_feature_names(mut self, names: Option<Vec<String>>) -> Self {
        self.parts.core.feature_names = names;
        self
    }

    pub(crate) fn set_missing(&mut self, missing_report: Option<MissingReport>) {
        self.parts.core.missing = missing_report;
    }

    pub(super) fn use_threads(&mut self, threads: Option<usize>) {
        self.parts.map.threads = threads;
    }

    pub(crate) fn add_warning(&mut self, warning: Warning) {
        self.parts.core.warnings.insert(0, warning);
    }

    /// The number of components, k.
    pub fn n_components(&self) -> usize {
        self.parts.map.n_components()
    }

    /// The number of features, d.
    pub fn n_features(&self) -> usize {
        self.parts.map.components.ncols()
    }

    /// The number of training samples, or the sum of their weights, where known.
    pub fn n_samples(&self) -> Option<f64> {
        self.parts.core.n_samples
    }

    /// Components that carry variance; those after them are null.
    pub fn rank(&self) -> usize {
        self.parts.map.rank
    }

    /// The components (k × d): orthonormal rows, largest variance first.
    pub fn components(&self) -> ArrayView2<'_, f64> {
        self.parts.map.components.view()
    }

    /// The variance along each component (k), with the [`Divisor`] that was asked for: n − 1.
    pub fn explained_variance(&self) -> &[f64] {
        &self.explained_variance
    }

    /// The standard deviation along each component (k): a number also where its square is not.
    pub fn standard_deviations(&self) -> &[f64] {
        &self.standard_deviations
    }

    /// Each component's share of the total variance (k); 0 where there is none.
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        let total = self.parts.total;
        self.parts
            .values
            .iter()
            .map(|v| if total > 0.0 { (v / total).min(1.0) } else { 0.0 })
            .collect()
    }

    /// The singular values of the standardised data (k): `s² = (n − 1) λ`.
    pub fn singular_values(&self) -> Vec<f64> {
        let root = (self.parts.core.n_samples.unwrap_or(f64::NAN) - 1.0).sqrt();
        self.unbiased_deviations().iter().map(|s| s * root).collect()
    }

    /// The total variance, tr S, also of what was not kept.
    pub fn total_variance(&self) -> f64 {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        self.parts.total * self.divisor_factor() * unit * unit
    }

    /// What the variances are divided by.
    pub fn divisor(&self) -> Divisor {
        self.parts.divisor
    }

    /// What variances with the divisor n − 1 are multiplied by.
    pub(super) fn divisor_factor(&self) -> f64 {
        self.parts.divisor.factor(self.parts.core.n_samples)
    }

    /// The standard deviation along each component (k) with the divisor n − 1, which limits and statistics of samples
    /// are defined with.
    fn unbiased_deviations(&self) -> Array1<f64> {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        self.parts.values.iter().map(|v| v.sqrt() * unit).collect()
    }

    /// The mean variance of the directions left out, `(tr S − Σλ) / (d − k)`; 0 when none is. Constant columns that
    /// were standardised are not counted in d.
    pub fn noise_variance(&self) -> f64 {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        self.scaled_noise() * self.divisor_factor() * unit * unit
    }

    pub(crate) fn scaled_noise(&self) -> f64 {
        let values = Array1::from(self.parts.values.clone());
        // Standardised constant columns weigh 0: there is no variance that could be in them.
        let varying = self.parts.map.scaler.inv_scale.iter().filter(|w| **w > 0.0).count();
        gaussian::noise_variance(self.parts.total, values.view(), varying)
    }

    /// The mean subtracted from every feature (d); 0 without centring.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// What every feature was divided by (d), where standardised; 1 for constant ones, which weigh 0.
    pub fn scale(&self) -> Option<&[f64]> {
        self.parts.map.scaler.scale.as_deref()
    }

    /// Whether the mean of every feature was subtracted.
    pub fn centers(&self) -> bool {
        self.parts.center
    }

    /// Whether scores are scaled to unit variance.
    pub fn whitens(&self) -> bool {
        self.parts.whiten
    }

    /// Columns without variance.
    pub fn constant_columns(&self) -> &[usize] {
        &self.parts.map.scaler.constant
    }

    /// The loadings (d × k): components times standard deviation.
    pub fn loadings(&self) -> Array2<f64> {
        let mut loadings = self.components().t().to_owned();
        for (mut column, &s) in loadings.columns_mut().into_iter().zip(&self.standard_deviations) {
            column *= s;
        }
        loadings
    }

    /// The names of the features, where they had any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.parts.core.feature_names.as_deref()
    }

    /// All variances (min(n, d) or d of them), where the route computed them.
    pub fn full_spectrum(&self) -> Option<Vec<f64>> {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        let factor = self.divisor_factor();
        let all = self.parts.spectrum.as_ref()?.iter();
        Some(all.map(|v| v.max(0.0) * factor * unit * unit).collect())
    }

    /// How far the components can be trusted numerically.
    pub fn certificate(&self) -> &Certificate {
        &self.parts.certificate
    }

    /// What the solver did.
    pub fn convergence(&self) -> &Convergence {
        &self.parts.convergence
    }

    /// The route that was taken, and why.
    pub fn plan(&self) -> &Plan {
        &self.parts.core.plan
    }

    /// What the user should know.
    pub fn warnings(&self) -> &[Warning] {
        &self.parts.core.warnings
    }

    /// `√(2/(n − 1))`, the relative standard error of a variance, where n is known. It is that of variances
    /// about the mean: values of data that are not centred have none.
    pub(super) fn sampling_factor(&self) -> Option<f64> {
        let n = self.parts.core.n_samples.filter(|_| self.parts.center)?;
        Some((2.0 / (n - 1.0)).sqrt())
    }

    /// The asymptotic standard error of each variance, `λ √(2/(n − 1))`, where n is known and the data are
    /// centred.
    pub fn sampling_errors(&self) -> Option<Vec<f64>> {
        let factor = self.sampling_factor()?;
        Some(self.explained_variance.iter().map(|v| v * factor).collect())
    }

    /// Components whose variances lie within a sampling error of their neighbour's, so that only
    /// their joint span is identified by the sample (North et al. 1982), as ranges. The last range
    /// may go on with components that were not kept.
    pub fn sampling_groups(&self) -> Vec<Range<usize>> {
        let Some(factor) = self.sampling_factor() else { return Vec::new() };
        let values = &self.parts.values;
        let rank = self.parts.map.rank;
        let mut groups = Vec::new();
        let mut start = 0;
        for j in 0..rank {
            let next = if j + 1 < rank { Some(values[j + 1]) } else { self.parts.next_value };
            let apart = next.is_none_or(|next| values[j] - next >= factor * values[j]);
            if apart || j + 1 == rank {
                if j > start || !apart {
                    groups.push(start..j + 1);
                }
                start = j + 1;
            }
        }
        groups
    }

    fn factors(&self) -> Vec<f64> {
        let whiten = self.parts.whiten.then(|| self.divisor_factor());
        factors(&self.parts.values, whiten, self.parts.map.scaler.exponent)
    }

    /// Scores (n × k) of training or new samples, about the **training** mean.
    ///
    /// Samples with missing entries are projected by least squares on what is observed, where the model was
    /// fitted to data with missing entries or the data have a policy other than [`Missing::Error`];
    /// [`PcaModel::transform_observed`] says how certain such scores are.
    pub fn transform<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>> {
        let data = &data.into();
        compiled_here!(PcaModel, self.transform_typed(data) -> Made of T)
    }

    fn transform_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<Array2<T>> {
        if self.takes_missing(data) {
            let k = self.n_components();
            let mut rows = 0;
            let mut scores = Vec::with_capacity(data.n_samples().unwrap_or(0) * k);
            self.transform_blocks(data, &mut |block| {
                rows += block.nrows();
                scores.extend(block.iter().copied());
                Ok(())
            })?;
            return Array2::from_shape_vec((rows, k), scores)
                .map_err(|e| Error::Internal(e.to_string()));
        }
        self.parts.map.transform(data, &self.factors())
    }

    /// Scores as they are made, in blocks of rows (· × k), for data larger than memory. Returns the
    /// number of rows.
    pub fn transform_blocks<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        sink: &mut (dyn FnMut(ArrayView2<T>) -> Result<()> + Send),
    ) -> Result<usize> {
        let data = &data.into();
        let map = &self.parts.map;
        if self.takes_missing(data) {
            return map.transform_observed(data, &self.factors(), &self.parts.values, sink);
        }
        map.transform_blocks(data, &self.factors(), sink)
    }

    /// Scores (n × k, not whitened) of samples that may have missing entries, by least squares on what is
    /// observed, with what that costs in certainty.
    pub fn transform_observed<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<ObservedScores> {
        let noise = self.scaled_noise().sqrt();
        let unit = power_of_two(self.parts.map.scaler.exponent);
        self.parts.map.observed_scores(&data.into(), &self.parts.values, noise, unit)
    }

    /// Whether missing entries in these data are expected.
    pub(crate) fn takes_missing<T: Scalar>(&self, data: &Dataset<T>) -> bool {
        self.parts.core.missing.is_some() || data.missing() != Missing::Error
    }

    /// Samples (n × d) from scores (n × k).
    pub fn inverse_transform<T: Scalar>(&self, scores: ArrayView2<T>) -> Result<Array2<T>> {
        self.parts.map.inverse_transform(scores, &self.factors())
    }

    /// The round trip: what the components keep of each sample (n × d).
    pub fn reconstruct<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>> {
        self.inverse_transform(self.transform(data)?.view())
    }

    /// T², Q, leverage, contributions and squared cosines of training or new samples.
    pub fn sample_diagnostics<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<SampleDiagnostics> {
        let data = &data.into();
        compiled_here!(PcaModel, self.sample_diagnostics_typed(data) -> Result<SampleDiagnostics>)
    }

    fn sample_diagnostics_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<SampleDiagnostics> {
        let n = self.need_samples("T² and leverage")?;
        let unit = power_of_two(self.parts.map.scaler.exponent);
        let scores = self.unwhitened(data)?;
        let lengths = self.parts.map.row_lengths(data)?;
        let true_units = |v: Vec<f64>| v.into_iter().map(|x| x * unit).collect::<Array1<f64>>();
        SampleDiagnostics::new(
            scores.view(),
            self.unbiased_deviations().view(),
            true_units(lengths.norms).view(),
            true_units(lengths.residuals).view(),
            n,
            self.parts.center,
        )
    }

    /// What each feature adds to T² and Q of training or new samples.
    pub fn feature_contributions<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<FeatureContributions> {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        let scaled: Vec<f64> = self.standard_deviations.iter().map(|sd| sd / unit).collect();
        let mut found = self.parts.map.feature_contributions(&data.into(), &scaled)?;
        found.q.mapv_inplace(|q| q * unit * unit);
        Ok(found)
    }

    /// Loadings, contributions, squared cosines and correlations of the features.
    pub fn feature_diagnostics(&self) -> Result<FeatureDiagnostics> {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        let unit = unit * self.divisor_factor().sqrt();
        let sds: Array1<f64> =
            self.parts.column_variances.iter().map(|v| v.sqrt() * unit).collect();
        let deviations = Array1::from(self.standard_deviations.clone());
        FeatureDiagnostics::new(self.components(), deviations.view(), sds.view())
    }

    /// The limit of T² at a confidence such as 0.95, for training samples.
    pub fn t_squared_limit_training(&self, confidence: f64) -> Result<f64> {
        let n = self.need_samples("the limit of T²")?;
        limits::t_squared_limit_training(n, self.parts.map.rank, confidence)
    }

    /// The limit of T² at a confidence such as 0.95, for new samples.
    pub fn t_squared_limit_new(&self, confidence: f64) -> Result<f64> {
        let n = self.need_samples("the limit of T²")?;
        limits::t_squared_limit_new(n, self.parts.map.rank, confidence)
    }

    /// The limit of Q at a confidence such as 0.95: from the variances left out where they are all
    /// known (Jackson & Mudholkar 1979), otherwise from the training samples' own Q.
    pub fn q_limit<'a, T: Scalar>(
        &self,
        training: impl Into<Dataset<'a, T>>,
        confidence: f64,
    ) -> Result<QLimit> {
        let training = &training.into();
        compiled_here!(PcaModel, self.q_limit_typed(training, confidence: f64) -> Result<QLimit>)
    }

    fn q_limit_typed<T: Scalar>(&self, training: &Dataset<T>, confidence: f64) -> Result<QLimit> {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        if let Some(spectrum) = &self.parts.spectrum {
            let discarded: Array1<f64> = spectrum
                .iter()
                .skip(self.parts.map.rank)
                .map(|v| v.max(0.0).sqrt() * unit)
                .collect();
            return limits::q_limit_from_spectrum(discarded.view(), confidence);
        }
        let lengths = self.parts.map.row_lengths(training)?;
        let residuals: Array1<f64> = lengths.residuals.iter().map(|r| r * unit).collect();
        let weights = training.weights().map(|w| w.counts()).transpose()?.map(Array1::from);
        limits::q_limit_from_residuals(
            residuals.view(),
            weights.as_ref().map(|w| w.view()),
            confidence,
        )
    }

    /// Varimax rotation of the kept loadings (Kaiser 1958).
    pub fn varimax(&self, options: VarimaxOptions) -> Result<Varimax> {
        varimax(self.loadings().view(), options)
    }

    /// Where columns that took no part (n × m, one row for each training sample) lie among the
    /// components. Supplementary rows are simply transformed.
    pub fn supplementary_columns<'a, T: Scalar>(
        &self,
        training: impl Into<Dataset<'a, T>>,
        columns: ArrayView2<f64>,
    ) -> Result<SupplementaryColumns> {
        let training = &training.into();
        let scores = self.unwhitened(training)?;
        let weights = training.weights().map(|w| w.counts()).transpose()?.map(Array1::from);
        let deviations = self.unbiased_deviations();
        let weights = weights.as_ref().map(|w| w.view());
        supplementary_columns(scores.view(), deviations.view(), weights, columns)
    }

    /// The covariance (d × d) of the implied Gaussian, in the units of the data.
    pub fn covariance(&self) -> Result<Array2<f64>> {
        let noise = self.scaled_noise();
        self.with_gaussian(&self.parts.values, noise, |g| Ok(g.covariance(Units::Original)))
    }

    /// The inverse of [`PcaModel::covariance`]; not defined where a variance is 0 or rounding.
    pub fn precision(&self) -> Result<Array2<f64>> {
        let (values, noise) = self.above_rounding(self.scaled_noise(), f64::EPSILON);
        self.with_gaussian(&values, noise, |g| g.precision(Units::Original))
    }

    /// The log-likelihood of samples under the implied Gaussian, in the units of the data.
    ///
    /// Where the components carry all of the variance but for rounding, the Gaussian has no density
    /// in d dimensions but one on its support, the affine subspace `μ + span(U)` of as many
    /// dimensions as components carry variance. That is the density taken then; it is 0 for samples
    /// off the support, whose log-likelihood is −∞. See [`Gaussian::log_likelihood`].
    pub fn log_likelihood<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<LogLikelihood> {
        self.scaled_likelihood(&data.into(), self.scaled_noise(), self.n_components())
    }

    /// The same with another noise variance, which is also that along all but the `leading` components:
    /// scikit-learn's is what is left of the variance divided by min(n, d) − k, and it has models of no component.
    pub fn log_likelihood_with_noise<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        noise_variance: f64,
        leading: usize,
    ) -> Result<LogLikelihood> {
        limits::check_value("noise_variance", noise_variance)?;
        let unit = power_of_two(self.parts.map.scaler.exponent);
        let noise_variance = noise_variance / self.divisor_factor();
        self.scaled_likelihood(&data.into(), noise_variance / unit / unit, leading)
    }

    fn scaled_likelihood<T: Scalar>(
        &self,
        data: &Dataset<T>,
        noise: f64,
        leading: usize,
    ) -> Result<LogLikelihood> {
        let scores = self.unwhitened(data)?;
        let unit = power_of_two(self.parts.map.scaler.exponent);
        let lengths = self.parts.map.row_lengths(data)?;
        let residuals: Array1<f64> = lengths.residuals.iter().map(|r| r * unit).collect();
        let (mut values, noise) = self.above_rounding(noise, T::EPSILON);
        values.iter_mut().skip(leading).for_each(|value| *value = noise);
        let rounding = T::EPSILON.max(self.parts.certificate.relative_residual());
        self.with_gaussian(&values, noise, |g| {
            let g = g.with_rounding(rounding);
            g.log_likelihood(scores.view(), residuals.view(), Units::Original)
        })
    }

    /// The variances along the components (k) and beside them as they are in a density of data that
    /// were stored with relative rounding `epsilon`: 0 where they are rounding.
    pub fn variances_above_rounding(&self, noise: f64, epsilon: f64) -> (Vec<f64>, f64) {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        let factor = self.divisor_factor();
        let (values, noise) = self.above_rounding(noise / factor / unit / unit, epsilon);
        (values.iter().map(|v| v * factor * unit * unit).collect(), noise * factor * unit * unit)
    }

    /// The same in the model's units.
    fn above_rounding(&self, noise: f64, epsilon: f64) -> (Vec<f64>, f64) {
        let PcaParts { map, values, column_variances, next_value, .. } = &self.parts;
        // Mean squares of the entries: rounding leaves them a share ε² of that, along every axis.
        let squares: Vec<f64> = (0..self.n_features())
            .map(|f| {
                (map.scaler.mean_hi[f] * map.scaler.inv_scale[f]).powi(2) + column_variances[f]
            })
            .collect();
        let share = (8.0 * epsilon).powi(2);
        let mut beside: f64 = squares.iter().sum();
        let mut kept = Vec::with_capacity(values.len());
        for (value, component) in values.iter().zip(map.components.rows()) {
            let along: f64 = component.iter().zip(&squares).map(|(u, s)| u * u * s).sum();
            beside -= along;
            kept.push(if *value > share * along { *value } else { 0.0 });
        }
        let others = self.n_features().saturating_sub(values.len()).max(1) as f64;
        // A fit sets the first value it leaves out to 0 where that is below its own rounding.
        let is_rounding = kept.contains(&0.0)
            || *next_value == Some(0.0)
            || noise <= share * beside.max(0.0) / others;
        (kept, if is_rounding { 0.0 } else { noise })
    }

    /// The spectrum as the rules in [`n_components`](crate::n_components) see it.
    pub fn spectrum(&self) -> Result<ModelSpectrum> {
        let n = self.need_samples("a rule for the number of components")?;
        let n_varying = self.parts.column_variances.iter().filter(|v| **v > 0.0).count();
        let max_rank = (n as usize).saturating_sub(usize::from(self.parts.center)).min(n_varying);
        let unit = power_of_two(self.parts.map.scaler.exponent);
        let values = self.parts.spectrum.as_deref().unwrap_or(&self.parts.values);
        // With missing entries integrated out no route lists all variances, but of a covariance as free as any the
        // last one is the noise.
        let last = self.parts.next_value.filter(|_| values.len() + 1 == max_rank);
        let values = values.iter().copied().chain(last);
        Ok(ModelSpectrum {
            values: values.take(max_rank).map(|v| v.max(0.0) * unit * unit).collect(),
            total_variance: self.parts.total * unit * unit,
            n_samples: n,
            n_features: self.n_features(),
            n_varying,
            max_rank,
            centered: self.parts.center,
            standardized: self.scale().is_some(),
        })
    }

    /// [`Model::verify`](crate::Model::verify) as it usually is.
    pub fn verify<'a, T: Scalar>(
        &self,
        training: impl Into<Dataset<'a, T>>,
    ) -> Result<Verification> {
        let options = VerifyOptions::default();
        verify::pca(self, &training.into().into_any(), None, &options)
    }

    fn unwhitened<T: Scalar>(&self, data: &Dataset<T>) -> Result<Array2<f64>> {
        let factors = factors(&self.parts.values, None, self.parts.map.scaler.exponent);
        let scores = self.parts.map.transform(data, &factors)?;
        Ok(scores.mapv(|v| v.to_f64()))
    }

    /// Works with the Gaussian of these variances (divisor n − 1), in the model's units.
    fn with_gaussian<R>(
        &self,
        values: &[f64],
        noise: f64,
        work: impl FnOnce(Gaussian) -> Result<R>,
    ) -> Result<R> {
        let unit = power_of_two(self.parts.map.scaler.exponent);
        let unit = unit * self.divisor_factor().sqrt();
        let deviations: Array1<f64> = values.iter().map(|v| v.sqrt() * unit).collect();
        let scale = self.parts.map.scaler.divisors().map(Array1::from);
        work(Gaussian::new(
            self.components(),
            deviations.view(),
            noise.sqrt() * unit,
            scale.as_ref().map(|s| s.view()),
        )?)
    }

    fn need_samples(&self, what: &'static str) -> Result<f64> {
        self.parts.core.n_samples.ok_or(Error::NotDefined {
            what,
            why: "the number of samples behind the matrix is not known".into(),
        })
    }
}

/// An owned [`Spectrum`].
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSpectrum {
    values: Vec<f64>,
    total_variance: f64,
    n_samples: f64,
    n_features: usize,
    n_varying: usize,
    max_rank: usize,
    centered: bool,
    standardized: bool,
}

impl ModelSpectrum {
    /// As the rules take it.
    pub fn view(&self) -> Spectrum<'_> {
        Spectrum {
            values: &self.values,
            total_variance: self.total_variance,
            n_samples: self.n_samples,
            n_features: self.n_features,
            n_varying: self.n_varying,
            max_rank: self.max_rank,
            centered: self.centered,
            standardized: self.standardized,
        }
    }
}

/// What scores in units of 2^exponent are multiplied by: the unit, or, whitened, one over the
/// standard deviation (in the same unit) of variances times the factor; 0 for null components.
pub(crate) fn factors(values: &[f64], whiten: Option<f64>, exponent: i32) -> Vec<f64> {
    let one = |v: &f64| match (*v > 0.0, whiten) {
        (false, _) => 0.0,
        (true, None) => power_of_two(exponent),
        (true, Some(factor)) => 1.0 / (v * factor).sqrt(),
    };
    values.iter().map(one).collect()
}
