//! What a fitted model says about its samples, features and components.

pub mod diagnostics;
pub mod gaussian;
pub mod limits;
pub mod rotation;
pub mod supplementary;
