//! Parquet of other writers.

use super::{Content, N, assert_column, assert_plain, cell, fixture, holed};
use eigenlens_io::write::{Header, Output, table_writer};
use eigenlens_io::{Error, Kind, Source, Wanted, parquet};
use ndarray::{Array2, s};

#[test]
fn every_codec_and_encoding_gives_the_same_numbers() {
    for name in ["plain_none", "plain_gzip", "plain_zstd", "plain_lz4", "polars", "delta"] {
        let source = parquet::open(&fixture(&format!("{name}.parquet"))).unwrap();
        assert_eq!(source.n_rows(), Some(N));
        assert!(!source.is_f32());
        let content = Content::of(&source).unwrap();
        assert_plain(&content);
        if let Some(labels) = content.labels.first() {
            assert!(labels.iter().enumerate().all(|(i, label)| *label == format!("row {i}")));
        }
    }
    let lengths = parquet::open(&fixture("lengths.parquet")).unwrap();
    assert_eq!(Content::of(&lengths).unwrap().labels, [["x", "yz"]]);
}

#[test]
fn single_precision_stays_single() {
    let source = parquet::open(&fixture("single.parquet")).unwrap();
    assert!(source.is_f32());
    assert_plain(&Content::of(&source).unwrap());
}

#[test]
fn every_type_has_its_documented_meaning() {
    let source = parquet::open(&fixture("typed.parquet")).unwrap();
    check_typed(&source, true);
}

/// The table of all types, as Parquet and Arrow have it.
pub(super) fn check_typed(source: &dyn Source, has_half: bool) {
    let content = Content::of(source).unwrap();
    assert_eq!(source.n_rows(), Some(N));
    assert_column(&content.column("f64"), |i| holed(i, cell(i, 0)));
    assert_column(&content.column("f32"), |i| holed(i, cell(i, 1)));
    if has_half {
        assert_column(&content.column("f16"), |i| cell(i, 2));
    }
    assert_column(&content.column("i8"), |i| i as f64 - 10.0);
    assert_column(&content.column("u32"), |i| (u32::MAX - i as u32) as f64);
    assert_column(&content.column("i64"), |i| holed(i, i as f64 * 1e9));
    assert_column(&content.column("u64"), |i| 2f64.powi(63) + 2f64.powi(40) * i as f64);
    assert_column(&content.column("bool"), |i| holed(i, f64::from(i % 2 == 0)));
    assert_column(&content.column("decimal"), |i| {
        // Through text: the nearest double to the decimal.
        let cents = i * 1001;
        holed(i, format!("{}.{:02}", cents / 100, cents % 100).parse().unwrap())
    });
    assert_column(&content.column("wide"), |i| 1e30 + i as f64);
    let label = |name: &str| -> Vec<String> {
        let index = source.columns().iter().position(|column| column.name == name).unwrap();
        let wanted = Wanted { labels: vec![index], ..Wanted::default() };
        Content::wanted(source, &wanted).unwrap().labels.remove(0)
    };
    let text = label("text");
    assert_eq!(
        (text[0].as_str(), text[3].as_str(), text[36].as_str()),
        ("row 0 µ", "", "row 36 µ")
    );
    let category = label("category");
    assert_eq!(category[..5], ["red", "green", "blue", "", "green"]);
    assert_eq!(label("date")[..4], ["2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01"]);
    assert_eq!(label("time")[7], "01:07:03.500000");
    let stamp = label("stamp");
    assert_eq!(stamp[0], "2024-02-28T12:00:00.250");
    assert_eq!(stamp[36], "2024-03-01T00:00:00.250");
    assert_eq!(label("utc")[36], "2024-03-01T00:00:00.250000Z");
    // Numbers as labels keep all their digits.
    assert_eq!(label("u64")[1], "9223373136366403584");
    // And as numbers, it is said that they lost some.
    let mut reader = {
        let numbers = (0..source.columns().len())
            .filter(|&i| source.columns()[i].kind == Kind::Integer)
            .collect();
        source.open(&Wanted { numbers, ..Wanted::default() }).unwrap()
    };
    while reader.next_block().unwrap().is_some() {}
    let findings: Vec<String> = reader.findings().into_iter().map(|note| note.what).collect();
    assert_eq!(findings, ["column `u64`"]);
    assert_eq!(label("bool")[..4], ["true", "false", "true", ""]);
    for (name, reason) in [("list", "lists"), ("struct", "structures"), ("bytes", "bytes")] {
        let index = source.columns().iter().position(|column| column.name == name).unwrap();
        let kind = &source.columns()[index].kind;
        assert!(matches!(kind, Kind::Unusable(why) if why.contains(reason)), "{name}: {kind:?}");
        let refused = source.open(&Wanted { numbers: vec![index], ..Wanted::default() });
        assert!(matches!(refused, Err(Error::Usage { .. })));
    }
    // Nulls without a type: no values, as numbers and as labels.
    let nothing = source.columns().iter().position(|column| column.name == "nothing").unwrap();
    assert_eq!(source.columns()[nothing].kind, Kind::Empty);
    let wanted = Wanted { numbers: vec![nothing], ..Wanted::default() };
    assert!(Content::wanted(source, &wanted).unwrap().numbers.iter().all(|x| x.is_nan()));
    assert!(label("nothing").iter().all(String::is_empty));
}

