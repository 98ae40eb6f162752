//! The polynomial kernel: all products of up to p features.

use super::{KernelSpec, Norms, dot};
use crate::kernel::parameters::{ParameterKind, ParameterSpec, Parameters};
use crate::kernel::points::{PanelRef, TILE};
use crate::linalg::simd::{Elementwise, elementwise};

pub(super) const KERNEL: KernelSpec = KernelSpec {
    parameters: &[
        ParameterSpec::new("degree", ParameterKind::Degree(2)),
        ParameterSpec::new("gamma", ParameterKind::Positive(1.0)),
        ParameterSpec::new("coef0", ParameterKind::Number(1.0)),
    ],
    finish,
    diagonal: of_product,
    sensitivity: |parameters, &Norms { largest, .. }| {
        let (gamma, offset) = (parameters.number("gamma"), parameters.number("coef0"));
        let degree = parameters.number("degree");
        degree * gamma * largest * (gamma * largest + offset.abs()).powf(degree - 1.0)
    },
    positive: |parameters| parameters.number("coef0") >= 0.0,
    ..KernelSpec::of_products("polynomial", "(γ x·y + c)^p", |p, x, y| of_product(p, dot(x, y)))
};

fn numbers(parameters: &Parameters) -> (i32, f64, f64) {
    let number = |name| parameters.number(name);
    (number("degree") as i32, number("gamma"), number("coef0"))
}

fn of_product(parameters: &Parameters, product: f64) -> f64 {
    let (degree, gamma, coef0) = numbers(parameters);
    (gamma * product + coef0).powi(degree)
}

fn finish(parameters: &Parameters, a: &PanelRef, _: &PanelRef, tile: &mut [f64]) {
    let (degree, gamma, coef0) = numbers(parameters);
    elementwise(Power { degree, gamma, coef0, tile: &mut tile[..a.rows * TILE] });
}

/// `(γ x·y + c)^p` by repeated multiplication.
struct Power<'a> {
    degree: i32,
    gamma: f64,
    coef0: f64,
    tile: &'a mut [f64],
}

impl Elementwise for Power<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Power { degree, gamma, coef0, tile } = self;
        match degree {
            2 => tile.iter_mut().for_each(|v| {
                let x = gamma * *v + coef0;
                *v = x * x;
            }),
            3 => tile.iter_mut().for_each(|v| {
                let x = gamma * *v + coef0;
                *v = x * x * x;
            }),
            _ => tile.iter_mut().for_each(|v| *v = (gamma * *v + coef0).powi(degree)),
        }
    }
}
