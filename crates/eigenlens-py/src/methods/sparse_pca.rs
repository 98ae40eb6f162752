//! Sparse principal component analysis.

use eigenlens::{Options, PenaltyScale, ProofLimits, SparsePca};
use ndarray::Array2;
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Duration;

/// The options of sparse PCA: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct SparseOptions<'py> {
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

pub fn estimator(given: &Bound<PyAny>, options: Options) -> PyResult<SparsePca> {
    let given: SparseOptions = given.extract()?;
    let (k, penalty) = (given.n_components, given.penalty);
    let mut pca = match (given.formulation.as_str(), given.non_zeros) {
        ("dictionary", None) => SparsePca::dictionary(k, penalty),
        ("cardinality", Some(counts)) => SparsePca::cardinality(k, counts),
        ("regression", Some(counts)) => SparsePca::non_zeros(k, counts),
        ("regression", None) => SparsePca::penalty(k, penalty).penalty_scale(PenaltyScale::Sum),
        (other, _) => {
            let said = format!("the formulation `{other}` is not known with these options");
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
    Ok(pca.options(options))
}
