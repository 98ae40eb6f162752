//! NumPy arrays: NPY files, and arrays in NPZ archives.
//!
//! Floats of 16, 32 and 64 bits, integers and truth values in either byte order, in C or Fortran
//! order. A 1-dimensional array is one column. Columns are named `x1`, `x2`, …
//!
//! Members of an archive are read where they are, stored or deflated; nothing is extracted. Their
//! checksums are checked. Python objects are refused: unpickling runs whatever program is in them.

mod archive;
mod bytes;
mod element;
mod header;
mod mapped;
pub(crate) mod sparse;

pub use mapped::{Mapped, MappedView};

use crate::budget::check_columns;
use crate::error::{Error, NO_ROWS, Result};
use crate::exact::Rounded;
use crate::names::numbered_names;
use crate::positioned::InputFile;
use crate::source::{Block, BlockReader, Column, Kind, Labels, Note, Source, Wanted};
use crate::transpose::{chosen_columns, rows_of_columns, rows_per_block};
use archive::Member;
use bytes::Bytes;
use eigenlens::AnyArray;
use element::Real;
use header::Header;
use ndarray::Array2;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// How an NPY or NPZ file is opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NpyOptions {
    /// Which array of an archive; needed where it has several.
    pub array: Option<String>,
    /// Bytes of memory that reading may take. Only arrays that are deflated and in Fortran order
    /// have to be held whole.
    pub memory: Option<u64>,
}

/// Opens an NPY file, or an array of an NPZ archive: which of the two it is, its first bytes say.
pub fn open(path: &Path, options: &NpyOptions) -> Result<NpySource> {
    open_input(InputFile::open(path)?, options)
}

/// The same for a file that is open already.
pub(crate) fn open_input(input: InputFile, options: &NpyOptions) -> Result<NpySource> {
    let input = Arc::new(input);
    let start = input.read(0, input.n_bytes().min(4))?;
    let (storage, mut notes) = if start.starts_with(b"PK") {
        let member =
            archive::members(&input).and_then(|members| choose(&input, members, options))?;
        let note = Note::new("array", member.name.clone());
        let storage = if member.is_deflated {
            Storage::Deflated(member)
        } else {
            bytes::check_stored(&input, &member)?;
            Storage::Plain { start: member.start, n_bytes: member.n_bytes }
        };
        (storage, vec![note])
    } else {
        if let Some(array) = &options.array {
            return Err(Error::Usage {
                what: format!(
                    "{} is one array, without an array `{array}` in it",
                    input.path().display()
                ),
                hint: None,
            });
        }
        (Storage::Plain { start: 0, n_bytes: input.n_bytes() }, Vec::new())
    };
    let header = read_header(&input, &storage)?;
    check_columns(options.memory, header.n_columns, input.path())?;
    if header.is_fortran {
        notes.push(Note::new("order", "columns, one after the other"));
    }
    let kind = if header.element.is_float() { Kind::Float } else { Kind::Integer };
    let names = numbered_names(header.n_columns);
    let columns = names.map(|name| Column { name, kind: kind.clone() }).collect();
    Ok(NpySource { input, storage, header, columns, notes, memory: options.memory })
}

/// An open NumPy array.
pub struct NpySource {
    input: Arc<InputFile>,
    storage: Storage,
    header: Header,
    columns: Vec<Column>,
    notes: Vec<Note>,
    memory: Option<u64>,
}

/// Where the array is in the file, header and numbers.
enum Storage {
    Plain { start: u64, n_bytes: u64 },
    Deflated(Member),
}

impl NpySource {
    /// The array in place, without reading it: where it is stored as native single or double
    /// precision, neither compressed nor badly aligned. `None` otherwise.
    ///
    /// The pages of the file become memory of the process as they are touched, so under a memory
    /// budget read blocks instead.
    pub fn map(&self) -> Result<Option<Mapped>> {
        let Storage::Plain { start, .. } = &self.storage else { return Ok(None) };
        Mapped::new(self.input.clone(), &self.header, start + self.header.data_at)
    }
}

impl Source for NpySource {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_rows(&self) -> Option<usize> {
        Some(self.header.n_rows)
    }

