//! Fitted models, and what they say of samples, features and components.

pub mod diagnostics;
mod ellipse;
mod embedding;
mod fitted;
pub mod gaussian;
mod gram;
pub mod limits;
mod linear_map;
pub mod mixture;
pub mod observed;
pub mod parts;
mod pca;
mod pca_summary;
pub mod ppca;
pub mod rotation;
mod sparse_path;
mod sparse_pca;
mod sparse_summary;
mod summary;
pub mod supplementary;
mod verify;

pub use ellipse::{Ellipse, covariance_ellipse, normal_ellipse};
pub use embedding::{Affinity, EmbeddingModel, NegativePart, Normalization, Scaling};
pub use fitted::{Linear, Model};
pub use gram::GramPca;
pub use mixture::PpcaMixtureModel;
pub use parts::from_parts;
pub use pca::{ModelSpectrum, PcaModel};
pub use ppca::PpcaModel;
pub use sparse_path::{PathPoint, SparsePath};
pub use sparse_pca::{Optimality, Projection, SparsePcaModel};
pub use summary::{Cells, ScreeHeights, Summary, SummaryColumn, number, percent};
pub use verify::Verification;

pub(crate) use embedding::{
    DistanceMap, Distances, EmbeddingMap, EmbeddingParts, LaplacianMap, LleMap, pick_columns,
    reconstruction_weights,
};
pub(crate) use linear_map::LinearMap;
pub(crate) use pca::{PcaParts, factors};
pub(crate) use sparse_pca::SparseParts;
