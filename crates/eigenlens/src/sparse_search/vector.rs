//! A vector that is mostly zeros.

use ndarray::{Array1, ArrayView1};

/// The non-zero entries of a vector, by rising position.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SparseVector {
    pub support: Vec<usize>,
    pub values: Vec<f64>,
}

impl SparseVector {
    /// Entries at positions; those that are 0 are left out.
    pub fn new(support: &[usize], values: &[f64]) -> SparseVector {
        let mut entries: Vec<(usize, f64)> =
            support.iter().copied().zip(values.iter().copied()).filter(|e| e.1 != 0.0).collect();
        entries.sort_unstable_by_key(|e| e.0);
        let (support, values) = entries.into_iter().unzip();
        SparseVector { support, values }
    }

    /// An eigenvector on some features: entries that are rounding are 0.
    pub fn of_eigenvector(support: &[usize], vector: ArrayView1<f64>) -> SparseVector {
        let largest = vector.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let clean = |v: &f64| if v.abs() > 1e-13 * largest { *v } else { 0.0 };
        SparseVector::new(support, &vector.iter().map(clean).collect::<Vec<_>>())
    }

    /// The `count` entries of largest modulus (of positive ones only where `non_negative`), of unit
    /// length; of equal ones the first.
    pub fn truncated(dense: ArrayView1<f64>, count: usize, non_negative: bool) -> SparseVector {
        let size = |v: f64| if non_negative { v.max(0.0) } else { v.abs() };
        let mut order: Vec<usize> = (0..dense.len()).filter(|&f| size(dense[f]) > 0.0).collect();
        if order.len() > count {
            order.select_nth_unstable_by(count, |&a, &b| {
                size(dense[b]).total_cmp(&size(dense[a])).then(a.cmp(&b))
            });
            order.truncate(count);
        }
        let values: Vec<f64> = order.iter().map(|&f| dense[f]).collect();
        SparseVector::new(&order, &values).normalized()
    }

    /// The same direction with unit length; 0 stays 0.
    pub fn normalized(mut self) -> SparseVector {
        let largest = self.values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if largest > 0.0 {
            self.values.iter_mut().for_each(|v| *v /= largest);
            let norm = self.values.iter().map(|v| v * v).sum::<f64>().sqrt();
            self.values.iter_mut().for_each(|v| *v /= norm);
        }
        self
    }

    pub fn is_zero(&self) -> bool {
        self.support.is_empty()
    }

    pub fn dense(&self, d: usize) -> Array1<f64> {
        let mut dense = Array1::zeros(d);
        for (&f, &v) in self.support.iter().zip(&self.values) {
            dense[f] = v;
        }
        dense
    }

    /// The inner product with a dense vector.
    pub fn dot(&self, dense: ArrayView1<f64>) -> f64 {
        self.support.iter().zip(&self.values).map(|(&f, v)| v * dense[f]).sum()
    }
}
