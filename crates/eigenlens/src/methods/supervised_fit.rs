//! The fit of supervised PCA: one thin product of data and labels, its singular vectors, and a pass
//! that makes scores and measures everything against the data.

use super::fit;
use super::fit_warnings::{mind_seen_scores, warn};
use super::supervised_pca::{SupervisedPca, refuse_rules};
use crate::data::{DataShape, Dataset, Target};
use crate::dependence::Labels;
use crate::error::{Error, Result, Warning};
use crate::linalg::dense::{power_of_two, thin_svd};
use crate::linalg::{gemm, random};
use crate::model::ModelCore;
use crate::model::{LinearMap, SupervisedParts, SupervisedPcaModel, TargetRecord};
use crate::n_components::{Head, LeadingPairs, NComponents, Rule, Spectrum, resolve};
use crate::operator::Blended;
use crate::options::Solver;
use crate::passes::{
    Columns, Cross, LabelPass, Moments, Pass, RowGrid, Scaler, ScoreMoments, Scores, Standardized,
    reading_memory, reduction_block_rows,
};
use crate::plan::{self, Beside, Candidate, Plan, Route, most_within};
use crate::scalar::Scalar;
use crate::solver::certificate::{
    self, Certificate, Evidence, Measured, NoneMissed, PROBES, Rounding,
};
use crate::solver::covariance_solver::EigenPairs;
use crate::solver::krylov::{self, EigenRequest, RitzPairs};
use crate::solver::{Convergence, dense};
use ndarray::{Array2, s};

/// One fit.
pub(super) struct Supervised<'a, 'd, T: Scalar> {
    pub estimator: &'a SupervisedPca,
    pub data: &'a Dataset<'d, T>,
    pub target: &'a Target,
    pub labels: &'a Labels,
}

/// `A = α Xsᵀ W Xs + β M Mᵀ`, of trace 1, with `M = Xsᵀ W Δ`.
struct Blend {
    /// M (d × ℓ).
    cross: Array2<f64>,
    alpha: f64,
    beta: f64,
    /// ‖M‖²_F, 0 where it is rounding.
    squares: f64,
    /// Singular values of M at or below this are rounding.
    rounding_floor: f64,
}

impl<T: Scalar> Supervised<'_, '_, T> {
    /// Supervision above 0.
    pub fn supervised(
        &self,
        plan: Plan,
        want_scores: bool,
    ) -> Result<(SupervisedPcaModel, Array2<T>)> {
        // 1. Means, variances and the product with the labels, in one pass.
        let mut grid = RowGrid::new(self.data)?;
        let cross = Cross::of(&mut grid, &self.labels.factor)?;
        let columns = &cross.columns;
        let scaler = self.scaler(&grid, columns);
        let standardized = Standardized { grid: &grid, scaler: &scaler };
        let variances = fit::standardized_variances(columns, &scaler, true);
        let total: f64 = variances.iter().sum();
        let blend = self.blend(&cross, &scaler, total, columns.weight - 1.0);
        // 2. The pairs, and which of them carry something.
        let varying = fit::max_rank(columns, &variances, true);
        let most = match self.estimator.supervision < 1.0 && blend.alpha > 0.0 {
            true => varying,
            false if blend.squares == 0.0 => 0,
            false => varying.min(self.labels.rank),
        };
        let (k, mut pairs) = self.pairs(&plan, &standardized, &blend, varying, most)?;
        let rank = null_below_rounding(&mut pairs, k, most);
        // 3. Order, sign, null directions.
        let (values, components) = ordered(&pairs, k, rank, T::SIGN_TIE)?;
        let threads = self.estimator.options.threads;
        let map = LinearMap { scaler: scaler.clone(), components, rank, threads };
        // 4. Scores, variances, HSIC and residuals, in one pass over the data.
        let unit = power_of_two(scaler.exponent);
        let mut scores = (want_scores && self.estimator.center)
            .then(|| {
                let factors = (0..k).map(|j| if j < rank { unit } else { 0.0 }).collect();
                Scores::gather(factors, grid.n_rows().unwrap_or(0))
            })
            .transpose()?;
        let measured =
            self.measure(&standardized, &blend, &pairs, &map, &values, scores.as_mut())?;
        let divisor = columns.weight - 1.0;
        let mut along: Vec<f64> =
            measured.score_moments.squares.iter().map(|s| s / divisor).collect();
        along[rank..].fill(0.0);
        // 5. What the user should know.
        let mut warnings = self.warnings(columns, &scaler, &variances, &along, rank, k, &blend);
        let counts = grid.counts();
        mind_seen_scores::<T>(&mut warnings, &measured.score_moments, counts, &along, &scaler);
        warnings.extend(self.labels.warnings.iter().cloned());
        let scores = match scores {
            Some(scores) => scores.into_array()?,
            None => Array2::default((0, k)),
        };
        // 6. The model.
        let model = self.model(SupervisedParts {
            core: ModelCore {
                method: "supervised-pca",
                n_samples: Some(columns.weight),
                feature_names: self.data.feature_names().map(<[String]>::to_vec),
                plan,
                warnings,
                missing: None,
            },
            hsic: self.hsic(&measured.cross, rank),
            total_hsic: blend.squares / self.pairs_of_samples(),
            map,
            values,
            variances: along,
            total,
            center: self.estimator.center,
            supervision: self.estimator.supervision,
            target: TargetRecord::new(self.target, self.labels),
            certificate: measured.certificate,
            convergence: pairs.convergence,
            tolerance: self.tolerance(),
        });
        self.with_scores(model, scores, want_scores)
    }

