//! What can go wrong, and what to do about it: fields, not strings.

use std::fmt;

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
    /// Hardly a row or a column is without holes, so that leaving them out leaves nothing. Choose
    /// another [`Missing`](crate::Missing) policy.
    #[error("`{policy}` leaves {left}, because the others have holes")]
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
    /// A given distance or affinity is below 0.
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
            Error::Memory { .. } => ErrorKind::Memory,
            Error::NotConverged { .. } | Error::Cancelled | Error::Internal(_) => {
                ErrorKind::Computation
            }
            _ => ErrorKind::Data,
        }
    }
}

/// Something the user should know about a result that is right as far as it goes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// The data have no variance at all.
    NoVariance,
    /// Fewer components carry variance than were asked for; the rest are null.
    NullComponents {
        /// Components that carry variance.
        rank: usize,
        /// Components asked for.
        requested: usize,
    },
    /// Columns without variance (indices, names where known): weight 0 when standardising.
    ConstantColumns {
        /// Column numbers, counted from 0.
        columns: Vec<usize>,
        /// Their names (or numbers in words).
        names: Vec<String>,
    },
    /// One column carries nearly all of the variance: standardise, unless that is meant.
    DominantColumn {
        /// Column number.
        column: usize,
        /// Its name.
        name: String,
        /// Its share of the total variance.
        share: f64,
    },
    /// A component is essentially one sample.
    DominantRow {
        /// Component, counted from 0.
        component: usize,
        /// Row, counted from 0.
        row: usize,
        /// Share of the component's variance that this row carries.
        share: f64,
    },
    /// The stored numbers are too coarse for their spread: the spread of a column is only a few
    /// times the distance between neighbouring numbers of its type at its mean.
    Quantized {
        /// Column number.
        column: usize,
        /// Its name.
        name: String,
        /// Standard deviation divided by the spacing of numbers at the mean.
        levels: f64,
    },
    /// Some variances under- or overflow; components, ratios and scores are right all the same.
    VarianceOutOfRange,
    /// Some scores may overflow; components and ratios are right all the same.
    ScoresOutOfRange,
    /// Scores are heavy-tailed: sampling errors that assume normality are not to be trusted.
    HeavyTails {
        /// Components, counted from 0.
        components: Vec<usize>,
        /// Largest excess kurtosis of their scores.
        kurtosis: f64,
    },
    /// The first route was not accurate enough and a more careful one was taken.
    Escalated {
        /// The route left.
        from: String,
        /// The route taken.
        to: String,
        /// Why.
        why: String,
    },
    /// A rule for the number of components finds none; one is kept.
    RuleFindsNone {
        /// The rule.
        rule: &'static str,
    },
    /// Samples with nothing observed: they say nothing, and their scores are those of the mean.
    EmptyRows {
        /// How many there are.
        count: usize,
        /// The first few of them, counted from 0.
        rows: Vec<usize>,
    },
    /// Expectation maximisation stopped before its steps became small enough.
    EmNotConverged {
        /// Iterations made.
        iterations: usize,
        /// Relative change of the parameters in the last one.
        change: f64,
        /// Change wanted.
        tolerance: f64,
    },
    /// The components explain the observed entries to rounding: the noise variance was held at a
    /// small share of the variance, and the likelihood has no bound.
    NoiseVanishes {
        /// The noise variance, relative to the mean variance of a feature.
        share: f64,
    },
    /// Penalties left nothing of these components: lower them.
    ZeroComponents {
        /// Components, counted from 0.
        components: Vec<usize>,
    },
    /// The exact search stopped before its proof was complete: the best found, with its proven gap.
    OptimalityGap {
        /// Component, counted from 0.
        component: usize,
        /// The gap, relative to the proven upper bound.
        gap: f64,
        /// What stopped it.
        limit: &'static str,
    },
    /// An iteration stopped at its limit before it came to rest.
    Unsettled {
        /// The iteration.
        what: &'static str,
        /// Iterations made.
        iterations: usize,
        /// The last change.
        change: f64,
        /// The change at which it would have ended.
        tolerance: f64,
    },
    /// The labels tell fewer directions than were asked for: the rank of the centred label kernel.
    LabelRank {
        /// Components that depend on the labels.
        rank: usize,
        /// Components asked for.
        requested: usize,
    },
    /// The features have nothing in common with the target, as far as rounding lets see.
    NoDependence,
    /// Nearly every sample has a class of its own: the target looks like an identifier.
    IdentifierTarget {
        /// Classes.
        classes: usize,
        /// Labelled samples.
        samples: usize,
    },
    /// Samples without a label took part in means and variances only.
    Unlabelled {
        /// How many.
        samples: usize,
    },
    /// The label kernel was replaced by a thin one.
    LabelKernelCut {
        /// Columns of its factor.
        width: usize,
        /// Share of its trace that was left out.
        share: f64,
    },
    /// The kernel's width makes nearly all kernel values between different samples the same.
    DegenerateKernel {
        /// γ.
        gamma: f64,
        /// 0: every sample is alone; 1: all samples look alike.
        value: f64,
    },
    /// The kernel is not positive semi-definite.
    IndefiniteKernel {
        /// The negative eigenvalues' share of the spectrum (of moduli); a lower bound unless
        /// `complete`.
        share: f64,
        /// The most negative eigenvalue.
        smallest: f64,
        /// Whether all eigenvalues were computed.
        complete: bool,
    },
    /// The graph is in several parts, which the first components tell apart.
    SeveralParts {
        /// How many.
        parts: usize,
    },
    /// The certificate does not meet the tolerance asked for.
    NotCertified {
        /// Largest relative residual.
        residual: f64,
        /// Residual asked for.
        tolerance: f64,
    },
}

