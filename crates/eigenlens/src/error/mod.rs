//! What can go wrong, and what to do about it: fields, not strings.

mod warning;
mod words;

pub use warning::Warning;

pub(crate) use words::{Bytes, plural};

use words::{column_label, named, numbers};

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a computation could not be done. [`Error::hint`] says what would help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data have no rows. Check the file or the slice that was passed.
    #[error("the data have no rows")]
    NoRows,
    /// There are too few samples to speak of variance. Add samples.
    #[error("the data have {found} row{}, but at least {needed} are needed", if *found == 1 { "" } else { "s" })]
    TooFewRows {
        /// Rows that came (with weights: rows of positive weight).
        found: usize,
        /// Rows needed.
        needed: usize,
    },
    /// The data have no columns.
    #[error("the data have no columns")]
    NoColumns,
    /// An entry is missing (NaN) and the policy is to refuse. Drop the row or the column, or choose
    /// another [`Missing`](crate::Missing) policy; [`Dataset::missing_counts`](crate::Dataset::missing_counts) says where they
    /// all are.
    #[error("row {row}, column {} is missing (NaN)", column_label(*column, name))]
    MissingValue {
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The column's name, when the data have names.
        name: Option<String>,
    },
    /// Too many entries are missing. Allow it with
    /// [`Dataset::with_most_missing`](crate::Dataset::with_most_missing), if that is meant.
    #[error(
        "{:.1} % of the entries are missing ({missing} of them), but at most {:.1} % are worked with",
        100.0 * rate,
        100.0 * limit
    )]
    TooManyHoles {
        /// Share of the entries that is missing.
        rate: f64,
        /// The share allowed.
        limit: f64,
        /// Entries that are missing.
        missing: usize,
    },
    /// A column has no value at all, so nothing can be known about it. Leave it out.
    #[error("column {name} has no value at all")]
    EmptyColumn {
        /// Column, counted from 0.
        column: usize,
        /// Its name, or its number in words.
        name: String,
    },
    /// Hardly a row or a column is without missing entries, so that leaving them out leaves nothing. Choose
    /// another [`Missing`](crate::Missing) policy.
    #[error("`{policy}` leaves {left}, because the others have missing entries")]
    NothingLeft {
        /// The policy.
        policy: &'static str,
        /// Rows or columns left.
        left: usize,
    },
    /// An entry is infinite. Mend or drop it: an infinite value has no variance.
    #[error("row {row}, column {} is {value}", column_label(*column, name))]
    Infinite {
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The column's name, when the data have names.
        name: Option<String>,
        /// The value that came.
        value: f64,
    },
    /// More components were asked for than the data allow. Ask for at most `limit`.
    #[error(
        "`n_components` is {requested}, but these data allow at most {limit} ({samples} samples, {features} features)"
    )]
    TooManyComponents {
        /// Components asked for.
        requested: usize,
        /// The most these data allow.
        limit: usize,
        /// Samples in the data.
        samples: usize,
        /// Features in the data.
        features: usize,
    },
    /// More non-zeros were asked for than there are features. Ask for at most `features`.
    #[error("`{name}` is {requested}, but there are only {features} features")]
    TooManyNonZeros {
        /// The option's name.
        name: &'static str,
        /// Non-zeros asked for.
        requested: usize,
        /// Features in the data.
        features: usize,
    },
    /// An option is out of its range.
    #[error("`{name}` is {value}, but it must be {expected}")]
    Parameter {
        /// The option's name, as in the vocabulary.
        name: &'static str,
        /// The value that came.
        value: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// An option has a value that it cannot have.
    #[error("`{option}` is {value}, but it must be {expected}")]
    OptionValue {
        /// Its name.
        option: &'static str,
        /// What came.
        value: String,
        /// What it may be.
        expected: String,
    },
    /// A method has no option of this name: use one of those it has.
    #[error("the method `{method}` has no option `{option}`; there are {}", known.join(", "))]
    UnknownOption {
        /// What was asked for.
        option: String,
        /// The method.
        method: &'static str,
        /// The options that there are.
        known: Vec<&'static str>,
    },
    /// An option counts only where another one has a certain value: set that, or leave it out.
    #[error("`{option}` needs `{other}` to be {}", values.join(" or "))]
    OptionNeeds {
        /// The option.
        option: &'static str,
        /// The other one.
        other: &'static str,
        /// What that may be.
        values: Vec<&'static str>,
    },
    /// An option does not go with what else was asked for: leave it out.
    #[error("`{option}` {why}")]
    OptionMisfit {
        /// The option.
        option: &'static str,
        /// Why it does not fit.
        why: &'static str,
    },
    /// Two options exclude each other: leave one out.
    #[error("`{option}` does not go with `{other}`")]
    OptionExcludes {
        /// One.
        option: &'static str,
        /// The other.
        other: &'static str,
    },
    /// Two options or an option and the data do not fit together.
    #[error("{what} {why}")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// Why it cannot be done.
        why: &'static str,
        /// What to do instead, when there is one thing.
        instead: Option<Hint>,
    },
    /// A sample weight is negative or not finite.
    #[error("the weight of row {row} is {value}, but it must be finite and not negative")]
    Weight {
        /// Row, counted from 0.
        row: usize,
        /// The weight that came.
        value: f64,
    },
    /// The weights sum to too little to be counts. Use relative weights if only their ratios matter.
    #[error("the sample weights sum to {sum}, but as counts they must sum to more than 1")]
    WeightSum {
        /// The sum that came.
        sum: f64,
    },
    /// A count of terms is negative.
    #[error("row {row}, column {column} is {value}, but a count must not be negative")]
    NegativeCount {
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The value that came.
        value: f64,
    },
    /// No sample has a label.
    #[error("no sample has a label")]
    NoLabels,
    /// Every labelled sample is of one class: there is nothing to tell apart.
    #[error("every label is `{label}`, but at least 2 classes are needed")]
    OneClass {
        /// The one class.
        label: String,
    },
    /// The target is the same number for every sample.
    #[error("the target is {value} for every sample, but it must vary")]
    ConstantTarget {
        /// The one value.
        value: f64,
    },
    /// A number of the target is not finite.
    #[error("the target of row {row} is {value}, but it must be finite")]
    InfiniteTarget {
        /// Row, counted from 0.
        row: usize,
        /// The value that came.
        value: f64,
    },
    /// Samples have no label. Leave them out, or ask for their use without labels.
    #[error("{} no label: {}", if rows.len() == 1 { "1 row has".to_string() } else { format!("{} rows have", rows.len()) }, numbers(rows))]
    MissingLabels {
        /// Rows, counted from 0.
        rows: Vec<usize>,
    },
    /// A column is both target and feature: its directions would say nothing. Leave it out of the
    /// features.
    #[error("column `{name}` is the target and also among the features")]
    TargetIsFeature {
        /// The column.
        name: String,
    },
    /// Two shapes that belong together differ.
    #[error("{what} has {found}, but {expected} is expected")]
    Shape {
        /// The thing with the wrong shape.
        what: &'static str,
        /// The shape that came, in words.
        found: String,
        /// The shape that fits, in words.
        expected: String,
    },
    /// Two sets of features that belong together have other names. Choose the same columns for both.
    #[error(
        "the features of {what} are others{}{}",
        named("missing", missing),
        named("not known", unknown)
    )]
    OtherFeatures {
        /// What has other features.
        what: &'static str,
        /// Features it should have.
        missing: Vec<String>,
        /// Features it should not have.
        unknown: Vec<String>,
    },
    /// A matrix that must be symmetric is not.
    #[error(
        "{what} is not symmetric: entries ({row}, {column}) and ({column}, {row}) are {upper} and {lower}"
    )]
    NotSymmetric {
        /// The matrix.
        what: &'static str,
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// Entry (row, column).
        upper: f64,
        /// Entry (column, row).
        lower: f64,
    },
    /// An entry of a distance matrix cannot be a distance.
    #[error("the distance ({row}, {column}) is {value}, but it must be {expected}")]
    NotADistance {
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The value that came.
        value: f64,
        /// What would be accepted.
        expected: &'static str,
    },
    /// A given distance or affinity is below 0, or an entry of data whose kernel is for histograms and counts.
    #[error("{what} ({row}, {column}) is {value}, but it must be at least 0")]
    Negative {
        /// What it would be.
        what: &'static str,
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The value that came.
        value: f64,
    },
    /// More neighbours were asked for than there are other samples.
    #[error("`n_neighbors` is {requested}, but every sample has only {limit} others")]
    TooManyNeighbors {
        /// Neighbours asked for.
        requested: usize,
        /// Other samples.
        limit: usize,
    },
    /// A sample has fewer neighbours than are needed.
    #[error(
        "{by} needs at least {needed} neighbours of every sample, but {} {found}",
        row.map_or("`n_neighbors` is".into(), |row| format!("row {row} has"))
    )]
    TooFewNeighbors {
        /// What needs them.
        by: &'static str,
        /// Row, counted from 0, where rows differ.
        row: Option<usize>,
        /// Neighbours that there are.
        found: usize,
        /// Neighbours that there must be.
        needed: usize,
    },
    /// The graph of neighbours is not in one piece. Ask for more neighbours, or for bridges.
    #[error("with {neighborhood} the graph falls into {} parts ({} samples)", sizes.len(), numbers(sizes))]
    Disconnected {
        /// Samples in every part, largest first.
        sizes: Vec<usize>,
        /// Who is a neighbour, in words.
        neighborhood: String,
        /// The option that helps.
        cure: &'static str,
    },
    /// A new sample has no neighbour among the training samples within the radius.
    #[error("row {row} has no training sample within {radius}")]
    Isolated {
        /// Row, counted from 0.
        row: usize,
        /// The radius of the model.
        radius: f64,
    },
    /// A matrix that must be positive semi-definite has a clearly negative eigenvalue.
    #[error(
        "{what} is not positive semi-definite: it has the eigenvalue {eigenvalue:e} beside {largest:e}"
    )]
    NotPositive {
        /// The matrix.
        what: &'static str,
        /// The most negative eigenvalue.
        eigenvalue: f64,
        /// The largest eigenvalue.
        largest: f64,
    },
    /// Bytes are not a valid stored state.
    #[error("the bytes are not valid {what}: {reason}")]
    Bytes {
        /// What they should have been.
        what: &'static str,
        /// The check that failed.
        reason: String,
    },
    /// A stored model is not valid: it was damaged, or made by something else.
    #[error("the model is not valid: `{part}` {reason}")]
    Model {
        /// The part that failed its check.
        part: String,
        /// What it is, and what it must be.
        reason: String,
    },
    /// No route fits into the memory budget; nothing has been read.
    #[error("{route} needs {} of memory, but the budget is {}", Bytes(*needed), Bytes(*budget))]
    Memory {
        /// The leanest route that was considered.
        route: String,
        /// Bytes it needs.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// The system does not give the memory that is needed.
    #[error("{what} needs {} of memory, which the system does not give", Bytes(*needed))]
    OutOfMemory {
        /// What needs it.
        what: String,
        /// Bytes it needs.
        needed: u64,
    },
    /// An iteration stopped before it met its tolerance.
    #[error(
        "{what} did not converge in {iterations} iterations (residual {residual:e}, wanted {tolerance:e})"
    )]
    NotConverged {
        /// The algorithm.
        what: &'static str,
        /// Iterations made.
        iterations: usize,
        /// Residual reached.
        residual: f64,
        /// Residual wanted.
        tolerance: f64,
    },
    /// Every sample is the same, where the method needs them to differ. Check the data.
    #[error("the data have no variance, but {what} needs some")]
    NoVariance {
        /// What needs it.
        what: &'static str,
    },
    /// Results are beyond the largest number of their type. Rescale the data.
    #[error("{what} are outside the range of numbers")]
    OutOfRange {
        /// The results.
        what: &'static str,
    },
    /// A quantity is not defined for this model.
    #[error("{what} is not defined: {why}")]
    NotDefined {
        /// The quantity.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// A reader of rows failed.
    #[error("the rows cannot be read: {0}")]
    Read(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A re-readable source gave other data on a later pass.
    #[error("the data changed between two passes: {what}")]
    Changed {
        /// What differed.
        what: String,
    },
    /// The fit was cancelled by its [`Cancel`](crate::Cancel) token.
    #[error("cancelled")]
    Cancelled,
    /// A dense factorisation broke down in spite of finite, scaled input: a defect of ours.
    #[error("internal: {0}")]
    Internal(String),
}

/// The sort of failure, from which a program chooses its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request cannot be right: change the options.
    Usage,
    /// The data cannot be right: change the data.
    Data,
    /// The memory budget is too small.
    Memory,
    /// The computation failed.
    Computation,
}

