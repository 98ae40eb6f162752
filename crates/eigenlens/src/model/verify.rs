//! A model checked against data from scratch: plain loops that share nothing with the solvers or
//! their kernels.

use super::PcaParts;
use crate::data::{Dataset, compiled_here};
use crate::error::{Error, Result};
use crate::passes::{RowGrid, Scaler, reduction_block_rows};
use crate::scalar::Scalar;
use ndarray::ArrayView2;
use std::borrow::Cow;

/// What an independent check found. All but the mean's error are relative to the largest variance.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    /// Rows read.
    pub rows: usize,
    /// Largest error of the mean, in standard deviations of its column (absolute where there is none).
    pub mean_error: f64,
    /// ‖S u − λ u‖ / λ₁ for each component.
    pub residuals: Vec<f64>,
    /// |uᵀ S u − λ| / λ₁ for each component.
    pub value_errors: Vec<f64>,
    /// Error of the total variance, relative to it.
    pub total_error: f64,
    /// Largest entry of |UᵀU − I|.
    pub orthogonality: f64,
    /// The tolerance of the model.
    pub tolerance: f64,
}

impl Verification {
    /// Whether everything is within the model's tolerance.
    pub fn passed(&self) -> bool {
        let worst = self
            .residuals
            .iter()
            .chain(&self.value_errors)
            .chain([&self.total_error, &self.orthogonality, &self.mean_error])
            .fold(0.0f64, |m, v| if v.is_nan() { f64::INFINITY } else { m.max(*v) });
        worst <= self.tolerance
    }
}

/// What any program says it found: principal components to be checked against the data.
///
/// ```
/// use eigenlens::{Claim, ndarray};
/// let x = ndarray::array![[0.0, 0.0], [3.0, 1.0], [6.0, 2.0]];
/// let components = ndarray::array![[3.0, 1.0]] / 10f64.sqrt();
/// let claim = Claim {
///     components: components.view(),
///     explained_variance: &[10.0],
///     total_variance: 10.0,
///     mean: &[3.0, 1.0],
///     tolerance: 1e-9,
/// };
/// assert!(claim.verify(&x)?.passed());
/// let wrong = Claim { explained_variance: &[9.0], ..claim };
/// assert!(!wrong.verify(&x)?.passed());
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The components (k × d), one per row.
    pub components: ArrayView2<'a, f64>,
    /// The variance along each component (k), divisor n − 1.
    pub explained_variance: &'a [f64],
    /// The total variance.
    pub total_variance: f64,
    /// The mean of every feature (d).
    pub mean: &'a [f64],
    /// What errors may be, relative to the largest variance.
    pub tolerance: f64,
}

impl Claim<'_> {
    /// Checks the claim against the data it was made from.
    pub fn verify<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Verification> {
        self.checked()?.verify(&data.into())
    }

    fn checked(&self) -> Result<Checked<'_>> {
        let (k, d) = self.components.dim();
        let lengths = [
            ("the mean", self.mean.len(), d),
            ("the explained variance", self.explained_variance.len(), k),
        ];
        if let Some((what, found, expected)) = lengths.into_iter().find(|(_, a, b)| a != b) {
            return Err(Error::Shape {
                what,
                found: format!("{found} entries"),
                expected: expected.to_string(),
            });
        }
        let scaler = Scaler {
            mean_hi: self.mean.to_vec(),
            mean_lo: vec![0.0; d],
            inv_scale: vec![1.0; d],
            column_exponents: None,
            scale: None,
            exponent: 0,
            constant: Vec::new(),
        };
        Ok(Checked {
            scaler: Cow::Owned(scaler),
            components: self.components,
            values: self.explained_variance,
            total: self.total_variance,
            center: true,
            tolerance: self.tolerance,
        })
    }
}

pub(super) fn verify<T: Scalar>(parts: &PcaParts, data: &Dataset<T>) -> Result<Verification> {
    let checked = Checked {
        scaler: Cow::Borrowed(&parts.map.scaler),
        components: parts.map.components.view(),
        values: &parts.values,
        total: parts.total,
        center: parts.center,
        tolerance: parts.tolerance,
    };
    checked.verify(data)
}

/// What is checked, in units of 2^exponent of the standardised data.
struct Checked<'a> {
    scaler: Cow<'a, Scaler>,
    components: ArrayView2<'a, f64>,
    values: &'a [f64],
    total: f64,
    center: bool,
    tolerance: f64,
}

