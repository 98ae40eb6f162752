//! The covariance of standardised data as an operator, applied by plain loops over the rows.

use super::columns::ColumnSums;
use super::dense::SMALL;
use super::rows::{Batch, Entries, Reader};
use super::{Sum, Sums, dot};
use crate::error::Result;
use crate::passes::Scaler;
use rayon::prelude::*;

/// `S = Xᵀ X / (n − 1)` of rows standardised as a model says.
pub(crate) struct Covariance<'a, 'r> {
    pub reader: &'a Reader<'r>,
    pub scaler: &'a Scaler,
}

/// What one pass over the rows finds.
pub(crate) struct Passed {
    pub rows: usize,
    pub columns: ColumnSums,
    /// One for each vector.
    pub along: Vec<Along>,
    /// `Xᵀ X` (d × d, lower triangle), where it was wanted.
    pub scatter: Option<Vec<f64>>,
    /// Standardised rows times the root of their weight, where they were wanted.
    pub held: Option<Vec<Vec<f64>>>,
}

/// Sums along one vector u.
pub(crate) struct Along {
    /// `Xᵀ(X u)` (d).
    products: Sums,
    /// `‖X u‖²`.
    squares: Sum,
    sum: Sum,
    pub fourth_powers: Sum,
    /// The largest weighted square, and its row.
    pub largest: (f64, usize),
}

/// What a pass is to gather beside products.
#[derive(Clone, Copy, Default)]
pub(crate) struct Gather {
    pub scatter: bool,
    pub held: bool,
}

impl Along {
    fn new(d: usize) -> Along {
        let sum = Sum::default();
        Along { products: Sums::zeros(d), squares: sum, sum, fourth_powers: sum, largest: (0.0, 0) }
    }

    fn add_score(&mut self, w: f64, z: f64, row: usize) {
        let square = w * z * z;
        self.squares.add(square);
        self.sum.add(w * z);
        self.fourth_powers.add(square * z * z);
        if square > self.largest.0 {
            self.largest = (square, row);
        }
    }

    /// Weighted squares of the scores, summed.
    pub fn squares(&self) -> f64 {
        self.squares.value()
    }

    /// `S u` (d).
    pub fn product(&self, divisor: f64) -> Vec<f64> {
        self.products.values().iter().map(|v| v / divisor).collect()
    }
}

impl Covariance<'_, '_> {
    pub fn dimension(&self) -> usize {
        self.scaler.inv_scale.len()
    }

    /// Whether the matrix itself is small enough to be made.
    pub fn is_small(&self) -> bool {
        self.dimension() <= SMALL
    }

    /// Whether there are so few samples that their inner products are a small matrix.
    pub fn has_few_samples(&self) -> bool {
        self.reader.n_samples().is_some_and(|n| n <= SMALL)
    }

    /// Sums about the mean of the scaler, and along the vectors.
    pub fn pass(&self, vectors: &[Vec<f64>], gather: Gather) -> Result<Passed> {
        let d = self.dimension();
        let mut passed = Passed {
            rows: 0,
            columns: ColumnSums::about(self.scaler.mean_hi.clone()),
            along: vectors.iter().map(|_| Along::new(d)).collect(),
            scatter: gather.scatter.then(|| vec![0.0; d * d]),
            held: gather.held.then(Vec::new),
        };
        let offsets: Vec<f64> = vectors.iter().map(|u| dot(u, &self.shift())).collect();
        passed.rows = self.reader.for_each(&mut |batch| {
            passed.columns.add(batch);
            match &batch.entries {
                Entries::Sparse(rows) if passed.scatter.is_none() && passed.held.is_none() => {
                    self.add_sparse(&mut passed.along, vectors, &offsets, batch, rows);
                }
                _ => {
                    let x: Vec<Vec<f64>> =
                        (0..batch.rows()).map(|i| self.standardized(&batch.dense_row(i))).collect();
                    add_dense(&mut passed.along, vectors, batch, &x);
                    if let Some(scatter) = &mut passed.scatter {
                        add_scatter(scatter, d, batch, &x);
                    }
                    if let Some(held) = &mut passed.held {
                        held.extend(x.into_iter().zip(&batch.weights).map(|(row, w)| {
                            row.into_iter().map(|v| v * w.sqrt()).collect::<Vec<f64>>()
                        }));
                    }
                }
            }
            Ok(())
        })?;
        if self.reader.stays_sparse() && passed.scatter.is_none() && passed.held.is_none() {
            let shift = self.shift();
            for along in &mut passed.along {
                along.products.add_scaled(-along.sum.value(), &shift);
            }
        }
        Ok(passed)
    }

    /// `S v` of each vector.
    pub fn apply(&self, vectors: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        let passed = self.pass(vectors, Gather::default())?;
        let divisor = passed.columns.weight.value() - 1.0;
        Ok(passed.along.iter().map(|along| along.product(divisor)).collect())
    }

    fn standardized(&self, row: &[f64]) -> Vec<f64> {
        let Scaler { mean_hi, mean_lo, inv_scale, .. } = self.scaler;
        let one = |f: usize| ((row[f] - mean_hi[f]) - mean_lo[f]) * inv_scale[f];
        (0..row.len()).map(one).collect()
    }

    /// What an entry of 0 becomes, with the other sign (d).
    fn shift(&self) -> Vec<f64> {
        let Scaler { mean_hi, mean_lo, inv_scale, .. } = self.scaler;
        (0..inv_scale.len()).map(|f| (mean_hi[f] + mean_lo[f]) * inv_scale[f]).collect()
    }

    /// Only entries that are stored; the shift is taken off products at the end.
    fn add_sparse(
        &self,
        all: &mut [Along],
        vectors: &[Vec<f64>],
        offsets: &[f64],
        batch: &Batch,
        rows: &[(Vec<u32>, Vec<f64>)],
    ) {
        let inv_scale = &self.scaler.inv_scale;
        all.par_iter_mut().zip(vectors).zip(offsets).for_each(|((along, u), offset)| {
            for (i, (columns, values)) in rows.iter().enumerate() {
                let entries = || columns.iter().map(|f| *f as usize).zip(values);
                let inside = entries().map(|(f, v)| u[f] * (v * inv_scale[f]));
                let z = Sum::of(inside.chain(std::iter::once(-offset)));
                let w = batch.weights[i];
                along.add_score(w, z, batch.numbers[i]);
                for (f, v) in entries() {
                    along.products.add(f, w * z * (v * inv_scale[f]));
                }
            }
        });
    }
}

fn add_dense(all: &mut [Along], vectors: &[Vec<f64>], batch: &Batch, x: &[Vec<f64>]) {
    all.par_iter_mut().zip(vectors).for_each(|(along, u)| {
        for (i, row) in x.iter().enumerate() {
            let (w, z) = (batch.weights[i], dot(u, row));
            along.add_score(w, z, batch.numbers[i]);
            along.products.add_scaled(w * z, row);
        }
    });
}

/// The lower triangle; few rows at a time, so that what rounding takes stays small.
fn add_scatter(scatter: &mut [f64], d: usize, batch: &Batch, x: &[Vec<f64>]) {
    scatter.par_chunks_mut(d).enumerate().for_each(|(f, out)| {
        let mut sums = vec![0.0; f + 1];
        for (row, w) in x.iter().zip(&batch.weights) {
            let factor = w * row[f];
            sums.iter_mut().zip(row).for_each(|(s, v)| *s += factor * v);
        }
        out.iter_mut().zip(&sums).for_each(|(out, s)| *out += s);
    });
}
