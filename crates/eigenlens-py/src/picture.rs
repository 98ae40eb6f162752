//! Pictures for notebooks.

use eigenlens_report::Scree;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The scree plot as SVG.
#[pyfunction]
pub fn scree_svg(
    heights: Vec<f64>,
    height_label: String,
    standard_errors: Vec<f64>,
    cumulative: Vec<f64>,
    cumulative_of: String,
) -> PyResult<String> {
    let scree = Scree {
        heights,
        height_label,
        standard_errors,
        cumulative,
        cumulative_of,
        ..Scree::default()
    };
    let picture = scree.draw().map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(picture.svg().to_owned())
}
