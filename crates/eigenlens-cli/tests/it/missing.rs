//! Missing values and densities, as users meet them.

use crate::support::{Sandbox, close, columns, entry, number, numbers, table};

/// Iris with holes: every fifth entry of the second column, and a few others.
fn holes(name: &str) -> Sandbox {
    let sandbox = Sandbox::with(name, &["iris"]);
    let (names, mut rows) = table(&sandbox.text("iris.csv"));
    for (i, row) in rows.iter_mut().enumerate() {
        if i % 5 == 0 {
            row[1] = "NA".into();
        }
        if i % 17 == 3 {
            row[2] = String::new();
        }
    }
    let rows: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    sandbox.write("holes.csv", &format!("{}\n{}\n", names.join(","), rows.join("\n")));
    sandbox
}

const FEATURES: [&str; 4] = ["sepal_length", "sepal_width", "petal_length", "petal_width"];

#[test]
fn holes_are_explained_and_policies_offered() {
    let sandbox = holes("holes_explained");
    let ran = sandbox.run(&["fit", "pca", "holes.csv"]);
    assert_eq!(ran.code, 65, "{}", ran.err);
    for words in [
        "holes.csv, line 2, column `sepal_width` is missing",
        "39 of 600 entries missing (6.5 %), in 37 of 150 samples and 2 of 4 features",
        "(`sepal_width` 30, `petal_length` 9)",
        "--missing em",
        "drop-rows, drop-columns or mean",
    ] {
        assert!(ran.err.contains(words), "`{words}` is not in\n{}", ran.err);
    }
    assert_eq!(sandbox.files(), ["holes.csv", "iris.csv"]);
    let ran = sandbox.run(&["fit", "pca", "holes.csv", "--missing", "guess"]);
    assert_eq!(ran.code, 64);
    assert!(ran.err.contains("error, drop-rows, drop-columns, mean, em"), "{}", ran.err);
}

#[test]
fn every_policy_is_recorded_and_shown() {
    let sandbox = holes("policies");
    for (policy, words) in [
        ("drop-rows", "fitted without 37 samples"),
        ("drop-columns", "fitted without `sepal_width`, `petal_length`"),
        ("mean", "replaced by the mean"),
        ("em", "integrated out"),
    ] {
        let ran = sandbox.run(&[
            "fit",
            "pca",
            "holes.csv",
            "-k",
            "2",
            "--missing",
            policy,
            "-o",
            "m.safetensors",
            "--scores",
            "scores.csv",
        ]);
        assert_eq!(ran.code, 0, "{policy}: {}", ran.err);
        assert!(ran.err.contains(words), "{policy}: {}", ran.err);
        let text = sandbox.ok(&["inspect", "m.safetensors"]);
        assert!(text.contains(&format!("missing        {policy}: 39 of 600")), "{text}");
        let model = sandbox.json(&["inspect", "m.safetensors"]);
        assert_eq!(number(entry(&model, &["missing", "missing"])), 39.0);
        // Every sample has scores, and the model gives the same ones again.
        let fitted = sandbox.text("scores.csv");
        assert_eq!(table(&fitted).1.len(), 150);
        assert!(!fitted.contains("NaN"), "{policy}");
        let again = sandbox.ok(&["transform", "m.safetensors", "holes.csv"]);
        assert_eq!(again, fitted, "{policy}");
        let back = sandbox.ok(&["reconstruct", "m.safetensors", "holes.csv", "-o", "back.csv"]);
        assert!(!back.contains("NaN") && !sandbox.text("back.csv").contains("NaN"), "{policy}");
    }
}

#[test]
fn new_samples_with_holes_lose_certainty() {
    let sandbox = holes("certainty");
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "2", "-o", "m.safetensors"]);
    let ran = sandbox.run(&["transform", "m.safetensors", "holes.csv"]);
    assert_eq!(ran.code, 65, "{}", ran.err);
    let ran = sandbox.run(&["transform", "m.safetensors", "holes.csv", "--missing", "em"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("37 samples have missing values"), "{}", ran.err);
    let out = sandbox.ok(&[
        "transform",
        "m.safetensors",
        "holes.csv",
        "--missing",
        "em",
        "--standard-errors",
    ]);
    let found = columns(&out, &["PC1", "PC1_certainty", "PC1_error", "PC2_certainty", "PC2_error"]);
    let whole = sandbox.ok(&["transform", "m.safetensors", "iris.csv"]);
    let whole = columns(&whole, &["PC1"]);
    for (i, row) in found.iter().enumerate() {
        if i % 5 != 0 && i % 17 != 3 {
            close(row[0], whole[i][0], 1e-12);
            assert_eq!((row[1], row[3]), (1.0, 1.0));
        } else {
            assert!(row[3] < 1.0 && row[4] > found[1][4], "{row:?}");
        }
    }
}

