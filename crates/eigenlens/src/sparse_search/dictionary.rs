//! Sparse components as a dictionary: `½‖X − U V‖² + λ‖V‖₁` with `‖u_j‖ ≤ 1`, for V and U in turn.
//!
//! The columns of U are combinations of those of X, U = X W, so that `XᵀX` is all that is needed of
//! the data: `XᵀU = XᵀX W` is kept beside W, and a round costs one product with a sparse block.

use super::elastic_net::soft;
use super::gram::Gram;
use super::vector::SparseVector;
use crate::error::Result;
use crate::linalg::{cancel, gemm};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;

/// A component whose squares sum to less than this share of the data's is not used.
const UNUSED: f64 = 1e-12;

/// Rounds over the entries of one feature's code, at most; and the change at which they end.
const SWEEPS: usize = 1000;
const AT_REST: f64 = 1e-9;

/// What the learning is asked for.
pub(crate) struct Learning<'a> {
    /// W to start from (d × k): the plain components.
    pub start: ArrayView2<'a, f64>,
    /// V to start from instead (k × d); only its directions matter.
    pub components: Option<ArrayView2<'a, f64>>,
    /// λ.
    pub penalty: f64,
    /// What the covariance was divided by: `XᵀX` is so many times it.
    pub divisor: f64,
    /// The decrease of the objective, relative to it, at which the learning ends.
    pub tolerance: f64,
    /// 0: V is what it starts from.
    pub max_iterations: usize,
}

/// Components as the learning left them.
pub(crate) struct Learned {
    /// k vectors, not of unit length.
    pub vectors: Vec<SparseVector>,
    /// The objective after each round: never more than before.
    pub objective: Vec<f64>,
    /// The last decrease, relative to the objective.
    pub change: f64,
}

/// Learns until the objective rests.
pub(crate) fn learn(gram: &Gram, options: &Learning) -> Result<Learned> {
    let (d, k) = options.start.dim();
    if options.max_iterations == 0 {
        let start = options.components.unwrap_or(options.start.t());
        return Ok(Learned { vectors: sparse_rows(start), objective: Vec::new(), change: 0.0 });
    }
    let mut state = State {
        gram,
        penalty: options.penalty,
        divisor: options.divisor,
        squares: gram.diagonal().iter().map(|v| v * options.divisor).collect(),
        codes: Array2::zeros((d, k)),
        weights: options.start.t().as_standard_layout().into_owned(),
        products: gram.apply(options.start)?.reversed_axes().as_standard_layout().into_owned()
            * options.divisor,
    };
    if let Some(components) = options.components {
        state.codes.assign(&components.t());
        state.weights.fill(0.0);
        state.products.fill(0.0);
        state.dictionary()?;
    }
    let mut objective: Vec<f64> = Vec::new();
    let mut change = f64::INFINITY;
    while objective.len() < options.max_iterations && change >= options.tolerance {
        cancel::check()?;
        state.code();
        let renewed = state.dictionary()?;
        let value = state.objective();
        if let Some(before) = objective.last().filter(|_| !renewed) {
            change = if value > 0.0 { (before - value) / value } else { 0.0 };
        }
        objective.push(value);
    }
    Ok(Learned { vectors: state.components(), objective, change })
}

/// U and V, seen through `XᵀX`.
struct State<'g, 'a> {
    gram: &'g Gram<'a>,
    penalty: f64,
    divisor: f64,
    /// The squared length of every column of X (d).
    squares: Vec<f64>,
    /// Vᵀ (d × k).
    codes: Array2<f64>,
    /// Wᵀ (k × d).
    weights: Array2<f64>,
    /// `UᵀX` (k × d).
    products: Array2<f64>,
}

impl State<'_, '_> {
    /// `UᵀU` (k × k).
    fn inner(&self) -> Array2<f64> {
        let mut inner = self.weights.dot(&self.products.t());
        let k = inner.nrows();
        for i in 0..k {
            for j in 0..i {
                let mean = 0.5 * (inner[[i, j]] + inner[[j, i]]);
                (inner[[i, j]], inner[[j, i]]) = (mean, mean);
            }
        }
        inner
    }

    fn total(&self) -> f64 {
        self.squares.iter().sum()
    }

