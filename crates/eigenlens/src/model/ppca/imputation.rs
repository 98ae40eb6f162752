//! What belongs into the holes, and how sure that is.

use super::PpcaModel;
use crate::data::{Dataset, Prepared, compiled_here, unit_rows};
use crate::error::{Error, Result};
use crate::linalg::dense::power_of_two;
use crate::linalg::random;
use crate::missing::{Chunk, Latent};
use crate::scalar::{Scalar, typed};
use ndarray::{Array1, Array2, ArrayView1};
use std::collections::HashSet;

/// A table without holes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Imputation<T> {
    /// The table (n × d): observed entries as they are, holes with their conditional mean.
    pub table: Array2<T>,
    /// The holes, row by row.
    pub entries: Vec<ImputedEntry>,
}

/// What went into one hole.
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

typed!(Filled, T => Result<(Vec<Array2<T>>, Vec<ImputedEntry>)>);

impl PpcaModel {
    /// Hides a share of the observed entries at random and imputes them from what is left of their
    /// rows: how good imputation is on data like these (for training data, a little too good).
    pub fn held_out<T: Scalar>(&self, data: &Dataset<T>, share: f64, seed: u64) -> Result<HeldOut> {
        if !(share > 0.0 && share < 1.0) {
            return Err(Error::Parameter {
                name: "share",
                value: share.to_string(),
                expected: "between 0 and 1, both excluded",
            });
        }
        let d = self.n_features();
        self.map().check_features(data)?;
        let prepared = Prepared::unweighted(data, None)?;
        let (mut rows, mut hidden) = (Vec::new(), Vec::new());
        prepared.for_each_slab(unit_rows(d), |slab| {
            let mut scratch = Vec::new();
            for i in 0..slab.rows {
                let mut rng = random::stream(seed, 2_000 + (slab.first + i) as u64);
                for (f, x) in slab.block(i, i + 1, &mut scratch).row(0).iter().enumerate() {
                    let hide = random::uniform(&mut rng) < share && !x.to_f64().is_nan();
                    rows.push(if hide { T::from_f64(f64::NAN) } else { *x });
                    if hide {
                        hidden.push((slab.first + i, f, x.to_f64()));
                    }
                }
            }
            Ok(())
        })?;
        let x = Array2::from_shape_vec((rows.len() / d, d), rows)
            .map_err(|e| Error::Internal(e.to_string()))?;
        let imputed = self.impute(&Dataset::from(&x))?.entries;
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

    /// Fills holes with their conditional mean given the observed entries of their row, with the
    /// standard error of each.
    pub fn impute<T: Scalar>(&self, data: &Dataset<T>) -> Result<Imputation<T>> {
        let (tables, entries) = self.filled(data, 0, 0)?;
        let table = tables.into_iter().next();
        let table = table.ok_or_else(|| Error::Internal("no table".into()))?;
        Ok(Imputation { table, entries })
    }

    /// Several tables (each n × d) whose holes are drawn from their joint conditional distribution,
    /// so that what is computed from all of them shows how much the holes matter (Rubin 1987). The
    /// parameters are taken as fitted. A row's draws depend on the seed and its number only.
    pub fn multiple_imputations<T: Scalar>(
        &self,
        data: &Dataset<T>,
        n_imputations: usize,
        seed: u64,
    ) -> Result<Vec<Array2<T>>> {
        if n_imputations == 0 {
            return Err(Error::Parameter {
                name: "n_imputations",
                value: "0".into(),
                expected: "at least 1",
            });
        }
        Ok(self.filled(data, n_imputations, seed)?.0)
    }

    /// Tables with draws in their holes, or (with no draws asked for) one with means.
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
        let d = self.n_features();
        let variances = self.variances();
        // The same Gaussian, with some of it called noise where there is none.
        let latent = Latent::with_noise(self.components(), &variances, self.noise, self.varying());
        let by = &self.map().by;
        let k = self.n_components();
        let tables = draws.max(1);
        let size = |f: usize| {
            let exponent = by.column_exponents.as_ref().map_or(0, |e| e[f]);
            if by.weight[f] > 0.0 { power_of_two(exponent) / by.weight[f] } else { 0.0 }
        };
        let mut rows = vec![Vec::new(); tables];
        let mut entries = Vec::new();
        let each = |chunk: &Chunk| {
            let mut holes: Vec<Vec<ImputedEntry>> = vec![Vec::new(); chunk.rows];
            let mut blocks = vec![Array2::<f64>::zeros((chunk.rows, d)); tables];
            for group in chunk.groups {
                let given = latent.given(|f| group.has(f))?;
                let missing: Vec<usize> = (0..d).filter(|&f| !group.has(f)).collect();
                let factor = if draws > 0 { given.factor()? } else { Array2::zeros((0, 0)) };
                for &i in &group.rows {
                    let row = chunk.first + i;
                    let z = Array1::from(given.mean(&latent, chunk.row(i)));
                    let mut rng = random::stream(seed, 1_000 + row as u64);
                    for block in &mut blocks {
                        block.row_mut(i).assign(&ArrayView1::from(chunk.row(i)));
                        let mut latent_row = z.clone();
                        if draws > 0 && !missing.is_empty() {
                            let noise =
                                Array1::from_shape_simple_fn(k, || random::normal(&mut rng));
                            latent_row += &factor.dot(&noise);
                        }
                        for &f in &missing {
                            let mean = latent.w.row(f).dot(&latent_row);
                            let noise = if draws > 0 {
                                latent.noise.sqrt() * random::normal(&mut rng)
                            } else {
                                0.0
                            };
                            block[[i, f]] = mean + noise;
                        }
                    }
                    for &f in &missing {
                        let value = self.map().unstandardize(latent.w.row(f).dot(&z), f);
                        let standard_error = given.variance(&latent, f).sqrt() * size(f);
                        holes[i].push(ImputedEntry { row, column: f, value, standard_error });
                    }
                }
            }
            Ok((blocks, holes))
        };
        self.chunks(data, each, |(blocks, holes)| {
            for (rows, block) in rows.iter_mut().zip(blocks) {
                rows.extend(block);
            }
            entries.extend(holes.into_iter().flatten());
            Ok(())
        })?;
        let n = rows[0].len() / d;
        // Observed entries are given back as they came, to the bit.
        let mut tables = Vec::with_capacity(rows.len());
        for standardized in rows {
            let mut table = Array2::from_shape_fn((n, d), |(i, f)| {
                T::from_f64(self.map().unstandardize(standardized[i * d + f], f))
            });
            let known = self.copy_observed(data, &mut table)?;
            entries.retain(|e| !known.contains(&(e.row, e.column)));
            tables.push(table);
        }
        Ok((tables, entries))
    }

    /// Observed entries as they came; those of them in columns that the model says nothing about.
    fn copy_observed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        table: &mut Array2<T>,
    ) -> Result<HashSet<(usize, usize)>> {
        let prepared = Prepared::unweighted(data, None)?;
        let weight = &self.map().by.weight;
        let mut unmodeled = HashSet::new();
        prepared.for_each_slab(unit_rows(data.n_features()), |slab| {
            let mut scratch = Vec::new();
            for i in 0..slab.rows {
                let block = slab.block(i, i + 1, &mut scratch);
                for (f, x) in block.row(0).iter().enumerate().filter(|(_, x)| !x.to_f64().is_nan())
                {
                    table[[slab.first + i, f]] = *x;
                    if weight[f] == 0.0 {
                        unmodeled.insert((slab.first + i, f));
                    }
                }
            }
            Ok(())
        })?;
        Ok(unmodeled)
    }
}
