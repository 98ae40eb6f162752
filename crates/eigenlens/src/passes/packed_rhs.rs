//! The thin right operand of a pass, and the products of rows with it.

use super::Scaler;
use super::row_grid::Block;
use crate::linalg::aligned::Aligned;
use crate::linalg::simd::{
    self, Ahead, Columns, GemmFlags, Left, SMALL_N, Tile, gemm_small_n, has_wide_registers,
};
use crate::scalar::Scalar;
use ndarray::{ArrayView2, s};
use rayon::prelude::*;

/// Columns of a packed panel.
pub(super) const PANEL: usize = <f64 as Tile>::PANEL;

/// V (d × b) as rows that are only centred need it: multiplied by the scale of the features, in panels of
/// columns, so that what the product with a few features reads lies together and begins at a cache line.
///
/// However rows reach it, a score is the same chain of multiply-adds over `(x − mean) · (scale · v)`, less
/// what the trailing digits of the means add.
pub(super) struct PackedRhs {
    pub features: usize,
    /// Columns of V, in whole vectors.
    pub columns: usize,
    /// The same in halves of vectors: beyond them are zeros.
    pub used: usize,
    /// Columns of V as they came.
    pub count: usize,
    panels: Aligned<f64>,
    /// The leading digits of the means, with zeros to the end of a vector.
    pub center: Aligned<f64>,
    /// The trailing digits' part of every column's scores, to be taken off them.
    pub rest: Vec<f64>,
    zeros: Vec<f64>,
    ones: Vec<f64>,
}

impl PackedRhs {
    /// Features whose products are summed at a time: as much of a panel fills half of a first-level
    /// cache.
    pub const DEPTH: usize = 128;

    /// Of V, padded with columns of zeros.
    pub fn new(v: ArrayView2<f64>, scaler: &Scaler) -> PackedRhs {
        const ROWS: usize = 1024;
        let (features, b) = v.dim();
        let columns = b.next_multiple_of(f64::PAD);
        let mut panels = Aligned::zeros(features * columns);
        for first in (0..columns).step_by(PANEL) {
            let width = PANEL.min(columns - first);
            let known = v.slice(s![.., first.min(b)..(first + width).min(b)]);
            let panel = &mut panels[features * first..][..features * width];
            panel.par_chunks_mut(ROWS * width).enumerate().for_each(|(piece, out)| {
                let known = known.slice(s![piece * ROWS.., ..]);
                let lines = out.chunks_exact_mut(width).zip(known.rows());
                for ((out, row), weight) in lines.zip(&scaler.inv_scale[piece * ROWS..]) {
                    out.iter_mut().zip(row).for_each(|(o, &v)| *o = weight * v);
                }
            });
        }
        let mut rest = vec![0.0; columns];
        for (row, (low, weight)) in
            v.rows().into_iter().zip(scaler.mean_lo.iter().zip(&scaler.inv_scale))
        {
            if *low != 0.0 {
                rest.iter_mut().zip(row).for_each(|(rest, &v)| *rest += low * (weight * v));
            }
        }
        let mut center = Aligned::zeros(features.next_multiple_of(f64::PAD));
        center[..features].copy_from_slice(&scaler.mean_hi);
        let used = b.next_multiple_of(f64::PAD / 2);
        let (zeros, ones) = (vec![0.0; features], vec![1.0; features]);
        PackedRhs { features, columns, used, count: b, panels, center, rest, zeros, ones }
    }

    /// Whether rows are best multiplied as they lie.
    pub fn is_narrow(&self) -> bool {
        self.used <= SMALL_N && has_wide_registers()
    }

    /// Rows of a block that begins at feature `first`, less the leading digits of the means.
    pub fn center<T: Scalar>(
        &self,
        block: &Block<T>,
        first: usize,
        panel: &mut [f64],
        stride: usize,
    ) {
        let width = block.n_features;
        let constants =
            [&self.center[first..first + width], &self.zeros[..width], &self.ones[..width]];
        simd::standardize(block.lines(0, width), constants, panel, stride);
    }

    /// `Z = (X − 1 cᵀ) V` for a panel of centred rows, or what features `first..first + width` add to it.
    /// Ranges begin at a multiple of the depth of the sums, so that they do not touch the bits.
    #[expect(clippy::too_many_arguments)]
    pub fn multiply(
        &self,
        rows_panel: &[f64],
        stride: usize,
        rows: usize,
        first: usize,
        width: usize,
        z: &mut [f64],
        ahead: &Ahead,
    ) {
        if first == 0 && self.used < self.columns {
            z.chunks_exact_mut(self.columns).take(rows).for_each(|z| z[self.used..].fill(0.0));
        }
        for from in (0..width).step_by(Self::DEPTH) {
            let depth = Self::DEPTH.min(width - from);
            let left = Left::new(&rows_panel[from..], rows, depth, stride, 1);
            let overwrite = first + from == 0;
            let flags =
                GemmFlags { overwrite, padded: true, ahead: Some(ahead), ..GemmFlags::default() };
            for column in (0..self.columns).step_by(PANEL) {
                let wide = PANEL.min(self.columns - column);
                let packed_rhs = &self.panels[self.features * column + (first + from) * wide..];
                let used = wide.min(self.used - column);
                f64::product(left, packed_rhs, wide, used, &mut z[column..], self.columns, flags);
            }
        }
    }

