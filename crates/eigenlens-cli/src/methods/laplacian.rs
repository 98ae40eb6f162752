//! `fit laplacian`.

use super::neighborhood::{Graph, on_graph};
use super::{FitOptions, MethodFlags};
use clap::Args;
use eigenlens::{Affinity, Estimator, LaplacianEigenmaps, Normalization, Scaling};

/// The options of Laplacian eigenmaps.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
    #[command(flatten)]
    graph: Graph,
    /// Which Laplacian: generalized, symmetric or unnormalized.
    #[arg(long, value_name = "KIND", value_parser = parse_normalization, default_value = "generalized")]
    normalization: Normalization,
    /// Tie neighbours by exp(−γ‖x − y‖²) in place of 1.
    #[arg(long)]
    heat: bool,
    /// γ of `--heat`: a number, or `median` of the distances of neighbours [default: median].
    #[arg(long, value_name = "NUMBER|median", value_parser = parse_gamma, requires = "heat")]
    gamma: Option<Gamma>,
    /// Commute-time coordinates: divided by the root of the eigenvalue.
    #[arg(long)]
    commute_time: bool,
}

/// `None`: by the median.
#[derive(Clone, Copy)]
struct Gamma(Option<f64>);

fn parse_gamma(text: &str) -> Result<Gamma, String> {
    if text == "median" {
        return Ok(Gamma(None));
    }
    let number = text.parse::<f64>().map_err(|_| "expected a number or `median`")?;
    Ok(Gamma(Some(number)))
}

fn parse_normalization(text: &str) -> Result<Normalization, String> {
    let names = Normalization::NAMES;
    match names.iter().find(|(name, _)| *name == text) {
        Some((_, normalization)) => Ok(*normalization),
        None => Err(format!("there are {}", names.map(|(name, _)| name).join(", "))),
    }
}

impl Flags {
    fn configured(&self, options: &FitOptions) -> LaplacianEigenmaps {
        let gamma = self.gamma.and_then(|Gamma(gamma)| gamma);
        let maps = LaplacianEigenmaps::new(options.n_components.clone());
        on_graph!(self.graph, maps.options(options.shared.clone()))
            .normalization(self.normalization)
            .affinity(if self.heat { Affinity::Heat { gamma } } else { Affinity::Binary })
            .scaling(if self.commute_time { Scaling::Kernel } else { Scaling::Unit })
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
        words.push(("normalization", self.normalization.name().into()));
        words.push(("commute-time", self.commute_time.to_string()));
        words.push(("heat", self.heat.to_string()));
        if let Some(Gamma(gamma)) = self.gamma {
            words.push(("gamma", gamma.map_or("median".into(), |g| g.to_string())));
        }
        words
    }
}
