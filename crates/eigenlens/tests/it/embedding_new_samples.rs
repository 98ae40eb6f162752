//! New samples in embeddings, and everything around the fit: files, threads, storage, bad input.

use super::embedding_support::*;
use super::support::{Random, STORAGES, Table};
use eigenlens::{
    Affinity, Dataset, EmbeddingModel, Error, ErrorKind, Hint, Isomap, LaplacianEigenmaps, Lle,
    LleVariant, Mds, Metric, Missing, NComponents, Normalization, Options, Result, SampleWeights,
    Scalar, Scaling, Warning,
};
use ndarray::{Array2, array, s};

/// Every method with every way to place new samples.
fn methods<T: Scalar>(
    data: &Dataset<T>,
    options: &Options,
) -> Vec<(&'static str, Result<EmbeddingModel>)> {
    let o = || options.clone();
    let heat = Affinity::Heat { gamma: None };
    let laplacian = || LaplacianEigenmaps::new(2).neighbors(8).options(o());
    let lle = || Lle::new(2).neighbors(8).options(o());
    vec![
        ("mds", Mds::new(2).options(o()).fit(data)),
        ("mds l1", Mds::new(2).metric(Metric::Manhattan).options(o()).fit(data)),
        ("mds cosine", Mds::new(2).metric(Metric::Cosine).options(o()).fit(data)),
        ("isomap", Isomap::new(2).neighbors(8).options(o()).fit(data)),
        ("isomap radius", Isomap::new(2).radius(9.0).options(o()).fit(data)),
        ("landmarks", Isomap::new(2).neighbors(8).landmarks(30).options(o()).fit(data)),
        ("laplacian", laplacian().fit(data)),
        ("laplacian heat", laplacian().affinity(heat).scaling(Scaling::Kernel).fit(data)),
        ("laplacian symmetric", laplacian().normalization(Normalization::Symmetric).fit(data)),
        ("laplacian plain", laplacian().normalization(Normalization::Unnormalized).fit(data)),
        ("laplacian averaged", laplacian().affinity(Affinity::Averaged).fit(data)),
        ("laplacian rbf", laplacian().affinity(Affinity::Rbf { gamma: Some(0.01) }).fit(data)),
        ("lle", lle().fit(data)),
        ("lle radius", Lle::new(2).radius(9.0).options(o()).fit(data)),
        ("lle modified", lle().variant(LleVariant::Modified).fit(data)),
        ("lle hessian", lle().variant(LleVariant::Hessian).fit(data)),
        ("lle ltsa", lle().variant(LleVariant::Ltsa).fit(data)),
    ]
}

fn fitted<T: Scalar>(data: &Dataset<T>, options: &Options) -> Vec<(&'static str, EmbeddingModel)> {
    methods(data, options).into_iter().map(|(name, model)| (name, model.unwrap())).collect()
}

#[test]
fn training_rows_as_new_get_their_own_coordinates() {
    let (x, _) = swiss_roll(300, 2);
    let data = Dataset::from(&x);
    for (name, model) in fitted(&data, &Options::default()) {
        let again = model.transform(&data).unwrap();
        let size = model.coordinates().iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let off = largest_difference(again.view(), model.coordinates()) / size;
        // Graph methods give a coinciding sample exactly the same place.
        let exact = name.starts_with("laplacian") || name.starts_with("lle");
        assert!(off <= if exact { 0.0 } else { 1e-8 }, "{name}: {off}");
        // Each row as if it came alone.
        for i in [0, 17, 299] {
            let one = model.transform(x.slice(s![i..i + 1, ..])).unwrap();
            assert!(largest_difference(one.view(), again.slice(s![i..i + 1, ..])) <= 1e-12 * size);
        }
    }
}

