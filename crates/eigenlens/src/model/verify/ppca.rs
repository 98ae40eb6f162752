//! Probabilistic PCA and its kin: the closed form by the covariance, iterations by their fixed point.

use super::columns::{self, rounding};
use super::gaussian::{Factor, Likelihood, expected_covariance};
use super::leading::orthogonality;
use super::missed::{Left, PROBES, Probes};
use super::pairs::{MeasuredPairs, Wording};
use super::rows::Reader;
use super::{Checks, Verification, VerifyOptions, dot, norm, pca, skip_the_run};
use crate::data::{AnyDataset, DataShape, Missing, Target};
use crate::error::{Result, Warning};
use crate::linalg::dense::power_of_two;
use crate::model::ppca::EmRecord;
use crate::model::{PcaParts, PpcaMixtureModel, PpcaModel};
use crate::passes::Scaler;

/// Checks a probabilistic or Bayesian PCA.
pub(in crate::model) fn verify(
    model: &PpcaModel,
    data: &AnyDataset,
    _: Option<&Target>,
    options: &VerifyOptions,
) -> Result<Verification> {
    let (parts, needed) = (model.body.parts(), memory(model, &data.shape()));
    let d = parts.map.components.ncols();
    let (mut checks, reader) = columns::open(&parts.core, d, needed, data, options)?;
    let rows = match (&reader, &model.em) {
        (None, _) => 0,
        (Some(reader), None) => {
            let passed = pca::body(&mut checks, parts, reader, options)?;
            check_closed_form(&mut checks, model, passed.columns.weight.value(), reader);
            passed.rows
        }
        (Some(reader), Some(em)) => {
            let bayesian = model.relevance.is_some();
            let noise = Some(model.noise);
            let rows = fixed_point(&mut checks, parts, noise, Some(em), bayesian, reader, options)?;
            check_iterated(&mut checks, model, reader)?;
            rows
        }
    };
    skip_the_run(&mut checks);
    Ok(checks.finish(rows, options))
}

/// Bytes that a check takes beyond the data.
pub(in crate::model) fn memory(model: &PpcaModel, shape: &DataShape) -> u64 {
    let (k, d) = (model.n_components() as u64, model.n_features() as u64);
    pca::memory(&model.body, shape) + 8 * d * (k + 2) * (k + 2)
}

/// σ² is the mean of what the components leave, divisor n; the likelihood is that at its maximum.
fn check_closed_form(checks: &mut Checks, model: &PpcaModel, n: f64, reader: &Reader) {
    let parts = model.body.parts();
    let varying = parts.map.scaler.inv_scale.iter().filter(|w| **w > 0.0).count();
    let left = varying.saturating_sub(parts.values.len()) as f64;
    let rest = super::missed::rest_of_trace(parts.total, &parts.values).max(0.0);
    let unit = pca::unit(parts);
    let found = if left > 0.0 { rest / left * ((n - 1.0) / n) } else { 0.0 };
    let allowed = rounding(reader) * parts.total / left.max(1.0) + 1e-12 * found;
    checks.number("noise variance", model.noise * unit, found * unit, allowed * unit);
    let Some(claimed) = model.log_likelihood else { return };
    // −n/2 (d ln 2π + Σ ln λ + (d − k) ln σ² + d), in the units of the data (Tipping & Bishop 1999).
    let scaler = &parts.map.scaler;
    let inside: f64 = parts.values.iter().map(|v| (v * ((n - 1.0) / n)).ln()).sum();
    let outside = if left > 0.0 { left * model.noise.ln() } else { 0.0 };
    let d = varying as f64;
    let constant = d * std::f64::consts::TAU.ln() + d;
    let found = n * (jacobian(scaler) - 0.5 * (constant + inside + outside));
    checks.number("log-likelihood", claimed, found, 1e-9 * (found.abs() + n * d));
}

