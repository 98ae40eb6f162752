//! Models of other programs, checked.

use crate::data::DataArgs;
use crate::kernels;
use crate::records::verification;
use eigenlens::{Claim, KernelClaim, VerifyOptions};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What a program says it found, as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Claimed<'py> {
    components: PyReadonlyArray2<'py, f64>,
    mean: Option<PyReadonlyArray1<'py, f64>>,
    explained_variance: Option<PyReadonlyArray1<'py, f64>>,
    total_variance: Option<f64>,
}

/// Checks principal components against the data they were made from.
#[pyfunction]
pub fn verify_claim<'py>(
    py: Python<'py>,
    claimed: Claimed<'py>,
    data: DataArgs<'py>,
    seed: u64,
    tolerance: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let numbers = |of: &Option<PyReadonlyArray1<'py, f64>>| {
        of.as_ref().map(|numbers| numbers.as_array().to_vec())
    };
    let (values, mean) = (numbers(&claimed.explained_variance), numbers(&claimed.mean));
    let claim = Claim {
        components: claimed.components.as_array(),
        mean: mean.as_deref(),
        explained_variance: values.as_deref(),
        total_variance: claimed.total_variance,
    };
    let options = VerifyOptions { seed, tolerance, memory: None };
    let taken = data.take()?;
    let found = taken.run(py, None, |data| claim.verify(data, &options))?;
    verification(py, &found)
}

/// Checks eigenvectors of a centred kernel (n × k) against the samples they were made from.
#[pyfunction]
pub fn verify_kernel_claim<'py>(
    py: Python<'py>,
    kernel: &Bound<'py, PyAny>,
    eigenvalues: PyReadonlyArray1<'py, f64>,
    eigenvectors: PyReadonlyArray2<'py, f64>,
    data: DataArgs<'py>,
    seed: u64,
    tolerance: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let kernel = kernels::kernel(kernel)?;
    let values = eigenvalues.as_array().to_vec();
    let claim = KernelClaim {
        kernel: &kernel,
        eigenvalues: &values,
        eigenvectors: eigenvectors.as_array(),
    };
    let options = VerifyOptions { seed, tolerance, memory: None };
    let taken = data.take()?;
    let found = taken.run(py, None, |data| claim.verify(data, &options))?;
    verification(py, &found)
}
