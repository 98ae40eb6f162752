//! Supervised PCA: pairs of `α Xᵀ W X + β Xᵀ W H K_y H W X`, and what they carry of the dependence on the target.

use super::columns::{self, ColumnSums, rounding};
use super::labels::LabelOperator;
use super::leading::orthogonality;
use super::missed::{Left, PROBES, Probes};
use super::pairs::{MeasuredPairs, Wording};
use super::rows::{Batch, Reader};
use super::{Checks, Sum, Sums, Verification, VerifyOptions, dot, norm, skip_the_run};
use crate::data::{AnyDataset, DataShape, Target};
use crate::error::Result;
use crate::linalg::dense::power_of_two;
use crate::model::{SupervisedParts, SupervisedPcaModel};
use crate::passes::Scaler;

pub(in crate::model) fn verify(
    model: &SupervisedPcaModel,
    data: &AnyDataset,
    target: Option<&Target>,
    options: &VerifyOptions,
) -> Result<Verification> {
    let (parts, needed) = (model.parts(), memory(model, &data.shape()));
    let d = parts.map.components.ncols();
    let (mut checks, reader) = columns::open(&parts.core, d, needed, data, options)?;
    let rows = match reader {
        None => 0,
        Some(reader) => {
            let reader = reader.scaled_by(parts.map.scaler.column_exponents.as_deref());
            check(&mut checks, parts, &reader, target, options)?
        }
    };
    skip_the_run(&mut checks);
    checks.skip("the warnings", "they are not made a second time");
    Ok(checks.finish(rows, options))
}

pub(in crate::model) fn memory(model: &SupervisedPcaModel, shape: &DataShape) -> u64 {
    let (k, d) = model.parts().map.components.dim();
    let n = shape.n_samples.unwrap_or(0) as u64;
    let vectors = (k + PROBES) as u64;
    vectors * (d as u64 * (24 + Sums::BYTES) + 24 * n) + Reader::memory(d) + 8 * n + (1 << 16)
}

/// Standardised samples with their weights, read again for every product.
struct Samples<'a, 'r> {
    reader: &'a Reader<'r>,
    scaler: Scaler,
}

impl Samples<'_, '_> {
    fn for_each(&self, visit: &mut dyn FnMut(usize, f64, &[f64])) -> Result<usize> {
        let Scaler { mean_hi, mean_lo, inv_scale, .. } = &self.scaler;
        let mut at = 0;
        self.reader.for_each(&mut |batch: &Batch| {
            for (i, &w) in batch.weights.iter().enumerate() {
                let row = batch.dense_row(i);
                let x: Vec<f64> = (0..row.len())
                    .map(|f| ((row[f] - mean_hi[f]) - mean_lo[f]) * inv_scale[f])
                    .collect();
                visit(at, w, &x);
                at += 1;
            }
            Ok(())
        })
    }

    /// `X v` of each vector: scores of every sample.
    fn scores(&self, vectors: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        let mut scores = vec![Vec::new(); vectors.len()];
        self.for_each(&mut |_, _, x| {
            scores.iter_mut().zip(vectors).for_each(|(z, v)| z.push(dot(v, x)));
        })?;
        Ok(scores)
    }

    /// `Xᵀ t` of each list of numbers, one for every sample.
    fn transposed(&self, lists: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        let d = self.scaler.inv_scale.len();
        let mut sums: Vec<Sums> = lists.iter().map(|_| Sums::zeros(d)).collect();
        self.for_each(&mut |at, _, x| {
            for (sums, list) in sums.iter_mut().zip(lists) {
                sums.add_scaled(list.get(at).copied().unwrap_or(0.0), x);
            }
        })?;
        Ok(sums.iter().map(Sums::values).collect())
    }
}

