//! Blocks of rows packed for a scatter matrix: less their mean, or where they are mostly one value less that
//! value.

use super::columns::{Columns, add_squares, block_mean, by_strips, check_finite};
use super::feature_permutation::FeaturePermutation;
use super::row_grid::{Block, RowGrid, Shift};
use crate::error::Result;
use crate::linalg::simd::{NonzeroRows, center, vectorized};
use crate::scalar::Scalar;

/// What is known of a block that was packed.
pub(super) struct Packed {
    pub columns: Columns,
    /// Where it is not 0.
    pub nonzero_rows: NonzeroRows,
    /// The one row whose square is too much in it: how far its mean is from what was subtracted.
    pub mean_correction: Option<Vec<f64>>,
}

/// Packs a block less its mean, or where it is mostly one value less that value.
pub(super) fn pack_block<T: Scalar>(
    grid: &RowGrid<T>,
    block: &Block<T>,
    permutation: &FeaturePermutation<T>,
    shift: &mut Shift<T>,
    packed: &mut [T],
) -> Result<Packed> {
    let mut mean_correction = Vec::new();
    let columns = by_strips(block, |first, strip| {
        let mut columns = block_mean(strip);
        if grid.exact_squares {
            add_squares(strip, &mut columns, &[]);
        }
        set_shift(shift, &columns);
        let common = &permutation.common()[first..first + strip.n_features];
        for (f, by) in shift_to_common(strip, common, &columns, shift) {
            mean_correction.resize(block.n_features, 0.0);
            mean_correction[first + f] = by;
        }
        for run in permutation.runs_in(first..first + strip.n_features) {
            let (panel, at) = (run.place / T::PANEL, run.place % T::PANEL);
            let out = &mut packed[panel * T::PANEL * strip.rows + at..];
            let features = (run.feature - first, run.length);
            pack(strip, features, shift, out, T::PANEL, run.length);
        }
        columns
    });
    // Past the last feature.
    let d = block.n_features;
    let (last, end) = (d / T::PANEL * T::PANEL, d % T::PANEL);
    if end > 0 {
        let lines = packed[last * block.rows..].chunks_exact_mut(T::PANEL);
        lines.take(block.rows).for_each(|line| line[end..].fill(T::default()));
    }
    check_finite(grid, block, &columns)?;
    let mut nonzero_rows = NonzeroRows::new(block.rows, T::PANEL);
    for place in (0..d.next_multiple_of(T::PANEL)).step_by(NonzeroRows::GROUP) {
        let end = (place + NonzeroRows::GROUP).min(d);
        if end <= permutation.first_common() {
            // None past the last feature.
            let features = permutation.features().get(place..end).unwrap_or_default();
            nonzero_rows.push(features.iter().any(|&f| columns.varies[f]));
        } else {
            let panel = &packed[place / T::PANEL * T::PANEL * block.rows..];
            nonzero_rows.push_columns(panel, place % T::PANEL);
        }
    }
    let mean_correction = mean_correction.iter().any(|b| *b != 0.0).then_some(mean_correction);
    Ok(Packed { columns, nonzero_rows, mean_correction })
}

/// Features that mostly have one value in a block are to be packed less that value: what is then 0 need not
/// be multiplied. The square of the row that is returned, by features, is then too much in the block's squares.
/// Where a share of p of the entries is 0 at least the share p of the squares is left without it, so that no
/// more than a bit and a half is lost.
pub(super) fn shift_to_common<T: Scalar>(
    block: &Block<T>,
    common: &[Option<T>],
    columns: &Columns,
    shift: &mut Shift<T>,
) -> Vec<(usize, f64)> {
    let mut differences = Vec::new();
    for (f, value) in common_in(block, common) {
        let from_value = (columns.mean_hi[f] - value.to_f64()) + columns.mean_lo[f];
        differences.push((f, columns.weight.sqrt() * from_value));
        (shift.high[f], shift.low[f]) = (value, T::default());
    }
    differences
}

