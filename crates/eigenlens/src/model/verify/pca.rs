//! Principal components against the data they were made from.

use super::columns::{self, rounding};
use super::covariance::{Covariance, Gather, Passed};
use super::dense::SMALL;
use super::leading::{look_beside, orthogonality, spectrum};
use super::missed::{Left, PROBES, Probes};
use super::pairs::{MeasuredPairs, Wording};
use super::rows::Reader;
use super::{Checks, Sum, Sums, Verification, VerifyOptions, norm, ppca, skip_the_run, warnings};
use crate::data::{AnyDataset, DataShape, Target};
use crate::error::Result;
use crate::linalg::dense::power_of_two;
use crate::model::{PcaModel, PcaParts};
use crate::plan::Route;
use crate::solver::certificate;
use crate::solver::finish::sign_of;
use crate::solver::{Evidence, NoneMissed};
use ndarray::ArrayView1;

/// Checks a model of complete data, or of data that were completed by leaving out or filling in.
pub(in crate::model) fn verify(
    model: &PcaModel,
    data: &AnyDataset,
    _: Option<&Target>,
    options: &VerifyOptions,
) -> Result<Verification> {
    let (parts, needed) = (model.parts(), memory(model, &data.shape()));
    let d = parts.map.components.ncols();
    let (mut checks, reader) = columns::open(&parts.core, d, needed, data, options)?;
    let rows = match &reader {
        Some(reader) if parts.core.plan.route == Route::Em => {
            ppca::fixed_point(&mut checks, parts, None, None, false, reader, options)?
        }
        Some(reader) => body(&mut checks, parts, reader, options)?.rows,
        None => 0,
    };
    skip_the_run(&mut checks);
    Ok(checks.finish(rows, options))
}

/// Bytes that a check takes beyond the data.
pub(in crate::model) fn memory(model: &PcaModel, shape: &DataShape) -> u64 {
    let (k, d) = model.parts().map.components.dim();
    let vectors = (k + PROBES) as u64 * d as u64 * (8 * 4 + Sums::BYTES);
    let matrix = if d <= SMALL { 4 * 8 * (d * d) as u64 } else { 0 };
    vectors + matrix + 12 * 8 * d as u64 + Reader::memory(shape.n_features) + (1 << 16)
}

/// Everything that follows from the covariance of the rows; what a pass over them found.
pub(in crate::model) fn body(
    checks: &mut Checks,
    parts: &PcaParts,
    reader: &Reader,
    options: &VerifyOptions,
) -> Result<Passed> {
    let scaler = &parts.map.scaler;
    // A power of two for each column, as the model has it.
    let exponents = scaler.column_exponents.as_deref();
    let reader = &reader.scaled_by(exponents);
    let covariance = Covariance { reader, scaler };
    let components: Vec<Vec<f64>> =
        parts.map.components.outer_iter().map(|row| row.to_vec()).collect();
    let found = components.get(..parts.map.rank).unwrap_or(&components);
    // 1. One pass: columns, products with the components and with fresh probes.
    let mut probes = Probes::new(options.seed, parts.map.components.ncols());
    let mut vectors = components.clone();
    vectors.extend_from_slice(probes.deflated(found));
    let few =
        !covariance.is_small() && covariance.has_few_samples() && fits(parts, reader, options);
    let gather = Gather { scatter: covariance.is_small(), held: few };
    let mut passed = covariance.pass(&vectors, gather)?;
    let divisor = passed.columns.weight.value() - 1.0;
    let products = passed.along[components.len()..].iter().map(|a| a.product(divisor)).collect();
    probes.applied(products, found);
    // 2. What columns say.
    checks.samples(&parts.core, reader, passed.columns.weight.value());
    checks.scaler(scaler, &passed.columns, parts.center, reader);
    let wording = Wording { value: "explained variance", vector: "component", unit: unit(parts) };
    let variances = variances(parts, &passed);
    check_variances(checks, parts, reader, &variances, &wording);
    // 3. Pairs, and every bound on them.
    let total = Sum::of(variances.iter().copied());
    let mass = if reader.stays_sparse() { uncentered_mass(parts, &passed) } else { total };
    let measured = measure(parts, &passed, &components, mass, divisor);
    measured.check(checks, &wording, options.tolerance);
    check_signs(checks, parts, reader);
    check_rank(checks, parts, &measured, reader);
    // 4. Whether these are the leading ones.
    let spectrum = spectrum(&mut passed, found, divisor);
    if let Some(spectrum) = &spectrum {
        check_places(checks, parts, &spectrum.values, reader, &wording, options.tolerance);
    }
    let left = match &spectrum {
        Some(spectrum) => Left::exactly(spectrum.left, probes.one_pass()),
        None => look_beside(&covariance, probes, found, &parts.values, total)?,
    };
    measured.check_missed(checks, &wording, &left, Some(total), options.tolerance);
    check_next(checks, parts, &left, spectrum.is_none(), &wording, options.tolerance);
    check_ways(checks, parts);
    warnings::check(checks, parts, reader, &passed, &variances);
    Ok(passed)
}

