//! One side of HSIC: a centred kernel `K̃ = H K H`, thin where its kernel has a thin factor.

use crate::data::{Dataset, UNLABELLED};
use crate::error::{Error, Result};
use crate::kernel::{Gathering, Kernel, Points, ResolvedKernel, Scratch, TILE, tile};
use crate::linalg::simd::{GemmFlags, Left, Tile};
use crate::options::Options;
use crate::passes::{Columns, RowGrid, Scaler, Standardized};
use crate::scalar::Scalar;
use ndarray::Array2;
use rayon::prelude::*;
use std::collections::HashMap;

/// A centred kernel of n samples.
pub(super) enum Side {
    /// `K̃ = A Aᵀ` with centred rows A (n × ℓ): the linear kernel.
    Rows(Array2<f64>),
    /// The delta kernel: a code for each sample, and how often each occurs.
    Classes { codes: Vec<u32>, sizes: Vec<f64> },
    /// Any other kernel, computed in tiles, with the means of its rows and of all of it.
    Tiles { kernel: ResolvedKernel, points: Box<Points>, means: Vec<f64>, mean: f64 },
}

impl Side {
    /// Reads the rows: they are kept, for permutations meet them in any order.
    pub fn new<T: Scalar>(kernel: &Kernel, data: &Dataset<T>, options: &Options) -> Result<Side> {
        if data.weights().is_some() {
            return Err(Error::Unsupported {
                what: "sample weights".into(),
                why: "do not go with HSIC",
                instead: None,
            });
        }
        let (n, d) = (data.n_samples().unwrap_or(0) as u64, data.n_features() as u64);
        let budget = options.memory.unwrap_or(u64::MAX);
        let needed = 2 * n * (d + 1) * 8;
        if needed > budget {
            return Err(Error::Memory { route: "HSIC".into(), needed, budget });
        }
        match kernel {
            Kernel::Linear => centred_rows(data),
            Kernel::Delta => classes(data),
            _ => tiles(kernel.resolve(data, options.seed)?, data),
        }
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        match self {
            Side::Rows(rows) => rows.nrows(),
            Side::Classes { codes, .. } => codes.len(),
            Side::Tiles { points, .. } => points.len(),
        }
    }

    /// Columns of the thin factor, where there is one.
    pub fn width(&self) -> Option<usize> {
        match self {
            Side::Rows(rows) => Some(rows.ncols()),
            Side::Classes { sizes, .. } => Some(sizes.len()),
            Side::Tiles { .. } => None,
        }
    }

    /// The number of panels of [`TILE`] samples.
    pub fn n_panels(&self) -> usize {
        self.len().div_ceil(TILE)
    }

    /// `K̃` between two panels of samples: entry (i, j) at `i·TILE + j`.
    pub fn tile(&self, i: usize, j: usize, scratch: &mut Scratch, out: &mut [f64]) {
        let n = self.len();
        let (first, across) = (i * TILE, j * TILE);
        let (rows, columns) = (TILE.min(n - first), TILE.min(n - across));
        match self {
            Side::Rows(all) => {
                let width = all.ncols();
                for (i, line) in out.chunks_exact_mut(TILE).enumerate().take(rows) {
                    let left = all.row(first + i);
                    for (j, out) in line.iter_mut().enumerate().take(columns) {
                        *out = if width == 1 {
                            left[0] * all[[across + j, 0]]
                        } else {
                            left.dot(&all.row(across + j))
                        };
                    }
                }
            }
            Side::Classes { codes, sizes } => {
                // H L H: 1 or 0, less the share of either class, plus the mean share.
                let total = n as f64;
                let mean: f64 = sizes.iter().map(|s| s / total * (s / total)).sum();
                for (i, line) in out.chunks_exact_mut(TILE).enumerate().take(rows) {
                    let one = codes[first + i];
                    let share = sizes[one as usize] / total;
                    for (j, out) in line.iter_mut().enumerate().take(columns) {
                        let other = codes[across + j];
                        let equal = f64::from(u8::from(one == other));
                        *out = (equal - share) - (sizes[other as usize] / total - mean);
                    }
                }
            }
            Side::Tiles { kernel, points, means, mean } => {
                let values =
                    tile::values::<f64>(kernel, &points.panel(i), &points.panel(j), scratch);
                for i in 0..rows {
                    let offset = means[first + i] - mean;
                    let from = &values[i * TILE..i * TILE + columns];
                    let to = &mut out[i * TILE..i * TILE + columns];
                    for ((o, v), m) in to.iter_mut().zip(from).zip(&means[across..]) {
                        *o = (v - offset) - m;
                    }
                }
            }
        }
    }

    /// The centred kernel (n × n), for permutations of kernels that have no thin factor.
    pub fn matrix(&self) -> Array2<f64> {
        let n = self.len();
        let mut matrix = Array2::<f64>::zeros((n, n));
        crate::linalg::gemm::slice_mut(&mut matrix)
            .par_chunks_mut(TILE * n)
            .enumerate()
            .for_each_init(
                || (Scratch::default(), vec![0.0; TILE * TILE]),
                |(scratch, tile), (i, out)| {
                    for j in 0..self.n_panels() {
                        self.tile(i, j, scratch, tile);
                        let columns = TILE.min(n - j * TILE);
                        for (line, from) in out.chunks_exact_mut(n).zip(tile.chunks_exact(TILE)) {
                            line[j * TILE..j * TILE + columns].copy_from_slice(&from[..columns]);
                        }
                    }
                },
            );
        matrix
    }

