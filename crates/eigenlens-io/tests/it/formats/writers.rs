//! What is written reads back to the last bit.

use super::Content;
use eigenlens_io::npy::NpyOptions;
use eigenlens_io::write::{Header, Output, OutputFormat, table_writer};
use eigenlens_io::{Error, Labels, Source, arrow, npy, parquet};
use ndarray::{Array2, s};
use std::path::Path;

fn values() -> Array2<f64> {
    let odd = [0.1, -0.0, 1e-310, f64::MAX, f64::MIN_POSITIVE, 1.0 / 3.0, 1e22];
    Array2::from_shape_fn((1_000, 3), |(i, j)| odd[(i + j) % odd.len()] * (1.0 + i as f64))
}

fn label(i: usize) -> String {
    format!("=row, \"{i}\" é\n")
}

fn write(path: &Path, is_f32: bool, n_rows: Option<usize>) -> eigenlens_io::Result<()> {
    let header = Header {
        labels: vec!["name".into()],
        numbers: ["a", "b", "c"].map(String::from).to_vec(),
        is_f32,
        n_rows,
    };
    let mut writer = table_writer(Output::create(path, &[])?)?;
    writer.begin(&header)?;
    let values = values();
    let single = values.mapv(|x| x as f32);
    for start in (0..1_000).step_by(300) {
        let end = (start + 300).min(1_000);
        let mut labels = Labels::default();
        (start..end).for_each(|i| labels.push(&label(i)));
        if is_f32 {
            writer.write(&[labels], single.slice(s![start..end, ..]).into())?;
        } else {
            writer.write(&[labels], values.slice(s![start..end, ..]).into())?;
        }
    }
    writer.finish()
}

fn open(path: &Path) -> Box<dyn Source> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("parquet") => Box::new(parquet::open(path).unwrap()),
        Some("arrow") => Box::new(arrow::open(path, None).unwrap()),
        _ => Box::new(npy::open(path, &NpyOptions::default()).unwrap()),
    }
}

#[test]
fn tables_read_back_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    for extension in ["parquet", "arrow", "npy"] {
        for is_f32 in [false, true] {
            for n_rows in [None, Some(1_000)] {
                let path = folder.path().join(format!("x.{extension}"));
                write(&path, is_f32, n_rows).unwrap();
                let source = open(&path);
                assert_eq!(source.is_f32(), is_f32);
                let content = Content::of(source.as_ref()).unwrap();
                let expected =
                    if is_f32 { values().mapv(|x| f64::from(x as f32)) } else { values() };
                let bits = |x: &Array2<f64>| x.mapv(f64::to_bits);
                assert_eq!(bits(&content.numbers), bits(&expected), "{extension}");
                if extension == "npy" {
                    assert_eq!(content.names, ["x1", "x2", "x3"]);
                } else {
                    assert_eq!(content.names, ["a", "b", "c"]);
                    assert!(content.labels[0].iter().enumerate().all(|(i, l)| *l == label(i)));
                }
            }
        }
    }
    assert!(!OutputFormat::Npy.keeps_names() && OutputFormat::Parquet.keeps_names());
}

#[test]
fn an_array_that_cannot_be_rewritten_is_held_until_its_rows_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy.gz");
    write(&path, false, None).unwrap();
    let mut bytes = Vec::new();
    let file = std::fs::File::open(&path).unwrap();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(file), &mut bytes).unwrap();
    let plain = folder.path().join("y.npy");
    std::fs::write(&plain, bytes).unwrap();
    assert_eq!(Content::of(open(&plain).as_ref()).unwrap().numbers, values());
}

#[test]
fn wrong_row_counts_leave_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let error = write(&path, false, Some(999)).unwrap_err();
    assert!(matches!(error, Error::Usage { .. }), "{error}");
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}
