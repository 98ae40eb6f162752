//! Several sources as one, row below row.

use crate::error::{Error, Place, Result};
use crate::source::{Block, BlockReader, Column, Kind, Location, Note, Source, SparseRows, Wanted};
use crate::sparse::{AnyCsr, bytes_of, content};
use eigenlens::AnyArray;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Sources with the same columns by name, read one after the other.
pub struct Concatenated {
    parts: Vec<Part>,
    columns: Vec<Column>,
    notes: Vec<Note>,
    is_f32: bool,
    /// For messages about the whole.
    file: PathBuf,
}

struct Part {
    source: Box<dyn Source>,
    /// For each column of the table, its index in this source.
    indices: Vec<usize>,
}

impl Concatenated {
    /// Puts sources together; the first gives the order of the columns.
    pub fn new(sources: Vec<(PathBuf, Box<dyn Source>)>) -> Result<Self> {
        let Some((first_file, first)) = sources.first() else {
            let what = String::from("there is no input file");
            return Err(Error::Usage { what, hint: None });
        };
        let mut columns = first.columns().to_vec();
        let first_file = first_file.clone();
        let is_f32 = sources.iter().all(|(_, source)| source.is_f32());
        let mut seen = vec![Seen::default(); columns.len()];
        let (mut parts, mut notes) = (Vec::new(), Vec::new());
        for (file, source) in sources {
            let indices = matching(&columns, &first_file, source.columns(), &file)?;
            for (seen, &index) in seen.iter_mut().zip(&indices) {
                if let Some(own) = source.columns().get(index) {
                    seen.add(&own.kind, source.rows_guess(), &file);
                }
            }
            for note in source.notes() {
                let what = format!("{}, {}", file.display(), note.what);
                notes.push(Note { what, ..note.clone() });
            }
            parts.push(Part { source, indices });
        }
        for (column, seen) in columns.iter_mut().zip(&seen) {
            column.kind = seen.kind();
            if let (Kind::Text, Some(numbers)) = (&column.kind, &seen.numbers) {
                let what = format!("column `{}`", column.name.escape_debug());
                let found = format!("text, although {} has numbers", numbers.display());
                notes.push(Note::new(what, found));
            }
        }
        Ok(Self { parts, columns, notes, is_f32, file: first_file })
    }
}

impl Part {
    fn wanted(&self, wanted: &Wanted) -> Wanted {
        Wanted {
            numbers: self.own(&wanted.numbers),
            labels: self.own(&wanted.labels),
            required: self.own(&wanted.required),
        }
    }

    /// Where these columns are in this source.
    fn own(&self, columns: &[usize]) -> Vec<usize> {
        // An index that no column has stays one, so that the source refuses it.
        let own = |&index: &usize| self.indices.get(index).copied().unwrap_or(usize::MAX);
        columns.iter().map(own).collect()
    }
}

/// Where each column of the first file is in another.
fn matching(
    columns: &[Column],
    first_file: &Path,
    other: &[Column],
    file: &Path,
) -> Result<Vec<usize>> {
    let by_name: HashMap<&str, usize> =
        other.iter().enumerate().map(|(index, column)| (column.name.as_str(), index)).collect();
    let lacks = |file: &Path, name: &str, has_it: &Path| Error::Content {
        file: file.to_owned(),
        place: Place::default(),
        what: format!(
            "there is no column `{}`, but {} has it",
            name.escape_debug(),
            has_it.display()
        ),
    };
    let mut indices = Vec::with_capacity(columns.len());
    for column in columns {
        match by_name.get(column.name.as_str()) {
            Some(&index) => indices.push(index),
            None => return Err(lacks(file, &column.name, first_file)),
        }
    }
    let known: HashSet<usize> = indices.iter().copied().collect();
    if let Some(extra) = (0..other.len()).find(|index| !known.contains(index)) {
        return Err(lacks(first_file, &other[extra].name, file));
    }
    Ok(indices)
}

/// What a column is in the files so far.
#[derive(Clone, Default)]
struct Seen {
    /// Of the files where it holds numbers or text, what it is there and how many rows they have.
    kind: Option<Kind>,
    rows_of_numbers: usize,
    rows_of_text: usize,
    /// The first file where it holds numbers.
    numbers: Option<PathBuf>,
    /// What it is in files that say nothing about the others.
    other: Option<Kind>,
}

impl Seen {
    fn add(&mut self, kind: &Kind, rows: usize, file: &Path) {
        match kind {
            Kind::Float | Kind::Integer => {
                let is_whole = self.kind != Some(Kind::Float) && *kind == Kind::Integer;
                self.kind = Some(if is_whole { Kind::Integer } else { Kind::Float });
                self.rows_of_numbers = self.rows_of_numbers.saturating_add(rows);
                self.numbers.get_or_insert_with(|| file.to_owned());
            }
            Kind::Text => self.rows_of_text = self.rows_of_text.saturating_add(rows),
            Kind::Empty | Kind::Unusable(_) => {
                self.other.get_or_insert_with(|| kind.clone());
            }
        }
    }