    /// As many pairs of the blend as are asked for, of which at most `most` carry something.
    fn pairs<'p>(
        &'p self,
        plan: &Plan,
        standardized: &'p Standardized<'p, T>,
        blend: &'p Blend,
        varying: usize,
        most: usize,
    ) -> Result<(usize, EigenPairs)> {
        let (shape, like) = (self.data.shape(), self.estimator.unsupervised());
        let task = SupervisedTask::new(self.estimator, &like, &shape, self.labels);
        let mut blend_pairs = BlendPairs {
            estimator: self.estimator,
            standardized,
            blend,
            matrix: match plan.route {
                Route::Covariance => Some(blended_matrix(self.data, standardized.scaler, blend)?),
                _ => None,
            },
            labels: plan.route == Route::Labels,
            tolerance: self.tolerance(),
            max_rank: most,
            limit: varying.max(1),
            room: task.room(plan.route, varying.max(1)),
        };
        let request = &self.estimator.n_components;
        let (k, pairs) = resolve(request, &mut blend_pairs, &mut Vec::new())?
            .or_refuse(|at_least| task.too_many(plan.route, at_least))?;
        if *request != NComponents::All {
            return Ok((k, pairs));
        }
        // As many as carry anything.
        let floor = pairs.rounding_floor;
        let carry = pairs.values.iter().take(most).filter(|v| **v > floor).count();
        Ok((carry.clamp(1, self.data.n_features()), pairs))
    }

    /// Supervision 0: PCA itself, and what its components carry of HSIC.
    pub fn unsupervised(&self, want_scores: bool) -> Result<(SupervisedPcaModel, Array2<T>)> {
        let like = beside_labels(self.estimator, &self.data.shape(), self.labels);
        let (pca, scores) = like.run(self.data, want_scores)?;
        let pca = pca.into_parts();
        let cross = Cross::of(&mut RowGrid::new(self.data)?, &self.labels.factor)?;
        let scaler = &pca.map.scaler;
        let blend = self.blend(&cross, scaler, pca.total, cross.columns.weight - 1.0);
        let components = pca.map.components.t().as_standard_layout().into_owned();
        let products = gemm::transposed_product(blend.cross.view(), components.view());
        let rank = pca.map.rank;
        let total = pca.total;
        let mut warnings = pca.core.warnings;
        warnings.extend(self.labels.warnings.iter().cloned());
        let model = self.model(SupervisedParts {
            core: ModelCore {
                method: "supervised-pca",
                n_samples: Some(cross.columns.weight),
                feature_names: pca.core.feature_names,
                plan: pca.core.plan,
                warnings,
                missing: None,
            },
            hsic: self.hsic(&products, rank),
            total_hsic: blend.squares / self.pairs_of_samples(),
            map: pca.map,
            values: pca.values.iter().map(|v| if total > 0.0 { v / total } else { 0.0 }).collect(),
            variances: pca.values,
            total,
            center: self.estimator.center,
            supervision: 0.0,
            target: TargetRecord::new(self.target, self.labels),
            certificate: pca.certificate,
            convergence: pca.convergence,
            tolerance: pca.tolerance,
        });
        self.with_scores(model, scores, want_scores)
    }

    /// The model, its map without the mean where the textbook's form is asked for.
    fn model(&self, mut parts: SupervisedParts) -> SupervisedPcaModel {
        if !self.estimator.center {
            parts.map.scaler.mean_hi.fill(0.0);
            parts.map.scaler.mean_lo.fill(0.0);
        }
        SupervisedPcaModel::new(parts)
    }

    /// Uncentred scores are not those of the pass, which sees centred data.
    fn with_scores(
        &self,
        model: SupervisedPcaModel,
        scores: Array2<T>,
        want_scores: bool,
    ) -> Result<(SupervisedPcaModel, Array2<T>)> {
        if want_scores && !self.estimator.center {
            let scores = model.transform(self.data)?;
            return Ok((model, scores));
        }
        Ok((model, scores))
    }

    fn scaler(&self, grid: &RowGrid<T>, columns: &Columns) -> Scaler {
        let exponents = grid.exponents();
        Scaler::new::<T>(columns, exponents, true, self.estimator.standardize)
    }

    fn blend(&self, cross: &Cross, scaler: &Scaler, total: f64, divisor: f64) -> Blend {
        let cross = cross.standardized(scaler);
        // No more than Cauchy and Schwarz allow can be rounding.
        let most = (total * divisor).sqrt() * self.labels.squares.sqrt();
        let size = cross.iter().map(|v| v * v).sum::<f64>();
        let squares = if size.sqrt() > 64.0 * f64::EPSILON * most { size } else { 0.0 };
        let share = self.estimator.supervision;
        let per = |share: f64, trace: f64| if trace > 0.0 { share / trace } else { 0.0 };
        let (d, width) = cross.dim();
        let (alpha, beta) = (per(1.0 - share, total * divisor), per(share, squares));
        let rounding_floor = 4.0 * f64::EPSILON * most
            + 8.0 * f64::EPSILON * (d.max(width) as f64).sqrt() * squares.sqrt();
        Blend { cross, alpha, beta, squares, rounding_floor }
    }

    fn hsic(&self, products: &Array2<f64>, rank: usize) -> Vec<f64> {
        let columns = products.columns().into_iter().enumerate();
        let one = |(j, q): (usize, ndarray::ArrayView1<f64>)| {
            if j < rank { q.dot(&q) / self.pairs_of_samples() } else { 0.0 }
        };
        columns.map(one).collect()
    }

    /// (n − 1)², with n the weight of the labelled samples.
    fn pairs_of_samples(&self) -> f64 {
        (self.labels.weight - 1.0) * (self.labels.weight - 1.0)
    }

    fn tolerance(&self) -> f64 {
        let usual = if T::EPSILON > f64::EPSILON { 1e-6 } else { 1e-9 };
        self.estimator.options.tolerance.unwrap_or(usual)
    }

    #[expect(clippy::too_many_arguments)]
    fn warnings(
        &self,
        columns: &Columns,
        scaler: &Scaler,
        variances: &[f64],
        along: &[f64],
        rank: usize,
        k: usize,
        blend: &Blend,
    ) -> Vec<Warning> {
        let like = self.estimator.unsupervised();
        // Null components are told of below, in words that fit.
        let mut warnings = warn::<T>(self.data, columns, scaler, variances, along, k, k, &like);
        let total: f64 = variances.iter().sum();
        if total > 0.0 && blend.squares == 0.0 {
            warnings.push(Warning::NoDependence);
        } else if total > 0.0 && rank < k {
            warnings.push(if self.estimator.supervision == 1.0 {
                Warning::LabelRank { rank, requested: k }
            } else {
                Warning::NullComponents { rank, requested: k }
            });
        }
        warnings
    }

    /// Measures pairs against the data, in one pass: with `Z = Xs U` and `Q = Mᵀ U` as it was formed,
    /// the pass makes `P = Xsᵀ W (α Z + β Δ Q)` and `Q' = Δᵀ W Z`. Since `A U = P + β M (Q' − Q)`,
    /// `‖A u − λ u‖ ≤ ‖p − λ u‖ + β ‖M‖ ‖q' − q‖`.
    fn measure(
        &self,
        data: &Standardized<T>,
        blend: &Blend,
        pairs: &EigenPairs,
        map: &LinearMap,
        values: &[f64],
        scores: Option<&mut Scores<'_, T>>,
    ) -> Result<Findings> {
        let (d, k, rank) = (map.components.ncols(), values.len(), map.rank);
        let missed = match (&pairs.spectrum, rank) {
            (Some(_), _) | (_, 0) => Some(NoneMissed::Complete),
            _ => certificate::missed_by_matrix(None, &pairs.values, k.min(rank), 1.0, 0.0)
                .map(|(missed, _)| missed),
        };
        let guard = usize::from(rank == k && pairs.values.len() > k && pairs.values[k] > 0.0);
        let kept = k + guard;
        let probes = if missed.is_none() { PROBES } else { 0 };
        let mut block = Array2::<f64>::zeros((d, kept + probes));
        block.slice_mut(s![.., ..k]).assign(&map.components.t());
        if guard > 0 {
            block.column_mut(k).assign(&pairs.vectors.column(k));
        }
        if probes > 0 {
            let seed = random::seed_for(self.estimator.options.seed, data.grid.fingerprint());
            let mut rng = random::stream(seed, 3);
            block.slice_mut(s![.., kept..]).assign(&random::normal_matrix(&mut rng, d, PROBES));
        }
        let formed = gemm::transposed_product(blend.cross.view(), block.view());
        let mut labels = LabelPass {
            factor: &self.labels.factor,
            alpha: blend.alpha,
            beta: blend.beta,
            right: formed.view(),
            cross: Array2::zeros((0, 0)),
        };
        let mut score_moments = ScoreMoments::new(k);
        let mut product = Array2::zeros((0, 0));
        let wanted =
            Pass { scores, gram: Some((0, &mut product)), score_moments: Some(&mut score_moments) };
        data.pass_with_labels(block.view(), wanted, Some(&mut labels))?;

        let mut values: Vec<f64> = values.to_vec();
        values.extend(pairs.values.get(k).filter(|_| guard > 0));
        let columns = block.slice(s![.., ..kept]);
        let norm = blend.beta * spectral_norm(blend, pairs);
        let off: Vec<f64> = (0..kept)
            .map(|j| {
                let difference = &labels.cross.column(j) - &formed.column(j);
                norm * difference.dot(&difference).sqrt()
            })
            .collect();
        let plus = |bounds: Vec<f64>| -> Vec<f64> {
            bounds.iter().zip(&off).map(|(b, o)| b + o).collect()
        };
        let measured = product.slice(s![.., ..kept]);
        let mut residuals = plus(certificate::residuals(measured, columns, &values));
        let mut along = plus(certificate::along(measured, columns, &values));
        if guard == 0 && k < d {
            // The rest is null: its values are 0, as far as this arithmetic can tell.
            values.push(0.0);
            residuals.push(0.0);
            along.push(0.0);
        }
        let none_missed = missed.unwrap_or_else(|| {
            let (products, probes) = (product.slice(s![.., kept..]), block.slice(s![.., kept..]));
            let found = columns.slice(s![.., ..rank]);
            certificate::missed_by_probes(products, probes, found, &values[..rank], None)
        });
        let certificate = certificate::certify(Measured {
            values: &values,
            k,
            residuals: &residuals,
            along: &along,
            rounding: Rounding::of_products(values[0].max(0.0), d, values.len()),
            parts: None,
            orthogonality: certificate::orthogonality(block.slice(s![.., ..k])),
            rounding_floor: pairs.rounding_floor,
            evidence: Evidence::Data,
            none_missed,
            unseen: 0.0,
        });
        let cross = labels.cross.slice(s![.., ..k]).to_owned();
        Ok(Findings { certificate, cross, score_moments })
    }
}

