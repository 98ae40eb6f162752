//! `fit mds`.

use super::neighborhood::for_a_picture;
use super::{About, AnyData, Fitted, Method, Wishes, each, fitted};
use clap::Args;
use eigenlens::{Mds, Metric, NComponents, Plan};

pub const ABOUT: About = About {
    name: "mds",
    summary: "classical multidimensional scaling: keeps distances, of data or given",
    page: "docs/methods/mds.md",
    axis: "MDS",
    linear: false,
};

/// The options of classical MDS.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Own {
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

impl Own {
    fn configured(&self, wishes: &Wishes) -> Mds {
        Mds::new(wishes.components.clone())
            .metric(self.metric)
            .distances(self.distances)
            .options(wishes.options.clone())
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
        let metric = if self.distances { "given" } else { self.metric.name() };
        vec![("metric", metric.into())]
    }

    fn plan(&self, wishes: &Wishes, data: &AnyData) -> eigenlens::Result<Plan> {
        each!(data, d => self.configured(wishes).plan(d))
    }

    fn fit(&self, wishes: &Wishes, data: &AnyData, want_scores: bool) -> eigenlens::Result<Fitted> {
        fitted!(data, want_scores, self.configured(wishes))
    }
}