impl Checked<'_> {
    fn verify<T: Scalar>(&self, data: &Dataset<T>) -> Result<Verification> {
        compiled_here!(Checked, self.verify_typed(data) -> Result<Verification>)
    }

    fn verify_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<Verification> {
        let (k, d) = self.components.dim();
        if data.n_features() != d {
            return Err(Error::Shape {
                what: "the data",
                found: format!("{} features", data.n_features()),
                expected: format!("{d}, as in training,"),
            });
        }
        // Whatever was to be done about missing entries: the loop below names the first one.
        let mut grid = RowGrid::surveying(data)?;
        if let Some(exponents) = &self.scaler.column_exponents {
            grid.set_exponents(exponents.clone());
        }
        let mut sums = Sums::new(k, d);
        let rows = grid.for_each_batch(reduction_block_rows(d), |batch| {
            let mut scratch = Vec::new();
            for i in 0..batch.rows {
                let block = batch.block(i, i + 1, &mut scratch);
                if let Some((row, column, value)) = block.find_bad() {
                    return Err(data.bad_entry(row, column, value));
                }
                let w = block.count(0);
                if w != 0.0 {
                    sums.add(w, &self.standardized(block.row(0)), &self.components);
                }
            }
            Ok(())
        })?;
        Ok(self.conclude(rows, &sums))
    }

    fn standardized<T: Scalar>(&self, row: &[T]) -> Vec<f64> {
        let Scaler { mean_hi, mean_lo, inv_scale, .. } = self.scaler.as_ref();
        let one = |f: usize| ((row[f].to_f64() - mean_hi[f]) - mean_lo[f]) * inv_scale[f];
        (0..mean_hi.len()).map(one).collect()
    }

    /// What the sums say of the model.
    fn conclude(&self, rows: usize, sums: &Sums) -> Verification {
        let (k, d) = self.components.dim();
        let n = sums.weight.value();
        let divisor = n - 1.0;
        let top = self.values.first().copied().unwrap_or(0.0);
        let relative = |v: f64| if top > 0.0 { v / top } else { v };
        let mean_error = if self.center {
            (0..d).fold(0.0f64, |worst, f| {
                let sd = (sums.squares[f].value() / divisor).sqrt();
                let error = (sums.deviations[f].value() / n).abs();
                worst.max(if sd > 0.0 { error / sd } else { error })
            })
        } else {
            0.0
        };
        let mut residuals = Vec::with_capacity(k);
        let mut value_errors = Vec::with_capacity(k);
        for j in 0..k {
            let value = self.values[j];
            let square: f64 = (0..d)
                .map(|f| {
                    let product = sums.products[j * d + f].value();
                    let r = product / divisor - value * self.components[[j, f]];
                    r * r
                })
                .sum();
            residuals.push(relative(square.sqrt()));
            value_errors.push(relative((sums.quadratic[j].value() / divisor - value).abs()));
        }
        let total: f64 = sums.squares.iter().map(|s| s.value() / divisor).sum();
        let total_error =
            if self.total > 0.0 { (total - self.total).abs() / self.total } else { total };
        Verification {
            rows,
            mean_error,
            residuals,
            value_errors,
            total_error,
            orthogonality: orthogonality(&self.components),
            tolerance: self.tolerance,
        }
    }
}

/// Sums over rows in standardised units.
struct Sums {
    weight: Sum,
    /// Deviations from the model's mean (d).
    deviations: Vec<Sum>,
    /// Their squares (d).
    squares: Vec<Sum>,
    /// `Xᵀ(X u)` of each component u (k × d).
    products: Vec<Sum>,
    /// `‖X u‖²` of each component u (k).
    quadratic: Vec<Sum>,
}

impl Sums {
    fn new(k: usize, d: usize) -> Sums {
        let zeros = |n| vec![Sum::default(); n];
        Sums {
            weight: Sum::default(),
            deviations: zeros(d),
            squares: zeros(d),
            products: zeros(k * d),
            quadratic: zeros(k),
        }
    }

    /// Adds a row x with weight w.
    fn add(&mut self, w: f64, x: &[f64], components: &ArrayView2<f64>) {
        let d = x.len();
        self.weight.add(w);
        for f in 0..d {
            self.deviations[f].add(w * x[f]);
            self.squares[f].add(w * x[f] * x[f]);
        }
        for (j, component) in components.rows().into_iter().enumerate() {
            let z: f64 = component.iter().zip(x).map(|(u, x)| u * x).sum();
            self.quadratic[j].add(w * z * z);
            for f in 0..d {
                self.products[j * d + f].add(w * z * x[f]);
            }
        }
    }
}

fn orthogonality(components: &ArrayView2<f64>) -> f64 {
    let k = components.nrows();
    let mut worst = 0.0f64;
    for i in 0..k {
        for j in 0..=i {
            let product = components.row(i).dot(&components.row(j));
            worst = worst.max((product - f64::from(u8::from(i == j))).abs());
        }
    }
    worst
}

/// A sum with its rounding carried along (Neumaier 1974).
#[derive(Clone, Copy, Default)]
pub(crate) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    pub fn add(&mut self, x: f64) {
        let next = self.sum + x;
        self.lost +=
            if self.sum.abs() >= x.abs() { (self.sum - next) + x } else { (x - next) + self.sum };
        self.sum = next;
    }

    pub fn value(self) -> f64 {
        self.sum + self.lost
    }
}
