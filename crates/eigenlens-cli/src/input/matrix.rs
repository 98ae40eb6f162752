//! Matrix Market files: sparse matrices with names, held in memory.

use crate::arguments::{Reading, Side};
use crate::failure::Failure;
use eigenlens::Csr;
use eigenlens_io::matrix_market::{self, MatrixMarket, MatrixMarketOptions, Orientation};
use eigenlens_io::{AnyArray, Labels, Note};
use std::path::PathBuf;

/// A matrix with names.
pub struct Matrix {
    pub rows: Rows,
    pub feature_names: Vec<String>,
    /// Names of the samples, where there are any.
    pub names: Option<Labels>,
    pub notes: Vec<Note>,
}

/// The entries (samples × features).
pub enum Rows {
    Dense(AnyArray),
    Sparse(Csr<f64>),
}

impl Matrix {
    /// With `features`, those of a model, found by name.
    pub fn read(
        paths: &[PathBuf],
        reading: &Reading,
        memory: Option<u64>,
        features: Option<&[String]>,
    ) -> Result<Matrix, Failure> {
        let [path] = paths else {
            return Err(Failure::usage(
                "several Matrix Market files are not one table",
                "give one file",
            ));
        };
        let options = MatrixMarketOptions {
            orientation: match reading.samples {
                None => Orientation::Auto,
                Some(Side::Rows) => Orientation::AsStored,
                Some(Side::Columns) => Orientation::Transposed,
            },
            row_names: reading.row_names.clone(),
            column_names: reading.column_names.clone(),
            memory,
        };
        let mut read = matrix_market::read(path, &options)?;
        if let Some(features) = features {
            read = read.select_named(features, path)?;
        }
        let (rows, names, feature_names, notes) = match read {
            MatrixMarket::Sparse(t) => {
                (Rows::Sparse(t.matrix), t.row_names, t.column_names, t.notes)
            }
            MatrixMarket::Dense(t) => {
                (Rows::Dense(AnyArray::F64(t.matrix)), t.row_names, t.column_names, t.notes)
            }
        };
        let names = names.map(|names| {
            let mut labels = Labels::default();
            names.iter().for_each(|name| labels.push(name));
            labels
        });
        Ok(Matrix { rows, feature_names, names, notes })
    }

    pub fn n_rows(&self) -> usize {
        match &self.rows {
            Rows::Dense(x) => x.dim().0,
            Rows::Sparse(x) => x.n_rows(),
        }
    }

    /// Bytes held in memory.
    pub fn bytes(&self) -> u64 {
        match &self.rows {
            Rows::Dense(AnyArray::F32(x)) => 4 * x.len() as u64,
            Rows::Dense(AnyArray::F64(x)) => 8 * x.len() as u64,
            Rows::Sparse(x) => 12 * x.n_stored() as u64 + 8 * x.n_rows() as u64,
        }
    }
}
