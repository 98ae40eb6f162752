//! eigenlens
mod error;
mod linalg;
mod scalar;
pub mod select;
mod wishes;
pub use error::*;
pub use scalar::Scalar;
pub use wishes::*;
