//! Isomap.

use eigenlens::{Isomap, Options};
use pyo3::prelude::*;

/// The options of Isomap: a dictionary with all of these keys. Parts of the graph are always joined.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct IsomapOptions {
    n_components: usize,
    n_neighbors: Option<usize>,
    radius: Option<f64>,
    landmarks: Option<usize>,
}

pub fn estimator(given: &Bound<PyAny>, options: Options) -> PyResult<Isomap> {
    let given: IsomapOptions = given.extract()?;
    let mut isomap = Isomap::new(given.n_components).bridges(true).options(options);
    if let Some(k) = given.n_neighbors {
        isomap = isomap.neighbors(k);
    }
    if let Some(radius) = given.radius {
        isomap = isomap.radius(radius);
    }
    Ok(match given.landmarks {
        Some(m) => isomap.landmarks(m),
        None => isomap,
    })
}