#[test]
fn holes_are_filled_with_errors_that_fit() {
    let sandbox = holes("impute");
    sandbox.ok(&["fit", "ppca", "holes.csv", "-k", "2", "--missing", "em", "-o", "m.safetensors"]);
    let report = sandbox.json(&[
        "impute",
        "m.safetensors",
        "holes.csv",
        "-o",
        "filled.csv",
        "--standard-errors",
        "se.csv",
    ]);
    assert_eq!(number(entry(&report, &["filled"])), 39.0);
    let truth = columns(&sandbox.text("iris.csv"), &FEATURES);
    let filled = columns(&sandbox.text("filled.csv"), &FEATURES);
    let errors = columns(&sandbox.text("se.csv"), &FEATURES);
    let mut inside = 0;
    for i in 0..150 {
        for f in 0..4 {
            if errors[i][f] == 0.0 {
                assert_eq!(filled[i][f], truth[i][f]);
            } else if (filled[i][f] - truth[i][f]).abs() <= 3.0 * errors[i][f] {
                inside += 1;
            }
        }
    }
    assert!(inside >= 36, "{inside} of 39 within three standard errors");
    assert_eq!(table(&sandbox.text("filled.csv")).0[0], "species", "labels are carried along");
    sandbox.ok(&[
        "impute",
        "m.safetensors",
        "holes.csv",
        "-o",
        "d.csv",
        "--draws",
        "2",
        "--seed",
        "3",
    ]);
    assert_ne!(sandbox.text("d.1.csv"), sandbox.text("d.2.csv"));
    let ran = sandbox.run(&["impute", "m.safetensors", "holes.csv", "--draws", "2"]);
    assert_eq!(ran.code, 64);
    // A PCA is no density.
    sandbox.ok(&["fit", "pca", "iris.csv", "-o", "p.safetensors"]);
    let ran = sandbox.run(&["impute", "p.safetensors", "holes.csv"]);
    assert_eq!(ran.code, 64);
    assert!(ran.err.contains("eigenlens fit ppca"), "{}", ran.err);
}

#[test]
fn samples_are_scored_and_drawn() {
    let sandbox = holes("score");
    sandbox.ok(&["fit", "ppca", "iris.csv", "-k", "2", "-o", "m.safetensors"]);
    let model = sandbox.json(&["inspect", "m.safetensors"]);
    let total = number(entry(&model, &["log_likelihood"]));
    let score = sandbox.json(&["score", "m.safetensors", "iris.csv", "-o", "s.csv"]);
    close(number(entry(&score, &["log_likelihood"])), total, 1e-6);
    close(number(entry(&score, &["bic"])), number(entry(&model, &["bic"])), 1e-6);
    let rows = columns(&sandbox.text("s.csv"), &["log_likelihood", "degrees", "p_value"]);
    close(rows.iter().map(|r| r[0]).sum(), total, 1e-6);
    assert!(rows.iter().all(|r| r[1] == 4.0 && (0.0..=1.0).contains(&r[2])));
    let text = sandbox.ok(&["score", "m.safetensors", "holes.csv"]);
    assert!(text.contains("most unusual samples"), "{text}");
    sandbox.ok(&["sample", "m.safetensors", "-n", "500", "-o", "new.csv", "--seed", "4"]);
    let new = columns(&sandbox.text("new.csv"), &FEATURES);
    let mean = numbers(entry(&model, &["mean"]));
    for f in 0..4 {
        close(new.iter().map(|r| r[f]).sum::<f64>() / 500.0, mean[f], 0.4);
    }
}

