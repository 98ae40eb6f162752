//! What belongs into the missing entries, and how sure that is.

use super::PpcaModel;
use crate::data::{Dataset, compiled_here};
use crate::em::Latent;
use crate::error::{Error, Result};
use crate::linalg::random;
use crate::model::imputation::{Gaussian, Gaussians};
use crate::passes::{RowGrid, reduction_block_rows};
use crate::scalar::{Scalar, typed};
use ndarray::Array2;

/// A table without missing entries.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Imputation<T> {
    /// The table (n × d): observed entries as they are, missing entries with their conditional mean.
    pub table: Array2<T>,
    /// The missing entries, row by row.
    pub entries: Vec<ImputedEntry>,
}

/// What went into one missing entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImputedEntry {
    /// Row, counted from 0.
    pub row: usize,
    /// Column, counted from 0.
    pub column: usize,
    /// The conditional mean given what the row has.
    pub value: f64,
    /// The conditional standard deviation, for the parameters as fitted.
    pub standard_error: f64,
}

/// Entries that were hidden from the model, and what it puts in their place.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HeldOut {
    /// In the order of the rows.
    pub entries: Vec<HeldOutEntry>,
}

/// One hidden entry, in standard deviations of its feature about the mean of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldOutEntry {
    /// What was hidden.
    pub actual: f64,
    /// The conditional mean given the rest of the row.
    pub imputed: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl HeldOut {
    /// The root of the mean squared error; 0 without entries.
    pub fn root_mean_square(&self) -> f64 {
        let sum: f64 = self.entries.iter().map(|e| (e.actual - e.imputed).powi(2)).sum();
        (sum / self.entries.len().max(1) as f64).sqrt()
    }

    /// The share of entries within `z` standard errors.
    pub fn coverage(&self, z: f64) -> f64 {
        let inside = |e: &&HeldOutEntry| (e.actual - e.imputed).abs() <= z * e.standard_error;
        self.entries.iter().filter(inside).count() as f64 / self.entries.len().max(1) as f64
    }
}

// Tables without missing entries, and what went into them.
typed!(Filled, T => Result<(Vec<Array2<T>>, Vec<ImputedEntry>)>);

impl PpcaModel {
    /// Hides a share of the observed entries at random and imputes them from what is left of their
    /// rows: how good imputation is on data like these (for training data, a little too good).
    pub fn held_out<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        share: f64,
        seed: u64,
    ) -> Result<HeldOut> {
        let data = &data.into();
        compiled_here!(PpcaModel, self.held_out_typed(data, share: f64, seed: u64) -> Result<HeldOut>)
    }

    fn held_out_typed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        share: f64,
        seed: u64,
    ) -> Result<HeldOut> {
        if !(share > 0.0 && share < 1.0) {
            return Err(Error::Parameter {
                name: "share",
                value: share.to_string(),
                expected: "between 0 and 1, both excluded",
            });
        }
        let d = self.n_features();
        self.map().check_features(data)?;
        let grid = RowGrid::unweighted(data, None)?;
        let (mut rows, mut hidden) = (Vec::new(), Vec::new());
        grid.for_each_batch(reduction_block_rows(d), |batch| {
            let mut scratch = Vec::new();
            for i in 0..batch.rows {
                let mut rng = random::stream(seed, 2_000 + (batch.first + i) as u64);
                for (f, x) in batch.block(i, i + 1, &mut scratch).row(0).iter().enumerate() {
                    let hide = random::uniform(&mut rng) < share && !x.to_f64().is_nan();
                    rows.push(if hide { T::from_f64(f64::NAN) } else { *x });
                    if hide {
                        hidden.push((batch.first + i, f, x.to_f64()));
                    }
                }
            }
            Ok(())
        })?;
        let x = Array2::from_shape_vec((rows.len() / d, d), rows)
            .map_err(|e| Error::Internal(e.to_string()))?;
        let imputed = self.impute(&x)?.entries;
        let deviations: Vec<f64> = self.covariance().diag().iter().map(|v| v.sqrt()).collect();
        let mean = self.mean();
        let mut next = imputed.iter();
        let mut entries = Vec::with_capacity(hidden.len());
        for (row, f, actual) in hidden {
            let found = next.find(|e| (e.row, e.column) == (row, f));
            if let Some(e) = found.filter(|_| deviations[f] > 0.0) {
                entries.push(HeldOutEntry {
                    actual: (actual - mean[f]) / deviations[f],
                    imputed: (e.value - mean[f]) / deviations[f],
                    standard_error: e.standard_error / deviations[f],
                });
            }
        }
        Ok(HeldOut { entries })
    }

    /// Fills missing entries with their conditional mean given the observed entries of their row, with the
    /// standard error of each.
    pub fn impute<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Imputation<T>> {
        let (tables, entries) = self.filled(&data.into(), 0, 0)?;
        Imputation::new(tables, entries)
    }

    /// Several tables (each n × d) whose missing entries are drawn from their joint conditional distribution,
    /// so that what is computed from all of them shows how much the missing entries matter (Rubin 1987). The
    /// parameters are taken as fitted. A row's draws depend on the seed and its number only.
    pub fn multiple_imputations<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        n_imputations: usize,
        seed: u64,
    ) -> Result<Vec<Array2<T>>> {
        check_imputations(n_imputations)?;
        Ok(self.filled(&data.into(), n_imputations, seed)?.0)
    }

    /// Tables with draws in their missing entries, or (with no draws asked for) one with means.
    fn filled<T: Scalar>(
        &self,
        data: &Dataset<T>,
        draws: usize,
        seed: u64,
    ) -> Result<(Vec<Array2<T>>, Vec<ImputedEntry>)> {
        compiled_here!(PpcaModel, self.filled_typed(data, draws: usize, seed: u64) -> Filled of T)
    }

    fn filled_typed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        draws: usize,
        seed: u64,
    ) -> Result<(Vec<Array2<T>>, Vec<ImputedEntry>)> {
        let variances = self.variances();
        // The same Gaussian, with some of it called noise where there is none.
        let latent = Latent::with_noise(self.components(), &variances, self.noise, self.varying());
        let parts = vec![Gaussian { latent, mean: None, share: 1.0 }];
        Gaussians { scaler: &self.map().scaler, threads: self.map().threads, parts }
            .fill(data, draws, seed)
    }
}

impl<T> Imputation<T> {
    /// The only table there is, with what went into it.
    pub(crate) fn new(tables: Vec<Array2<T>>, entries: Vec<ImputedEntry>) -> Result<Imputation<T>> {
        let table = tables.into_iter().next();
        let table = table.ok_or_else(|| Error::Internal("no table".into()))?;
        Ok(Imputation { table, entries })
    }
}

/// Refuses to draw nothing.
pub(crate) fn check_imputations(n_imputations: usize) -> Result<()> {
    if n_imputations == 0 {
        return Err(Error::Parameter {
            name: "n_imputations",
            value: "0".into(),
            expected: "at least 1",
        });
    }
    Ok(())
}