    /// What most rows say, as within one file: a few that hold text do not make a feature vanish.
    fn kind(&self) -> Kind {
        match &self.kind {
            Some(kind) if self.rows_of_numbers > self.rows_of_text => kind.clone(),
            None if self.rows_of_text == 0 => self.other.clone().unwrap_or(Kind::Empty),
            _ => Kind::Text,
        }
    }
}

impl Source for Concatenated {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_rows(&self) -> Option<usize> {
        self.parts.iter().map(|part| part.source.n_rows()).sum()
    }

    fn rows_guess(&self) -> usize {
        self.parts.iter().map(|part| part.source.rows_guess()).fold(0, usize::saturating_add)
    }

    fn is_f32(&self) -> bool {
        self.is_f32
    }

    fn notes(&self) -> &[Note] {
        &self.notes
    }

    fn open(&self, wanted: &Wanted) -> Result<Box<dyn BlockReader + Send + '_>> {
        Ok(Box::new(Reader {
            table: self,
            wanted: wanted.clone(),
            next: 0,
            current: None,
            bytes_before: 0,
            findings: Vec::new(),
        }))
    }

    fn has_values(&self, column: usize) -> Option<bool> {
        let known = self
            .parts
            .iter()
            .map(|part| part.indices.get(column).and_then(|&own| part.source.has_values(own)));
        known.reduce(|one, other| match (one, other) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        })?
    }

    fn n_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.source.n_bytes()).sum()
    }

    fn sparse(&self) -> Option<&dyn SparseRows> {
        let is_sparse = self.parts.iter().all(|part| part.source.sparse().is_some());
        is_sparse.then_some(self)
    }

    fn locate(&self, wanted: &Wanted, row: usize) -> Result<Option<Location>> {
        let mut before = 0;
        for part in &self.parts {
            let own = part.wanted(wanted);
            let mut reader = part.source.open(&own)?;
            let mut n_rows = 0;
            while let Some(block) = reader.next_block()? {
                n_rows += block.n_rows();
                if before + n_rows > row {
                    return part.source.locate(&own, row - before);
                }
            }
            before += n_rows;
        }
        Ok(None)
    }
}

impl Concatenated {
    /// The parts as sparse rows, each with where these columns are in it.
    fn sparse_parts(
        &self,
        columns: &[usize],
    ) -> impl Iterator<Item = (&dyn SparseRows, Vec<usize>)> {
        self.parts.iter().filter_map(|part| Some((part.source.sparse()?, part.own(columns))))
    }
}

impl SparseRows for Concatenated {
    fn n_stored(&self, columns: &[usize]) -> usize {
        self.sparse_parts(columns).map(|(part, own)| part.n_stored(&own)).sum()
    }

    fn csr(&self, columns: &[usize]) -> Result<AnyCsr> {
        let parts = self.sparse_parts(columns).map(|(part, own)| part.csr(&own));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        AnyCsr::stacked(&parts).map_err(|error| content(&self.file, error.to_string()))
    }

    fn held_bytes(&self, columns: &[usize]) -> u64 {
        let parts = self.sparse_parts(columns).map(|(part, own)| part.held_bytes(&own));
        let all = bytes_of(self.rows_guess(), self.n_stored(columns), self.is_f32);
        parts.sum::<u64>() + all
    }
}

struct Reader<'a> {
    table: &'a Concatenated,
    wanted: Wanted,
    next: usize,
    current: Option<Box<dyn BlockReader + Send + 'a>>,
    bytes_before: u64,
    findings: Vec<Note>,
}

impl BlockReader for Reader<'_> {
    fn next_block(&mut self) -> Result<Option<Block>> {
        loop {
            if let Some(reader) = &mut self.current {
                if let Some(mut block) = reader.next_block()? {
                    if let (AnyArray::F32(single), false) = (&block.numbers, self.table.is_f32) {
                        block.numbers = AnyArray::F64(single.mapv(f64::from));
                    }
                    return Ok(Some(block));
                }
                self.findings.extend(reader.findings());
                self.bytes_before += reader.bytes_read();
                self.current = None;
            }
            let Some(part) = self.table.parts.get(self.next) else { return Ok(None) };
            self.current = Some(part.source.open(&part.wanted(&self.wanted))?);
            self.next += 1;
        }
    }

    fn bytes_read(&self) -> u64 {
        self.bytes_before + self.current.as_ref().map_or(0, |reader| reader.bytes_read())
    }

    fn findings(&self) -> Vec<Note> {
        let mut findings = self.findings.clone();
        findings.extend(self.current.iter().flat_map(|reader| reader.findings()));
        findings
    }
}
