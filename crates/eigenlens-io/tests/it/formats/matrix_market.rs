//! Matrix Market.

use super::{Content, filled, fixture};
use eigenlens_io::{
    AnyCsr, Error, MatrixOptions, Note, Orientation, ReadOptions, Result, Table, open,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use ndarray::{Array2, array};
use std::io::Write;
use std::path::Path;
use std::slice::from_ref;

/// What a file holds, and how.
struct Read {
    content: Content,
    /// Where it is sparse.
    matrix: Option<AnyCsr>,
    notes: Vec<Note>,
}

fn read(path: &Path, options: &ReadOptions) -> Result<Read> {
    let table: Table = open(&[path.to_owned()], options)?;
    let content = Content::of(table.source())?;
    let n_labels = content.labels.len();
    let features: Vec<usize> = (0..content.names.len()).map(|f| f + n_labels).collect();
    let matrix = table.source().sparse().map(|sparse| sparse.csr(&features)).transpose()?;
    Ok(Read { content, matrix, notes: table.notes().to_vec() })
}

fn sparse(read: Result<Read>) -> (AnyCsr, Content) {
    let read = read.unwrap();
    let matrix = read.matrix.expect("a sparse matrix");
    let AnyCsr::F64(x) = &matrix else { panic!("numbers as text are double precision") };
    assert!((0..x.n_rows()).all(|row| x.row(row).0.is_sorted()), "columns rise");
    assert_eq!(filled(&matrix), read.content.numbers);
    (matrix, read.content)
}

fn dense(read: Result<Read>) -> Array2<f64> {
    let read = read.unwrap();
    assert!(read.matrix.is_none(), "a dense matrix is expected");
    read.content.numbers
}

fn read_text(text: &str) -> Result<Read> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.mtx");
    std::fs::write(&path, text).unwrap();
    read(&path, &ReadOptions::default())
}

fn oriented(orientation: Orientation) -> ReadOptions {
    let matrix = MatrixOptions { orientation, ..MatrixOptions::default() };
    ReadOptions { matrix, ..ReadOptions::default() }
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
    let options = ReadOptions::default();
    let (general, content) = sparse(read(&fixture("general.mtx"), &options));
    let expected = array![[0.0, 1.5, 0.0], [0.0, 0.0, 4e-3], [-2.0, 0.0, 0.0], [0.0, 0.0, 3.0]];
    assert_eq!(filled(&general), expected);
    assert_eq!(content.names, ["x1", "x2", "x3"]);
    let transposed = read(&fixture("general.mtx"), &oriented(Orientation::Transposed));
    assert_eq!(filled(&sparse(transposed).0), expected.t());
    let array = dense(read(&fixture("array.mtx"), &options));
    assert_eq!(array, array![[0.0, 0.125], [1.0, 1.125], [2.0, 2.125]]);
    let turned = dense(read(&fixture("array.mtx"), &oriented(Orientation::Transposed)));
    assert_eq!(turned, array.t());
    let square = array![[1.0, 2.0, 0.0], [2.0, 5.0, 3.0], [0.0, 3.0, 0.25]];
    assert_eq!(filled(&sparse(read(&fixture("symmetric.mtx"), &options)).0), square);
    assert_eq!(dense(read(&fixture("symmetric_array.mtx"), &options)), square);
}

