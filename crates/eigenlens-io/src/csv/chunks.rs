//! A file cut into pieces of whole records, in bounded memory.

use super::fields::{Marks, Splitter, count_lines, is_nothing};
use super::parse::PADDING;
use crate::budget;
use crate::error::Error;
use crate::input::InputReader;

/// How a file is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// About the bytes of one piece.
    pub(super) chunk: usize,
    /// The longest field in quotes.
    pub(super) max_field: usize,
    /// The longest record.
    pub(super) max_record: usize,
    /// Bytes of memory that reading may take.
    pub(super) memory: Option<u64>,
}

/// What a byte of a record that is longer than a piece takes: as text, and its numbers.
const RECORD_BYTES: u64 = 8;

/// Some whole records. The buffer is kept from piece to piece.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    buffer: Vec<u8>,
    len: usize,
}

impl Chunk {
    /// The records.
    pub(super) fn records(&self) -> &[u8] {
        self.buffer.get(..self.len).unwrap_or_default()
    }

    /// The records, then at least [`PADDING`] zeros.
    pub(super) fn padded(&self) -> &[u8] {
        self.buffer.get(..self.len + PADDING).unwrap_or_default()
    }

    /// The length of the records.
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

/// Why no further piece comes.
#[derive(Debug)]
pub(super) enum ChunkFault {
    /// The file cannot be read.
    Input(Error),
    /// A record does not end where it must; the line counts from 0 at the start of this piece.
    Record { line: u64, what: String },
}

/// Cuts a file into [`Chunk`]s.
pub(super) struct Chunks {
    reader: InputReader,
    splitter: Splitter,
    /// The beginning of the next piece.
    carry: Vec<u8>,
    sizes: Sizes,
    marks: Marks,
    may_have_mark: bool,
    is_first: bool,
    is_done: bool,
}

impl Chunks {
    pub(super) fn new(reader: InputReader, marks: Marks, sizes: Sizes) -> Self {
        let splitter = Splitter::new(marks);
        Self {
            reader,
            splitter,
            carry: Vec::new(),
            sizes,
            marks,
            may_have_mark: true,
            is_first: true,
            is_done: false,
        }
    }

    /// The stored bytes read so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.reader.bytes_read()
    }

    /// Fills the chunk with the next records; `false` when there are none left.
    pub(super) fn next(&mut self, chunk: &mut Chunk) -> Result<bool, ChunkFault> {
        if self.is_done {
            return Ok(false);
        }
        let result = self.fill(chunk);
        if !matches!(result, Ok(true)) {
            self.is_done = true;
        }
        result
    }

    fn fill(&mut self, chunk: &mut Chunk) -> Result<bool, ChunkFault> {
        let buffer = &mut chunk.buffer;
        let mut filled = self.carry.len();
        reserve(buffer, filled)?;
        buffer[..filled].copy_from_slice(&self.carry);
        // The mark must not be split.
        let mut target = self.sizes.chunk.max(filled + 1).max(BOM.len());
        loop {
            reserve(buffer, target)?;
            let asked = target - filled;
            let got = self.reader.fill(&mut buffer[filled..target]).map_err(ChunkFault::Input)?;
            filled += got;
            if std::mem::take(&mut self.may_have_mark) && buffer[..filled].starts_with(BOM) {
                buffer.copy_within(BOM.len()..filled, 0);
                filled -= BOM.len();
            }
            let is_last = got < asked;
            self.splitter.scan(&buffer[..filled], is_last);
            if is_last {
                if let Some(open) = self.splitter.open() {
                    return Err(unclosed(&buffer[..open]));
                }
                self.is_done = true;
                self.carry.clear();
                return Ok(finish(chunk, filled));
            }
            let end = self.splitter.end();
            // The first piece holds a record, so that the header is in it.
            let is_empty = self.is_first && is_nothing(&buffer[..end], self.marks);
            if end > 0 && !is_empty {
                self.is_first = false;
                self.carry.clear();
                self.carry.extend_from_slice(&buffer[end..filled]);
                self.splitter.cut();
                return Ok(finish(chunk, end));
            }
            self.check_sizes(&buffer[..filled])?;
            target = filled + self.sizes.chunk.max(filled / 2);
            budget::check(self.sizes.memory, RECORD_BYTES * target as u64, long_row)
                .map_err(ChunkFault::Input)?;
        }
    }

    fn check_sizes(&self, record: &[u8]) -> Result<(), ChunkFault> {
        if let Some(open) = self.splitter.open()
            && record.len() - open > self.sizes.max_field
        {
            return Err(unclosed(&record[..open]));
        }
        if record.len() > self.sizes.max_record {
            let what = format!("no line end within {} bytes: is this a text table?", record.len());
            return Err(ChunkFault::Record { line: 0, what });
        }
        Ok(())
    }
}

/// The mark that some programs put before UTF-8 text.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

fn unclosed(before: &[u8]) -> ChunkFault {
    let what = String::from("a quote opens here and is never closed");
    ChunkFault::Record { line: count_lines(before), what }
}

/// What the memory is for.
fn long_row() -> String {
    "a row that is longer than a piece of text".into()
}

fn reserve(buffer: &mut Vec<u8>, len: usize) -> Result<(), ChunkFault> {
    let more = (len + PADDING).saturating_sub(buffer.len());
    budget::reserve(buffer, more, || "a piece of text".into()).map_err(ChunkFault::Input)?;
    buffer.resize(buffer.len() + more, 0);
    Ok(())
}

fn finish(chunk: &mut Chunk, len: usize) -> bool {
    chunk.len = len;
    chunk.buffer[len..len + PADDING].fill(0);
    len > 0
}
