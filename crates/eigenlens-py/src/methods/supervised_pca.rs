//! Supervised principal component analysis.

use crate::options::{ComponentsArg, n_components};
use crate::target::{TargetArg, label_kernel};
use eigenlens::{Options, SupervisedPca, Target};
use pyo3::prelude::*;

/// The options of supervised PCA, with the target they are for: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct SupervisedOptions<'py> {
    n_components: Option<ComponentsArg>,
    target: TargetArg<'py>,
    label_kernel: String,
    label_gamma: Option<f64>,
    supervision: f64,
    standardize: bool,
    keep_unlabelled: bool,
}

pub fn estimator(given: &Bound<PyAny>, options: Options) -> PyResult<(SupervisedPca, Target)> {
    let given: SupervisedOptions = given.extract()?;
    let estimator = SupervisedPca::new(n_components(given.n_components)?)
        .label_kernel(label_kernel(&given.label_kernel, given.label_gamma)?)
        .supervision(given.supervision)
        .standardize(given.standardize)
        .keep_unlabelled(given.keep_unlabelled)
        .options(options);
    Ok((estimator, given.target.target()?))
}
