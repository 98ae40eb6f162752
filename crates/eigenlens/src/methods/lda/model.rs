//! A fitted linear discriminant analysis: immutable and complete.

use super::Pooling;
use super::verify;
use crate::data::{AnyDataset, Dataset, Target};
use crate::error::{Result, Warning};
use crate::linalg::dense::power_of_two;
use crate::linalg::gemm;
use crate::model::parts::{Parts, Value};
use crate::model::verified_by;
use crate::model::{
    Classifier, Linear, LinearMap, Model, ModelCore, ScreeHeights, Shares, Summary, SummaryColumn,
    Verification, VerifyOptions, certificate_value, largest_weights, most_probable, number,
    opening, percent, rows_value,
};
use crate::passes::Scaler;
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::solver::Certificate;
use ndarray::{Array1, Array2, ArrayView2, s};

/// Everything a fit found out.
#[derive(Debug)]
pub(super) struct LdaParts {
    pub core: ModelCore,
    /// All discriminants that there are, of which the first are kept; unit rows.
    pub map: LinearMap,
    /// What scores are multiplied by to have variance 1 within classes; 0 for null components.
    pub scales: Vec<f64>,
    pub n_components: usize,
    /// Ratios of the variances between and within classes, descending; 0 for null components.
    pub values: Vec<f64>,
    pub classes: Vec<String>,
    /// The weight of the training samples of each class.
    pub class_weights: Vec<f64>,
    pub priors: Vec<f64>,
    /// The mean of each class less that of the model (c × d), in prescaled units.
    pub class_offsets: Array2<f64>,
    /// The scores of the means (c × rank).
    pub centroids: Array2<f64>,
    pub within: WithinRecord,
    pub pooling: Pooling,
    pub center: bool,
    /// d × d, where it was asked for.
    pub covariance: Option<Array2<f64>>,
    pub certificate: Certificate,
    pub tolerance: f64,
}

/// What a model knows of the spread within classes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WithinRecord {
    /// Directions in which samples of a class differ.
    pub rank: usize,
    /// How far the covariance was shrunk: not at all, by one number, or by one for each class.
    pub intensities: Vec<f64>,
    /// Principal components that came first, where there were too many features.
    pub projected: Option<usize>,
    /// Whether the covariance was given in place of samples.
    pub given: bool,
}

/// A fitted linear discriminant analysis. See [`Lda`](crate::Lda) for how to make one.
#[derive(Debug)]
pub struct LdaModel {
    pub(super) parts: LdaParts,
    mean: Vec<f64>,
    class_means: Array2<f64>,
}

impl LdaModel {
    pub(super) fn new(mut parts: LdaParts) -> Self {
        parts.core.judge(&parts.certificate, parts.tolerance);
        Self::assemble(parts)
    }

    /// The model of these parts, as they are.
    pub(super) fn assemble(parts: LdaParts) -> Self {
        let Scaler { mean_hi, mean_lo, column_exponents, .. } = &parts.map.scaler;
        let class_means = Array2::from_shape_fn(parts.class_offsets.dim(), |(class, f)| {
            let inside = mean_hi[f] + (mean_lo[f] + parts.class_offsets[[class, f]]);
            inside * power_of_two(column_exponents.as_ref().map_or(0, |e| e[f]))
        });
        LdaModel { mean: parts.map.scaler.true_mean(), class_means, parts }
    }

    pub(super) fn parts(&self) -> &LdaParts {
        &self.parts
    }

    /// The number of components, k.
    pub fn n_components(&self) -> usize {
        self.parts.n_components
    }

    /// The number of features, d.
    pub fn n_features(&self) -> usize {
        self.parts.map.components.ncols()
    }

    /// The number of training samples, or the sum of their weights.
    pub fn n_samples(&self) -> f64 {
        self.parts.core.weight()
    }

    /// Discriminants that there are, whether kept or not; at most one less than there are classes.
    pub fn rank(&self) -> usize {
        self.parts.map.rank
    }

    /// Directions in which samples of a class differ: the rank of the covariance within classes.
    pub fn within_rank(&self) -> usize {
        self.parts.within.rank
    }

