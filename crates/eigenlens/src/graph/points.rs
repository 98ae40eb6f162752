//! Samples as points in memory, in f64, each row contiguous.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::linalg::dense::{exponent_of, power_of_two};
use crate::passes::{RowGrid, reduction_block_rows};
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2};

/// Samples (n × d) that stay in memory: graphs look at any pair of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Points {
    /// n × d, in units of 2^exponent.
    rows: Array2<f64>,
    exponent: i32,
}

/// Squares and sums of squares of numbers within 2^±this stay far from both ends of the range.
const SAFE: i32 = 200;

/// Squares of numbers beyond this may not be numbers.
const FARTHEST: f64 = 1e150;

impl Points {
    /// Reads a data set; every entry must be finite.
    pub fn read<T: Scalar>(data: &Dataset<T>) -> Result<Points> {
        let grid = RowGrid::new(data)?;
        if grid.counts().is_some() {
            return Err(Error::Unsupported {
                what: "a weight for each sample".into(),
                why: "has no meaning for a graph of neighbours or for distances",
                instead: None,
            });
        }
        Ok(Points { rows: rows(&grid, None)?, exponent: 0 }.in_range())
    }

    /// Reads new samples in the units of these.
    pub fn read_new<T: Scalar>(&self, data: &Dataset<T>) -> Result<Points> {
        if data.n_features() != self.n_features() {
            return Err(Error::Shape {
                what: "the data",
                found: format!("{} features", data.n_features()),
                expected: format!("{}, as in training,", self.n_features()),
            });
        }
        let grid = RowGrid::unweighted(data, None)?;
        let mut points = Points { rows: rows(&grid, None)?, exponent: 0 };
        points.rescale(self.exponent);
        if points.rows.iter().any(|v| v.abs() > FARTHEST) {
            return Err(Error::Unsupported {
                what: "a sample this far from the training samples".into(),
                why: "cannot be placed: its distances are no numbers",
                instead: None,
            });
        }
        Ok(points)
    }

    /// From rows in units of 2^exponent.
    pub fn from_stored(rows: Array2<f64>, exponent: i32) -> Points {
        let rows =
            if rows.is_standard_layout() { rows } else { rows.as_standard_layout().into_owned() };
        Points { rows, exponent }
    }

    /// Reads these rows (rising numbers) of a data set.
    pub fn read_some<T: Scalar>(data: &Dataset<T>, wanted: &[usize]) -> Result<Points> {
        let grid = RowGrid::unweighted(data, None)?;
        let points = Points { rows: rows(&grid, Some(wanted))?, exponent: 0 };
        Ok(points.in_range())
    }

    pub fn n_samples(&self) -> usize {
        self.rows.nrows()
    }

    pub fn n_features(&self) -> usize {
        self.rows.ncols()
    }

    /// Distances between these rows times 2^exponent are in true units.
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    pub fn view(&self) -> ArrayView2<'_, f64> {
        self.rows.view()
    }

    /// One sample.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[f64] {
        let d = self.rows.ncols();
        &self.entries()[i * d..(i + 1) * d]
    }

    /// All entries, row by row.
    #[inline(always)]
    pub fn entries(&self) -> &[f64] {
        self.rows.as_slice().unwrap_or_default()
    }

    /// In units whose squares are numbers.
    fn in_range(mut self) -> Points {
        let largest = self.rows.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let exponent = exponent_of(largest);
        if exponent.abs() > SAFE {
            self.rescale(exponent.clamp(-1000, 1000));
        }
        self
    }

    fn rescale(&mut self, exponent: i32) {
        if exponent != 0 {
            // In two steps: a power of two may be no number where the product is one.
            let half = power_of_two(-(exponent / 2));
            let rest = power_of_two(-(exponent - exponent / 2));
            self.rows.mapv_inplace(|v| v * half * rest);
        }
        self.exponent = exponent;
    }
}

/// All rows, or those wanted (rising numbers).
fn rows<T: Scalar>(grid: &RowGrid<T>, wanted: Option<&[usize]>) -> Result<Array2<f64>> {
    let d = grid.data.n_features();
    let count = wanted.map(<[usize]>::len).or(grid.n_rows()).unwrap_or(0);
    let mut entries = Vec::with_capacity(count.saturating_mul(d));
    let mut next = wanted.unwrap_or_default().iter().peekable();
    grid.for_each_batch(reduction_block_rows(d), |batch| {
        let mut scratch = Vec::new();
        let block = batch.block(0, batch.rows, &mut scratch);
        if let Some((row, column, value)) = block.find_bad() {
            return Err(grid.data.bad_entry(row, column, value));
        }
        for i in 0..batch.rows {
            if wanted.is_some() && next.next_if_eq(&&(batch.first + i)).is_none() {
                continue;
            }
            entries.extend(block.row(i).iter().map(|v| v.to_f64()));
        }
        Ok(())
    })?;
    Array2::from_shape_vec((entries.len() / d, d), entries)
        .map_err(|e| Error::Internal(e.to_string()))
}

/// ‖a − b‖², summed the same way by whoever asks.
#[inline(always)]
pub(crate) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let b = &b[..a.len()];
    sum_of_squares(a.len(), |f| a[f] - b[f])
}

/// The sum of the squares of d numbers, in four interleaved sums: monotone in every number, so that
/// a bound made of smaller numbers is not larger.
#[inline(always)]
pub(super) fn sum_of_squares(d: usize, number: impl Fn(usize) -> f64) -> f64 {
    let mut sums = [0.0f64; 4];
    let whole = d / 4 * 4;
    for start in (0..whole).step_by(4) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let v = number(start + lane);
            *sum += v * v;
        }
    }
    for (lane, sum) in sums.iter_mut().enumerate().take(d - whole) {
        let v = number(whole + lane);
        *sum += v * v;
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}
