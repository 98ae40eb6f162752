//! Names of rows and columns, in files beside the matrix.

use super::lines::Lines;
use super::{MatrixMarketOptions, Orientation};
use crate::error::{Error, Place, Result};
use crate::names::{numbered_names, unique_names};
use crate::positioned::InputFile;
use crate::source::Note;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is known about rows and columns, as the file stores them.
pub(super) struct Names {
    pub(super) rows: Option<Vec<String>>,
    pub(super) columns: Option<Vec<String>>,
    /// Whether samples are columns.
    pub(super) is_transposed: bool,
    pub(super) notes: Vec<Note>,
}

/// Looks for names: where the user says, beside the matrix under its name, then under customary
/// names.
pub(super) fn find(
    path: &Path,
    options: &MatrixMarketOptions,
    n_rows: usize,
    n_columns: usize,
) -> Result<Names> {
    let mut notes = Vec::new();
    let mut named = |explicit: &Option<PathBuf>, extension: &str, n: usize, what: &str| {
        let beside = || with_gz(path_beside(path, extension));
        let Some(file) = explicit.clone().or_else(beside) else { return Ok(None) };
        let names = read_names(&file, n)?;
        if names.len() != n {
            return Err(Error::Content {
                file,
                place: Place::default(),
                what: format!("{} names for {n} {what}", counted(names.len(), n)),
            });
        }
        notes.push(note(what, &file));
        Ok(Some(names))
    };
    let mut rows = named(&options.row_names, "rows", n_rows, "rows")?;
    let mut columns = named(&options.column_names, "columns", n_columns, "columns")?;
    let mut rows_are_features = false;
    for (customary, are_features) in CUSTOMARY {
        let folder = path.parent().unwrap_or(Path::new(""));
        let Some(file) = with_gz(folder.join(customary)) else { continue };
        let names = read_names(&file, n_rows.max(n_columns))?;
        let (fits_rows, fits_columns) = (names.len() == n_rows, names.len() == n_columns);
        // Where both fit: features are customarily rows, samples columns.
        let is_rows = if fits_rows && fits_columns { *are_features } else { fits_rows };
        let side = if is_rows { &mut rows } else { &mut columns };
        if (!fits_rows && !fits_columns) || side.is_some() {
            let found = format!("not used: its {} names fit no side", names.len());
            notes.push(Note::new(file.display().to_string(), found));
            continue;
        }
        *side = Some(names);
        rows_are_features |= is_rows == *are_features;
        notes.push(note(if is_rows { "rows" } else { "columns" }, &file));
    }
    let is_transposed = match options.orientation {
        Orientation::Auto => rows_are_features,
        Orientation::AsStored => false,
        Orientation::Transposed => true,
    };
    if is_transposed {
        notes.push(Note::new("samples", "the columns of the file"));
    }
    Ok(Names { rows, columns, is_transposed, notes })
}

/// Names of features: those given, each once, or numbers.
pub(super) fn of_features(
    names: Option<Vec<String>>,
    n: usize,
    notes: &mut Vec<Note>,
) -> Vec<String> {
    let Some(names) = names else { return numbered_names(n).collect() };
    let (names, found) = unique_names(names);
    notes.extend(found);
    names
}

/// Customary names of name files, and whether they name features.
const CUSTOMARY: &[(&str, bool)] = &[
    ("features.tsv", true),
    ("genes.tsv", true),
    ("terms.txt", true),
    ("barcodes.tsv", false),
    ("documents.txt", false),
];

/// `NAME.extension` for `NAME.mtx` or `NAME.mtx.gz`.
fn path_beside(path: &Path, extension: &str) -> PathBuf {
    let mut stem = path.to_owned();
    if stem.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz")) {
        stem.set_extension("");
    }
    stem.with_extension(extension)
}

/// The file, or the file with `.gz`, if there is one.
fn with_gz(file: PathBuf) -> Option<PathBuf> {
    if file.is_file() {
        return Some(file);
    }
    let mut compressed: OsString = file.into();
    compressed.push(".gz");
    let compressed = PathBuf::from(compressed);
    compressed.is_file().then_some(compressed)
}

/// One name per line; no more lines than one too many.
fn read_names(file: &Path, most: usize) -> Result<Vec<String>> {
    let input = Arc::new(InputFile::open(file)?);
    let mut lines = Lines::open(input.clone())?;
    let mut parts = Vec::new();
    while let Some(line) = lines.line()? {
        let line = String::from_utf8(line).map_err(|_| Error::Content {
            file: file.to_owned(),
            place: Place { line: Some(lines.next_line - 1), ..Place::default() },
            what: "text that is not UTF-8".into(),
        })?;
        let mut split = line.split('\t');
        let first = split.next().unwrap_or_default().trim().to_owned();
        let second = split.next().map(|name| name.trim().to_owned());
        parts.push((first, second.filter(|name| !name.is_empty())));
        if parts.len() > most {
            break;
        }
    }
    let mut uses: HashMap<String, usize> = HashMap::new();
    for name in parts.iter().filter_map(|(_, name)| name.as_ref()) {
        *uses.entry(name.clone()).or_default() += 1;
    }
    let name = |(identifier, name): (String, Option<String>)| match name {
        // A symbol of several genes needs its identifier beside it.
        Some(name) if uses.get(&name).is_some_and(|&n| n > 1) => format!("{name} ({identifier})"),
        Some(name) => name,
        None => identifier,
    };
    Ok(parts.into_iter().map(name).collect())
}

fn counted(n: usize, expected: usize) -> String {
    if n > expected { format!("more than {expected}") } else { n.to_string() }
}

fn note(what: &str, file: &Path) -> Note {
    Note::new(format!("names of {what}"), file.display().to_string())
}
