//! A model in words, in tables and as JSON.

use crate::failure::Failure;
use crate::methods;
use eigenlens::model::parts::Value;
use eigenlens::{Certificate, PcaModel, Plan};
use eigenlens_io::StoredModel;
use eigenlens_report::{Chosen, Column, Scree, Table};

/// The names of a model's components, such as `PC1`.
pub fn component_names(model: &PcaModel) -> Vec<String> {
    let axis = methods::find(model.method()).map_or("PC", |method| method.axis);
    (1..=model.n_components()).map(|j| format!("{axis}{j}")).collect()
}

/// The names of a model's features, or their numbers.
pub fn feature_names(model: &PcaModel) -> Vec<String> {
    match model.feature_names() {
        Some(names) => names.to_vec(),
        None => (1..=model.n_features()).map(|f| format!("column {f}")).collect(),
    }
}

/// `PCA of 150 samples, 4 features: 2 components keep 97.77 % of the variance`.
pub fn headline(model: &PcaModel) -> String {
    let share: f64 = model.explained_variance_ratio().iter().sum();
    let samples = model.n_samples().map_or(String::new(), |n| format!("{n} samples, "));
    let k = model.n_components();
    format!(
        "{} of {samples}{} features: {k} component{} {} {} of the variance",
        model.method(),
        model.n_features(),
        if k == 1 { "" } else { "s" },
        if k == 1 { "keeps" } else { "keep" },
        percent(share)
    )
}

/// Everything a person wants to see first.
pub fn summary(model: &PcaModel, width: usize) -> String {
    format!(
        "{}\n\n{}\n{}\n",
        headline(model),
        components_table(model, 20).to_text(width),
        model.certificate()
    )
}

/// Variance, standard error, share, and the largest loadings of each component.
pub fn components_table(model: &PcaModel, most: usize) -> Table {
    let errors = model.sampling_errors();
    let (features, names) = (feature_names(model), component_names(model));
    let loadings = model.loadings();
    let mut cumulative = 0.0;
    let mut rows = Vec::new();
    for (j, share) in model.explained_variance_ratio().into_iter().enumerate() {
        cumulative += share;
        let error = errors.as_ref().map_or(String::new(), |e| number(e[j]));
        let largest = largest_entries(loadings.column(j).iter().copied(), 2)
            .into_iter()
            .map(|f| format!("{} {:+.3}", features[f], model.components()[[j, f]]))
            .collect::<Vec<_>>()
            .join(", ");
        rows.push(vec![
            names[j].clone(),
            number(model.explained_variance()[j]),
            error,
            percent(share),
            percent(cumulative),
            largest,
        ]);
    }
    let more = rows.len().saturating_sub(most);
    rows.truncate(most);
    if more > 0 {
        rows.push(vec![format!("and {more} more")]);
    }
    Table {
        caption: String::new(),
        columns: vec![
            Column::text("component"),
            Column::number("variance", ""),
            Column::number("± error", ""),
            Column::number("share", ""),
            Column::number("together", ""),
            Column::text("largest weights"),
        ],
        rows,
    }
}

/// The indices of the largest entries by absolute value, the first of equals first.
pub fn largest_entries(values: impl Iterator<Item = f64>, most: usize) -> Vec<usize> {
    let mut entries: Vec<(usize, f64)> = values.map(f64::abs).enumerate().collect();
    entries.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    entries.into_iter().take(most).map(|(index, _)| index).collect()
}

