//! Scores of samples with missing entries: least squares on what is observed, and what that costs.

use super::LinearMap;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::linalg::dense::{power_of_two, symmetric_eigen};
use crate::linalg::pool;
use crate::linalg::small::{cholesky, inverse, packed_len};
use crate::passes::{BLOCK, RowBatch, RowGrid, batch_rows};
use crate::scalar::Scalar;
use ndarray::{Array1, Array2, ArrayView2};
use rayon::prelude::*;
use std::collections::HashMap;

/// Scores of samples with missing entries, and how certain they are.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ObservedScores {
    /// Least-squares scores (n × k), not whitened: `z = (U_oᵀU_o)⁻¹ U_oᵀ (x_o − μ_o)`; where the
    /// observed entries leave z open, the solution nearest to the mean in the sense of T².
    pub scores: Array2<f64>,
    /// The share of the information about each score that is left (n × k), `1/[(U_oᵀU_o)⁻¹]_jj`: 1
    /// with nothing missing, 0 where the observed entries say nothing.
    pub certainty: Array2<f64>,
    /// The standard error of each score (n × k): the noise `σ` over the root of the certainty, and
    /// where nothing is known the standard deviation of the component.
    pub standard_errors: Array2<f64>,
    /// Observed entries of each sample (n).
    pub observed: Vec<usize>,
}

/// A row of a block, and its missing entries as bits.
pub(crate) type RowHoles = (usize, Vec<u64>);

/// Rows of scores, of certainties and of standard errors in units of the noise.
type Found = (Vec<f64>, Vec<f64>, Vec<f64>);

/// The projection that samples of one pattern share.
struct Projection {
    /// `(U_oᵀU_o)⁻¹`, or its stand-in (k × k).
    inverse: Array2<f64>,
    certainty: Vec<f64>,
    /// Variance of each score: that of the noise, in units of σ², and what is not known at all.
    noise: Vec<f64>,
    unknown: Vec<f64>,
}

/// Finds the scores of rows with missing entries.
pub(crate) type Solve<'a, T> = dyn Fn(&Array2<T>, &[RowHoles]) -> Result<Vec<Vec<f64>>> + Sync + 'a;

impl LinearMap {
    /// [`LinearMap::transform_blocks`] for rows with missing entries, whose scores `solve` finds from rows
    /// (with zeros where entries are missing) and the missing entries; rows without get the same bits as there.
    pub fn transform_missing<T: Scalar>(
        &self,
        data: &Dataset<T>,
        factors: &[f64],
        solve: &Solve<T>,
        sink: &mut (dyn FnMut(ArrayView2<T>) -> Result<()> + Send),
    ) -> Result<usize> {
        self.check_features(data)?;
        let grid = RowGrid::unweighted(data, None)?;
        pool::run(self.threads, || {
            grid.for_each_batch(batch_rows(data.n_features(), 2), |batch| {
                let (whole, missing_counts) = self.fill(data, &batch)?;
                let mut scores = self.transform(&Dataset::dense(whole.view()), factors)?;
                for ((row, _), z) in missing_counts.iter().zip(solve(&whole, &missing_counts)?) {
                    for (j, z) in z.iter().enumerate() {
                        scores[[*row, j]] = T::from_f64(*z);
                    }
                }
                sink(scores.view())
            })
        })?
    }

