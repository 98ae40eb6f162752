//! Why there is no picture, as data: each surface words it in its own syntax.

use crate::plot::{Capability, PlotOption};

/// What comes of a view.
pub type Result<T> = std::result::Result<T, Error>;

/// Why there is no picture.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The plot shows samples, and there are none.
    NeedsData {
        /// Name of the plot.
        plot: &'static str,
    },
    /// The model lacks what the plot shows.
    DoesNotFit {
        /// Name of the plot.
        plot: &'static str,
        /// The method of the model.
        method: &'static str,
        /// What it lacks.
        needs: Capability,
    },
    /// The plot would ignore an option.
    Option {
        /// Name of the plot.
        plot: &'static str,
        /// What it would ignore.
        option: PlotOption,
    },
    /// Axes are no two different components.
    Axes {
        /// How many components there are.
        n_components: usize,
    },
    /// Nobody said how large the images are.
    NoImageShape,
    /// The images have another number of pixels than there are features.
    ImageShape {
        /// Pixels from left to right.
        width: usize,
        /// Pixels from top to bottom.
        height: usize,
        /// How many features there are.
        n_features: usize,
    },
    /// Too few samples without missing entries for T² and Q.
    TooFewComplete {
        /// How many there are.
        complete: usize,
        /// Of how many.
        n_samples: usize,
    },
    /// Too few observed entries to hide some of them.
    TooFewObserved,
    /// What the picture shows is not defined for this model and these samples.
    NotDefined(eigenlens::Error),
    /// The library could not work with the samples.
    Samples(eigenlens::Error),
    /// The library could not compute something of the model.
    Library(eigenlens::Error),
    /// The picture cannot be drawn.
    Picture(eigenlens_report::Error),
}

impl Error {
    /// Whether a report goes on without the picture: nothing went wrong, there only is nothing to show.
    pub fn is_nothing_to_show(&self) -> bool {
        matches!(self, Error::TooFewComplete { .. } | Error::NotDefined(_))
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::NeedsData { plot } => write!(f, "the plot `{plot}` needs samples"),
            Error::DoesNotFit { needs: Capability::Path, .. } => {
                write!(f, "this model holds no path")
            }
            Error::DoesNotFit { plot, method, .. } => {
                write!(f, "the plot `{plot}` does not fit a model of the method `{method}`")
            }
            Error::Option { plot, option } => {
                let what = match option {
                    PlotOption::Axes => "shows no plane of two components",
                    PlotOption::ImageSize => "shows no images",
                    PlotOption::Color => "colours no samples",
                    PlotOption::Names => "names no samples",
                };
                write!(f, "the plot `{plot}` {what}")
            }
            Error::Axes { n_components } => {
                write!(f, "axes must be two different ones of {n_components} components")
            }
            Error::NoImageShape => write!(f, "it is not known how large the images are"),
            Error::ImageShape { width, height, n_features } => {
                write!(f, "{width} × {height} pixels are not the {n_features} features")
            }
            Error::TooFewComplete { complete, n_samples } => write!(
                f,
                "T² and Q are those of samples without missing entries, but only {complete} of the \
                 {n_samples} samples have none"
            ),
            Error::TooFewObserved => {
                write!(f, "there are too few observed entries to hide some of them")
            }
            Error::NotDefined(error) | Error::Samples(error) | Error::Library(error) => {
                error.fmt(f)
            }
            Error::Picture(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<eigenlens::Error> for Error {
    fn from(error: eigenlens::Error) -> Error {
        Error::Library(error)
    }
}

impl From<eigenlens_report::Error> for Error {
    fn from(error: eigenlens_report::Error) -> Error {
        Error::Picture(error)
    }
}
