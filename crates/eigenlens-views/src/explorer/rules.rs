//! What rules say about the number of components.

use crate::error::Result;
use crate::request::Request;
use eigenlens::n_components::{self, Outcome, Sample};
use eigenlens::{Missing, Rule, dispatch};
use ndarray::Array2;

/// Rules that look at samples take seconds beyond so many entries.
const ENTRIES: usize = 1_000_000;

/// Every rule, for models whose spectrum rules speak of.
pub(super) fn rules(request: &Request) -> Result<Vec<eigenlens_report::Rule>> {
    let Some(pca) = request.model().pca().filter(|_| request.model().density().is_none()) else {
        return Ok(Vec::new());
    };
    let Ok(spectrum) = pca.spectrum() else { return Ok(Vec::new()) };
    let rows = training_rows(request);
    let sample = rows.as_ref().map(|(rows, of)| Sample { rows: rows.view(), of: *of });
    let outcomes =
        n_components::apply_all(&Rule::all(), &spectrum.view(), sample.as_ref(), request.seed());
    let rule = |outcome: &Outcome| eigenlens_report::Rule {
        name: outcome.rule().name().into(),
        n_components: outcome.n_components(),
        note: match outcome {
            Outcome::NotComputed { reason, .. } => format!("not computed: {reason}"),
            Outcome::Chosen(choice) => choice.evidence.notes.join("; "),
        },
    };
    Ok(outcomes.iter().map(rule).collect())
}

/// Rows for the rules that look at samples: those of training as far as their number tells, complete and few.
fn training_rows(request: &Request) -> Option<(Array2<f64>, usize)> {
    let samples = request.samples()?;
    let model = request.model();
    let is_training = model.n_samples() == Some(samples.len() as f64);
    let is_small = samples.len().saturating_mul(model.n_features()) <= ENTRIES;
    let is_complete = samples.data().missing() == Missing::Error && model.missing().is_none();
    if !(is_training && is_small && is_complete) {
        return None;
    }
    dispatch!(samples.data(), d => d.sample_rows()).ok().flatten()
}
