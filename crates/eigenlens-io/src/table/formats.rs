//! Which format a file has. A new format is one row.

use super::ReadOptions;
use crate::csv::{CsvOptions, CsvSource};
use crate::error::{Error, Place, Result};
use crate::file_kind::FileKind;
use crate::input::Input;
use crate::npy::NpyOptions;
use crate::positioned::InputFile;
use crate::source::Source;
use crate::{arrow, images, matrix_market, npy, parquet, pool};
use std::path::Path;

/// A format of tables.
struct Format {
    /// What a file of it is called.
    name: &'static str,
    /// Extensions in lower case, those of compressions removed.
    extensions: &'static [&'static str],
    /// What its files are by their first bytes (decompressed).
    kinds: &'static [FileKind],
    /// The options that it has, of those that not every format has ([`ReadOptions::given`]).
    options: &'static [&'static str],
    /// Looks at a file.
    open: Open,
}

/// What is looked at.
enum Open {
    File(fn(Input, &ReadOptions) -> Result<Box<dyn Source>>),
    Folder(fn(&Path, &ReadOptions) -> Result<Box<dyn Source>>),
}

/// Every format. The first also is what a file is taken for that none recognises.
const FORMATS: &[Format] = &[
    Format {
        name: "a text table",
        extensions: &["csv", "tsv", "tab", "txt", "dat"],
        // Any bytes may be text; what cannot be is refused with its encoding named.
        kinds: &[],
        options: &["delimiter", "header", "no_header", "decimal", "missing_mark", "skip_bad_rows"],
        open: Open::File(|input, options| {
            let csv = CsvOptions { memory: options.memory, ..options.csv.clone() };
            Ok(Box::new(CsvSource::open(input, &csv)?))
        }),
    },
    Format {
        name: "a Parquet file",
        extensions: &["parquet", "pq"],
        kinds: &[FileKind::Parquet],
        options: &[],
        open: Open::File(|input, options| {
            let input = InputFile::of(&input)?;
            Ok(Box::new(parquet::open_input(input, options.memory)?))
        }),
    },
    Format {
        name: "an Arrow file",
        extensions: &["arrow", "arrows", "feather", "ipc"],
        kinds: &[FileKind::Arrow],
        options: &[],
        open: Open::File(|input, options| {
            Ok(Box::new(arrow::open_input(InputFile::of(&input)?, options.memory)?))
        }),
    },
    Format {
        name: "a NumPy array",
        extensions: &["npy", "npz"],
        kinds: &[FileKind::Npy, FileKind::Npz],
        options: &["array"],
        open: Open::File(|input, options| {
            let npy = NpyOptions { array: options.array.clone(), memory: options.memory };
            Ok(Box::new(npy::open_input(InputFile::of(&input)?, &npy)?))
        }),
    },
    Format {
        name: "a sparse matrix of SciPy's",
        extensions: &[],
        kinds: &[FileKind::SparseNpz],
        options: &["samples", "row_names", "column_names"],
        open: Open::File(npy::sparse::open),
    },
    Format {
        name: "a Matrix Market file",
        extensions: &["mtx"],
        kinds: &[FileKind::MatrixMarket],
        options: &["samples", "row_names", "column_names"],
        open: Open::File(matrix_market::open),
    },
    Format {
        name: "a folder of images",
        extensions: &[],
        kinds: &[],
        options: &["size", "skip_bad_rows"],
        open: Open::Folder(|path, options| Ok(Box::new(images::open(path, &options.images)?))),
    },
];

/// Opens a file in the format that its content, else its extension says, or a folder.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn Source>> {
    let folder = FORMATS.iter().find(|format| matches!(format.open, Open::Folder(_)));
    let (format, input) = match folder.filter(|_| path.is_dir()) {
        Some(folder) => (folder, None),
        None => {
            let input = Input::open(path, options.expansion)?;
            (format_of(&input, options)?, Some(input))
        }
    };
    format.check(options)?;
    pool::run(|| match (&format.open, input) {
        (Open::File(open), Some(input)) => open(input, options),
        (Open::File(open), None) => open(Input::open(path, options.expansion)?, options),
        (Open::Folder(open), _) => open(path, options),
    })
}

impl Format {
    /// Refuses what is said about another kind of file.
    fn check(&self, options: &ReadOptions) -> Result<()> {
        match options.given().find(|option| !self.options.contains(option)) {
            Some(option) => Err(Error::Option { option, format: self.name }),
            None => Ok(()),
        }
    }
}

/// The format of a file.
fn format_of(input: &Input, options: &ReadOptions) -> Result<&'static Format> {
    let mut head = vec![0; FileKind::HEAD_BYTES];
    let n = input.reader()?.fill(&mut head)?;
    head.truncate(n);
    let extension = extension(input);
    let by_name = || FORMATS.iter().find(|format| format.extensions.contains(&extension.as_str()));
    let mut kind = FileKind::of(&head);
    if head.starts_with(b"PK") && options.array.is_none() && npy::sparse::is_sparse(input) {
        kind = Some(FileKind::SparseNpz);
    }
    let known = kind.and_then(|kind| FORMATS.iter().find(|format| format.kinds.contains(&kind)));
    let format = match (known, kind) {
        (Some(format), _) => Some(format),
        // An archive need not begin with the array that is wanted.
        (None, Some(kind)) if extension != "npz" => match kind.not_a_table() {
            Some(what) => {
                let (file, place) = (input.path().to_owned(), Place::default());
                return Err(Error::Content { file, place, what });
            }
            None => by_name(),
        },
        _ => by_name(),
    };
    Ok(format.unwrap_or(&FORMATS[0]))
}

/// The extension in lower case, that of the compression left out.
fn extension(input: &Input) -> String {
    let path = input.path();
    let stem = path.with_extension("");
    let path = if input.compression().is_some() { stem.as_path() } else { path };
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}