    /// The discriminants (k × d): unit rows, for features divided by [`LdaModel::scale`] where there is one. They
    /// are not orthogonal.
    pub fn components(&self) -> ArrayView2<'_, f64> {
        self.parts.map.components.slice(s![..self.parts.n_components, ..])
    }

    /// What unit components are multiplied by so that scores have variance 1 within classes (k).
    pub fn component_scales(&self) -> &[f64] {
        &self.parts.scales[..self.parts.n_components]
    }

    /// The coefficients of the features in their own units (d × rank): scores are `(x − mean) · scalings`, of
    /// all discriminants that there are.
    pub fn scalings(&self) -> Array2<f64> {
        let LinearMap { scaler, components, rank, .. } = &self.parts.map;
        Array2::from_shape_fn((components.ncols(), *rank), |(f, j)| {
            let exponent = scaler.column_exponents.as_ref().map_or(0, |e| e[f]);
            let unit = scaler.inv_scale[f] * power_of_two(-exponent);
            components[[j, f]] * unit * self.parts.scales[j]
        })
    }

    /// The ratio of the variance between classes (divisor c − 1) to that within them along each discriminant (k):
    /// the F of an analysis of variance of its scores.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.parts.values[..self.parts.n_components]
    }

    /// Each discriminant's share (k) of the variance between classes, in units of that within them: the
    /// proportion of trace.
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        let total: f64 = self.parts.values.iter().sum();
        let share = |v: &f64| if total > 0.0 { v / total } else { 0.0 };
        self.eigenvalues().iter().map(share).collect()
    }

    /// The names of the classes (c).
    pub fn class_names(&self) -> &[String] {
        &self.parts.classes
    }

    /// The number of training samples of each class, or the sum of their weights (c).
    pub fn class_weights(&self) -> &[f64] {
        &self.parts.class_weights
    }

    /// The probability of each class before anything is known of a sample (c).
    pub fn priors(&self) -> &[f64] {
        &self.parts.priors
    }

    /// The mean of each class (c × d).
    pub fn class_means(&self) -> ArrayView2<'_, f64> {
        self.class_means.view()
    }

    /// The mean that scores are measured from (d): that of the classes, weighted by their priors.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The standard deviation within classes that every feature was divided by (d), where they were.
    pub fn scale(&self) -> Option<&[f64]> {
        self.parts.map.scaler.scale.as_deref()
    }

    /// The covariance within classes (d × d), where it was to be kept: that of every class (divisor n_c), weighted
    /// by their priors and shrunk.
    pub fn covariance(&self) -> Option<ArrayView2<'_, f64>> {
        self.parts.covariance.as_ref().map(|covariance| covariance.view())
    }

    /// How far the covariance within classes was shrunk: not at all, by one number, or by one for each class.
    pub fn shrinkage(&self) -> &[f64] {
        &self.parts.within.intensities
    }

    /// How far the components can be trusted numerically.
    pub fn certificate(&self) -> &Certificate {
        &self.parts.certificate
    }

    /// The route that was taken, and why.
    pub fn plan(&self) -> &Plan {
        &self.parts.core.plan
    }

    /// What the user should know.
    pub fn warnings(&self) -> &[Warning] {
        &self.parts.core.warnings
    }

    /// The same model, transforming with this many threads (`None`: one for each core). The answer
    /// does not depend on it.
    pub fn with_threads(mut self, threads: Option<usize>) -> Self {
        self.parts.map.threads = threads;
        self
    }

    /// Scores (n × k) of training or new samples: of mean 0 (weighted by the priors) and variance 1 within classes.
    pub fn transform<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>> {
        let mut map = self.map_of(self.parts.n_components);
        if !self.parts.center {
            map.scaler.mean_hi.fill(0.0);
            map.scaler.mean_lo.fill(0.0);
        }
        map.transform(&data.into(), self.component_scales())
    }

    /// How much speaks for each class (n × c): `log π_c + log p(x | c)`, less what is the same for all classes.
    pub fn decision_function<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<Array2<f64>> {
        let LdaParts { map, scales, centroids, priors, .. } = &self.parts;
        let data = data.into();
        // Of a null component where there is no other: its scores are 0.
        let columns = map.rank.max(1);
        let scores = self.map_of(columns).transform(&data, &scales[..columns])?;
        let scores = scores.slice(s![.., ..map.rank]).mapv(|v| v.to_f64());
        let mut found = gemm::product(scores.view(), columns_of(centroids).view());
        for (mut column, (centroid, prior)) in
            found.columns_mut().into_iter().zip(centroids.rows().into_iter().zip(priors))
        {
            column += prior.ln() - 0.5 * centroid.dot(&centroid);
        }
        Ok(found)
    }

    /// The probability of each class (n × c), were all Gaussian with the same covariance.
    pub fn predict_proba<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<Array2<f64>> {
        let mut found = self.decision_function(data)?;
        for mut row in found.rows_mut() {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.mapv_inplace(|v| (v - largest).exp());
            let sum = row.sum();
            row /= sum;
        }
        Ok(found)
    }

    /// The most probable class of each sample, by its number.
    pub fn predict<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Vec<usize>> {
        Ok(most_probable(&self.decision_function(data)?).to_vec())
    }

    /// The functions of the features that [`LdaModel::decision_function`] evaluates: coefficients (c × d) and
    /// constants (c).
    pub fn coefficients(&self) -> (Array2<f64>, Array1<f64>) {
        let centroids = &self.parts.centroids;
        let coefficients = centroids.dot(&self.scalings().t());
        let constants = (0..centroids.nrows()).map(|c| {
            let centroid = centroids.row(c);
            let at_mean: f64 = coefficients.row(c).iter().zip(&self.mean).map(|(a, m)| a * m).sum();
            self.parts.priors[c].ln() - 0.5 * centroid.dot(&centroid) - at_mean
        });
        (coefficients.clone(), constants.collect())
    }

    /// [`Model::verify`] as it usually is.
    pub fn verify<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        target: &Target,
    ) -> Result<Verification> {
        let options = VerifyOptions::default();
        verify::verify(self, &data.into().into_any(), Some(target), &options)
    }

    /// The first `k` discriminants.
    fn map_of(&self, k: usize) -> LinearMap {
        let map = &self.parts.map;
        let components = map.components.slice(s![..k, ..]).to_owned();
        LinearMap { components, ..map.clone() }
    }

    /// Discriminants in units of the features (d × k): components times their scales.
    fn loadings(&self) -> Array2<f64> {
        let mut loadings = self.components().t().to_owned();
        for (mut column, scale) in loadings.columns_mut().into_iter().zip(&self.parts.scales) {
            column *= *scale;
        }
        loadings
    }
}

