//! Kernels: what they are called here, and their values.

use crate::data::DataArgs;
use crate::errors;
use eigenlens::AnyDataset;
use eigenlens::{Bandwidth, Error, Kernel};
use numpy::{IntoPyArray, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A kernel by its name and numbers: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct NamedKernel {
    name: String,
    /// `None`: by the median distance, or what is usual where the kernel is of products.
    gamma: Option<f64>,
    degree: u32,
    coef0: f64,
}

impl NamedKernel {
    pub fn kernel(&self) -> PyResult<Kernel> {
        let NamedKernel { ref name, gamma, degree, coef0 } = *self;
        let width = gamma.map_or(Bandwidth::Median, Bandwidth::Gamma);
        Ok(match name.as_str() {
            "linear" => Kernel::Linear,
            "poly" => Kernel::Polynomial { degree, gamma: gamma.unwrap_or(1.0), coef0 },
            "rbf" => Kernel::Rbf { gamma: width },
            "laplacian" => Kernel::Laplacian { gamma: width },
            "sigmoid" => Kernel::Sigmoid { gamma, coef0 },
            "cosine" => Kernel::Cosine,
            "delta" => Kernel::Delta,
            "precomputed" => Kernel::Precomputed,
            _ => return Err(PyValueError::new_err(format!("the kernel `{name}` is not known"))),
        })
    }
}

/// The kernel's values between the rows of two data sets of one element type (m × n).
#[pyfunction]
pub fn kernel_matrix<'py>(
    py: Python<'py>,
    kernel: NamedKernel,
    a: DataArgs<'py>,
    b: DataArgs<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let kernel = kernel.kernel()?;
    let (a, b) = (a.take()?, b.take()?);
    let values = py.detach(|| match (a.data(None)?, b.data(None)?) {
        (AnyDataset::F64(a), AnyDataset::F64(b)) => kernel.resolve(&b, 0)?.matrix(&a, &b),
        (AnyDataset::F32(a), AnyDataset::F32(b)) => kernel.resolve(&b, 0)?.matrix(&a, &b),
        _ => Err(Error::Internal("two element types".into())),
    });
    Ok(values.map_err(errors::library)?.into_pyarray(py))
}
