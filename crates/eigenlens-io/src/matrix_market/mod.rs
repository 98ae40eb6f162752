//! Matrix Market files, compressed or not: sparse matrices stay sparse.
//!
//! Coordinate files are sparse and held in memory, for their entries come in any order; array files
//! are dense. Real, integer and pattern fields are read (a pattern's entries are 1); general,
//! symmetric and skew-symmetric storage. Entries given twice count with their sum, and a note says
//! how many there were. Symmetric storage may use either triangle, not both. Complex numbers, NaN
//! and infinity are errors.

mod array;
mod assemble;
mod parse;

use crate::error::Result;
use crate::input::Input;
use crate::lines::Lines;
use crate::source::{Note, Source};
use crate::sparse::{AnyCsr, Names, SparseTable};
use crate::table::ReadOptions;
use array::ArrayFile;
use parse::{Banner, Entry, Layout};
use std::sync::Arc;

/// Reads the beginning of a file and the names beside it, and of a sparse matrix its entries.
pub(crate) fn open(input: Input, options: &ReadOptions) -> Result<Box<dyn Source>> {
    let mut lines = Lines::open(&input)?;
    let banner = Banner::read(&mut lines, &input)?;
    let n_stored = banner.n_stored as u64;
    let bytes = match banner.layout {
        // While rows are formed, an entry is there twice.
        Layout::Coordinate => n_stored.saturating_mul(2 * size_of::<Entry>() as u64),
        Layout::Array => 0,
    };
    let mut names = Names::find(&input, options, (banner.n_rows, banner.n_columns), bytes)?;
    if banner.layout == Layout::Array {
        return Ok(Box::new(ArrayFile { input, banner, names, memory: options.memory }));
    }
    let entries = parse::entries(&mut lines, &banner)?;
    let (matrix, n_doubled) = assemble::csr(entries, &banner, names.is_transposed, input.path())?;
    if n_doubled > 0 {
        let found = format!("{n_doubled} given twice, which count with their sum");
        names.notes.push(Note::new("entries", found));
    }
    let matrix = AnyCsr::F64(Arc::new(matrix));
    Ok(Box::new(SparseTable::new(input.path(), input.n_bytes(), matrix, names)))
}
