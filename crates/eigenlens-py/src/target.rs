//! What supervised methods keep.

use crate::errors;
use eigenlens::{Target, TargetKind};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A target from Python: a dictionary with all of these keys, of which one is not `None`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct TargetArg<'py> {
    /// A class for every sample that has one.
    labels: Option<Vec<Option<String>>>,
    /// A class for every sample by its number, and the names in order.
    coded: Option<(Vec<u32>, Vec<String>)>,
    /// Numbers (n × q), NaN where one is missing, and what they are: `auto`, `classes` or `numbers`.
    numbers: Option<(PyReadonlyArray2<'py, f64>, String)>,
    /// A label kernel (n × n).
    kernel: Option<PyReadonlyArray2<'py, f64>>,
}

impl TargetArg<'_> {
    pub fn target(&self) -> PyResult<Target> {
        if let Some(kernel) = &self.kernel {
            return Target::kernel(kernel.as_array()).map_err(errors::library);
        }
        if let Some((codes, names)) = &self.coded {
            return Target::coded(codes.clone(), names.clone())
                .ok_or_else(|| PyValueError::new_err("a class that has no name"));
        }
        if let Some(labels) = &self.labels {
            return Ok(Target::classes_or_missing(labels.iter().map(Option::as_deref)));
        }
        let Some((values, kind)) = &self.numbers else {
            return Err(PyValueError::new_err("a target without labels, numbers or a kernel"));
        };
        let kind = match kind.as_str() {
            "auto" => TargetKind::Auto,
            "classes" => TargetKind::Class,
            "numbers" => TargetKind::Number,
            _ => return Err(PyValueError::new_err(format!("the target `{kind}` is not known"))),
        };
        Ok(Target::guess(values.as_array().to_owned(), kind))
    }
}
