//! Swaps of one feature for another, while they help.

use super::gram::principal;
use super::truncated_power::{Found, SupportSearch, leading};
use super::vector::SparseVector;
use crate::error::Result;
use ndarray::{ArrayView1, ArrayView2};

/// Features of smallest weight that may leave, and the candidates for each that may enter.
const LEAVE: usize = 4;
const ENTER: usize = 6;

/// Swaps that are tried at cardinalities up to this; beyond it an eigenproblem for each is dear.
const LARGEST: usize = 32;

/// Swaps, and additions while there is room, until none of the promising ones raises the variance.
pub(super) fn swaps(
    matrix: ArrayView2<f64>,
    options: &SupportSearch,
    best: &mut Found,
) -> Result<()> {
    let d = matrix.nrows();
    let c = options.cardinality;
    if c > LARGEST || c >= d {
        return Ok(());
    }
    for _ in 0..4 * c {
        let support = best.vector.support.clone();
        let mut by_weight: Vec<usize> = (0..support.len()).collect();
        let weight = |j: usize| best.vector.values[j].abs();
        by_weight.sort_by(|&a, &b| weight(a).total_cmp(&weight(b)));
        // Room left (where entries were cut to 0): nothing has to leave.
        let leaving: Vec<Option<usize>> = if support.len() < c {
            vec![None]
        } else {
            by_weight.into_iter().take(LEAVE).map(Some).collect()
        };
        let mut improved = None;
        for leave in leaving {
            let kept: Vec<usize> =
                (0..support.len()).filter(|&j| Some(j) != leave).map(|j| support[j]).collect();
            for enter in entrants(matrix, options, &best.vector, leave, &support) {
                let mut changed = kept.clone();
                changed.push(enter);
                changed.sort_unstable();
                let Some((value, vector)) = evaluate(matrix, &changed, options.non_negative)?
                else {
                    continue;
                };
                if value > best.value * (1.0 + 1e-10) {
                    improved = Some((value, vector));
                    break;
                }
            }
            if improved.is_some() {
                break;
            }
        }
        let Some((value, vector)) = improved else { break };
        best.value = value;
        best.vector = vector;
    }
    Ok(())
}

/// The best vector on exactly this support; `None` where it must not be negative but is.
pub(super) fn evaluate(
    matrix: ArrayView2<f64>,
    support: &[usize],
    non_negative: bool,
) -> Result<Option<(f64, SparseVector)>> {
    let (value, vector) = leading(principal(matrix, support).view())?;
    if non_negative && vector.iter().any(|v| *v < 0.0) {
        return Ok(None);
    }
    Ok(Some((value, SparseVector::of_eigenvector(support, vector.view()))))
}

/// Features outside whose rows agree best with the vector once one entry has left.
fn entrants(
    matrix: ArrayView2<f64>,
    options: &SupportSearch,
    vector: &SparseVector,
    leave: Option<usize>,
    support: &[usize],
) -> Vec<usize> {
    let mut product = ndarray::Array1::<f64>::zeros(matrix.nrows());
    for (j, (&f, &v)) in vector.support.iter().zip(&vector.values).enumerate() {
        if Some(j) != leave {
            let row: ArrayView1<f64> = matrix.row(f);
            product.scaled_add(v, &row);
        }
    }
    let size = |f: usize| if options.non_negative { product[f].max(0.0) } else { product[f].abs() };
    let mut outside: Vec<usize> =
        (0..matrix.nrows()).filter(|f| support.binary_search(f).is_err()).collect();
    let order = |&a: &usize, &b: &usize| size(b).total_cmp(&size(a)).then(a.cmp(&b));
    if outside.len() > ENTER {
        outside.select_nth_unstable_by(ENTER, order);
        outside.truncate(ENTER);
    }
    outside.sort_unstable_by(order);
    outside
}
