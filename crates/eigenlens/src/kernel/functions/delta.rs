//! Whether two rows are equal: the kernel of labels.

use super::{KernelSpec, Start};
use crate::kernel::parameters::Parameters;
use crate::kernel::points::{PanelRef, TILE};
use crate::kernel::sparse_points::SparsePair;
use crate::kernel::tile::sums;

pub(super) const KERNEL: KernelSpec = KernelSpec {
    start: Start::Sums(differences, sparse_differences),
    finish,
    diagonal: |_, _| 1.0,
    unit_diagonal: true,
    any_size: true,
    ..KernelSpec::of_rows("delta", "1 for equal rows, else 0", |_, x, y| one_if(x == y))
};

fn one_if(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// How many entries differ.
fn differences(a: &PanelRef, x: &[f64], y: &[f64], out: &mut [f64]) {
    sums(
        a,
        x,
        y,
        out,
        #[inline(always)]
        |x, y| if x == y { 0.0 } else { 1.0 },
    );
}

/// Whether any entry differs.
fn sparse_differences(pair: &SparsePair, _: &mut Vec<f64>, out: &mut [f64]) {
    pair.each(out, |x, y| one_if(x != y));
}

fn finish(_: &Parameters, a: &PanelRef, _: &PanelRef, tile: &mut [f64]) {
    tile[..a.rows * TILE].iter_mut().for_each(|v| *v = one_if(*v == 0.0));
}
