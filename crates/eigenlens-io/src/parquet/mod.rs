//! Parquet files.
//!
//! | in the file | here |
//! | --- | --- |
//! | floats of 16, 32 and 64 bits; decimals | [`Kind::Float`] |
//! | integers, truth values | [`Kind::Integer`] |
//! | text, categories, JSON, dates, times, timestamps, UUIDs | [`Kind::Text`] (ISO 8601) |
//! | nulls | [`Kind::Empty`] |
//! | lists, structures, maps, bytes | [`Kind::Unusable`] |
//!
//! Missing values are NaN and empty labels. Columns are decoded in parallel, some thousands of rows
//! at a time: row groups are often as large as the file, columns are always many. A reading by blocks
//! holds one page of every wanted column, a reading into memory those of a few. Encrypted files are
//! refused.

mod column;
mod meaning;
mod pages;
mod whole;

use crate::budget::{self, check_columns};
use crate::contain::contained;
use crate::error::{Error, NO_ROWS, Result};
use crate::exact::Rounded;
use crate::names::unique_names;
use crate::positioned::InputFile;
use crate::source::{Block, BlockReader, Column, Kind, Note, Source, Told, Wanted};
use crate::transpose::{rows_of_columns, rows_per_block};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use ::parquet::file::statistics::Statistics;
use column::{Cells, ColumnCursor};
use eigenlens::AnyArray;
use meaning::Meaning;
use pages::{Buffers, Room};
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Opens a Parquet file and reads its description.
pub fn open(path: &Path) -> Result<ParquetSource> {
    open_input(InputFile::open(path)?, None)
}

/// The same for a file that is open already, in so much memory. The pages of the columns that are read
/// together must fit into it.
pub(crate) fn open_input(input: InputFile, memory: Option<u64>) -> Result<ParquetSource> {
    let input = Arc::new(input);
    check_footer(&input, memory)?;
    let whole = pages::Positioned::new(input.clone());
    let metadata = contained(|| ParquetMetaDataReader::new().parse_and_finish(&whole))
        .map_err(|panic| input.content(format!("not a readable Parquet file: {panic}")))?
        .map_err(|error| malformed(&input, None, error))?;
    let n_rows = checked_rows(&input, &metadata)?;
    let n_columns = metadata.file_metadata().schema_descr().root_schema().get_fields().len();
    check_columns(memory, n_columns, input.path())?;
    let (columns, meanings, notes) = contained(|| describe(&metadata))
        .map_err(|panic| input.content(format!("not a readable Parquet file: {panic}")))?;
    for (column, meaning) in columns.iter().zip(&meanings) {
        if let Ok((leaf, _)) = meaning {
            check_chunks(&input, &metadata, *leaf, &column.name)?;
        }
    }
    let is_f32 = meaning::fits_f32(meanings.iter().flatten().map(|(_, meaning)| *meaning));
    Ok(ParquetSource { input, metadata, columns, meanings, n_rows, is_f32, notes, memory })
}

/// An open Parquet file.
pub struct ParquetSource {
    input: Arc<InputFile>,
    metadata: ParquetMetaData,
    columns: Vec<Column>,
    /// For each column where its leaf is and what its bytes mean; `Err` for an unusable one.
    meanings: Meanings,
    n_rows: usize,
    is_f32: bool,
    notes: Vec<Note>,
    memory: Option<u64>,
}

impl Source for ParquetSource {
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
        let (numbers, labels) = self.usable(wanted)?;
        let rounded = self.rounded(&numbers);
        let bytes_per_number = if self.is_f32 { 4 } else { 8 };
        Ok(Box::new(Reader {
            source: self,
            rows_per_block: rows_per_block(numbers.len(), bytes_per_number),
            numbers,
            labels,
            next_group: 0,
            cursors: Vec::new(),
            left_in_group: 0,
            rows_read: 0,
            rounded,
            buffers: Arc::default(),
        }))
    }

    fn has_values(&self, column: usize) -> Option<bool> {
        let Ok((leaf, _)) = self.meanings.get(column)? else { return None };
        let groups = self.metadata.row_groups().iter().filter(|group| group.num_rows() > 0);
        let mut all_null = true;
        for group in groups {
            let statistics = group.column(*leaf).statistics()?;
            if has_least(statistics) {
                return Some(true);
            }
            all_null &= statistics.null_count_opt() == u64::try_from(group.num_rows()).ok();
        }
        all_null.then_some(false)
    }

    fn n_bytes(&self) -> u64 {
        self.input.n_bytes()
    }

    fn read_whole(&self, wanted: &Wanted, told: &Told) -> Option<Result<(Block, Vec<Note>)>> {
        Some(self.whole(wanted, told))
    }
}

