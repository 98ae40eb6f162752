//! What is done to data before a method sees them: counts of terms weighted, missing entries resolved.

use super::Resolved;
use crate::data::{
    AnyDataset, Csr, Dataset, Missing, MissingReport, SampleWeights, Target, TermWeighting,
    TermWeights,
};
use crate::error::{Error, Hint, Result};
use crate::options::Options;
use crate::scalar::Scalar;

/// What is done to data before a model sees them: learned in training, stored with the model, done alike to
/// new data.
///
/// ```
/// use eigenlens::{AnyDataset, Dataset, Options, Preprocessing};
/// let steps = Preprocessing { fill: Some(vec![1.0, 5.0]), ..Preprocessing::default() };
/// let x = ndarray::array![[0.5, f64::NAN], [2.0, 4.0]];
/// let data = AnyDataset::from(Dataset::from(&x));
/// let prepared = steps.apply(&data, &Options::default())?;
/// assert_eq!(prepared.data().missing_counts()?.missing, 0);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preprocessing {
    /// Weights of terms, where samples are counts of them.
    pub term_weights: Option<TermWeights>,
    /// What goes into missing entries, one number for each feature.
    pub fill: Option<Vec<f64>>,
}

impl Preprocessing {
    /// Learns the steps from training data, and does them: counts are weighted, and where `resolves` says
    /// that the method does not do it by itself, the policy for missing entries is carried out.
    pub fn learn<'a>(
        weighting: Option<TermWeighting>,
        resolves: bool,
        data: &AnyDataset<'a>,
        options: &Options,
    ) -> Result<(Preprocessing, Prepared<'a>)> {
        if let Some(weighting) = weighting {
            if data.shape().streamed {
                return Err(Error::Unsupported {
                    what: "weighting terms".into(),
                    why: "needs the table in memory, and it does not fit the budget",
                    instead: Some(Hint::Set { option: "weighting", value: "none".into() }),
                });
            }
            let counts = dispatch!(data, d => d.to_csr())?;
            let weights = TermWeights::fit(weighting, &counts)?;
            let prepared = Prepared::weighted(&weights, &counts, data)?;
            let steps = Preprocessing { term_weights: Some(weights), fill: None };
            return Ok((steps, prepared));
        }
        if !resolves || data.missing() == Missing::Error {
            return Ok((Preprocessing::default(), Prepared::Same(data.clone())));
        }
        let prepared = Prepared::resolved(data, options)?;
        let fill = prepared.fill().map(<[f64]>::to_vec);
        Ok((Preprocessing { term_weights: None, fill }, prepared))
    }

    /// Does the steps to new data.
    pub fn apply<'a>(&self, data: &AnyDataset<'a>, options: &Options) -> Result<Prepared<'a>> {
        match (&self.term_weights, &self.fill) {
            (Some(weights), _) => {
                let counts = dispatch!(data, d => d.to_csr())?;
                Prepared::weighted(weights, &counts, data)
            }
            (None, Some(fill)) => match data {
                AnyDataset::F32(d) => d.fill_missing(fill, options).map(Prepared::F32),
                AnyDataset::F64(d) => d.fill_missing(fill, options).map(Prepared::F64),
            },
            (None, None) => Ok(Prepared::Same(data.clone())),
        }
    }

    /// The same steps without what goes into missing entries.
    pub fn without_fill(&self) -> Preprocessing {
        Preprocessing { term_weights: self.term_weights.clone(), fill: None }
    }
}

/// Data that were prepared for a method.
pub enum Prepared<'a> {
    /// As they were.
    Same(AnyDataset<'a>),
    /// Counts of terms, weighted.
    Weighted(Weighted),
    /// Without missing entries, in single precision.
    F32(Resolved<'a, f32>),
    /// Without missing entries, in double precision.
    F64(Resolved<'a, f64>),
}

/// Weighted counts, with what else belongs to the data.
pub struct Weighted {
    counts: Csr<f64>,
    names: Option<Vec<String>>,
    weights: Option<SampleWeights>,
}

impl<'a> Prepared<'a> {
    /// Carries out the policy for missing entries.
    pub fn resolved(data: &AnyDataset<'a>, options: &Options) -> Result<Prepared<'a>> {
        match data {
            AnyDataset::F32(d) => d.resolve_missing(options).map(Prepared::F32),
            AnyDataset::F64(d) => d.resolve_missing(options).map(Prepared::F64),
        }
    }

    /// The samples without missing entries, however few they are.
    pub fn complete_rows(data: &AnyDataset<'a>) -> Result<Prepared<'a>> {
        let data = data.clone().with_missing(Missing::DropRows).with_most_missing(1.0);
        Prepared::resolved(&data, &Options::default())
    }

    fn weighted(
        weights: &TermWeights,
        counts: &Csr<f64>,
        data: &AnyDataset,
    ) -> Result<Prepared<'a>> {
        fn of<T: Scalar>(data: &Dataset<T>) -> (Option<Vec<String>>, Option<SampleWeights>) {
            (data.feature_names().map(<[String]>::to_vec), data.weights().cloned())
        }
        let (names, sample_weights) = dispatch!(data, d => of(d));
        let counts = weights.apply(counts)?;
        Ok(Prepared::Weighted(Weighted { counts, names, weights: sample_weights }))
    }

    /// The data as the method sees them.
    pub fn data(&self) -> AnyDataset<'_> {
        match self {
            Prepared::Same(data) => data.borrowed(),
            Prepared::F32(data) => AnyDataset::F32(data.dataset()),
            Prepared::F64(data) => AnyDataset::F64(data.dataset()),
            Prepared::Weighted(of) => {
                let mut data = Dataset::sparse(&of.counts);
                data.names = of.names.clone().map(Into::into);
                data.weights = of.weights.clone().map(Into::into);
                AnyDataset::F64(data)
            }
        }
    }

    /// What was put into missing entries, where that is the policy.
    pub fn fill(&self) -> Option<&[f64]> {
        match self {
            Prepared::F32(data) => data.fill(),
            Prepared::F64(data) => data.fill(),
            _ => None,
        }
    }

    /// The target of the samples that are left.
    pub fn target(&self, target: &Target) -> Result<Target> {
        match self {
            Prepared::F32(data) => data.target(target),
            Prepared::F64(data) => data.target(target),
            _ => Ok(target.clone()),
        }
    }

    /// An error about samples that are left, told of rows of the original.
    pub fn in_original_rows(&self, error: Error) -> Error {
        match self {
            Prepared::F32(data) => data.in_original_rows(error),
            Prepared::F64(data) => data.in_original_rows(error),
            _ => error,
        }
    }

    /// What was done about missing entries.
    pub fn missing_report(&self) -> Option<&MissingReport> {
        match self {
            Prepared::F32(data) => data.missing_report(),
            Prepared::F64(data) => data.missing_report(),
            _ => None,
        }
    }
}
