//! Probabilistic principal component analysis.

use crate::options::{ComponentsArg, n_components};
use eigenlens::{Algorithm, Options, Ppca};
use pyo3::prelude::*;

/// The options of probabilistic PCA: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct PpcaOptions {
    n_components: Option<ComponentsArg>,
    standardize: bool,
    /// Whether to iterate also where the closed form would do.
    em: bool,
}

pub fn estimator(given: &Bound<PyAny>, options: Options) -> PyResult<Ppca> {
    let PpcaOptions { n_components: k, standardize, em } = given.extract()?;
    Ok(Ppca::new(n_components(k)?)
        .standardize(standardize)
        .algorithm(if em { Algorithm::Em } else { Algorithm::Auto })
        .options(options))
}
