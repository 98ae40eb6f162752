//! Cells that are no numbers in columns that are, and columns without any value.

use crate::common::{Scratch, complaint, options, read, read_files, read_with};
use eigenlens_io::csv::CsvOptions;
use eigenlens_io::write::{Header, Output, table_writer};
use eigenlens_io::{
    AnyArray, ColumnChoice, Fate, Labels, Loaded, Numbers, ReadOptions, Table, Wanted,
};
use ndarray::Array2;
use std::path::Path;

const ROWS: usize = 100_000;

/// Numbers with one other cell in the column `price`.
fn table_with(cell: &str, at: usize) -> String {
    let mut text = String::from("name,price,size\n");
    for row in 0..ROWS {
        match row == at {
            true => text += &format!("r{row},{cell},{row}.5\n"),
            false => text += &format!("r{row},{row}.25,{row}.5\n"),
        }
    }
    text
}

#[test]
fn a_bad_cell_is_an_error_with_its_place_wherever_it_is() {
    for (cell, at) in [("oops", 0), ("$1.5", 1), ("$1.5", 20_000), ("oops", 33_000), ("x", 99_999)]
    {
        let text = table_with(cell, at);
        let (line, column, what) = complaint(read(&text));
        assert_eq!((line, column.as_deref()), (Some(at as u64 + 2), Some("`price`")), "{cell}");
        assert!(what.contains(&format!("`{cell}` is not a number")), "{what}");

        let missing = CsvOptions { bad_cells_are_missing: true, ..CsvOptions::default() };
        let found = read_with(&text, missing).expect("a table");
        assert_eq!(found.features, ["price", "size"]);
        let values = found.values();
        assert!(values[at][0].is_nan() && values[at][1] == at as f64 + 0.5);
        assert_eq!(values.iter().flatten().filter(|v| v.is_nan()).count(), 1);
        let told = found.found("cells taken for missing values").expect("a warning");
        let place = format!("line {}, column `price`: `{cell}` is not a number", at + 2);
        assert!(told.starts_with("1; the first is ") && told.ends_with(&place), "{told}");
        assert!(found.notes.iter().any(|note| note.is_warning));

        let skip = CsvOptions { skip_bad_rows: true, ..CsvOptions::default() };
        let found = read_with(&text, skip).expect("a table");
        assert_eq!((found.features.len(), found.rows.len()), (2, ROWS - 1));
        let told = found.found("rows left out").expect("a note");
        assert!(told.contains(&format!(": 1; the first is line {}", at + 2)), "{told}");
    }
}

#[test]
fn bad_cells_are_found_in_streams_too() {
    let scratch = Scratch::new();
    let path = scratch.file("t.csv", table_with("oops", 20_000));
    let streamed = |csv: CsvOptions| {
        let table = eigenlens_io::open(std::slice::from_ref(&path), &options(csv)).unwrap();
        let selection = table.select(&ColumnChoice::default()).unwrap();
        assert_eq!(selection.feature_names(), ["price", "size"]);
        let Loaded::Streamed(rows) = table.load(&selection, Some(0), None).unwrap() else {
            panic!("no memory, so a stream")
        };
        let mut n = 0;
        let mut reader = eigenlens::Rows::<f64>::open(&rows).unwrap();
        while let Some(block) = reader.next_rows(usize::MAX).map_err(|e| e.to_string())? {
            n += block.nrows();
        }
        Ok::<_, String>((n, rows.findings()))
    };
    let error = streamed(CsvOptions::default()).unwrap_err();
    assert!(error.contains("line 20002, column `price`: `oops` is not a number"), "{error}");
    let missing = CsvOptions { bad_cells_are_missing: true, ..CsvOptions::default() };
    let (n, findings) = streamed(missing).unwrap();
    assert_eq!(n, ROWS);
    assert!(findings.iter().any(|note| note.is_warning && note.found.contains("line 20002")));
    let skip = CsvOptions { skip_bad_rows: true, ..CsvOptions::default() };
    assert_eq!(streamed(skip).unwrap().0, ROWS - 1);
}

/// A table whose second column holds these words in turn.
fn column_of(words: &[&str]) -> String {
    let rows = (0..60).map(|row| format!("{row}.5,{}\n", words[row % words.len()]));
    format!("x,c\n{}", rows.collect::<String>())
}

