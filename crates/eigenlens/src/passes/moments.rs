//! Count, mean and scatter in one pass: all that covariance PCA needs to know of the data.

use super::columns::{Columns, add_squares, block_mean_into, check_finite, rescale, two_sum};
use super::feature_permutation::{FeaturePermutation, common_in_groups};
use super::integer_moments::IntegerMoments;
use super::moments_bytes as bytes;
use super::packing::{Packed, pack, pack_block, set_shift, shift_to_common};
use super::row_grid::{
    BLOCK, RowBatch, RowGrid, Shift, Workspace, batch_rows, reduction_block_rows,
};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::linalg::aligned::Aligned;
use crate::linalg::buffer_pool::PooledBuffer;
use crate::linalg::dense::power_of_two;
use crate::linalg::digest;
use crate::linalg::gemm::slice_mut;
use crate::linalg::ordered_reduce::ordered_reduce;
use crate::linalg::pool;
use crate::linalg::scatter::{
    Square, Squares, add_lower, lower_steps, mirror, packed_len, row_width, subtract_lower,
    sums_stride,
};
use crate::linalg::simd::{Ahead, NonzeroRows, Tile, vectorized};
use crate::options::Options;
use crate::scalar::Scalar;
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;

/// Up to this many features each reduction block has a scatter matrix of its own; beyond it the rows
/// go in order into squares of the one matrix, so that memory stays d × d.
const SMALL: usize = 336;

/// Units of rows in flight.
const REDUCTION_BLOCKS: usize = 32;

/// Blocks whose means go into the squares together.
const MEANS: usize = 32;

/// Count, mean and scatter `Σ w (x − mean)(x − mean)ᵀ` of a data set, with the names of its features.
///
/// Moments of parts merge to the moments of the whole, and can be taken out again; their bytes can
/// be moved between machines. [`merge`](Moments::merge) and [`subtract`](Moments::subtract) make new
/// moments and leave both operands as they are; [`update`](Moments::update) adds in place. Moments of
/// no samples are the neutral element.
///
/// Parts with names are matched by name: features in another order are put in that of the receiver,
/// other features are an error. Parts without names are taken in the order of their features.
///
/// ```
/// use eigenlens::{Moments, Options, ndarray};
/// let x = ndarray::array![[1.0, 2.0], [3.0, 5.0], [4.0, 4.0], [8.0, 1.0]];
/// let whole = Moments::of(&x, &Options::default())?;
/// let top = Moments::of(x.slice(ndarray::s![..2, ..]), &Options::default())?;
/// let bottom = Moments::of(x.slice(ndarray::s![2.., ..]), &Options::default())?;
/// let both = bottom.merge(&Moments::from_bytes(&top.to_bytes())?)?;
/// assert_eq!((both.n_samples(), bottom.n_samples()), (4.0, 2.0));
/// assert!((both.covariance()[[0, 1]] - whole.covariance()[[0, 1]]).abs() < 1e-14);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// In units of 2ᵉ per column; `squares` is the diagonal of `scatter`.
    pub(crate) columns: Columns,
    pub(crate) exponents: Vec<i32>,
    /// d × d, symmetric, in units of 2ᵉ per column.
    pub(crate) scatter: Array2<f64>,
    pub(crate) feature_names: Option<Vec<String>>,
}

