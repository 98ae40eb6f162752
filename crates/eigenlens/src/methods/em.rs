//! The fit to data with missing entries that PCA and probabilistic PCA share: expectation maximisation, and
//! its result dressed as a PCA.

use super::fit::Fit;
use crate::data::{DataShape, Dataset, Missing, MissingReport, check_rate};
use crate::em::{
    Em, Estimate, FactorGaussian, Latent, Memory, Observer, expected_covariance_times, fit,
    log_likelihood, memory,
};
use crate::error::{Error, Hint, Result, Warning};
use crate::linalg::dense::{power_of_two, thin_svd};
use crate::linalg::{pool, random};
use crate::model::ModelCore;
use crate::model::ppca::EmRecord;
use crate::model::{LinearMap, PcaModel, PcaParts};
use crate::n_components::{Head, LeadingPairs, Rule, Spectrum, resolve};
use crate::passes::{Observed, RowGrid, Scaler, two_sum};
use crate::plan::{Candidate, Demand, Plan, Route, cheapest, most_within, too_many};
use crate::scalar::Scalar;
use crate::solver::certificate::{self, Certificate, Evidence, Measured, PROBES, Rounding};
use crate::solver::{Convergence, finish};
use ndarray::{Array1, Array2, Axis, s};

/// What is asked of expectation maximisation beside what every fit is asked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EmOptions {
    /// Iterate also where there are no missing entries.
    pub always: bool,
    /// With a prior that switches directions off.
    pub bayesian: bool,
    /// The textbook's steps, one by one.
    pub plain: bool,
}

/// A fit by expectation maximisation.
pub(super) struct EmFit {
    pub body: PcaModel,
    /// σ² in units of 2^(2·exponent).
    pub noise: f64,
    /// Of the observed entries, in the units of the data; `None` without any variance.
    pub log_likelihood: Option<f64>,
    pub record: EmRecord,
    /// α of the components kept.
    pub relevance: Option<Vec<f64>>,
}

/// Noise below this share of the mean variance counts as none.
pub(super) const NOISE_FLOOR: f64 = 1e-12;

/// Data with missing entries, ready to iterate on.
pub(super) struct Surveyed<'a, T: Scalar> {
    pub grid: RowGrid<'a, T>,
    pub observed: Observed,
    pub scaler: Scaler,
    /// Variance of what every standardised column has (divisor n).
    pub variances: Vec<f64>,
}

impl<'a, T: Scalar> Surveyed<'a, T> {
    pub fn new(data: &'a Dataset<'_, T>, standardize: bool) -> Result<Surveyed<'a, T>> {
        let mut grid = RowGrid::surveying(data)?;
        let observed = Observed::of(&mut grid)?;
        check_rate(data, &observed.missing_counts)?;
        let scaler = Scaler::new::<T>(&observed.columns(), grid.exponents(), true, standardize);
        let variances = (0..scaler.inv_scale.len())
            .map(|f| {
                let spread = observed.squares[f] / observed.weight[f].max(1.0);
                spread * scaler.inv_scale[f] * scaler.inv_scale[f]
            })
            .collect();
        Ok(Surveyed { grid, observed, scaler, variances })
    }

    /// Mean variance of the features that vary.
    pub fn mean_variance(&self) -> f64 {
        let varying = self.scaler.inv_scale.iter().filter(|w| **w > 0.0).count().max(1);
        self.variances.iter().sum::<f64>() / varying as f64
    }

    /// Log-likelihoods in standardised units plus this are in the units of the data.
    pub fn jacobian(&self) -> f64 {
        let scaler = &self.scaler;
        (0..scaler.inv_scale.len())
            .filter(|&f| scaler.inv_scale[f] > 0.0)
            .map(|f| {
                let exponent = scaler.column_exponents.as_ref().map_or(0, |e| e[f]);
                self.observed.weight[f] * (scaler.inv_scale[f] * power_of_two(-exponent)).ln()
            })
            .sum()
    }
}

impl Fit {
    /// What expectation maximisation would do, without reading a row.
    pub(super) fn plan_em(&self, shape: &DataShape) -> Result<Plan> {
        let reason = "missing entries are integrated out; without any, the closed form".into();
        let memory = |k| self.em_memory_with(shape, k).peak;
        let d = shape.n_features;
        let demand = Demand {
            n_components: &self.n_components,
            likely: self.n_components.likely(d),
            limit: d,
            budget: self.options.memory,
        };
        cheapest(&[Candidate::new(Route::Em, reason, 60, memory)], &demand)
    }

