//! `fit kernel-supervised-pca`.

use super::supervised_pca::target;
use super::{About, AnyData, Fitted, Method, Wishes, each};
use crate::kernels::KernelOptions;
use crate::target::TargetOptions;
use clap::Args;
use eigenlens::{KernelSupervisedPca, NComponents, Plan};
use eigenlens_io::Numbers;

pub const ABOUT: About = About {
    name: "kernel-supervised-pca",
    summary: "kernel supervised PCA: the same in the feature space of a kernel",
    page: "docs/methods/kernel-supervised-pca.md",
    axis: "KSPC",
    linear: false,
};

/// The options of kernel supervised PCA.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Own {
    #[command(flatten)]
    target: TargetOptions,
    #[command(flatten)]
    kernel: KernelOptions,
    /// Scores without the mean in feature space subtracted.
    #[arg(long)]
    no_center: bool,
}

impl Own {
    fn configured(&self, wishes: &Wishes) -> eigenlens::Result<KernelSupervisedPca> {
        Ok(KernelSupervisedPca::new(wishes.components.clone())
            .kernel(self.kernel.kernel()?)
            .label_kernel(self.target.kernel()?)
            .center(!self.no_center)
            .keep_unlabelled(self.target.keeps_unlabelled())
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
        words.extend(self.kernel.in_words());
        words.push(("center", (!self.no_center).to_string()));
        words
    }

    fn plan(&self, wishes: &Wishes, data: &AnyData) -> eigenlens::Result<Plan> {
        let (fit, target) = (self.configured(wishes)?, target(wishes)?);
        each!(data, d => fit.plan(d, target))
    }

    fn fit(&self, wishes: &Wishes, data: &AnyData, want_scores: bool) -> eigenlens::Result<Fitted> {
        let (fit, target) = (self.configured(wishes)?, target(wishes)?);
        let model = each!(data, d => fit.fit(d, target))?;
        let scores = match (want_scores, data) {
            (false, _) => None,
            (true, AnyData::F32(d)) => Some(Numbers::F32(model.transform(d)?)),
            (true, AnyData::F64(d)) => Some(Numbers::F64(model.transform(d)?)),
        };
        Ok(Fitted { model: Box::new(model), scores })
    }

    fn target(&self) -> Option<&TargetOptions> {
        Some(&self.target)
    }
}
