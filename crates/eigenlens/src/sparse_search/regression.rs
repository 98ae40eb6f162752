//! Sparse components as a penalised regression (Zou, Hastie & Tibshirani 2006): the elastic net for
//! B and the Procrustes rotation for A, in turn.

use super::elastic_net::{ElasticNet, soft};
use super::gram::Gram;
use super::lars;
use super::vector::SparseVector;
use crate::error::Result;
use crate::linalg::{cancel, dense};
use ndarray::{ArrayView1, ArrayView2};
use rayon::prelude::*;

/// The ridge penalty λ₂ of the regression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ridge {
    /// This λ₂.
    Finite(f64),
    /// The limit λ₂ → ∞, in which the elastic net is soft-thresholding: for d ≫ n.
    Infinite,
}

/// What makes a component sparse.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shrinkage {
    /// λ₁ of each component.
    Penalties(Vec<f64>),
    /// The number of non-zeros of each component.
    Counts(Vec<usize>),
}

/// What the alternation is asked for.
pub(crate) struct Alternation<'a> {
    /// Orthonormal columns to start from (d × k): the plain components.
    pub start: ArrayView2<'a, f64>,
    /// Where a run with other penalties ended: better than the plain components.
    pub warm: Option<&'a [SparseVector]>,
    pub shrinkage: &'a Shrinkage,
    pub ridge: Ridge,
    /// Targets up to this size are rounding: their components are 0.
    pub rounding_floor: f64,
    /// The largest change of an entry of the unit vectors at which the alternation ends.
    pub tolerance: f64,
    pub max_iterations: usize,
}

/// Components as the alternation left them.
pub(crate) struct Regressed {
    /// k vectors as the regression scales them, not of unit length.
    pub vectors: Vec<SparseVector>,
    /// λ₁ of each, given or found.
    pub penalties: Vec<f64>,
    pub iterations: usize,
    /// The last change of an entry.
    pub change: f64,
}

/// Alternates until the components rest.
pub(crate) fn regress<'a>(gram: &Gram, options: &'a Alternation<'a>) -> Result<Regressed> {
    let k = options.start.ncols();
    let mut nets = Nets::new(gram, options);
    let mut found = match options.warm {
        Some(warm) => warm.to_vec(),
        None => {
            let zero = vec![SparseVector::default(); k];
            let target = gram.apply(options.start)?;
            nets.solve(target.view(), &zero)?.0
        }
    };
    let mut penalties = vec![0.0; k];
    let mut units = unit(&found);
    let mut change = f64::INFINITY;
    let mut iterations = 0;
    while iterations < options.max_iterations && change > options.tolerance {
        cancel::check()?;
        iterations += 1;
        // A: the orthonormal matrix closest to S B (Procrustes; their Theorem 4).
        let product = gram.apply_sparse(&found)?;
        let svd = dense::thin_svd(product.t())?;
        let rotation = svd.u.dot(&svd.v.t());
        // B: one elastic net for each column.
        let target = gram.apply(rotation.view())?;
        (found, penalties) = nets.solve(target.view(), &found)?;
        let next = unit(&found);
        change = largest_change(&units, &next);
        units = next;
    }
    Ok(Regressed { vectors: found, penalties, iterations, change })
}

fn unit(vectors: &[SparseVector]) -> Vec<SparseVector> {
    vectors.iter().map(|v| v.clone().normalized()).collect()
}

fn largest_change(before: &[SparseVector], after: &[SparseVector]) -> f64 {
    let entry =
        |v: &SparseVector, f: &usize| v.support.binary_search(f).map_or(0.0, |at| v.values[at]);
    let mut worst = 0.0f64;
    for (a, b) in before.iter().zip(after) {
        for f in a.support.iter().chain(&b.support) {
            worst = worst.max((entry(a, f) - entry(b, f)).abs());
        }
    }
    worst
}

/// The elastic nets of all components.
struct Nets<'w, 'g, 'a> {
    options: &'w Alternation<'w>,
    gram: &'g Gram<'a>,
    /// Where rows of S are costly they are kept from one round to the next.
    shared: Option<ElasticNet<'g, 'a>>,
}

impl<'w, 'g, 'a> Nets<'w, 'g, 'a> {
    fn new(gram: &'g Gram<'a>, options: &'w Alternation<'w>) -> Self {
        let shared = match options.ridge {
            Ridge::Finite(ridge) if gram.matrix().is_none() => Some(ElasticNet::new(gram, ridge)),
            _ => None,
        };
        Nets { options, gram, shared }
    }

    /// B and the penalties from the targets S A (d × k).
    fn solve(
        &mut self,
        target: ArrayView2<f64>,
        from: &[SparseVector],
    ) -> Result<(Vec<SparseVector>, Vec<f64>)> {
        let options = self.options;
        let k = target.ncols();
        let mut columns = target.t().as_standard_layout().into_owned();
        for mut column in columns.outer_iter_mut() {
            if column.iter().all(|v| v.abs() <= options.rounding_floor) {
                column.fill(0.0);
            }
        }
        let solved: Result<Vec<(SparseVector, f64)>> = match (options.ridge, &mut self.shared) {
            (Ridge::Infinite, _) => {
                (0..k).into_par_iter().map(|j| Ok(threshold(columns.row(j), options, j))).collect()
            }
            (Ridge::Finite(_), Some(net)) => {
                (0..k).map(|j| one(net, columns.row(j), options, j, &from[j])).collect()
            }
            (Ridge::Finite(ridge), None) => (0..k)
                .into_par_iter()
                .map(|j| {
                    let mut net = ElasticNet::new(self.gram, ridge);
                    one(&mut net, columns.row(j), options, j, &from[j])
                })
                .collect(),
        };
        Ok(solved?.into_iter().unzip())
    }
}

fn one(
    net: &mut ElasticNet,
    target: ArrayView1<f64>,
    options: &Alternation,
    j: usize,
    from: &SparseVector,
) -> Result<(SparseVector, f64)> {
    match options.shrinkage {
        Shrinkage::Penalties(penalties) => {
            Ok((net.solve(target, penalties[j], from)?, penalties[j]))
        }
        Shrinkage::Counts(counts) => lars::with_count(net, target, counts[j]),
    }
}

/// The elastic net in the limit λ₂ → ∞, up to its length (their Theorem 5).
fn threshold(target: ArrayView1<f64>, options: &Alternation, j: usize) -> (SparseVector, f64) {
    let d = target.len();
    let half = match options.shrinkage {
        Shrinkage::Penalties(penalties) => penalties[j] / 2.0,
        Shrinkage::Counts(counts) if counts[j] >= d => 0.0,
        Shrinkage::Counts(counts) => {
            // The largest that must become 0.
            let mut sizes: Vec<f64> = target.iter().map(|v| v.abs()).collect();
            let (_, next, _) = sizes.select_nth_unstable_by(counts[j], |a, b| b.total_cmp(a));
            *next
        }
    };
    let (support, values): (Vec<usize>, Vec<f64>) = target
        .iter()
        .enumerate()
        .map(|(f, &v)| (f, soft(v, half)))
        .filter(|entry| entry.1 != 0.0)
        .unzip();
    (SparseVector { support, values }, 2.0 * half)
}
