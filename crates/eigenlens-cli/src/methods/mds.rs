//! `fit mds`.

use super::{FitOptions, MethodFlags};
use clap::Args;
use eigenlens::{Estimator, Mds, Metric};

/// The options of classical MDS.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
    /// The distance: euclidean, manhattan, chebyshev or cosine.
    #[arg(long, value_name = "NAME", value_parser = parse_metric, default_value = "euclidean")]
    metric: Metric,
    /// The table holds the distances themselves, a row and a column for each sample.
    #[arg(long, conflicts_with = "metric")]
    distances: bool,
}

fn parse_metric(text: &str) -> Result<Metric, String> {
    match Metric::NAMES.iter().find(|(name, _)| *name == text) {
        Some((_, metric)) => Ok(*metric),
        None => Err(format!("there are {}", Metric::NAMES.map(|(name, _)| name).join(", "))),
    }
}

impl Flags {
    fn configured(&self, options: &FitOptions) -> Mds {
        Mds::new(options.n_components.clone())
            .metric(self.metric)
            .distances(self.distances)
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
        let metric = if self.distances { "given" } else { self.metric.name() };
        vec![("metric", metric.into())]
    }
}
