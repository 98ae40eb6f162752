//! eigenlens
mod error;
mod linalg;
pub mod model;
mod scalar;
mod wishes;
pub use error::*;
pub use scalar::Scalar;
pub use wishes::*;
