//! Right answers: against published numbers, and against themselves on other ways.

use crate::support::{Sandbox, close, columns, entry, number, numbers, table};
use eigenlens::Value;

#[test]
fn iris_gives_the_published_numbers() {
    let sandbox = Sandbox::with("iris_numbers", &["iris"]);
    let ran = sandbox.run(&["fit", "pca", "iris.csv", "-k", "4"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let first = "pca of 150 samples, 4 features: 4 components keep 100.00 % of the variance";
    assert!(ran.out.starts_with(first), "{}", ran.out);
    for line in [
        "reading iris.csv",
        "features: 4: sepal_length, sepal_width, petal_length, petal_width",
        "labels: species",
        "components: 4 (asked for as 4)",
        "model: iris.model.safetensors",
    ] {
        assert!(ran.err.contains(line), "`{line}` is not in\n{}", ran.err);
    }
    assert_eq!(sandbox.files(), ["iris.csv", "iris.model.safetensors"]);
    let model = sandbox.json(&["inspect", "iris.model.safetensors"]);
    // R: prcomp(iris[, 1:4])$sdev^2.
    let expected = [4.22824171, 0.24267075, 0.07820950, 0.02383509];
    let found = numbers(entry(&model, &["explained_variance"]));
    assert_eq!(found.len(), 4);
    for (found, expected) in found.iter().zip(expected) {
        close(*found, expected, 0.5e-8);
    }
}

#[test]
fn the_default_is_said_and_scaling_is_done() {
    let sandbox = Sandbox::with("usarrests_default", &["usarrests"]);
    let ran = sandbox.run(&["fit", "pca", "usarrests.csv", "--scale"]);
    assert!(ran.err.contains("95%, as nothing was said"), "{}", ran.err);
    let model = sandbox.json(&["inspect", "usarrests.model.safetensors"]);
    // R: prcomp(USArrests, scale. = TRUE): standard deviations 1.5749, 0.9949, 0.5971, 0.4164.
    let found = numbers(entry(&model, &["explained_variance"]));
    assert_eq!(found.len(), 3);
    for (found, sd) in found.iter().zip([1.5749f64, 0.9949, 0.5971]) {
        close(found.sqrt(), sd, 0.5e-4);
    }
}

/// `fit --scores` and `transform` of the same file: the same bytes, loaded or streamed.
#[test]
fn training_scores_and_transform_agree_to_the_last_bit() {
    let sandbox = Sandbox::with("same_bits", &["iris", "usarrests", "digits"]);
    let cases: [&[&str]; 5] = [
        &["pca", "iris.csv"],
        &["pca", "usarrests.csv", "--scale", "--whiten", "-k", "3"],
        &["pca", "digits.csv", "-k", "7", "--solver", "iterative"],
        &["lsa", "digits.csv", "-k", "5", "--weighting", "log-entropy"],
        &["lsa", "digits.csv", "-k", "5"],
    ];
    for case in cases {
        let fit = |extra: &[&str]| sandbox.ok(&[&["fit"], case, extra].concat());
        fit(&["-o", "m.safetensors", "--scores", "fit.csv", "-q"]);
        sandbox.ok(&["transform", "m.safetensors", case[1], "-o", "transform.csv", "-q"]);
        assert_eq!(sandbox.text("fit.csv"), sandbox.text("transform.csv"), "{case:?}");
        let printed = sandbox.ok(&["transform", "m.safetensors", case[1], "--threads", "1"]);
        assert_eq!(printed, sandbox.text("fit.csv"), "{case:?}");
        if !case.contains(&"--weighting") {
            fit(&["-o", "s.safetensors", "--scores", "stream.csv", "--memory", "64MiB"]);
            assert_eq!(sandbox.text("fit.csv"), sandbox.text("stream.csv"), "{case:?}");
        }
    }
}

#[test]
fn scores_files_hold_labels_and_centred_scores() {
    let sandbox = Sandbox::with("scores_file", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "2", "--scores", "scores.csv"]);
    let (names, rows) = table(&sandbox.text("scores.csv"));
    assert_eq!(names, ["species", "PC1", "PC2"]);
    assert_eq!(
        (rows.len(), rows[0][0].as_str(), rows[149][0].as_str()),
        (150, "setosa", "virginica")
    );
    let scores = columns(&sandbox.text("scores.csv"), &["PC1", "PC2"]);
    let sum = |f: &dyn Fn(&Vec<f64>) -> f64| scores.iter().map(f).sum::<f64>();
    close(sum(&|z| z[0]), 0.0, 1e-10);
    close(sum(&|z| z[0] * z[1]), 0.0, 1e-10);
    close(sum(&|z| z[0] * z[0]) / 149.0, 4.22824171, 0.5e-8);
}

#[test]
fn components_and_loadings_are_written() {
    let sandbox = Sandbox::with("components_file", &["wine"]);
    let files = ["--components-file", "c.csv", "--loadings-file", "l.tsv"];
    sandbox.ok(&[&["fit", "pca", "wine.csv", "--scale", "-k", "2"][..], &files].concat());
    let (names, rows) = table(&sandbox.text("c.csv"));
    assert_eq!((names[0].as_str(), names.len(), rows.len()), ("component", 14, 2));
    let numbers =
        |row: &[String]| row[1..].iter().map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
    let (a, b) = (numbers(&rows[0]), numbers(&rows[1]));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    close(dot(&a, &a), 1.0, 1e-12);
    close(dot(&a, &b), 0.0, 1e-12);
    let loadings = sandbox.text("l.tsv").replace('\t', ",");
    let (names, rows) = table(&loadings);
    assert_eq!(names, ["feature", "PC1", "PC2"]);
    let first: Vec<f64> = rows.iter().map(|row| row[1].parse().unwrap()).collect();
    let model = sandbox.json(&["inspect", "wine.model.safetensors"]);
    close(dot(&first, &first), self::numbers(entry(&model, &["explained_variance"]))[0], 1e-12);
}

#[test]
fn columns_are_found_by_name() {
    let sandbox = Sandbox::with("by_name", &["usarrests"]);
    sandbox.ok(&["fit", "pca", "usarrests.csv", "--scale", "-k", "2", "--scores", "a.csv"]);
    let (names, rows) = table(&sandbox.text("usarrests.csv"));
    // Another order, and a column the model does not know.
    let mut text =
        format!("extra,{},{},{},{},{}\n", names[4], names[0], names[2], names[1], names[3]);
    for row in &rows {
        text += &format!("7,{},{},{},{},{}\n", row[4], row[0], row[2], row[1], row[3]);
    }
    sandbox.write("other.csv", &text);
    let ran = sandbox.run(&["transform", "usarrests.model.safetensors", "other.csv"]);
    assert_eq!(ran.out, sandbox.text("a.csv"));
    assert!(ran.err.contains("skipped: extra"), "{}", ran.err);
    sandbox.write("short.csv", "state,murder,assault,rape\nx,1,2,3\n");
    let ran = sandbox.run(&["transform", "usarrests.model.safetensors", "short.csv"]);
    assert_eq!(ran.code, 65);
    assert!(ran.err.contains("urban_pop") && ran.out.is_empty(), "{}", ran.err);
}

#[test]
fn reconstruction_errors_are_what_the_files_say() {
    let sandbox = Sandbox::with("reconstruct", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "1"]);
    let files = ["-o", "back.csv", "--errors", "errors.csv"];
    let result = sandbox
        .json(&[&["reconstruct", "iris.model.safetensors", "iris.csv"][..], &files].concat());
    let features = ["sepal_length", "sepal_width", "petal_length", "petal_width"];
    let x = columns(&sandbox.text("iris.csv"), &features);
    let back = columns(&sandbox.text("back.csv"), &features);
    let errors = columns(&sandbox.text("errors.csv"), &["error"]);
    let mut total = 0.0;
    for ((x, back), error) in x.iter().zip(&back).zip(&errors) {
        let square: f64 = x.iter().zip(back).map(|(a, b)| (a - b) * (a - b)).sum();
        close(error[0], square.sqrt(), 1e-12);
        total += square;
    }
    close(number(entry(&result, &["total_error"])), total.sqrt(), 1e-10);
    // What one component leaves: all variances but the first.
    let left = (0.24267075 + 0.07820950 + 0.02383509) / 4.57295705;
    close(number(entry(&result, &["relative_squared_error"])), left, 1e-8);
    close(number(entry(&result, &["compression_ratio"])), 600.0 / 158.0, 1e-12);
}

