//! `fit pca`.

use super::{FitOptions, MethodFlags};
use crate::arguments::Route;
use crate::options::solver_text;
use clap::Args;
use eigenlens::{Estimator, Pca};

/// The options of PCA.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
    /// Divide every feature by its standard deviation.
    #[arg(long)]
    scale: bool,
    /// Do not subtract the mean.
    #[arg(long)]
    no_center: bool,
    /// Scores of unit variance.
    #[arg(long)]
    whiten: bool,
    #[command(flatten)]
    route: Route,
}

impl Flags {
    fn configured(&self, options: &FitOptions) -> Pca {
        Pca::new(options.n_components.clone())
            .center(!self.no_center)
            .standardize(self.scale)
            .whiten(self.whiten)
            .solver(self.route.solver)
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
        vec![
            ("scale", self.scale.to_string()),
            ("center", (!self.no_center).to_string()),
            ("whiten", self.whiten.to_string()),
            ("solver", solver_text(self.route.solver).into()),
        ]
    }
}
