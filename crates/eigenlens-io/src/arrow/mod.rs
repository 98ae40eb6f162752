//! Arrow IPC files (also known as Feather 2) and streams, plain or with buffers compressed by LZ4
//! or Zstandard.
//!
//! | in the file | here |
//! | --- | --- |
//! | floats of 16, 32 and 64 bits; decimals | [`Kind::Float`] |
//! | integers, truth values, durations | [`Kind::Integer`] |
//! | text, dates, times, timestamps | [`Kind::Text`] (ISO 8601) |
//! | dictionaries | what their values are |
//! | nulls | [`Kind::Empty`] |
//! | lists, structures, maps, unions, bytes, intervals | [`Kind::Unusable`] |
//!
//! Missing values are NaN and empty labels. A reading holds one record batch. A stream must have
//! its end mark: without it nobody can say whether it is whole.

mod batches;
mod messages;
mod values;

pub use batches::numbers;

use crate::budget::{self, check_columns};
use crate::contain::contained;
use crate::error::{Error, NO_ROWS, Result};
use crate::exact::Rounded;
use crate::names::unique_names;
use crate::positioned::InputFile;
use crate::source::{Block, BlockReader, Column, Kind, Note, Source, Wanted};
use crate::transpose::{rows_of_columns, rows_per_block};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};
use eigenlens::AnyArray;
use messages::{Message, Messages};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

/// Opens an Arrow IPC file or stream and reads its description.
///
/// With a memory budget, a file whose largest record batch does not fit into it is refused.
pub fn open(path: &Path, memory: Option<u64>) -> Result<ArrowSource> {
    open_input(InputFile::open(path)?, memory)
}

/// The same for a file that is open already.
pub(crate) fn open_input(input: InputFile, memory: Option<u64>) -> Result<ArrowSource> {
    let Messages { schema, messages } = messages::index(&input)?;
    let n_rows = messages.iter().map(|message| message.n_rows).sum();
    if n_rows == 0 {
        return Err(input.content(NO_ROWS));
    }
    let largest = messages.iter().map(|message| message.body_bytes).max().unwrap_or(0);
    let what = || format!("the largest record batch of {}", input.path().display());
    budget::check(memory, largest, what)?;
    check_columns(memory, schema.fields().len(), input.path())?;
    let names = schema.fields().iter().map(|field| field.name().clone()).collect();
    let (names, notes) = unique_names(names);
    let kinds = schema.fields().iter().map(|field| values::kind(field.data_type()));
    let columns: Vec<Column> =
        names.into_iter().zip(kinds).map(|(name, kind)| Column { name, kind }).collect();
    let is_f32 = values::fits_f32(schema.fields().iter().map(|field| field.data_type()));
    Ok(ArrowSource { input, schema, messages, columns, n_rows, is_f32, notes })
}

/// An open Arrow IPC file or stream.
pub struct ArrowSource {
    input: InputFile,
    schema: SchemaRef,
    messages: Vec<Message>,
    columns: Vec<Column>,
    n_rows: usize,
    is_f32: bool,
    notes: Vec<Note>,
}

impl Source for ArrowSource {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_rows(&self) -> Option<usize> {
        Some(self.n_rows)
    }

    fn rows_guess(&self) -> usize {
        self.n_rows
    }

    fn is_f32(&self) -> bool {
        self.is_f32
    }

    fn notes(&self) -> &[Note] {
        &self.notes
    }

    fn open(&self, wanted: &Wanted) -> Result<Box<dyn BlockReader + Send + '_>> {
        self.input.check_unchanged()?;
        let all = wanted.numbers.iter().chain(&wanted.labels).copied();
        let mut projection: Vec<usize> = all.collect();
        projection.sort_unstable();
        projection.dedup();
        for &index in &projection {
            let what = match self.columns.get(index) {
                Some(Column { name, kind: Kind::Unusable(reason) }) => {
                    format!("column `{name}` cannot be read: {reason}")
                }
                Some(Column { name, kind: Kind::Text }) if wanted.numbers.contains(&index) => {
                    return Err(self.input.content_in(name, "it holds text, not numbers"));
                }
                Some(_) => continue,
                None => format!("there is no column {}", index + 1),
            };
            return Err(Error::Usage { what, hint: None });
        }
        let long = wanted.numbers.iter().enumerate().filter_map(|(position, &index)| {
            let is_long = values::is_long(self.schema.field(index).data_type());
            is_long.then(|| (position, self.columns[index].name.clone()))
        });
        let rounded = Rounded::new(long);
        let bytes_per_number = if self.is_f32 { 4 } else { 8 };
        Ok(Box::new(Reader {
            source: self,
            wanted: wanted.clone(),
            projection,
            rows_per_block: rows_per_block(wanted.numbers.len(), bytes_per_number),
            dictionaries: HashMap::new(),
            next_message: 0,
            batch: HashMap::new(),
            batch_rows: 0,
            row: 0,
            rows_read: 0,
            rounded,
        }))
    }

    fn has_values(&self, column: usize) -> Option<bool> {
        (self.columns.get(column)?.kind == Kind::Empty).then_some(false)
    }

    fn n_bytes(&self) -> u64 {
        self.input.n_bytes()
    }
}