#[test]
fn relatives_of_ppca_work_from_the_command_line() {
    let sandbox = holes("relatives");
    let model = ["-o", "m.safetensors"];
    let ran = sandbox
        .run(&[&["fit", "bayesian-pca", "holes.csv", "--missing", "em"], &model[..]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let found = sandbox.json(&["inspect", "m.safetensors"]);
    assert!(number(entry(&found, &["n_components"])) <= 3.0);
    let text = sandbox.ok(&[
        "fit",
        "ppca-mixture",
        "iris.csv",
        "--parts",
        "3",
        "-k",
        "1",
        "--scores",
        "r.csv",
        "-o",
        "mix.safetensors",
    ]);
    assert!(text.starts_with("ppca-mixture of 150 samples, 4 features: 3 components"), "{text}");
    let parts = columns(&sandbox.text("r.csv"), &["part1", "part2", "part3"]);
    assert!(parts.iter().all(|r| (r.iter().sum::<f64>() - 1.0).abs() < 1e-9));
    sandbox.ok(&["score", "mix.safetensors", "holes.csv", "-o", "s.csv"]);
    // The class is the part with the largest probability; probabilities are the scores.
    let text = sandbox.ok(&["predict", "mix.safetensors", "iris.csv", "-o", "p.csv"]);
    assert!(text.contains("part1") && text.contains("part3"), "{text}");
    let names = ["probability_part1", "probability_part2", "probability_part3"];
    let probabilities = columns(&sandbox.text("p.csv"), &names);
    assert_eq!(probabilities, parts);
    let (header, rows) = table(&sandbox.text("p.csv"));
    let part = header.iter().position(|name| name == "part").unwrap();
    for (row, p) in rows.iter().zip(&probabilities) {
        let best = (0..3).max_by(|a, b| p[*a].total_cmp(&p[*b])).unwrap();
        assert_eq!(row[part], format!("part{}", best + 1));
    }
    let ran = sandbox.run(&["predict", "m.safetensors", "iris.csv"]);
    assert_eq!((ran.code, ran.out.as_str()), (64, ""), "{}", ran.err);
    sandbox.ok(&["sample", "mix.safetensors", "-n", "9", "-o", "new.csv"]);
    assert_eq!(table(&sandbox.text("new.csv")).0[0], "part");
    let model = "mix.safetensors";
    let report =
        sandbox.json(&["impute", model, "holes.csv", "-o", "f.csv", "--standard-errors", "se.csv"]);
    assert_eq!(number(entry(&report, &["filled"])), 39.0);
    let (filled, errors) = (sandbox.text("f.csv"), sandbox.text("se.csv"));
    let errors = columns(&errors, &FEATURES);
    let truth = columns(&sandbox.text("iris.csv"), &FEATURES);
    for (i, row) in columns(&filled, &FEATURES).iter().enumerate() {
        for f in 0..4 {
            assert!((row[f] - truth[i][f]).abs() <= 5.0 * errors[i][f], "row {i}, feature {f}");
        }
    }
    sandbox.ok(&["impute", model, "holes.csv", "-o", "d.csv", "--draws", "2"]);
    assert_ne!(sandbox.text("d.1.csv"), sandbox.text("d.2.csv"));
    let ran = sandbox.run(&["plot", "mix.safetensors", "iris.csv", "--kind", "posterior"]);
    assert_eq!(ran.code, 64, "{}", ran.err);
}

#[test]
fn pictures_of_uncertainty_are_drawn() {
    let sandbox = holes("uncertain_pictures");
    sandbox.ok(&["fit", "ppca", "holes.csv", "-k", "2", "--missing", "em", "-o", "m.safetensors"]);
    for (kind, words) in [("posterior", "posterior"), ("imputation", "standard errors")] {
        let file = format!("{kind}.svg");
        sandbox.ok(&["plot", "m.safetensors", "holes.csv", "--kind", kind, "-o", &file]);
        let picture = sandbox.text(&file);
        assert!(picture.contains("<svg") && picture.contains(words), "{kind}");
        assert!(!picture.contains("NaN"), "{kind}");
    }
    let picture = sandbox.text("imputation.svg");
    assert!(picture.contains("observed entries, hidden and imputed"), "points are no samples");
    let ran = sandbox.run(&["plot", "m.safetensors", "--kind", "imputation"]);
    assert_eq!(ran.code, 64);
}

#[test]
fn too_many_holes_and_empty_columns_are_refused() {
    let sandbox = Sandbox::new("too_many_holes");
    let mut text = String::from("a,b,c,d,e,f,g,h,i,j,k,l\n");
    for i in 0..30 {
        let mut fields = vec!["NA".to_string(); 12];
        fields[i % 12] = format!("{}.5", i * i % 7);
        text.push_str(&format!("{}\n", fields.join(",")));
    }
    sandbox.write("t.csv", &text);
    let ran = sandbox.run(&["fit", "ppca", "t.csv", "-k", "1", "--missing", "em"]);
    assert_eq!(ran.code, 65, "{}", ran.err);
    assert!(ran.err.contains("91.7 % of the entries are missing"), "{}", ran.err);
    assert!(ran.err.contains("--most-missing 0.917"), "{}", ran.err);
    let most = ["fit", "ppca", "t.csv", "-k", "1", "--missing", "em", "--most-missing", "0.917"];
    let ran = sandbox.run(&most);
    assert_eq!(ran.code, 0, "{}", ran.err);
    sandbox.write("e.csv", "a,b,c\n1,NA,3\n2,NA,1\n3,NA,5\n");
    let ran = sandbox.run(&["fit", "pca", "e.csv", "--missing", "mean"]);
    assert!(ran.err.contains("skipped: b (it has no values)"), "{}", ran.err);
    let named = ["fit", "ppca", "e.csv", "-k", "1", "--columns", "a,b,c", "--missing", "em"];
    let ran = sandbox.run(&named);
    assert_eq!(ran.code, 64, "{}", ran.err);
    assert!(ran.err.contains("`b` cannot be a feature: it has no values"), "{}", ran.err);
    sandbox.write("r.csv", "a,b,c\n1,2,3\nNA,NA,NA\n2,1,1\n3,5,5\n4,4,2\n");
    let ran = sandbox.run(&["fit", "ppca", "r.csv", "-k", "1", "--missing", "em"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("nothing observed"), "{}", ran.err);
}

#[test]
fn rules_are_compared_on_data_with_holes() {
    let sandbox = holes("choose_holes");
    let ran = sandbox.run(&["choose", "holes.csv", "--scale"]);
    assert_eq!(ran.code, 65, "{}", ran.err);
    assert!(ran.err.contains("39 of 600 entries missing"), "{}", ran.err);
    assert!(ran.err.contains("`--missing em`, or drop-rows"), "{}", ran.err);
    let chosen = |policy: &str| {
        let said = ["choose", "holes.csv", "--scale", "--missing", policy];
        let ran = sandbox.run(&said);
        assert_eq!(ran.code, 0, "{policy}: {}", ran.err);
        assert!(ran.err.contains(&format!("missing: {policy}: 39 of 600")), "{}", ran.err);
        (ran.out, sandbox.json(&said))
    };
    // A policy is a comparison on the data that it makes.
    let (text, found) = chosen("drop-rows");
    let (names, rows) = table(&sandbox.text("holes.csv"));
    let whole = rows.iter().filter(|r| !r.iter().any(|v| v == "NA" || v.is_empty()));
    let whole: Vec<String> = whole.map(|r| r.join(",")).collect();
    sandbox.write("whole.csv", &format!("{}\n{}\n", names.join(","), whole.join("\n")));
    assert_eq!(text, sandbox.ok(&["choose", "whole.csv", "--scale"]));
    assert_eq!(found, sandbox.json(&["choose", "whole.csv", "--scale"]));
    assert!(!chosen("mean").0.contains("not computed"));
    // Four features have a covariance as free as any: every rule has its spectrum, and those that look
    // at samples see those without holes.
    let (text, found) = chosen("em");
    assert!(!text.contains("not computed"), "{text}");
    assert!(text.contains("a sample of 113 of the 150 rows"), "{text}");
    let eigenvalue_rules = ["threshold", "kaiser", "broken-stick", "parallel-analysis"];
    let whole = sandbox.json(&["choose", "iris.csv", "--scale"]);
    for rule in eigenvalue_rules {
        assert_eq!(components_of(&found, rule), components_of(&whole, rule), "{rule}");
    }
}

/// What a rule chose.
fn components_of(result: &eigenlens::Value, rule: &str) -> f64 {
    let eigenlens::Value::List(all) = entry(result, &["rules"]) else { panic!("{result:?}") };
    let named = |one: &&eigenlens::Value| format!("{:?}", entry(one, &["rule"])).contains(rule);
    number(entry(all.iter().find(named).unwrap(), &["n_components"]))
}

/// With a row of holes in every sample there is none to look at, and that is what is said.
#[test]
fn rules_that_look_at_samples_say_when_there_are_none() {
    let sandbox = Sandbox::with("no_whole_sample", &["iris"]);
    let (names, mut rows) = table(&sandbox.text("iris.csv"));
    rows.iter_mut().enumerate().for_each(|(i, row)| row[i % 4] = "NA".into());
    let rows: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    sandbox.write("h.csv", &format!("{}\n{}\n", names.join(","), rows.join("\n")));
    let ran = sandbox.run(&["choose", "h.csv", "--missing", "em"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("not computed: it needs at least 3 samples, but there are 0"),
        "{}",
        ran.out
    );
    assert!(ran.err.contains("0 of 150, those without missing values"), "{}", ran.err);
}

/// Without the rows that have holes a fit is the fit to the other rows, target and all.
#[test]
fn a_target_is_dropped_with_its_row() {
    let sandbox = holes("dropped_targets");
    let (names, rows) = table(&sandbox.text("holes.csv"));
    let whole = rows.iter().filter(|r| !r.iter().any(|v| v == "NA" || v.is_empty()));
    let whole: Vec<String> = whole.map(|r| r.join(",")).collect();
    sandbox.write("whole.csv", &format!("{}\n{}\n", names.join(","), whole.join("\n")));
    for method in ["supervised-pca", "kernel-supervised-pca"] {
        let fit = ["fit", method, "--target", "species", "-k", "2", "-o"];
        sandbox.ok(&[&fit[..], &["a.safetensors", "holes.csv", "--missing", "drop-rows"]].concat());
        sandbox.ok(&[&fit[..], &["b.safetensors", "whole.csv"]].concat());
        let scores = |model: &str| sandbox.ok(&["transform", model, "iris.csv"]);
        assert_eq!(scores("a.safetensors"), scores("b.safetensors"), "{method}");
    }
    // A class that only rows with holes have is gone; a row without a class is named by its own line.
    let mut rows = rows;
    rows[0][4] = "unica".into();
    rows[9][4] = String::new();
    let write = |rows: &[Vec<String>]| {
        let rows: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
        sandbox.write("odd.csv", &format!("{}\n{}\n", names.join(","), rows.join("\n")));
    };
    write(&rows);
    let fit = ["fit", "supervised-pca", "odd.csv", "--target", "species", "--missing", "drop-rows"];
    let ran = sandbox.run(&fit);
    assert_eq!(ran.code, 65, "{}", ran.err);
    assert!(ran.err.contains("odd.csv, line 11"), "{}", ran.err);
    rows[9][4] = "setosa".into();
    write(&rows);
    assert!(sandbox.ok(&fit).contains("delta kernel: 3 classes"));
}

/// A method that knows no holes sees the training means in them, at the fit and ever after.
#[test]
fn means_of_the_training_samples_go_into_holes_of_new_ones() {
    let sandbox = holes("filled");
    let holed = |row: &[String], f: usize| row[f] == "NA" || row[f].is_empty();
    let (names, rows) = table(&sandbox.text("holes.csv"));
    let mean = |f: usize| {
        let known = rows.iter().filter(|r| !holed(r, f)).map(|r| r[f].parse::<f64>().unwrap());
        let known: Vec<f64> = known.collect();
        known.iter().sum::<f64>() / known.len() as f64
    };
    let means: Vec<f64> = (0..4).map(mean).collect();
    // New samples: other rows with holes, and what they are with the training means in them.
    let new: Vec<Vec<String>> = rows.iter().skip(5).step_by(7).cloned().collect();
    let filled = new.iter().map(|row| {
        let entry =
            |f: usize| if f < 4 && holed(row, f) { means[f].to_string() } else { row[f].clone() };
        (0..5).map(entry).collect::<Vec<_>>().join(",")
    });
    let filled: Vec<String> = filled.collect();
    sandbox.write("filled.csv", &format!("{}\n{}\n", names.join(","), filled.join("\n")));
    let new: Vec<String> = new.iter().map(|row| row.join(",")).collect();
    sandbox.write("new.csv", &format!("{}\n{}\n", names.join(","), new.join("\n")));
    for (method, axes) in [
        (&["kernel-pca"][..], ["KPC1", "KPC2"]),
        (&["kernel-supervised-pca", "--target", "species"], ["KSPC1", "KSPC2"]),
        (&["supervised-pca", "--target", "species"], ["SPC1", "SPC2"]),
        (&["sparse-pca"], ["SPC1", "SPC2"]),
        (&["mds"], ["MDS1", "MDS2"]),
        (&["isomap", "--neighbors", "25", "--bridges"], ["ISO1", "ISO2"]),
    ] {
        let fit = ["-k", "2", "--missing", "mean", "-o", "m.safetensors"];
        sandbox.ok(&[&["fit"], method, &["holes.csv"], &fit[..]].concat());
        let ran = sandbox.run(&["transform", "m.safetensors", "new.csv"]);
        assert_eq!(ran.code, 0, "{method:?}: {}", ran.err);
        assert!(ran.err.contains("the means of the training samples stand in"), "{}", ran.err);
        let by_hand = sandbox.ok(&["transform", "m.safetensors", "filled.csv"]);
        let (found, expected) = (columns(&ran.out, &axes), columns(&by_hand, &axes));
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            close(*found, *expected, 1e-9);
        }
        sandbox.ok(&["plot", "m.safetensors", "new.csv", "-o", "p.svg"]);
        let ran = sandbox.run(&["transform", "m.safetensors", "new.csv", "--missing", "em"]);
        assert_eq!(ran.code, 64, "{}", ran.err);
        let ran = sandbox.run(&["transform", "m.safetensors", "new.csv", "--missing", "error"]);
        assert_eq!(ran.code, 65, "{}", ran.err);
        assert!(ran.err.contains("leave out `--missing error`"), "{}", ran.err);
    }
}

/// A hint leads out: what it says to do works.
#[test]
fn a_model_without_means_says_how_to_get_them() {
    let sandbox = holes("no_means");
    sandbox.ok(&["fit", "kernel-pca", "iris.csv", "-k", "2", "-o", "m.safetensors"]);
    for (more, code) in [(&[][..], 65), (&["--missing", "mean"][..], 64)] {
        let ran = sandbox.run(&[&["transform", "m.safetensors", "holes.csv"], more].concat());
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains("fit the model with `--missing mean`"), "{}", ran.err);
    }
    let fit =
        ["fit", "kernel-pca", "iris.csv", "-k", "2", "--missing", "mean", "-o", "m.safetensors"];
    sandbox.ok(&fit);
    sandbox.ok(&["transform", "m.safetensors", "holes.csv"]);
    // A PCA needs no means.
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "2", "-o", "p.safetensors"]);
    let ran = sandbox.run(&["transform", "p.safetensors", "holes.csv"]);
    assert_eq!(ran.code, 65, "{}", ran.err);
    assert!(ran.err.contains("use `--missing em`"), "{}", ran.err);
    sandbox.ok(&["transform", "p.safetensors", "holes.csv", "--missing", "em"]);
}

