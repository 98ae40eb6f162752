//! MDS, Isomap, Laplacian eigenmaps and LLE: their equations, closed forms and published behaviour.

use super::embedding_support::*;
use super::support::{Random, jacobi};
use eigenlens::{
    Affinity, Csr, Dataset, Error, Hint, Isomap, LaplacianEigenmaps, Lle, Mds, Metric,
    Normalization, Pca, Scaling, Warning, graph,
};
use ndarray::{Array1, Array2, Axis, s};
use std::f64::consts::PI;

#[test]
fn mds_of_euclidean_distances_is_pca() {
    let x = Random::new(1).ordinary(80, 6);
    let (pca, scores) = Pca::new(4).fit_transform(&x).unwrap();
    let (mds, coordinates) = Mds::new(4).fit_transform(&x).unwrap();
    assert!(up_to_signs(coordinates.view(), scores.view()) < 1e-12);
    // The same from the distances alone, which knows nothing of features.
    let given = Mds::new(4).fit_distances(distances(&x).view()).unwrap();
    assert!(up_to_signs(given.coordinates(), scores.view()) < 1e-8);
    assert!(largest_difference(given.coordinates(), mds.coordinates()) < 1e-8);
    let variance = mds.explained_variance().unwrap();
    for j in 0..4 {
        assert!((variance[j] - pca.explained_variance()[j]).abs() < 1e-9);
        assert!(
            (given.eigenvalues()[j] - mds.eigenvalues()[j]).abs() < 1e-9 * mds.eigenvalues()[0]
        );
    }
    assert!((given.trace().unwrap() - mds.trace().unwrap()).abs() < 1e-8);
    let (ratio, of_pca) = (mds.explained_variance_ratio().unwrap(), pca.explained_variance_ratio());
    assert!((ratio[0] - of_pca[0]).abs() < 1e-12);
    // No negative part, and the stress is that of the axes left out.
    for model in [&mds, &given] {
        let none = model.negative_part().unwrap();
        assert_eq!((none.share, none.smallest, none.complete), (0.0, 0.0, true));
    }
    let (kept, all) = (distances(&coordinates), distances(&x));
    let off = (&all - &kept).mapv(|v| v * v).sum() / all.mapv(|v| v * v).sum();
    assert!((mds.quality().stress.unwrap() - off.sqrt()).abs() < 1e-12);
    assert!((given.quality().stress.unwrap() - off.sqrt()).abs() < 1e-8);
}

#[test]
fn mds_past_the_rank_adds_null_components() {
    let x = Random::new(2).matrix(30, 3);
    for model in
        [Mds::new(6).fit(&x).unwrap(), Mds::new(6).fit_distances(distances(&x).view()).unwrap()]
    {
        assert_eq!((model.n_components(), model.rank()), (6, 3));
        assert!(model.coordinates().slice(s![.., 3..]).iter().all(|v| *v == 0.0));
        assert_eq!(model.eigenvalues()[3..], [0.0; 3]);
        assert!(
            (distances(&model.coordinates().to_owned()) - distances(&x))
                .iter()
                .all(|v| v.abs() < 1e-7)
        );
    }
}

