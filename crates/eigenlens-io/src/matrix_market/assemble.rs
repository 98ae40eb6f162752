//! Entries in the order of the file into matrices.

use super::parse::{Banner, Entry, Symmetry};
use crate::budget;
use crate::error::Result;
use crate::sparse::content;
use eigenlens::Csr;
use ndarray::{Array2, ShapeBuilder};
use rayon::prelude::*;
use std::path::Path;

/// Compressed rows, columns rising, and how many entries were added to another.
pub(super) fn csr(
    pieces: Vec<Vec<Entry>>,
    banner: &Banner,
    is_transposed: bool,
    path: &Path,
) -> Result<(Csr<f64>, usize)> {
    if banner.symmetry != Symmetry::General {
        check_triangle(&pieces, path)?;
    }
    let sides = (banner.n_rows, banner.n_columns);
    let (n_rows, n_columns) = if is_transposed { (sides.1, sides.0) } else { sides };
    let oriented = |entry: Entry| {
        if is_transposed { (entry.column, entry.row) } else { (entry.row, entry.column) }
    };
    // Called for every entry of the matrix, in the order of the file.
    let visit = |each: &mut dyn FnMut(u32, u32, f64)| {
        for &entry in pieces.iter().flatten() {
            let (row, column) = oriented(entry);
            each(row, column, entry.value);
            if row != column {
                match banner.symmetry {
                    Symmetry::General => {}
                    Symmetry::Symmetric => each(column, row, entry.value),
                    Symmetry::Skew => each(column, row, -entry.value),
                }
            }
        }
    };
    let mut starts = zeros::<usize>(n_rows + 1, path)?;
    visit(&mut |row, _, _| starts[row as usize + 1] += 1);
    for row in 0..n_rows {
        starts[row + 1] += starts[row];
    }
    let mut cells = zeros::<(u32, f64)>(starts[n_rows], path)?;
    let mut next = starts.clone();
    visit(&mut |row, column, value| {
        let place = &mut next[row as usize];
        cells[*place] = (column, value);
        *place += 1;
    });
    drop((next, pieces));
    sort_rows(&mut cells, &starts);
    let (columns, values, n_doubled) = add_doubled(&cells, &mut starts);
    let matrix = Csr::new(n_rows, n_columns, starts, columns, values);
    matrix.map(|matrix| (matrix, n_doubled)).map_err(|error| content(path, error.to_string()))
}

/// The matrix of an array file, which stores column after column.
pub(super) fn dense(pieces: Vec<Vec<f64>>, banner: &Banner, is_transposed: bool) -> Array2<f64> {
    let (n, d) = (banner.n_rows, banner.n_columns);
    let values = pieces.concat();
    let matrix = if banner.symmetry == Symmetry::General {
        // There are n · d values: the parser has counted them.
        Array2::from_shape_vec((n, d).f(), values).unwrap_or_default()
    } else {
        let is_skew = banner.symmetry == Symmetry::Skew;
        let mut matrix = Array2::zeros((n, d));
        let mut values = values.into_iter();
        for column in 0..d {
            for row in column + usize::from(is_skew)..n {
                let value = values.next().unwrap_or(f64::NAN);
                matrix[(row, column)] = value;
                if row != column {
                    matrix[(column, row)] = if is_skew { -value } else { value };
                }
            }
        }
        matrix
    };
    let matrix = if is_transposed { matrix.reversed_axes() } else { matrix };
    if matrix.is_standard_layout() { matrix } else { matrix.as_standard_layout().into_owned() }
}

/// Entries of a symmetric matrix lie in one triangle: in both, nobody knows whether they are meant
/// twice.
fn check_triangle(pieces: &[Vec<Entry>], path: &Path) -> Result<()> {
    let entries = || pieces.iter().flatten();
    let below = entries().find(|entry| entry.row > entry.column);
    let above = entries().find(|entry| entry.row < entry.column);
    if let (Some(below), Some(above)) = (below, above) {
        let shown = |entry: &Entry| format!("({}, {})", entry.row + 1, entry.column + 1);
        let what = format!(
            "symmetric storage has entries both below the diagonal {} and above it {}",
            shown(below),
            shown(above)
        );
        return Err(content(path, what));
    }
    Ok(())
}

/// Sorts each row by column; entries of one column keep their order, so that sums are reproducible.
fn sort_rows(cells: &mut [(u32, f64)], starts: &[usize]) {
    let mut rows = Vec::with_capacity(starts.len());
    let mut rest = cells;
    for ends in starts.windows(2) {
        let (row, after) = rest.split_at_mut(ends[1] - ends[0]);
        rest = after;
        if !row.is_sorted_by_key(|cell| cell.0) {
            rows.push(row);
        }
    }
    rows.par_iter_mut().for_each(|row| row.sort_by_key(|cell| cell.0));
}

/// Columns and values with entries of one place added, and how many were.
fn add_doubled(cells: &[(u32, f64)], starts: &mut [usize]) -> (Vec<u32>, Vec<f64>, usize) {
    let mut columns: Vec<u32> = Vec::with_capacity(cells.len());
    let mut values: Vec<f64> = Vec::with_capacity(cells.len());
    let mut from = 0;
    for row in 1..starts.len() {
        let first = columns.len();
        for &(column, value) in &cells[from..starts[row]] {
            match values.last_mut() {
                Some(last) if columns.len() > first && columns.last() == Some(&column) => {
                    *last += value;
                }
                _ => {
                    columns.push(column);
                    values.push(value);
                }
            }
        }
        from = starts[row];
        starts[row] = columns.len();
    }
    let n_doubled = cells.len() - columns.len();
    (columns, values, n_doubled)
}

fn zeros<T: Clone + Default>(n: usize, path: &Path) -> Result<Vec<T>> {
    budget::zeros(n, || format!("the matrix in {}", path.display()))
}
