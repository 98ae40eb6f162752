//! Symmetric operators: what the solvers see of a problem.

mod blended;
mod centered;
mod deflated;
mod feature_gram;
mod kernel_gram;
mod matrix;
mod sparse_symmetric;

pub use deflated::Deflated;
pub use matrix::SymmetricMatrix;
pub use sparse_symmetric::SparseSymmetric;

pub(crate) use blended::Blended;
pub(crate) use centered::Centered;
pub(crate) use feature_gram::FeatureGram;
pub(crate) use kernel_gram::KernelGram;

use crate::error::Result;
use ndarray::{Array2, ArrayView2};

/// A symmetric linear map, known only by what it does to a block of vectors.
///
/// Writing one takes a few lines:
///
/// ```
/// use eigenlens::{Operator, Options, Result, ndarray, solver};
/// use ndarray::{Array2, ArrayView2};
///
/// /// The second difference on a line, −1 2 −1.
/// struct Line(usize);
///
/// impl Operator for Line {
///     fn dim(&self) -> usize { self.0 }
///     fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
///         let n = self.0;
///         for i in 0..n {
///             for j in 0..v.ncols() {
///                 let left = if i > 0 { v[[i - 1, j]] } else { 0.0 };
///                 let right = if i + 1 < n { v[[i + 1, j]] } else { 0.0 };
///                 out[[i, j]] = 2.0 * v[[i, j]] - left - right;
///             }
///         }
///         Ok(())
///     }
/// }
///
/// let pairs = solver::largest(&Line(400), 1, &Options::default())?;
/// let exact = 2.0 - 2.0 * (400.0 * std::f64::consts::PI / 401.0).cos();
/// assert!((pairs.values[0] - exact).abs() < 1e-8);
/// # Ok::<(), eigenlens::Error>(())
/// ```
pub trait Operator: Sync {
    /// The dimension d of the space.
    fn dim(&self) -> usize;

    /// Writes `A V` to `out`; both are d × b, row-major, for any b.
    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()>;

    /// A hash of what the operator is made of. Random starts and probes depend on it, so that nobody can make an
    /// operator that hides something from them; where it stays 0 they are those of the seed alone.
    fn fingerprint(&self) -> u64 {
        0
    }
}
