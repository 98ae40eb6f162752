//! Sparse tables do what any table does; SciPy's files.

use super::{Content, filled, fixture};
use crate::common::{Random, fuzz_rounds};
use eigenlens_io::{
    ColumnChoice, Error, Kind, Loaded, MatrixOptions, Numbers, Orientation, ReadOptions, Result,
    Table, Wanted, open,
};
use ndarray::{Array2, array};
use std::path::{Path, PathBuf};
use std::slice::from_ref;

/// A folder with files that are written for a test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// An NPY array of one dimension: its type, its numbers as bytes.
fn npy(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}").into_bytes();
    header.resize((header.len() + 11).next_multiple_of(64) - 11, b' ');
    header.push(b'\n');
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], &header, bytes].concat()
}

fn i8s(numbers: &[i64]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    npy("<i8", &format!("({},)", numbers.len()), &bytes)
}

fn i4s(numbers: &[i32]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    npy("<i4", &format!("({},)", numbers.len()), &bytes)
}

fn f8s(numbers: &[f64]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    npy("<f8", &format!("({},)", numbers.len()), &bytes)
}

fn f4s(numbers: &[f32]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    npy("<f4", &format!("({},)", numbers.len()), &bytes)
}

/// A ZIP archive of members that are stored as they are.
fn zip(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let mut sum = flate2::Crc::new();
        sum.update(bytes);
        let (at, n) = (file.len() as u32, bytes.len() as u32);
        let common = |out: &mut Vec<u8>| {
            out.extend([20, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            out.extend(sum.sum().to_le_bytes());
            out.extend([n.to_le_bytes(), n.to_le_bytes()].concat());
            out.extend((name.len() as u16).to_le_bytes());
            out.extend([0, 0]);
        };
        file.extend(b"PK\x03\x04");
        common(&mut file);
        file.extend(name.bytes());
        file.extend(bytes);
        directory.extend(b"PK\x01\x02\x14\x00");
        common(&mut directory);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.bytes());
    }
    let (at, n) = (file.len() as u32, directory.len() as u32);
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([(members.len() as u16).to_le_bytes(); 2].concat());
    file.extend([n.to_le_bytes(), at.to_le_bytes()].concat());
    file.extend([0, 0]);
    file
}

/// The arrays of [[0, 1.5, 0], [-2, 0, 4], [0, 0, 0], [0, 3, 0.5]] by rows.
fn by_rows(data: Vec<u8>) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("indices.npy", i4s(&[1, 0, 2, 1, 2])),
        ("indptr.npy", i4s(&[0, 1, 3, 3, 5])),
        ("format.npy", npy("|S3", "()", b"csr")),
        ("shape.npy", i8s(&[4, 3])),
        ("data.npy", data),
    ]
}

fn example() -> Array2<f64> {
    array![[0.0, 1.5, 0.0], [-2.0, 0.0, 4.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.5]]
}

const ENTRIES: [f64; 5] = [1.5, -2.0, 4.0, 3.0, 0.5];

