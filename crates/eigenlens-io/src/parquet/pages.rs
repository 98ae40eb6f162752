//! Pages of a column, with every announced size checked before memory is asked for.
//!
//! The decoder believes what page headers say. One flipped bit there would have it ask for
//! gigabytes, and a failed allocation cannot be caught.

use crate::budget;
use crate::error::Error;
use crate::positioned::{InputFile, PositionedRead};
use ::parquet::basic::Encoding;
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::reader::{ChunkReader, Length};
use ::parquet::file::serialized_reader::SerializedPageReader;
use bytes::Bytes;
use std::io::{BufRead, BufReader};
use std::sync::{Arc, Mutex, PoisonError};

/// Pages up to this size are believed; larger ones must be at most [`LARGEST_RATIO`] times as large
/// as what they are made from. Writers aim at a megabyte.
const PLAUSIBLE_PAGE: u64 = 64 << 20;

/// Deflate reaches 1032, and nobody compresses a large page better.
const LARGEST_RATIO: u64 = 1100;

/// A file read by position, so that columns can be read by several threads.
pub(super) struct Positioned {
    input: Arc<InputFile>,
    /// What the column claims to hold after decompression; no page can be larger. `None` where no
    /// pages are read.
    largest_page: Option<u64>,
    room: Room,
    buffers: Arc<Buffers>,
}

/// The memory that the pages of several columns may take which are read at the same time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) memory: Option<u64>,
    pub(super) n_columns: usize,
}

impl Room {
    /// Refuses a page, as it is stored and decompressed, where as large ones of all columns do not fit.
    fn check(&self, page: u64) -> Result<()> {
        let needed = page.saturating_mul(self.n_columns as u64);
        budget::check(self.memory, needed, || {
            format!("a page of {page} bytes for each of {} columns", self.n_columns)
        })
        .map_err(|error| ParquetError::External(Box::new(error)))
    }
}

/// Buffers of pages that are done with, for those to come: memory that is given back and asked for
/// again costs more than reading into it.
#[derive(Default)]
pub(super) struct Buffers(Mutex<Vec<Vec<u8>>>);

/// A buffer that goes back when nobody looks at it any more.
struct PooledBuffer {
    bytes: Vec<u8>,
    length: usize,
    home: Arc<Buffers>,
}

impl AsRef<[u8]> for PooledBuffer {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        let mut free = self.home.0.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(std::mem::take(&mut self.bytes));
    }
}

impl Buffers {
    fn take(self: &Arc<Buffers>, length: usize) -> PooledBuffer {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = free.pop().unwrap_or_default();
        if bytes.len() < length {
            bytes.resize(length, 0);
        }
        PooledBuffer { bytes, length, home: self.clone() }
    }
}

impl Positioned {
    /// For the footer.
    pub(super) fn new(input: Arc<InputFile>) -> Self {
        let room = Room { memory: None, n_columns: 1 };
        Positioned { input, largest_page: None, room, buffers: Default::default() }
    }

    /// For the pages of one column.
    pub(super) fn of_chunk(
        input: Arc<InputFile>,
        chunk: &ColumnChunkMetaData,
        room: Room,
        buffers: &Arc<Buffers>,
    ) -> Self {
        let largest_page = u64::try_from(chunk.uncompressed_size()).unwrap_or(0);
        Positioned { input, largest_page: Some(largest_page), room, buffers: buffers.clone() }
    }
}

impl Length for Positioned {
    fn len(&self) -> u64 {
        self.input.n_bytes()
    }
}

impl ChunkReader for Positioned {
    type T = BufReader<PositionedRead>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let from = PositionedRead::new(self.input.clone(), start, self.input.n_bytes());
        let mut read = BufReader::with_capacity(512, from);
        if let Some(largest) = self.largest_page {
            self.room.check(check_header(read.fill_buf()?, largest)?)?;
        }
        Ok(read)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let read = || {
            self.input.within(start, length as u64)?;
            let mut lent = self.buffers.take(length);
            self.input.fill(start, &mut lent.bytes[..length])?;
            Ok(Bytes::from_owner(lent))
        };
        read().map_err(|error: Error| ParquetError::External(Box::new(error)))
    }
}

/// The pages of one column chunk, each checked before it is decoded.
pub(super) struct Guarded {
    pages: SerializedPageReader<Positioned>,
    is_nullable: bool,
}

