//! The crate turns models into pictures, and does nothing else.

use std::fs;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn it_depends_on_the_library_and_the_drawing_only() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let section = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let names: Vec<&str> =
        section.lines().filter_map(|line| line.split(['.', ' ', '=']).next()).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    assert_eq!(names, ["eigenlens", "eigenlens-report", "ndarray"]);
    assert!(!manifest.contains("[build-dependencies]") && !manifest.contains("target."));
}

#[test]
fn it_opens_no_file_and_prints_nothing() {
    let folders = [root().join("src"), root().join("src/plots")];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let sources = files.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        for word in ["std::fs", "std::io", "std::env", "std::path", "print!", "println!", "eprint"]
        {
            assert!(!text.contains(word), "{}: `{word}`", path.display());
        }
    }
}

/// A plot is a file and a row: each file of `plots/` is in the table once.
#[test]
fn every_plot_is_one_file_and_one_row() {
    let table = fs::read_to_string(root().join("src/plots/mod.rs")).unwrap();
    let mut files = 0;
    for entry in fs::read_dir(root().join("src/plots")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if name != "mod" {
            files += 1;
            assert_eq!(table.matches(&format!("&{name}::PLOT,")).count(), 1, "{name}");
        }
    }
    assert_eq!(files, eigenlens_views::PLOTS.len());
}
