//! eigenlens
mod error;
mod linalg;
mod scalar;
mod wishes;
pub use error::*;
pub use scalar::Scalar;
pub use wishes::*;
