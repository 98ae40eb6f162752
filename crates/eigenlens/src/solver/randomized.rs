//! The randomised range finder of Halko, Martinsson & Tropp (2011). Approximate by design: it stops
//! after a set number of passes, whatever it has found by then.

use super::Convergence;
use super::krylov::RitzPairs;
use crate::error::Result;
use crate::linalg::{dense, gemm, random};
use crate::operator::Operator;
use crate::solver::finish;
use ndarray::{Array2, Axis};

/// About `wanted` largest pairs, from `power + 1` products with a block of `wanted + oversampling`
/// vectors.
pub(crate) fn largest(
    operator: &dyn Operator,
    wanted: usize,
    oversampling: usize,
    power: usize,
    seed: u64,
) -> Result<RitzPairs> {
    let d = operator.dim();
    let width = wanted.saturating_add(oversampling).min(d);
    let seed = random::seed_for(seed, operator.fingerprint());
    let mut block = random::normal_matrix(&mut random::stream(seed, 2), d, width);
    let mut product = Array2::zeros((d, width));
    for _ in 0..=power {
        block = dense::qr_q(block.view());
        operator.apply(block.view(), &mut product)?;
        std::mem::swap(&mut block, &mut product);
    }
    // Rayleigh–Ritz on the range found: one more product.
    let basis = dense::qr_q(block.view());
    operator.apply(basis.view(), &mut product)?;
    let projected = gemm::transposed_product(basis.view(), product.view());
    let symmetric = (&projected + &projected.t()) * 0.5;
    let (values, inner) = dense::symmetric_eigen(symmetric.view())?;
    let order = finish::descending(&values);
    let order = &order[..wanted.min(width)];
    let inner = inner.select(Axis(1), order);
    Ok(RitzPairs {
        values: order.iter().map(|&j| values[j]).collect(),
        vectors: gemm::product(basis.view(), inner.as_standard_layout().view()),
        convergence: Convergence {
            converged: false,
            residuals: Vec::new(),
            iterations: power,
            operator_applications: power + 2,
        },
        remainder: None,
    })
}
