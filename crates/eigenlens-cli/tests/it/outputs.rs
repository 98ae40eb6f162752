//! Outputs that must not get lost: two of one name, models at default names, columns of a table.

use crate::support::{Sandbox, entry, table};
use eigenlens::Value;

#[test]
fn two_outputs_of_one_file_are_refused_before_the_work() {
    let sandbox = Sandbox::with("one_output", &["iris"]);
    sandbox.ok(&["fit", "ppca", "iris.csv", "-k", "2", "-o", "m.safetensors"]);
    std::fs::create_dir(sandbox.path("sub")).unwrap();
    let absolute = sandbox.path("a.csv");
    let absolute = absolute.to_str().unwrap();
    let fit = |one: &str, other: &str| {
        sandbox.run(&["fit", "pca", "iris.csv", "-o", one, "--scores", other])
    };
    let refused = |one: &str, other: &str| {
        let before = sandbox.files();
        let ran = fit(one, other);
        assert_eq!(ran.code, 64, "{one} {other}: {}", ran.err);
        assert!(ran.err.contains("two outputs would go to"), "{}", ran.err);
        // Before the work: nothing was read.
        assert!(!ran.err.contains("reading"), "{}", ran.err);
        assert_eq!(sandbox.files(), before);
    };
    refused("a.csv", "a.csv");
    refused("a.csv", "./a.csv");
    refused("a.csv", "sub/../a.csv");
    refused("a.csv", absolute);
    refused("-", "-");
    let both = ["reconstruct", "m.safetensors", "iris.csv", "-o", "r.csv", "--errors", "./r.csv"];
    let ran = sandbox.run(&both);
    assert!(ran.code == 64 && ran.err.contains("`r.csv` and `./r.csv`"), "{}", ran.err);
    let tables = ["impute", "m.safetensors", "iris.csv", "-o", "i.csv", "--draws", "2"];
    let ran = sandbox.run(&[&tables[..], &["--standard-errors", "./i.2.csv"]].concat());
    assert_eq!(ran.code, 64, "{}", ran.err);
    // The default name is one of the outputs.
    let ran = sandbox.run(&["fit", "pca", "iris.csv", "--scores", "./iris.model.safetensors"]);
    assert_eq!(ran.code, 64, "{}", ran.err);
    sandbox.ok(&["fit", "pca", "iris.csv", "-o", "a.safetensors", "--scores", "sub/a.csv"]);
}

#[cfg(unix)]
#[test]
fn links_to_one_file_are_one_output() {
    let sandbox = Sandbox::with("linked_outputs", &["iris"]);
    sandbox.write("old.csv", "kept\n");
    std::fs::hard_link(sandbox.path("old.csv"), sandbox.path("hard.csv")).unwrap();
    for (to, link) in [("old.csv", "soft.csv"), ("none.csv", "dangling.csv"), (".", "here")] {
        std::os::unix::fs::symlink(to, sandbox.path(link)).unwrap();
    }
    for (one, other) in [
        ("old.csv", "soft.csv"),
        ("old.csv", "hard.csv"),
        ("soft.csv", "hard.csv"),
        ("none.csv", "dangling.csv"),
        ("new.csv", "here/new.csv"),
    ] {
        let ran = sandbox.run(&["fit", "pca", "iris.csv", "-o", one, "--scores", other]);
        assert_eq!(ran.code, 64, "{one} {other}: {}", ran.err);
        assert!(ran.err.contains(&format!("`{other}` and `{one}`")), "{}", ran.err);
    }
    assert_eq!(sandbox.text("hard.csv"), "kept\n");
}

