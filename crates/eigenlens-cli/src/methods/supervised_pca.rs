//! `fit supervised-pca`.

use super::{About, AnyData, Fitted, Method, Wishes, each};
use crate::arguments::Route;
use crate::target::TargetOptions;
use crate::wishes::solver_text;
use clap::Args;
use eigenlens::{Error, NComponents, Plan, SupervisedPca, Target};
use eigenlens_io::Numbers;

pub const ABOUT: About = About {
    name: "supervised-pca",
    summary: "supervised PCA: directions that depend most on a target",
    page: "docs/methods/supervised-pca.md",
    axis: "SPC",
    linear: true,
};

/// The options of supervised PCA.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Own {
    #[command(flatten)]
    target: TargetOptions,
    /// From PCA (0) to supervised PCA (1).
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    supervision: f64,
    /// Divide every feature by its standard deviation.
    #[arg(long)]
    scale: bool,
    /// Scores without the mean subtracted, as in the textbook; the directions are the same.
    #[arg(long)]
    no_center: bool,
    #[command(flatten)]
    route: Route,
}

impl Own {
    fn configured(&self, wishes: &Wishes) -> eigenlens::Result<SupervisedPca> {
        Ok(SupervisedPca::new(wishes.components.clone())
            .label_kernel(self.target.kernel()?)
            .supervision(self.supervision)
            .standardize(self.scale)
            .center(!self.no_center)
            .keep_unlabelled(self.target.keeps_unlabelled())
            .solver(self.route.solver)
            .options(wishes.options.clone()))
    }
}

impl Method for Own {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn default_components(&self, _: Option<usize>, _: usize) -> NComponents {
        NComponents::VarianceShare(0.99)
    }

    fn in_words(&self) -> Vec<(&'static str, String)> {
        let mut words = self.target.in_words();
        words.extend([
            ("supervision", self.supervision.to_string()),
            ("scale", self.scale.to_string()),
            ("center", (!self.no_center).to_string()),
            ("solver", solver_text(self.route.solver).into()),
        ]);
        words
    }

    fn plan(&self, wishes: &Wishes, data: &AnyData) -> eigenlens::Result<Plan> {
        let (fit, target) = (self.configured(wishes)?, target(wishes)?);
        each!(data, d => fit.plan(d, target))
    }

    fn fit(&self, wishes: &Wishes, data: &AnyData, want_scores: bool) -> eigenlens::Result<Fitted> {
        let (fit, target) = (self.configured(wishes)?, target(wishes)?);
        if !want_scores {
            let model = each!(data, d => fit.fit(d, target))?;
            return Ok(Fitted { model: Box::new(model), scores: None });
        }
        let (model, scores) = match data {
            AnyData::F32(d) => {
                let (model, scores) = fit.fit_transform(d, target)?;
                (model, Numbers::F32(scores))
            }
            AnyData::F64(d) => {
                let (model, scores) = fit.fit_transform(d, target)?;
                (model, Numbers::F64(scores))
            }
        };
        Ok(Fitted { model: Box::new(model), scores: Some(scores) })
    }

    fn target(&self) -> Option<&TargetOptions> {
        Some(&self.target)
    }
}

/// The target, which was read before.
pub(super) fn target(wishes: &Wishes) -> eigenlens::Result<&Target> {
    wishes.target.as_ref().ok_or_else(|| Error::Internal("a target that was not read".into()))
}
