//! A model checked against samples and their classes from scratch: plain loops that share nothing with the fit.

use super::Pooling;
use super::model::{LdaParts, WithinRecord};
use crate::data::{Dataset, Target, TargetBody, compiled_here};
use crate::error::{Error, Result};
use crate::linalg::dense::power_of_two;
use crate::model::{Sum, Verification};
use crate::passes::{RowGrid, reduction_block_rows};
use crate::scalar::Scalar;
use ndarray::Array2;

/// Checks means, the spread of scores within classes, and that the discriminants are stationary: of
/// `S_b w − λ Σ w` the length in units of the features' spread, or, where Σ has fewer directions than there are
/// features, its products with the discriminants.
pub(super) fn verify<T: Scalar>(
    parts: &LdaParts,
    data: &Dataset<T>,
    target: &Target,
) -> Result<Verification> {
    compiled_here!(LdaParts, parts.verify_typed(data, target: &Target) -> Result<Verification>)
}

impl LdaParts {
    fn verify_typed<T: Scalar>(&self, data: &Dataset<T>, target: &Target) -> Result<Verification> {
        let own =
            |why: &str| Err(Error::NotDefined { what: "a check against data", why: why.into() });
        if self.within.given {
            return own("the covariance within classes was given");
        }
        if self.within.intensities.len() > 1 {
            return own("the shrinkage of Ledoit and Wolf is not computed a second way");
        }
        let codes = self.codes(target)?;
        let d = self.map.components.ncols();
        if data.n_features() != d || data.n_samples().is_some_and(|n| n != codes.len()) {
            return Err(Error::Shape {
                what: "the data",
                found: format!("{} features", data.n_features()),
                expected: format!("{d} features and a class for every sample, as in training,"),
            });
        }
        let sums = Sums::of(self, data, &codes)?;
        Ok(sums.judge(self))
    }

    /// The class of each sample, by its number in the model.
    fn codes(&self, target: &Target) -> Result<Vec<usize>> {
        let TargetBody::Classes { codes, names } = &target.body else {
            return Err(Error::Unsupported {
                what: "a target of numbers".into(),
                why: "has no classes to separate",
                instead: None,
            });
        };
        let missing = target.missing_rows();
        if !missing.is_empty() {
            return Err(Error::MissingLabels { rows: missing });
        }
        let place = |name: &String| self.classes.iter().position(|known| known == name);
        let places: Vec<Option<usize>> = names.iter().map(place).collect();
        let code = |&code: &u32| {
            let name = &names[code as usize];
            places[code as usize].ok_or_else(|| Error::NotDefined {
                what: "a check against data",
                why: format!("the class `{name}` was not among those of training"),
            })
        };
        codes.iter().map(code).collect()
    }
}

/// Sums over the samples, of features about the mean of the model and in its units.
struct Sums {
    rows: usize,
    weights: Vec<f64>,
    /// Sums of the features by class (c × d), about the mean of their class in the model.
    deviations: Array2<f64>,
    /// By class: squares of the features (c × d) and their products with scores (c × q·d).
    squares: Array2<f64>,
    products: Array2<f64>,
}

impl Sums {
    fn of<T: Scalar>(model: &LdaParts, data: &Dataset<T>, codes: &[usize]) -> Result<Sums> {
        let scaler = &model.map.scaler;
        let (d, q, c) = (model.map.components.ncols(), model.map.rank, model.classes.len());
        let mut grid = RowGrid::surveying(data)?;
        if let Some(exponents) = &scaler.column_exponents {
            grid.set_exponents(exponents.clone());
        }
        let means = model.standardized_means();
        let mut weights = vec![Sum::default(); c];
        let mut deviations = vec![Sum::default(); c * d];
        let mut squares = vec![Sum::default(); c * d];
        let mut products = vec![Sum::default(); c * q * d];
        let rows = grid.for_each_batch(reduction_block_rows(d), |batch| {
            let mut scratch = Vec::new();
            for i in 0..batch.rows {
                let block = batch.block(i, i + 1, &mut scratch);
                if let Some((row, column, value)) = block.find_bad() {
                    return Err(data.bad_entry(row, column, value));
                }
                let (w, class) = (block.count(0), *codes.get(block.first).unwrap_or(&0));
                let x: Vec<f64> = (0..d)
                    .map(|f| {
                        let x = (block.row(0)[f].to_f64() - scaler.mean_hi[f]) - scaler.mean_lo[f];
                        x * scaler.inv_scale[f] - means[[class, f]]
                    })
                    .collect();
                weights[class].add(w);
                for f in 0..d {
                    deviations[class * d + f].add(w * x[f]);
                    squares[class * d + f].add(w * x[f] * x[f]);
                }
                for j in 0..q {
                    let z: f64 = (0..d).map(|f| model.weight(j, f) * x[f]).sum();
                    for f in 0..d {
                        products[(class * q + j) * d + f].add(w * z * x[f]);
                    }
                }
            }
            Ok(())
        })?;
        let matrix = |sums: &[Sum], columns: usize| {
            Array2::from_shape_fn((c, columns), |(i, j)| sums[i * columns + j].value())
        };
        Ok(Sums {
            rows,
            weights: weights.iter().map(|w| w.value()).collect(),
            deviations: matrix(&deviations, d),
            squares: matrix(&squares, d),
            products: matrix(&products, q * d),
        })
    }