#[test]
fn samples_near_training_samples_land_near_them() {
    let (x, _) = swiss_roll(400, 9);
    let mut random = Random::new(3);
    let near = &x + &(random.matrix(400, 3) * 1e-3);
    for (name, model) in fitted(&Dataset::from(&x), &Options::default()) {
        let y = model.coordinates();
        let placed = model.transform(&near).unwrap();
        let spread = y.mapv(|v| v * v).mean().unwrap().sqrt();
        let off = (&placed - &y).mapv(|v| v * v).mean().unwrap().sqrt() / spread;
        // By distances the place is continuous; a mean over neighbours is as good as they are near.
        let by_distances =
            name.starts_with("mds") || name.contains("isomap") || name == "landmarks";
        assert!(off < if by_distances { 0.005 } else { 0.1 }, "{name}: {off}");
    }
}

#[test]
fn new_samples_of_isomap_follow_the_sheet() {
    let (x, sheet) = swiss_roll(1000, 4);
    let (known, new) = (x.slice(s![..800, ..]), x.slice(s![800.., ..]));
    for landmarks in [None, Some(100)] {
        let mut isomap = Isomap::new(2).neighbors(10);
        if let Some(m) = landmarks {
            isomap = isomap.landmarks(m);
        }
        let model = isomap.fit(known).unwrap();
        let placed = model.transform(new).unwrap();
        assert!(correlation(placed.column(0), sheet.slice(s![800.., 0])) > 0.99);
    }
}

#[test]
fn new_samples_of_laplacian_eigenmaps_satisfy_their_equation() {
    let x = Random::new(5).matrix(130, 3);
    let (known, new) = (x.slice(s![..100, ..]).to_owned(), x.slice(s![100.., ..]).to_owned());
    let model = LaplacianEigenmaps::new(2)
        .neighbors(6)
        .affinity(Affinity::Heat { gamma: Some(0.5) })
        .fit(&known)
        .unwrap();
    let placed = model.transform(&new).unwrap();
    let own = distances(&known);
    for q in 0..30 {
        // Neighbours of the new sample, and those it would be a neighbour of.
        let to = |i: usize| {
            let off = &new.row(q) - &known.row(i);
            off.dot(&off).sqrt()
        };
        let mut order: Vec<usize> = (0..100).collect();
        order.sort_by(|&a, &b| to(a).total_cmp(&to(b)));
        let reaches = |i: usize| to(i) <= own[[i, nearest(&own, i, 6)[5]]];
        let near: Vec<usize> = (0..100).filter(|i| order[..6].contains(i) || reaches(*i)).collect();
        assert!(near.len() >= 6);
        let affinity = |i: usize| (-0.5 * to(i) * to(i)).exp();
        let total: f64 = near.iter().map(|&i| affinity(i)).sum();
        for j in 0..2 {
            let mean: f64 =
                near.iter().map(|&i| affinity(i) * model.coordinates()[[i, j]]).sum::<f64>()
                    / total;
            let expected = mean / (1.0 - model.eigenvalues()[j]);
            assert!((placed[[q, j]] - expected).abs() < 1e-12);
        }
    }
}

#[test]
fn a_model_of_given_distances_takes_distances() {
    let x = Random::new(6).matrix(50, 4);
    let all = distances(&x);
    let known = all.slice(s![..40, ..40]).to_owned();
    let model = Mds::new(3).fit_distances(known.view()).unwrap();
    assert!(model.takes_distances());
    assert_eq!(model.n_features(), 40);
    let new = all.slice(s![40.., ..40]).to_owned();
    let placed = model.transform(&new).unwrap();
    // Where PCA of the known samples puts them.
    let linear = Mds::new(3).fit(x.slice(s![..40, ..])).unwrap();
    let by_features = linear.transform(x.slice(s![40.., ..])).unwrap();
    assert!(largest_difference(placed.view(), by_features.view()) < 1e-8);
    let spoilt = |value: f64| {
        let mut new = new.clone();
        new[[3, 7]] = value;
        model.transform(&new).unwrap_err()
    };
    assert!(matches!(spoilt(-1.0), Error::NotADistance { row: 3, column: 7, .. }));
    assert!(matches!(spoilt(f64::NAN), Error::MissingValue { row: 3, column: 7, .. }));
    let narrow = Dataset::dense(new.slice(s![.., ..39]));
    assert!(matches!(model.transform(&narrow), Err(Error::Shape { .. })));
}

