//! `fit kernel-supervised-pca`.

use super::{FitOptions, MethodFlags};
use crate::kernels::KernelOptions;
use crate::target::TargetOptions;
use clap::Args;
use eigenlens::{Estimator, KernelSupervisedPca};

/// The options of kernel supervised PCA.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
    #[command(flatten)]
    target: TargetOptions,
    #[command(flatten)]
    kernel: KernelOptions,
    /// Scores without the mean in feature space subtracted.
    #[arg(long)]
    no_center: bool,
}

impl Flags {
    fn configured(&self, options: &FitOptions) -> eigenlens::Result<KernelSupervisedPca> {
        Ok(KernelSupervisedPca::new(options.n_components.clone())
            .kernel(self.kernel.kernel()?)
            .label_kernel(self.target.kernel()?)
            .center(!self.no_center)
            .keep_unlabelled(self.target.keeps_unlabelled())
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
        let mut words = self.target.in_words();
        words.extend(self.kernel.in_words());
        words.push(("center", (!self.no_center).to_string()));
        words
    }

    fn target(&self) -> Option<&TargetOptions> {
        Some(&self.target)
    }
}
