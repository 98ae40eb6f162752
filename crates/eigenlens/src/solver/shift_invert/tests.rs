use super::*;
use crate::data::Csr;
use crate::error::ErrorKind;
use crate::linalg::random;
use std::f64::consts::PI;

/// The matrix with these entries and their mirror images; diagonal ones once.
fn symmetric(d: usize, entries: &[(usize, usize, f64)]) -> SparseSymmetric {
    SparseSymmetric::new(&csr(d, entries)).unwrap()
}

fn csr(d: usize, entries: &[(usize, usize, f64)]) -> Csr<f64> {
    let mut rows = vec![Vec::new(); d];
    for &(i, j, v) in entries {
        rows[i].push((j as u32, v));
        if i != j {
            rows[j].push((i as u32, v));
        }
    }
    let mut starts = vec![0];
    rows.iter().for_each(|r| starts.push(starts.last().unwrap() + r.len()));
    let (columns, values) = rows.into_iter().flatten().unzip();
    Csr::new(d, d, starts, columns, values).unwrap()
}

/// The Laplacian of a graph with unit weights: every edge adds to four entries, stored apart.
fn laplacian(d: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> SparseSymmetric {
    let entries: Vec<_> =
        edges.into_iter().flat_map(|(i, j)| [(i, i, 1.0), (j, j, 1.0), (i, j, -1.0)]).collect();
    symmetric(d, &entries)
}

fn path(d: usize) -> SparseSymmetric {
    laplacian(d, (1..d).map(|i| (i - 1, i)))
}

fn cycle(d: usize) -> SparseSymmetric {
    laplacian(d, (0..d).map(|i| (i, (i + 1) % d)))
}

fn grid(side: usize) -> SparseSymmetric {
    let across = (0..side * side).filter(|i| i % side + 1 < side).map(|i| (i, i + 1));
    let down = (0..side * (side - 1)).map(|i| (i, i + side));
    laplacian(side * side, across.chain(down))
}

fn path_values(d: usize) -> Vec<f64> {
    (0..d).map(|j| 2.0 - 2.0 * (PI * j as f64 / d as f64).cos()).collect()
}

fn grid_values(side: usize) -> Vec<f64> {
    let line = path_values(side);
    ascending(line.iter().flat_map(|a| line.iter().map(move |b| a + b)).collect())
}

fn ascending(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn constant(d: usize) -> Array2<f64> {
    Array2::from_elem((d, 1), (d as f64).sqrt().recip())
}

fn dense_of(a: &SparseSymmetric) -> Array2<f64> {
    let mut dense = Array2::zeros((a.dim(), a.dim()));
    a.apply(Array2::eye(a.dim()).view(), &mut dense).unwrap();
    dense
}

/// A sparse matrix with about `per_row` random entries in a row.
fn random_sparse(d: usize, per_row: usize, diagonal: f64, seed: u64) -> SparseSymmetric {
    let mut rng = random::stream(seed, 99);
    let mut entries: Vec<_> = (0..d).map(|i| (i, i, diagonal)).collect();
    for _ in 0..d * per_row / 2 {
        let i = (random::uniform(&mut rng) * d as f64) as usize;
        let j = (random::uniform(&mut rng) * d as f64) as usize;
        entries.push((i, j, random::normal(&mut rng)));
    }
    symmetric(d, &entries)
}

/// Finds the k smallest and compares: values to 1e-12 of the norm, residuals to 1e-9.
#[track_caller]
fn check(a: &SparseSymmetric, known: Option<&Array2<f64>>, expected: &[f64]) -> Eigenpairs {
    let k = expected.len();
    let pairs = smallest(a, k, known.map(|n| n.view()), &Options::default()).unwrap();
    let norm = a.rows().bounds().1.max(f64::MIN_POSITIVE);
    assert_eq!((pairs.values.len(), pairs.vectors.dim()), (k, (a.dim(), k)));
    for (found, expected) in pairs.values.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-12 * norm, "{found:e} {expected:e} {norm:e}");
    }
    assert!(pairs.convergence.converged && pairs.convergence.residuals.len() == k);
    let mut product = Array2::zeros(pairs.vectors.dim());
    a.apply(pairs.vectors.view(), &mut product).unwrap();
    for (j, &value) in pairs.values.iter().enumerate() {
        let off = (&product.column(j) - &(&pairs.vectors.column(j) * value)) / norm;
        assert!(off.dot(&off).sqrt() <= 1e-9, "residual {:e}", off.dot(&off).sqrt());
        assert_eq!(finish::sign_of(pairs.vectors.column(j), finish::f64_tie()), 1.0);
    }
    assert!(certificate::orthogonality(pairs.vectors.view()) < 1e-12);
    if let Some(known) = known {
        let inside = gemm::transposed_product(known.view(), pairs.vectors.view());
        assert!(inside.iter().all(|v| v.abs() < 1e-10), "{inside}");
    }
    pairs
}

