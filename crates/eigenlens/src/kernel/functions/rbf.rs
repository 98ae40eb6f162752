//! The Gaussian kernel.

use super::KernelSpec;
use crate::kernel::bandwidth::{WidthRule, median_bandwidth};
use crate::kernel::parameters::{ParameterKind, ParameterSpec, Parameters};
use crate::kernel::points::{PanelRef, TILE};
use crate::linalg::simd::{Elementwise, elementwise, exp, exp_f32};

pub(super) const KERNEL: KernelSpec = KernelSpec {
    parameters: &[ParameterSpec::new("gamma", ParameterKind::Width)],
    width: Some(WIDTH),
    derived: Some(("sigma", |parameters| (0.5 / parameters.number("gamma")).sqrt())),
    finish,
    finish_f32: Some(finish_f32),
    diagonal: |_, _| 1.0,
    // The error of a distance, ε‖x‖², is multiplied by γ.
    single_precision: |parameters, norm| parameters.number("gamma") * norm <= 64.0,
    // ‖x‖² + ‖y‖² − 2 x·y, each of its terms off by its share; of rows far out most values are 0.
    sensitivity: |parameters, norms| 4.0 * parameters.number("gamma") * norms.mean,
    unit_diagonal: true,
    translation_invariant: true,
    ..KernelSpec::of_products("rbf", "exp(−γ ‖x−y‖²)", value)
};

/// γ from squared distances.
pub(crate) const WIDTH: WidthRule =
    WidthRule { of_sigma: |sigma| 0.5 / (sigma * sigma), of_rows: median_bandwidth };

fn value(parameters: &Parameters, x: &[f64], y: &[f64]) -> f64 {
    let square: f64 = x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum();
    (-parameters.number("gamma") * square).exp()
}

fn finish(parameters: &Parameters, a: &PanelRef, b: &PanelRef, tile: &mut [f64]) {
    elementwise(Gaussian { a, b, gamma: parameters.number("gamma"), tile });
}

fn finish_f32(p: &Parameters, a: &PanelRef, b: &PanelRef, products: &[f64], out: &mut [f32]) {
    elementwise(NarrowGaussian { a, b, gamma: p.number("gamma"), products, out });
}

/// `exp(−γ ‖x−y‖²)` with `‖x−y‖² = (x·x + y·y) − 2 x·y`: exactly 0 where x = y.
struct Gaussian<'a> {
    a: &'a PanelRef<'a>,
    b: &'a PanelRef<'a>,
    gamma: f64,
    tile: &'a mut [f64],
}

impl Elementwise for Gaussian<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let columns = self.b.norms.len().min(TILE);
        let right = &self.b.norms[..columns];
        for i in 0..self.a.rows {
            let left = self.a.norms[i];
            let line = &mut self.tile[i * TILE..i * TILE + columns];
            for (v, &right) in line.iter_mut().zip(right) {
                let square = ((left + right) - 2.0 * *v).max(0.0);
                *v = exp::<FUSED>(-self.gamma * square);
            }
        }
    }
}

struct NarrowGaussian<'a> {
    a: &'a PanelRef<'a>,
    b: &'a PanelRef<'a>,
    gamma: f64,
    products: &'a [f64],
    out: &'a mut [f32],
}

impl Elementwise for NarrowGaussian<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let columns = self.b.norms.len().min(TILE);
        let right = &self.b.norms[..columns];
        for i in 0..self.a.rows {
            let left = self.a.norms[i];
            let from = &self.products[i * TILE..i * TILE + columns];
            let to = &mut self.out[i * TILE..i * TILE + columns];
            for ((to, &v), &right) in to.iter_mut().zip(from).zip(right) {
                let square = ((left + right) - 2.0 * v).max(0.0);
                *to = exp_f32::<FUSED>((-self.gamma * square) as f32);
            }
        }
    }
}
