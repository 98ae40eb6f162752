//! `fit isomap`.

use super::neighborhood::{Graph, on_graph};
use super::{FitOptions, MethodFlags};
use clap::Args;
use eigenlens::{Estimator, Isomap};

/// The options of Isomap.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
    #[command(flatten)]
    graph: Graph,
    /// Compare only this many samples, drawn with the seed, with all others.
    #[arg(long, value_name = "M")]
    landmarks: Option<usize>,
}

impl Flags {
    fn configured(&self, options: &FitOptions) -> Isomap {
        let isomap = Isomap::new(options.n_components.clone()).options(options.shared.clone());
        let isomap = on_graph!(self.graph, isomap);
        match self.landmarks {
            Some(m) => isomap.landmarks(m),
            None => isomap,
        }
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
        words.extend(self.landmarks.map(|m| ("landmarks", m.to_string())));
        words
    }
}
