//! MDS, Isomap, Laplacian eigenmaps and LLE on the command line.

use crate::support::{Sandbox, close, columns, entry, number, numbers};
use std::fmt::Write;

/// A method, its own options, and what its columns are called.
const METHODS: [(&str, &[&str], [&str; 2]); 13] = [
    ("mds", &[], ["MDS1", "MDS2"]),
    ("mds", &["--metric", "manhattan"], ["MDS1", "MDS2"]),
    ("isomap", &["--neighbors", "25", "--bridges"], ["ISO1", "ISO2"]),
    ("isomap", &["--neighbors", "60", "--landmarks", "40"], ["ISO1", "ISO2"]),
    ("laplacian", &["--bridges"], ["LE1", "LE2"]),
    ("laplacian", &["--bridges", "--heat", "--commute-time"], ["LE1", "LE2"]),
    ("laplacian", &["--keep-parts", "--affinity", "averaged"], ["LE1", "LE2"]),
    ("laplacian", &["--keep-parts", "--affinity", "heat", "--gamma", "1"], ["LE1", "LE2"]),
    ("laplacian", &["--affinity", "rbf"], ["LE1", "LE2"]),
    ("lle", &["--bridges", "--regularization", "0.01"], ["LLE1", "LLE2"]),
    ("lle", &["--bridges", "--variant", "modified"], ["LLE1", "LLE2"]),
    ("lle", &["--bridges", "--variant", "hessian"], ["LLE1", "LLE2"]),
    ("lle", &["--bridges", "--variant", "ltsa"], ["LLE1", "LLE2"]),
];

#[test]
fn every_embedding_is_fitted_stored_and_places_samples() {
    let sandbox = Sandbox::with("embeddings", &["iris"]);
    let measures = ["sepal_length", "sepal_width", "petal_length", "petal_width"];
    let flowers = columns(&sandbox.text("iris.csv"), &measures);
    for (method, options, names) in METHODS {
        let fit = ["fit", method, "iris.csv", "-o", "m.safetensors", "--scores", "fit.csv"];
        let ran = sandbox.run(&[&fit[..], options].concat());
        assert_eq!(ran.code, 0, "{method} {options:?}\n{}", ran.err);
        let first = format!("{method} of 150 samples, 4 features: 2 components, trustworthiness ");
        assert!(ran.out.starts_with(&first), "{}", ran.out);
        assert!(ran.out.contains("continuity"), "{}", ran.out);
        sandbox.ok(&["transform", "m.safetensors", "iris.csv", "-o", "again.csv"]);
        let (fitted, again) = (sandbox.text("fit.csv"), sandbox.text("again.csv"));
        let (fitted, again) = (columns(&fitted, &names), columns(&again, &names));
        assert_eq!(fitted.len(), 150);
        let size = fitted.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
        // Of flowers with the same measures, the first one's place is found again.
        let first = |i: usize| (0..i).find(|&j| flowers[j] == flowers[i]).unwrap_or(i);
        for (i, again) in again.iter().enumerate() {
            for (a, b) in fitted[first(i)].iter().zip(again) {
                close(*a, *b, 1e-7 * size);
            }
        }
        let model = sandbox.json(&["inspect", "m.safetensors"]);
        assert_eq!(numbers(entry(&model, &["eigenvalues"])).len(), 2);
        let trust = number(entry(&model, &["quality", "trustworthiness"]));
        assert!((0.6..=1.0).contains(&trust), "{method} {options:?}: {trust}");
        sandbox.ok(&["plot", "m.safetensors", "iris.csv", "-o", "map.svg"]);
        assert!(sandbox.text("map.svg").contains(names[0]));
        sandbox.ok(&["report", "m.safetensors", "iris.csv", "-o", "report.html"]);
    }
}

