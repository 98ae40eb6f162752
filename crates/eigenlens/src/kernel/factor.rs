//! A factor F of a kernel, `K ≈ F Fᵀ`, as rows that are made while they are read: what PCA of a
//! kernel that is never formed is fitted to.

use super::projection::Projection;
use super::random_features::RandomFeatures;
use crate::data::{Csr, Dataset, RowReader, Rows, Source};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2, s};

/// What makes the rows of F from samples.
#[derive(Clone, Copy)]
pub(crate) enum Factor<'a> {
    /// The kernel with landmarks times `W^{-1/2}`.
    Landmarks(&'a Projection),
    /// Random Fourier features.
    Random(&'a RandomFeatures),
}

impl Factor<'_> {
    pub fn width(&self) -> usize {
        match self {
            Factor::Landmarks(projection) => projection.n_components(),
            Factor::Random(features) => features.n_features(),
        }
    }

    /// Rows of F (n × m) of some samples.
    fn rows<T: Scalar>(&self, data: &Dataset<T>) -> Result<Array2<f64>> {
        match self {
            Factor::Landmarks(projection) => projection.transform_wide(data),
            Factor::Random(features) => features.transform(data),
        }
    }
}

/// The rows of F, one block at a time.
pub(crate) struct FactorRows<'a, T: Scalar> {
    pub data: Dataset<'a, T>,
    pub factor: Factor<'a>,
}

/// Rows made at a time.
const AT_ONCE: usize = 4096;

struct Reader<'r, 'a, T: Scalar> {
    rows: &'r FactorRows<'a, T>,
    at: usize,
    stream: Option<Box<dyn RowReader<T> + 'r>>,
    made: Array2<f64>,
}

impl<T: Scalar> Rows<f64> for FactorRows<'_, T> {
    fn n_features(&self) -> usize {
        self.factor.width()
    }

    fn n_samples(&self) -> Option<usize> {
        self.data.n_samples()
    }

    fn open(&self) -> Result<Box<dyn RowReader<f64> + '_>> {
        let stream = match self.data.source() {
            Source::Streamed(rows) => Some(rows.open()?),
            _ => None,
        };
        Ok(Box::new(Reader { rows: self, at: 0, stream, made: Array2::zeros((0, 0)) }))
    }
}

impl<T: Scalar> RowReader<f64> for Reader<'_, '_, T> {
    fn next_rows(&mut self, at_most: usize) -> Result<Option<ArrayView2<'_, f64>>> {
        let at_most = at_most.min(AT_ONCE);
        let factor = self.rows.factor;
        let wrong_width = |columns: usize| Error::Shape {
            what: "a block of rows",
            found: format!("{columns} columns"),
            expected: self.rows.data.n_features().to_string(),
        };
        self.made = match self.rows.data.source() {
            Source::Streamed(_) => {
                let Some(stream) = &mut self.stream else { return Ok(None) };
                let Some(lent) = stream.next_rows(at_most)? else { return Ok(None) };
                if lent.ncols() != self.rows.data.n_features() {
                    return Err(wrong_width(lent.ncols()));
                }
                factor.rows(&Dataset::dense(lent))?
            }
            Source::Dense(x) => {
                let end = (self.at + at_most).min(x.nrows());
                if self.at == end {
                    return Ok(None);
                }
                let part = x.slice(s![self.at..end, ..]);
                self.at = end;
                factor.rows(&Dataset::dense(part))?
            }
            Source::Sparse(x) => {
                let end = (self.at + at_most).min(x.n_rows());
                if self.at == end {
                    return Ok(None);
                }
                let part = some_rows(x, self.at, end)?;
                self.at = end;
                factor.rows(&Dataset::sparse(&part))?
            }
        };
        Ok(Some(self.made.view()))
    }
}

fn some_rows<T: Scalar>(x: &Csr<T>, start: usize, end: usize) -> Result<Csr<T>> {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in start..end {
        let (c, v) = x.row(row);
        columns.extend_from_slice(c);
        values.extend_from_slice(v);
        starts.push(values.len());
    }
    Csr::new(end - start, x.n_columns(), starts, columns, values)
}