impl Moments {
    /// The moments of a data set, in one pass. No sample or one will do, and weights of any sum: more
    /// may be merged.
    pub fn of<'a, T: Scalar>(
        data: impl Into<Dataset<'a, T>>,
        options: &Options,
    ) -> Result<Moments> {
        let data = &data.into();
        options.check()?;
        let found = pool::run(options.threads, || Moments::of_any(&mut RowGrid::part(data)?))?;
        let moments = match found {
            Err(Error::NoRows) if promises_no_rows(data) => Moments::empty(data.n_features()),
            found => found?,
        };
        let feature_names = data.feature_names().map(<[String]>::to_vec);
        Ok(Moments { feature_names, ..moments })
    }

    /// The moments of no samples at all.
    pub fn empty(n_features: usize) -> Moments {
        Moments {
            columns: Columns::zero(n_features),
            exponents: vec![0; n_features],
            scatter: Array2::zeros((n_features, n_features)),
            feature_names: None,
        }
    }

    /// The same of at least two samples.
    pub(crate) fn of_grid<T: Scalar>(grid: &mut RowGrid<T>) -> Result<Moments> {
        let mut moments = Moments::of_any(grid)?;
        moments.columns = moments.columns.check_rows()?;
        Ok(moments)
    }

    fn of_any<T: Scalar>(grid: &mut RowGrid<T>) -> Result<Moments> {
        let floats = |grid: &RowGrid<T>| {
            let moments = one_pass(grid, false)?;
            moments.ok_or_else(|| Error::Internal("no sums of floats".into()))
        };
        let moments = match one_pass(grid, true)? {
            Some(moments) => moments,
            None => floats(grid)?,
        };
        let moments = if rescale(grid, &moments.columns)? {
            drop(moments);
            floats(grid)?
        } else {
            moments
        };
        // All that is made of the data on this way is made of their scatter.
        grid.set_fingerprint(digest::of_matrix(moments.scatter.view()));
        Ok(moments)
    }

    /// The number of features, d.
    pub fn n_features(&self) -> usize {
        self.columns.mean_hi.len()
    }

    /// The number of samples, or Σw.
    pub fn n_samples(&self) -> f64 {
        self.columns.weight
    }

    /// The names of the features, where the data had any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// The mean (d); NaN of no samples.
    pub fn mean(&self) -> Vec<f64> {
        if self.columns.weight == 0.0 {
            return vec![f64::NAN; self.n_features()];
        }
        self.columns
            .mean_hi
            .iter()
            .zip(&self.exponents)
            .map(|(m, &e)| m * power_of_two(e))
            .collect()
    }

    /// The covariance (d × d), divisor n − 1; NaN where n is not above 1.
    pub fn covariance(&self) -> Array2<f64> {
        let divisor = self.columns.weight - 1.0;
        if divisor <= 0.0 {
            return Array2::from_elem(self.scatter.dim(), f64::NAN);
        }
        Array2::from_shape_fn(self.scatter.dim(), |(i, j)| {
            let scale = power_of_two(self.exponents[i]);
            self.scatter[[i, j]] / divisor * scale * power_of_two(self.exponents[j])
        })
    }

    /// The moments of the samples of both.
    pub fn merge(&self, other: &Moments) -> Result<Moments> {
        let mut both = self.clone();
        both.update(other)?;
        Ok(both)
    }

    /// Adds the samples of `other` to these moments, in place; after an error they are as before.
    pub fn update(&mut self, other: &Moments) -> Result<()> {
        self.combine(other, 1.0)
    }

    /// The moments of these samples without those of `other`, which must be among them.
    pub fn subtract(&self, other: &Moments) -> Result<Moments> {
        if other.columns.weight > self.columns.weight {
            return Err(Error::Shape {
                what: "the moments to subtract",
                found: format!("{} samples", other.columns.weight),
                expected: format!("at most {}", self.columns.weight),
            });
        }
        let mut rest = self.clone();
        rest.combine(other, -1.0)?;
        Ok(rest)
    }

    /// A versioned, checksummed byte form.
    pub fn to_bytes(&self) -> Vec<u8> {
        bytes::write(self)
    }

    /// Reads [`Moments::to_bytes`] back; every number is checked.
    pub fn from_bytes(bytes: &[u8]) -> Result<Moments> {
        bytes::read(bytes)
    }

    /// Chan, Golub & LeVeque's update, for `sign` samples of `other`.
    fn combine(&mut self, other: &Moments, sign: f64) -> Result<()> {
        let other = other.in_order_of(self)?;
        if self.feature_names.is_none() {
            self.feature_names.clone_from(&other.feature_names);
        }
        let names = self.feature_names.take();
        self.combine_numbers(&other, sign);
        self.feature_names = names;
        Ok(())
    }

    /// The same moments with their features in the order in which `first` names them; as they are
    /// where either has no names.
    fn in_order_of(&self, first: &Moments) -> Result<Cow<'_, Moments>> {
        if self.n_features() != first.n_features() {
            return Err(Error::Shape {
                what: "the other moments",
                found: format!("{} features", self.n_features()),
                expected: format!("{}", first.n_features()),
            });
        }
        match (&first.feature_names, &self.feature_names) {
            (Some(wanted), Some(names)) if wanted != names => {
                Ok(Cow::Owned(self.reordered(&places(wanted, names)?)))
            }
            _ => Ok(Cow::Borrowed(self)),
        }
    }

    /// The same moments with feature `order[f]` at place f.
    fn reordered(&self, order: &[usize]) -> Moments {
        fn pick<T: Clone>(values: &[T], order: &[usize]) -> Vec<T> {
            order.iter().map(|&f| values[f].clone()).collect()
        }
        let columns = &self.columns;
        Moments {
            columns: Columns {
                weight: columns.weight,
                rows: columns.rows,
                mean_hi: pick(&columns.mean_hi, order),
                mean_lo: pick(&columns.mean_lo, order),
                squares: pick(&columns.squares, order),
                varies: pick(&columns.varies, order),
            },
            exponents: pick(&self.exponents, order),
            scatter: self.scatter.select(Axis(0), order).select(Axis(1), order),
            feature_names: self.feature_names.as_ref().map(|names| pick(names, order)),
        }
    }

    fn combine_numbers(&mut self, other: &Moments, sign: f64) {
        if other.columns.weight == 0.0 {
            return;
        }
        if self.columns.weight == 0.0 {
            *self = other.clone();
            return;
        }
        let weight = self.columns.weight + sign * other.columns.weight;
        if weight <= 0.0 {
            *self = Moments::empty(self.n_features());
            return;
        }
        self.raise_exponents(&other.exponents);
        let d = self.n_features();
        let factor = sign * other.columns.weight * self.columns.weight / weight;
        let back: Vec<f64> =
            (0..d).map(|f| power_of_two(other.exponents[f] - self.exponents[f])).collect();
        let difference: Vec<f64> = (0..d)
            .map(|f| {
                let (mine, theirs) = (&self.columns, &other.columns);
                (theirs.mean_hi[f] * back[f] - mine.mean_hi[f])
                    + (theirs.mean_lo[f] * back[f] - mine.mean_lo[f])
            })
            .collect();
        for i in 0..d {
            for j in 0..d {
                let theirs = other.scatter[[i, j]] * back[i] * back[j];
                self.scatter[[i, j]] += sign * theirs + factor * difference[i] * difference[j];
            }
            // What was in cannot leave less than nothing.
            self.scatter[[i, i]] = self.scatter[[i, i]].max(0.0);
            self.columns.squares[i] = self.scatter[[i, i]];
            self.columns.varies[i] = self.scatter[[i, i]] > 0.0;
            let step = sign * difference[i] * other.columns.weight / weight;
            (self.columns.mean_hi[i], self.columns.mean_lo[i]) =
                two_sum(self.columns.mean_hi[i], self.columns.mean_lo[i] + step);
        }
        self.columns.weight = weight;
        let rows = other.columns.rows;
        self.columns.rows = if sign > 0.0 {
            self.columns.rows + rows
        } else {
            self.columns.rows.saturating_sub(rows)
        };
    }

    /// Moves to the larger of both exponents, column by column: exact but for underflow.
    fn raise_exponents(&mut self, other: &[i32]) {
        if self.exponents == other {
            return;
        }
        let d = self.n_features();
        let down: Vec<f64> = self
            .exponents
            .iter()
            .zip(other)
            .map(|(&mine, &theirs)| power_of_two(mine - mine.max(theirs)))
            .collect();
        for i in 0..d {
            for j in 0..d {
                self.scatter[[i, j]] *= down[i] * down[j];
            }
            self.columns.squares[i] = self.scatter[[i, i]];
            self.columns.mean_hi[i] *= down[i];
            self.columns.mean_lo[i] *= down[i];
            self.exponents[i] = self.exponents[i].max(other[i]);
        }
    }
}

