//! `fit lle`.

use super::neighborhood::{Graph, for_a_picture, on_graph};
use super::{About, AnyData, Fitted, Method, Wishes, each, fitted};
use clap::Args;
use eigenlens::{Lle, NComponents, Plan, Scaling};

pub const ABOUT: About = About {
    name: "lle",
    summary: "locally linear embedding: keeps how samples are made of their neighbours",
    page: "docs/methods/lle.md",
    axis: "LLE",
    linear: false,
};

/// The options of locally linear embedding.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Own {
    #[command(flatten)]
    graph: Graph,
    /// Added to the diagonal of every local Gram matrix, relative to its trace.
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-3)]
    regularization: f64,
    /// Scale coordinates as kernel PCA does, in place of unit vectors.
    #[arg(long)]
    kernel_scaling: bool,
}

impl Own {
    fn configured(&self, wishes: &Wishes) -> Lle {
        let lle = Lle::new(wishes.components.clone()).options(wishes.options.clone());
        on_graph!(self.graph, lle)
            .regularization(self.regularization)
            .scaling(if self.kernel_scaling { Scaling::Kernel } else { Scaling::Unit })
    }
}

impl Method for Own {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn default_components(&self, n: Option<usize>, _: usize) -> NComponents {
        for_a_picture(n)
    }

    fn in_words(&self) -> Vec<(&'static str, String)> {
        let mut words = self.graph.in_words();
        words.push(("regularization", self.regularization.to_string()));
        words.push(("kernel-scaling", self.kernel_scaling.to_string()));
        words
    }

    fn plan(&self, wishes: &Wishes, data: &AnyData) -> eigenlens::Result<Plan> {
        each!(data, d => self.configured(wishes).plan(d))
    }

    fn fit(&self, wishes: &Wishes, data: &AnyData, want_scores: bool) -> eigenlens::Result<Fitted> {
        fitted!(data, want_scores, self.configured(wishes))
    }
}
