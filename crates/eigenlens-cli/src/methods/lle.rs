//! `fit lle`.

use super::neighborhood::{Graph, on_graph};
use super::{FitOptions, MethodFlags};
use clap::Args;
use eigenlens::{Estimator, Lle, LleVariant, Scaling};

/// The options of locally linear embedding.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
    #[command(flatten)]
    graph: Graph,
    /// What coordinates satisfy around every sample: standard, modified, hessian or ltsa.
    #[arg(long, value_name = "NAME", value_parser = parse_variant, default_value = "standard")]
    variant: LleVariant,
    /// Added to the diagonal of every local Gram matrix, relative to its trace.
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-3)]
    regularization: f64,
    /// Of `hessian`: rows whose sum is at least this are divided by it.
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-4)]
    hessian_tolerance: f64,
    /// Of `modified`: sums of weights closer than this are equal.
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-12)]
    modified_tolerance: f64,
    /// Scale coordinates as kernel PCA does, in place of unit vectors.
    #[arg(long)]
    kernel_scaling: bool,
}

fn parse_variant(text: &str) -> Result<LleVariant, String> {
    let names = LleVariant::NAMES;
    match names.iter().find(|(name, _)| *name == text) {
        Some((_, variant)) => Ok(*variant),
        None => Err(format!("there are {}", names.map(|(name, _)| name).join(", "))),
    }
}

impl Flags {
    fn configured(&self, options: &FitOptions) -> Lle {
        let lle = Lle::new(options.n_components.clone()).options(options.shared.clone());
        on_graph!(self.graph, lle)
            .variant(self.variant)
            .regularization(self.regularization)
            .hessian_tolerance(self.hessian_tolerance)
            .modified_tolerance(self.modified_tolerance)
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
        words.push(("variant", self.variant.name().into()));
        words.push(("regularization", self.regularization.to_string()));
        words.push(("hessian-tolerance", self.hessian_tolerance.to_string()));
        words.push(("modified-tolerance", self.modified_tolerance.to_string()));
        words.push(("kernel-scaling", self.kernel_scaling.to_string()));
        words
    }
}
