//! Samples with missing entries under one Gaussian or several: which part a sample belongs to, and what belongs
//! into its missing entries.

use crate::data::Dataset;
use crate::em::{Chunk, Conditional, Group, Latent, map_chunks, responsibilities};
use crate::error::{Error, Result};
use crate::linalg::dense::power_of_two;
use crate::linalg::{pool, random};
use crate::model::ppca::ImputedEntry;
use crate::passes::{RowGrid, Scaler, reduction_block_rows};
use crate::scalar::Scalar;
use ndarray::{Array1, Array2, ArrayView1};
use std::collections::HashSet;

/// One Gaussian or a mixture, in standardised units.
pub(crate) struct Gaussians<'m> {
    pub scaler: &'m Scaler,
    pub threads: Option<usize>,
    pub parts: Vec<Gaussian<'m>>,
}

/// One part.
pub(crate) struct Gaussian<'m> {
    pub latent: Latent,
    /// The mean less that of the standardisation; `None` where it is the same.
    pub mean: Option<&'m Array1<f64>>,
    /// The part's share of the samples.
    pub share: f64,
}

/// What one row says of its parts.
pub(crate) struct Belonging {
    /// The probability of each part.
    pub shares: Vec<f64>,
    /// ln p of the observed entries, in standardised units and without the constant of the Gaussian.
    pub log_density: f64,
    /// E[z] of each part.
    pub latents: Vec<Vec<f64>>,
}

/// Tables without missing entries, and what went into them.
type Filled<T> = (Vec<Array2<T>>, Vec<ImputedEntry>);

impl Gaussians<'_> {
    /// Visits the rows, standardised, in chunks and in order.
    pub fn chunks<T: Scalar, R: Send>(
        &self,
        data: &Dataset<T>,
        each: impl Fn(&Chunk) -> Result<R> + Sync,
        take: impl FnMut(R) -> Result<()> + Send,
    ) -> Result<usize> {
        chunks(data, self.scaler, self.threads, each, take)
    }

    /// The posteriors of the parts that all rows of one pattern share.
    pub fn given(&self, group: &Group) -> Result<Vec<Conditional>> {
        self.parts.iter().map(|p| p.latent.given(|f| group.has(f))).collect()
    }

    /// Which part a standardised row belongs to, and where it is in each.
    pub fn belonging(&self, group: &Group, given: &[Conditional], row: &[f64]) -> Belonging {
        let (mut shares, mut latents) = (Vec::new(), Vec::new());
        for (part, given) in self.parts.iter().zip(given) {
            let (distance, z) = match part.mean {
                None => given.distance(&part.latent, row),
                Some(mean) => {
                    let mut x = vec![0.0; row.len()];
                    group
                        .features
                        .iter()
                        .map(|f| *f as usize)
                        .for_each(|f| x[f] = row[f] - mean[f]);
                    given.distance(&part.latent, &x)
                }
            };
            let determinant = given.log_determinant.unwrap_or(f64::INFINITY);
            shares.push(part.share.ln() - 0.5 * (determinant + distance));
            latents.push(z);
        }
        let log_density = if group.observed() > 0 {
            responsibilities(&mut shares)
        } else {
            shares = self.parts.iter().map(|p| p.share).collect();
            0.0
        };
        Belonging { shares, log_density, latents }
    }

    /// Tables with draws in their missing entries, or (with no draws asked for) one with means.
    pub fn fill<T: Scalar>(&self, data: &Dataset<T>, draws: usize, seed: u64) -> Result<Filled<T>> {
        let d = data.n_features();
        let tables = draws.max(1);
        let mut rows = vec![Vec::new(); tables];
        let mut entries = Vec::new();
        let each = |chunk: &Chunk| {
            let mut missing_counts: Vec<Vec<ImputedEntry>> = vec![Vec::new(); chunk.rows];
            let mut blocks = vec![Array2::<f64>::zeros((chunk.rows, d)); tables];
            for group in chunk.groups() {
                let given = self.given(&group)?;
                let missing: Vec<usize> = (0..d).filter(|&f| !group.has(f)).collect();
                let factors: Vec<_> = if draws > 0 {
                    given.iter().map(Conditional::factor).collect::<Result<_>>()?
                } else {
                    Vec::new()
                };
                for &i in group.rows {
                    let row = chunk.row(i);
                    let found = self.belonging(&group, &given, row);
                    let number = chunk.first + i;
                    let mut rng = random::stream(seed, 1_000 + number as u64);
                    for &f in &missing {
                        let (mean, variance) = self.moments(&found, &given, f);
                        let value = self.scaler.unstandardize(mean, f);
                        let standard_error = variance.sqrt() * self.size(f);
                        missing_counts[i].push(ImputedEntry {
                            row: number,
                            column: f,
                            value,
                            standard_error,
                        });
                        blocks[0][[i, f]] = mean;
                    }
                    for block in blocks.iter_mut().take(draws) {
                        if missing.is_empty() {
                            break;
                        }
                        let c = self.drawn_part(&found, || random::uniform(&mut rng));
                        let part = &self.parts[c];
                        let noise = Array1::from_shape_simple_fn(part.latent.w.ncols(), || {
                            random::normal(&mut rng)
                        });
                        let z = Array1::from(found.latents[c].clone()) + factors[c].dot(&noise);
                        for &f in &missing {
                            let noise = part.latent.noise.sqrt() * random::normal(&mut rng);
                            block[[i, f]] = part.at(f) + part.latent.w.row(f).dot(&z) + noise;
                        }
                    }
                }
            }
            Ok((blocks, missing_counts))
        };
        self.chunks(data, each, |(blocks, missing_counts)| {
            for (rows, block) in rows.iter_mut().zip(blocks) {
                rows.extend(block);
            }
            entries.extend(missing_counts.into_iter().flatten());
            Ok(())
        })?;
        let n = rows[0].len() / d;
        // Observed entries are given back as they came, to the bit.
        let mut tables = Vec::with_capacity(rows.len());
        for standardized in rows {
            let mut table = Array2::from_shape_fn((n, d), |(i, f)| {
                T::from_f64(self.scaler.unstandardize(standardized[i * d + f], f))
            });
            let known = self.copy_observed(data, &mut table)?;
            entries.retain(|e| !known.contains(&(e.row, e.column)));
            tables.push(table);
        }
        Ok((tables, entries))
    }

    /// Mean and variance of feature f in a row that lacks it, by the law of total variance.
    fn moments(&self, found: &Belonging, given: &[Conditional], f: usize) -> (f64, f64) {
        let value = |c: usize| {
            let z = ArrayView1::from(&found.latents[c][..]);
            self.parts[c].at(f) + self.parts[c].latent.w.row(f).dot(&z)
        };
        let values: Vec<f64> = (0..self.parts.len()).map(value).collect();
        let mean: f64 = found.shares.iter().zip(&values).map(|(r, v)| r * v).sum();
        let variance = (found.shares.iter().zip(&values).zip(given).zip(&self.parts))
            .map(|(((r, v), given), part)| {
                r * (given.variance(&part.latent, f) + (v - mean).powi(2))
            })
            .sum();
        (mean, variance)
    }

    /// A part by its probability; nothing is drawn where there is one only.
    fn drawn_part(&self, found: &Belonging, mut uniform: impl FnMut() -> f64) -> usize {
        if self.parts.len() == 1 {
            return 0;
        }
        let mut left = uniform();
        let drawn = found.shares.iter().position(|share| {
            left -= share;
            left <= 0.0
        });
        drawn.unwrap_or(self.parts.len() - 1)
    }

    /// What a standardised unit of a feature is in the units of the data.
    fn size(&self, f: usize) -> f64 {
        let exponent = self.scaler.column_exponents.as_ref().map_or(0, |e| e[f]);
        if self.scaler.inv_scale[f] > 0.0 {
            power_of_two(exponent) / self.scaler.inv_scale[f]
        } else {
            0.0
        }
    }

    /// Observed entries as they came; those of them in columns that the model says nothing about.
    fn copy_observed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        table: &mut Array2<T>,
    ) -> Result<HashSet<(usize, usize)>> {
        let grid = RowGrid::unweighted(data, None)?;
        let mut unmodeled = HashSet::new();
        grid.for_each_batch(reduction_block_rows(data.n_features()), |batch| {
            let mut scratch = Vec::new();
            for i in 0..batch.rows {
                let block = batch.block(i, i + 1, &mut scratch);
                for (f, x) in block.row(0).iter().enumerate().filter(|(_, x)| !x.to_f64().is_nan())
                {
                    table[[batch.first + i, f]] = *x;
                    if self.scaler.inv_scale[f] == 0.0 {
                        unmodeled.insert((batch.first + i, f));
                    }
                }
            }
            Ok(())
        })?;
        Ok(unmodeled)
    }
}

