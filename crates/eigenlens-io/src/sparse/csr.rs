//! Compressed rows of either element type.

use eigenlens::{AnyDataset, Csr, Dataset, Result, Scalar};
use ndarray::Array2;
use std::ops::Range;
use std::sync::Arc;

/// A sparse matrix (samples × features) of either element type, shared rather than copied.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyCsr {
    /// Single precision.
    F32(Arc<Csr<f32>>),
    /// Double precision.
    F64(Arc<Csr<f64>>),
}

/// Runs the same expression for either element type.
macro_rules! each {
    ($csr:expr, $x:ident => $work:expr) => {
        match $csr {
            $crate::sparse::AnyCsr::F32($x) => $work,
            $crate::sparse::AnyCsr::F64($x) => $work,
        }
    };
}
pub(crate) use each;

impl AnyCsr {
    /// The shape: rows, columns.
    pub fn dim(&self) -> (usize, usize) {
        each!(self, x => (x.n_rows(), x.n_columns()))
    }

    /// The number of stored entries.
    pub fn n_stored(&self) -> usize {
        each!(self, x => x.n_stored())
    }

    /// Bytes it takes in memory.
    pub fn n_bytes(&self) -> u64 {
        bytes_of(self.dim().0, self.n_stored(), matches!(self, AnyCsr::F32(_)))
    }

    /// As the library takes it.
    pub fn data(&self) -> AnyDataset<'_> {
        match self {
            AnyCsr::F32(x) => AnyDataset::F32(Dataset::sparse(x)),
            AnyCsr::F64(x) => AnyDataset::F64(Dataset::sparse(x)),
        }
    }

    /// Matrices with the same columns, one below the other: single precision where all are.
    pub(crate) fn stacked(parts: &[AnyCsr]) -> Result<AnyCsr> {
        let single: Option<Vec<_>> = parts
            .iter()
            .map(|part| match part {
                AnyCsr::F32(x) => Some(x.clone()),
                AnyCsr::F64(_) => None,
            })
            .collect();
        Ok(match single {
            Some(parts) => AnyCsr::F32(Arc::new(stacked(&parts)?)),
            None => {
                let wide = parts.iter().map(|part| match part {
                    AnyCsr::F32(x) => widened(x).map(Arc::new),
                    AnyCsr::F64(x) => Ok(x.clone()),
                });
                let parts = wide.collect::<Result<Vec<_>>>()?;
                AnyCsr::F64(Arc::new(stacked(&parts)?))
            }
        })
    }
}

/// Bytes that so many entries in so many rows take.
pub(crate) fn bytes_of(n_rows: usize, n_stored: usize, is_f32: bool) -> u64 {
    let each = if is_f32 { 8 } else { 12 };
    each * n_stored as u64 + 8 * n_rows as u64
}

/// Columns of a matrix, chosen and reordered.
pub(crate) fn chosen<T: Scalar>(x: &Csr<T>, columns: &[usize]) -> Result<Csr<T>> {
    let to = slots(columns, x.n_columns());
    let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut kept: Vec<(u32, T)> = Vec::new();
    for row in 0..x.n_rows() {
        let (old, numbers) = x.row(row);
        let moved = old.iter().zip(numbers).map(|(&column, &value)| (to[column as usize], value));
        kept.clear();
        kept.extend(moved.filter(|(column, _)| *column != NOWHERE));
        kept.sort_by_key(|(column, _)| *column);
        places.extend(kept.iter().map(|(column, _)| *column));
        values.extend(kept.iter().map(|(_, value)| *value));
        starts.push(values.len());
    }
    Csr::new(x.n_rows(), columns.len(), starts, places, values)
}

/// Columns and rows exchanged; entries of a row come in the order of its columns.
pub(crate) fn transposed<T: Scalar>(x: &Csr<T>) -> Result<Csr<T>> {
    let mut starts = vec![0; x.n_columns() + 1];
    let rows = || (0..x.n_rows()).map(|row| (row, x.row(row)));
    rows().flat_map(|(_, (columns, _))| columns).for_each(|&c| starts[c as usize + 1] += 1);
    for row in 0..x.n_columns() {
        starts[row + 1] += starts[row];
    }
    let mut next = starts.clone();
    let (mut places, mut values) = (vec![0; x.n_stored()], vec![T::default(); x.n_stored()]);
    for (row, (columns, numbers)) in rows() {
        for (&column, &value) in columns.iter().zip(numbers) {
            let at = &mut next[column as usize];
            (places[*at], values[*at]) = (row as u32, value);
            *at += 1;
        }
    }
    Csr::new(x.n_columns(), x.n_rows(), starts, places, values)
}

