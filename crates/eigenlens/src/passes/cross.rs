//! `Xcᵀ W Δ`, what the data have in common with a label factor, in one pass with means and variances.

use super::columns::{Columns, add_squares, block_mean, check_finite, rescale, row_of};
use super::row_grid::{BLOCK, Block, RowBatch, RowGrid, batch_rows, reduction_block_rows};
use super::scaler::Scaler;
use super::standardized::SMALL_PRODUCT;
use crate::data::Factor;
use crate::error::Result;
use crate::linalg::gemm::slice_mut;
use crate::linalg::simd::{GemmFlags, Left, Tile, fetch_lines, vectorized};
use crate::scalar::Scalar;
use ndarray::Array2;
use rayon::prelude::*;

/// Units of rows in flight.
const REDUCTION_BLOCKS: usize = 16;

/// The data's columns and their products with a label factor, in prescaled units.
pub(crate) struct Cross {
    pub columns: Columns,
    /// `Xcᵀ W Δ` (d × ℓ).
    pub matrix: Array2<f64>,
}

impl Cross {
    /// One pass over dense data where the product is small; one more where it is large, where rows
    /// are sparse, or where a column's magnitude asks for a power of two.
    pub fn of<T: Scalar>(grid: &mut RowGrid<T>, factor: &Factor) -> Result<Cross> {
        if let Some(rows) = grid.n_rows() {
            factor.check_rows(rows)?;
        }
        let d = grid.data.n_features();
        if grid.is_sparse() || d * factor.width() * 8 > SMALL_PRODUCT {
            let columns = Columns::of(grid)?;
            let scaler = centring(&columns);
            let matrix = label_product(grid, &scaler, factor)?;
            return Ok(Cross { columns, matrix });
        }
        let cross = one_pass(grid, factor)?;
        if rescale(grid, &cross.columns)? {
            return one_pass(grid, factor);
        }
        Ok(cross)
    }

    /// The product with standardised data, as `scaler` says.
    pub fn standardized(&self, scaler: &Scaler) -> Array2<f64> {
        let mut matrix = self.matrix.clone();
        for (mut row, w) in matrix.rows_mut().into_iter().zip(&scaler.inv_scale) {
            row *= *w;
        }
        matrix
    }
}

/// Centring alone, in the units of the columns.
fn centring(columns: &Columns) -> Scaler {
    Scaler {
        mean_hi: columns.mean_hi.clone(),
        mean_lo: columns.mean_lo.clone(),
        inv_scale: vec![1.0; columns.mean_hi.len()],
        column_exponents: None,
        scale: None,
        exponent: 0,
        constant: Vec::new(),
    }
}

/// Sums over some rows: `cross` (ℓ × d) is `Σ w δ (x − origin)ᵀ`, `sums` (ℓ) is `Σ w δ`.
struct Part {
    columns: Columns,
    origin: Vec<f64>,
    cross: Vec<f64>,
    sums: Vec<f64>,
}

fn one_pass<T: Scalar>(grid: &RowGrid<T>, factor: &Factor) -> Result<Cross> {
    let (d, width) = (grid.data.n_features(), factor.width());
    let unit = reduction_block_rows(d);
    let mut columns = Columns::zero(d);
    let mut cross = vec![0.0; width * d];
    let mut sums = vec![0.0; width];
    let rows = grid.for_each_batch(batch_rows(d, REDUCTION_BLOCKS), |batch| {
        factor.check_reaches(batch.first + batch.rows)?;
        let starts: Vec<usize> = (0..batch.rows).step_by(unit).collect();
        let parts: Vec<Result<Part>> = starts
            .par_iter()
            .map(|&start| of_unit(grid, factor, &batch, start, (start + unit).min(batch.rows)))
            .collect();
        for part in parts {
            let part = part?;
            let before = columns.clone();
            columns.merge(&part.columns);
            let moved = |f: usize| -> f64 {
                (before.mean_hi[f] - columns.mean_hi[f]) + (before.mean_lo[f] - columns.mean_lo[f])
            };
            let shift: Vec<f64> = (0..d).map(moved).collect();
            let own: Vec<f64> = (0..d)
                .map(|f| (part.origin[f] - columns.mean_hi[f]) - columns.mean_lo[f])
                .collect();
            // As means are merged (Chan, Golub & LeVeque 1979): every sum moves to the new mean.
            for c in 0..width {
                let line = &mut cross[c * d..(c + 1) * d];
                let theirs = &part.cross[c * d..(c + 1) * d];
                let (mine, new) = (sums[c], part.sums[c]);
                for f in 0..d {
                    line[f] += mine * shift[f] + (theirs[f] + new * own[f]);
                }
                sums[c] += new;
            }
        }
        Ok(())
    })?;
    factor.check_rows(rows)?;
    let columns = columns.check_rows()?;
    factor.finish(&mut cross);
    let matrix = Array2::from_shape_fn((d, width), |(f, c)| cross[c * d + f]);
    Ok(Cross { columns, matrix })
}

