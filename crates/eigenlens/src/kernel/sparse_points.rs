//! Sparse rows as kernels are computed from them: only entries that are not 0 are touched.

use super::points::TILE;
use crate::linalg::digest;
use crate::linalg::simd::vectorized;

/// Rows by their entries that are not 0, in rising columns.
#[derive(Default)]
pub(crate) struct SparseRows {
    /// Where each row ends.
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    norms: Vec<f64>,
}

/// Sparse rows as slices: `starts` says where each row ends.
pub(crate) struct SparsePoints<'a> {
    pub starts: &'a [usize],
    pub columns: &'a [u32],
    pub values: &'a [f64],
}

/// Rows spread out side by side, so that one entry of another row meets all of them at once.
const TOGETHER: usize = 8;

/// The sparse rows of two panels, as they meet in a tile.
pub(crate) struct SparsePair<'a> {
    pub left: &'a SparseRows,
    /// Number of the first row of the left panel, and how many there are.
    pub left_rows: (usize, usize),
    pub right: &'a SparseRows,
    pub right_rows: (usize, usize),
    pub n_features: usize,
}

impl SparsePair<'_> {
    /// `x·y` of all pairs of rows, into a tile.
    pub(super) fn products(&self, scratch: &mut Vec<f64>, out: &mut [f64]) {
        self.sums(
            scratch,
            out,
            #[inline(always)]
            |x, y| x * y,
        );
    }

    /// What the sum of moduli has too much as a distance, for a distance that is the sum over the features of a
    /// function of two entries, |x| where the other is 0.
    pub(super) fn overlap(
        &self,
        scratch: &mut Vec<f64>,
        out: &mut [f64],
        distance: impl Fn(f64, f64) -> f64 + Copy,
    ) {
        self.sums(
            scratch,
            out,
            #[inline(always)]
            move |x, y| (x.abs() + y.abs()) - distance(x, y),
        );
    }

    /// A function of two rows, columns and values, of all pairs of them, into a tile.
    pub(super) fn each(
        &self,
        out: &mut [f64],
        function: impl Fn((&[u32], &[f64]), (&[u32], &[f64])) -> f64,
    ) {
        let ((left, m), (right, n)) = (self.left_rows, self.right_rows);
        for i in 0..m {
            for j in 0..n {
                out[i * TILE + j] = function(self.left.row(left + i), self.right.row(right + j));
            }
        }
    }

    /// Sums of a function of two entries over the features that the right row has, into a tile.
    #[inline(always)]
    fn sums(&self, scratch: &mut Vec<f64>, out: &mut [f64], term: impl Fn(f64, f64) -> f64 + Copy) {
        let ((left, m), (right, n)) = (self.left_rows, self.right_rows);
        scratch.resize(self.n_features * TOGETHER, 0.0);
        for group in (0..m).step_by(TOGETHER) {
            let here = TOGETHER.min(m - group);
            for r in 0..here {
                let (columns, values) = self.left.row(left + group + r);
                for (&f, &v) in columns.iter().zip(values) {
                    scratch[f as usize * TOGETHER + r] = v;
                }
            }
            for j in 0..n {
                let sums = meet(self.right.row(right + j), scratch, term);
                for r in 0..here {
                    out[(group + r) * TILE + j] = sums[r];
                }
            }
            for r in 0..here {
                for &f in self.left.row(left + group + r).0 {
                    scratch[f as usize * TOGETHER + r] = 0.0;
                }
            }
        }
    }
}

impl SparseRows {
    /// Appends a dense row.
    pub fn push(&mut self, row: &[f64], absolute: bool) {
        // A matrix of more columns than u32 numbers is refused when it is made.
        let entries = row.iter().enumerate().filter(|(_, v)| **v != 0.0);
        self.push_entries(entries.map(|(f, &v)| (f as u32, v)), absolute);
    }

    /// Appends a row by its entries, in rising columns.
    pub fn push_entries(&mut self, entries: impl Iterator<Item = (u32, f64)>, absolute: bool) {
        let from = self.values.len();
        for (f, v) in entries {
            self.columns.push(f);
            self.values.push(v);
        }
        self.ends.push(self.values.len());
        let added = &self.values[from..];
        let norm = |sum: f64, v: &f64| sum + if absolute { v.abs() } else { v * v };
        self.norms.push(added.iter().fold(0.0, norm));
    }

    pub fn parts(&self) -> SparsePoints<'_> {
        SparsePoints { starts: &self.ends, columns: &self.columns, values: &self.values }
    }

    /// A hash of the rows, in their order.
    pub fn fingerprint(&self) -> u64 {
        let ends: Vec<u64> = self.ends.iter().map(|&end| end as u64).collect();
        digest::of_words(&[
            digest::of_words(&ends),
            digest::of_indices(&self.columns),
            digest::of_numbers(&self.values),
        ])
    }

    pub fn norms(&self) -> &[f64] {
        &self.norms
    }

    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        (&self.columns[start..self.ends[i]], &self.values[start..self.ends[i]])
    }

    pub fn dense_row(&self, i: usize, d: usize, out: &mut Vec<f64>) {
        out.clear();
        out.resize(d, 0.0);
        let (columns, values) = self.row(i);
        for (&f, &v) in columns.iter().zip(values) {
            out[f as usize] = v;
        }
    }
}

#[inline(always)]
fn meet(
    (columns, values): (&[u32], &[f64]),
    spread: &[f64],
    term: impl Fn(f64, f64) -> f64 + Copy,
) -> [f64; TOGETHER] {
    vectorized(
        #[inline(always)]
        move || {
            let mut sums = [0.0; TOGETHER];
            for (&f, &v) in columns.iter().zip(values) {
                let x = &spread[f as usize * TOGETHER..][..TOGETHER];
                for r in 0..TOGETHER {
                    sums[r] += term(v, x[r]);
                }
            }
            sums
        },
    )
}
