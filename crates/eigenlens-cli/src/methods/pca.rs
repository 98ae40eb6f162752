//! `fit pca`.

use super::{About, AnyData, Fitted, Method, Wishes, each, fitted, watched};
use crate::arguments::Route;
use crate::wishes::solver_text;
use clap::Args;
use eigenlens::{Missing, NComponents, Pca, Plan};

pub const ABOUT: About = About {
    name: "pca",
    summary: "principal component analysis: directions of largest variance",
    page: "docs/methods/pca.md",
    axis: "PC",
    linear: true,
};

/// The options of PCA.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Own {
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

impl Own {
    fn configured(&self, wishes: &Wishes) -> Pca {
        Pca::new(wishes.components.clone())
            .center(!self.no_center)
            .standardize(self.scale)
            .whiten(self.whiten)
            .solver(self.route.solver)
            .options(wishes.options.clone())
    }
}

impl Method for Own {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn default_components(&self, _: Option<usize>, _: usize) -> NComponents {
        NComponents::VarianceShare(0.95)
    }

    fn in_words(&self) -> Vec<(&'static str, String)> {
        vec![
            ("scale", self.scale.to_string()),
            ("center", (!self.no_center).to_string()),
            ("whiten", self.whiten.to_string()),
            ("solver", solver_text(self.route.solver).into()),
        ]
    }

    fn plan(&self, wishes: &Wishes, data: &AnyData) -> eigenlens::Result<Plan> {
        each!(data, d => self.configured(wishes).plan(d))
    }

    fn fit(&self, wishes: &Wishes, data: &AnyData, want_scores: bool) -> eigenlens::Result<Fitted> {
        if data.missing() == Missing::Em {
            return watched!(data, want_scores, wishes, self.configured(wishes));
        }
        fitted!(data, want_scores, self.configured(wishes))
    }

    fn takes_holes(&self) -> bool {
        true
    }
}
