//! The fit: means of the classes, a basis that whitens the spread within them, and in it the directions in which
//! the means lie apart.

use super::classes::Classes;
use super::model::{LdaModel, LdaParts, WithinRecord};
use super::plan::{Steps, Task};
use super::within::{Means, Recipe, Whitening, WithinTask, centered, covariance};
use super::{Lda, refuse_rules};
use crate::data::{Dataset, SampleWeights, Target};
use crate::error::{Error, Result, Warning};
use crate::linalg::dense::{power_of_two, qr_q, thin_svd};
use crate::linalg::{gemm, pool};
use crate::methods::fit::Fit;
use crate::model::{LinearMap, ModelCore};
use crate::n_components::{Head, LeadingPairs, NComponents, Rule, Spectrum, resolve};
use crate::passes::{ClassCentered, ClassMeans, RowGrid, Scaler, two_sum};
use crate::plan::{Plan, Route};
use crate::scalar::Scalar;
use crate::solver::certificate::{self, Certificate, Evidence, Measured, NoneMissed, Rounding};
use crate::solver::finish;
use ndarray::{Array1, Array2, ArrayView1, Axis, s};

/// Fits, and returns the training scores where they are wanted (else an empty matrix).
pub(super) fn run<T: Scalar>(
    lda: &Lda,
    data: &Dataset<T>,
    target: &Target,
    want_scores: bool,
) -> Result<(LdaModel, Array2<T>)> {
    let labelled = labelled(lda, data, target)?;
    let model = pool::run(lda.options.threads, || {
        let data = labelled.as_ref().unwrap_or(data);
        let mut grid = RowGrid::new(data)?;
        let classes = Classes::new(lda, target, grid.counts())?;
        let (steps, plan) = Task::new(lda, &data.shape(), &classes).plan()?;
        let plan = plan.reserved()?;
        // Step 1: the means of all and of the classes.
        let means = Means::of(&mut grid, &classes)?;
        let fit = LdaFit { lda, data, grid: &grid, classes: &classes, means: &means };
        // Step 2: the discriminants, of the data or of their principal components.
        let found = match steps {
            Steps::Direct => fit.direct(plan.route)?,
            Steps::Fisherfaces { room } => fit.fisherfaces(room)?,
        };
        // Step 3: a model, and what the user should know.
        let covariance = match lda.store_covariance {
            true => Some(covariance(lda, &classes, &means, &grid)?),
            false => None,
        };
        fit.model(found, plan, covariance)
    })??;
    let k = model.n_components();
    let scores = if want_scores { model.transform(data)? } else { Array2::default((0, k)) };
    Ok((model, scores))
}

/// The data with no weight for samples without a label, where there are such and they are let be.
fn labelled<'d, T: Scalar>(
    lda: &Lda,
    data: &Dataset<'d, T>,
    target: &Target,
) -> Result<Option<Dataset<'d, T>>> {
    let missing = target.missing_rows();
    if missing.is_empty() || !lda.keep_unlabelled {
        return Ok(None);
    }
    let counts = data.weights().map(SampleWeights::counts).transpose()?;
    let mut counts = counts.unwrap_or_else(|| vec![1.0; target.n_samples()]);
    for row in missing {
        counts.get_mut(row).into_iter().for_each(|count| *count = 0.0);
    }
    Ok(Some(data.clone().with_weights(SampleWeights::frequency(counts))))
}

/// One fit.
struct LdaFit<'a, 'd, 'g, T: Scalar> {
    lda: &'a Lda,
    data: &'a Dataset<'d, T>,
    grid: &'a RowGrid<'g, T>,
    classes: &'a Classes,
    means: &'a Means,
}

/// Directions that separate the classes.
struct Discriminants {
    /// q × d: scores of unit variance within classes are these times features about the mean, scaled by
    /// `inv_scale`.
    weights: Array2<f64>,
    /// The ratio of the variances between and within classes (q), descending.
    values: Vec<f64>,
    /// What prescaled features are multiplied by (d).
    inv_scale: Vec<f64>,
    /// Whether that makes them standardised.
    standardized: bool,
    n_components: usize,
    certificate: Certificate,
    within: WithinRecord,
    /// Features that do not vary within any class.
    constant: Vec<usize>,
    warnings: Vec<Warning>,
}

