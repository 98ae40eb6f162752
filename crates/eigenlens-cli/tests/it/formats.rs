//! The same table in every format gives the same components.

use crate::support::{Sandbox, columns, entry, numbers, table};
use eigenlens::Value;
use eigenlens_io::write::{Header, NumbersView, Output, table_writer};
use ndarray::Array2;

const FORMATS: [&str; 7] = [
    "wine.csv",
    "wine.csv.gz",
    "wine.csv.zst",
    "wine.tsv",
    "wine.parquet",
    "wine.arrow",
    "wine.npy",
];

#[test]
fn formats_agree() {
    let sandbox = Sandbox::with("formats", &["wine"]);
    let (names, rows) = table(&sandbox.text("wine.csv"));
    let numbers_of = |(i, j): (usize, usize)| rows[i][j + 1].parse::<f64>().unwrap();
    let matrix = Array2::from_shape_fn((rows.len(), names.len() - 1), numbers_of);
    let mut expected: Option<Vec<Vec<f64>>> = None;
    for format in FORMATS {
        let path = sandbox.path(&format!("copy-{format}"));
        let mut writer = table_writer(Output::create(&path, &[]).unwrap()).unwrap();
        let header = Header {
            labels: Vec::new(),
            numbers: names[1..].to_vec(),
            is_f32: false,
            n_rows: Some(rows.len()),
        };
        writer.begin(&header).unwrap();
        writer.write(&[], NumbersView::F64(matrix.view())).unwrap();
        writer.finish().unwrap();
        let file = format!("copy-{format}");
        let result = sandbox.json(&["fit", "pca", &file, "--scale", "-k", "4"]);
        let Value::List(components) = entry(&result, &["model", "components"]) else {
            panic!("no components")
        };
        let found: Vec<Vec<f64>> = components.iter().map(numbers).collect();
        assert_eq!((found.len(), found[0].len()), (4, 13), "{format}");
        match &expected {
            None => expected = Some(found),
            Some(expected) => {
                for (a, b) in found.iter().flatten().zip(expected.iter().flatten()) {
                    assert!((a - b).abs() < 1e-12, "{format}: {a} is not {b}");
                }
            }
        }
    }
}

/// Scores in every format hold the same numbers: read back and compared through another fit.
#[test]
fn scores_are_written_in_every_format() {
    let sandbox = Sandbox::with("score_formats", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "3", "-o", "m.safetensors"]);
    let mut expected = None;
    for file in ["s.csv", "s.csv.gz", "s.parquet", "s.arrow", "s.npy"] {
        sandbox.ok(&["transform", "m.safetensors", "iris.csv", "-o", file]);
        let result = sandbox.json(&["fit", "pca", file, "-k", "3", "-o", "again.safetensors"]);
        let found = numbers(entry(&result, &["model", "explained_variance"]));
        let expected = expected.get_or_insert_with(|| found.clone());
        for (a, b) in found.iter().zip(expected) {
            assert!((*a - *b).abs() < 1e-13, "{file}: {a} is not {b}");
        }
    }
}

#[test]
fn counts_of_terms_come_from_matrix_market_with_their_names() {
    let sandbox = Sandbox::new("terms");
    // Five documents, four terms; rows of the file are terms, as `terms.txt` beside it tells.
    let counts = [[2, 1, 0, 0], [4, 2, 0, 1], [0, 0, 3, 1], [0, 1, 5, 0], [1, 0, 0, 2]];
    let mut market = String::from("%%MatrixMarket matrix coordinate integer general\n4 5 11\n");
    let mut csv = String::from("document,apple,pear,bolt,nut\n");
    for (document, row) in counts.iter().enumerate() {
        for (term, count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
            market += &format!("{} {} {count}\n", term + 1, document + 1);
        }
        csv += &format!("d{document},{},{},{},{}\n", row[0], row[1], row[2], row[3]);
    }
    sandbox.write("docs.mtx", &market);
    sandbox.write("terms.txt", "apple\npear\nbolt\nnut\n");
    sandbox.write("documents.txt", "d0\nd1\nd2\nd3\nd4\n");
    sandbox.write("docs.csv", &csv);
    for weighting in ["tf-idf", "log-entropy", "none"] {
        let fit = |data: &str, out: &str| {
            let rest = ["-k", "2", "--weighting", weighting, "-o", "m.safetensors"];
            sandbox.ok(&[&["fit", "lsa", data][..], &rest, &["--scores", out]].concat());
            columns(&sandbox.text(out), &["LS1", "LS2"])
        };
        let (sparse, dense) = (fit("docs.mtx", "a.csv"), fit("docs.csv", "b.csv"));
        assert_eq!(sparse.len(), 5);
        for (a, b) in sparse.iter().flatten().zip(dense.iter().flatten()) {
            assert!((a - b).abs() < 1e-12, "{weighting}: {a} is not {b}");
        }
        assert_eq!(table(&sandbox.text("a.csv")).1[3][0], "d3");
        // A model of either file scores the other, terms found by name.
        sandbox.ok(&["transform", "m.safetensors", "docs.mtx", "-o", "c.csv"]);
        for (a, c) in sparse
            .iter()
            .flatten()
            .zip(columns(&sandbox.text("c.csv"), &["LS1", "LS2"]).iter().flatten())
        {
            assert!((a - c).abs() < 1e-12, "{weighting}");
        }
        sandbox.ok(&["verify", "m.safetensors", "docs.mtx"]);
    }
    let ran = sandbox.run(&["fit", "lsa", "docs.csv", "--samples", "rows"]);
    assert!(ran.code == 64 && ran.err.contains("`--samples` does not fit a text"), "{}", ran.err);
    let ran = sandbox.run(&["fit", "lsa", "docs.mtx", "--no-header"]);
    assert!(ran.code == 64 && ran.err.contains("leave out `--no-header`"), "{}", ran.err);
}

