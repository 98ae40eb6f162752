//! HSIC of permuted samples: what it would be if both sides were independent.

use super::hsic::PermutationTest;
use super::side::Side;
use super::sums::{Sums, squared_product};
use crate::error::{Error, Result};
use crate::linalg::random;
use crate::options::Options;
use ndarray::{Array2, ArrayView2};
use rand::Rng;
use rayon::prelude::*;

/// Streams of random numbers from this one on: one for each permutation.
const STREAM: u64 = 1 << 32;

pub(super) fn test(
    x: &Side,
    y: &Side,
    permutations: usize,
    options: &Options,
) -> Result<PermutationTest> {
    let sums = Sums::of(x, y)?;
    let n = x.len();
    let null = Null::new(x, y, options)?;
    // The last bits of equal sums in another order must not decide.
    let found = sums.cross * (1.0 - 1e-10);
    let larger: usize = (0..permutations)
        .into_par_iter()
        .map_init(Vec::new, |order, index| {
            shuffle(options.seed, index as u64, n, order);
            usize::from(null.cross(order) >= found)
        })
        .sum();
    let pairs = (n as f64 - 1.0) * (n as f64 - 1.0);
    Ok(PermutationTest {
        estimate: sums.estimate(),
        p_value: (1 + larger) as f64 / (1 + permutations) as f64,
        permutations,
        null_mean: sums.x.trace * sums.y.trace / (n as f64 - 1.0) / pairs,
    })
}

/// The sides in the form in which permutations are cheap.
enum Null<'a> {
    Thin(&'a Side, &'a Side),
    /// A kernel that is not thin (n × n), and a thin side.
    Mixed(Array2<f64>, &'a Side),
    /// Two that are not thin.
    Matrices(Array2<f64>, Array2<f64>),
}

impl<'a> Null<'a> {
    fn new(x: &'a Side, y: &'a Side, options: &Options) -> Result<Null<'a>> {
        let matrices = match (x.width(), y.width()) {
            (Some(_), Some(_)) => return Ok(Null::Thin(x, y)),
            (None, None) => 2,
            _ => 1,
        };
        let needed = matrices * 8 * (x.len() as u64) * (x.len() as u64);
        let budget = options.memory.unwrap_or(u64::MAX);
        if needed > budget {
            let route = "a permutation test of kernels without a thin factor".into();
            return Err(Error::Memory { route, needed, budget });
        }
        Ok(match (x.width(), y.width()) {
            (None, None) => Null::Matrices(x.matrix(), y.matrix()),
            // To permute one side is to permute the other, backwards.
            (None, _) => Null::Mixed(x.matrix(), y),
            _ => Null::Mixed(y.matrix(), x),
        })
    }

    /// `tr(K̃ P L̃ Pᵀ)`.
    fn cross(&self, order: &[u32]) -> f64 {
        match self {
            Null::Thin(x, y) => squared_product(x, y, Some(order)),
            Null::Matrices(a, b) => {
                let pair = |i: usize| {
                    let (line, other) = (a.row(i), b.row(order[i] as usize));
                    let below: f64 = (0..i).map(|j| line[j] * other[order[j] as usize]).sum();
                    2.0 * below + line[i] * other[order[i] as usize]
                };
                (0..order.len()).map(pair).sum()
            }
            Null::Mixed(matrix, Side::Classes { codes, .. }) => {
                // K̃ is centred, so the raw delta kernel gives what the centred one would.
                let codes: Vec<u32> = order.iter().map(|&i| codes[i as usize]).collect();
                let pair = |i: usize| {
                    let line = matrix.row(i);
                    let below: f64 = (line.iter().zip(&codes[..i]))
                        .map(|(v, c)| if *c == codes[i] { *v } else { 0.0 })
                        .sum();
                    2.0 * below + line[i]
                };
                (0..order.len()).map(pair).sum()
            }
            Null::Mixed(matrix, side) => {
                let Side::Rows(rows) = side else { return f64::NAN };
                quadratic(matrix.view(), rows, order)
            }
        }
    }
}

/// `tr(Bᵀ K̃ B)` of permuted rows B.
fn quadratic(matrix: ArrayView2<f64>, rows: &Array2<f64>, order: &[u32]) -> f64 {
    let picked: Vec<usize> = order.iter().map(|&i| i as usize).collect();
    let permuted = rows.select(ndarray::Axis(0), &picked);
    let mut product = Array2::zeros(permuted.dim());
    crate::linalg::gemm::product_into(matrix, permuted.view(), &mut product, true);
    product.iter().zip(&permuted).map(|(a, b)| a * b).sum()
}

/// A permutation of 0..n (Fisher & Yates), from a stream of its own.
fn shuffle(seed: u64, index: u64, n: usize, order: &mut Vec<u32>) {
    let mut rng = random::stream(seed, STREAM + index);
    order.clear();
    order.extend(0..n as u32);
    for i in (1..n).rev() {
        // Without the bias of a remainder (Lemire 2019, without the rare second draw: below 2⁻³²).
        let j = ((u128::from(rng.next_u64()) * (i as u128 + 1)) >> 64) as usize;
        order.swap(i, j);
    }
}
