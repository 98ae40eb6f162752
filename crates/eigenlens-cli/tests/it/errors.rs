//! Every class of failure: its words, its exit code, and that nothing is left behind.

use crate::support::Sandbox;

/// Arguments, exit code, and what stderr must hold.
type Case<'a> = (&'a [&'a str], i32, &'a [&'a str]);

fn check(sandbox: &Sandbox, cases: &[Case]) {
    let before = sandbox.files();
    for (arguments, code, expected) in cases {
        let ran = sandbox.run(arguments);
        assert_eq!(ran.code, *code, "{arguments:?}\n{}", ran.err);
        assert!(ran.out.is_empty(), "{arguments:?} printed {}", ran.out);
        for words in *expected {
            assert!(ran.err.contains(words), "{arguments:?}: `{words}` is not in\n{}", ran.err);
        }
        assert!(!ran.err.contains("panicked"), "{arguments:?}\n{}", ran.err);
        assert_eq!(sandbox.files(), before, "{arguments:?} left something behind");
    }
}

#[test]
fn usage_is_64() {
    let sandbox = Sandbox::with("usage", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "2", "-o", "m.safetensors"]);
    check(
        &sandbox,
        &[
            (&[], 64, &["Usage"]),
            (&["dance"], 64, &["error:"]),
            (
                &["fit", "alchemy", "iris.csv"],
                64,
                &["`alchemy` is no method", "hint: there are pca"],
            ),
            (
                &["fit", "pc", "iris.csv"],
                64,
                &["`pc` is no method", "hint: `pca` is near; there are pca"],
            ),
            (
                &["pca", "iris.csv", "-k", "2"],
                64,
                &[
                    "`pca` is a method, not a command",
                    "hint: use `eigenlens fit pca iris.csv -k 2`\n",
                ],
            ),
            (&["fit", "pca"], 64, &["DATA"]),
            (&["fit", "pca", "iris.csv", "-k", "0"], 64, &["at least 1"]),
            (&["fit", "pca", "iris.csv", "-k", "rule:x"], 64, &["`x` is no rule"]),
            (&["fit", "pca", "iris.csv", "--threads", "0"], 64, &["--threads"]),
            (&["fit", "pca", "iris.csv", "--memory", "much"], 64, &["2GiB"]),
            (&["fit", "pca", "iris.csv", "--tolerance", "2"], 64, &["`tolerance` is 2"]),
            (
                &["fit", "pca", "iris.csv", "--missing", "guess"],
                64,
                &["error, drop-rows, drop-columns, mean, em"],
            ),
            (
                &["fit", "lsa", "iris.csv", "--whiten"],
                64,
                &["`--whiten` does not fit the method `lsa`", "hint: leave out `--whiten`"],
            ),
            (&["fit", "pca", "iris.csv", "--weighting", "tf-idf"], 64, &["`--weighting`"]),
            (
                &["fit", "pca", "iris.csv", "-k", "9"],
                64,
                &[
                    "error: `n_components` is 9, but these data allow at most 4\n",
                    "  data: iris.csv (150 samples, 4 features)\n",
                    "hint: use `--components 4`\n",
                ],
            ),
            (&["fit", "pca", "iris.csv", "--columns", "petal"], 64, &["petal"]),
            (&["fit", "pca", "iris.csv", "--weights", "heft"], 64, &["no column `heft`"]),
            (&["fit", "pca", "iris.csv", "--weight-kind", "relative"], 64, &["--weights"]),
            (&["fit", "pca", "iris.csv", "--delimiter", "ab"], 64, &["one character"]),
            (&["fit", "pca", "iris.csv", "--header", "--no-header"], 64, &["cannot be used"]),
            (&["fit", "pca", "iris.csv", "-o", "iris.csv"], 64, &["is the input"]),
            (
                &["fit", "pca", "iris.csv", "-o", "a.csv", "--scores", "a.csv"],
                64,
                &["two outputs would go to `a.csv`"],
            ),
            (&["fit", "pca", "iris.csv", "--scores", "a.docx"], 64, &["docx"]),
            (&["transform", "m.safetensors", "iris.csv", "-o", "m.safetensors"], 64, &["input"]),
            (
                &["transform", "m.safetensors", "iris.csv", "--columns", "petal_width"],
                64,
                &["finds its columns by name"],
            ),
            (&["plot", "m.safetensors", "-o", "a.gif"], 64, &["`.svg` or `.png`"]),
            (&["plot", "m.safetensors", "--kind", "scores"], 64, &["needs the table"]),
            (&["plot", "m.safetensors", "--kind", "images"], 64, &["--image-size"]),
            (&["plot", "m.safetensors", "--image-size", "3x3"], 64, &["3 × 3"]),
            (&["plot", "m.safetensors", "iris.csv", "--axes", "1,3"], 64, &["--axes"]),
            (&["plot", "m.safetensors", "--color", "species"], 64, &["does not fit"]),
            (&["example", "everything"], 64, &["iris"]),
        ],
    );
}

#[test]
fn a_hint_works_when_it_is_pasted() {
    let sandbox = Sandbox::with("hint", &["iris"]);
    let ran = sandbox.run(&["fit", "pca", "iris.csv", "--components", "9"]);
    let hint = ran.err.split('`').rev().nth(1).unwrap().to_string();
    let flags: Vec<&str> = hint.split(' ').collect();
    sandbox.ok(&[&["fit", "pca", "iris.csv"], &flags[..]].concat());
}

#[test]
fn bad_data_are_65_and_named_by_line_and_column() {
    let sandbox = Sandbox::with("bad_data", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "2", "-o", "m.safetensors"]);
    sandbox.write("hole.csv", "a,b,name\n1,2,x\n3,NA,y\n5,7,z\n");
    sandbox.write("inf.csv", "a,b\n1,2\n3,4\ninf,7\n");
    sandbox.write("huge.csv", "a,b\n1,2\n3,1e400\n5,7\n");
    sandbox.write("ragged.csv", "a,b\n1,2\n3\n5,7\n");
    sandbox.write("words.csv", "a,b\nx,y\nz,w\n");
    sandbox.write("one.csv", "a,b\n1,2\n");
    sandbox.write("header.csv", "a,b\n");
    sandbox.write("empty.csv", "");
    sandbox.write("negative.csv", "a,b\n1,2\n3,-4\n5,1\n");
    sandbox.write("weights.csv", "a,b,w\n1,2,1\n3,4,-1\n5,7,1\n");
    sandbox.write("esc.csv", "a\u{1b}[31m,b\n1,2\n3,\n5,7\n");
    sandbox.write("fake.safetensors", "{\"not\": \"a model\"}");
    check(
        &sandbox,
        &[
            (
                &["fit", "pca", "hole.csv"],
                65,
                &[
                    "error: hole.csv, line 3, column `b` is missing; 1 of 6 entries",
                    "hint: ",
                    "--columns '!b'",
                ],
            ),
            (&["fit", "pca", "inf.csv"], 65, &["inf.csv, line 4, column `a` is inf"]),
            (&["fit", "pca", "huge.csv"], 65, &["huge.csv, line 3"]),
            (&["fit", "pca", "ragged.csv"], 65, &["ragged.csv, line 3"]),
            (&["fit", "pca", "words.csv"], 65, &["words.csv", "`a`", "text"]),
            (&["fit", "pca", "one.csv"], 65, &["1 row", "2 are needed", "data: one.csv"]),
            (&["fit", "pca", "header.csv"], 65, &["header.csv", "no rows"]),
            (&["fit", "pca", "empty.csv"], 65, &["empty.csv"]),
            (
                &["fit", "lsa", "negative.csv", "--weighting", "tf-idf"],
                65,
                &["line 3, column `b` is -4"],
            ),
            (&["fit", "pca", "weights.csv", "--weights", "w"], 65, &["line 3", "-1"]),
            (&["transform", "m.safetensors", "hole.csv"], 65, &["sepal_length"]),
            (&["inspect", "fake.safetensors"], 65, &["fake.safetensors"]),
            (&["inspect", "iris.csv"], 65, &["iris.csv", "no model"]),
        ],
    );
    let ran = sandbox.run(&["fit", "pca", "esc.csv"]);
    assert_eq!(ran.code, 65);
    assert!(!ran.err.contains('\u{1b}') && ran.err.contains("\\u{1b}"), "{:?}", ran.err);
}

