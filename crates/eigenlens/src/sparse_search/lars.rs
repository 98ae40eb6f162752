//! The elastic net at a wanted number of non-zeros: the path in λ₁ is piecewise linear and is
//! followed from corner to corner (LARS-EN, Zou & Hastie 2005).

use super::elastic_net::ElasticNet;
use super::vector::SparseVector;
use crate::error::Result;
use ndarray::{Array1, ArrayView1};

/// The solution with `count` non-zeros at the smallest λ₁ that has them on the first visit, and
/// that λ₁; fewer non-zeros where the path has no more.
pub(super) fn with_count(
    net: &mut ElasticNet,
    target: ArrayView1<f64>,
    count: usize,
) -> Result<(SparseVector, f64)> {
    let d = target.len();
    let size = target.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let Some(first) = (0..d).find(|&f| target[f].abs() == size && size > 0.0) else {
        return Ok((SparseVector::default(), 0.0));
    };
    let mut path = Corner { active: Vec::new(), beta: Vec::new(), factor: Factor::default() };
    let mut inside = vec![false; d];
    path.join(net, first)?;
    inside[first] = true;
    let mut level = size;
    let mut left_last: Option<usize> = None;
    // Each corner lets one feature in or out; a path that turns more often than this is cycling.
    for _ in 0..8 * count + 32 {
        let slope = path.slope(net, target)?;
        let signs: Vec<f64> = path.active.iter().map(|&f| slope[f].signum()).collect();
        let direction = path.factor.solve(&signs);
        let support = path.active.clone();
        let along = net.product(&SparseVector { support, values: direction.clone() })?;
        // How far until a feature outside is as correlated as those inside.
        let mut step = level;
        let mut joins = None;
        for f in (0..d).filter(|&f| !inside[f] && left_last != Some(f)) {
            for (numerator, rate) in
                [(level - slope[f], 1.0 - along[f]), (level + slope[f], 1.0 + along[f])]
            {
                let distance = numerator / rate;
                if rate > 1e-14 && distance >= 0.0 && distance < step {
                    (step, joins) = (distance, Some(f));
                }
            }
        }
        // How far until one inside is 0.
        let mut leaves = None;
        for (i, (&b, &v)) in path.beta.iter().zip(&direction).enumerate() {
            let distance = -b / v;
            if b != 0.0 && v != 0.0 && distance > 0.0 && distance < step {
                (step, leaves) = (distance, Some(i));
            }
        }
        path.beta.iter_mut().zip(&direction).for_each(|(b, v)| *b += step * v);
        level -= step;
        left_last = None;
        if let Some(i) = leaves {
            let f = path.leave(net, i)?;
            inside[f] = false;
            left_last = Some(f);
        } else if let (Some(f), true) = (joins, path.active.len() < count) {
            path.join(net, f)?;
            inside[f] = true;
        } else {
            break;
        }
        if path.active.is_empty() {
            break;
        }
    }
    Ok((SparseVector::new(&path.active, &path.beta), 2.0 * level.max(0.0)))
}

/// A point of the path: the active features in the order in which they came, their weights, and a
/// factor of `S_AA + λ₂I`.
struct Corner {
    active: Vec<usize>,
    beta: Vec<f64>,
    factor: Factor,
}

impl Corner {
    fn join(&mut self, net: &mut ElasticNet, f: usize) -> Result<()> {
        self.active.push(f);
        self.beta.push(0.0);
        net.prepare(&self.active)?;
        let before = &self.active[..self.active.len() - 1];
        self.factor.append(net, before, f)?;
        Ok(())
    }

    fn leave(&mut self, net: &ElasticNet, i: usize) -> Result<usize> {
        let f = self.active.remove(i);
        self.beta.remove(i);
        // Those before it are as they were.
        self.factor.rows.truncate(i);
        for j in i..self.active.len() {
            self.factor.append(net, &self.active[..j], self.active[j])?;
        }
        Ok(f)
    }

    /// `target − Sβ − λ₂β`.
    fn slope(&self, net: &ElasticNet, target: ArrayView1<f64>) -> Result<Array1<f64>> {
        let beta = SparseVector::new(&self.active, &self.beta);
        let mut slope = target.to_owned() - net.product(&beta)?;
        for (&f, b) in self.active.iter().zip(&self.beta) {
            slope[f] -= net.ridge() * b;
        }
        Ok(slope)
    }
}

/// The rows of L in `L Lᵀ = S_AA + λ₂I`.
#[derive(Default)]
struct Factor {
    rows: Vec<Vec<f64>>,
}

impl Factor {
    /// Adds the row of feature f after those of `before`.
    fn append(&mut self, net: &ElasticNet, before: &[usize], f: usize) -> Result<()> {
        let row = net.row(f)?;
        let mut new: Vec<f64> = Vec::with_capacity(before.len() + 1);
        for (i, &g) in before.iter().enumerate() {
            let known: f64 = new.iter().zip(&self.rows[i]).map(|(a, b)| a * b).sum();
            new.push((row[g] - known) / self.rows[i][i]);
        }
        let known: f64 = new.iter().map(|v| v * v).sum();
        // Without a ridge, features that depend on each other need a hair of one.
        let hair = 1e-12 * row[f].abs().max(f64::MIN_POSITIVE);
        new.push((row[f] + net.ridge() - known).max(hair).sqrt());
        self.rows.push(new);
        Ok(())
    }

    /// `(S_AA + λ₂I)⁻¹ signs`: the direction in which all active correlations fall at the same pace.
    fn solve(&self, signs: &[f64]) -> Vec<f64> {
        let m = self.rows.len();
        let mut x = signs.to_vec();
        for i in 0..m {
            let known: f64 = (0..i).map(|j| self.rows[i][j] * x[j]).sum();
            x[i] = (x[i] - known) / self.rows[i][i];
        }
        for i in (0..m).rev() {
            let known: f64 = (i + 1..m).map(|j| self.rows[j][i] * x[j]).sum();
            x[i] = (x[i] - known) / self.rows[i][i];
        }
        x
    }
}
