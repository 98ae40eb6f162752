//! What the library can do, said on the command line: matrices in place of samples, rotation, the way back from
//! scores, label kernels, kernels of HSIC, kernels behind embeddings.

use crate::support::{Sandbox, close, columns, entry, number, numbers, table};
use std::fs;
use std::path::Path;

fn golden(sandbox: &Sandbox, file: &str, name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden").join(file);
    fs::copy(path, sandbox.path(name)).unwrap();
}

/// Jeffers' pitprops, from their published correlations: published eigenvalues and their standard errors.
#[test]
fn a_published_correlation_matrix_is_fitted_from_its_file() {
    let sandbox = Sandbox::new("pitprops");
    golden(&sandbox, "pitprops/correlations.csv", "r.csv");
    let fit = ["fit", "pca", "r.csv", "--input", "covariance", "--sample-count", "180", "-k", "6"];
    sandbox.ok(&[&fit[..], &["--loadings-file", "l.csv", "-o", "m.safetensors"]].concat());
    let model = sandbox.json(&["inspect", "m.safetensors"]);
    let values = numbers(entry(&model, &["explained_variance"]));
    for (found, printed) in values.iter().zip([4.2186, 2.3781, 1.8782, 1.1094, 0.9100, 0.8154]) {
        close(*found, printed, 0.5e-4);
    }
    let errors = numbers(entry(&model, &["standard_errors"]));
    close(errors[0], values[0] * (2.0f64 / 179.0).sqrt(), 1e-12);
    let (names, rows) = table(&sandbox.text("l.csv"));
    assert_eq!((names.len(), rows.len(), rows[0][0].as_str()), (7, 13, "topdiam"));
    let refused = |more: &[&str], code: i32, words: &str| {
        let ran = sandbox.run(&[&["fit", "pca", "r.csv"][..], more].concat());
        assert_eq!(ran.code, code, "{more:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{more:?}: {}", ran.err);
    };
    let given = ["--input", "covariance"];
    refused(&[&given[..], &["--scores", "s.csv"]].concat(), 64, "which has no samples");
    refused(&[&given[..], &["--missing", "em"]].concat(), 64, "a covariance matrix has none");
    refused(&["--sample-count", "9"], 64, "covariance");
    refused(&[&given[..], &["--columns", "!knots"]].concat(), 65, "square");
    let ran = sandbox.run(&["verify", "m.safetensors", "r.csv"]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("does not tell their means"), "{}", ran.err);
    // Without the number of samples there are no errors; sparse PCA takes the same table.
    sandbox.ok(&["fit", "pca", "r.csv", "--input", "covariance", "-k", "2", "-o", "u.safetensors"]);
    let model = sandbox.json(&["inspect", "u.safetensors"]);
    assert_eq!(entry(&model, &["standard_errors"]), &eigenlens::Value::Null);
    let sparse =
        ["fit", "sparse-pca", "r.csv", "--input", "covariance", "--cardinality", "6", "-k", "1"];
    sandbox.ok(&[&sparse[..], &["--exact", "-o", "s.safetensors"]].concat());
}

/// Rotated loadings are the loadings times an orthogonal matrix.
#[test]
fn loadings_are_rotated() {
    let sandbox = Sandbox::with("rotate", &["usarrests"]);
    let fit = ["fit", "pca", "usarrests.csv", "--scale", "-k", "2", "--loadings-file", "l.csv"];
    sandbox.ok(&[&fit[..], &["-o", "m.safetensors"]].concat());
    sandbox.ok(&["rotate", "m.safetensors", "-o", "r.csv", "--rotation", "q.csv"]);
    let plain = columns(&sandbox.text("l.csv"), &["PC1", "PC2"]);
    let rotated = columns(&sandbox.text("r.csv"), &["RC1", "RC2"]);
    let q = columns(&sandbox.text("q.csv"), &["RC1", "RC2"]);
    let (mut before, mut after) = (0.0, 0.0);
    for (plain, rotated) in plain.iter().zip(&rotated) {
        for j in 0..2 {
            close(rotated[j], plain[0] * q[0][j] + plain[1] * q[1][j], 1e-10);
            before += plain[j].powi(4);
            after += rotated[j].powi(4);
        }
    }
    close(q[0][0] * q[0][1] + q[1][0] * q[1][1], 0.0, 1e-12);
    close(q[0][0] * q[0][0] + q[1][0] * q[1][0], 1.0, 1e-12);
    assert!(after > before);
    sandbox.ok(&["fit", "mds", "usarrests.csv", "-o", "mds.safetensors"]);
    let ran = sandbox.run(&["rotate", "mds.safetensors"]);
    assert_eq!((ran.code, ran.out.as_str()), (64, ""), "{}", ran.err);
    assert!(ran.err.contains("is not rotated"), "{}", ran.err);
}

