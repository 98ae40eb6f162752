//! Tables that cannot be right.

use crate::common::{Scratch, complaint, options, read, read_files, read_with};
use eigenlens_io::Error;
use eigenlens_io::csv::CsvOptions;

#[test]
fn nothing_to_read_is_an_error() {
    for text in ["", "\u{feff}", "\n", "\r\n\r\n", "\u{feff}\n", "   \n"] {
        complaint(read(text));
    }
    assert!(complaint(read("a,b\n")).2.contains("no rows"));
    assert!(complaint(read("a,b")).2.contains("no rows"));
}

#[test]
fn other_encodings_are_named() {
    let utf16: Vec<u8> = "a,b\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(complaint(read([b"\xff\xfe".to_vec(), utf16.clone()].concat())).2.contains("UTF-16"));
    assert!(complaint(read(utf16)).2.contains("UTF-16"));
    assert_eq!(complaint(read(b"a,b\n1,2\n\0,3\n")).0, Some(3));
    let (line, _, what) = complaint(read(b"name,x\nBonn,1\nK\xf6ln,2\n"));
    assert_eq!(line, Some(3));
    assert!(what.contains("Latin-1"));
}

/// A table longer than the sample that is looked at first, with one line put in.
fn long_table(at: usize, line: &[u8]) -> Vec<u8> {
    let mut text = b"name,x,y\n".to_vec();
    for row in 0..120_000 {
        if row == at {
            text.extend_from_slice(line);
        }
        text.extend_from_slice(format!("r{row},{row}.25,{}\n", row * 2).as_bytes());
    }
    text
}

#[test]
fn trouble_far_down_is_found_with_its_line_and_column() {
    for at in [0, 1, 77_777, 99_999, 119_999] {
        let expected = Some(at as u64 + 2);
        let small = CsvOptions { chunk_bytes: 50_000, ..CsvOptions::default() };
        let check = |line: &[u8]| complaint(read_with(long_table(at, line), small.clone()));
        let (line, _, what) = check(b"r,1\n");
        assert_eq!((line, what.contains("2 fields")), (expected, true), "{what}");
        let (line, _, what) = check(b"r,1,2,3\n");
        assert_eq!((line, what.contains("4 fields")), (expected, true), "{what}");
        let (line, column, what) = check(b"r,1e400,2\n");
        assert_eq!((line, column.as_deref()), (expected, Some("`x`")));
        assert!(what.contains("`1e400` is too large"), "{what}");
        let (line, _, what) = check(b"r,1,2\n\"open,1,2\n");
        assert_eq!(
            (line, what.contains("never closed")),
            (expected.map(|l| l + 1), true),
            "{what}"
        );
        let (line, _, what) = check(b"\"a\"b,1,2\n");
        assert_eq!((line, what.contains("after a closing quote")), (expected, true), "{what}");
        let (line, column, what) = check(b"r,oops,2\n");
        assert_eq!((line, column.as_deref()), (expected, Some("`x`")));
        assert!(what.contains("`oops` is not a number"), "{what}");
        if at > 70_000 {
            let (line, column, what) = check(b"r\xf6,1,2\n");
            assert_eq!((line, column.as_deref()), (expected, Some("`name`")));
            assert!(what.contains("UTF-8"), "{what}");
        }
    }
}

#[test]
fn lines_inside_quotes_and_blank_lines_are_counted() {
    let mut text = String::from("t,x\n");
    for row in 0..2000 {
        text += &format!("\"two\r\nlines\",{row}\n\n\"a\nb\nc\",1\r\n");
    }
    let line = text.lines().count() as u64 + 1;
    text += "t,1,2\n";
    for chunk_bytes in [1, 100, 1 << 20] {
        let small = CsvOptions { chunk_bytes, ..CsvOptions::default() };
        assert_eq!(complaint(read_with(&text, small)).0, Some(line));
    }
}

#[test]
fn a_fault_ends_the_reading_also_while_a_piece_waits_for_room() {
    // Blank lines are counted as rows first, so that they find no room, beside a thread that meets
    // the fault. Which comes first is chance.
    let text = format!("x,y\n1,2\n3\n{}", "\n".repeat(100));
    for _ in 0..300 {
        let small = CsvOptions { chunk_bytes: 12, ..CsvOptions::default() };
        assert_eq!(complaint(read_with(&text, small)).0, Some(3));
    }
}