#[test]
fn a_path() {
    for d in [2, 3, 4, 10, 200, 1000, 20_000] {
        let (a, k) = (path(d), 6.min(d - 1));
        let values = path_values(d);
        check(&a, None, &values[..k]);
        let pairs = check(&a, Some(&constant(d)), &values[1..k + 1]);
        // The vectors are cosines, also where the values are tiny beside the norm.
        for j in 0..k {
            let exact = ndarray::Array1::from_shape_fn(d, |i| {
                (PI * (j + 1) as f64 * (i as f64 + 0.5) / d as f64).cos() * (2.0 / d as f64).sqrt()
            });
            let cosine = exact.dot(&pairs.vectors.column(j));
            assert!(cosine.abs() > 1.0 - 1e-6, "{d} {j} {cosine}");
        }
    }
}

#[test]
fn a_cycle_has_double_values() {
    for d in [3, 50, 999] {
        let values =
            ascending((0..d).map(|j| 2.0 - 2.0 * (2.0 * PI * j as f64 / d as f64).cos()).collect());
        let k = 7.min(d);
        check(&cycle(d), None, &values[..k]);
        check(&cycle(d), Some(&constant(d)), &values[1..k]);
    }
}

#[test]
fn grids() {
    for side in [2, 5, 30] {
        let k = 12.min(side * side - 1);
        check(&grid(side), None, &grid_values(side)[..k]);
        check(&grid(side), Some(&constant(side * side)), &grid_values(side)[1..k + 1]);
    }
    check(&grid(100), Some(&constant(10_000)), &grid_values(100)[1..11]);
}

#[test]
fn a_graph_in_parts() {
    let (parts, size) = (11, 40);
    let d = parts * size;
    let a = laplacian(d, (1..d).filter(|i| i % size != 0).map(|i| (i - 1, i)));
    let known = Array2::from_shape_fn((d, parts), |(i, c)| {
        if i / size == c { (size as f64).sqrt().recip() } else { 0.0 }
    });
    let one = path_values(size);
    let values: Vec<f64> = one.iter().flat_map(|v| vec![*v; parts]).collect();
    // Eleven null vectors, more than a block has columns, are found as well as taken.
    check(&a, None, &values[..15]);
    check(&a, Some(&known), &values[parts..parts + 13]);
}

#[test]
fn agrees_with_the_dense_solver() {
    for (d, per_row, diagonal) in [(30, 4, 0.0), (300, 5, 15.0), (500, 3, 1000.0), (400, 4, 0.0)] {
        let a = random_sparse(d, per_row, diagonal, 3);
        let values = dense::symmetric_eigenvalues(dense_of(&a).view()).unwrap();
        check(&a, None, &values[..8]);
    }
}

#[test]
fn all_of_a_small_matrix() {
    for d in [1, 2, 3, 9, 60] {
        let a = random_sparse(d, 2, 1.0, 5);
        let values = dense::symmetric_eigenvalues(dense_of(&a).view()).unwrap();
        check(&a, None, &values);
    }
    check(&path(30), Some(&constant(30)), &path_values(30)[1..]);
    check(&symmetric(3, &[]), None, &[0.0; 3]);
    check(&symmetric(500, &[]), None, &[0.0; 9]);
    check(&symmetric(1, &[(0, 0, -2.5)]), None, &[-2.5]);
    check(&symmetric(1, &[(0, 0, 0.0)]), None, &[0.0]);
}

#[test]
fn a_dense_row() {
    // A star: 0, then 1 (d − 2 times), then d.
    let d = 3000;
    let star = laplacian(d, (1..d).map(|i| (0, i)));
    check(&star, Some(&constant(d)), &[1.0; 12]);
}

