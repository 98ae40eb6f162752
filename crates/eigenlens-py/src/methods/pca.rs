//! Principal component analysis.

use crate::options::{ComponentsArg, SolverArg, n_components};
use eigenlens::{Options, Pca};
use pyo3::prelude::*;

/// The options of PCA: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct PcaOptions {
    n_components: Option<ComponentsArg>,
    standardize: bool,
    whiten: bool,
    solver: SolverArg,
}

pub fn estimator(given: &Bound<PyAny>, options: Options) -> PyResult<Pca> {
    let given: PcaOptions = given.extract()?;
    Ok(Pca::new(n_components(given.n_components)?)
        .standardize(given.standardize)
        .whiten(given.whiten)
        .solver(given.solver.solver()?)
        .options(options))
}
