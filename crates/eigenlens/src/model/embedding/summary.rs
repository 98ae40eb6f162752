//! An embedding as every surface sees it.

use super::{EmbeddingModel, LleVariant};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::graph::Neighborhood;
use crate::linalg::dense::power_of_two;
use crate::model::ModelCore;
use crate::model::fitted::Model;
use crate::model::parts::{Parts, Value};
use crate::model::summary::{
    ScreeHeights, Shares, Summary, SummaryColumn, certificate_value, number, opening, percent,
};
use crate::model::verified_by;
use crate::model::verify;
use crate::scalar::Scalar;
use crate::solver::Certificate;
use ndarray::{Array2, ArrayView2};

impl Model for EmbeddingModel {
    fn core(&self) -> &ModelCore {
        &self.parts().core
    }

    fn n_features(&self) -> usize {
        self.n_features()
    }

    fn n_components(&self) -> usize {
        self.n_components()
    }

    fn summary(&self) -> Summary {
        let (n, k) = (self.n_samples(), self.n_components());
        let components = if k == 1 { "component" } else { "components" };
        let given =
            |what| format!("{} of the {what} between {n} samples: {k} {components}", self.method());
        let opening = match (self.takes_distances(), self.takes_affinities()) {
            (true, _) => given("distances"),
            (_, true) => given("affinities"),
            _ => opening(self.method(), Some(n as f64), self.n_features(), k),
        };
        let kept = percent(self.quality().trustworthiness);
        Summary {
            headline: format!("{opening}, trustworthiness {kept}"),
            columns: columns(self),
            facts: facts(self),
            trust: self.certificate().to_string(),
            scree: scree(self),
            values: values(self).into(),
        }
    }

    fn component_shares(&self) -> Option<Shares> {
        Some(Shares { values: self.explained_variance_ratio()?, of: POSITIVE })
    }

    verified_by!(verify::embedding, verify::embedding_memory);

    fn transform_f32(&self, data: &Dataset<f32>) -> Result<Array2<f32>> {
        self.transform(data)
    }

    fn transform_f64(&self, data: &Dataset<f64>) -> Result<Array2<f64>> {
        self.transform(data)
    }

    fn training_scores(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.coordinates())
    }

    fn to_parts(&self) -> Result<Parts> {
        Ok(self.to_parts())
    }

    fn set_threads(&mut self, threads: Option<usize>) {
        self.use_threads(threads);
    }

    fn reconstruct_f32(&self, data: &Dataset<f32>) -> Result<Array2<f32>> {
        reconstruct(self, data)
    }

    fn reconstruct_f64(&self, data: &Dataset<f64>) -> Result<Array2<f64>> {
        reconstruct(self, data)
    }

    fn certificate(&self) -> Option<&Certificate> {
        Some(self.certificate())
    }
}

fn reconstruct<T: Scalar>(model: &EmbeddingModel, data: &Dataset<T>) -> Result<Array2<T>> {
    let Some(pca) = model.pca() else {
        return Err(Error::NotDefined {
            what: "the reconstruction of samples",
            why: format!("`{}` maps samples to coordinates, and not back", model.method()),
        });
    };
    pca.reconstruct(data)
}

/// What the shares of an eigenvalue are of: distances that are not Euclidean have negative ones too.
const POSITIVE: &str = "the positive eigenvalues";

/// Shares are those of numbers that can be added, whatever the units of the data make of them.
fn scree(model: &EmbeddingModel) -> Option<ScreeHeights> {
    let (total, parts) = (model.positive_sum()?, model.parts());
    let unit = power_of_two(parts.exponent);
    let found = ScreeHeights::new(&parts.eigenvalues, model.n_components(), total, unit);
    Some(ScreeHeights { of: POSITIVE, ..found.named("Eigenvalue") })
}

