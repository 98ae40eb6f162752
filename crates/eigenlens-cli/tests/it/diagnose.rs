//! Diagnostics as tables, and what is known of samples from a second table.

use crate::support::{Sandbox, close, columns, entry, number, numbers, table};

const FEATURES: [&str; 4] = ["sepal_length", "sepal_width", "petal_length", "petal_width"];

/// Iris with a name for each sample, and a second table in another order: a number and a batch for each sample
/// but the first, and a sample that nobody has.
fn with_metadata(name: &str) -> Sandbox {
    let sandbox = Sandbox::with(name, &["iris"]);
    let (names, rows) = table(&sandbox.text("iris.csv"));
    let lines: Vec<String> =
        rows.iter().enumerate().map(|(i, row)| format!("s{i},{}", row.join(","))).collect();
    sandbox.write("data.csv", &format!("sample,{}\n{}\n", names.join(","), lines.join("\n")));
    let known = (1..150).rev().map(|i| format!("s{i},{},{}", weight(i), ["x", "y", "z"][i % 3]));
    let lines: Vec<String> = known.chain(["other,1,x".into()]).collect();
    sandbox.write("about.csv", &format!("sample,weight,batch\n{}\n", lines.join("\n")));
    sandbox.ok(&["fit", "pca", "data.csv", "-k", "2", "-o", "m.safetensors"]);
    sandbox
}

fn weight(i: usize) -> f64 {
    ((i * i) % 31) as f64 + 0.5
}

/// Pearson's correlation by its definition.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(x, y)| f(x - ma, y - mb)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

/// The share of the sum of squares that lies between groups, by its definition.
fn eta_squared(z: &[f64], of: &[usize]) -> f64 {
    let mean = |keep: &dyn Fn(usize) -> bool| {
        let kept: Vec<f64> = (0..z.len()).filter(|&i| keep(i)).map(|i| z[i]).collect();
        kept.iter().sum::<f64>() / kept.len() as f64
    };
    let all = mean(&|_| true);
    let between: f64 = (0..z.len()).map(|i| (mean(&|j| of[j] == of[i]) - all).powi(2)).sum();
    between / z.iter().map(|v| (v - all).powi(2)).sum::<f64>()
}

