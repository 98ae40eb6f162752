//! The elastic net on a Gram matrix: coordinate descent on a growing active set.

use super::gram::Gram;
use super::vector::SparseVector;
use crate::error::{Error, Result};
use crate::linalg::dense;
use ndarray::{Array1, Array2, ArrayView1, Axis};
use std::collections::HashMap;

/// `min (α − β)ᵀS(α − β) + λ₂‖β‖² + λ₁‖β‖₁` for one component, with `target` = Sα (d).
///
/// No factor ½ anywhere (Zou & Hastie 2005): an entry is 0 while `|target − Sβ| ≤ λ₁/2`.
pub(super) struct ElasticNet<'g, 'a> {
    gram: &'g Gram<'a>,
    /// λ₂.
    ridge: f64,
    /// Rows of S of the features that were active once, where S is not in memory.
    known: HashMap<usize, Array1<f64>>,
}

/// Rounds of coordinate descent on one active set before its equations are solved directly.
const SWEEPS: usize = 200;

/// Rows of S that are kept for features which may become active again.
pub(crate) const MOST_ROWS: usize = 1024;

/// Rounds in which features join the active set.
const ROUNDS: usize = 500;

/// Most features that join the active set at once: each costs a row of S.
const JOIN: usize = 64;

impl<'g, 'a> ElasticNet<'g, 'a> {
    pub fn new(gram: &'g Gram<'a>, ridge: f64) -> Self {
        ElasticNet { gram, ridge, known: HashMap::new() }
    }

    /// λ₂.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// Makes sure that the rows of these features, all that are active, can be looked at.
    pub fn prepare(&mut self, features: &[usize]) -> Result<()> {
        if self.gram.matrix().is_some() {
            return Ok(());
        }
        let new: Vec<usize> =
            features.iter().copied().filter(|f| !self.known.contains_key(f)).collect();
        if self.known.len() + new.len() > MOST_ROWS {
            self.known.retain(|f, _| features.contains(f));
        }
        let rows = self.gram.rows(&new)?;
        for (f, row) in new.into_iter().zip(rows.outer_iter()) {
            self.known.insert(f, row.to_owned());
        }
        Ok(())
    }