/// How many of the first `k` pairs carry something; the others become exactly 0.
fn null_below_rounding(pairs: &mut EigenPairs, k: usize, most: usize) -> usize {
    let floor = pairs.rounding_floor;
    let rank = pairs.values.iter().take(k.min(most)).filter(|v| **v > floor).count();
    for (j, v) in pairs.values.iter_mut().enumerate().skip(rank) {
        if j >= most || *v <= floor {
            *v = 0.0;
        }
    }
    rank
}

/// `k` values and components (k × d), largest first, signed; those beyond the rank null.
fn ordered(pairs: &EigenPairs, k: usize, rank: usize, tie: f64) -> Result<(Vec<f64>, Array2<f64>)> {
    let (mut values, components) = fit::ordered(pairs, k, rank, tie)?;
    values[rank..].fill(0.0);
    Ok((values, components))
}

/// What the last pass found.
struct Findings {
    certificate: Certificate,
    /// `Δᵀ W Xs U` (ℓ × k).
    cross: Array2<f64>,
    /// How the scores of each component are spread.
    score_moments: ScoreMoments,
}

/// The blend, as the number of components is asked of it.
struct BlendPairs<'a, T: Scalar> {
    estimator: &'a SupervisedPca,
    standardized: &'a Standardized<'a, T>,
    blend: &'a Blend,
    /// The blend as a matrix (d × d), where that is the route.
    matrix: Option<Array2<f64>>,
    /// Whether M alone is decomposed.
    labels: bool,
    tolerance: f64,
    max_rank: usize,
    limit: usize,
    room: usize,
}

