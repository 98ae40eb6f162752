//! How many components to keep: every rule side by side, each with its evidence.
//!
//! A rule says what it needs ([`Rule::need`]). One that cannot be computed here comes back as
//! [`Outcome::NotComputed`] with the reason: it is never an error.
//!
//! A rule is a file with a description ([`RuleSpec`]) and a row in `rule.rs`.

mod bic;
mod broken_stick;
mod cross_validation;
mod cumulative_share;
mod elbow;
mod gavish_donoho;
mod kaiser;
mod known;
mod minka;
mod parallel;
mod ppca;
mod ratio;
mod reason;
mod request;
mod resolve;
mod rule;
mod sample;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod text;
mod threshold;

pub use reason::Reason;
pub use request::NComponents;
pub(crate) use resolve::{AllValues, Head, LeadingPairs, Resolved, resolve};
pub use rule::{RULES, Rule, RuleSpec};

use known::Known;
use ndarray::ArrayView2;
use rule::Question;

/// What rules may look at.
#[derive(Clone, Debug)]
pub struct Spectrum<'a> {
    /// Explained variances, descending, divisor n − 1; perhaps only the head.
    pub values: &'a [f64],
    /// tr S, exact even when `values` is only the head.
    pub total_variance: f64,
    /// Sum of the weights; the number of samples where there are none.
    pub n_samples: f64,
    /// Number of features d.
    pub n_features: usize,
    /// How many of them vary (uncentred: are not all 0). A constant feature changes no rule.
    pub n_varying: usize,
    /// Most components that can carry variance: min(n − 1, d) centred, min(n, d) uncentred.
    pub max_rank: usize,
    /// Whether the columns were centred.
    pub centered: bool,
    /// Whether the columns were divided by their standard deviations.
    pub standardized: bool,
}

/// What a rule must be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The leading variances and the total variance.
    Head,
    /// All `max_rank` variances.
    FullSpectrum,
    /// The data, or a subsample of its rows.
    Data,
}

/// The data or a stated subsample of its rows, for the rules that need data.
#[derive(Clone, Debug)]
pub struct Sample<'a> {
    /// Raw values (neither centred nor scaled), one row per sample.
    pub rows: ArrayView2<'a, f64>,
    /// Rows in the whole data.
    pub of: usize,
}

/// What a rule chose, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The rule.
    pub rule: Rule,
    /// How many components it keeps.
    pub n_components: usize,
    /// What it went by.
    pub evidence: Evidence,
}

/// What a rule went by: all numbers are finite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Criteria by number of components, or values by component.
    pub curves: Vec<Curve>,
    /// Numbers that were compared with.
    pub thresholds: Vec<(&'static str, f64)>,
    /// What a reader should know: draws made, rows used, special cases met.
    pub notes: Vec<String>,
}

/// A number for each number of components.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What the numbers are.
    pub name: &'static str,
    /// Number of components that `values[0]` belongs to.
    pub first: usize,
    /// The numbers.
    pub values: Vec<f64>,
}

/// A choice, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The rule chose.
    Chosen(Choice),
    /// The rule cannot be computed here.
    NotComputed {
        /// The rule.
        rule: Rule,
        /// Why.
        reason: Reason,
    },
}

impl Outcome {
    /// The rule it is about.
    pub fn rule(&self) -> Rule {
        match self {
            Outcome::Chosen(choice) => choice.rule,
            Outcome::NotComputed { rule, .. } => *rule,
        }
    }

    /// The number of components chosen, if one was.
    pub fn n_components(&self) -> Option<usize> {
        match self {
            Outcome::Chosen(choice) => Some(choice.n_components),
            Outcome::NotComputed { .. } => None,
        }
    }
}

/// Applies one rule.
///
/// `sample` serves the rules that need data; `seed` those that draw random numbers.
pub fn apply(rule: Rule, spectrum: &Spectrum, sample: Option<&Sample>, seed: u64) -> Outcome {
    match choose(rule, spectrum, sample, seed) {
        Ok(Found { n_components, evidence }) => {
            Outcome::Chosen(Choice { rule, n_components, evidence })
        }
        Err(reason) => Outcome::NotComputed { rule, reason },
    }
}

/// Applies several rules, in the order given.
pub fn apply_all(
    rules: &[Rule],
    spectrum: &Spectrum,
    sample: Option<&Sample>,
    seed: u64,
) -> Vec<Outcome> {
    rules.iter().map(|&rule| apply(rule, spectrum, sample, seed)).collect()
}

/// A rule's answer before the rule's name is put on it.
pub(super) struct Found {
    n_components: usize,
    evidence: Evidence,
}

fn choose(
    rule: Rule,
    spectrum: &Spectrum,
    sample: Option<&Sample>,
    seed: u64,
) -> Result<Found, Reason> {
    rule.check_parameter()?;
    let (spec, number) = rule.row();
    let known = &Known::new(spectrum)?;
    if spec.assumes_centered && !known.centered {
        return Err(Reason::NeedsCentered);
    }
    if spec.assumes_standardized && !known.standardized {
        return Err(Reason::NeedsStandardized);
    }
    if known.total == 0.0 {
        let notes = vec!["the data have no variance".into()];
        return Ok(Found { n_components: 0, evidence: Evidence { notes, ..Evidence::default() } });
    }
    (spec.choose)(&Question { known, number, sample, seed })
}