#[test]
fn leaving_the_column_out_helps() {
    let sandbox = Sandbox::new("leave_out");
    sandbox.write("hole.csv", "a,b,c\n1,2,1\n3,NA,5\n5,7,2\n");
    sandbox.ok(&["fit", "pca", "hole.csv", "--columns", "!b"]);
}

#[test]
fn missing_inputs_are_66() {
    let sandbox = Sandbox::with("missing", &["iris"]);
    check(
        &sandbox,
        &[
            (&["fit", "pca", "nowhere.csv"], 66, &["nowhere.csv"]),
            (&["inspect", "nowhere.safetensors"], 66, &["nowhere.safetensors"]),
            (&["transform", "nowhere.safetensors", "iris.csv"], 66, &["nowhere.safetensors"]),
        ],
    );
}

/// The data do not exist either: that the output is the complaint shows that it is checked first.
#[test]
fn outputs_that_cannot_be_made_are_73_before_anything_is_read() {
    let sandbox = Sandbox::new("unwritable");
    check(
        &sandbox,
        &[
            (&["fit", "pca", "nowhere.csv", "-o", "no/such/m.safetensors"], 73, &["no/such"]),
            (&["fit", "pca", "nowhere.csv", "--scores", "no/such/s.csv"], 73, &["no/such"]),
            (&["transform", "m.safetensors", "x.csv", "-o", "no/such/s.csv"], 73, &["no/such"]),
            (&["plot", "m.safetensors", "-o", "no/such/p.svg"], 73, &["no/such"]),
            (&["report", "m.safetensors", "-o", "no/such/r.html"], 73, &["no/such"]),
            (&["example", "iris", "-o", "no/such/i.csv"], 73, &["no/such"]),
        ],
    );
}