/// Training scores solve the eigenproblem of B, and its whole spectrum is accounted for.
#[test]
fn mds_of_any_distances_diagonalises_them() {
    let x = Random::new(3).matrix(60, 4);
    for (metric, name) in
        [(Metric::Manhattan, "l1"), (Metric::Chebyshev, "max"), (Metric::Cosine, "cosine")]
    {
        let model = Mds::new(5).metric(metric).fit(&x).unwrap();
        let between = |a: ndarray::ArrayView1<f64>, b: ndarray::ArrayView1<f64>| match name {
            "l1" => a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum::<f64>(),
            "max" => a.iter().zip(b).fold(0.0, |m: f64, (x, y)| m.max((x - y).abs())),
            _ => 1.0 - a.dot(&b) / (a.dot(&a) * b.dot(&b)).sqrt(),
        };
        let d =
            Array2::from_shape_fn(
                (60, 60),
                |(i, j)| {
                    if i == j { 0.0 } else { between(x.row(i), x.row(j)) }
                },
            );
        let b = double_centered(&d);
        let (values, _) = jacobi(&b);
        let y = model.coordinates();
        let product = b.dot(&y);
        for j in 0..5 {
            assert!((model.eigenvalues()[j] - values[j]).abs() < 1e-9 * values[0], "{name}");
            let length = y.column(j).dot(&y.column(j));
            assert!((length - values[j]).abs() < 1e-9 * values[0]);
            for i in 0..60 {
                assert!((product[[i, j]] - values[j] * y[[i, j]]).abs() < 1e-7 * values[0]);
            }
            assert!(y.column(j).sum().abs() < 1e-9);
        }
        let negative = model.negative_part().unwrap();
        let below: f64 = values.iter().map(|v| (-v).max(0.0)).sum();
        let all: f64 = values.iter().map(|v| v.abs()).sum();
        assert!((negative.smallest - values.iter().fold(0.0f64, |m, v| m.min(*v))).abs() < 1e-9);
        assert!(negative.complete && (negative.share - below / all).abs() < 1e-9);
        let positive: f64 = values.iter().map(|v| v.max(0.0)).sum();
        let ratio = model.explained_variance_ratio().unwrap();
        assert!((ratio[0] - values[0] / positive).abs() < 1e-9);
        assert!((model.trace().unwrap() - values.iter().sum::<f64>()).abs() < 1e-9 * values[0]);
        assert!(model.certificate().relative_residual() < 1e-12);
    }
}

#[test]
fn the_iteration_finds_what_the_whole_spectrum_has() {
    // Large enough for the iteration; few distinct distances make a clear negative part.
    let (x, _) = swiss_roll(700, 4);
    let few = Mds::new(3).metric(Metric::Manhattan).fit(&x).unwrap();
    let all = Mds::new(100).metric(Metric::Manhattan).fit(&x).unwrap();
    assert_ne!(few.plan().route, all.plan().route);
    let first = all.coordinates().slice(s![.., ..3]).to_owned();
    assert!(largest_difference(few.coordinates(), first.view()) < 1e-6);
    let (few, all) = (few.negative_part().unwrap(), all.negative_part().unwrap());
    assert!(all.complete && !few.complete && all.smallest < 0.0);
    assert!((few.smallest / all.smallest - 1.0).abs() < 0.05, "{few:?} {all:?}");
    assert!(few.share > 0.0 && few.share <= all.share);
}

#[test]
fn isomap_diagonalises_geodesic_distances() {
    let (x, _) = swiss_roll(150, 1);
    let model = Isomap::new(3).neighbors(9).fit(&x).unwrap();
    let b = double_centered(&geodesics(&nearest_edges(&x, 9)));
    let (values, vectors) = jacobi(&b);
    let roots = Array1::from_iter(values[..3].iter().map(|v| v.sqrt()));
    let expected = vectors.slice(s![..3, ..]).t().to_owned() * &roots;
    assert!(up_to_signs(model.coordinates(), expected.view()) < 1e-8);
    for j in 0..3 {
        assert!((model.eigenvalues()[j] - values[j]).abs() < 1e-9 * values[0]);
    }
    let least = values.iter().fold(0.0f64, |m, v| m.min(*v));
    assert!(least < 0.0);
    assert!((model.negative_part().unwrap().smallest - least).abs() < 1e-9 * values[0]);
    // Residual variance by its definition.
    let (g, d) = (geodesics(&nearest_edges(&x, 9)), distances(&model.coordinates().to_owned()));
    let pairs = |m: &Array2<f64>| {
        Array1::from_iter((0..150).flat_map(|i| (0..i).map(move |j| (i, j))).map(|p| m[p]))
    };
    let r = correlation(pairs(&g).view(), pairs(&d).view());
    assert!((model.quality().residual_variance.unwrap() - (1.0 - r * r)).abs() < 1e-10);
}

