//! Laplacian eigenmaps.

use eigenlens::{Affinity, LaplacianEigenmaps, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The options of Laplacian eigenmaps: a dictionary with all of these keys. Parts of the graph are always
/// kept.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct LaplacianOptions {
    n_components: usize,
    n_neighbors: Option<usize>,
    affinity: String,
    gamma: Option<f64>,
    distances: bool,
}

pub fn estimator(given: &Bound<PyAny>, options: Options) -> PyResult<LaplacianEigenmaps> {
    let given: LaplacianOptions = given.extract()?;
    let Some(affinity) = Affinity::named(&given.affinity, given.gamma) else {
        let said = format!("the affinity `{}` is not known", given.affinity);
        return Err(PyValueError::new_err(said));
    };
    let maps = LaplacianEigenmaps::new(given.n_components)
        .affinity(affinity)
        .distances(given.distances)
        .keep_parts(true)
        .options(options);
    Ok(match given.n_neighbors {
        Some(k) => maps.neighbors(k),
        None => maps,
    })
}
