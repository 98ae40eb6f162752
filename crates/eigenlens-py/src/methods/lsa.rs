//! Latent semantic analysis.

use crate::options::{ComponentsArg, SolverArg, n_components};
use eigenlens::{Lsa, Options};
use pyo3::prelude::*;

/// The options of latent semantic analysis: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct LsaOptions {
    n_components: Option<ComponentsArg>,
    solver: SolverArg,
}

pub fn estimator(given: &Bound<PyAny>, options: Options) -> PyResult<Lsa> {
    let LsaOptions { n_components: k, solver } = given.extract()?;
    Ok(Lsa::new(n_components(k)?).solver(solver.solver()?).options(options))
}
