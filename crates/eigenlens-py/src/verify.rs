//! Models of other programs, checked.

use crate::data::DataArgs;
use crate::records::verification;
use eigenlens::Claim;
use eigenlens::dispatch;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What a program says it found, as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Claimed<'py> {
    components: PyReadonlyArray2<'py, f64>,
    explained_variance: PyReadonlyArray1<'py, f64>,
    total_variance: f64,
    mean: PyReadonlyArray1<'py, f64>,
    tolerance: f64,
}

/// Checks principal components against the data they were made from.
#[pyfunction]
pub fn verify_claim<'py>(
    py: Python<'py>,
    claimed: Claimed<'py>,
    data: DataArgs<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let (values, mean) = (claimed.explained_variance.as_array(), claimed.mean.as_array());
    let claim = Claim {
        components: claimed.components.as_array(),
        explained_variance: &values.to_vec(),
        total_variance: claimed.total_variance,
        mean: &mean.to_vec(),
        tolerance: claimed.tolerance,
    };
    let taken = data.take()?;
    let found = taken.run(py, None, |data| dispatch!(data, data => claim.verify(data)))?;
    verification(py, &found)
}