/// Euclidean MDS is PCA, up to the signs of its axes.
#[test]
fn mds_gives_the_scores_of_pca() {
    let sandbox = Sandbox::with("mds_pca", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "2", "--scores", "pca.csv"]);
    sandbox.ok(&["fit", "mds", "iris.csv", "-k", "2", "--scores", "mds.csv"]);
    let pca = columns(&sandbox.text("pca.csv"), &["PC1", "PC2"]);
    let mds = columns(&sandbox.text("mds.csv"), &["MDS1", "MDS2"]);
    for j in 0..2 {
        let sign = if pca[0][j] * mds[0][j] < 0.0 { -1.0 } else { 1.0 };
        for (a, b) in pca.iter().zip(&mds) {
            close(a[j], sign * b[j], 1e-12);
        }
    }
}

/// Distances between points on a line, as a table with a name for each.
fn road(sandbox: &Sandbox, name: &str, from: &[f64], spoilt: Option<(usize, usize, &str)>) {
    const TOWNS: [f64; 5] = [0.0, 3.0, 5.0, 9.0, 10.0];
    let mut text = String::from("a,b,c,d,e\n");
    for (i, x) in from.iter().enumerate() {
        let cells = TOWNS.iter().enumerate().map(|(j, y)| match spoilt {
            Some((row, column, word)) if (row, column) == (i, j) => word.into(),
            _ => (x - y).abs().to_string(),
        });
        writeln!(text, "{}", cells.collect::<Vec<String>>().join(",")).unwrap();
    }
    sandbox.write(name, &text);
}

#[test]
fn a_table_of_distances_is_laid_out() {
    let sandbox = Sandbox::new("distances");
    let towns = [0.0, 3.0, 5.0, 9.0, 10.0];
    road(&sandbox, "road.csv", &towns, None);
    let fit = ["fit", "mds", "road.csv", "--distances", "-k", "1", "-o", "m.safetensors"];
    let out = sandbox.ok(&[&fit[..], &["--scores", "map.csv"]].concat());
    assert!(out.starts_with("mds of the distances between 5 samples: 1 component"), "{out}");
    let found = columns(&sandbox.text("map.csv"), &["MDS1"]);
    for (i, x) in towns.iter().enumerate() {
        close((found[i][0] - found[0][0]).abs(), *x, 1e-9);
    }
    // A new town at 7, by its distances; columns are found by name.
    road(&sandbox, "new.csv", &[7.0], None);
    sandbox.ok(&["transform", "m.safetensors", "new.csv", "-o", "placed.csv"]);
    let placed = columns(&sandbox.text("placed.csv"), &["MDS1"]);
    close((placed[0][0] - found[0][0]).abs(), 7.0, 1e-9);
    for (word, complaint) in
        [("-2", "is -2"), ("99", "not symmetric"), ("", "missing"), ("0.5", "not symmetric")]
    {
        road(&sandbox, "bad.csv", &towns, Some((1, 3, word)));
        let ran = sandbox.run(&["fit", "mds", "bad.csv", "--distances"]);
        assert_eq!(ran.code, 65, "{word}: {}", ran.err);
        assert!(ran.err.contains(complaint), "{word}: {}", ran.err);
    }
    // The same table as a graph of the nearest towns.
    let fit = ["fit", "laplacian", "road.csv", "--distances", "--neighbors", "2", "-k", "1"];
    let out = sandbox.ok(&[&fit[..], &["-o", "le.safetensors", "--scores", "le.csv"]].concat());
    assert!(out.starts_with("laplacian of the distances between 5 samples: 1 component"), "{out}");
    sandbox.ok(&["transform", "le.safetensors", "road.csv", "-o", "again.csv"]);
    let (found, again) = (sandbox.text("le.csv"), sandbox.text("again.csv"));
    assert_eq!(columns(&found, &["LE1"]), columns(&again, &["LE1"]));
    let out = sandbox.ok(&["fit", "laplacian", "road.csv", "--affinity", "precomputed", "-k", "1"]);
    assert!(out.starts_with("laplacian of the affinities between 5 samples: 1 component"), "{out}");
    road(&sandbox, "bad.csv", &towns, Some((2, 2, "1")));
    let ran = sandbox.run(&["fit", "mds", "bad.csv", "--distances"]);
    assert!(ran.code == 65 && ran.err.contains("must be 0"), "{}", ran.err);
    road(&sandbox, "bad.csv", &towns[..4], None);
    let ran = sandbox.run(&["fit", "mds", "bad.csv", "--distances"]);
    assert!(ran.code == 65 && ran.err.contains("square"), "{}", ran.err);
}

