//! One file per estimator; `pca.rs` is the one to read first.

mod bayesian;
mod em;
mod fit;
mod from_matrix;
mod isomap;
mod laplacian;
mod lle;
mod lsa;
mod mds;
mod mixture;
mod pca;
mod ppca;
mod sparse_pca;
mod spectral;

pub use bayesian::BayesianPca;
pub use isomap::Isomap;
pub use laplacian::LaplacianEigenmaps;
pub use lle::Lle;
pub use lsa::Lsa;
pub use mds::Mds;
pub use mixture::{PartsCompared, PpcaMixture};
pub use pca::Pca;
pub use ppca::{Algorithm, Ppca};
pub use sparse_pca::{PenaltyScale, PerComponent, SparsePca};