#[test]
fn samples_and_features_by_their_formulas() {
    let sandbox = with_metadata("diagnose_formulas");
    let out = sandbox.json(&[
        "diagnose",
        "m.safetensors",
        "data.csv",
        "-o",
        "samples.csv",
        "--contributions-file",
        "parts.csv",
        "--features-file",
        "features.csv",
    ]);
    let model = sandbox.json(&["inspect", "m.safetensors"]);
    let variances = numbers(entry(&model, &["explained_variance"]));
    let scores = columns(&sandbox.ok(&["transform", "m.safetensors", "data.csv"]), &["PC1", "PC2"]);
    sandbox.ok(&["reconstruct", "m.safetensors", "data.csv", "-o", "back.csv"]);
    let x = columns(&sandbox.text("data.csv"), &FEATURES);
    let back = columns(&sandbox.text("back.csv"), &FEATURES);
    let names = ["t_squared", "q", "leverage", "PC1_squared_cosine", "PC2_contribution"];
    let found = columns(&sandbox.text("samples.csv"), &names);
    let of = |what: &str| FEATURES.map(|f| format!("{f}_{what}"));
    let parts = |what: &str| {
        let names = of(what);
        columns(&sandbox.text("parts.csv"), &names.each_ref().map(String::as_str))
    };
    let (t_parts, q_parts) = (parts("t_squared"), parts("q"));
    let means: Vec<f64> = (0..4).map(|f| x.iter().map(|r| r[f]).sum::<f64>() / 150.0).collect();
    for i in 0..150 {
        let t: f64 = (0..2).map(|j| scores[i][j].powi(2) / variances[j]).sum();
        let residuals: Vec<f64> = (0..4).map(|f| (x[i][f] - back[i][f]).powi(2)).collect();
        let length: f64 = (0..4).map(|f| (x[i][f] - means[f]).powi(2)).sum();
        close(found[i][0], t, 1e-10);
        close(found[i][1], residuals.iter().sum(), 1e-10);
        close(found[i][2], 1.0 / 150.0 + t / 149.0, 1e-12);
        close(found[i][3], scores[i][0].powi(2) / length, 1e-10);
        close(found[i][4], scores[i][1].powi(2) / variances[1] / 149.0, 1e-12);
        close(t_parts[i].iter().sum(), t, 1e-10);
        for f in 0..4 {
            close(q_parts[i][f], residuals[f], 1e-10);
        }
    }
    let features = columns(&sandbox.text("features.csv"), &["PC1_correlation", "PC2_correlation"]);
    for f in 0..4 {
        let column: Vec<f64> = x.iter().map(|row| row[f]).collect();
        for j in 0..2 {
            let z: Vec<f64> = scores.iter().map(|row| row[j]).collect();
            close(features[f][j], correlation(&column, &z), 1e-10);
        }
    }
    // The samples above the limits are counted, and the list begins with one of them.
    let limit = number(entry(&out, &["monitoring", "t_squared_limit"]));
    let above = found.iter().filter(|row| row[0] > limit).count();
    assert_eq!(number(entry(&out, &["monitoring", "above_t_squared_limit"])), above as f64);
    // New samples have more room: the training samples moved the mean their way.
    let new = sandbox.json(&["diagnose", "m.safetensors", "data.csv", "--new"]);
    assert!(number(entry(&new, &["monitoring", "t_squared_limit"])) > limit);
}