#[test]
fn a_full_disk_is_74() {
    let sandbox = Sandbox::with("full", &["iris"]);
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    check(
        &sandbox,
        &[(&["fit", "pca", "iris.csv", "--scores", "/dev/full", "-o", "m"], 74, &["/dev/full"])],
    );
}

#[test]
fn too_little_memory_is_71_and_the_hint_is_enough() {
    let sandbox = Sandbox::new("memory");
    // 1500 columns: a covariance of 18 MB, and several of them while they are decomposed.
    let mut wide = (0..1500).map(|c| format!("c{c}")).collect::<Vec<_>>().join(",");
    wide.push('\n');
    for row in 0..40 {
        let fields: Vec<String> =
            (0..1500).map(|c| ((row * 31 + c * 17) % 23).to_string()).collect();
        wide.push_str(&fields.join(","));
        wide.push('\n');
    }
    sandbox.write("wide.csv", &wide);
    check(&sandbox, &[(&["fit", "pca", "wide.csv", "--memory", "1MiB"], 71, &["memory", "hint:"])]);
    let fit = ["fit", "pca", "wide.csv", "--solver", "covariance", "-k", "3", "--memory"];
    let ran = sandbox.run(&[&fit[..], &["48MiB"]].concat());
    assert_eq!(ran.code, 71, "{}", ran.err);
    assert_eq!(sandbox.files(), ["wide.csv"]);
    let hint = ran.err.split('`').rev().nth(1).unwrap();
    let size = hint.strip_prefix("--memory ").unwrap();
    sandbox.ok(&[&fit[..], &[size]].concat());
}

#[test]
fn pictures_keep_the_budget_or_say_what_they_need() {
    let sandbox = Sandbox::new("picture-memory");
    let row = |i: u32| format!("{},{},{}\n", f64::from(i).sin(), f64::from(i).cos(), i % 7);
    sandbox.write("t.csv", &("a,b,c\n".to_string() + &(0..20_000).map(row).collect::<String>()));
    sandbox.ok(&["fit", "pca", "t.csv", "-k", "2", "-o", "m.safetensors"]);
    for command in ["plot", "report", "inspect"] {
        let ran = sandbox.run(&[command, "m.safetensors", "t.csv", "--memory", "40.5MiB"]);
        assert_eq!(ran.code, 71, "{command}: {}", ran.err);
        let hint = ran.err.split('`').rev().nth(1).unwrap();
        let size = hint.strip_prefix("--memory ").unwrap();
        sandbox.ok(&[command, "m.safetensors", "t.csv", "--memory", size]);
    }
}

#[test]
fn warnings_are_errors_under_strict() {
    let sandbox = Sandbox::new("strict");
    sandbox.write("constant.csv", "a,b,c\n1,2,5\n3,1,5\n5,7,5\n2,2,5\n");
    let ran = sandbox.run(&["fit", "pca", "constant.csv", "--scale", "-k", "3"]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("warning: "), "{}", ran.err);
    std::fs::remove_file(sandbox.path("constant.model.safetensors")).unwrap();
    check(
        &sandbox,
        &[(&["fit", "pca", "constant.csv", "--scale", "-k", "3", "--strict"], 1, &["constant"])],
    );
    // Squares lose the small components; the careful route that is taken instead finds them.
    sandbox.write("nearly.csv", "a,b,c\n1,1,1\n1e-9,0,0\n0,1e-9,0\n0,0,1e-9\n");
    let ran = sandbox.run(&["fit", "lsa", "nearly.csv", "-k", "3", "--strict"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("warning: "), "{}", ran.err);
    sandbox.write("numbered.csv", "id,a,b\n1,2,5\n2,1,4\n3,7,2\n4,2,1\n");
    let ran = sandbox.run(&["fit", "pca", "numbered.csv", "-q"]);
    assert!(ran.err.contains("warning: column `id` looks like a row number"), "{}", ran.err);
    assert!(!ran.err.contains("reading"), "--quiet keeps warnings only: {}", ran.err);
}

#[test]
fn examples_do_not_overwrite_what_is_not_theirs() {
    let sandbox = Sandbox::with("example", &["iris", "iris"]);
    sandbox.write("wine.csv", "mine");
    check(&sandbox, &[(&["example", "wine"], 64, &["wine.csv", "-o example-wine.csv"])]);
    assert_eq!(sandbox.text("wine.csv"), "mine");
}