#[test]
fn failures_have_words_codes_and_hints() {
    let sandbox = Sandbox::with("embedding_failures", &["iris"]);
    sandbox.ok(&["fit", "isomap", "iris.csv", "--neighbors", "60", "-o", "m.safetensors"]);
    let cases: [(&[&str], i32, &[&str]); 14] = [
        (
            &["fit", "isomap", "iris.csv", "--neighbors", "10"],
            65,
            &["falls into 2 parts (100, 50 samples)", "hint: use `--bridges`"],
        ),
        (
            &["fit", "lle", "iris.csv", "--neighbors", "150"],
            64,
            &["`n_neighbors` is 150", "hint: use `--neighbors 149`"],
        ),
        (
            &["fit", "lle", "iris.csv", "--variant", "hessian", "--neighbors", "5"],
            64,
            &["Hessian LLE needs at least 6 neighbours", "hint: use `--neighbors 6`"],
        ),
        (&["fit", "lle", "iris.csv", "--variant", "other"], 64, &["modified"]),
        (&["fit", "isomap", "iris.csv", "--radius", "0"], 64, &["--radius", "more than 0"]),
        (&["fit", "isomap", "iris.csv", "--neighbors", "5", "--radius", "1"], 64, &["--radius"]),
        (&["fit", "laplacian", "iris.csv", "--gamma", "1"], 64, &["use `--affinity heat`"]),
        (&["fit", "laplacian", "iris.csv", "--heat", "--gamma", "0"], 64, &["`gamma` is 0"]),
        (
            &["fit", "laplacian", "iris.csv", "--affinity", "rbf", "--neighbors", "5"],
            64,
            &["`--neighbors` is for affinities of neighbours"],
        ),
        (&["fit", "mds", "iris.csv", "--metric", "taxi"], 64, &["manhattan"]),
        (&["fit", "pca", "iris.csv", "--neighbors", "5"], 64, &["option of `isomap`"]),
        (&["fit", "isomap", "iris.csv", "--components-file", "c.csv"], 64, &["not linear"]),
        (&["fit", "isomap", "iris.csv", "-k", "95%"], 64, &["is not defined for an embedding"]),
        (&["reconstruct", "m.safetensors", "iris.csv", "-o", "r.csv"], 64, &["not back"]),
    ];
    let before = sandbox.files();
    for (arguments, code, expected) in cases {
        let ran = sandbox.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}\n{}", ran.err);
        for words in expected {
            assert!(ran.err.contains(words), "{arguments:?}: `{words}` is not in\n{}", ran.err);
        }
        assert_eq!(sandbox.files(), before, "{arguments:?} left something behind");
    }
}

#[test]
fn the_plan_is_said_and_the_budget_kept() {
    let sandbox = Sandbox::with("embedding_plan", &["digits"]);
    let out = sandbox.ok(&["fit", "isomap", "digits.csv", "--plan"]);
    assert!(out.contains("geodesic distances"), "{out}");
    let ran = sandbox.run(&["fit", "isomap", "digits.csv", "--memory", "48MiB"]);
    assert_eq!(ran.code, 71, "{}", ran.err);
    assert_eq!(sandbox.files(), ["digits.csv"]);
}

/// Points in a plane, times a factor, as a table.
fn points(factor: f64) -> String {
    let mut text = String::from("x,y,z\n");
    for i in 0..40 {
        let t = f64::from(i);
        let row =
            [3.0 * (t * 0.7).sin(), 2.0 * (t * 1.9).cos(), (t * 0.37).sin() * (t * 2.3).cos()];
        let row: Vec<String> = row.iter().map(|v| (v * factor).to_string()).collect();
        writeln!(text, "{}", row.join(",")).unwrap();
    }
    text
}