impl Gaussian<'_> {
    /// The mean of a feature.
    fn at(&self, f: usize) -> f64 {
        self.mean.map_or(0.0, |mean| mean[f])
    }
}

/// ln |dx/dx_standardised|⁻¹ of each feature: what makes densities those of the units of the data.
pub(crate) fn jacobian(scaler: &Scaler) -> Vec<f64> {
    let one = |f: usize| {
        let exponent = scaler.column_exponents.as_ref().map_or(0, |e| e[f]);
        if scaler.inv_scale[f] > 0.0 {
            (scaler.inv_scale[f] * power_of_two(-exponent)).ln()
        } else {
            0.0
        }
    };
    (0..scaler.inv_scale.len()).map(one).collect()
}

/// Visits rows, standardised, in chunks and in order: missing entries are expected, infinite entries are not.
pub(crate) fn chunks<T: Scalar, R: Send>(
    data: &Dataset<T>,
    scaler: &Scaler,
    threads: Option<usize>,
    each: impl Fn(&Chunk) -> Result<R> + Sync,
    take: impl FnMut(R) -> Result<()> + Send,
) -> Result<usize> {
    if data.n_features() != scaler.inv_scale.len() {
        return Err(Error::Shape {
            what: "the data",
            found: format!("{} features", data.n_features()),
            expected: format!("{}, as in training,", scaler.inv_scale.len()),
        });
    }
    let grid = RowGrid::unweighted(data, scaler.column_exponents.clone())?;
    let checked = |chunk: &Chunk| {
        let bad = (0..chunk.rows)
            .find_map(|i| Some((i, chunk.row(i).iter().position(|x| !x.is_finite())?)));
        match bad {
            Some((i, f)) => {
                let value = f64::INFINITY.copysign(chunk.row(i)[f]);
                Err(data.bad_entry(chunk.first + i, f, value))
            }
            None => each(chunk),
        }
    };
    pool::run(threads, || map_chunks(&grid, scaler, checked, take))?
}