    /// The same by least squares on what is observed.
    pub fn transform_observed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        factors: &[f64],
        variances: &[f64],
        sink: &mut (dyn FnMut(ArrayView2<T>) -> Result<()> + Send),
    ) -> Result<usize> {
        let solve = |rows: &Array2<T>, missing_counts: &[RowHoles]| {
            let found = self.project_rows(rows, missing_counts, variances)?;
            let scaled = |(z, ..): Found| z.iter().zip(factors).map(|(z, f)| z * f).collect();
            Ok(found.into_iter().map(scaled).collect())
        };
        self.transform_missing(data, factors, &solve, sink)
    }

    /// Scores, certainty and standard errors of all rows, in units of 2^exponent; `noise` is σ.
    pub fn observed_scores<T: Scalar>(
        &self,
        data: &Dataset<T>,
        variances: &[f64],
        noise: f64,
        unit: f64,
    ) -> Result<ObservedScores> {
        self.check_features(data)?;
        let (k, d) = self.components.dim();
        let grid = RowGrid::unweighted(data, None)?;
        let factors: Vec<f64> = (0..k).map(|j| if j < self.rank { 1.0 } else { 0.0 }).collect();
        let mut all = [Vec::new(), Vec::new(), Vec::new()];
        let mut observed = Vec::new();
        pool::run(self.threads, || {
            grid.for_each_batch(batch_rows(d, 2), |batch| {
                let (whole, missing_counts) = self.fill(data, &batch)?;
                let kernel = self.transform(&Dataset::dense(whole.view()), &factors)?;
                let found = self.project_rows(&whole, &missing_counts, variances)?;
                let mut next = missing_counts.iter().zip(found).peekable();
                for i in 0..batch.rows {
                    let (z, certainty, errors, count) = match next.peek() {
                        Some(((row, bits), _)) if *row == i => {
                            let count =
                                d - bits.iter().map(|b| b.count_ones()).sum::<u32>() as usize;
                            match next.next() {
                                Some((_, (z, c, e))) => (z, c, e, count),
                                None => continue,
                            }
                        }
                        _ => {
                            let z = kernel.row(i).iter().map(|v| v.to_f64()).collect();
                            (z, factors.clone(), factors.clone(), d)
                        }
                    };
                    observed.push(count);
                    all[0].extend(z.iter().map(|z| z * unit));
                    all[1].extend(certainty);
                    // A negative entry marks a score that is not known at all.
                    all[2].extend(
                        errors.iter().map(|e| if *e < 0.0 { -e * unit } else { e * noise * unit }),
                    );
                }
                Ok(())
            })
        })??;
        let [scores, certainty, errors] = all
            .map(|v| Array2::from_shape_vec((observed.len(), k), v))
            .map(|m| m.map_err(|e| Error::Internal(e.to_string())));
        Ok(ObservedScores {
            scores: scores?,
            certainty: certainty?,
            standard_errors: errors?,
            observed,
        })
    }

    /// Copies rows with zeros for missing entries; which rows have missing entries, and where.
    fn fill<T: Scalar>(
        &self,
        data: &Dataset<T>,
        batch: &RowBatch<T>,
    ) -> Result<(Array2<T>, Vec<RowHoles>)> {
        let d = batch.n_features;
        let mut scratch = Vec::new();
        let mut out = Array2::<T>::default((batch.rows, d));
        let mut missing_counts = Vec::new();
        for at in (0..batch.rows).step_by(BLOCK) {
            let block = batch.block(at, (at + BLOCK).min(batch.rows), &mut scratch);
            for i in 0..block.rows {
                let mut bits = Vec::new();
                for (f, &x) in block.row(i).iter().enumerate() {
                    let wide = x.to_f64();
                    if wide.is_infinite() {
                        return Err(data.bad_entry(block.first + i, f, wide));
                    }
                    if wide.is_nan() {
                        bits.resize(d.div_ceil(64), 0u64);
                        bits[f / 64] |= 1 << (f % 64);
                    } else {
                        out[[at + i, f]] = x;
                    }
                }
                if !bits.is_empty() {
                    missing_counts.push((at + i, bits));
                }
            }
        }
        Ok((out, missing_counts))
    }

    /// An entry of feature f, standardised.
    pub fn standardize<T: Scalar>(&self, x: T, f: usize) -> f64 {
        let scaler = &self.scaler;
        let exponent = scaler.column_exponents.as_ref().map_or(0, |e| e[f]);
        let x = x.to_f64() * power_of_two(-exponent);
        ((x - scaler.mean_hi[f]) - scaler.mean_lo[f]) * scaler.inv_scale[f]
    }

    /// Least squares for the rows with missing entries, those of one pattern together.
    fn project_rows<T: Scalar>(
        &self,
        rows: &Array2<T>,
        missing_counts: &[RowHoles],
        variances: &[f64],
    ) -> Result<Vec<Found>> {
        let k = self.n_components();
        let mut patterns: HashMap<&[u64], usize> = HashMap::new();
        let mut kinds: Vec<&[u64]> = Vec::new();
        for (_, bits) in missing_counts {
            patterns.entry(bits).or_insert_with(|| {
                kinds.push(bits);
                kinds.len() - 1
            });
        }
        let projections: Vec<Result<Projection>> =
            kinds.par_iter().map(|bits| self.projection(bits, variances)).collect();
        let projections: Vec<Projection> = projections.into_iter().collect::<Result<_>>()?;
        let one = |(row, bits): &RowHoles| {
            let projection = &projections[patterns[&bits[..]]];
            let mut b = Array1::<f64>::zeros(self.rank.min(k));
            for f in (0..rows.ncols()).filter(|f| bits[f / 64] >> (f % 64) & 1 == 0) {
                let x = self.standardize(rows[[*row, f]], f);
                for (b, u) in b.iter_mut().zip(self.components.column(f)) {
                    *b += u * x;
                }
            }
            let mut z = projection.inverse.dot(&b).to_vec();
            z.resize(k, 0.0);
            let errors = projection
                .noise
                .iter()
                .zip(&projection.unknown)
                .map(|(n, u)| if *u > 0.0 { -u.sqrt() } else { n.sqrt() });
            let mut errors: Vec<f64> = errors.collect();
            errors.resize(k, 0.0);
            let mut certainty = projection.certainty.clone();
            certainty.resize(k, 0.0);
            (z, certainty, errors)
        };
        Ok(missing_counts.par_iter().map(one).collect())
    }

    fn projection(&self, missing_counts: &[u64], variances: &[f64]) -> Result<Projection> {
        // A fit through fewer directions than these would be noise only.
        const WELL_POSED: f64 = 1e-8;
        let k = self.rank.min(self.n_components());
        let mut gram = vec![0.0; packed_len(k)];
        for f in
            (0..self.components.ncols()).filter(|f| missing_counts[f / 64] >> (f % 64) & 1 == 0)
        {
            let u = self.components.column(f);
            for i in 0..k {
                for j in 0..=i {
                    gram[packed_len(i) + j] += u[i] * u[j];
                }
            }
        }
        let full = |packed: &[f64]| {
            Array2::from_shape_fn((k, k), |(i, j)| packed[packed_len(i.max(j)) + i.min(j)])
        };
        let mut factor = gram.clone();
        let sound = cholesky(&mut factor, k).is_some()
            && (0..k).all(|j| factor[packed_len(j) + j].powi(2) > WELL_POSED);
        if sound {
            let mut inverted = vec![0.0; packed_len(k)];
            inverse(&factor, k, &mut inverted, &mut Vec::new());
            let noise: Vec<f64> = (0..k).map(|j| inverted[packed_len(j) + j]).collect();
            return Ok(Projection {
                inverse: full(&inverted),
                certainty: noise.iter().map(|v| (1.0 / v).min(1.0)).collect(),
                noise,
                unknown: vec![0.0; k],
            });
        }
        // z = D (D G D)⁺ D b with D the standard deviations: of all that fit, the one nearest to
        // the mean.
        let d: Vec<f64> = variances.iter().take(k).map(|v| v.max(0.0).sqrt()).collect();
        let scaled = Array2::from_shape_fn((k, k), |(i, j)| {
            gram[packed_len(i.max(j)) + i.min(j)] * d[i] * d[j]
        });
        let (values, vectors) = symmetric_eigen(scaled.view())?;
        let largest = values.iter().fold(0.0f64, |m, v| m.max(*v));
        let (mut inverse, mut unknown) = (Array2::<f64>::zeros((k, k)), vec![0.0; k]);
        for (value, v) in values.iter().zip(vectors.columns()) {
            let known = *value > WELL_POSED * largest && *value > 0.0;
            for i in 0..k {
                if !known {
                    unknown[i] += (d[i] * v[i]).powi(2);
                    continue;
                }
                for j in 0..k {
                    inverse[[i, j]] += d[i] * v[i] * v[j] * d[j] / value;
                }
            }
        }
        for (u, d) in unknown.iter_mut().zip(&d) {
            // Rounding is no ignorance.
            *u = if *u > 1e-12 * d * d { *u } else { 0.0 };
        }
        let noise: Vec<f64> = (0..k).map(|j| inverse[[j, j]]).collect();
        let certainty = (noise.iter().zip(&unknown))
            .map(|(n, u)| if *u > 0.0 || *n <= 0.0 { 0.0 } else { (1.0 / n).min(1.0) })
            .collect();
        Ok(Projection { inverse, certainty, noise, unknown })
    }
}
