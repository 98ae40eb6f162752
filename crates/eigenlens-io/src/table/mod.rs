//! Files as one table: opened, its columns chosen, loaded or streamed.

mod choice;
mod concatenated;
mod formats;
mod load;
mod patterns;
mod streamed;

pub use choice::{ColumnChoice, ColumnFate, Fate, Selection};
pub use concatenated::Concatenated;
pub use load::{InMemory, Loaded, Progress};
pub use patterns::nearest;
pub use streamed::Streamed;

use crate::csv::CsvOptions;
use crate::error::{Error, Result};
use crate::images::ImageOptions;
use crate::input::ExpansionLimit;
use crate::source::{BlockReader, Column, Location, Note, Source};
use std::path::{Path, PathBuf};

/// What is known about the files; the rest is found out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// About text tables.
    pub csv: CsvOptions,
    /// How much compressed files may expand.
    pub expansion: ExpansionLimit,
    /// About folders of images.
    pub images: ImageOptions,
    /// Which array of an NPZ archive is read, where it has several.
    pub array: Option<String>,
    /// Bytes of memory that reading may take, for formats whose pieces are read whole.
    pub memory: Option<u64>,
}

/// Opens one or more files as one table; `-` is standard input, a folder is one of images.
///
/// The format is found by content and, where that does not tell, by extension. Several files must
/// have the same columns by name, in any order.
pub fn open(paths: &[PathBuf], options: &ReadOptions) -> Result<Table> {
    let sources = paths
        .iter()
        .map(|path| Ok((path.clone(), formats::open(path, options)?)))
        .collect::<Result<Vec<_>>>()?;
    Table::new(sources)
}

/// A table whose rows have not been read yet.
pub struct Table {
    files: Vec<PathBuf>,
    source: Box<dyn Source>,
}

impl Table {
    /// A table of these sources, one below the other.
    pub fn new(mut sources: Vec<(PathBuf, Box<dyn Source>)>) -> Result<Self> {
        let files = sources.iter().map(|(file, _)| file.clone()).collect();
        let source = match sources.len() {
            0 => {
                let what = String::from("there is no input file");
                return Err(Error::Usage { what, hint: None });
            }
            1 => sources.remove(0).1,
            _ => Box::new(Concatenated::new(sources)?),
        };
        Ok(Self { files, source })
    }

    /// The files, as they were named.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Every column, in the order of the (first) file.
    pub fn columns(&self) -> &[Column] {
        self.source.columns()
    }

    /// What was found out or assumed about the files.
    pub fn notes(&self) -> &[Note] {
        self.source.notes()
    }

    /// The source behind it.
    pub fn source(&self) -> &dyn Source {
        self.source.as_ref()
    }

    /// Starts reading the numbers and labels of a selection, block by block.
    pub fn blocks(&self, selection: &Selection) -> Result<Box<dyn BlockReader + Send + '_>> {
        self.source.open(selection.wanted())
    }

    /// Where the row with this index (from 0) is in the files, where the format can tell. May read
    /// the files again.
    pub fn locate(&self, selection: &Selection, row: usize) -> Result<Option<Location>> {
        self.source.locate(selection.wanted(), row)
    }

    /// The file to be named in messages about the whole table.
    pub(crate) fn first_file(&self) -> &Path {
        self.files.first().map_or(Path::new("-"), PathBuf::as_path)
    }
}
