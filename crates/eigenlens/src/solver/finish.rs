//! Order and sign: the only place that sorts eigenvalues or fixes signs.

use super::{Convergence, Eigenpairs};
use crate::linalg::transpose::columns_as_rows;
use ndarray::{Array2, ArrayView1, Axis, s};
use rayon::prelude::*;

/// Keeps the `k` largest pairs and their residuals, largest first, signed.
pub(crate) fn largest_pairs(
    values: &[f64],
    vectors: &Array2<f64>,
    k: usize,
    convergence: Convergence,
) -> Eigenpairs {
    let mut order = descending(values);
    order.truncate(k);
    pairs(values, vectors, &order, convergence)
}

/// Keeps the `k` smallest pairs and their residuals, smallest first, signed.
pub(crate) fn smallest_pairs(
    values: &[f64],
    vectors: &Array2<f64>,
    k: usize,
    convergence: Convergence,
) -> Eigenpairs {
    let mut order = descending(values);
    order.reverse();
    order.truncate(k);
    pairs(values, vectors, &order, convergence)
}

fn pairs(
    values: &[f64],
    vectors: &Array2<f64>,
    order: &[usize],
    mut convergence: Convergence,
) -> Eigenpairs {
    convergence.residuals = order.iter().map(|&from| convergence.residuals[from]).collect();
    let (values, components) = signed(values, vectors, order, f64_tie());
    let vectors = components.reversed_axes().as_standard_layout().into_owned();
    Eigenpairs { values, vectors, convergence }
}

/// The `k` largest values, and their vectors (columns of `vectors`, d × m) as rows (k × d), signed.
pub(crate) fn largest_first(
    values: &[f64],
    vectors: &Array2<f64>,
    k: usize,
    tie: f64,
) -> (Vec<f64>, Array2<f64>) {
    let mut order = descending(values);
    order.truncate(k);
    signed(values, vectors, &order, tie)
}

/// The values and vectors (columns) at these positions, the vectors as signed rows.
fn signed(
    values: &[f64],
    vectors: &Array2<f64>,
    order: &[usize],
    tie: f64,
) -> (Vec<f64>, Array2<f64>) {
    let mut components = columns_as_rows(vectors.view(), order);
    components.axis_iter_mut(Axis(0)).into_par_iter().for_each(|mut row| {
        let sign = sign_of(row.view(), tie);
        row *= sign;
    });
    (order.iter().map(|&from| values[from]).collect(), components)
}

/// Positions of the values from the largest to the smallest; equal ones keep their order.
pub(crate) fn descending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    order
}

/// +1 or −1, such that the entry of largest modulus becomes positive. Of entries that tie within
/// `tie` the first decides, so that the sign does not hang on the last bit.
pub(crate) fn sign_of(vector: ArrayView1<f64>, tie: f64) -> f64 {
    let largest = vector.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let decides = vector.iter().find(|v| v.abs() >= (1.0 - tie) * largest);
    if decides.is_some_and(|v| *v < 0.0) { -1.0 } else { 1.0 }
}

/// Replaces the rows `from..` of `components` (k × d) by unit vectors made orthogonal to the rest:
/// the deterministic completion of a basis where the data give no direction.
pub(crate) fn complete(components: &mut Array2<f64>, from: usize, tie: f64) {
    let (k, d) = components.dim();
    // The part of every unit vector that the rows so far leave free.
    let mut free: Vec<f64> = (0..d)
        .map(|f| 1.0 - components.slice(s![..from, f]).iter().map(|v| v * v).sum::<f64>())
        .collect();
    let mut next = 0;
    for j in from..k {
        // The first unit vector with a fair share outside the span: some has at least (d − j)/d.
        let enough = 0.5 * (d - j) as f64 / d as f64;
        while free[next % d] < enough && next < 2 * d {
            next += 1;
        }
        let mut row = ndarray::Array1::<f64>::zeros(d);
        row[next % d] = 1.0;
        next += 1;
        for _ in 0..2 {
            for i in 0..j {
                let known = components.row(i);
                let inside = known.dot(&row);
                row.scaled_add(-inside, &known);
            }
        }
        let norm = row.dot(&row).sqrt();
        row /= norm;
        row *= sign_of(row.view(), tie);
        for (f, v) in free.iter_mut().zip(&row) {
            *f -= v * v;
        }
        components.row_mut(j).assign(&row);
    }
}

pub(crate) const fn f64_tie() -> f64 {
    1e-6
}