/// Whether the rows of few samples can be held.
fn fits(parts: &PcaParts, reader: &Reader, options: &VerifyOptions) -> bool {
    let (k, d) = parts.map.components.dim();
    let rows = reader.n_samples().unwrap_or(usize::MAX) as u64;
    let needed = rows.saturating_mul(16 * d as u64 + 8 * k as u64 + 32 * SMALL as u64);
    options.memory.is_none_or(|budget| needed <= budget / 4)
}

/// The square of the unit, where that is a number.
pub(super) fn unit(parts: &PcaParts) -> f64 {
    let unit = power_of_two(parts.map.scaler.exponent);
    if (unit * unit).is_normal() { unit * unit } else { 1.0 }
}

/// Variance of each standardised column, about 0 where it is not centred.
fn variances(parts: &PcaParts, passed: &Passed) -> Vec<f64> {
    let columns = &passed.columns;
    let one = |(f, w): (usize, &f64)| {
        let v = if parts.center { columns.variance(f) } else { columns.second_moment(f) };
        v * w * w
    };
    parts.map.scaler.inv_scale.iter().enumerate().map(one).collect()
}

/// What is multiplied where sparse rows are not centred first.
fn uncentered_mass(parts: &PcaParts, passed: &Passed) -> f64 {
    let inv_scale = parts.map.scaler.inv_scale.iter().enumerate();
    Sum::of(inv_scale.map(|(f, w)| passed.columns.second_moment(f) * w * w))
}

fn check_variances(
    checks: &mut Checks,
    parts: &PcaParts,
    reader: &Reader,
    found: &[f64],
    wording: &Wording,
) {
    let rounding = rounding(reader);
    let one = |(claimed, found): (&f64, &f64)| {
        let allowed = rounding * found * wording.unit;
        (claimed * wording.unit, found * wording.unit, allowed)
    };
    let name = |f: usize| format!("variance of feature {}", reader.column_name(f));
    checks.worst(name, parts.column_variances.iter().zip(found).map(one));
    let total = Sum::of(found.iter().copied()) * wording.unit;
    checks.number("total variance", parts.total * wording.unit, total, rounding * total);
}

fn measure<'a>(
    parts: &'a PcaParts,
    passed: &Passed,
    components: &[Vec<f64>],
    mass: f64,
    divisor: f64,
) -> MeasuredPairs<'a> {
    let (k, d) = parts.map.components.dim();
    let top = parts.values.first().copied().unwrap_or(0.0);
    let (mut residuals, mut along, mut slack) = (Vec::new(), Vec::new(), Vec::new());
    for (j, u) in components.iter().enumerate() {
        let value = parts.values[j];
        let product = passed.along[j].product(divisor);
        let rest: Vec<f64> = product.iter().zip(u).map(|(p, u)| p - value * u).collect();
        residuals.push(norm(&rest));
        along.push(passed.along[j].squares() / divisor - value);
        // Every entry of a standardised row is rounded, and every product with a score.
        let size = (value.max(0.0) * mass).sqrt() + (top * mass).sqrt();
        slack.push(4.0 * f64::EPSILON * size);
    }
    MeasuredPairs {
        certificate: &parts.certificate,
        values: &parts.values,
        next: if k < d { Some(parts.next_value.unwrap_or(0.0)) } else { None },
        residuals,
        along,
        slack,
        orthogonality: orthogonality(components),
    }
}

