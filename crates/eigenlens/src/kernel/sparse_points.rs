//! Sparse rows as kernels are computed from them: only entries that are not 0 are touched.

use super::points::TILE;
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

/// What is summed over the features that two rows share.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shared {
    /// `x y`.
    Products,
    /// `|x| + |y| − |x − y|`: what the sum of moduli has too much as a distance.
    Overlap,
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

    /// Sums over shared features of rows `first..first + rows` with those of `other`, into a tile.
    #[expect(clippy::too_many_arguments)]
    pub(super) fn shared(
        &self,
        first: usize,
        rows: usize,
        other: &SparseRows,
        other_first: usize,
        other_rows: usize,
        (what, n_features): (Shared, usize),
        spread: &mut Vec<f64>,
        out: &mut [f64],
    ) {
        spread.resize(n_features * TOGETHER, 0.0);
        for group in (0..rows).step_by(TOGETHER) {
            let here = TOGETHER.min(rows - group);
            for r in 0..here {
                let (columns, values) = self.row(first + group + r);
                for (&f, &v) in columns.iter().zip(values) {
                    spread[f as usize * TOGETHER + r] = v;
                }
            }
            for j in 0..other_rows {
                let sums = meet(other.row(other_first + j), spread, what);
                for r in 0..here {
                    out[(group + r) * TILE + j] = sums[r];
                }
            }
            for r in 0..here {
                for &f in self.row(first + group + r).0 {
                    spread[f as usize * TOGETHER + r] = 0.0;
                }
            }
        }
    }
}

fn meet((columns, values): (&[u32], &[f64]), spread: &[f64], what: Shared) -> [f64; TOGETHER] {
    vectorized(
        #[inline(always)]
        || {
            let mut sums = [0.0; TOGETHER];
            for (&f, &v) in columns.iter().zip(values) {
                let x = &spread[f as usize * TOGETHER..][..TOGETHER];
                match what {
                    Shared::Products => {
                        for r in 0..TOGETHER {
                            sums[r] += v * x[r];
                        }
                    }
                    Shared::Overlap => {
                        for r in 0..TOGETHER {
                            sums[r] += (v.abs() + x[r].abs()) - (v - x[r]).abs();
                        }
                    }
                }
            }
            sums
        },
    )
}