#[test]
fn bad_rows_can_be_left_out_and_are_counted() {
    let skip = CsvOptions { skip_bad_rows: true, chunk_bytes: 64, ..CsvOptions::default() };
    let text = "t,x,y\na,1,2\nb,1\nc,3,4\nd,1,2,3\n\"e\"f,1,2\ng,5,6\n";
    let read = read_with(text, skip.clone()).expect("a table");
    assert_eq!(read.values(), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    assert_eq!(read.labels, [["a", "c", "g"]]);
    let found = read.found("rows left out").expect("a note");
    assert!(found.contains(": 3; the first is line 3"), "{found}");
    // Nothing but bad rows is not a table.
    complaint(read_with("x,y\n1\n2\n", skip));
}

#[test]
fn an_endless_field_or_row_ends_in_bounded_memory() {
    let limits = CsvOptions {
        max_field_bytes: 1 << 20,
        max_row_bytes: 1 << 21,
        chunk_bytes: 1 << 16,
        ..CsvOptions::default()
    };
    let mut quoted = b"t,x\na,1\nb,2\n\"".to_vec();
    quoted.resize(8 << 20, b'z');
    let (line, _, what) = complaint(read_with(&quoted, limits.clone()));
    assert_eq!((line, what.contains("never closed")), (Some(4), true), "{what}");
    let mut first = b"t,\"x\n".to_vec();
    first.resize(8 << 20, b'\n');
    let (line, _, what) = complaint(read_with(&first, limits.clone()));
    assert_eq!((line, what.contains("never closed")), (Some(1), true), "{what}");
    let mut plain = b"t,x\na,1\nb,2\n".to_vec();
    plain.resize(8 << 20, b'z');
    assert_eq!(complaint(read_with(&plain, limits)).0, Some(4));
}

#[test]
fn a_record_longer_than_the_sample_is_read() {
    let long = "line\n".repeat(500_000);
    let read = read(format!("t,x\n\"{long}\",1\nb,2\n")).expect("a table");
    assert_eq!(read.values(), [[1.0], [2.0]]);
    assert_eq!(read.labels[0][0], long);
    let wide: Vec<String> = (0..300_000).map(|column| format!("{column}.5")).collect();
    let read = crate::common::read(wide.join(",")).expect("a table");
    assert_eq!(read.values()[0].len(), 300_000);
    assert_eq!(read.values()[0][299_999], 299_999.5);
}

#[test]
fn a_file_that_is_not_there_or_changes_is_an_error() {
    let scratch = Scratch::new();
    let missing = read_files(&[scratch.path("no.csv")], &options(CsvOptions::default()));
    assert!(matches!(missing, Err(Error::Open { .. })), "{missing:?}");
    let path = scratch.file("t.csv", "a,b\n1,2\n3,4\n");
    let table = eigenlens_io::open(std::slice::from_ref(&path), &options(CsvOptions::default()))
        .expect("a table");
    let selection = table.select(&Default::default()).expect("columns");
    scratch.file("t.csv", "a,b\n1,2\n3,4\n5,6\n");
    let (_, _, what) = complaint(table.load(&selection, None, None).map(|_| ()));
    assert!(what.contains("changed"), "{what}");
}

#[cfg(unix)]
#[test]
fn hostile_paths() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new();
    let text = "a,b\n1,2\n3,4\n";
    for name in [&b"new\nline.csv"[..], b"latin\xf6.csv", b"-x.csv"] {
        let path = scratch.dir().join(std::ffi::OsStr::from_bytes(name));
        std::fs::write(&path, text).expect("a file");
        let read = read_files(&[path], &options(CsvOptions::default())).expect("a table");
        assert_eq!(read.values(), [[1.0, 2.0], [3.0, 4.0]]);
    }
    let long = scratch.path(&"x".repeat(4096));
    let loop_path = scratch.path("loop.csv");
    std::os::unix::fs::symlink(&loop_path, &loop_path).expect("a link");
    for path in [long, loop_path] {
        let result = read_files(&[path], &options(CsvOptions::default()));
        assert!(matches!(result, Err(Error::Open { .. })), "{result:?}");
    }
    // A folder is one of images, and this one has none.
    let (_, _, what) =
        complaint(read_files(&[scratch.dir().to_owned()], &options(CsvOptions::default())));
    assert!(what.contains("no images"), "{what}");
}
