//! Mean and variance of every feature, for whoever asks.

use super::RowGrid;
use super::columns::Columns;
use crate::data::Dataset;
use crate::error::Result;
use crate::linalg::dense::power_of_two;
use crate::linalg::pool;
use crate::options::Options;
use crate::scalar::Scalar;

/// Mean and variance of every feature.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnStatistics {
    /// The number of samples, or the sum of their weights.
    pub n_samples: f64,
    /// The means (d).
    pub mean: Vec<f64>,
    /// The variances (d), divisor n − 1.
    pub variance: Vec<f64>,
}

impl<T: Scalar> Dataset<'_, T> {
    /// Mean and variance of every feature, in one pass; at least two samples are needed.
    ///
    /// ```
    /// use eigenlens::{Dataset, Options, ndarray};
    /// let x = ndarray::array![[1e9, 2.0], [1e9 + 2.0, 4.0]];
    /// let found = Dataset::from(&x).column_statistics(&Options::default())?;
    /// assert_eq!((found.mean, found.variance), (vec![1e9 + 1.0, 3.0], vec![2.0, 2.0]));
    /// # Ok::<(), eigenlens::Error>(())
    /// ```
    pub fn column_statistics(&self, options: &Options) -> Result<ColumnStatistics> {
        options.check()?;
        pool::run(options.threads, || {
            let mut grid = RowGrid::new(self)?;
            let columns = Columns::of(&mut grid)?;
            let exponent = |f: usize| grid.exponents().map_or(0, |e| e[f]);
            let unit = |f: usize| power_of_two(exponent(f));
            let divisor = columns.weight - 1.0;
            let mean = |f: usize| (columns.mean_hi[f] + columns.mean_lo[f]) * unit(f);
            let variance = |f: usize| columns.squares[f] / divisor * unit(f) * unit(f);
            let d = self.n_features();
            Ok(ColumnStatistics {
                n_samples: columns.weight,
                mean: (0..d).map(mean).collect(),
                variance: (0..d).map(variance).collect(),
            })
        })?
    }
}
