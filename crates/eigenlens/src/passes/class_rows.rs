//! Rows with the mean of their class taken off, as data of their own: what is formed of them has no
//! distance between classes to cancel.

use super::row_grid::reduction_block_rows;
use crate::data::{Csr, Dataset, RowReader, Rows, Source, UNLABELLED};
use crate::error::{Error, Result};
use crate::linalg::gemm::slice_mut;
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView1, ArrayView2, s};
use rayon::prelude::*;

/// Entries of rows that are lent at a time.
const LENT: usize = 1 << 21;

/// Where rows are measured from: the mean of their class, as `mean_hi` and what it lacks.
#[derive(Clone, Debug)]
pub(crate) struct ClassMeans {
    /// The class of each sample; [`UNLABELLED`] where it has none and counts for nothing.
    pub codes: Vec<u32>,
    /// Leading digits of a mean near all rows (d), in prescaled units.
    pub mean_hi: Vec<f64>,
    /// The mean of each class from there (c × d).
    pub offsets: Array2<f64>,
}

/// `x 2⁻ᵉ − μ_class` of every row, or of those of one class; in f64, a few at a time, never stored whole.
pub(crate) struct ClassCentered<'a, 'd, T: Scalar> {
    pub data: &'a Dataset<'d, T>,
    pub means: &'a ClassMeans,
    /// 2⁻ᵉ of each column, where any is not 1.
    pub prescale: Option<Vec<f64>>,
    /// The one class whose rows there are; all of them where there is none.
    pub only: Option<u32>,
}

/// Rows that are lent at a time: whole reduction blocks.
pub(crate) fn lent_rows(n_features: usize) -> usize {
    let unit = reduction_block_rows(n_features);
    unit * (LENT / (unit * n_features).max(1)).max(1)
}

impl<T: Scalar> ClassCentered<'_, '_, T> {
    fn is_wanted(&self, row: usize) -> bool {
        self.only.is_none() || self.means.codes.get(row).copied() == self.only
    }

    /// Takes the mean of its class off a row of the data, in f64 already.
    fn center(&self, row: usize, values: &mut [f64]) {
        let class = self.means.codes.get(row).copied().unwrap_or(UNLABELLED) as usize;
        if let Some(prescale) = &self.prescale {
            values.iter_mut().zip(prescale).for_each(|(v, p)| *v *= p);
        }
        values.iter_mut().zip(&self.means.mean_hi).for_each(|(v, m)| *v -= m);
        if class < self.means.offsets.nrows() {
            values.iter_mut().zip(self.means.offsets.row(class)).for_each(|(v, m)| *v -= m);
        }
    }

    fn copy_dense(&self, row: usize, x: ArrayView1<T>, out: &mut [f64]) {
        out.iter_mut().zip(x).for_each(|(o, x)| *o = x.to_f64());
        self.center(row, out);
    }

    fn copy_sparse(&self, row: usize, (columns, values): (&[u32], &[T]), out: &mut [f64]) {
        out.fill(0.0);
        columns.iter().zip(values).for_each(|(&f, v)| out[f as usize] += v.to_f64());
        self.center(row, out);
    }
}

impl<T: Scalar> Rows<f64> for ClassCentered<'_, '_, T> {
    fn n_features(&self) -> usize {
        self.data.n_features()
    }

    fn n_samples(&self) -> Option<usize> {
        Some((0..self.means.codes.len()).filter(|&row| self.is_wanted(row)).count())
    }

    fn open(&self) -> Result<Box<dyn RowReader<f64> + '_>> {
        let inner = match self.data.source() {
            Source::Streamed(rows) => Some(rows.open()?),
            _ => None,
        };
        Ok(Box::new(Reader { of: self, inner, next: 0, block: Array2::zeros((0, 0)) }))
    }
}

struct Reader<'r, 'a, 'd, T: Scalar> {
    of: &'r ClassCentered<'a, 'd, T>,
    /// The reader of a stream; nothing where the rows are in memory.
    inner: Option<Box<dyn RowReader<T> + 'r>>,
    /// The next row of the data.
    next: usize,
    block: Array2<f64>,
}

