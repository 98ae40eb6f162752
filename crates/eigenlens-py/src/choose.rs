//! How many components.

use crate::data::DataArgs;
use crate::options::{Shared, rule};
use eigenlens::dispatch;
use eigenlens::n_components::{self, Outcome, Sample};
use eigenlens::{NComponents, Pca, Rule};
use numpy::ToPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The rules' names.
#[pyfunction]
pub fn rule_names() -> Vec<&'static str> {
    Rule::all().iter().map(Rule::name).collect()
}

/// What each rule says, as dictionaries.
#[pyfunction]
pub fn choose_n_components<'py>(
    py: Python<'py>,
    data: DataArgs<'py>,
    rules: Vec<String>,
    center: bool,
    standardize: bool,
    options: Shared,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let rules = rules.iter().map(|name| rule(name)).collect::<PyResult<Vec<Rule>>>()?;
    let memory = options.memory;
    let options = options.options();
    let seed = options.seed;
    let pca = Pca::new(NComponents::All).center(center).standardize(standardize).options(options);
    let taken = data.take()?;
    let outcomes = taken.run(py, memory, |data| {
        let model = dispatch!(data, data => pca.fit(data))?;
        let rows = dispatch!(data, data => data.sample_rows())?;
        let sample = rows.as_ref().map(|(rows, of)| Sample { rows: rows.view(), of: *of });
        Ok(n_components::apply_all(&rules, &model.spectrum()?.view(), sample.as_ref(), seed))
    })?;
    outcomes.iter().map(|outcome| described(py, outcome)).collect()
}

fn described<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("rule", outcome.rule().name())?;
    all.set_item("n_components", outcome.n_components())?;
    let (thresholds, curves) = (PyDict::new(py), PyDict::new(py));
    let mut notes = Vec::new();
    match outcome {
        Outcome::Chosen(choice) => {
            for (name, value) in &choice.evidence.thresholds {
                thresholds.set_item(name, value)?;
            }
            for curve in &choice.evidence.curves {
                curves.set_item(curve.name, (curve.first, curve.values.to_pyarray(py)))?;
            }
            notes.clone_from(&choice.evidence.notes);
        }
        Outcome::NotComputed { reason, .. } => all.set_item("reason", reason.to_string())?,
    }
    all.set_item("thresholds", thresholds)?;
    all.set_item("curves", curves)?;
    all.set_item("notes", notes)?;
    Ok(all)
}
