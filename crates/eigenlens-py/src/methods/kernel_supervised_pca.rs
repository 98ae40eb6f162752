//! Kernel supervised principal component analysis.

use super::{Fitted, Method, scores_of};
use crate::data::{AnyData, each};
use crate::kernels::NamedKernel;
use crate::options::{Wish, components};
use crate::target::{GivenTarget, label_kernel};
use eigenlens::{KernelSupervisedPca, Options, Plan, Target};
use pyo3::prelude::*;

/// The wishes of kernel supervised PCA, as they come.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct KernelSupervisedGiven<'py> {
    n_components: Option<Wish>,
    kernel: NamedKernel,
    target: GivenTarget<'py>,
    label_kernel: String,
    label_gamma: Option<f64>,
    keep_unlabelled: bool,
}

/// The wishes of kernel supervised PCA, with the target they are for.
pub struct KernelSupervisedWishes {
    method: KernelSupervisedPca,
    target: Target,
}

impl KernelSupervisedWishes {
    /// The wishes in a dictionary.
    pub fn from_python(given: &Bound<PyAny>) -> PyResult<KernelSupervisedWishes> {
        let given: KernelSupervisedGiven = given.extract()?;
        let method = KernelSupervisedPca::new(components(given.n_components)?)
            .kernel(given.kernel.kernel()?)
            .label_kernel(label_kernel(&given.label_kernel, given.label_gamma)?)
            .keep_unlabelled(given.keep_unlabelled);
        Ok(KernelSupervisedWishes { method, target: given.target.target()? })
    }

    fn configured(&self, options: Options) -> KernelSupervisedPca {
        self.method.clone().options(options)
    }
}

impl Method for KernelSupervisedWishes {
    fn plan(&self, data: &AnyData, options: Options) -> eigenlens::Result<Plan> {
        each!(data, data => self.configured(options).plan(data, &self.target))
    }

    fn fit(&self, data: &AnyData, options: Options, scores: bool) -> eigenlens::Result<Fitted> {
        let model = each!(data, data => self.configured(options).fit(data, &self.target))?;
        scores_of(Box::new(model), data, scores)
    }
}