fn columns_of(rows: &Array2<f64>) -> Array2<f64> {
    rows.t().as_standard_layout().into_owned()
}

impl Classifier for LdaModel {
    fn classes(&self) -> Vec<String> {
        self.class_names().to_vec()
    }

    fn predict_proba(&self, data: &AnyDataset) -> Result<Array2<f64>> {
        dispatch!(data, d => self.predict_proba(d))
    }

    fn decision_function(&self, data: &AnyDataset) -> Result<Array2<f64>> {
        dispatch!(data, d => self.decision_function(d))
    }
}

/// What shares of discriminants are of.
const BETWEEN: &str = "the variance between classes";

impl Model for LdaModel {
    fn core(&self) -> &ModelCore {
        &self.parts.core
    }

    fn n_features(&self) -> usize {
        self.n_features()
    }

    fn n_components(&self) -> usize {
        self.n_components()
    }

    fn summary(&self) -> Summary {
        let shares = self.explained_variance_ratio();
        let (k, c) = (self.n_components(), self.class_names().len());
        let opening = opening(Model::method(self), Some(self.n_samples()), self.n_features(), k);
        let carry = if k == 1 { "carries" } else { "carry" };
        let words = |row| largest_weights(row, self.core().feature_names.as_deref(), 2);
        let largest = self.components().rows().into_iter().map(words).collect();
        let mut scree =
            ScreeHeights::new(&self.parts.values, k, self.parts.values.iter().sum(), 1.0);
        scree.what = "Between/within variance";
        scree.of = BETWEEN;
        Summary {
            headline: format!(
                "{opening} {carry} {} of the variance between {c} classes",
                percent(shares.iter().sum::<f64>().min(1.0))
            ),
            columns: vec![
                SummaryColumn::numbers("between/within", self.eigenvalues().to_vec()),
                SummaryColumn::shares("of between", shares.clone()),
                SummaryColumn::cumulative("together", &shares),
                SummaryColumn::words("largest weights", largest),
            ],
            facts: self.facts(),
            trust: self.certificate().to_string(),
            scree: Some(scree),
            values: self.values().into(),
        }
    }