fn with(members: &[(&'static str, Vec<u8>)], name: &str, bytes: Vec<u8>) -> Vec<u8> {
    let mut members = members.to_vec();
    for member in members.iter_mut().filter(|member| member.0 == name) {
        member.1 = bytes.clone();
    }
    zip(&members)
}

fn table(path: &Path, orientation: Orientation) -> Result<Table> {
    let matrix = MatrixOptions { orientation, ..MatrixOptions::default() };
    open(&[path.to_owned()], &ReadOptions { matrix, ..ReadOptions::default() })
}

fn loaded(table: &Table, choice: &ColumnChoice) -> (Array2<f64>, Vec<String>) {
    let selection = table.select(choice).unwrap();
    let Loaded::InMemory(read) = table.load(&selection, Some(0), None).unwrap() else {
        panic!("a sparse table is in memory already")
    };
    let Numbers::Sparse(csr) = read.numbers else { panic!("a sparse table") };
    assert_eq!(csr.n_stored(), table.shape(&selection).n_stored.unwrap());
    (filled(&csr), selection.feature_names().to_vec())
}

#[test]
fn scipy_s_matrices_are_read_by_rows_and_by_columns() {
    let real = table(&fixture("scipy.npz"), Orientation::Auto).unwrap();
    assert_eq!(Content::of(real.source()).unwrap().numbers, Array2::<f64>::eye(3));
    let folder = Folder::new();
    let rows = by_rows(f8s(&ENTRIES));
    let columns = vec![
        ("data.npy", f8s(&[-2.0, 1.5, 3.0, 4.0, 0.5])),
        ("indices.npy", i8s(&[1, 0, 3, 1, 3])),
        ("indptr.npy", i8s(&[0, 1, 3, 5])),
        ("format.npy", npy("<U3", "()", b"c\0\0\0s\0\0\0c\0\0\0")),
        ("shape.npy", i8s(&[4, 3])),
    ];
    for members in [rows, columns] {
        let path = folder.write("x.npz", zip(&members));
        let read = table(&path, Orientation::Auto).unwrap();
        let content = Content::of(read.source()).unwrap();
        assert_eq!(content.numbers, example());
        assert_eq!(content.names, ["x1", "x2", "x3"]);
        let turned = table(&path, Orientation::Transposed).unwrap();
        assert_eq!(Content::of(turned.source()).unwrap().numbers, example().t());
    }
}

#[test]
fn single_precision_stays_and_names_are_found_beside_the_archive() {
    let folder = Folder::new();
    let single: Vec<f32> = ENTRIES.iter().map(|&x| x as f32).collect();
    let path = folder.write("x.npz", zip(&by_rows(f4s(&single))));
    folder.write("x.columns", "a\nsample\nc\n");
    folder.write("x.rows", "r1\nr2\nr3\nr4\n");
    let read = table(&path, Orientation::Auto).unwrap();
    assert!(read.source().is_f32());
    let content = Content::of(read.source()).unwrap();
    assert_eq!(content.numbers, example());
    assert_eq!(content.names, ["a", "sample", "c"]);
    assert_eq!(content.labels, [["r1", "r2", "r3", "r4"]]);
    let columns: Vec<_> = read.columns().iter().map(|c| (c.name.as_str(), &c.kind)).collect();
    assert_eq!(columns[0], ("sample_2", &Kind::Text));
    // Room after the last entry is none of the matrix.
    let mut members = by_rows(f8s(&[1.5, -2.0, 4.0, 3.0, 0.5, 7.0]));
    members[0].1 = i4s(&[1, 0, 2, 1, 2, 0]);
    let path = folder.write("y.npz", zip(&members));
    let read = table(&path, Orientation::Auto).unwrap();
    assert_eq!(Content::of(read.source()).unwrap().numbers, example());
}

#[test]
fn columns_are_chosen_as_of_any_table() {
    let folder = Folder::new();
    let path = folder.write("x.npz", zip(&by_rows(f8s(&ENTRIES))));
    folder.write("x.columns", "a\nb\nc\n");
    let read = table(&path, Orientation::Auto).unwrap();
    let choose = |features: &[&str]| {
        let features = features.iter().map(|&f| f.to_owned()).collect();
        ColumnChoice { features, labels: Vec::new() }
    };
    let (all, names) = loaded(&read, &choose(&[]));
    assert_eq!((all, names), (example(), vec!["a".into(), "b".into(), "c".into()]));
    let (some, names) = loaded(&read, &choose(&["!b"]));
    assert_eq!(names, ["a", "c"]);
    assert_eq!(some, array![[0.0, 0.0], [-2.0, 4.0], [0.0, 0.0], [0.0, 0.5]]);
    // A model finds them by name, in its order; a choice is held beside the matrix, and counted.
    let selection = read.select_named(&["c".into(), "a".into()]).unwrap();
    let loaded = read.load(&selection, None, None).unwrap();
    assert_eq!(loaded.data().shape().n_stored, Some(3));
    assert_eq!(loaded.n_bytes(), (12 * 5 + 8 * 4) + (12 * 3 + 8 * 4));
    assert!(matches!(read.select_named(&["d".into()]), Err(Error::Content { .. })));
    // Any column can be a label, or be read for itself.
    let labels = read.labels(&[1], &[]).unwrap();
    assert_eq!(labels[0].iter().collect::<Vec<_>>(), ["1.5", "0", "0", "3"]);
    assert_eq!(read.numbers(&[2, 0], &[]).unwrap().row(1).to_vec(), [4.0, -2.0]);
    let beyond = Wanted { numbers: vec![9], ..Wanted::default() };
    assert!(matches!(read.source().open(&beyond), Err(Error::Usage { .. })));
    assert!(read.source().sparse().unwrap().csr(&[9]).is_err());
}

#[test]
fn several_sparse_files_are_one_table() {
    let folder = Folder::new();
    let single: Vec<f32> = ENTRIES.iter().map(|&x| x as f32).collect();
    let first = folder.write("one.npz", zip(&by_rows(f4s(&single))));
    let text = "%%MatrixMarket matrix coordinate real general\n1 3 2\n1 1 7\n1 2 8\n";
    let second = folder.write("two.mtx", text);
    folder.write("two.columns", "x3\nx1\nx2\n");
    let both = open(&[first.clone(), second], &ReadOptions::default()).unwrap();
    let (all, _) = loaded(&both, &ColumnChoice::default());
    assert_eq!(all.dim(), (5, 3));
    assert_eq!(all.row(4).to_vec(), [8.0, 0.0, 7.0]);
    assert_eq!(all.slice(ndarray::s![..4, ..]), example());
    assert!(!both.source().is_f32());
    // With a dense one it is dense.
    let third = folder.write("three.csv", "x1,x2,x3\n1,2,3\n");
    let mixed = open(&[first.clone(), third], &ReadOptions::default()).unwrap();
    assert!(mixed.source().sparse().is_none());
    let content = Content::of(mixed.source()).unwrap();
    assert_eq!(content.numbers.row(3).to_vec(), [0.0, 3.0, 0.5]);
    assert_eq!(content.numbers.row(4).to_vec(), [1.0, 2.0, 3.0]);
    // Other names are not the same table.
    folder.write("two.columns", "x3\nx1\ny\n");
    let other = open(&[first, folder.0.path().join("two.mtx")], &ReadOptions::default());
    assert!(matches!(other, Err(Error::Content { .. })));
}

#[test]
fn dense_blocks_of_a_sparse_table_are_its_rows() {
    // More rows than one block has.
    let mut random = Random(3);
    let (n, d) = (70_000, 5);
    let mut text = String::new();
    let mut expected = Array2::<f64>::zeros((n, d));
    let mut n_entries = 0;
    for row in 0..n {
        for _ in 0..random.below(3) {
            let (column, value) = (random.below(d), random.below(1000) as f64);
            text += &format!("{} {} {value}\n", row + 1, column + 1);
            expected[(row, column)] += value;
            n_entries += 1;
        }
    }
    let head = "%%MatrixMarket matrix coordinate real general";
    let folder = Folder::new();
    let path = folder.write("x.mtx", format!("{head}\n{n} {d} {n_entries}\n{text}"));
    let read = table(&path, Orientation::Auto).unwrap();
    assert_eq!(Content::of(read.source()).unwrap().numbers, expected);
}

#[test]
fn hostile_archives_are_errors_about_the_data() {
    let folder = Folder::new();
    let members = by_rows(f8s(&ENTRIES));
    let refused = |bytes: &[u8], words: &str| {
        let path = folder.write("x.npz", bytes);
        match table(&path, Orientation::Auto) {
            Err(Error::Content { what, .. }) => assert!(what.contains(words), "{what}"),
            Err(other) => panic!("{words}: {other:?}"),
            Ok(_) => panic!("{words} is read"),
        }
    };
    let huge = 1_000_000_000_000_000;
    for (name, bytes, words) in [
        ("shape.npy", i8s(&[huge, 3]), "more than can be right"),
        ("shape.npy", i8s(&[4, huge]), "more than can be right"),
        ("shape.npy", i8s(&[-4, 3]), "-4 is not"),
        ("shape.npy", i8s(&[0, 3]), "one side is 0"),
        ("shape.npy", i8s(&[4]), "2 whole ones"),
        ("shape.npy", i8s(&[5, 3]), "`indptr`"),
        ("shape.npy", i8s(&[4, 2]), "2 is not from 0 to 1"),
        ("shape.npy", f8s(&[4.0, 3.0]), "whole"),
        ("indices.npy", i4s(&[1, 0, 2, 1]), "4 numbers, but 5"),
        ("indices.npy", i4s(&[1, 0, -2, 1, 2]), "-2 is not"),
        ("indices.npy", i8s(&[1, 0, 1 << 40, 1, 2]), "is not from 0 to 2"),
        ("indptr.npy", i4s(&[0, 3, 1, 3, 5]), "do not rise"),
        ("indptr.npy", i4s(&[1, 1, 3, 3, 5]), "do not rise"),
        ("indptr.npy", i4s(&[0, 1, 3, 3, 6]), "6 is not"),
        ("indptr.npy", npy("<f8", "(1000000000000000,)", &[]), "bytes"),
        ("data.npy", f8s(&[]), "no entry is stored"),
        ("data.npy", npy("|O", "(5,)", &[0; 40]), "pickle"),
        ("data.npy", npy("<f8", "(5, 1000000)", &[0; 40]), "bytes"),
    ] {
        refused(&with(&members, name, bytes), words);
    }
    let missing: Vec<_> = members.iter().filter(|m| m.0 != "indptr.npy").cloned().collect();
    refused(&zip(&missing), "no array `indptr`");
    // What is not stored by rows or columns can be made so.
    let path = folder.write("x.npz", with(&members, "format.npy", npy("|S3", "()", b"dia")));
    let error = table(&path, Orientation::Auto).err().unwrap();
    assert!(matches!(&error, Error::Usage { hint: Some(hint), .. } if hint.contains("tocsr")));
    // A matrix that is small, but not under every budget.
    let path = folder.write("x.npz", zip(&members));
    let budget = ReadOptions { memory: Some(500), ..ReadOptions::default() };
    assert!(matches!(open(&[path], &budget), Err(Error::Memory { .. })));
}

#[test]
fn heaps_of_random_arrays_are_no_panic() {
    let folder = Folder::new();
    for seed in 0..fuzz_rounds(2000) {
        let mut random = Random(seed as u64);
        let mut numbers = |n: usize, most: usize| -> Vec<i64> {
            let odd = [-1, 0, 1 << 31, 1 << 32, i64::MAX, i64::MIN];
            let mut number = || match random.below(40) {
                0 => odd[random.below(odd.len())],
                _ => random.below(most) as i64,
            };
            (0..n).map(|_| number()).collect()
        };
        let shape = numbers(2, 6);
        let mut starts = numbers((shape[0].clamp(0, 9) + 1) as usize, 6);
        starts.sort_unstable();
        starts[0] = 0;
        let n = starts[starts.len() - 1].clamp(0, 9) as usize;
        let indices = numbers(n, shape[1].clamp(1, 9) as usize);
        let data: Vec<f64> = indices.iter().map(|&i| i as f64 + 0.5).collect();
        let format: &[u8] = if seed % 2 == 0 { b"csr" } else { b"csc" };
        let path = folder.write(
            "x.npz",
            zip(&[
                ("indices.npy", i8s(&indices)),
                ("indptr.npy", i8s(&starts)),
                ("format.npy", npy("|S3", "()", format)),
                ("shape.npy", i8s(&shape)),
                ("data.npy", f8s(&data)),
            ]),
        );
        match table(&path, Orientation::Auto).and_then(|read| Content::of(read.source())) {
            Ok(content) => assert_eq!(content.numbers.sum(), data.iter().sum::<f64>()),
            Err(Error::Content { .. } | Error::Usage { .. }) => {}
            Err(error) => panic!("{seed}: {error:?}"),
        }
    }
}

#[test]
fn options_of_other_formats_are_refused() {
    let folder = Folder::new();
    let csv = folder.write("x.csv", "a,b\n1,2\n");
    let npz = folder.write("x.npz", zip(&by_rows(f8s(&ENTRIES))));
    let refused = |path: &PathBuf, options: &ReadOptions| match open(from_ref(path), options) {
        Err(Error::Option { option, format }) => format!("{option}: {format}"),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("an option is ignored"),
    };
    let mut samples = ReadOptions::default();
    samples.matrix.orientation = Orientation::AsStored;
    assert_eq!(refused(&csv, &samples), "samples: a text table");
    assert!(open(from_ref(&npz), &samples).is_ok());
    let mut text = ReadOptions::default();
    text.csv.delimiter = Some(b',');
    assert_eq!(refused(&npz, &text), "delimiter: a sparse matrix of SciPy's");
    assert!(open(&[csv], &text).is_ok());
    // An array of it is an array like any other.
    let array = ReadOptions { array: Some("data".into()), ..ReadOptions::default() };
    let table = open(&[npz], &array).unwrap();
    assert_eq!(Content::of(table.source()).unwrap().numbers.column(0).to_vec(), ENTRIES);
}
