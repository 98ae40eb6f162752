//! A text file in large pieces of whole lines.

use crate::error::{Error, Place, Result};
use crate::input::{Input, InputReader};
use std::path::PathBuf;

/// Reads a text, compressed or not, in pieces that end with a line.
pub(crate) struct Lines {
    path: PathBuf,
    reader: InputReader,
    /// Bytes read after the last line that was given out.
    rest: Vec<u8>,
    is_at_end: bool,
    /// The number of the next line.
    pub(crate) next_line: u64,
}

impl Lines {
    pub(crate) fn open(input: &Input) -> Result<Lines> {
        let (path, reader) = (input.path().to_owned(), input.reader()?);
        Ok(Lines { path, reader, rest: Vec::new(), is_at_end: false, next_line: 1 })
    }

    /// The error that a line cannot be right.
    pub(crate) fn wrong(&self, line: u64, what: impl Into<String>) -> Error {
        let place = Place { line: Some(line), ..Place::default() };
        Error::Content { file: self.path.clone(), place, what: what.into() }
    }

    /// The next line without its end; `None` at the end of the file.
    pub(crate) fn line(&mut self) -> Result<Option<Vec<u8>>> {
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
    pub(crate) fn pieces(&mut self) -> Result<Vec<Vec<u8>>> {
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
        let waiting = self.rest.len();
        if waiting > LONGEST_LINE {
            let what = format!("it has more than {LONGEST_LINE} bytes");
            return Err(self.wrong(self.next_line, what));
        }
        let wanted = n.saturating_sub(waiting).max(SMALL);
        self.rest.resize(waiting + wanted, 0);
        let read = self.reader.fill(&mut self.rest[waiting..])?;
        self.rest.truncate(waiting + read);
        self.is_at_end |= read == 0;
        Ok(!self.is_at_end)
    }
}

const SMALL: usize = 1 << 12;
const PIECE: usize = 1 << 20;

/// No line of numbers is longer; without a bound a file of no lines would fill the memory.
const LONGEST_LINE: usize = 4 << 20;
