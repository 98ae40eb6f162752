//! `fit ppca`.

use super::{FitOptions, MethodFlags};
use crate::arguments::Route;
use crate::options::solver_text;
use clap::Args;
use eigenlens::{Algorithm, Estimator, Ppca};

/// The options of probabilistic PCA.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
    /// Divide every feature by its standard deviation.
    #[arg(long)]
    scale: bool,
    /// Iterate also where the closed form would do.
    #[arg(long)]
    em: bool,
    #[command(flatten)]
    route: Route,
}

impl Flags {
    fn configured(&self, options: &FitOptions) -> Ppca {
        Ppca::new(options.n_components.clone())
            .standardize(self.scale)
            .algorithm(if self.em { Algorithm::Em } else { Algorithm::Auto })
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
            ("em", self.em.to_string()),
            ("solver", solver_text(self.route.solver).into()),
        ]
    }
}
