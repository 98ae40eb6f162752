//! Kernel PCA and its supervised kin: the kernel between the samples is made again, value by value.

use super::columns;
use super::labels::LabelOperator;
use super::pairs::Wording;
use super::rows::Reader;
use super::symmetric::{Claimed, Symmetric, all_rows};
use super::{Checks, Sum, Verification, VerifyOptions, dot, skip_the_run};
use crate::data::{AnyDataset, DataShape, Target};
use crate::error::Result;
use crate::kernel::ResolvedKernel;
use crate::model::{
    KernelAccuracy, KernelBody, KernelMap, KernelPcaModel, KernelPcaParts, KernelSupervisedParts,
    KernelSupervisedPcaModel, ModelCore,
};
use rayon::prelude::*;

/// Kernel values that are made at most for one product.
const MOST_VALUES: usize = 400_000_000;

/// Values of a kernel between the samples.
pub(super) struct Gram<'a> {
    pub kernel: &'a ResolvedKernel,
    pub rows: Vec<Vec<f64>>,
}

impl Gram<'_> {
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        match self.kernel.is_precomputed() {
            true => 0.5 * (self.rows[i][j] + self.rows[j][i]),
            false => self.kernel.value(&self.rows[i], &self.rows[j]),
        }
    }

    pub fn n(&self) -> usize {
        self.rows.len()
    }

    /// Means of the columns, in parallel.
    fn means(&self) -> Vec<f64> {
        let n = self.n();
        let mean = |i: usize| Sum::of((0..n).map(|j| self.entry(i, j))) / n as f64;
        (0..n).into_par_iter().map(mean).collect()
    }

    /// Largest modulus on the diagonal.
    fn largest(&self) -> f64 {
        (0..self.n()).fold(0.0f64, |m, i| m.max(self.entry(i, i).abs()))
    }
}

pub(in crate::model) fn verify(
    model: &KernelPcaModel,
    data: &AnyDataset,
    _: Option<&Target>,
    options: &VerifyOptions,
) -> Result<Verification> {
    let (parts, kernel) = (model.parts(), model.kernel());
    let (mut checks, opened) =
        open(&parts.core, (model.n_components(), parts.n_features), kernel, data, options)?;
    let n = opened.as_ref().map_or(0, |(gram, _)| gram.n());
    if let Some((gram, reader)) = opened {
        match (&parts.accuracy, &parts.body) {
            _ if n.saturating_mul(n) > MOST_VALUES => {
                let reason = "so many kernel values would take longer than three fits";
                checks.skip("components, eigenvalues and bounds", reason);
            }
            (KernelAccuracy::Exact, KernelBody::Points(map)) => {
                check_exact(&mut checks, parts, map, &gram, &reader, options);
            }
            (KernelAccuracy::Subset { .. }, KernelBody::Points(map)) => {
                let rows = map.projection.points.rows();
                let own = rows.outer_iter().map(|row| row.to_vec()).collect();
                let own = Gram { kernel: gram.kernel, rows: own };
                checks.skip("that the points are among the samples", "which ones is not stored");
                check_exact(&mut checks, parts, map, &own, &reader, options);
            }
            (_, body) => check_approximate(&mut checks, parts, body, &gram),
        }
    }
    Ok(close(checks, n, options))
}

/// The samples in memory, counted, and the kernel between them; for k components of so many features.
fn open<'a>(
    core: &ModelCore,
    (k, d): (usize, usize),
    kernel: &'a ResolvedKernel,
    data: &'a AnyDataset,
    options: &VerifyOptions,
) -> Result<(Checks, Option<(Gram<'a>, Reader<'a>)>)> {
    let (mut checks, reader) = columns::open(core, d, memory(k, &data.shape()), data, options)?;
    let Some(reader) = reader else { return Ok((checks, None)) };
    let gram = Gram { kernel, rows: all_rows(&reader)? };
    checks.samples(core, &reader, gram.n() as f64);
    Ok((checks, Some((gram, reader))))
}

fn close(mut checks: Checks, rows: usize, options: &VerifyOptions) -> Verification {
    skip_the_run(&mut checks);
    checks.skip("the warnings and the parameters of the kernel", "they are what was asked for");
    checks.finish(rows, options)
}