#[test]
fn isomap_unrolls_a_swiss_roll_and_pca_does_not() {
    let (x, sheet) = swiss_roll(900, 7);
    let model = Isomap::new(2).neighbors(10).fit(&x).unwrap();
    let y = model.coordinates();
    assert!(correlation(y.column(0), sheet.column(0)) > 0.995);
    assert!(correlation(y.column(1), sheet.column(1)) > 0.97);
    // Distances on the sheet, not only their order.
    let (on_sheet, found) = (distances(&sheet), distances(&y.to_owned()));
    let off = (&on_sheet - &found).mapv(|v| v * v).sum() / on_sheet.mapv(|v| v * v).sum();
    assert!(off.sqrt() < 0.08, "{}", off.sqrt());
    let quality = model.quality();
    assert!(quality.residual_variance.unwrap() < 0.01);
    assert!(quality.trustworthiness > 0.99 && quality.continuity > 0.99);
    let (_, flat) = Pca::new(2).fit_transform(&x).unwrap();
    let along = (0..2).map(|j| correlation(flat.column(j), sheet.column(0))).fold(0.0, f64::max);
    assert!(along < 0.7, "{along}");
    let trust = graph::trustworthiness(&x, flat.view(), 5).unwrap();
    assert!(trust < quality.trustworthiness);
}

#[test]
fn landmarks_approach_isomap_and_are_it_when_all_are() {
    let (x, sheet) = swiss_roll(900, 7);
    let data = Dataset::from(&x);
    let full = Isomap::new(2).neighbors(10).fit(&data).unwrap();
    let all = Isomap::new(2).neighbors(10).landmarks(900).fit(&data).unwrap();
    assert!(largest_difference(all.coordinates(), full.coordinates()) < 1e-6);
    let some = Isomap::new(2).neighbors(10).landmarks(60).fit(&data).unwrap();
    assert_eq!(some.landmarks().unwrap().len(), 60);
    assert_eq!(some.coordinates().nrows(), 900);
    let along = correlation(some.coordinates().column(0), sheet.column(0));
    let all = correlation(full.coordinates().column(0), sheet.column(0));
    assert!(along > 0.97 && (along - all).abs() < 0.02, "{along} and {all}");
    // Landmarks lie where classical MDS of their geodesics puts them.
    let g = geodesics(&nearest_edges(&x, 10));
    let at: Vec<usize> = some.landmarks().unwrap().iter().map(|&i| i as usize).collect();
    let among = Array2::from_shape_fn((60, 60), |(i, j)| g[[at[i], at[j]]]);
    let mds = Mds::new(2).fit_distances(among.view()).unwrap();
    let placed = some.coordinates().select(Axis(0), &at);
    assert!(up_to_signs(placed.view(), mds.coordinates()) < 1e-7);
}

/// Equally spaced samples on a line, each joined to the next: the path graph.
fn path(n: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, 1), |(i, _)| i as f64)
}

/// Samples on a circle, each joined to the next: the cycle.
fn cycle(n: usize) -> (Array2<f64>, f64) {
    let angle = 2.0 * PI / n as f64;
    let x = Array2::from_shape_fn((n, 2), |(i, f)| {
        if f == 0 { (i as f64 * angle).cos() } else { (i as f64 * angle).sin() }
    });
    (x, 1.01 * 2.0 * (0.5 * angle).sin())
}

#[test]
fn the_path_has_the_spectrum_of_the_cosine_transform() {
    let n = 50;
    let model = LaplacianEigenmaps::new(6)
        .radius(1.5)
        .normalization(Normalization::Unnormalized)
        .fit(Dataset::from(&path(n)))
        .unwrap();
    for j in 0..6 {
        let frequency = PI * (j + 1) as f64 / n as f64;
        assert!((model.eigenvalues()[j] - (2.0 - 2.0 * frequency.cos())).abs() < 1e-10);
        let wave = Array1::from_shape_fn(n, |i| (frequency * (i as f64 + 0.5)).cos());
        let wave = (&wave / wave.dot(&wave).sqrt()).insert_axis(Axis(1));
        let found = model.coordinates().slice(s![.., j..j + 1]).to_owned();
        assert!(up_to_signs(found.view(), wave.view()) < 1e-8);
    }
}

