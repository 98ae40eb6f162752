//! Samples meet points through a kernel: the product of their kernel with coefficients, in tiles.

use super::ResolvedKernel;
use super::points::{Arithmetic, Points, TILE};
use super::tile::{self, Scratch, TileValue};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::linalg::aligned::Aligned;
use crate::linalg::simd::{GemmFlags, Left};
use crate::passes::{RowGrid, batch_rows};
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// `z = K_t A − c`, with `K_t` the kernel of new samples with the points kept.
pub(crate) struct Projection {
    pub kernel: ResolvedKernel,
    /// Training rows, or landmarks (m).
    pub points: Points,
    /// m × k.
    pub coefficients: Array2<f64>,
    /// k.
    pub offsets: Vec<f64>,
}

/// Takes blocks of scores (· × k) in order.
pub(crate) type Sink<'s, T> = dyn FnMut(ArrayView2<T>) -> Result<()> + Send + 's;

impl Projection {
    pub fn n_components(&self) -> usize {
        self.coefficients.ncols()
    }

    /// Scores (n × k).
    pub fn transform<T: Scalar>(&self, data: &Dataset<T>) -> Result<Array2<T>> {
        let k = self.n_components();
        let mut scores = Vec::with_capacity(data.n_samples().unwrap_or(0) * k);
        let rows = self.transform_blocks(data, &mut |block| {
            scores.extend(block.iter().copied());
            Ok(())
        })?;
        Array2::from_shape_vec((rows, k), scores).map_err(|e| Error::Internal(e.to_string()))
    }

    /// The same in f64, whatever the type of the data.
    pub fn transform_wide<T: Scalar>(&self, data: &Dataset<T>) -> Result<Array2<f64>> {
        let k = self.n_components();
        let mut scores = Vec::with_capacity(data.n_samples().unwrap_or(0) * k);
        let rows = self.blocks(data, &mut |block: ArrayView2<f64>| {
            scores.extend(block.iter().copied());
            Ok(())
        })?;
        Array2::from_shape_vec((rows, k), scores).map_err(|e| Error::Internal(e.to_string()))
    }

    /// The same, handed on in order as it is made; never more than a few tiles of the kernel exist.
    pub fn transform_blocks<T: Scalar>(
        &self,
        data: &Dataset<T>,
        sink: &mut Sink<'_, T>,
    ) -> Result<usize> {
        self.blocks(data, sink)
    }

    fn blocks<T: Scalar, O: Scalar>(
        &self,
        data: &Dataset<T>,
        sink: &mut Sink<'_, O>,
    ) -> Result<usize> {
        let expected =
            if self.points.is_absent() { self.points.len() } else { self.points.n_features() };
        if data.n_features() != expected {
            let what =
                if self.points.is_absent() { "the kernel of new samples" } else { "the data" };
            return Err(Error::Shape {
                what,
                found: format!("{} features", data.n_features()),
                expected: format!("{expected}, as in training,"),
            });
        }
        match self.points.arithmetic() {
            Some(Arithmetic::F32) => self.run::<T, O, f32>(data, sink),
            _ => self.run::<T, O, f64>(data, sink),
        }
    }

    fn run<T: Scalar, O: Scalar, S: TileValue>(
        &self,
        data: &Dataset<T>,
        sink: &mut Sink<'_, O>,
    ) -> Result<usize> {
        let k = self.n_components();
        let packed = Packed::<S>::new(self.coefficients.view());
        let plain = data.unweighted();
        let grid = RowGrid::new(&plain)?;
        let batch = batch_rows(data.n_features(), 16);
        {
            grid.for_each_batch(batch, |batch| {
                let mut out = vec![O::default(); batch.rows * k];
                let starts: Vec<usize> = (0..batch.rows).step_by(TILE).collect();
                let done: Vec<Result<()>> = starts
                    .par_iter()
                    .zip(out.par_chunks_mut((TILE * k).max(1)))
                    .map_init(
                        || (Scratch::default(), Vec::new(), Aligned::<f64>::default()),
                        |(scratch, copy, sums), (&at, out)| {
                            let block = batch.block(at, (at + TILE).min(batch.rows), copy);
                            let mut rows = self.points.empty_like();
                            rows.push_block(&plain, &block)?;
                            self.sums(&rows, &packed, scratch, sums);
                            for (out, sums) in
                                out.chunks_exact_mut(k).zip(sums.chunks_exact(packed.width))
                            {
                                for j in 0..k {
                                    // Plus 0: a silenced score is 0, never −0.
                                    out[j] = O::from_f64((sums[j] - self.offsets[j]) + 0.0);
                                }
                            }
                            Ok(())
                        },
                    )
                    .collect();
                done.into_iter().collect::<Result<()>>()?;
                let rows = batch.rows;
                let view = ArrayView2::from_shape((rows, k), &out)
                    .map_err(|e| Error::Internal(e.to_string()))?;
                sink(view)
            })
        }
    }

    /// `K_t A` of one panel of rows.
    fn sums<S: TileValue>(
        &self,
        rows: &Points,
        packed: &Packed<S>,
        scratch: &mut Scratch,
        sums: &mut Aligned<f64>,
    ) {
        let a = rows.panel(0);
        sums.resize(TILE * packed.width);
        sums.fill(0.0);
        for at in 0..self.points.n_panels() {
            let b = self.points.panel(at);
            let tile = tile::values::<S>(&self.kernel, &a, &b, scratch);
            let left = Left::new(tile, a.rows, b.rows, TILE, 1);
            let right = &packed.values[at * TILE * packed.width..];
            let flags = GemmFlags { padded: true, ..GemmFlags::default() };
            S::product(left, right, packed.width, packed.width, sums, packed.width, flags);
        }
    }
}

/// Coefficients as the micro-kernel reads them.
struct Packed<S> {
    values: Aligned<S>,
    width: usize,
}

impl<S: Scalar> Packed<S> {
    fn new(coefficients: ArrayView2<f64>) -> Packed<S> {
        let (m, k) = coefficients.dim();
        let width = k.next_multiple_of(S::PAD);
        let mut values = Aligned::zeros(m * width);
        for (to, from) in values.chunks_exact_mut(width).zip(coefficients.rows()) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = S::from_f64(*from));
        }
        Packed { values, width }
    }
}
