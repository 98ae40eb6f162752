//! Sparse PCA: variances and covariances of its scores, and how far components are from what they minimise.

use super::columns::{self, rounding};
use super::covariance::{Covariance, Gather};
use super::dense::{SMALL, Tridiagonal};
use super::rows::Reader;
use super::{Checks, Sum, Sums, Verification, VerifyOptions, dot, skip_the_run};
use crate::data::{AnyDataset, DataShape, Target};
use crate::error::Result;
use crate::linalg::dense::power_of_two;
use crate::model::{SparseParts, SparsePcaModel};

pub(in crate::model) fn verify(
    model: &SparsePcaModel,
    data: &AnyDataset,
    _: Option<&Target>,
    options: &VerifyOptions,
) -> Result<Verification> {
    let (parts, needed) = (model.parts(), memory(model, &data.shape()));
    let d = parts.components.ncols();
    let (mut checks, reader) = columns::open(&parts.core, d, needed, data, options)?;
    let rows = match reader {
        None => 0,
        Some(reader) => {
            let reader = reader.scaled_by(parts.scaler.column_exponents.as_deref());
            check(&mut checks, parts, &reader, options)?
        }
    };
    skip_the_run(&mut checks);
    checks.skip(
        "penalties, the path and the course of the objective",
        "they are what was asked for, or of other models than this one",
    );
    checks.skip("the warnings", "they are not made a second time");
    Ok(checks.finish(rows, options))
}

pub(in crate::model) fn memory(model: &SparsePcaModel, shape: &DataShape) -> u64 {
    let (k, d) = model.components().dim();
    let matrix = if d <= SMALL { 3 * 8 * (d * d) as u64 } else { 0 };
    (k * d) as u64 * (24 + Sums::BYTES) + matrix + Reader::memory(shape.n_features) + (1 << 16)
}

fn check(
    checks: &mut Checks,
    parts: &SparseParts,
    reader: &Reader,
    options: &VerifyOptions,
) -> Result<usize> {
    let covariance = Covariance { reader, scaler: &parts.scaler };
    let components: Vec<Vec<f64>> = parts.components.outer_iter().map(|row| row.to_vec()).collect();
    let gather = Gather { scatter: covariance.is_small(), held: false };
    let mut passed = covariance.pass(&components, gather)?;
    let divisor = passed.columns.weight.value() - 1.0;
    checks.samples(&parts.core, reader, passed.columns.weight.value());
    checks.scaler(&parts.scaler, &passed.columns, parts.center, reader);
    let unit = power_of_two(parts.scaler.exponent);
    let unit = if (unit * unit).is_normal() { unit * unit } else { 1.0 };
    let rounding = rounding(reader);
    let columns = &passed.columns;
    let variance = |f: usize| {
        let v = if parts.center { columns.variance(f) } else { columns.second_moment(f) };
        v * parts.scaler.inv_scale[f] * parts.scaler.inv_scale[f]
    };
    let total = Sum::of((0..parts.scaler.inv_scale.len()).map(variance));
    checks.number("total variance", parts.total * unit, total * unit, rounding * total * unit);
    // The covariance of the scores, from `S bᵢ`.
    let products: Vec<Vec<f64>> = passed.along.iter().map(|along| along.product(divisor)).collect();
    for i in 0..components.len() {
        for j in 0..=i {
            let found = dot(&products[i], &components[j]) * unit;
            let claim = match i == j {
                true => format!("explained variance of component {}", i + 1),
                false => format!("covariance of the scores of components {} and {}", j + 1, i + 1),
            };
            let claimed = parts.score_covariance[[i, j]] * unit;
            checks.number(claim, claimed, found, rounding * total * unit);
        }
        let length = dot(&components[i], &components[i]);
        if length > 0.0 {
            checks.number(format!("length of component {}", i + 1), 1.0, length, 1e-9);
        }
    }
    let largest = check_plain(checks, parts, passed.scatter.take(), divisor, unit, options);
    check_proofs(checks, parts, &components, &products, unit, total, largest, options);
    Ok(passed.rows)
}

/// The variances of plain components, where the covariance is small; the largest of them.
fn check_plain(
    checks: &mut Checks,
    parts: &SparseParts,
    scatter: Option<Vec<f64>>,
    divisor: f64,
    unit: f64,
    options: &VerifyOptions,
) -> Option<f64> {
    let Some(mut matrix) = scatter else {
        let reason = "the covariance is too large to be made once more";
        checks.skip("variances of plain components", reason);
        return None;
    };
    let d = parts.components.ncols();
    for i in 0..d {
        for j in 0..i {
            matrix[j * d + i] = matrix[i * d + j];
        }
    }
    matrix.iter_mut().for_each(|v| *v /= divisor);
    let all = Tridiagonal::of(matrix, d).values();
    let top = all.first().copied().unwrap_or(0.0);
    let one = |(j, claimed): (usize, &f64)| {
        let found = all.get(j).copied().unwrap_or(0.0).max(0.0);
        (claimed * unit, found * unit, options.tolerance * top * unit)
    };
    let name = |j: usize| format!("variance of plain component {}", j + 1);
    checks.worst(name, parts.plain.iter().enumerate().map(one));
    Some(top)
}

/// What an exact search says: the variance it found, and a bound that no vector exceeds.
#[expect(clippy::too_many_arguments)]
fn check_proofs(
    checks: &mut Checks,
    parts: &SparseParts,
    components: &[Vec<f64>],
    products: &[Vec<f64>],
    unit: f64,
    total: f64,
    largest: Option<f64>,
    options: &VerifyOptions,
) {
    let Some(first) = parts.optimality.first() else {
        let reason =
            "these components minimise a criterion with penalties, from where the search began";
        checks.skip("that no sparser or better component exists", reason);
        return;
    };
    let found = dot(&products[0], &components[0]) * unit;
    let allowed = options.tolerance * total * unit;
    checks.number("variance that the search found for component 1", first.value, found, allowed);
    for (j, proof) in parts.optimality.iter().enumerate() {
        let claim = format!("proven gap of component {}", j + 1);
        let gap = (proof.upper_bound - proof.value) / proof.upper_bound.max(f64::MIN_POSITIVE);
        let gap = if gap < 1e-9 { 0.0 } else { gap };
        checks.number(claim, proof.gap, gap, 1e-9);
        if let Some(largest) = largest {
            let claim = format!("upper bound of component {}", j + 1);
            let most = largest * unit * (1.0 + options.tolerance);
            // A proven bound needs no more than the largest variance of all.
            let holds = proof.stopped_by.is_some() || proof.upper_bound <= most;
            checks.other(claim, proof.upper_bound, format!("at most {most:e}"), holds);
        }
    }
    checks.skip("the searches behind the proofs", "they would take as long as the fit");
}
