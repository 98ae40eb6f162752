//! Fitted models, and what they say of samples, features and components.

pub mod diagnostics;
mod ellipse;
mod feature_map;
pub mod gaussian;
mod gram;
mod kernel_map;
mod kernel_pca;
pub mod limits;
mod linear_map;
pub mod parts;
mod pca;
pub mod rotation;
pub mod supplementary;
mod verify;

pub use ellipse::{Ellipse, normal_ellipse};
pub use gram::GramPca;
pub use kernel_pca::{KernelAccuracy, KernelPcaModel, NegativePart};
pub use pca::{ModelSpectrum, PcaModel};
pub use verify::Verification;

pub(crate) use feature_map::FeatureMap;
pub(crate) use kernel_map::KernelMap;
pub(crate) use kernel_pca::{KernelBody, KernelPcaParts};
pub(crate) use linear_map::LinearMap;
pub(crate) use pca::{PcaParts, factors};
