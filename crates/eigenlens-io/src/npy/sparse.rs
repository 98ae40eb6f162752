//! SciPy's sparse matrices: NPZ archives with the arrays of compressed rows (`csr`) or columns
//! (`csc`), as `scipy.sparse.save_npz` writes them.

use super::{NpyOptions, NpySource, archive, bytes, header, open_input};
use crate::budget::reserve;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::positioned::InputFile;
use crate::source::{Kind, Note, Source, Wanted};
use crate::sparse::{AnyCsr, Names, SparseTable, content, plausible, transposed};
use crate::table::ReadOptions;
use eigenlens::{AnyArray, Csr, Scalar};
use std::sync::Arc;

/// Whether an archive holds a sparse matrix.
pub(crate) fn is_sparse(input: &Input) -> bool {
    let members = InputFile::of(input).and_then(|input| archive::members(&input));
    members.is_ok_and(|members| {
        let has = |name: &str| members.iter().any(|member| member.name == name);
        has("format.npy") && has("shape.npy") && has("data.npy")
    })
}

/// Reads the matrix and the names beside it.
pub(crate) fn open(input: Input, options: &ReadOptions) -> Result<Box<dyn Source>> {
    let arrays = Arrays { input: &input };
    let is_by_rows = arrays.is_by_rows()?;
    let shape = arrays.whole_numbers("shape", 2, usize::MAX, |n| n)?;
    let (n_rows, n_columns) = (shape[0], shape[1]);
    let data = arrays.open("data")?;
    let n_stored = data.header.n_rows;
    plausible(n_rows, n_columns, n_stored).map_err(|what| arrays.wrong("shape", what))?;
    if n_rows == 0 || n_columns == 0 {
        return Err(arrays.wrong("shape", "one side is 0"));
    }
    // An entry is there twice where rows and columns change places.
    let mut names = Names::find(&input, options, (n_rows, n_columns), 24 * n_stored as u64)?;
    let (n_major, n_minor) = if is_by_rows { (n_rows, n_columns) } else { (n_columns, n_rows) };
    let compressed = Compressed {
        n_major,
        n_minor,
        starts: arrays.whole_numbers("indptr", n_major + 1, n_stored, |n| n)?,
        columns: arrays.whole_numbers("indices", n_stored, n_minor - 1, |n| n as u32)?,
        is_turned: is_by_rows == names.is_transposed,
    };
    let n_single = if data.is_f32() { n_stored } else { 0 };
    let mut single = arrays.reserved("data", n_single)?;
    let mut double = arrays.reserved("data", n_stored - n_single)?;
    let rounded = each_block(&data, |numbers| match numbers {
        AnyArray::F32(x) => single.extend(x),
        AnyArray::F64(x) => double.extend(x),
    })?;
    if rounded {
        let found = "whole numbers from 2^53 on, which are rounded to 53 bits";
        names.notes.push(Note::new("entries", found));
    }
    let matrix = match data.is_f32() {
        true => compressed.csr(single).map(|x| AnyCsr::F32(Arc::new(x))),
        false => compressed.csr(double).map(|x| AnyCsr::F64(Arc::new(x))),
    };
    let matrix = matrix.map_err(|error| content(input.path(), error.to_string()))?;
    Ok(Box::new(SparseTable::new(input.path(), input.n_bytes(), matrix, names)))
}

/// The arrays of an archive.
struct Arrays<'a> {
    input: &'a Input,
}

