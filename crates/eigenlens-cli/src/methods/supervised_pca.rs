//! `fit supervised-pca`.

use super::{FitOptions, MethodFlags};
use crate::arguments::Route;
use crate::target::TargetOptions;
use crate::options::solver_text;
use clap::Args;
use eigenlens::{Estimator, SupervisedPca};

/// The options of supervised PCA.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
    #[command(flatten)]
    target: TargetOptions,
    /// From PCA (0) to supervised PCA (1).
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    supervision: f64,
    /// Divide every feature by its standard deviation.
    #[arg(long)]
    scale: bool,
    /// Scores without the mean subtracted, as in the textbook; the directions are the same.
    #[arg(long)]
    no_center: bool,
    #[command(flatten)]
    route: Route,
}

impl Flags {
    fn configured(&self, options: &FitOptions) -> eigenlens::Result<SupervisedPca> {
        Ok(SupervisedPca::new(options.n_components.clone())
            .label_kernel(self.target.kernel()?)
            .supervision(self.supervision)
            .standardize(self.scale)
            .center(!self.no_center)
            .keep_unlabelled(self.target.keeps_unlabelled())
            .solver(self.route.solver)
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
        let mut words = self.target.in_words();
        words.extend([
            ("supervision", self.supervision.to_string()),
            ("scale", self.scale.to_string()),
            ("center", (!self.no_center).to_string()),
            ("solver", solver_text(self.route.solver).into()),
        ]);
        words
    }

    fn target(&self) -> Option<&TargetOptions> {
        Some(&self.target)
    }
}