/// The variances as a scree plot.
pub fn scree(model: &PcaModel, rule: &str) -> Scree {
    let kept = model.n_components();
    let all = model.full_spectrum().filter(|all| all.len() >= kept);
    let heights: Vec<f64> = all.unwrap_or_else(|| model.explained_variance().to_vec());
    // Beyond some dozens of bars only the beginning is looked at.
    let shown = heights.len().min((2 * kept).max(30));
    let total = model.total_variance();
    let mut sum = 0.0;
    let cumulative = heights[..shown].iter().map(|height| {
        sum += height;
        if total > 0.0 { (sum / total).min(1.0) } else { 0.0 }
    });
    let factor = model.n_samples().map(|n| (2.0 / (n - 1.0)).sqrt());
    Scree {
        cumulative: cumulative.collect(),
        standard_errors: factor.map_or_else(Vec::new, |factor| {
            heights[..shown].iter().map(|height| height * factor).collect()
        }),
        heights: heights[..shown].to_vec(),
        chosen: Some(Chosen { n_components: kept, rule: rule.into() }),
        ..Scree::default()
    }
}

/// A model as JSON: every number that describes it.
pub fn model_value(stored: &StoredModel) -> Value {
    let model = &stored.model;
    let numbers = |values: &[f64]| Value::list(values.iter().copied());
    let rows = |matrix: ndarray::ArrayView2<f64>| {
        Value::List(matrix.rows().into_iter().map(|r| Value::list(r.iter().copied())).collect())
    };
    let options = stored.origin.options.iter().map(|(name, value)| (name, Value::from(value)));
    Value::map([
        ("method", Value::from(model.method())),
        ("program", Value::from(&stored.origin.program)),
        ("options", Value::map(options)),
        ("n_samples", model.n_samples().into()),
        ("n_features", model.n_features().into()),
        ("n_components", model.n_components().into()),
        ("n_useful_components", model.n_useful_components().into()),
        ("feature_names", Value::list(feature_names(model))),
        ("label_names", Value::list(&stored.origin.labels)),
        ("explained_variance", numbers(model.explained_variance())),
        ("explained_variance_ratio", numbers(&model.explained_variance_ratio())),
        ("standard_errors", model.sampling_errors().map_or(Value::Null, |e| numbers(&e))),
        ("total_variance", model.total_variance().into()),
        ("noise_variance", model.noise_variance().into()),
        ("mean", numbers(model.mean())),
        ("scale", model.scale().map_or(Value::Null, numbers)),
        ("components", rows(model.components())),
        ("certificate", certificate_value(model.certificate())),
        ("plan", plan_value(model.plan())),
        ("warnings", Value::list(model.warnings().iter().map(|w| w.to_string()))),
    ])
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

fn certificate_value(certificate: &Certificate) -> Value {
    let numbers = |values: &[f64]| Value::list(values.iter().copied());
    let groups = certificate.groups.iter().map(|g| Value::list([g.start + 1, g.end]));
    Value::map([
        ("residuals", numbers(&certificate.residuals)),
        ("value_errors", numbers(&certificate.value_errors)),
        ("angles", numbers(&certificate.angles)),
        ("groups", Value::List(groups.collect())),
        ("orthogonality", certificate.orthogonality.into()),
        ("rank", certificate.rank.into()),
        ("conditional", certificate.is_conditional().into()),
    ])
}

/// Reads a model, to be used with this many threads.
pub fn read_model(path: &std::path::Path, threads: Option<u16>) -> Result<StoredModel, Failure> {
    let stored = StoredModel::read(path)?;
    let model = stored.model.with_threads(threads.map(usize::from));
    Ok(StoredModel { model, ..stored })
}

/// A number to five digits.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let size = value.abs().log10().floor();
    if (-3.0..6.0).contains(&size) {
        format!("{value:.*}", (4 - size as i32).max(0) as usize)
    } else {
        format!("{value:.4e}")
    }
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_five_digits() {
        for (value, text) in [
            (4.228241706, "4.2282"),
            (0.0, "0"),
            (123456.7, "123457"),
            (0.00123456, "0.0012346"),
            (1e-9, "1.0000e-9"),
            (-2.5e7, "-2.5000e7"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn the_largest_entries_come_in_order() {
        assert_eq!(largest_entries([1.0, -3.0, 2.0, 3.0].into_iter(), 3), [1, 3, 2]);
    }
}