#[test]
fn a_default_name_replaces_no_other_model() {
    let sandbox = Sandbox::with("default_names", &["iris"]);
    let name = "iris.model.safetensors";
    sandbox.ok(&["fit", "pca", "iris.csv"]);
    let first = sandbox.bytes(name);
    let ran = sandbox.run(&["fit", "kernel-pca", "iris.csv", "-k", "2", "-q"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let warning = "warning: `iris.model.safetensors` holds a model of the method `pca`: \
                   the model of `kernel-pca` goes to `iris.kernel-pca.safetensors`";
    assert!(ran.err.contains(warning), "{}", ran.err);
    assert_eq!(sandbox.bytes(name), first);
    let inspected = sandbox.json(&["inspect", "iris.kernel-pca.safetensors"]);
    assert_eq!(entry(&inspected, &["method"]), &Value::from("kernel-pca"));
    let ran = sandbox.run(&["fit", "ppca", "iris.csv", "-k", "2", "--strict"]);
    assert!(ran.code == 1 && ran.err.contains("iris.ppca.safetensors"), "{}", ran.err);
    assert!(!sandbox.path("iris.ppca.safetensors").exists());
    // The same method replaces its own, at either name; whatever was asked for is replaced.
    sandbox.ok(&["fit", "kernel-pca", "iris.csv", "-k", "3"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "--scale"]);
    assert_ne!(sandbox.bytes(name), first);
    sandbox.ok(&["fit", "kernel-pca", "iris.csv", "-k", "2", "-o", name]);
    // Neither is anything else replaced that nobody asked for.
    for foreign in
        [&b"my notes\n"[..], b"", &first[..100], &[0, 1, 2, 3, 255, 254, 253, 252, 9], &[1; 300]]
    {
        std::fs::write(sandbox.path(name), foreign).unwrap();
        let ran = sandbox.run(&["fit", "ppca", "iris.csv", "-k", "2"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("holds something else than a model"), "{}", ran.err);
        assert_eq!(sandbox.bytes(name), foreign);
    }
    sandbox.write("iris.lle.safetensors", "my notes");
    let ran = sandbox.run(&["fit", "lle", "iris.csv", "-k", "2"]);
    assert!(ran.code == 64 && ran.err.contains("`-o iris.lle.safetensors`"), "{}", ran.err);
    assert_eq!(sandbox.text("iris.lle.safetensors"), "my notes");
}

#[test]
fn impute_keeps_every_other_column() {
    let sandbox = Sandbox::new("impute_columns");
    let rows: String = (0..40)
        .map(|i| {
            let (a, b) = (f64::from(i) / 4.0, f64::from(i * i % 11));
            let c = if i == 7 { "NA".to_string() } else { (a + b).to_string() };
            format!("{},s{},{a},{b},{c},0{i}.50\n", 9_007_199_254_740_993u64 + i as u64, i % 2)
        })
        .collect();
    sandbox.write("t.csv", &format!("code,group,a,b,c,price\n{rows}"));
    let fit = ["fit", "ppca", "t.csv", "-k", "1", "--columns", "a,b,c", "--missing", "em"];
    sandbox.ok(&fit);
    sandbox.ok(&["impute", "t.model.safetensors", "t.csv", "-o", "filled.csv"]);
    let (names, filled) = table(&sandbox.text("filled.csv"));
    let (given, rows) = table(&sandbox.text("t.csv"));
    let mut sorted = [names.clone(), given.clone()];
    sorted.iter_mut().for_each(|names| names.sort());
    assert_eq!(sorted[0], sorted[1]);
    // To the last digit, beside their own rows.
    for name in ["code", "group", "price"] {
        let column = |names: &[String], rows: &[Vec<String>]| -> Vec<String> {
            let at = names.iter().position(|n| n == name).unwrap();
            rows.iter().map(|row| row[at].clone()).collect()
        };
        assert_eq!(column(&names, &filled), column(&given, &rows), "{name}");
    }
    // Only those asked for.
    sandbox.ok(&["impute", "t.model.safetensors", "t.csv", "-o", "few.csv", "--labels", "group"]);
    assert_eq!(table(&sandbox.text("few.csv")).0, ["group", "a", "b", "c"]);
}
