//! A symmetric sparse matrix.

use super::Operator;
use crate::data::Csr;
use crate::error::{Error, Result};
use crate::linalg::digest;
use crate::linalg::sparse::SymmetricRows;
use ndarray::{Array2, ArrayView2};

/// A symmetric sparse matrix (d × d) as an operator: a graph Laplacian, for one.
///
/// ```
/// use eigenlens::{Csr, Operator, SparseSymmetric};
/// // Two nodes and an edge.
/// let laplacian = Csr::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0, -1.0, -1.0, 1.0])?;
/// let laplacian = SparseSymmetric::new(&laplacian)?;
/// assert_eq!((laplacian.dim(), laplacian.n_stored()), (2, 4));
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SparseSymmetric {
    rows: SymmetricRows,
}

/// Two entries that mirror each other may differ by this share of the largest entry.
const SYMMETRY: f64 = 1e-12;
const WHAT: &str = "the sparse matrix";

impl SparseSymmetric {
    /// Checks that the matrix is square, finite and symmetric (to 1e-12 of its largest entry), and
    /// keeps `(A + Aᵀ) / 2`. Entries stored twice are summed.
    pub fn new(matrix: &Csr<f64>) -> Result<SparseSymmetric> {
        let d = matrix.n_rows();
        if d == 0 {
            return Err(Error::NoRows);
        }
        if matrix.n_columns() != d {
            return Err(Error::Shape {
                what: WHAT,
                found: format!("{d} × {} entries", matrix.n_columns()),
                expected: "a square matrix".into(),
            });
        }
        if let Some((row, column, value)) = matrix.find_bad() {
            return Err(bad_entry(row, column, value));
        }
        let rows = summed(matrix)?;
        let mirrored = transposed(&rows);
        let size = rows.values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        Ok(SparseSymmetric { rows: mean(&rows, &mirrored, SYMMETRY * size)? })
    }

    /// The number of stored entries, both triangles counted.
    pub fn n_stored(&self) -> usize {
        self.rows.values.len()
    }

    /// The most terms that an entry of a product has.
    pub(crate) fn terms(&self) -> usize {
        self.rows.starts.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0)
    }

    pub(crate) fn rows(&self) -> &SymmetricRows {
        &self.rows
    }

    /// A copy with entries near 1, and the exponent of two that brings it back.
    pub(crate) fn scaled(&self) -> (SparseSymmetric, i32) {
        let (rows, exponent) = self.rows.scaled();
        (SparseSymmetric { rows }, exponent)
    }
}

impl Operator for SparseSymmetric {
    fn dim(&self) -> usize {
        self.rows.dim()
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        self.rows.product_into(0.0, v.as_standard_layout().view(), out);
        Ok(())
    }

    fn fingerprint(&self) -> u64 {
        digest::of_words(&[
            digest::of_numbers(&self.rows.values),
            digest::of_indices(&self.rows.columns),
        ])
    }
}

fn bad_entry(row: usize, column: usize, value: f64) -> Error {
    if value.is_nan() {
        Error::MissingValue { row, column, name: None }
    } else {
        Error::Infinite { row, column, name: None, value }
    }
}

/// The rows with rising column numbers, each once.
fn summed(matrix: &Csr<f64>) -> Result<SymmetricRows> {
    let mut rows = SymmetricRows { starts: vec![0], columns: Vec::new(), values: Vec::new() };
    let mut entries: Vec<(u32, f64)> = Vec::new();
    for i in 0..matrix.n_rows() {
        let (columns, values) = matrix.row(i);
        entries.clear();
        entries.extend(columns.iter().copied().zip(values.iter().copied()));
        entries.sort_by_key(|e| e.0);
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            let value: f64 = same.iter().map(|e| e.1).sum();
            if !value.is_finite() {
                return Err(bad_entry(i, same[0].0 as usize, value));
            }
            rows.columns.push(same[0].0);
            rows.values.push(value);
        }
        rows.starts.push(rows.columns.len());
    }
    Ok(rows)
}

fn transposed(rows: &SymmetricRows) -> SymmetricRows {
    let d = rows.dim();
    let mut starts = vec![0; d + 1];
    rows.columns.iter().for_each(|&c| starts[c as usize + 1] += 1);
    (0..d).for_each(|i| starts[i + 1] += starts[i]);
    let mut next = starts.clone();
    let (mut columns, mut values) = (vec![0; rows.columns.len()], vec![0.0; rows.values.len()]);
    for i in 0..d {
        for at in rows.starts[i]..rows.starts[i + 1] {
            let to = &mut next[rows.columns[at] as usize];
            // A column number came as u32, and d columns are as many as rows.
            (columns[*to], values[*to]) = (i as u32, rows.values[at]);
            *to += 1;
        }
    }
    SymmetricRows { starts, columns, values }
}

/// `(A + Aᵀ) / 2`, unless two entries differ by more than `tolerance`.
fn mean(a: &SymmetricRows, mirrored: &SymmetricRows, tolerance: f64) -> Result<SymmetricRows> {
    let mut rows = SymmetricRows { starts: vec![0], columns: Vec::new(), values: Vec::new() };
    for row in 0..a.dim() {
        let (mut p, mut q) = (a.starts[row], mirrored.starts[row]);
        let (p_end, q_end) = (a.starts[row + 1], mirrored.starts[row + 1]);
        while p < p_end || q < q_end {
            // The next column that either of the two rows has.
            let here = if p < p_end { a.columns[p] } else { u32::MAX };
            let there = if q < q_end { mirrored.columns[q] } else { u32::MAX };
            let column = here.min(there);
            let (mut upper, mut lower) = (0.0, 0.0);
            if p < p_end && here == column {
                upper = a.values[p];
                p += 1;
            }
            if q < q_end && there == column {
                lower = mirrored.values[q];
                q += 1;
            }
            if (upper - lower).abs() > tolerance {
                let column = column as usize;
                return Err(Error::NotSymmetric { what: WHAT, row, column, upper, lower });
            }
            rows.columns.push(column);
            // Halves first: the sum could overflow. Equal entries stay as they are.
            rows.values.push(if upper == lower { upper } else { 0.5 * upper + 0.5 * lower });
        }
        rows.starts.push(rows.columns.len());
    }
    Ok(rows)
}
