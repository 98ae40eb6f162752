//! The sigmoid kernel, of neural networks. Not positive semi-definite.

use super::{KernelSpec, dot};
use crate::kernel::parameters::{ParameterKind, ParameterSpec, Parameters};
use crate::kernel::points::{PanelRef, TILE};

pub(super) const KERNEL: KernelSpec = KernelSpec {
    parameters: &[
        ParameterSpec::new("gamma", ParameterKind::PerFeature),
        ParameterSpec::new("coef0", ParameterKind::Number(0.0)),
    ],
    finish,
    diagonal: |parameters, product| of_product(parameters)(product),
    sensitivity: |parameters, norms| parameters.number("gamma") * norms.largest,
    positive: |_| false,
    ..KernelSpec::of_products("sigmoid", "tanh(γ x·y + c)", |p, x, y| of_product(p)(dot(x, y)))
};

fn of_product(parameters: &Parameters) -> impl Fn(f64) -> f64 {
    let (gamma, coef0) = (parameters.number("gamma"), parameters.number("coef0"));
    move |product| (gamma * product + coef0).tanh()
}

fn finish(parameters: &Parameters, a: &PanelRef, _: &PanelRef, tile: &mut [f64]) {
    let value = of_product(parameters);
    tile[..a.rows * TILE].iter_mut().for_each(|v| *v = value(*v));
}
