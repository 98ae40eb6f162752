//! Data for embeddings, and their operators by plain loops.

use super::support::Random;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

/// A Swiss roll (n × 3), and where each sample lies on the sheet (n × 2).
pub fn swiss_roll(n: usize, seed: u64) -> (Array2<f64>, Array2<f64>) {
    let mut random = Random::new(seed);
    let mut x = Array2::zeros((n, 3));
    let mut sheet = Array2::zeros((n, 2));
    for i in 0..n {
        let t = 1.5 * std::f64::consts::PI * (1.0 + 2.0 * random.uniform());
        let height = 21.0 * random.uniform();
        x[[i, 0]] = t * t.cos();
        x[[i, 1]] = height;
        x[[i, 2]] = t * t.sin();
        // The length of the spiral r = t from its centre.
        sheet[[i, 0]] = 0.5 * (t * (1.0 + t * t).sqrt() + t.asinh());
        sheet[[i, 1]] = height;
    }
    (x, sheet)
}

/// `clusters` far groups of 20 samples in the plane: grids of 5 × 4, shaken a little.
pub fn islands(clusters: usize) -> Array2<f64> {
    let mut random = Random::new(5);
    Array2::from_shape_fn((20 * clusters, 2), |(i, f)| {
        let grid = if f == 0 { 100 * (i / 20) + i % 5 } else { i % 20 / 5 };
        grid as f64 + 0.3 * random.uniform()
    })
}

pub fn distances(x: &Array2<f64>) -> Array2<f64> {
    let n = x.nrows();
    Array2::from_shape_fn((n, n), |(i, j)| {
        x.row(i).iter().zip(x.row(j)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    })
}

/// `−½ H D∘D H`.
pub fn double_centered(d: &Array2<f64>) -> Array2<f64> {
    let n = d.nrows();
    let squared = d.mapv(|v| v * v);
    let row = |i: usize| squared.row(i).sum() / n as f64;
    let all = squared.sum() / (n * n) as f64;
    Array2::from_shape_fn((n, n), |(i, j)| -0.5 * (squared[[i, j]] - row(i) - row(j) + all))
}

/// Lengths of the edges between every sample and its k nearest; infinite where there is none.
pub fn nearest_edges(x: &Array2<f64>, k: usize) -> Array2<f64> {
    let d = distances(x);
    let n = x.nrows();
    let mut edges = Array2::from_elem((n, n), f64::INFINITY);
    for i in 0..n {
        for j in nearest(&d, i, k) {
            edges[[i, j]] = d[[i, j]];
            edges[[j, i]] = d[[i, j]];
        }
    }
    edges
}

/// The k nearest of a sample by a matrix of distances.
pub fn nearest(d: &Array2<f64>, i: usize, k: usize) -> Vec<usize> {
    let mut others: Vec<usize> = (0..d.nrows()).filter(|&j| j != i).collect();
    others.sort_by(|&a, &b| d[[i, a]].partial_cmp(&d[[i, b]]).unwrap().then(a.cmp(&b)));
    others.truncate(k);
    others
}

/// Shortest paths by Floyd and Warshall.
pub fn geodesics(edges: &Array2<f64>) -> Array2<f64> {
    let n = edges.nrows();
    let mut all = edges.clone();
    (0..n).for_each(|i| all[[i, i]] = 0.0);
    for through in 0..n {
        for i in 0..n {
            for j in 0..n {
                let way = all[[i, through]] + all[[through, j]];
                if way < all[[i, j]] {
                    all[[i, j]] = way;
                }
            }
        }
    }
    all
}

/// `(I − W)ᵀ(I − W)` with the weights by Gaussian elimination.
pub fn lle_matrix(x: &Array2<f64>, k: usize, regularization: f64) -> Array2<f64> {
    let n = x.nrows();
    let d = distances(x);
    let mut r = Array2::eye(n);
    for i in 0..n {
        let nodes = nearest(&d, i, k);
        let gram = Array2::from_shape_fn((k, k), |(a, b)| {
            let to = |j: usize| &x.row(i) - &x.row(nodes[j]);
            to(a).dot(&to(b))
        });
        let ridge = regularization * gram.diag().sum();
        let w = solve(gram + Array2::<f64>::eye(k) * ridge, Array1::ones(k));
        let sum = w.sum();
        for (j, &node) in nodes.iter().enumerate() {
            r[[i, node]] = -w[j] / sum;
        }
    }
    r.t().dot(&r)
}

fn solve(mut a: Array2<f64>, mut b: Array1<f64>) -> Array1<f64> {
    let n = b.len();
    for p in 0..n {
        let pivot = (p..n).max_by(|&i, &j| a[[i, p]].abs().total_cmp(&a[[j, p]].abs())).unwrap();
        for c in 0..n {
            a.swap([p, c], [pivot, c]);
        }
        b.swap(p, pivot);
        for i in p + 1..n {
            let factor = a[[i, p]] / a[[p, p]];
            for c in p..n {
                a[[i, c]] -= factor * a[[p, c]];
            }
            b[i] -= factor * b[p];
        }
    }
    for i in (0..n).rev() {
        let inside: f64 = (i + 1..n).map(|c| a[[i, c]] * b[c]).sum();
        b[i] = (b[i] - inside) / a[[i, i]];
    }
    b
}

/// The largest difference of two matrices whose columns may differ in sign.
pub fn up_to_signs(a: ArrayView2<f64>, b: ArrayView2<f64>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    let mut worst = 0.0f64;
    for (a, b) in a.columns().into_iter().zip(b.columns()) {
        let sign = if a.dot(&b) < 0.0 { -1.0 } else { 1.0 };
        worst = a.iter().zip(b).fold(worst, |m, (x, y)| m.max((x - sign * y).abs()));
    }
    worst
}

pub fn largest_difference(a: ArrayView2<f64>, b: ArrayView2<f64>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    a.iter().zip(b).fold(0.0, |m: f64, (x, y)| m.max((x - y).abs()))
}

/// |correlation|.
pub fn correlation(a: ArrayView1<f64>, b: ArrayView1<f64>) -> f64 {
    let (a, b) = (&a - a.mean().unwrap(), &b - b.mean().unwrap());
    a.dot(&b).abs() / (a.dot(&a) * b.dot(&b)).sqrt()
}
