//! A survey of data with missing entries: count, mean and variance of what every column has, and where the
//! missing entries are, in one pass.

use super::columns::{Columns, rescale, two_sum};
use super::row_grid::{BLOCK, RowBatch, RowGrid, batch_rows, reduction_block_rows};
use crate::data::MissingCounts;
use crate::error::{Error, Result};
use crate::linalg::digest::Digest;
use crate::scalar::Scalar;
use rayon::prelude::*;

/// Empty rows that are remembered by number.
const REMEMBERED: usize = 16;

/// What the columns have where they have something, in the prescaled units of the data.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    /// Σw of the observed entries of each column.
    pub weight: Vec<f64>,
    /// Their number.
    count: Vec<usize>,
    pub mean: Vec<f64>,
    pub low: Vec<f64>,
    /// Σ w (x − mean)².
    pub squares: Vec<f64>,
    /// Σw of the rows with something observed.
    pub row_weight: f64,
    pub missing_counts: MissingCounts,
    /// Rows with a missing entry, as bits.
    pub with_missing_values: Vec<u64>,
}

impl Observed {
    /// One pass; a second one where a column's magnitude asks for a power of two.
    pub fn of<T: Scalar>(grid: &mut RowGrid<T>) -> Result<Observed> {
        let found = Self::one_pass(grid)?;
        if rescale(grid, &found.columns())? {
            return Self::one_pass(grid);
        }
        Ok(found)
    }

    /// Mean and variance as if every column had as many entries as there are rows: the observed
    /// variance of each, with the divisor of all.
    pub fn columns(&self) -> Columns {
        let n = self.row_weight;
        let squares = self
            .squares
            .iter()
            .zip(&self.weight)
            .map(|(s, w)| if *w > 1.0 { s / (w - 1.0) * (n - 1.0) } else { 0.0 });
        Columns {
            weight: n,
            rows: self.missing_counts.rows - self.missing_counts.n_empty_rows,
            mean_hi: self.mean.clone(),
            mean_lo: self.low.clone(),
            squares: squares.collect(),
            varies: vec![true; self.mean.len()],
        }
    }

    fn zero(d: usize) -> Observed {
        Observed {
            weight: vec![0.0; d],
            count: vec![0; d],
            mean: vec![0.0; d],
            low: vec![0.0; d],
            squares: vec![0.0; d],
            row_weight: 0.0,
            missing_counts: MissingCounts { features: d, ..MissingCounts::default() },
            with_missing_values: Vec::new(),
        }
    }

    fn one_pass<T: Scalar>(grid: &RowGrid<T>) -> Result<Observed> {
        let d = grid.data.n_features();
        let unit = reduction_block_rows(d);
        let (mut total, mut digest) = (Self::zero(d), Digest::new());
        let read = grid.for_each_batch(batch_rows(d, 32), |batch| {
            let starts: Vec<usize> = (0..batch.rows).step_by(unit).collect();
            let parts: Vec<Result<(Observed, Vec<usize>, u64)>> = starts
                .par_iter()
                .map(|&start| Self::of_unit(grid, &batch, start, (start + unit).min(batch.rows)))
                .collect();
            for part in parts {
                let (part, with_missing_values, hash) = part?;
                total.merge(&part);
                digest.words(&[hash]);
                for row in with_missing_values {
                    let word = row / 64;
                    if total.with_missing_values.len() <= word {
                        total.with_missing_values.resize(word + 1, 0);
                    }
                    total.with_missing_values[word] |= 1 << (row % 64);
                }
            }
            Ok(())
        })?;
        grid.set_fingerprint(digest.finish());
        total.with_missing_values.resize(read.div_ceil(64), 0);
        let rows = total.missing_counts.rows;
        total.missing_counts.columns = (0..d)
            .filter(|&f| total.count[f] < rows)
            .map(|f| (f, grid.data.column_name(f), rows - total.count[f]))
            .collect();
        total.missing_counts.missing = total.missing_counts.columns.iter().map(|c| c.2).sum();
        if rows < 2 {
            return Err(Error::TooFewRows { found: rows, needed: 2 });
        }
        Ok(total)
    }