/// Whether nothing said of the data contradicts that they have no rows.
fn promises_no_rows<T: Scalar>(data: &Dataset<T>) -> bool {
    data.n_samples().is_none_or(|n| n == 0) && data.weights().is_none_or(|w| w.values().is_empty())
}

/// Where each of the wanted features is among `names`.
fn places(wanted: &[String], names: &[String]) -> Result<Vec<usize>> {
    fn index(names: &[String]) -> HashMap<&str, usize> {
        names.iter().enumerate().map(|(f, name)| (name.as_str(), f)).collect()
    }
    fn absent(names: &[String], from: &HashMap<&str, usize>) -> Vec<String> {
        names.iter().filter(|name| !from.contains_key(name.as_str())).cloned().collect()
    }
    let at = index(names);
    let (missing, unknown) = (absent(wanted, &at), absent(names, &index(wanted)));
    if !(missing.is_empty() && unknown.is_empty()) {
        return Err(Error::OtherFeatures { what: "the other moments", missing, unknown });
    }
    if let Some((_, name)) = names.iter().enumerate().find(|(f, name)| at[name.as_str()] != *f) {
        return Err(Error::Shape {
            what: "the other moments",
            found: format!("its features in another order and `{name}` more than once"),
            expected: "every name once".into(),
        });
    }
    Ok(wanted.iter().map(|name| at[name.as_str()]).collect())
}

