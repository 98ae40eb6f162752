//! NumPy arrays.

use super::{Content, N, assert_plain, cell, fixture};
use eigenlens_io::npy::{self, MappedView, NpyOptions};
use eigenlens_io::{Error, Kind, Source, Wanted};
use ndarray::ArrayView2;

fn open(name: &str) -> npy::NpySource {
    npy::open(&fixture(name), &NpyOptions::default()).unwrap()
}

fn array(name: &str, array: &str) -> eigenlens_io::Result<npy::NpySource> {
    let options = NpyOptions { array: Some(array.into()), memory: None };
    npy::open(&fixture(name), &options)
}

fn refusal(name: &str) -> String {
    npy::open(&fixture(name), &NpyOptions::default()).err().unwrap().to_string()
}

#[test]
fn every_float_type_order_and_version_gives_the_same_numbers() {
    for (name, is_f32) in [
        ("c_f8", false),
        ("f_f8", false),
        ("version2", false),
        ("version3", false),
        ("float_f8be", false),
        ("float_f4le", true),
        ("float_f4be", true),
        ("float_f2le", true),
        ("float_f2be", true),
    ] {
        let source = open(&format!("{name}.npy"));
        assert_eq!(source.is_f32(), is_f32, "{name}");
        assert_plain(&Content::of(&source).unwrap());
    }
}

#[test]
fn every_integer_type_is_exact() {
    for kind in ["i1", "i2", "i2be", "i4", "i4be", "i8", "i8be", "u1", "u2", "u4", "u8", "bool"] {
        let source = open(&format!("int_{kind}.npy"));
        assert!(!source.is_f32());
        assert!(source.columns().iter().all(|column| column.kind == Kind::Integer));
        for ((i, j), &x) in Content::of(&source).unwrap().numbers.indexed_iter() {
            let expected = cell(i, j) * 8.0 % 100.0;
            let expected = if kind == "bool" { f64::from(expected != 0.0) } else { expected };
            assert_eq!(x, expected, "{kind}, row {i}, column {j}");
        }
    }
}

#[test]
fn one_dimension_is_one_column() {
    let content = Content::of(&open("one.npy")).unwrap();
    assert_eq!(content.names, ["x1"]);
    assert_eq!(content.numbers.dim(), (N, 1));
}

#[test]
fn some_columns_of_either_order_and_storage() {
    let sources = [
        open("c_f8.npy"),
        open("f_f8.npy"),
        array("deflated.npz", "a").unwrap(),
        array("deflated.npz", "f.npy").unwrap(),
    ];
    for source in sources {
        let wanted = Wanted { numbers: vec![4, 1], labels: vec![2], ..Wanted::default() };
        let content = Content::wanted(&source, &wanted).unwrap();
        assert_eq!(content.names, ["x5", "x2"]);
        assert!(content.numbers.column(0).iter().enumerate().all(|(i, &x)| x == cell(i, 4)));
        assert!(content.numbers.column(1).iter().enumerate().all(|(i, &x)| x == cell(i, 1)));
        assert_eq!(content.labels[0][3], "3.25");
        assert_plain(&Content::of(&source).unwrap());
    }
}

#[test]
fn arrays_stay_in_the_file_where_they_can() {
    for name in ["c_f8.npy", "f_f8.npy", "version3.npy"] {
        let mapped = open(name).map().unwrap().unwrap();
        let MappedView::F64(view) = mapped.view() else { panic!("{name} is double precision") };
        check(view);
        mapped.check_unchanged().unwrap();
    }
    let mapped = open("float_f4le.npy").map().unwrap().unwrap();
    let MappedView::F32(view) = mapped.view() else { panic!("single precision") };
    check(view.mapv(f64::from).view());
    for name in ["float_f8be.npy", "int_i8.npy", "float_f2le.npy"] {
        assert!(open(name).map().unwrap().is_none(), "{name}");
    }
    assert!(array("deflated.npz", "a").unwrap().map().unwrap().is_none());

    fn check(view: ArrayView2<f64>) {
        assert_eq!(view.dim(), (N, super::D));
        assert!(view.indexed_iter().all(|((i, j), &x)| x == cell(i, j)));
    }
}

#[test]
fn archives_need_a_choice_and_are_never_extracted() {
    let several = refusal("two.npz");
    assert!(several.contains("2 arrays: `a`, `b`"), "{several}");
    let b = Content::of(&array("two.npz", "b").unwrap()).unwrap();
    assert_eq!(b.numbers[(3, 2)], -cell(3, 2));
    assert!(matches!(array("two.npz", "c"), Err(Error::Usage { hint: Some(_), .. })));
    assert!(refusal("doubled.npz").contains("two members `a.npy`"));
    // A name that leads out of the archive is a name like any other.
    assert_plain(&Content::of(&open("hostile.npz")).unwrap());
    assert!(!fixture("../x.npy").exists());
}

#[test]
fn a_deflated_array_in_fortran_order_keeps_the_budget() {
    let options = NpyOptions { array: Some("f".into()), memory: Some(100) };
    let source = npy::open(&fixture("deflated.npz"), &options).unwrap();
    assert!(matches!(Content::of(&source), Err(Error::Memory { budget: 100, .. })));
}

#[test]
fn what_is_not_a_table_of_numbers_is_refused() {
    assert!(refusal("object.npy").contains("pickle refused"));
    assert!(refusal("structured.npy").contains("structures"));
    assert!(refusal("complex.npy").contains("complex"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let error = npy::open(&path, &NpyOptions::default()).err().unwrap();
        assert!(matches!(error, Error::Content { .. }), "{error}");
        error.to_string()
    };
    assert!(refused(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{").contains("header claims"));
    let good = std::fs::read(fixture("c_f8.npy")).unwrap();
    let with = |from: &str, to: &str| {
        let at = good.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        let mut bytes = good.clone();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    assert!(refused(&with("(37, 5), ", "(-7, 5), ")).contains("shape"));
    assert!(refused(&with("(37, 5), }      ", "(9999999999,9),}")).contains("takes"));
    assert!(refused(&with("(37, 5), ", "(0, 5),  ")).contains("no rows"));
}

#[test]
fn an_archive_of_a_million_members_is_refused() {
    // The end record alone says it: the directory is not read.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let mut bytes = b"PK\x03\x04".to_vec();
    let record_at = bytes.len() as u64;
    bytes.extend_from_slice(b"PK\x06\x06");
    bytes.extend_from_slice(&[0; 28]);
    for field in [1_000_000u64, 46_000_000, 0] {
        bytes.extend_from_slice(&field.to_le_bytes());
    }
    bytes.extend_from_slice(b"PK\x06\x07\0\0\0\0");
    bytes.extend_from_slice(&record_at.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(
        b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0",
    );
    std::fs::write(&path, &bytes).unwrap();
    let error = npy::open(&path, &NpyOptions::default()).err().unwrap().to_string();
    assert!(error.contains("1000000 members"), "{error}");
}
