//! `fit kernel-pca` and what its models can do.

use crate::support::{Sandbox, entry, number};

#[test]
fn circles_are_fitted_projected_and_inspected() {
    let sandbox = Sandbox::with("kernel-circles", &["circles"]);
    let fit = ["fit", "kernel-pca", "circles.csv", "-k", "3", "--gamma", "5"];
    let result =
        sandbox.json(&[&fit[..], &["--scores", "scores.csv", "-o", "m.safetensors"]].concat());
    assert!((number(entry(&result, &["model", "kernel", "gamma"])) - 5.0).abs() < 1e-12);
    // The same scores from the stored model, and under a budget.
    sandbox.ok(&["transform", "m.safetensors", "circles.csv", "-o", "again.csv"]);
    assert_eq!(sandbox.text("scores.csv"), sandbox.text("again.csv"));
    let text = sandbox.ok(&["inspect", "m.safetensors"]);
    assert!(text.contains("rbf") && text.contains("eigenvalue"), "{text}");
    let text = sandbox.ok(&["reconstruct", "m.safetensors", "circles.csv", "-o", "back.csv"]);
    assert!(text.contains("approximate"), "{text}");
    let ridge = ["reconstruct", "m.safetensors", "circles.csv", "--pre-image", "ridge"];
    let found = sandbox.json(&[&ridge[..], &["--errors", "errors.csv"]].concat());
    assert!(number(entry(&found, &["feature_distance"])) > 0.0);
    assert!(sandbox.text("errors.csv").contains("feature_distance"));
}

#[test]
fn a_plan_says_how_and_what_it_costs() {
    let sandbox = Sandbox::with("kernel-plan", &["digits"]);
    let text = sandbox.ok(&["fit", "kernel-pca", "digits.csv", "--plan"]);
    assert!(text.contains("kernel matrix") && text.contains("exact"), "{text}");
    let text = sandbox.ok(&["fit", "kernel-pca", "digits.csv", "--landmarks", "100", "--plan"]);
    assert!(text.contains("nystrom") && text.contains("approximate"), "{text}");
    let text =
        sandbox.ok(&["fit", "kernel-pca", "digits.csv", "--random-features", "64", "-k", "4"]);
    assert!(text.contains("random Fourier features"), "{text}");
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let sandbox = Sandbox::with("kernel-misfits", &["iris"]);
    let cases: [(&[&str], i32, &str); 9] = [
        (&["--gamma", "0"], 64, "gamma"),
        (&["--gamma", "-1"], 64, "gamma"),
        (&["--sigma", "-1"], 64, "sigma"),
        (&["--kernel", "linear", "--gamma", "1"], 64, "gamma"),
        (&["--degree", "3"], 64, "degree"),
        (&["--landmarks", "5", "--approximation", "exact"], 64, "landmarks"),
        (&["--kernel", "cosine", "--random-features", "9"], 64, "rbf"),
        (&["--kernel", "precomputed"], 65, "square"),
        (&["-k", "151"], 64, "150"),
    ];
    for (options, code, word) in cases {
        let ran = sandbox.run(&[&["fit", "kernel-pca", "iris.csv"][..], options].concat());
        assert_eq!(ran.code, code, "{options:?}\n{}", ran.err);
        assert!(ran.err.contains(word), "{options:?}\n{}", ran.err);
    }
    // A warning that is an error where it is asked for.
    let sigmoid = ["fit", "kernel-pca", "iris.csv", "--kernel", "sigmoid", "--coef0", "-3"];
    let ran = sandbox.run(&sigmoid);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("not positive semi-definite"), "{}", ran.err);
    assert_eq!(sandbox.run(&[&sigmoid[..], &["--strict"]].concat()).code, 1);
    let ran = sandbox.run(&["fit", "kernel-pca", "iris.csv", "--gamma", "1e12"]);
    assert!(ran.err.contains("every sample is alone"), "{}", ran.err);
}

/// The share of rows on the right side of the best cut along a column of scores.
fn best_cut(csv: &str, label: &str, column: &str) -> f64 {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| header.iter().position(|h| *h == name).unwrap();
    let (label, column) = (place(label), place(column));
    let mut rows: Vec<(f64, String)> = lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|cells| (cells[column].parse().unwrap(), cells[label].to_string()))
        .collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let one = rows[0].1.clone();
    let ones = rows.iter().filter(|r| r.1 == one).count();
    let n = rows.len();
    let (mut best, mut below) = (0, 0);
    for (at, row) in rows.iter().enumerate() {
        below += usize::from(row.1 == one);
        let right = below + (n - ones) - (at + 1 - below);
        best = best.max(right).max(n - right);
    }
    best as f64 / n as f64
}

#[test]
fn circles_and_moons_part_as_the_page_says() {
    let sandbox = Sandbox::with("kernel-parts", &["circles", "moons"]);
    let scores = |method: &[&str]| {
        let ends: &[&str] = &["-o", "m.safetensors", "--scores", "scores.csv"];
        sandbox.ok(&[&["fit"], method, ends].concat());
        sandbox.text("scores.csv")
    };
    for (table, label, gamma, axis) in
        [("circles.csv", "circle", "5", "KPC3"), ("moons.csv", "moon", "25", "KPC1")]
    {
        let plain = scores(&["pca", table, "-k", "2"]);
        for axis in ["PC1", "PC2"] {
            assert!(best_cut(&plain, label, axis) < 0.8, "{table}, {axis}");
        }
        let curved = scores(&["kernel-pca", table, "-k", "3", "--gamma", gamma]);
        assert_eq!(best_cut(&curved, label, axis), 1.0, "{table}");
    }
}
