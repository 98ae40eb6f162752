//! Data with missing entries made whole by a simple policy: rows or columns left out, or means put in.

use super::RowGrid;
use super::observed::Observed;
use crate::data::{Csr, Dataset, RowReader, Rows, SampleWeights, Source, Target};
use crate::data::{Missing, MissingReport, check_rate};
use crate::error::{Error, Result};
use crate::linalg::dense::power_of_two;
use crate::linalg::pool;
use crate::options::Options;
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView2, Axis, s};
use std::sync::Arc;

/// A data set whose policy for missing entries has been carried out.
pub struct Resolved<'a, T: Scalar> {
    original: Dataset<'a, T>,
    body: Body<'a, T>,
    names: Option<Arc<[String]>>,
    weights: Option<Arc<SampleWeights>>,
    missing_report: Option<MissingReport>,
    /// Rows of the original that stay, where some go.
    kept: Option<Vec<usize>>,
    /// What goes into missing entries, where that is the policy.
    fill: Option<Vec<f64>>,
}

enum Body<'a, T: Scalar> {
    /// There was none missing.
    Same,
    Dense(Array2<T>),
    Sparse(Csr<T>),
    Streamed(Whole<'a, T>),
}

impl<'a, T: Scalar> Dataset<'a, T> {
    /// Carries out the policies that make data whole: rows or columns left out, means put in. Data
    /// without a missing entry are borrowed as they are; others are copied without their missing entries, or read
    /// through a sieve where the copy does not fit into `options.memory`.
    ///
    /// [`Missing::Em`] makes no whole data: [`Pca`](crate::Pca) and [`Ppca`](crate::Ppca) integrate
    /// the missing entries out instead, and other methods refuse it here.
    pub fn resolve_missing(&self, options: &Options) -> Result<Resolved<'a, T>> {
        let original = self.clone().with_missing(Missing::Error);
        let same = |original| Resolved {
            original,
            body: Body::Same,
            names: self.names.clone(),
            weights: self.weights.clone(),
            missing_report: None,
            kept: None,
            fill: None,
        };
        if self.missing == Missing::Error {
            return Ok(same(original));
        }
        if self.missing == Missing::Em {
            return Err(Error::Unsupported {
                what: "the policy `em` for missing values".into(),
                why: "is not defined for this method",
                instead: Some(crate::error::Hint::Set {
                    option: "missing",
                    value: Missing::Mean.name().into(),
                }),
            });
        }
        let mut grid = RowGrid::surveying(self)?;
        let entries = self.n_samples().map_or(f64::INFINITY, |n| (n * self.n_features()) as f64);
        let observed = pool::run_sized(options.threads, entries, || Observed::of(&mut grid))??;
        if observed.missing_counts.missing == 0 {
            let means = self.missing == Missing::Mean;
            let fill = means.then(|| as_f64(&means_of::<T>(&grid, &observed)));
            return Ok(Resolved { fill, ..same(original) });
        }
        check_rate(self, &observed.missing_counts)?;
        let sieve = Sieve::new(self, &grid, &observed)?;
        let missing_report = Some(MissingReport::new(self.missing, &observed.missing_counts));
        self.through(sieve, missing_report, options)
    }

    /// The data with these numbers in their missing entries, one for each feature: the means that
    /// [`Resolved::fill`] tells of training data belong into the missing entries of new data.
    pub fn fill_missing(&self, fill: &[f64], options: &Options) -> Result<Resolved<'a, T>> {
        if fill.len() != self.n_features() {
            return Err(Error::Shape {
                what: "what goes into missing entries",
                found: format!("{} numbers", fill.len()),
                expected: format!("one for each of {} features", self.n_features()),
            });
        }
        let sieve = Sieve {
            columns: (0..fill.len()).collect(),
            rows: self.n_samples(),
            dropped: None,
            fill: fill.iter().map(|v| T::from_f64(*v)).collect(),
        };
        self.through(sieve, None, options)
    }

    fn through(
        &self,
        sieve: Sieve<T>,
        missing_report: Option<MissingReport>,
        options: &Options,
    ) -> Result<Resolved<'a, T>> {
        let original = self.clone().with_missing(Missing::Error);
        let names = self
            .names
            .as_ref()
            .map(|names| sieve.columns.iter().filter_map(|&f| names.get(f).cloned()).collect());
        let weights = self.weights.as_ref().map(|weights| Arc::new(sieve.weights(weights)));
        let row = (sieve.columns.len() * size_of::<T>()) as u64;
        let copy = row.saturating_mul(sieve.rows.map_or(u64::MAX, |rows| rows as u64));
        let fits = options.memory.is_none_or(|budget| copy <= budget / 2);
        let kept = sieve.kept();
        let fill = (!sieve.fill.is_empty()).then(|| as_f64(&sieve.fill));
        let body = match &self.source {
            Source::Sparse(x) => Body::Sparse(sieve.sparse(x)?),
            Source::Dense(x) if fits => Body::Dense(sieve.dense(x.view())),
            _ => Body::Streamed(Whole { source: self.source.clone(), sieve }),
        };
        Ok(Resolved { original, body, names, weights, missing_report, kept, fill })
    }
}

