//! `PᵀP` of a packed block of rows: the lower triangle only, at the speed of the micro-kernel.

use super::simd::{Ahead, How, Left};
use crate::scalar::Scalar;
use ndarray::Array2;

/// The length of a packed block: `rows` rows of `d` columns in panels of [`Tile::PANEL`] columns,
/// each panel row by row, padded with zeros.
pub(crate) fn packed_len<T: Scalar>(d: usize, rows: usize) -> usize {
    d.next_multiple_of(T::PANEL) * rows
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
    let length = depth * T::PANEL;
    let rows = T::PANEL.min(d - panel * T::PANEL);
    let left = Left::new(&packed[panel * length..], rows, depth, 1, T::PANEL);
    for column in 0..=panel {
        let right = &packed[column * length..(column + 1) * length];
        let columns = T::PANEL.min(d - column * T::PANEL);
        let below_diagonal = (column == panel).then_some(0);
        let how = How { fresh: false, padded: true, below_diagonal, ahead };
        T::product(left, right, T::PANEL, columns, &mut c[column * T::PANEL..], d, how);
    }
}

/// The padded width of a row of `d` entries kept whole: whole registers, and never a multiple of
/// 4 KiB, where rows would share cache sets.
pub(crate) fn row_width<T: Scalar>(d: usize) -> usize {
    let width = d.next_multiple_of(T::PAD);
    if (width * size_of::<T>()).is_multiple_of(1024) { width + T::PAD } else { width }
}

/// Adds `PᵀP` to the lower triangle of `c` (d × d), for rows of `width` padded entries.
pub(crate) fn add_lower<T: Scalar>(
    rows: &[T],
    width: usize,
    depth: usize,
    d: usize,
    c: &mut [f64],
    ahead: Option<&Ahead>,
) {
    let left = Left::new(rows, d, depth, 1, width);
    let how = How { fresh: false, padded: true, below_diagonal: Some(0), ahead };
    T::product(left, rows, width, d, c, d, how);
}

/// Copies the lower triangle to the upper.
pub(crate) fn mirror(a: &mut Array2<f64>) {
    for i in 0..a.nrows() {
        for j in 0..i {
            a[[j, i]] = a[[i, j]];
        }
    }
}
