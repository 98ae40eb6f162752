//! One file per estimator; `pca.rs` is the one to read first.

mod bayesian;
mod em;
mod fit;
mod from_matrix;
mod lsa;
mod mixture;
mod pca;
mod ppca;
mod sparse_pca;

pub use bayesian::BayesianPca;
pub use lsa::Lsa;
pub use mixture::{PartsCompared, PpcaMixture};
pub use pca::Pca;
pub use ppca::{Algorithm, Ppca};
pub use sparse_pca::{PenaltyScale, PerComponent, SparsePca};
