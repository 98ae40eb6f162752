//! One file per estimator; `pca.rs` is the one to read first.

mod fit;
mod from_matrix;
mod lsa;
mod pca;
mod sparse_pca;

pub use lsa::Lsa;
pub use pca::Pca;
pub use sparse_pca::{PenaltyScale, PerComponent, SparsePca};