#[test]
fn the_cycle_has_pairs_of_equal_values() {
    let n = 60;
    let (x, radius) = cycle(n);
    for (normalization, degree) in [
        (Normalization::Unnormalized, 1.0),
        (Normalization::Symmetric, 2.0),
        (Normalization::Generalized, 2.0),
    ] {
        let model =
            LaplacianEigenmaps::new(4).radius(radius).normalization(normalization).fit(&x).unwrap();
        for j in 0..4 {
            let frequency = 2.0 * PI * (j / 2 + 1) as f64 / n as f64;
            let expected = (2.0 - 2.0 * frequency.cos()) / degree;
            assert!((model.eigenvalues()[j] - expected).abs() < 1e-10);
        }
        // Equal values: one direction each is not identified, their planes are.
        assert!(model.certificate().groups.contains(&(0..2)));
        // Each plane draws the circle: all samples at one distance from the centre.
        let y = model.coordinates();
        let r2 = |i: usize| y[[i, 0]] * y[[i, 0]] + y[[i, 1]] * y[[i, 1]];
        let length = if normalization == Normalization::Generalized { 0.5 } else { 1.0 };
        assert!((0..n).all(|i| (r2(i) - 2.0 * length / n as f64).abs() < 1e-10));
    }
}

#[test]
fn commute_time_coordinates_have_the_distances_of_resistors() {
    let n = 24;
    for normalization in [Normalization::Unnormalized, Normalization::Generalized] {
        let model = LaplacianEigenmaps::new(n - 1)
            .radius(1.5)
            .normalization(normalization)
            .scaling(Scaling::Kernel)
            .fit(Dataset::from(&path(n)))
            .unwrap();
        // A chain of unit resistors: commute time over volume is the resistance |i − j|.
        let y = model.coordinates().to_owned();
        let squared = distances(&y).mapv(|v| v * v);
        for i in 0..n {
            for j in 0..n {
                assert!((squared[[i, j]] - i.abs_diff(j) as f64).abs() < 1e-7);
            }
        }
    }
}

#[test]
fn laplacian_eigenmaps_solve_their_equations() {
    let x = Random::new(8).matrix(120, 3);
    let (edges, all) = (nearest_edges(&x, 7), distances(&x));
    let heat = |length: f64| (-0.7 * length * length).exp();
    let every =
        Array2::from_shape_fn((120, 120), |(i, j)| if i == j { 0.0 } else { heat(all[[i, j]]) });
    let near: Vec<Vec<usize>> = (0..120).map(|i| nearest(&all, i, 7)).collect();
    let averaged = Array2::from_shape_fn((120, 120), |(i, j)| {
        0.5 * (f64::from(near[i].contains(&j)) + f64::from(near[j].contains(&i)))
    });
    // What is fitted to what, and the affinities that it means.
    let cases = [
        (Affinity::Binary, false, &x, edges.mapv(|l| f64::from(l.is_finite()))),
        (Affinity::Heat { gamma: Some(0.7) }, false, &x, edges.mapv(heat)),
        (Affinity::Averaged, false, &x, averaged.clone()),
        (Affinity::Averaged, true, &all, averaged.clone()),
        (Affinity::Rbf { gamma: Some(0.7) }, false, &x, every.clone()),
        (Affinity::Precomputed, false, &every, every.clone()),
        (Affinity::Precomputed, false, &averaged, averaged.clone()),
    ];
    for (affinity, by_distances, data, a) in cases {
        let degree = a.sum_axis(Axis(1));
        let laplacian = Array2::from_diag(&degree) - &a;
        for normalization in
            [Normalization::Generalized, Normalization::Symmetric, Normalization::Unnormalized]
        {
            let model = LaplacianEigenmaps::new(4)
                .neighbors(7)
                .affinity(affinity)
                .distances(by_distances)
                .normalization(normalization)
                .fit(data)
                .unwrap();
            let root = degree.mapv(f64::sqrt);
            let mut f = model.coordinates().to_owned();
            let (operator, measure) = match normalization {
                Normalization::Unnormalized => (laplacian.clone(), Array1::ones(120)),
                Normalization::Generalized => (laplacian.clone(), degree.clone()),
                Normalization::Symmetric => {
                    let scaled = Array2::from_shape_fn((120, 120), |(i, j)| {
                        laplacian[[i, j]] / (root[i] * root[j])
                    });
                    (scaled, Array1::ones(120))
                }
            };
            let product = operator.dot(&f);
            for j in 0..4 {
                let weighted = &measure * &f.column(j);
                assert!((f.column(j).dot(&weighted) - 1.0).abs() < 1e-10);
                let off = &product.column(j) - &(model.eigenvalues()[j] * &weighted);
                assert!(off.dot(&off).sqrt() < 1e-8);
            }
            // They are the smallest ones: all others by Jacobi, in the symmetric form.
            f.columns_mut().into_iter().for_each(|mut c| c *= &measure.mapv(f64::sqrt));
            let similar = Array2::from_shape_fn((120, 120), |(i, j)| {
                operator[[i, j]] / (measure[i] * measure[j]).sqrt()
            });
            let (values, _) = jacobi(&similar);
            for j in 0..4 {
                assert!((values[118 - j] - model.eigenvalues()[j]).abs() < 1e-9);
            }
        }
    }
}

