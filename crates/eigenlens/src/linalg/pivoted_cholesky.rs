//! `K ≈ LLᵀ` from a few columns of a positive semi-definite matrix, the largest rest first.

use ndarray::Array2;
use rayon::prelude::*;

/// A thin factor of a symmetric matrix.
pub(crate) struct PivotedCholesky {
    /// n × ℓ.
    pub factor: Array2<f64>,
    /// tr K.
    pub trace: f64,
    /// tr(K − LLᵀ), exactly what is left out.
    pub left: f64,
    /// The most negative entry that the diagonal of the rest had, 0 for a semi-definite matrix.
    pub negative: f64,
}

/// Rows updated as one piece.
const PIECE: usize = 4096;

/// Greedy pivoting (Harbrecht, Peters & Schneider 2012) until at most `tolerance` of the trace is
/// left, or `most` columns are taken. `column(p, out)` writes column p of K.
pub(crate) fn pivoted_cholesky(
    diagonal: Vec<f64>,
    column: impl Fn(usize, &mut [f64]),
    tolerance: f64,
    most: usize,
) -> PivotedCholesky {
    let n = diagonal.len();
    let trace: f64 = diagonal.iter().sum();
    let size = diagonal.iter().fold(0.0f64, |m, v| m.max(*v));
    let mut rest = diagonal;
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut negative = rest.iter().fold(0.0f64, |m, v| m.min(*v));
    let left = |rest: &[f64]| rest.iter().map(|v| v.max(0.0)).sum::<f64>();
    while columns.len() < most.min(n) && left(&rest) > tolerance * trace {
        // The first of the largest, so that the choice does not hang on the last place searched.
        let pivot = (0..n).fold(0, |best, i| if rest[i] > rest[best] { i } else { best });
        let largest = rest[pivot];
        // Below this the rest is rounding.
        if largest <= 4.0 * f64::EPSILON * size {
            break;
        }
        let mut new = vec![0.0; n];
        column(pivot, &mut new);
        let root = largest.sqrt();
        new.par_chunks_mut(PIECE).zip(rest.par_chunks_mut(PIECE)).enumerate().for_each(
            |(piece, (new, rest))| {
                let from = piece * PIECE;
                for known in &columns {
                    let factor = known[pivot];
                    for (v, k) in new.iter_mut().zip(&known[from..]) {
                        *v -= factor * k;
                    }
                }
                for (v, r) in new.iter_mut().zip(rest) {
                    *v /= root;
                    *r -= *v * *v;
                }
            },
        );
        rest[pivot] = 0.0;
        negative = rest.iter().fold(negative, |m, v| m.min(*v));
        columns.push(new);
    }
    let mut factor = Array2::zeros((n, columns.len()));
    for (mut to, from) in factor.columns_mut().into_iter().zip(&columns) {
        to.iter_mut().zip(from).for_each(|(t, f)| *t = *f);
    }
    PivotedCholesky { factor, trace, left: left(&rest), negative }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_is_exact_up_to_what_it_says_is_left() {
        let y: Vec<f64> = (0..60).map(|i| ((i * i) % 37) as f64 / 10.0).collect();
        let kernel = |i: usize, j: usize| (-(y[i] - y[j]).powi(2)).exp();
        let column = |p: usize, out: &mut [f64]| {
            out.iter_mut().enumerate().for_each(|(i, o)| *o = kernel(i, p));
        };
        for (tolerance, most) in [(1e-10, 60), (0.0, 5), (0.2, 60)] {
            let thin = pivoted_cholesky(vec![1.0; 60], column, tolerance, most);
            let rest: f64 =
                (0..60).map(|i| 1.0 - thin.factor.row(i).dot(&thin.factor.row(i))).sum();
            assert!((thin.left - rest).abs() < 1e-12 && thin.trace == 60.0);
            let worst = (0..3600)
                .map(|e| (e / 60, e % 60))
                .map(|(i, j)| (kernel(i, j) - thin.factor.row(i).dot(&thin.factor.row(j))).abs())
                .fold(0.0f64, f64::max);
            assert!(worst <= thin.left + 1e-12, "{worst} {}", thin.left);
            assert!(thin.left <= tolerance * 60.0 || thin.factor.ncols() == most);
        }
    }
}