/// None where data that began with whole numbers (and were to be summed as such, if `whole`) went on
/// with others.
fn one_pass<T: Scalar>(grid: &RowGrid<T>, whole: bool) -> Result<Option<Moments>> {
    let d = grid.data.n_features();
    let rows = match d <= SMALL {
        true => grid.rows_together(REDUCTION_BLOCKS),
        false => batch_rows(d, packed_units::<T>(d)),
    };
    let mut sums = None;
    let read = grid.for_each_batch(rows, |batch| {
        let sums = sums.get_or_insert_with(|| Sums::begin(grid, &batch, whole));
        sums.add(grid, &batch)
    });
    if let Some(Sums::Whole(IntegerMoments { whole: false, .. })) = sums {
        return Ok(None);
    }
    read?;
    let finish = |sums: Sums<T>| sums.finish(grid.exact_squares);
    let mut moments = sums.map_or_else(|| Moments::empty(d), finish);
    if let Some(exponents) = grid.exponents() {
        moments.exponents = exponents.to_vec();
    }
    Ok(Some(moments))
}

/// Sums over rows; the first rows say of which kind.
enum Sums<T: Scalar> {
    Whole(IntegerMoments),
    /// Units of rows have a matrix each, which are added in order.
    Units {
        total: Columns,
        scatter: Array2<f64>,
        common: Vec<Option<T>>,
    },
    /// All rows go in order into squares of one matrix.
    Squares(Box<InSquares<T>>),
}

struct InSquares<T: Scalar> {
    total: Columns,
    squares: Squares,
    means: Means,
    permutation: FeaturePermutation<T>,
    packed: Aligned<T>,
}

impl<T: Scalar> Sums<T> {
    fn begin(grid: &RowGrid<T>, batch: &RowBatch<T>, whole: bool) -> Sums<T> {
        let d = batch.n_features;
        let total = Columns::zero(d);
        match IntegerMoments::begin(grid, batch).filter(|_| whole) {
            Some(sums) => Sums::Whole(sums),
            None if d <= SMALL => {
                let (scatter, common) = (Array2::zeros((d, d)), common_in_groups(batch));
                Sums::Units { total, scatter, common }
            }
            None => {
                let (squares, permutation) = (Squares::zeros(d), FeaturePermutation::of(batch));
                let (means, packed) = (Means::default(), Aligned::default());
                Sums::Squares(Box::new(InSquares { total, squares, means, permutation, packed }))
            }
        }
    }

    fn add(&mut self, grid: &RowGrid<T>, batch: &RowBatch<T>) -> Result<()> {
        match self {
            Sums::Whole(sums) => sums.add(batch),
            Sums::Units { total, scatter, common } => {
                scatter_by_units(grid, batch, common, total, scatter)
            }
            Sums::Squares(sums) => {
                let InSquares { total, squares, means, permutation, packed } = &mut **sums;
                scatter_by_squares(grid, batch, permutation, packed, total, means, squares)
            }
        }
    }

    /// With the squares of the columns that were summed apart, if they were.
    fn finish(self, exact_squares: bool) -> Moments {
        let (total, scatter) = match self {
            Sums::Whole(sums) => return sums.finish(),
            Sums::Units { total, mut scatter, .. } => {
                mirror(&mut scatter);
                (total, scatter)
            }
            Sums::Squares(sums) => {
                let InSquares { total, mut squares, means, permutation, packed } = *sums;
                drop(packed);
                let last = Extra::new(&means, permutation.features());
                squares.for_each(|square| last.add_to(square));
                let mut matrix = squares.into_matrix();
                permutation.restore(&mut matrix);
                (total, matrix)
            }
        };
        let squares = if exact_squares { total.squares } else { scatter.diag().to_vec() };
        let columns = Columns { squares, ..total };
        Moments { exponents: vec![0; columns.mean_hi.len()], columns, scatter, feature_names: None }
    }
}

