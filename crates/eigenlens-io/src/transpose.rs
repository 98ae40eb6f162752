//! Columns of numbers into rows.

use ndarray::Array2;
use rayon::prelude::*;

/// How many rows a block shall have: about a megabyte of numbers for every thread.
pub(crate) fn rows_per_block(n_columns: usize, bytes_per_number: usize) -> usize {
    let bytes = rayon::current_num_threads() * (1 << 20);
    (bytes / (n_columns.max(1) * bytes_per_number)).clamp(4, 1 << 16)
}

/// The row-major matrix (rows × columns) with these columns, which must be equally long.
pub(crate) fn rows_of_columns<T: Copy + Default + Send + Sync>(
    n_rows: usize,
    columns: &[&[T]],
) -> Array2<T> {
    let mut rows = Array2::default((n_rows, columns.len()));
    if let Some(out) = rows.as_slice_mut().filter(|out| !out.is_empty()) {
        let n_columns = columns.len();
        out.par_chunks_mut(STRIPE * n_columns).enumerate().for_each(|(stripe, out)| {
            let first = stripe * STRIPE;
            let n = out.len() / n_columns;
            for start in (0..n_columns).step_by(TILE) {
                let tile = &columns[start..(start + TILE).min(n_columns)];
                copy_tile(tile, first, n, &mut out[start..], n_columns);
            }
        });
    }
    rows
}

/// These columns of a matrix, in this order, in standard layout.
pub(crate) fn chosen_columns<T: Copy + Default>(all: &Array2<T>, columns: &[usize]) -> Array2<T> {
    let mut chosen = Array2::default((all.nrows(), columns.len()));
    for (mut to, from) in chosen.rows_mut().into_iter().zip(all.rows()) {
        to.iter_mut().zip(columns).for_each(|(to, &column)| *to = from[column]);
    }
    chosen
}

/// Rows that one thread writes together: few enough that each lies on a page the processor still
/// remembers, however long the rows are.
const STRIPE: usize = 64;

/// Columns read side by side: one cache line of f64 is written at a time.
const TILE: usize = 8;

fn copy_tile<T: Copy>(tile: &[&[T]], first: usize, n: usize, out: &mut [T], stride: usize) {
    if let &[a, b, c, d, e, f, g, h] = tile {
        let (a, b, c, d) = (&a[first..][..n], &b[first..][..n], &c[first..][..n], &d[first..][..n]);
        let (e, f, g, h) = (&e[first..][..n], &f[first..][..n], &g[first..][..n], &h[first..][..n]);
        for i in 0..n {
            let line = [a[i], b[i], c[i], d[i], e[i], f[i], g[i], h[i]];
            out[i * stride..][..TILE].copy_from_slice(&line);
        }
    } else {
        for (j, column) in tile.iter().enumerate() {
            for (i, &value) in column[first..][..n].iter().enumerate() {
                out[i * stride + j] = value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rows_of_columns;

    #[test]
    fn every_number_lands_in_its_place() {
        for (n, d) in [(0, 3), (1, 1), (64, 8), (65, 9), (200, 17), (3, 0)] {
            let columns: Vec<Vec<f64>> =
                (0..d).map(|j| (0..n).map(|i| (i * 100 + j) as f64).collect()).collect();
            let views: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            let rows = rows_of_columns(n, &views);
            assert_eq!(rows.dim(), (n, d));
            assert!(rows.indexed_iter().all(|((i, j), &x)| x == (i * 100 + j) as f64));
        }
    }
}