/// Of one complete row.
fn jacobian(scaler: &Scaler) -> f64 {
    let one = |f: usize| {
        let exponent = scaler.column_exponents.as_ref().map_or(0, |e| e[f]);
        (scaler.inv_scale[f] * power_of_two(-exponent)).ln()
    };
    (0..scaler.inv_scale.len()).filter(|&f| scaler.inv_scale[f] > 0.0).map(one).sum()
}

/// What an iterated model says beyond its fixed point.
fn check_iterated(checks: &mut Checks, model: &PpcaModel, reader: &Reader) -> Result<()> {
    let parts = model.body.parts();
    let reader = &reader.scaled_by(parts.map.scaler.column_exponents.as_deref());
    if let Some(relevance) = &model.relevance {
        // α of a column of W is d over its squared length (Bishop 1999).
        let n = parts.core.n_samples.unwrap_or(f64::NAN);
        let d = parts.map.components.ncols() as f64;
        let one = |(claimed, value): (&f64, &f64)| {
            let found = d / (value * ((n - 1.0) / n) - model.noise).max(f64::MIN_POSITIVE);
            (*claimed, found, 1e-6 * found)
        };
        checks.worst(
            |j| format!("relevance of component {}", j + 1),
            relevance.iter().zip(&parts.values).map(one),
        );
        checks.skip("the bound of the evidence", "the spread of W it is made of is not stored");
    }
    let Some(claimed) = model.log_likelihood else { return Ok(()) };
    let Some(factor) = factor(parts, model.noise) else { return Ok(()) };
    let found = Likelihood::of(reader, &parts.map.scaler, &[factor])?;
    let size = found.log_likelihood.abs() + found.weight * parts.map.components.ncols() as f64;
    let allowed = 100.0 * rounding(reader) * size;
    checks.number("log-likelihood", claimed, found.log_likelihood, allowed);
    if let (Some(em), None) = (&model.em, &model.relevance) {
        check_trace(checks, em, found.log_likelihood - found.jacobian, allowed);
    }
    Ok(())
}

fn check_trace(checks: &mut Checks, em: &EmRecord, found: f64, allowed: f64) {
    let last = em.trace.last().copied().unwrap_or(f64::NAN);
    checks.number("last log-likelihood of the iteration", last, found, allowed);
}

/// The Gaussian of principal axes with variances of the divisor n − 1 and noise of n.
fn factor(parts: &PcaParts, noise: f64) -> Option<Factor> {
    let n = parts.core.n_samples?;
    let strength = |v: &f64| (v * ((n - 1.0) / n) - noise).max(0.0).sqrt();
    let strengths: Vec<f64> = parts.values.iter().map(strength).collect();
    let columns = parts.map.components.columns().into_iter();
    let row = |column: ndarray::ArrayView1<f64>| {
        column.iter().zip(&strengths).map(|(u, s)| u * s).collect()
    };
    let d = parts.map.components.ncols();
    let w: Vec<Vec<f64>> = columns.map(row).collect();
    (noise > 0.0).then(|| Factor { w, mean: vec![0.0; d], noise, share: 1.0 })
}

