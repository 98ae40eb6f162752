//! Labels in a pass: what the scores have in common with them, and what stands in for the scores.

use super::row_grid::RowBatch;
use crate::data::{Factor, FactorRhs};
use crate::linalg::gemm::transposed_product;
use crate::linalg::simd::vectorized;
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2, s};

/// What a pass does with labels besides: of `Z = Xs V` it makes `Δᵀ W Z`, and it puts `α Z + β Δ Q` in
/// the place of Z before the product with `Xsᵀ W` is made.
pub(crate) struct LabelPass<'p> {
    pub factor: &'p Factor,
    pub alpha: f64,
    pub beta: f64,
    /// Q (ℓ × b).
    pub right: ArrayView2<'p, f64>,
    /// `Δᵀ W Xs V` (ℓ × b), made by the pass.
    pub cross: Array2<f64>,
}

/// A [`LabelPass`] laid out for rows of `b` padded scores.
pub(super) struct TargetProjection<'p> {
    pub(super) factor: &'p Factor,
    alpha: f64,
    beta: f64,
    right: FactorRhs<'p>,
    b: usize,
}

impl<'p> TargetProjection<'p> {
    pub(super) fn new(of: &LabelPass<'p>, b: usize) -> TargetProjection<'p> {
        let mut right = Array2::zeros((of.right.nrows(), b));
        right.slice_mut(s![.., ..of.right.ncols()]).assign(&of.right);
        TargetProjection {
            factor: of.factor,
            alpha: of.alpha,
            beta: of.beta,
            right: of.factor.right(right.view()),
            b,
        }
    }

    /// Sums of no rows.
    pub(super) fn zeros(&self) -> Vec<f64> {
        vec![0.0; self.factor.width() * self.b]
    }

    /// The class of each sample and their number, where `Xsᵀ W (α Z + β Δ Q)` needs no more of the rows
    /// than their sums by class.
    pub(super) fn classes(&self) -> Option<(&'p [u32], usize)> {
        let codes = self.factor.codes().filter(|_| self.alpha == 0.0)?;
        Some((codes, self.factor.width()))
    }

    /// `Xsᵀ W β Δ Q` (d × b) from the sums of the rows by class (ℓ × d).
    pub(super) fn of_classes(&self, sums: ArrayView2<f64>) -> Array2<f64> {
        let shape = (self.factor.width(), self.b);
        let lines = Array2::from_shape_fn(shape, |(c, j)| self.beta * self.right.line(c)[j]);
        transposed_product(sums, lines.view())
    }

    /// Takes in the scores of a few rows, and leaves them as they are.
    pub(super) fn add<T: Scalar>(
        &self,
        batch: &RowBatch<T>,
        at: usize,
        z: &[f64],
        sums: &mut [f64],
    ) {
        vectorized(
            #[inline(always)]
            || {
                for (i, z) in z.chunks_exact(self.b).enumerate() {
                    self.factor.add_outer(batch.first + at + i, z, sums);
                }
            },
        );
    }

    /// Takes labels into the scores of a few rows.
    pub(super) fn rows<T: Scalar>(
        &self,
        batch: &RowBatch<T>,
        at: usize,
        z: &mut [f64],
        rows: usize,
        sums: &mut [f64],
    ) {
        let mut y = vec![0.0; self.b];
        vectorized(
            #[inline(always)]
            || {
                for (i, z) in z.chunks_exact_mut(self.b).take(rows).enumerate() {
                    let w = batch.count(at + i);
                    self.row(batch.first + at + i, w, z, &mut y, sums);
                }
            },
        );
    }

    /// Takes in the score row `z` of sample `i`, already times its weight `w`, and mixes it.
    #[inline(always)]
    pub(super) fn row(&self, i: usize, w: f64, z: &mut [f64], y: &mut [f64], sums: &mut [f64]) {
        self.factor.add_outer(i, z, sums);
        self.right.write(i, y);
        for (z, y) in z.iter_mut().zip(y) {
            *z = self.alpha * *z + self.beta * w * *y;
        }
    }

    /// Writes the sums over all rows where they are asked for.
    pub(super) fn finish(self, mut sums: Vec<f64>, into: &mut LabelPass) {
        self.factor.finish(&mut sums);
        let columns = into.right.ncols();
        into.cross =
            Array2::from_shape_fn((self.factor.width(), columns), |(c, j)| sums[c * self.b + j]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Columns, Pass, RowGrid, Scaler, Standardized};
    use super::*;
    use crate::data::{Csr, Dataset, SampleWeights, UNLABELLED};
    use crate::linalg::random;

    /// `Xsᵀ W (α Z + β Δ Q)` and `Δᵀ W Z`, made by one pass.
    fn of_pass(data: &Dataset<f64>, factor: &Factor, mix: (f64, f64)) -> [Array2<f64>; 2] {
        let mut grid = RowGrid::new(data).unwrap();
        let columns = Columns::of(&mut grid).unwrap();
        let scaler = Scaler::new::<f64>(&columns, None, true, true);
        let v = random::normal_matrix(&mut random::stream(3, 0), 13, 11);
        let right = random::normal_matrix(&mut random::stream(4, 0), factor.width(), 11);
        let (alpha, beta) = mix;
        let cross = Array2::zeros((0, 0));
        let mut labels = LabelPass { factor, alpha, beta, right: right.view(), cross };
        let mut product = Array2::zeros((0, 0));
        let wanted = Pass { scores: None, gram: Some((0, &mut product)), score_moments: None };
        let standardized = Standardized { grid: &grid, scaler: &scaler };
        standardized.pass_with_labels(v.view(), wanted, Some(&mut labels)).unwrap();
        [product, labels.cross]
    }

    /// Sums by class, labels as columns, and sparse rows go three different ways.
    #[test]
    fn a_pass_finds_the_same_whichever_way_labels_are_kept() {
        let (n, d, classes) = (700, 13, 4);
        let x = random::normal_matrix(&mut random::stream(1, 0), n, d);
        let codes: Vec<u32> = (0..n)
            .map(|i| if i % 7 == 3 { UNLABELLED } else { (i * i % classes) as u32 })
            .collect();
        let counts: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
        let columns = Array2::from_shape_fn((n, classes), |(i, c)| match codes[i] {
            UNLABELLED => f64::NAN,
            code => f64::from(u8::from(code as usize == c)),
        });
        let one_hot = Factor::one_hot(codes, classes, Some(&counts));
        let dense = Factor::dense(columns, Some(&counts));
        let starts = (0..=n).map(|i| i * d).collect();
        let places = (0..n * d).map(|at| (at % d) as u32).collect();
        let csr = Csr::new(n, d, starts, places, x.iter().copied().collect()).unwrap();
        let weights = || SampleWeights::frequency(counts.clone());
        let rows = Dataset::dense(x.view()).with_weights(weights());
        let compressed = Dataset::sparse(&csr).with_weights(weights());
        for mix in [(0.0, 0.7), (0.3, 0.7)] {
            let expected = of_pass(&rows, &dense, mix);
            for found in [of_pass(&rows, &one_hot, mix), of_pass(&compressed, &one_hot, mix)] {
                for (found, expected) in found.iter().zip(&expected) {
                    assert_eq!(found.dim(), expected.dim());
                    let worst = (found - expected).iter().fold(0.0, |a: f64, v| a.max(v.abs()));
                    assert!(worst < 1e-10 * n as f64, "{mix:?}: {worst}");
                }
            }
        }
    }
}