impl<T: Scalar> LdaFit<'_, '_, '_, T> {
    /// The discriminants of the data themselves.
    fn direct(&self, route: Route) -> Result<Discriminants> {
        let recipe = Recipe::new(self.lda, self.classes, self.means, self.grid)?;
        let (lda, grid, means) = (self.lda, self.grid, self.means);
        let task = WithinTask { lda, grid, means, recipe: &recipe, route };
        let rows = centered(grid, &means.of_rows, None);
        let data = task.dataset(&rows);
        let mut inner = RowGrid::new(&data)?;
        let whitening = task.whiten(&mut inner, &means.offsets)?;
        // The means in units of the whitened spread: their singular vectors are the discriminants.
        let means = self.scaled_means(&whitening.inv_scale);
        let found = self.between(&means, &whitening)?;
        let n_components = self.resolve(&found)?;
        let certificate = certify(&found, n_components, &means, &whitening, &inner)?;
        Ok(Discriminants {
            weights: found.weights,
            values: found.values,
            standardized: lda.shrinkage.is_none() || route == Route::Covariance,
            n_components,
            certificate,
            within: WithinRecord {
                rank: whitening.rank,
                intensities: recipe.intensities,
                projected: None,
                given: whitening.is_given(),
            },
            inv_scale: whitening.inv_scale,
            constant: whitening.constant,
            warnings: Vec::new(),
        })
    }

    /// The discriminants of the leading principal components, as directions of the features: as many components
    /// as samples of a class can differ in (Belhumeur, Hespanha & Kriegman 1997).
    fn fisherfaces(&self, room: Option<u64>) -> Result<Discriminants> {
        let mut pca = Fit::new("pca", NComponents::All, true);
        pca.options = self.lda.options.clone();
        pca.options.memory = room;
        let (model, _) = pca.run(self.data, false)?;
        let parts = model.into_parts();
        // Of n different samples n − 1 components carry variance; n − c of them samples of a class can differ in.
        let (rank, c) = (parts.map.rank, self.classes.len());
        let kept = match rank < self.data.n_features() {
            true => rank.saturating_sub(c - 1).max(1),
            false => rank.min(self.classes.rows - c),
        };
        let components = parts.map.components.slice(s![..kept, ..]).to_owned();
        let unit = power_of_two(parts.map.scaler.exponent);
        let map = LinearMap { components, rank: kept.min(parts.map.rank), ..parts.map };
        let scores = self.scores_of(&map, &vec![unit; kept])?;
        let mut projected = Dataset::from(&scores);
        if let Some(weights) = self.data.weights() {
            projected = projected.with_weights(weights.clone());
        }
        let mut grid = RowGrid::new(&projected)?;
        let means = Means::of(&mut grid, self.classes)?;
        let inner = LdaFit {
            lda: self.lda,
            data: &projected,
            grid: &grid,
            classes: self.classes,
            means: &means,
        };
        let found = inner.direct(Route::Covariance)?;
        // Back to the features: scores are in true units, rows of the map in those of its scaler.
        let exponents = grid.exponents();
        let scaled = Array2::from_shape_fn(found.weights.dim(), |(j, p)| {
            let prescale = power_of_two(-exponents.map_or(0, |e| e[p]));
            found.weights[[j, p]] * found.inv_scale[p] * prescale * unit
        });
        let weights = gemm::product(scaled.view(), map.components.view());
        let (values, weights) = finish::largest_first(
            &found.values,
            &columns_of(&weights),
            found.values.len(),
            T::SIGN_TIE,
        );
        let mut warnings = parts.core.warnings;
        warnings.retain(|w| matches!(w, Warning::Escalated { .. } | Warning::NotCertified { .. }));
        Ok(Discriminants {
            weights,
            values,
            inv_scale: map.scaler.inv_scale,
            standardized: false,
            within: WithinRecord { projected: Some(kept), ..found.within },
            constant: Vec::new(),
            warnings,
            ..found
        })
    }

    /// Scores (n × k) in f64, whatever the type of the data.
    fn scores_of(&self, map: &LinearMap, factors: &[f64]) -> Result<Array2<f64>> {
        let d = self.data.n_features();
        let as_they_are = ClassMeans {
            codes: vec![0; self.classes.codes.len()],
            mean_hi: vec![0.0; d],
            offsets: Array2::zeros((1, d)),
        };
        let data = self.data.unweighted();
        let rows = ClassCentered { data: &data, means: &as_they_are, prescale: None, only: None };
        map.transform(&Dataset::streamed(&rows), factors)
    }

    /// The means of the classes about that of all, weighted by their priors (c × d), such that their sum of
    /// squares is the variance between classes (divisor c − 1) that n samples would have.
    fn scaled_means(&self, inv_scale: &[f64]) -> Array2<f64> {
        let (offsets, shift) = (&self.means.offsets, self.shift());
        let (n, c) = (self.classes.weight(), self.classes.len());
        Array2::from_shape_fn(offsets.dim(), |(class, f)| {
            let root = (n * self.classes.priors[class] / (c - 1) as f64).sqrt();
            root * (offsets[[class, f]] - shift[f]) * inv_scale[f]
        })
    }

    /// The mean of the classes, weighted by their priors, less that of the samples (d).
    fn shift(&self) -> Array1<f64> {
        match self.classes.given_priors {
            true => ArrayView1::from(&self.classes.priors).dot(&self.means.offsets),
            false => Array1::zeros(self.means.offsets.ncols()),
        }
    }

    /// Singular vectors of the whitened means, turned back: order and sign of the discriminants.
    fn between(&self, means: &Array2<f64>, whitening: &Whitening) -> Result<Found> {
        let whitened = gemm::product(means.view(), whitening.basis.view());
        let svd = thin_svd(whitened.view())?;
        let top = svd.s.first().copied().unwrap_or(0.0);
        // Means carry the rounding of the whole spread, which may be far larger than that within classes.
        let columns = &self.means.columns;
        let spread = (columns.squares.iter().zip(&whitening.inv_scale))
            .map(|(s, w)| (s / columns.weight).sqrt() * w)
            .fold(1.0, f64::max);
        let floor = 16.0 * f64::EPSILON * columns.weight.sqrt() * spread;
        let least = floor.max(self.lda.rank_tolerance * top);
        let most = self.limit();
        let rank = svd.s.iter().take(most).take_while(|s| **s > least).count();
        let turned = svd.v.slice(s![.., ..rank]).as_standard_layout().into_owned();
        let vectors = gemm::product(whitening.basis.view(), turned.view());
        let squares: Vec<f64> = svd.s.iter().take(rank).map(|s| s * s).collect();
        let (values, weights) = finish::largest_first(&squares, &vectors, rank, T::SIGN_TIE);
        Ok(Found { values, weights, floor: floor * floor, limit: most })
    }

    /// The most components: one less than there are classes.
    fn limit(&self) -> usize {
        (self.classes.len() - 1).min(self.means.offsets.ncols())
    }

    fn resolve(&self, found: &Found) -> Result<usize> {
        let request = &self.lda.n_components;
        let mut pairs = Separations { values: &found.values, limit: found.limit };
        let internal = |_| Error::Internal("discriminants without room".into());
        let (k, ()) = resolve(request, &mut pairs, &mut Vec::new())?.or_refuse(internal)?;
        // All are as many as carry anything.
        Ok(if *request == NComponents::All { found.values.len().max(1) } else { k })
    }

    /// The model of the discriminants found.
    fn model(
        &self,
        found: Discriminants,
        plan: Plan,
        covariance: Option<Array2<f64>>,
    ) -> Result<LdaModel> {
        let (rank, k) = (found.values.len(), found.n_components);
        let warnings = self.warnings(&found);
        let scaler = self.scaler(&found);
        let (offsets, shift) = (&self.means.offsets, self.shift());
        let class_offsets = offsets - &shift;
        let means = Array2::from_shape_fn(offsets.dim(), |(class, f)| {
            class_offsets[[class, f]] * scaler.inv_scale[f]
        });
        let centroids = gemm::product(means.view(), columns_of(&found.weights).view());
        let (components, scales) = unit_rows(&found.weights, k, T::SIGN_TIE)?;
        let mut values = found.values;
        values.resize(rank.max(k), 0.0);
        Ok(LdaModel::new(LdaParts {
            core: ModelCore {
                method: "lda",
                n_samples: Some(self.classes.weight()),
                feature_names: self.data.feature_names().map(<[String]>::to_vec),
                plan,
                warnings,
                missing: None,
            },
            map: LinearMap { scaler, components, rank, threads: self.lda.options.threads },
            scales,
            n_components: k,
            values,
            classes: self.classes.names.clone(),
            class_weights: self.classes.sizes.clone(),
            priors: self.classes.priors.clone(),
            class_offsets,
            centroids,
            within: found.within,
            pooling: self.lda.pooling,
            center: self.lda.center,
            covariance,
            certificate: found.certificate,
            tolerance: self.lda.tolerance::<T>(),
        }))
    }

    /// What is done to samples before they are projected.
    fn scaler(&self, found: &Discriminants) -> Scaler {
        let (columns, shift) = (&self.means.columns, self.shift());
        let exponents = self.grid.exponents();
        let means: Vec<(f64, f64)> = (0..shift.len())
            .map(|f| two_sum(columns.mean_hi[f], columns.mean_lo[f] + shift[f]))
            .collect();
        let scale = |f: usize| match found.inv_scale[f] > 0.0 {
            true => power_of_two(exponents.map_or(0, |e| e[f])) / found.inv_scale[f],
            false => 1.0,
        };
        Scaler {
            mean_hi: means.iter().map(|(high, _)| *high).collect(),
            mean_lo: means.iter().map(|(_, low)| *low).collect(),
            inv_scale: found.inv_scale.clone(),
            column_exponents: exponents.map(<[i32]>::to_vec),
            scale: found.standardized.then(|| (0..shift.len()).map(scale).collect()),
            exponent: 0,
            constant: found.constant.clone(),
        }
    }

    fn warnings(&self, found: &Discriminants) -> Vec<Warning> {
        let mut warnings = found.warnings.clone();
        let (rank, requested) = (found.values.len(), found.n_components);
        if rank == 0 {
            warnings.push(Warning::NoDependence);
        } else if rank < requested {
            warnings.push(Warning::LabelRank { rank, requested });
        }
        let columns = &self.means.columns;
        let differs = |f: &usize| {
            let spread = (columns.squares[*f] / columns.weight).sqrt();
            spread > 4.0 * T::EPSILON * columns.mean_hi[*f].abs()
        };
        let (apart, constant): (Vec<usize>, Vec<usize>) =
            found.constant.iter().partition(|f| differs(f));
        let names = |of: &[usize]| of.iter().map(|&f| self.data.column_name(f)).collect();
        if !constant.is_empty() {
            warnings.push(Warning::ConstantColumns { names: names(&constant), columns: constant });
        }
        if !apart.is_empty() {
            let names = names(&apart);
            warnings.push(Warning::ConstantWithinClasses { columns: apart, names });
        }
        let (classes, samples) = (self.classes.len(), self.classes.rows);
        if samples >= 10 && 2 * classes > samples {
            warnings.push(Warning::IdentifierTarget { classes, samples });
        }
        warnings
    }
}

