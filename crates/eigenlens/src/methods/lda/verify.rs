//! A model checked against samples and their classes from scratch: plain loops that share nothing with the fit.

use super::Pooling;
use super::model::{LdaModel, LdaParts, WithinRecord};
use crate::data::{AnyDataset, DataShape, Target, TargetBody, UNLABELLED};
use crate::error::{Error, Result};
use crate::linalg::dense::power_of_two;
use crate::model::verify::{
    Checks, Reader, SMALL, Sums, Tridiagonal, Verification, VerifyOptions, dot, open, rounding,
    skip_the_run,
};
use ndarray::Array2;

/// Checks means, the spread of scores within classes, and that the discriminants are stationary: of
/// `S_b w − λ Σ w` the length in units of the features' spread, or, where Σ has fewer directions than there are
/// features, its products with the discriminants.
pub(super) fn verify(
    model: &LdaModel,
    data: &AnyDataset,
    target: Option<&Target>,
    options: &VerifyOptions,
) -> Result<Verification> {
    let (parts, d) = (&model.parts, model.parts.map.components.ncols());
    let (mut checks, reader) = open(&parts.core, d, memory(model, &data.shape()), data, options)?;
    let target = target.ok_or_else(|| Error::NotDefined {
        what: "a check of discriminants",
        why: "no classes were given".into(),
    })?;
    let rows = match reader {
        None => 0,
        Some(reader) => {
            let reader = reader.scaled_by(parts.map.scaler.column_exponents.as_deref());
            let codes = parts.codes(target, data)?;
            let sums = ClassSums::of(parts, &reader, &codes)?;
            sums.check(&mut checks, parts, &reader, options.tolerance);
            sums.rows
        }
    };
    skip_the_run(&mut checks);
    checks.skip("the warnings", "they are not made a second time");
    Ok(checks.finish(rows, options))
}

/// Bytes that a check takes beyond the data.
pub(super) fn memory(model: &LdaModel, shape: &DataShape) -> u64 {
    let parts = &model.parts;
    let (c, d) = parts.class_offsets.dim();
    let sums = (c * d * (parts.map.rank + 2)) as u64 * (Sums::BYTES + 8);
    let matrix = if d <= SMALL { 3 * 8 * (d * d) as u64 } else { 0 };
    sums + matrix + Reader::memory(shape.n_features) + (1 << 16)
}

impl LdaParts {
    /// The class of each sample, by its number in the model; none where it has no label.
    fn codes(&self, target: &Target, data: &AnyDataset) -> Result<Vec<Option<usize>>> {
        let TargetBody::Classes { codes, names } = &target.body else {
            return Err(Error::Unsupported {
                what: "a target of numbers".into(),
                why: "has no classes to separate",
                instead: None,
            });
        };
        if data.n_samples().is_some_and(|n| n != codes.len()) {
            return Err(Error::Shape {
                what: "the target",
                found: format!("{} values", codes.len()),
                expected: "a class for every sample".into(),
            });
        }
        let place = |name: &String| self.classes.iter().position(|known| known == name);
        let places: Vec<Option<usize>> = names.iter().map(place).collect();
        let code = |&code: &u32| match code {
            UNLABELLED => Ok(None),
            code => match places[code as usize] {
                Some(place) => Ok(Some(place)),
                None => Err(Error::NotDefined {
                    what: "a check against data",
                    why: format!(
                        "the class `{}` was not among those of training",
                        names[code as usize]
                    ),
                }),
            },
        };
        codes.iter().map(code).collect()
    }
}

/// Sums over the samples, of features about the mean of their class in the model and in its units.
struct ClassSums {
    rows: usize,
    weights: Vec<f64>,
    /// Sums of the features by class (c × d).
    deviations: Array2<f64>,
    /// By class: squares of the features (c × d) and their products with scores (c × q·d).
    squares: Array2<f64>,
    products: Array2<f64>,
    /// Products of the features, pooled (d × d), where there are few.
    scatter: Option<Vec<f64>>,
}