/// Bytes that a check takes beyond the data: all samples, and a few vectors over them.
pub(super) fn memory(k: usize, shape: &DataShape) -> u64 {
    let n = shape.n_samples.unwrap_or(0) as u64;
    let small = 5 * 8 * (super::SMALL * super::SMALL) as u64;
    8 * n * (shape.n_features as u64 + 6 * (k as u64 + 10))
        + small
        + Reader::memory(shape.n_features)
}

/// Unit vectors from dual coefficients: `v = a √λ`.
fn vectors(map: &KernelMap, values: &[f64]) -> Vec<Vec<f64>> {
    let columns = map.projection.coefficients.columns().into_iter();
    let carrying = columns.zip(values).filter(|(_, value)| **value > 0.0);
    carrying.map(|(a, value)| a.iter().map(|x| x * value.sqrt()).collect()).collect()
}

fn check_exact(
    checks: &mut Checks,
    parts: &KernelPcaParts,
    map: &KernelMap,
    gram: &Gram,
    reader: &Reader,
    options: &VerifyOptions,
) {
    let n = gram.n();
    if map.projection.coefficients.nrows() != n {
        let claimed = map.projection.coefficients.nrows() as f64;
        return checks.number("samples with a dual coefficient", claimed, n as f64, 0.0);
    }
    check_points(checks, map, gram, reader);
    // Means of the kernel, and what follows from them.
    let means = gram.means();
    let mean = Sum::of(means.iter().copied()) / n as f64;
    let trace = Sum::of((0..n).map(|i| gram.entry(i, i)));
    let (largest, single) = (gram.largest(), reader.is_f32());
    let rounding = if single { 2e-6 } else { 1e-11 };
    let size = largest.max(mean.abs());
    let subset = matches!(parts.accuracy, KernelAccuracy::Subset { .. });
    if !subset {
        let one = |(claimed, found): (&f64, &f64)| (*claimed, *found, rounding * size);
        let name = |i: usize| format!("mean of column {} of the kernel", i + 1);
        checks.worst(name, parts.column_means.iter().zip(&means).map(one));
        checks.number("mean of the kernel", parts.mean, mean, rounding * size);
        let total = (trace - n as f64 * mean).max(0.0);
        let allowed = rounding * (trace.abs() + n as f64 * mean.abs());
        checks.number("total of the centred kernel", parts.total, total, allowed);
    }
    check_offsets(checks, map, &means, rounding * size);
    // Pairs of the centred kernel.
    let values: Vec<f64> = parts.values.iter().copied().filter(|v| *v > 0.0).collect();
    let slack = if single { 1e-6 } else { 64.0 * f64::EPSILON };
    let slack = slack * (n as f64).sqrt() * size + 1e-12 * values.first().copied().unwrap_or(0.0);
    let claimed = Claimed {
        certificate: &parts.certificate,
        vectors: vectors(map, &values),
        values: &values,
        slack,
        trace: gram.kernel.is_positive().then_some(parts.total),
    };
    let entry = |i: usize, j: usize| gram.entry(i, j);
    let operator = Symmetric { n, entry: &entry, centered: true };
    let wording = Wording { value: "eigenvalue", vector: "component", unit: 1.0 };
    let all = operator.check(checks, &claimed, &wording, options);
    check_negative(checks, parts, all.as_deref(), slack);
}

/// The samples that the model keeps are those of the data.
fn check_points(checks: &mut Checks, map: &KernelMap, gram: &Gram, reader: &Reader) {
    if map.projection.points.is_absent() || gram.kernel.is("cosine") {
        return;
    }
    let kept = map.projection.points.rows();
    let rounding = if reader.is_f32() { 1e-6 } else { 1e-13 };
    let shift = map.projection.points.shift();
    let mut worst = (0.0, 0, 0);
    for (i, row) in gram.rows.iter().enumerate() {
        for (f, x) in row.iter().enumerate() {
            let size = x.abs() + shift.get(f).map_or(0.0, |s| s.abs()) + f64::MIN_POSITIVE;
            let off = (kept[[i, f]] - x).abs() / size;
            if off.is_nan() || off > worst.0 {
                worst = (if off.is_nan() { f64::INFINITY } else { off }, i, f);
            }
        }
    }
    let (off, i, f) = worst;
    if gram.rows.is_empty() || gram.rows[0].is_empty() {
        return;
    }
    let claim = format!("feature {} of training sample {}", reader.column_name(f), i + 1);
    checks.other(claim, kept[[i, f]], gram.rows[i][f], off <= rounding);
}

