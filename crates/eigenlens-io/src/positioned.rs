//! A file that is read by position, by several threads at once.

use crate::error::{Error, Place, Result};
use crate::input::Input;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// An open file, with what it looked like when it was opened.
#[derive(Debug)]
pub(crate) struct InputFile {
    path: PathBuf,
    file: File,
    stamp: Stamp,
}

/// What tells that a file was changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stamp {
    n_bytes: u64,
    modified: Option<SystemTime>,
}

impl InputFile {
    pub(crate) fn open(path: &Path) -> Result<InputFile> {
        Self::open_at(path, path)
    }

    /// An input that is read by position: also what was copied to a temporary file.
    pub(crate) fn of(input: &Input) -> Result<InputFile> {
        if input.compression().is_some() {
            return Err(Error::Usage {
                what: format!(
                    "{} is compressed as a whole, and its format is read by position",
                    input.path().display()
                ),
                hint: Some("decompress the file first".into()),
            });
        }
        let place = input.readable_path().ok_or_else(|| Error::Usage {
            what: format!("{}: this format needs a file", input.path().display()),
            hint: None,
        })?;
        Self::open_at(&place, input.path())
    }

    fn open_at(place: &Path, path: &Path) -> Result<InputFile> {
        let failed = |source| Error::Open { file: path.to_owned(), source };
        let file = File::open(place).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        if !metadata.is_file() {
            return Err(failed(io::Error::other(
                "this format is read by position, which needs a regular file",
            )));
        }
        Ok(InputFile { path: path.to_owned(), file, stamp: Stamp::of(&metadata) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The length when it was opened.
    pub(crate) fn n_bytes(&self) -> u64 {
        self.stamp.n_bytes
    }

    pub(crate) fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Some bytes. A range that claims more than the file holds is refused before any memory is
    /// asked for.
    pub(crate) fn read(&self, offset: u64, n_bytes: u64) -> Result<Vec<u8>> {
        let n = self.within(offset, n_bytes)?;
        let mut bytes = vec![0; n];
        self.fill(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// Fills `bytes` from `offset` on.
    pub(crate) fn fill(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.within(offset, bytes.len() as u64)?;
        read_exact_at(&self.file, bytes, offset).map_err(|source| {
            if source.kind() == io::ErrorKind::UnexpectedEof {
                self.content("the file became shorter while it was read")
            } else {
                Error::Read { file: self.path.clone(), source }
            }
        })
    }

    /// The length, if the file holds so many bytes there.
    pub(crate) fn within(&self, offset: u64, n_bytes: u64) -> Result<usize> {
        match offset.checked_add(n_bytes) {
            Some(end) if end <= self.n_bytes() => Ok(n_bytes as usize),
            _ => Err(self.content(format!(
                "{n_bytes} bytes are announced at byte {offset}, but the file has {} bytes",
                self.stamp.n_bytes
            ))),
        }
    }

    /// An error where the file is not what it was when it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        let failed = |source| Error::Read { file: self.path.clone(), source };
        let metadata = self.file.metadata().map_err(failed)?;
        if Stamp::of(&metadata) != self.stamp {
            return Err(self.content("the file changed while it was read"));
        }
        Ok(())
    }

    /// The error that this file cannot be right.
    pub(crate) fn content(&self, what: impl Into<String>) -> Error {
        Error::Content { file: self.path.clone(), place: Place::default(), what: what.into() }
    }

    /// The same, in a column.
    pub(crate) fn content_in(&self, column: &str, what: impl Into<String>) -> Error {
        Error::Content {
            file: self.path.clone(),
            place: Place { column: Some(format!("`{column}`")), ..Place::default() },
            what: what.into(),
        }
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        Stamp { n_bytes: metadata.len(), modified: metadata.modified().ok() }
    }

    pub(crate) fn n_bytes(self) -> u64 {
        self.n_bytes
    }
}

/// Reads on from a position of its own to an end.
pub(crate) struct PositionedRead {
    input: Arc<InputFile>,
    position: u64,
    end: u64,
}

impl PositionedRead {
    pub(crate) fn new(input: Arc<InputFile>, position: u64, end: u64) -> Self {
        let end = end.min(input.n_bytes());
        PositionedRead { input, position, end }
    }
}

impl Read for PositionedRead {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_sub(self.position);
        let n = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        self.input.fill(self.position, &mut bytes[..n]).map_err(|error| match error {
            Error::Read { source, .. } => source,
            other => io::Error::other(other.to_string()),
        })?;
        self.position += n as u64;
        Ok(n)
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                bytes = &mut bytes[n..];
                offset += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
