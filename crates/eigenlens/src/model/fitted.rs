//! What every fitted model can do, whatever method made it.

use super::capabilities::{Classifier, Density, LatentGaussian, UncertainScores};
use super::{
    ModelCore, PcaModel, PreImage, PreImages, Shares, SparsePath, Summary, Verification,
    VerifyOptions,
};
use crate::data::{AnyDataset, DataShape, Dataset, MissingReport, Target};
use crate::error::{Error, Result, Warning};
use crate::model::parts::Parts;
use crate::plan::Plan;
use crate::solver::Certificate;
use ndarray::{Array2, ArrayView2};
use std::fmt::Debug;

/// A fitted model: immutable, complete, ready to see new samples.
///
/// Programs that serve every method hold a `Box<dyn Model>`: it projects, describes itself
/// ([`Model::summary`]) and is stored ([`Model::to_parts`], [`from_parts`](crate::from_parts)).
/// What only some models have is asked for ([`Model::linear`], [`Model::density`], [`Model::classifier`]) or is a typed
/// error ([`Error::NotDefined`]).
pub trait Model: Debug + Send + Sync {
    /// What every model knows of its making.
    fn core(&self) -> &ModelCore;

    /// The method that made the model, such as `pca`.
    fn method(&self) -> &'static str {
        self.core().method
    }

    /// The number of training samples, or the sum of their weights, where known.
    fn n_samples(&self) -> Option<f64> {
        self.core().n_samples
    }

    /// The number of features, d.
    fn n_features(&self) -> usize;

    /// The number of components, k.
    fn n_components(&self) -> usize;

    /// How large the model is, in words.
    fn size(&self) -> String {
        format!("components: {}", self.n_components())
    }

    /// The names of the features, where they had any.
    fn feature_names(&self) -> Option<&[String]> {
        self.core().feature_names.as_deref()
    }

    /// What the user should know.
    fn warnings(&self) -> &[Warning] {
        &self.core().warnings
    }

    /// The route that was taken, and why.
    fn plan(&self) -> &Plan {
        &self.core().plan
    }

    /// Everything that describes the model, as data.
    fn summary(&self) -> Summary;

    /// What each component carries of a total, and of which; `None` where nothing is shared out.
    fn component_shares(&self) -> Option<Shares>;

    /// Whether scores are probabilities that add up to 1, not coordinates: distances and ellipses mean
    /// nothing among them.
    fn scores_are_probabilities(&self) -> bool {
        false
    }

    /// Scores (n × k) of training or new samples.
    fn transform_f32(&self, data: &Dataset<f32>) -> Result<Array2<f32>>;

    /// Scores (n × k) of training or new samples.
    fn transform_f64(&self, data: &Dataset<f64>) -> Result<Array2<f64>>;

    /// Scores of the training samples (n × k), where the model holds them: placing these samples once more
    /// gives the same to rounding only.
    fn training_scores(&self) -> Option<ArrayView2<'_, f64>> {
        None
    }

    /// Everything the model is made of; an error where a part cannot be stored.
    fn to_parts(&self) -> Result<Parts>;

    /// Uses this many threads from now on (`None`: one for each core). Answers do not depend on it.
    fn set_threads(&mut self, threads: Option<usize>);

    /// What the components keep of each sample (n × d).
    fn reconstruct_f32(&self, _: &Dataset<f32>) -> Result<Array2<f32>> {
        not_defined("the reconstruction of samples", self.method())
    }

    /// What the components keep of each sample (n × d).
    fn reconstruct_f64(&self, _: &Dataset<f64>) -> Result<Array2<f64>> {
        not_defined("the reconstruction of samples", self.method())
    }

    /// Samples (n × d) from scores (n × k).
    fn inverse_transform_f32(&self, _: ArrayView2<f32>) -> Result<Array2<f32>> {
        not_defined("the inverse of `transform`", self.method())
    }

    /// Samples (n × d) from scores (n × k).
    fn inverse_transform_f64(&self, _: ArrayView2<f64>) -> Result<Array2<f64>> {
        not_defined("the inverse of `transform`", self.method())
    }

    /// Approximate pre-images with the distance they leave in feature space, where that is what a
    /// reconstruction is.
    fn pre_images_f32(&self, _: &Dataset<f32>, _: PreImage) -> Option<Result<PreImages<f32>>> {
        None
    }

    /// Approximate pre-images with the distance they leave in feature space, where that is what a
    /// reconstruction is.
    fn pre_images_f64(&self, _: &Dataset<f64>, _: PreImage) -> Option<Result<PreImages<f64>>> {
        None
    }

    /// Checks everything the model claims against its training samples, and their target where it had one, with
    /// code that shares nothing with the fit. What cannot be checked is listed.
    fn verify(
        &self,
        data: &AnyDataset,
        target: Option<&Target>,
        options: &VerifyOptions,
    ) -> Result<Verification>;

    /// Bytes that [`Model::verify`] needs beyond data of this shape.
    fn verification_memory(&self, shape: &DataShape) -> u64;

    /// How far eigenpairs can be trusted numerically, where the model is made of them.
    fn certificate(&self) -> Option<&Certificate> {
        None
    }

    /// The weights of the features, where scores are linear in them.
    fn linear(&self) -> Option<Linear<'_>> {
        None
    }

    /// What was done about missing entries, where there were any.
    fn missing(&self) -> Option<&MissingReport> {
        self.core().missing.as_ref()
    }

    /// The density of samples, where the model is one.
    fn density(&self) -> Option<&dyn Density> {
        None
    }

    /// The classes that the model knows, where it does.
    fn classifier(&self) -> Option<&dyn Classifier> {
        None
    }

    /// The hidden variables behind the samples, where the model has such.
    fn latent(&self) -> Option<&dyn LatentGaussian> {
        None
    }

    /// Scores with their standard errors, where samples may lack entries.
    fn uncertain_scores(&self) -> Option<&dyn UncertainScores> {
        None
    }

    /// The regularisation path behind the model, where one was asked for.
    fn path(&self) -> Option<&SparsePath> {
        None
    }

    /// The principal components with their variances and diagnostics, where the model is made of them.
    fn pca(&self) -> Option<&PcaModel> {
        None
    }
}

