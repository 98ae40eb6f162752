//! Bayesian principal component analysis.

use super::{Fitted, Method, fitted};
use crate::data::{AnyData, each};
use crate::options::{Wish, components};
use eigenlens::{BayesianPca, NComponents, Options, Plan};
use pyo3::prelude::*;

/// The wishes of Bayesian PCA, as they come.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct BayesianGiven {
    /// The most there may be.
    n_components: Option<Wish>,
    standardize: bool,
}

/// The wishes of Bayesian PCA.
pub struct BayesianWishes {
    n_components: NComponents,
    standardize: bool,
}

impl BayesianWishes {
    /// The wishes in a dictionary.
    pub fn from_python(given: &Bound<PyAny>) -> PyResult<BayesianWishes> {
        let BayesianGiven { n_components, standardize } = given.extract()?;
        Ok(BayesianWishes { n_components: components(n_components)?, standardize })
    }

    fn configured(&self, options: Options) -> BayesianPca {
        BayesianPca::new(self.n_components.clone()).standardize(self.standardize).options(options)
    }
}

impl Method for BayesianWishes {
    fn plan(&self, data: &AnyData, options: Options) -> eigenlens::Result<Plan> {
        each!(data, data => self.configured(options).plan(data))
    }

    fn fit(&self, data: &AnyData, options: Options, scores: bool) -> eigenlens::Result<Fitted> {
        fitted!(self.configured(options), data, scores)
    }
}