impl ClassSums {
    fn of(model: &LdaParts, reader: &Reader, codes: &[Option<usize>]) -> Result<ClassSums> {
        let scaler = &model.map.scaler;
        let (d, q, c) = (model.map.components.ncols(), model.map.rank, model.classes.len());
        let means = model.standardized_means();
        let discriminants: Vec<Vec<f64>> =
            (0..q).map(|j| (0..d).map(|f| model.weight(j, f)).collect()).collect();
        let (mut weights, mut deviations) = (Sums::zeros(c), Sums::zeros(c * d));
        let (mut squares, mut products) = (Sums::zeros(c * d), Sums::zeros(c * q * d));
        let mut scatter = (d <= SMALL).then(|| vec![0.0; d * d]);
        let rows = reader.for_each(&mut |batch| {
            for (i, &w) in batch.weights.iter().enumerate() {
                let Some(class) = codes.get(batch.numbers[i]).copied().flatten() else { continue };
                let row = batch.dense_row(i);
                let x: Vec<f64> = (0..d)
                    .map(|f| {
                        let x = (row[f] - scaler.mean_hi[f]) - scaler.mean_lo[f];
                        x * scaler.inv_scale[f] - means[[class, f]]
                    })
                    .collect();
                weights.add(class, w);
                for f in 0..d {
                    deviations.add(class * d + f, w * x[f]);
                    squares.add(class * d + f, w * x[f] * x[f]);
                }
                for (j, discriminant) in discriminants.iter().enumerate() {
                    let z = dot(discriminant, &x);
                    for f in 0..d {
                        products.add((class * q + j) * d + f, w * z * x[f]);
                    }
                }
                if let Some(scatter) = &mut scatter {
                    let share = model.pooled_share(class, w);
                    for (f, line) in scatter.chunks_exact_mut(d).enumerate() {
                        let factor = share * x[f];
                        line.iter_mut().zip(&x).for_each(|(s, v)| *s += factor * v);
                    }
                }
            }
            Ok(())
        })?;
        let matrix = |sums: &Sums, columns: usize| {
            Array2::from_shape_fn((c, columns), |(i, j)| sums.value(i * columns + j))
        };
        Ok(ClassSums {
            rows,
            weights: weights.values(),
            deviations: matrix(&deviations, d),
            squares: matrix(&squares, d),
            products: matrix(&products, q * d),
            scatter,
        })
    }

    /// A sum over the classes, as they are pooled.
    fn pooled(&self, model: &LdaParts, of: &Array2<f64>, at: usize) -> f64 {
        let share = |class: usize| model.pooled_share(class, of[[class, at]]);
        (0..self.weights.len()).map(share).sum()
    }

    fn check(&self, checks: &mut Checks, model: &LdaParts, reader: &Reader, tolerance: f64) {
        let c = model.classes.len();
        let n: f64 = self.weights.iter().sum();
        checks.samples(&model.core, reader, n);
        let weight = |class: usize| (model.class_weights[class], self.weights[class], 1e-9 * n);
        let name = |class: usize| format!("weight of class `{}`", model.classes[class]);
        checks.worst(name, (0..c).map(weight));
        self.check_means(checks, model, reader);
        if model.within.given || model.within.intensities.len() > 1 {
            let reason = match model.within.given {
                true => "the covariance within classes was given",
                false => "the shrinkage of Ledoit and Wolf is not computed a second way",
            };
            checks.skip("the discriminants and what is said of them", reason);
            return;
        }
        let pencil = Pencil::new(self, model);
        pencil.check(checks, model, tolerance);
        pencil.check_all(checks, model, self.scatter.as_deref(), tolerance);
        if let Some(covariance) = &model.covariance {
            pencil.check_covariance(checks, covariance, self.scatter.as_deref(), rounding(reader));
        }
        let reason = "the norm that they are measured in is not made a second time";
        checks.skip("bounds on residuals and angles of discriminants", reason);
    }

