//! One file per estimator; `pca.rs` is the one to read first.

mod axes;
mod bayesian;
mod certify;
mod em;
mod estimator;
mod fit;
mod from_matrix;
mod isomap;
mod kernel_exact;
mod kernel_factor;
mod kernel_pca;
mod kernel_plan;
mod kernel_supervised_pca;
mod laplacian;
mod lle;
mod lsa;
mod mds;
mod mixture;
mod pca;
mod ppca;
mod registry;
mod sparse_pca;
mod spectral;

mod supervised_fit;
mod supervised_pca;

pub use axes::{Axis, AxisShare};
pub use bayesian::BayesianPca;
pub use estimator::{Estimator, FitContext, Fitted, Method};
pub use isomap::Isomap;
pub use kernel_pca::{Approximation, KernelPca, KernelStorage, Landmarks};
pub use kernel_supervised_pca::KernelSupervisedPca;
pub use laplacian::LaplacianEigenmaps;
pub use lle::Lle;
pub use lsa::Lsa;
pub use mds::Mds;
pub use mixture::{PartsCompared, PpcaMixture};
pub use pca::Pca;
pub use ppca::{Algorithm, Ppca};
pub use registry::{METHODS, from_parts};
pub use sparse_pca::{PenaltyScale, PerComponent, SparsePca};
pub use supervised_pca::SupervisedPca;
