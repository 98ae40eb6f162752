//! Classical multidimensional scaling.

use eigenlens::{Mds, Metric, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The options of classical MDS: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct MdsOptions {
    n_components: usize,
    /// A metric's name; without one the data are distances.
    metric: Option<String>,
}

pub fn estimator(given: &Bound<PyAny>, options: Options) -> PyResult<Mds> {
    let MdsOptions { n_components, metric } = given.extract()?;
    let mds = Mds::new(n_components).options(options);
    let Some(name) = metric else { return Ok(mds.distances(true)) };
    match Metric::NAMES.iter().find(|(known, _)| *known == name) {
        Some((_, metric)) => Ok(mds.metric(*metric)),
        None => Err(PyValueError::new_err(format!("the metric `{name}` is not known"))),
    }
}