#[test]
fn weights_count_rows() {
    let sandbox = Sandbox::new("weights");
    sandbox.write("once.csv", "x,y,w\n1,2,2\n3,1,1\n5,9,3\n2,2,1\n");
    sandbox.write("often.csv", "x,y\n1,2\n1,2\n3,1\n5,9\n5,9\n5,9\n2,2\n");
    let variances = |arguments: &[&str]| {
        let result = sandbox.json(&[&["fit", "pca", "-k", "2", "-q"], arguments].concat());
        numbers(entry(&result, &["model", "explained_variance"]))
    };
    let (once, often) = (variances(&["once.csv", "--weights", "w"]), variances(&["often.csv"]));
    assert_eq!(once.len(), 2);
    for (a, b) in once.iter().zip(often) {
        close(*a, b, 1e-12);
    }
    let relative = variances(&["once.csv", "--weights", "w", "--weight-kind", "relative"]);
    assert!((relative[0] - once[0]).abs() > 1e-6);
}

#[test]
fn the_rules_stand_side_by_side() {
    let sandbox = Sandbox::with("choose", &["usarrests"]);
    let text = sandbox.ok(&["choose", "usarrests.csv", "--scale"]);
    for rule in ["kaiser", "minka", "parallel-analysis", "cross-validation", "broken-stick"] {
        assert!(text.contains(rule), "{text}");
    }
    assert!(text.contains("the rules disagree"), "{text}");
    let result = sandbox.json(&["choose", "usarrests.csv", "--scale"]);
    let Value::List(rules) = entry(&result, &["rules"]) else { panic!("no rules") };
    let chosen = |name: &str| {
        let rule = rules.iter().find(|r| *entry(r, &["rule"]) == Value::from(name)).unwrap();
        number(entry(rule, &["n_components"]))
    };
    // Variances 2.48, 0.99, 0.36, 0.17: one above 1; 87 % in two, 96 % in three.
    assert_eq!(chosen("kaiser"), 1.0);
    assert_eq!(chosen("cumulative-share"), 3.0);
    let ran = sandbox.run(&["choose", "usarrests.csv"]);
    assert!(ran.out.contains("not computed"), "{}", ran.out);
}