#[test]
fn what_most_values_are_the_column_is() {
    // Words, identifiers, one number in ten, half and half: text.
    for words in [
        &["setosa", "virginica"][..],
        &["A12", "B7"],
        &["7", "a", "b", "c", "d", "e", "f", "g", "h", "i"],
        &["7", "a"],
        &["true", "1"],
    ] {
        let found = read(column_of(words)).expect("a table");
        assert_eq!((found.features.len(), found.label_names), (1, vec![String::from("c")]));
    }
    // More than half: numbers, and truth values, with what is none of them an error.
    for words in
        [&["7", "8", "a"][..], &["1.5", "", "", "2", "n.d."], &["true", "false", "?", "no"]]
    {
        let bad = words.last().unwrap();
        let (_, column, what) = complaint(read(column_of(words)));
        assert_eq!(column.as_deref(), Some("`c`"));
        assert!(what.contains(&format!("`{bad}` is not a number")), "{what}");
    }
    // Names are found over numbers with mistakes, and where every column has one.
    let found = read_with(
        "a,b\n1,oops\nx,2\n3,3\n4,4\n",
        CsvOptions { skip_bad_rows: true, ..CsvOptions::default() },
    );
    let found = found.expect("a table");
    assert_eq!((found.features, found.rows.len()), (vec!["a".to_string(), "b".into()], 2));
}

#[test]
fn a_small_file_of_several_does_not_make_a_feature_vanish() {
    let scratch = Scratch::new();
    let large = scratch.file("a.csv", "x,y\n1,2\n3,4\n5,6\n");
    let small = scratch.file("b.csv", "x,y\n7,oops\n");
    for paths in [[large.clone(), small.clone()], [small.clone(), large.clone()]] {
        let (line, column, _) = complaint(read_files(&paths, &ReadOptions::default()));
        assert_eq!((line, column.as_deref()), (Some(2), Some("`y`")));
    }
    let missing = CsvOptions { bad_cells_are_missing: true, ..CsvOptions::default() };
    let found = read_files(&[large, small], &options(missing)).expect("a table");
    assert_eq!(found.features, ["x", "y"]);
    assert!(found.found("cells taken for missing values").is_some_and(|f| f.contains("b.csv")));
}

#[test]
fn rows_left_out_are_the_same_whatever_is_read() {
    let scratch = Scratch::new();
    let path = scratch.file("t.csv", "t,x,w\na,1,1\nb,oops,1\nc,3,1\nd,4,bad\ne,5,1\n");
    let skip = CsvOptions { skip_bad_rows: true, ..CsvOptions::default() };
    let table = eigenlens_io::open(&[path], &options(skip)).unwrap();
    let labels = |required: Vec<usize>| {
        let wanted = Wanted { labels: vec![0], required, ..Wanted::default() };
        let mut reader = table.source().open(&wanted).unwrap();
        let mut all = Labels::default();
        while let Some(block) = reader.next_block().unwrap() {
            all.append(&block.labels[0]);
        }
        all.iter().collect::<String>()
    };
    assert_eq!(labels(vec![]), "abcde");
    assert_eq!(labels(vec![1]), "acde");
    assert_eq!(labels(vec![1, 2]), "ace");
}

fn write(path: &Path, numbers: &Array2<f64>) {
    let names = (1..=numbers.ncols()).map(|j| format!("x{j}")).collect();
    let n_rows = Some(numbers.nrows());
    let header = Header { labels: Vec::new(), numbers: names, is_f32: false, n_rows };
    let mut writer = table_writer(Output::create(path, &[]).unwrap()).unwrap();
    writer.begin(&header).unwrap();
    writer.write(&[], numbers.view().into()).unwrap();
    writer.finish().unwrap();
}

/// Small tables, and ones whose beginning does not tell.
#[test]
fn a_column_without_values_is_left_out_of_every_format() {
    let scratch = Scratch::new();
    for n in [4, 200_000] {
        // The second column has no value, the third its only one in the last row.
        let numbers = Array2::from_shape_fn((n, 3), |(i, j)| match j {
            0 => i as f64 + 0.5,
            2 if i == n - 1 => 2.5,
            _ => f64::NAN,
        });
        for format in ["csv", "csv.gz", "parquet", "arrow", "npy"] {
            let path = scratch.path(&format!("t{n}.{format}"));
            write(&path, &numbers);
            let table: Table = eigenlens_io::open(&[path], &ReadOptions::default()).unwrap();
            let selection = table.select(&ColumnChoice::default()).unwrap();
            assert_eq!(selection.feature_names(), ["x1", "x3"], "{format}, {n} rows");
            let left = &selection.fates()[1];
            assert_eq!((left.fate, left.reason.as_ref()), (Fate::Skipped, "it has no values"));
            let named = ColumnChoice { features: vec!["x2".into()], ..ColumnChoice::default() };
            let refused = table.select(&named).unwrap_err().to_string();
            assert!(refused.contains("`x2` cannot be a feature: it has no values"), "{refused}");
            // A model that knows the column finds it, with nothing in it.
            let names: Vec<String> = ["x3", "x2"].map(String::from).into();
            let selection = table.select_named(&names).unwrap();
            let Loaded::InMemory(read) = table.load(&selection, None, None).unwrap() else {
                panic!("no limit, so no stream")
            };
            let Numbers::Dense(AnyArray::F64(read)) = &read.numbers else {
                panic!("double precision")
            };
            assert_eq!(read.dim(), (n, 2));
            assert!(read.column(1).iter().all(|x| x.is_nan()) && read[[n - 1, 0]] == 2.5);
        }
    }
}