impl Arrays<'_> {
    /// Whether rows are compressed, or columns.
    fn is_by_rows(&self) -> Result<bool> {
        let file = Arc::new(InputFile::of(self.input)?);
        let mut members = archive::members(&file)?.into_iter();
        let Some(member) = members.find(|member| member.name == "format.npy") else {
            return Err(self.wrong("format", "it is missing"));
        };
        let bytes = bytes::small(&file, &member)?;
        // The header ends with its line.
        let end =
            bytes.iter().position(|&b| b == b'\n').filter(|_| bytes.starts_with(header::MAGIC));
        let word = end.map_or(&[][..], |end| &bytes[end + 1..]);
        let word: Vec<u8> = word.iter().copied().filter(|&b| b != 0).collect();
        match word.as_slice() {
            b"csr" => Ok(true),
            b"csc" => Ok(false),
            other => Err(Error::Usage {
                what: format!(
                    "{} is a sparse matrix stored as `{}`, not by rows or columns",
                    self.input.path().display(),
                    other.escape_ascii()
                ),
                hint: Some("scipy.sparse.save_npz(\"x.npz\", x.tocsr())".into()),
            }),
        }
    }

    /// An array of one dimension, its numbers not read yet.
    fn open(&self, name: &str) -> Result<NpySource> {
        let options = NpyOptions { array: Some(name.into()), memory: None };
        let source = open_input(InputFile::of(self.input)?, &options);
        let source = source.map_err(|error| match error {
            // It is not what the user asked for that is wrong.
            Error::Usage { what, .. } => content(self.input.path(), what),
            error if error.is_no_rows() => self.wrong(name, "no entry is stored"),
            error => error,
        })?;
        match source.header.n_columns {
            1 => Ok(source),
            n => Err(self.wrong(name, format!("it has {n} columns, not one"))),
        }
    }

    /// So many whole numbers from 0 to `most`.
    fn whole_numbers<T>(
        &self,
        name: &str,
        n: usize,
        most: usize,
        convert: fn(usize) -> T,
    ) -> Result<Vec<T>> {
        let source = self.open(name)?;
        if source.columns[0].kind != Kind::Integer || source.header.n_rows != n {
            let found = source.header.n_rows;
            return Err(
                self.wrong(name, format!("{found} numbers, but {n} whole ones belong here"))
            );
        }
        let mut all = self.reserved(name, n)?;
        let mut bad = None;
        each_block(&source, |numbers| {
            let AnyArray::F64(numbers) = numbers else { return };
            for number in numbers {
                // Negative numbers become 0 in the conversion, and are no longer equal.
                let index = number as usize;
                if index as f64 != number || index > most {
                    bad.get_or_insert(number);
                }
                all.push(convert(index));
            }
        })?;
        match bad {
            Some(number) => Err(self.wrong(name, format!("{number} is not from 0 to {most}"))),
            None => Ok(all),
        }
    }

    /// Room for so many numbers.
    fn reserved<T>(&self, name: &str, n: usize) -> Result<Vec<T>> {
        let mut all = Vec::new();
        reserve(&mut all, n, || format!("array `{name}` of {}", self.input.path().display()))?;
        Ok(all)
    }

    /// The error that an array cannot be right.
    fn wrong(&self, name: &str, what: impl std::fmt::Display) -> Error {
        content(self.input.path(), format!("array `{name}` of a sparse matrix: {what}"))
    }
}

/// The numbers of an array, block by block; whether whole numbers lost digits.
fn each_block(source: &NpySource, mut work: impl FnMut(AnyArray)) -> Result<bool> {
    let mut reader = source.open(&Wanted { numbers: vec![0], ..Wanted::default() })?;
    while let Some(block) = reader.next_block()? {
        work(block.numbers);
    }
    Ok(!reader.findings().is_empty())
}

/// Rows, or columns, without their values.
struct Compressed {
    n_major: usize,
    n_minor: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    /// Whether what is compressed are not samples.
    is_turned: bool,
}

impl Compressed {
    /// The matrix (samples × features).
    fn csr<T: Scalar>(mut self, mut values: Vec<T>) -> eigenlens::Result<Csr<T>> {
        // SciPy may leave room after the last entry.
        let n_stored = self.starts.last().copied().unwrap_or(0);
        self.columns.truncate(n_stored);
        values.truncate(n_stored);
        let csr = Csr::new(self.n_major, self.n_minor, self.starts, self.columns, values)?;
        if self.is_turned { transposed(&csr) } else { Ok(csr) }
    }
}