fn check(
    checks: &mut Checks,
    parts: &SupervisedParts,
    reader: &Reader,
    target: Option<&Target>,
    options: &VerifyOptions,
) -> Result<usize> {
    // 1. Columns. The textbook's form stores no mean, but was made of centred data all the same.
    let scaler = &parts.map.scaler;
    let mut columns = ColumnSums::about(scaler.mean_hi.clone());
    let mut weights = Vec::new();
    let rows = reader.for_each(&mut |batch| {
        columns.add(batch);
        weights.extend_from_slice(&batch.weights);
        Ok(())
    })?;
    let n = columns.weight.value();
    checks.samples(&parts.core, reader, n);
    checks.scaler(scaler, &columns, parts.center, reader);
    let mut own = scaler.clone();
    if !parts.center {
        own.mean_hi = (0..own.inv_scale.len()).map(|f| columns.mean(f)).collect();
    }
    let samples = Samples { reader, scaler: own };
    let unit = power_of_two(scaler.exponent);
    let unit = if (unit * unit).is_normal() { unit * unit } else { 1.0 };
    let variance = |f: usize| columns.variance(f) * scaler.inv_scale[f] * scaler.inv_scale[f];
    let total = Sum::of((0..scaler.inv_scale.len()).map(variance));
    let rounding = rounding(reader);
    checks.number("total variance", parts.total * unit, total * unit, rounding * total * unit);
    // 2. The target.
    let Some(labels) = LabelOperator::new(target, &parts.target, &weights)? else {
        checks.skip("components and dependence", "the target is not of the kind the model names");
        return Ok(rows);
    };
    checks.target(&parts.target, target, &labels);
    let scale = Scale::new(parts, total, n, labels.total);
    if labels.is_thin() {
        check_total(checks, parts, &samples, &labels, unit, rounding)?;
    } else {
        checks
            .skip("the whole dependence on the target", "it would take a product for each feature");
    }
    // 3. Components: variance, dependence, residual.
    let blend = Blend { samples: &samples, labels: &labels, weights: &weights, scale };
    blend.check_pairs(checks, parts, unit, options)?;
    Ok(rows)
}

/// What makes the trace of the operator 1.
struct Scale {
    alpha: f64,
    beta: f64,
    /// (n − 1)², with n the weight of the labelled samples.
    pairs: f64,
    divisor: f64,
}

impl Scale {
    fn new(parts: &SupervisedParts, total: f64, n: f64, labelled: f64) -> Scale {
        let per = |share: f64, trace: f64| if trace > 0.0 { share / trace } else { 0.0 };
        let (pairs, divisor) = ((labelled - 1.0) * (labelled - 1.0), n - 1.0);
        Scale {
            alpha: per(1.0 - parts.supervision, total * divisor),
            beta: per(parts.supervision, parts.total_hsic * pairs),
            pairs,
            divisor,
        }
    }
}

/// `tr(Xᵀ W H K_y H W X)`, feature by feature in one pass for thin kernels: as `Σ_f x_fᵀ K x_f`.
fn check_total(
    checks: &mut Checks,
    parts: &SupervisedParts,
    samples: &Samples,
    labels: &LabelOperator,
    unit: f64,
    rounding: f64,
) -> Result<()> {
    // Features in blocks: their columns are scores along unit vectors.
    let d = samples.scaler.inv_scale.len();
    let mut total = Sum::default();
    for first in (0..d).step_by(16) {
        let one = |f: usize| (0..d).map(|g| f64::from(u8::from(f == g))).collect::<Vec<f64>>();
        let vectors: Vec<Vec<f64>> = (first..(first + 16).min(d)).map(one).collect();
        for column in samples.scores(&vectors)? {
            total.add(dot(&column, &labels.apply(&column)));
        }
    }
    let pairs = (labels.total - 1.0) * (labels.total - 1.0);
    let (claimed, found) = (parts.total_hsic * unit, total.value() / pairs * unit);
    let allowed = 100.0 * rounding * found.max(claimed);
    checks.number("dependence on the target (HSIC)", claimed, found, allowed);
    Ok(())
}

/// `α Xᵀ W X + β Xᵀ W H K_y H W X`, of trace 1.
struct Blend<'a, 'r> {
    samples: &'a Samples<'a, 'r>,
    labels: &'a LabelOperator,
    weights: &'a [f64],
    scale: Scale,
}

/// What the operator makes of some vectors, and what it passes through: scores, and these seen by the target.
struct Applied {
    products: Vec<Vec<f64>>,
    scores: Vec<Vec<f64>>,
    labelled: Vec<Vec<f64>>,
}