struct Reader<'a> {
    source: &'a ArrowSource,
    wanted: Wanted,
    projection: Vec<usize>,
    rows_per_block: usize,
    dictionaries: HashMap<i64, ArrayRef>,
    next_message: usize,
    /// The wanted columns of the current record batch.
    batch: HashMap<usize, ArrayRef>,
    batch_rows: usize,
    row: usize,
    rows_read: usize,
    rounded: Rounded,
}

impl BlockReader for Reader<'_> {
    fn next_block(&mut self) -> Result<Option<Block>> {
        while self.row == self.batch_rows {
            let Some(message) = self.source.messages.get(self.next_message) else {
                self.source.input.check_unchanged()?;
                return Ok(None);
            };
            self.next_message += 1;
            self.batch.clear();
            self.read_message(message)?;
        }
        let n = (self.batch_rows - self.row).min(self.rows_per_block);
        let block = self.block(self.row, n)?;
        self.row += n;
        self.rows_read += n;
        self.rounded.look(&block.numbers);
        Ok(Some(block))
    }

    fn findings(&self) -> Vec<Note> {
        self.rounded.notes()
    }

    fn bytes_read(&self) -> u64 {
        let share = self.source.n_bytes() as u128 * self.rows_read as u128;
        (share / self.source.n_rows as u128) as u64
    }
}

impl Reader<'_> {
    /// Takes up a dictionary, or makes a record batch the current one.
    fn read_message(&mut self, message: &Message) -> Result<()> {
        let input = &self.source.input;
        let bytes = messages::read(input, message)?;
        let schema = &self.source.schema;
        if message.is_dictionary {
            let dictionaries = &mut self.dictionaries;
            return decoded(input, || bytes.dictionary(schema, dictionaries));
        }
        // Each thread decompresses some of the columns.
        let share = self.projection.len().div_ceil(rayon::current_num_threads()).max(1);
        let parts: Vec<RecordBatch> = self
            .projection
            .par_chunks(share)
            .map(|columns| {
                decoded(input, || bytes.record_batch(schema, &self.dictionaries, columns))
            })
            .collect::<Result<_>>()?;
        let arrays = parts.iter().flat_map(|part| part.columns().iter().cloned());
        self.batch = self.projection.iter().copied().zip(arrays).collect();
        if self.batch.values().any(|array| array.len() != message.n_rows) {
            return Err(input.content("a column has not as many rows as its record batch"));
        }
        self.batch_rows = message.n_rows;
        self.row = 0;
        Ok(())
    }

    fn block(&self, start: usize, n: usize) -> Result<Block> {
        let numbers = if self.source.is_f32 {
            AnyArray::F32(rows_of_columns(n, &slices(&self.number_columns::<f32>(start, n)?)))
        } else {
            AnyArray::F64(rows_of_columns(n, &slices(&self.number_columns::<f64>(start, n)?)))
        };
        let labels =
            self.wanted.labels.par_iter().map(|&column| {
                self.convert(column, |array| values::labels(&array.slice(start, n)))
            });
        Ok(Block { numbers, labels: labels.collect::<Result<_>>()? })
    }

    fn number_columns<T: values::Number>(
        &self,
        start: usize,
        n: usize,
    ) -> Result<Vec<Cow<'_, [T]>>> {
        let columns = self.wanted.numbers.par_iter();
        columns
            .map(|&column| self.convert(column, |array| values::numbers::<T>(array, start, n)))
            .collect()
    }

    fn convert<'b, T>(
        &'b self,
        column: usize,
        convert: impl FnOnce(&'b ArrayRef) -> Option<T>,
    ) -> Result<T> {
        let input = &self.source.input;
        let failed = |what: String| input.content_in(&self.source.columns[column].name, what);
        let array = self.batch.get(&column);
        contained(|| array.and_then(convert))
            .map_err(failed)?
            .ok_or_else(|| failed("it cannot be converted".into()))
    }
}

fn slices<'a, T: Clone>(columns: &'a [Cow<'_, [T]>]) -> Vec<&'a [T]> {
    columns.iter().map(|column| column.as_ref()).collect()
}

/// Runs a decoder; whatever it says or does is an error of ours.
fn decoded<T>(
    input: &InputFile,
    decode: impl FnOnce() -> std::result::Result<T, ArrowError>,
) -> Result<T> {
    let malformed = |what: String| input.content(format!("not readable as Arrow: {what}"));
    contained(decode).map_err(malformed)?.map_err(|error| match error {
        ArrowError::ExternalError(source) => match source.downcast::<Error>() {
            Ok(ours) => *ours,
            Err(source) => malformed(source.to_string()),
        },
        error => malformed(error.to_string()),
    })
}