impl<T: Scalar> LeadingPairs for BlendPairs<'_, T> {
    type Pairs = EigenPairs;

    fn leading(&mut self, k: usize) -> Result<EigenPairs> {
        if self.labels {
            return labels_route(self.blend);
        }
        let d = self.blend.cross.nrows();
        let request = EigenRequest::new(k, d, 0.3 * self.tolerance, &self.estimator.options);
        let (ritz, spectrum) = match &self.matrix {
            Some(matrix) => {
                let leading = dense::leading(matrix.view(), &request)?;
                (leading.ritz, leading.spectrum)
            }
            None => {
                let Blend { cross, alpha, beta, .. } = self.blend;
                let (alpha, beta) = (*alpha, *beta);
                let operator = Blended { data: self.standardized, cross, alpha, beta };
                (krylov::largest(&operator, &request)?, None)
            }
        };
        let top = ritz.values.first().copied().unwrap_or(0.0).max(0.0);
        let noise = if T::EPSILON > f64::EPSILON { 2.0 * T::EPSILON } else { 0.0 };
        let rounding_floor = (8.0 * (d as f64).sqrt() * f64::EPSILON).max(noise) * top;
        let RitzPairs { values, vectors, convergence, .. } = ritz;
        Ok(EigenPairs { values, vectors, spectrum, rounding_floor, convergence, remainder: None })
    }

    fn head(&self, pairs: &EigenPairs, _: usize) -> Result<Head> {
        let values = pairs.spectrum.as_ref().unwrap_or(&pairs.values).clone();
        // The trace of the blend is 1.
        Ok(Head::above_rounding(values, 1.0, pairs.rounding_floor, self.max_rank))
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn room(&self) -> usize {
        self.room
    }

    fn finds_all(&self, k: usize) -> bool {
        match &self.matrix {
            Some(matrix) => !dense::prefers_krylov(matrix.nrows(), k),
            None => self.labels,
        }
    }

    fn check_rule(&self, _: Rule) -> Result<()> {
        refuse_rules(&self.estimator.n_components)
    }

    fn spectrum<'h>(&'h self, head: &'h Head) -> Spectrum<'h> {
        Spectrum {
            values: &head.values,
            total_variance: head.total,
            n_samples: 0.0,
            n_features: self.blend.cross.nrows(),
            n_varying: self.limit,
            max_rank: head.max_rank,
            centered: true,
            standardized: self.estimator.standardize,
        }
    }
}

