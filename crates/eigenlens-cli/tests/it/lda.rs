//! Linear discriminant analysis on the command line: fit, scores, classes, checks, pictures.

use crate::support::{Sandbox, close, columns, entry, number, numbers, table};

const FIT: [&str; 5] = ["fit", "lda", "iris.csv", "--target", "species"];

#[test]
fn flowers_are_separated_named_and_checked() {
    let sandbox = Sandbox::with("lda", &["iris"]);
    let ran = sandbox.run(&[&FIT[..], &["--scores", "s.csv"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let first = "lda of 150 samples, 4 features: 2 components carry 100.00 % of the variance between 3 classes";
    assert!(ran.out.starts_with(first), "{}", ran.out);
    assert!(
        ran.out.contains("setosa 33.33 %, versicolor 33.33 %, virginica 33.33 %"),
        "{}",
        ran.out
    );
    let (names, rows) = table(&sandbox.text("s.csv"));
    assert_eq!((&names[..], rows.len()), (&["species", "LD1", "LD2"].map(String::from)[..], 150));
    let model = sandbox.json(&["inspect", "iris.model.safetensors"]);
    assert_eq!(entry(&model, &["method"]), &"lda".into());
    // The proportion of trace that MASS prints.
    let shares = numbers(entry(&model, &["explained_variance_ratio"]));
    close(shares[0], 0.9912, 5e-5);
    assert_eq!(number(entry(&model, &["within_rank"])), 4.0);
    // New rows need no target, and classes have their names.
    let text = sandbox.text("iris.csv");
    let without: Vec<&str> = text.lines().map(|l| l.rsplit_once(',').unwrap().0).collect();
    sandbox.write("new.csv", &(without.join("\n") + "\n"));
    let scores = sandbox.ok(&["transform", "iris.model.safetensors", "new.csv"]);
    assert_eq!(columns(&scores, &["LD1", "LD2"]), columns(&sandbox.text("s.csv"), &["LD1", "LD2"]));
    sandbox.ok(&["predict", "iris.model.safetensors", "new.csv", "-o", "classes.csv"]);
    let (names, rows) = table(&sandbox.text("classes.csv"));
    let expected =
        ["class", "probability_setosa", "probability_versicolor", "probability_virginica"];
    assert_eq!(names, expected);
    let species: Vec<&str> = text.lines().skip(1).map(|l| l.rsplit_once(',').unwrap().1).collect();
    let wrong = rows.iter().zip(&species).filter(|(row, species)| row[0] != **species).count();
    assert_eq!(wrong, 3);
    // A check reads the target that the model was fitted to.
    let ran = sandbox.run(&["verify", "iris.model.safetensors", "iris.csv"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("passed"), "{}", ran.out);
    sandbox.write("mixed.csv", &text.replace("virginica", "setosa"));
    let ran = sandbox.run(&["verify", "iris.model.safetensors", "mixed.csv"]);
    assert_ne!(ran.code, 0, "{}", ran.out);
    for (kind, words) in [
        ("scores", "LD1"),
        ("scree", "the variance between classes"),
        ("loadings", "LD1"),
        ("biplot", "LD1"),
    ] {
        let draw = ["plot", "iris.model.safetensors", "iris.csv", "--kind", kind, "-o", "p.svg"];
        sandbox.ok(&draw);
        assert!(sandbox.text("p.svg").contains(words), "{kind}");
    }
    sandbox.ok(&["report", "iris.model.safetensors", "iris.csv", "-o", "r.html"]);
    assert!(sandbox.text("r.html").contains("variance between classes"));
}

#[test]
fn what_does_not_fit_is_refused() {
    let sandbox = Sandbox::with("lda_refused", &["iris"]);
    let check = |more: &[&str], code: i32, words: &str| {
        let ran = sandbox.run(&[&FIT[..3], more].concat());
        assert_eq!(ran.code, code, "{more:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{more:?}: {}", ran.err);
    };
    check(&["--target", "species", "-k", "3"], 64, "use `--components 2`");
    check(&["--target", "petal_length"], 64, "use `--target-kind class`");
    check(&["--target", "species", "--priors", "0.5,0.5"], 65, "one for each of 3 classes");
    check(&["--target", "species", "--priors", "0.5,0.5,0.5"], 64, "sums to 1");
    check(&["--target", "species", "--shrinkage", "2"], 64, "between 0 and 1");
    check(&["--target", "species", "--shrinkage", "0.1", "--singular", "range"], 64, "--singular");
    check(&["--target", "species", "--memory", "100KB"], 71, "memory");
}

/// Few rows of many features: Fisherfaces, and pixels as images.
#[test]
fn images_of_faces_have_discriminants_as_images() {
    let sandbox = Sandbox::with("lda_images", &["digits"]);
    let few: Vec<String> = sandbox.text("digits.csv").lines().take(41).map(String::from).collect();
    sandbox.write("few.csv", &(few.join("\n") + "\n"));
    let fit = ["fit", "lda", "few.csv", "--target", "digit", "-k", "4", "-o", "m.safetensors"];
    let ran = sandbox.run(&fit);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("principal components came first (Fisherfaces)"), "{}", ran.out);
    let draw = ["plot", "m.safetensors", "--kind", "images", "--image-size", "8x8", "-o", "p.svg"];
    sandbox.ok(&draw);
    assert!(sandbox.text("p.svg").contains("Mean and components"));
}
