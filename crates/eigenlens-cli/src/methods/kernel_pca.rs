//! `fit kernel-pca`.

use super::{FitOptions, MethodFlags};
use clap::{Args, ValueEnum};
use crate::kernels::{KernelOptions, misfit};
use eigenlens::{Approximation, Estimator, KernelPca, KernelStorage, Landmarks};

/// The options of kernel PCA.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
    #[command(flatten)]
    kernel: KernelOptions,
    /// How to deal with the n × n kernel matrix.
    #[arg(long, value_name = "HOW", default_value = "auto")]
    approximation: Way,
    /// Landmarks of the Nyström approximation.
    #[arg(long, value_name = "M")]
    landmarks: Option<usize>,
    /// How landmarks are chosen.
    #[arg(long, value_name = "HOW", default_value = "cholesky")]
    selection: Selection,
    /// Random Fourier features.
    #[arg(long, value_name = "M")]
    random_features: Option<usize>,
    /// Orthogonal random features.
    #[arg(long)]
    orthogonal: bool,
    /// Fit on this many samples, drawn at random.
    #[arg(long, value_name = "M")]
    subset: Option<usize>,
    /// Whether the exact kernel matrix is kept.
    #[arg(long, value_name = "HOW", default_value = "auto")]
    storage: Storage,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// Exact within memory and patience, otherwise Nyström.
    Auto,
    /// Every kernel value counts.
    Exact,
    /// Landmarks.
    Nystrom,
    /// Random Fourier features.
    RandomFeatures,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Selection {
    /// Randomly pivoted Cholesky.
    Cholesky,
    /// Uniformly at random.
    Uniform,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Storage {
    /// Where memory allows.
    Auto,
    /// Keep it.
    Matrix,
    /// Recompute it in blocks.
    Blocks,
}

impl Flags {
    /// A number of landmarks, features or samples says how by itself.
    fn approximation(&self) -> eigenlens::Result<Approximation> {
        let said = [
            (Way::Nystrom, self.landmarks.is_some(), "landmarks"),
            (Way::RandomFeatures, self.random_features.is_some(), "random-features"),
        ];
        let mut way = self.approximation;
        for (meant, said, option) in said {
            if said && way == Way::Auto {
                way = meant;
            } else if said && way != meant {
                let why = "does not go with this approximation";
                return Err(misfit(option, why, None));
            }
        }
        if self.orthogonal && way != Way::RandomFeatures {
            return Err(misfit("orthogonal", "is for random features", None));
        }
        if self.selection != Selection::Cholesky && way != Way::Nystrom {
            return Err(misfit("selection", "is for the nystrom approximation", None));
        }
        if let Some(samples) = self.subset {
            if way != Way::Auto {
                return Err(misfit("subset", "does not go with another approximation", None));
            }
            return Ok(Approximation::Subset { samples });
        }
        let selection = match self.selection {
            Selection::Cholesky => Landmarks::PivotedCholesky,
            Selection::Uniform => Landmarks::Uniform,
        };
        Ok(match way {
            Way::Auto => Approximation::Auto,
            Way::Exact => Approximation::Exact,
            Way::Nystrom => Approximation::Nystrom { landmarks: self.landmarks, selection },
            Way::RandomFeatures => Approximation::RandomFeatures {
                features: self.random_features,
                orthogonal: self.orthogonal,
            },
        })
    }

    fn configured(&self, options: &FitOptions) -> eigenlens::Result<KernelPca> {
        let storage = match self.storage {
            Storage::Auto => KernelStorage::Auto,
            Storage::Matrix => KernelStorage::Matrix,
            Storage::Blocks => KernelStorage::Blocks,
        };
        Ok(KernelPca::new(options.n_components.clone())
            .kernel(self.kernel.kernel()?)
            .approximation(self.approximation()?)
            .storage(storage)
            .options(options.shared.clone()))
    }
}

impl MethodFlags for Flags {
    fn estimator(
        &self,
        options: &FitOptions,
        _: usize,
    ) -> eigenlens::Result<Box<dyn Estimator>> {
        Ok(Box::new(self.configured(options)?))
    }

    fn in_words(&self) -> Vec<(&'static str, String)> {
        let way = self.approximation.to_possible_value();
        let way = way.map_or_else(String::new, |way| way.get_name().to_string());
        let mut said = self.kernel.in_words();
        said.push(("approximation", way));
        said.extend(self.landmarks.map(|m| ("landmarks", m.to_string())));
        said.extend(self.random_features.map(|m| ("random-features", m.to_string())));
        said.extend(self.subset.map(|m| ("subset", m.to_string())));
        if self.orthogonal {
            said.push(("orthogonal", "true".into()));
        }
        said
    }
}
