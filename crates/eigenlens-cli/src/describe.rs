//! A model in words, in tables and as JSON.

use crate::arguments::Common;
use crate::failure::Failure;
use eigenlens::{Model, Plan, Value};
use eigenlens_io::{Budget, StoredModel};
use eigenlens_views::words::components_table;
use std::path::Path;

/// Everything a person wants to see first.
pub fn summary(model: &dyn Model, width: usize) -> String {
    let summary = model.summary();
    let facts: String =
        summary.facts.iter().map(|(name, value)| format!("{name:<15}{value}\n")).collect();
    format!(
        "{}\n\n{}\n{}\n{facts}",
        summary.headline,
        components_table(model, &summary, 20).to_text(width),
        summary.trust
    )
}

/// A model as JSON: every number that describes it.
pub fn model_value(stored: &StoredModel) -> Value {
    let model = &*stored.model;
    let options = stored.origin.options.iter().map(|(name, value)| (name, Value::from(value)));
    let shared = [
        ("method", Value::from(model.method())),
        ("program", Value::from(&stored.origin.program)),
        ("options", Value::map(options)),
        ("n_samples", model.n_samples().into()),
        ("n_features", model.n_features().into()),
        ("n_components", model.n_components().into()),
        ("feature_names", Value::list(model.feature_labels())),
        ("label_names", Value::list(&stored.origin.labels)),
        ("plan", plan_value(model.plan())),
        ("warnings", Value::list(model.warnings().iter().map(|w| w.to_string()))),
    ];
    Value::map(model.summary().values.into_iter().chain(shared))
}

/// A plan as JSON.
pub fn plan_value(plan: &Plan) -> Value {
    Value::map([
        ("route", Value::from(plan.route.to_string())),
        ("reason", Value::from(&plan.reason)),
        ("passes", plan.passes.into()),
        ("peak_memory", plan.peak_memory.into()),
    ])
}

/// Reads a model, to be used with so many threads and in so much memory as were asked for.
pub fn read_model(path: &Path, common: &Common) -> Result<StoredModel, Failure> {
    // As bytes, as named arrays, as a model, and what is checked of it.
    const COPIES: u64 = 4;
    let n_bytes = std::fs::metadata(path).map_or(0, |found| found.len());
    let budget = Budget::new(common.memory.map(|memory| memory.0))?;
    budget.beside(&format!("the model {}", path.display()), n_bytes.saturating_mul(COPIES))?;
    let mut stored = StoredModel::read(path)?;
    stored.model.set_threads(common.threads.map(usize::from));
    Ok(stored)
}