fn of_unit<T: Scalar>(
    grid: &RowGrid<T>,
    factor: &Factor,
    batch: &RowBatch<T>,
    start: usize,
    end: usize,
) -> Result<Part> {
    let (d, width) = (batch.n_features, factor.width());
    let mut scratch = Vec::new();
    let mut panel = Vec::new();
    let mut part = Part {
        columns: Columns::zero(d),
        origin: vec![0.0; d],
        cross: vec![0.0; width * d],
        sums: vec![0.0; width],
    };
    for at in (start..end).step_by(BLOCK) {
        let block = batch.block(at, (at + BLOCK).min(end), &mut scratch);
        let next = batch.next_block(at, end);
        let mut columns = block_mean(&block);
        check_finite(grid, &block, &columns)?;
        if part.columns.weight == 0.0 {
            // All of the unit is measured from here: near every row of it.
            part.origin.copy_from_slice(&columns.mean_hi);
        }
        if let Some(codes) = factor.codes() {
            add_classes(&block, codes, &mut columns, &mut part, next);
        } else {
            add_squares(&block, &mut columns, next);
            add_product(&block, factor, &mut panel, &mut part);
        }
        part.columns.merge(&columns);
    }
    Ok(part)
}

/// Squares of the columns and sums of the classes, in one go over a block; the `next` one is fetched
/// meanwhile.
fn add_classes<T: Scalar>(
    block: &Block<T>,
    codes: &[u32],
    columns: &mut Columns,
    part: &mut Part,
    next: &[T],
) {
    let d = block.n_features;
    let Part { origin, cross, sums, .. } = part;
    let (mean, low) = (&columns.mean_hi[..d], &columns.mean_lo[..d]);
    let (squares, origin) = (&mut columns.squares[..d], &origin[..d]);
    vectorized(
        #[inline(always)]
        move || {
            for i in 0..block.rows {
                let w = block.count(i);
                if w == 0.0 {
                    continue;
                }
                fetch_lines(row_of(next, i, d));
                let x = &block.row(i)[..d];
                let class = codes[block.first + i] as usize;
                let Some(sum) = sums.get_mut(class) else {
                    // Without a label.
                    for f in 0..d {
                        let centered = (x[f].to_f64() - mean[f]) - low[f];
                        squares[f] += w * centered * centered;
                    }
                    continue;
                };
                *sum += w;
                let line = &mut cross[class * d..(class + 1) * d];
                for f in 0..d {
                    let x = x[f].to_f64();
                    let centered = (x - mean[f]) - low[f];
                    squares[f] += w * centered * centered;
                    line[f] += w * (x - origin[f]);
                }
            }
        },
    );
}

