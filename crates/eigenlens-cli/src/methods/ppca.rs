//! `fit ppca`.

use super::{About, AnyData, Fitted, Method, Wishes, each, fitted, watched};
use crate::arguments::Route;
use crate::wishes::solver_text;
use clap::Args;
use eigenlens::{Algorithm, Missing, NComponents, Plan, Ppca};

pub const ABOUT: About = About {
    name: "ppca",
    summary: "probabilistic PCA: a density that fills holes and finds outliers",
    page: "docs/methods/ppca.md",
    axis: "Z",
    linear: true,
};

/// The options of probabilistic PCA.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Own {
    /// Divide every feature by its standard deviation.
    #[arg(long)]
    scale: bool,
    /// Iterate also where the closed form would do.
    #[arg(long)]
    em: bool,
    #[command(flatten)]
    route: Route,
}

impl Own {
    fn configured(&self, wishes: &Wishes) -> Ppca {
        Ppca::new(wishes.components.clone())
            .standardize(self.scale)
            .algorithm(if self.em { Algorithm::Em } else { Algorithm::Auto })
            .solver(self.route.solver)
            .options(wishes.options.clone())
    }
}

impl Method for Own {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn default_components(&self, n: Option<usize>, d: usize) -> NComponents {
        // A density needs something left for the noise.
        NComponents::Fixed(2.min(d.saturating_sub(1)).min(n.unwrap_or(d)).max(1))
    }

    fn in_words(&self) -> Vec<(&'static str, String)> {
        vec![
            ("scale", self.scale.to_string()),
            ("em", self.em.to_string()),
            ("solver", solver_text(self.route.solver).into()),
        ]
    }

    fn plan(&self, wishes: &Wishes, data: &AnyData) -> eigenlens::Result<Plan> {
        each!(data, d => self.configured(wishes).plan(d))
    }

    fn fit(&self, wishes: &Wishes, data: &AnyData, want_scores: bool) -> eigenlens::Result<Fitted> {
        if data.missing() == Missing::Em || (self.em && data.missing() == Missing::Error) {
            return watched!(data, want_scores, wishes, self.configured(wishes));
        }
        fitted!(data, want_scores, self.configured(wishes))
    }

    fn takes_holes(&self) -> bool {
        true
    }
}