/// What lies between the classes.
struct Found {
    /// q ratios of variances, descending.
    values: Vec<f64>,
    /// q × d.
    weights: Array2<f64>,
    /// Ratios at or below this are rounding.
    floor: f64,
    /// The most there can be.
    limit: usize,
}

/// The certificate of `k` discriminants: with Σ as a pass over the data has it and `S_b` of the means of the
/// classes, the residual of `S_b w − λ Σ w` in the norm that the spread within classes gives.
fn certify<'r>(
    found: &Found,
    k: usize,
    means: &Array2<f64>,
    whitening: &'r Whitening,
    rows: &'r RowGrid<'r, f64>,
) -> Result<Certificate> {
    let kept = found.values.len().min(k + 1);
    let w = columns_of(&found.weights.slice(s![..kept, ..]).to_owned());
    let within = if kept > 0 { whitening.product(rows, &w)? } else { w.clone() };
    let scores = gemm::product(means.view(), w.view());
    let between = gemm::transposed_product(means.view(), scores.view());
    let mut rest = between.clone();
    for (j, mut column) in rest.columns_mut().into_iter().enumerate() {
        column.scaled_add(-found.values[j], &within.column(j));
    }
    let rest = gemm::transposed_product(whitening.basis.view(), rest.view());
    let gram = gemm::transposed_product(w.view(), within.view());
    let length = |j: usize| gram[[j, j]].max(f64::MIN_POSITIVE);
    let mut values = found.values[..kept].to_vec();
    let mut residuals: Vec<f64> =
        (0..kept).map(|j| (rest.column(j).dot(&rest.column(j)) / length(j)).sqrt()).collect();
    let mut along: Vec<f64> = (0..kept)
        .map(|j| (w.column(j).dot(&between.column(j)) / length(j) - values[j]).abs())
        .collect();
    // Beside those found the means do not lie apart, as far as this arithmetic can tell.
    let missing = k + usize::from(k < means.ncols());
    for all in [&mut values, &mut residuals, &mut along] {
        all.resize(missing.max(kept), 0.0);
    }
    let off = |((i, j), v): ((usize, usize), &f64)| (v - f64::from(u8::from(i == j))).abs();
    let inside = gram.slice(s![..kept.min(k), ..kept.min(k)]);
    Ok(certificate::certify(Measured {
        values: &values,
        k,
        residuals: &residuals,
        along: &along,
        rounding: Rounding::of_products(
            values.first().copied().unwrap_or(0.0),
            means.ncols(),
            values.len(),
        ),
        parts: None,
        orthogonality: inside.indexed_iter().map(off).fold(0.0, f64::max),
        rounding_floor: found.floor,
        evidence: if whitening.is_given() { Evidence::Matrix } else { Evidence::Data },
        none_missed: NoneMissed::Complete,
        unseen: 0.0,
    }))
}

