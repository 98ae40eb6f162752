//! Fitted models, and what they say of samples, features and components.

pub mod association;
mod capabilities;
mod core;
pub mod diagnostics;
mod ellipse;
mod embedding;
mod feature_map;
mod fitted;
pub mod gaussian;
mod gram;
mod imputation;
mod kernel_map;
mod kernel_pca;
mod kernel_summary;
mod kernel_supervised;
mod kernel_supervised_summary;
pub mod limits;
mod linear_map;
pub mod mixture;
pub mod observed;
pub mod parts;
mod pca;
mod pca_summary;
pub mod ppca;
mod pre_image;
pub mod rotation;
mod sparse_path;
mod sparse_pca;
mod sparse_summary;
mod summary;
mod supervised;
mod supervised_summary;
pub mod supplementary;
pub(crate) mod verify;

pub use capabilities::{
    Classifier, Density, Drawn, Imputed, LatentGaussian, Sampler, ScoresWithErrors,
    UncertainScores, most_probable,
};
pub use core::ModelCore;
pub use ellipse::{Ellipse, covariance_ellipse, normal_ellipse};
pub use embedding::{Affinity, EmbeddingModel, LleVariant, Normalization, Scaling};
pub use fitted::{Linear, Model};
pub use gram::GramPca;
pub use kernel_pca::{KernelAccuracy, KernelPcaModel, NegativePart};
pub use kernel_supervised::KernelSupervisedPcaModel;
pub use mixture::PpcaMixtureModel;
pub use pca::{ModelSpectrum, PcaModel};
pub use ppca::PpcaModel;
pub use pre_image::{PreImage, PreImages};
pub use sparse_path::{PathPoint, SparsePath};
pub use sparse_pca::{Optimality, Projection, SparsePcaModel};
pub use summary::{Cells, ScreeHeights, Shares, Summary, SummaryColumn, number, percent};
pub use supervised::{SupervisedPcaModel, TargetRecord};
pub use verify::{Check, Claim, KernelClaim, NotChecked, Verification, VerifyOptions};

pub(crate) use embedding::{
    DistanceMap, Distances, EmbeddingMap, EmbeddingParts, LaplacianMap, LleMap, Samples,
    pick_columns, reconstruction_weights, root_degree,
};
pub(crate) use feature_map::FeatureMap;
pub(crate) use kernel_map::KernelMap;
pub(crate) use kernel_pca::{KernelBody, KernelPcaParts};
pub(crate) use kernel_supervised::KernelSupervisedParts;
pub(crate) use linear_map::LinearMap;
pub(crate) use pca::{PcaParts, factors};
pub(crate) use sparse_pca::SparseParts;
pub(crate) use summary::{certificate_value, largest_weights, opening, rows_value};
pub(crate) use supervised::SupervisedParts;