/// Components that were found by expectation maximisation: pairs of the covariance expected given what is observed.
/// `noise` is σ² where the model stores it.
pub(super) fn fixed_point(
    checks: &mut Checks,
    parts: &PcaParts,
    noise: Option<f64>,
    em: Option<&EmRecord>,
    bayesian: bool,
    reader: &Reader,
    options: &VerifyOptions,
) -> Result<usize> {
    let scaler = &parts.map.scaler;
    let reader = &reader.scaled_by(scaler.column_exponents.as_deref());
    let n = parts.core.n_samples.unwrap_or(f64::NAN);
    let ml = (n - 1.0) / n;
    let varying = scaler.inv_scale.iter().filter(|w| **w > 0.0).count();
    let last = parts.values.last().copied().unwrap_or(0.0);
    let noise = noise.unwrap_or(parts.next_value.unwrap_or(last) * ml);
    let unit = pca::unit(parts);
    check_consistent(checks, parts, noise / ml, varying, unit);
    let Some(factor) = factor(parts, noise) else {
        checks.skip("the fixed point of the iteration", "the model has no noise");
        return Ok(0);
    };
    // 1. One more step would change nothing.
    let found = Likelihood::of(reader, scaler, std::slice::from_ref(&factor))?;
    checks.samples(&parts.core, reader, found.weight);
    let converged = em.map_or(parts.convergence.converged, |em| em.converged);
    if !bayesian {
        check_step(checks, found.step, converged, options.tolerance);
    }
    // 2. Components are pairs of the expected covariance.
    let components: Vec<Vec<f64>> =
        parts.map.components.outer_iter().map(|row| row.to_vec()).collect();
    let mut probes = Probes::new(options.seed, components.first().map_or(0, Vec::len));
    let mut vectors = components.clone();
    vectors.extend_from_slice(probes.deflated(&components));
    let mut products = expected_covariance(reader, scaler, &factor, &vectors)?;
    probes.applied(products.split_off(components.len()), &components);
    let values: Vec<f64> = parts.values.iter().map(|v| v * ml).collect();
    let top = values.first().copied().unwrap_or(0.0);
    let next = (components.len() < varying).then_some(noise);
    let measured = measure(parts, &values, next, &products, &components, rounding(reader) * top);
    let wording = Wording { value: "explained variance", vector: "component", unit: unit / ml };
    // A prior pulls components off the fixed point of the likelihood: its residual is no failure.
    let tolerance = if bayesian { f64::INFINITY } else { options.tolerance };
    measured.check(checks, &wording, tolerance);
    let again = expected_covariance(reader, scaler, &factor, probes.vectors())?;
    let left = probes.conclude(&again);
    if !bayesian {
        let left = Left { at_most: f64::INFINITY, ..left };
        measured.check_missed(checks, &wording, &left, None, options.tolerance);
    }
    checks.skip("the mean and scale of features as such", "the fixed point is what they must fit");
    check_warnings(checks, parts, em, converged);
    Ok(found.rows)
}

fn measure<'a>(
    parts: &'a PcaParts,
    values: &'a [f64],
    next: Option<f64>,
    products: &[Vec<f64>],
    components: &[Vec<f64>],
    slack: f64,
) -> MeasuredPairs<'a> {
    let rest = |(j, u): (usize, &Vec<f64>)| {
        let rest = products[j].iter().zip(u).map(|(p, u)| p - values[j] * u);
        norm(&rest.collect::<Vec<f64>>())
    };
    let along = |(j, u): (usize, &Vec<f64>)| dot(&products[j], u) - values[j];
    MeasuredPairs {
        certificate: &parts.certificate,
        values,
        next,
        residuals: components.iter().enumerate().map(rest).collect(),
        along: components.iter().enumerate().map(along).collect(),
        slack: vec![slack; components.len()],
        orthogonality: orthogonality(components),
    }
}

/// What follows from variances and noise: the total, each feature's variance, the first left out.
fn check_consistent(checks: &mut Checks, parts: &PcaParts, noise: f64, varying: usize, unit: f64) {
    let excess: f64 = parts.values.iter().map(|v| v - noise).sum();
    let total = excess + varying as f64 * noise;
    checks.number("total variance", parts.total * unit, total * unit, 1e-9 * total * unit);
    let one = |f: usize| {
        let along = parts.map.components.column(f);
        let along = along.iter().zip(&parts.values).map(|(u, v)| u * u * (v - noise).max(0.0));
        let found =
            if parts.map.scaler.inv_scale[f] > 0.0 { along.sum::<f64>() + noise } else { 0.0 };
        (parts.column_variances[f] * unit, found * unit, 1e-9 * total * unit)
    };
    let d = parts.map.components.ncols();
    checks.worst(|f| format!("variance of feature {}", f + 1), (0..d).map(one));
    if let Some(next) = parts.next_value {
        let claim = "first variance left out";
        checks.number(claim, next * unit, noise * unit, 1e-9 * total * unit);
    }
}

fn check_step(checks: &mut Checks, step: f64, converged: bool, tolerance: f64) {
    let claim = "that the iteration has arrived: one more step changes";
    match converged {
        true => checks.other(claim, format!("at most {tolerance:e}"), step, step <= tolerance),
        false => checks.skip(claim, "the model says itself that it has not"),
    }
}

