//! Matrix Market files: sparse matrices with names, held in memory.

use crate::arguments::{Reading, Side};
use crate::failure::Failure;
use eigenlens::Csr;
use eigenlens_io::matrix_market::{self, MatrixMarket, MatrixMarketOptions, Orientation};
use eigenlens_io::{AnyArray, Labels, Note};
use ndarray::Axis;
use std::io::Read;
use std::path::{Path, PathBuf};

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

/// Whether a file is in the Matrix Market format, by its name or its first bytes.
pub fn is_matrix_market(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    if name.is_some_and(|name| name.ends_with(".mtx") || name.ends_with(".mtx.gz")) {
        return true;
    }
    let mut head = Vec::new();
    // Only a regular file can be looked at twice.
    path.is_file()
        && std::fs::File::open(path).is_ok_and(|f| f.take(14).read_to_end(&mut head).is_ok())
        && head.eq_ignore_ascii_case(b"%%MatrixMarket")
}

impl Matrix {
    pub fn read(
        paths: &[PathBuf],
        reading: &Reading,
        memory: Option<u64>,
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
        let (rows, names, feature_names, notes) = match matrix_market::read(path, &options)? {
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

    /// The same samples with these features, in this order.
    pub fn with_features(self, wanted: &[String], file: &Path) -> Result<Matrix, Failure> {
        if self.feature_names == wanted {
            return Ok(self);
        }
        let at: std::collections::HashMap<&str, usize> =
            self.feature_names.iter().enumerate().map(|(f, name)| (name.as_str(), f)).collect();
        let mut columns = Vec::with_capacity(wanted.len());
        for name in wanted {
            let Some(&column) = at.get(name.as_str()) else {
                return Err(Failure::Data {
                    what: format!("{}: there is no feature `{name}`", file.display()),
                    hint: None,
                });
            };
            columns.push(column);
        }
        let rows = match &self.rows {
            Rows::Dense(AnyArray::F64(x)) => {
                Rows::Dense(AnyArray::F64(x.select(Axis(1), &columns)))
            }
            Rows::Dense(AnyArray::F32(x)) => {
                Rows::Dense(AnyArray::F32(x.select(Axis(1), &columns)))
            }
            Rows::Sparse(x) => Rows::Sparse(reordered(x, &columns)?),
        };
        Ok(Matrix { rows, feature_names: wanted.to_vec(), ..self })
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

/// The columns of a sparse matrix, chosen and reordered.
fn reordered(x: &Csr<f64>, columns: &[usize]) -> eigenlens::Result<Csr<f64>> {
    let mut to = vec![u32::MAX; x.n_columns()];
    for (new, &old) in columns.iter().enumerate() {
        to[old] = new as u32;
    }
    let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..x.n_rows() {
        let (old, numbers) = x.row(row);
        let mut kept: Vec<(u32, f64)> = (old.iter().zip(numbers))
            .map(|(&column, &value)| (to[column as usize], value))
            .filter(|(column, _)| *column != u32::MAX)
            .collect();
        kept.sort_by_key(|(column, _)| *column);
        places.extend(kept.iter().map(|(column, _)| *column));
        values.extend(kept.iter().map(|(_, value)| *value));
        starts.push(values.len());
    }
    Csr::new(x.n_rows(), columns.len(), starts, places, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_reordered_and_left_out() {
        let x = Csr::new(2, 3, vec![0, 2, 4], vec![0, 2, 1, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let y = reordered(&x, &[2, 0]).unwrap();
        assert_eq!((y.n_rows(), y.n_columns()), (2, 2));
        assert_eq!(y.row(0), (&[0u32, 1][..], &[2.0, 1.0][..]));
        assert_eq!(y.row(1), (&[0u32][..], &[4.0][..]));
    }
}