/// T² and Q after the holes were integrated out are drawn of samples without any.
#[test]
fn monitoring_shows_the_samples_without_holes() {
    let sandbox = holes("monitoring_holes");
    sandbox.ok(&["fit", "pca", "holes.csv", "-k", "2", "--missing", "em", "-o", "m.safetensors"]);
    let plot = ["plot", "m.safetensors", "holes.csv", "--kind", "monitoring", "-o", "p.svg"];
    let ran = sandbox.run(&plot);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("113 of 150 samples"), "{}", ran.err);
    assert!(sandbox.text("p.svg").contains("113 of the 150 samples"));
    sandbox.ok(&["report", "m.safetensors", "holes.csv", "-o", "r.html"]);
    assert!(sandbox.text("r.html").contains("113 of the 150 samples"));
    let (names, mut rows) = table(&sandbox.text("iris.csv"));
    rows.iter_mut().enumerate().for_each(|(i, row)| row[i % 4] = "NA".into());
    let rows: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    sandbox.write("h.csv", &format!("{}\n{}\n", names.join(","), rows.join("\n")));
    let ran =
        sandbox.run(&["plot", "m.safetensors", "h.csv", "--kind", "monitoring", "-o", "q.svg"]);
    assert_eq!(ran.code, 65, "{}", ran.err);
    assert!(ran.err.contains("only 0 of the 150 samples have none"), "{}", ran.err);
}

/// Samples that are all the same have no variance; a density they have not.
#[test]
fn constant_data_are_no_defect() {
    let sandbox = Sandbox::new("constant");
    sandbox.write("c.csv", &("a,b,c,d,e\n".to_string() + &"0.1,2.25,-3,7,1e6\n".repeat(60)));
    for scale in [&[][..], &["--scale"][..]] {
        let fit = ["fit", "bayesian-pca", "c.csv", "-o", "m.safetensors"];
        let ran = sandbox.run(&[&fit[..], scale].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("the data have no variance"), "{}", ran.err);
        let model = sandbox.json(&["inspect", "m.safetensors"]);
        assert_eq!(numbers(entry(&model, &["explained_variance"])), [0.0]);
        for parts in ["1", "2"] {
            let fit = ["fit", "ppca-mixture", "c.csv", "-k", "1", "--parts", parts];
            let ran = sandbox.run(&[&fit[..], scale].concat());
            assert_eq!(ran.code, 65, "{}", ran.err);
            assert!(ran.err.contains("the data have no variance"), "{}", ran.err);
        }
    }
}
