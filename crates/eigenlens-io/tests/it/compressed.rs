//! gzip and Zstandard, whole and broken.

use crate::common::{Scratch, complaint, options, read, read_files};
use eigenlens_io::csv::CsvOptions;
use eigenlens_io::{Error, ExpansionLimit, ReadOptions};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(content: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("an encoder");
    encoder.include_checksum(true).expect("a checksum");
    encoder.write_all(content).expect("memory");
    encoder.finish().expect("memory")
}

fn table() -> Vec<u8> {
    let rows = (0..200).map(|i| format!("r{i},{},{}\n", i as f64 / 7.0, i * i));
    std::iter::once(String::from("name,x,y\n")).chain(rows).collect::<String>().into_bytes()
}

#[test]
fn compression_is_known_by_content_and_changes_nothing() {
    let plain = read(table()).expect("a table");
    let halves = (&table()[..1000], &table()[1000..]);
    for (packed, name) in [
        (gzip(&table()), "gzip"),
        ([gzip(halves.0), gzip(halves.1)].concat(), "gzip"),
        (zstd(&table()), "Zstandard"),
        ([zstd(halves.0), zstd(halves.1)].concat(), "Zstandard"),
    ] {
        let packed = read(&packed).expect("a table");
        assert_eq!(packed.rows, plain.rows);
        assert_eq!(packed.labels, plain.labels);
        assert_eq!(packed.found("compression"), Some(name));
    }
}

#[test]
fn cut_anywhere_is_an_error() {
    for packed in [gzip(&table()), zstd(&table())] {
        let scratch = Scratch::new();
        for end in 0..packed.len() {
            let path = scratch.file("cut.csv.gz", &packed[..end]);
            let result = read_files(&[path], &options(CsvOptions::default()));
            assert!(matches!(result, Err(Error::Content { .. })), "{end}: {result:?}");
        }
    }
}

#[test]
fn a_flipped_bit_is_an_error_or_changes_nothing() {
    let plain = read(table()).expect("a table");
    for packed in [gzip(&table()), zstd(&table())] {
        let scratch = Scratch::new();
        for at in 0..packed.len() {
            let mut broken = packed.clone();
            broken[at] ^= 1 << (at % 8);
            let path = scratch.file("flipped.csv", &broken);
            // Parts of the header (time stamps, names) may say anything.
            match read_files(&[path], &options(CsvOptions::default())) {
                Ok(read) => assert_eq!(read.rows, plain.rows, "byte {at}"),
                Err(Error::Content { .. }) => {}
                Err(other) => panic!("byte {at}: {other:?}"),
            }
        }
    }
}

#[test]
fn what_expands_too_far_is_refused() {
    let mut text = b"a,b\n1,2\n".to_vec();
    for _ in 0..400_000 {
        text.extend_from_slice(b"1,2\n");
    }
    for packed in [gzip(&text), zstd(&text)] {
        let scratch = Scratch::new();
        let path = scratch.file("bomb.csv", &packed);
        let limit = |ratio| ReadOptions {
            expansion: ExpansionLimit { always: 1 << 20, ratio },
            ..ReadOptions::default()
        };
        let (_, _, what) = complaint(read_files(std::slice::from_ref(&path), &limit(10)));
        assert!(what.contains("expand"), "{what}");
        assert_eq!(read_files(&[path], &limit(100_000)).expect("a table").rows.len(), 400_001);
    }
}
