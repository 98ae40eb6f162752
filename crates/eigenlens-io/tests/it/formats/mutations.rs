//! Files cut off, with flipped bits, and worse: an error or a table, never a panic.

use super::{Content, fixture};
use crate::common::{changed, fuzz_rounds};
use eigenlens_io::images::{self, ImageOptions};
use eigenlens_io::npy::{self, NpyOptions};
use eigenlens_io::{Error, ReadOptions, Result, arrow, parquet};
use rayon::prelude::*;
use std::path::Path;

/// Fixtures that are spoilt: every format, codec and storage at least once.
const FILES: &[&str] = &[
    "typed.parquet",
    "delta.parquet",
    "lengths.parquet",
    "plain_zstd.parquet",
    "typed.arrow",
    "stream.arrows",
    "polars.arrow",
    "c_f8.npy",
    "f_f8.npy",
    "int_i2be.npy",
    "two.npz",
    "deflated.npz",
    "scipy.npz",
    "general.mtx",
    "array.mtx",
];

fn read(path: &Path) -> Result<Content> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    if name.ends_with(".parquet") {
        Content::of(&parquet::open(path)?)
    } else if name.contains(".arrow") {
        Content::of(&arrow::open(path, None)?)
    } else if name.ends_with(".mtx") || name == "scipy.npz" {
        Content::of(eigenlens_io::open(&[path.to_owned()], &ReadOptions::default())?.source())
    } else {
        // Archives have both orders under these names.
        let array = name.ends_with(".npz").then(|| "a".to_owned());
        Content::of(&npy::open(path, &NpyOptions { array, memory: None })?)
    }
}

/// Reads what `spoil` makes of the original; only errors about the content are allowed.
fn each(
    name: &str,
    n: usize,
    spoil: impl Fn(usize, &[u8]) -> Vec<u8> + Sync,
) -> Vec<Result<Content>> {
    let original = std::fs::read(fixture(name)).unwrap();
    let results = (0..n).into_par_iter().map_init(
        || tempfile::tempdir().unwrap(),
        |folder, i| {
            let path = folder.path().join(name);
            std::fs::write(&path, spoil(i, &original)).unwrap();
            let result = read(&path);
            match &result {
                Ok(_) | Err(Error::Content { .. } | Error::Usage { .. }) => {}
                Err(error) => panic!("{name}, {i}: {error:?}"),
            }
            result
        },
    );
    results.collect()
}

fn length(name: &str) -> usize {
    std::fs::metadata(fixture(name)).unwrap().len() as usize
}

#[test]
fn a_file_cut_off_anywhere_is_an_error() {
    // A text file without its last line end is whole.
    for &name in FILES.iter().filter(|name| !name.ends_with(".mtx")) {
        for (n, result) in
            each(name, length(name), |i, bytes| bytes[..i].to_vec()).iter().enumerate()
        {
            assert!(result.is_err(), "{name}, cut off at {n}");
        }
    }
}

#[test]
fn a_flipped_bit_anywhere_is_no_panic() {
    for &name in FILES {
        each(name, length(name), |i, bytes| {
            let mut bytes = bytes.to_vec();
            bytes[i] ^= 1 << (i % 8);
            bytes
        });
    }
}

#[test]
fn a_byte_of_nothing_anywhere_is_no_panic() {
    // Among others: Arrow fields of the type "none". Every third byte: flipped bits see to the rest.
    for &name in FILES {
        each(name, length(name) / 3, |i, bytes| {
            let mut bytes = bytes.to_vec();
            bytes[3 * i] = 0;
            bytes
        });
    }
}

#[test]
fn archives_notice_every_change_of_their_numbers() {
    // Every byte, and every bit in turn from byte to byte.
    for name in ["two.npz", "deflated.npz", "scipy.npz"] {
        let original = read(&fixture(name)).unwrap();
        let spoilt = each(name, length(name), |i, bytes| {
            let mut bytes = bytes.to_vec();
            bytes[i] ^= 1 << (i * 3 % 8);
            bytes
        });
        for result in spoilt.into_iter().flatten() {
            assert_eq!(result, original);
        }
    }
}

#[test]
fn heaps_of_random_changes_are_no_panic() {
    for &name in FILES {
        each(name, fuzz_rounds(600), |seed, bytes| changed(bytes, seed as u64));
    }
}

#[test]
fn spoilt_images_are_left_out() {
    let names = [
        "first/gray.png",
        "first/colour.bmp",
        "second/gray.gif",
        "second/turned.tif",
        "second/large.webp",
        "second/cmyk.jpg",
    ];
    names.par_iter().for_each(|name| {
        let original = std::fs::read(fixture("images").join(name)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(Path::new(name).file_name().unwrap());
        for i in 0..2 * original.len() {
            let mut bytes = original.clone();
            if i < original.len() {
                bytes.truncate(i);
            } else {
                bytes[i - original.len()] ^= 1 << (i % 8);
            }
            std::fs::write(&path, bytes).unwrap();
            // Most decoders have no checksum: a picture or an error, and no panic.
            let options = ImageOptions { skip_broken: true, ..Default::default() };
            match images::open(folder.path(), &options).and_then(|folder| Content::of(&folder)) {
                Ok(_) | Err(Error::Content { .. } | Error::Usage { .. }) => {}
                Err(error) => panic!("{name}, {i}: {error:?}"),
            }
        }
    });
}
