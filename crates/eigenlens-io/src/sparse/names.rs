//! Names of the rows and columns of a matrix, in files beside it.

use super::{MatrixOptions, Orientation, within};
use crate::error::{Error, Place, Result};
use crate::input::{ExpansionLimit, Input};
use crate::lines::Lines;
use crate::names::{numbered_names, unique_names};
use crate::source::{Column, Kind, Labels, Note};
use crate::table::ReadOptions;
use std::collections::HashMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The columns of a matrix as a table: the names of its samples, where there are any, and its features.
pub(crate) struct Names {
    pub(crate) columns: Vec<Column>,
    /// The text of the column `sample`.
    pub(crate) samples: Option<Labels>,
    /// Whether samples are the columns of the file.
    pub(crate) is_transposed: bool,
    pub(crate) notes: Vec<Note>,
}

impl Names {
    /// Looks for names: where the user says, beside the matrix under its name, then under customary
    /// names. The matrix has so many rows and columns as the file stores them, whose entries will
    /// take so many bytes: an error where there is no room for it.
    pub(crate) fn find(
        input: &Input,
        options: &ReadOptions,
        (n_rows, n_columns): (usize, usize),
        bytes_of_entries: u64,
    ) -> Result<Names> {
        let mut found =
            Found { rows: None, columns: None, rows_are_features: false, notes: vec![] };
        // Standard input has nothing beside it.
        let beside = (!input.is_spooled()).then(|| input.path());
        found.named(beside, &options.matrix, n_rows, n_columns)?;
        if let Some(path) = beside {
            found.customary(path.parent().unwrap_or(Path::new("")), n_rows, n_columns)?;
        }
        let is_transposed = match options.matrix.orientation {
            Orientation::Auto => found.rows_are_features,
            Orientation::AsStored => false,
            Orientation::Transposed => true,
        };
        let Found { rows, columns, mut notes, .. } = found;
        if is_transposed {
            notes.push(Note::new("samples", "the columns of the file"));
        }
        let (samples, features) = if is_transposed { (columns, rows) } else { (rows, columns) };
        let (n_samples, n_features) =
            if is_transposed { (n_columns, n_rows) } else { (n_rows, n_columns) };
        within(options.memory, input.path(), n_samples, n_features, bytes_of_entries)?;
        let (columns, found) = columns_of(features, n_features, samples.is_some());
        notes.extend(found);
        let samples = samples.map(|names| {
            let mut labels = Labels::default();
            names.iter().for_each(|name| labels.push(name));
            labels
        });
        Ok(Names { columns, samples, is_transposed, notes })
    }

    /// Which features these columns are; an error where one does not exist or is text.
    pub(crate) fn features(&self, columns: &[usize]) -> Result<Vec<usize>> {
        let n_labels = usize::from(self.samples.is_some());
        let feature = |&column: &usize| {
            self.check(&[column])?;
            let what = || format!("column `{}` is text", self.columns[column].name);
            column.checked_sub(n_labels).ok_or_else(|| Error::Usage { what: what(), hint: None })
        };
        columns.iter().map(feature).collect()
    }

    /// An error where columns do not exist.
    pub(crate) fn check(&self, columns: &[usize]) -> Result<()> {
        match columns.iter().find(|&&column| column >= self.columns.len()) {
            Some(column) => {
                let what = format!("there is no column {}", column + 1);
                Err(Error::Usage { what, hint: None })
            }
            None => Ok(()),
        }
    }

    /// The text of a column in some rows: the names of samples, or the numbers of a feature as they
    /// are given.
    pub(crate) fn labels<T: std::fmt::Display>(
        &self,
        column: usize,
        rows: Range<usize>,
        numbers: impl FnOnce(usize) -> Result<Vec<T>>,
    ) -> Result<Labels> {
        let mut labels = Labels::default();
        match (&self.samples, column) {
            (Some(names), 0) => {
                rows.for_each(|row| labels.push(names.get(row).unwrap_or_default()));
            }
            _ => {
                let feature = self.features(&[column])?[0];
                numbers(feature)?.iter().for_each(|value| labels.push(&value.to_string()));
            }
        }
        Ok(labels)
    }
}

/// What the column of the names of samples is called, unless a feature is.
const SAMPLE: &str = "sample";

/// The column of samples, and the features, each name once.
fn columns_of(
    names: Option<Vec<String>>,
    n_features: usize,
    has_samples: bool,
) -> (Vec<Column>, Vec<Note>) {
    let samples = has_samples.then(|| SAMPLE.to_owned());
    let (names, notes): (Vec<String>, _) = match names {
        // Features keep their names: models find them by it.
        Some(names) => unique_names(names.into_iter().chain(samples).collect()),
        None => (numbered_names(n_features).chain(samples).collect(), Vec::new()),
    };
    let column = |(index, name)| {
        let kind = if index < n_features { Kind::Float } else { Kind::Text };
        Column { name, kind }
    };
    let mut columns: Vec<Column> = names.into_iter().enumerate().map(column).collect();
    columns.rotate_right(usize::from(has_samples));
    (columns, notes)
}

/// Names of rows and columns, as the file stores them.
struct Found {
    rows: Option<Vec<String>>,
    columns: Option<Vec<String>>,
    rows_are_features: bool,
    notes: Vec<Note>,
}

impl Found {
    /// Names in files that the user named, or that have the name of the matrix.
    fn named(
        &mut self,
        path: Option<&Path>,
        options: &MatrixOptions,
        n_rows: usize,
        n_columns: usize,
    ) -> Result<()> {
        for (explicit, side, n, names) in [
            (&options.row_names, "rows", n_rows, &mut self.rows),
            (&options.column_names, "columns", n_columns, &mut self.columns),
        ] {
            let beside = || with_gz(path_beside(path?, side));
            let Some(file) = explicit.clone().or_else(beside) else { continue };
            let read = read_names(&file, n)?;
            if read.len() != n {
                let what = format!("{} names for {n} {side}", counted(read.len(), n));
                return Err(Error::Content { file, place: Place::default(), what });
            }
            self.notes.push(note(side, &file));
            *names = Some(read);
        }
        Ok(())
    }

    /// Names in files of this folder that are customarily called so.
    fn customary(&mut self, folder: &Path, n_rows: usize, n_columns: usize) -> Result<()> {
        for (customary, are_features) in CUSTOMARY {
            let Some(file) = with_gz(folder.join(customary)) else { continue };
            let names = read_names(&file, n_rows.max(n_columns))?;
            let (fits_rows, fits_columns) = (names.len() == n_rows, names.len() == n_columns);
            // Where both fit: features are customarily rows, samples columns.
            let is_rows = if fits_rows && fits_columns { *are_features } else { fits_rows };
            let side = if is_rows { &mut self.rows } else { &mut self.columns };
            if (!fits_rows && !fits_columns) || side.is_some() {
                let found = format!("not used: its {} names fit no side", names.len());
                self.notes.push(Note::new(file.display().to_string(), found));
                continue;
            }
            *side = Some(names);
            self.rows_are_features |= is_rows == *are_features;
            self.notes.push(note(if is_rows { "rows" } else { "columns" }, &file));
        }
        Ok(())
    }
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
    let mut lines = Lines::open(&Input::open(file, ExpansionLimit::default())?)?;
    let mut parts = Vec::new();
    while let Some(line) = lines.line()? {
        let not_text = |_| lines.wrong(lines.next_line - 1, "text that is not UTF-8");
        let line = String::from_utf8(line).map_err(not_text)?;
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
