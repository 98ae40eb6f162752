//! Latent semantic analysis.

use super::{Fitted, Method, fitted};
use crate::data::{AnyData, each};
use crate::options::{Way, Wish, components};
use eigenlens::{Lsa, NComponents, Options, Plan, Solver};
use pyo3::prelude::*;

/// The wishes of latent semantic analysis, as they come.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct LsaGiven {
    n_components: Option<Wish>,
    solver: Way,
}

/// The wishes of latent semantic analysis.
pub struct LsaWishes {
    n_components: NComponents,
    solver: Solver,
}

impl LsaWishes {
    /// The wishes in a dictionary.
    pub fn from_python(given: &Bound<PyAny>) -> PyResult<LsaWishes> {
        let LsaGiven { n_components, solver } = given.extract()?;
        Ok(LsaWishes { n_components: components(n_components)?, solver: solver.solver()? })
    }

    fn configured(&self, options: Options) -> Lsa {
        Lsa::new(self.n_components.clone()).solver(self.solver).options(options)
    }
}

impl Method for LsaWishes {
    fn plan(&self, data: &AnyData, options: Options) -> eigenlens::Result<Plan> {
        each!(data, data => self.configured(options).plan(data))
    }

    fn fit(&self, data: &AnyData, options: Options, scores: bool) -> eigenlens::Result<Fitted> {
        fitted!(self.configured(options), data, scores)
    }
}