    /// V for the present U: a lasso for every feature, by coordinate descent.
    fn code(&mut self) {
        let (inner, penalty) = (self.inner(), self.penalty);
        let floor = UNUSED * UNUSED * inner.diag().iter().fold(0.0f64, |m, v| m.max(*v));
        let products = self.products.view();
        let features: Vec<_> = self.codes.axis_iter_mut(Axis(0)).enumerate().collect();
        features.into_par_iter().for_each(|(f, mut code)| {
            for _ in 0..SWEEPS {
                let (mut change, mut size) = (0.0f64, 0.0f64);
                for j in 0..code.len() {
                    let own = inner[[j, j]];
                    let next = if own > floor {
                        let rest = products[[j, f]] - inner.row(j).dot(&code) + own * code[j];
                        soft(rest, penalty) / own
                    } else {
                        0.0
                    };
                    change = change.max((next - code[j]).abs());
                    size = size.max(next.abs());
                    code[j] = next;
                }
                if change <= AT_REST * size {
                    break;
                }
            }
        });
    }

    /// U for the present V, column after column; whether an unused one was begun anew.
    fn dictionary(&mut self) -> Result<bool> {
        let k = self.codes.ncols();
        let vectors = self.components();
        let images = self.gram.apply_sparse(&vectors)? * self.divisor;
        let outer = gemm::transposed_product(self.codes.view(), self.codes.view());
        let unused = UNUSED * self.total();
        let mut tried = Vec::new();
        for j in 0..k {
            let own = outer[[j, j]];
            if own <= unused {
                self.codes.column_mut(j).fill(0.0);
                self.begin_anew(j, &mut tried)?;
            } else {
                let direction = vectors[j].dense(self.squares.len());
                let weights = self.without(&self.weights, outer.row(j), j, direction.view());
                let products = self.without(&self.products, outer.row(j), j, images.row(j));
                self.weights.row_mut(j).assign(&(weights / own));
                self.products.row_mut(j).assign(&(products / own));
            }
            let length = self.weights.row(j).dot(&self.products.row(j)).max(0.0).sqrt();
            if length > 1.0 {
                self.weights.row_mut(j).mapv_inplace(|w| w / length);
                self.products.row_mut(j).mapv_inplace(|p| p / length);
            }
        }
        Ok(!tried.is_empty())
    }

    /// `of_j` without what the other rows account for.
    fn without(
        &self,
        rows: &Array2<f64>,
        shares: ArrayView1<f64>,
        j: usize,
        of_j: ArrayView1<f64>,
    ) -> Array1<f64> {
        let mut left = of_j.to_owned();
        for (i, row) in rows.outer_iter().enumerate().filter(|(i, _)| *i != j) {
            if shares[i] != 0.0 {
                left.scaled_add(-shares[i], &row);
            }
        }
        left
    }

    /// The column j of U, which no feature uses, becomes what is left of the feature that the others
    /// explain worst. Where no more than the penalty is left, no column could be of use.
    fn begin_anew(&mut self, j: usize, tried: &mut Vec<usize>) -> Result<()> {
        self.weights.row_mut(j).fill(0.0);
        self.products.row_mut(j).fill(0.0);
        let inner = self.inner();
        let left = |f: usize| {
            let code = self.codes.row(f);
            let explained = 2.0 * code.dot(&self.products.column(f)) - code.dot(&inner.dot(&code));
            self.squares[f] - explained
        };
        let worst = (0..self.squares.len())
            .filter(|f| !tried.contains(f))
            .map(|f| (f, left(f)))
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let Some((f, _)) = worst.filter(|(f, left)| {
            let rounding = UNUSED * self.squares[*f];
            *left > self.penalty * self.penalty + rounding
        }) else {
            return Ok(());
        };
        tried.push(f);
        let image = self.gram.rows(&[f])?.row(0).to_owned() * self.divisor;
        let mut unit = Array1::zeros(self.squares.len());
        unit[f] = 1.0;
        let code = self.codes.row(f).to_owned();
        let weights = self.without(&self.weights, code.view(), j, unit.view());
        let products = self.without(&self.products, code.view(), j, image.view());
        self.weights.row_mut(j).assign(&weights);
        self.products.row_mut(j).assign(&products);
        Ok(())
    }

    fn objective(&self) -> f64 {
        let outer = gemm::transposed_product(self.codes.view(), self.codes.view());
        let with_data: f64 = (&self.codes.t() * &self.products).sum();
        let with_itself: f64 = (&self.inner() * &outer).sum();
        let misfit = (self.total() - 2.0 * with_data + with_itself).max(0.0);
        0.5 * misfit + self.penalty * self.codes.iter().map(|v| v.abs()).sum::<f64>()
    }

    /// The rows of V.
    fn components(&self) -> Vec<SparseVector> {
        sparse_rows(self.codes.t())
    }
}

fn sparse_rows(dense: ArrayView2<f64>) -> Vec<SparseVector> {
    let all: Vec<usize> = (0..dense.ncols()).collect();
    dense.outer_iter().map(|row| SparseVector::new(&all, &row.to_vec())).collect()
}
