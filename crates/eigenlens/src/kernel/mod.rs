//! Kernels: inner products in a feature space that is never visited.
//!
//! [`Kernel`] is what users ask for; [`Kernel::resolve`] turns it into a [`ResolvedKernel`], whose parameters
//! are numbers. [`Points`] are rows in the form kernels are computed from, [`tile`] computes
//! `TILE × TILE` values at a time.

mod bandwidth;
mod centering;
mod factor;
mod finish;
mod landmarks;
mod points;
mod projection;
mod random_features;
mod resolved;
mod sample;
mod sparse_points;
pub(crate) mod tile;

pub use bandwidth::Bandwidth;
pub use centering::{center_kernel, center_new_kernel};
pub use resolved::ResolvedKernel;

pub(crate) use bandwidth::median_bandwidth;
pub(crate) use factor::{Factor, FactorRows};
pub(crate) use landmarks::{between, pivoted_cholesky, uniform};
pub(crate) use points::{Arithmetic, Gathering, Points, TILE};
pub(crate) use projection::{Projection, Sink};
pub(crate) use random_features::RandomFeatures;
pub(crate) use sample::sample_rows;
pub(crate) use sparse_points::SparsePoints;
pub(crate) use tile::Scratch;

use crate::data::{Dataset, compiled_here};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use std::fmt;
use std::sync::Arc;

/// A function of two samples that is an inner product in some feature space (or, like the sigmoid,
/// nearly one).
///
/// ```
/// use eigenlens::{Bandwidth, Kernel, ndarray};
/// let x = ndarray::array![[0.0, 0.0], [3.0, 4.0]];
/// let kernel = Kernel::Rbf { gamma: Bandwidth::Sigma(5.0) }.resolve(&x, 0)?;
/// let values = kernel.matrix(&x, &x)?;
/// assert_eq!(values[[0, 0]], 1.0);
/// assert!((values[[0, 1]] - (-0.5f64).exp()).abs() < 1e-15);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone)]
pub enum Kernel {
    /// `x·y`.
    Linear,
    /// `exp(−γ ‖x−y‖²)`, the Gaussian kernel.
    Rbf {
        /// γ, or the rule that finds it.
        gamma: Bandwidth,
    },
    /// `exp(−γ ‖x−y‖₁)`.
    Laplacian {
        /// γ, or the rule that finds it.
        gamma: Bandwidth,
    },
    /// `(γ x·y + c)^p`.
    Polynomial {
        /// p, at least 1.
        degree: u32,
        /// γ.
        gamma: f64,
        /// c.
        coef0: f64,
    },
    /// `tanh(γ x·y + c)`. Not positive semi-definite.
    Sigmoid {
        /// γ; `None`: one over the number of features.
        gamma: Option<f64>,
        /// c.
        coef0: f64,
    },
    /// `x·y / (‖x‖ ‖y‖)`; 0 where a row is zero.
    Cosine,
    /// 1 where two rows are equal, else 0: for labels.
    Delta,
    /// The data are the kernel matrix: n × n in training, m × n for new samples.
    Precomputed,
    /// A function of one's own; see [`Kernel::custom`].
    Custom(CustomKernel),
}

/// A function of two rows.
type Function = dyn Fn(&[f64], &[f64]) -> f64 + Send + Sync;

/// A kernel of one's own, with the name it goes by.
#[derive(Clone)]
pub struct CustomKernel {
    name: String,
    function: Arc<Function>,
}

impl CustomKernel {
    /// The name it goes by.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        (self.function)(x, y)
    }
}

impl fmt::Debug for CustomKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CustomKernel({:?})", self.name)
    }
}

impl PartialEq for CustomKernel {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.function, &other.function)
    }
}

impl Default for Kernel {
    fn default() -> Self {
        Kernel::rbf()
    }
}

impl Kernel {
    /// The Gaussian kernel with the median heuristic.
    pub fn rbf() -> Kernel {
        Kernel::Rbf { gamma: Bandwidth::Median }
    }

    /// The Laplacian kernel with the median heuristic.
    pub fn laplacian() -> Kernel {
        Kernel::Laplacian { gamma: Bandwidth::Median }
    }

    /// `(1 + x·y)^p`.
    pub fn polynomial(degree: u32) -> Kernel {
        Kernel::Polynomial { degree, gamma: 1.0, coef0: 1.0 }
    }

    /// `tanh(x·y / d)`.
    pub fn sigmoid() -> Kernel {
        Kernel::Sigmoid { gamma: None, coef0: 0.0 }
    }

