//! Sparse principal component analysis.

use super::{Fitted, Method, fitted};
use crate::data::{AnyData, each};
use eigenlens::{Options, PenaltyScale, Plan, ProofLimits, SparsePca};
use ndarray::Array2;
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Duration;

/// The wishes of sparse PCA, as they come.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct SparseGiven<'py> {
    n_components: usize,
    formulation: String,
    /// The penalty of a dictionary, or of a regression without numbers of non-zeros.
    penalty: f64,
    /// One number of non-zeros, or one for each component.
    non_zeros: Option<Vec<usize>>,
    /// Seconds for the proof of each component, where one is wanted.
    proof: Option<f64>,
    /// Components to learn a dictionary from.
    start: Option<PyReadonlyArray2<'py, f64>>,
}

/// The wishes of sparse PCA.
pub struct SparseWishes(SparsePca);

impl SparseWishes {
    /// The wishes in a dictionary.
    pub fn from_python(given: &Bound<PyAny>) -> PyResult<SparseWishes> {
        let given: SparseGiven = given.extract()?;
        let (k, penalty) = (given.n_components, given.penalty);
        let mut pca = match (given.formulation.as_str(), given.non_zeros) {
            ("dictionary", None) => SparsePca::dictionary(k, penalty),
            ("cardinality", Some(counts)) => SparsePca::cardinality(k, counts),
            ("regression", Some(counts)) => SparsePca::non_zeros(k, counts),
            ("regression", None) => SparsePca::penalty(k, penalty).penalty_scale(PenaltyScale::Sum),
            (other, _) => {
                let said = format!("the formulation `{other}` is not known with these wishes");
                return Err(PyValueError::new_err(said));
            }
        };
        if let Some(seconds) = given.proof {
            let time = Duration::try_from_secs_f64(seconds)
                .map_err(|error| PyValueError::new_err(format!("`time_limit`: {error}")))?;
            pca = pca.exact(ProofLimits { time: Some(time), ..ProofLimits::default() });
        }
        if let Some(start) = given.start {
            let start: Array2<f64> = start.as_array().as_standard_layout().into_owned();
            pca = pca.start(start);
        }
        Ok(SparseWishes(pca))
    }

    fn configured(&self, options: Options) -> SparsePca {
        self.0.clone().options(options)
    }
}

impl Method for SparseWishes {
    fn plan(&self, data: &AnyData, options: Options) -> eigenlens::Result<Plan> {
        each!(data, data => self.configured(options).plan(data))
    }

    fn fit(&self, data: &AnyData, options: Options, scores: bool) -> eigenlens::Result<Fitted> {
        fitted!(self.configured(options), data, scores)
    }
}
