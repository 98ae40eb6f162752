//! `fit laplacian`.

use super::neighborhood::{Graph, on_graph};
use super::{FitOptions, MethodFlags};
use clap::Args;
use eigenlens::{Affinity, Error, Estimator, Hint, LaplacianEigenmaps, Normalization, Scaling};

/// The options of Laplacian eigenmaps.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
    #[command(flatten)]
    graph: Graph,
    /// Which Laplacian: generalized, symmetric or unnormalized.
    #[arg(long, value_name = "KIND", value_parser = parse_normalization, default_value = "generalized")]
    normalization: Normalization,
    /// How samples are tied: binary (1 for neighbours), averaged (½ where only one is the other's),
    /// heat (exp(−γ‖x − y‖²) for neighbours), rbf (the same for all pairs), precomputed (the table
    /// holds the affinities).
    #[arg(long, value_name = "NAME", value_parser = Affinity::NAMES, default_value = "binary")]
    affinity: String,
    /// The same as `--affinity heat`.
    #[arg(long, conflicts_with = "affinity")]
    heat: bool,
    /// γ of heat and rbf: a number, or for heat the `median` of the distances of neighbours
    /// [default: median; 1 / features for rbf].
    #[arg(long, value_name = "NUMBER|median", value_parser = parse_gamma)]
    gamma: Option<Gamma>,
    /// The table holds the distances between the samples.
    #[arg(long)]
    distances: bool,
    /// Embed a graph in several parts as it is.
    #[arg(long)]
    keep_parts: bool,
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
    fn affinity_name(&self) -> &str {
        if self.heat { "heat" } else { &self.affinity }
    }

    fn configured(&self, options: &FitOptions) -> eigenlens::Result<LaplacianEigenmaps> {
        let affinity = match (self.affinity_name(), self.gamma) {
            ("heat", Some(Gamma(gamma))) => Some(Affinity::Heat { gamma }),
            (name, Some(Gamma(Some(gamma)))) => Affinity::named(name, Some(gamma)),
            (name, None) => Affinity::named(name, None),
            _ => None,
        };
        let affinity = affinity.ok_or_else(|| Error::Unsupported {
            what: "this `gamma`".into(),
            why: "does not fit the affinity",
            instead: Some(Hint::Set { option: "affinity", value: "heat".into() }),
        })?;
        let maps = LaplacianEigenmaps::new(options.n_components.clone());
        Ok(on_graph!(self.graph, maps.options(options.shared.clone()))
            .normalization(self.normalization)
            .affinity(affinity)
            .distances(self.distances)
            .keep_parts(self.keep_parts)
            .scaling(if self.commute_time { Scaling::Kernel } else { Scaling::Unit }))
    }
}

impl MethodFlags for Flags {
    fn estimator(
        &self,
        options: &FitOptions,
        _: usize,
    ) -> eigenlens::Result<Box<dyn Estimator>> {
        Ok(Box::new(self.configured(options)?))
    }

    fn in_words(&self) -> Vec<(&'static str, String)> {
        let mut words = self.graph.in_words();
        words.push(("normalization", self.normalization.name().into()));
        words.push(("commute-time", self.commute_time.to_string()));
        words.push(("affinity", self.affinity_name().into()));
        words.push(("distances", self.distances.to_string()));
        words.push(("keep-parts", self.keep_parts.to_string()));
        if let Some(Gamma(gamma)) = self.gamma {
            words.push(("gamma", gamma.map_or("median".into(), |g| g.to_string())));
        }
        words
    }
}