impl ParquetSource {
    /// The columns of numbers and of labels, if all of them can be read.
    fn usable(&self, wanted: &Wanted) -> Result<(Vec<usize>, Vec<usize>)> {
        let usable = |&index: &usize| match self.meanings.get(index) {
            Some(Ok(_)) => Ok(index),
            Some(Err(reason)) => Err(Error::Usage {
                what: format!("column `{}` cannot be read: {reason}", self.columns[index].name),
                hint: None,
            }),
            None => {
                Err(Error::Usage { what: format!("there is no column {}", index + 1), hint: None })
            }
        };
        let numbers = wanted.numbers.iter().map(usable).collect::<Result<Vec<_>>>()?;
        if let Some(&text) = numbers.iter().find(|&&index| self.columns[index].kind == Kind::Text) {
            return Err(self
                .input
                .content_in(&self.columns[text].name, "it holds text, not numbers"));
        }
        let labels = wanted.labels.iter().map(usable).collect::<Result<Vec<_>>>()?;
        Ok((numbers, labels))
    }

    /// Whole numbers of 64 bits may be rounded.
    fn rounded(&self, numbers: &[usize]) -> Rounded {
        Rounded::new(numbers.iter().enumerate().filter_map(|(position, &index)| {
            let is_long = matches!(&self.meanings[index], Ok((_, meaning)) if meaning.is_long());
            is_long.then(|| (position, self.columns[index].name.clone()))
        }))
    }

    /// What pages may take where so many columns are read at the same time.
    fn room(&self, n_columns: usize) -> Room {
        Room { memory: self.memory, n_columns }
    }

    /// A reading of one column in one row group.
    fn cursor(
        &self,
        group: usize,
        index: usize,
        is_label: bool,
        room: Room,
        buffers: &Arc<Buffers>,
    ) -> Result<ColumnCursor> {
        let group = self.metadata.row_group(group);
        let name = &self.columns[index].name;
        let Some(Ok((leaf, meaning))) = self.meanings.get(index) else {
            return Err(self.input.content_in(name, "cannot be read"));
        };
        let chunk = group.column(*leaf);
        let n_rows = group.num_rows() as usize;
        let cells = match (is_label, self.is_f32) {
            (true, _) => Cells::Text(Default::default()),
            (false, true) => Cells::F32(Vec::new()),
            (false, false) => Cells::F64(Vec::new()),
        };
        contained(|| ColumnCursor::open(&self.input, chunk, n_rows, *meaning, cells, room, buffers))
            .map_err(|panic| self.input.content_in(name, panic))?
            .map_err(|error| malformed(&self.input, Some(name), error))
    }
}

/// Refuses a description that does not fit a budget, before it is decoded.
fn check_footer(input: &InputFile, memory: Option<u64>) -> Result<()> {
    // Decoded it takes several times its bytes.
    const DECODED: u64 = 8;
    let n_bytes = input.n_bytes();
    let tail = input.read(n_bytes.saturating_sub(8), n_bytes.min(8))?;
    let length = tail.first_chunk::<4>().map_or(0, |length| u32::from_le_bytes(*length));
    let needed = DECODED * u64::from(length).min(n_bytes);
    budget::check(memory, needed, || format!("the description of {}", input.path().display()))
}

type Meanings = Vec<std::result::Result<(usize, Meaning), String>>;

struct Reader<'a> {
    source: &'a ParquetSource,
    numbers: Vec<usize>,
    labels: Vec<usize>,
    rows_per_block: usize,
    next_group: usize,
    /// The numbers' cursors, then the labels', in the current row group.
    cursors: Vec<ColumnCursor>,
    left_in_group: usize,
    rows_read: usize,
    rounded: Rounded,
    buffers: Arc<Buffers>,
}

impl BlockReader for Reader<'_> {
    fn next_block(&mut self) -> Result<Option<Block>> {
        while self.left_in_group == 0 {
            if self.next_group == self.source.metadata.num_row_groups() {
                self.source.input.check_unchanged()?;
                return Ok(None);
            }
            self.open_group()?;
        }
        let n = self.left_in_group.min(self.rows_per_block);
        let source = self.source;
        let columns = self.numbers.iter().chain(&self.labels).copied();
        let columns: Vec<usize> = columns.collect();
        self.cursors
            .par_iter_mut()
            .zip(&columns)
            .try_for_each(|(cursor, &column)| source.read(cursor, column, n))?;
        self.left_in_group -= n;
        self.rows_read += n;
        let block = self.block(n);
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
    fn open_group(&mut self) -> Result<()> {
        let (source, group, buffers) = (self.source, self.next_group, &self.buffers);
        let room = source.room(self.numbers.len() + self.labels.len());
        let numbers = self.numbers.iter().map(|&column| (column, false));
        let labels = self.labels.iter().map(|&column| (column, true));
        self.cursors = (numbers.chain(labels))
            .map(|(column, is_label)| source.cursor(group, column, is_label, room, buffers))
            .collect::<Result<_>>()?;
        self.left_in_group = source.metadata.row_group(group).num_rows() as usize;
        self.next_group += 1;
        Ok(())
    }

    fn block(&mut self, n: usize) -> Block {
        let (numbers, labels) = self.cursors.split_at_mut(self.numbers.len());
        let numbers = if self.source.is_f32 {
            let columns: Vec<&[f32]> = numbers.iter().map(|c| c.cells.as_f32()).collect();
            AnyArray::F32(rows_of_columns(n, &columns))
        } else {
            let columns: Vec<&[f64]> = numbers.iter().map(|c| c.cells.as_f64()).collect();
            AnyArray::F64(rows_of_columns(n, &columns))
        };
        Block { numbers, labels: labels.iter_mut().map(|c| c.cells.take_text()).collect() }
    }
}

