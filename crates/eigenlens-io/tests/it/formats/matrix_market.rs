//! Matrix Market.

use super::fixture;
use eigenlens_io::matrix_market::{
    DenseTable, MatrixMarket, MatrixMarketOptions, Orientation, SparseTable, read,
};
use eigenlens_io::{Error, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use ndarray::{Array2, array};
use std::io::Write;

fn sparse(table: Result<MatrixMarket>) -> SparseTable {
    match table.unwrap() {
        MatrixMarket::Sparse(table) => table,
        MatrixMarket::Dense(_) => panic!("a sparse matrix is expected"),
    }
}

fn dense(table: Result<MatrixMarket>) -> DenseTable {
    match table.unwrap() {
        MatrixMarket::Dense(table) => table,
        MatrixMarket::Sparse(_) => panic!("a dense matrix is expected"),
    }
}

fn filled(table: &SparseTable) -> Array2<f64> {
    let mut out = Array2::zeros((table.matrix.n_rows(), table.matrix.n_columns()));
    for row in 0..table.matrix.n_rows() {
        let (columns, values) = table.matrix.row(row);
        assert!(columns.is_sorted(), "columns rise");
        columns.iter().zip(values).for_each(|(&c, &v)| out[(row, c as usize)] += v);
    }
    out
}

fn read_text(text: &str) -> Result<MatrixMarket> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.mtx");
    std::fs::write(&path, text).unwrap();
    read(&path, &MatrixMarketOptions::default())
}

/// The line an error is about, and what it says.
fn refusal(text: &str) -> (Option<u64>, String) {
    match read_text(text).err().unwrap() {
        Error::Content { place, what, .. } => (place.line, what),
        other => panic!("{other}"),
    }
}

#[test]
fn matrices_of_another_writer_are_read() {
    let options = MatrixMarketOptions::default();
    let general = sparse(read(&fixture("general.mtx"), &options));
    let expected = array![[0.0, 1.5, 0.0], [0.0, 0.0, 4e-3], [-2.0, 0.0, 0.0], [0.0, 0.0, 3.0]];
    assert_eq!(filled(&general), expected);
    assert_eq!(general.column_names, ["x1", "x2", "x3"]);
    let transposed =
        MatrixMarketOptions { orientation: Orientation::Transposed, ..options.clone() };
    assert_eq!(filled(&sparse(read(&fixture("general.mtx"), &transposed))), expected.t());
    let array = dense(read(&fixture("array.mtx"), &options));
    assert_eq!(array.matrix, array![[0.0, 0.125], [1.0, 1.125], [2.0, 2.125]]);
    let square = array![[1.0, 2.0, 0.0], [2.0, 5.0, 3.0], [0.0, 3.0, 0.25]];
    assert_eq!(filled(&sparse(read(&fixture("symmetric.mtx"), &options))), square);
    assert_eq!(dense(read(&fixture("symmetric_array.mtx"), &options)).matrix, square);
}

#[test]
fn patterns_skew_symmetry_and_doubled_entries() {
    let head = "%%MatrixMarket matrix coordinate";
    let pattern = sparse(read_text(&format!("{head} pattern general\n2 2 2\n1 2\n2 1\n")));
    assert_eq!(filled(&pattern), array![[0.0, 1.0], [1.0, 0.0]]);
    let skew = sparse(read_text(&format!("{head} real skew-symmetric\n2 2 1\n2 1 3\n")));
    assert_eq!(filled(&skew), array![[0.0, -3.0], [3.0, 0.0]]);
    let doubled = format!("{head} real symmetric\n2 2 3\n2 1 3\n2 1 0.5\n1 1 1e0\n");
    let doubled = sparse(read_text(&doubled));
    assert_eq!(filled(&doubled), array![[1.0, 3.5], [3.5, 0.0]]);
    assert_eq!(doubled.matrix.n_stored(), 3);
    assert!(doubled.notes.iter().any(|note| note.found.starts_with("2 given twice")));
    let upper = sparse(read_text(&format!("{head} integer symmetric\n2 2 1\n1 2 7\n")));
    assert_eq!(filled(&upper), array![[0.0, 7.0], [7.0, 0.0]]);
    let skew = dense(read_text("%%MatrixMarket matrix array real skew-symmetric\n2 2\n-4\n"));
    assert_eq!(skew.matrix, array![[0.0, 4.0], [-4.0, 0.0]]);
}

