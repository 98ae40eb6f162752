//! `fit bayesian-pca`.

use super::{About, AnyData, Fitted, Method, Wishes, each, fitted, watched};
use clap::Args;
use eigenlens::{BayesianPca, Missing, NComponents, Plan};

pub const ABOUT: About = About {
    name: "bayesian-pca",
    summary: "probabilistic PCA with a prior that finds the number of components",
    page: "docs/methods/bayesian-pca.md",
    axis: "Z",
    linear: true,
};

/// The options of Bayesian PCA.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Own {
    /// Divide every feature by its standard deviation.
    #[arg(long)]
    scale: bool,
}

impl Own {
    fn configured(&self, wishes: &Wishes) -> BayesianPca {
        BayesianPca::new(wishes.components.clone())
            .standardize(self.scale)
            .options(wishes.options.clone())
    }
}

impl Method for Own {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn default_components(&self, n: Option<usize>, d: usize) -> NComponents {
        // The most there may be: beyond some dozens a prior is no cheap way to find fewer.
        NComponents::Fixed(30.min(d.saturating_sub(1)).min(n.unwrap_or(d)).max(1))
    }

    fn in_words(&self) -> Vec<(&'static str, String)> {
        vec![("scale", self.scale.to_string())]
    }

    fn plan(&self, wishes: &Wishes, data: &AnyData) -> eigenlens::Result<Plan> {
        each!(data, d => self.configured(wishes).plan(d))
    }

    fn fit(&self, wishes: &Wishes, data: &AnyData, want_scores: bool) -> eigenlens::Result<Fitted> {
        if matches!(data.missing(), Missing::Em | Missing::Error) {
            return watched!(data, want_scores, wishes, self.configured(wishes));
        }
        fitted!(data, want_scores, self.configured(wishes))
    }

    fn takes_holes(&self) -> bool {
        true
    }
}
