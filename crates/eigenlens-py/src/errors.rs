//! Errors as Python's exceptions, worded so that scikit-learn's users know them.

use eigenlens::{Error, ErrorKind, Hint};
use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileNotFoundError, PyMemoryError, PyOSError, PyRuntimeError, PyValueError,
};

pyo3::create_exception!(
    eigenlens._core,
    NoRowsError,
    PyValueError,
    "A file has no rows, and nothing else is wrong with it."
);

/// An error of the library.
pub fn library(error: Error) -> PyErr {
    if let Error::Read(source) = &error
        && let Some(file) = source.downcast_ref::<eigenlens_io::Error>()
    {
        return self::file(file);
    }
    let said = match &error {
        Error::MissingValue { .. } => format!("Input X contains NaN: {error}"),
        Error::Infinite { .. } => format!("Input X contains infinity: {error}"),
        _ => error.to_string(),
    };
    let said = match error.hint().and_then(hint) {
        Some(hint) => format!("{said}; {hint}"),
        None => said,
    };
    match error.kind() {
        ErrorKind::Usage | ErrorKind::Data => PyValueError::new_err(said),
        ErrorKind::Memory => PyMemoryError::new_err(said),
        ErrorKind::Computation => PyRuntimeError::new_err(said),
    }
}

/// An error about a file.
pub fn file(error: &eigenlens_io::Error) -> PyErr {
    use eigenlens_io::Error;
    let said = match error {
        Error::BadCell { cell, .. } => format!(
            "{error}; mend it, or name it with `Table(path, missing=[{cell:?}])` where it stands for \
             a missing value, or leave the column out with `Table(path, columns=[...])`"
        ),
        Error::Option { option, format } => {
            let parameter = match *option {
                "no_header" => "header",
                "missing_mark" => "missing",
                other => other,
            };
            format!("`{parameter}` does not fit {format}; leave out `{parameter}`")
        }
        _ => error.to_string(),
    };
    match error {
        Error::Open { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(said)
        }
        Error::Open { .. } | Error::Read { .. } | Error::Write { .. } => PyOSError::new_err(said),
        Error::Memory { .. } | Error::OutOfMemory { .. } => PyMemoryError::new_err(said),
        _ if error.is_no_rows() => NoRowsError::new_err(said),
        _ => PyValueError::new_err(said),
    }
}

/// An error about a file that is not needed any more.
pub fn owned_file(error: eigenlens_io::Error) -> PyErr {
    file(&error)
}

/// A hint in Python's words, where it is one that a caller can follow.
fn hint(hint: Hint) -> Option<String> {
    match hint {
        Hint::Set { option, value } => {
            let parameter = match option {
                "weights" => "weight_kind",
                "max_iterations" => "max_iter",
                other => other,
            };
            let is_number = value.parse::<f64>().is_ok();
            let value = if is_number { value } else { format!("'{value}'") };
            Some(format!("use `{parameter}={value}`"))
        }
        Hint::DropRow(row) => Some(format!("drop or mend row {row}")),
        Hint::DropColumn(column) => Some(format!("drop column {column}")),
        Hint::Rescale => Some("rescale the data".into()),
    }
}
