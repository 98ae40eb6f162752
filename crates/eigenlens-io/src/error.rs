//! Why a file cannot be read or written: always which file, and where in it.

use std::fmt;
use std::path::PathBuf;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input does not exist or cannot be opened (exit code 66).
    #[error("{}: {source}", file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Reading failed half-way: the device, not the content (exit code 74).
    #[error("{}: reading failed: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The content cannot be right (exit code 65).
    #[error("{}{place}: {what}", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// Where in it.
        place: Place,
        /// What is wrong, with the value that came and what was expected.
        what: String,
    },
    /// A cell of a column of numbers holds something else (exit code 65).
    #[error("{}{place}: `{}` is not a number, but the column holds numbers", file.display(), cell.escape_debug())]
    BadCell {
        /// The file.
        file: PathBuf,
        /// Where in it.
        place: Place,
        /// What is there; the beginning, where it is long.
        cell: String,
    },
    /// The request does not fit the file or itself (exit code 64).
    #[error("{what}")]
    Usage {
        /// What does not fit.
        what: String,
        /// What would, as an argument that works when pasted.
        hint: Option<String>,
    },
    /// Something was said about reading that means nothing for this format (exit code 64).
    #[error("`{option}` does not fit {format}")]
    Option {
        /// The option, as in [`crate::ReadOptions`].
        option: &'static str,
        /// The format, in words.
        format: &'static str,
    },
    /// An output cannot be created (exit code 73) or written (exit code 74).
    #[error("{}: {}: {source}", file.display(), if *created { "writing failed" } else { "cannot be created" })]
    Write {
        /// The file.
        file: PathBuf,
        /// Whether it was open already when it failed.
        created: bool,
        /// What the system said.
        source: std::io::Error,
    },
    /// More memory is needed than the budget allows (exit code 71).
    #[error("{what} needs {needed} bytes of memory, but the budget is {budget}")]
    Memory {
        /// What needs it.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// The system does not give the memory that is needed (exit code 71).
    #[error("{what} needs {needed} bytes of memory, which the system does not give")]
    OutOfMemory {
        /// What needs it.
        what: String,
        /// Bytes needed.
        needed: u64,
    },
}

/// What is said of a file without rows, in every format.
pub(crate) const NO_ROWS: &str = "there are no rows";

impl Error {
    /// Whether nothing is wrong with the file but that it has no rows: a part of data in parts may be
    /// like that.
    pub fn is_no_rows(&self) -> bool {
        matches!(self, Error::Content { what, .. } if what.ends_with(NO_ROWS))
    }
}

/// Where in a file: as exact as the format allows. Lines and columns count from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The line of a text file.
    pub line: Option<u64>,
    /// The row of a table, where there are no lines.
    pub row: Option<u64>,
    /// The column's name or number.
    pub column: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(row) = self.row {
            write!(f, ", row {row}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column {column}")?;
        }
        Ok(())
    }
}