    /// The most components that the budget has room for.
    fn em_room(&self, shape: &DataShape, limit: usize) -> usize {
        most_within(self.options.memory, limit, |k| self.em_memory_with(shape, k).peak)
    }

    fn em_memory_with(&self, shape: &DataShape, k: usize) -> Memory {
        memory(shape, k, 1, self.options.memory)
    }

    /// Fits by expectation maximisation; `None` where there is no missing entry and it was not asked to
    /// iterate then.
    pub(super) fn run_em<T: Scalar>(
        &self,
        data: &Dataset<T>,
        em_options: &EmOptions,
        observer: &mut Observer,
    ) -> Result<Option<EmFit>> {
        if !self.center {
            return Err(Error::Unsupported {
                what: "the policy `em` for missing values".into(),
                why: "needs centred data",
                instead: Some(Hint::Set { option: "missing", value: "mean".into() }),
            });
        }
        self.n_components.check()?;
        let plan = self.plan_em(&data.shape())?.reserved()?;
        pool::run(self.options.threads, || {
            let surveyed = Surveyed::new(data, self.standardize)?;
            if surveyed.observed.missing_counts.missing == 0
                && !em_options.always
                && !em_options.bayesian
            {
                return Ok(None);
            }
            self.em(data, &surveyed, em_options, plan, observer).map(Some)
        })?
    }

    fn em<T: Scalar>(
        &self,
        data: &Dataset<T>,
        surveyed: &Surveyed<T>,
        em_options: &EmOptions,
        plan: Plan,
        observer: &mut Observer,
    ) -> Result<EmFit> {
        let d = data.n_features();
        let limit = self.limit(&surveyed.observed.columns(), d)?;
        let mean_variance = surveyed.mean_variance();
        let em = Em {
            tolerance: 0.1 * self.em_tolerance(),
            max_iterations: self.options.max_iterations,
            accelerate: !em_options.plain,
            noise_floor: (NOISE_FLOOR * mean_variance).max(f64::MIN_POSITIVE),
            // Set for as many components as are fitted.
            room: 0,
        };
        // Where nothing varies a prior has nothing to weigh: it switches every direction off.
        let nothing = em_options.bayesian && mean_variance == 0.0;
        let shape = data.shape();
        let mut fits = EmFits {
            fit: self,
            shape: &shape,
            surveyed,
            em: &em,
            bayesian: em_options.bayesian && !nothing,
            limit,
            observer,
        };
        let resolved = resolve(&self.n_components, &mut fits, &mut Vec::new())?;
        let (k, mut estimate) = resolved.or_refuse(|at_least| {
            let needed = self.em_memory_with(&shape, at_least).peak;
            too_many(Route::Em, at_least, needed, self.options.memory)
        })?;
        if nothing {
            estimate.parts.iter_mut().for_each(|part| part.w.fill(0.0));
        }
        self.dress(data, surveyed, estimate, k, em_options, plan, &em)
    }

    pub(super) fn em_tolerance(&self) -> f64 {
        self.options.tolerance.unwrap_or(1e-6)
    }

