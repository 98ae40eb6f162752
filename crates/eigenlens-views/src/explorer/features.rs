//! What components are made of.

use crate::error::Result;
use crate::plots::loadings;
use crate::request::Request;
use eigenlens::model::Linear;
use eigenlens_report::{ExplorerFeatures, ExplorerSamples};
use ndarray::ArrayView2;

/// Names, weights, loadings and correlations of the features with the first k components.
pub(super) fn features(
    request: &Request,
    k: usize,
    samples: Option<&ExplorerSamples>,
) -> Result<ExplorerFeatures> {
    let model = request.model();
    let names = model.feature_labels();
    let Some(linear) = model.linear() else {
        return Ok(ExplorerFeatures { names, ..ExplorerFeatures::default() });
    };
    let correlations = match model.pca().map(|pca| pca.feature_diagnostics()).transpose()? {
        Some(found) => columns(found.correlations.view(), k),
        None => Vec::new(),
    };
    let weights = columns(linear.components.t(), k);
    let inverse = |s: &f64| if *s > 0.0 { s.recip() } else { 0.0 };
    let inverse_scale: Vec<f64> = match &linear.scale {
        Some(scale) => scale.iter().map(inverse).collect(),
        None => vec![1.0; names.len()],
    };
    let center = linear.mean.to_vec();
    let add_up = samples.is_some_and(|s| scores_are_sums(s, &weights, &center, &inverse_scale));
    Ok(ExplorerFeatures {
        names,
        loadings: columns(linear.loadings.view(), k),
        caption: caption(&linear),
        correlations,
        center: if add_up { center } else { Vec::new() },
        inverse_scale: if add_up { inverse_scale } else { Vec::new() },
        weights,
    })
}

fn caption(linear: &Linear) -> String {
    loadings::caption(linear)
}

fn columns(matrix: ArrayView2<f64>, k: usize) -> Vec<Vec<f64>> {
    matrix.columns().into_iter().take(k).map(|column| column.to_vec()).collect()
}

/// Whether scores are the sums of centred and scaled values times weights: not so where they are whitened, least
/// squares or expectations. The first complete samples tell.
fn scores_are_sums(
    samples: &ExplorerSamples,
    weights: &[Vec<f64>],
    center: &[f64],
    inverse_scale: &[f64],
) -> bool {
    const LOOKED_AT: usize = 20;
    if samples.features.is_empty() || center.len() != samples.features.len() {
        return false;
    }
    let n = samples.numbers.len();
    let complete = (0..n).filter(|&i| samples.features.iter().all(|x| x[i].is_finite()));
    let mut seen = false;
    for i in complete.take(LOOKED_AT) {
        seen = true;
        for (weights, scores) in weights.iter().zip(&samples.scores) {
            let part =
                |f: usize| (samples.features[f][i] - center[f]) * inverse_scale[f] * weights[f];
            let (sum, size) = (0..center.len())
                .map(part)
                .fold((0.0, 0.0), |(sum, size): (f64, f64), p| (sum + p, size + p.abs()));
            if (sum - scores[i]).abs() > 1e-5 * size {
                return false;
            }
        }
    }
    seen
}
