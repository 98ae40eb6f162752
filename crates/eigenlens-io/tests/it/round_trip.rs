//! What is written reads back to the last bit.

use crate::common::{Scratch, options, read_files};
use eigenlens_io::Labels;
use eigenlens_io::csv::CsvOptions;
use eigenlens_io::write::{Header, NumbersView, Output, table_writer};
use ndarray::Array2;
use proptest::prelude::*;
use std::path::Path;

fn write(path: &Path, header: &Header, labels: &[Labels], numbers: NumbersView) {
    let output = Output::create(path, &[]).expect("an output");
    let mut writer = table_writer(output).expect("a writer");
    writer.begin(header).expect("a header");
    writer.write(labels, numbers).expect("rows");
    writer.finish().expect("a file");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_tables(
        bits in prop::collection::vec(any::<u64>(), 1..200),
        columns in 1..5usize,
        labels in prop::collection::vec("[^=+@\\-\0\t\r][^\0]{0,6}", 200),
        suffix in prop::sample::select(vec!["csv", "tsv", "csv.gz", "tsv.zst"]),
        chunk_bytes in 1..500usize,
    ) {
        let rows = bits.len().div_ceil(columns);
        let value = |i: usize| {
            let value = f64::from_bits(bits[i % bits.len()]);
            // All NaN read back as the one NaN.
            if value.is_nan() { f64::NAN } else { value }
        };
        let numbers = Array2::from_shape_fn((rows, columns), |(i, j)| value(i * columns + j));
        let mut texts = Labels::default();
        // The first is no number, so that the column is text.
        texts.push("text");
        (1..rows).for_each(|row| texts.push(&labels[row]));
        let names: Vec<String> = (0..columns).map(|j| format!("v {j}, \"{j}\"")).collect();
        let header = Header {
            labels: vec![String::from("t")],
            numbers: names.clone(),
            is_f32: false,
            n_rows: Some(rows),
        };
        let scratch = Scratch::new();
        let path = scratch.path(&format!("t.{suffix}"));
        write(&path, &header, &[texts.clone()], numbers.view().into());
        let csv = CsvOptions {
            header: Some(true),
            text_columns: vec![String::from("t")],
            chunk_bytes,
            ..CsvOptions::default()
        };
        // All-NaN columns have no values and cannot be features.
        prop_assume!((0..columns).all(|j| numbers.column(j).iter().any(|v| !v.is_nan())));
        let read = read_files(&[path], &options(csv)).expect("what was written");
        prop_assert_eq!(&read.features, &names);
        let expected: Vec<Vec<u64>> =
            numbers.rows().into_iter().map(|r| r.iter().map(|v| v.to_bits()).collect()).collect();
        prop_assert_eq!(read.rows, expected);
        let expected: Vec<String> = texts.iter().map(str::to_owned).collect();
        prop_assert_eq!(&read.labels[0], &expected);
    }
}

#[test]
fn single_precision_reads_back_to_the_last_bit() {
    let mut random = crate::common::Random(3);
    let numbers = Array2::from_shape_fn((5000, 3), |_| {
        loop {
            let value = f32::from_bits(random.next() as u32);
            if value.is_finite() {
                break value;
            }
        }
    });
    let scratch = Scratch::new();
    let path = scratch.path("t.csv");
    let names = vec![String::from("a"), String::from("b"), String::from("c")];
    let header = Header { numbers: names, is_f32: true, ..Header::default() };
    write(&path, &header, &[], numbers.view().into());
    let read = read_files(&[path], &options(CsvOptions::default())).expect("what was written");
    for (row, written) in read.values().iter().zip(numbers.rows()) {
        for (&got, &value) in row.iter().zip(written) {
            // The shortest decimals of a float32 are not its double, but round to it.
            assert_eq!((got as f32).to_bits(), value.to_bits());
        }
    }
}

#[test]
fn formulas_are_disarmed_in_names_and_labels() {
    let scratch = Scratch::new();
    let path = scratch.path("t.csv");
    let mut labels = Labels::default();
    labels.push("=HYPERLINK(\"x\")");
    labels.push("-5");
    let header = Header {
        labels: vec![String::from("@label")],
        numbers: vec![String::from("+x")],
        ..Header::default()
    };
    write(&path, &header, &[labels], ndarray::arr2(&[[-1.0], [2.5]]).view().into());
    let text = std::fs::read_to_string(&path).expect("the file");
    assert_eq!(text, "\"'@label\",\"'+x\"\n\"'=HYPERLINK(\"\"x\"\")\",-1.0\n-5,2.5\n");
}
