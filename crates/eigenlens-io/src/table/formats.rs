//! Which format a file has. A new format is one row.

use super::ReadOptions;
use crate::csv::CsvSource;
use crate::error::{Error, Place, Result};
use crate::file_kind::FileKind;
use crate::input::Input;
use crate::npy::NpyOptions;
use crate::positioned::InputFile;
use crate::source::Source;
use crate::{arrow, images, npy, parquet, pool};
use std::path::Path;

/// A format of tables.
struct Format {
    /// Extensions in lower case, those of compressions removed.
    extensions: &'static [&'static str],
    /// What its files are by their first bytes (decompressed).
    kinds: &'static [FileKind],
    /// Looks at a file.
    open: fn(Input, &ReadOptions) -> Result<Box<dyn Source>>,
}

/// Every format. The first also is what a file is taken for that none recognises.
const FORMATS: &[Format] = &[
    Format {
        extensions: &["csv", "tsv", "tab", "txt", "dat"],
        // Any bytes may be text; what cannot be is refused with its encoding named.
        kinds: &[],
        open: |input, options| Ok(Box::new(CsvSource::open(input, &options.csv)?)),
    },
    Format {
        extensions: &["parquet", "pq"],
        kinds: &[FileKind::Parquet],
        open: |input, _| Ok(Box::new(parquet::open_input(InputFile::of(&input)?)?)),
    },
    Format {
        extensions: &["arrow", "arrows", "feather", "ipc"],
        kinds: &[FileKind::Arrow],
        open: |input, options| {
            Ok(Box::new(arrow::open_input(InputFile::of(&input)?, options.memory)?))
        },
    },
    Format {
        extensions: &["npy", "npz"],
        kinds: &[FileKind::Npy, FileKind::Npz],
        open: |input, options| {
            let npy = NpyOptions { array: options.array.clone(), memory: options.memory };
            Ok(Box::new(npy::open_input(InputFile::of(&input)?, &npy)?))
        },
    },
];

/// Opens a file in the format that its content, else its extension says.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn Source>> {
    if path.is_dir() {
        // Every image is looked at: the one format that has work for several threads here.
        return Ok(Box::new(pool::run(|| images::open(path, &options.images))?));
    }
    let input = Input::open(path, options.expansion)?;
    let mut head = vec![0; FileKind::HEAD_BYTES];
    let n = input.reader()?.fill(&mut head)?;
    head.truncate(n);
    let extension = extension(path, &input);
    let by_name = || FORMATS.iter().find(|format| format.extensions.contains(&extension.as_str()));
    let format = match FileKind::of(&head) {
        Some(kind) => match FORMATS.iter().find(|format| format.kinds.contains(&kind)) {
            Some(format) => Some(format),
            // An archive need not begin with the array that is wanted.
            None if extension == "npz" => by_name(),
            None => match kind.not_a_table() {
                Some(what) => {
                    let (file, place) = (path.to_owned(), Place::default());
                    return Err(Error::Content { file, place, what });
                }
                None => by_name(),
            },
        },
        None => by_name(),
    };
    let format = format.unwrap_or(&FORMATS[0]);
    (format.open)(input, options)
}

/// The extension in lower case, that of the compression left out.
fn extension(path: &Path, input: &Input) -> String {
    let stem = path.with_extension("");
    let path = if input.compression().is_some() { stem.as_path() } else { path };
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}
