//! What is known of data before the first row is read.

use super::weights::check_weight_count;
use super::{Dataset, Missing, Source};
use crate::error::{Error, Hint, Result};
use crate::scalar::Scalar;

/// Everything that a plan looks at: no entry of the data is among it.
///
/// ```
/// use eigenlens::{DataShape, Pca};
/// let plan = Pca::new(10).plan(DataShape::dense(1_000_000, 100))?;
/// println!("{plan}");
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DataShape {
    /// The number of samples, n, where it is known before reading.
    pub n_samples: Option<usize>,
    /// The number of features, d.
    pub n_features: usize,
    /// Stored entries of sparse data.
    pub n_stored: Option<usize>,
    /// Whether rows are read in blocks, as often as needed.
    pub streamed: bool,
    /// Whether the elements are float32.
    pub is_f32: bool,
    /// The number of sample weights, where there are any.
    pub n_weights: Option<usize>,
    /// What is done with missing entries.
    pub missing: Missing,
}

impl DataShape {
    /// A float64 matrix in memory (n × d).
    pub fn dense(n_samples: usize, n_features: usize) -> DataShape {
        DataShape {
            n_samples: Some(n_samples),
            n_features,
            n_stored: None,
            streamed: false,
            is_f32: false,
            n_weights: None,
            missing: Missing::Error,
        }
    }

    /// The same with a policy for missing entries.
    pub fn with_missing(self, missing: Missing) -> DataShape {
        DataShape { missing, ..self }
    }

    /// Bytes of one element.
    pub(crate) fn element_bytes(&self) -> u64 {
        if self.is_f32 { 4 } else { 8 }
    }

    /// Share of the entries that are stored: 1 where not sparse.
    pub(crate) fn density(&self) -> f64 {
        let entries = self.n_samples.unwrap_or(1) as f64 * self.n_features as f64;
        self.n_stored.map_or(1.0, |stored| stored as f64 / entries.max(1.0))
    }

    /// Refuses data without columns or rows, and weights of another number than the rows.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_columns()?;
        if self.n_samples == Some(0) {
            return Err(Error::NoRows);
        }
        Ok(())
    }

    /// The same for passes that may see no rows.
    pub(crate) fn check_columns(&self) -> Result<()> {
        if self.n_features == 0 {
            return Err(Error::NoColumns);
        }
        match (self.n_weights, self.n_samples) {
            (Some(weights), Some(rows)) => check_weight_count(weights, rows),
            _ => Ok(()),
        }
    }

    /// Refuses a policy for missing entries that has not been carried out: passes know no missing ones.
    pub(crate) fn check_policy(&self) -> Result<()> {
        if self.missing == Missing::Error {
            return Ok(());
        }
        Err(Error::Unsupported {
            what: format!("the policy `{}` for missing values", self.missing.name()),
            why: "is not offered by this method",
            instead: Some(Hint::Set { option: "missing", value: "error".into() }),
        })
    }

    /// Refuses what a pass over complete data cannot work with.
    pub(crate) fn check_complete(&self) -> Result<()> {
        self.check_policy()?;
        self.check()
    }
}

impl<T: Scalar> From<&Dataset<'_, T>> for DataShape {
    fn from(data: &Dataset<T>) -> DataShape {
        DataShape {
            n_samples: data.n_samples(),
            n_features: data.n_features(),
            n_stored: match data.source() {
                Source::Sparse(x) => Some(x.n_stored()),
                _ => None,
            },
            streamed: matches!(data.source(), Source::Streamed(_)),
            is_f32: T::EPSILON > f64::EPSILON,
            n_weights: data.weights().map(|w| w.values().len()),
            missing: data.missing(),
        }
    }
}

impl From<&DataShape> for DataShape {
    fn from(shape: &DataShape) -> DataShape {
        shape.clone()
    }
}