#[test]
fn patterns_skew_symmetry_and_doubled_entries() {
    let head = "%%MatrixMarket matrix coordinate";
    let entries = |text: &str| filled(&sparse(read_text(text)).0);
    let pattern = entries(&format!("{head} pattern general\n2 2 2\n1 2\n2 1\n"));
    assert_eq!(pattern, array![[0.0, 1.0], [1.0, 0.0]]);
    let skew = entries(&format!("{head} real skew-symmetric\n2 2 1\n2 1 3\n"));
    assert_eq!(skew, array![[0.0, -3.0], [3.0, 0.0]]);
    let doubled = read_text(&format!("{head} real symmetric\n2 2 3\n2 1 3\n2 1 0.5\n1 1 1e0\n"));
    let doubled = doubled.unwrap();
    assert!(doubled.notes.iter().any(|note| note.found.starts_with("2 given twice")));
    let doubled = doubled.matrix.unwrap();
    assert_eq!(filled(&doubled), array![[1.0, 3.5], [3.5, 0.0]]);
    assert_eq!(doubled.n_stored(), 3);
    let upper = entries(&format!("{head} integer symmetric\n2 2 1\n1 2 7\n"));
    assert_eq!(upper, array![[0.0, 7.0], [7.0, 0.0]]);
    let skew = dense(read_text("%%MatrixMarket matrix array real skew-symmetric\n2 2\n-4\n"));
    assert_eq!(skew, array![[0.0, 4.0], [-4.0, 0.0]]);
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
    let (matrix, _) = sparse(read_text(&text));
    for (row, word) in words.iter().enumerate() {
        assert_eq!(filled(&matrix)[(row, 0)], word.parse::<f64>().unwrap(), "{word}");
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
    let AnyCsr::F64(matrix) = sparse(read_text(&text)).0 else { panic!("double precision") };
    assert_eq!(matrix.n_stored(), n);
    for row in [0, 1, 199_999, 399_999] {
        assert_eq!(matrix.row(row), (&[(row % 7) as u32][..], &[row as f64 + 0.5][..]));
    }
    let broken = text.replace("\n300000 ", "\n30000x ");
    assert_eq!(refusal(&broken).0, Some(300_002));
    let budget = ReadOptions { memory: Some(1 << 20), ..Default::default() };
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
    let (_, content) = sparse(read(&path, &ReadOptions::default()));
    assert_eq!(content.labels, [["a", "b", "c"]]);
    assert_eq!(content.names, ["u", "u_2"]);
    write("y.txt", "only one\n");
    let row_names = Some(folder.path().join("y.txt"));
    let matrix = MatrixOptions { row_names, ..Default::default() };
    let options = ReadOptions { matrix, ..Default::default() };
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
    let (matrix, content) = sparse(read(&path, &ReadOptions::default()));
    assert_eq!(filled(&matrix), array![[4.0, 0.0, 0.0], [0.0, 0.0, 5.0]]);
    assert_eq!(content.labels, [["AAC", "AAG"]]);
    assert_eq!(content.names, ["ACTB", "MT (E2)", "MT (E3)"]);
    let (matrix, content) = sparse(read(&path, &oriented(Orientation::AsStored)));
    assert_eq!(matrix.dim(), (3, 2));
    assert_eq!(content.names, ["AAC", "AAG"]);
}

#[test]
fn sizes_that_no_file_holds_are_refused_before_anything_is_allocated() {
    let head = "%%MatrixMarket matrix coordinate pattern general\n";
    for sizes in [
        "4294967294 4294967294 1",
        "4000000000 2 999999999999",
        "2 4000000000 300000000",
        "268435456 268435456 1",
        "2 2 1000000",
        "18446744073709551615 2 1",
        "18446744073709551616 2 1",
    ] {
        let (line, what) = refusal(&format!("{head}{sizes}\n1 1\n"));
        assert_eq!(line, Some(2), "{sizes}: {what}");
    }
    let array = "%%MatrixMarket matrix array real general\n";
    for sizes in ["4000000000 4000000000", "100000 100000"] {
        assert_eq!(refusal(&format!("{array}{sizes}\n1\n")).0, Some(2), "{sizes}");
    }
    // A million columns can be right, but names have their price.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.mtx");
    std::fs::write(&path, format!("{head}2 1000000 1\n1 1\n")).unwrap();
    let memory = |bytes| ReadOptions { memory: Some(bytes), ..Default::default() };
    assert!(matches!(open(from_ref(&path), &memory(64 << 20)), Err(Error::Memory { .. })));
    assert_eq!(open(&[path], &memory(1 << 30)).unwrap().columns().len(), 1_000_000);
}
