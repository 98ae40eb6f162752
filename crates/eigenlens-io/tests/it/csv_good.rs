//! Tables in the many ways people write them.

use crate::common::{Read, read, read_with};
use eigenlens_io::csv::{CsvOptions, MISSING_MARKS};

fn good(content: impl AsRef<[u8]>) -> Read {
    read(content).expect("a readable table")
}

#[test]
fn delimiter_and_decimal_mark_are_found() {
    let expected = vec![vec![1.5, -2.25], vec![3.0, 4e-3]];
    for (text, delimiter, decimal) in [
        ("a,b\n1.5,-2.25\n3.0,4e-3\n", "`,`", None),
        ("a;b\n1.5;-2.25\n3.0;4e-3\n", "`;`", None),
        ("a;b\n1,5;-2,25\n3,0;4e-3\n", "`;`", Some("`,`")),
        ("a\tb\n1,5\t-2,25\n3,0\t4e-3\n", "tab", Some("`,`")),
        ("a|b\n1.5|-2.25\n3.0|4e-3\n", "`|`", None),
        ("a b\n1.5 -2.25\n3.0 4e-3\n", "blanks", None),
        ("   a   b\n  1.5  -2.25  \n 3.0\t 4e-3\n", "blanks", None),
        ("a, b\n1.5, -2.25\n 3.0 ,4e-3 \n", "`,`", None),
    ] {
        let read = good(text);
        assert_eq!(read.values(), expected, "{text}");
        assert_eq!(read.features, ["a", "b"]);
        assert_eq!(read.found("delimiter"), Some(delimiter));
        assert_eq!(read.found("decimal mark"), decimal);
    }
}

#[test]
fn commas_in_text_do_not_hide_the_delimiter() {
    let read = good("name;x;y\nBonn, city;1;2\nKöln, city;3;4\n");
    assert_eq!(read.values(), [[1.0, 2.0], [3.0, 4.0]]);
    assert_eq!(read.labels, [["Bonn, city", "Köln, city"]]);
    let read = good("when,x\n2020-01-01 00:00,1\n2020-01-02 00:00,2\n");
    assert_eq!(read.label_names, ["when"]);
}

#[test]
fn the_header_rule() {
    for (text, features, header) in [
        ("a,b\n1,2\n3,5\n", ["a", "b"], true),
        ("1,2\n3,5\n", ["x1", "x2"], false),
        ("1.5,2\n3,5\n", ["x1", "x2"], false),
        ("a,2\n1,2\n3,5\n", ["a", "2"], true),
        ("0,1\n0.5,2.0\n3.5,5.25\n", ["0", "1"], true),
        ("0,1\n0.5,2\n3.5,5.25\n", ["x1", "x2"], false),
        ("1,2\n0.5,2.0\n3.5,5.25\n", ["x1", "x2"], false),
    ] {
        let read = good(text);
        assert_eq!(read.features, features, "{text}");
        assert_eq!(read.rows.len(), if header { 2 } else { text.lines().count() });
        let expected = if header { "yes (" } else { "no (" };
        assert!(read.found("header").is_some_and(|found| found.starts_with(expected)), "{text}");
    }
    // Numbers as names, as data frames without names are written, and years.
    assert_eq!(good("0,1,2\n5.5,6,7\n8,9,1\n").features, ["0", "1", "2"]);
    assert_eq!(
        good("town,2001,2002,2003\nBonn,1,2,9\nKöln,3,4,8\n").features,
        ["2001", "2002", "2003"]
    );
    // The rule can be overruled.
    let with = |header| CsvOptions { header: Some(header), ..CsvOptions::default() };
    assert_eq!(read_with("1,2\n3,5\n", with(true)).expect("a table").features, ["1", "2"]);
    let read = read_with("a,1\nb,2\n", with(false)).expect("a table");
    assert_eq!(
        (read.values(), read.labels),
        (vec![vec![1.0], vec![2.0]], vec![vec!["a".into(), "b".into()]])
    );
}

#[test]
fn row_names_without_a_name_as_r_writes_them() {
    let read = good("x y\n\"Bonn\" 1 2\n\"Bad Ems\" 3 5\n");
    assert_eq!(read.features, ["x", "y"]);
    assert_eq!(read.labels, [["Bonn", "Bad Ems"]]);
    assert_eq!(read.label_names, ["x1"]);
}

#[test]
fn every_kind_of_line_end_reads_the_same() {
    let lines = ["a,b,t", "1,2,\"x\"", "3,4,y", "5,6,\"z\""];
    let expected = good(lines.join("\n") + "\n");
    for text in [
        lines.join("\n"),
        lines.join("\r\n"),
        lines.join("\r\n") + "\r\n",
        lines.join("\r"),
        lines.join("\r") + "\r",
        lines.join("\n\n") + "\n\n\n",
        lines.join("\n  \n"),
        format!("{}\r\n{}\n{}\r{}", lines[0], lines[1], lines[2], lines[3]),
        format!("\u{feff}{}", lines.join("\n")),
    ] {
        let mut read = good(&text);
        read.notes.retain(|note| note.what != "encoding");
        assert_eq!(read, expected, "{text:?}");
    }
}