#[test]
fn a_model_comes_back_from_its_parts() {
    let (x, _) = swiss_roll(120, 2);
    let names = ["length", "height", "width"];
    let data = Dataset::from(&x).with_feature_names(names).unwrap();
    let new = Random::new(1).matrix(20, 3) + 1.0;
    let mut models = fitted(&data, &Options::default());
    models.push(("given", Mds::new(2).fit_distances(distances(&x).view()).unwrap()));
    models.push((
        "bridged",
        Isomap::new(1).neighbors(3).bridges(true).fit(Dataset::from(&islands(2))).unwrap(),
    ));
    let maps = LaplacianEigenmaps::new(2).neighbors(8);
    let by_distances = maps.clone().distances(true).affinity(Affinity::Averaged);
    let between = distances(&x);
    models.push(("laplacian distances", by_distances.fit(&between).unwrap()));
    let affinities = between.mapv(|d| (-0.1 * d).exp());
    let given = maps.clone().affinity(Affinity::Precomputed);
    models.push(("laplacian given", given.fit(&affinities).unwrap()));
    let parts = maps.neighbors(4).keep_parts(true).fit(Dataset::from(&islands(2))).unwrap();
    models.push(("laplacian parts", parts));
    for (name, model) in &models {
        let parts = model.to_parts();
        let back = EmbeddingModel::from_parts(&parts).unwrap();
        assert_eq!(back.to_parts(), parts, "{name}");
        let new = match back.n_features() {
            3 => new.clone(),
            d => Array2::from_shape_fn((5, d), |(i, j)| 1.0 + ((i + j) % 3) as f64),
        };
        if name.ends_with("radius") {
            assert_eq!(back.coordinates(), model.coordinates());
            continue;
        }
        let (before, after) = (model.transform(&new), back.transform(&new));
        assert_eq!(before.unwrap(), after.unwrap(), "{name}");
    }
}

#[test]
fn spoilt_parts_are_refused_by_name() {
    use eigenlens::model::parts::Numbers;
    let (x, _) = swiss_roll(80, 2);
    let data = Dataset::from(&x);
    let isomap = Isomap::new(2).neighbors(8).landmarks(20).fit(&data).unwrap().to_parts();
    let refuses = |parts: &eigenlens::Parts, what: &str| match EmbeddingModel::from_parts(parts) {
        Err(Error::Model { part, .. }) => assert_eq!(part, what),
        other => panic!("{what}: {other:?}"),
    };
    for name in isomap.arrays.keys().filter(|n| !n.starts_with("convergence")) {
        let mut parts = isomap.clone();
        parts.arrays.remove(name);
        assert!(EmbeddingModel::from_parts(&parts).is_err() || name == "landmarks", "{name}");
        let mut parts = isomap.clone();
        if let Numbers::F64(values) = &mut parts.arrays.get_mut(name).unwrap().numbers {
            values[0] = f64::NAN;
            refuses(&parts, name);
        }
    }
    for (name, value) in
        [("graph.columns", 80), ("graph.columns", -1), ("graph.starts", 7), ("landmarks", 99)]
    {
        let mut parts = isomap.clone();
        if let Numbers::I64(values) = &mut parts.arrays.get_mut(name).unwrap().numbers {
            values[0] = value;
        }
        refuses(&parts, name);
    }
    let mut parts = isomap.clone();
    parts.method = "pca".into();
    assert!(EmbeddingModel::from_parts(&parts).is_err());
    assert!(eigenlens::PcaModel::from_parts(&isomap).is_err());
}

