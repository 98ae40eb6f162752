//! Columns chosen, files put together, rows loaded or streamed.

use crate::common::{Scratch, complaint, in_memory, options, read_files, texts};
use eigenlens::{Dataset, Pca, Rows};
use eigenlens_io::csv::CsvOptions;
use eigenlens_io::{AnyArray, ColumnChoice, Error, Fate, Loaded, Numbers, ReadOptions, Table};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

fn open(paths: &[PathBuf]) -> Table {
    eigenlens_io::open(paths, &ReadOptions::default()).expect("a table")
}

fn choice(features: &[&str], labels: &[&str]) -> ColumnChoice {
    let list = |names: &[&str]| names.iter().map(|name| String::from(*name)).collect();
    ColumnChoice { features: list(features), labels: list(labels) }
}

const TOWNS: &str =
    "id,town,x,y,year,empty\n1,Bonn,1.5,2,2001,\n2,Köln,2.5,1,2003,\n3,Ems,0.5,7,2002,\n";

#[test]
fn every_column_has_a_fate_and_a_reason() {
    let scratch = Scratch::new();
    let table = open(&[scratch.file("towns.csv", TOWNS)]);
    let fates = |features: &[&str], labels: &[&str]| -> Vec<(Fate, String)> {
        let selection = table.select(&choice(features, labels)).expect("columns");
        selection.fates().iter().map(|f| (f.fate, f.reason.to_string())).collect()
    };
    use Fate::{Feature, Label, Skipped};
    let kinds = |fates: Vec<(Fate, String)>| fates.into_iter().map(|f| f.0).collect::<Vec<_>>();
    let all = fates(&[], &[]);
    assert_eq!(all[5], (Skipped, String::from("it has no values")));
    assert_eq!(kinds(all), [Feature, Label, Feature, Feature, Feature, Skipped]);
    assert_eq!(kinds(fates(&["!id"], &[])), [Skipped, Label, Feature, Feature, Feature, Skipped]);
    assert_eq!(
        kinds(fates(&["x..y"], &["year"])),
        [Skipped, Label, Feature, Feature, Label, Skipped]
    );
    assert_eq!(
        kinds(fates(&["x", "!town"], &[])),
        [Skipped, Skipped, Feature, Skipped, Skipped, Skipped]
    );
    let labels = kinds(fates(&[], &["!town", "year"]));
    assert_eq!(labels, [Feature, Skipped, Feature, Feature, Label, Skipped]);
    for (features, labels) in [(&["town"][..], &[][..]), (&["nope"], &[]), (&["x"], &["x"])] {
        let result = table.select(&choice(features, labels));
        assert!(matches!(result, Err(Error::Usage { .. })), "{result:?}");
    }
}

#[test]
fn identifiers_are_warned_about() {
    let scratch = Scratch::new();
    let table = open(&[scratch.file("towns.csv", TOWNS)]);
    let selection = table.select(&ColumnChoice::default()).expect("columns");
    let warned: Vec<&str> =
        selection.fates().iter().filter(|f| f.warning.is_some()).map(|f| f.name.as_str()).collect();
    assert_eq!(warned, ["id"]);
    let table = open(&[scratch.file("ids.csv", "user_id,x\n17,1\n5,2\n99,3\n")]);
    let selection = table.select(&ColumnChoice::default()).expect("columns");
    assert!(selection.fates()[0].warning.as_deref().is_some_and(|w| w.contains("identifier")));
}

#[test]
fn a_table_without_numbers_says_why() {
    let scratch = Scratch::new();
    let table = open(&[scratch.file("t.csv", "a,b\nx,\ny,\n")]);
    let (_, _, what) = complaint(table.select(&ColumnChoice::default()));
    assert!(what.contains("`a`: text") && what.contains("`b`: it has no values"), "{what}");
}

