//! Views: a model and loaded data in, pictures out, for command line, report and Python alike.
//!
//! [`PLOTS`] is the one table of plots. A [`Request`] holds the model, the samples where there are any, and what
//! was asked for; [`Plot::draw`] makes the picture. What an axis is called and what its percentage is a share of
//! is answered by the model. No file is opened here, and nothing is printed.
//!
//! ```
//! use eigenlens::{AnyDataset, Dataset, Pca, ndarray};
//! use eigenlens_views::{Plot, Request, Samples};
//! let x = ndarray::array![[2.5, 2.4], [0.5, 0.7], [2.2, 2.9], [1.9, 2.2], [3.1, 3.0]];
//! let model = Pca::new(2).fit(&x)?;
//! let samples = Samples::new(AnyDataset::from(Dataset::from(&x)));
//! let request = Request::new(&model).with_samples(samples);
//! let scores = Plot::named("scores").expect("a row of PLOTS");
//! assert!(scores.draw(&request)?.picture.svg().starts_with("<svg"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axes;
mod error;
mod explorer;
mod plot;
mod plots;
mod request;
mod samples;
pub mod words;

pub use error::{Error, Result};
pub use explorer::{ExplorerOptions, explorer};
pub use plot::{Capability, DataUse, Drawing, InReport, Plot, PlotOption, Section};
pub use plots::{PLOTS, scores, scree};
pub use request::{ImageShape, Request};
pub use samples::{LabelColumn, Samples};