/// ‖M‖, or a bound on it.
fn spectral_norm(blend: &Blend, pairs: &EigenPairs) -> f64 {
    if blend.alpha == 0.0 {
        // The values are shares of ‖M‖²_F.
        let top = pairs.values.first().copied().unwrap_or(0.0);
        (top * blend.squares).sqrt()
    } else {
        blend.squares.sqrt()
    }
}

/// All singular vectors of M: nothing is squared.
fn labels_route(blend: &Blend) -> Result<EigenPairs> {
    if blend.squares == 0.0 {
        let vectors = Array2::zeros((blend.cross.nrows(), 0));
        let convergence = Convergence { converged: true, ..Convergence::default() };
        let (values, spectrum) = (Vec::new(), Some(Vec::new()));
        return Ok(EigenPairs {
            values,
            vectors,
            spectrum,
            rounding_floor: 0.0,
            convergence,
            remainder: None,
        });
    }
    let svd = thin_svd(blend.cross.view())?;
    let values: Vec<f64> = svd.s.iter().map(|s| s * (blend.beta * s)).collect();
    let residual = f64::EPSILON * values.first().copied().unwrap_or(0.0);
    Ok(EigenPairs {
        rounding_floor: blend.rounding_floor * (blend.beta * blend.rounding_floor),
        convergence: Convergence {
            converged: true,
            residuals: vec![residual; values.len()],
            ..Convergence::default()
        },
        vectors: svd.u,
        spectrum: Some(values.clone()),
        values,
        remainder: None,
    })
}