impl Blend<'_, '_> {
    fn apply(&self, vectors: &[Vec<f64>]) -> Result<Applied> {
        let scores = self.samples.scores(vectors)?;
        let labelled: Vec<Vec<f64>> = scores.iter().map(|z| self.labels.apply(z)).collect();
        let Scale { alpha, beta, .. } = self.scale;
        let both = |(z, t): (&Vec<f64>, &Vec<f64>)| {
            let entries = z.iter().zip(t).zip(self.weights);
            entries.map(|((z, t), w)| alpha * w * z + beta * t).collect()
        };
        let lists: Vec<Vec<f64>> = scores.iter().zip(&labelled).map(both).collect();
        let products = self.samples.transposed(&lists)?;
        Ok(Applied { products, scores, labelled })
    }

    /// Variance and dependence of every component.
    fn check_scores(&self, checks: &mut Checks, parts: &SupervisedParts, of: &Applied, unit: f64) {
        let rank = parts.map.rank;
        // Sums over samples, some of them in float32.
        let allowed = 4e-6;
        for j in 0..parts.values.len() {
            let squares = of.scores[j].iter().zip(self.weights).map(|(z, w)| w * z * z);
            let variance = if j < rank { Sum::of(squares) / self.scale.divisor } else { 0.0 };
            let dependence = dot(&of.scores[j], &of.labelled[j]) / self.scale.pairs;
            let dependence = if j < rank { dependence } else { 0.0 };
            let claim = format!("variance along component {}", j + 1);
            let (claimed, off) = (parts.variances[j] * unit, allowed * parts.total * unit);
            checks.number(claim, claimed, variance * unit, off);
            let claim = format!("dependence (HSIC) of component {}", j + 1);
            let (claimed, off) = (parts.hsic[j] * unit, allowed * parts.total_hsic * unit);
            checks.number(claim, claimed, dependence * unit, off);
        }
    }

    fn check_pairs(
        &self,
        checks: &mut Checks,
        parts: &SupervisedParts,
        unit: f64,
        options: &VerifyOptions,
    ) -> Result<()> {
        let components: Vec<Vec<f64>> =
            parts.map.components.outer_iter().map(|row| row.to_vec()).collect();
        let rank = parts.map.rank;
        let found = components.get(..rank).unwrap_or(&components);
        let mut probes = Probes::new(options.seed, components.first().map_or(0, Vec::len));
        let mut block = components.clone();
        block.extend_from_slice(probes.deflated(found));
        let mut applied = self.apply(&block)?;
        probes.applied(applied.products.split_off(components.len()), found);
        self.check_scores(checks, parts, &applied, unit);
        let measured = self.measure(parts, &components, &applied.products);
        let wording = Wording { value: "share of the trace", vector: "component", unit: 1.0 };
        measured.check(checks, &wording, options.tolerance);
        let left = probes.conclude(&self.apply(probes.vectors())?.products);
        let rest = super::missed::rest_of_trace(1.0, &parts.values).max(0.0);
        let left = Left { at_most: rest.min(left.at_most).max(left.at_least), ..left };
        measured.check_missed(checks, &wording, &left, Some(1.0), options.tolerance);
        Ok(())
    }

    fn measure<'p>(
        &self,
        parts: &'p SupervisedParts,
        components: &[Vec<f64>],
        products: &[Vec<f64>],
    ) -> MeasuredPairs<'p> {
        let (rank, values) = (parts.map.rank, &parts.values);
        let top = values.first().copied().unwrap_or(0.0);
        let slack = rounding(self.samples.reader).max(1e-11) * top;
        let rest = |j: usize| {
            let rest = products[j].iter().zip(&components[j]).map(|(p, u)| p - values[j] * u);
            norm(&rest.collect::<Vec<f64>>())
        };
        let along = |j: usize| dot(&products[j], &components[j]) - values[j];
        MeasuredPairs {
            certificate: &parts.certificate,
            values: &values[..rank],
            next: None,
            residuals: (0..rank).map(rest).collect(),
            along: (0..rank).map(along).collect(),
            slack: vec![slack; rank],
            orthogonality: orthogonality(components),
        }
    }
}
