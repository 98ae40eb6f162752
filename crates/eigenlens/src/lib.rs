//! eigenlens
mod error; mod linalg; mod scalar; mod wishes; mod data; mod operator; pub mod solve;
pub use error::*; pub use scalar::Scalar; pub use wishes::*; pub use data::*; pub use operator::*;