#[test]
fn features_by_name_come_in_the_order_of_the_model() {
    let scratch = Scratch::new();
    let table = open(&[scratch.file("t.csv", TOWNS)]);
    let names = [String::from("y"), String::from("x")];
    let selection = table.select_named(&names).expect("columns");
    let loaded = in_memory(&table, &selection).expect("rows");
    let Numbers::Dense(AnyArray::F64(numbers)) = &loaded.numbers else {
        panic!("double precision")
    };
    assert_eq!(numbers, &ndarray::arr2(&[[2.0, 1.5], [1.0, 2.5], [7.0, 0.5]]));
    assert_eq!(selection.feature_names(), names);
    assert_eq!(texts(&loaded.labels[0]), ["Bonn", "Köln", "Ems"]);
    let (_, _, what) = complaint(table.select_named(&[String::from("yearr")]));
    assert!(what.contains("`yearr`") && what.contains("there is `year`"), "{what}");
    assert!(complaint(table.select_named(&[String::from("town")])).2.contains("text"));
}

#[test]
fn several_files_are_one_table_by_name() {
    let scratch = Scratch::new();
    let first = scratch.file("a.csv", "name,x,y\na,1,2\nb,3,4\n");
    let second = scratch.file("b.csv", "y;name;x\n6,5;c;5,5\n");
    let paths = [first.clone(), second];
    let read = read_files(&paths, &ReadOptions::default()).expect("a table");
    assert_eq!(read.values(), [[1.0, 2.0], [3.0, 4.0], [5.5, 6.5]]);
    assert_eq!(read.labels, [["a", "b", "c"]]);
    // A row is found again in its file.
    let table = open(&paths);
    let selection = table.select(&ColumnChoice::default()).expect("columns");
    let location = table.locate(&selection, 2).expect("files").expect("a place");
    assert_eq!((location.file, location.place.line), (paths[1].clone(), Some(2)));
    assert_eq!(table.locate(&selection, 3).expect("files"), None);
    // Columns must be the same.
    let lacking = scratch.file("c.csv", "name,x\nd,7\n");
    let extra = scratch.file("d.csv", "name,x,y,z\nd,7,8,9\n");
    for (other, column) in [(lacking, "`y`"), (extra, "`z`")] {
        let result = read_files(&[first.clone(), other], &ReadOptions::default());
        assert!(complaint(result).2.contains(column));
    }
    // Text in half of the rows makes the column text in all files.
    let codes = scratch.file("e.csv", "name,x,y\n7,1,A1\n8,2,A2\n");
    let read = read_files(&[first, codes], &ReadOptions::default()).expect("a table");
    assert_eq!(read.labels, [["a", "b", "7", "8"], ["2", "4", "A1", "A2"]]);
}

#[test]
fn a_row_is_found_again_with_blank_lines_quotes_and_bad_rows() {
    let scratch = Scratch::new();
    let text = "t,x\n\na,1\n\"b\nb\",2\nbad\nc,3\n\nd,4\n";
    let csv = CsvOptions { skip_bad_rows: true, chunk_bytes: 8, ..CsvOptions::default() };
    let table = eigenlens_io::open(&[scratch.file("t.csv", text)], &options(csv)).expect("a table");
    let selection = table.select(&ColumnChoice::default()).expect("columns");
    for (row, line) in [(0, 3), (1, 4), (2, 7), (3, 9)] {
        let location = table.locate(&selection, row).expect("the file").expect("a place");
        assert_eq!(location.place.line, Some(line), "row {row}");
    }
}

/// 3,000 rows of five features and one label, in small pieces.
fn tall(scratch: &Scratch) -> Table {
    let mut text = String::from("t,a,b,c,d,e\n");
    let mut random = crate::common::Random(11);
    for row in 0..3000 {
        text += &format!("r{row}");
        for _ in 0..5 {
            text += &format!(",{}", (random.next() >> 11) as f64 * 2f64.powi(-53));
        }
        text += "\n";
    }
    let csv = CsvOptions { chunk_bytes: 20_000, ..CsvOptions::default() };
    eigenlens_io::open(&[scratch.file("tall.csv", text)], &options(csv)).expect("a table")
}

