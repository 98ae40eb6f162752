//! What may be asked for. The request is a type, the answer is a number.

use super::{Need, Reason};
use crate::error::{Error, Result};

/// How many components to keep.
#[derive(Clone, Debug, PartialEq)]
pub enum NComponents {
    /// Exactly this many.
    Fixed(usize),
    /// The fewest whose variances reach this share (0 to 1) of the total.
    VarianceShare(f64),
    /// As many as a rule finds.
    Rule(Rule),
    /// As many as the data allow: min(n, d).
    All,
}

impl From<usize> for NComponents {
    fn from(k: usize) -> Self {
        NComponents::Fixed(k)
    }
}

/// A rule that finds how many components to keep; the module computes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Variances above this number.
    Threshold(f64),
    /// Components that each carry more than this share of the total variance.
    Ratio(f64),
    /// The fewest components that together reach this share of the total variance.
    CumulativeShare(f64),
    /// The elbow of the scree plot by profile likelihood (Zhu & Ghodsi 2006).
    Elbow,
    /// Minka's Laplace approximation to the evidence of probabilistic PCA (Minka 2000).
    Minka,
    /// The Bayesian information criterion on the likelihood of probabilistic PCA.
    Bic,
    /// Components that beat the 95th percentile of data with independent columns (Horn 1965).
    ParallelAnalysis,
    /// The optimal hard threshold for singular values (Gavish & Donoho 2014); the noise's standard
    /// deviation, or `None` to estimate it from the median singular value.
    GavishDonoho {
        /// Standard deviation of the noise in one entry, when known.
        noise: Option<f64>,
    },
    /// Variances above those of a stick broken at random.
    BrokenStick,
    /// Variances above 1, for standardised data only.
    Kaiser,
    /// Least error on held-out entries.
    CrossValidation,
}

impl NComponents {
    /// Refuses what cannot be meant, before any row is read.
    pub(crate) fn check(&self) -> Result<()> {
        let wrong = |value: String, expected| {
            Err(Error::Parameter { name: "n_components", value, expected })
        };
        match *self {
            NComponents::Fixed(0) => wrong("0".into(), "at least 1"),
            NComponents::VarianceShare(share) if !(share > 0.0 && share <= 1.0) => {
                wrong(share.to_string(), "a share between 0 and 1")
            }
            _ => Ok(()),
        }
    }

    /// Refuses a number above `limit`, which so many samples and features allow.
    pub(crate) fn check_limit(&self, limit: usize, samples: usize, features: usize) -> Result<()> {
        match *self {
            NComponents::Fixed(requested) if requested > limit => {
                Err(Error::TooManyComponents { requested, limit, samples, features })
            }
            _ => Ok(()),
        }
    }

    /// The number, where the data have no say in it.
    pub(crate) fn number(&self, limit: usize) -> Option<usize> {
        match *self {
            NComponents::Fixed(k) => Some(k),
            NComponents::All => Some(limit),
            NComponents::VarianceShare(_) | NComponents::Rule(_) => None,
        }
    }

    /// Whether the data decide, and fewer pairs than all may do to find out.
    pub(crate) fn grows(&self) -> bool {
        match self {
            NComponents::VarianceShare(_) => true,
            NComponents::Rule(rule) => rule.stops_early(),
            NComponents::Fixed(_) | NComponents::All => false,
        }
    }

    /// How many pairs to expect before the data have been seen.
    pub(crate) fn likely(&self, limit: usize) -> usize {
        if self.grows() { 32.min(limit) } else { self.number(limit).unwrap_or(limit).min(limit) }
    }
}

impl Rule {
    /// What the rule must be given to be sure of an answer. Some make do with less: see the module.
    pub fn need(&self) -> Need {
        match self {
            Rule::Threshold(_)
            | Rule::Ratio(_)
            | Rule::CumulativeShare(_)
            | Rule::Elbow
            | Rule::BrokenStick
            | Rule::Kaiser
            | Rule::GavishDonoho { noise: Some(_) } => Need::Head,
            Rule::Minka | Rule::Bic | Rule::GavishDonoho { noise: None } => Need::FullSpectrum,
            Rule::ParallelAnalysis | Rule::CrossValidation => Need::Data,
        }
    }

    /// The rule's name, the same on every surface.
    pub fn name(&self) -> &'static str {
        match self {
            Rule::Threshold(_) => "threshold",
            Rule::Ratio(_) => "ratio",
            Rule::CumulativeShare(_) => "cumulative-share",
            Rule::Elbow => "elbow",
            Rule::Minka => "minka",
            Rule::Bic => "bic",
            Rule::ParallelAnalysis => "parallel-analysis",
            Rule::GavishDonoho { .. } => "gavish-donoho",
            Rule::BrokenStick => "broken-stick",
            Rule::Kaiser => "kaiser",
            Rule::CrossValidation => "cross-validation",
        }
    }

    /// One of each: variances above 1, shares above 5 %, 95 % together, unknown noise.
    pub fn all() -> Vec<Rule> {
        vec![
            Rule::Threshold(1.0),
            Rule::Ratio(0.05),
            Rule::CumulativeShare(0.95),
            Rule::Elbow,
            Rule::Minka,
            Rule::Bic,
            Rule::ParallelAnalysis,
            Rule::GavishDonoho { noise: None },
            Rule::BrokenStick,
            Rule::Kaiser,
            Rule::CrossValidation,
        ]
    }

    /// Whether the rule stops where it has seen enough; the others look at all variances.
    pub(crate) fn stops_early(&self) -> bool {
        matches!(self, Rule::Threshold(_) | Rule::Ratio(_) | Rule::CumulativeShare(_))
    }

    /// Whether the rule's reasoning rests on columns of mean 0.
    pub(super) fn assumes_centered(&self) -> bool {
        match self {
            // The uncentred first component is mostly the mean: a Gaussian model about 0, the null
            // of independent columns and the stick say nothing about it.
            Rule::Minka | Rule::Bic | Rule::ParallelAnalysis | Rule::BrokenStick | Rule::Kaiser => {
                true
            }
            // A low-rank matrix plus noise need not be centred.
            Rule::Threshold(_)
            | Rule::Ratio(_)
            | Rule::CumulativeShare(_)
            | Rule::Elbow
            | Rule::GavishDonoho { .. }
            | Rule::CrossValidation => false,
        }
    }

    pub(super) fn check_parameter(&self) -> std::result::Result<(), Reason> {
        let (name, value, fits, expected) = match *self {
            Rule::Threshold(t) => ("threshold", t, t.is_finite(), "a finite number"),
            Rule::Ratio(p) => ("ratio", p, (0.0..=1.0).contains(&p), "between 0 and 1"),
            Rule::CumulativeShare(p) => {
                ("cumulative_share", p, (0.0..=1.0).contains(&p), "between 0 and 1")
            }
            Rule::GavishDonoho { noise: Some(s) } => {
                ("noise", s, s.is_finite() && s >= 0.0, "finite and not negative")
            }
            _ => return Ok(()),
        };
        if fits { Ok(()) } else { Err(Reason::Parameter { name, value, expected }) }
    }
}
