//! `fit ppca-mixture`.

use super::{FitOptions, MethodFlags};
use clap::Args;
use eigenlens::{Error, Estimator, NComponents, PpcaMixture};

/// The options of mixtures.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
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

impl Flags {
    fn configured(&self, options: &FitOptions) -> eigenlens::Result<PpcaMixture> {
        let NComponents::Fixed(latent) = options.n_components else {
            return Err(Error::Unsupported {
                what: "a share or a rule for the number of components".into(),
                why: "does not fit a mixture; give the dimension of its parts as a number",
                instead: None,
            });
        };
        Ok(PpcaMixture::new(self.parts, latent)
            .starts(self.starts)
            .choose_parts(self.best)
            .standardize(self.scale)
            .options(options.shared.clone()))
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
        vec![
            ("scale", self.scale.to_string()),
            ("parts", self.parts.to_string()),
            ("best", self.best.to_string()),
            ("starts", self.starts.to_string()),
        ]
    }
}
