//! A model checked against data from scratch: plain loops that share nothing with the solvers or
//! their kernels.

use super::PcaParts;
use crate::data::{Data, Dataset, Prepared, unit_rows};
use crate::error::{Error, Result};
use crate::scalar::{Scalar, typed};
use ndarray::Array2;

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

typed!(Verified, _T => Result<Verification>);

pub(super) fn verify<T: Scalar>(parts: &PcaParts, data: &Dataset<T>) -> Result<Verification> {
    T::choose::<Data, Verified>(data, |data| single(parts, data), |data| double(parts, data))
}

#[inline(never)]
fn single(parts: &PcaParts, data: &Dataset<f32>) -> Result<Verification> {
    typed_verify(parts, data)
}

#[inline(never)]
fn double(parts: &PcaParts, data: &Dataset<f64>) -> Result<Verification> {
    typed_verify(parts, data)
}

fn typed_verify<T: Scalar>(parts: &PcaParts, data: &Dataset<T>) -> Result<Verification> {
    let by = &parts.map.by;
    let (k, d) = parts.map.components.dim();
    if data.n_features() != d {
        return Err(Error::Shape {
            what: "the data",
            found: format!("{} features", data.n_features()),
            expected: format!("{d}, as in training,"),
        });
    }
    let mut prepared = Prepared::new(data)?;
    if let Some(exponents) = &by.column_exponents {
        prepared.set_exponents(exponents.clone());
    }
    let components = &parts.map.components;
    // Sums of deviations from the model's mean, of their squares, and Xᵀ(X u), row by row.
    let mut weight = Sum::default();
    let mut deviations = vec![Sum::default(); d];
    let mut squares = vec![Sum::default(); d];
    let mut products = vec![Sum::default(); k * d];
    let mut quadratic = vec![Sum::default(); k];
    let rows = prepared.for_each_slab(unit_rows(d), |slab| {
        let mut scratch = Vec::new();
        for i in 0..slab.rows {
            let block = slab.block(i, i + 1, &mut scratch);
            let w = block.count(0);
            if let Some((row, column, value)) = block.find_bad() {
                return Err(data.bad_entry(row, column, value));
            }
            if w == 0.0 {
                continue;
            }
            weight.add(w);
            let x: Vec<f64> = (0..d)
                .map(|f| ((block.row(0)[f].to_f64() - by.mean[f]) - by.low[f]) * by.weight[f])
                .collect();
            for f in 0..d {
                deviations[f].add(w * x[f]);
                squares[f].add(w * x[f] * x[f]);
            }
            for j in 0..k {
                let z: f64 = components.row(j).iter().zip(&x).map(|(u, x)| u * x).sum();
                quadratic[j].add(w * z * z);
                for f in 0..d {
                    products[j * d + f].add(w * z * x[f]);
                }
            }
        }
        Ok(())
    })?;
    let n = weight.value();
    let divisor = n - 1.0;
    let top = parts.values.first().copied().unwrap_or(0.0);
    let relative = |v: f64| if top > 0.0 { v / top } else { v };
    let mean_error = if parts.center {
        (0..d).fold(0.0f64, |worst, f| {
            let sd = (squares[f].value() / divisor).sqrt();
            let error = (deviations[f].value() / n).abs();
            worst.max(if sd > 0.0 { error / sd } else { error })
        })
    } else {
        0.0
    };
    let mut residuals = Vec::with_capacity(k);
    let mut value_errors = Vec::with_capacity(k);
    for j in 0..k {
        let value = parts.values[j];
        let square: f64 = (0..d)
            .map(|f| {
                let r = products[j * d + f].value() / divisor - value * components[[j, f]];
                r * r
            })
            .sum();
        residuals.push(relative(square.sqrt()));
        value_errors.push(relative((quadratic[j].value() / divisor - value).abs()));
    }
    let total: f64 = squares.iter().map(|s| s.value() / divisor).sum();
    let total_error =
        if parts.total > 0.0 { (total - parts.total).abs() / parts.total } else { total };
    Ok(Verification {
        rows,
        mean_error,
        residuals,
        value_errors,
        total_error,
        orthogonality: orthogonality(components),
        tolerance: parts.tolerance,
    })
}

fn orthogonality(components: &Array2<f64>) -> f64 {
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
struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, x: f64) {
        let next = self.sum + x;
        self.lost +=
            if self.sum.abs() >= x.abs() { (self.sum - next) + x } else { (x - next) + self.sum };
        self.sum = next;
    }

    fn value(self) -> f64 {
        self.sum + self.lost
    }
}
