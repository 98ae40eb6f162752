//! Data as they come: dense, sparse or streamed, with names, weights and a policy for missing entries.

#[macro_use]
mod any;
mod compiled;
mod csr;
mod factor;
mod missing;
mod rows;
mod shape;
mod target;
mod term_weights;
mod weights;

pub use any::{AnyArray, AnyDataset};
pub use csr::Csr;
pub use missing::{Missing, MissingCounts, MissingReport};
pub use rows::{RowReader, Rows};
pub use shape::DataShape;
pub use target::{Target, TargetKind};
pub use term_weights::{TermWeighting, TermWeights};
pub use weights::SampleWeights;

pub(crate) use compiled::compiled_here;
pub(crate) use factor::{Factor, FactorRhs};
pub(crate) use missing::check_rate;
pub(crate) use target::{Body as TargetBody, UNLABELLED};
pub(crate) use weights::{check_weight_count, wrong_weight_count};

use crate::error::{Error, Result};
use crate::scalar::{Scalar, Typed, typed};
use ndarray::{Array2, ArrayView2, s};
use std::sync::Arc;

/// A table of `n` samples (rows) and `d` features (columns), borrowed from wherever it lives.
///
/// Whatever takes data takes anything that converts into a data set: `&x` of an
/// [`Array2`](ndarray::Array2) or a [`Csr`], a view, a data set or a reference to one. Names, weights and a
/// policy for missing entries need the data set itself; copying one copies no entry.
///
/// ```
/// use eigenlens::{Dataset, SampleWeights, ndarray};
/// let x = ndarray::array![[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]];
/// let data = Dataset::dense(x.view())
///     .with_feature_names(["height", "width"])?
///     .with_weights(SampleWeights::frequency([1.0, 2.0, 1.0]));
/// assert_eq!(data.n_features(), 2);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone)]
pub struct Dataset<'a, T: Scalar> {
    pub(crate) source: Source<'a, T>,
    pub(crate) names: Option<Arc<[String]>>,
    pub(crate) weights: Option<Arc<SampleWeights>>,
    pub(crate) missing: Missing,
    pub(crate) most_missing: f64,
}

/// A data set on loan, for [`Scalar::choose`].
pub(crate) struct Data<'s, 'd>(std::marker::PhantomData<&'s &'d ()>);

impl<'s, 'd: 's> Typed for Data<'s, 'd> {
    type Of<T: Scalar> = &'s Dataset<'d, T>;
}

typed!(Made, T => Result<Array2<T>>);

/// A data set on loan, of either element type.
#[doc(hidden)]
pub enum Either<'s, 'd> {
    Single(&'s Dataset<'d, f32>),
    Double(&'s Dataset<'d, f64>),
}

impl Typed for Either<'_, '_> {
    type Of<T: Scalar> = Self;
}

