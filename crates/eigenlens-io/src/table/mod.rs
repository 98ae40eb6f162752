//! Files as one table: opened, its columns chosen, loaded or streamed.

mod choice;
mod concatenated;
mod formats;
mod load;
mod metadata;
mod patterns;
mod streamed;

pub use choice::{ColumnChoice, ColumnFate, Fate, Selection};
pub use concatenated::Concatenated;
pub use load::{InMemory, Loaded, Numbers, Progress};
pub use metadata::{Joined, Metadata};
pub use patterns::nearest;
pub use streamed::Streamed;

use crate::csv::CsvOptions;
use crate::error::{Error, Result};
use crate::images::ImageOptions;
use crate::input::ExpansionLimit;
use crate::source::{BlockReader, Column, Location, Note, Source};
use crate::sparse::{MatrixOptions, Orientation};
use eigenlens::DataShape;
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
    /// About matrices whose files have no names.
    pub matrix: MatrixOptions,
    /// Which array of an NPZ archive is read, where it has several.
    pub array: Option<String>,
    /// Bytes of memory that reading may take, for formats whose pieces are read whole.
    pub memory: Option<u64>,
}

impl ReadOptions {
    /// The options that something is said about, and that only some formats have.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let (csv, images, matrix) = (&self.csv, &self.images, &self.matrix);
        [
            ("delimiter", csv.delimiter.is_some()),
            ("header", csv.header == Some(true)),
            ("no_header", csv.header == Some(false)),
            ("decimal", csv.decimal.is_some()),
            ("missing_mark", !csv.missing.is_empty()),
            ("skip_bad_rows", csv.skip_bad_rows || images.skip_broken),
            ("size", images.size.is_some()),
            ("array", self.array.is_some()),
            ("samples", matrix.orientation != Orientation::Auto),
            ("row_names", matrix.row_names.is_some()),
            ("column_names", matrix.column_names.is_some()),
        ]
        .into_iter()
        .filter_map(|(option, is_given)| is_given.then_some(option))
    }
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

    /// The shape of a selection, as far as it is known without reading.
    pub fn shape(&self, selection: &Selection) -> DataShape {
        let (source, columns) = (self.source(), &selection.wanted().numbers);
        DataShape {
            n_samples: source.n_rows(),
            n_stored: source.sparse().map(|sparse| sparse.n_stored(columns)),
            is_f32: source.is_f32(),
            ..DataShape::dense(0, columns.len())
        }
    }

    /// Bytes of the features of a selection in memory, as far as known.
    pub fn n_bytes(&self, selection: &Selection) -> u64 {
        let (source, columns) = (self.source(), &selection.wanted().numbers);
        if let Some(sparse) = source.sparse() {
            return sparse.held_bytes(columns);
        }
        let rows = source.n_rows().unwrap_or_else(|| source.rows_guess()) as u64;
        let size = if source.is_f32() { 4 } else { 8 };
        rows.saturating_mul(columns.len() as u64).saturating_mul(size)
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
