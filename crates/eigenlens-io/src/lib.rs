//! Every byte in or out of eigenlens.
//!
//! A format is one file with one [`Source`]: what columns there are, and blocks of rows of the
//! columns that are wanted. Everything else (choosing columns, loading within a memory budget,
//! streaming, carrying labels) is written once on top of that trait.

mod error;
pub mod json;
mod model_file;
mod source;
pub mod write;

pub use error::{Error, Place, Result};
pub use model_file::{ImageShape, Origin, OriginColumn, StoredModel};
pub use source::{Block, BlockReader, Column, Kind, Labels, Note, Numbers, Source, Wanted};
