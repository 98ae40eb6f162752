//! Dependence between two sets of columns: the Hilbert–Schmidt independence criterion, and label
//! kernels as thin factors.

mod gamma;
mod hsic;
mod labels;
mod permutation;
mod side;
mod sums;

pub use hsic::{GammaTest, Hsic, HsicEstimate, PermutationTest};
pub use labels::LabelKernel;

pub(crate) use labels::Labels;