/// Scores are centred by the means of the kernel.
fn check_offsets(checks: &mut Checks, map: &KernelMap, means: &[f64], rounding: f64) {
    let columns = map.projection.coefficients.columns().into_iter();
    let one = |(claimed, a): (&f64, ndarray::ArrayView1<f64>)| {
        let a = a.to_vec();
        let size: f64 = a.iter().map(|x| x.abs()).sum();
        (*claimed, dot(&a, means), 10.0 * rounding * size + 1e-300)
    };
    let name = |j: usize| format!("offset of the scores of component {}", j + 1);
    checks.worst(name, map.projection.offsets.iter().zip(columns).map(one));
    let n = map.center.len() as f64;
    let center = |c: &f64| (*c, 1.0 / n, 1e-12 / n);
    checks
        .worst(|i| format!("share of sample {} in the mean", i + 1), map.center.iter().map(center));
}

fn check_negative(checks: &mut Checks, parts: &KernelPcaParts, all: Option<&[f64]>, slack: f64) {
    let Some(negative) = parts.negative else { return };
    let Some(all) = all else {
        checks
            .skip("the negative part of the spectrum", "the kernel is too large to be made whole");
        return;
    };
    let smallest = all.last().copied().unwrap_or(0.0).min(0.0);
    let allowed = 1e-3 * smallest.abs() + 100.0 * slack;
    checks.number("smallest eigenvalue", negative.smallest, smallest, allowed);
    let below: f64 = all.iter().map(|v| (-v).max(0.0)).sum();
    let share = below / all.iter().map(|v| v.abs()).sum::<f64>().max(f64::MIN_POSITIVE);
    let allowed = 1e-3 * share + 1e-6;
    checks.number("share of negative eigenvalues", negative.share, share, allowed);
}

/// Scores made of the factor that stands for the kernel: centred, uncorrelated, of the length that is said.
fn check_approximate(checks: &mut Checks, parts: &KernelPcaParts, body: &KernelBody, gram: &Gram) {
    let scores = match body {
        KernelBody::Points(map) => scores_by_points(map, gram),
        KernelBody::Features(map) => {
            let features = &map.features;
            let m = features.phases.len();
            let scale = (2.0 / m as f64).sqrt();
            let one = |row: &Vec<f64>| -> Vec<f64> {
                let x: Vec<f64> = row.iter().zip(&features.shift).map(|(x, s)| x - s).collect();
                let feature = |c: usize| {
                    let angle = dot(&features.frequencies.column(c).to_vec(), &x);
                    scale * (angle + features.phases[c]).cos()
                };
                let f: Vec<f64> = (0..m).map(feature).collect();
                let score = |j: usize| dot(&map.components.column(j).to_vec(), &f) - map.offsets[j];
                (0..map.offsets.len()).map(score).collect()
            };
            gram.rows.par_iter().map(one).collect()
        }
    };
    let k = parts.values.len();
    let top = parts.values.first().copied().unwrap_or(0.0);
    let column = |j: usize| scores.iter().map(|row| row[j]).collect::<Vec<f64>>();
    let columns: Vec<Vec<f64>> = (0..k).map(column).collect();
    for j in 0..k {
        let claim = format!("eigenvalue of component {}", j + 1);
        checks.number(claim, parts.values[j], dot(&columns[j], &columns[j]), 1e-6 * top);
        let sum = Sum::of(columns[j].iter().copied());
        let allowed = 1e-6 * (top * scores.len() as f64).sqrt();
        checks.number(format!("sum of the scores of component {}", j + 1), 0.0, sum, allowed);
        for i in 0..j {
            let claim = format!("product of the scores of components {} and {}", i + 1, j + 1);
            checks.number(claim, 0.0, dot(&columns[i], &columns[j]), 1e-6 * top);
        }
    }
    let reason = "they are of a factor that stands for the kernel and is not stored";
    checks.skip("bounds on residuals and angles, and the total", reason);
}

