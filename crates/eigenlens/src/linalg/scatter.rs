//! `PᵀP` of a packed block of rows: the lower triangle only, at the speed of the micro-kernel.

use super::simd::{Ahead, How, Left};
use crate::scalar::Scalar;
use ndarray::Array2;

/// Columns of a packed panel: a multiple of every register tile.
pub(crate) const PANEL: usize = 48;

/// The length of a packed block: `rows` rows of `d` columns in panels of [`PANEL`] columns, each
/// panel row by row, padded with zeros.
pub(crate) fn packed_len(d: usize, rows: usize) -> usize {
    d.next_multiple_of(PANEL) * rows
}

/// Adds `PᵀP` to `c`, the `panel`-th row of panels of a d × d matrix: its lower triangle.
pub(crate) fn add_tile_row<T: Scalar>(
    packed: &[T],
    depth: usize,
    d: usize,
    panel: usize,
    c: &mut [f64],
    ahead: Option<&Ahead>,
) {
    if depth == 0 {
        return;
    }
    let length = depth * PANEL;
    let rows = PANEL.min(d - panel * PANEL);
    let left = Left::new(&packed[panel * length..], rows, depth, 1, PANEL);
    for column in 0..=panel {
        let right = &packed[column * length..(column + 1) * length];
        let columns = PANEL.min(d - column * PANEL);
        let below_diagonal = (column == panel).then_some(0);
        let how = How { fresh: false, padded: true, below_diagonal, ahead };
        T::product(left, right, PANEL, columns, &mut c[column * PANEL..], d, how);
    }
}

/// Copies the lower triangle to the upper.
pub(crate) fn mirror(a: &mut Array2<f64>) {
    for i in 0..a.nrows() {
        for j in 0..i {
            a[[j, i]] = a[[i, j]];
        }
    }
}
