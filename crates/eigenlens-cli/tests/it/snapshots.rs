//! Whole outputs, word for word: stdout, stderr and exit code.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test` writes them anew; look at the difference before you commit it.

use crate::support::Sandbox;
use std::path::Path;

/// Runs and compares with the file of that name.
fn check(sandbox: &Sandbox, name: &str, arguments: &[&str]) {
    let ran = sandbox.run(arguments);
    let found = format!(
        "$ eigenlens {}\nexit code {}\n--- stdout\n{}--- stderr\n{}",
        arguments.join(" "),
        ran.code,
        masked(&ran.out),
        masked(&ran.err)
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/snapshots")
        .join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{name} has changed");
}

/// Roundings such as `5.3e-16` differ between processors: only that they are tiny is kept. Planned
/// memory changes whenever a solver does: its own tests look at it.
fn masked(text: &str) -> String {
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        let mut words: Vec<String> = line.split(' ').map(mask_word).collect();
        for at in 1..words.len() {
            if words[at] == "MiB" && words[at - 1].parse::<f64>().is_ok() {
                words[at - 1] = "some".into();
            }
        }
        kept.push_str(&words.join(" "));
    }
    kept
}

fn mask_word(word: &str) -> String {
    let number = word.trim_end();
    match number.split_once("e-") {
        Some((digits, exponent))
            if digits.parse::<f64>().is_ok() && exponent.parse::<u32>().is_ok_and(|e| e > 12) =>
        {
            word.replace(number, "tiny")
        }
        _ => word.into(),
    }
}

#[test]
fn the_main_commands() {
    let sandbox = Sandbox::new("snapshots");
    check(&sandbox, "example", &["example", "usarrests"]);
    check(&sandbox, "plan", &["fit", "pca", "usarrests.csv", "--scale", "--plan"]);
    check(&sandbox, "fit", &["fit", "pca", "usarrests.csv", "--scale", "-k", "2"]);
    let model = "usarrests.model.safetensors";
    check(&sandbox, "inspect", &["inspect", model, "usarrests.csv"]);
    check(&sandbox, "choose", &["choose", "usarrests.csv", "--scale"]);
    check(&sandbox, "reconstruct", &["reconstruct", model, "usarrests.csv"]);
    check(&sandbox, "plot", &["plot", model, "usarrests.csv", "--kind", "biplot"]);
    check(&sandbox, "report", &["report", model, "usarrests.csv"]);
    check(&sandbox, "methods", &["methods"]);
    check(&sandbox, "help", &["--help"]);
}

#[test]
fn the_main_failures() {
    let sandbox = Sandbox::with("snapshot_failures", &["usarrests"]);
    sandbox.write("hole.csv", "a,b\n1,2\n3,\n5,7\n");
    sandbox.write("words.csv", "a,b\nx,y\nz,w\n");
    let many = ["fit", "pca", "usarrests.csv", "--components", "20"];
    check(&sandbox, "error-components", &many);
    check(&sandbox, "error-hole", &["fit", "pca", "hole.csv"]);
    check(&sandbox, "error-words", &["fit", "pca", "words.csv"]);
    check(&sandbox, "error-misfit", &["fit", "lsa", "usarrests.csv", "--scale"]);
    check(&sandbox, "error-nowhere", &["fit", "pca", "nowhere.csv"]);
    check(&sandbox, "error-memory", &["fit", "pca", "usarrests.csv", "--memory", "1MiB"]);
    let unwritable = ["fit", "pca", "usarrests.csv", "-o", "no/such/model.safetensors"];
    check(&sandbox, "error-unwritable", &unwritable);
}