    /// A sum over the classes, as they are pooled.
    fn pooled(&self, model: &LdaParts, of: &Array2<f64>, at: usize) -> f64 {
        let (n, c) = (self.weights.iter().sum::<f64>(), self.weights.len());
        let class = |class: usize| match model.pooling {
            Pooling::Samples => of[[class, at]] / (n - c as f64),
            Pooling::Likelihood => of[[class, at]] / n,
            Pooling::Priors => model.priors[class] / self.weights[class] * of[[class, at]],
        };
        (0..c).map(class).sum()
    }

    fn judge(&self, model: &LdaParts) -> Verification {
        let (c, d) = model.class_offsets.dim();
        let (k, pencil) = (model.n_components, Pencil::new(self, model));
        let kept = k.min(model.map.rank);
        let top = model.values.first().copied().unwrap_or(0.0);
        let relative = |v: f64| if top > 0.0 { v / top } else { v };
        let of_kept = |error: &dyn Fn(usize) -> f64| {
            let mut errors: Vec<f64> = (0..kept).map(|j| relative(error(j))).collect();
            errors.resize(k, 0.0);
            errors
        };
        let pairs = (0..kept).flat_map(|i| (0..kept).map(move |j| (i, j)));
        let off =
            |(i, j)| (pencil.product(i, &pencil.within, j) - f64::from(u8::from(i == j))).abs();
        let mean_error = (0..c * d).map(|at| {
            let (class, f) = (at / d, at % d);
            let sd = pencil.variances[f].sqrt();
            let error = (self.deviations[[class, f]] / self.weights[class]).abs();
            if sd > 0.0 { error / sd } else { error }
        });
        let total: f64 = model.values.iter().sum();
        let found: f64 = (0..model.map.rank).map(|j| pencil.ratio(j)).sum();
        Verification {
            rows: self.rows,
            mean_error: mean_error.fold(0.0, f64::max),
            residuals: of_kept(&|j| pencil.residual(j)),
            value_errors: of_kept(&|j| (pencil.ratio(j) - model.values[j]).abs()),
            total_error: if total > 0.0 { (found - total).abs() / total } else { 0.0 },
            orthogonality: pairs.map(off).fold(0.0, f64::max),
            tolerance: model.tolerance,
        }
    }
}

/// `Σ w` and `S_b w` of every discriminant (q × d), in the units of the model.
struct Pencil<'a> {
    model: &'a LdaParts,
    within: Array2<f64>,
    between: Array2<f64>,
    /// The diagonal of Σ (d).
    variances: Vec<f64>,
}

impl Pencil<'_> {
    fn new<'a>(sums: &Sums, model: &'a LdaParts) -> Pencil<'a> {
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
        let mean = |class: usize, f: usize| means[[class, f]] - centers[f];
        let scores = Array2::from_shape_fn((c, q), |(class, j)| -> f64 {
            (0..d).map(|f| mean(class, f) * model.weight(j, f)).sum()
        });
        let spread = n / (c as f64 - 1.0);
        let between = Array2::from_shape_fn((q, d), |(j, f)| -> f64 {
            (0..c).map(|c| spread * model.priors[c] * mean(c, f) * scores[[c, j]]).sum()
        });
        Pencil { model, within, between, variances: (0..d).map(variance).collect() }
    }

    /// `w_i · v_j`.
    fn product(&self, i: usize, of: &Array2<f64>, j: usize) -> f64 {
        of.row(j).iter().enumerate().map(|(f, v)| self.model.weight(i, f) * v).sum()
    }

    fn ratio(&self, j: usize) -> f64 {
        self.product(j, &self.between, j) / self.product(j, &self.within, j)
    }

    fn residual(&self, j: usize) -> f64 {
        let rest = &self.between.row(j) - &(&self.within.row(j) * self.model.values[j]);
        let WithinRecord { rank, projected, intensities, .. } = &self.model.within;
        let varying = self.variances.iter().filter(|v| **v > 0.0).count();
        let whole =
            projected.is_none() && (*rank >= varying || intensities.iter().any(|a| *a > 0.0));
        let squares: f64 = match whole {
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
