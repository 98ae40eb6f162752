//! Arrow IPC of other writers.

use super::parquet::check_typed;
use super::{Content, assert_plain, fixture};
use eigenlens_io::{Error, arrow};

#[test]
fn files_and_streams_of_all_types_are_read() {
    check_typed(&arrow::open(&fixture("typed.arrow"), None).unwrap(), false);
    check_typed(&arrow::open(&fixture("stream.arrows"), None).unwrap(), true);
}

#[test]
fn uncompressed_files_and_string_views_are_read() {
    assert_plain(&Content::of(&arrow::open(&fixture("plain.arrow"), None).unwrap()).unwrap());
    let polars = Content::of(&arrow::open(&fixture("polars.arrow"), None).unwrap()).unwrap();
    assert_plain(&polars);
    assert_eq!(polars.labels[0][36], "a rather long text of row 36");
}

#[test]
fn a_batch_beyond_the_budget_is_refused() {
    let refused = arrow::open(&fixture("plain.arrow"), Some(1_000));
    assert!(matches!(refused, Err(Error::Memory { budget: 1_000, .. })));
    assert!(arrow::open(&fixture("plain.arrow"), Some(1 << 20)).is_ok());
}

#[test]
fn a_stream_without_its_end_mark_is_cut_off() {
    let bytes = std::fs::read(fixture("stream.arrows")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.arrows");
    std::fs::write(&path, &bytes[..bytes.len() - 8]).unwrap();
    let error = arrow::open(&path, None).err().unwrap().to_string();
    assert!(error.contains("end mark"), "{error}");
}
