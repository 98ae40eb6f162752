//! The cosine of the angle between two rows: their inner product at unit length.

use super::{KernelSpec, dot};
use crate::kernel::parameters::Parameters;

pub(super) const KERNEL: KernelSpec = KernelSpec {
    unit_rows: true,
    sensitivity: |_, _| 1.0,
    ..KernelSpec::of_products("cosine", "x·y / (‖x‖ ‖y‖)", value)
};

fn value(_: &Parameters, x: &[f64], y: &[f64]) -> f64 {
    let norm = |v: &[f64]| v.iter().map(|a| a * a).sum::<f64>().sqrt();
    let product = norm(x) * norm(y);
    if product > 0.0 { dot(x, y) / product } else { 0.0 }
}