    /// ‖a_i‖², the diagonal of `K̃`, of a thin side.
    pub fn thin_diagonal(&self, i: usize) -> f64 {
        match self {
            Side::Rows(rows) => rows.row(i).dot(&rows.row(i)),
            Side::Classes { codes, sizes } => {
                let total = self.len() as f64;
                let mean: f64 = sizes.iter().map(|s| s / total * (s / total)).sum();
                1.0 - 2.0 * sizes[codes[i] as usize] / total + mean
            }
            Side::Tiles { .. } => f64::NAN,
        }
    }
}

/// Rows less their mean, in f64, in columns' powers of two undone.
fn centred_rows<T: Scalar>(data: &Dataset<T>) -> Result<Side> {
    let mut grid = RowGrid::new(data)?;
    let columns = Columns::of(&mut grid)?;
    let scaler = Scaler::new::<T>(&columns, grid.exponents(), true, false);
    if scaler.exponent != 0 {
        return Err(Error::Unsupported {
            what: "HSIC of data this large or small".into(),
            why: "would leave the range of numbers",
            instead: Some(crate::error::Hint::Rescale),
        });
    }
    let d = data.n_features();
    let mut rows = Vec::with_capacity(columns.rows * d);
    Standardized { grid: &grid, scaler: &scaler }.for_each_panel(256, |panel| {
        rows.extend(panel.iter());
        Ok(())
    })?;
    let rows = Array2::from_shape_vec((rows.len() / d, d), rows)
        .map_err(|e| Error::Internal(e.to_string()))?;
    Ok(Side::Rows(rows))
}

/// One class for each row that differs from those before it.
fn classes<T: Scalar>(data: &Dataset<T>) -> Result<Side> {
    let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
    let mut codes = Vec::new();
    let mut sizes: Vec<f64> = Vec::new();
    let grid = RowGrid::new(data)?;
    grid.for_each_batch(crate::passes::reduction_block_rows(data.n_features()), |batch| {
        let mut scratch = Vec::new();
        for i in 0..batch.rows {
            let block = batch.block(i, i + 1, &mut scratch);
            if let Some((row, column, value)) = block.find_bad() {
                return Err(data.bad_entry(row, column, value));
            }
            // Plus 0: the zeros of either sign are equal.
            let key: Vec<u64> = block.row(0).iter().map(|v| (v.to_f64() + 0.0).to_bits()).collect();
            let next = (known.len() as u32).min(UNLABELLED - 1);
            let code = *known.entry(key).or_insert(next);
            if code as usize == sizes.len() {
                sizes.push(0.0);
            }
            sizes[code as usize] += 1.0;
            codes.push(code);
        }
        Ok(())
    })?;
    Ok(Side::Classes { codes, sizes })
}

fn tiles<T: Scalar>(kernel: ResolvedKernel, data: &Dataset<T>) -> Result<Side> {
    if kernel.is_precomputed() && data.n_samples() != Some(data.n_features()) {
        return Err(Error::Shape {
            what: "a precomputed kernel",
            found: format!("{} columns", data.n_features()),
            expected: "as many as there are samples".into(),
        });
    }
    let points = Box::new(Gathering::new(&kernel, data)?.exact().gather()?);
    let n = points.len();
    let panels = points.n_panels();
    // Every row of panels on its own: its sums do not depend on who computes them.
    let parts: Vec<Vec<f64>> = (0..panels)
        .into_par_iter()
        .map_init(Scratch::default, |scratch, i| {
            let a = points.panel(i);
            let mut sums = vec![0.0; a.rows];
            for j in 0..panels {
                let b = points.panel(j);
                let values = tile::values::<f64>(&kernel, &a, &b, scratch);
                for (sum, line) in sums.iter_mut().zip(values.chunks_exact(TILE)) {
                    *sum += line[..b.rows].iter().sum::<f64>();
                }
            }
            sums
        })
        .collect();
    let means: Vec<f64> = parts.concat().iter().map(|s| s / n as f64).collect();
    let mean = means.iter().sum::<f64>() / n as f64;
    if let Some(row) = means.iter().position(|m| !m.is_finite()) {
        return Err(Error::NotDefined {
            what: "HSIC",
            why: format!("the {} kernel of row {row} leaves the range of numbers", kernel.name()),
        });
    }
    Ok(Side::Tiles { kernel, points, means, mean })
}

/// `out (a × b) += Aᵀ B` for a few rows, row-major.
pub(super) fn add_product(
    a: &[f64],
    a_width: usize,
    b: &[f64],
    b_width: usize,
    rows: usize,
    out: &mut [f64],
) {
    let left = Left::new(a, a_width, rows, 1, a_width);
    f64::product(left, b, b_width, b_width, out, b_width, GemmFlags::default());
}
