//! What only some models have: the arrays they are made of, and pre-images.

use crate::data::{DataArgs, to_array};
use crate::model::Model;
use crate::{errors, records};
use eigenlens::AnyDataset;
use eigenlens::model::parts::Numbers as Stored;
use eigenlens::{Error, PreImage};
use eigenlens_io::AnyArray;
use numpy::{PyArray1, PyArrayMethods, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An array of the model by the name it has in the model file, where there is one.
#[pyfunction]
pub fn model_array<'py>(
    py: Python<'py>,
    model: &Model,
    name: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let parts = model.model().to_parts().map_err(errors::library)?;
    let Some(array) = parts.arrays.get(name) else { return Ok(None) };
    let shape = array.shape.clone();
    Ok(Some(match &array.numbers {
        Stored::F64(values) => values.to_pyarray(py).reshape(shape)?.into_any(),
        Stored::I64(values) => values.to_pyarray(py).reshape(shape)?.into_any(),
    }))
}

/// What the model file says of the model beside its arrays.
#[pyfunction]
pub fn model_description<'py>(py: Python<'py>, model: &Model) -> PyResult<Bound<'py, PyDict>> {
    let parts = model.model().to_parts().map_err(errors::library)?;
    let all = PyDict::new(py);
    for (name, found) in &parts.description {
        all.set_item(name, records::value(py, found)?)?;
    }
    Ok(all)
}

/// Approximate pre-images of what the components keep of each sample (n × d), and the distance
/// that each leaves in feature space (n).
#[pyfunction]
pub fn pre_images<'py>(
    py: Python<'py>,
    model: &Model,
    data: DataArgs<'py>,
    way: &str,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>)> {
    let way = PreImage::named(way).ok_or_else(|| {
        PyValueError::new_err(format!(
            "`method` is `{way}`, but it must be auto, fixed-point, distances or ridge"
        ))
    })?;
    let model = model.model();
    let none = || {
        let why = format!("the method `{}` has none", model.method());
        Error::NotDefined { what: "a pre-image", why }
    };
    let taken = data.take()?;
    let (rows, distances) = taken.run(py, None, |data| match data {
        AnyDataset::F32(data) => {
            let found = model.pre_images_f32(data, way).ok_or_else(none)??;
            Ok((AnyArray::F32(found.rows), found.distances))
        }
        AnyDataset::F64(data) => {
            let found = model.pre_images_f64(data, way).ok_or_else(none)??;
            Ok((AnyArray::F64(found.rows), found.distances))
        }
    })?;
    Ok((to_array(py, rows), distances.to_pyarray(py)))
}
