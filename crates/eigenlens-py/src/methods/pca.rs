//! Principal component analysis.

use super::{Fitted, Method, fitted};
use crate::data::{AnyData, each};
use crate::options::{Way, Wish, components};
use eigenlens::{NComponents, Options, Pca, Plan, Solver};
use pyo3::prelude::*;

/// The wishes of PCA, as they come.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct PcaGiven {
    n_components: Option<Wish>,
    standardize: bool,
    whiten: bool,
    solver: Way,
}

/// The wishes of PCA.
pub struct PcaWishes {
    n_components: NComponents,
    standardize: bool,
    whiten: bool,
    solver: Solver,
}

impl PcaWishes {
    /// The wishes in a dictionary.
    pub fn from_python(given: &Bound<PyAny>) -> PyResult<PcaWishes> {
        let given: PcaGiven = given.extract()?;
        Ok(PcaWishes {
            n_components: components(given.n_components)?,
            standardize: given.standardize,
            whiten: given.whiten,
            solver: given.solver.solver()?,
        })
    }

    pub fn configured(&self, options: Options) -> Pca {
        Pca::new(self.n_components.clone())
            .standardize(self.standardize)
            .whiten(self.whiten)
            .solver(self.solver)
            .options(options)
    }
}

impl Method for PcaWishes {
    fn plan(&self, data: &AnyData, options: Options) -> eigenlens::Result<Plan> {
        each!(data, data => self.configured(options).plan(data))
    }

    fn fit(&self, data: &AnyData, options: Options, scores: bool) -> eigenlens::Result<Fitted> {
        fitted!(self.configured(options), data, scores)
    }
}