#[test]
fn faults_are_named_with_their_line() {
    let check = |text: &str, line: u64, what: &str| {
        let (found, said) = refusal(text);
        assert_eq!(found, Some(line), "{said}");
        assert!(said.contains(what), "{said}");
    };
    let head = "%%MatrixMarket matrix coordinate real general\n% a comment\n\n";
    check(&format!("{head}2 2 1\n0 1 5\n"), 5, "count from 1");
    check(&format!("{head}2 2 1\n1 3 5\n"), 5, "`3` is not a column from 1 to 2");
    check(&format!("{head}2 2 1\n-1 1 5\n"), 5, "`-1`");
    check(&format!("{head}2 2 2\n1 1 5\n"), 5, "after 1 entries, but it announces 2");
    check(&format!("{head}2 2 1\n1 1 5\n\n2 2 5\n"), 7, "more than the 1 announced");
    check(&format!("{head}2 2 1\n1 1 1e400\n"), 5, "`1e400` is not a finite number");
    check(&format!("{head}2 2 1\n1 1 nan\n"), 5, "`nan`");
    check(&format!("{head}2 2 1\n1 1\n"), 5, "the value is missing");
    check(&format!("{head}2 2 1\n1 1 1 1\n"), 5, "after the end");
    check(&format!("{head}2 2\n"), 4, "rows, columns and entries");
    check(&format!("{head}0 2 0\n"), 4, "no rows");
    check(&format!("{head}9999999999 2 1\n1 1 1\n"), 4, "more than can be right");
    check("%%MatrixMarket matrix coordinate complex general\n", 1, "complex");
    check("%%MatrixMarket matrix coordinate real odd\n", 1, "`odd`");
    check("1 1 1\n", 1, "begins with");
    check("", 1, "begins with");
    let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n";
    check(skew, 3, "diagonal");
    check("%%MatrixMarket matrix array real general\n2 1\n1\n", 3, "after 1 entries");
    let both = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n";
    assert!(refusal(both).1.contains("(2, 1) and above it (1, 2)"));
}

#[test]
fn numbers_are_the_nearest_doubles() {
    let words = [
        "0.1",
        "-12.75",
        "123456789012345",
        "0.000000000000001",
        ".5",
        "5.",
        "1e-5",
        "3.1415926535897931",
    ];
    let body: String =
        words.iter().enumerate().map(|(i, w)| format!("{} 1 {w}\n", i + 1)).collect();
    let text = format!("%%MatrixMarket matrix coordinate real general\n8 1 8\n{body}");
    let table = sparse(read_text(&text));
    for (row, word) in words.iter().enumerate() {
        assert_eq!(table.matrix.row(row).1, [word.parse::<f64>().unwrap()], "{word}");
    }
}

#[test]
fn many_pieces_are_one_matrix() {
    // Several megabytes, so that lines fall into pieces read side by side; then the fault in one.
    let n = 400_000;
    let mut text = format!("%%MatrixMarket matrix coordinate real general\n{n} 7 {n}\n");
    for i in 0..n {
        text += &format!("{} {} {}.5\n", i + 1, i % 7 + 1, i);
    }
    let table = sparse(read_text(&text));
    assert_eq!(table.matrix.n_stored(), n);
    for row in [0, 1, 199_999, 399_999] {
        assert_eq!(table.matrix.row(row), (&[(row % 7) as u32][..], &[row as f64 + 0.5][..]));
    }
    let broken = text.replace("\n300000 ", "\n30000x ");
    assert_eq!(refusal(&broken).0, Some(300_002));
    let budget = MatrixMarketOptions { memory: Some(1 << 20), ..Default::default() };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.mtx");
    std::fs::write(&path, &text).unwrap();
    assert!(matches!(read(&path, &budget), Err(Error::Memory { .. })));
}

#[test]
fn names_beside_the_matrix_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let path = folder.path().join("x.mtx");
    write("x.mtx", "%%MatrixMarket matrix coordinate integer general\n3 2 2\n1 1 4\n3 2 5\n");
    write("x.rows", "a\nb\nc\n");
    write("x.columns", "u\r\nu\r\n");
    let table = sparse(read(&path, &MatrixMarketOptions::default()));
    assert_eq!(table.row_names.unwrap(), ["a", "b", "c"]);
    assert_eq!(table.column_names, ["u", "u_2"]);
    write("y.txt", "only one\n");
    let options =
        MatrixMarketOptions { row_names: Some(folder.path().join("y.txt")), ..Default::default() };
    let error = read(&path, &options).err().unwrap().to_string();
    assert!(error.contains("1 names for 3 rows"), "{error}");
}

#[test]
fn customary_names_say_which_way_samples_lie() {
    let folder = tempfile::tempdir().unwrap();
    let mtx = "%%MatrixMarket matrix coordinate integer general\n3 2 2\n1 1 4\n3 2 5\n";
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    gz.write_all(mtx.as_bytes()).unwrap();
    let path = folder.path().join("matrix.mtx.gz");
    std::fs::write(&path, gz.finish().unwrap()).unwrap();
    let features = "E1\tACTB\tGene\nE2\tMT\tGene\nE3\tMT\tGene\n";
    std::fs::write(folder.path().join("features.tsv"), features).unwrap();
    std::fs::write(folder.path().join("barcodes.tsv"), "AAC\nAAG\n").unwrap();
    let table = sparse(read(&path, &MatrixMarketOptions::default()));
    assert_eq!(filled(&table), array![[4.0, 0.0, 0.0], [0.0, 0.0, 5.0]]);
    assert_eq!(table.row_names.unwrap(), ["AAC", "AAG"]);
    assert_eq!(table.column_names, ["ACTB", "MT (E2)", "MT (E3)"]);
    let stored = MatrixMarketOptions { orientation: Orientation::AsStored, ..Default::default() };
    let table = sparse(read(&path, &stored));
    assert_eq!(table.matrix.n_rows(), 3);
    assert_eq!(table.column_names, ["AAC", "AAG"]);
}