impl<T: Scalar> Resolved<'_, T> {
    /// The data without missing entries.
    pub fn dataset(&self) -> Dataset<'_, T> {
        let source = match &self.body {
            Body::Same => self.original.unweighted().source,
            Body::Dense(x) => Source::Dense(x.view()),
            Body::Sparse(x) => Source::Sparse(x),
            Body::Streamed(x) => Source::Streamed(x),
        };
        Dataset {
            source,
            names: self.names.clone(),
            weights: self.weights.clone(),
            missing: Missing::Error,
            most_missing: self.original.most_missing,
        }
    }

    /// What was done; `None` where there was none missing.
    pub fn missing_report(&self) -> Option<&MissingReport> {
        self.missing_report.as_ref()
    }

    /// What was put into missing entries (d), where that is the policy: also where there was none missing, as new data
    /// may have some.
    pub fn fill(&self) -> Option<&[f64]> {
        self.fill.as_deref()
    }

    /// Rows of the original that are left, counted from 0; `None` where all are.
    pub fn kept_rows(&self) -> Option<&[usize]> {
        self.kept.as_deref()
    }

    /// The target of the samples that are left; classes that none of them has are gone.
    pub fn target(&self, target: &Target) -> Result<Target> {
        let Some(kept) = &self.kept else { return Ok(target.clone()) };
        let n = self.original.n_samples().unwrap_or(target.n_samples());
        if target.n_samples() != n {
            return Err(Error::Shape {
                what: "the target",
                found: format!("{} values", target.n_samples()),
                expected: format!("one for each of {n} samples"),
            });
        }
        Ok(target.select(kept).without_empty_classes())
    }

    /// An error about rows of the target that are left, told of rows of the original.
    pub fn in_original_rows(&self, error: Error) -> Error {
        let Some(kept) = &self.kept else { return error };
        let original = |row: usize| kept.get(row).copied().unwrap_or(row);
        match error {
            Error::MissingLabels { rows } => {
                Error::MissingLabels { rows: rows.into_iter().map(original).collect() }
            }
            Error::InfiniteTarget { row, value } => {
                Error::InfiniteTarget { row: original(row), value }
            }
            other => other,
        }
    }
}

/// Which rows and columns stay, and what goes into missing entries.
#[derive(Clone)]
struct Sieve<T> {
    /// Columns that stay.
    columns: Vec<usize>,
    /// How many rows stay, where that is known.
    rows: Option<usize>,
    /// Rows that go, as bits.
    dropped: Option<Vec<u64>>,
    /// What goes into the missing entries of each column.
    fill: Vec<T>,
}

impl<T: Scalar> Sieve<T> {
    fn new(data: &Dataset<T>, grid: &RowGrid<T>, observed: &Observed) -> Result<Sieve<T>> {
        let d = data.n_features();
        let n = grid.n_rows().unwrap_or(observed.missing_counts.rows);
        let mut sieve =
            Sieve { columns: (0..d).collect(), rows: Some(n), dropped: None, fill: vec![] };
        match data.missing {
            Missing::DropRows => {
                let left = n - observed
                    .with_missing_values
                    .iter()
                    .map(|w| w.count_ones() as usize)
                    .sum::<usize>();
                if left < 2 {
                    return Err(Error::NothingLeft { policy: "drop-rows", left });
                }
                sieve.rows = Some(left);
                sieve.dropped = Some(observed.with_missing_values.clone());
            }
            Missing::DropColumns => {
                let gone = |f: &usize| observed.missing_counts.columns.iter().any(|c| c.0 == *f);
                sieve.columns.retain(|f| !gone(f));
                if sieve.columns.is_empty() {
                    return Err(Error::NothingLeft { policy: "drop-columns", left: 0 });
                }
            }
            _ => sieve.fill = means_of(grid, observed),
        }
        Ok(sieve)
    }

    fn keeps(&self, row: usize) -> bool {
        let bit = |bits: &Vec<u64>| bits.get(row / 64).is_some_and(|w| w >> (row % 64) & 1 == 1);
        !self.dropped.as_ref().is_some_and(bit)
    }

    /// The rows that stay, where some go.
    fn kept(&self) -> Option<Vec<usize>> {
        let gone: usize = self.dropped.as_ref()?.iter().map(|w| w.count_ones() as usize).sum();
        Some((0..self.rows? + gone).filter(|&row| self.keeps(row)).collect())
    }