/// Units of rows that are packed before squares take them: more would not stay in the last cache, fewer
/// would fetch the squares too often.
fn packed_units<T: Scalar>(d: usize) -> usize {
    const BYTES: usize = 13 << 19;
    let rows = (BYTES / size_of::<T>() / d).max(8 * BLOCK);
    (rows / reduction_block_rows(d)).clamp(1, 4)
}

/// Each unit's scatter is a matrix of its own, added in order.
fn scatter_by_units<T: Scalar>(
    grid: &RowGrid<T>,
    batch: &RowBatch<T>,
    common: &[Option<T>],
    total: &mut Columns,
    scatter: &mut Array2<f64>,
) -> Result<()> {
    let d = batch.n_features;
    let unit = reduction_block_rows(d);
    let sum_reduction_block = |work: &mut PooledBuffer<'_, Workspace<T>>,
                               start: usize,
                               next: usize| {
        let Workspace { scratch, packed, panel: means, z: mean_correction, columns, shift, .. } =
            &mut **work;
        let end = (start + unit).min(batch.rows);
        let mut c = grid.room(d * sums_stride(d));
        let mut unit = Columns::zero(d);
        // The scatter between the means of blocks is that of rows, one for each.
        let (blocks, row) = ((end - start).div_ceil(BLOCK), row_width::<f64>(d));
        means.resize(blocks * row);
        let any = common.iter().any(Option::is_some);
        mean_correction.resize(if any { blocks * row } else { 0 });
        let mut mean_corrections = 0;
        for (at, mean) in (start..end).step_by(BLOCK).zip(means.chunks_exact_mut(row)) {
            let block = batch.block(at, (at + BLOCK).min(end), scratch);
            block_mean_into(&block, columns);
            check_finite(grid, &block, columns)?;
            if grid.exact_squares {
                add_squares(&block, columns, &[]);
            }
            let (depth, width) = (block.rows, row_width::<T>(d));
            packed.resize(depth * width);
            set_shift(shift, columns);
            let differences = shift_to_common(&block, common, columns, shift);
            pack(&block, (0, d), shift, packed, width, width);
            let nonzero_rows = (!differences.is_empty()).then(|| {
                let mean_correction = &mut mean_correction[mean_corrections * row..][..row];
                mean_correction.fill(0.0);
                differences.iter().for_each(|&(f, by)| mean_correction[f] = by);
                mean_corrections += 1;
                let mut nonzero_rows = NonzeroRows::new(depth, width);
                (0..d)
                    .step_by(NonzeroRows::GROUP)
                    .for_each(|f| nonzero_rows.push_columns(packed, f));
                nonzero_rows
            });
            let ahead = batch.upcoming_or(at + depth, BLOCK, end, next);
            let ahead = Some(&Ahead::new(ahead, lower_steps::<T>(d, depth)));
            let overwrite = at == start;
            add_lower(packed, width, depth, d, &mut c, overwrite, ahead, nonzero_rows.as_ref());
            merging_row_into(&unit, columns, mean);
            unit.merge(columns);
        }
        add_lower::<f64>(means, row, blocks, d, &mut c, false, None, None);
        subtract_lower(mean_correction, row, mean_corrections, d, &mut c);
        Ok((unit, c))
    };
    let add = |(columns, c): (Columns, PooledBuffer<'_, Aligned<f64>>)| {
        let row = merging_row(total, &columns);
        let (scatter, row) = (slice_mut(scatter), &row[..]);
        vectorized(
            #[inline(always)]
            move || {
                let lines = c.chunks_exact(sums_stride(d));
                for (i, (out, part)) in scatter.chunks_exact_mut(d).zip(lines).enumerate() {
                    for ((o, &p), &r) in out[..=i].iter_mut().zip(part).zip(row) {
                        *o += p + row[i] * r;
                    }
                }
            },
        );
        total.merge(&columns);
    };
    let starts = (0..batch.rows).step_by(unit);
    ordered_reduce(starts, REDUCTION_BLOCKS, || grid.work.acquire(), sum_reduction_block, add)
}

