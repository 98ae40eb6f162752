//! How a file is cut must not matter, and no bytes may bring the reader down.

use crate::common::{Random, Read, fuzz_rounds, read, read_with};
use eigenlens_io::Error;
use eigenlens_io::csv::CsvOptions;
use proptest::prelude::*;

fn with_chunks(chunk_bytes: usize) -> CsvOptions {
    CsvOptions { chunk_bytes, ..CsvOptions::default() }
}

/// The outcome in a form that compares: the table, or what is wrong and where.
fn outcome(text: &[u8], csv: CsvOptions) -> Result<Read, String> {
    read_with(text, csv).map_err(|error| match error {
        Error::Content { place, what, .. } => format!("{place}: {what}"),
        Error::BadCell { place, cell, .. } => format!("{place}: {cell}"),
        other => format!("{other:?}"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: fuzz_rounds(300) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_size_of_the_pieces_changes_nothing(
        rows in prop::collection::vec((field(), field(), -1e6..1e6f64), 1..30),
        ends in prop::collection::vec(0..4usize, 30),
        chunk in 1..200usize,
    ) {
        let mut text = String::from("a,b,x\n");
        for ((a, b, x), end) in rows.iter().zip(&ends) {
            text += &format!("{a},{b},{x}{}", ["\n", "\r\n", "\r", "\n\n"][*end]);
        }
        let whole = outcome(text.as_bytes(), with_chunks(1 << 20));
        let pieces = outcome(text.as_bytes(), with_chunks(chunk));
        prop_assert_eq!(whole, pieces);
    }
}

fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::from("plain")),
        Just(String::new()),
        Just(String::from("\"q,\n\"\"x\"\"\"")),
        Just(String::from("\"\r\n\"")),
        Just(String::from("5\" pipe")),
        Just(String::from(" \"padded\" ")),
        Just(String::from("\"unclosed")),
        "[0-9]{1,3}",
        "[a-z\"' ]{0,4}",
    ]
}

#[test]
fn mutated_tables_never_bring_the_reader_down_nor_lose_rows_in_silence() {
    let seeds: [&[u8]; 4] = [
        b"name,x,y\nr1,1.5,2\nr2,-3e5,4\n\"r,3\",5,NA\nr4,7,8\n",
        b"a;b\n1,5;2,5\n3,5;4,5\n5,5;6,5\n",
        b"x y z\n1 2 3\n4 5 6\n 7 8 9\n",
        b"\xef\xbb\xbfa\tb\r\n\"1\"\t2\r\n3\t\"4\"\r\n",
    ];
    let mut random = Random(7);
    let pool: &[u8] = b"\"',;|\t \r\n0159.eE+-aZ\0\xff\xc3\xa4\xef\xbb\xbf\x1f\x8b\x28\xb5";
    for _ in 0..fuzz_rounds(4000) {
        let mut text = seeds[random.below(seeds.len())].to_vec();
        for _ in 0..=random.below(6) {
            let at = random.below(text.len() + 1);
            let byte = pool[random.below(pool.len())];
            match random.below(5) {
                0 if at < text.len() => text[at] = byte,
                1 if at < text.len() => drop(text.remove(at)),
                2 => text.insert(at, byte),
                3 => text.truncate(at),
                _ => {
                    let from = random.below(text.len() + 1).min(at);
                    let piece = text[from..at].to_vec();
                    text.extend(piece);
                }
            }
        }
        let whole = outcome(&text, with_chunks(1 << 20));
        let pieces = outcome(&text, with_chunks(1 + random.below(40)));
        assert_eq!(whole, pieces, "{:?}", String::from_utf8_lossy(&text));
        if let Ok(read) = whole {
            // Every record is a row: as many as there are lines outside quotes that are not blank.
            let header = usize::from(read.found("header").is_some_and(|h| h.starts_with("yes")));
            let quotes = text.iter().filter(|&&byte| byte == b'"' || byte == b'\'').count();
            if quotes == 0 {
                let text = String::from_utf8_lossy(&text).replace('\r', "\n");
                let text = text.trim_start_matches('\u{feff}');
                // In a table separated by tabs, tabs are not nothing.
                let is_tab = read.found("delimiter") == Some("tab");
                let padding: &[char] = if is_tab { &[' '] } else { &[' ', '\t'] };
                let lines = text.lines().filter(|l| !l.trim_matches(padding).is_empty()).count();
                assert_eq!(read.rows.len() + header, lines, "{text:?}");
            }
        }
    }
}

#[test]
fn random_bytes_never_bring_the_reader_down() {
    let mut random = Random(8);
    for _ in 0..fuzz_rounds(2000) {
        let n = random.below(300);
        let text: Vec<u8> = (0..n).map(|_| random.next() as u8).collect();
        let _ = read(&text);
        let printable: Vec<u8> = (0..n).map(|_| b"01.,;\n\"a "[random.below(9)]).collect();
        let whole = outcome(&printable, with_chunks(1 << 20));
        assert_eq!(whole, outcome(&printable, with_chunks(7)));
    }
}
