//! The iteration: expectation, maximisation, and an end.

use super::accelerate::extrapolate;
use super::chunk::map_chunks;
use super::expectation::{Expected, expect};
use super::maximization::{FactorGaussian, Prior};
use super::pieces::Rows;
use crate::error::{Error, Result};
use crate::linalg::dense::thin_svd;
use crate::linalg::small::{cholesky, packed_len};
use crate::linalg::{cancel, random};
use crate::passes::{RowGrid, Scaler};
use crate::scalar::Scalar;
use ndarray::{Array1, Array2};
use std::ops::ControlFlow;

/// How to iterate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Em {
    /// Relative change of the parameters in one step below which the iteration has arrived.
    pub tolerance: f64,
    pub max_iterations: usize,
    /// Whether steps are expanded and extrapolated; without, they are the textbook's.
    pub accelerate: bool,
    /// The least noise variance.
    pub noise_floor: f64,
    /// Bytes that may be kept from pass to pass.
    pub room: u64,
}

/// One step of expectation maximisation, for whoever watches.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Steps made.
    pub iteration: usize,
    /// Log-likelihood of the observed entries (for Bayesian PCA: the lower bound of the evidence).
    pub log_likelihood: f64,
    /// Relative change of the parameters.
    pub change: f64,
}

/// The samples that a part of k latent dimensions must have to be taken seriously: five for each
/// point that spans its plane.
pub(crate) fn least_samples(k: usize) -> f64 {
    5.0 * (k as f64 + 1.0)
}

/// Told of every step; it may stop the iteration.
pub(crate) type Observer<'o> = dyn FnMut(&Progress) -> ControlFlow<()> + Send + 'o;

/// What the iteration arrived at.
#[derive(Clone, Debug)]
pub(crate) struct Estimate {
    pub parts: Vec<FactorGaussian>,
    /// Log-likelihood (or bound) at every accepted state; it never falls.
    pub trace: Vec<f64>,
    pub iterations: usize,
    pub change: f64,
    pub converged: bool,
}

impl Estimate {
    /// Whether every part has samples enough for its parameters.
    pub fn is_supported(&self, n: f64) -> bool {
        self.parts.iter().all(|p| p.share * n >= least_samples(p.k()))
    }

    pub fn log_likelihood(&self) -> f64 {
        self.trace.last().copied().unwrap_or(f64::NEG_INFINITY)
    }
}

/// Fits one Gaussian of k latent dimensions, from a start that depends on the seed only.
#[expect(clippy::too_many_arguments)]
pub(crate) fn fit<T: Scalar>(
    grid: &RowGrid<T>,
    scaler: &Scaler,
    variances: &[f64],
    k: usize,
    bayesian: bool,
    em: &Em,
    seed: u64,
    observer: &mut Observer,
) -> Result<Estimate> {
    let rows = Rows::new(grid, scaler, k, em.room);
    let likeliest = iterate(&rows, vec![start(variances, k, seed)], em, observer)?;
    if !bayesian {
        return Ok(likeliest);
    }
    // From anywhere else the prior would switch off what is weak beside the noise of the start, and
    // nothing that is off comes back.
    let begin = likeliest.parts.iter().map(|part| with_prior(part, grid)).collect::<Result<_>>()?;
    let mut found = iterate(&rows, begin, em, observer)?;
    found.iterations += likeliest.iterations;
    prune(&rows, found, em, observer)
}

/// The same Gaussian along its principal axes, with the prior that suits it best.
fn with_prior<T: Scalar>(part: &FactorGaussian, grid: &RowGrid<T>) -> Result<FactorGaussian> {
    let (d, k) = part.w.dim();
    let svd = thin_svd(part.w.view())?;
    let w = &svd.u * &Array1::from_vec(svd.s.clone());
    let n = grid.counts().map_or(grid.n_rows().unwrap_or(2) as f64, |c| c.iter().sum());
    let alpha = svd.s.iter().map(|s| d as f64 / (s * s).max(f64::MIN_POSITIVE)).collect();
    let spread = Array2::from_shape_fn((d, packed_len(k)), |(_, p)| {
        let on_diagonal = (0..k).any(|j| packed_len(j) + j == p);
        if on_diagonal { part.noise / n } else { 0.0 }
    });
    Ok(FactorGaussian { w, prior: Some(Prior { alpha, spread }), ..part.clone() })
}

/// Leaves out the weakest direction as long as the bound of the evidence is no lower without it: the
/// prior switches directions off only slowly.
fn prune<T: Scalar>(
    rows: &Rows<T>,
    mut found: Estimate,
    em: &Em,
    observer: &mut Observer,
) -> Result<Estimate> {
    while let Some(less) = found.parts.first().and_then(FactorGaussian::without_weakest) {
        let tried = iterate(rows, vec![less], em, observer)?;
        found.iterations += tried.iterations;
        if tried.log_likelihood() < found.log_likelihood() {
            break;
        }
        found.trace.push(tried.log_likelihood());
        (found.parts, found.change, found.converged) = (tried.parts, tried.change, tried.converged);
    }
    Ok(found)
}