/// The entry of largest modulus is positive; of entries that tie the first.
fn check_signs(checks: &mut Checks, parts: &PcaParts, reader: &Reader) {
    let tie = reader.sign_tie();
    for (j, row) in parts.map.components.outer_iter().enumerate() {
        // What ties to within the rule's own width may be decided either way.
        let sure = sure_sign(row, tie);
        let found = if sure == Some(-1.0) { "negative" } else { "positive" };
        let claim = format!("sign of component {}: its largest entry is", j + 1);
        checks.other(claim, "positive", found, sure != Some(-1.0));
    }
}

/// The sign that the rule gives, where a little more or less of a tie does not change it.
fn sure_sign(row: ArrayView1<f64>, tie: f64) -> Option<f64> {
    let (narrow, wide) = (sign_of(row, 0.0), sign_of(row, tie * 1.5));
    (narrow == wide).then_some(wide)
}

fn check_rank(checks: &mut Checks, parts: &PcaParts, measured: &MeasuredPairs, reader: &Reader) {
    let top = parts.values.first().copied().unwrap_or(0.0);
    let limit = rounding(reader) * top;
    let carrying = |j: &usize| *j < parts.map.rank || measured.along[*j] > limit;
    let found = (0..parts.values.len()).filter(carrying).count();
    checks.number("components that carry variance", parts.map.rank as f64, found as f64, 0.0);
    let claimed = parts.certificate.rank as f64;
    checks.number("components that carry variance, as certified", claimed, found as f64, 0.0);
}

/// The j-th component has the j-th largest of all variances; what the model says of the others.
fn check_places(
    checks: &mut Checks,
    parts: &PcaParts,
    all: &[f64],
    reader: &Reader,
    wording: &Wording,
    tolerance: f64,
) {
    let top = parts.values.first().copied().unwrap_or(0.0);
    let counted = 1e-12 * top + 64.0 * f64::EPSILON * all.first().copied().unwrap_or(0.0);
    for (j, &value) in parts.values.iter().enumerate().take(parts.map.rank) {
        let allowed = parts.certificate.value_errors[j].min(tolerance) * top + counted;
        let found = all.get(j).copied().unwrap_or(0.0);
        let claim = format!("variance number {} of all", j + 1);
        checks.number(claim, value * wording.unit, found * wording.unit, allowed * wording.unit);
    }
    if let Some(spectrum) = &parts.spectrum {
        let allowed = (rounding(reader) * top + counted) * wording.unit;
        let one = |(j, v): (usize, &f64)| {
            let found = all.get(j).copied().unwrap_or(0.0).max(0.0);
            (v.max(0.0) * wording.unit, found * wording.unit, allowed)
        };
        let name = |j: usize| format!("variance number {} of the spectrum", j + 1);
        checks.worst(name, spectrum.iter().enumerate().map(one));
    }
}

