//! Kernels whose parameters are numbers.

use super::points::Gathering;
use super::{CustomKernel, Kernel};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use ndarray::Array2;
use std::fmt;

/// A kernel with every parameter a number. Fields as in [`Kernel`].
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum ResolvedKernel {
    /// `x·y`.
    Linear,
    /// `exp(−γ ‖x−y‖²)`.
    Rbf { gamma: f64 },
    /// `exp(−γ ‖x−y‖₁)`.
    Laplacian { gamma: f64 },
    /// `(γ x·y + c)^p`.
    Polynomial { degree: u32, gamma: f64, coef0: f64 },
    /// `tanh(γ x·y + c)`.
    Sigmoid { gamma: f64, coef0: f64 },
    /// `x·y / (‖x‖ ‖y‖)`.
    Cosine,
    /// 1 where two rows are equal, else 0.
    Delta,
    /// The rows of data are rows of the kernel matrix.
    Precomputed,
    /// A function of one's own.
    Custom(CustomKernel),
}

impl ResolvedKernel {
    /// The kernel's name, as [`Kernel::name`] gives it.
    pub fn name(&self) -> &str {
        match self {
            ResolvedKernel::Linear => "linear",
            ResolvedKernel::Rbf { .. } => "rbf",
            ResolvedKernel::Laplacian { .. } => "laplacian",
            ResolvedKernel::Polynomial { .. } => "polynomial",
            ResolvedKernel::Sigmoid { .. } => "sigmoid",
            ResolvedKernel::Cosine => "cosine",
            ResolvedKernel::Delta => "delta",
            ResolvedKernel::Precomputed => "precomputed",
            ResolvedKernel::Custom(custom) => custom.name(),
        }
    }

    /// γ, where the kernel has one.
    pub fn gamma(&self) -> Option<f64> {
        match *self {
            ResolvedKernel::Rbf { gamma }
            | ResolvedKernel::Laplacian { gamma }
            | ResolvedKernel::Polynomial { gamma, .. }
            | ResolvedKernel::Sigmoid { gamma, .. } => Some(gamma),
            _ => None,
        }
    }

    /// The kernel as asked for that resolves to this one.
    pub fn to_kernel(&self) -> Kernel {
        use super::Bandwidth::Gamma;
        match self.clone() {
            ResolvedKernel::Linear => Kernel::Linear,
            ResolvedKernel::Rbf { gamma } => Kernel::Rbf { gamma: Gamma(gamma) },
            ResolvedKernel::Laplacian { gamma } => Kernel::Laplacian { gamma: Gamma(gamma) },
            ResolvedKernel::Polynomial { degree, gamma, coef0 } => {
                Kernel::Polynomial { degree, gamma, coef0 }
            }
            ResolvedKernel::Sigmoid { gamma, coef0 } => {
                Kernel::Sigmoid { gamma: Some(gamma), coef0 }
            }
            ResolvedKernel::Cosine => Kernel::Cosine,
            ResolvedKernel::Delta => Kernel::Delta,
            ResolvedKernel::Precomputed => Kernel::Precomputed,
            ResolvedKernel::Custom(custom) => Kernel::Custom(custom),
        }
    }

    /// Whether every matrix of the kernel is positive semi-definite.
    pub fn is_positive(&self) -> bool {
        match *self {
            ResolvedKernel::Polynomial { coef0, .. } => coef0 >= 0.0,
            ResolvedKernel::Sigmoid { .. }
            | ResolvedKernel::Precomputed
            | ResolvedKernel::Custom(_) => false,
            _ => true,
        }
    }

    /// Whether `k(x, x)` is 1 for every x.
    pub(crate) fn has_unit_diagonal(&self) -> bool {
        self.is_translation_invariant() || *self == ResolvedKernel::Delta
    }

    /// Whether moving all points alike leaves the kernel as it is.
    pub(crate) fn is_translation_invariant(&self) -> bool {
        matches!(self, ResolvedKernel::Rbf { .. } | ResolvedKernel::Laplacian { .. })
    }

    /// The kernel of two rows, by its formula.
    pub fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let dot = || x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
        match self {
            ResolvedKernel::Linear => dot(),
            ResolvedKernel::Rbf { gamma } => {
                let square: f64 = x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum();
                (-gamma * square).exp()
            }
            ResolvedKernel::Laplacian { gamma } => {
                let length: f64 = x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum();
                (-gamma * length).exp()
            }
            ResolvedKernel::Polynomial { degree, gamma, coef0 } => {
                (gamma * dot() + coef0).powi(*degree as i32)
            }
            ResolvedKernel::Sigmoid { gamma, coef0 } => (gamma * dot() + coef0).tanh(),
            ResolvedKernel::Cosine => {
                let norm = |v: &[f64]| v.iter().map(|a| a * a).sum::<f64>().sqrt();
                let product = norm(x) * norm(y);
                if product > 0.0 { dot() / product } else { 0.0 }
            }
            ResolvedKernel::Delta => f64::from(u8::from(x == y)),
            // Not a function of rows: never asked for.
            ResolvedKernel::Precomputed => f64::NAN,
            ResolvedKernel::Custom(custom) => custom.value(x, y),
        }
    }

    /// The kernel's values between the rows of two data sets (m × n), for data that fit into memory
    /// with them.
    pub fn matrix<'a, 'b, T: Scalar>(
        &self,
        a: impl Into<Dataset<'a, T>>,
        b: impl Into<Dataset<'b, T>>,
    ) -> Result<Array2<f64>> {
        let a = &a.into();
        let b = &b.into();
        let right = Gathering::new(self, b)?.exact().gather()?;
        if *self != ResolvedKernel::Precomputed && a.n_features() != b.n_features() {
            return Err(Error::Shape {
                what: "the first data set",
                found: format!("{} features", a.n_features()),
                expected: format!("{}, as in the second,", b.n_features()),
            });
        }
        let left = right.like_rows_of(a)?;
        Ok(super::landmarks::between(self, &left, &right))
    }
}

impl fmt::Display for ResolvedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResolvedKernel::Rbf { gamma } => {
                let sigma = (0.5 / gamma).sqrt();
                write!(f, "rbf (gamma {gamma:.4e}, sigma {sigma:.4e})")
            }
            ResolvedKernel::Laplacian { gamma } => write!(f, "laplacian (gamma {gamma:.4e})"),
            ResolvedKernel::Polynomial { degree, gamma, coef0 } => {
                write!(f, "polynomial (degree {degree}, gamma {gamma}, coef0 {coef0})")
            }
            ResolvedKernel::Sigmoid { gamma, coef0 } => {
                write!(f, "sigmoid (gamma {gamma:.4e}, coef0 {coef0})")
            }
            other => f.write_str(other.name()),
        }
    }
}