/// What pictures of a linear model show.
#[derive(Clone, Debug)]
pub struct Linear<'a> {
    /// The components (k × d): unit rows.
    pub components: ArrayView2<'a, f64>,
    /// The loadings (d × k): components times what [`Linear::scaled_by`] says.
    pub loadings: Array2<f64>,
    /// What components are multiplied by to give loadings, in words.
    pub scaled_by: &'static str,
    /// What distances between scores stand for, in words.
    pub distances: &'static str,
    /// The mean subtracted from every feature (d).
    pub mean: &'a [f64],
    /// What every feature was divided by (d), where standardised; 0 for constant ones, which were left
    /// out.
    pub scale: Option<Vec<f64>>,
}

/// What distances between scores stand for where these are coordinates along orthonormal components.
pub(super) const DISTANCES: &str = "distances between samples";

/// The same where scores are whitened.
pub(super) const WHITENED: &str =
    "distances between samples, along every component in units of its standard deviation";

/// What gives loadings: `√(wᵀ S w)` of each component w, which for some models is no statistic of the scores.
pub(super) fn scaled_by(centers: bool, scores_are_projections: bool) -> &'static str {
    match (centers, scores_are_projections) {
        (true, true) => "the standard deviations of their scores",
        (true, false) => "the standard deviations along them (divisor n − 1)",
        (false, true) => "the root mean squares of their scores (divisor n − 1)",
        (false, false) => "the root mean squares along them (divisor n − 1)",
    }
}

fn not_defined<T>(what: &'static str, method: &'static str) -> Result<T> {
    Err(Error::NotDefined { what, why: format!("the method `{method}` has none") })
}

/// The two methods by which a model is verified, by functions that take the model.
macro_rules! verified_by {
    ($verify:path, $memory:path) => {
        fn verify(
            &self,
            data: &$crate::data::AnyDataset,
            target: Option<&$crate::data::Target>,
            options: &$crate::model::VerifyOptions,
        ) -> $crate::error::Result<$crate::model::Verification> {
            $verify(self, data, target, options)
        }

        fn verification_memory(&self, shape: &$crate::data::DataShape) -> u64 {
            $memory(self, shape)
        }
    };
}
pub(crate) use verified_by;
