//! Data that are read in blocks of rows: on disk, or larger than memory.

use crate::error::Result;
use crate::scalar::Scalar;
use ndarray::ArrayView2;

/// Rows that can be read from the beginning as often as needed, always the same.
///
/// ```
/// use eigenlens::{Dataset, Pca, Result, RowReader, Rows, ndarray};
/// use ndarray::{Array2, ArrayView2, s};
///
/// struct InPieces(Array2<f64>);
/// struct Reader<'a>(&'a Array2<f64>, usize);
///
/// impl Rows<f64> for InPieces {
///     fn n_features(&self) -> usize { self.0.ncols() }
///     fn n_samples(&self) -> Option<usize> { Some(self.0.nrows()) }
///     fn open(&self) -> Result<Box<dyn RowReader<f64> + '_>> { Ok(Box::new(Reader(&self.0, 0))) }
/// }
/// impl RowReader<f64> for Reader<'_> {
///     fn next_rows(&mut self, at_most: usize) -> Result<Option<ArrayView2<'_, f64>>> {
///         let (start, end) = (self.1, (self.1 + at_most.min(2)).min(self.0.nrows()));
///         self.1 = end;
///         Ok((start < end).then(|| self.0.slice(s![start..end, ..])))
///     }
/// }
///
/// let rows = InPieces(ndarray::array![[1.0, 2.0], [2.0, 4.5], [3.0, 5.5], [4.0, 8.0], [5.0, 10.0]]);
/// let model = Pca::new(1).fit(&Dataset::streamed(&rows))?;
/// assert!(model.explained_variance_ratio()[0] > 0.99);
/// # Ok::<(), eigenlens::Error>(())
/// ```
pub trait Rows<T: Scalar>: Sync {
    /// The number of columns.
    fn n_features(&self) -> usize;

    /// The number of rows, where it is known before reading.
    fn n_samples(&self) -> Option<usize>;

    /// Starts reading from the first row.
    fn open(&self) -> Result<Box<dyn RowReader<T> + '_>>;
}

/// One reading of [`Rows`], from the first row to the last.
pub trait RowReader<T: Scalar> {
    /// Lends the next rows, at least one and at most `at_most`; `None` at the end.
    ///
    /// Lend as many as are at hand: no answer depends on how the rows are cut into blocks, but
    /// larger blocks are faster. A failure is best reported as [`Error::Read`](crate::Error::Read).
    fn next_rows(&mut self, at_most: usize) -> Result<Option<ArrayView2<'_, T>>>;
}
