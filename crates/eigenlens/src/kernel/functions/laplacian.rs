//! The Laplacian kernel: the Gaussian one with absolute in place of squared distances.

use super::{KernelSpec, Start};
use crate::kernel::bandwidth::{WidthRule, median};
use crate::kernel::parameters::{ParameterKind, ParameterSpec, Parameters};
use crate::kernel::points::{Body, PanelRef, TILE};
use crate::kernel::sample::pairs;
use crate::kernel::sparse_points::SparsePair;
use crate::kernel::tile::sums;
use crate::linalg::simd::{Elementwise, elementwise, exp};

pub(super) const KERNEL: KernelSpec = KernelSpec {
    parameters: &[ParameterSpec::new("gamma", ParameterKind::Width)],
    width: Some(WidthRule {
        of_sigma: |sigma| 1.0 / sigma,
        of_rows: |rows| 1.0 / median(pairs(rows, modulus)),
    }),
    start: Start::Sums(distances, sparse_overlap),
    finish,
    diagonal: |_, _| 1.0,
    // s e⁻ˢ is at most 1/e.
    sensitivity: |_, _| 0.4,
    unit_diagonal: true,
    translation_invariant: true,
    moduli: true,
    ..KernelSpec::of_rows("laplacian", "exp(−γ ‖x−y‖₁)", value)
};

#[inline(always)]
fn modulus(x: f64, y: f64) -> f64 {
    (x - y).abs()
}

fn value(parameters: &Parameters, x: &[f64], y: &[f64]) -> f64 {
    let length: f64 = x.iter().zip(y).map(|(a, b)| modulus(*a, *b)).sum();
    (-parameters.number("gamma") * length).exp()
}

fn distances(a: &PanelRef, x: &[f64], y: &[f64], out: &mut [f64]) {
    sums(a, x, y, out, modulus);
}

fn sparse_overlap(pair: &SparsePair, scratch: &mut Vec<f64>, out: &mut [f64]) {
    pair.overlap(scratch, out, modulus);
}

/// `exp(−γ · distance)`, from distances or, of sparse rows, from what sums of moduli have too much.
pub(super) fn finish(parameters: &Parameters, a: &PanelRef, b: &PanelRef, tile: &mut [f64]) {
    let overlap = matches!(a.body, Body::Sparse(_));
    elementwise(Exponential { a, b, gamma: parameters.number("gamma"), overlap, tile });
}

/// Of sparse rows the distance is the sum of moduli less the overlap.
struct Exponential<'a> {
    a: &'a PanelRef<'a>,
    b: &'a PanelRef<'a>,
    gamma: f64,
    overlap: bool,
    tile: &'a mut [f64],
}

impl Elementwise for Exponential<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let columns = self.b.norms.len().min(TILE);
        let right = &self.b.norms[..columns];
        for i in 0..self.a.rows {
            let left = self.a.norms[i];
            let line = &mut self.tile[i * TILE..i * TILE + columns];
            for (v, &right) in line.iter_mut().zip(right) {
                let length = if self.overlap { ((left + right) - *v).max(0.0) } else { *v };
                *v = exp::<FUSED>(-self.gamma * length);
            }
        }
    }
}
