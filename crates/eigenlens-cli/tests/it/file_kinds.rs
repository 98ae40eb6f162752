//! Files that are something else than what they were given as are named for what they are.

use crate::support::{Sandbox, entry, number, table};
use eigenlens::Value;

/// A ZIP archive's beginning, with a first member of this name.
fn zip(name: &str) -> Vec<u8> {
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.resize(26, 0);
    bytes.extend([name.len() as u8, 0, 0, 0]);
    bytes.extend(name.bytes());
    bytes.resize(400, 0);
    bytes
}

#[test]
fn a_file_that_is_no_table_is_named_for_what_it_is() {
    let sandbox = Sandbox::with("no_tables", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-o", "m.safetensors"]);
    // As HDF5 files begin: the superblock of version 0 has many zeros, like UTF-16 text.
    let mut hdf5 = b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0\x04\0\x10\0".to_vec();
    hdf5.resize(600, 0);
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    let files: [(&str, Vec<u8>, &str); 6] = [
        ("cells.h5ad", hdf5, "HDF5"),
        ("book.xlsx", zip("[Content_Types].xml"), ".xlsx"),
        ("photo.png", png.clone(), "PNG image"),
        ("photo.csv", png, "PNG image"),
        ("old.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0".to_vec(), ".xls"),
        ("stuff.zip", zip("notes.txt"), "ZIP archive"),
    ];
    for (name, bytes, word) in files {
        std::fs::write(sandbox.path(name), bytes).unwrap();
        let ran = sandbox.run(&["fit", "pca", name, "-o", "x.safetensors"]);
        assert_eq!(ran.code, 65, "{name}: {}", ran.err);
        assert!(ran.err.contains(name) && ran.err.contains(word), "{name}: {}", ran.err);
        assert!(!ran.err.contains("UTF-16") && !ran.err.contains("text table"), "{}", ran.err);
        let ran = sandbox.run(&["inspect", name]);
        assert_eq!(ran.code, 65, "{name}: {}", ran.err);
        assert!(ran.err.contains("no model file, but") && ran.err.contains(word), "{}", ran.err);
    }
    let ran = sandbox.run(&["transform", "iris.csv", "m.safetensors"]);
    assert_eq!(ran.code, 65, "{}", ran.err);
    assert!(ran.err.contains("iris.csv: this is no model file: it looks like text"), "{}", ran.err);
    let ran = sandbox.run(&["fit", "pca", "m.safetensors", "-o", "x.safetensors"]);
    assert!(ran.code == 65 && ran.err.contains("a safetensors file"), "{}", ran.err);
    for format in ["parquet", "arrow", "npy", "csv.gz"] {
        let scores = format!("s.{format}");
        sandbox.ok(&["transform", "m.safetensors", "iris.csv", "-o", &scores]);
        let ran = sandbox.run(&["inspect", &scores]);
        assert!(ran.code == 65 && ran.err.contains("no model file, but a"), "{}", ran.err);
    }
}

#[test]
fn a_column_that_does_not_exist_is_said_not_to() {
    let sandbox = Sandbox::with("no_color", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-o", "m.safetensors"]);
    for option in ["--color", "--names"] {
        let ran = sandbox.run(&["plot", "m.safetensors", "iris.csv", option, "speceis"]);
        assert_eq!(ran.code, 64, "{}", ran.err);
        assert!(ran.err.contains("there is no column `speceis`"), "{}", ran.err);
        assert!(
            ran.err.contains("`species` is near") && ran.err.contains("sepal_length"),
            "{}",
            ran.err
        );
        assert!(!ran.err.contains("--labels"), "{}", ran.err);
    }
    // One of numbers is there, and its hint works.
    let ran = sandbox.run(&["plot", "m.safetensors", "iris.csv", "--color", "petal_width"]);
    assert!(ran.code == 64 && ran.err.contains("`--labels petal_width`"), "{}", ran.err);
    sandbox.ok(&["report", "m.safetensors", "iris.csv", "--color", "species"]);
}

#[test]
fn transform_prints_json_where_it_is_asked_to() {
    let sandbox = Sandbox::with("transform_json", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "2", "-o", "m.safetensors"]);
    let told = sandbox.json(&["transform", "m.safetensors", "iris.csv", "-o", "s.csv"]);
    assert_eq!(number(entry(&told, &["n_samples"])), 150.0);
    assert_eq!(number(entry(&told, &["n_components"])), 2.0);
    assert_eq!(entry(&told, &["files", "scores"]), &Value::from("s.csv"));
    let (names, rows) = table(&sandbox.text("s.csv"));
    // Without a file the scores are the result: the same numbers as in one.
    let printed = sandbox.json(&["transform", "m.safetensors", "iris.csv"]);
    assert_eq!(number(entry(&printed, &["n_samples"])), 150.0);
    let Value::List(scores) = entry(&printed, &["scores"]) else { panic!("no scores") };
    assert_eq!(scores.len(), 150);
    for (object, row) in scores.iter().zip(&rows) {
        for (name, cell) in names.iter().zip(row) {
            match entry(object, &[name]) {
                Value::Text(text) => assert_eq!(text, cell),
                value => assert_eq!(number(value), cell.parse::<f64>().unwrap()),
            }
        }
    }
    let with_errors = ["transform", "m.safetensors", "iris.csv", "--standard-errors"];
    let Value::List(scores) = entry(&sandbox.json(&with_errors), &["scores"]).clone() else {
        panic!("no scores")
    };
    assert_eq!(number(entry(&scores[149], &["PC1_certainty"])), 1.0);
}