#[test]
fn the_same_bits_for_any_threads_and_any_storage() {
    let (x, _) = swiss_roll(400, 8);
    let new = &x.slice(s![..50, ..]).to_owned() + 0.01;
    let mut expected: Option<Vec<(Array2<f64>, Array2<f64>)>> = None;
    for threads in [1, 2, 5] {
        let options = Options { threads: Some(threads), ..Options::default() };
        let found: Vec<_> = fitted(&Dataset::from(&x), &options)
            .into_iter()
            .map(|(_, m)| (m.coordinates().to_owned(), m.transform(&new).unwrap()))
            .collect();
        assert_eq!(&found, expected.get_or_insert_with(|| found.clone()), "{threads} threads");
    }
    let expected = expected.unwrap();
    for storage in STORAGES {
        let table: Table<f64> = Table::new(&x, storage);
        let found = fitted(&table.dataset(), &Options::default());
        for ((name, model), (coordinates, _)) in found.iter().zip(&expected).skip(1) {
            assert_eq!(model.coordinates(), coordinates, "{name} {storage:?}");
        }
    }
}

#[test]
fn single_precision_gives_nearly_the_same() {
    let (x, _) = swiss_roll(300, 8);
    let narrow: Table<f32> = Table::new(&x, super::support::Storage::RowMajor);
    let options = Options::default();
    let wide = narrow.values();
    let (a, b) = (fitted(&narrow.dataset(), &options), fitted(&Dataset::from(&wide), &options));
    for ((name, a), (_, b)) in a.iter().zip(&b) {
        let size = b.coordinates().iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!(largest_difference(a.coordinates(), b.coordinates()) < 1e-4 * size, "{name}");
        let placed = a.transform(narrow.dataset()).unwrap().mapv(f64::from);
        assert!(largest_difference(placed.view(), b.coordinates()) < 1e-4 * size, "{name}");
    }
}

#[test]
fn absurd_units_change_nothing_but_the_unit() {
    let (x, _) = swiss_roll(150, 8);
    let plain = Isomap::new(2).neighbors(8).fit(&x).unwrap();
    let exponent = 900;
    for sign in [1, -1] {
        let unit = 2f64.powi(sign * exponent);
        let scaled = &x * unit;
        let data = Dataset::from(&scaled);
        let model = Isomap::new(2).neighbors(8).fit(&data).unwrap();
        let size = plain.coordinates().iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let back = model.coordinates().mapv(|v| v / unit);
        assert!(largest_difference(back.view(), plain.coordinates()) < 1e-9 * size);
        let again = model.transform(&data).unwrap();
        assert!(largest_difference((again / unit).view(), plain.coordinates()) < 1e-8 * size);
        let given = Mds::new(2).fit_distances((distances(&x) * unit).view()).unwrap();
        let mds = Mds::new(2).fit(&x).unwrap();
        let back = given.coordinates().mapv(|v| v / unit);
        assert!(up_to_signs(back.view(), mds.coordinates()) < 1e-7 * size);
        for (name, model) in fitted_graph(&data) {
            assert!(model.coordinates().iter().all(|v| v.is_finite()), "{name}");
        }
    }
}

fn fitted_graph(data: &Dataset<f64>) -> Vec<(&'static str, EmbeddingModel)> {
    let heat = Affinity::Heat { gamma: None };
    vec![
        ("laplacian", LaplacianEigenmaps::new(2).neighbors(8).affinity(heat).fit(data).unwrap()),
        ("lle", Lle::new(2).neighbors(8).fit(data).unwrap()),
        ("mds l1", Mds::new(2).metric(Metric::Manhattan).fit(data).unwrap()),
    ]
}