    fn rows_guess(&self) -> usize {
        self.header.n_rows
    }

    fn is_f32(&self) -> bool {
        self.header.element.is_f32()
    }

    fn notes(&self) -> &[Note] {
        &self.notes
    }

    fn open(&self, wanted: &Wanted) -> Result<Box<dyn BlockReader + Send + '_>> {
        self.input.check_unchanged()?;
        let mut all = wanted.numbers.iter().chain(&wanted.labels);
        if let Some(index) = all.find(|&&index| index >= self.columns.len()) {
            return Err(Error::Usage {
                what: format!("there is no column {}", index + 1),
                hint: None,
            });
        }
        let bytes = match &self.storage {
            Storage::Plain { start, .. } => {
                Bytes::in_place(self.input.clone(), start + self.header.data_at)
            }
            Storage::Deflated(member) if self.header.is_fortran => {
                Bytes::held(&self.input, member, &self.header, self.memory)?
            }
            Storage::Deflated(member) => Bytes::inflating(&self.input, member, &self.header)?,
        };
        let numbers = if self.header.element.is_long() { wanted.numbers.as_slice() } else { &[] };
        let long = numbers.iter().map(|&index| self.columns[index].name.clone()).enumerate();
        let bytes_per_number = if self.is_f32() { 4 } else { 8 };
        let rows = rows_per_block(self.header.n_columns, bytes_per_number);
        Ok(Box::new(Reader {
            source: self,
            wanted: wanted.clone(),
            bytes,
            // A column is read in one piece per block: not too small a piece.
            rows_per_block: if self.header.is_fortran { rows.max(64) } else { rows },
            row: 0,
            rounded: Rounded::new(long),
        }))
    }

    fn has_values(&self, _: usize) -> Option<bool> {
        // Only floats can be NaN, and there is at least one row.
        (!self.header.element.is_float()).then_some(true)
    }

    fn n_bytes(&self) -> u64 {
        match &self.storage {
            Storage::Plain { n_bytes, .. } => *n_bytes,
            Storage::Deflated(member) => member.n_bytes,
        }
    }
}

struct Reader<'a> {
    source: &'a NpySource,
    wanted: Wanted,
    bytes: Bytes,
    rows_per_block: usize,
    row: usize,
    rounded: Rounded,
}

impl BlockReader for Reader<'_> {
    fn next_block(&mut self) -> Result<Option<Block>> {
        let n = (self.source.header.n_rows - self.row).min(self.rows_per_block);
        if n == 0 {
            self.bytes.finish()?;
            self.source.input.check_unchanged()?;
            return Ok(None);
        }
        let block = if self.source.is_f32() {
            let (numbers, labels) = self.block::<f32>(n)?;
            Block { numbers: AnyArray::F32(numbers), labels }
        } else {
            let (numbers, labels) = self.block::<f64>(n)?;
            Block { numbers: AnyArray::F64(numbers), labels }
        };
        self.row += n;
        self.rounded.look(&block.numbers);
        Ok(Some(block))
    }

    fn findings(&self) -> Vec<Note> {
        self.rounded.notes()
    }

    fn bytes_read(&self) -> u64 {
        let header = &self.source.header;
        header.data_at + (self.row * header.n_columns * header.element.size()) as u64
    }
}