/// Fits a mixture of `parts` Gaussians from the best of several starts.
#[expect(clippy::too_many_arguments)]
pub(crate) fn fit_mixture<T: Scalar>(
    grid: &RowGrid<T>,
    scaler: &Scaler,
    variances: &[f64],
    k: usize,
    parts: usize,
    starts: usize,
    em: &Em,
    seed: u64,
    observer: &mut Observer,
) -> Result<Estimate> {
    const SHORT: usize = 12;
    let rows = Rows::new(grid, scaler, k, em.room);
    let samples = sample_rows(grid, scaler)?;
    let n = grid.counts().map_or(grid.n_rows().unwrap_or(0) as f64, |c| c.iter().sum());
    let mut quiet = |_: &Progress| ControlFlow::Continue(());
    // One Gaussian for all: its directions and noise are where the parts begin.
    let short = Em { max_iterations: SHORT, ..*em };
    let whole = start(variances, k, seed);
    let whole = iterate(&rows, vec![whole], &short, &mut quiet)?;
    let mut best: Option<Estimate> = None;
    for attempt in 0..starts.max(1) {
        let begin = mixture_start(&whole.parts, &samples, parts, seed, attempt as u64);
        let found = iterate(&rows, begin, &short, &mut quiet)?;
        // A part on a handful of samples is likely for the wrong reason.
        let better = |b: &Estimate| {
            let (mine, its) = (found.is_supported(n), b.is_supported(n));
            (mine && !its) || (mine == its && found.log_likelihood() > b.log_likelihood())
        };
        if best.as_ref().is_none_or(better) {
            best = Some(found);
        }
    }
    let begin = best.ok_or_else(|| Error::Internal("no start of a mixture".into()))?;
    let mut found = iterate(&rows, begin.parts.clone(), em, observer)?;
    found.iterations += begin.iterations;
    // The same state looked at twice may differ in its last bits.
    let reached = begin.trace.last().copied().unwrap_or(f64::NEG_INFINITY);
    found.trace.iter_mut().for_each(|l| *l = l.max(reached));
    found.trace.splice(0..0, begin.trace);
    Ok(found)
}

/// Iterates from these parameters.
fn iterate<T: Scalar>(
    rows: &Rows<T>,
    begin: Vec<FactorGaussian>,
    em: &Em,
    observer: &mut Observer,
) -> Result<Estimate> {
    let simple = begin.len() == 1 && begin.iter().all(|p| p.prior.is_none());
    let mut parts = begin;
    let mut expected = expect(rows, &parts)?;
    let mut found = Estimate {
        trace: vec![bound(&expected, &parts)],
        parts: Vec::new(),
        iterations: 0,
        change: f64::INFINITY,
        converged: false,
    };
    // States since the last extrapolation, and how far one may reach.
    let mut history: Vec<FactorGaussian> = Vec::new();
    let mut most = 4.0;
    while found.iterations < em.max_iterations && !found.converged {
        cancel::check()?;
        let next = step(&parts, &expected, em)?;
        let change = parts.iter().zip(&next).map(|(a, b)| a.distance(b)).fold(0.0, f64::max);
        (found.change, found.converged) = (change, change <= em.tolerance);
        found.iterations += 1;
        if em.accelerate && simple && !found.converged {
            history.push(parts[0].clone());
            if let [first, second] = &history[..] {
                let jump = extrapolate(first, second, &next[0], most);
                history.clear();
                if let Some((part, length)) = jump {
                    let part = FactorGaussian { noise: part.noise.max(em.noise_floor), ..part };
                    let jumped = vec![part];
                    let there = expect(rows, &jumped)?;
                    if there.log_likelihood.is_finite()
                        && there.log_likelihood >= expected.log_likelihood
                    {
                        most = if length >= most { 4.0 * most } else { most };
                        (parts, expected) = (jumped, there);
                        if report(&mut found, &expected, &parts, observer).is_break() {
                            break;
                        }
                        continue;
                    }
                    most = (most / 4.0).max(1.0);
                }
            }
        }
        parts = next;
        expected = expect(rows, &parts)?;
        if report(&mut found, &expected, &parts, observer).is_break() {
            break;
        }
    }
    found.parts = parts;
    if !found.log_likelihood().is_finite() {
        return Err(Error::Internal("expectation maximisation left the range of numbers".into()));
    }
    Ok(found)
}