#[test]
fn any_scale() {
    let values = path_values(400);
    for scale in [1e-300, 1e-200, 1e200, 1e300] {
        let mut entries = vec![(0, 0, scale), (399, 399, scale)];
        entries.extend((1..399).map(|i| (i, i, 2.0 * scale)));
        entries.extend((1..400).map(|i| (i - 1, i, -scale)));
        let a = symmetric(400, &entries);
        let pairs = smallest(&a, 5, Some(constant(400).view()), &Options::default()).unwrap();
        for (found, expected) in pairs.values.iter().zip(&values[1..]) {
            assert!((found / scale - expected).abs() < 1e-12);
        }
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let a = random_sparse(2000, 4, 12.0, 8);
    let run = |threads| {
        smallest(&a, 9, None, &Options { threads: Some(threads), ..Options::default() }).unwrap()
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

#[test]
fn what_cannot_be_asked() {
    let (a, options) = (path(10), Options::default());
    let ask = |k, known: Option<Array2<f64>>| {
        smallest(&a, k, known.as_ref().map(|n| n.view()), &options).unwrap_err()
    };
    assert!(matches!(ask(11, None), Error::TooManyComponents { limit: 10, .. }));
    assert!(matches!(ask(10, Some(constant(10))), Error::TooManyComponents { limit: 9, .. }));
    assert!(matches!(ask(0, None), Error::Parameter { name: "n_components", .. }));
    assert!(matches!(ask(1, Some(constant(9))), Error::Shape { .. }));
    let known = |v: Array2<f64>| ask(1, Some(v)).to_string();
    assert!(known(constant(10) * 2.0).contains("orthonormal"));
    assert!(known(constant(10) * f64::NAN).contains("finite"));
    assert!(known(Array2::eye(10)).contains("n_components"));
    let unit = Array2::from_shape_fn((10, 1), |(i, _)| f64::from(u8::from(i == 0)));
    assert!(known(unit).contains("mapped to 0"));
    let tight = Options { memory: Some(100), ..Options::default() };
    assert_eq!(smallest(&a, 1, None, &tight).unwrap_err().kind(), ErrorKind::Memory);
    let hasty = Options { max_iterations: 1, ..Options::default() };
    let error = smallest(&grid(30), 3, None, &hasty).unwrap_err();
    assert!(matches!(error, Error::NotConverged { .. }), "{error}");
}

#[test]
fn only_symmetric_matrices() {
    let of = |d, starts, columns, values| {
        SparseSymmetric::new(&Csr::new(d, 2, starts, columns, values).unwrap()).unwrap_err()
    };
    let error = of(2, vec![0, 1, 2], vec![1, 0], vec![1.0, 1.1]);
    assert!(matches!(error, Error::NotSymmetric { row: 0, column: 1, .. }), "{error}");
    let error = of(2, vec![0, 0, 1], vec![0], vec![1.0]);
    assert!(matches!(error, Error::NotSymmetric { row: 0, column: 1, .. }), "{error}");
    let error = of(2, vec![0, 1, 2], vec![0, 1], vec![1.0, f64::NAN]);
    assert!(matches!(error, Error::MissingValue { row: 1, column: 1, .. }), "{error}");
    let error = of(2, vec![0, 2, 2], vec![0, 0], vec![1e308, 1e308]);
    assert!(matches!(error, Error::Infinite { row: 0, column: 0, .. }), "{error}");
    assert!(matches!(of(1, vec![0, 0], vec![], vec![]), Error::Shape { .. }));
    assert!(matches!(of(0, vec![0], vec![], vec![]), Error::NoRows));
}

#[test]
fn inertia_counts() {
    let mut counted = 0;
    for (a, seed) in [(random_sparse(300, 4, 0.0, 1), 1), (grid(20), 2), (path(500), 3)] {
        let (scaled, exponent) = a.scaled();
        let dense = dense_of(&a);
        let analysis = Analysis::new(scaled.rows()).unwrap();
        let mut rng = random::stream(seed, 4);
        for _ in 0..10 {
            let shift = 8.0 * random::uniform(&mut rng) - 2.0;
            let factor = analysis.indefinite(shift * dense::power_of_two(-exponent)).unwrap();
            if factor.backward_error().unwrap() < 1e-11 {
                let above = dense::count_above(dense.view(), shift);
                assert_eq!(factor.negative_count(), Some(a.dim() - above), "{shift}");
                counted += 1;
            }
        }
    }
    assert!(counted >= 25, "{counted}");
}

#[test]
fn a_missed_value_is_noticed() {
    let (a, _) = grid(12).scaled();
    let options = Options::default();
    let analysis = Analysis::new(a.rows()).unwrap();
    // The values 0, p, p, 2p, q, q: four end before a gap, five within a pair.
    for k in [4, 5] {
        let search = ShiftSearch::new(&a, k, None, &options).unwrap();
        let mut found = search.search(&analysis, 0, &mut Convergence::default()).unwrap();
        assert_eq!(search.none_missed(&analysis, &found).unwrap(), Some(NoneMissed::Inertia));
        found.values.remove(1);
        let fewer = ShiftSearch::new(&a, k - 1, None, &options).unwrap();
        assert_eq!(fewer.none_missed(&analysis, &found).unwrap(), Some(NoneMissed::Disproved));
    }
}
