//! Eigenpairs of matrices that Python made.

use crate::data::DataArgs;
use crate::errors;
use crate::options::Shared;
use eigenlens::dispatch;
use eigenlens::{SparseSymmetric, SymmetricMatrix, solver};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

type Pairs<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);

/// The k smallest pairs of a sparse symmetric matrix besides a unit null vector that is known:
/// values, and vectors as columns.
#[pyfunction]
pub fn smallest_pairs<'py>(
    py: Python<'py>,
    matrix: DataArgs<'py>,
    null: PyReadonlyArray1<'py, f64>,
    k: usize,
    options: Shared,
) -> PyResult<Pairs<'py>> {
    let options = options.options();
    let null = null.as_array().to_owned().insert_axis(ndarray::Axis(1));
    let taken = matrix.take()?;
    let found = taken.run(py, None, |matrix| {
        let matrix = SparseSymmetric::new(&dispatch!(matrix, matrix => matrix.to_csr())?)?;
        solver::smallest(&matrix, k, Some(null.view()), &options)
    })?;
    Ok((found.values.into_pyarray(py), found.vectors.into_pyarray(py)))
}

/// The k largest pairs of a symmetric matrix: values, and vectors as columns.
#[pyfunction]
pub fn largest_pairs<'py>(
    py: Python<'py>,
    matrix: PyReadonlyArray2<'py, f64>,
    k: usize,
    options: Shared,
) -> PyResult<Pairs<'py>> {
    let options = options.options();
    let matrix = matrix.as_array();
    let found = py.detach(|| solver::largest(&SymmetricMatrix(matrix), k, &options));
    let found = found.map_err(errors::library)?;
    Ok((found.values.into_pyarray(py), found.vectors.into_pyarray(py)))
}
