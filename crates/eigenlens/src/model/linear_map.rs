//! The body of every linear model: standardise, project, and back.

use super::diagnostics::{FeatureContributions, ratio};
use crate::data::{Dataset, Made, compiled_here};
use crate::error::{Error, Result};
use crate::linalg::pages::populate_pages;
use crate::linalg::{gemm, pool};
use crate::passes::{Pass, RowGrid, Scaler, Scores, Standardized};
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

/// `z = U (x − μ)/scale`, with rows of U orthonormal; null components give 0.
#[derive(Clone, Debug)]
pub(crate) struct LinearMap {
    pub scaler: Scaler,
    /// k × d, unit rows.
    pub components: Array2<f64>,
    /// Components that carry variance; those after them score 0.
    pub rank: usize,
    pub threads: Option<usize>,
}

/// Length of the standardised row and of its residual, for each row, in units of 2^exponent.
pub(crate) struct RowLengths {
    pub norms: Vec<f64>,
    pub residuals: Vec<f64>,
}

impl LinearMap {
    pub fn n_components(&self) -> usize {
        self.components.nrows()
    }

    /// Components as columns (d × k), null ones silenced: what scores are computed with.
    pub fn projector(&self) -> Array2<f64> {
        let (k, d) = self.components.dim();
        let mut columns = Array2::zeros((d, k));
        for j in 0..self.rank.min(k) {
            columns.column_mut(j).assign(&self.components.row(j));
        }
        columns
    }

    /// Scores (n × k) of new or old rows, each column times its factor: the unit of the
    /// standardised data, or what whitens.
    pub fn transform<T: Scalar>(&self, data: &Dataset<T>, factors: &[f64]) -> Result<Array2<T>> {
        compiled_here!(LinearMap, self.transform_typed(data, factors: &[f64]) -> Made of T)
    }

    fn transform_typed<T: Scalar>(&self, data: &Dataset<T>, factors: &[f64]) -> Result<Array2<T>> {
        let mut scores = Scores::gather(factors.to_vec(), data.n_samples().unwrap_or(0))?;
        self.run(data, &mut scores)?;
        scores.into_array()
    }

    /// The same, handed on in order as it is made.
    pub fn transform_blocks<T: Scalar>(
        &self,
        data: &Dataset<T>,
        factors: &[f64],
        sink: &mut (dyn FnMut(ArrayView2<T>) -> Result<()> + Send),
    ) -> Result<usize> {
        self.run(data, &mut Scores::hand_to(factors.to_vec(), sink))
    }

    fn run<T: Scalar>(&self, data: &Dataset<T>, scores: &mut Scores<T>) -> Result<usize> {
        let grid = self.prepare(data)?;
        let projector = self.projector();
        let rows = data.n_samples().map_or(f64::INFINITY, |n| n as f64);
        pool::run_sized(self.threads, rows * self.components.len() as f64, || {
            Standardized { grid: &grid, scaler: &self.scaler }.pass(
                projector.view(),
                Pass { scores: Some(scores), gram: None, score_moments: None },
            )
        })?
    }

    /// The rows, ready for passes without weights.
    pub fn prepare<'a, T: Scalar>(&self, data: &'a Dataset<'_, T>) -> Result<RowGrid<'a, T>> {
        self.check_features(data)?;
        RowGrid::unweighted(data, self.scaler.column_exponents.clone())
    }

    /// Refuses data with another number of features.
    pub fn check_features<T: Scalar>(&self, data: &Dataset<T>) -> Result<()> {
        if data.n_features() != self.components.ncols() {
            return Err(Error::Shape {
                what: "the data",
                found: format!("{} features", data.n_features()),
                expected: format!("{}, as in training,", self.components.ncols()),
            });
        }
        Ok(())
    }

    /// Rows (n × d) from scores (n × k); `factors` as in [`LinearMap::transform`].
    pub fn inverse_transform<T: Scalar>(
        &self,
        scores: ArrayView2<T>,
        factors: &[f64],
    ) -> Result<Array2<T>> {
        let (n, k) = scores.dim();
        if k != self.n_components() {
            return Err(Error::Shape {
                what: "the score matrix",
                found: format!("{k} columns"),
                expected: format!("{}", self.n_components()),
            });
        }
        let d = self.components.ncols();
        let mut rows = Array2::from_elem((n, d), T::default());
        // Few enough that what is made of them in f64 stays in the cache until it is written.
        let block = ((1 << 15) / d.max(1)).clamp(8, 256);
        pool::run_sized(self.threads, (n * self.components.len()) as f64, || {
            let out = rows.as_slice_mut().unwrap_or_default();
            out.par_chunks_mut((block * d).max(1)).enumerate().for_each_init(
                || (Vec::new(), Vec::new()),
                |(z, product), (index, out)| {
                    let lines = scores.slice(s![index * block..index * block + out.len() / d, ..]);
                    populate_pages(out);
                    self.restore(lines, factors, z, product, out);
                },
            );
        })?;
        Ok(rows)
    }

