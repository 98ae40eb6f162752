//! Centring in feature space, without visiting it.

use crate::error::{Error, Result};
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// `H K H` of a kernel matrix (n × n), its column means (n) and its mean.
pub fn center_kernel(kernel: ArrayView2<f64>) -> (Array2<f64>, Array1<f64>, f64) {
    let columns = kernel.mean_axis(Axis(0)).unwrap_or_default();
    let rows = kernel.mean_axis(Axis(1)).unwrap_or_default();
    let mean = columns.mean().unwrap_or(0.0);
    let mut centered = kernel.to_owned();
    for ((i, j), v) in centered.indexed_iter_mut() {
        *v += (mean - rows[i]) - columns[j];
    }
    (centered, columns, mean)
}

/// The kernel of new samples with training samples (m × n), centred by the **training** kernel's
/// column means (n) and mean: `K_t − 1 colmean(K)ᵀ − rowmean(K_t) 1ᵀ + mean(K)`.
pub fn center_new_kernel(
    kernel: ArrayView2<f64>,
    column_means: &[f64],
    mean: f64,
) -> Result<Array2<f64>> {
    if kernel.ncols() != column_means.len() {
        return Err(Error::Shape {
            what: "the kernel of new samples",
            found: format!("{} columns", kernel.ncols()),
            expected: format!("{}, one for each training sample,", column_means.len()),
        });
    }
    let rows = kernel.mean_axis(Axis(1)).unwrap_or_default();
    let mut centered = kernel.to_owned();
    for ((i, j), v) in centered.indexed_iter_mut() {
        *v += (mean - rows[i]) - column_means[j];
    }
    Ok(centered)
}