impl Warning {
    /// Whether a warning of PCA on a factor of a kernel means anything to the kernel's user, who has
    /// not seen the factor's columns.
    pub(crate) fn concerns_kernels(&self) -> bool {
        !matches!(
            self,
            Warning::ConstantColumns { .. }
                | Warning::DominantColumn { .. }
                | Warning::Quantized { .. }
                | Warning::VarianceOutOfRange
        )
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::NoVariance => write!(f, "the data have no variance"),
            Warning::NullComponents { rank, requested } => write!(
                f,
                "only {rank} of the {requested} components carry variance; the others are null"
            ),
            Warning::ConstantColumns { names, .. } => {
                write!(
                    f,
                    "{} constant: {}",
                    plural(names.len(), "column is", "columns are"),
                    list(names)
                )
            }
            Warning::DominantColumn { name, share, .. } => write!(
                f,
                "column {name} carries {:.1} % of the variance; standardising would give every column the same weight",
                share * 100.0
            ),
            Warning::DominantRow { component, row, share } => write!(
                f,
                "component {} is one row: row {row} carries {:.1} % of its variance",
                component + 1,
                share * 100.0
            ),
            Warning::Quantized { name, levels, .. } => write!(
                f,
                "column {name} is coarsely stored: its standard deviation spans only {levels:.1} steps of its number type"
            ),
            Warning::VarianceOutOfRange => write!(
                f,
                "a variance is outside the range of numbers; rescale the data to see it (components, ratios and scores are right)"
            ),
            Warning::ScoresOutOfRange => write!(
                f,
                "scores may be outside the range of numbers, and are infinite then; rescale the data to see them (components and ratios are right)"
            ),
            Warning::HeavyTails { components, kurtosis } => {
                let names: Vec<String> = components.iter().map(|j| (j + 1).to_string()).collect();
                write!(
                    f,
                    "scores are heavy-tailed (excess kurtosis up to {kurtosis:.0}): sampling errors are unreliable for {} {}",
                    if names.len() == 1 { "component" } else { "components" },
                    list(&names)
                )
            }
            Warning::Escalated { from, to, why } => {
                write!(f, "moved from the {from} to the {to} route: {why}")
            }
            Warning::RuleFindsNone { rule } => {
                write!(f, "the rule `{rule}` finds no component above the noise; one is kept")
            }
            Warning::EmptyRows { count, rows } => {
                let names: Vec<String> = rows.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "{} the prior: row {}{} (from 0)",
                    plural(
                        *count,
                        "sample has nothing observed and gets",
                        "samples have nothing observed and get"
                    ),
                    list(&names),
                    if rows.len() < *count && rows.len() <= 8 { ", …" } else { "" }
                )
            }
            Warning::EmNotConverged { iterations, change, tolerance } => write!(
                f,
                "expectation maximisation still changed by {change:.1e} after {iterations} iterations, the tolerance is {tolerance:.1e}"
            ),
            Warning::NoiseVanishes { share } => write!(
                f,
                "the components explain every observed entry; the noise variance is held at {share:.0e} of the variance"
            ),
            Warning::ZeroComponents { components } => {
                let names: Vec<String> = components.iter().map(|j| (j + 1).to_string()).collect();
                write!(
                    f,
                    "the penalty leaves nothing of {} {}; lower it",
                    if names.len() == 1 { "component" } else { "components" },
                    list(&names)
                )
            }
            Warning::OptimalityGap { component, gap, limit } => write!(
                f,
                "component {} is the best found when the {limit} limit was reached: none has more than {:.2} % more variance",
                component + 1,
                100.0 * gap / (1.0 - gap)
            ),
            Warning::Unsettled { what, iterations, change, tolerance } => write!(
                f,
                "{what} stopped after {iterations} iterations: its last change is {change:.1e}, the tolerance {tolerance:.1e}"
            ),
            Warning::LabelRank { rank, requested } => write!(
                f,
                "the target tells {} apart, not {requested}; the others are null",
                plural(*rank, "direction", "directions")
            ),
            Warning::NoDependence => {
                write!(f, "the features have nothing in common with the target")
            }
            Warning::IdentifierTarget { classes, samples } => write!(
                f,
                "the target has {classes} classes for {samples} samples: it looks like an identifier"
            ),
            Warning::Unlabelled { samples } => write!(
                f,
                "{} no label and took part in means and variances only",
                plural(*samples, "sample has", "samples have")
            ),
            Warning::LabelKernelCut { width, share } => write!(
                f,
                "the label kernel was cut to rank {width}, which leaves out {:.2} % of its trace",
                share * 100.0
            ),
            Warning::DegenerateKernel { gamma, value } => write!(
                f,
                "gamma {gamma:e} makes nearly all kernel values {value}: {}",
                if *value > 0.5 {
                    "all samples look alike; a larger gamma would tell them apart"
                } else {
                    "every sample is alone; a smaller gamma would let them meet"
                }
            ),
            Warning::IndefiniteKernel { share, smallest, complete } => write!(
                f,
                "the kernel is not positive semi-definite: {}{:.1} % of its spectrum is negative (down to {smallest:.3e})",
                if *complete { "" } else { "at least " },
                share * 100.0
            ),
            Warning::SeveralParts { parts } => write!(
                f,
                "the graph is in {parts} parts: the first components only tell them apart"
            ),
            Warning::NotCertified { residual, tolerance } => write!(
                f,
                "the certificate shows a relative residual of {residual:.1e}, the tolerance is {tolerance:.1e}"
            ),
        }
    }
}

/// Bytes in readable units.
pub(crate) struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let mut value = self.0 as f64;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < units.len() {
            value /= 1024.0;
            unit += 1;
        }
        if unit == 0 { write!(f, "{value} B") } else { write!(f, "{value:.1} {}", units[unit]) }
    }
}

fn column_label(column: usize, name: &Option<String>) -> String {
    match name {
        Some(name) => format!("{column} (`{name}`)"),
        None => column.to_string(),
    }
}

/// `; missing: `a`, `b``, or nothing where there are none.
fn named(what: &str, names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("; {what}: {}", list(&quoted))
}

fn numbers(values: &[usize]) -> String {
    list(&values.iter().map(usize::to_string).collect::<Vec<_>>())
}

pub(crate) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}
