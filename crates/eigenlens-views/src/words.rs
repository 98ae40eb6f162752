//! A model in words and tables, for reports of every kind.

use crate::request::Request;
use eigenlens::model::{Cells, SummaryColumn, number, percent};
use eigenlens::{Certificate, Model, PcaModel, Summary};
use eigenlens_report::{Column, Table};
use std::collections::BTreeMap;

/// What holds for the whole model: name and value.
pub fn facts(request: &Request, summary: &Summary) -> Vec<(String, String)> {
    let model = request.model();
    let mut facts = vec![
        ("training samples", model.n_samples().map_or("not known".into(), |n| n.to_string())),
        ("features", model.n_features().to_string()),
        ("components", model.n_components().to_string()),
    ];
    facts.extend(summary.facts.iter().cloned());
    if let Some(certificate) = model.certificate() {
        facts.push(("largest residual", format!("{:.1e}", certificate.relative_residual())));
    }
    if let Some(samples) = request.samples() {
        facts.push(("samples shown", samples.len().to_string()));
    }
    facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// What is known of each component.
pub fn components_table(model: &dyn Model, summary: &Summary, most: usize) -> Table {
    let names = model.component_names();
    let cell = |column: &SummaryColumn, j: usize| match &column.cells {
        Cells::Numbers(values) => values.get(j).map_or(String::new(), |v| number(*v)),
        Cells::Shares(values) => values.get(j).map_or(String::new(), |v| percent(*v)),
        Cells::Words(words) => words.get(j).cloned().unwrap_or_default(),
    };
    let row = |(j, name): (usize, &String)| {
        let cells = summary.columns.iter().map(|column| cell(column, j));
        std::iter::once(name.clone()).chain(cells).collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<String>> = names.iter().enumerate().take(most).map(row).collect();
    if names.len() > most {
        rows.push(vec![format!("and {} more", names.len() - most)]);
    }
    let heading = |column: &SummaryColumn| match column.cells {
        Cells::Words(_) => Column::text(column.name),
        _ => Column::number(column.name, ""),
    };
    let headings = summary.columns.iter().map(heading);
    Table {
        caption: String::new(),
        columns: std::iter::once(Column::text("component")).chain(headings).collect(),
        rows,
    }
}

/// The certificate, number by number.
pub fn certificate_table(model: &dyn Model, certificate: &Certificate) -> Table {
    let names = model.component_names();
    let row = |(j, name): (usize, &String)| {
        let angle = certificate.angles[j];
        vec![
            name.clone(),
            format!("{:.1e}", certificate.residuals[j]),
            format!("{:.1e}", certificate.value_errors[j]),
            if angle < 1.0 { format!("{angle:.1e}") } else { "only with its group".into() },
        ]
    };
    let known = certificate.residuals.len().min(50);
    Table {
        caption: "Relative to the largest value; angles in radians.".into(),
        columns: vec![
            Column::text("component"),
            Column::number("residual", ""),
            Column::number("error of the value", ""),
            Column::number("angle", ""),
        ],
        rows: names.iter().enumerate().take(known).map(row).collect(),
    }
}

/// How the result was computed, in a few sentences.
pub fn methods(model: &dyn Model, options: &BTreeMap<String, String>) -> Vec<String> {
    let mut words = vec![format!("Computed by the {}.", model.plan())];
    if let Some(pca) = model.pca() {
        words.insert(0, prepared(pca).into());
        let errors =
            pca.sampling_errors().map_or("", |_| "; standard errors assume normal samples");
        let divisor = match model.density() {
            Some(_) => "are maximum-likelihood estimates, with the divisor n",
            None => "have the divisor n − 1",
        };
        words.push(format!("Variances {divisor}{errors}."));
    }
    if !options.is_empty() {
        let options: Vec<String> =
            options.iter().map(|(name, value)| format!("{name} {value}")).collect();
        words.push(format!("Options: {}.", options.join(", ")));
    }
    words
}

fn prepared(model: &PcaModel) -> &'static str {
    match (model.centers(), model.scale().is_some()) {
        (true, true) => "Features were centred and divided by their standard deviations.",
        (true, false) => "Features were centred.",
        (false, true) => "Features were divided by their standard deviations, not centred.",
        (false, false) => "Features were used as they are.",
    }
}