fn columns(model: &EmbeddingModel) -> Vec<SummaryColumn> {
    let mut columns = vec![SummaryColumn::numbers("eigenvalue", model.eigenvalues().to_vec())];
    if let (Some(variance), Some(shares)) =
        (model.explained_variance(), model.explained_variance_ratio())
    {
        columns.push(SummaryColumn::numbers("variance", variance));
        columns.push(SummaryColumn::cumulative("together", &shares));
        columns.insert(2, SummaryColumn::shares("share", shares));
    }
    columns
}

fn facts(model: &EmbeddingModel) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    match model.neighborhood() {
        Some(Neighborhood::Nearest(k)) => facts.push(("neighbours", format!("{k} nearest"))),
        Some(Neighborhood::Radius(r)) => {
            facts.push(("neighbours", format!("within {}", number(r))))
        }
        None => {}
    }
    if model.n_bridges() > 0 {
        facts.push(("bridges", format!("{} added to join the graph", model.n_bridges())));
    }
    if let Some(variant) = model.lle_variant().filter(|v| *v != LleVariant::Standard) {
        facts.push(("variant", variant.name().into()));
    }
    if let Some(landmarks) = model.landmarks() {
        facts.push(("landmarks", landmarks.len().to_string()));
    }
    let quality = model.quality();
    let judged = if quality.n_judged < model.n_samples() {
        format!(", on {} samples drawn at random", quality.n_judged)
    } else {
        String::new()
    };
    facts.push((
        "quality",
        format!(
            "trustworthiness {:.4}, continuity {:.4} ({} neighbours{judged})",
            quality.trustworthiness, quality.continuity, quality.n_neighbors
        ),
    ));
    if let (Some(stress), Some(residual)) = (quality.stress, quality.residual_variance) {
        let text = format!("stress {stress:.4}, residual variance {residual:.4}");
        facts.push(("distances", text));
    }
    if let Some(negative) = model.negative_part() {
        let least = if negative.complete { "" } else { "at least " };
        let share = percent(negative.share);
        let smallest = number(negative.smallest);
        facts.push(("negative", format!("{least}{share} of the spectrum, down to {smallest}")));
    }
    facts
}

fn values(model: &EmbeddingModel) -> [(&'static str, Value); 11] {
    let numbers = |values: &[f64]| Value::list(values.iter().copied());
    let optional = |values: Option<Vec<f64>>| values.map_or(Value::Null, |v| numbers(&v));
    let quality = model.quality();
    let negative = model.negative_part().map(|part| {
        Value::map([
            ("share", Value::from(part.share)),
            ("smallest", part.smallest.into()),
            ("complete", part.complete.into()),
        ])
    });
    let neighborhood = model.neighborhood().map(|which| match which {
        Neighborhood::Nearest(k) => Value::map([("nearest", Value::from(k))]),
        Neighborhood::Radius(r) => Value::map([("radius", Value::from(r))]),
    });
    let landmarks = model.landmarks().map(|all| Value::list(all.iter().map(|&i| i as usize)));
    [
        ("rank", model.rank().into()),
        ("eigenvalues", numbers(model.eigenvalues())),
        ("trace", model.trace().into()),
        ("explained_variance", optional(model.explained_variance())),
        ("explained_variance_ratio", optional(model.explained_variance_ratio())),
        ("negative_part", negative.unwrap_or(Value::Null)),
        ("neighborhood", neighborhood.unwrap_or(Value::Null)),
        ("n_bridges", model.n_bridges().into()),
        ("landmarks", landmarks.unwrap_or(Value::Null)),
        (
            "quality",
            Value::map([
                ("trustworthiness", Value::from(quality.trustworthiness)),
                ("continuity", quality.continuity.into()),
                ("n_neighbors", quality.n_neighbors.into()),
                ("n_judged", quality.n_judged.into()),
                ("stress", quality.stress.into()),
                ("residual_variance", quality.residual_variance.into()),
            ]),
        ),
        ("certificate", certificate_value(model.certificate())),
    ]
}
