//! Supervised methods and HSIC on the command line.

use crate::support::{Sandbox, close, columns, entry, number, numbers, table};
use std::path::Path;

#[allow(dead_code)]
#[path = "../../examples/nearest.rs"]
mod nearest;

#[test]
fn the_page_shows_what_the_example_prints() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/methods/supervised-pca.md");
    let page = std::fs::read_to_string(page).unwrap();
    for row in nearest::rows().unwrap() {
        assert!(page.contains(&row.text()), "{}", row.text());
        assert!(row.supervised >= row.pca, "{}", row.text());
    }
}

#[test]
fn a_class_is_found_and_told() {
    let sandbox = Sandbox::with("supervised", &["iris"]);
    let ran = sandbox.run(&[
        "fit",
        "supervised-pca",
        "iris.csv",
        "--target",
        "species",
        "-k",
        "2",
        "--scores",
        "s.csv",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told = "target: species (3 classes: setosa 50, versicolor 50, virginica 50)";
    assert!(ran.err.contains(told), "{}", ran.err);
    assert!(ran.out.contains("of HSIC with the target"), "{}", ran.out);
    let model = sandbox.json(&["inspect", "iris.model.safetensors"]);
    assert_eq!(entry(&model, &["method"]), &"supervised-pca".into());
    assert_eq!(number(entry(&model, &["target", "rank"])), 2.0);
    close(numbers(entry(&model, &["hsic_ratio"])).iter().sum(), 1.0, 1e-12);
    let (names, rows) = table(&sandbox.text("s.csv"));
    assert_eq!(names, ["species", "SPC1", "SPC2"]);
    assert_eq!(rows.len(), 150);
}

#[test]
fn new_rows_need_no_target() {
    let sandbox = Sandbox::with("without_target", &["iris"]);
    let fit = ["fit", "supervised-pca", "iris.csv", "--target", "species", "-k", "2"];
    sandbox.ok(&[&fit[..], &["--scores", "s.csv"]].concat());
    let text = sandbox.text("iris.csv");
    let without: Vec<&str> = text.lines().map(|l| l.rsplit_once(',').unwrap().0).collect();
    sandbox.write("new.csv", &(without.join("\n") + "\n"));
    let scores = sandbox.ok(&["transform", "iris.model.safetensors", "new.csv"]);
    let names = ["SPC1", "SPC2"];
    assert_eq!(columns(&scores, &names), columns(&sandbox.text("s.csv"), &names));
}

#[test]
fn numbers_are_guessed_and_can_be_said() {
    let sandbox = Sandbox::with("numbers", &["iris", "usarrests"]);
    let fit = |data: &str, more: &[&str]| {
        let start = ["fit", "supervised-pca", data, "-o", "m.safetensors"];
        let ran = sandbox.run(&[&start[..], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        (ran.err, sandbox.json(&["inspect", "m.safetensors"]))
    };
    let (told, model) = fit("iris.csv", &["--target", "petal_length"]);
    assert!(told.contains("target: petal_length (numbers from 1.0000 to 6.9000)"), "{told}");
    assert_eq!(entry(&model, &["target", "kernel"]), &"gaussian".into());
    assert_eq!(number(entry(&model, &["n_features"])), 3.0);
    let (_, model) = fit(
        "iris.csv",
        &["--target", "petal_length,petal_width", "--label-kernel", "linear", "-k", "2"],
    );
    assert_eq!(number(entry(&model, &["target", "rank"])), 2.0);
    // Few whole numbers are classes; that can be overruled.
    let text = sandbox.text("iris.csv");
    let coded = text.replace("setosa", "1").replace("versicolor", "2").replace("virginica", "3");
    sandbox.write("coded.csv", &coded);
    let (told, by_code) = fit("coded.csv", &["--target", "species", "-k", "2"]);
    assert!(told.contains("3 classes: 1 50, 2 50, 3 50"), "{told}");
    let (_, by_name) = fit("iris.csv", &["--target", "species", "-k", "2"]);
    assert_eq!(entry(&by_code, &["hsic"]), entry(&by_name, &["hsic"]));
    let (told, _) = fit("coded.csv", &["--target", "species", "--target-kind", "number"]);
    assert!(told.contains("numbers from 1.0000 to 3.0000"), "{told}");
    let dial = |share: &str| {
        let (_, model) =
            fit("iris.csv", &["--target", "species", "-k", "2", "--supervision", share]);
        numbers(entry(&model, &["explained_variance_ratio"])).iter().sum::<f64>()
    };
    let pca = sandbox.json(&["fit", "pca", "iris.csv", "-k", "2", "-o", "p.safetensors"]);
    let most: f64 = numbers(entry(&pca, &["model", "explained_variance_ratio"])).iter().sum();
    close(dial("0"), most, 1e-15);
    assert!(dial("0.5") <= most + 1e-12 && dial("1") <= dial("0.5") + 1e-12);
}

#[test]
fn bad_targets_are_refused() {
    let sandbox = Sandbox::with("bad_targets", &["iris"]);
    let start = ["fit", "supervised-pca", "iris.csv"];
    let check = |data: &str, more: &[&str], code: i32, words: &str| {
        let ran = sandbox.run(&[&start[..2], &[data], more].concat());
        assert_eq!(ran.code, code, "{more:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{more:?}: {}", ran.err);
        assert!(!sandbox.files().iter().any(|f| f.ends_with("safetensors")), "{more:?}");
    };
    check("iris.csv", &[], 64, "--target");
    check("iris.csv", &["--target", "specie"], 64, "there is no column `specie`");
    let both = ["--target", "petal_width", "--columns", "petal_length,petal_width"];
    check("iris.csv", &both, 64, "column `petal_width` is the target and also among the features");
    check("iris.csv", &["--target", "species,petal_width"], 64, "`species` is text");
    check("iris.csv", &["--target", "species", "--target-kind", "number"], 65, "is text");
    check("iris.csv", &["--target", "species", "--label-kernel", "gaussian"], 64, "needs numbers");
    check(
        "iris.csv",
        &["--target", "species", "--label-gamma", "1"],
        64,
        "--label-kernel gaussian",
    );
    check("iris.csv", &["--target", "species", "--supervision", "2"], 64, "between 0 and 1");
    check("iris.csv", &["--target", "species", "-k", "9"], 64, "at most 4");
    let text = sandbox.text("iris.csv");
    let one: Vec<&str> = text.lines().take(40).collect();
    sandbox.write("one.csv", &one.join("\n"));
    check("one.csv", &["--target", "species"], 65, "every label is `setosa`");
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    lines[3] = lines[3].replace("setosa", "");
    lines[80] = lines[80].replace("versicolor", "NA");
    sandbox.write("holes.csv", &lines.join("\n"));
    check("holes.csv", &["--target", "species"], 65, "line 4");
    check("holes.csv", &["--target", "species"], 65, "line 81");
    check("holes.csv", &["--target", "species"], 65, "--unlabelled keep");
    let keep =
        ["fit", "supervised-pca", "holes.csv", "--target", "species", "--unlabelled", "keep"];
    let ran = sandbox.run(&keep);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("2 samples have no label"), "{}", ran.err);
    let strict = sandbox.run(&[&keep[..], &["--strict"]].concat());
    assert_eq!(strict.code, 1, "{}", strict.err);
}

#[test]
fn a_budget_streams_and_a_plan_is_told() {
    let sandbox = Sandbox::with("supervised_plan", &["digits"]);
    let fit = ["fit", "supervised-pca", "digits.csv", "--target", "digit", "-k", "2"];
    let plan = sandbox.ok(&[&fit[..], &["--plan"]].concat());
    assert!(plan.contains("a label factor of 10 columns"), "{plan}");
    sandbox.ok(&[&fit[..], &["-o", "a.safetensors"]].concat());
    sandbox.ok(&[&fit[..], &["-o", "b.safetensors", "--memory", "128MiB"]].concat());
    let model = |name: &str| entry(&sandbox.json(&["inspect", name]), &["components"]).clone();
    assert_eq!(model("a.safetensors"), model("b.safetensors"));
}

#[test]
fn pictures_are_coloured_by_the_target() {
    let sandbox = Sandbox::with("target_colours", &["iris"]);
    sandbox.ok(&["fit", "supervised-pca", "iris.csv", "--target", "species", "-k", "2"]);
    let plot = ["plot", "iris.model.safetensors", "iris.csv", "-o", "classes.svg"];
    sandbox.ok(&plot);
    assert!(sandbox.text("classes.svg").contains("virginica"));
    sandbox.ok(&["fit", "supervised-pca", "iris.csv", "--target", "petal_length", "-k", "2"]);
    sandbox.ok(&["plot", "iris.model.safetensors", "iris.csv", "-o", "numbers.svg"]);
    let picture = sandbox.text("numbers.svg");
    assert!(picture.contains("petal_length") && !picture.contains("virginica"));
    sandbox.ok(&["report", "iris.model.safetensors", "iris.csv", "-o", "r.html"]);
}

#[test]
fn hsic_measures_two_sets_of_columns() {
    let sandbox = Sandbox::with("hsic", &["iris"]);
    let measure = |more: &[&str]| sandbox.json(&[&["hsic", "iris.csv"][..], more].concat());
    let found = measure(&["--x", "sepal*", "--y", "species", "--permutations", "200"]);
    close(number(entry(&found, &["p_value"])), 1.0 / 201.0, 1e-12);
    let approximate = measure(&["--x", "sepal*", "--y", "species", "--approximate"]);
    assert!(number(entry(&approximate, &["p_value"])) < 1e-6);
    assert_eq!(entry(&found, &["biased"]), entry(&approximate, &["biased"]));
    // A linear kernel against classes is what supervised PCA decomposes.
    let linear = measure(&["--x", "sepal*,petal*", "--y", "species", "--kernel-x", "linear"]);
    let model = sandbox.json(&["fit", "supervised-pca", "iris.csv", "--target", "species"]);
    let expected = number(entry(&model, &["model", "total_hsic"]));
    close(number(entry(&linear, &["biased"])), expected, 1e-12 * expected);
    let text = sandbox.ok(&["hsic", "iris.csv", "--x", "petal*", "--y", "species"]);
    assert!(text.contains("p-value") && text.contains("1000 permutations"), "{text}");
    for (more, words) in [
        (&["--x", "species", "--y", "species"][..], "in both sets"),
        (&["--x", "nothing", "--y", "species"], "nothing"),
        (&["--x", "petal*", "--y", "species", "--kernel-y", "rbf"], "delta kernel only"),
        (&["--x", "petal*", "--y", "species", "--columns", "sepal*"], "--x"),
        (&["--x", "petal*", "--y", "species", "--gamma-y", "1"], "--gamma-y"),
    ] {
        let ran = sandbox.run(&[&["hsic", "iris.csv"], more].concat());
        assert_eq!(ran.code, 64, "{more:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{more:?}: {}", ran.err);
    }
}

#[test]
fn a_kernel_sees_what_is_not_linear() {
    let sandbox = Sandbox::with("kernel_supervised", &["circles"]);
    let fit = ["fit", "kernel-supervised-pca", "circles.csv", "--target", "circle", "-k", "1"];
    sandbox.ok(&[&fit[..], &["--scores", "s.csv"]].concat());
    let again = sandbox.ok(&["transform", "circles.model.safetensors", "circles.csv"]);
    assert_eq!(again, sandbox.text("s.csv"));
    let (names, rows) = table(&again);
    let score = names.iter().position(|name| name == "KSPC1").unwrap();
    let label = names.iter().position(|name| name == "circle").unwrap();
    // One component separates the rings.
    let of = |row: &Vec<String>| (row[label].clone(), row[score].parse::<f64>().unwrap());
    let first = of(&rows[0]);
    let right = rows
        .iter()
        .map(of)
        .filter(|(ring, z)| (*ring == first.0) == (z.signum() == first.1.signum()));
    assert!(right.count() as f64 > 0.95 * rows.len() as f64);
    let model = sandbox.json(&["inspect", "circles.model.safetensors"]);
    assert_eq!(entry(&model, &["kernel", "name"]), &"rbf".into());
    let ran = sandbox.run(&[&fit[..], &["--kernel", "linear", "--gamma", "2"]].concat());
    assert_eq!(ran.code, 64, "{}", ran.err);
    let ran = sandbox.run(&[&fit[..], &["--components-file", "c.csv"]].concat());
    assert_eq!(ran.code, 64, "{}", ran.err);
}