#[test]
fn what_does_not_fit_the_budget_is_streamed_with_the_same_answer() {
    let scratch = Scratch::new();
    let table = tall(&scratch);
    let selection = table.select(&ColumnChoice::default()).expect("columns");
    let loaded = in_memory(&table, &selection).expect("rows");
    let Numbers::Dense(AnyArray::F64(numbers)) = loaded.numbers else { panic!("double precision") };
    assert_eq!(numbers.dim(), (3000, 5));
    let seen = AtomicU64::new(0);
    let progress = |read: u64, total: u64| {
        assert!(read <= total);
        seen.fetch_max(read, Ordering::Relaxed);
    };
    let streamed = match table.load(&selection, Some(50_000), Some(&progress)).expect("rows") {
        Loaded::Streamed(streamed) => streamed,
        Loaded::InMemory(_) => panic!("120 kB do not fit 50 kB"),
    };
    assert_eq!(Rows::<f64>::n_samples(&streamed), None);
    let mut reader = Rows::<f64>::open(&streamed).expect("a reading");
    let mut row = 0;
    while let Some(block) = reader.next_rows(7).expect("rows") {
        assert!(block.nrows() <= 7);
        assert_eq!(block, numbers.slice(ndarray::s![row..row + block.nrows(), ..]));
        row += block.nrows();
    }
    assert_eq!(row, 3000);
    assert_eq!(Rows::<f64>::n_samples(&streamed), Some(3000));
    assert_eq!(seen.load(Ordering::Relaxed), table.source().n_bytes());
    let from_memory = Pca::new(2).fit(&numbers).expect("a model");
    let from_stream = Pca::new(2).fit(Dataset::<f64>::streamed(&streamed)).expect("a model");
    assert_eq!(from_memory.components(), from_stream.components());
}

#[test]
fn a_wrong_guess_falls_back_to_streaming() {
    let scratch = Scratch::new();
    // Long rows first, so that the sample promises far fewer rows than there are.
    let mut text = String::from("t,x\n");
    for _ in 0..300 {
        text += &format!("{},1\n", "long ".repeat(1000));
    }
    for row in 0..100_000 {
        text += &format!("s,{row}\n");
    }
    let file = scratch.file("t.csv", text);
    let table = open(std::slice::from_ref(&file));
    let selection = table.select(&ColumnChoice::default()).expect("columns");
    assert!(table.source().rows_guess() < 1000);
    let loaded = table.load(&selection, Some(200_000), None).expect("rows");
    assert!(matches!(loaded, Loaded::Streamed(_)));
    // Without a budget the array grows.
    let read = read_files(&[file], &ReadOptions::default()).expect("rows");
    let expected = (0..300).map(|_| 1.0).chain((0..100_000).map(f64::from));
    assert!(read.rows.iter().map(|row| row[0]).eq(expected.map(f64::to_bits)));
}

#[test]
fn failures_in_a_stream_keep_their_place() {
    let scratch = Scratch::new();
    let mut text = String::from("x,y\n");
    for row in 0..200_000 {
        text += &format!("{row}.5,{row}\n");
    }
    text += "1\n";
    let table = open(&[scratch.file("t.csv", text)]);
    let selection = table.select(&ColumnChoice::default()).expect("columns");
    let Loaded::Streamed(streamed) = table.load(&selection, Some(10), None).expect("a stream")
    else {
        panic!("ten bytes are not enough")
    };
    let error = Pca::new(1).fit(Dataset::<f64>::streamed(&streamed)).expect_err("an error");
    let eigenlens::Error::Read(inner) = error else { panic!("{error:?}") };
    let inner = inner.downcast::<Error>().expect("our error");
    assert_eq!(complaint(Err::<(), _>(*inner)).0, Some(200_002));
}

#[test]
fn pools_of_any_size_read_the_same() {
    let scratch = Scratch::new();
    let table = tall(&scratch);
    let selection = table.select(&ColumnChoice::default()).expect("columns");
    let read = || match in_memory(&table, &selection).expect("rows").numbers {
        Numbers::Dense(AnyArray::F64(numbers)) => numbers,
        _ => panic!("double precision"),
    };
    let expected = read();
    for threads in [1, 2, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        assert_eq!(pool.install(read), expected, "{threads} threads");
    }
}