/// Whether there is a least value, which NaN is not whatever a writer says.
fn has_least(statistics: &Statistics) -> bool {
    match statistics {
        Statistics::Float(values) => values.min_opt().is_some_and(|least| !least.is_nan()),
        Statistics::Double(values) => values.min_opt().is_some_and(|least| !least.is_nan()),
        Statistics::FixedLenByteArray(_) => false,
        other => other.min_bytes_opt().is_some(),
    }
}

/// The number of rows, which must be what the row groups say.
fn checked_rows(input: &InputFile, metadata: &ParquetMetaData) -> Result<usize> {
    let mut total = 0usize;
    for (i, group) in metadata.row_groups().iter().enumerate() {
        total =
            usize::try_from(group.num_rows()).ok().and_then(|n| total.checked_add(n)).ok_or_else(
                || input.content(format!("row group {} claims {} rows", i + 1, group.num_rows())),
            )?;
    }
    let claimed = metadata.file_metadata().num_rows();
    if u64::try_from(claimed) != Ok(total as u64) {
        return Err(
            input.content(format!("the file claims {claimed} rows, its row groups have {total}"))
        );
    }
    if total == 0 {
        return Err(input.content(NO_ROWS));
    }
    Ok(total)
}

/// Every top-level field as a column.
fn describe(metadata: &ParquetMetaData) -> (Vec<Column>, Meanings, Vec<Note>) {
    let schema = metadata.file_metadata().schema_descr();
    let fields = schema.root_schema().get_fields();
    let (names, notes) = unique_names(fields.iter().map(|field| field.name().to_owned()).collect());
    let mut leaf = 0;
    let mut columns = Vec::with_capacity(fields.len());
    let mut meanings = Vec::with_capacity(fields.len());
    for (field, name) in fields.iter().zip(names) {
        let first = leaf;
        while leaf < schema.num_columns() && schema.get_column_root_idx(leaf) == columns.len() {
            leaf += 1;
        }
        let meaning = if leaf != first + 1 {
            Err(meaning::nested(field))
        } else {
            Meaning::of(field, &schema.column(first)).map(|meaning| (first, meaning))
        };
        let kind = match &meaning {
            Ok((_, meaning)) => meaning.kind(),
            Err(reason) => Kind::Unusable(reason.clone()),
        };
        columns.push(Column { name, kind });
        meanings.push(meaning);
    }
    (columns, meanings, notes)
}

/// What the footer claims about a column, against the file's length and the number of rows.
fn check_chunks(
    input: &InputFile,
    metadata: &ParquetMetaData,
    leaf: usize,
    name: &str,
) -> Result<()> {
    for group in metadata.row_groups() {
        let chunk = group.column(leaf);
        let (start, end) = chunk_range(chunk)
            .ok_or_else(|| input.content_in(name, "its place in the file is a negative number"))?;
        if end > input.n_bytes() {
            return Err(input.content_in(
                name,
                format!(
                    "it is said to lie at bytes {start} to {end}, but the file has {} bytes",
                    input.n_bytes()
                ),
            ));
        }
        if chunk.num_values() != group.num_rows() {
            return Err(input.content_in(
                name,
                format!("it has {} values in {} rows", chunk.num_values(), group.num_rows()),
            ));
        }
        if chunk.file_path().is_some_and(|path| !path.is_empty()) {
            return Err(input.content_in(name, "its data are in another file, which is not read"));
        }
    }
    Ok(())
}

fn chunk_range(chunk: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let start = u64::try_from(start).ok()?;
    let length = u64::try_from(chunk.compressed_size()).ok()?;
    Some((start, start.checked_add(length)?))
}

/// What the decoder said, as an error of ours.
fn malformed(input: &InputFile, column: Option<&str>, error: ParquetError) -> Error {
    let what = match error {
        ParquetError::External(source) => match source.downcast::<Error>() {
            Ok(ours) => return *ours,
            Err(source) => source.to_string(),
        },
        other => other.to_string(),
    };
    let what = format!("not readable as Parquet: {}", what.trim_start_matches("Parquet error: "));
    match column {
        Some(name) => input.content_in(name, what),
        None => input.content(what),
    }
}
