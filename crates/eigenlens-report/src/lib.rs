//! Pictures, tables and pages: plain data in, SVG, PNG, text and HTML out.
//!
//! Nothing is computed here but layout. Each picture is a struct of plain numbers and names, filled
//! by the caller, with a `draw` method; names may be anything, they are cleaned, escaped and
//! shortened. The same data give the same bytes, on every machine.
//!
//! ```
//! use eigenlens_report::Scree;
//!
//! let scree = Scree {
//!     heights: vec![2.48, 0.99, 0.36, 0.17],
//!     cumulative: vec![0.620, 0.868, 0.957, 1.0],
//!     ..Scree::default()
//! };
//! let picture = scree.draw()?;
//! assert!(picture.svg().starts_with("<svg"));
//! let png: Vec<u8> = picture.png(eigenlens_report::Picture::SCALE)?;
//! # Ok::<(), eigenlens_report::Error>(())
//! ```
//!
//! - pictures: [`Scree`], [`Scores`], [`Biplot`], [`Loadings`], [`LoadingsHeatMap`],
//!   [`CorrelationCircle`], [`Monitoring`], [`ChoiceOfK`], [`ImageGrid`], [`Line`];
//! - [`Table`]: aligned text for a terminal or a pipe, HTML for the report;
//! - [`text`]: small plots for the terminal;
//! - [`html::Report`]: one self-contained page;
//! - [`Explorer`]: the same to click through.

mod draw;
mod error;
mod explorer;
pub mod html;
mod names;
mod picture;
mod pictures;
mod table;
pub mod text;

pub use error::Error;
pub use explorer::{
    Explorer, ExplorerColumn, ExplorerFeatures, ExplorerMonitoring, ExplorerSamples, ExplorerValues,
};
pub use picture::Picture;
pub use pictures::biplot::{Arrow, Biplot};
pub use pictures::choice_of_k::{ChoiceOfK, Rule};
pub use pictures::component::{Component, Share};
pub use pictures::correlation_circle::CorrelationCircle;
pub use pictures::image_grid::{Image, ImageGrid, ImageRow, Tone};
pub use pictures::line::{Line, Mark, Series};
pub use pictures::loadings::{LoadingBars, Loadings};
pub use pictures::loadings_heat_map::LoadingsHeatMap;
pub use pictures::monitoring::{Limit, Monitoring};
pub use pictures::scores::{Coloring, Ellipse, Scores};
pub use pictures::scree::{Chosen, Reference, Scree};
pub use table::{Align, Column, Table};