/// Whatever the units, shares are the same and coordinates are in them, and the file can be read.
#[test]
fn units_beyond_those_of_squares_change_no_share() {
    let sandbox = Sandbox::new("embedding_units");
    for (method, options, names) in [
        ("mds", &[][..], ["MDS1", "MDS2"]),
        ("mds", &["--metric", "manhattan"], ["MDS1", "MDS2"]),
        ("isomap", &["--neighbors", "8"], ["ISO1", "ISO2"]),
    ] {
        let fitted = |factor: f64| {
            sandbox.write("p.csv", &points(factor));
            let fit =
                ["fit", method, "p.csv", "-k", "2", "-o", "m.safetensors", "--scores", "s.csv"];
            let told = sandbox.ok(&[&fit[..], options].concat());
            assert!(!told.contains("NaN"), "{told}");
            assert!(!sandbox.ok(&["inspect", "m.safetensors"]).contains("NaN"));
            let model = sandbox.json(&["inspect", "m.safetensors"]);
            let shares = numbers(entry(&model, &["explained_variance_ratio"]));
            let negative = number(entry(&model, &["negative_part", "share"]));
            (shares, negative, columns(&sandbox.text("s.csv"), &names))
        };
        let (shares, negative, coordinates) = fitted(1.0);
        for factor in [1e100, 1e155, 1e200, 1e300, 1e-100, 1e-200, 1e-300] {
            let (found, below, placed) = fitted(factor);
            for (a, b) in found.iter().zip(&shares) {
                close(*a, *b, 1e-12);
            }
            close(below, negative, 1e-12);
            for (a, b) in placed.iter().flatten().zip(coordinates.iter().flatten()) {
                close(*a / factor, *b, 1e-9);
            }
        }
    }
}

/// Coordinates that are no numbers are refused before a file is written that nobody can read.
#[test]
fn coordinates_beyond_the_range_of_numbers_are_refused() {
    let sandbox = Sandbox::new("embedding_range");
    let mut text = String::from("a,b,c,d,e,f\n");
    for i in 0..20 {
        let v = if i % 2 == 0 { 1.7e308 } else { -1.7e308 } * (1.0 - 0.001 * f64::from(i));
        writeln!(text, "{v},{v},{v},{v},{v},{v}").unwrap();
    }
    sandbox.write("o.csv", &text);
    let ran = sandbox.run(&["fit", "mds", "o.csv", "-k", "2", "-o", "m.safetensors"]);
    assert_eq!(ran.code, 65, "{}", ran.err);
    assert!(ran.err.contains("the coordinates are outside the range of numbers"), "{}", ran.err);
    assert_eq!(sandbox.files(), ["o.csv"]);
    // PCA holds no scores; the warning does not call them right.
    let ran = sandbox.run(&[
        "fit",
        "pca",
        "o.csv",
        "-k",
        "2",
        "-o",
        "m.safetensors",
        "--scores",
        "s.csv",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(sandbox.text("s.csv").contains("inf"));
    assert!(ran.err.contains("scores may be outside the range of numbers"), "{}", ran.err);
    assert!(!ran.err.contains("scores are right"), "{}", ran.err);
}

/// The memory that there is says nothing about the answer.
#[test]
fn scores_do_not_depend_on_the_budget() {
    let sandbox = Sandbox::with("embedding_budget", &["iris"]);
    for (method, options, _) in METHODS {
        let fit = ["fit", method, "iris.csv", "-o", "m.safetensors", "--scores"];
        sandbox.ok(&[&fit[..], &["a.csv"], options].concat());
        let model = sandbox.bytes("m.safetensors");
        sandbox.ok(&[&fit[..], &["b.csv", "--memory", "1GiB"], options].concat());
        assert_eq!(sandbox.text("a.csv"), sandbox.text("b.csv"), "{method} {options:?}");
        assert_eq!(model, sandbox.bytes("m.safetensors"), "{method} {options:?}");
    }
}