fn check_warnings(checks: &mut Checks, parts: &PcaParts, em: Option<&EmRecord>, converged: bool) {
    let said = |is: fn(&Warning) -> bool| parts.core.warnings.iter().any(is);
    let stopped = said(|w| matches!(w, Warning::EmNotConverged { .. }));
    checks.other(
        "warning of an iteration that has not arrived",
        stopped,
        !converged,
        stopped != converged,
    );
    let empty = parts.core.missing.as_ref().is_some_and(|r| r.empty_rows > 0);
    let warned = said(|w| matches!(w, Warning::EmptyRows { .. }));
    let by_em = parts.core.missing.as_ref().is_some_and(|r| r.policy == Missing::Em);
    if by_em {
        checks.other("warning of samples with nothing observed", warned, empty, warned == empty);
    }
    if em.is_some() {
        checks.skip("steps of the iteration before the last", "only its end is stored whole");
    }
}

/// Checks a mixture: its likelihood, and that one more step would change nothing.
pub(in crate::model) fn verify_mixture(
    model: &PpcaMixtureModel,
    data: &AnyDataset,
    _: Option<&Target>,
    options: &VerifyOptions,
) -> Result<Verification> {
    let (d, needed) = (model.n_features(), mixture_memory(model, &data.shape()));
    let (mut checks, reader) = columns::open(&model.core, d, needed, data, options)?;
    let rows = match reader {
        None => 0,
        Some(reader) => {
            let reader = reader.scaled_by(model.scaler.column_exponents.as_deref());
            check_mixture(&mut checks, model, &reader, options.tolerance)?
        }
    };
    skip_the_run(&mut checks);
    checks.skip("that no other mixture is likelier", "likelihoods have many maxima");
    Ok(checks.finish(rows, options))
}

fn check_mixture(
    checks: &mut Checks,
    model: &PpcaMixtureModel,
    reader: &Reader,
    tolerance: f64,
) -> Result<usize> {
    let parts: Vec<Factor> = model
        .parts
        .iter()
        .map(|part| Factor {
            w: part.w.outer_iter().map(|row| row.to_vec()).collect(),
            mean: part.mean.to_vec(),
            noise: part.noise,
            share: part.share,
        })
        .collect();
    let found = Likelihood::of(reader, &model.scaler, &parts)?;
    checks.samples(&model.core, reader, found.weight);
    let size = found.log_likelihood.abs() + found.weight * model.n_features() as f64;
    let allowed = 100.0 * rounding(reader) * size;
    checks.number("log-likelihood", model.log_likelihood, found.log_likelihood, allowed);
    check_trace(checks, &model.em, found.log_likelihood - found.jacobian, allowed);
    let share = |(part, found): (&Factor, &f64)| (part.share, *found, 100.0 * tolerance);
    let name = |c: usize| format!("share of part {}", c + 1);
    checks.worst(name, parts.iter().zip(&found.shares).map(share));
    // A part that is held at the least noise there may be is not stationary in it.
    let held = |w: &Warning| matches!(w, Warning::NoiseVanishes { .. });
    let held = model.core.warnings.iter().any(held);
    check_step(checks, found.step, model.em.converged && !held, 100.0 * tolerance);
    let stopped = model.core.warnings.iter().any(|w| matches!(w, Warning::EmNotConverged { .. }));
    let due = !model.em.converged;
    checks.other("warning of an iteration that has not arrived", stopped, due, stopped == due);
    Ok(found.rows)
}

pub(in crate::model) fn mixture_memory(model: &PpcaMixtureModel, shape: &DataShape) -> u64 {
    let (k, d) = (model.latent_dimension() as u64, model.n_features() as u64);
    let sums = model.n_parts() as u64 * d * 8 * (k + 2) * (k + 2);
    sums + Reader::memory(shape.n_features) + 64 * d * PROBES as u64 + (1 << 16)
}
