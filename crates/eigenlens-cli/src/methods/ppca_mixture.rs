//! `fit ppca-mixture`.

use super::{About, AnyData, Fitted, Method, Wishes, each};
use clap::Args;
use eigenlens::{Error, NComponents, Plan, PpcaMixture};

pub const ABOUT: About = About {
    name: "ppca-mixture",
    summary: "mixture of probabilistic PCAs: clusters, each with directions of its own",
    page: "docs/methods/ppca-mixture.md",
    axis: "part",
    linear: false,
};

/// The options of mixtures.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Own {
    /// Divide every feature by its standard deviation.
    #[arg(long)]
    scale: bool,
    /// Parts of the mixture.
    #[arg(long, value_name = "N", default_value_t = 2)]
    parts: usize,
    /// Try 1 to `--parts` parts and keep the number with the least BIC.
    #[arg(long)]
    best: bool,
    /// Random starts, of which the best is followed.
    #[arg(long, value_name = "N", default_value_t = 5)]
    starts: usize,
}

impl Own {
    fn configured(&self, wishes: &Wishes) -> eigenlens::Result<PpcaMixture> {
        let NComponents::Fixed(latent) = wishes.components else {
            return Err(Error::Unsupported {
                what: "a share or a rule for the number of components".into(),
                why: "does not fit a mixture; give the dimension of its parts as a number",
                instead: None,
            });
        };
        Ok(PpcaMixture::new(self.parts, latent)
            .starts(self.starts)
            .standardize(self.scale)
            .options(wishes.options.clone()))
    }
}

impl Method for Own {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn default_components(&self, n: Option<usize>, d: usize) -> NComponents {
        NComponents::Fixed(1.min(d.saturating_sub(1)).min(n.unwrap_or(d)).max(1))
    }

    fn in_words(&self) -> Vec<(&'static str, String)> {
        vec![
            ("scale", self.scale.to_string()),
            ("parts", self.parts.to_string()),
            ("best", self.best.to_string()),
            ("starts", self.starts.to_string()),
        ]
    }

    fn plan(&self, wishes: &Wishes, data: &AnyData) -> eigenlens::Result<Plan> {
        each!(data, d => self.configured(wishes)?.plan(d))
    }

    fn fit(&self, wishes: &Wishes, data: &AnyData, _: bool) -> eigenlens::Result<Fitted> {
        let mixture = self.configured(wishes)?;
        let model = if self.best {
            each!(data, d => mixture.fit_best(d))?.best
        } else {
            each!(data, d => mixture.fit_observed(d, &mut wishes.steps.observer()))?
        };
        Ok(Fitted { model: Box::new(model), scores: None })
    }

    fn takes_holes(&self) -> bool {
        true
    }
}