    /// The same for rows as they lie, where V [is narrow](Self::is_narrow).
    pub fn multiply_rows<T: Scalar>(&self, block: &Block<T>, z: &mut [f64], ahead: &Ahead) {
        for from in (0..self.features).step_by(Self::DEPTH) {
            let depth = Self::DEPTH.min(self.features - from);
            let (data, stride, columns) =
                (&self.panels[from * self.columns..], self.columns, self.count);
            let v = Columns { data, stride, columns };
            let z = Columns { data: &mut *z, stride, columns };
            let lines = block.lines(from, depth);
            gemm_small_n(lines, &self.center[from..], v, z, from == 0, ahead);
        }
    }

    /// About how many lines can be fetched while a block is multiplied as it lies, and multiplied by so
    /// many columns of its scores.
    pub fn narrow_steps(&self, rows: usize, gram_columns: usize) -> usize {
        let scores = self.features * rows.div_ceil(8) * self.used.div_ceil(12);
        (scores + rows * self.features.div_ceil(24) * gram_columns.div_ceil(12)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::linalg::random;
    use crate::passes::{Columns as Moments, RowGrid};
    use ndarray::Array2;

    /// Scores of rows as they lie have the bits of those from panels, and are the sums they stand for.
    fn check<T: Scalar>(n: usize, d: usize, k: usize) {
        let mut rng = random::stream(5, 0);
        let noise = random::normal_matrix(&mut rng, n, d);
        let x = Array2::from_shape_fn((n, d), |(i, f)| {
            T::from_f64((1e3 + noise[[i, f]]) * (1.0 + f as f64))
        });
        let v = random::normal_matrix(&mut rng, d, k);
        let data = Dataset::from(&x);
        let mut grid = RowGrid::new(&data).unwrap();
        let columns = Moments::of(&mut grid).unwrap();
        let scaler = Scaler::new::<T>(&columns, None, true, true);
        let packed_rhs = PackedRhs::new(v.view(), &scaler);
        assert_eq!(packed_rhs.is_narrow(), k <= SMALL_N && has_wide_registers());
        let look = |batch: super::super::RowBatch<T>| {
            let mut scratch = Vec::new();
            let block = batch.block(0, n, &mut scratch);
            let stride = d.next_multiple_of(8);
            let mut panel = Aligned::zeros(n * stride);
            let mut z = vec![7.0; n * packed_rhs.columns];
            let ahead = Ahead::new::<T>(&[], 1);
            packed_rhs.center(&block, 0, &mut panel, stride);
            packed_rhs.multiply(&panel, stride, n, 0, d, &mut z, &ahead);
            if packed_rhs.is_narrow() {
                let mut as_they_lie = vec![3.0; z.len()];
                packed_rhs.multiply_rows(&block, &mut as_they_lie, &ahead);
                assert_eq!(z, as_they_lie, "{n} × {d} × {k}");
            }
            for z in z.chunks_exact_mut(packed_rhs.columns) {
                z.iter_mut().zip(&packed_rhs.rest).for_each(|(z, rest)| *z -= rest);
            }
            for (i, z) in z.chunks_exact(packed_rhs.columns).enumerate() {
                for (j, z) in z.iter().enumerate() {
                    let entry = |f: usize| {
                        ((x[[i, f]].to_f64() - scaler.mean_hi[f]) - scaler.mean_lo[f])
                            * scaler.inv_scale[f]
                    };
                    let expected: f64 =
                        (0..d).map(|f| if j < k { entry(f) * v[[f, j]] } else { 0.0 }).sum();
                    assert!((z - expected).abs() < 1e-11 * d as f64, "{n} × {d} × {k}");
                }
            }
            Ok(())
        };
        grid.for_each_batch(n, look).unwrap();
    }

    #[test]
    fn rows_and_panels_give_the_same_scores() {
        for (n, d, k) in [(9, 5, 1), (17, 130, 11), (33, 300, 24), (12, 40, 30)] {
            check::<f64>(n, d, k);
            check::<f32>(n, d, k);
        }
    }
}
