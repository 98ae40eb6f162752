//! What models say about themselves, as dictionaries.

use eigenlens::model::Cells;
use eigenlens::solver::{Evidence, NoneMissed};
use eigenlens::{Certificate, Plan, Summary, Value, Verification};
use numpy::{PyArray2, ToPyArray};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The plan that was followed: route, reason, passes, peak memory, text.
pub fn plan<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("route", plan.route.to_string())?;
    all.set_item("reason", &plan.reason)?;
    all.set_item("passes", plan.passes)?;
    all.set_item("peak_memory", plan.peak_memory)?;
    all.set_item("text", plan.to_string())?;
    Ok(all)
}

/// A certificate, with its text.
pub fn certificate<'py>(py: Python<'py>, found: &Certificate) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let against = match found.evidence {
        Evidence::Data => "data",
        Evidence::Probes { .. } => "probes",
        Evidence::Matrix => "matrix",
        Evidence::Expected => "expected",
        Evidence::Operator => "operator",
    };
    let missed = match found.none_missed {
        NoneMissed::Complete => "all values were computed",
        NoneMissed::Trace => "by the trace",
        NoneMissed::Inertia => "by inertia",
        NoneMissed::Probabilistic { .. } => "with high probability",
        NoneMissed::Disproved => "disproved",
    };
    let groups: Vec<(usize, usize)> = found.groups.iter().map(|g| (g.start, g.end)).collect();
    all.set_item("evidence", against)?;
    all.set_item("relative_residual", found.relative_residual())?;
    all.set_item("residuals", found.residuals.to_pyarray(py))?;
    all.set_item("value_errors", found.value_errors.to_pyarray(py))?;
    all.set_item("angles", found.angles.to_pyarray(py))?;
    all.set_item("groups", groups)?;
    all.set_item("group_angles", found.group_angles.to_pyarray(py))?;
    all.set_item("orthogonality", found.orthogonality)?;
    all.set_item("rank", found.rank)?;
    all.set_item("none_missed", missed)?;
    all.set_item("is_conditional", found.is_conditional())?;
    all.set_item("text", found.to_string())?;
    Ok(all)
}

/// What a check found: claims as rows of a table.
pub fn verification<'py>(py: Python<'py>, found: &Verification) -> PyResult<Bound<'py, PyDict>> {
    let checks = found.checks.iter().map(|check| {
        let (claimed, seen) = (value(py, &check.claimed)?, value(py, &check.found)?);
        let sentence = check.to_string();
        Ok((&check.claim, claimed, seen, check.allowed, check.holds, sentence))
    });
    let skipped: Vec<(&String, &String)> =
        found.not_checked.iter().map(|of| (&of.claim, &of.reason)).collect();
    let all = PyDict::new(py);
    all.set_item("passed", found.passed())?;
    all.set_item("rows", found.rows)?;
    all.set_item("seed", found.seed)?;
    all.set_item("tolerance", found.tolerance)?;
    all.set_item("checks", checks.collect::<PyResult<Vec<_>>>()?)?;
    all.set_item("not_checked", skipped)?;
    Ok(all)
}

/// A model for a page: headline, table, facts, trust, heights of a scree plot.
pub fn summary<'py>(py: Python<'py>, found: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let columns = PyDict::new(py);
    for column in &found.columns {
        match &column.cells {
            Cells::Numbers(v) => columns.set_item(column.name, ("numbers", v))?,
            Cells::Shares(v) => columns.set_item(column.name, ("shares", v))?,
            Cells::Words(v) => columns.set_item(column.name, ("words", v))?,
        }
    }
    all.set_item("headline", &found.headline)?;
    all.set_item("columns", columns)?;
    all.set_item("facts", &found.facts)?;
    all.set_item("trust", &found.trust)?;
    let scree = found.scree.as_ref();
    let scree =
        scree.map(|s| (s.what, &s.heights[..], &s.standard_errors[..], &s.cumulative[..], s.of));
    all.set_item("scree", scree)?;
    Ok(all)
}

/// A value of a description; lists of numbers become arrays.
pub fn value<'py>(py: Python<'py>, found: &Value) -> PyResult<Bound<'py, PyAny>> {
    match found {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(value) => value.into_bound_py_any(py),
        Value::Integer(value) => value.into_bound_py_any(py),
        Value::Number(value) => value.into_bound_py_any(py),
        Value::Text(value) => value.into_bound_py_any(py),
        Value::List(values) => {
            if let Some(numbers) = numbers(values) {
                return numbers.to_pyarray(py).into_bound_py_any(py);
            }
            if let Some(matrix) = matrix(py, values) {
                return matrix.into_bound_py_any(py);
            }
            let all = values.iter().map(|v| value(py, v)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, all)?.into_bound_py_any(py)
        }
        Value::Map(entries) => {
            let all = PyDict::new(py);
            for (name, entry) in entries {
                all.set_item(name, value(py, entry)?)?;
            }
            all.into_bound_py_any(py)
        }
    }
}

/// Numbers, where all are.
fn numbers(values: &[Value]) -> Option<Vec<f64>> {
    let number = |value: &Value| match value {
        Value::Number(value) => Some(*value),
        Value::Integer(value) => Some(*value as f64),
        _ => None,
    };
    values.iter().map(number).collect()
}

/// Rows of numbers, all of one length.
fn matrix<'py>(py: Python<'py>, values: &[Value]) -> Option<Bound<'py, PyArray2<f64>>> {
    let row = |value: &Value| match value {
        Value::List(row) => numbers(row),
        _ => None,
    };
    let rows = values.iter().map(row).collect::<Option<Vec<Vec<f64>>>>()?;
    PyArray2::from_vec2(py, &rows).ok()
}