    /// The estimate as a PCA: orthonormal components, variances, certificate, warnings.
    #[expect(clippy::too_many_arguments)]
    fn dress<T: Scalar>(
        &self,
        data: &Dataset<T>,
        surveyed: &Surveyed<T>,
        estimate: Estimate,
        k: usize,
        em_options: &EmOptions,
        plan: Plan,
        em: &Em,
    ) -> Result<EmFit> {
        // 1. The principal axes of W, and the noise.
        let axes = PrincipalAxes::new::<T>(surveyed, &estimate, k, em_options.bayesian)?;
        let part = &estimate.parts[0];
        let latent = Latent::new(axes.components.view(), &axes.values, axes.noise);
        // 2. The certificate, and the likelihood of what was observed.
        let (certificate, residuals) = self.certify_fixed_point(surveyed, &axes, &latent, part)?;
        let likelihood = if axes.flat {
            f64::NAN
        } else if em_options.bayesian {
            // With a prior the iteration climbs a bound of the evidence, not the likelihood.
            let (w, mean, noise) = (latent.w.clone(), part.mean.clone(), axes.noise);
            let model = FactorGaussian { w, mean, noise, share: 1.0, prior: None };
            log_likelihood(&surveyed.grid, &surveyed.scaler, model)?
        } else {
            estimate.log_likelihood()
        };
        // 3. The model.
        let missing_counts = &surveyed.observed.missing_counts;
        let core = ModelCore {
            method: self.method,
            n_samples: Some(surveyed.observed.row_weight),
            feature_names: data.feature_names().map(<[String]>::to_vec),
            plan,
            warnings: self.em_warnings(data, surveyed, &estimate, &axes, em),
            missing: (missing_counts.missing > 0)
                .then(|| MissingReport::new(Missing::Em, missing_counts)),
        };
        let convergence = Convergence {
            converged: estimate.converged,
            residuals,
            iterations: estimate.iterations,
            operator_applications: estimate.iterations,
        };
        let (flat, noise, relevance) = (axes.flat, axes.noise, axes.relevance.clone());
        let parts = self.em_parts(surveyed, axes, &latent, part, core, certificate, convergence);
        // The prior pulls W towards 0, away from the maximum of the likelihood: its residual shows by
        // how much, and is no failure.
        let body =
            if em_options.bayesian { PcaModel::assemble(parts) } else { PcaModel::new(parts) };
        Ok(EmFit {
            body,
            noise,
            log_likelihood: (!flat).then(|| likelihood + surveyed.jacobian()),
            record: EmRecord {
                trace: estimate.trace.clone(),
                iterations: estimate.iterations,
                change: estimate.change,
                converged: estimate.converged,
            },
            relevance,
        })
    }

    /// Residuals of the fixed point, and probes for what might have been overlooked: the certificate, and the
    /// residuals of the components alone.
    fn certify_fixed_point<T: Scalar>(
        &self,
        surveyed: &Surveyed<T>,
        axes: &PrincipalAxes,
        latent: &Latent,
        part: &FactorGaussian,
    ) -> Result<(Certificate, Vec<f64>)> {
        let Surveyed { grid, scaler, .. } = surveyed;
        let (k, d) = axes.components.dim();
        let mut block = Array2::<f64>::zeros((d, k + PROBES));
        block.slice_mut(s![.., ..k]).assign(&axes.components.t());
        let seed = random::seed_for(self.options.seed, grid.fingerprint());
        let probes = random::normal_matrix(&mut random::stream(seed, 3), d, PROBES);
        block.slice_mut(s![.., k..]).assign(&probes);
        let product = expected_covariance_times(grid, scaler, latent, &part.mean, block.view())?;
        let columns = block.slice(s![.., ..k]).to_owned();
        let found = product.slice(s![.., ..k]).to_owned();
        let mut values = axes.values.clone();
        let own = certificate::residuals(found.view(), columns.view(), &values);
        let mut residuals = own.clone();
        let mut along = certificate::along(found.view(), columns.view(), &values);
        if k < axes.varying {
            values.push(axes.noise);
            residuals.push(0.0);
            along.push(0.0);
        }
        let certificate = certificate::certify(Measured {
            values: &values,
            k,
            residuals: &residuals,
            along: &along,
            rounding: Rounding::of_products(values[0].max(0.0), d, values.len()),
            parts: None,
            orthogonality: certificate::orthogonality(columns.view()),
            rounding_floor: 0.0,
            evidence: Evidence::Expected,
            none_missed: certificate::missed_by_probes(
                product.slice(s![.., k..]),
                block.slice(s![.., k..]),
                columns.view(),
                &axes.values,
                None,
            ),
            unseen: 0.0,
        });
        Ok((certificate, own))
    }

