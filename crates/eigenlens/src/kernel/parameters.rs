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
pub(crate) enum ParameterValue {
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
    pub(super) fn check(&self, given: ParameterValue) -> Result<()> {
        let number = match given {
            ParameterValue::Number(number) => number,
            ParameterValue::Width(width) => return width.check(),
            ParameterValue::PerFeature => return Ok(()),
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

impl ParameterValue {
    /// The number, found from the data where a rule is to find it.
    pub(super) fn resolve<T: Scalar>(
        self,
        kernel: &KernelSpec,
        data: &Dataset<T>,
        seed: u64,
    ) -> Result<f64> {
        match (self, &kernel.width) {
            (ParameterValue::Number(number), _) => Ok(number),
            (ParameterValue::Width(width), Some(rule)) => width.resolve(rule, data, seed),
            (ParameterValue::Width(_), None) => {
                Err(Error::Internal(format!("the {} kernel has no width", kernel.name)))
            }
            (ParameterValue::PerFeature, _) => Ok(1.0 / data.n_features().max(1) as f64),
        }
    }

    fn number(self) -> Option<f64> {
        match self {
            ParameterValue::Number(number) | ParameterValue::Width(Bandwidth::Gamma(number)) => {
                Some(number)
            }
            ParameterValue::Width(_) | ParameterValue::PerFeature => None,
        }
    }
}

impl From<f64> for ParameterValue {
    fn from(number: f64) -> ParameterValue {
        ParameterValue::Number(number)
    }
}

impl From<u32> for ParameterValue {
    fn from(number: u32) -> ParameterValue {
        ParameterValue::Number(f64::from(number))
    }
}

impl From<Option<f64>> for ParameterValue {
    fn from(number: Option<f64>) -> ParameterValue {
        number.map_or(ParameterValue::PerFeature, ParameterValue::Number)
    }
}

impl From<Bandwidth> for ParameterValue {
    fn from(width: Bandwidth) -> ParameterValue {
        ParameterValue::Width(width)
    }
}

impl From<ParameterValue> for f64 {
    fn from(given: ParameterValue) -> f64 {
        given.number().unwrap_or(f64::NAN)
    }
}

impl From<ParameterValue> for u32 {
    fn from(given: ParameterValue) -> u32 {
        // What is too large stays too large.
        f64::from(given) as u32
    }
}

impl From<ParameterValue> for Option<f64> {
    fn from(given: ParameterValue) -> Option<f64> {
        given.number()
    }
}

impl From<ParameterValue> for Bandwidth {
    fn from(given: ParameterValue) -> Bandwidth {
        match given {
            ParameterValue::Number(gamma) => Bandwidth::Gamma(gamma),
            ParameterValue::Width(width) => width,
            ParameterValue::PerFeature => Bandwidth::PerFeature,
        }
    }
}
