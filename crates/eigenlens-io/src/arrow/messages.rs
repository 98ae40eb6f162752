//! Where the messages of a file or stream are, and their bytes.
//!
//! Every announced size is compared with the file before memory is asked for: the decoder believes
//! them, and a failed allocation cannot be caught.

use super::decoded;
use crate::error::{Error, Result};
use crate::positioned::InputFile;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{MessageHeader, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use eigenlens::memory::try_bytes;
use std::collections::HashMap;
use std::sync::Arc;

/// What a file or stream consists of.
pub(super) struct Messages {
    pub(super) schema: SchemaRef,
    /// Dictionaries and record batches in the order in which they count.
    pub(super) messages: Vec<Message>,
}

/// A dictionary or a record batch.
pub(super) struct Message {
    pub(super) is_dictionary: bool,
    /// Rows of the record batch; 0 for a dictionary.
    pub(super) n_rows: usize,
    header_at: u64,
    header_bytes: u64,
    pub(super) body_bytes: u64,
}

/// Finds all messages.
pub(super) fn index(input: &InputFile) -> Result<Messages> {
    let start = input.read(0, input.n_bytes().min(MAGIC.len() as u64))?;
    if start == MAGIC { index_file(input) } else { index_stream(input) }
}

/// Reads a message, with all claims of its header checked.
pub(super) fn read(input: &InputFile, message: &Message) -> Result<Loaded> {
    let header = input.read(message.header_at, message.header_bytes)?;
    let body = input.read(message.header_at + message.header_bytes, message.body_bytes)?;
    let loaded = Loaded { header, body: Buffer::from_vec(body) };
    decoded(input, || loaded.check())?;
    Ok(loaded)
}

/// A message in memory.
pub(super) struct Loaded {
    header: Vec<u8>,
    body: Buffer,
}

impl Loaded {
    /// Adds this dictionary to those known.
    pub(super) fn dictionary(
        &self,
        schema: &Schema,
        dictionaries: &mut HashMap<i64, ArrayRef>,
    ) -> Decoded<()> {
        let message = message_of(&self.header)?;
        let dictionary =
            message.header_as_dictionary_batch().ok_or_else(|| wrong("no dictionary"))?;
        read_dictionary(&self.body, dictionary, schema, dictionaries, &message.version())
    }

    /// These columns of the record batch.
    pub(super) fn record_batch(
        &self,
        schema: &SchemaRef,
        dictionaries: &HashMap<i64, ArrayRef>,
        columns: &[usize],
    ) -> Decoded<RecordBatch> {
        let message = message_of(&self.header)?;
        let batch = message.header_as_record_batch().ok_or_else(|| wrong("no record batch"))?;
        let schema = schema.clone();
        let version = message.version();
        read_record_batch(&self.body, batch, schema, dictionaries, Some(columns), &version)
    }

    /// Whether buffers lie in the body, and can have the size they claim after decompression.
    fn check(&self) -> Decoded<()> {
        let message = message_of(&self.header)?;
        let batch = match message.header_as_dictionary_batch() {
            Some(dictionary) => dictionary.data(),
            None => message.header_as_record_batch(),
        };
        let batch = batch.ok_or_else(|| wrong("neither dictionary nor record batch"))?;
        let mut decompressed = 0usize;
        for buffer in batch.buffers().into_iter().flatten() {
            let range =
                usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
            let bytes = range
                .and_then(|(start, length)| self.body.get(start..start.checked_add(length)?))
                .ok_or_else(|| wrong("a buffer lies outside of its record batch"))?;
            if batch.compression().is_some()
                && let Some((size, data)) = bytes.split_first_chunk::<8>()
            {
                // −1 stands for "not compressed".
                let size = usize::try_from(i64::from_le_bytes(*size).max(0)).unwrap_or(usize::MAX);
                if size / LARGEST_RATIO > data.len() {
                    return Err(wrong(&format!("{} bytes cannot become {size}", data.len())));
                }
                decompressed = decompressed.saturating_add(size);
            }
        }
        // Whether there is as much memory can only be found out by asking for it, kindly.
        try_bytes(decompressed as u64).map_err(|_| {
            let (what, needed) = ("a record batch, decompressed,".into(), decompressed as u64);
            ArrowError::ExternalError(Box::new(Error::OutOfMemory { what, needed }))
        })
    }
}

type Decoded<T> = std::result::Result<T, ArrowError>;

const MAGIC: &[u8] = b"ARROW1";

/// A block of Zstandard that repeats one byte is 4 bytes for 128 KiB; LZ4 reaches 255.
const LARGEST_RATIO: usize = 40_000;

/// Marks the beginning of a message since version 0.15 of the format.
const CONTINUATION: [u8; 4] = [0xff; 4];

fn index_file(input: &InputFile) -> Result<Messages> {
    let n_bytes = input.n_bytes();
    let tail_bytes = MAGIC.len() as u64 + 4;
    let tail_at = n_bytes.saturating_sub(tail_bytes);
    let tail = input.read(tail_at, n_bytes.min(tail_bytes))?;
    let length = match tail.split_first_chunk::<4>() {
        Some((length, MAGIC)) => u64::try_from(i32::from_le_bytes(*length)).ok(),
        _ => return Err(input.content("the Arrow file does not end as it should: it is cut off")),
    };
    let footer_at = length.and_then(|length| tail_at.checked_sub(length));
    let (Some(length), Some(footer_at)) = (length, footer_at) else {
        return Err(input.content("the footer is said to be longer than the file"));
    };
    let footer = input.read(footer_at, length)?;
    let (schema, blocks) = decoded(input, || {
        let footer = root_as_footer(&footer).map_err(|error| wrong(&error.to_string()))?;
        let schema = footer.schema().ok_or_else(|| wrong("there is no schema"))?;
        let blocks = footer.dictionaries().into_iter().flatten();
        let blocks = blocks.chain(footer.recordBatches().into_iter().flatten());
        let places = blocks.map(|b| (b.offset(), b.metaDataLength(), b.bodyLength()));
        Ok((Arc::new(try_fb_to_schema(schema)?), places.collect::<Vec<_>>()))
    })?;
    let mut messages = Vec::with_capacity(blocks.len());
    for (offset, header_bytes, body_bytes) in blocks {
        let number = |n: i64| {
            u64::try_from(n).map_err(|_| input.content("a record batch has a negative size"))
        };
        let (at, body_bytes) = (number(offset)?, number(body_bytes)?);
        let (prefix, _) = prefix(input, at)?;
        let header_bytes = number(header_bytes.into())?
            .checked_sub(prefix)
            .ok_or_else(|| input.content("a record batch without a header"))?;
        let Described::Content(message) = describe(input, at + prefix, header_bytes)? else {
            return Err(input.content("something else where a record batch should be"));
        };
        if message.body_bytes != body_bytes {
            return Err(input.content("footer and record batch disagree about a size"));
        }
        messages.push(message);
    }
    Ok(Messages { schema, messages })
}

fn index_stream(input: &InputFile) -> Result<Messages> {
    let mut schema = None;
    let mut messages = Vec::new();
    let mut at = 0;
    loop {
        if at == input.n_bytes() && schema.is_some() {
            return Err(input.content("the Arrow stream has no end mark: it is cut off"));
        }
        let (prefix, header_bytes) = prefix(input, at)?;
        if header_bytes == 0 {
            break;
        }
        let described = describe(input, at + prefix, header_bytes)?;
        at += prefix + header_bytes;
        match (described, &schema) {
            (Described::Schema(found), None) => schema = Some(found),
            (Described::Schema(_), Some(_)) => {
                return Err(input.content("the stream has two schemas"));
            }
            (Described::Content(_), None) => {
                return Err(input.content("the stream does not begin with its schema"));
            }
            (Described::Content(message), Some(_)) => {
                at += message.body_bytes;
                messages.push(message);
            }
        }
    }
    let schema = schema.ok_or_else(|| input.content("neither an Arrow file nor a stream"))?;
    Ok(Messages { schema, messages })
}

/// The length of what precedes a message's header, and of the header.
fn prefix(input: &InputFile, at: u64) -> Result<(u64, u64)> {
    let first = input.read(at, 4)?;
    let (bytes, length) =
        if first == CONTINUATION { (8, input.read(at + 4, 4)?) } else { (4, first) };
    let length = <[u8; 4]>::try_from(length.as_slice()).map(i32::from_le_bytes);
    match length.ok().and_then(|length| u64::try_from(length).ok()) {
        Some(length) => Ok((bytes, length)),
        None => Err(input.content("neither an Arrow file nor a stream")),
    }
}

enum Described {
    Schema(SchemaRef),
    Content(Message),
}

/// Looks at a message's header.
fn describe(input: &InputFile, header_at: u64, header_bytes: u64) -> Result<Described> {
    let header = input.read(header_at, header_bytes)?;
    let described = decoded(input, || {
        let message = message_of(&header)?;
        let body_bytes = u64::try_from(message.bodyLength())
            .map_err(|_| wrong("a record batch has a negative size"))?;
        let content = |is_dictionary, n_rows| {
            Described::Content(Message {
                is_dictionary,
                n_rows,
                header_at,
                header_bytes,
                body_bytes,
            })
        };
        match message.header_type() {
            MessageHeader::Schema => {
                let schema = message.header_as_schema().ok_or_else(|| wrong("no schema"))?;
                Ok(Described::Schema(Arc::new(try_fb_to_schema(schema)?)))
            }
            MessageHeader::DictionaryBatch => Ok(content(true, 0)),
            MessageHeader::RecordBatch => {
                let batch = message.header_as_record_batch();
                let n_rows = batch.and_then(|batch| u32::try_from(batch.length()).ok());
                let n_rows = n_rows.ok_or_else(|| wrong("an impossible number of rows"))?;
                Ok(content(false, n_rows as usize))
            }
            other => Err(wrong(&format!("a message of type {other:?}"))),
        }
    })?;
    if let Described::Content(message) = &described {
        let end =
            header_at.checked_add(header_bytes).and_then(|at| at.checked_add(message.body_bytes));
        if end.is_none_or(|end| end > input.n_bytes()) {
            return Err(input.content("a record batch is longer than the file: it is cut off"));
        }
    }
    Ok(described)
}

fn message_of(header: &[u8]) -> Decoded<arrow_ipc::Message<'_>> {
    root_as_message(header).map_err(|error| wrong(&error.to_string()))
}

fn wrong(what: &str) -> ArrowError {
    ArrowError::IpcError(what.into())
}
