//! The same table in every format gives the same components.

use crate::support::{Sandbox, entry, numbers, table};
use eigenlens::Value;
use eigenlens_io::write::{Header, NumbersView, Output, table_writer};
use ndarray::Array2;

const FORMATS: [&str; 4] = ["wine.csv", "wine.csv.gz", "wine.csv.zst", "wine.tsv"];

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