#[test]
fn a_disconnected_graph_names_its_parts_or_is_bridged() {
    let x = islands(3);
    let data = Dataset::from(&x);
    type Fit<'a> = Box<dyn Fn(bool) -> Result<EmbeddingModel> + 'a>;
    let lle = || Lle::new(1).neighbors(4);
    let fits: [(&str, Fit); 6] = [
        ("isomap", Box::new(|b| Isomap::new(1).neighbors(4).bridges(b).fit(&data))),
        ("laplacian", Box::new(|b| LaplacianEigenmaps::new(1).neighbors(4).bridges(b).fit(&data))),
        ("lle", Box::new(|b| lle().bridges(b).fit(&data))),
        ("modified", Box::new(|b| lle().variant(LleVariant::Modified).bridges(b).fit(&data))),
        ("hessian", Box::new(|b| lle().variant(LleVariant::Hessian).bridges(b).fit(&data))),
        ("ltsa", Box::new(|b| lle().variant(LleVariant::Ltsa).bridges(b).fit(&data))),
    ];
    for (name, fit) in &fits {
        let error = fit(false).unwrap_err();
        let Error::Disconnected { sizes, .. } = &error else { panic!("{name}: {error:?}") };
        assert_eq!(sizes, &[20, 20, 20]);
        assert_eq!(error.kind(), ErrorKind::Data);
        assert_eq!(error.hint(), Some(Hint::Set { option: "bridges", value: "true".into() }));
        assert!(error.to_string().contains("3 parts (20, 20, 20 samples)"), "{error}");
        let model = fit(true).unwrap();
        assert_eq!(model.n_bridges(), 2);
        // The islands come out in their order along the line.
        let y = model.coordinates();
        let mean = |c: usize| y.slice(s![20 * c..20 * (c + 1), 0]).mean().unwrap();
        assert!((mean(0) < mean(1)) == (mean(1) < mean(2)), "{name}");
    }
    assert!(matches!(Isomap::new(1).radius(0.5).fit(&x), Err(Error::Disconnected { .. })));
}

#[test]
fn samples_that_coincide_are_no_obstacle() {
    let (roll, _) = swiss_roll(100, 1);
    let mut x = Array2::zeros((130, 3));
    x.slice_mut(s![..100, ..]).assign(&roll);
    for i in 0..30 {
        x.row_mut(100 + i).assign(&roll.row(i % 3));
    }
    let data = Dataset::from(&x);
    for (name, model) in fitted(&data, &Options::default()) {
        let y = model.coordinates();
        assert!(y.iter().all(|v| v.is_finite()), "{name}");
        if name.starts_with("isomap") || name.starts_with("mds") {
            let off = &y.row(0) - &y.row(100);
            assert!(off.iter().all(|v| v.abs() < 1e-7), "{name}");
        }
    }
    // All samples in one place.
    let same = Array2::from_elem((20, 2), 3.0);
    let data = Dataset::from(&same);
    for model in [Isomap::new(2).fit(&data), Mds::new(2).fit(&data)] {
        let model = model.unwrap();
        assert!(model.warnings().contains(&Warning::NoVariance));
        assert!(model.coordinates().iter().all(|v| *v == 0.0));
    }
    assert!(Lle::new(1).fit(&data).unwrap().coordinates().iter().all(|v| v.is_finite()));
    let heat = LaplacianEigenmaps::new(1).affinity(Affinity::Heat { gamma: None });
    assert!(matches!(heat.fit(&data), Err(Error::NotDefined { .. })));
}

#[test]
fn two_samples_are_enough() {
    let x = array![[0.0, 0.0], [3.0, 4.0]];
    let data = Dataset::from(&x);
    for model in [Mds::new(1).fit(&data), Isomap::new(1).fit(&data)] {
        let model = model.unwrap();
        assert!((model.coordinates()[[0, 0]] - 2.5).abs() < 1e-12);
        assert!((model.coordinates()[[1, 0]] + 2.5).abs() < 1e-12);
    }
    let line = LaplacianEigenmaps::new(1).fit(&data).unwrap();
    assert!((line.eigenvalues()[0] - 2.0).abs() < 1e-12);
    assert!(Lle::new(1).fit(&data).is_ok());
}

