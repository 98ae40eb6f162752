//! `fit bayesian-pca`.

use super::{FitOptions, MethodFlags};
use clap::Args;
use eigenlens::{BayesianPca, Estimator};

/// The options of Bayesian PCA.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
    /// Divide every feature by its standard deviation.
    #[arg(long)]
    scale: bool,
}

impl Flags {
    fn configured(&self, options: &FitOptions) -> BayesianPca {
        BayesianPca::new(options.n_components.clone())
            .standardize(self.scale)
            .options(options.shared.clone())
    }
}

impl MethodFlags for Flags {
    fn estimator(
        &self,
        options: &FitOptions,
        _: usize,
    ) -> eigenlens::Result<Box<dyn Estimator>> {
        Ok(Box::new(self.configured(options)))
    }

    fn in_words(&self) -> Vec<(&'static str, String)> {
        vec![("scale", self.scale.to_string())]
    }
}
