//! Dependence between two sets of columns: label kernels and the Hilbert–Schmidt criterion.

mod labels;

pub use labels::LabelKernel;

pub(crate) use labels::Labels;