/// All blocks are packed in the given order, then squares of the one matrix take them in order. Between them the scatter
/// of the blocks' `means`, whenever there are enough rows of it for a product.
fn scatter_by_squares<T: Scalar>(
    grid: &RowGrid<T>,
    batch: &RowBatch<T>,
    permutation: &FeaturePermutation<T>,
    packed: &mut Aligned<T>,
    total: &mut Columns,
    means: &mut Means,
    squares: &mut Squares,
) -> Result<()> {
    let d = batch.n_features;
    let length = packed_len::<T>(d, BLOCK);
    let starts: Vec<usize> = (0..batch.rows).step_by(BLOCK).collect();
    packed.resize(length * starts.len());
    let blocks: Vec<Result<Packed>> = packed
        .par_chunks_mut(length)
        .zip(&starts)
        .map_init(<(Vec<T>, Shift<T>)>::default, |(scratch, shift), (packed, &start)| {
            let block = batch.block(start, (start + BLOCK).min(batch.rows), scratch);
            pack_block(grid, &block, permutation, shift, packed)
        })
        .collect();
    let blocks = blocks.into_iter().collect::<Result<Vec<Packed>>>()?;
    // A block differs from what came before in its mean too.
    let mut nonzero_rows = Vec::with_capacity(blocks.len());
    let mut extras = Vec::with_capacity(blocks.len());
    for block in blocks {
        means.between.push(merging_row(total, &block.columns));
        means.mean_correction.extend(block.mean_correction);
        total.merge(&block.columns);
        let full = means.between.len() == MEANS;
        extras.push(full.then(|| Extra::new(&std::mem::take(means), permutation.features())));
        nonzero_rows.push(block.nonzero_rows);
    }
    squares.for_each(|square| {
        for (block, extra) in extras.iter().enumerate() {
            let (packed, next) = packed[block * length..].split_at(length);
            let depth = BLOCK.min(batch.rows - starts[block]);
            square.add(packed, depth, next, Some(&nonzero_rows[block]));
            if let Some(extra) = extra {
                extra.add_to(square);
            }
        }
    });
    Ok(())
}

/// Rows that stand for means of blocks.
#[derive(Default)]
struct Means {
    /// Their squares are the scatter between a block and those before it.
    between: Vec<Vec<f64>>,
    /// Their squares are too much in blocks that were not packed less their mean.
    mean_correction: Vec<Vec<f64>>,
}

/// The same, packed like data.
struct Extra {
    left: Aligned<f64>,
    right: Aligned<f64>,
    rows: usize,
}

impl Extra {
    const PANEL: usize = <f64 as Tile>::PANEL;

    /// With the features in the given order.
    fn new(Means { between, mean_correction }: &Means, features: &[usize]) -> Extra {
        let rows = between.len() + mean_correction.len();
        let room = || Aligned::zeros(packed_len::<f64>(features.len(), rows));
        let (mut left, mut right) = (room(), room());
        let signed =
            between.iter().map(|row| (1.0, row)).chain(mean_correction.iter().map(|r| (-1.0, r)));
        for (i, (sign, row)) in signed.enumerate() {
            for (place, &f) in features.iter().enumerate() {
                let panel = place / Self::PANEL * rows * Self::PANEL;
                let at = panel + i * Self::PANEL + place % Self::PANEL;
                (left[at], right[at]) = (sign * row[f], row[f]);
            }
        }
        Extra { left, right, rows }
    }

    fn add_to(&self, square: &mut Square) {
        square.add_product(&self.left, &self.right, self.rows, &[], None);
    }
}

/// The one row `√(n_a n_b / (n_a + n_b)) (m_b − m_a)` whose square is what merging adds (Chan).
fn merging_row(total: &Columns, part: &Columns) -> Vec<f64> {
    let mut row = vec![0.0; part.mean_hi.len()];
    merging_row_into(total, part, &mut row);
    row
}

