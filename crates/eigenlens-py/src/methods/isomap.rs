//! Isomap.

use super::{Fitted, Method, fitted};
use crate::data::{AnyData, each};
use eigenlens::{Isomap, Options, Plan};
use pyo3::prelude::*;

/// The wishes of Isomap. Parts of the graph are always joined.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct IsomapWishes {
    n_components: usize,
    n_neighbors: Option<usize>,
    radius: Option<f64>,
    landmarks: Option<usize>,
}

impl IsomapWishes {
    /// The wishes in a dictionary.
    pub fn from_python(given: &Bound<PyAny>) -> PyResult<IsomapWishes> {
        given.extract()
    }

    fn configured(&self, options: Options) -> Isomap {
        let mut isomap = Isomap::new(self.n_components).bridges(true).options(options);
        if let Some(k) = self.n_neighbors {
            isomap = isomap.neighbors(k);
        }
        if let Some(radius) = self.radius {
            isomap = isomap.radius(radius);
        }
        match self.landmarks {
            Some(m) => isomap.landmarks(m),
            None => isomap,
        }
    }
}

impl Method for IsomapWishes {
    fn plan(&self, data: &AnyData, options: Options) -> eigenlens::Result<Plan> {
        each!(data, data => self.configured(options).plan(data))
    }

    fn fit(&self, data: &AnyData, options: Options, scores: bool) -> eigenlens::Result<Fitted> {
        fitted!(self.configured(options), data, scores)
    }
}
