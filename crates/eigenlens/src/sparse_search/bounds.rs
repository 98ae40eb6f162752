//! Upper bounds on `max βᵀTβ` over unit vectors of few non-zeros: what the proof rests on.
//!
//! A part of the search tree is a matrix T (p × p) whose first `inside` features may be used and
//! count already, and of whose other features `more` may be added. Every bound here holds for every
//! β that is supported on the first ones and on at most `more` of the others.

use crate::error::Result;
use crate::linalg::dense;
use crate::operator::SymmetricMatrix;
use crate::options::Options;
use crate::solver::finish;
use crate::solver::krylov::{self, EigenRequest};
use ndarray::{Array1, Array2, ArrayView2};

/// A part of the search tree.
pub(super) struct Part {
    /// p × p, the features inside first.
    pub matrix: Array2<f64>,
    pub inside: usize,
    /// Features that may be added, fewer than there are.
    pub more: usize,
    /// Only β ≥ 0.
    pub non_negative: bool,
}

/// Up to this size an eigenvalue is computed with all others.
const DENSE: usize = 192;

/// The largest eigenvalue of a symmetric matrix as it was computed, with its vector.
pub(super) fn estimate(matrix: ArrayView2<f64>) -> Result<(f64, Array1<f64>)> {
    let p = matrix.nrows();
    if p > DENSE {
        let options = Options::default();
        let request = EigenRequest { guard: 0, ..EigenRequest::new(1, p, 1e-7, &options) };
        let ritz = krylov::largest(&SymmetricMatrix(matrix), &request)?;
        return Ok((ritz.values[0], ritz.vectors.column(0).to_owned()));
    }
    let (values, vectors) = dense::symmetric_eigen(matrix)?;
    Ok((values.last().copied().unwrap_or(0.0), vectors.column(p - 1).to_owned()))
}

/// A number that the largest eigenvalue does not exceed, rounding errors included, from an estimate.
pub(super) fn at_least(matrix: ArrayView2<f64>, estimate: f64) -> Result<f64> {
    let p = matrix.nrows();
    let size = matrix.iter().map(|v| v * v).sum::<f64>().sqrt();
    // Backward errors of the factorisations stay far below p ε ‖T‖_F.
    let rounding = 4.0 * p as f64 * f64::EPSILON * size;
    if p <= DENSE {
        return Ok(estimate + rounding);
    }
    // An iteration sees the largest eigenvalue from below: no inertia above a number a little
    // larger makes sure that it missed none.
    for slack in [1e-9, 1e-6, 1e-3] {
        let above = estimate + slack * estimate.abs() + rounding;
        if dense::count_above(matrix, above) == 0 {
            return Ok(above + rounding);
        }
    }
    let values = dense::symmetric_eigenvalues(matrix)?;
    Ok(values.last().copied().unwrap_or(0.0) + rounding)
}

impl Part {
    fn size(&self, v: f64) -> f64 {
        if self.non_negative { v.max(0.0) } else { v.abs() }
    }

    /// The bound of weighted rows (Collatz & Wielandt; with weights 1, Gershgorin): at the entry
    /// where `|β_i|/w_i` is largest, `λ = Σ_j T_ij β_j/β_i ≤ Σ_j |T_ij| w_j/w_i` over the features
    /// used, of which the outer ones are at most the `more` largest terms.
    pub fn row_bound(&self, weights: &[f64]) -> f64 {
        let p = self.matrix.nrows();
        let mut terms = Vec::with_capacity(p);
        let mut bound = f64::NEG_INFINITY;
        for (i, row) in self.matrix.outer_iter().enumerate() {
            let term = |j: usize| self.size(row[j]) * weights[j];
            let mut sum: f64 = (0..self.inside).filter(|&j| j != i).map(term).sum();
            // A row from outside takes one of the places itself.
            let places = if i < self.inside { self.more } else { self.more - 1 };
            terms.clear();
            terms.extend((self.inside..p).filter(|&j| j != i).map(term));
            sum += sum_of_largest(&mut terms, places);
            bound = bound.max(row[i] + sum / weights[i]);
        }
        bound + 4.0 * p as f64 * f64::EPSILON * bound.abs()
    }

    /// `w_i` at least `floor` of the guess's flat size: the shape of the penalty.
    pub fn weights(&self, guess: &Array1<f64>, floor: f64) -> Vec<f64> {
        let flat = floor / ((self.inside + self.more) as f64).sqrt();
        guess.iter().map(|v| v.abs().max(flat)).collect()
    }

    /// The relaxation at one strength of its penalty, as estimated.
    pub fn relax(&self, shape: &Shape, strength: f64) -> Result<Relaxation> {
        let matrix = self.penalized(shape, strength);
        let (eigenvalue, vector) = estimate(matrix.view())?;
        let bound = eigenvalue + strength * self.cost(&shape.weights).total;
        Ok(Relaxation { bound, eigenvalue, vector, strength })
    }

    /// The bound of a relaxation, made safe.
    pub fn certify(&self, shape: &Shape, relaxation: &mut Relaxation) -> Result<()> {
        let matrix = self.penalized(shape, relaxation.strength);
        relaxation.eigenvalue = at_least(matrix.view(), relaxation.eigenvalue)?;
        let penalty = relaxation.strength * self.cost(&shape.weights).total;
        relaxation.bound = (relaxation.eigenvalue + penalty) * (1.0 + 4.0 * f64::EPSILON);
        Ok(())
    }

