//! One file per estimator; `pca.rs` is the one to read first.

mod fit;
mod from_matrix;
mod isomap;
mod laplacian;
mod lle;
mod lsa;
mod mds;
mod pca;
mod spectral;

pub use isomap::Isomap;
pub use laplacian::LaplacianEigenmaps;
pub use lle::Lle;
pub use lsa::Lsa;
pub use mds::Mds;
pub use pca::Pca;