impl Guarded {
    pub(super) fn open(
        positioned: Positioned,
        chunk: &ColumnChunkMetaData,
        n_rows: usize,
    ) -> Result<Guarded> {
        let pages = SerializedPageReader::new(Arc::new(positioned), chunk, n_rows, None)?;
        Ok(Guarded { pages, is_nullable: chunk.column_descr().max_def_level() > 0 })
    }

    fn check(&self, page: &Page) -> Result<()> {
        match page {
            // Every value of a dictionary has at least one byte.
            Page::DictionaryPage { buf, num_values, .. } if *num_values as usize > buf.len() => {
                Err(implausible(format!(
                    "a dictionary of {num_values} values in {} bytes",
                    buf.len()
                )))
            }
            Page::DataPage { buf, num_values, encoding, .. } => {
                // Levels are behind their length in four bytes.
                let levels = match (self.is_nullable, buf.first_chunk::<4>()) {
                    (true, Some(length)) => u32::from_le_bytes(*length) as usize + 4,
                    _ => 0,
                };
                check_lengths(*encoding, buf.get(levels..).unwrap_or(&[]), *num_values)
            }
            Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, .. } => {
                let values = buf.get(*def_levels_byte_len as usize..).unwrap_or(&[]);
                check_lengths(*encoding, values, *num_values)
            }
            _ => Ok(()),
        }
    }
}

impl Iterator for Guarded {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Guarded {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.check(page)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

/// The sizes a page header begins with (Thrift compact protocol: type, uncompressed size,
/// compressed size, each a zigzag number behind a byte that says "next field, i32").
///
/// Gives both sizes together.
fn check_header(header: &[u8], largest: u64) -> Result<u64> {
    const NEXT_I32: u8 = 0x15;
    let mut rest = header;
    let mut field = || -> Option<u64> {
        let (&tag, after) = rest.split_first()?;
        let (number, after) = varint(after)?;
        rest = after;
        (tag == NEXT_I32 && number & 1 == 0).then_some(number >> 1)
    };
    let (Some(_kind), Some(size), Some(stored)) = (field(), field(), field()) else {
        return Err(implausible("a page header that does not begin with its sizes".into()));
    };
    if size > largest || (size > PLAUSIBLE_PAGE && size / LARGEST_RATIO > stored) {
        return Err(implausible(format!(
            "a page of {size} bytes, made from {stored}, in a column of {largest}"
        )));
    }
    Ok(size.saturating_add(stored))
}

/// Text encodings begin with the lengths as packed differences, and how many there are: as many as
/// the page has values, at most.
fn check_lengths(encoding: Encoding, values: &[u8], n_values: u32) -> Result<()> {
    let parts = match encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => 0,
    };
    let mut rest = values;
    for _ in 0..parts {
        let Some((count, after)) = skip_packed(rest) else {
            return Err(implausible("lengths of texts that cannot be unpacked".into()));
        };
        if count > u64::from(n_values) {
            return Err(implausible(format!("{count} texts in a page of {n_values}")));
        }
        rest = after;
    }
    Ok(())
}

/// Steps over one DELTA_BINARY_PACKED sequence: its count, and what follows it.
fn skip_packed(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (block_size, rest) = varint(bytes)?;
    let (n_mini_blocks, rest) = varint(rest)?;
    let (count, rest) = varint(rest)?;
    let (_first, mut rest) = varint(rest)?;
    let per_mini_block = block_size.checked_div(n_mini_blocks).filter(|&n| n > 0)?;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        let (_smallest, after) = varint(rest)?;
        let (widths, after) = after.split_at_checked(usize::try_from(n_mini_blocks).ok()?)?;
        rest = after;
        for &width in widths {
            if left == 0 {
                break;
            }
            let n_bits = u64::from(width).checked_mul(per_mini_block)?;
            rest = rest.get(usize::try_from(n_bits / 8).ok()?..)?;
            left = left.saturating_sub(per_mini_block);
        }
    }
    Some((count, rest))
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0u64;
    for (i, &byte) in bytes.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7f).checked_shl(7 * i as u32)?;
        if byte < 0x80 {
            return Some((number, &bytes[i + 1..]));
        }
    }
    None
}

fn implausible(what: String) -> ParquetError {
    ParquetError::General(format!("the file claims {what}"))
}
