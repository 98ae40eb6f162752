//! What is subtracted from and multiplied onto every column before anything else is done.

use super::columns::Columns;
use crate::linalg::dense::{exponent_of, power_of_two};
use crate::linalg::simd::vectorized;
use crate::scalar::Scalar;

/// `xs_f = ((x_f 2⁻ᵉ − mean_hi_f) − mean_lo_f) · inv_scale_f`: centring, scaling and the power of two that
/// keeps squares within the range of numbers. Applied in passing, never in place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scaler {
    pub mean_hi: Vec<f64>,
    pub mean_lo: Vec<f64>,
    /// 0 for a constant column that was to be scaled.
    pub inv_scale: Vec<f64>,
    /// The exponents the columns were prescaled with.
    pub column_exponents: Option<Vec<i32>>,
    /// Standard deviations the columns were divided by (1 where not standardised), true units.
    pub scale: Option<Vec<f64>>,
    /// Standardised data times 2^exponent are in true units.
    pub exponent: i32,
    /// Columns without variance.
    pub constant: Vec<usize>,
}

impl Scaler {
    /// From the columns' means and variances.
    pub fn new<T: Scalar>(
        columns: &Columns,
        column_exponents: Option<&[i32]>,
        center: bool,
        standardize: bool,
    ) -> Scaler {
        let d = columns.mean_hi.len();
        let divisor = (columns.weight - 1.0).max(f64::MIN_POSITIVE);
        let exponent_at = |f: usize| column_exponents.map_or(0, |e| e[f]);
        let sd: Vec<f64> = columns.squares.iter().map(|s| (s / divisor).sqrt()).collect();
        // The rounding of the stored numbers alone gives a constant column this much spread.
        let constant: Vec<usize> = (0..d)
            .filter(|&f| sd[f] <= 4.0 * T::EPSILON * columns.mean_hi[f].abs() || sd[f] == 0.0)
            .collect();
        let mut inv_scale = vec![1.0; d];
        let mut exponent = 0;
        if standardize {
            for (w, s) in inv_scale.iter_mut().zip(&sd) {
                *w = if *s > 0.0 { 1.0 / s } else { 0.0 };
            }
            for &f in &constant {
                inv_scale[f] = 0.0;
            }
        } else if column_exponents.is_some() {
            // One power of two for all columns: the size of the largest.
            let size = |f: usize| {
                let spread = if center { sd[f] } else { sd[f].max(columns.mean_hi[f].abs()) };
                if spread > 0.0 { exponent_of(spread) + exponent_at(f) } else { i32::MIN }
            };
            let largest = (0..d).map(size).max().filter(|&e| e > i32::MIN).unwrap_or(0);
            // The unit itself must be a number, and one over it.
            exponent = largest.clamp(-1000, 1000);
            for (f, w) in inv_scale.iter_mut().enumerate() {
                *w = power_of_two((exponent_at(f) - exponent).clamp(-1074, 1000));
            }
        }
        let scale = standardize.then(|| {
            (0..d)
                .map(
                    |f| if inv_scale[f] > 0.0 { sd[f] * power_of_two(exponent_at(f)) } else { 1.0 },
                )
                .collect()
        });
        let zero = vec![0.0; d];
        Scaler {
            mean_hi: if center { columns.mean_hi.clone() } else { zero.clone() },
            mean_lo: if center { columns.mean_lo.clone() } else { zero },
            inv_scale,
            column_exponents: column_exponents.map(<[i32]>::to_vec),
            scale,
            exponent,
            constant,
        }
    }

    /// What every column was divided by, in true units, where standardised; 0 marks a constant column,
    /// which was left out.
    pub fn divisors(&self) -> Option<Vec<f64>> {
        let scale = self.scale.as_ref()?.iter().zip(&self.inv_scale);
        Some(scale.map(|(s, w)| if *w > 0.0 { *s } else { 0.0 }).collect())
    }

    /// A standardised entry of feature f in the units of the data.
    pub fn unstandardize(&self, x: f64, f: usize) -> f64 {
        let inside = if self.inv_scale[f] > 0.0 { x / self.inv_scale[f] } else { 0.0 };
        let exponent = self.column_exponents.as_ref().map_or(0, |e| e[f]);
        ((inside + self.mean_lo[f]) + self.mean_hi[f]) * power_of_two(exponent)
    }

    /// The same for whole rows, one after the other.
    pub fn unstandardize_rows<T: Scalar>(&self, rows: &[f64], out: &mut [T]) {
        let d = self.inv_scale.len().max(1);
        let lines = rows.chunks_exact(d).zip(out.chunks_exact_mut(d));
        if self.column_exponents.is_some() {
            for (row, out) in lines {
                for (f, (x, out)) in row.iter().zip(out).enumerate() {
                    *out = T::from_f64(self.unstandardize(*x, f));
                }
            }
            return;
        }
        vectorized(
            #[inline(always)]
            || {
                for (row, out) in lines {
                    let means = self.mean_lo.iter().zip(&self.mean_hi);
                    let columns = self.inv_scale.iter().zip(means);
                    for ((x, out), (inv_scale, (lo, hi))) in row.iter().zip(out).zip(columns) {
                        let inside = if *inv_scale > 0.0 { x / inv_scale } else { 0.0 };
                        *out = T::from_f64((inside + lo) + hi);
                    }
                }
            },
        );
    }

    /// The mean in true units.
    pub fn true_mean(&self) -> Vec<f64> {
        match &self.column_exponents {
            None => self.mean_hi.clone(),
            Some(e) => self.mean_hi.iter().zip(e).map(|(m, &e)| m * power_of_two(e)).collect(),
        }
    }
}