fn scores_by_points(map: &KernelMap, gram: &Gram) -> Vec<Vec<f64>> {
    let points = map.projection.points.rows();
    let points: Vec<Vec<f64>> = points.outer_iter().map(|row| row.to_vec()).collect();
    let coefficients: Vec<Vec<f64>> =
        map.projection.coefficients.columns().into_iter().map(|a| a.to_vec()).collect();
    let one = |row: &Vec<f64>| -> Vec<f64> {
        let values: Vec<f64> = match gram.kernel.is_precomputed() {
            true => row.clone(),
            false => points.iter().map(|p| gram.kernel.value(row, p)).collect(),
        };
        let score = |(a, offset): (&Vec<f64>, &f64)| dot(a, &values) - offset;
        coefficients.iter().zip(&map.projection.offsets).map(score).collect()
    };
    gram.rows.par_iter().map(one).collect()
}

/// Checks a kernel supervised PCA: directions of unit length, uncorrelated in the target's eyes, and what each
/// carries of the dependence.
pub(in crate::model) fn verify_supervised(
    model: &KernelSupervisedPcaModel,
    data: &AnyDataset,
    target: Option<&Target>,
    options: &VerifyOptions,
) -> Result<Verification> {
    let (parts, kernel) = (model.parts(), model.kernel());
    let (mut checks, opened) =
        open(&parts.core, (model.n_components(), parts.n_features), kernel, data, options)?;
    let n = opened.as_ref().map_or(0, |(gram, _)| gram.n());
    if let Some((gram, reader)) = opened {
        let labels = LabelOperator::new(target, &parts.target, &vec![1.0; n])?;
        match labels {
            Some(labels) if n.saturating_mul(n) <= MOST_VALUES => {
                checks.target(&parts.target, target, &labels);
                check_directions(&mut checks, model, &gram, &labels, &reader, options);
            }
            _ => checks
                .skip("components and dependence", "the target or the samples do not allow it"),
        }
    }
    Ok(close(checks, n, options))
}

fn check_directions(
    checks: &mut Checks,
    model: &KernelSupervisedPcaModel,
    gram: &Gram,
    labels: &LabelOperator,
    reader: &Reader,
    options: &VerifyOptions,
) {
    let (parts, n) = (model.parts(), gram.n());
    let kept = parts.map.projection.coefficients.nrows();
    if kept != n {
        return checks.number("samples with a dual coefficient", kept as f64, n as f64, 0.0);
    }
    check_points(checks, &parts.map, gram, reader);
    let means = gram.means();
    let mean = Sum::of(means.iter().copied()) / n as f64;
    let trace = Sum::of((0..n).map(|i| gram.entry(i, i)));
    let divisor = n as f64 - 1.0;
    let total = (trace - n as f64 * mean).max(0.0) / divisor;
    let rounding = 1e-9 * (trace.abs() + n as f64 * mean.abs()) / divisor;
    checks.number("total variance in feature space", parts.total, total, rounding);
    // `K A`: scores of the samples, but for the constant.
    let entry = |i: usize, j: usize| gram.entry(i, j);
    let operator = Symmetric { n, entry: &entry, centered: false };
    let columns = parts.map.projection.coefficients.columns().into_iter().take(model.rank());
    let columns: Vec<Vec<f64>> = columns.map(|a| a.to_vec()).collect();
    let products = operator.apply(&columns);
    let labelled = products.iter().map(|z| labels.apply(z)).collect();
    let pairs = (labels.total - 1.0) * (labels.total - 1.0);
    let directions = Directions { columns, products, labelled, pairs, total };
    for j in 0..parts.values.len() {
        directions.check(checks, parts, j, options.tolerance);
    }
    if parts.center {
        check_offsets(checks, &parts.map, &means, 1e-9 * gram.largest());
    }
    check_whole(checks, model, &operator, labels, pairs, options.tolerance);
    let reason = "the factor of the label kernel they are of is not stored";
    checks.skip("bounds on residuals and angles", reason);
}

