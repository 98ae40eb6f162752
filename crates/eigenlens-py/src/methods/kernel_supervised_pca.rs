//! Kernel supervised principal component analysis.

use crate::kernels::NamedKernel;
use crate::options::{ComponentsArg, n_components};
use crate::target::{TargetArg, label_kernel};
use eigenlens::{KernelSupervisedPca, Options, Target};
use pyo3::prelude::*;

/// The options of kernel supervised PCA, with the target they are for: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct KernelSupervisedOptions<'py> {
    n_components: Option<ComponentsArg>,
    kernel: NamedKernel,
    target: TargetArg<'py>,
    label_kernel: String,
    label_gamma: Option<f64>,
    keep_unlabelled: bool,
}

pub fn estimator(
    given: &Bound<PyAny>,
    options: Options,
) -> PyResult<(KernelSupervisedPca, Target)> {
    let given: KernelSupervisedOptions = given.extract()?;
    let estimator = KernelSupervisedPca::new(n_components(given.n_components)?)
        .kernel(given.kernel.kernel()?)
        .label_kernel(label_kernel(&given.label_kernel, given.label_gamma)?)
        .keep_unlabelled(given.keep_unlabelled)
        .options(options);
    Ok((estimator, given.target.target()?))
}
