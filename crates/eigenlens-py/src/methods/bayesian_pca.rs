//! Bayesian principal component analysis.

use crate::options::{ComponentsArg, n_components};
use eigenlens::{BayesianPca, Options};
use pyo3::prelude::*;

/// The options of Bayesian PCA: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct BayesianOptions {
    /// The most there may be.
    n_components: Option<ComponentsArg>,
    standardize: bool,
}

pub fn estimator(given: &Bound<PyAny>, options: Options) -> PyResult<BayesianPca> {
    let BayesianOptions { n_components: k, standardize } = given.extract()?;
    Ok(BayesianPca::new(n_components(k)?).standardize(standardize).options(options))
}