    fn check_means(&self, checks: &mut Checks, model: &LdaParts, reader: &Reader) {
        let (c, d) = model.class_offsets.dim();
        let scaler = &model.map.scaler;
        let rounding = rounding(reader);
        let mean = |at: usize| {
            let (class, f) = (at / d, at % d);
            let unit = power_of_two(scaler.column_exponents.as_ref().map_or(0, |e| e[f]));
            let inv = scaler.inv_scale[f];
            let size = if inv > 0.0 { unit / inv } else { 0.0 };
            let inside = scaler.mean_hi[f] + (scaler.mean_lo[f] + model.class_offsets[[class, f]]);
            let off = self.deviations[[class, f]] / self.weights[class] * size;
            let spread = self.pooled(model, &self.squares, f).max(0.0).sqrt() * size;
            let allowed = rounding * spread + 1e-14 * (inside * unit).abs();
            (inside * unit, inside * unit + off, allowed)
        };
        let name = |at: usize| {
            let (class, f) = (at / d, at % d);
            format!("mean of feature {} in class `{}`", reader.column_name(f), model.classes[class])
        };
        checks.worst(name, (0..c * d).map(mean));
        let means = model.standardized_means();
        let centroid = |at: usize| {
            let (class, j) = (at / model.map.rank, at % model.map.rank);
            let found: f64 = (0..d).map(|f| model.weight(j, f) * means[[class, f]]).sum();
            let size: f64 = (0..d).map(|f| (model.weight(j, f) * means[[class, f]]).abs()).sum();
            (model.centroids[[class, j]], found, 1e-9 * size)
        };
        let name = |at: usize| {
            let (class, j) = (at / model.map.rank, at % model.map.rank);
            format!("score {} of the mean of class `{}`", j + 1, model.classes[class])
        };
        checks.worst(name, (0..c * model.map.rank).map(centroid));
    }
}

/// `Σ w` and `S_b w` of every discriminant (q × d), in the units of the model.
struct Pencil<'a> {
    model: &'a LdaParts,
    within: Array2<f64>,
    between: Array2<f64>,
    /// Means of the classes about their center, weighted (c × d): `S_b` is the product of its transpose with it.
    means: Array2<f64>,
    /// The diagonal of Σ (d), and what shrinkage put there.
    variances: Vec<f64>,
    identity: Vec<f64>,
    alpha: f64,
}

