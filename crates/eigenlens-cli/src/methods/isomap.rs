//! `fit isomap`.

use super::neighborhood::{Graph, for_a_picture, on_graph};
use super::{About, AnyData, Fitted, Method, Wishes, each, fitted};
use clap::Args;
use eigenlens::{Isomap, NComponents, Plan};

pub const ABOUT: About = About {
    name: "isomap",
    summary: "Isomap: classical MDS of distances along the data",
    page: "docs/methods/isomap.md",
    axis: "ISO",
    linear: false,
};

/// The options of Isomap.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Own {
    #[command(flatten)]
    graph: Graph,
    /// Compare only this many samples, drawn with the seed, with all others.
    #[arg(long, value_name = "M")]
    landmarks: Option<usize>,
}

impl Own {
    fn configured(&self, wishes: &Wishes) -> Isomap {
        let isomap = Isomap::new(wishes.components.clone()).options(wishes.options.clone());
        let isomap = on_graph!(self.graph, isomap);
        match self.landmarks {
            Some(m) => isomap.landmarks(m),
            None => isomap,
        }
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
        words.extend(self.landmarks.map(|m| ("landmarks", m.to_string())));
        words
    }

    fn plan(&self, wishes: &Wishes, data: &AnyData) -> eigenlens::Result<Plan> {
        each!(data, d => self.configured(wishes).plan(d))
    }

    fn fit(&self, wishes: &Wishes, data: &AnyData, want_scores: bool) -> eigenlens::Result<Fitted> {
        fitted!(data, want_scores, self.configured(wishes))
    }
}