/// Directions in feature space, one for each component that carries something.
struct Directions {
    /// Dual coefficients a (n).
    columns: Vec<Vec<f64>>,
    /// `K a`.
    products: Vec<Vec<f64>>,
    /// `H K_y H K a`.
    labelled: Vec<Vec<f64>>,
    /// (n − 1)².
    pairs: f64,
    /// The total variance.
    total: f64,
}

impl Directions {
    fn check(&self, checks: &mut Checks, parts: &KernelSupervisedParts, j: usize, allowed: f64) {
        let name = format!("component {}", j + 1);
        let Some(column) = self.columns.get(j) else {
            return checks.number(format!("eigenvalue of {name}"), parts.values[j], 0.0, 0.0);
        };
        let (product, labelled) = (&self.products[j], &self.labelled[j]);
        let (n, top) = (column.len() as f64, parts.values.first().copied().unwrap_or(0.0));
        let value = dot(product, labelled);
        checks.number(format!("eigenvalue of {name}"), parts.values[j], value, allowed * top);
        let claim = format!("dependence (HSIC) of {name}");
        checks.number(claim, parts.hsic[j], value / self.pairs, allowed * top / self.pairs);
        let center = Sum::of(product.iter().copied()) / n;
        let squares = product.iter().map(|z| (z - center) * (z - center));
        let found = Sum::of(squares) / (n - 1.0);
        let claim = format!("variance of the scores of {name}");
        checks.number(claim, parts.variances[j], found, allowed * (self.total + found));
        let claim = format!("squared length of {name} in feature space");
        checks.number(claim, 1.0, dot(column, product), allowed);
        for i in 0..j {
            let claim = format!("product of components {} and {}", i + 1, j + 1);
            checks.number(claim, 0.0, dot(&self.columns[i], product), allowed);
            let claim = format!("dependence shared by components {} and {}", i + 1, j + 1);
            checks.number(claim, 0.0, dot(&self.products[i], labelled), allowed * top);
        }
        // `H K_y H K a = λ a`: no direction beside it depends more.
        let rest = labelled.iter().zip(column).map(|(t, a)| t - parts.values[j] * a);
        let size = column.iter().fold(0.0f64, |m, a| m.max(a.abs()));
        let residual = rest.fold(0.0f64, |m, r| m.max(r.abs())) / (top * size);
        let words = format!("a relative residual of at most {allowed:e}");
        checks.other(format!("{name} is an eigenvector"), words, residual, residual <= allowed);
    }
}

/// The whole dependence `tr(K_x H K_y H)`, and what the components leave of it.
fn check_whole(
    checks: &mut Checks,
    model: &KernelSupervisedPcaModel,
    operator: &Symmetric,
    labels: &LabelOperator,
    pairs: f64,
    tolerance: f64,
) {
    let parts = model.parts();
    let n = operator.n;
    if !labels.is_thin() || n > 4000 {
        let reason = "it would take a product for each sample";
        checks.skip("the whole dependence on the target", reason);
        return;
    }
    let column = |i: usize| -> f64 {
        let row: Vec<f64> = (0..n).map(|j| (operator.entry)(i, j)).collect();
        labels.apply(&row)[i]
    };
    let found: Vec<f64> = (0..n).into_par_iter().map(column).collect();
    let total = Sum::of(found) / pairs;
    checks.number("dependence on the target (HSIC)", parts.total_hsic, total, tolerance * total);
    let rest = super::missed::rest_of_trace(total * pairs, &parts.values);
    let last = parts.values.iter().copied().rfind(|v| *v > 0.0).unwrap_or(0.0);
    let claim = "that nothing was missed";
    if rest > last + tolerance * total * pairs {
        let room = parts.target.rank.saturating_sub(model.rank());
        let reason =
            format!("the target leaves room for {room} more, and the trace for one that is larger");
        checks.skip(claim, reason);
    } else {
        checks.other(claim, format!("less than {last:e} is left"), rest.max(0.0), true);
    }
}