    /// A kernel of one's own: a symmetric function of two rows (d numbers each). Models made with
    /// it cannot be stored.
    pub fn custom(
        name: impl Into<String>,
        function: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static,
    ) -> Kernel {
        Kernel::Custom(CustomKernel { name: name.into(), function: Arc::new(function) })
    }

    /// The name: `linear`, `rbf`, `laplacian`, `polynomial`, `sigmoid`, `cosine`, `delta`,
    /// `precomputed` or the custom kernel's own.
    pub fn name(&self) -> &str {
        match self {
            Kernel::Linear => "linear",
            Kernel::Rbf { .. } => "rbf",
            Kernel::Laplacian { .. } => "laplacian",
            Kernel::Polynomial { .. } => "polynomial",
            Kernel::Sigmoid { .. } => "sigmoid",
            Kernel::Cosine => "cosine",
            Kernel::Delta => "delta",
            Kernel::Precomputed => "precomputed",
            Kernel::Custom(custom) => custom.name(),
        }
    }

    /// Refuses parameters that cannot be meant, before any row is read.
    pub(crate) fn check(&self) -> Result<()> {
        let wrong = |name, value: f64, expected| {
            Err(Error::Parameter { name, value: value.to_string(), expected })
        };
        match *self {
            Kernel::Rbf { gamma } | Kernel::Laplacian { gamma } => gamma.check(),
            Kernel::Polynomial { degree: 0, .. } => wrong("degree", 0.0, "at least 1"),
            Kernel::Polynomial { degree, .. } if degree > 100 => {
                wrong("degree", f64::from(degree), "at most 100")
            }
            Kernel::Polynomial { gamma, .. } | Kernel::Sigmoid { gamma: Some(gamma), .. }
                if !(gamma > 0.0 && gamma.is_finite()) =>
            {
                wrong("gamma", gamma, "a finite number above 0")
            }
            Kernel::Polynomial { coef0, .. } | Kernel::Sigmoid { coef0, .. }
                if !coef0.is_finite() =>
            {
                wrong("coef0", coef0, "a finite number")
            }
            _ => Ok(()),
        }
    }

    /// The kernel with its parameters as numbers, found from the data where a rule is to find
    /// them. `seed` chooses the samples a rule looks at.
    pub fn resolve<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        seed: u64,
    ) -> Result<ResolvedKernel> {
        let data = &data.into();
        compiled_here!(Kernel, self.resolve_typed(data, seed: u64) -> Result<ResolvedKernel>)
    }

    fn resolve_typed<T: Scalar>(&self, data: &Dataset<T>, seed: u64) -> Result<ResolvedKernel> {
        self.check()?;
        Ok(match self {
            Kernel::Linear => ResolvedKernel::Linear,
            Kernel::Rbf { gamma } => {
                ResolvedKernel::Rbf { gamma: gamma.of_squared_distances(data, seed)? }
            }
            Kernel::Laplacian { gamma } => {
                ResolvedKernel::Laplacian { gamma: gamma.of_absolute_distances(data, seed)? }
            }
            Kernel::Polynomial { degree, gamma, coef0 } => {
                ResolvedKernel::Polynomial { degree: *degree, gamma: *gamma, coef0: *coef0 }
            }
            Kernel::Sigmoid { gamma, coef0 } => ResolvedKernel::Sigmoid {
                gamma: gamma.unwrap_or(1.0 / data.n_features().max(1) as f64),
                coef0: *coef0,
            },
            Kernel::Cosine => ResolvedKernel::Cosine,
            Kernel::Delta => ResolvedKernel::Delta,
            Kernel::Precomputed => ResolvedKernel::Precomputed,
            Kernel::Custom(custom) => ResolvedKernel::Custom(custom.clone()),
        })
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kernel::Rbf { gamma } => write!(f, "Rbf({gamma:?})"),
            Kernel::Laplacian { gamma } => write!(f, "Laplacian({gamma:?})"),
            Kernel::Polynomial { degree, gamma, coef0 } => {
                write!(f, "Polynomial({degree}, {gamma}, {coef0})")
            }
            Kernel::Sigmoid { gamma, coef0 } => write!(f, "Sigmoid({gamma:?}, {coef0})"),
            other => f.write_str(other.name()),
        }
    }
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Kernel::Custom(a), Kernel::Custom(b)) => a == b,
            (Kernel::Custom(_), _) | (_, Kernel::Custom(_)) => false,
            (a, b) => format!("{a:?}") == format!("{b:?}"),
        }
    }
}
