//! Targets as kernels between samples, by their definition.

use super::{Checks, Sum};
use crate::data::{Target, TargetBody, UNLABELLED};
use crate::error::{Error, Result};
use crate::model::TargetRecord;

/// The centred label kernel `H K_y H` of samples with weights.
pub(crate) struct LabelOperator {
    kernel: LabelEntries,
    /// Weight of each sample; 0 where it has no label.
    weights: Vec<f64>,
    pub total: f64,
    pub labelled: usize,
}

enum LabelEntries {
    Delta(Vec<u32>, usize),
    Linear(Vec<Vec<f64>>),
    Gaussian(Vec<Vec<f64>>, f64),
    Given(Vec<Vec<f64>>),
}

impl LabelOperator {
    /// The target of a model, as it says that it took it. `weights` are those of all samples.
    pub fn new(
        target: Option<&Target>,
        record: &TargetRecord,
        weights: &[f64],
    ) -> Result<Option<LabelOperator>> {
        let target = target.ok_or_else(|| Error::NotDefined {
            what: "a check of a supervised model",
            why: "no target was given".into(),
        })?;
        if target.n_samples() != weights.len() {
            return Err(Error::Shape {
                what: "the target",
                found: format!("{} values", target.n_samples()),
                expected: format!("one for each of {} samples", weights.len()),
            });
        }
        let rows = |values: &ndarray::Array2<f64>| {
            values.outer_iter().map(|row| row.to_vec()).collect::<Vec<_>>()
        };
        let kernel = match (&target.body, record.kernel.as_str(), record.gamma) {
            (TargetBody::Classes { codes, names }, "delta", _) => {
                LabelEntries::Delta(codes.clone(), names.len())
            }
            (TargetBody::Numbers(values), "linear", _) => LabelEntries::Linear(rows(values)),
            (TargetBody::Numbers(values), "gaussian", Some(gamma)) => {
                LabelEntries::Gaussian(rows(values), gamma)
            }
            (TargetBody::Kernel(kernel), "given", _) => LabelEntries::Given(rows(kernel)),
            (TargetBody::Factor(factor), "given", _) => LabelEntries::Linear(rows(factor)),
            _ => return Ok(None),
        };
        let known = |i: usize| match &kernel {
            LabelEntries::Delta(codes, _) => codes[i] != UNLABELLED,
            LabelEntries::Linear(rows) | LabelEntries::Gaussian(rows, _) => {
                rows[i].iter().all(|v| !v.is_nan())
            }
            LabelEntries::Given(_) => true,
        };
        let labels: Vec<bool> = (0..weights.len()).map(known).collect();
        let weight = |(w, known): (&f64, &bool)| if *known { *w } else { 0.0 };
        let own: Vec<f64> = weights.iter().zip(&labels).map(weight).collect();
        Ok(Some(LabelOperator {
            kernel,
            total: Sum::of(own.iter().copied()),
            weights: own,
            labelled: labels.iter().filter(|known| **known).count(),
        }))
    }

    /// Whether products cost no more than a pass over the samples.
    pub fn is_thin(&self) -> bool {
        matches!(self.kernel, LabelEntries::Delta(..) | LabelEntries::Linear(_))
    }

    /// `W H K_y Hᵀ W z` for scores z of all samples.
    pub fn apply(&self, z: &[f64]) -> Vec<f64> {
        let weighted: Vec<f64> = z.iter().zip(&self.weights).map(|(z, w)| z * w).collect();
        let mean = Sum::of(weighted.iter().copied()) / self.total;
        let inside: Vec<f64> =
            weighted.iter().zip(&self.weights).map(|(v, w)| v - w * mean).collect();
        let product = self.product(&inside);
        let along = product.iter().zip(&self.weights).map(|(p, w)| p * w);
        let mean = Sum::of(along) / self.total;
        product.iter().zip(&self.weights).map(|(p, w)| w * (p - mean)).collect()
    }

    fn product(&self, v: &[f64]) -> Vec<f64> {
        let n = v.len();
        match &self.kernel {
            LabelEntries::Delta(codes, classes) => {
                let mut sums = vec![Sum::default(); *classes];
                let known = || codes.iter().zip(v).filter(|(code, _)| **code != UNLABELLED);
                known().for_each(|(code, v)| sums[*code as usize].add(*v));
                let one = |code: &u32| sums.get(*code as usize).map_or(0.0, |s| s.value());
                codes.iter().map(one).collect()
            }
            LabelEntries::Linear(rows) => {
                let width = rows.first().map_or(0, Vec::len);
                let entry = |i: usize, c: usize| if rows[i][c].is_nan() { 0.0 } else { rows[i][c] };
                let sums: Vec<f64> =
                    (0..width).map(|c| Sum::of((0..n).map(|i| v[i] * entry(i, c)))).collect();
                (0..n).map(|i| (0..width).map(|c| entry(i, c) * sums[c]).sum()).collect()
            }
            LabelEntries::Gaussian(rows, gamma) => {
                let value = |a: &[f64], b: &[f64]| {
                    let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
                    if square.is_nan() { 0.0 } else { (-gamma * square).exp() }
                };
                (0..n).map(|i| Sum::of((0..n).map(|j| v[j] * value(&rows[i], &rows[j])))).collect()
            }
            LabelEntries::Given(rows) => {
                (0..n).map(|i| Sum::of((0..n).map(|j| v[j] * rows[i][j]))).collect()
            }
        }
    }
}

impl Checks {
    /// What a model says of its target.
    pub fn target(
        &mut self,
        record: &TargetRecord,
        target: Option<&Target>,
        labels: &LabelOperator,
    ) {
        let (claimed, found) = (record.labelled as f64, labels.labelled as f64);
        self.number("samples with a label", claimed, found, 0.0);
        if let (Some(claimed), Some(found)) =
            (&record.classes, target.and_then(Target::class_names))
        {
            let same = claimed.as_slice() == found;
            self.other("names of the classes", claimed.join(", "), found.join(", "), same);
            if record.kernel == "delta" {
                let rank = found.len().saturating_sub(1) as f64;
                self.number("directions the target can tell apart", record.rank as f64, rank, 0.0);
            }
        }
        if record.trace_error > 0.0 {
            self.skip("what the factor of the label kernel leaves out", "the factor is not stored");
        }
    }
}