    /// What the user should know.
    fn em_warnings<T: Scalar>(
        &self,
        data: &Dataset<T>,
        surveyed: &Surveyed<T>,
        estimate: &Estimate,
        axes: &PrincipalAxes,
        em: &Em,
    ) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let missing_counts = &surveyed.observed.missing_counts;
        if missing_counts.n_empty_rows > 0 {
            let (count, rows) = (missing_counts.n_empty_rows, missing_counts.empty_rows.clone());
            warnings.push(Warning::EmptyRows { count, rows });
        }
        let constant = &surveyed.scaler.constant;
        if self.standardize && !constant.is_empty() {
            let names = constant.iter().map(|&f| data.column_name(f)).collect();
            warnings.push(Warning::ConstantColumns { columns: constant.clone(), names });
        }
        if axes.flat {
            warnings.push(Warning::NoVariance);
        } else if axes.noise <= em.noise_floor {
            warnings.push(Warning::NoiseVanishes { share: NOISE_FLOOR });
        }
        if !estimate.converged {
            warnings.push(Warning::EmNotConverged {
                iterations: estimate.iterations,
                change: estimate.change,
                tolerance: em.tolerance,
            });
        }
        warnings
    }

    /// Everything that the model is made of, with the divisor n − 1 in place of n.
    #[expect(clippy::too_many_arguments)]
    fn em_parts<T: Scalar>(
        &self,
        surveyed: &Surveyed<T>,
        axes: PrincipalAxes,
        latent: &Latent,
        part: &FactorGaussian,
        core: ModelCore,
        certificate: Certificate,
        convergence: Convergence,
    ) -> PcaParts {
        let PrincipalAxes { components, values, noise, varying, .. } = axes;
        let (scaler, n) = (&surveyed.scaler, surveyed.observed.row_weight);
        let (k, d) = components.dim();
        let bessel = n / (n - 1.0);
        let column = |f: usize| {
            let along: f64 = latent.w.row(f).iter().map(|w| w * w).sum();
            if scaler.inv_scale[f] > 0.0 { (along + noise) * bessel } else { 0.0 }
        };
        let excess: f64 = values.iter().map(|v| v - noise).sum();
        PcaParts {
            core,
            map: LinearMap {
                scaler: shifted(scaler, &part.mean),
                rank: values.iter().filter(|v| **v > 0.0).count(),
                components,
                threads: self.options.threads,
            },
            values: values.iter().map(|v| v * bessel).collect(),
            total: (excess + varying as f64 * noise) * bessel,
            column_variances: (0..d).map(column).collect(),
            spectrum: None,
            next_value: (k < varying).then_some(noise * bessel),
            center: true,
            whiten: self.whiten,
            divisor: self.divisor,
            certificate,
            convergence,
            tolerance: self.em_tolerance(),
        }
    }
}

/// The estimate along orthonormal directions.
struct PrincipalAxes {
    /// k × d.
    components: Array2<f64>,
    /// Maximum-likelihood variances along them (divisor n), the noise included.
    values: Vec<f64>,
    /// σ².
    noise: f64,
    /// Whether nothing varies.
    flat: bool,
    /// Features that vary.
    varying: usize,
    /// With a prior, the α of those that it left on.
    relevance: Option<Vec<f64>>,
}

impl PrincipalAxes {
    fn new<T: Scalar>(
        surveyed: &Surveyed<T>,
        estimate: &Estimate,
        k: usize,
        bayesian: bool,
    ) -> Result<PrincipalAxes> {
        let part = &estimate.parts[0];
        let (strengths, mut components, relevance) = axes(part, bayesian)?;
        let k = if bayesian { strengths.len().max(1) } else { k };
        // The prior may leave nothing: one null component stands for it.
        let rank = strengths.len().min(k);
        // Data without any spread have no noise either.
        let flat = surveyed.mean_variance() == 0.0;
        let noise = if flat { 0.0 } else { part.noise };
        let strengths = if flat { vec![0.0; strengths.len()] } else { strengths };
        let mut values: Vec<f64> = strengths.iter().map(|s| s + noise).collect();
        if components.nrows() < k {
            let rest = Array2::zeros((k - components.nrows(), components.ncols()));
            components = ndarray::concatenate(Axis(0), &[components.view(), rest.view()])
                .map_err(|e| Error::Internal(e.to_string()))?;
            values.resize(k, noise);
        }
        finish::complete(&mut components, rank, T::SIGN_TIE);
        let varying = surveyed.scaler.inv_scale.iter().filter(|w| **w > 0.0).count();
        Ok(PrincipalAxes { components, values, noise, flat, varying, relevance })
    }
}

