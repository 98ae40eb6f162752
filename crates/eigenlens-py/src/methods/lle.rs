//! Locally linear embedding.

use super::{Fitted, Method, fitted};
use crate::data::{AnyData, each};
use eigenlens::{Lle, Options, Plan};
use pyo3::prelude::*;

/// The wishes of locally linear embedding. Parts of the graph are always joined.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct LleWishes {
    n_components: usize,
    n_neighbors: usize,
    regularization: f64,
}

impl LleWishes {
    /// The wishes in a dictionary.
    pub fn from_python(given: &Bound<PyAny>) -> PyResult<LleWishes> {
        given.extract()
    }

    fn configured(&self, options: Options) -> Lle {
        Lle::new(self.n_components)
            .neighbors(self.n_neighbors)
            .regularization(self.regularization)
            .bridges(true)
            .options(options)
    }
}

impl Method for LleWishes {
    fn plan(&self, data: &AnyData, options: Options) -> eigenlens::Result<Plan> {
        each!(data, data => self.configured(options).plan(data))
    }

    fn fit(&self, data: &AnyData, options: Options, scores: bool) -> eigenlens::Result<Fitted> {
        fitted!(self.configured(options), data, scores)
    }
}