fn step(parts: &[FactorGaussian], expected: &Expected, em: &Em) -> Result<Vec<FactorGaussian>> {
    let total: f64 = expected.sums.iter().map(|s| s.weight()).sum();
    let one = |(part, sums): (&FactorGaussian, _)| {
        let mut next = part.maximize(sums, em.noise_floor);
        if em.accelerate || next.prior.is_some() {
            next.expand(sums)?;
        }
        // A part that nothing belongs to stays where it is, with next to no share.
        next.share = (sums.weight() / total).max(f64::MIN_POSITIVE);
        Ok(next)
    };
    parts.iter().zip(&expected.sums).map(one).collect()
}

/// Writes a state down; a fall within rounding counts as none.
fn report(
    found: &mut Estimate,
    expected: &Expected,
    parts: &[FactorGaussian],
    observer: &mut Observer,
) -> ControlFlow<()> {
    let log_likelihood = bound(expected, parts).max(found.log_likelihood());
    found.trace.push(log_likelihood);
    observer(&Progress { iteration: found.iterations, log_likelihood, change: found.change })
}

/// The log-likelihood, less what the posterior of W costs where it has a prior: Σ_f KL(q ‖ prior).
fn bound(expected: &Expected, parts: &[FactorGaussian]) -> f64 {
    let mut value = expected.log_likelihood;
    for (part, prior) in parts.iter().filter_map(|p| Some((p, p.prior.as_ref()?))) {
        let k = part.k();
        let logs: f64 = prior.alpha.iter().map(|a| a.ln()).sum();
        for f in 0..part.d() {
            let mut spread = prior.spread.row(f).to_vec();
            let energy: f64 = (0..k)
                .map(|j| prior.alpha[j] * (part.w[[f, j]].powi(2) + spread[packed_len(j) + j]))
                .sum();
            let log_determinant = cholesky(&mut spread, k).unwrap_or(-logs);
            value -= 0.5 * (energy - logs - log_determinant - k as f64);
        }
    }
    value
}

/// Random directions of the size of the data.
fn start(variances: &[f64], k: usize, seed: u64) -> FactorGaussian {
    let d = variances.len();
    let varying = variances.iter().filter(|v| **v > 0.0).count().max(1);
    let mean = variances.iter().sum::<f64>() / varying as f64;
    let mut rng = random::stream(seed, 5);
    let mut w = random::normal_matrix(&mut rng, d, k);
    for (mut row, v) in w.rows_mut().into_iter().zip(variances) {
        row *= (0.5 * v / k.max(1) as f64).sqrt();
    }
    let noise = if mean > 0.0 { 0.5 * mean } else { 1.0 };
    FactorGaussian { w, mean: Array1::zeros(d), noise, share: 1.0, prior: None }
}

/// Evenly spaced rows, standardised, with zeros in their missing entries.
fn sample_rows<T: Scalar>(grid: &RowGrid<T>, scaler: &Scaler) -> Result<Array2<f64>> {
    const MOST: usize = 2048;
    let d = grid.data.n_features();
    let step = grid.n_rows().unwrap_or(1).div_ceil(MOST).max(1);
    let mut rows = Vec::new();
    map_chunks(
        grid,
        scaler,
        |chunk| {
            let wanted =
                (0..chunk.rows).filter(|i| (chunk.first + i) % step == 0 && chunk.counts[*i] > 0.0);
            Ok(wanted.flat_map(|i| chunk.row(i).to_vec()).collect::<Vec<f64>>())
        },
        |found| {
            rows.extend(found);
            Ok(())
        },
    )?;
    Array2::from_shape_vec((rows.len() / d.max(1), d), rows)
        .map_err(|e| Error::Internal(e.to_string()))
}

/// Parts at rows far from each other (Arthur & Vassilvitskii 2007), with the directions of the whole.
fn mixture_start(
    whole: &[FactorGaussian],
    rows: &Array2<f64>,
    parts: usize,
    seed: u64,
    attempt: u64,
) -> Vec<FactorGaussian> {
    let mut rng = random::stream(seed, 100 + attempt);
    let n = rows.nrows();
    let mut nearest = vec![1.0; n];
    let mut begin = Vec::new();
    for chosen in 0..parts {
        let total: f64 = nearest.iter().sum();
        let mut left = random::uniform(&mut rng) * total;
        let at = nearest.iter().position(|v| {
            left -= v;
            left <= 0.0
        });
        let center = rows.row(at.unwrap_or(n - 1));
        for (best, row) in nearest.iter_mut().zip(rows.rows()) {
            let distance = row.iter().zip(center).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            *best = if chosen == 0 { distance } else { distance.min(*best) };
        }
        if let Some(whole) = whole.first() {
            let part = whole.clone();
            begin.push(FactorGaussian {
                mean: center.to_owned(),
                share: 1.0 / parts as f64,
                ..part
            });
        }
    }
    begin
}