/// Fits with more and more components, as the number of components is asked of them.
struct EmFits<'a, 'd, 'o, T: Scalar> {
    fit: &'a Fit,
    shape: &'a DataShape,
    surveyed: &'a Surveyed<'d, T>,
    em: &'a Em,
    bayesian: bool,
    limit: usize,
    observer: &'a mut Observer<'o>,
}

impl<T: Scalar> LeadingPairs for EmFits<'_, '_, '_, T> {
    type Pairs = Estimate;

    fn leading(&mut self, k: usize) -> Result<Estimate> {
        let Surveyed { grid, scaler, variances, .. } = self.surveyed;
        // What is kept from pass to pass takes what so many components leave of the budget.
        let em = Em { room: self.fit.em_memory_with(self.shape, k).room, ..*self.em };
        // A full covariance has one variance that may as well be called noise: with k = d − 1 the
        // model is as free as with k = d.
        let k = k.min(self.shape.n_features.saturating_sub(1));
        let seed = self.fit.options.seed;
        fit(grid, scaler, variances, k, self.bayesian, &em, seed, self.observer)
    }

    fn head(&self, estimate: &Estimate, k: usize) -> Result<Head> {
        let part = &estimate.parts[0];
        let varying = self.surveyed.scaler.inv_scale.iter().filter(|w| **w > 0.0).count();
        let (strengths, ..) = axes(part, false)?;
        let total = strengths.iter().sum::<f64>() + varying as f64 * part.noise;
        let mut values: Vec<f64> = strengths.iter().map(|s| s + part.noise).collect();
        values.resize(k, part.noise);
        Ok(Head { values, total, rounding_floor: 0.0, max_rank: self.limit })
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn room(&self) -> usize {
        self.fit.em_room(self.shape, self.limit)
    }

    fn first(&self) -> usize {
        2
    }

    fn nested(&self) -> bool {
        false
    }

    fn check_rule(&self, rule: Rule) -> Result<()> {
        Err(Error::Unsupported {
            what: format!("the rule `{}` on data with missing entries", rule.name()),
            why: "needs a spectrum that expectation maximisation does not compute",
            instead: None,
        })
    }

    fn spectrum<'h>(&'h self, head: &'h Head) -> Spectrum<'h> {
        Spectrum {
            values: &head.values,
            total_variance: head.total,
            n_samples: self.surveyed.observed.row_weight,
            n_features: self.shape.n_features,
            n_varying: head.max_rank,
            max_rank: head.max_rank,
            centered: true,
            standardized: self.fit.standardize,
        }
    }
}

/// Squared lengths, unit rows (k × d), and α.
type Axes = (Vec<f64>, Array2<f64>, Option<Vec<f64>>);

/// The principal axes of W: squared lengths, unit rows (k × d), and with a prior the α of those that
/// it left on.
pub(super) fn axes(part: &FactorGaussian, bayesian: bool) -> Result<Axes> {
    let (d, k) = part.w.dim();
    if k == 0 {
        return Ok((Vec::new(), Array2::zeros((0, d)), bayesian.then(Vec::new)));
    }
    let svd = thin_svd(part.w.view())?;
    let squares: Vec<f64> = svd.s.iter().map(|s| s * s).collect();
    let (mut strengths, mut components) =
        finish::largest_first(&squares, &svd.u, k, finish::f64_tie());
    if !bayesian {
        return Ok((strengths, components, None));
    }
    // A direction that was switched off has next to nothing left of the noise's own size.
    let kept = strengths.iter().take_while(|s| **s > OFF * part.noise).count();
    strengths.truncate(kept);
    components = components.slice(s![..kept, ..]).to_owned();
    let relevance = strengths.iter().map(|s| d as f64 / s.max(f64::MIN_POSITIVE)).collect();
    Ok((strengths, components, Some(relevance)))
}

/// The share of the noise variance below which the squared length of a column of W is none.
const OFF: f64 = 1e-3;

/// The standardisation with the mean moved by `shift` (in standardised units).
pub(super) fn shifted(scaler: &Scaler, shift: &Array1<f64>) -> Scaler {
    let mut moved = scaler.clone();
    for f in (0..shift.len()).filter(|&f| scaler.inv_scale[f] > 0.0) {
        (moved.mean_hi[f], moved.mean_lo[f]) =
            two_sum(scaler.mean_hi[f], scaler.mean_lo[f] + shift[f] / scaler.inv_scale[f]);
    }
    moved
}