/// The same, with zeros after it.
fn merging_row_into(total: &Columns, part: &Columns, row: &mut [f64]) {
    row.fill(0.0);
    if total.weight == 0.0 || part.weight == 0.0 {
        return;
    }
    let factor = (total.weight * part.weight / (total.weight + part.weight)).sqrt();
    for (f, row) in row.iter_mut().take(part.mean_hi.len()).enumerate() {
        *row =
            factor * ((part.mean_hi[f] - total.mean_hi[f]) + (part.mean_lo[f] - total.mean_lo[f]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SampleWeights;
    use crate::linalg::random;

    /// Moments against sums in two passes over all rows, relative to each column's own squares.
    fn check<T: Scalar>(what: &str, x: &Array2<T>, weights: Option<&[f64]>, tolerance: f64) {
        let (n, d) = x.dim();
        let mut data = Dataset::from(x);
        if let Some(weights) = weights {
            data = data.with_weights(SampleWeights::frequency(weights.to_vec()));
        }
        // In floats, and in whole numbers where they are.
        let grid = RowGrid::new(&data).unwrap();
        let found = [false, true].map(|whole| one_pass(&grid, whole).unwrap());
        assert!(found[0].is_some());
        let w = |i: usize| weights.map_or(1.0, |w| w[i]);
        let total: f64 = (0..n).map(w).sum();
        let mean: Vec<f64> = (0..d)
            .map(|f| {
                // Once more from the mean: what is summed is then no larger than the spread.
                let from = |origin: f64| {
                    let sum: f64 = (0..n).map(|i| w(i) * (x[[i, f]].to_f64() - origin)).sum();
                    origin + sum / total
                };
                from(from(x[[0, f]].to_f64()))
            })
            .collect();
        let scatter = |f: usize, g: usize| -> f64 {
            let row = |i: usize, f: usize| x[[i, f]].to_f64() - mean[f];
            (0..n).map(|i| w(i) * row(i, f) * row(i, g)).sum()
        };
        for moments in found.into_iter().flatten() {
            for f in 0..d {
                let (size, found) =
                    (scatter(f, f), moments.columns.mean_hi[f] + moments.columns.mean_lo[f]);
                let spread = (size / total).sqrt().max(1e-150);
                assert!((found - mean[f]).abs() <= 1e-12 * spread, "{what}: mean {f}");
                let constant = (1..n).all(|i| x[[i, f]] == x[[0, f]]);
                assert_eq!(moments.columns.varies[f], !constant, "{what}: column {f}");
                assert!(
                    !constant || (moments.scatter[[f, f]] == 0.0 && found == x[[0, f]].to_f64())
                );
                for g in 0..=f {
                    let near = (tolerance * (size * scatter(g, g)).sqrt()).max(1e-160);
                    let error = (moments.scatter[[f, g]] - scatter(f, g)).abs();
                    assert!(error <= near, "{what}: entry {f}, {g}");
                }
            }
        }
    }

    #[test]
    fn unkind_orders_of_rows() {
        let n = 5_000;
        let noise = random::normal_matrix(&mut random::stream(4, 0), n, 7);
        let x = Array2::from_shape_fn((n, 7), |(i, f)| match f {
            // Far from where the first rows of every unit are.
            0 => noise[[i, 0]] + if i % 2048 < 128 { 0.0 } else { 1e3 },
            1 => noise[[i, 1]] * if i % 2048 < 128 { 0.0 } else { 1.0 } + 1e3,
            2 => i as f64 + 1e6,
            3 => 0.1,
            // Constant but for one row, the last of a unit; for two whose deviations cancel and whose
            // squares vanish; up to the third unit.
            4 => 0.1 + if i == 2047 { 1e-3 } else { 0.0 },
            5 if i == 3_000 => 1e-170,
            5 if i == 3_001 => -1e-170,
            5 => 0.0,
            _ if i < 4_096 => -7.0,
            _ => noise[[i, 6]],
        });
        let weights: Vec<f64> =
            (0..n).map(|i| if i % 2048 < 128 { 1e-9 } else { 1.0 + (i % 3) as f64 }).collect();
        check("f64", &x, None, 1e-12);
        check("f64, weights", &x, Some(&weights), 1e-12);
        let narrow = x.mapv(|v| v as f32);
        check("f32", &narrow, None, 2e-6);
        check("f32, weights", &narrow, Some(&weights), 2e-6);
    }

    /// More features than a unit's own matrix takes, a quarter of them constant: for good, up to the
    /// second unit, or but for the last row.
    #[test]
    fn constant_features_among_many() {
        let (n, d) = (1_400, 400);
        let noise = random::normal_matrix(&mut random::stream(6, 0), n, d);
        let x = Array2::from_shape_fn((n, d), |(i, f)| match f % 16 {
            3 => 7.5,
            4 if i < 700 => -0.25,
            5 if i < n - 1 => 0.0,
            6 => 0.1,
            _ => noise[[i, f]] + f as f64,
        });
        let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
        check("f64", &x, None, 1e-13);
        check("f64, weights", &x, Some(&weights), 1e-13);
        check("f32", &x.mapv(|v| v as f32), None, 2e-6);
    }

    /// Features that mostly have one value: zero, far from zero, and each in some blocks only, in the first
    /// rows or in the last.
    #[test]
    fn common_values() {
        for (n, d) in [(1_500, 400), (2_300, 61)] {
            check_common_values(n, d);
        }
    }

    fn check_common_values(n: usize, d: usize) {
        let noise = random::normal_matrix(&mut random::stream(8, 0), n, d);
        let pick = random::normal_matrix(&mut random::stream(9, 0), n, d);
        let x = Array2::from_shape_fn((n, d), |(i, f)| {
            let mostly = |share: f64, value: f64, other: f64| {
                if pick[[i, f - f % 3]] < share { value } else { other }
            };
            match f / 8 % 8 {
                0 => noise[[i, f]],
                1 => mostly(0.8, 0.0, noise[[i, f]] + 3.0),
                2 => mostly(0.5, 0.0, 200.0 + 50.0 * noise[[i, f]].round()),
                // What varies is far smaller than the value.
                3 => mostly(0.3, 1e3, 1e3 + noise[[i, f]]),
                // Far from what the first rows say, and nearly constant there.
                4 if i < 700 => mostly(0.9, 0.0, noise[[i, f]]),
                4 => 1e3 + noise[[i, f]],
                5 if i < 700 => noise[[i, f]],
                5 => mostly(1.2, 0.0, noise[[i, f]]),
                6 if i == 901 => 1.0,
                6 => -4.25,
                _ => mostly(2.5, 0.0, 1e3),
            }
        });
        let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
        check("f64", &x, None, 1e-13);
        check("f64, weights", &x, Some(&weights), 1e-13);
        check("f32", &x.mapv(|v| v as f32), None, 2e-6);
    }

    /// Along the mean, where what rounds the same way in every entry adds up.
    #[test]
    fn float32_sums_are_not_rounded_one_way() {
        for (n, d, value) in [(2_560, 400, 0.7), (2_560, 400, 3.0), (4_100, 160, 0.7)] {
            let pick = random::normal_matrix(&mut random::stream(10, 0), n, d);
            // Eight neighbours are zero together.
            let x = Array2::from_shape_fn((n, d), |(i, f)| {
                if pick[[i, f - f % 8]] < 0.1 { 0.0 } else { value as f32 }
            });
            let along = |scatter: Array2<f64>| scatter.sum() / d as f64;
            let scatter_of = |x: &Dataset<f32>| {
                one_pass(&RowGrid::new(x).unwrap(), false).unwrap().unwrap().scatter
            };
            let wide = x.mapv(f64::from);
            let exact = one_pass(&RowGrid::new(&Dataset::from(&wide)).unwrap(), false)
                .unwrap()
                .unwrap()
                .scatter;
            let (found, exact) = (along(scatter_of(&Dataset::from(&x))), along(exact));
            assert!((found - exact).abs() < 1e-6 * exact, "{n} x {d}, {value}: {found} {exact}");
        }
    }

    /// Rows that are one of two points, the first block of every unit at one of them, have rank 1.
    #[test]
    fn few_points_in_long_runs_have_no_more_rank_than_they_span() {
        fn null_share<T: Scalar>(a: f64, b: f64) -> f64 {
            let x = Array2::from_shape_fn((6_000, 2), |(i, f)| {
                T::from_f64(if i % 2048 < 128 { 0.0 } else { [a, b][f] })
            });
            let data = Dataset::from(&x);
            let c = one_pass(&RowGrid::new(&data).unwrap(), false).unwrap().unwrap().scatter;
            let trace = c[[0, 0]] + c[[1, 1]];
            (c[[0, 0]] * c[[1, 1]] - c[[0, 1]] * c[[0, 1]]).abs() / (trace * trace)
        }
        for (a, b) in [(1.1, 0.7), (3.3, 1.9), (1000.1, 777.7)] {
            assert!(null_share::<f64>(a, b) < 4.0 * f64::EPSILON, "{a}, {b}");
            assert!(null_share::<f32>(a, b) < 4.0 * f64::EPSILON, "{a}, {b} in float32");
        }
    }
}
