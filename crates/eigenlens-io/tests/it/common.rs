//! Small files, and what they read as.

use eigenlens_io::csv::CsvOptions;
use eigenlens_io::{
    AnyArray, ColumnChoice, Error, InMemory, Labels, Loaded, Note, Numbers, ReadOptions, Selection,
    Table,
};
use ndarray::ArrayView1;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A directory that goes with the test.
pub struct Scratch(TempDir);

impl Scratch {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn dir(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a file");
        path
    }
}

/// What a file holds, in a form that compares.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    pub features: Vec<String>,
    pub label_names: Vec<String>,
    /// Bits, so that NaN equals NaN and −0 is not 0.
    pub rows: Vec<Vec<u64>>,
    pub labels: Vec<Vec<String>>,
    pub notes: Vec<Note>,
}

impl Read {
    pub fn values(&self) -> Vec<Vec<f64>> {
        self.rows.iter().map(|row| row.iter().map(|&bits| f64::from_bits(bits)).collect()).collect()
    }

    pub fn found(&self, what: &str) -> Option<&str> {
        self.notes.iter().find(|note| note.what == what).map(|note| note.found.as_str())
    }
}

pub fn options(csv: CsvOptions) -> ReadOptions {
    ReadOptions { csv, ..ReadOptions::default() }
}

/// What files hold: the same, read at once and piece by piece.
pub fn read_files(paths: &[PathBuf], options: &ReadOptions) -> Result<Read, Error> {
    let table = eigenlens_io::open(paths, options)?;
    let selection = table.select(&ColumnChoice::default())?;
    let read = |budget: Option<u64>| {
        let loaded = loaded(&table, &selection, budget)?;
        let Numbers::Dense(AnyArray::F64(numbers)) = &loaded.numbers else {
            panic!("CSV is dense and in double precision")
        };
        let bits = |row: ArrayView1<f64>| row.iter().map(|v| v.to_bits()).collect();
        Ok(Read {
            features: selection.feature_names().to_vec(),
            label_names: selection.label_names().to_vec(),
            rows: numbers.rows().into_iter().map(bits).collect(),
            labels: loaded.labels.iter().map(texts).collect(),
            notes: table.notes().iter().cloned().chain(loaded.findings).collect(),
        })
    };
    let in_words = |read: &Result<Read, Error>| format!("{read:?}");
    let (at_once, by_pieces) = (read(None), read(Some(u64::MAX - 1)));
    assert_eq!(in_words(&at_once), in_words(&by_pieces));
    at_once
}

pub fn in_memory(table: &Table, selection: &Selection) -> Result<InMemory, Error> {
    loaded(table, selection, None)
}

fn loaded(table: &Table, selection: &Selection, budget: Option<u64>) -> Result<InMemory, Error> {
    match table.load(selection, budget, None)? {
        Loaded::InMemory(loaded) => Ok(loaded),
        Loaded::Streamed(_) => panic!("no budget that matters, so no stream"),
    }
}

pub fn texts(labels: &Labels) -> Vec<String> {
    labels.iter().map(str::to_owned).collect()
}

/// Reads this text as a CSV file.
pub fn read(content: impl AsRef<[u8]>) -> Result<Read, Error> {
    read_with(content, CsvOptions::default())
}

pub fn read_with(content: impl AsRef<[u8]>, csv: CsvOptions) -> Result<Read, Error> {
    let scratch = Scratch::new();
    read_files(&[scratch.file("table.csv", content)], &options(csv))
}

/// The line, the column and the message of a content error.
pub fn complaint<T: std::fmt::Debug>(
    result: Result<T, Error>,
) -> (Option<u64>, Option<String>, String) {
    match result {
        Err(Error::Content { place, what, .. }) => (place.line, place.column, what),
        Err(Error::BadCell { place, cell, .. }) => {
            (place.line, place.column, format!("`{cell}` is not a number"))
        }
        other => panic!("expected a content error, not {other:?}"),
    }
}

/// A small deterministic generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Rounds of a fuzz: `FUZZ_TIMES=100` in the environment makes a longer run.
pub fn fuzz_rounds(rounds: usize) -> usize {
    let times = std::env::var("FUZZ_TIMES").ok().and_then(|times| times.parse().ok());
    rounds * times.unwrap_or(1)
}

/// Bytes with a few random changes: bytes, numbers, pieces taken out and put elsewhere.
pub fn changed(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + random.below(6) {
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => bytes[at] = random.below(256) as u8,
            1 => {
                // A number in place of another: large, negative, one off.
                let number = [u64::MAX, 1 << 31, 1 << 62, 0, 1][random.below(5)];
                let width = 1 << random.below(4);
                for (byte, new) in bytes[at..].iter_mut().zip(number.to_le_bytes()).take(width) {
                    *byte = new;
                }
            }
            2 => {
                let n = random.below(20).min(bytes.len() - at);
                bytes.drain(at..at + n);
                bytes.push(0);
            }
            _ => {
                let piece = bytes[at..bytes.len().min(at + 16)].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
        }
    }
    bytes
}