/// A table of 12 samples, five features, and the same as Matrix Market: many entries are 0.
fn sparse_and_dense(sandbox: &Sandbox) {
    let rows: Vec<Vec<usize>> = (0..12usize)
        .map(|i| {
            (0..5usize).map(|j| if (i + j) % 3 == 0 { (i * 7 + j * 5) % 11 } else { 0 }).collect()
        })
        .collect();
    let names = ["a", "b", "c", "d", "e"];
    let mut csv = format!("sample,{}\n", names.join(","));
    let mut entries = String::new();
    let mut n_entries = 0;
    for (i, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().map(usize::to_string).collect();
        csv += &format!("s{i},{}\n", cells.join(","));
        for (j, value) in row.iter().enumerate().filter(|(_, value)| **value > 0) {
            entries += &format!("{} {} {value}\n", i + 1, j + 1);
            n_entries += 1;
        }
    }
    let head = "%%MatrixMarket matrix coordinate integer general";
    sandbox.write("x.csv", &csv);
    sandbox.write("x.mtx", &format!("{head}\n12 5 {n_entries}\n{entries}"));
    sandbox.write("x.columns", &names.join("\n"));
    let samples: Vec<String> = (0..12).map(|i| format!("s{i}")).collect();
    sandbox.write("x.rows", &samples.join("\n"));
}

/// Every number of two tables agrees, and every text is the same.
fn assert_same(one: &str, other: &str, what: &str) {
    let ((names, one), (others, other)) = (table(one), table(other));
    assert_eq!((&names, one.len()), (&others, other.len()), "{what}");
    for (a, b) in one.iter().flatten().zip(other.iter().flatten()) {
        match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => assert!((a - b).abs() < 1e-9, "{what}: {a} is not {b}"),
            _ => assert_eq!(a, b, "{what}"),
        }
    }
}

