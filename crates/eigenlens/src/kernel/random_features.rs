//! Random Fourier features of the Gaussian kernel (Rahimi & Recht 2008), plain and orthogonal
//! (Yu et al. 2016).

use super::ResolvedKernel;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::linalg::simd::{Elementwise, GemmFlags, Left, Tile, cos, elementwise};
use crate::linalg::{dense, random};
use crate::passes::{RowGrid, batch_rows};
use crate::scalar::Scalar;
use ndarray::{Array2, s};
use rayon::prelude::*;

/// `f(x) = √(2/m) cos(Wᵀ(x − shift) + b)`, with columns of W from N(0, 2γ I) and b uniform on
/// [0, 2π): the mean of `f(x)·f(y)` is `exp(−γ‖x−y‖²)`.
#[derive(Clone, Debug)]
pub(crate) struct RandomFeatures {
    pub kernel: ResolvedKernel,
    /// d × m.
    pub frequencies: Array2<f64>,
    /// m.
    pub phases: Vec<f64>,
    /// d: angles of moderate size keep their digits.
    pub shift: Vec<f64>,
}

/// Rows handled by one task.
const ROWS: usize = 128;

impl RandomFeatures {
    /// Draws m features for the Gaussian kernel with this γ.
    pub fn draw(gamma: f64, shift: Vec<f64>, m: usize, orthogonal: bool, seed: u64) -> Self {
        let d = shift.len();
        let mut rng = random::stream(seed, 12);
        let mut frequencies = random::normal_matrix(&mut rng, d, m);
        if orthogonal {
            for first in (0..m).step_by(d) {
                let some = d.min(m - first);
                let mut block = frequencies.slice_mut(s![.., first..first + some]);
                // Independent lengths of the same distribution (χ with d degrees of freedom) on
                // directions that are orthogonal.
                let lengths: Vec<f64> = (0..some)
                    .map(|_| {
                        let v = random::normal_matrix(&mut rng, d, 1);
                        v.iter().map(|x| x * x).sum::<f64>().sqrt()
                    })
                    .collect();
                let mut directions = dense::qr_q(block.view());
                for (mut column, length) in directions.columns_mut().into_iter().zip(lengths) {
                    column *= length;
                }
                block.assign(&directions.slice(s![.., ..some]));
            }
        }
        frequencies *= (2.0 * gamma).sqrt();
        let phases = (0..m).map(|_| std::f64::consts::TAU * random::uniform(&mut rng)).collect();
        RandomFeatures { kernel: ResolvedKernel::rbf(gamma), frequencies, phases, shift }
    }

    /// The number of features, m.
    pub fn n_features(&self) -> usize {
        self.phases.len()
    }

    /// The features (n × m) of some samples.
    pub fn transform<T: Scalar>(&self, data: &Dataset<T>) -> Result<Array2<f64>> {
        let m = self.n_features();
        let mut all = Vec::with_capacity(data.n_samples().unwrap_or(0) * m);
        let rows = self.for_each_block(data, |features| {
            all.extend_from_slice(features);
            Ok(())
        })?;
        Array2::from_shape_vec((rows, m), all).map_err(|e| Error::Internal(e.to_string()))
    }

    /// Hands on the features of blocks of rows (· × m) in order.
    pub fn for_each_block<T: Scalar>(
        &self,
        data: &Dataset<T>,
        mut sink: impl FnMut(&[f64]) -> Result<()>,
    ) -> Result<usize> {
        let (d, m) = self.frequencies.dim();
        if data.n_features() != d {
            return Err(Error::Shape {
                what: "the data",
                found: format!("{} features", data.n_features()),
                expected: format!("{d}, as in training,"),
            });
        }
        let width = m.next_multiple_of(f64::PAD);
        let mut right = Array2::<f64>::zeros((d, width));
        right.slice_mut(s![.., ..m]).assign(&self.frequencies);
        let right = right.as_slice().unwrap_or_default();
        let plain = data.unweighted();
        let grid = RowGrid::new(&plain)?;
        grid.for_each_batch(batch_rows(d, 2), |batch| {
            let mut out = vec![0.0; batch.rows * m];
            let starts: Vec<usize> = (0..batch.rows).step_by(ROWS).collect();
            let done: Vec<Result<()>> = starts
                .par_iter()
                .zip(out.par_chunks_mut(ROWS * m))
                .map_init(Vec::new, |copy, (&at, out)| {
                    let block = batch.block(at, (at + ROWS).min(batch.rows), copy);
                    if let Some((row, column, value)) = block.find_bad() {
                        return Err(plain.bad_entry(row, column, value));
                    }
                    let mut x = vec![0.0; block.rows * d];
                    for (i, to) in x.chunks_exact_mut(d).enumerate() {
                        for ((to, v), s) in to.iter_mut().zip(block.row(i)).zip(&self.shift) {
                            *to = v.to_f64() - s;
                        }
                    }
                    let left = Left::new(&x, block.rows, d, d, 1);
                    let flags = GemmFlags { overwrite: true, ..GemmFlags::default() };
                    f64::product(left, right, width, m, out, m, flags);
                    elementwise(Cosines { phases: &self.phases, out });
                    Ok(())
                })
                .collect();
            done.into_iter().collect::<Result<()>>()?;
            sink(&out)
        })
    }
}

struct Cosines<'a> {
    phases: &'a [f64],
    out: &'a mut [f64],
}

impl Elementwise for Cosines<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let scale = (2.0 / self.phases.len() as f64).sqrt();
        for line in self.out.chunks_exact_mut(self.phases.len()) {
            for (v, &phase) in line.iter_mut().zip(self.phases) {
                *v = scale * cos::<FUSED>(*v + phase);
            }
        }
    }
}
