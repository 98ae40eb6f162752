//! One file per estimator; `pca.rs` is the one to read first.

mod em;
mod fit;
mod from_matrix;
mod lsa;
mod pca;
mod ppca;

pub use lsa::Lsa;
pub use pca::Pca;
pub use ppca::{Algorithm, Ppca};
