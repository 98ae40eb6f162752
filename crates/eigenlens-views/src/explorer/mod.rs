//! The interactive report: all that its page shows, as plain data.

mod features;
mod rules;
mod samples;
mod trust;

use crate::axes::components;
use crate::error::Result;
use crate::plots::scree;
use crate::request::Request;
use crate::words;
use eigenlens_report::Explorer;
use features::features;
use rules::rules;
use samples::{Shown, samples};
use std::collections::BTreeMap;

/// What goes into an interactive report.
#[derive(Clone, Debug, Default)]
pub struct ExplorerOptions {
    /// At most so many samples, evenly spaced.
    pub max_samples: Option<usize>,
    /// Whether the values of the features go in; where nothing is said, if they are not too many.
    pub include_features: Option<bool>,
    /// Where everything comes from: a heading, and names with values.
    pub provenance: Vec<(String, Vec<(String, String)>)>,
    /// The options of the fit, by name.
    pub options: BTreeMap<String, String>,
    /// What was analysed, such as the name of a file; may be empty.
    pub subject: String,
}

/// Components beyond this number are left out.
const MOST_COMPONENTS: usize = 50;
/// Numbers beyond this number are rounded to 1/65534 of their range.
const MOST_EXACT: usize = 6_000_000;

/// Everything about a model and its samples.
pub fn explorer(request: &Request, options: &ExplorerOptions) -> Result<Explorer> {
    let model = request.model();
    let summary = model.summary();
    let k = model.n_components().min(MOST_COMPONENTS);
    let shown = Shown::of(request, options, k)?;
    let samples = shown.as_ref().map(|shown| samples(request, shown)).transpose()?;
    let mut left_out: Vec<String> = shown.iter().flat_map(|shown| shown.left_out()).collect();
    if k < model.n_components() {
        left_out.push(format!(
            "The first {k} of {} components are in this page.",
            model.n_components()
        ));
    }
    let compact = shown.as_ref().is_some_and(|shown| shown.n_numbers() > MOST_EXACT);
    if compact {
        left_out.push(
            "Coordinates and values are rounded to 1/65534 of their range, for a smaller page."
                .into(),
        );
    }
    let subject =
        if options.subject.is_empty() { String::new() } else { format!(" of {}", options.subject) };
    Ok(Explorer {
        title: format!("{}{subject}", model.method()),
        subtitle: summary.headline.clone(),
        facts: words::facts(request, &summary),
        warnings: model.warnings().iter().map(ToString::to_string).collect(),
        left_out,
        components: components(model).into_iter().take(k).collect(),
        component_table: words::components_table(model, &summary, k),
        scree: scree::view(model).ok(),
        rules: rules(request)?,
        features: features(request, k, samples.as_ref())?,
        samples,
        trust: trust::sentences(model),
        certificate: model.certificate().map(|found| words::certificate_table(model, found)),
        provenance: options.provenance.clone(),
        methods: words::methods(model, &options.options),
        image: request.image_shape().map(|shape| (shape.width, shape.height)),
        compact,
    })
}
