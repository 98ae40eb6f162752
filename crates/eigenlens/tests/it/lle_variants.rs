//! The variants of locally linear embedding beside their definitions, written with plain loops.

use super::embedding_support::*;
use super::support::{Random, jacobi};
use eigenlens::{Dataset, Error, ErrorKind, Hint, Lle, LleVariant};
use ndarray::{Array1, Array2, Axis, s};

const OTHERS: [LleVariant; 3] = [LleVariant::Modified, LleVariant::Hessian, LleVariant::Ltsa];

/// Differences of a sample's neighbours from a centre (m × d).
fn around(x: &Array2<f64>, nodes: &[usize], center: &Array1<f64>) -> Array2<f64> {
    x.select(Axis(0), nodes) - center
}

/// `I − 11ᵀ/m − TTᵀ` with T the leading k eigenvectors of the centred neighbours' Gram matrix.
fn outside_tangent(x: &Array2<f64>, nodes: &[usize], k: usize) -> Array2<f64> {
    let m = nodes.len();
    let mean = x.select(Axis(0), nodes).mean_axis(Axis(0)).unwrap();
    let centered = around(x, nodes, &mean);
    let (_, vectors) = jacobi(&centered.dot(&centered.t()));
    let tangent = vectors.slice(s![..k, ..]);
    Array2::eye(m) - Array2::from_elem((m, m), 1.0 / m as f64) - tangent.t().dot(&tangent)
}

/// Squared singular values of the differences from the sample, and all left vectors.
fn local(x: &Array2<f64>, i: usize, nodes: &[usize]) -> (Vec<f64>, Array2<f64>) {
    let differences = around(x, nodes, &x.row(i).to_owned());
    let (values, vectors) = jacobi(&differences.dot(&differences.t()));
    (values, vectors.reversed_axes())
}

/// Zhang & Wang's block with the reflection H left out: `Vᵀ1` is mapped to `α1`, so that
/// `VH1 = VVᵀ1/α`.
fn modified_block(x: &Array2<f64>, i: usize, nodes: &[usize], eta: f64) -> Array2<f64> {
    let (m, d) = (nodes.len(), x.ncols().min(nodes.len()));
    let (values, vectors) = local(x, i, nodes);
    let total: f64 = values[..d].iter().sum();
    let left =
        |kept: usize| values[kept..d].iter().sum::<f64>() / values[..kept].iter().sum::<f64>();
    let inside = (1..d).find(|&kept| left(kept) < eta).unwrap_or(d);
    let s_i = (m - inside).max(1);
    let null = vectors.slice(s![.., m - s_i..]);
    let projected = null.dot(&null.sum_axis(Axis(0)));
    let alpha = (projected.sum() / s_i as f64).sqrt();
    let sums = vectors.sum_axis(Axis(0));
    let shrunk: Array1<f64> =
        (0..m).map(|j| sums[j] / (if j < d { values[j] } else { 0.0 } + 1e-3 * total)).collect();
    let usual = vectors.dot(&shrunk);
    let usual = &usual / usual.sum();
    let mut block = Array2::zeros((m + 1, m + 1));
    let inner = null.dot(&null.t());
    for a in 0..m {
        for b in 0..m {
            let mixed = projected[a] * usual[b] + usual[a] * projected[b];
            block[[a, b]] = inner[[a, b]]
                + (1.0 - alpha) / alpha * mixed
                + (1.0 - alpha).powi(2) * s_i as f64 * usual[a] * usual[b];
        }
        let row = projected[a] / alpha + (1.0 - alpha) * s_i as f64 * usual[a];
        block[[a, m]] = -row;
        block[[m, a]] = -row;
    }
    block[[m, m]] = s_i as f64;
    block
}

/// M of a variant (n × n), dense.
fn alignment(x: &Array2<f64>, m: usize, k: usize, variant: LleVariant) -> Array2<f64> {
    let (n, d) = (x.nrows(), distances(x));
    let nodes: Vec<Vec<usize>> = (0..n).map(|i| nearest(&d, i, m)).collect();
    let mut shares: Vec<f64> = (0..n)
        .map(|i| {
            let (values, _) = local(x, i, &nodes[i]);
            let most = x.ncols().min(m);
            values[k..most].iter().sum::<f64>() / values[..k].iter().sum::<f64>()
        })
        .collect();
    shares.sort_by(f64::total_cmp);
    let eta = 0.5 * (shares[n / 2 - 1] + shares[n / 2]);
    let mut all = Array2::zeros((n, n));
    for i in 0..n {
        let mut members = nodes[i].clone();
        let block = match variant {
            LleVariant::Modified => {
                members.push(i);
                modified_block(x, i, &nodes[i], eta)
            }
            // scikit-learn keeps all that is orthogonal to the tangent space, not only second
            // derivatives: the products that it adds to the basis change nothing.
            _ => outside_tangent(x, &nodes[i], k),
        };
        for (a, &p) in members.iter().enumerate() {
            for (b, &q) in members.iter().enumerate() {
                all[[p, q]] += block[[a, b]];
            }
        }
    }
    all
}