impl Pencil<'_> {
    fn new<'a>(sums: &ClassSums, model: &'a LdaParts) -> Pencil<'a> {
        let (c, d) = model.class_offsets.dim();
        let (q, n) = (model.map.rank, sums.weights.iter().sum::<f64>());
        let alpha = model.within.intensities.first().copied().unwrap_or(0.0);
        let identity = model.identity(alpha, |f| sums.pooled(model, &sums.squares, f));
        let variance =
            |f: usize| (1.0 - alpha) * sums.pooled(model, &sums.squares, f) + identity[f];
        let within = Array2::from_shape_fn((q, d), |(j, f)| {
            let measured = sums.pooled(model, &sums.products, j * d + f);
            (1.0 - alpha) * measured + identity[f] * model.weight(j, f)
        });
        // The means of the classes about that which their priors give.
        let means = model.standardized_means();
        let center = |f: usize| -> f64 { (0..c).map(|c| model.priors[c] * means[[c, f]]).sum() };
        let centers: Vec<f64> = (0..d).map(center).collect();
        let spread = n / (c as f64 - 1.0);
        let means = Array2::from_shape_fn((c, d), |(class, f)| {
            (spread * model.priors[class]).sqrt() * (means[[class, f]] - centers[f])
        });
        let scores = Array2::from_shape_fn((c, q), |(class, j)| -> f64 {
            (0..d).map(|f| means[[class, f]] * model.weight(j, f)).sum()
        });
        let between = Array2::from_shape_fn((q, d), |(j, f)| -> f64 {
            (0..c).map(|c| means[[c, f]] * scores[[c, j]]).sum()
        });
        let variances = (0..d).map(variance).collect();
        Pencil { model, within, between, means, variances, identity, alpha }
    }

    fn check(&self, checks: &mut Checks, model: &LdaParts, tolerance: f64) {
        let top = model.values.first().copied().unwrap_or(0.0);
        let kept = model.map.rank;
        for j in 0..kept {
            let stated = model.certificate.value_errors.get(j).copied().unwrap_or(tolerance);
            let allowed = stated.min(tolerance) * top + 1e-11 * top;
            let claim = format!("ratio of variances of discriminant {}", j + 1);
            checks.number(claim, model.values[j], self.ratio(j), allowed);
            let residual = if top > 0.0 { self.residual(j) / top } else { self.residual(j) };
            let claim = format!("discriminant {} is stationary", j + 1);
            let words = format!("a relative residual of at most {tolerance:e}");
            checks.other(claim, words, residual, residual <= tolerance);
        }
        for i in 0..kept {
            for j in 0..=i {
                let expected = f64::from(u8::from(i == j));
                let found = self.product(i, &self.within, j);
                let claim = format!("covariance within classes of scores {} and {}", j + 1, i + 1);
                checks.number(claim, expected, found, tolerance);
            }
        }
        for (j, claimed) in model.certificate.value_errors.iter().enumerate().take(kept) {
            let off = (self.ratio(j) - model.values[j]).abs() / top.max(f64::MIN_POSITIVE);
            let claim = format!("bound on the error of ratio {}", j + 1);
            let fine = *claimed >= 0.125 * f64::EPSILON * model.values[j] / top;
            checks.other(claim, *claimed, off, off <= claimed + 1e-11 && fine);
        }
    }

    /// All ratios that these means have, by the covariance within classes itself.
    fn check_all(
        &self,
        checks: &mut Checks,
        model: &LdaParts,
        scatter: Option<&[f64]>,
        tolerance: f64,
    ) {
        let claim = "that no larger ratio was missed";
        let matrix = scatter.filter(|_| self.is_whole()).and_then(|s| self.ratios(s));
        let Some(all) = matrix else {
            checks.skip(claim, "the covariance within classes is large, or has no inverse");
            return;
        };
        let top = model.values.first().copied().unwrap_or(0.0);
        for (j, value) in model.values.iter().enumerate().take(model.map.rank) {
            let found = all.get(j).copied().unwrap_or(0.0);
            checks.number(format!("ratio number {} of all", j + 1), *value, found, tolerance * top);
        }
        let next = all.get(model.map.rank).copied().unwrap_or(0.0);
        let claim = "largest ratio beside the discriminants";
        checks.number(claim, 0.0, next.max(0.0), tolerance * top.max(1.0));
    }

    /// Of `M Σ⁻¹ Mᵀ` with the weighted means M (c × d); `None` where Σ is not definite.
    fn ratios(&self, scatter: &[f64]) -> Option<Vec<f64>> {
        let (c, d) = self.means.dim();
        let kept: Vec<usize> = (0..d).filter(|&f| self.variances[f] > 0.0).collect();
        let m = kept.len();
        // In units of the features' spread: L Lᵀ = D⁻¹ Σ D⁻¹.
        let size: Vec<f64> = kept.iter().map(|&f| self.variances[f].sqrt()).collect();
        let mut l = vec![0.0; m * m];
        for i in 0..m {
            for j in 0..=i {
                let mut v = (1.0 - self.alpha) * scatter[kept[i] * d + kept[j]];
                if i == j {
                    v += self.identity[kept[i]];
                }
                let inside = dot(&l[i * m..i * m + j], &l[j * m..j * m + j]);
                let left = v / size[i] / size[j] - inside;
                if i == j && left <= 1e-10 {
                    return None;
                }
                l[i * m + j] = if i == j { left.sqrt() } else { left / l[j * m + j] };
            }
        }
        let whitened: Vec<Vec<f64>> = (0..c)
            .map(|class| {
                let mut y: Vec<f64> = Vec::with_capacity(m);
                for i in 0..m {
                    let inside = dot(&l[i * m..i * m + i], &y);
                    y.push((self.means[[class, kept[i]]] / size[i] - inside) / l[i * m + i]);
                }
                y
            })
            .collect();
        let gram = (0..c * c).map(|at| dot(&whitened[at / c], &whitened[at % c])).collect();
        Some(Tridiagonal::of(gram, c).values())
    }

    fn check_covariance(
        &self,
        checks: &mut Checks,
        claimed: &Array2<f64>,
        scatter: Option<&[f64]>,
        rounding: f64,
    ) {
        let claim = "covariance within classes";
        let Some(scatter) = scatter else {
            checks.skip(claim, "it is too large to be made once more");
            return;
        };
        let d = self.variances.len();
        let scaler = &self.model.map.scaler;
        let unit = |f: usize| {
            let exponent = scaler.column_exponents.as_ref().map_or(0, |e| e[f]);
            let inv = scaler.inv_scale[f];
            if inv > 0.0 { power_of_two(exponent) / inv } else { 0.0 }
        };
        let entry = |at: usize| {
            let (f, g) = (at / d, at % d);
            let own = if f == g { self.identity[f] } else { 0.0 };
            let found = ((1.0 - self.alpha) * scatter[at] + own) * unit(f) * unit(g);
            let size = (self.variances[f] * self.variances[g]).sqrt() * unit(f) * unit(g);
            let claimed = if unit(f) > 0.0 && unit(g) > 0.0 { claimed[[f, g]] } else { found };
            (claimed, found, 10.0 * rounding * size)
        };
        checks
            .worst(|at| format!("{claim} ({}, {})", at / d + 1, at % d + 1), (0..d * d).map(entry));
    }

    /// `w_i · v_j`.
    fn product(&self, i: usize, of: &Array2<f64>, j: usize) -> f64 {
        of.row(j).iter().enumerate().map(|(f, v)| self.model.weight(i, f) * v).sum()
    }

    fn ratio(&self, j: usize) -> f64 {
        self.product(j, &self.between, j) / self.product(j, &self.within, j)
    }

    /// Whether Σ has all directions that features vary in.
    fn is_whole(&self) -> bool {
        let WithinRecord { rank, projected, intensities, .. } = &self.model.within;
        let varying = self.variances.iter().filter(|v| **v > 0.0).count();
        projected.is_none() && (*rank >= varying || intensities.iter().any(|a| *a > 0.0))
    }

    fn residual(&self, j: usize) -> f64 {
        let rest = &self.between.row(j) - &(&self.within.row(j) * self.model.values[j]);
        let squares: f64 = match self.is_whole() {
            true => (rest.iter().zip(&self.variances))
                .map(|(r, v)| if *v > 0.0 { r * r / v } else { 0.0 })
                .sum(),
            false => (0..self.model.map.rank)
                .map(|i| {
                    rest.iter().enumerate().map(|(f, r)| self.model.weight(i, f) * r).sum::<f64>()
                })
                .map(|v| v * v)
                .sum(),
        };
        squares.sqrt()
    }
}