#[test]
fn missing_values_are_nan_and_told() {
    for mark in MISSING_MARKS.iter().copied().chain(["", "  ", "\"\"", "\"NA\""]) {
        let read = good(format!("a,b\n1,2\n{mark},4\n5,6\n"));
        let values = read.values();
        assert!(values[1][0].is_nan() && values[1][1] == 4.0, "{mark:?}: {values:?}");
        assert!(read.found("missing values").is_some());
    }
    // In text they are text.
    assert_eq!(good("a,t\n1,NA\n2,x\n").labels, [["NA", "x"]]);
    // And more can be named.
    let more = CsvOptions { missing: vec![String::from("n.d.")], ..CsvOptions::default() };
    assert!(read_with("a,b\n1,2\nn.d.,4\n", more).expect("a table").values()[1][0].is_nan());
}

#[test]
fn spellings_that_are_not_numbers_make_a_column_text() {
    for spelling in ["0x10", "1_000", "1'000", "1e", "--5", "1.2.3", "12abc", "½"] {
        let read = good(format!("a,t\n1,{spelling}\n2,{spelling}\n"));
        assert_eq!(read.labels, [[spelling, spelling]], "{spelling}");
    }
    let read = good("a;t\n1.5;1,000.5\n2;2,000.25\n");
    assert_eq!(read.labels, [["1,000.5", "2,000.25"]]);
    // Infinity is a number only where it is spelled out.
    let read = good("a,b\n1,inf\n2,-Infinity\n");
    assert_eq!(read.values(), [[1.0, f64::INFINITY], [2.0, f64::NEG_INFINITY]]);
}

#[test]
fn a_column_of_text_with_numbers_among_it_is_told() {
    let rows: String =
        (0..50).map(|i| format!("{i}.5,{}\n", if i % 3 == 2 { "12" } else { "A12" })).collect();
    let read = good(format!("a,b\n{rows}"));
    assert_eq!(read.found("column `b`"), Some("text, because of `A12` in line 2"));
    assert_eq!(read.label_names, ["b"]);
}

#[test]
fn truth_values_are_numbers() {
    let read = good("ok,x\ntrue,1\nFALSE,2\n,3\n");
    let values = read.values();
    assert_eq!((values[0][0], values[1][0]), (1.0, 0.0));
    assert!(values[2][0].is_nan());
}

#[test]
fn quotes_hold_delimiters_quotes_and_line_ends() {
    let read =
        good("t,a\n\"x, y\",1\n\"say \"\"no\"\"\",2\n\"two\nlines\",3\n5\" pipe,4\n\"\",\"5.5\"\n");
    assert_eq!(read.labels, [["x, y", "say \"no\"", "two\nlines", "5\" pipe", ""]]);
    assert_eq!(read.values(), [[1.0], [2.0], [3.0], [4.0], [5.5]]);
    let read = good("t,a\n'x, y',1\n'z',2\n");
    assert_eq!(read.labels, [["x, y", "z"]]);
    assert_eq!(read.found("quotes"), Some("`'`"));
}

#[test]
fn strange_names_are_kept_and_made_unique() {
    let long = "n".repeat(10_000);
    let text = format!(
        "a,a,,<script>,\u{1b}[31m,אבג,{long},\"=1+1\",\"b\nc\"\n1,2,3,4,5,6,7,8,9\n1,2,3,4,5,6,7,8,8\n"
    );
    let read = good(text);
    let expected =
        ["a", "a_2", "x3", "<script>", "\u{1b}[31m", "אבג", long.as_str(), "=1+1", "b\nc"];
    assert_eq!(read.features, expected);
    assert!(read.found("repeated column names").is_some());
    assert!(read.found("columns without a name").is_some());
}

#[test]
fn long_integers_are_exact_or_counted() {
    let read =
        good("a,b\n9007199254740992,4611686018427387904\n9007199254740993,4611686018427387905\n");
    assert_eq!(read.values()[0], [9_007_199_254_740_992.0, 4_611_686_018_427_387_904.0]);
    assert!(
        read.found("whole numbers beyond 2^53").is_some_and(|found| found.contains(": 2 were"))
    );
}

#[test]
fn one_column_and_one_row() {
    assert_eq!(good("x\n1.5\n2.5\n").values(), [[1.5], [2.5]]);
    assert_eq!(good("x,y\n1,2").values(), [[1.0, 2.0]]);
    assert_eq!(good("x\n1\n\n  \n2\n").values(), [[1.0], [2.0]]);
    assert_eq!(good("\n \n\nx\n1\n2\n").features, ["x"]);
}

#[test]
fn a_column_can_be_forced_to_be_text() {
    let text = CsvOptions { text_columns: vec![String::from("zip")], ..CsvOptions::default() };
    let read = read_with("zip,x\n00123,1\n04567,2\n", text.clone()).expect("a table");
    assert_eq!(read.labels, [["00123", "04567"]]);
    assert!(read_with("code,x\n00123,1\n", text).is_err());
}