#[test]
fn every_variant_solves_its_eigenproblem() {
    let (roll, _) = swiss_roll(140, 6);
    let wide = Random::new(4).ordinary(120, 20);
    for (x, m) in [(roll, 9), (wide, 12)] {
        let n = x.nrows();
        for variant in OTHERS {
            let matrix = alignment(&x, m, 2, variant);
            let model = Lle::new(2).neighbors(m).variant(variant).fit(&x).unwrap();
            let (values, _) = jacobi(&matrix);
            let y = model.coordinates();
            let product = matrix.dot(&y);
            for j in 0..2 {
                let value = model.eigenvalues()[j];
                let off = (value - values[n - 2 - j]).abs();
                assert!(off < 1e-10 * values[0], "{variant:?} {n}: {off:e} of {}", values[0]);
                assert!((y.column(j).dot(&y.column(j)) - 1.0).abs() < 1e-12);
                assert!(y.column(j).sum().abs() < 1e-9);
                let off = &product.column(j) - &(value * &y.column(j));
                assert!(off.dot(&off).sqrt() < 1e-9 * values[0], "{variant:?}");
            }
            assert_eq!(model.lle_variant(), Some(variant));
            assert!(model.certificate().relative_residual() < 1e-9);
        }
    }
}

#[test]
fn a_flat_sheet_comes_back_up_to_an_affine_map() {
    let mut random = Random::new(20);
    let plane = Array2::from_shape_simple_fn((200, 2), || random.uniform());
    let axes = random.orthonormal(3, 2, false);
    let x = plane.dot(&axes.t());
    let centered = &plane - &plane.mean_axis(Axis(0)).unwrap();
    // What a linear map of the plane leaves of the coordinates: their part outside its two axes.
    let (_, turned) = jacobi(&centered.t().dot(&centered));
    let along = centered.dot(&turned.t());
    for variant in OTHERS {
        // The weights of the modified variant are regularised by 1e-3.
        let modified = variant == LleVariant::Modified;
        let (tolerance, smallest) = if modified { (1e-3, 1e-5) } else { (1e-6, 1e-12) };
        let model = Lle::new(2).neighbors(10).variant(variant).fit(&x).unwrap();
        let mut left = model.coordinates().to_owned();
        for axis in along.columns() {
            let inside = left.t().dot(&axis) / axis.dot(&axis);
            for (mut column, inside) in left.columns_mut().into_iter().zip(inside) {
                column.scaled_add(-inside, &axis);
            }
        }
        let left = left.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!(left < tolerance, "{variant:?}: {left}");
        let value = model.eigenvalues()[1].abs();
        assert!(value < smallest, "{variant:?}: {value}");
    }
}

#[test]
fn too_few_neighbors_are_counted() {
    let (x, _) = swiss_roll(60, 1);
    let data = Dataset::from(&x);
    for (variant, k, needed) in
        [(LleVariant::Hessian, 2, 6), (LleVariant::Ltsa, 3, 5), (LleVariant::Modified, 3, 3)]
    {
        let lle = |m: usize| Lle::new(k).neighbors(m).variant(variant).bridges(true);
        let error = lle(needed - 1).fit(&data).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let words = format!("needs at least {needed} neighbours of every sample");
        assert!(error.to_string().contains(&words), "{error}");
        assert!(error.to_string().contains(&format!("`n_neighbors` is {}", needed - 1)), "{error}");
        let hint = Hint::Set { option: "n_neighbors", value: needed.to_string() };
        assert_eq!(error.hint(), Some(hint));
        assert!(lle(needed).fit(&data).is_ok(), "{variant:?}");
        // A radius leaves some samples with fewer than others.
        let near = Lle::new(k).radius(1e-3).variant(variant).bridges(true).fit(&data);
        assert!(matches!(near, Err(Error::TooFewNeighbors { row: Some(_), .. })), "{near:?}");
    }
    // The tangent space of three features has three directions.
    let error = Lle::new(4).variant(LleVariant::Ltsa).fit(&data).unwrap_err();
    assert!(matches!(error, Error::TooManyComponents { limit: 3, .. }), "{error}");
}