impl LdaParts {
    /// What a weight in a class counts in the pooled covariance.
    fn pooled_share(&self, class: usize, weight: f64) -> f64 {
        let (n, c) = (self.class_weights.iter().sum::<f64>(), self.class_weights.len());
        match self.pooling {
            Pooling::Samples => weight / (n - c as f64),
            Pooling::Likelihood => weight / n,
            Pooling::Priors => self.priors[class] / self.class_weights[class] * weight,
        }
    }

    /// The coefficient of a feature, in the units of the model.
    fn weight(&self, j: usize, f: usize) -> f64 {
        self.map.components[[j, f]] * self.scales[j]
    }

    /// The means of the classes about that of the model, in its units (c × d).
    fn standardized_means(&self) -> Array2<f64> {
        let inv_scale = &self.map.scaler.inv_scale;
        Array2::from_shape_fn(self.class_offsets.dim(), |(class, f)| {
            self.class_offsets[[class, f]] * inv_scale[f]
        })
    }

    /// What shrinkage adds to the variance of every feature (d), in the units of the model.
    fn identity(&self, alpha: f64, variance: impl Fn(usize) -> f64) -> Vec<f64> {
        let scaler = &self.map.scaler;
        let d = scaler.inv_scale.len();
        // One over the length of a unit of the data.
        let unit = |f: usize| {
            let exponent = scaler.column_exponents.as_ref().map_or(0, |e| e[f]);
            scaler.inv_scale[f] * power_of_two(-exponent)
        };
        if alpha == 0.0 {
            return vec![0.0; d];
        }
        let mean = (0..d).map(|f| variance(f) / unit(f) / unit(f)).sum::<f64>() / d as f64;
        (0..d).map(|f| alpha * mean * unit(f) * unit(f)).collect()
    }
}
