//! The parameters of kernels: what they may be asked to be, and the numbers they are.

use super::bandwidth::Bandwidth;
use super::functions::KernelSpec;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::scalar::Scalar;

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterSpec {
    /// Its name, the same on every surface and in model files.
    pub name: &'static str,
    /// What it may be.
    pub kind: ParameterKind,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterKind {
    /// γ of distances: a number above 0, or the rule that finds it; usually the median heuristic.
    Width,
    /// A number above 0; usually one over the number of features.
    PerFeature,
    /// A number above 0, usually this one.
    Positive(f64),
    /// A finite number, usually this one.
    Number(f64),
    /// A whole number from 1 to 100, usually this one.
    Degree(u32),
}

/// What a parameter is asked to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Given {
    Number(f64),
    /// Found from the data, or a number.
    Width(Bandwidth),
    /// One over the number of features.
    PerFeature,
}

/// The parameters of a kernel as numbers, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Parameters(pub Vec<(&'static str, f64)>);

impl Parameters {
    /// The number with this name, where the kernel has it.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, number)| *number)
    }

    /// The number that the kernel's own description names.
    pub(super) fn number(&self, name: &str) -> f64 {
        self.get(name).unwrap_or(f64::NAN)
    }
}

impl ParameterSpec {
    pub(super) const fn new(name: &'static str, kind: ParameterKind) -> ParameterSpec {
        ParameterSpec { name, kind }
    }

    /// Refuses what cannot be meant, before any row is read.
    pub(super) fn check(&self, given: Given) -> Result<()> {
        let number = match given {
            Given::Number(number) => number,
            Given::Width(width) => return width.check(),
            Given::PerFeature => return Ok(()),
        };
        let (fits, expected) = match self.kind {
            ParameterKind::Degree(_) if number < 1.0 => (false, "at least 1"),
            ParameterKind::Degree(_) => (number <= 100.0, "at most 100"),
            ParameterKind::Number(_) => (number.is_finite(), "a finite number"),
            ParameterKind::Width | ParameterKind::PerFeature | ParameterKind::Positive(_) => {
                (number > 0.0 && number.is_finite(), "a finite number above 0")
            }
        };
        if fits {
            return Ok(());
        }
        Err(Error::Parameter { name: self.name, value: number.to_string(), expected })
    }
}

impl Given {
    /// The number, found from the data where a rule is to find it.
    pub(super) fn resolve<T: Scalar>(
        self,
        kernel: &KernelSpec,
        data: &Dataset<T>,
        seed: u64,
    ) -> Result<f64> {
        match (self, &kernel.width) {
            (Given::Number(number), _) => Ok(number),
            (Given::Width(width), Some(rule)) => width.resolve(rule, data, seed),
            (Given::Width(_), None) => {
                Err(Error::Internal(format!("the {} kernel has no width", kernel.name)))
            }
            (Given::PerFeature, _) => Ok(1.0 / data.n_features().max(1) as f64),
        }
    }

    fn number(self) -> Option<f64> {
        match self {
            Given::Number(number) | Given::Width(Bandwidth::Gamma(number)) => Some(number),
            Given::Width(_) | Given::PerFeature => None,
        }
    }
}

impl From<f64> for Given {
    fn from(number: f64) -> Given {
        Given::Number(number)
    }
}

impl From<u32> for Given {
    fn from(number: u32) -> Given {
        Given::Number(f64::from(number))
    }
}

impl From<Option<f64>> for Given {
    fn from(number: Option<f64>) -> Given {
        number.map_or(Given::PerFeature, Given::Number)
    }
}

impl From<Bandwidth> for Given {
    fn from(width: Bandwidth) -> Given {
        Given::Width(width)
    }
}

impl From<Given> for f64 {
    fn from(given: Given) -> f64 {
        given.number().unwrap_or(f64::NAN)
    }
}

impl From<Given> for u32 {
    fn from(given: Given) -> u32 {
        // What is too large stays too large.
        f64::from(given) as u32
    }
}

impl From<Given> for Option<f64> {
    fn from(given: Given) -> Option<f64> {
        given.number()
    }
}

impl From<Given> for Bandwidth {
    fn from(given: Given) -> Bandwidth {
        match given {
            Given::Number(gamma) => Bandwidth::Gamma(gamma),
            Given::Width(width) => width,
            Given::PerFeature => Bandwidth::PerFeature,
        }
    }
}
