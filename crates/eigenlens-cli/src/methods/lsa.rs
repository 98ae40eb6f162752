//! `fit lsa`.

use super::{About, AnyData, Fitted, Method, Wishes, each, fitted};
use crate::arguments::Route;
use crate::wishes::solver_text;
use clap::{Args, ValueEnum};
use eigenlens::{Lsa, NComponents, Plan, TermWeighting};

pub const ABOUT: About = About {
    name: "lsa",
    summary: "latent semantic analysis: PCA without centring, for counts and sparse data",
    page: "docs/methods/lsa.md",
    axis: "LS",
    linear: true,
};

/// The options of latent semantic analysis.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Own {
    /// Weighting of term counts.
    #[arg(long, value_name = "SCHEME", default_value = "none")]
    weighting: Weighting,
    #[command(flatten)]
    route: Route,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Weighting {
    /// Count × inverse document frequency.
    TfIdf,
    /// Logarithm of the count × one minus the term's entropy.
    LogEntropy,
    /// Counts as they are.
    None,
}

impl Own {
    fn configured(&self, wishes: &Wishes) -> Lsa {
        Lsa::new(wishes.components.clone())
            .solver(self.route.solver)
            .options(wishes.options.clone())
    }
}

impl Method for Own {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn default_components(&self, n: Option<usize>, d: usize) -> NComponents {
        // The usual number for text (Deerwester et al. 1990); a share would mean a long tail.
        NComponents::Fixed(100.min(d).min(n.unwrap_or(d)).max(1))
    }

    fn in_words(&self) -> Vec<(&'static str, String)> {
        let weighting = self.weighting().map_or("none", |w| w.name());
        vec![
            ("center", "false".into()),
            ("weighting", weighting.into()),
            ("solver", solver_text(self.route.solver).into()),
        ]
    }

    fn plan(&self, wishes: &Wishes, data: &AnyData) -> eigenlens::Result<Plan> {
        each!(data, d => self.configured(wishes).plan(d))
    }

    fn fit(&self, wishes: &Wishes, data: &AnyData, want_scores: bool) -> eigenlens::Result<Fitted> {
        fitted!(data, want_scores, self.configured(wishes))
    }

    fn weighting(&self) -> Option<TermWeighting> {
        match self.weighting {
            Weighting::TfIdf => Some(TermWeighting::TfIdf),
            Weighting::LogEntropy => Some(TermWeighting::LogEntropy),
            Weighting::None => None,
        }
    }

    fn takes_holes(&self) -> bool {
        true
    }
}
