//! Locally linear embedding.

use eigenlens::{Lle, LleVariant, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The options of locally linear embedding: a dictionary with all of these keys. Parts of the graph are
/// always joined.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct LleOptions {
    n_components: usize,
    n_neighbors: usize,
    variant: String,
    regularization: f64,
    hessian_tolerance: f64,
    modified_tolerance: f64,
}

pub fn estimator(given: &Bound<PyAny>, options: Options) -> PyResult<Lle> {
    let given: LleOptions = given.extract()?;
    let known = LleVariant::NAMES.into_iter().find(|(name, _)| *name == given.variant);
    let Some((_, variant)) = known else {
        let said = format!("the variant `{}` is not known", given.variant);
        return Err(PyValueError::new_err(said));
    };
    Ok(Lle::new(given.n_components)
        .neighbors(given.n_neighbors)
        .variant(variant)
        .regularization(given.regularization)
        .hessian_tolerance(given.hessian_tolerance)
        .modified_tolerance(given.modified_tolerance)
        .bridges(true)
        .options(options))
}
