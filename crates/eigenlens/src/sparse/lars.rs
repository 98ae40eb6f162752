//! The elastic net at a wanted number of non-zeros: the path in λ₁ is piecewise linear and is
//! followed from corner to corner (LARS-EN, Zou & Hastie 2005).

use super::elastic_net::ElasticNet;
use super::vector::SparseVector;
use crate::error::Result;
use crate::linalg::dense;
use ndarray::{Array1, Array2, ArrayView1};

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
    let mut active = vec![first];
    let mut beta: Vec<f64> = vec![0.0];
    let mut level = size;
    let mut left_last: Option<usize> = None;
    // Each corner lets one feature in or out; a path that turns more often than this is cycling.
    for _ in 0..8 * count + 32 {
        net.prepare(&active)?;
        let present = SparseVector::new(&active, &beta);
        let slope = slope(net, target, &present);
        let signs: Vec<f64> = active.iter().map(|&f| slope[f].signum()).collect();
        let Some(direction) = direction(net, &active, &signs) else { break };
        let along =
            net.product(&SparseVector { support: active.clone(), values: direction.clone() });
        // How far until a feature outside is as correlated as those inside.
        let mut step = level;
        let mut joins = None;
        for f in 0..d {
            if active.contains(&f) || left_last == Some(f) {
                continue;
            }
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
        for (i, (&b, &v)) in beta.iter().zip(&direction).enumerate() {
            let distance = -b / v;
            if b != 0.0 && v != 0.0 && distance > 0.0 && distance < step {
                (step, leaves) = (distance, Some(i));
            }
        }
        beta.iter_mut().zip(&direction).for_each(|(b, v)| *b += step * v);
        level -= step;
        left_last = None;
        if let Some(i) = leaves {
            left_last = Some(active.remove(i));
            beta.remove(i);
        } else if let (Some(f), true) = (joins, active.len() < count) {
            active.push(f);
            beta.push(0.0);
        } else {
            break;
        }
        if active.is_empty() {
            break;
        }
    }
    Ok((SparseVector::new(&active, &beta), 2.0 * level.max(0.0)))
}

/// `target − Sβ − λ₂β`.
fn slope(net: &ElasticNet, target: ArrayView1<f64>, beta: &SparseVector) -> Array1<f64> {
    let mut slope = target.to_owned() - net.product(beta);
    for (&f, b) in beta.support.iter().zip(&beta.values) {
        slope[f] -= net.ridge() * b;
    }
    slope
}

/// `(S_AA + λ₂I)⁻¹ signs`: the direction in which all active correlations fall at the same pace.
fn direction(net: &ElasticNet, active: &[usize], signs: &[f64]) -> Option<Vec<f64>> {
    let m = active.len();
    let mut matrix = net.block(active);
    // Without a ridge, features that depend on each other need a hair of one.
    let hair = 1e-12 * matrix.diag().iter().fold(0.0f64, |m, v| m.max(*v));
    for i in 0..m {
        matrix[[i, i]] += net.ridge() + hair;
    }
    let right = Array2::from_shape_vec((m, 1), signs.to_vec()).ok()?;
    let solved = dense::solve_positive(matrix.view(), right.view())?;
    Some(solved.column(0).to_vec())
}