#[test]
fn wishes_that_cannot_be_met_are_usage_errors() {
    let (x, _) = swiss_roll(60, 1);
    let data = Dataset::from(&x);
    let usage = |result: Result<EmbeddingModel>, what: &str| {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{what}: {error}");
        error
    };
    let error = usage(Isomap::new(2).neighbors(60).fit(&data), "neighbours");
    assert_eq!(error.hint(), Some(Hint::Set { option: "n_neighbors", value: "59".into() }));
    assert!(error.to_string().contains("60") && error.to_string().contains("59"));
    usage(Lle::new(2).neighbors(0).fit(&data), "no neighbours");
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        usage(Isomap::new(2).radius(radius).fit(&data), "radius");
    }
    for gamma in [0.0, -2.0, f64::NAN] {
        let heat = Affinity::Heat { gamma: Some(gamma) };
        usage(LaplacianEigenmaps::new(1).affinity(heat).fit(&data), "gamma");
    }
    let absurd = Affinity::Heat { gamma: Some(1e9) };
    usage(LaplacianEigenmaps::new(1).affinity(absurd).fit(&data), "gamma that leaves nothing");
    for r in [0.0, -1.0, f64::NAN] {
        usage(Lle::new(1).regularization(r).fit(&data), "regularization");
    }
    usage(Isomap::new(2).landmarks(1).fit(&data), "landmarks");
    usage(Isomap::new(2).landmarks(61).fit(&data), "landmarks");
    usage(Isomap::new(5).landmarks(4).fit(&data), "components of landmarks");
    for (limit, result) in [
        (60, Mds::new(61).fit(&data)),
        (60, Isomap::new(61).fit(&data)),
        (59, LaplacianEigenmaps::new(60).fit(&data)),
        (59, Lle::new(60).fit(&data)),
        (60, Mds::new(61).fit_distances(distances(&x).view())),
    ] {
        let error = usage(result, "components");
        assert_eq!(
            error.hint(),
            Some(Hint::Set { option: "n_components", value: limit.to_string() })
        );
    }
    usage(Isomap::new(0).fit(&data), "no components");
    usage(Isomap::new(NComponents::VarianceShare(0.9)).fit(&data), "share");
    let weighted = Dataset::from(&x).with_weights(SampleWeights::frequency(vec![1.0; 60]));
    for (name, result) in methods(&weighted, &Options::default()) {
        usage(result, name);
    }
    let filled = Dataset::from(&x).with_missing(Missing::Mean);
    for (name, result) in methods(&filled, &Options::default()) {
        usage(result, name);
    }
    let tight = Options { memory: Some(1000), ..Options::default() };
    for (name, result) in methods(&data, &tight) {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Memory, "{name}");
    }
    let one = x.slice(s![..1, ..]);
    for (name, result) in methods(&Dataset::dense(one), &Options::default()) {
        assert!(matches!(result, Err(Error::TooFewRows { found: 1, needed: 2 })), "{name}");
    }
}

#[test]
fn all_components_can_be_asked_for() {
    let (x, _) = swiss_roll(40, 1);
    let data = Dataset::from(&x);
    let all = NComponents::All;
    assert_eq!(Isomap::new(all.clone()).fit(&data).unwrap().n_components(), 40);
    assert_eq!(Mds::new(all.clone()).fit(&data).unwrap().n_components(), 40);
    assert_eq!(LaplacianEigenmaps::new(all.clone()).fit(&data).unwrap().n_components(), 39);
    assert_eq!(Lle::new(all).fit(&data).unwrap().n_components(), 39);
}

#[test]
fn bad_entries_are_named() {
    let (mut x, _) = swiss_roll(60, 1);
    x[[41, 2]] = f64::NAN;
    for (name, result) in methods(&Dataset::from(&x), &Options::default()) {
        assert!(matches!(result, Err(Error::MissingValue { row: 41, column: 2, .. })), "{name}");
    }
    x[[41, 2]] = f64::INFINITY;
    for (name, result) in methods(&Dataset::from(&x), &Options::default()) {
        assert!(matches!(result, Err(Error::Infinite { row: 41, column: 2, .. })), "{name}");
    }
    x[[41, 2]] = 1.0;
    let model = Isomap::new(2).radius(9.0).fit(&x).unwrap();
    let far = array![[0.0, 10.0, 5.0], [1e6, 0.0, 0.0]];
    assert!(matches!(model.transform(&far), Err(Error::Isolated { row: 1, .. })));
    let beyond: Array2<f64> = array![[1e200, 0.0, 0.0]];
    for (name, model) in fitted(&Dataset::from(&x), &Options::default()) {
        match model.transform(&beyond) {
            Ok(placed) => assert!(placed.iter().all(|v| v.is_finite()), "{name}"),
            Err(Error::Unsupported { .. }) => {}
            Err(other) => panic!("{name}: {other:?}"),
        }
    }
    let narrow = array![[0.0, 1.0]];
    assert!(matches!(model.transform(&narrow), Err(Error::Shape { .. })));
    let empty = Array2::<f64>::zeros((0, 3));
    assert!(model.transform(&empty).is_err());
}

