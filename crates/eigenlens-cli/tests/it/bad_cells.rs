//! A cell that is not a number in a column of numbers: never a feature that vanishes.

use crate::support::{Sandbox, entry, number};

/// Deterministic numbers with one other cell in the column `b`, at this row.
fn table_with(cell: &str, at: usize, rows: usize) -> String {
    let mut text = String::from("species,a,b,c\n");
    for i in 0..rows {
        let value = |by: usize| ((i * by) % 1009) as f64 / 8.0;
        let b = if i == at { cell.to_string() } else { value(613).to_string() };
        text += &format!("s{},{},{b},{}\n", i % 3, value(379), value(151));
    }
    text
}

const ROWS: usize = 100_000;

#[test]
fn a_bad_cell_is_refused_with_its_place() {
    let sandbox = Sandbox::new("bad_cells");
    for (cell, at) in [("$1.5", 20_000), ("oops", ROWS - 1)] {
        sandbox.write("t.csv", &table_with(cell, at, ROWS));
        let place = format!("error: t.csv, line {}, column `b`: `{cell}` is not a number", at + 2);
        for more in [&[][..], &["-q", "--strict"], &["--memory", "48MiB", "--threads", "2"]] {
            let ran = sandbox.run(&[&["fit", "pca", "t.csv"], more].concat());
            assert_eq!(ran.code, 65, "{more:?}: {}", ran.err);
            assert!(ran.err.contains(&place), "{}", ran.err);
            let hint = format!("`--missing-mark '{cell}'`");
            assert!(ran.err.contains(&hint) && ran.err.contains("--skip-bad-rows"), "{}", ran.err);
            assert_eq!(sandbox.files(), ["t.csv"]);
        }
        // What the hint says works.
        sandbox.ok(&["fit", "pca", "t.csv", "--labels", "b", "-o", "m.safetensors"]);
        let ran = sandbox.run(&["fit", "pca", "t.csv", "--missing-mark", cell]);
        assert!(ran.code == 65 && ran.err.contains("is missing"), "{}", ran.err);
        std::fs::remove_file(sandbox.path("m.safetensors")).unwrap();
    }
}

#[test]
fn a_bad_cell_is_missing_or_its_row_left_out_as_asked() {
    let sandbox = Sandbox::new("bad_cells_kept");
    sandbox.write("t.csv", &table_with("oops", 20_000, ROWS));
    let place = "t.csv, line 20002, column `b`: `oops` is not a number";
    for memory in [&[][..], &["--memory", "48MiB", "--threads", "2"]] {
        let fit =
            |more: &[&str]| sandbox.run(&[&["fit", "pca", "t.csv", "-q"], more, memory].concat());
        let ran = fit(&["--missing", "mean", "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let warning = format!("warning: cells taken for missing values: 1; the first is {place}");
        assert!(ran.err.contains(&warning), "{}", ran.err);
        assert_eq!(ran.err.matches("warning").count(), 1, "{}", ran.err);
        let result = eigenlens_io::json::from_json(&ran.out).unwrap();
        assert_eq!(number(entry(&result, &["model", "n_features"])), 3.0);
        assert_eq!(number(entry(&result, &["model", "n_samples"])), ROWS as f64);
        let ran = fit(&["--missing", "mean", "--strict", "-o", "strict.safetensors"]);
        assert!(ran.code == 1 && ran.err.contains(place), "{}", ran.err);
        assert!(!sandbox.path("strict.safetensors").exists());

        let ran =
            sandbox.run(&[&["fit", "pca", "t.csv", "--skip-bad-rows", "--json"], memory].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        let told = "rows left out: t.csv: 1; the first is line 20002: `oops` is not a number";
        assert!(ran.err.contains(told), "{}", ran.err);
        let result = eigenlens_io::json::from_json(&ran.out).unwrap();
        assert_eq!(number(entry(&result, &["model", "n_features"])), 3.0);
        assert_eq!(number(entry(&result, &["model", "n_samples"])), ROWS as f64 - 1.0);
    }
    // The same for a model that is used.
    let transform = |more: &[&str]| {
        let said = ["transform", "t.model.safetensors", "t.csv", "-q"];
        sandbox.run(&[&said[..], more].concat())
    };
    let ran = transform(&["-o", "scores.csv"]);
    assert!(ran.code == 65 && ran.err.contains(place), "{}", ran.err);
    let ran = transform(&["--missing", "mean", "-o", "scores.csv"]);
    assert!(ran.code == 0 && ran.err.contains(place), "{}", ran.err);
    let ran = transform(&["--missing", "mean", "--strict", "-o", "strict.csv"]);
    assert!(ran.code == 1 && ran.err.contains(place), "{}", ran.err);
    assert!(!sandbox.path("strict.csv").exists());
    assert_eq!(transform(&["--skip-bad-rows", "-o", "scores.csv"]).code, 0);
    assert_eq!(sandbox.text("scores.csv").lines().count(), ROWS);
}

/// Targets and weights are read apart: of the same rows.
#[test]
fn rows_left_out_are_left_out_of_targets_and_weights_too() {
    let sandbox = Sandbox::new("bad_cells_targets");
    sandbox.write("t.csv", &table_with("oops", 5, 60));
    sandbox.write("clean.csv", &{
        let text = table_with("oops", 5, 60);
        text.lines()
            .filter(|line| !line.contains("oops"))
            .map(|l| format!("{l}\n"))
            .collect::<String>()
    });
    for more in [
        &["supervised-pca", "--target", "species", "-k", "1"][..],
        &["supervised-pca", "--target", "b", "-k", "1"],
        &["pca", "--weights", "b", "--weight-kind", "relative"],
        &["pca", "--weights", "a", "--weight-kind", "relative"],
    ] {
        let fit = |file: &str| {
            let said = ["fit", more[0], file, "--skip-bad-rows", "-o", "m.safetensors"];
            sandbox.ok(&[&said[..], &more[1..]].concat());
            sandbox.ok(&["transform", "m.safetensors", "clean.csv"])
        };
        assert_eq!(fit("t.csv"), fit("clean.csv"), "{more:?}");
    }
    // Classes need not be numbers, even where most are.
    let said = ["fit", "supervised-pca", "t.csv", "--target", "b", "-k", "1"];
    let ran = sandbox.run(&said);
    assert!(ran.code == 65 && ran.err.contains("`--target-kind class`"), "{}", ran.err);
    sandbox.ok(&[&said[..], &["--target-kind", "class"]].concat());
}
