//! Dependence between two sets of columns.

use crate::data::DataArgs;
use crate::errors;
use crate::kernels::kernel;
use crate::options::Shared;
use eigenlens::AnyDataset;
use eigenlens::{Error, Hsic};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// HSIC between two data sets of float64 and a test of independence: by so many permutations, or by
/// the gamma approximation.
#[pyfunction]
pub fn hsic<'py>(
    py: Python<'py>,
    x: DataArgs<'py>,
    y: DataArgs<'py>,
    kernels: (Bound<'py, PyAny>, Bound<'py, PyAny>),
    permutations: Option<usize>,
    options: Shared,
) -> PyResult<Bound<'py, PyDict>> {
    let hsic = Hsic::new(kernel(&kernels.0)?, kernel(&kernels.1)?).options(options.options());
    let (x, y) = (x.take()?, y.take()?);
    let found = py.detach(|| match (x.data(None)?, y.data(None)?) {
        (AnyDataset::F64(x), AnyDataset::F64(y)) => match permutations {
            Some(permutations) => {
                let found = hsic.permutation_test(&x, &y, permutations)?;
                Ok((found.estimate, found.p_value, found.null_mean))
            }
            None => {
                let found = hsic.gamma_test(&x, &y)?;
                Ok((found.estimate, found.p_value, found.null_mean))
            }
        },
        _ => Err(Error::Internal("data of float32".into())),
    });
    let (estimate, p_value, null_mean) = found.map_err(errors::library)?;
    let all = PyDict::new(py);
    all.set_item("n_samples", estimate.n_samples)?;
    all.set_item("statistic", estimate.biased)?;
    all.set_item("unbiased", estimate.unbiased)?;
    all.set_item("alignment", estimate.alignment)?;
    all.set_item("pvalue", p_value)?;
    all.set_item("null_mean", null_mean)?;
    Ok(all)
}