    /// A row of S that was prepared.
    pub fn row(&self, f: usize) -> Result<ArrayView1<'_, f64>> {
        match (self.gram, self.known.get(&f)) {
            (Gram::Matrix(matrix), _) => Ok(matrix.row(f)),
            (_, Some(row)) => Ok(row.view()),
            (_, None) => Err(Error::Internal(format!("row {f} was not prepared"))),
        }
    }

    /// `Sβ` (d) of a vector whose rows were prepared.
    pub fn product(&self, beta: &SparseVector) -> Result<Array1<f64>> {
        let mut product = Array1::zeros(self.gram.dim());
        for (&f, &b) in beta.support.iter().zip(&beta.values) {
            product.scaled_add(b, &self.row(f)?);
        }
        Ok(product)
    }

    /// `S_AA` of prepared features.
    fn block(&self, active: &[usize]) -> Result<Array2<f64>> {
        let mut block = Array2::zeros((active.len(), active.len()));
        for (i, &f) in active.iter().enumerate() {
            let row = self.row(f)?;
            for (j, &g) in active.iter().enumerate() {
                block[[i, j]] = row[g];
            }
        }
        Ok(block)
    }

    /// The solution at one λ₁, from where another one was.
    pub fn solve(
        &mut self,
        target: ArrayView1<f64>,
        penalty: f64,
        from: &SparseVector,
    ) -> Result<SparseVector> {
        let half = penalty / 2.0;
        let size = target.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if size <= half {
            return Ok(SparseVector::default());
        }
        let slack = 1e-11 * size;
        let mut beta = from.clone();
        let mut active = from.support.clone();
        // Descent that crawls is taken up again; past this many rounds it is as good as it gets.
        for _ in 0..ROUNDS {
            // Step 1: features that the present solution treats unfairly.
            self.prepare(&active)?;
            let product = self.product(&beta)?;
            let unfair = |f: usize| (target[f] - product[f]).abs() - half;
            let mut joining: Vec<usize> = (0..target.len())
                .filter(|&f| unfair(f) > slack && active.binary_search(&f).is_err())
                .collect();
            if joining.is_empty()
                && !beta.is_zero()
                && self.is_settled(target, &product, half, &beta)
            {
                return Ok(beta);
            }
            let most = JOIN.max(active.len());
            if joining.len() > most {
                let order = |a: &usize, b: &usize| unfair(*b).total_cmp(&unfair(*a)).then(a.cmp(b));
                joining.select_nth_unstable_by(most, order);
                joining.truncate(most);
            }
            active.extend(&joining);
            active.sort_unstable();
            self.prepare(&active)?;
            // Step 2: the best vector on the active set.
            let before = beta.clone();
            beta = self.descend(target, half, &active, &beta)?;
            if joining.is_empty() && beta == before {
                return Ok(beta);
            }
            active = beta.support.clone();
        }
        Ok(beta)
    }

    /// Whether every entry that is not 0 meets its equation.
    fn is_settled(
        &self,
        target: ArrayView1<f64>,
        product: &Array1<f64>,
        half: f64,
        beta: &SparseVector,
    ) -> bool {
        let size = target.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        beta.support.iter().zip(&beta.values).all(|(&f, &b)| {
            let slope = target[f] - product[f] - self.ridge * b - half * b.signum();
            slope.abs() <= 1e-10 * size
        })
    }

    /// Coordinate descent on a few features (Friedman, Hastie & Tibshirani 2010), and, where it
    /// crawls, the equations of the signs it found.
    fn descend(
        &self,
        target: ArrayView1<f64>,
        half: f64,
        active: &[usize],
        from: &SparseVector,
    ) -> Result<SparseVector> {
        let gram = self.block(active)?;
        let m = active.len();
        let mut beta = vec![0.0; m];
        for (f, b) in from.support.iter().zip(&from.values) {
            if let Ok(at) = active.binary_search(f) {
                beta[at] = *b;
            }
        }
        let mut slope: Array1<f64> = active.iter().map(|&f| target[f]).collect();
        for i in 0..m {
            slope.scaled_add(-beta[i], &gram.row(i));
        }
        let size = active.iter().fold(0.0f64, |m, &f| m.max(target[f].abs()));
        for _ in 0..SWEEPS {
            let mut moved = 0.0f64;
            for i in 0..m {
                let curvature = gram[[i, i]] + self.ridge;
                if curvature <= 0.0 {
                    continue;
                }
                let next = soft(slope[i] + gram[[i, i]] * beta[i], half) / curvature;
                let step = next - beta[i];
                if step != 0.0 {
                    slope.scaled_add(-step, &gram.row(i));
                    beta[i] = next;
                    moved = moved.max(step.abs() * curvature);
                }
            }
            if moved <= 1e-12 * size {
                return Ok(SparseVector::new(active, &beta));
            }
        }
        let crawled = SparseVector::new(active, &beta);
        Ok(self.solve_signs(target, half, &crawled)?.unwrap_or(crawled))
    }

    /// `(S_AA + λ₂I) β = target_A − λ₁/2 · sign`, where its solution has these signs.
    fn solve_signs(
        &self,
        target: ArrayView1<f64>,
        half: f64,
        near: &SparseVector,
    ) -> Result<Option<SparseVector>> {
        let mut matrix = self.block(&near.support)?;
        for i in 0..near.support.len() {
            matrix[[i, i]] += self.ridge;
        }
        let signs = near.support.iter().zip(&near.values);
        let right: Vec<f64> = signs.map(|(&f, b)| target[f] - half * b.signum()).collect();
        let right = Array1::from(right).insert_axis(Axis(1));
        let Some(solved) = dense::solve_positive(matrix.view(), right.view()) else {
            return Ok(None);
        };
        // Without a penalty the equations hold whatever the signs.
        let fits = |(s, b): (&f64, &f64)| s.is_finite() && (half == 0.0 || s * b > 0.0);
        let kept = solved.iter().zip(&near.values).all(fits);
        Ok(kept.then(|| SparseVector::new(&near.support, &solved.column(0).to_vec())))
    }
}

/// `sign(v) · max(|v| − by, 0)`.
pub(super) fn soft(v: f64, threshold: f64) -> f64 {
    if v > threshold {
        v - threshold
    } else if v < -threshold {
        v + threshold
    } else {
        0.0
    }
}