/// Rows as columns, in the layout of products.
fn columns_of(rows: &Array2<f64>) -> Array2<f64> {
    rows.t().as_standard_layout().into_owned()
}

/// Unit rows (at least k × d) and their lengths; beyond those there are, unit vectors orthogonal to all and of
/// length 0.
fn unit_rows(weights: &Array2<f64>, k: usize, tie: f64) -> Result<(Array2<f64>, Vec<f64>)> {
    let (rank, d) = weights.dim();
    let mut scales: Vec<f64> = weights.rows().into_iter().map(|w| w.dot(&w).sqrt()).collect();
    let mut components = weights.clone();
    for (mut row, scale) in components.rows_mut().into_iter().zip(&scales) {
        row /= *scale;
    }
    if k > rank {
        let mut basis = Array2::zeros((k, d));
        if rank > 0 {
            let span = qr_q(columns_of(&components).view());
            basis.slice_mut(s![..rank, ..]).assign(&span.t());
        }
        finish::complete(&mut basis, rank, tie);
        components =
            ndarray::concatenate(Axis(0), &[components.view(), basis.slice(s![rank.., ..])])
                .map_err(|e| Error::Internal(e.to_string()))?;
        scales.resize(k, 0.0);
    }
    Ok((components, scales))
}

/// The discriminants, as their number is asked for: all of them are known.
struct Separations<'a> {
    values: &'a [f64],
    limit: usize,
}

impl LeadingPairs for Separations<'_> {
    type Pairs = ();

    fn leading(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    fn head(&self, (): &(), _: usize) -> Result<Head> {
        let total = self.values.iter().sum();
        Ok(Head::above_rounding(self.values.to_vec(), total, 0.0, self.values.len()))
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn finds_all(&self, _: usize) -> bool {
        true
    }

    fn check_rule(&self, rule: Rule) -> Result<()> {
        refuse_rules(&NComponents::Rule(rule))
    }

    fn spectrum<'h>(&'h self, head: &'h Head) -> Spectrum<'h> {
        Spectrum {
            values: &head.values,
            total_variance: head.total,
            n_samples: 0.0,
            n_features: self.limit,
            n_varying: self.limit,
            max_rank: head.max_rank,
            centered: true,
            standardized: false,
        }
    }
}