#[test]
fn a_matrix_that_holds_no_distances_is_refused_by_entry() {
    let good = distances(&Random::new(1).matrix(12, 2));
    let fit = |d: &Array2<f64>| Mds::new(2).fit_distances(d.view());
    assert!(fit(&good).is_ok());
    let spoilt = |row: usize, column: usize, value: f64| {
        let mut d = good.clone();
        d[[row, column]] = value;
        fit(&d).unwrap_err()
    };
    assert!(
        matches!(spoilt(3, 5, -0.5), Error::NotADistance { row: 3, column: 5, value, .. } if value == -0.5)
    );
    assert!(matches!(spoilt(3, 5, f64::NAN), Error::MissingValue { row: 3, column: 5, .. }));
    assert!(matches!(spoilt(3, 5, f64::INFINITY), Error::Infinite { row: 3, column: 5, .. }));
    assert!(matches!(spoilt(4, 4, 0.1), Error::NotADistance { row: 4, column: 4, .. }));
    assert!(
        matches!(spoilt(3, 5, 99.0), Error::NotSymmetric { row: 3, column: 5, upper, .. } if upper == 99.0)
    );
    assert!(
        matches!(spoilt(5, 3, 99.0), Error::NotSymmetric { row: 3, column: 5, lower, .. } if lower == 99.0)
    );
    assert!(matches!(fit(&good.slice(s![.., ..11]).to_owned()), Err(Error::Shape { .. })));
    assert!(matches!(fit(&Array2::zeros((0, 0))), Err(Error::NoRows)));
    assert!(matches!(fit(&Array2::zeros((1, 1))), Err(Error::TooFewRows { .. })));
    for error in [spoilt(3, 5, -0.5), spoilt(3, 5, 99.0)] {
        assert_eq!(error.kind(), ErrorKind::Data);
    }
}

/// Units beyond those of squares: shares stay, eigenvalues and coordinates are in them, and the model
/// comes back from its parts; where eigenvalues are no numbers that is said.
#[test]
fn absurd_units_change_no_share() {
    let x = Random::new(77).ordinary(50, 4);
    let fit = |unit: f64| {
        let scaled = x.mapv(|v| v * unit);
        let data = Dataset::from(&scaled);
        [
            Mds::new(2).fit(&data).unwrap(),
            Mds::new(2).metric(Metric::Manhattan).fit(&data).unwrap(),
            Mds::new(2).fit_distances((distances(&x) * unit).view()).unwrap(),
            Isomap::new(2).neighbors(12).fit(&data).unwrap(),
        ]
    };
    let plain = fit(1.0);
    for exponent in [-900, -300, 300, 700, 1000] {
        let unit = 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
        for (found, plain) in fit(unit).iter().zip(&plain) {
            let back = EmbeddingModel::from_parts(&found.to_parts()).unwrap();
            for model in [found, &back] {
                let (a, b) = (model.explained_variance_ratio(), plain.explained_variance_ratio());
                for (a, b) in a.unwrap().iter().zip(b.unwrap()) {
                    assert!((a - b).abs() < 1e-12, "2^{exponent}: {a} is not {b}");
                }
                let coordinates = model.coordinates().mapv(|v| v / unit);
                assert!(largest_difference(coordinates.view(), plain.coordinates()) < 1e-9);
                let share = |m: &EmbeddingModel| m.negative_part().unwrap().share;
                assert!((share(model) - share(plain)).abs() < 1e-12);
                let expected = plain.eigenvalues()[0] * unit * unit;
                let value = model.eigenvalues()[0];
                assert!(value == expected || (value / expected - 1.0).abs() < 1e-9, "{value:e}");
                let warned = model.warnings().contains(&Warning::VarianceOutOfRange);
                assert_eq!(warned, exponent.abs() > 500, "2^{exponent}");
            }
        }
    }
}
