//! How many components to keep: every rule side by side, each with its evidence.
//!
//! A rule says what it needs ([`Rule::need`]). One that cannot be computed here comes back as
//! [`Outcome::NotComputed`] with the reason: it is never an error.
//!
//! | rule | needs | file |
//! | --- | --- | --- |
//! | threshold, ratio, cumulative share | head of the spectrum | `threshold.rs` |
//! | broken stick, Kaiser | head of the spectrum | `broken_stick.rs`, `kaiser.rs` |
//! | elbow (Zhu & Ghodsi) | head of the spectrum, better all of it | `elbow.rs` |
//! | Minka, BIC | full spectrum | `ppca.rs` |
//! | Gavish & Donoho | head (noise known) or upper half of the spectrum | `gavish_donoho.rs` |
//! | parallel analysis | data, or a standardised spectrum | `parallel.rs` |
//! | cross-validation | data | `cross_validation.rs` |

mod broken_stick;
mod cross_validation;
mod elbow;
mod gavish_donoho;
mod kaiser;
mod known;
mod parallel;
mod ppca;
mod reason;
mod request;
mod resolve;
mod sample;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod text;
mod threshold;

pub use reason::Reason;
pub use request::{NComponents, Rule};
pub(crate) use resolve::{AllValues, Head, LeadingPairs, Resolved, resolve};

use known::Known;
use ndarray::ArrayView2;

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
    let known = Known::new(spectrum)?;
    if rule.assumes_centered() && !known.centered {
        return Err(Reason::NeedsCentered);
    }
    if rule == Rule::Kaiser && !known.standardized {
        return Err(Reason::NeedsStandardized);
    }
    if known.total == 0.0 {
        let notes = vec!["the data have no variance".into()];
        return Ok(Found { n_components: 0, evidence: Evidence { notes, ..Evidence::default() } });
    }
    match rule {
        Rule::Threshold(above) => threshold::variance(&known, above),
        Rule::Ratio(above) => threshold::ratio(&known, above),
        Rule::CumulativeShare(share) => threshold::cumulative_share(&known, share),
        Rule::Elbow => elbow::choose(&known),
        Rule::Minka => ppca::minka(&known),
        Rule::Bic => ppca::bic(&known),
        Rule::ParallelAnalysis => parallel::choose(&known, sample, seed),
        Rule::GavishDonoho { noise } => gavish_donoho::choose(&known, noise),
        Rule::BrokenStick => broken_stick::choose(&known),
        Rule::Kaiser => kaiser::choose(&known),
        Rule::CrossValidation => {
            cross_validation::choose(&known, sample.ok_or(Reason::NeedsData)?, seed)
        }
    }
}
