//! The regularisation path: variance explained against non-zeros.

use super::fit::{self, Context, Found, Plain};
use super::{Formulation, SparsePca};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{PathPoint, SparsePath};
use crate::scalar::Scalar;
use crate::sparse_search::{Gram, Shrinkage, adjusted_variance};
use ndarray::{Array2, ArrayView2};

/// The smallest penalty of a path, relative to the one that leaves nothing.
const LEAST: f64 = 1e-3;

pub(super) fn from_data<T: Scalar>(
    of: &SparsePca,
    data: &Dataset<T>,
    points: usize,
) -> Result<SparsePath> {
    check_points(points)?;
    fit::with_gram(of, data, |gram, context| {
        let plain = fit::plain_components(of, &gram)?;
        along(of, &gram, &context, &plain, points)
    })
}

pub(super) fn from_covariance(
    of: &SparsePca,
    covariance: ArrayView2<f64>,
    points: usize,
) -> Result<SparsePath> {
    check_points(points)?;
    fit::with_matrix(of, covariance, None, |gram, context| {
        let plain = fit::plain_components(of, &gram)?;
        along(of, &gram, &context, &plain, points)
    })
}

pub(super) fn check_points(points: usize) -> Result<()> {
    if points >= 2 {
        return Ok(());
    }
    Err(Error::Parameter { name: "points", value: points.to_string(), expected: "at least 2" })
}

/// The path on a covariance, with its plain components known.
pub(super) fn along(
    of: &SparsePca,
    gram: &Gram,
    context: &Context,
    plain: &Plain,
    points: usize,
) -> Result<SparsePath> {
    let total: f64 = context.variances.iter().sum();
    let share = |v: f64| if total > 0.0 { (v / total).min(1.0) } else { 0.0 };
    let units = fit::PenaltyUnits::new(of, context);
    let point = |found: &Found| PathPoint {
        penalties: found.penalties.iter().flatten().map(|p| units.outside(*p)).collect(),
        n_non_zeros: found
            .components
            .outer_iter()
            .map(|row| row.iter().filter(|v| **v != 0.0).count())
            .collect(),
        adjusted_variance_ratio: adjusted_variance(found.score_covariance.view())
            .into_iter()
            .map(share)
            .collect(),
    };
    let found = match &of.formulation {
        Formulation::Cardinality(_) => {
            // A path of proofs would be endless: it is of the fast search.
            let fast = SparsePca { proof: None, ..of.clone() };
            let mut all = Vec::new();
            let mut before: Option<Array2<f64>> = None;
            for count in counts(gram.dim(), points) {
                let counts = vec![count; of.k];
                let found = fit::extraction(
                    &fast,
                    gram,
                    &counts,
                    plain,
                    before.as_ref(),
                    context.scaler.exponent,
                )?;
                all.push(point(&found));
                before = Some(found.components);
            }
            all
        }
        Formulation::NonZeros(_) => {
            let steps = counts(gram.dim(), points);
            let steps = steps.into_iter().map(|count| Shrinkage::Counts(vec![count; of.k]));
            regressions(of, gram, context, plain, steps, point)?
        }
        Formulation::Dictionary(_) => {
            return Err(Error::Unsupported {
                what: "a path".into(),
                why: "does not fit a dictionary",
                instead: None,
            });
        }
        Formulation::Penalties(_) => {
            // With A the plain components, the target of component j is λ_j u_j.
            let largest: Vec<f64> = plain
                .vectors
                .columns()
                .into_iter()
                .zip(&plain.values)
                .map(|(u, v)| 2.0 * v * u.iter().fold(0.0f64, |m, x| m.max(x.abs())))
                .collect();
            let step = LEAST.powf(1.0 / (points - 1) as f64);
            let steps = (0..points).map(|i| {
                let factor = step.powi(i as i32);
                Shrinkage::Penalties(largest.iter().map(|v| v * factor).collect())
            });
            regressions(of, gram, context, plain, steps, point)?
        }
    };
    Ok(SparsePath { points: found, plain_variance_ratio: share(plain.values.iter().sum()) })
}

fn regressions(
    of: &SparsePca,
    gram: &Gram,
    context: &Context,
    plain: &Plain,
    steps: impl Iterator<Item = Shrinkage>,
    point: impl Fn(&Found) -> PathPoint,
) -> Result<Vec<PathPoint>> {
    let ridge = fit::scaled_ridge(of, context);
    let mut all = Vec::new();
    let mut before = None;
    for shrinkage in steps {
        let (found, vectors) =
            fit::regression(of, gram, plain, &shrinkage, ridge, before.as_deref())?;
        all.push(point(&found));
        // From nothing there is no way on: the next one starts from the plain components.
        before = vectors.iter().all(|v| !v.is_zero()).then_some(vectors);
    }
    Ok(all)
}

/// Numbers of non-zeros from 1 to d: all of them, or evenly spread on a logarithmic scale.
fn counts(d: usize, points: usize) -> Vec<usize> {
    if d <= points {
        return (1..=d).collect();
    }
    let step = (d as f64).powf(1.0 / (points - 1) as f64);
    let mut counts: Vec<usize> =
        (0..points).map(|i| (step.powi(i as i32).round() as usize).clamp(1, d)).collect();
    counts.dedup();
    counts
}