/// What would help, as data: each surface words it in its own syntax.
#[derive(Clone, Debug, PartialEq)]
pub enum Hint {
    /// Set this option to that value.
    Set {
        /// The option's name, as in the vocabulary.
        option: &'static str,
        /// The value.
        value: String,
    },
    /// Leave this row out (counted from 0).
    DropRow(usize),
    /// Leave this column out (counted from 0).
    DropColumn(usize),
    /// Scale the data so that their squares can be represented.
    Rescale,
}

impl Error {
    /// What would help, where one thing would.
    pub fn hint(&self) -> Option<Hint> {
        let set = |option, value: String| Some(Hint::Set { option, value });
        match self {
            Error::TooManyComponents { limit, .. } if *limit > 0 => {
                set("n_components", limit.to_string())
            }
            Error::TooManyNonZeros { name, features, .. } => set(name, features.to_string()),
            Error::MissingValue { row, .. } => Some(Hint::DropRow(*row)),
            Error::Infinite { row, .. } => Some(Hint::DropRow(*row)),
            Error::NothingLeft { .. } => set("missing", "em".into()),
            Error::TooManyHoles { rate, .. } => {
                set("most_missing", format!("{:.3}", (1000.0 * rate).ceil() / 1000.0))
            }
            Error::EmptyColumn { column, .. } => Some(Hint::DropColumn(*column)),
            Error::WeightSum { .. } => set("weights", "relative".into()),
            Error::MissingLabels { .. } => set("unlabelled", "keep".into()),
            Error::Memory { needed, .. } => set("memory", needed.to_string()),
            Error::NotConverged { iterations, .. } => {
                set("max_iterations", (iterations * 4).to_string())
            }
            Error::Unsupported { instead, .. } => instead.clone(),
            Error::OptionNeeds { other, values, .. } => {
                values.first().and_then(|value| set(other, (*value).into()))
            }
            Error::TooManyNeighbors { limit, .. } if *limit > 0 => {
                set("n_neighbors", limit.to_string())
            }
            Error::TooFewNeighbors { needed, .. } => set("n_neighbors", needed.to_string()),
            Error::Disconnected { cure, .. } => set(cure, "true".into()),
            Error::OutOfRange { .. } => Some(Hint::Rescale),
            Error::Isolated { row, .. } => Some(Hint::DropRow(*row)),
            _ => None,
        }
    }

    /// The sort of failure.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::TooManyComponents { .. }
            | Error::TooManyNeighbors { .. }
            | Error::TooFewNeighbors { .. }
            | Error::TooManyNonZeros { .. }
            | Error::Parameter { .. }
            | Error::OptionValue { .. }
            | Error::UnknownOption { .. }
            | Error::OptionNeeds { .. }
            | Error::OptionExcludes { .. }
            | Error::OptionMisfit { .. }
            | Error::Unsupported { .. }
            | Error::NotDefined { .. }
            | Error::NothingLeft { .. }
            | Error::TargetIsFeature { .. }
            | Error::WeightSum { .. } => ErrorKind::Usage,
            Error::Memory { .. } | Error::OutOfMemory { .. } => ErrorKind::Memory,
            Error::NotConverged { .. } | Error::Cancelled | Error::Internal(_) => {
                ErrorKind::Computation
            }
            _ => ErrorKind::Data,
        }
    }
}