/// `cross += Δᵀ W (X − origin)` for a block, through the register tile.
fn add_product<T: Scalar>(
    block: &Block<T>,
    factor: &Factor,
    panel: &mut Vec<f64>,
    part: &mut Part,
) {
    const ROWS: usize = 32;
    let (d, width) = (block.n_features, factor.width());
    let stride = d.next_multiple_of(<f64 as Tile>::PAD);
    panel.resize(ROWS * (stride + width), 0.0);
    let (rows, labels) = panel.split_at_mut(ROWS * stride);
    for at in (0..block.rows).step_by(ROWS) {
        let count = ROWS.min(block.rows - at);
        for i in 0..count {
            let w = block.count(at + i);
            let line = &mut rows[i * stride..i * stride + d];
            if w == 0.0 {
                line.fill(0.0);
            } else {
                for ((o, &x), &origin) in line.iter_mut().zip(block.row(at + i)).zip(&part.origin) {
                    *o = x.to_f64() - origin;
                }
            }
            let label = &mut labels[i * width..(i + 1) * width];
            factor.write_row(block.first + at + i, label);
            for (l, sum) in label.iter_mut().zip(&mut part.sums) {
                *l *= w;
                *sum += *l;
            }
        }
        let left = Left::new(labels, width, count, 1, width);
        let flags = GemmFlags { padded: true, ..GemmFlags::default() };
        f64::product(left, rows, stride, d, &mut part.cross, d, flags);
    }
}

/// Features whose sums one task keeps, when rows go in order.
const FEATURES: usize = 512;

/// `Xsᵀ W Δ` (d × ℓ) for products too large for a copy in each reduction block, and for sparse rows:
/// rows in order, ranges of features in parallel.
fn label_product<T: Scalar>(
    grid: &RowGrid<T>,
    scaler: &Scaler,
    factor: &Factor,
) -> Result<Array2<f64>> {
    let (d, width) = (grid.data.n_features(), factor.width());
    if grid.is_sparse() {
        return super::sparse::label_product(grid, scaler, factor);
    }
    let mut total = Array2::<f64>::zeros((d, width));
    let rows = grid.for_each_batch(batch_rows(d, REDUCTION_BLOCKS), |batch| {
        factor.check_reaches(batch.first + batch.rows)?;
        slice_mut(&mut total).par_chunks_mut(FEATURES * width).enumerate().for_each_init(
            || (Vec::new(), vec![0.0; FEATURES]),
            |(scratch, line), (range, total)| {
                let (first, features) = (range * FEATURES, total.len() / width);
                for at in (0..batch.rows).step_by(BLOCK) {
                    let end = (at + BLOCK).min(batch.rows);
                    let block = batch.strip(at, end, first..first + features, scratch);
                    for i in 0..block.rows {
                        let (w, x) = (block.count(i), block.row(i));
                        for (p, out) in line[..features].iter_mut().enumerate() {
                            let f = first + p;
                            let centered = (x[p].to_f64() - scaler.mean_hi[f]) - scaler.mean_lo[f];
                            *out = w * centered * scaler.inv_scale[f];
                        }
                        add_transposed(factor, block.first + i, &line[..features], total);
                    }
                }
            },
        );
        Ok(())
    })?;
    factor.check_rows(rows)?;
    finish_rows(factor, &mut total);
    Ok(total)
}

/// `total (features × ℓ) += x δᵀ`, with δ row i of Δ but for the mean of classes.
fn add_transposed(factor: &Factor, i: usize, x: &[f64], total: &mut [f64]) {
    let width = factor.width();
    match (factor.codes(), factor.rows()) {
        (Some(codes), _) => {
            let class = codes[i] as usize;
            if class < width {
                for (row, &x) in total.chunks_exact_mut(width).zip(x) {
                    row[class] += x;
                }
            }
        }
        (None, Some(rows)) => {
            let label = rows.row(i);
            for (row, &x) in total.chunks_exact_mut(width).zip(x) {
                row.iter_mut().zip(&label).for_each(|(t, l)| *t += x * l);
            }
        }
        (None, None) => {}
    }
}

/// The mean of the classes taken out of a product (d × ℓ).
pub(super) fn finish_rows(factor: &Factor, total: &mut Array2<f64>) {
    let mut line = vec![0.0; factor.width()];
    for mut row in total.rows_mut() {
        line.iter_mut().zip(&row).for_each(|(l, v)| *l = *v);
        factor.finish(&mut line);
        row.iter_mut().zip(&line).for_each(|(v, l)| *v = *l);
    }
}