    /// Writes what is left of a row.
    fn pass(&self, row: ndarray::ArrayView1<T>, out: &mut [T]) {
        for (o, &f) in out.iter_mut().zip(&self.columns) {
            let x = row[f];
            *o = if x.to_f64().is_nan() { self.fill.get(f).copied().unwrap_or(x) } else { x };
        }
    }

    fn dense(&self, x: ArrayView2<T>) -> Array2<T> {
        let rows = (0..x.nrows()).filter(|&row| self.keeps(row)).count();
        let mut out = Array2::default((rows, self.columns.len()));
        let kept = x.rows().into_iter().enumerate().filter(|(i, _)| self.keeps(*i));
        for ((_, row), mut out) in kept.zip(out.rows_mut()) {
            if let Some(out) = out.as_slice_mut() {
                self.pass(row, out);
            }
        }
        out
    }

    fn sparse(&self, x: &Csr<T>) -> Result<Csr<T>> {
        let mut place = vec![None; x.n_columns()];
        for (at, &f) in self.columns.iter().enumerate() {
            place[f] = Some(at as u32);
        }
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in (0..x.n_rows()).filter(|&i| self.keeps(i)) {
            let (found, entries) = x.row(row);
            for (&f, &v) in found.iter().zip(entries) {
                let f = f as usize;
                if let Some(at) = place[f] {
                    let hole = v.to_f64().is_nan();
                    columns.push(at);
                    values.push(if hole { self.fill.get(f).copied().unwrap_or(v) } else { v });
                }
            }
            starts.push(values.len());
        }
        Csr::new(starts.len() - 1, self.columns.len(), starts, columns, values)
    }

    fn weights(&self, weights: &SampleWeights) -> SampleWeights {
        let kept = weights.values().iter().enumerate().filter(|(i, _)| self.keeps(*i));
        weights.with_values(kept.map(|(_, w)| *w).collect())
    }
}

/// The mean of what every column has, in the elements' own type.
fn means_of<T: Scalar>(grid: &RowGrid<T>, observed: &Observed) -> Vec<T> {
    let exponent = |f: usize| grid.exponents().map_or(0, |e| e[f]);
    let mean = |(f, mean): (usize, &f64)| T::from_f64(mean * power_of_two(exponent(f)));
    observed.mean.iter().enumerate().map(mean).collect()
}

fn as_f64<T: Scalar>(values: &[T]) -> Vec<f64> {
    values.iter().map(|v| v.to_f64()).collect()
}

/// Rows read through a sieve.
struct Whole<'a, T: Scalar> {
    source: Source<'a, T>,
    sieve: Sieve<T>,
}

impl<T: Scalar> Rows<T> for Whole<'_, T> {
    fn n_features(&self) -> usize {
        self.sieve.columns.len()
    }

    fn n_samples(&self) -> Option<usize> {
        self.sieve.rows
    }

    fn open(&self) -> Result<Box<dyn RowReader<T> + '_>> {
        let inner = match &self.source {
            Source::Streamed(rows) => Some(rows.open()?),
            _ => None,
        };
        Ok(Box::new(WholeReader { whole: self, inner, next: 0, block: Array2::default((0, 0)) }))
    }
}

struct WholeReader<'r, 'a, T: Scalar> {
    whole: &'r Whole<'a, T>,
    /// The reader of a stream; nothing where the rows are in memory.
    inner: Option<Box<dyn RowReader<T> + 'r>>,
    /// The next row of the original.
    next: usize,
    block: Array2<T>,
}

impl<T: Scalar> RowReader<T> for WholeReader<'_, '_, T> {
    fn next_rows(&mut self, at_most: usize) -> Result<Option<ArrayView2<'_, T>>> {
        let sieve = &self.whole.sieve;
        loop {
            let lent = match (&mut self.inner, &self.whole.source) {
                (Some(reader), _) => reader.next_rows(at_most)?,
                (None, Source::Dense(x)) if self.next < x.nrows() => {
                    let end = (self.next + at_most).min(x.nrows());
                    Some(x.slice(s![self.next..end, ..]))
                }
                _ => None,
            };
            let Some(lent) = lent else { return Ok(None) };
            let kept = (0..lent.nrows()).filter(|i| sieve.keeps(self.next + i)).count();
            if self.block.nrows() < kept {
                self.block = Array2::default((kept, sieve.columns.len()));
            }
            let rows = lent.axis_iter(Axis(0)).enumerate();
            let rows = rows.filter(|(i, _)| sieve.keeps(self.next + i));
            for ((_, row), mut out) in rows.zip(self.block.rows_mut()) {
                if let Some(out) = out.as_slice_mut() {
                    sieve.pass(row, out);
                }
            }
            self.next += lent.nrows();
            if kept > 0 {
                return Ok(Some(self.block.slice(s![..kept, ..])));
            }
        }
    }
}