/// Where the entries are.
#[derive(Clone)]
pub(crate) enum Source<'a, T: Scalar> {
    Dense(ArrayView2<'a, T>),
    Sparse(&'a Csr<T>),
    Streamed(&'a dyn Rows<T>),
}

impl<'a, T: Scalar> Dataset<'a, T> {
    /// The data with their element type told.
    pub(crate) fn either(&self) -> Either<'_, 'a> {
        T::choose::<Data, Either>(self, Either::Single, Either::Double)
    }

    /// The same data set, its element type told at run time.
    pub(crate) fn into_any(self) -> AnyDataset<'a> {
        match self.either() {
            Either::Single(data) => AnyDataset::F32(data.clone()),
            Either::Double(data) => AnyDataset::F64(data.clone()),
        }
    }

    /// A matrix in memory (n × d), of any layout; it is read where it is.
    pub fn dense(rows: ArrayView2<'a, T>) -> Self {
        Self::from_source(Source::Dense(rows))
    }

    /// A sparse matrix in memory; it stays sparse.
    pub fn sparse(rows: &'a Csr<T>) -> Self {
        Self::from_source(Source::Sparse(rows))
    }

    /// Rows that are read in blocks, as often as needed.
    pub fn streamed(rows: &'a dyn Rows<T>) -> Self {
        Self::from_source(Source::Streamed(rows))
    }

    fn from_source(source: Source<'a, T>) -> Self {
        Dataset {
            source,
            names: None,
            weights: None,
            missing: Missing::Error,
            most_missing: missing::MOST_MISSING,
        }
    }

    /// Names the features.
    pub fn with_feature_names<S: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.len() != self.n_features() {
            return Err(Error::Shape {
                what: "the list of feature names",
                found: format!("{} names", names.len()),
                expected: format!("one for each of {} features", self.n_features()),
            });
        }
        self.names = Some(names.into());
        Ok(self)
    }

    /// Weighs the samples; checked when the data are used.
    pub fn with_weights(mut self, weights: SampleWeights) -> Self {
        self.weights = Some(Arc::new(weights));
        self
    }

    /// Says what to do with missing entries.
    pub fn with_missing(mut self, missing: Missing) -> Self {
        self.missing = missing;
        self
    }

    /// The largest share of missing entries that is worked with (default 0.9): data with more are
    /// refused, because hardly anything in them can be known.
    pub fn with_most_missing(mut self, share: f64) -> Self {
        self.most_missing = share;
        self
    }

    /// The number of features, d.
    pub fn n_features(&self) -> usize {
        match &self.source {
            Source::Dense(x) => x.ncols(),
            Source::Sparse(x) => x.n_columns(),
            Source::Streamed(x) => x.n_features(),
        }
    }

    /// The number of samples, n, where it is known before reading.
    pub fn n_samples(&self) -> Option<usize> {
        match &self.source {
            Source::Dense(x) => Some(x.nrows()),
            Source::Sparse(x) => Some(x.n_rows()),
            Source::Streamed(x) => x.n_samples(),
        }
    }

    /// The features' names, where they have any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// The samples' weights, where they have any.
    pub fn weights(&self) -> Option<&SampleWeights> {
        self.weights.as_deref()
    }

    /// What is done with missing entries.
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// The largest share of missing entries that is worked with.
    pub fn most_missing(&self) -> f64 {
        self.most_missing
    }

    /// The same data set, borrowed for as long as this one is.
    pub(crate) fn borrowed(&self) -> Dataset<'_, T> {
        Dataset { weights: self.weights.clone(), ..self.unweighted() }
    }

    /// The same data set without its weights, borrowed for as long as this one is.
    pub(crate) fn unweighted(&self) -> Dataset<'_, T> {
        let source = match &self.source {
            Source::Dense(x) => Source::Dense(x.view()),
            Source::Sparse(x) => Source::Sparse(x),
            Source::Streamed(x) => Source::Streamed(*x),
        };
        Dataset {
            source,
            names: self.names.clone(),
            weights: None,
            missing: self.missing,
            most_missing: self.most_missing,
        }
    }

    pub(crate) fn source(&self) -> &Source<'a, T> {
        &self.source
    }

    /// What is known before the first row is read: what a plan looks at.
    pub fn shape(&self) -> DataShape {
        self.into()
    }

    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.source, Source::Sparse(_))
    }

    /// The first rows, at most so many, of a dense matrix in memory.
    pub fn first_rows(&self, most: usize) -> Option<Array2<f64>> {
        match &self.source {
            Source::Dense(x) => {
                Some(x.slice(s![..x.nrows().min(most), ..]).mapv(|value| value.to_f64()))
            }
            Source::Sparse(_) | Source::Streamed(_) => None,
        }
    }

    /// These rows of a dense matrix in memory, in this order; rows that are not there are left out.
    pub fn dense_rows(&self, rows: &[usize]) -> Option<Array2<f64>> {
        let Source::Dense(x) = &self.source else { return None };
        let rows: Vec<usize> = rows.iter().copied().filter(|row| *row < x.nrows()).collect();
        Some(Array2::from_shape_fn((rows.len(), x.ncols()), |(i, f)| x[[rows[i], f]].to_f64()))
    }

    /// A feature's name, or its number in words.
    pub(crate) fn column_name(&self, column: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(column)) {
            Some(name) => format!("`{name}`"),
            None => format!("{column}"),
        }
    }

    /// The error for a bad entry.
    pub(crate) fn bad_entry(&self, row: usize, column: usize, value: f64) -> Error {
        let name = self.names.as_ref().and_then(|names| names.get(column)).cloned();
        if value.is_nan() {
            Error::MissingValue { row, column, name }
        } else {
            Error::Infinite { row, column, name, value }
        }
    }
}

impl<'a, T: Scalar> From<ArrayView2<'a, T>> for Dataset<'a, T> {
    fn from(rows: ArrayView2<'a, T>) -> Self {
        Dataset::dense(rows)
    }
}

impl<'a, T: Scalar> From<&'a Array2<T>> for Dataset<'a, T> {
    fn from(rows: &'a Array2<T>) -> Self {
        Dataset::dense(rows.view())
    }
}

impl<'a, T: Scalar> From<&Dataset<'a, T>> for Dataset<'a, T> {
    fn from(data: &Dataset<'a, T>) -> Self {
        data.clone()
    }
}

impl<'a, T: Scalar> From<&ArrayView2<'a, T>> for Dataset<'a, T> {
    fn from(rows: &ArrayView2<'a, T>) -> Self {
        Dataset::dense(*rows)
    }
}

impl<'a, T: Scalar> From<&'a Csr<T>> for Dataset<'a, T> {
    fn from(rows: &'a Csr<T>) -> Self {
        Dataset::sparse(rows)
    }
}
