//! `fit sparse-pca`: the answers, the proof, the pictures, and what is refused.

use crate::support::{Sandbox, close, entry, number, numbers};
use eigenlens::Value;

/// Rows whose correlations are far from simple: three groups of features.
fn table(sandbox: &Sandbox) {
    let mut text = String::from("a,b,c,d,e,f,g,h\n");
    let mut state = 1u64;
    let mut noise = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    };
    for _ in 0..80 {
        let (u, v) = (4.0 * noise(), 2.0 * noise());
        let row: Vec<String> =
            [u, u, -u, u, v, v, 0.0, 0.0].iter().map(|x| format!("{:.6}", x + noise())).collect();
        text.push_str(&row.join(","));
        text.push('\n');
    }
    sandbox.write("groups.csv", &text);
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    match value {
        Value::List(rows) => rows.iter().map(numbers).collect(),
        _ => panic!("{value:?}"),
    }
}

#[test]
fn the_groups_are_found_and_proven() {
    let sandbox = Sandbox::new("sparse_groups");
    table(&sandbox);
    let fit = ["fit", "sparse-pca", "groups.csv", "-k", "2", "--cardinality", "4,2", "--exact"];
    let ran = sandbox.run(&[&fit[..], &["-o", "m.safetensors", "--scores", "s.csv"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("sparse-pca of 80 samples, 8 features: 2 components"), "{}", ran.out);
    assert!(ran.out.contains("proven for every component"), "{}", ran.out);
    let model = sandbox.json(&["inspect", "m.safetensors"]);
    let components = rows(entry(&model, &["components"]));
    let support = |row: &[f64]| (0..8).filter(|&f| row[f] != 0.0).collect::<Vec<_>>();
    assert_eq!(support(&components[0]), [0, 1, 2, 3]);
    assert_eq!(support(&components[1]), [4, 5]);
    assert_eq!(numbers(entry(&model, &["n_non_zeros"])), [4.0, 2.0]);
    let given_up = number(entry(&model, &["variance_given_up"]));
    assert!((0.0..0.3).contains(&given_up), "{given_up}");
    // The model file gives the same scores as the fit.
    assert_eq!(sandbox.ok(&["transform", "m.safetensors", "groups.csv"]), sandbox.text("s.csv"));
    // Supports that do not overlap: least squares is the plain product.
    let product = [&fit[..], &["--projection", "product", "-o", "p.safetensors"]].concat();
    sandbox.ok(&product);
    let (a, b) = (sandbox.text("s.csv"), sandbox.ok(&["transform", "p.safetensors", "groups.csv"]));
    for (a, b) in a.lines().skip(1).zip(b.lines().skip(1)) {
        for (a, b) in a.split(',').zip(b.split(',')) {
            close(a.parse().unwrap(), b.parse().unwrap(), 1e-9);
        }
    }
    sandbox.ok(&["reconstruct", "m.safetensors", "groups.csv"]);
}

#[test]
fn the_pictures_are_drawn() {
    let sandbox = Sandbox::new("sparse_pictures");
    table(&sandbox);
    let fit = ["fit", "sparse-pca", "groups.csv", "-k", "2", "--non-zeros", "3"];
    sandbox.ok(&[&fit[..], &["--path", "6", "-o", "m.safetensors"]].concat());
    sandbox.ok(&["plot", "m.safetensors", "--kind", "heat-map", "-o", "h.svg"]);
    assert!(sandbox.text("h.svg").contains("10 entries exactly zero"));
    sandbox.ok(&["plot", "m.safetensors", "--kind", "path", "-o", "path.svg"]);
    let picture = sandbox.text("path.svg");
    assert!(picture.contains("Variance explained against non-zeros"));
    assert!(picture.contains("this model"));
    sandbox.ok(&["report", "m.safetensors", "groups.csv", "-o", "r.html"]);
    // A model without a path says how to get one.
    sandbox.ok(&[&fit[..], &["-o", "n.safetensors"]].concat());
    let ran = sandbox.run(&["plot", "n.safetensors", "--kind", "path"]);
    assert_eq!(ran.code, 64, "{}", ran.err);
    assert!(ran.err.contains("--path"), "{}", ran.err);
}

#[test]
fn a_limit_is_a_warning_and_strict_makes_it_an_error() {
    let sandbox = Sandbox::new("sparse_limit");
    table(&sandbox);
    let fit = [
        "fit",
        "sparse-pca",
        "groups.csv",
        "-k",
        "1",
        "--cardinality",
        "3",
        "--scale",
        "--exact",
        "--node-limit",
        "1",
        "-o",
        "m.safetensors",
    ];
    let ran = sandbox.run(&fit);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let model = sandbox.json(&["inspect", "m.safetensors"]);
    let Value::List(optimality) = entry(&model, &["optimality"]) else { panic!() };
    let gap = number(entry(&optimality[0], &["gap"]));
    if gap > 0.0 {
        assert!(ran.err.contains("node limit"), "{}", ran.err);
        let strict = sandbox.run(&[&fit[..], &["--strict"]].concat());
        assert_eq!(strict.code, 1, "{}", strict.err);
    }
    // A penalty that leaves nothing: a warning, no NaN, and an error under --strict.
    let all = ["fit", "sparse-pca", "groups.csv", "-k", "2", "--penalty", "1e6"];
    let ran = sandbox.run(&[&all[..], &["-o", "z.safetensors", "--scores", "-"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("leaves nothing of components 1, 2"), "{}", ran.err);
    assert!(!ran.out.contains("NaN"), "{}", ran.out);
    let strict = sandbox.run(&[&all[..], &["--strict", "-o", "y.safetensors"]].concat());
    assert_eq!(strict.code, 1, "{}", strict.err);
    assert!(!sandbox.files().contains(&"y.safetensors".to_string()));
}

#[test]
fn what_does_not_fit_is_refused() {
    let sandbox = Sandbox::new("sparse_refused");
    table(&sandbox);
    let cases: [(&[&str], &str); 9] = [
        (&["--cardinality", "0"], "`cardinality` is 0"),
        (&["--cardinality", "9"], "use `--cardinality 8`"),
        (&["--cardinality", "2", "--penalty", "1"], "does not go with"),
        (&["--penalty=-1"], "`penalty` is -1"),
        (&["--penalty", "0.1", "--exact"], "does not go with"),
        (&["--ridge", "2"], "belongs to penalised regression"),
        (&["--time-limit", "3"], "--exact"),
        (&["-k", "3", "--cardinality", "1,2"], "give one number, or one for each"),
        (&["-k", "90%"], "give a number"),
    ];
    for (options, words) in cases {
        let ran = sandbox.run(&[&["fit", "sparse-pca", "groups.csv"], options].concat());
        assert_eq!(ran.code, 64, "{options:?}\n{}", ran.err);
        assert!(ran.err.contains(words), "{options:?}\n{}", ran.err);
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
    }
    assert_eq!(sandbox.files(), ["groups.csv"]);
}