#[test]
fn columns_come_in_the_order_asked_for() {
    let source = parquet::open(&fixture("plain_none.parquet")).unwrap();
    let wanted = Wanted { numbers: vec![3, 0], labels: vec![4], ..Wanted::default() };
    let content = Content::wanted(&source, &wanted).unwrap();
    assert_eq!(content.names, ["c3", "c0"]);
    assert_column(&content.column("c3"), |i| cell(i, 3));
    assert_column(&content.column("c0"), |i| cell(i, 0));
    assert_eq!(content.labels[0][2], "2.5");
}

#[test]
fn a_file_without_rows_is_refused() {
    let error = parquet::open(&fixture("no_rows.parquet")).err().unwrap();
    assert!(matches!(&error, Error::Content { what, .. } if what.contains("no rows")), "{error}");
}

#[test]
fn an_encrypted_footer_is_said() {
    let mut bytes = std::fs::read(fixture("plain_none.parquet")).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(b"PARE");
    let error = open_bytes(&bytes).err().unwrap().to_string();
    assert!(error.contains("encrypt"), "{error}");
}

#[test]
fn a_list_of_two_billion_schema_elements_takes_no_memory() {
    // FileMetaData { 1: version = 1, 2: list of 2^31 − 1 structures … }
    let footer = [0x15, 0x02, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00];
    let mut bytes = b"PAR1".to_vec();
    bytes.extend_from_slice(&footer);
    bytes.extend_from_slice(&(footer.len() as u32).to_le_bytes());
    bytes.extend_from_slice(b"PAR1");
    assert!(matches!(open_bytes(&bytes), Err(Error::Content { .. })));
}

#[test]
fn a_file_that_changes_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    std::fs::copy(fixture("plain_none.parquet"), &path).unwrap();
    let source = parquet::open(&path).unwrap();
    let file = std::fs::File::options().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut &file, b"more").unwrap();
    let error = Content::of(&source).unwrap_err().to_string();
    assert!(error.contains("changed"), "{error}");
}

fn open_bytes(bytes: &[u8]) -> eigenlens_io::Result<parquet::ParquetSource> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    std::fs::write(&path, bytes).unwrap();
    parquet::open(&path)
}

/// More columns than are decoded together, not a multiple of a cache line, more rows than are read
/// at a time, in several row groups.
#[test]
fn wide_tables_are_read_at_once_and_by_blocks_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.parquet");
    let values = Array2::from_shape_fn((2500, 53), |(i, j)| (i as f64 + 0.5) / (j as f64 + 1.0));
    let header = Header {
        labels: vec![],
        numbers: (0..53).map(|j| format!("c{j}")).collect(),
        is_f32: false,
        n_rows: None,
    };
    let mut writer = table_writer(Output::create(&path, &[]).unwrap()).unwrap();
    writer.begin(&header).unwrap();
    for start in (0..2500).step_by(1250) {
        writer.write(&[], values.slice(s![start..start + 1250, ..]).into()).unwrap();
    }
    writer.finish().unwrap();
    let source = parquet::open(&path).unwrap();
    // Every other column, backwards: places in the rows are not places in the file.
    let numbers = (0..53).rev().step_by(2).collect();
    let wanted = Wanted { numbers, ..Wanted::default() };
    let content = Content::wanted(&source, &wanted).unwrap();
    for (k, &j) in wanted.numbers.iter().enumerate() {
        assert_eq!(content.numbers.column(k), values.column(j));
    }
    assert_eq!(Content::of(&source).unwrap().numbers, values);
}