#[test]
fn a_sparse_table_does_what_any_table_does() {
    let sandbox = Sandbox::new("sparse_table");
    sparse_and_dense(&sandbox);
    let both = |command: &dyn Fn(&str) -> Vec<String>| {
        let run = |data: &str| {
            let words = command(data);
            sandbox.ok(&words.iter().map(String::as_str).collect::<Vec<_>>());
            sandbox.text("out.csv")
        };
        assert_same(&run("x.mtx"), &run("x.csv"), &command("DATA").join(" "));
    };
    let words = |line: String| line.split(' ').map(String::from).collect::<Vec<_>>();
    for method in [
        "pca -k 2",
        "pca -k 2 --columns b..e",
        "pca -k 2 --columns !c --labels a",
        "pca -k 2 --weights c --weight-kind relative",
        "lsa -k 2 --weighting none",
        "supervised-pca -k 1 --target e --target-kind number",
        "ppca -k 2",
        "kernel-pca -k 2",
    ] {
        let fit = |data: &str| words(format!("fit {data} -o m.safetensors --scores out.csv"));
        let fit = |data: &str| {
            let (name, rest) = method.split_once(' ').unwrap();
            let mut all = fit(&format!("{name} {data} {rest}"));
            all.retain(|word| !word.is_empty());
            all
        };
        both(&fit);
    }
    sandbox.ok(&["fit", "pca", "x.csv", "-k", "2", "-o", "m.safetensors"]);
    both(&|data| words(format!("transform m.safetensors {data} -o out.csv")));
    both(&|data| words(format!("reconstruct m.safetensors {data} -o out.csv")));
    both(&|data| words(format!("reconstruct m.safetensors {data} --errors out.csv")));
    let pictures = |data: &str| {
        sandbox.ok(&["plot", "m.safetensors", data, "--names", "sample", "-o", "out.svg"]);
        sandbox.text("out.svg")
    };
    assert_eq!(pictures("x.mtx").len(), pictures("x.csv").len());
    let hsic = |data: &str| sandbox.ok(&["hsic", data, "--x", "a..c", "--y", "e"]);
    assert_eq!(hsic("x.mtx"), hsic("x.csv"));
    sandbox.ok(&["verify", "m.safetensors", "x.mtx"]);
    sandbox.ok(&["choose", "x.mtx"]);
    // Twice the same file is a table of twice the rows.
    sandbox.ok(&["transform", "m.safetensors", "x.mtx", "x.mtx", "-o", "out.csv"]);
    assert_eq!(table(&sandbox.text("out.csv")).1.len(), 24);
    // A sparse matrix has no holes.
    sandbox.ok(&["fit", "ppca", "x.csv", "-k", "2", "-o", "m.safetensors"]);
    let ran = sandbox.run(&["impute", "m.safetensors", "x.mtx", "-o", "out.csv"]);
    assert!(ran.code == 64 && ran.err.contains("no missing entries"), "{}", ran.err);
}

#[test]
fn a_sparse_matrix_of_scipy_s_is_a_table() {
    let sandbox = Sandbox::new("scipy");
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../eigenlens-io/tests/fixtures/scipy.npz");
    std::fs::copy(fixture, sandbox.path("x.npz")).unwrap();
    let plan = sandbox.json(&["fit", "lsa", "x.npz", "-k", "1", "--plan"]);
    assert_eq!(numbers(&Value::List(vec![entry(&plan, &["n_samples"]).clone()])), [3.0]);
    // By default a third of the unit matrix is one direction of three.
    sandbox.ok(&["fit", "lsa", "x.npz", "-k", "3", "--weighting", "none", "--scores", "s.csv"]);
    let scores = columns(&sandbox.text("s.csv"), &["LS1", "LS2", "LS3"]);
    for row in &scores {
        let norm: f64 = row.iter().map(|x| x * x).sum();
        assert!((norm - 1.0).abs() < 1e-12, "{norm}");
    }
}

#[test]
fn sizes_of_a_hostile_header_are_no_allocation() {
    let sandbox = Sandbox::new("hostile");
    let head = "%%MatrixMarket matrix coordinate real general\n";
    sandbox.write("huge.mtx", &format!("{head}4294967290 4294967290 1\n1 1 1\n"));
    sandbox.write("wide.mtx", &format!("{head}2 2000000 1\n1 1 1\n"));
    let ran = sandbox.run(&["fit", "pca", "huge.mtx"]);
    assert!(ran.code == 65 && ran.err.contains("huge.mtx, line 2"), "{}", ran.err);
    let ran = sandbox.run(&["fit", "pca", "wide.mtx", "--memory", "64MiB"]);
    assert!(ran.code == 71 && ran.err.contains("the budget is 64MiB"), "{}", ran.err);
}

#[test]
fn a_folder_of_images_is_a_table() {
    let sandbox = Sandbox::new("images");
    std::fs::create_dir(sandbox.path("faces")).unwrap();
    for i in 0..12u8 {
        let mut image = b"P5\n4 3\n255\n".to_vec();
        image.extend((0..12u8).map(|p| p.wrapping_mul(17).wrapping_add(i.wrapping_mul(p + 3) * 5)));
        std::fs::write(sandbox.path(&format!("faces/{i:02}.pgm")), image).unwrap();
    }
    let ran = sandbox.run(&["fit", "pca", "faces", "-k", "3", "--scores", "scores.csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("4 × 3 pixels") && ran.err.contains("features: 12"), "{}", ran.err);
    assert_eq!(table(&sandbox.text("scores.csv")).1[11][0], "11.pgm");
    // The size is in the model: no `--image-size` is needed.
    sandbox.ok(&["plot", "faces.model.safetensors", "faces", "--kind", "images", "-o", "f.svg"]);
    assert!(sandbox.text("f.svg").contains("k = 3"));
    sandbox.ok(&["transform", "faces.model.safetensors", "faces", "-o", "again.csv"]);
    assert_eq!(sandbox.text("scores.csv"), sandbox.text("again.csv"));
}
