//! Mixtures of probabilistic PCA: several Gaussians, each with directions of its own.

use super::em::{NOISE_FLOOR, Surveyed};
use super::estimator::{Estimator, FitContext, Fitted, Method, at_most};
use super::fit::Fit;
use super::option_spec::{OptionSpec, OptionValues, STANDARDIZE};
use super::ppca::refuse_missing;
use crate::data::{AnyDataset, DataShape, Dataset, Missing, MissingReport, Target, compiled_here};
use crate::em::{Em, Memory, Observer, Progress, fit_mixture, least_samples, memory};
use crate::error::{Error, Result, Warning};
use crate::linalg::pool;
use crate::model::ModelCore;
use crate::model::PpcaMixtureModel;
use crate::model::ppca::EmRecord;
use crate::n_components::NComponents;
use crate::options::Options;
use crate::plan::{self, Plan};
use crate::scalar::Scalar;
use crate::solver::finish;
use ndarray::Array2;
use std::ops::ControlFlow;

/// What every surface knows of the method.
pub(super) const METHOD: Method = Method {
    name: "ppca-mixture",
    about: "mixture of probabilistic PCAs: clusters, each with directions of its own",
    axis: "part",
    linear: false,
    takes_missing: true,
    default_n_components: |shape| at_most(1, shape, shape.n_features.saturating_sub(1)),
    supervised: false,
    options: &[OPTIONS],
    build,
    load: |parts| Ok(Box::new(PpcaMixtureModel::from_parts(parts)?)),
};

/// What a user may ask for.
const OPTIONS: &[OptionSpec] = &[
    STANDARDIZE,
    OptionSpec::count("n_parts", 1, "Parts of the mixture").or("2"),
    OptionSpec::flag(
        "best",
        false,
        "Try 1 to so many parts and keep the number with the least BIC",
    ),
    OptionSpec::count("starts", 1, "Random starts, of which the best is followed").or("5"),
];

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    let NComponents::Fixed(latent) = values.n_components(shape) else {
        return Err(Error::Unsupported {
            what: "a share or a rule for the number of components".into(),
            why: "does not fit a mixture; give the dimension of its parts as a number",
            instead: None,
        });
    };
    Ok(Box::new(
        PpcaMixture::new(values.count("n_parts").unwrap_or(2), latent)
            .starts(values.count("starts").unwrap_or(5))
            .choose_parts(values.flag("best"))
            .standardize(values.flag("standardize"))
            .options(values.options.clone()),
    ))
}

/// A mixture of probabilistic PCAs (Tipping & Bishop 1999, *Mixtures of probabilistic principal
/// component analysers*), by expectation maximisation from the best of several starts. Missing entries
/// ([`Missing::Em`]) are integrated out.
///
/// ```
/// use eigenlens::{PpcaMixture, ndarray};
/// use ndarray::Array2;
/// // Two clouds, stretched along different directions.
/// let x = Array2::from_shape_fn((80, 2), |(i, f)| {
///     let t = (i as f64 * 2.3).sin() + 0.1 * ((i * 7 + f) as f64).cos();
///     if i % 2 == 0 { [t, 0.1 * t][f] } else { [20.0 - 0.1 * t, 10.0 + t][f] }
/// });
/// let model = PpcaMixture::new(2, 1).fit(&x)?;
/// let found = model.memberships(&x)?;
/// assert!(found.responsibilities.iter().all(|r| *r < 1e-6 || *r > 1.0 - 1e-6));
/// assert!((model.shares()[0] - 0.5).abs() < 1e-6);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PpcaMixture {
    fit: Fit,
    n_parts: usize,
    latent: usize,
    starts: usize,
    choose_parts: bool,
}

/// Mixtures of more and more parts, compared.
#[derive(Debug)]
#[non_exhaustive]
pub struct PartsCompared {
    /// Number of parts and BIC of each mixture tried.
    pub bic: Vec<(usize, f64)>,
    /// The one with the least BIC.
    pub best: PpcaMixtureModel,
}

/// A part may not shrink onto a few samples: the likelihood would have no bound.
const PART_FLOOR: f64 = 1e-6;

