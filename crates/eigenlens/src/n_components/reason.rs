//! Why a rule was not computed.

use std::fmt;

/// Why a rule was not computed; `Display` says it in words.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// The rule assumes centred data.
    NeedsCentered,
    /// The rule is for standardised columns only.
    NeedsStandardized,
    /// The rule needs the data or a sample of its rows.
    NeedsData,
    /// The rule needs a sample of the rows because the spectrum is not that of the correlations.
    NeedsDataOrStandardized,
    /// The rule needs more of the spectrum than is known.
    NeedsSpectrum {
        /// Variances known.
        known: usize,
        /// Variances needed.
        needed: usize,
    },
    /// The known head of the spectrum does not decide: the next variance might count as well.
    HeadTooShort {
        /// Variances known.
        known: usize,
        /// Most that can carry variance.
        max_rank: usize,
    },
    /// Too few components can carry variance for the rule to compare.
    TooFewVariances {
        /// Variances there are.
        found: usize,
        /// Variances needed.
        needed: usize,
    },
    /// Too few samples.
    TooFewSamples {
        /// Samples (sum of the weights) there are.
        found: f64,
        /// Samples needed.
        needed: usize,
    },
    /// Too few columns that vary.
    TooFewFeatures {
        /// Such columns in the sample.
        found: usize,
        /// Columns needed.
        needed: usize,
    },
    /// The rule's own number is out of its range.
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The value that came.
        value: f64,
        /// What would be accepted.
        expected: &'static str,
    },
    /// The variances are not a spectrum: one is negative, not finite or out of order.
    NotASpectrum {
        /// What is wrong.
        what: &'static str,
    },
    /// An entry of the sample is missing or infinite.
    NotFinite {
        /// Row of the sample, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
    },
    /// The sample has another number of columns than the spectrum's data.
    SampleShape {
        /// Columns of the sample.
        found: usize,
        /// Features of the spectrum.
        expected: usize,
    },
    /// The draws would take too long without a sample to work on.
    TooCostly {
        /// Order of the matrices whose eigenvalues would be drawn.
        order: usize,
    },
    /// A dense factorisation broke down.
    Failed(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NeedsCentered => write!(f, "it assumes centred data"),
            Reason::NeedsStandardized => write!(f, "it is for standardised columns only"),
            Reason::NeedsData => write!(f, "it needs the data or a sample of its rows"),
            Reason::NeedsDataOrStandardized => write!(
                f,
                "it compares correlations: it needs standardised columns or a sample of the rows"
            ),
            Reason::NeedsSpectrum { known, needed } => {
                write!(f, "it needs {needed} variances, but {known} are known")
            }
            Reason::HeadTooShort { known, max_rank } => write!(
                f,
                "the {known} known variances of {max_rank} do not decide it: the next might count too"
            ),
            Reason::TooFewVariances { found, needed } => {
                write!(f, "it needs at least {needed} variances to compare, but there are {found}")
            }
            Reason::TooFewSamples { found, needed } => {
                write!(f, "it needs at least {needed} samples, but there are {found}")
            }
            Reason::TooFewFeatures { found, needed } => {
                write!(f, "it needs at least {needed} columns that vary, but there are {found}")
            }
            Reason::Parameter { name, value, expected } => {
                write!(f, "`{name}` is {value}, but it must be {expected}")
            }
            Reason::NotASpectrum { what } => write!(f, "the variances are not a spectrum: {what}"),
            Reason::NotFinite { row, column } => {
                let (row, column) = (row + 1, column + 1);
                write!(f, "row {row}, column {column} of the sample is missing or infinite")
            }
            Reason::SampleShape { found, expected } => {
                write!(f, "the sample has {found} columns, but {expected} are expected")
            }
            Reason::TooCostly { order } => write!(
                f,
                "drawing the eigenvalues of matrices of order {order} takes too long; a sample of the rows would do"
            ),
            Reason::Failed(what) => write!(f, "the computation failed: {what}"),
        }
    }
}
