//! Which format a file has. A new format is one row.

use super::ReadOptions;
use crate::csv::CsvSource;
use crate::error::Result;
use crate::input::Input;
use crate::source::Source;
use std::path::Path;

/// A format of tables.
struct Format {
    /// Extensions in lower case, those of compressions removed.
    extensions: &'static [&'static str],
    /// Whether the first bytes (decompressed) can only be this format.
    recognises: fn(&[u8]) -> bool,
    /// Looks at a file.
    open: fn(Input, &ReadOptions) -> Result<Box<dyn Source>>,
}

/// Every format. The first also is what a file is taken for that none recognises.
const FORMATS: &[Format] = &[Format {
    extensions: &["csv", "tsv", "tab", "txt", "dat"],
    // Any bytes may be text; what cannot be is refused with its encoding named.
    recognises: |_| false,
    open: |input, options| Ok(Box::new(CsvSource::open(input, &options.csv)?)),
}];

/// How many bytes the formats may look at to recognise themselves.
const HEAD_BYTES: usize = 64;

/// Opens a file in the format that its content, else its extension says.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn Source>> {
    let input = Input::open(path, options.expansion)?;
    let mut head = vec![0; HEAD_BYTES];
    let n = input.reader()?.fill(&mut head)?;
    head.truncate(n);
    let extension = extension(path, &input);
    let by_content = FORMATS.iter().find(|format| (format.recognises)(&head));
    let by_name = || FORMATS.iter().find(|format| format.extensions.contains(&extension.as_str()));
    let format = by_content.or_else(by_name).unwrap_or(&FORMATS[0]);
    (format.open)(input, options)
}

/// The extension in lower case, that of the compression left out.
fn extension(path: &Path, input: &Input) -> String {
    let stem = path.with_extension("");
    let path = if input.compression().is_some() { stem.as_path() } else { path };
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}
