//! Fitted models, and what they say of samples, features and components.

pub mod diagnostics;
mod ellipse;
pub mod gaussian;
mod gram;
pub mod limits;
mod linear_map;
pub mod parts;
mod pca;
pub mod rotation;
mod supervised;
pub mod supplementary;
mod verify;

pub use ellipse::{Ellipse, normal_ellipse};
pub use gram::GramPca;
pub use pca::{ModelSpectrum, PcaModel};
pub use supervised::{SupervisedPcaModel, TargetRecord};
pub use verify::Verification;

pub(crate) use linear_map::LinearMap;
pub(crate) use pca::{PcaParts, factors};
pub(crate) use supervised::SupervisedParts;