/// Consecutive rows of the data.
enum RowBlock<'l, T: Scalar> {
    Dense(ArrayView2<'l, T>),
    Sparse(&'l Csr<T>, usize),
}

impl<T: Scalar> RowReader<f64> for Reader<'_, '_, '_, T> {
    fn next_rows(&mut self, at_most: usize) -> Result<Option<ArrayView2<'_, f64>>> {
        let of = self.of;
        let d = of.n_features();
        let most = at_most.min(lent_rows(d)).max(1);
        loop {
            let first = self.next;
            let lent = match (&mut self.inner, of.data.source()) {
                (Some(reader), _) => reader.next_rows(most)?.map(RowBlock::Dense),
                (None, Source::Dense(x)) => {
                    let rows = most.min(x.nrows() - first);
                    (rows > 0).then(|| RowBlock::Dense(x.slice(s![first..first + rows, ..])))
                }
                (None, Source::Sparse(x)) => {
                    let rows = most.min(x.n_rows() - first);
                    (rows > 0).then_some(RowBlock::Sparse(x, rows))
                }
                (None, Source::Streamed(_)) => None,
            };
            let Some(lent) = lent else { return Ok(None) };
            let rows = match &lent {
                RowBlock::Dense(x) => x.nrows(),
                RowBlock::Sparse(_, rows) => *rows,
            };
            if first + rows > of.means.codes.len() {
                let known = of.means.codes.len();
                return Err(Error::Changed {
                    what: format!("more than {known} rows came in place of {known}"),
                });
            }
            self.next += rows;
            let wanted: Vec<usize> = (0..rows).filter(|i| of.is_wanted(first + i)).collect();
            if wanted.is_empty() {
                continue;
            }
            if self.block.nrows() < wanted.len() {
                self.block = Array2::zeros((wanted.len(), d));
            }
            slice_mut(&mut self.block).par_chunks_mut(d).zip(&wanted).for_each(|(out, &i)| {
                match &lent {
                    RowBlock::Dense(x) => of.copy_dense(first + i, x.row(i), out),
                    RowBlock::Sparse(x, _) => of.copy_sparse(first + i, x.row(first + i), out),
                }
            });
            return Ok(Some(self.block.slice(s![..wanted.len(), ..])));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random;

    fn all_rows(rows: &dyn Rows<f64>, at_most: usize) -> Array2<f64> {
        let (mut reader, mut found) = (rows.open().unwrap(), Vec::new());
        while let Some(lent) = reader.next_rows(at_most).unwrap() {
            assert!(lent.nrows() <= at_most);
            found.extend(lent.iter().copied());
        }
        Array2::from_shape_vec((found.len() / rows.n_features(), rows.n_features()), found).unwrap()
    }

    #[test]
    fn rows_are_those_of_the_data_less_the_mean_of_their_class() {
        let (n, d) = (23, 4);
        let x = random::normal_matrix(&mut random::stream(1, 0), n, d) + 1e6;
        let codes: Vec<u32> = (0..n).map(|i| (i % 3) as u32).collect();
        let mean_hi = vec![1e6; d];
        let offsets = random::normal_matrix(&mut random::stream(2, 0), 3, d);
        let means = ClassMeans { codes: codes.clone(), mean_hi, offsets: offsets.clone() };
        let expected = Array2::from_shape_fn((n, d), |(i, f)| {
            (x[[i, f]] - 1e6) - offsets[[codes[i] as usize, f]]
        });
        let starts = (0..=n).map(|i| i * d).collect();
        let places = (0..n * d).map(|at| (at % d) as u32).collect();
        let csr = Csr::new(n, d, starts, places, x.iter().copied().collect()).unwrap();
        let stream = ClassCentered {
            data: &Dataset::dense(x.view()),
            means: &ClassMeans {
                mean_hi: vec![0.0; d],
                offsets: Array2::zeros((3, d)),
                codes: codes.clone(),
            },
            prescale: None,
            only: None,
        };
        for data in [Dataset::from(&x), Dataset::sparse(&csr), Dataset::streamed(&stream)] {
            let rows = ClassCentered { data: &data, means: &means, prescale: None, only: None };
            for at_most in [1, 5, 100] {
                assert_eq!(all_rows(&rows, at_most), expected);
            }
            let one = ClassCentered { only: Some(1), ..rows };
            let chosen: Vec<usize> = (0..n).filter(|i| i % 3 == 1).collect();
            assert_eq!(all_rows(&one, 5), expected.select(ndarray::Axis(0), &chosen));
            assert_eq!(one.n_samples(), Some(chosen.len()));
        }
    }
}
