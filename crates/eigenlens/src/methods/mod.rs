//! One file per estimator; `pca.rs` is the one to read first.

mod fit;
mod from_matrix;
mod lsa;
mod pca;
mod supervised_fit;
mod supervised_pca;

pub use lsa::Lsa;
pub use pca::Pca;
pub use supervised_pca::SupervisedPca;
