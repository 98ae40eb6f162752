//! Fitted models, and what they say of samples, features and components.

pub mod diagnostics;
mod ellipse;
mod feature_map;
mod fitted;
pub mod gaussian;
mod gram;
mod kernel_map;
mod kernel_pca;
mod kernel_summary;
mod kernel_supervised;
mod kernel_supervised_summary;
pub mod limits;
mod linear_map;
pub mod parts;
mod pca;
mod pca_summary;
mod pre_image;
pub mod rotation;
mod summary;
mod supervised;
mod supervised_summary;
pub mod supplementary;
mod verify;

pub use ellipse::{Ellipse, normal_ellipse};
pub use fitted::{Linear, Model};
pub use gram::GramPca;
pub use kernel_pca::{KernelAccuracy, KernelPcaModel, NegativePart};
pub use kernel_supervised::KernelSupervisedPcaModel;
pub use parts::from_parts;
pub use pca::{ModelSpectrum, PcaModel};
pub use pre_image::{PreImage, PreImages};
pub use summary::{Cells, ScreeHeights, Summary, SummaryColumn, number, percent};
pub use supervised::{SupervisedPcaModel, TargetRecord};
pub use verify::Verification;

pub(crate) use feature_map::FeatureMap;
pub(crate) use kernel_map::KernelMap;
pub(crate) use kernel_pca::{KernelBody, KernelPcaParts};
pub(crate) use kernel_supervised::KernelSupervisedParts;
pub(crate) use linear_map::LinearMap;
pub(crate) use pca::{PcaParts, factors};
pub(crate) use supervised::SupervisedParts;