#[test]
fn components_go_with_labels_and_metadata() {
    let sandbox = with_metadata("diagnose_associations");
    let ran = sandbox.run(&[
        "diagnose",
        "m.safetensors",
        "data.csv",
        "--metadata",
        "about.csv",
        "--associations-file",
        "a.csv",
        "--groups-file",
        "g.csv",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("1 of 150 samples are not in the metadata: `s0`"), "{}", ran.err);
    assert!(ran.err.contains("by `sample`: weight, batch"), "{}", ran.err);
    let scores = columns(&sandbox.ok(&["transform", "m.safetensors", "data.csv"]), &["PC1", "PC2"]);
    let (header, rows) = table(&sandbox.text("a.csv"));
    let at = |name: &str| header.iter().position(|h| h == name).unwrap();
    let value = |column: &str, component: &str| {
        let is =
            |row: &&Vec<String>| row[at("column")] == column && row[at("component")] == component;
        let row = rows.iter().find(is).unwrap();
        (row[at("value")].parse::<f64>().unwrap(), row[at("n_samples")].parse::<f64>().unwrap())
    };
    for (j, component) in ["PC1", "PC2"].into_iter().enumerate() {
        let z: Vec<f64> = scores.iter().map(|row| row[j]).collect();
        let species: Vec<usize> = (0..150).map(|i| i / 50).collect();
        close(value("species", component).0, eta_squared(&z, &species), 1e-12);
        let weights: Vec<f64> = (1..150).map(weight).collect();
        let (found, n) = value("weight", component);
        close(found, correlation(&z[1..], &weights), 1e-12);
        assert_eq!(n, 149.0);
        let batches: Vec<usize> = (1..150).map(|i| i % 3).collect();
        close(value("batch", component).0, eta_squared(&z[1..], &batches), 1e-12);
    }
    // Names of samples are no groups.
    assert!(rows.iter().all(|row| row[at("column")] != "sample"));
    let (header, rows) = table(&sandbox.text("g.csv"));
    assert_eq!(header, ["column", "group", "component", "n_samples", "mean", "v_test"]);
    let setosa = rows.iter().find(|row| row[1] == "setosa" && row[2] == "PC1").unwrap();
    let mean = scores[..50].iter().map(|row| row[0]).sum::<f64>() / 50.0;
    close(setosa[4].parse().unwrap(), mean, 1e-12);
}

/// Columns of the second table are labels wherever labels go.
#[test]
fn metadata_goes_where_labels_go() {
    let sandbox = with_metadata("metadata_labels");
    let about = ["--metadata", "about.csv", "--by", "sample"];
    let scores = sandbox.ok(&[&["transform", "m.safetensors", "data.csv"], &about[..]].concat());
    let (header, rows) = table(&scores);
    assert_eq!(header[..4], ["sample", "species", "weight", "batch"]);
    assert_eq!(rows[0][..4], ["s0", "setosa", "\"\"", "\"\""]);
    assert_eq!(rows[7][..4], ["s7", "setosa", "18.5", "y"]);
    sandbox.ok(&[
        &["fit", "pca", "data.csv", "-o", "n.safetensors", "--scores", "s.csv"],
        &about[..],
    ]
    .concat());
    assert_eq!(table(&sandbox.text("s.csv")).0[..4], ["sample", "species", "weight", "batch"]);
    let picture = ["plot", "m.safetensors", "data.csv", "-o", "p.svg", "--color", "batch"];
    sandbox.ok(&[&picture, &about[..]].concat());
    assert!(sandbox.text("p.svg").contains(">z (50)<"));
    // A streamed fit joins block by block.
    let streamed =
        ["fit", "pca", "data.csv", "-o", "t.safetensors", "--scores", "t.csv", "--memory", "64MiB"];
    sandbox.ok(&[&streamed, &about[..]].concat());
    assert_eq!(sandbox.text("t.csv"), sandbox.text("s.csv"));
}

#[test]
fn bad_metadata_is_named_and_nothing_is_written() {
    let sandbox = with_metadata("metadata_errors");
    sandbox.write("twice.csv", "sample,weight\ns1,1\ns2,2\ns1,3\n");
    sandbox.write("apart.csv", "name,weight\ns1,1\n");
    let before = sandbox.files();
    let run = |more: &[&str]| {
        sandbox.run(&[&["diagnose", "m.safetensors", "data.csv", "-o", "out.csv"], more].concat())
    };
    for (more, code, words) in [
        (&["--metadata", "twice.csv"][..], 65, &["`s1`", "row 1", "twice"][..]),
        (&["--metadata", "apart.csv"], 64, &["none is in both", "--by COLUMN"]),
        (&["--metadata", "about.csv", "--by", "smaple"], 64, &["`smaple`", "`sample`"]),
        (&["--metadata", "nowhere.csv"], 66, &["nowhere.csv"]),
        (&["--by", "sample"], 64, &["--metadata"]),
        (&["--confidence", "95"], 64, &["between 0 and 1"]),
        (&["--metadata", "about.csv", "--strict"], 1, &["1 of 150 samples"]),
    ] {
        let ran = run(more);
        assert_eq!(ran.code, code, "{more:?}: {}", ran.err);
        for word in words {
            assert!(ran.err.contains(word), "{more:?}: `{word}` is not in {}", ran.err);
        }
        assert_eq!(sandbox.files(), before, "{more:?}");
    }
    let ran = sandbox.run(&["plot", "m.safetensors", "--metadata", "about.csv"]);
    assert_eq!(ran.code, 64, "{}", ran.err);
    // T² and Q are of PCA: other models have associations.
    sandbox.ok(&["fit", "kernel-pca", "data.csv", "-k", "2", "-o", "k.safetensors"]);
    let ran = sandbox.run(&["diagnose", "k.safetensors", "data.csv", "-o", "out.csv"]);
    assert!(ran.code == 64 && ran.err.contains("--associations-file"), "{}", ran.err);
    sandbox.ok(&["diagnose", "k.safetensors", "data.csv", "--associations-file", "a.csv"]);
}