    /// A few rows from their scores; `z` and `product` are room.
    fn restore<T: Scalar>(
        &self,
        scores: ArrayView2<T>,
        factors: &[f64],
        z: &mut Vec<f64>,
        product: &mut Vec<f64>,
        out: &mut [T],
    ) {
        let (n, k) = scores.dim();
        z.clear();
        for row in scores.rows() {
            // Divided, not multiplied by one over it: that need not be a number.
            z.extend(row.iter().zip(factors).enumerate().map(|(j, (score, factor))| {
                if j < self.rank && *factor != 0.0 { score.to_f64() / factor } else { 0.0 }
            }));
        }
        product.resize(out.len(), 0.0);
        gemm::product_of_rows(z, n, k, self.components.view(), product);
        self.scaler.unstandardize_rows(product, out);
    }

    /// The lengths of standardised rows and of what the components leave of them, the latter from
    /// the residual itself and not as a difference of squares.
    pub fn row_lengths<T: Scalar>(&self, data: &Dataset<T>) -> Result<RowLengths> {
        compiled_here!(LinearMap, self.row_lengths_typed(data) -> Result<RowLengths>)
    }

    fn row_lengths_typed<T: Scalar>(&self, data: &Dataset<T>) -> Result<RowLengths> {
        let grid = self.prepare(data)?;
        let projector = self.projector();
        let mut lengths = RowLengths { norms: Vec::new(), residuals: Vec::new() };
        pool::run(self.threads, || {
            Standardized { grid: &grid, scaler: &self.scaler }.for_each_panel(256, |rows| {
                lengths.norms.extend(rows.rows().into_iter().map(|r| r.dot(&r).sqrt()));
                let mut z = gemm::product(rows.view(), projector.view());
                z.mapv_inplace(|v| -v);
                gemm::product_into(z.view(), self.components.view(), rows, false);
                lengths.residuals.extend(rows.rows().into_iter().map(|r| r.dot(&r).sqrt()));
                Ok(())
            })
        })??;
        Ok(lengths)
    }

    /// What each entry adds to T² and Q of its row; the components have these standard deviations (k), in the
    /// units of standardised rows.
    pub fn feature_contributions<T: Scalar>(
        &self,
        data: &Dataset<T>,
        standard_deviations: &[f64],
    ) -> Result<FeatureContributions> {
        compiled_here!(LinearMap, self.feature_contributions_typed(data, standard_deviations: &[f64]) -> Result<FeatureContributions>)
    }

    fn feature_contributions_typed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        standard_deviations: &[f64],
    ) -> Result<FeatureContributions> {
        let grid = self.prepare(data)?;
        let projector = self.projector();
        let d = self.components.ncols();
        let (mut t_squared, mut q) = (Vec::new(), Vec::new());
        pool::run(self.threads, || {
            Standardized { grid: &grid, scaler: &self.scaler }.for_each_panel(256, |rows| {
                let z = gemm::product(rows.view(), projector.view());
                // T² = zᵀ Λ⁻¹ z with zⱼ = Σ_f x_f u_jf: entry f adds x_f Σ_j u_jf zⱼ/λⱼ.
                let mut weighted = z.clone();
                for (mut column, &sd) in weighted.columns_mut().into_iter().zip(standard_deviations)
                {
                    column.mapv_inplace(|v| ratio(ratio(v, sd), sd));
                }
                let along = gemm::product(weighted.view(), self.components.view());
                t_squared.extend(rows.iter().zip(&along).map(|(x, a)| x * a));
                let negative = z.mapv(|v| -v);
                gemm::product_into(negative.view(), self.components.view(), rows, false);
                q.extend(rows.iter().map(|r| r * r));
                Ok(())
            })
        })??;
        let table = |entries: Vec<f64>| {
            Array2::from_shape_vec((entries.len() / d.max(1), d), entries)
                .map_err(|error| Error::Internal(error.to_string()))
        };
        Ok(FeatureContributions { t_squared: table(t_squared)?, q: table(q)? })
    }
}
