//! Model files through the program: damaged ones are refused, old ones load.

use crate::support::{Sandbox, entry, numbers};
use std::path::Path;

#[test]
fn damaged_models_are_refused() {
    let sandbox = Sandbox::with("damaged", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "2", "-o", "m.safetensors"]);
    let good = sandbox.bytes("m.safetensors");
    for cut in [0, 4, 8, 100, good.len() / 2, good.len() - 1] {
        std::fs::write(sandbox.path("cut.safetensors"), &good[..cut]).unwrap();
        let ran = sandbox.run(&["transform", "cut.safetensors", "iris.csv", "-o", "s.csv"]);
        assert_eq!(ran.code, 65, "cut at {cut}: {}", ran.err);
        assert!(ran.err.contains("cut.safetensors"), "{}", ran.err);
    }
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 0x10;
    std::fs::write(sandbox.path("flipped.safetensors"), &flipped).unwrap();
    let ran = sandbox.run(&["inspect", "flipped.safetensors"]);
    assert!(ran.code == 65 && ran.err.contains("SHA-256"), "{}", ran.err);
    assert!(!sandbox.files().contains(&"s.csv".to_string()));
}

#[test]
fn the_same_fit_gives_the_same_bytes() {
    let sandbox = Sandbox::with("same_bytes", &["digits"]);
    let fit = |name: &str, threads: &str| {
        let fit = ["fit", "pca", "digits.csv", "-k", "5", "--threads", threads, "-o", name];
        sandbox.ok(&fit);
        sandbox.bytes(name)
    };
    assert_eq!(fit("a.safetensors", "1"), fit("b.safetensors", "2"));
}

#[test]
fn the_first_version_is_read() {
    let sandbox = Sandbox::new("first_version");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../eigenlens-io/tests/data/model-v1.safetensors");
    let model = sandbox.json(&["inspect", kept.to_str().unwrap()]);
    let found = numbers(entry(&model, &["explained_variance"]));
    assert!((found[0] - 2.3669619467139746).abs() < 1e-12);
    // A name with an escape sequence reaches no terminal.
    let text = sandbox.ok(&["inspect", kept.to_str().unwrap()]);
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn the_parts_of_a_model_are_in_the_file() {
    let sandbox = Sandbox::with("parts", &["wine"]);
    let result = sandbox.json(&["fit", "pca", "wine.csv", "--scale", "-k", "3"]);
    let inspected = sandbox.json(&["inspect", "wine.model.safetensors"]);
    assert_eq!(entry(&result, &["model"]), &inspected);
    let header = String::from_utf8_lossy(&sandbox.bytes("wine.model.safetensors")).into_owned();
    for part in ["components", "format_version", "cultivar", "proline", "sha256"] {
        assert!(header.contains(part), "{part}");
    }
}
