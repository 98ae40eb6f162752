//! The exponential χ² kernel, of histograms and counts (Zhang, Marszałek, Lazebnik & Schmid 2007): entries are at
//! least 0, and a feature that neither row has says nothing.

use super::{KernelSpec, Start, laplacian};
use crate::kernel::bandwidth::{WidthRule, median};
use crate::kernel::parameters::{ParameterKind, ParameterSpec, Parameters};
use crate::kernel::points::PanelRef;
use crate::kernel::sample::pairs;
use crate::kernel::sparse_points::SparsePair;
use crate::kernel::tile::sums;

pub(super) const KERNEL: KernelSpec = KernelSpec {
    parameters: &[ParameterSpec::new("gamma", ParameterKind::Width)],
    width: Some(WidthRule {
        of_sigma: |sigma| 1.0 / sigma,
        of_rows: |rows| 1.0 / median(pairs(rows, term)),
    }),
    start: Start::Sums(distances, sparse_overlap),
    finish: laplacian::finish,
    diagonal: |_, _| 1.0,
    // s e⁻ˢ is at most 1/e.
    sensitivity: |_, _| 0.4,
    unit_diagonal: true,
    moduli: true,
    non_negative: true,
    ..KernelSpec::of_rows("chi2", "exp(−γ Σ (x−y)²/(x+y)), for entries of at least 0", value)
};

#[inline(always)]
fn term(x: f64, y: f64) -> f64 {
    let sum = x + y;
    if sum > 0.0 { (x - y) * (x - y) / sum } else { 0.0 }
}

fn value(parameters: &Parameters, x: &[f64], y: &[f64]) -> f64 {
    let distance: f64 = x.iter().zip(y).map(|(a, b)| term(*a, *b)).sum();
    (-parameters.number("gamma") * distance).exp()
}

fn distances(a: &PanelRef, x: &[f64], y: &[f64], out: &mut [f64]) {
    sums(a, x, y, out, term);
}

fn sparse_overlap(pair: &SparsePair, scratch: &mut Vec<f64>, out: &mut [f64]) {
    pair.overlap(scratch, out, term);
}