impl PpcaMixture {
    /// `n_parts` Gaussians of `latent` dimensions each (0: spheres).
    pub fn new(n_parts: usize, latent: usize) -> Self {
        let fit = Fit::new("ppca-mixture", NComponents::Fixed(latent.max(1)), true);
        PpcaMixture { fit, n_parts, latent, starts: 5, choose_parts: false }
    }

    /// As an [`Estimator`]: tries 1 to `n_parts` parts and keeps the number with the least BIC, as
    /// [`PpcaMixture::fit_best`] does (default: no).
    pub fn choose_parts(mut self, choose: bool) -> Self {
        self.choose_parts = choose;
        self
    }

    /// Random starts, of which the best is followed to its end (default: 5).
    pub fn starts(mut self, starts: usize) -> Self {
        self.starts = starts;
        self
    }

    /// Divides every feature by its standard deviation first (default: no).
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.fit.standardize = standardize;
        self
    }

    /// Threads, memory, seed, tolerance.
    pub fn options(mut self, options: Options) -> Self {
        self.fit.options = options;
        self
    }

    /// What would be done, without reading a row.
    pub fn plan(&self, shape: impl Into<DataShape>) -> Result<Plan> {
        let shape = shape.into().with_missing(Missing::Em);
        let plan = self.fit.plan(&shape)?;
        let peak_memory = self.memory(&shape).peak;
        let (reason, budget) = ("a mixture is iterated".into(), self.fit.options.memory);
        plan::only(plan.route, reason, plan.passes, peak_memory, budget)
    }

    fn memory(&self, shape: &DataShape) -> Memory {
        memory(shape, self.latent, self.n_parts, self.fit.options.memory)
    }

    /// Fits the model.
    pub fn fit<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<PpcaMixtureModel> {
        self.fit_observed(data, &mut |_| ControlFlow::Continue(()))
    }

    /// Fits the model and returns the probabilities (n × parts) that the training samples come from each
    /// part.
    pub fn fit_transform<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<(PpcaMixtureModel, Array2<T>)> {
        let data = &data.into();
        let model = self.fit(data)?;
        let scores = match data.missing() {
            Missing::DropColumns => {
                model.transform(data.resolve_missing(&self.fit.options)?.dataset())?
            }
            _ => model.transform(data)?,
        };
        Ok((model, scores))
    }

    /// Fits mixtures of 1 to `n_parts` parts and keeps the one with the least BIC, of those whose parts
    /// all have at least 5(k + 1) samples.
    pub fn fit_best<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<PartsCompared> {
        let data = &data.into();
        compiled_here!(PpcaMixture, self.fit_best_typed(data) -> Result<PartsCompared>)
    }

    fn fit_best_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<PartsCompared> {
        let mut bic = Vec::new();
        let mut best: Option<PpcaMixtureModel> = None;
        for n_parts in 1..=self.n_parts {
            let model = PpcaMixture { n_parts, ..self.clone() }.fit(data)?;
            bic.push((n_parts, model.bic()));
            let least = model.shares().into_iter().fold(1.0, f64::min) * model.core.weight();
            // A part on a handful of samples is likely for the wrong reason.
            let supported = n_parts == 1 || least >= least_samples(self.latent);
            if supported && best.as_ref().is_none_or(|b| model.bic() < b.bic()) {
                best = Some(model);
            }
        }
        match best {
            Some(best) => Ok(PartsCompared { bic, best }),
            None => Err(no_parts()),
        }
    }

    /// Fits the model and tells `observer` of every step; it may end the iteration.
    pub fn fit_observed<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        observer: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<PpcaMixtureModel> {
        let data = &data.into();
        compiled_here!(PpcaMixture, self.fit_typed(data, observer: &mut Observer) -> Result<PpcaMixtureModel>)
    }

    fn fit_typed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        observer: &mut Observer,
    ) -> Result<PpcaMixtureModel> {
        if self.n_parts == 0 {
            return Err(no_parts());
        }
        let plan = self.plan(data)?.reserved()?;
        match data.missing() {
            Missing::Error => refuse_missing(data)?,
            Missing::Em => {}
            _ => {
                let resolved = data.resolve_missing(&self.fit.options)?;
                let mut model = self.fit_observed(resolved.dataset(), observer)?;
                model.core.missing = resolved.missing_report().cloned();
                return Ok(model);
            }
        }
        pool::run(self.fit.options.threads, || self.iterate(data, plan, observer))?
    }

    fn iterate<T: Scalar>(
        &self,
        data: &Dataset<T>,
        plan: Plan,
        observer: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<PpcaMixtureModel> {
        let surveyed = Surveyed::new(data, self.fit.standardize)?;
        let (d, n) = (data.n_features(), surveyed.observed.row_weight);
        self.fit.limit(&surveyed.observed.columns(), d)?;
        if self.n_parts as f64 > n {
            return Err(Error::Parameter {
                name: "n_parts",
                value: self.n_parts.to_string(),
                expected: "at most the number of samples",
            });
        }
        let mean_variance = surveyed.mean_variance();
        if mean_variance == 0.0 {
            return Err(Error::NoVariance { what: "a mixture of densities" });
        }
        let noise_floor = if self.n_parts > 1 { PART_FLOOR } else { NOISE_FLOOR };
        let em = Em {
            tolerance: 0.1 * self.fit.em_tolerance(),
            max_iterations: self.fit.options.max_iterations,
            accelerate: true,
            noise_floor: (noise_floor * mean_variance).max(f64::MIN_POSITIVE),
            room: self.memory(&data.shape()).room,
        };
        let estimate = fit_mixture(
            &surveyed.grid,
            &surveyed.scaler,
            &surveyed.variances,
            self.latent.min(d.saturating_sub(1)),
            self.n_parts,
            self.starts,
            &em,
            self.fit.options.seed,
            observer,
        )?;
        let missing_counts = &surveyed.observed.missing_counts;
        let mut warnings = Vec::new();
        if missing_counts.n_empty_rows > 0 {
            let (count, rows) = (missing_counts.n_empty_rows, missing_counts.empty_rows.clone());
            warnings.push(Warning::EmptyRows { count, rows });
        }
        if estimate.parts.iter().any(|p| p.noise <= em.noise_floor) {
            warnings.push(Warning::NoiseVanishes { share: noise_floor });
        }
        if !estimate.converged {
            warnings.push(Warning::EmNotConverged {
                iterations: estimate.iterations,
                change: estimate.change,
                tolerance: em.tolerance,
            });
        }
        let shares: Vec<f64> = estimate.parts.iter().map(|p| p.share).collect();
        let order = finish::descending(&shares);
        Ok(PpcaMixtureModel {
            core: ModelCore {
                method: "ppca-mixture",
                n_samples: Some(n),
                feature_names: data.feature_names().map(<[String]>::to_vec),
                plan,
                warnings,
                missing: (missing_counts.missing > 0)
                    .then(|| MissingReport::new(Missing::Em, missing_counts)),
            },
            parts: order.into_iter().map(|c| estimate.parts[c].clone()).collect(),
            log_likelihood: estimate.log_likelihood() + surveyed.jacobian(),
            em: EmRecord {
                iterations: estimate.iterations,
                change: estimate.change,
                converged: estimate.converged,
                trace: estimate.trace,
            },
            scaler: surveyed.scaler,
            threads: self.fit.options.threads,
        })
    }
}

super::traits::fit_trait!(PpcaMixture => PpcaMixtureModel);
impl Estimator for PpcaMixture {
    fn method(&self) -> &'static Method {
        &METHOD
    }

    fn plan(&self, shape: &DataShape, _: Option<&Target>) -> Result<Plan> {
        self.plan(shape)
    }

    fn fit(&self, data: &AnyDataset, context: &mut FitContext) -> Result<Fitted> {
        context.cancel().scope(|| {
            dispatch!(data, d => {
                let model = match self.choose_parts {
                    true => self.fit_best(d)?.best,
                    false => self.fit_observed(d, &mut |step| context.observe(step))?,
                };
                let scores = context.wants_scores().then(|| model.transform(d)).transpose()?;
                Ok(Fitted::new(model, scores))
            })
        })
    }
}

fn no_parts() -> Error {
    Error::Parameter { name: "n_parts", value: "0".into(), expected: "at least 1" }
}
