//! Holes in the data: where they are, what the policy is, what was done about them.

use super::Dataset;
use crate::error::{Error, Result, plural};
use crate::scalar::Scalar;
use std::fmt;

/// What to do with missing entries (NaN is the mark).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// Refuse, and say where they are.
    #[default]
    Error,
    /// Fit without the samples that have a missing entry.
    DropRows,
    /// Fit without the features that have a missing entry.
    DropColumns,
    /// Put the mean of the feature into the missing entry: simple, and biased towards too little variance.
    Mean,
    /// Integrate the missing entries out by expectation maximisation: nothing is filled in.
    Em,
}

impl Missing {
    /// Every policy.
    pub const ALL: [Missing; 5] =
        [Missing::Error, Missing::DropRows, Missing::DropColumns, Missing::Mean, Missing::Em];

    /// Its name on every surface.
    pub fn name(self) -> &'static str {
        match self {
            Missing::Error => "error",
            Missing::DropRows => "drop-rows",
            Missing::DropColumns => "drop-columns",
            Missing::Mean => "mean",
            Missing::Em => "em",
        }
    }

    /// The policy of that name.
    pub fn from_name(name: &str) -> Option<Missing> {
        Missing::ALL.into_iter().find(|policy| policy.name() == name)
    }
}

/// Where the missing entries of a data set are.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MissingCounts {
    /// Samples that count (weight above 0).
    pub rows: usize,
    /// Features.
    pub features: usize,
    /// Entries without a value.
    pub missing: usize,
    /// Samples with at least one hole.
    pub rows_with_missing: usize,
    /// Samples with nothing but missing entries, counted from 0: the first few of them.
    pub empty_rows: Vec<usize>,
    /// How many samples have nothing but missing entries.
    pub n_empty_rows: usize,
    /// Features with missing entries: number, name (or number in words), missing entries.
    pub columns: Vec<(usize, String, usize)>,
}

impl MissingCounts {
    /// The share of entries without a value.
    pub fn rate(&self) -> f64 {
        self.missing as f64 / (self.rows as f64 * self.features as f64).max(1.0)
    }
}

impl fmt::Display for MissingCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 6;
        write!(
            f,
            "{} of {} entries missing ({:.1} %), in {} of {} samples and {} of {} features",
            self.missing,
            self.rows * self.features,
            100.0 * self.rate(),
            self.rows_with_missing,
            self.rows,
            self.columns.len(),
            self.features
        )?;
        // The emptiest features first; of equals the first.
        let mut most: Vec<&(usize, String, usize)> = Vec::new();
        for column in &self.columns {
            let at = most.iter().position(|m| m.2 < column.2).unwrap_or(most.len());
            most.insert(at, column);
            most.truncate(SHOWN);
        }
        let names: Vec<String> = most.iter().map(|c| format!("{} {}", c.1, c.2)).collect();
        if !names.is_empty() {
            let more = if self.columns.len() > names.len() { ", …" } else { "" };
            write!(f, " ({}{more})", names.join(", "))?;
        }
        Ok(())
    }
}

/// What was done about missing entries: kept in the model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MissingReport {
    /// The policy.
    pub policy: Missing,
    /// Entries without a value.
    pub missing: usize,
    /// All entries.
    pub entries: usize,
    /// Samples with at least one hole.
    pub rows_with_missing: usize,
    /// Samples with nothing observed.
    pub empty_rows: usize,
    /// Features that were left out (names, or numbers in words).
    pub dropped_columns: Vec<String>,
}

impl MissingReport {
    pub(crate) fn new(policy: Missing, missing_counts: &MissingCounts) -> MissingReport {
        let dropped = policy == Missing::DropColumns;
        MissingReport {
            policy,
            missing: missing_counts.missing,
            entries: missing_counts.rows * missing_counts.features,
            rows_with_missing: missing_counts.rows_with_missing,
            empty_rows: missing_counts.n_empty_rows,
            dropped_columns: if dropped {
                missing_counts.columns.iter().map(|c| c.1.clone()).collect()
            } else {
                Vec::new()
            },
        }
    }
}

impl fmt::Display for MissingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = 100.0 * self.missing as f64 / (self.entries as f64).max(1.0);
        write!(
            f,
            "{}: {} of {} entries missing ({share:.1} %), ",
            self.policy.name(),
            self.missing,
            self.entries
        )?;
        match self.policy {
            Missing::Error => write!(f, "refused"),
            Missing::DropRows => {
                write!(f, "fitted without {}", plural(self.rows_with_missing, "sample", "samples"))
            }
            Missing::DropColumns => {
                write!(f, "fitted without {}", self.dropped_columns.join(", "))
            }
            Missing::Mean => write!(f, "replaced by the mean of their feature"),
            Missing::Em => write!(f, "integrated out by expectation maximisation"),
        }?;
        match self.empty_rows {
            0 => Ok(()),
            rows => {
                let samples = plural(rows, "sample has", "samples have");
                write!(f, "; {samples} nothing observed")
            }
        }
    }
}

/// The largest share of missing entries that is worked with unless a higher one is asked for.
pub(crate) const MOST_MISSING: f64 = 0.9;

/// Refuses data with too many missing entries, and features without any value.
pub(crate) fn check_rate<T: Scalar>(
    data: &Dataset<T>,
    missing_counts: &MissingCounts,
) -> Result<()> {
    if missing_counts.rate() > data.most_missing() {
        return Err(Error::TooManyHoles {
            rate: missing_counts.rate(),
            limit: data.most_missing(),
            missing: missing_counts.missing,
        });
    }
    let empty = missing_counts.columns.iter().find(|c| c.2 == missing_counts.rows);
    match (data.missing(), empty) {
        (Missing::DropColumns, _) | (_, None) => Ok(()),
        (_, Some((column, name, _))) => {
            Err(Error::EmptyColumn { column: *column, name: name.clone() })
        }
    }
}