/// The first value left out, and a spectrum that cannot be made here.
fn check_next(
    checks: &mut Checks,
    parts: &PcaParts,
    left: &Left,
    by_probes: bool,
    wording: &Wording,
    tolerance: f64,
) {
    let (k, d) = parts.map.components.dim();
    let top = parts.values.first().copied().unwrap_or(0.0);
    let allowed = tolerance * top;
    if let Some(next) = parts.next_value.filter(|_| k < d && parts.map.rank == k) {
        let claim = "first variance left out";
        if by_probes {
            let holds = next >= left.at_least - allowed && next <= left.at_most + allowed;
            let (low, high) = (left.at_least * wording.unit, left.at_most * wording.unit);
            let words = format!("between {low:e} and {high:e}");
            checks.other(claim, next * wording.unit, words, holds);
        } else {
            let (claimed, found) = (next * wording.unit, left.at_least * wording.unit);
            checks.number(claim, claimed, found, allowed * wording.unit);
        }
    }
    if let Some(spectrum) = parts.spectrum.as_ref().filter(|_| by_probes) {
        let sum = Sum::of(spectrum.iter().map(|v| v.max(0.0))) * wording.unit;
        let total = parts.total * wording.unit;
        checks.number("sum of the spectrum", sum, total, 1e-9 * total + tolerance * top);
        let head = |(j, value): (usize, &f64)| (spectrum.get(j).copied().unwrap_or(0.0), *value);
        let head = parts.values.iter().enumerate().map(head).map(|(a, b)| (a, b, allowed));
        checks.worst(|j| format!("variance number {} of the spectrum", j + 1), head);
        let reason = "the matrix is too large to be made once more";
        checks.skip("each of the variances after the first one left out", reason);
    }
}

/// What a certificate says of how it was made must fit what the model holds.
fn check_ways(checks: &mut Checks, parts: &PcaParts) {
    let route = parts.core.plan.route;
    let claim = "that nothing was missed";
    match parts.certificate.none_missed {
        NoneMissed::Complete => {
            let holds = parts.spectrum.is_some();
            let found = if holds { "all are stored" } else { "not all are stored" };
            checks.other(claim, "all variances were computed", found, holds);
        }
        NoneMissed::Inertia => {
            let holds = matches!(route, Route::Covariance | Route::Given);
            checks.other(claim, "by inertia of a matrix", format!("the {route} route"), holds);
        }
        _ => {}
    }
    let fits = match parts.certificate.evidence {
        Evidence::Data | Evidence::Probes { .. } => true,
        Evidence::Matrix => route == Route::Given,
        Evidence::Expected => route == Route::Em,
        Evidence::Operator => false,
    };
    let claim = "what residuals were measured against";
    let claimed = match parts.certificate.evidence {
        Evidence::Data => "the data",
        Evidence::Probes { .. } => "the data, by random probes",
        Evidence::Matrix => "a matrix that was given",
        Evidence::Expected => "the expected covariance",
        Evidence::Operator => "an operator",
    };
    let found = if fits { claimed.to_string() } else { format!("the {route} route") };
    checks.other(claim, claimed, found, fits);
    check_one_by_one(checks, parts);
}

/// Residuals of few components are measured one by one. Many are left to random probes, unless what those can say is
/// not good enough.
fn check_one_by_one(checks: &mut Checks, parts: &PcaParts) {
    let (k, d) = parts.map.components.dim();
    let kept = k + usize::from(parts.next_value.is_some());
    let claim = "whether residuals were measured one by one";
    let probed = certificate::leaves_to_probes(k, kept, d);
    match parts.certificate.evidence {
        Evidence::Probes { .. } => checks.other(claim, "by random probes", words(probed), probed),
        Evidence::Data if probed => {
            // Probes see all residuals at once, and allow for five times as much.
            let sees = 100.0 * (kept as f64).sqrt() * parts.certificate.relative_residual();
            // Whoever iterates may have to measure them all: only a matrix that was decomposed never does.
            let decomposed = match parts.core.plan.route {
                Route::Covariance => true,
                Route::Dual => parts.spectrum.is_some(),
                _ => false,
            };
            match decomposed {
                true if sees < parts.tolerance => {
                    checks.other(claim, "one by one", words(true), false);
                }
                true => checks.other(claim, "one by one", words(false), true),
                false => checks.skip(claim, "data do not show what an iteration knew of them"),
            }
        }
        _ => {}
    }
}

fn words(probed: bool) -> &'static str {
    if probed { "so many are left to random probes" } else { "one by one" }
}
