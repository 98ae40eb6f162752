//! Locally linear embedding.

use eigenlens::{Lle, Options};
use pyo3::prelude::*;

/// The options of locally linear embedding: a dictionary with all of these keys. Parts of the graph are
/// always joined.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct LleOptions {
    n_components: usize,
    n_neighbors: usize,
    regularization: f64,
}

pub fn estimator(given: &Bound<PyAny>, options: Options) -> PyResult<Lle> {
    let given: LleOptions = given.extract()?;
    Ok(Lle::new(given.n_components)
        .neighbors(given.n_neighbors)
        .regularization(given.regularization)
        .bridges(true)
        .options(options))
}
