//! Kernels: what they are called here, and their values.

use crate::data::DataArgs;
use crate::errors;
use crate::options::values;
use eigenlens::{AnyDataset, Error, KERNELS, Kernel, KernelSpec};
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;

/// The kernel that options describe, a dictionary: those of kernel PCA.
pub fn kernel(given: &Bound<PyAny>) -> PyResult<Kernel> {
    values("kernel-pca", given)?.kernel().map_err(errors::library)
}

/// Every kernel that has a name: that, the names of its parameters, and whether one of them is a width.
#[pyfunction]
pub fn kernels() -> Vec<(&'static str, Vec<&'static str>, bool)> {
    let one = |kernel: &'static KernelSpec| {
        let parameters = kernel.parameters.iter().map(|parameter| parameter.name).collect();
        (kernel.name, parameters, kernel.has_width())
    };
    KERNELS.iter().map(one).collect()
}

/// The kernel's values between the rows of two data sets of one element type (m × n).
#[pyfunction]
pub fn kernel_matrix<'py>(
    py: Python<'py>,
    kernel: &Bound<'py, PyAny>,
    a: DataArgs<'py>,
    b: DataArgs<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let kernel = self::kernel(kernel)?;
    let (a, b) = (a.take()?, b.take()?);
    let values = py.detach(|| match (a.data(None)?, b.data(None)?) {
        (AnyDataset::F64(a), AnyDataset::F64(b)) => kernel.resolve(&b, 0)?.matrix(&a, &b),
        (AnyDataset::F32(a), AnyDataset::F32(b)) => kernel.resolve(&b, 0)?.matrix(&a, &b),
        _ => Err(Error::Internal("two element types".into())),
    });
    Ok(values.map_err(errors::library)?.into_pyarray(py))
}