/// Scores in a file lead back to the samples that `reconstruct` gives.
#[test]
fn scores_lead_back_to_samples() {
    let sandbox = Sandbox::with("back", &["iris"]);
    let fit = ["fit", "pca", "iris.csv", "-k", "3", "--scores", "z.csv", "-o", "m.safetensors"];
    sandbox.ok(&fit);
    sandbox.ok(&["reconstruct", "m.safetensors", "iris.csv", "-o", "kept.csv"]);
    let back = ["reconstruct", "m.safetensors", "z.csv", "--from-scores", "-o", "back.csv"];
    let value = sandbox.json(&back);
    close(number(entry(&value, &["compression_ratio"])), 600.0 / (450.0 + 12.0 + 4.0), 1e-12);
    let names = ["sepal_length", "sepal_width", "petal_length", "petal_width"];
    let (kept, found) = (sandbox.text("kept.csv"), sandbox.text("back.csv"));
    for (a, b) in
        columns(&kept, &names).iter().flatten().zip(columns(&found, &names).iter().flatten())
    {
        close(*b, *a, 1e-12);
    }
    assert_eq!(table(&found).0[0], "species");
    let refused = |arguments: &[&str], words: &str| {
        let ran = sandbox.run(arguments);
        assert_eq!(ran.code, 64, "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{arguments:?}: {}", ran.err);
    };
    refused(&back[..4], "needs a place");
    refused(&["reconstruct", "m.safetensors", "iris.csv", "--from-scores", "-o", "x.csv"], "PC1");
    sandbox.ok(&["fit", "lda", "iris.csv", "--target", "species", "-o", "lda.safetensors"]);
    let lda = ["reconstruct", "lda.safetensors", "z.csv", "--from-scores", "-o", "x.csv"];
    refused(&lda, "keep what tells classes apart");
    assert!(!sandbox.path("x.csv").exists());
}

