//! Mixtures of probabilistic principal component analysers.

use eigenlens::{Options, PpcaMixture};
use pyo3::prelude::*;

/// The options of a mixture: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct MixtureOptions {
    n_parts: usize,
    latent: usize,
    starts: usize,
    standardize: bool,
    /// Whether fewer parts are tried too, and the least BIC decides.
    best: bool,
}

pub fn estimator(given: &Bound<PyAny>, options: Options) -> PyResult<PpcaMixture> {
    let given: MixtureOptions = given.extract()?;
    Ok(PpcaMixture::new(given.n_parts, given.latent)
        .starts(given.starts)
        .choose_parts(given.best)
        .standardize(given.standardize)
        .options(options))
}
