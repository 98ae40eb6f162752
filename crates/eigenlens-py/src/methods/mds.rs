//! Classical multidimensional scaling.

use super::{Fitted, Method, fitted};
use crate::data::{AnyData, each};
use eigenlens::{Mds, Metric, Options, Plan};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The wishes of classical MDS, as they come.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct MdsGiven {
    n_components: usize,
    /// A metric's name; without one the data are distances.
    metric: Option<String>,
}

/// The wishes of classical MDS.
pub struct MdsWishes {
    n_components: usize,
    metric: Option<Metric>,
}

impl MdsWishes {
    /// The wishes in a dictionary.
    pub fn from_python(given: &Bound<PyAny>) -> PyResult<MdsWishes> {
        let MdsGiven { n_components, metric } = given.extract()?;
        let named = |name: String| {
            let found = Metric::NAMES.iter().find(|(known, _)| *known == name);
            found
                .map(|(_, metric)| *metric)
                .ok_or_else(|| PyValueError::new_err(format!("the metric `{name}` is not known")))
        };
        Ok(MdsWishes { n_components, metric: metric.map(named).transpose()? })
    }

    fn configured(&self, options: Options) -> Mds {
        let mds = Mds::new(self.n_components).options(options);
        match self.metric {
            Some(metric) => mds.metric(metric),
            None => mds.distances(true),
        }
    }
}

impl Method for MdsWishes {
    fn plan(&self, data: &AnyData, options: Options) -> eigenlens::Result<Plan> {
        each!(data, data => self.configured(options).plan(data))
    }

    fn fit(&self, data: &AnyData, options: Options, scores: bool) -> eigenlens::Result<Fitted> {
        fitted!(self.configured(options), data, scores)
    }
}
