//! `fit lsa`.

use super::{FitOptions, MethodFlags};
use crate::arguments::Route;
use crate::options::solver_text;
use clap::{Args, ValueEnum};
use eigenlens::{Estimator, Lsa, TermWeighting};

/// The options of latent semantic analysis.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
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

impl Flags {
    fn configured(&self, options: &FitOptions) -> Lsa {
        Lsa::new(options.n_components.clone())
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
        let weighting = self.weighting().map_or("none", |w| w.name());
        vec![
            ("center", "false".into()),
            ("weighting", weighting.into()),
            ("solver", solver_text(self.route.solver).into()),
        ]
    }

    fn weighting(&self) -> Option<TermWeighting> {
        match self.weighting {
            Weighting::TfIdf => Some(TermWeighting::TfIdf),
            Weighting::LogEntropy => Some(TermWeighting::LogEntropy),
            Weighting::None => None,
        }
    }
}
