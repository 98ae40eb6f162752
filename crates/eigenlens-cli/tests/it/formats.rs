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
    let ran = sandbox.run(&["fit", "lsa", "docs.mtx", "--columns", "apple"]);
    assert!(ran.code == 64 && ran.err.contains("Matrix Market"), "{}", ran.err);
    let ran = sandbox.run(&["fit", "lsa", "docs.csv", "--samples", "rows"]);
    assert!(ran.code == 64 && ran.err.contains("`--samples` does not fit"), "{}", ran.err);
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
