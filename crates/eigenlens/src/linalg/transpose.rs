//! Columns turned into rows, in parallel and a cache line at a time: one number at a time every
//! number would cost a line.

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// Rows that are written side by side: as many as numbers lie in a cache line.
const ROWS: usize = 8;

/// The chosen columns as rows (columns × rows of `from`).
pub(crate) fn columns_as_rows(from: ArrayView2<f64>, columns: &[usize]) -> Array2<f64> {
    let n = from.nrows();
    let mut to = vec![0.0; columns.len() * n];
    write(from, columns, &mut to, n);
    Array2::from_shape_vec((columns.len(), n), to).unwrap_or_default()
}

/// Writes `from` transposed: its columns become rows that lie `stride` apart.
pub(crate) fn transpose_into(from: ArrayView2<f64>, to: &mut [f64], stride: usize) {
    let columns: Vec<usize> = (0..from.ncols()).collect();
    write(from, &columns, to, stride);
}

fn write(from: ArrayView2<f64>, columns: &[usize], to: &mut [f64], stride: usize) {
    if stride == 0 {
        return;
    }
    // Little is done before another thread has heard of it.
    let together = (1 << 15) / (ROWS * stride) + 1;
    let parts = to.par_chunks_mut(ROWS * stride).zip(columns.par_chunks(ROWS));
    parts.with_min_len(together).for_each(|(to, columns)| {
        for (i, row) in from.rows().into_iter().enumerate() {
            for (to, &j) in to.chunks_mut(stride).zip(columns) {
                to[i] = row[j];
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random;

    #[test]
    fn columns_become_rows_whatever_the_layout() {
        for (n, d) in [(1, 1), (3, 20), (37, 5), (64, 17)] {
            let x = random::normal_matrix(&mut random::stream(1, 0), n, d);
            let by_columns = x.t().as_standard_layout().into_owned().reversed_axes();
            for x in [x.view(), by_columns.view()] {
                let stride = n + 3;
                let mut to = vec![-1.0; d * stride];
                transpose_into(x, &mut to, stride);
                for ((i, j), v) in x.indexed_iter() {
                    assert_eq!(to[j * stride + i], *v);
                }
                assert!((0..d).all(|j| to[j * stride + n..(j + 1) * stride] == [-1.0; 3]));
                let order: Vec<usize> = (0..d).rev().step_by(2).collect();
                let chosen = columns_as_rows(x, &order);
                for (row, &j) in chosen.rows().into_iter().zip(&order) {
                    assert_eq!(row, x.column(j));
                }
            }
        }
    }
}
