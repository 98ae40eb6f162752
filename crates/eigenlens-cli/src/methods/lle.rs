//! `fit lle`.

use super::neighborhood::{Graph, on_graph};
use super::{FitOptions, MethodFlags};
use clap::Args;
use eigenlens::{Estimator, Lle, Scaling};

/// The options of locally linear embedding.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
    #[command(flatten)]
    graph: Graph,
    /// Added to the diagonal of every local Gram matrix, relative to its trace.
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-3)]
    regularization: f64,
    /// Scale coordinates as kernel PCA does, in place of unit vectors.
    #[arg(long)]
    kernel_scaling: bool,
}

impl Flags {
    fn configured(&self, options: &FitOptions) -> Lle {
        let lle = Lle::new(options.n_components.clone()).options(options.shared.clone());
        on_graph!(self.graph, lle)
            .regularization(self.regularization)
            .scaling(if self.kernel_scaling { Scaling::Kernel } else { Scaling::Unit })
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
        let mut words = self.graph.in_words();
        words.push(("regularization", self.regularization.to_string()));
        words.push(("kernel-scaling", self.kernel_scaling.to_string()));
        words
    }
}