/// Features of a block that have their common value in three rows of eight at least, and that value.
///
/// float32 sums of numbers of one sign would all be rounded the same way, which a matrix of them adds up to
/// far more than the rounding of an entry: there only whole numbers will do, whose sums are exact.
fn common_in<T: Scalar>(block: &Block<T>, common: &[Option<T>]) -> Vec<(usize, T)> {
    /// What is added to this float32 number, and is no larger than a third of it, loses its fraction.
    const ROUND: f64 = (3 << 22) as f64;
    if block.counts.is_some() || common.iter().all(Option::is_none) {
        return Vec::new();
    }
    let d = common.len();
    let values: Vec<T> = common.iter().map(|value| value.unwrap_or_default()).collect();
    let (values, mut equal) = (&values[..d], vec![0i32; d]);
    let mut squares = vec![T::default(); d];
    let narrow = T::EPSILON > f64::EPSILON;
    let (round, infinite) = (T::from_f64(ROUND), T::from_f64(f64::INFINITY));
    vectorized(
        #[inline(always)]
        || {
            for i in 0..block.rows {
                let (row, equal) = (&block.row(i)[..d], &mut equal[..d]);
                for f in 0..d {
                    equal[f] += i32::from(row[f] == values[f]);
                }
                if narrow {
                    let squares = &mut squares[..d];
                    for f in 0..d {
                        let x = row[f] - values[f];
                        let whole = (x + round) - round == x;
                        squares[f] = squares[f] + if whole { x * x } else { infinite };
                    }
                }
            }
        },
    );
    let enough = |f: &usize| {
        // The sum of products of two features is no larger than their squares.
        let exact = squares[*f].to_f64() < f64::from(1 << 24);
        common[*f].is_some() && 8 * equal[*f] as usize >= 3 * block.rows && exact
    };
    (0..d).filter(enough).map(|f| (f, values[f])).collect()
}

/// The mean of a block in the element type: a float32 entry less a nearby float32 number is exact.
pub(super) fn set_shift<T: Scalar>(Shift { high, low }: &mut Shift<T>, columns: &Columns) {
    high.clear();
    high.extend(columns.mean_hi.iter().map(|&m| T::from_f64(m)));
    low.clear();
    low.extend(
        (columns.mean_hi.iter().zip(&columns.mean_lo).zip(&*high))
            .map(|((&m, &l), h)| T::from_f64((m - h.to_f64()) + l)),
    );
}

/// Features `first..first + count` of a block less its mean, times √w, in lines `width` apart, with zeros
/// to the end of `room`.
pub(super) fn pack<T: Scalar>(
    block: &Block<T>,
    (first, count): (usize, usize),
    Shift { high, low }: &Shift<T>,
    packed: &mut [T],
    width: usize,
    room: usize,
) {
    center(block.lines(first, count), &high[first..], &low[first..], packed, width, room);
    let whole = count.next_multiple_of(T::PAD).min(room);
    if block.counts.is_none() && whole == room {
        return;
    }
    for (i, line) in packed.chunks_mut(width).take(block.rows).enumerate() {
        if let Some(counts) = block.counts {
            let root = T::from_f64(counts[i].sqrt());
            line[..count].iter_mut().for_each(|v| *v = *v * root);
        }
        line[whole..room].fill(T::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::passes::row_grid::RowBatch;
    use ndarray::Array2;

    /// A value that was common once is not taken for the mean of rows that lie far away: squares about it
    /// would lose digits, in long data all of them.
    #[test]
    fn a_block_is_asked_whether_a_value_is_common_in_it() {
        let x = Array2::from_shape_fn((16, 3), |(i, f)| if i < [6, 5, 16][f] { 4.0 } else { 1e9 });
        let data = Dataset::from(&x);
        let grid = RowGrid::new(&data).unwrap();
        let look = |batch: RowBatch<f64>| {
            let common =
                common_in(&batch.block(0, 16, &mut Vec::new()), &[Some(4.0), Some(4.0), None]);
            assert_eq!(common, [(0, 4.0)]);
            Ok(())
        };
        grid.for_each_batch(128, look).unwrap();
        // Sums of squares: below 2²⁴, above it, and of numbers that are not whole.
        let columns = [[4095.0, 90.0], [4096.0, 1.0], [0.5, 0.0], [1e-9, 0.0], [1e30, 0.0]];
        let x = Array2::from_shape_fn((5, 5), |(i, f)| columns[f].get(i).copied().unwrap_or(0f32));
        let data = Dataset::from(&x);
        let look = |batch: RowBatch<f32>| {
            let common = common_in(&batch.block(0, 5, &mut Vec::new()), &[Some(0.0); 5]);
            assert_eq!(common, [(0, 0.0)]);
            Ok(())
        };
        RowGrid::new(&data).unwrap().for_each_batch(128, look).unwrap();
    }
}