/// `α Xsᵀ W Xs + β M Mᵀ` (d × d).
fn blended_matrix<T: Scalar>(
    data: &Dataset<T>,
    scaler: &Scaler,
    blend: &Blend,
) -> Result<Array2<f64>> {
    let moments = Moments::of_grid(&mut RowGrid::new(data)?)?;
    let divisor = moments.columns.weight - 1.0;
    let mut matrix = fit::covariance(moments.scatter, &moments.columns, scaler, true);
    let factor = blend.alpha * divisor;
    matrix.mapv_inplace(|v| factor * v);
    let right = blend.cross.t().mapv(|v| blend.beta * v).as_standard_layout().into_owned();
    gemm::product_into(blend.cross.view(), right.view(), &mut matrix, false);
    // Both halves of a product differ in their last bits.
    for i in 0..matrix.nrows() {
        for j in 0..i {
            matrix[[j, i]] = matrix[[i, j]];
        }
    }
    Ok(matrix)
}

/// What will be done, from the shapes of data and labels.
pub(super) fn plan(estimator: &SupervisedPca, shape: &DataShape, labels: &Labels) -> Result<Plan> {
    if estimator.supervision == 0.0 {
        return beside_labels(estimator, shape, labels).plan(shape);
    }
    let like = estimator.unsupervised();
    SupervisedTask::new(estimator, &like, shape, labels).plan()
}

/// PCA, as supervision 0 asks for it: the labels are held beside it and multiplied with the data after it.
fn beside_labels(estimator: &SupervisedPca, shape: &DataShape, labels: &Labels) -> fit::Fit {
    let mut like = estimator.unsupervised();
    let task = SupervisedTask::new(estimator, &like, shape, labels);
    like.beside = Beside { held: labels.held_memory(), afterwards: task.product_memory() };
    like
}

/// What a plan is made from.
struct SupervisedTask<'a> {
    estimator: &'a SupervisedPca,
    labels: &'a Labels,
    /// PCA of the same data.
    task: plan::CovarianceTask<'a>,
}

