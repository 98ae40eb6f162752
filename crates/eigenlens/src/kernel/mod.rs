//! Kernels: inner products in a feature space that is never visited.
//!
//! [`Kernel`] is what users ask for; [`Kernel::resolve`] turns it into a [`ResolvedKernel`], whose parameters
//! are numbers. What each kernel is stands in its file in `functions/`. [`Points`] are rows in the form kernels
//! are computed from, [`tile`] computes `TILE × TILE` values at a time.

mod bandwidth;
mod centering;
mod custom;
mod factor;
mod functions;
mod landmarks;
mod parameters;
mod points;
mod projection;
mod random_features;
mod resolved;
mod sample;
mod sparse_points;
pub(crate) mod tile;

pub use bandwidth::Bandwidth;
pub use centering::{center_kernel, center_new_kernel};
pub use custom::CustomKernel;
pub use functions::{KERNELS, Kernel, KernelSpec};
pub use parameters::{ParameterKind, ParameterSpec};
pub use resolved::ResolvedKernel;

pub(crate) use bandwidth::median_bandwidth;
pub(crate) use factor::{Factor, FactorRows};
pub(crate) use landmarks::{between, pivoted_cholesky, uniform};
pub(crate) use parameters::ParameterValue;
pub(crate) use points::{Arithmetic, Gathering, Points, TILE};
pub(crate) use projection::{Projection, Sink};
pub(crate) use random_features::RandomFeatures;
pub(crate) use sample::sample_rows;
pub(crate) use sparse_points::SparsePoints;
pub(crate) use tile::Scratch;

use crate::data::{Dataset, compiled_here};
use crate::error::Result;
use crate::scalar::Scalar;
use parameters::Parameters;

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
        Kernel::Custom(CustomKernel::new(name.into(), function))
    }

    /// The name: that of its row in [`KERNELS`], or the custom kernel's own.
    pub fn name(&self) -> &str {
        match self {
            Kernel::Custom(custom) => custom.name(),
            _ => self.row().0.name,
        }
    }

    /// Refuses parameters that cannot be meant, before any row is read.
    pub(crate) fn check(&self) -> Result<()> {
        let (spec, given) = self.row();
        spec.parameters.iter().zip(given).try_for_each(|(spec, (_, given))| spec.check(given))
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
        let (spec, given) = self.row();
        let number = |(name, given): (&'static str, ParameterValue)| {
            Ok((name, given.resolve(spec, data, seed)?))
        };
        let numbers = given.into_iter().map(number).collect::<Result<_>>()?;
        let custom = match self {
            Kernel::Custom(custom) => Some(custom.clone()),
            _ => None,
        };
        Ok(ResolvedKernel::new(spec, Parameters(numbers), custom))
    }
}
