//! Data of either element type: the one place where it is told at run time.

use super::{DataShape, Dataset, Missing, MissingCounts};
use crate::error::Result;
use crate::scalar::{Scalar, Typed, typed};
use ndarray::Array2;

/// A data set of either element type.
#[derive(Clone)]
pub enum AnyDataset<'a> {
    /// Single precision.
    F32(Dataset<'a, f32>),
    /// Double precision.
    F64(Dataset<'a, f64>),
}

/// Numbers (rows × columns) of either element type.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyArray {
    /// Single precision.
    F32(Array2<f32>),
    /// Double precision.
    F64(Array2<f64>),
}

/// Runs the same expression for either element type of an [`AnyDataset`]:
/// `dispatch!(data, d => d.n_features())`.
#[macro_export]
macro_rules! dispatch {
    ($data:expr, $d:ident => $work:expr) => {
        match $data {
            $crate::AnyDataset::F32($d) => $work,
            $crate::AnyDataset::F64($d) => $work,
        }
    };
}

impl<'a> AnyDataset<'a> {
    /// What is known before the first row is read.
    pub fn shape(&self) -> DataShape {
        dispatch!(self, d => d.shape())
    }

    /// The number of features, d.
    pub fn n_features(&self) -> usize {
        dispatch!(self, d => d.n_features())
    }

    /// The number of samples, n, where it is known before reading.
    pub fn n_samples(&self) -> Option<usize> {
        dispatch!(self, d => d.n_samples())
    }

    /// What is done with missing entries.
    pub fn missing(&self) -> Missing {
        dispatch!(self, d => d.missing())
    }

    /// Where entries are missing, in one pass.
    pub fn missing_counts(&self) -> Result<MissingCounts> {
        dispatch!(self, d => d.missing_counts())
    }

    /// The same data, borrowed for as long as these are.
    pub(crate) fn borrowed(&self) -> AnyDataset<'_> {
        match self {
            AnyDataset::F32(d) => AnyDataset::F32(d.borrowed()),
            AnyDataset::F64(d) => AnyDataset::F64(d.borrowed()),
        }
    }

    /// The same data with a policy for missing entries.
    pub fn with_missing(self, missing: Missing) -> AnyDataset<'a> {
        match self {
            AnyDataset::F32(d) => AnyDataset::F32(d.with_missing(missing)),
            AnyDataset::F64(d) => AnyDataset::F64(d.with_missing(missing)),
        }
    }

    /// The same data with the largest share of missing entries that is worked with.
    pub fn with_most_missing(self, share: f64) -> AnyDataset<'a> {
        match self {
            AnyDataset::F32(d) => AnyDataset::F32(d.with_most_missing(share)),
            AnyDataset::F64(d) => AnyDataset::F64(d.with_most_missing(share)),
        }
    }
}

impl<'a> From<Dataset<'a, f32>> for AnyDataset<'a> {
    fn from(data: Dataset<'a, f32>) -> AnyDataset<'a> {
        AnyDataset::F32(data)
    }
}

impl<'a> From<Dataset<'a, f64>> for AnyDataset<'a> {
    fn from(data: Dataset<'a, f64>) -> AnyDataset<'a> {
        AnyDataset::F64(data)
    }
}

impl AnyArray {
    /// The shape: rows, columns.
    pub fn dim(&self) -> (usize, usize) {
        match self {
            AnyArray::F32(x) => x.dim(),
            AnyArray::F64(x) => x.dim(),
        }
    }
}

typed!(Matrix, T => Array2<T>);

impl Typed for AnyArray {
    type Of<T: Scalar> = AnyArray;
}

impl<T: Scalar> From<Array2<T>> for AnyArray {
    fn from(numbers: Array2<T>) -> AnyArray {
        T::choose::<Matrix, AnyArray>(numbers, AnyArray::F32, AnyArray::F64)
    }
}