impl<'a> SupervisedTask<'a> {
    fn new(
        estimator: &'a SupervisedPca,
        like: &'a fit::Fit,
        shape: &'a DataShape,
        labels: &'a Labels,
    ) -> SupervisedTask<'a> {
        SupervisedTask { estimator, labels, task: like.task(shape) }
    }

    fn plan(&self) -> Result<Plan> {
        let mut demand = self.task.demand();
        if self.estimator.supervision == 1.0 {
            demand.limit = demand.limit.min(self.labels.factor.width());
        }
        plan::cheapest(&self.candidates()?, &demand)
    }

    fn candidates(&self) -> Result<Vec<Candidate<'_>>> {
        if self.estimator.supervision == 1.0 {
            let (width, d) = (self.labels.factor.width(), self.task.d());
            let size = match self.task.n() {
                Some(n) => format!("{n} × {d}"),
                None => format!("{d} features"),
            };
            let passes = if self.in_one_pass() { 2 } else { 3 };
            let reason = format!("{size}: a label factor of {width} columns");
            let memory = move |k| self.memory(Route::Labels, k);
            return Ok(vec![Candidate::new(Route::Labels, reason, passes, memory)]);
        }
        let solver = self.estimator.solver;
        if !matches!(solver, Solver::Auto | Solver::Covariance | Solver::Iterative) {
            return Err(Error::Unsupported {
                what: "this solver".into(),
                why: "does not apply to a blend (only `covariance` and `iterative` do)",
                instead: None,
            });
        }
        let of_pca = self.task.candidates()?;
        Ok(of_pca.into_iter().map(|candidate| self.blended(candidate)).collect())
    }

    /// A route of PCA for the blend: where the Gram matrix of the samples would do, an iteration does.
    fn blended<'c>(&'c self, of_pca: Candidate<'c>) -> Candidate<'c> {
        let route = match of_pca.route {
            Route::Dual => Route::Iterative,
            route => route,
        };
        Candidate {
            route,
            passes: self.task.passes(route) + 1,
            memory: Box::new(move |k| self.memory(route, k)),
            ..of_pca
        }
    }

    /// The most components, up to `limit`, that a route affords within the budget.
    fn room(&self, route: Route, limit: usize) -> usize {
        let limit = match route {
            Route::Labels => limit.min(self.labels.factor.width().max(1)),
            _ => limit,
        };
        most_within(self.estimator.options.memory, limit, |k| self.memory(route, k))
    }

    /// The error for more components than that.
    fn too_many(&self, route: Route, k: usize) -> Error {
        plan::too_many(route, k, self.memory(route, k), self.estimator.options.memory)
    }

    fn product(&self) -> u64 {
        (self.task.d() * self.labels.factor.width() * 8) as u64
    }

    fn in_one_pass(&self) -> bool {
        !self.task.sparse() && self.product() <= 1 << 20
    }

    /// Bytes that a route allocates at its peak with `n_components`.
    fn memory(&self, route: Route, n_components: usize) -> u64 {
        let own = self.own_memory(n_components);
        match route {
            Route::Labels => own,
            _ => own.saturating_add(self.task.memory_with(route, n_components)),
        }
    }

    /// What the product of data and labels takes: itself, in several forms, and the pass that makes it.
    fn product_memory(&self) -> u64 {
        let (width, product) = (self.labels.factor.width() as u64, self.product());
        let d = self.task.d() as u64;
        let sums = if self.in_one_pass() { 20 * product + 120 * d * 8 } else { 4 * product };
        let sparse = 9 * product.next_multiple_of(64) * 8 / width.clamp(1, 8);
        8 * product + sums + 40 * d * 8 + if self.task.sparse() { sparse } else { 0 }
    }

    /// What supervision needs beside the pairs: the product with the labels, and the last pass.
    fn own_memory(&self, n_components: usize) -> u64 {
        let (task, shape) = (&self.task, self.task.shape);
        let (width, product) = (self.labels.factor.width() as u64, self.product());
        let (block_rows, d) = (reduction_block_rows(task.d()) as u64, task.d() as u64);
        let reading = reading_memory(task.n(), task.d(), shape.element_bytes(), shape.streamed)
            / if task.sparse() { 8 } else { 1 };
        let padded = (n_components as u64 + 1 + PROBES as u64).next_multiple_of(8);
        let small = d * padded * 8 <= 1 << 20;
        let sums = padded * width * 8;
        let last = 8 * product
            + if small { 18 } else { 6 } * d * padded * 8
            + (16 * block_rows * padded * 8).max(64 * sums)
            + 20 * sums
            + (4 << 20)
            + if task.sparse() { 9 * d * padded * 8 } else { 0 };
        self.product_memory().max(last) + reading + self.labels.held_memory() + (2 << 20)
    }
}