impl Reader<'_> {
    fn block<T: Real + std::fmt::Display>(&mut self, n: usize) -> Result<(Array2<T>, Vec<Labels>)> {
        let columns: Vec<usize> =
            self.wanted.numbers.iter().chain(&self.wanted.labels).copied().collect();
        let rows: Array2<T> = if self.source.header.is_fortran {
            self.columns(n, &columns)?
        } else {
            self.rows(n, &columns)?
        };
        let n_numbers = self.wanted.numbers.len();
        if n_numbers == columns.len() {
            return Ok((rows, Vec::new()));
        }
        let numbers = chosen_columns(&rows, &(0..n_numbers).collect::<Vec<_>>());
        let labels = rows.columns().into_iter().skip(n_numbers).map(|column| {
            let mut labels = Labels::default();
            column.iter().for_each(|value| labels.push(&value.to_string()));
            labels
        });
        Ok((numbers, labels.collect()))
    }

    /// Rows that lie one after the other.
    fn rows<T: Real>(&mut self, n: usize, columns: &[usize]) -> Result<Array2<T>> {
        let Header { element, n_columns, .. } = self.source.header;
        let at = (self.row * n_columns * element.size()) as u64;
        let mut all = Array2::<T>::default((n, n_columns));
        if let Some(out) = all.as_slice_mut() {
            if element.is_native(T::NUMERAL) {
                self.bytes.fill(at, bytemuck::cast_slice_mut(out))?;
            } else {
                let mut stored = vec![0; n * n_columns * element.size()];
                self.bytes.fill(at, &mut stored)?;
                let stripe = n_columns.max(1) * 64;
                let stored = stored.par_chunks(stripe * element.size());
                out.par_chunks_mut(stripe).zip(stored).for_each(|(out, b)| element.decode(b, out));
            }
        }
        if columns.iter().copied().eq(0..n_columns) {
            return Ok(all);
        }
        Ok(chosen_columns(&all, columns))
    }

    /// Rows of columns that lie one after the other.
    fn columns<T: Real>(&mut self, n: usize, columns: &[usize]) -> Result<Array2<T>> {
        let Header { element, n_rows, .. } = self.source.header;
        let (bytes, row) = (&self.bytes, self.row);
        let parts = columns.par_iter().map(|&column| {
            let mut stored = vec![0; n * element.size()];
            bytes.fill_shared(((column * n_rows + row) * element.size()) as u64, &mut stored)?;
            let mut numbers = vec![T::default(); n];
            element.decode(&stored, &mut numbers);
            Ok(numbers)
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        Ok(rows_of_columns(n, &parts.iter().map(Vec::as_slice).collect::<Vec<_>>()))
    }
}

/// The member that is asked for, or the only one.
fn choose(input: &InputFile, members: Vec<Member>, options: &NpyOptions) -> Result<Member> {
    let mut arrays: Vec<(String, Member)> = members
        .into_iter()
        .filter_map(|member| Some((member.name.strip_suffix(".npy")?.to_owned(), member)))
        .collect();
    let names =
        || arrays.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let file = input.path().display();
    if let Some(wanted) = &options.array {
        let wanted = wanted.strip_suffix(".npy").unwrap_or(wanted);
        return match arrays.iter().position(|(name, _)| name == wanted) {
            Some(found) => Ok(arrays.swap_remove(found).1),
            None => Err(Error::Usage {
                what: format!("{file} has no array `{wanted}`, but {}", names()),
                hint: arrays.first().map(|(name, _)| format!("--array {name}")),
            }),
        };
    }
    match arrays.len() {
        0 => Err(input.content("there is no array in this archive")),
        1 => Ok(arrays.swap_remove(0).1),
        n => Err(Error::Usage {
            what: format!("{file} has {n} arrays: {}", names()),
            hint: arrays.first().map(|(name, _)| format!("--array {name}")),
        }),
    }
}

fn read_header(input: &Arc<InputFile>, storage: &Storage) -> Result<Header> {
    let most = Header::MOST_BYTES as u64;
    let (start, n_bytes, name) = match storage {
        Storage::Plain { start, n_bytes } => {
            (input.read(*start, most.min(*n_bytes))?, *n_bytes, None)
        }
        Storage::Deflated(member) => {
            (bytes::beginning(input, member, most)?, member.n_bytes, Some(&member.name))
        }
    };
    let wrong = |what: String| match name {
        Some(name) => input.content(format!("array `{name}`: {what}")),
        None => input.content(what),
    };
    let header = Header::parse(&start).map_err(wrong)?;
    if header.n_rows == 0 || header.n_columns == 0 {
        let what = if header.n_rows == 0 { NO_ROWS } else { "there are no columns" };
        return Err(wrong(what.into()));
    }
    let (found, expected) = (n_bytes.saturating_sub(header.data_at), header.data_bytes());
    if found != expected {
        return Err(wrong(format!(
            "its shape ({}, {}) takes {expected} bytes, but there are {found}",
            header.n_rows, header.n_columns
        )));
    }
    Ok(header)
}
