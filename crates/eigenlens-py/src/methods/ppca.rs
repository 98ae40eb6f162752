//! Probabilistic principal component analysis.

use super::{Fitted, Method, fitted};
use crate::data::{AnyData, each};
use crate::options::{Wish, components};
use eigenlens::{Algorithm, NComponents, Options, Plan, Ppca};
use pyo3::prelude::*;

/// The wishes of probabilistic PCA, as they come.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct PpcaGiven {
    n_components: Option<Wish>,
    standardize: bool,
    /// Whether to iterate also where the closed form would do.
    em: bool,
}

/// The wishes of probabilistic PCA.
pub struct PpcaWishes {
    n_components: NComponents,
    standardize: bool,
    algorithm: Algorithm,
}

impl PpcaWishes {
    /// The wishes in a dictionary.
    pub fn from_python(given: &Bound<PyAny>) -> PyResult<PpcaWishes> {
        let PpcaGiven { n_components, standardize, em } = given.extract()?;
        let algorithm = if em { Algorithm::Em } else { Algorithm::Auto };
        Ok(PpcaWishes { n_components: components(n_components)?, standardize, algorithm })
    }

    fn configured(&self, options: Options) -> Ppca {
        Ppca::new(self.n_components.clone())
            .standardize(self.standardize)
            .algorithm(self.algorithm)
            .options(options)
    }
}

impl Method for PpcaWishes {
    fn plan(&self, data: &AnyData, options: Options) -> eigenlens::Result<Plan> {
        each!(data, data => self.configured(options).plan(data))
    }

    fn fit(&self, data: &AnyData, options: Options, scores: bool) -> eigenlens::Result<Fitted> {
        fitted!(self.configured(options), data, scores)
    }
}
