//! Whether components are the leading ones: by all values of a small matrix, else by random probes.

use super::covariance::{Covariance, Passed};
use super::dense::Tridiagonal;
use super::missed::{APPLICATIONS, Left, Probes, rest_of_trace};
use super::{dot, norm};
use crate::error::Result;

/// All values of the covariance, and the largest beside the components.
pub(crate) struct Spectrum {
    pub values: Vec<f64>,
    pub left: f64,
}

/// Where the matrix on either side is small.
pub(crate) fn spectrum(
    passed: &mut Passed,
    components: &[Vec<f64>],
    divisor: f64,
) -> Option<Spectrum> {
    let (matrix, m, vectors) = match (passed.scatter.take(), passed.held.take()) {
        (Some(mut scatter), _) => {
            let d = scatter.len().isqrt();
            mirror(&mut scatter, d);
            (scatter, d, orthonormalized(components.iter().cloned()))
        }
        (None, Some(rows)) => {
            let m = rows.len();
            let gram = (0..m * m).map(|at| dot(&rows[at / m], &rows[at % m])).collect();
            let along = |u: &Vec<f64>| rows.iter().map(|row| dot(row, u)).collect::<Vec<f64>>();
            let scores = components.iter().map(along);
            (gram, m, orthonormalized(scores))
        }
        (None, None) => return None,
    };
    let matrix: Vec<f64> = matrix.into_iter().map(|v| v / divisor).collect();
    let left = Tridiagonal::of(deflated(matrix.clone(), m, &vectors), m);
    let left = left.values().first().copied().unwrap_or(0.0).max(0.0);
    Some(Spectrum { values: Tridiagonal::of(matrix, m).values(), left })
}

fn mirror(a: &mut [f64], m: usize) {
    for i in 0..m {
        for j in 0..i {
            a[j * m + i] = a[i * m + j];
        }
    }
}

/// Rows made orthonormal one after the other; those that vanish are left out.
pub(crate) fn orthonormalized(rows: impl Iterator<Item = Vec<f64>>) -> Vec<Vec<f64>> {
    let mut done: Vec<Vec<f64>> = Vec::new();
    for mut row in rows {
        let size = norm(&row);
        for _ in 0..2 {
            for known in &done {
                let inside = dot(known, &row);
                row.iter_mut().zip(known).for_each(|(x, u)| *x -= inside * u);
            }
        }
        let left = norm(&row);
        if left > 1e-8 * size {
            row.iter_mut().for_each(|x| *x /= left);
            done.push(row);
        }
    }
    done
}

/// `(I − u uᵀ) A (I − u uᵀ)` for each of orthonormal vectors u.
pub(crate) fn deflated(mut a: Vec<f64>, m: usize, vectors: &[Vec<f64>]) -> Vec<f64> {
    for u in vectors {
        let p: Vec<f64> = a.chunks_exact(m.max(1)).map(|row| dot(row, u)).collect();
        let along = dot(&p, u);
        for (i, row) in a.chunks_exact_mut(m.max(1)).enumerate() {
            for (j, x) in row.iter_mut().enumerate() {
                *x += along * u[i] * u[j] - (u[i] * p[j] + p[i] * u[j]);
            }
        }
    }
    a
}

/// Looks for what lies beside the components with random probes.
pub(crate) fn look_beside(
    covariance: &Covariance,
    mut probes: Probes,
    found: &[Vec<f64>],
    values: &[f64],
    total: f64,
) -> Result<Left> {
    let last = found.len().checked_sub(1).map_or(0.0, |j| values[j]);
    let rest = rest_of_trace(total, values).max(0.0);
    // Where the trace has no room for anything larger, one more look is enough.
    let applications = if rest < last { 1 } else { APPLICATIONS };
    for _ in 1..applications {
        let products = covariance.apply(probes.vectors())?;
        probes.applied(products, found);
    }
    let left = probes.conclude(&covariance.apply(probes.vectors())?);
    let at_most = if rest < last { rest.max(left.at_least) } else { left.at_most };
    Ok(Left { at_most, ..left })
}

/// Largest |UᵀU − I| of rows.
pub(crate) fn orthogonality(rows: &[Vec<f64>]) -> f64 {
    let mut worst = 0.0f64;
    for (i, a) in rows.iter().enumerate() {
        for b in &rows[..i] {
            worst = worst.max(dot(a, b).abs());
        }
        worst = worst.max((dot(a, a) - 1.0).abs());
    }
    worst
}