/// Some rows, dense, each column in the slot that is said; entries stored twice count with their sum.
pub(crate) fn dense<T: Scalar>(
    x: &Csr<T>,
    rows: Range<usize>,
    slots: &[u32],
    n_slots: usize,
) -> Array2<T> {
    let mut out = Array2::default((rows.len(), n_slots));
    for (mut out, row) in out.rows_mut().into_iter().zip(rows) {
        let (columns, values) = x.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            if let Some(cell) = out.get_mut(slots[column as usize] as usize) {
                *cell = *cell + value;
            }
        }
    }
    out
}

/// For each column the place it has among those wanted, or [`NOWHERE`].
pub(crate) fn slots(columns: &[usize], n_columns: usize) -> Vec<u32> {
    let mut slots = vec![NOWHERE; n_columns];
    for (slot, &column) in columns.iter().enumerate() {
        slots[column] = slot as u32;
    }
    slots
}

const NOWHERE: u32 = u32::MAX;

fn widened(x: &Csr<f32>) -> Result<Csr<f64>> {
    let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..x.n_rows() {
        let (columns, numbers) = x.row(row);
        places.extend_from_slice(columns);
        values.extend(numbers.iter().map(|&value| f64::from(value)));
        starts.push(values.len());
    }
    Csr::new(x.n_rows(), x.n_columns(), starts, places, values)
}

fn stacked<T: Scalar>(parts: &[Arc<Csr<T>>]) -> Result<Csr<T>> {
    let n_stored = parts.iter().map(|part| part.n_stored()).sum();
    let (mut places, mut values) = (Vec::with_capacity(n_stored), Vec::with_capacity(n_stored));
    let mut starts = vec![0];
    for part in parts {
        for row in 0..part.n_rows() {
            let (columns, numbers) = part.row(row);
            places.extend_from_slice(columns);
            values.extend_from_slice(numbers);
            starts.push(values.len());
        }
    }
    let n_columns = parts.first().map_or(0, |part| part.n_columns());
    Csr::new(starts.len() - 1, n_columns, starts, places, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn example() -> Csr<f64> {
        Csr::new(2, 3, vec![0, 2, 4], vec![0, 2, 1, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap()
    }

    #[test]
    fn columns_are_reordered_and_left_out() {
        let y = chosen(&example(), &[2, 0]).unwrap();
        assert_eq!((y.n_rows(), y.n_columns()), (2, 2));
        assert_eq!(y.row(0), (&[0u32, 1][..], &[2.0, 1.0][..]));
        assert_eq!(y.row(1), (&[0u32][..], &[4.0][..]));
    }

    #[test]
    fn rows_and_columns_change_places() {
        let x = example();
        let all = |x: &Csr<f64>| {
            let slots = slots(&(0..x.n_columns()).collect::<Vec<_>>(), x.n_columns());
            dense(x, 0..x.n_rows(), &slots, x.n_columns())
        };
        assert_eq!(all(&x), array![[1.0, 0.0, 2.0], [0.0, 3.0, 4.0]]);
        assert_eq!(all(&transposed(&x).unwrap()), all(&x).t());
    }

    #[test]
    fn matrices_are_stacked_in_the_wider_type() {
        let single = Csr::new(1, 3, vec![0, 1], vec![1], vec![0.5f32]).unwrap();
        let parts = [AnyCsr::F32(Arc::new(single)), AnyCsr::F64(Arc::new(example()))];
        let AnyCsr::F64(both) = AnyCsr::stacked(&parts).unwrap() else { panic!("one is double") };
        assert_eq!((both.n_rows(), both.n_stored()), (3, 5));
        assert_eq!(both.row(0), (&[1u32][..], &[0.5][..]));
        assert_eq!(both.row(2), (&[1u32, 2][..], &[3.0, 4.0][..]));
        assert!(matches!(AnyCsr::stacked(&parts[..1]).unwrap(), AnyCsr::F32(_)));
    }
}
