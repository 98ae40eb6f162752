//! Model files of the first format version (`golden/models-v1`): each loads, and scores new samples as
//! the program did that wrote it.

use crate::support::{Sandbox, entry, table};
use eigenlens::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders whose samples are single precision, and so are the scores.
const SINGLE: [&str; 2] = ["images", "iris-f32"];

/// Its scores are a ridge regression, which only the Python package has.
const RIDGE: &str = "python-sparse-pca-ridge.safetensors";

fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = found.collect();
    found.sort();
    found
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.file_name().unwrap().to_string_lossy().ends_with(ending)
}

/// Every model file, with the new samples that lie beside it.
fn models() -> Vec<(PathBuf, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/models-v1");
    let mut models = Vec::new();
    for folder in entries(&root).into_iter().filter(|path| path.is_dir()) {
        let all = entries(&folder);
        let new = all.iter().find(|path| path.file_stem().unwrap() == "new").unwrap();
        let own = all.iter().filter(|path| has_ending(path, ".safetensors"));
        models.extend(own.map(|model| (model.clone(), new.clone())));
    }
    assert!(!models.is_empty());
    models
}

fn folder(model: &Path) -> String {
    model.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned()
}

/// The last columns of a table: labels come before the scores.
fn last_columns(text: &str, wanted: usize) -> Vec<Vec<f64>> {
    let (_, rows) = table(text);
    let numbers = |row: &Vec<String>| -> Vec<f64> {
        row[row.len() - wanted..].iter().map(|v| v.parse().unwrap()).collect()
    };
    rows.iter().map(numbers).collect()
}

/// Scores are compared relative to the largest of their component.
fn check_scores(model: &Path, found: &str) {
    let expected = fs::read_to_string(model.with_extension("scores.csv")).unwrap();
    let width = table(&expected).0.len();
    let (found, expected) = (last_columns(found, width), last_columns(&expected, width));
    assert_eq!(found.len(), expected.len(), "{}", model.display());
    let tolerance = if SINGLE.contains(&folder(model).as_str()) { 1e-6 } else { 1e-12 };
    for column in 0..width {
        let largest = expected.iter().fold(0.0, |most: f64, row| most.max(row[column].abs()));
        for (found, expected) in found.iter().zip(&expected) {
            let (found, expected) = (found[column], expected[column]);
            let fine = (found - expected).abs() <= tolerance * largest;
            assert!(fine, "{}: {found} is not {expected}", model.display());
        }
    }
}

#[test]
fn models_of_the_first_version_give_the_scores_they_were_written_with() {
    let sandbox = Sandbox::new("models_v1_scores");
    for (model, new) in models().into_iter().filter(|(model, _)| !has_ending(model, RIDGE)) {
        let mut command = vec!["transform", model.to_str().unwrap(), new.to_str().unwrap()];
        if folder(&model) == "holes" {
            command.extend(["--missing", "em"]);
        }
        check_scores(&model, &sandbox.ok(&command));
    }
}

#[test]
fn models_of_the_first_version_of_every_method_can_be_inspected() {
    let sandbox = Sandbox::new("models_v1_inspected");
    let mut kept = BTreeSet::new();
    for (model, _) in models() {
        let model = model.to_str().unwrap();
        assert!(!sandbox.ok(&["inspect", model]).is_empty());
        kept.insert(text(entry(&sandbox.json(&["inspect", model]), &["method"])));
    }
    let Value::List(methods) = sandbox.json(&["methods"]) else { panic!("no list of methods") };
    let mut methods: BTreeSet<String> = methods.iter().map(|m| text(entry(m, &["name"]))).collect();
    // Came when files were of the second version.
    assert!(methods.remove("lda"));
    assert_eq!(kept, methods);
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => panic!("{other:?} is no text"),
    }
}