/// The identity as the kernel between targets makes supervised PCA a PCA.
#[test]
fn a_kernel_between_targets_is_read_from_a_file() {
    let sandbox = Sandbox::with("label_kernel", &["usarrests"]);
    let header: Vec<String> = (1..=50).map(|i| format!("s{i}")).collect();
    let row = |i: usize| {
        let cells: Vec<&str> = (0..50).map(|j| if i == j { "1" } else { "0" }).collect();
        cells.join(",") + "\n"
    };
    let rows: String = (0..50).map(row).collect();
    sandbox.write("k.csv", &format!("{}\n{rows}", header.join(",")));
    let supervised =
        ["fit", "supervised-pca", "usarrests.csv", "--target-kernel", "k.csv", "-k", "2"];
    let files = ["--components-file", "s.csv", "-o", "s.safetensors"];
    sandbox.ok(&[&supervised[..], &files].concat());
    let pca = ["fit", "pca", "usarrests.csv", "-k", "2", "--components-file", "p.csv"];
    sandbox.ok(&[&pca[..], &["-o", "p.safetensors"]].concat());
    let names = ["murder", "assault", "urban_pop", "rape"];
    let read = |file: &str| columns(&sandbox.text(file).to_lowercase(), &names);
    for (a, b) in read("s.csv").iter().flatten().zip(read("p.csv").iter().flatten()) {
        close(a.abs(), b.abs(), 1e-6);
    }
    // The check reads the kernel again.
    let ran = sandbox.run(&["verify", "s.safetensors", "usarrests.csv"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let run = |more: &[&str]| {
        sandbox.run(&[&["fit", "supervised-pca", "usarrests.csv"][..], more].concat())
    };
    assert_eq!(run(&["--target-kernel", "none.csv"]).code, 66);
    assert_eq!(run(&["--target-kernel", "usarrests.csv"]).code, 65);
    assert_eq!(run(&["--target-kernel", "k.csv", "--target", "murder"]).code, 64);
    assert_eq!(run(&[]).code, 64);
}

/// A polynomial of degree 1 without a constant is the linear kernel.
#[test]
fn hsic_takes_every_kernel() {
    let sandbox = Sandbox::with("hsic_kernels", &["iris"]);
    let hsic = |more: &[&str]| {
        let sides = ["hsic", "iris.csv", "--x", "sepal*", "--y", "petal*", "--approximate"];
        sandbox.json(&[&sides[..], more].concat())
    };
    let biased = |more: &[&str]| number(entry(&hsic(more), &["biased"]));
    let both = |kernel: &'static str| ["--kernel-x", kernel, "--kernel-y", kernel];
    let plain = ["--degree-x", "1", "--coef0-x", "0", "--degree-y", "1", "--coef0-y", "0"];
    let linear = biased(&both("linear"));
    close(biased(&[&both("polynomial")[..], &plain].concat()), linear, 1e-9 * linear);
    assert!(biased(&both("polynomial")) > linear);
    assert!(biased(&[&both("sigmoid")[..], &["--gamma-x", "0.01"]].concat()).is_finite());
    let sides = ["hsic", "iris.csv", "--x", "sepal*", "--y", "petal*", "--degree-x", "2"];
    let ran = sandbox.run(&sides);
    assert_eq!(ran.code, 64, "{}", ran.err);
    assert!(ran.err.contains("`--degree-x` does not fit the rbf kernel"), "{}", ran.err);
}

/// Kernel PCA of the kernel that an embedding writes is the embedding.
#[test]
fn embeddings_write_the_kernel_they_imply() {
    let sandbox = Sandbox::with("kernels", &["usarrests"]);
    let fit = |method: &str, more: &[&str]| {
        let words = ["fit", method, "usarrests.csv", "-k", "2", "-o", "e.safetensors"];
        sandbox.run(&[&words[..], more].concat())
    };
    let ran = fit("isomap", &["--bridges", "--scores", "e.csv", "--kernel-file", "k.csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let words = ["fit", "kernel-pca", "k.csv", "--kernel", "precomputed", "-k", "2"];
    sandbox.ok(&[&words[..], &["--scores", "z.csv", "-o", "k.safetensors"]].concat());
    let isomap = columns(&sandbox.text("e.csv"), &["ISO1", "ISO2"]);
    let kernel = columns(&sandbox.text("z.csv"), &["KPC1", "KPC2"]);
    let largest = isomap.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
    for (a, b) in isomap.iter().flatten().zip(kernel.iter().flatten()) {
        close(a.abs(), b.abs(), 1e-6 * largest);
    }
    for part in ["distances", "graph"] {
        let ran = fit("isomap", &["--bridges", "--kernel-file", "p.csv", "--kernel-part", part]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let (names, rows) = table(&sandbox.text("p.csv"));
        assert_eq!((names.len(), rows.len(), rows[7][7].as_str()), (50, 50, "0.0"));
    }
    let ran = fit("mds", &["--kernel-file", "p.csv", "--kernel-part", "weights"]);
    assert_eq!(ran.code, 64, "{}", ran.err);
    assert!(ran.err.contains("there are: distances"), "{}", ran.err);
    let ran = fit("pca", &["--kernel-file", "q.csv"]);
    assert_eq!(ran.code, 64, "{}", ran.err);
    assert!(ran.err.contains("no kernel is learned"), "{}", ran.err);
    assert!(!sandbox.path("q.csv").exists());
}
