//! What is done to data before a model sees them, as in training: counts of terms are made sparse and
//! weighted, holes are filled.

use crate::input::{Opened, Piece};
use crate::methods::transform;
use crate::missing::Whole;
use eigenlens::AnyDataset;
use eigenlens::{Csr, Dataset, Scalar};
use eigenlens_io::{AnyArray, StoredModel};
use ndarray::Array2;
use std::borrow::Cow;

/// The entries that are not 0.
pub fn sparse(numbers: &AnyArray) -> eigenlens::Result<Csr<f64>> {
    match numbers {
        AnyArray::F32(x) => sparse_of(x),
        AnyArray::F64(x) => sparse_of(x),
    }
}

fn sparse_of<T: Scalar>(x: &Array2<T>) -> eigenlens::Result<Csr<f64>> {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in x.rows() {
        for (column, value) in row.iter().map(|v| v.to_f64()).enumerate() {
            if value != 0.0 {
                columns.push(column as u32);
                values.push(value);
            }
        }
        starts.push(values.len());
    }
    Csr::new(x.nrows(), x.ncols(), starts, columns, values)
}

/// The scores of data under a model, holes filled as in training.
pub fn filled_scores(
    stored: &StoredModel,
    data: &AnyDataset,
    opened: &Opened,
) -> eigenlens::Result<AnyArray> {
    match opened.fill(stored) {
        None => transform(&*stored.model, data),
        Some(fill) => transform(&*stored.model, &Whole::filled(data, fill)?.data()),
    }
}

/// The scores of rows under a model, their counts weighted or their holes filled as in training.
pub fn scores(stored: &StoredModel, rows: Piece, opened: &Opened) -> eigenlens::Result<AnyArray> {
    let Some(weights) = &stored.term_weights else {
        return filled_scores(stored, &opened.with_policy(rows.data()), opened);
    };
    let counts = match rows {
        Piece::Dense(x) => Cow::Owned(sparse(x)?),
        Piece::Sparse(x) => Cow::Borrowed(x),
    };
    let weighted = weights.apply(&counts)?;
    stored.model.transform_f64(&Dataset::sparse(&weighted)).map(AnyArray::F64)
}
