//! What methods on a graph of neighbours share.

use clap::Args;

/// Which samples are neighbours.
#[derive(Args)]
pub struct Graph {
    /// Join every sample to this many nearest ones [default: 10, or all of fewer].
    #[arg(long, value_name = "N", conflicts_with = "radius", help_heading = "Method")]
    pub neighbors: Option<usize>,
    /// Join every sample to those at most this far away.
    #[arg(long, value_name = "NUMBER", help_heading = "Method")]
    pub radius: Option<f64>,
    /// Join the parts of a disconnected graph by the shortest edges.
    #[arg(long, help_heading = "Method")]
    pub bridges: bool,
}

impl Graph {
    /// In the words of the command line.
    pub fn in_words(&self) -> Vec<(&'static str, String)> {
        let mut words = vec![("bridges", self.bridges.to_string())];
        words.extend(self.neighbors.map(|k| ("neighbors", k.to_string())));
        words.extend(self.radius.map(|r| ("radius", r.to_string())));
        words
    }
}

/// Configures any method that has these options.
macro_rules! on_graph {
    ($graph:expr, $estimator:expr) => {{
        let mut estimator = $estimator.bridges($graph.bridges);
        if let Some(k) = $graph.neighbors {
            estimator = estimator.neighbors(k);
        }
        if let Some(radius) = $graph.radius {
            estimator = estimator.radius(radius);
        }
        estimator
    }};
}
pub(crate) use on_graph;
