//! What may be asked for. The request is a type, the answer is a number.

use super::Rule;
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
