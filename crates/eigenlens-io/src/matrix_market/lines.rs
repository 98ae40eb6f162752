//! A text file in large pieces of whole lines.

use crate::error::{Error, Result};
use crate::positioned::{InputFile, PositionedRead};
use flate2::bufread::MultiGzDecoder;
use std::io::{BufReader, Read};
use std::sync::Arc;

/// Reads a text, plain or compressed by gzip, in pieces that end with a line.
pub(super) struct Lines {
    input: Arc<InputFile>,
    read: Box<dyn Read + Send>,
    /// Bytes read after the last line that was given out.
    rest: Vec<u8>,
    is_at_end: bool,
    /// The number of the next line.
    pub(super) next_line: u64,
}

impl Lines {
    pub(super) fn open(input: Arc<InputFile>) -> Result<Lines> {
        let start = input.read(0, input.n_bytes().min(2))?;
        let plain = PositionedRead::new(input.clone(), 0, u64::MAX);
        let read: Box<dyn Read + Send> = if start == [0x1f, 0x8b] {
            Box::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, plain)))
        } else {
            Box::new(plain)
        };
        Ok(Lines { input, read, rest: Vec::new(), is_at_end: false, next_line: 1 })
    }

    /// The next line without its end; `None` at the end of the file.
    pub(super) fn line(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            if let Some(end) = self.rest.iter().position(|&b| b == b'\n') {
                let mut line: Vec<u8> = self.rest.drain(..=end).collect();
                line.truncate(line.trim_ascii_end().len());
                self.next_line += 1;
                return Ok(Some(line));
            }
            if !self.fill(SMALL)? {
                self.next_line += 1;
                let mut line = std::mem::take(&mut self.rest);
                line.truncate(line.trim_ascii_end().len());
                return Ok((!line.is_empty()).then_some(line));
            }
        }
    }

    /// Whole lines, about as many megabytes as there are threads; empty at the end of the file.
    /// The caller counts the lines.
    pub(super) fn pieces(&mut self) -> Result<Vec<Vec<u8>>> {
        let mut pieces = Vec::new();
        while pieces.len() < 2 * rayon::current_num_threads() {
            let more = self.fill(PIECE)?;
            let end = match self.rest.iter().rposition(|&b| b == b'\n') {
                Some(end) => end + 1,
                None if more => continue,
                None => self.rest.len(),
            };
            let end = if more { end } else { self.rest.len() };
            let after = self.rest.split_off(end);
            let piece = std::mem::replace(&mut self.rest, after);
            if !piece.is_empty() {
                pieces.push(piece);
            }
            if !more {
                break;
            }
        }
        Ok(pieces)
    }

    /// Reads on until `n` bytes are waiting; false at the end of the file.
    fn fill(&mut self, n: usize) -> Result<bool> {
        if self.rest.len() > LONGEST_LINE {
            return Err(self
                .input
                .content(format!("line {} has more than {LONGEST_LINE} bytes", self.next_line)));
        }
        let wanted = (n.saturating_sub(self.rest.len())).max(SMALL) as u64;
        let read = self.read.by_ref().take(wanted).read_to_end(&mut self.rest);
        let read = read.map_err(|source| match source.kind() {
            std::io::ErrorKind::InvalidData
            | std::io::ErrorKind::InvalidInput
            | std::io::ErrorKind::UnexpectedEof => {
                self.input.content(format!("it cannot be decompressed: {source}"))
            }
            _ => Error::Read { file: self.input.path().to_owned(), source },
        })?;
        self.is_at_end |= read == 0;
        Ok(!self.is_at_end)
    }
}

const SMALL: usize = 1 << 12;
const PIECE: usize = 1 << 20;

/// No line of numbers is longer; without a bound a file of no lines would fill the memory.
const LONGEST_LINE: usize = 4 << 20;
