//! What users should know of a result that is right as far as it goes.

use super::words::{list, plural};
use std::fmt;

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
    /// Columns that are constant within every class, though not everywhere (indices, names where known): left out.
    ConstantWithinClasses {
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
            Warning::ConstantWithinClasses { names, .. } => write!(
                f,
                "{} constant within every class, where nothing measures how far classes are apart, and left out: {}",
                plural(names.len(), "column is", "columns are"),
                list(names)
            ),
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