#[test]
fn a_model_verifies_against_its_own_data_only() {
    let sandbox = Sandbox::with("verify", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "2"]);
    let text = sandbox.ok(&["verify", "iris.model.safetensors", "iris.csv"]);
    assert!(text.contains("passed"), "{text}");
    sandbox.write("changed.csv", &sandbox.text("iris.csv").replacen("5.1,3.5", "5.2,3.5", 1));
    let ran = sandbox.run(&["verify", "iris.model.safetensors", "changed.csv"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("FAILED") && ran.err.contains("error: the model does not fit"));
    assert!(ran.out.contains("FALSE        mean of feature `sepal_length`"), "{}", ran.out);
    // The same numbers for programs; another seed each time, unless one is given.
    let check = ["verify", "iris.model.safetensors", "iris.csv"];
    let found = sandbox.json(&check);
    assert_eq!(entry(&found, &["passed"]), &Value::Bool(true));
    assert_ne!(entry(&found, &["seed"]), entry(&sandbox.json(&check), &["seed"]));
    let seeded = [&check[..], &["--seed", "9", "--tolerance", "1e-7"]].concat();
    assert_eq!(sandbox.json(&seeded), sandbox.json(&seeded));
    let ran = sandbox.run(&[&check[..], &["--tolerance", "2"]].concat());
    assert_eq!(ran.code, 64, "{}", ran.err);
    // Within a budget, or refused before anything is read.
    sandbox.ok(&[&check[..], &["--memory", "64MiB"]].concat());
    let ran = sandbox.run(&[&check[..], &["--memory", "40MiB"]].concat());
    assert_eq!(ran.code, 71, "{}", ran.err);
}

