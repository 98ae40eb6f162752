//! Tables of other programs, through Arrow's C stream interface.

use crate::data::to_array;
use crate::errors;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The columns' names, and all numbers as an array that holds column after column.
#[pyfunction]
pub fn from_arrow<'py>(
    py: Python<'py>,
    table: &Bound<'py, PyAny>,
) -> PyResult<(Vec<String>, Bound<'py, PyAny>)> {
    let capsule = table.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds an `ArrowArrayStream` (the Arrow PyCapsule interface).
    // It is moved out, as the interface asks of a consumer: what is left behind is marked as
    // released, so that the capsule's destructor does not free it again.
    let reader = unsafe {
        RecordBatchStreamReader::from_raw(stream.cast::<FFI_ArrowArrayStream>().as_ptr())
    };
    let reader = reader.map_err(|error| {
        PyValueError::new_err(format!("the Arrow stream cannot be read: {error}"))
    })?;
    // The producer may be Python itself, so the lock stays.
    let (names, numbers) = eigenlens_io::arrow::numbers(reader).map_err(errors::owned_file)?;
    Ok((names, to_array(py, numbers)))
}