    fn of_unit<T: Scalar>(
        grid: &RowGrid<T>,
        batch: &RowBatch<T>,
        start: usize,
        end: usize,
    ) -> Result<(Observed, Vec<usize>, u64)> {
        let d = batch.n_features;
        let mut total = Self::zero(d);
        let mut with_missing_values = Vec::new();
        let (mut scratch, mut digest) = (Vec::new(), Digest::new());
        for at in (start..end).step_by(BLOCK) {
            let block = batch.block(at, (at + BLOCK).min(end), &mut scratch);
            block.hash_into(&mut digest);
            let mut part = Self::zero(d);
            // Deviations from the first entry of the column in this block: their rounding is in
            // proportion to the spread, wherever the column lies.
            let mut origin = vec![0.0; d];
            for i in 0..block.rows {
                let w = block.count(i);
                // Rows of weight 0 are not counted, but an infinite entry in one is an error all the
                // same, and one with a missing entry must go where such rows go.
                if w == 0.0 {
                    let bad = block.row(i).iter().position(|x| !x.to_f64().is_finite());
                    match bad.map(|f| (f, block.row(i)[f].to_f64())) {
                        Some((_, x)) if x.is_nan() => with_missing_values.push(block.first + i),
                        Some((f, x)) => return Err(grid.data.bad_entry(block.first + i, f, x)),
                        None => {}
                    }
                    continue;
                }
                let mut seen = 0;
                for (f, x) in block.row(i).iter().enumerate() {
                    let x = x.to_f64();
                    if x.is_nan() {
                        continue;
                    }
                    if x.is_infinite() {
                        return Err(grid.data.bad_entry(block.first + i, f, x));
                    }
                    if part.count[f] == 0 {
                        origin[f] = x;
                    }
                    seen += 1;
                    part.count[f] += 1;
                    part.weight[f] += w;
                    part.mean[f] += w * (x - origin[f]);
                }
                part.missing_counts.rows += 1;
                if seen < d {
                    part.missing_counts.rows_with_missing += 1;
                    with_missing_values.push(block.first + i);
                }
                if seen == 0 {
                    part.missing_counts.n_empty_rows += 1;
                    part.missing_counts.empty_rows.push(block.first + i);
                } else {
                    part.row_weight += w;
                }
            }
            for f in (0..d).filter(|&f| part.count[f] > 0) {
                (part.mean[f], part.low[f]) = two_sum(origin[f], part.mean[f] / part.weight[f]);
            }
            for i in (0..block.rows).filter(|&i| block.count(i) > 0.0) {
                let w = block.count(i);
                for (f, x) in block.row(i).iter().enumerate().filter(|(_, x)| !x.to_f64().is_nan())
                {
                    let centered = (x.to_f64() - part.mean[f]) - part.low[f];
                    part.squares[f] += w * centered * centered;
                }
            }
            total.merge(&part);
        }
        Ok((total, with_missing_values, digest.finish()))
    }

    /// Adds the rows of `later` (Chan, Golub & LeVeque 1979), column by column.
    fn merge(&mut self, later: &Observed) {
        for f in (0..self.mean.len()).filter(|&f| later.count[f] > 0) {
            let weight = self.weight[f] + later.weight[f];
            let share = later.weight[f] / weight;
            if self.count[f] == 0 {
                (self.mean[f], self.low[f]) = (later.mean[f], later.low[f]);
                self.squares[f] = later.squares[f];
            } else {
                let difference = (later.mean[f] - self.mean[f]) + (later.low[f] - self.low[f]);
                (self.mean[f], self.low[f]) =
                    two_sum(self.mean[f], self.low[f] + difference * share);
                self.squares[f] +=
                    later.squares[f] + difference * difference * self.weight[f] * share;
            }
            self.weight[f] = weight;
            self.count[f] += later.count[f];
        }
        self.row_weight += later.row_weight;
        let (missing_counts, more) = (&mut self.missing_counts, &later.missing_counts);
        missing_counts.rows += more.rows;
        missing_counts.rows_with_missing += more.rows_with_missing;
        missing_counts.n_empty_rows += more.n_empty_rows;
        let room = REMEMBERED.saturating_sub(missing_counts.empty_rows.len());
        missing_counts.empty_rows.extend(more.empty_rows.iter().take(room));
    }
}
