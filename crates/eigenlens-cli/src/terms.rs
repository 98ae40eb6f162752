//! Counts of terms: made sparse and weighted before a model sees them.

use crate::methods::{AnyData, each_matrix};
use eigenlens::{Csr, Dataset, Scalar, TermWeights};
use eigenlens_io::{Numbers, StoredModel};
use ndarray::Array2;

/// The entries that are not 0.
pub fn sparse(numbers: &Numbers) -> eigenlens::Result<Csr<f64>> {
    match numbers {
        Numbers::F32(x) => sparse_of(x),
        Numbers::F64(x) => sparse_of(x),
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

/// The scores of rows under a model, their counts weighted as in training.
pub fn scores(stored: &StoredModel, numbers: &Numbers) -> eigenlens::Result<Numbers> {
    if let Some(weights) = &stored.term_weights {
        let counts = sparse(numbers)?;
        return weighted_scores(stored, weights, &counts);
    }
    let data = match numbers {
        Numbers::F32(x) => AnyData::F32(Dataset::from(x)),
        Numbers::F64(x) => AnyData::F64(Dataset::from(x)),
    };
    each_matrix!(&data, d => stored.model.transform(d))
}

fn weighted_scores(
    stored: &StoredModel,
    weights: &TermWeights,
    counts: &Csr<f64>,
) -> eigenlens::Result<Numbers> {
    let weighted = weights.apply(counts)?;
    stored.model.transform(&Dataset::sparse(&weighted)).map(Numbers::F64)
}
