//! Every byte in or out of eigenlens.
//!
//! A format is one folder with one [`Source`] and one row in `table/formats.rs`. A source says what
//! columns there are and gives blocks of rows of those that are wanted, or compressed rows where it
//! is sparse. Everything else (choosing columns, loading within a memory budget,
//! streaming, carrying labels) is written once on top of that trait.

pub mod arrow;
mod budget;
mod calendar;
mod contain;
pub mod csv;
mod decimal;
mod error;
mod exact;
mod file_kind;
mod fingerprint;
pub mod images;
mod input;
pub mod json;
mod lines;
mod matrix_market;
mod model_file;
mod names;
pub mod npy;
pub mod parquet;
mod pool;
mod positioned;
mod source;
mod sparse;
mod table;
mod transpose;
pub mod write;

pub use budget::Budget;
pub use eigenlens::AnyArray;
pub use error::{Error, Place, Result};
pub use fingerprint::Fingerprint;
pub use images::ImageShape;
pub use input::{Compression, ExpansionLimit, Input, InputReader};
pub use model_file::{Origin, OriginColumn, StoredModel};
pub use source::{
    Block, BlockReader, Column, Kind, Labels, Location, Note, Source, SparseRows, Told, Wanted,
};
pub use sparse::{AnyCsr, MatrixOptions, Orientation};
pub use table::{
    ColumnChoice, ColumnFate, Concatenated, Fate, InMemory, Joined, Loaded, Metadata, Numbers,
    Progress, ReadOptions, Selection, Streamed, Table, nearest, open,
};