    /// `T + U` with `|U_ij| ≤ ρ w_i w_j`. For a feasible β
    /// `βᵀTβ = βᵀ(T + U)β − βᵀUβ ≤ λmax(T + U) + ρ (Σ w_i|β_i|)² ≤ λmax(T + U) + ρ Σ_used w_i²`: any
    /// such U gives a bound. With w = 1 it is a feasible point of the dual of the semidefinite
    /// relaxation of d'Aspremont, El Ghaoui, Jordan & Lanckriet (2007, eq. 9); weights in the shape
    /// of the solution make the second inequality tight. For β ≥ 0, U needs no bound from above.
    ///
    /// U shrinks every entry towards 0, and then uses what room is left to make the guess an
    /// eigenvector of `T + U`, as it is at the optimum of the dual.
    fn penalized(&self, shape: &Shape, strength: f64) -> Array2<f64> {
        let weights = &shape.weights;
        let mut out = self.matrix.clone();
        for ((i, j), v) in out.indexed_iter_mut() {
            let most = strength * (weights[i] * weights[j]);
            *v = if i == j || *v > most {
                *v - most
            } else if *v < -most && !self.non_negative {
                *v + most
            } else {
                0.0
            };
        }
        let used: Vec<usize> = (0..weights.len()).filter(|&i| shape.guess[i] != 0.0).collect();
        for j in (0..weights.len()).filter(|&j| shape.guess[j] == 0.0) {
            let leak: f64 = used.iter().map(|&i| out[[j, i]] * shape.guess[i]).sum();
            // How far each entry can move against the leak.
            let room = |i: usize, now: f64| {
                let most = strength * (weights[i] * weights[j]);
                let down = (leak * shape.guess[i]) > 0.0;
                let end = self.matrix[[j, i]] + if down { -most } else { most };
                if down { (end - now).min(0.0) } else { (end - now).max(0.0) }
            };
            let most: f64 =
                used.iter().map(|&i| (room(i, out[[j, i]]) * shape.guess[i]).abs()).sum();
            if leak == 0.0 || most == 0.0 {
                continue;
            }
            // A hair less than all of it: rounding must not leave the box.
            let share = (leak.abs() / most).min(1.0 - 1e-12);
            for &i in &used {
                let moved = out[[j, i]] + share * room(i, out[[j, i]]);
                (out[[j, i]], out[[i, j]]) = (moved, moved);
            }
        }
        out
    }

    /// The most that `Σ w_i²` over the features used can be.
    fn cost(&self, weights: &[f64]) -> Cost {
        let squares: Vec<f64> = weights.iter().map(|w| w * w).collect();
        let inside: f64 = squares[..self.inside].iter().sum();
        let mut outer = squares[self.inside..].to_vec();
        outer.sort_unstable_by(|a, b| b.total_cmp(a));
        Cost {
            total: inside + outer[..self.more].iter().sum::<f64>(),
            last_in: outer[self.more - 1],
            first_out: outer.get(self.more).copied().unwrap_or(0.0),
        }
    }

    /// Outer features (positions in T) that a certified relaxation shows to be in no vector better
    /// than `cut`, and those shown to be in all of them.
    pub fn fixed_by(&self, shape: &Shape, relaxation: &Relaxation, cut: f64) -> Fixed {
        let Relaxation { bound, strength, .. } = relaxation;
        let weights = &shape.weights;
        let cost = self.cost(weights);
        let mut fixed = Fixed::default();
        for j in self.inside..weights.len() {
            let square = weights[j] * weights[j];
            // With j inside, the last of the largest makes room for it.
            if square < cost.last_in && bound - strength * (cost.last_in - square) <= cut {
                fixed.out.push(j);
            } else if square >= cost.last_in && bound - strength * (square - cost.first_out) <= cut
            {
                fixed.inside.push(j);
            }
        }
        fixed
    }
}

struct Cost {
    total: f64,
    /// The smallest of the outer squares that are counted.
    last_in: f64,
    /// The largest that is not.
    first_out: f64,
}

/// A bound, with the vector that attains it.
pub(super) struct Relaxation {
    pub bound: f64,
    eigenvalue: f64,
    pub vector: Array1<f64>,
    pub strength: f64,
}

/// What a penalty is shaped after.
pub(super) struct Shape<'a> {
    /// The best vector known of the part (p).
    pub guess: &'a Array1<f64>,
    pub weights: Vec<f64>,
}

/// Features whose place is decided.
#[derive(Default)]
pub(super) struct Fixed {
    pub out: Vec<usize>,
    pub inside: Vec<usize>,
}

fn sum_of_largest(terms: &mut [f64], count: usize) -> f64 {
    if count == 0 {
        return 0.0;
    }
    if count < terms.len() {
        terms.select_nth_unstable_by(count - 1, |a, b| b.total_cmp(a));
    }
    terms.iter().take(count).sum()
}

/// The positions of the `count` largest in modulus.
pub(super) fn largest_positions(values: &[f64], count: usize) -> Vec<usize> {
    let sizes: Vec<f64> = values.iter().map(|v| v.abs()).collect();
    let mut order = finish::descending(&sizes);
    order.truncate(count);
    order
}