/// `x` as compressed rows, without its zeros.
fn compressed(x: &Array2<f64>) -> Csr<f64> {
    Dataset::from(x).to_csr().unwrap()
}

#[test]
fn given_matrices_are_taken_dense_or_sparse_and_place_new_samples() {
    let x = Random::new(8).matrix(120, 3);
    let (known, new) = (x.slice(s![..100, ..]).to_owned(), x.slice(s![100.., ..]).to_owned());
    let between = Array2::from_shape_fn((20, 100), |(i, j)| {
        let off = &new.row(i) - &known.row(j);
        off.dot(&off).sqrt()
    });
    let all = distances(&known);
    let fit = |affinity, by_distances, data: &Dataset<f64>| {
        let maps = LaplacianEigenmaps::new(2).neighbors(8).affinity(affinity);
        maps.distances(by_distances).fit(data).unwrap()
    };
    // Distances do what the samples do.
    for affinity in [Affinity::Averaged, Affinity::Binary, Affinity::Heat { gamma: None }] {
        let usual = fit(affinity, false, &Dataset::from(&known));
        let given = fit(affinity, true, &Dataset::from(&all));
        assert!(given.takes_distances() && given.n_features() == 100);
        assert!(largest_difference(given.coordinates(), usual.coordinates()) < 1e-9);
        let sparse = fit(affinity, true, &Dataset::sparse(&compressed(&all)));
        assert!(largest_difference(sparse.coordinates(), given.coordinates()) == 0.0);
        let placed = usual.transform(&new).unwrap();
        let by_distances = given.transform(&between).unwrap();
        assert!(largest_difference(by_distances.view(), placed.view()) < 1e-9);
        let again = given.transform(&all).unwrap();
        assert!(largest_difference(again.view(), given.coordinates()) == 0.0);
    }
    // Affinities do what the kernel does that they are of.
    let rbf = |d: &Array2<f64>| d.mapv(|d| (-0.3 * d * d).exp());
    let usual = fit(Affinity::Rbf { gamma: Some(0.3) }, false, &Dataset::from(&known));
    let given = fit(Affinity::Precomputed, false, &Dataset::from(&rbf(&all)));
    let sparse = fit(Affinity::Precomputed, false, &Dataset::sparse(&compressed(&rbf(&all))));
    assert!(given.takes_affinities() && given.neighborhood().is_none());
    assert!(largest_difference(given.coordinates(), usual.coordinates()) < 1e-8);
    assert!(largest_difference(sparse.coordinates(), usual.coordinates()) < 1e-8);
    assert!(usual.certificate().relative_residual() < 1e-9);
    let placed = usual.transform(&new).unwrap();
    let by_affinities = given.transform(Dataset::from(&rbf(&between))).unwrap();
    assert!(largest_difference(by_affinities.view(), placed.view()) < 1e-8);
    assert_eq!(usual.transform(&known).unwrap(), usual.coordinates());
    // Without its own entry, the affinities of a training sample lead to its own place.
    let mut own = rbf(&all);
    own.diag_mut().fill(0.0);
    let again = given.transform(&own).unwrap();
    assert!(largest_difference(again.view(), given.coordinates()) < 1e-8);
}

#[test]
fn many_samples_of_a_kernel_take_the_iteration() {
    let x = Random::new(9).matrix(700, 3);
    let rbf = LaplacianEigenmaps::new(2).affinity(Affinity::Rbf { gamma: None });
    let model = rbf.fit(&x).unwrap();
    assert!(model.convergence().operator_applications > 0);
    assert!(model.certificate().relative_residual() < 1e-9);
    let mut a = distances(&x).mapv(|d| (-d * d / 3.0).exp());
    a.diag_mut().fill(0.0);
    let degree = a.sum_axis(Axis(1));
    let f = model.coordinates();
    for (f, value) in f.columns().into_iter().zip(model.eigenvalues()) {
        let off = &(&degree * &f) - &a.dot(&f) - &(*value * &degree * f);
        assert!(off.dot(&off).sqrt() < 1e-7 * degree.sum().sqrt());
        assert!(f.dot(&degree).abs() < 1e-6);
    }
}