/// A supervised model and one of weighted terms are verified with what their files name.
#[test]
fn models_of_every_kind_verify_from_their_files() {
    let sandbox = Sandbox::with("verify-kinds", &["iris"]);
    let fits: [&[&str]; 6] = [
        &["ppca", "-k", "2"],
        &["lsa", "-k", "2"],
        &["kernel-pca", "-k", "2"],
        &["supervised-pca", "-k", "2", "--target", "species"],
        &["mds", "-k", "2"],
        &["sparse-pca", "-k", "2"],
    ];
    for fit in fits {
        sandbox.ok(&[&["fit", fit[0], "iris.csv", "-o", "m.safetensors"], &fit[1..]].concat());
        let ran = sandbox.run(&["verify", "m.safetensors", "iris.csv"]);
        assert_eq!(ran.code, 0, "{fit:?}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains("passed: ") && ran.out.contains("not checked"), "{}", ran.out);
    }
}

#[test]
fn a_plan_reads_and_writes_nothing() {
    let sandbox = Sandbox::with("plan", &["iris"]);
    let text = sandbox.ok(&["fit", "pca", "iris.csv", "--plan"]);
    assert!(text.contains("covariance route") && text.contains("150 × 4"), "{text}");
    assert_eq!(sandbox.files(), ["iris.csv"]);
    let plan = sandbox.json(&["fit", "pca", "iris.csv", "--plan", "--memory", "64MiB"]);
    assert_eq!(*entry(&plan, &["streamed"]), Value::Bool(false));
}

#[test]
fn standard_input_is_a_table_too() {
    let sandbox = Sandbox::with("stdin", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "2", "--scores", "a.csv"]);
    let piped = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.stdin(std::fs::File::open(sandbox.path("iris.csv")).unwrap());
        crate::support::Ran::of(command.output().unwrap())
    };
    let ran = piped(&["fit", "pca", "-", "-k", "2", "--scores", "b.csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(sandbox.text("a.csv"), sandbox.text("b.csv"));
    assert!(sandbox.files().contains(&"stdin.model.safetensors".into()));
    let ran = piped(&["fit", "pca", "-", "-k", "2", "--scores", "-", "-o", "m.safetensors", "-q"]);
    assert_eq!((ran.code, ran.out, ran.err), (0, sandbox.text("a.csv"), String::new()));
}

#[test]
fn methods_and_completions_are_listed() {
    let sandbox = Sandbox::new("methods");
    let text = sandbox.ok(&["methods"]);
    assert!(text.contains("pca") && text.contains("docs/methods/lsa.md"));
    assert!(sandbox.ok(&["fit", "lsa", "--help"]).contains("--weighting"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.ok(&["completions", shell]);
        assert!(script.contains("transform") && script.contains("components"), "{shell}");
    }
}

/// Of standardised training samples a reconstruction loses what the fit does not keep.
#[test]
fn the_loss_of_a_standardised_model_is_told_in_both_units() {
    let sandbox = Sandbox::with("standardised_loss", &["wine"]);
    let fit = [
        "fit",
        "pca",
        "wine.csv",
        "--columns",
        "!cultivar",
        "--scale",
        "-k",
        "3",
        "-o",
        "m.safetensors",
    ];
    let fitted = sandbox.json(&fit);
    let kept: f64 = numbers(entry(&fitted, &["model", "explained_variance_ratio"])).iter().sum();
    let result = sandbox.json(&["reconstruct", "m.safetensors", "wine.csv", "-o", "back.csv"]);
    close(number(entry(&result, &["relative_squared_error_standardized"])), 1.0 - kept, 1e-12);
    // In the units of the table, from the tables.
    let text = sandbox.text("wine.csv");
    let names: Vec<&str> =
        text.lines().next().unwrap().split(',').filter(|n| *n != "cultivar").collect();
    let (x, back) = (columns(&text, &names), columns(&sandbox.text("back.csv"), &names));
    let n = x.len() as f64;
    let means: Vec<f64> =
        (0..names.len()).map(|f| x.iter().map(|r| r[f]).sum::<f64>() / n).collect();
    let squares = |rows: &[Vec<f64>], from: &dyn Fn(usize, usize) -> f64| -> f64 {
        let one = |(i, r): (usize, &Vec<f64>)| -> f64 {
            r.iter().enumerate().map(|(f, v)| (v - from(i, f)).powi(2)).sum()
        };
        rows.iter().enumerate().map(one).sum()
    };
    let lost = squares(&x, &|i, f| back[i][f]) / squares(&x, &|_, f| means[f]);
    close(number(entry(&result, &["relative_squared_error"])), lost, 1e-10);
    let told = sandbox.ok(&["reconstruct", "m.safetensors", "wine.csv"]);
    assert!(
        told.contains(&format!(
            "{:.2} % of the variance of the standardised features",
            100.0 * (1.0 - kept)
        )),
        "{told}"
    );
    assert!(
        told.contains(&format!(
            "{:.2} % of the variation about the mean in the units of the table",
            100.0 * lost
        )),
        "{told}"
    );
    // Where nothing is divided there is one unit.
    sandbox.ok(&[
        "fit",
        "pca",
        "wine.csv",
        "--columns",
        "!cultivar",
        "-k",
        "3",
        "-o",
        "p.safetensors",
    ]);
    assert!(!sandbox.ok(&["reconstruct", "p.safetensors", "wine.csv"]).contains("standardised"));
}