    fn component_shares(&self) -> Option<Shares> {
        Some(Shares { values: self.explained_variance_ratio(), of: BETWEEN })
    }

    fn transform_f32(&self, data: &Dataset<f32>) -> Result<Array2<f32>> {
        self.transform(data)
    }

    fn transform_f64(&self, data: &Dataset<f64>) -> Result<Array2<f64>> {
        self.transform(data)
    }

    fn to_parts(&self) -> Result<Parts> {
        Ok(self.to_parts())
    }

    fn set_threads(&mut self, threads: Option<usize>) {
        self.parts.map.threads = threads;
    }

    verified_by!(verify::verify, verify::memory);

    fn certificate(&self) -> Option<&Certificate> {
        Some(self.certificate())
    }

    fn classifier(&self) -> Option<&dyn Classifier> {
        Some(self)
    }

    fn linear(&self) -> Option<Linear<'_>> {
        Some(Linear {
            components: self.components(),
            loadings: self.loadings(),
            scaled_by: "what makes the variance of their scores within classes 1",
            distances: "distances between samples in units of the spread within classes",
            mean: self.mean(),
            scale: self.parts.map.scaler.divisors(),
        })
    }
}

impl LdaModel {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let LdaParts { within, pooling, priors, classes, .. } = &self.parts;
        let shown: Vec<String> = (classes.iter().zip(priors).take(8))
            .map(|(name, prior)| format!("{name} {}", percent(*prior)))
            .collect();
        let more = if classes.len() > 8 { ", …" } else { "" };
        let pooled = match pooling {
            _ if within.given => "covariance as given".into(),
            Pooling::Samples => format!("covariance with divisor n − {}", classes.len()),
            Pooling::Likelihood => "covariance with divisor n".into(),
            Pooling::Priors => "covariances of the classes weighted by their priors".into(),
        };
        let mut facts = vec![
            ("classes", format!("{}{more}", shown.join(", "))),
            ("within", format!("{pooled}, rank {}", within.rank)),
        ];
        if let Some(kept) = within.projected {
            let words = format!("the {kept} leading principal components came first (Fisherfaces)");
            facts.push(("singular", words));
        }
        match within.intensities[..] {
            [] => {}
            [alpha] => facts.push(("shrinkage", number(alpha))),
            ref each => {
                let (low, high) =
                    each.iter().fold((1.0f64, 0.0f64), |(l, h), a| (l.min(*a), h.max(*a)));
                let words = format!("Ledoit and Wolf, {} to {}", number(low), number(high));
                facts.push(("shrinkage", words));
            }
        }
        facts
    }

    fn values(&self) -> [(&'static str, Value); 18] {
        let numbers = |values: &[f64]| Value::list(values.iter().copied());
        let (coefficients, constants) = self.coefficients();
        [
            ("rank", self.rank().into()),
            ("within_rank", self.within_rank().into()),
            ("classes", Value::list(self.class_names())),
            ("class_weights", numbers(self.class_weights())),
            ("priors", numbers(self.priors())),
            ("class_means", rows_value(self.class_means())),
            ("eigenvalues", numbers(self.eigenvalues())),
            ("explained_variance_ratio", numbers(&self.explained_variance_ratio())),
            ("shrinkage", numbers(self.shrinkage())),
            ("projected", self.parts.within.projected.into()),
            ("mean", numbers(self.mean())),
            ("scale", self.scale().map_or(Value::Null, numbers)),
            ("components", rows_value(self.components())),
            ("component_scales", numbers(self.component_scales())),
            ("scalings", rows_value(self.scalings().view())),
            ("coefficients", rows_value(coefficients.view())),
            ("constants", Value::list(constants.iter().copied())),
            ("certificate", certificate_value(self.certificate())),
        ]
    }
}