#[test]
fn parts_that_are_kept_are_told_apart() {
    let x = islands(3);
    let apart = |y: ndarray::ArrayView2<f64>| {
        for part in 0..3 {
            let rows = y.slice(s![20 * part..20 * (part + 1), ..]);
            for i in 0..20 {
                let off = &rows.row(i) - &rows.row(0);
                assert!(off.dot(&off).sqrt() < 1e-7);
            }
            let next = &rows.row(0) - &y.row((20 * (part + 1)) % 60);
            assert!(next.dot(&next).sqrt() > 1e-2);
        }
    };
    let maps = LaplacianEigenmaps::new(2).neighbors(4).keep_parts(true);
    let model = maps.fit(&x).unwrap();
    assert_eq!(model.warnings(), [Warning::SeveralParts { parts: 3 }]);
    apart(model.coordinates());
    // The same blocks as a matrix, dense and sparse.
    let blocks = Array2::from_shape_fn((60, 60), |(i, j)| f64::from(i / 20 == j / 20));
    let given = maps.clone().affinity(Affinity::Precomputed);
    apart(given.fit(&blocks).unwrap().coordinates());
    apart(given.fit(Dataset::sparse(&compressed(&blocks))).unwrap().coordinates());
    let error = given.clone().keep_parts(false).fit(&blocks).unwrap_err();
    let hint = Hint::Set { option: "keep_parts", value: "true".into() };
    assert_eq!(error.hint(), Some(hint), "{error}");
    // A sample that nobody is tied to, and nothing but such.
    let mut lonely = blocks.clone();
    lonely.row_mut(7).fill(0.0);
    lonely.column_mut(7).fill(0.0);
    for all in [lonely, Array2::zeros((30, 30))] {
        for data in [Dataset::from(&all), Dataset::sparse(&compressed(&all))] {
            let model = given.fit(&data).unwrap();
            assert!(model.coordinates().iter().all(|v| v.is_finite()));
            assert!(model.transform(&data).unwrap().iter().all(|v| v.is_finite()));
        }
    }
    let commute = given.scaling(Scaling::Kernel).fit(&blocks);
    assert!(matches!(commute, Err(Error::Unsupported { .. })));
}

#[test]
fn matrices_that_are_no_affinities_are_refused() {
    let x = Random::new(8).matrix(20, 3);
    let good = distances(&x).mapv(|d| (-d).exp());
    let given = LaplacianEigenmaps::new(1).affinity(Affinity::Precomputed);
    let fit = |a: &Array2<f64>| given.fit(a).unwrap_err();
    let mut bad = good.clone();
    bad[[3, 4]] = -1.0;
    assert!(matches!(fit(&bad), Error::Negative { row: 3, column: 4, .. }));
    bad[[3, 4]] = f64::NAN;
    assert!(matches!(fit(&bad), Error::MissingValue { row: 3, column: 4, .. }));
    bad[[3, 4]] = 0.9;
    assert!(matches!(fit(&bad), Error::NotSymmetric { row: 3, column: 4, .. }));
    assert!(matches!(fit(&x), Error::Shape { .. }));
    let bridged = given.clone().bridges(true).fit(&good);
    assert!(matches!(bridged, Err(Error::Unsupported { .. })));
    let rbf = LaplacianEigenmaps::new(1).affinity(Affinity::Rbf { gamma: None }).distances(true);
    assert!(matches!(rbf.fit(&good), Err(Error::Unsupported { .. })));
}

#[test]
fn the_median_of_neighbours_sets_the_heat_kernel() {
    let x = Random::new(12).matrix(90, 3);
    let edges = nearest_edges(&x, 6);
    let mut lengths: Vec<f64> = edges.iter().copied().filter(|l| l.is_finite()).collect();
    lengths.sort_by(f64::total_cmp);
    let gamma = 0.5 / lengths[lengths.len() / 2].powi(2);
    let fit = |gamma| {
        LaplacianEigenmaps::new(2).neighbors(6).affinity(Affinity::Heat { gamma }).fit(&x).unwrap()
    };
    assert!(largest_difference(fit(None).coordinates(), fit(Some(gamma)).coordinates()) < 1e-9);
}

