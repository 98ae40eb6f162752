//! Count, mean and scatter, for data in parts.

use crate::data::DataArgs;
use crate::errors;
use crate::model::Model;
use crate::options::{Shared, values};
use eigenlens::{DataShape, dispatch};
use numpy::{PyArray1, PyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// Count, mean and scatter of samples.
#[pyclass(frozen, module = "eigenlens._core")]
pub struct Moments(eigenlens::Moments);

#[pymethods]
impl Moments {
    /// The moments of data.
    #[staticmethod]
    fn of<'py>(py: Python<'py>, data: DataArgs<'py>, options: Shared) -> PyResult<Moments> {
        let options = options.options();
        let taken = data.take()?;
        // A file is read in one pass: there is no reason to hold it.
        taken
            .run(
                py,
                Some(0),
                |data| dispatch!(data, data => eigenlens::Moments::of(data, &options)),
            )
            .map(Moments)
    }

    /// The samples of both.
    fn merged(&self, py: Python, other: &Bound<Moments>) -> PyResult<Moments> {
        let other = &other.get().0;
        py.detach(|| self.0.merge(other)).map(Moments).map_err(errors::library)
    }

    /// The samples of this one without those of the other.
    fn subtracted(&self, py: Python, other: &Bound<Moments>) -> PyResult<Moments> {
        let other = &other.get().0;
        py.detach(|| self.0.subtract(other)).map(Moments).map_err(errors::library)
    }

    #[getter]
    fn n_samples(&self) -> f64 {
        self.0.n_samples()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.0.n_features()
    }

    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.0.feature_names().map(<[String]>::to_vec)
    }

    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.mean().to_pyarray(py)
    }

    /// Divisor n − 1.
    #[getter]
    fn covariance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.0.covariance().to_pyarray(py)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Moments> {
        eigenlens::Moments::from_bytes(bytes).map(Moments).map_err(errors::library)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let make = py.get_type::<Moments>().getattr("from_bytes")?;
        (make, (self.to_bytes(py),)).into_pyobject(py)
    }
}

/// Fits a method from moments.
#[pyfunction]
pub fn fit_moments(
    py: Python,
    name: &str,
    given: &Bound<PyAny>,
    moments: &Bound<Moments>,
    options: Shared,
) -> PyResult<Model> {
    let values = values(name, given)?.with_options(options.options());
    let moments = &moments.get().0;
    let fitted = py.detach(|| {
        let shape = DataShape::dense(moments.n_samples() as usize, moments.n_features());
        values.method().build(&values, &shape)?.fit_moments(moments)
    });
    let fitted = fitted.map_err(errors::library)?;
    Ok(Model::new(fitted.model, fitted.preprocessing))
}

/// Number of samples, mean and variance (divisor n − 1) of every feature.
#[pyfunction]
#[allow(clippy::type_complexity)] // a tuple of what Python unpacks
pub fn column_statistics<'py>(
    py: Python<'py>,
    data: DataArgs<'py>,
    options: Shared,
) -> PyResult<(f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
    let options = options.options();
    let taken = data.take()?;
    let found =
        taken.run(py, Some(0), |data| dispatch!(data, data => data.column_statistics(&options)))?;
    Ok((found.n_samples, found.mean.to_pyarray(py), found.variance.to_pyarray(py)))
}
