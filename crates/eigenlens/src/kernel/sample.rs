//! Rows drawn from data in one pass, and the distances between them.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::linalg::random;
use crate::passes::{RowGrid, reduction_block_rows};
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2};
use rand::Rng;
use rayon::prelude::*;

/// At most `count` rows, drawn without replacement in one pass (reservoir sampling, Vitter 1985);
/// all rows, in their order, where there are no more.
pub(crate) fn sample_rows<T: Scalar>(
    data: &Dataset<T>,
    count: usize,
    seed: u64,
) -> Result<Array2<f64>> {
    let d = data.n_features();
    let mut rng = random::stream(seed, 11);
    let mut rows: Vec<f64> = Vec::new();
    let mut seen = 0usize;
    let plain = data.unweighted();
    let grid = RowGrid::new(&plain)?;
    grid.for_each_batch(reduction_block_rows(d), |batch| {
        let mut scratch = Vec::new();
        for i in 0..batch.rows {
            let at = seen;
            seen += 1;
            let place = if at < count { at } else { (rng.next_u64() % (at as u64 + 1)) as usize };
            if place >= count {
                continue;
            }
            let block = batch.block(i, i + 1, &mut scratch);
            if let Some((row, column, value)) = block.find_bad() {
                return Err(plain.bad_entry(row, column, value));
            }
            let values = block.row(0).iter().map(|v| v.to_f64());
            if at < count {
                rows.extend(values);
            } else {
                rows[place * d..(place + 1) * d].iter_mut().zip(values).for_each(|(to, v)| *to = v);
            }
        }
        Ok(())
    })?;
    Array2::from_shape_vec((rows.len() / d, d), rows).map_err(|e| Error::Internal(e.to_string()))
}

/// ‖x−y‖² of every pair of rows, from the differences themselves.
pub(crate) fn squared_distances(rows: ArrayView2<f64>) -> Vec<f64> {
    pairs(rows, |a, b| (a - b) * (a - b))
}

/// A sum over features of a function of two entries, for every pair of rows.
pub(super) fn pairs(rows: ArrayView2<f64>, term: impl Fn(f64, f64) -> f64 + Sync) -> Vec<f64> {
    let n = rows.nrows();
    (1..n)
        .into_par_iter()
        .flat_map_iter(|i| {
            let term = &term;
            (0..i).map(move |j| {
                rows.row(i).iter().zip(rows.row(j)).map(|(&a, &b)| term(a, b)).sum::<f64>()
            })
        })
        .collect()
}