#[test]
fn lle_solves_its_eigenproblem() {
    let (x, _) = swiss_roll(140, 6);
    for regularization in [1e-3, 1e-2] {
        let m = lle_matrix(&x, 8, regularization);
        let model = Lle::new(3).neighbors(8).regularization(regularization).fit(&x).unwrap();
        let (values, _) = jacobi(&m);
        let y = model.coordinates();
        let product = m.dot(&y);
        for j in 0..3 {
            assert!((model.eigenvalues()[j] - values[138 - j]).abs() < 1e-11 * values[0]);
            assert!((y.column(j).dot(&y.column(j)) - 1.0).abs() < 1e-12);
            assert!(y.column(j).sum().abs() < 1e-9);
            let off = &product.column(j) - &(model.eigenvalues()[j] * &y.column(j));
            assert!(off.dot(&off).sqrt() < 1e-9 * values[0]);
        }
        let kernel = Lle::new(3)
            .neighbors(8)
            .regularization(regularization)
            .scaling(Scaling::Kernel)
            .fit(&x)
            .unwrap();
        for j in 0..3 {
            let length = kernel.coordinates().column(j).dot(&kernel.coordinates().column(j));
            assert!((length - (values[0] - values[138 - j])).abs() < 1e-7 * values[0]);
        }
    }
}

#[test]
fn lle_recovers_a_flat_sheet_up_to_a_linear_map() {
    // A plane in five dimensions: the coordinates must be linear in those of the plane.
    let mut random = Random::new(20);
    let plane = Array2::from_shape_simple_fn((200, 2), || random.uniform());
    let axes = random.orthonormal(5, 2, false);
    let x = plane.dot(&axes.t());
    let model = Lle::new(2).neighbors(9).regularization(1e-6).fit(&x).unwrap();
    let centered = &plane - &plane.mean_axis(Axis(0)).unwrap();
    // What a linear map of the plane leaves of the coordinates.
    let gram = centered.t().dot(&centered);
    let determinant = gram[[0, 0]] * gram[[1, 1]] - gram[[0, 1]] * gram[[1, 0]];
    let inverse =
        ndarray::array![[gram[[1, 1]], -gram[[0, 1]]], [-gram[[1, 0]], gram[[0, 0]]]] / determinant;
    let fitted = centered.dot(&inverse.dot(&centered.t().dot(&model.coordinates())));
    let left = (&model.coordinates() - &fitted).mapv(|v| v * v).sum();
    assert!(left < 0.02, "{left}");
    assert!(model.eigenvalues()[1] < 1e-6);
}

#[test]
fn quality_is_what_its_definitions_say() {
    let mut random = Random::new(30);
    let x = random.matrix(90, 5);
    let y = x.slice(s![.., ..2]).to_owned() + &(random.matrix(90, 2) * 0.5);
    let (dx, dy) = (distances(&x), distances(&y));
    let (n, k) = (90, 6);
    let penalty = |from: &Array2<f64>, image: &Array2<f64>| {
        let mut sum = 0.0;
        for i in 0..n {
            let ranks = nearest(from, i, n - 1);
            for j in nearest(image, i, k) {
                let rank = 1 + ranks.iter().position(|&l| l == j).unwrap();
                sum += rank.saturating_sub(k) as f64;
            }
        }
        1.0 - 2.0 * sum / (n * k * (2 * n - 3 * k - 1)) as f64
    };
    let data = Dataset::from(&x);
    let trust = graph::trustworthiness(&data, y.view(), k).unwrap();
    let continuous = graph::continuity(&data, y.view(), k).unwrap();
    assert!((trust - penalty(&dx, &dy)).abs() < 1e-12);
    assert!((continuous - penalty(&dy, &dx)).abs() < 1e-12);
    assert!(trust < 0.95 && continuous < 0.99);
    assert_eq!(graph::trustworthiness(&data, x.view(), k).unwrap(), 1.0);
}
