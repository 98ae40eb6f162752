//! The table: which columns become what, and its rows in memory or streamed.

use crate::arguments::{Common, Reading, WeightKind};
use crate::failure::Failure;
use crate::methods::AnyData;
use crate::progress::Progress;
use crate::talk::Talk;
use eigenlens::{Dataset, SampleWeights};
use eigenlens_io::csv::CsvOptions;
use eigenlens_io::{
    Block, Column, ColumnChoice, Fate, Kind, Labels, Loaded, Location, Numbers, OriginColumn,
    Place, ReadOptions, Selection, StoredModel, Table, Wanted, open,
};
use std::path::PathBuf;

/// A table that was looked at: its columns have their fate, its rows are not read.
pub struct Opened {
    table: Table,
    selection: Selection,
    /// Label columns, as indices; for a model they may be more than the selection's.
    labels: Vec<usize>,
    weights: Option<(usize, WeightKind)>,
    paths: Vec<PathBuf>,
}

/// The rows of a table.
pub struct Input<'a> {
    opened: &'a Opened,
    loaded: Loaded<'a>,
    labels: Vec<Labels>,
    weights: Option<SampleWeights>,
}

impl Opened {
    /// A table to fit: every column of numbers is a feature unless something else is said.
    pub fn for_fit(
        paths: &[PathBuf],
        reading: &Reading,
        common: &Common,
        talk: &Talk,
    ) -> Result<Opened, Failure> {
        let table = open(paths, &read_options(reading)?)?;
        let weights = weight_column(&table, reading)?;
        let mut features = reading.columns.clone();
        features.extend(weights.map(|(index, _)| format!("!{}", table.columns()[index].name)));
        let choice = ColumnChoice { features, labels: reading.labels.clone() };
        let selection = table.select(&choice)?;
        let labels = selection.wanted().labels.clone();
        let opened = Opened { table, selection, labels, weights, paths: paths.into() };
        opened.tell(common, talk)?;
        Ok(opened)
    }

    /// A table for a model: its features are found by name.
    pub fn for_model(
        paths: &[PathBuf],
        stored: &StoredModel,
        reading: &Reading,
        common: &Common,
        talk: &Talk,
    ) -> Result<Opened, Failure> {
        if !reading.columns.is_empty() {
            return Err(Failure::usage(
                "`--columns` does not fit a model, which finds its columns by name",
                "leave out `--columns`",
            ));
        }
        let table = open(paths, &read_options(reading)?)?;
        let weights = weight_column(&table, reading)?;
        let names: Vec<String> = match stored.model.feature_names() {
            Some(names) => names.to_vec(),
            None => stored.origin.columns.iter().map(|column| column.name.clone()).collect(),
        };
        let selection = table.select_named(&names)?;
        let labels = model_labels(&table, &selection, stored, reading)?;
        let opened = Opened { table, selection, labels, weights, paths: paths.into() };
        opened.tell(common, talk)?;
        Ok(opened)
    }

    /// What was read, used, skipped, and why.
    fn tell(&self, common: &Common, talk: &Talk) -> Result<(), Failure> {
        let notes: Vec<String> = self
            .table
            .notes()
            .iter()
            .map(|note| format!("{}: {}", note.what, note.found))
            .collect();
        let notes =
            if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        talk.say(format!("reading {}{notes}", self.name()));
        let features = self.feature_names();
        talk.say(format!("features: {}: {}", features.len(), listed(features)));
        let labels = self.label_names();
        if !labels.is_empty() {
            talk.say(format!("labels: {}", listed(&labels)));
        }
        if let Some((index, kind)) = self.weights {
            let kind = match kind {
                WeightKind::Frequency => "counts",
                WeightKind::Relative => "relative",
            };
            talk.say(format!("weights: {} ({kind})", self.table.columns()[index].name));
        }
        let skipped: Vec<String> = (self.selection.fates().iter().enumerate())
            .filter(|(index, fate)| {
                fate.fate == Fate::Skipped
                    && !self.labels.contains(index)
                    && self.weights.is_none_or(|(weight, _)| weight != *index)
            })
            .map(|(_, fate)| format!("{} ({})", fate.name, fate.reason))
            .collect();
        if !skipped.is_empty() {
            talk.say(format!("skipped: {}", listed(&skipped)));
        }
        for fate in self.selection.fates() {
            if let Some(warning) = &fate.warning {
                let warning = format!("column `{}` {warning}", fate.name);
                if common.strict {
                    return Err(Failure::Check(warning));
                }
                talk.warn(warning);
            }
        }
        Ok(())
    }

    /// The files in words.
    pub fn name(&self) -> String {
        let first = self.paths.first().map_or_else(String::new, |p| p.display().to_string());
        match self.paths.len() {
            0 | 1 => first,
            n => format!("{first} and {} more", n - 1),
        }
    }

    pub fn feature_names(&self) -> &[String] {
        self.selection.feature_names()
    }

    pub fn label_names(&self) -> Vec<String> {
        self.labels.iter().map(|&index| self.table.columns()[index].name.clone()).collect()
    }

    /// The features, for the model file.
    pub fn origin_columns(&self) -> Vec<OriginColumn> {
        let column = |&index: &usize| {
            let Column { name, kind } = &self.table.columns()[index];
            OriginColumn { name: name.clone(), kind: kind.name().into() }
        };
        self.selection.wanted().numbers.iter().map(column).collect()
    }

    /// The number of samples: as known, or as guessed from the size of the files.
    pub fn n_samples(&self) -> (Option<usize>, usize) {
        let source = self.table.source();
        (source.n_rows(), source.n_rows().unwrap_or_else(|| source.rows_guess()))
    }

    pub fn n_features(&self) -> usize {
        self.selection.wanted().numbers.len()
    }

    pub fn is_f32(&self) -> bool {
        self.table.source().is_f32()
    }

    /// Bytes of the features in memory, as far as known.
    pub fn table_bytes(&self) -> u64 {
        let size = if self.is_f32() { 4 } else { 8 };
        let entries = (self.n_samples().1 as u64).saturating_mul(self.n_features() as u64);
        entries.saturating_mul(size)
    }

    /// Reads the rows, if they take at most `memory` bytes; else they will be streamed.
    pub fn load<'a>(
        &'a self,
        memory: Option<u64>,
        progress: &'a Progress,
        tell: &'a (dyn Fn(u64, u64) + Sync),
        talk: &Talk,
    ) -> Result<Input<'a>, Failure> {
        let loaded = self.table.load(&self.selection, memory, Some(tell))?;
        let mut labels = Vec::new();
        if let Loaded::InMemory(read) = &loaded {
            for note in &read.findings {
                talk.say(format!("{}: {}", note.what, note.found));
            }
            labels = if self.labels == self.selection.wanted().labels {
                read.labels.clone()
            } else {
                self.read_labels()?
            };
        }
        let weights = self.read_weights()?;
        progress.pause();
        Ok(Input { opened: self, loaded, labels, weights })
    }

    /// Reads every row with its labels, block by block, in bounded memory.
    pub fn for_each_block(
        &self,
        progress: &Progress,
        mut work: impl FnMut(&Block, usize) -> Result<(), Failure>,
    ) -> Result<usize, Failure> {
        let numbers = self.selection.wanted().numbers.clone();
        let wanted = Wanted { numbers, labels: self.labels.clone() };
        let mut reader = self.table.source().open(&wanted)?;
        let mut first = 0;
        while let Some(block) = reader.next_block()? {
            work(&block, first)?;
            first += block.n_rows();
            progress.at(reader.bytes_read(), self.table.source().n_bytes());
        }
        if first == 0 {
            return Err(self.explain(eigenlens::Error::NoRows, 0));
        }
        Ok(first)
    }

    fn read_labels(&self) -> Result<Vec<Labels>, Failure> {
        let wanted = Wanted { numbers: Vec::new(), labels: self.labels.clone() };
        let mut all = vec![Labels::default(); self.labels.len()];
        let mut reader = self.table.source().open(&wanted)?;
        while let Some(block) = reader.next_block()? {
            for (all, more) in all.iter_mut().zip(&block.labels) {
                all.append(more);
            }
        }
        Ok(all)
    }

    fn read_weights(&self) -> Result<Option<SampleWeights>, Failure> {
        let Some((index, kind)) = self.weights else { return Ok(None) };
        let wanted = Wanted { numbers: vec![index], labels: Vec::new() };
        let mut all = Vec::new();
        let mut reader = self.table.source().open(&wanted)?;
        while let Some(block) = reader.next_block()? {
            match block.numbers {
                Numbers::F32(numbers) => all.extend(numbers.iter().map(|w| f64::from(*w))),
                Numbers::F64(numbers) => all.extend(numbers.iter()),
            }
        }
        Ok(Some(match kind {
            WeightKind::Frequency => SampleWeights::frequency(all),
            WeightKind::Relative => SampleWeights::relative(all),
        }))
    }

    /// An error of the library about these data, with file and line where it is about a cell.
    /// `first` is the row of the table that the library saw as row 0.
    pub fn explain(&self, error: eigenlens::Error, first: usize) -> Failure {
        use eigenlens::Error;
        let (row, column, what) = match &error {
            Error::MissingValue { row, column, .. } => (*row, Some(*column), "is missing".into()),
            Error::Infinite { row, column, value, .. } => {
                (*row, Some(*column), format!("is {value}"))
            }
            Error::NegativeCount { row, column, value } => {
                (*row, Some(*column), format!("is {value}, but a count must not be negative"))
            }
            Error::Weight { row, value } => (
                *row,
                None,
                format!("the weight is {value}, but it must be finite and not negative"),
            ),
            _ => return self.about_all(error),
        };
        let row = row + first;
        let found = self.table.locate(&self.selection, row).ok().flatten();
        let Location { file, mut place } = found.unwrap_or_else(|| Location {
            file: self.paths.first().cloned().unwrap_or_default(),
            place: Place { row: Some(row as u64 + 1), ..Place::default() },
        });
        let name = column.and_then(|c| self.feature_names().get(c));
        place.column = name.map(|name| format!("`{name}`"));
        Failure::Data {
            what: format!("{}{place} {what}", file.display()),
            hint: name
                .filter(|n| !n.contains(['\'', ',', '*', '?', '!', '[', '\n', '\u{1b}']))
                .map(|n| format!("mend the value, or leave the column out: `--columns '!{n}'`")),
        }
    }

    fn about_all(&self, error: eigenlens::Error) -> Failure {
        match Failure::from(error) {
            Failure::Library { error, .. } => {
                let samples = match &error {
                    eigenlens::Error::TooManyComponents { samples, .. } => Some(*samples),
                    _ => self.n_samples().0,
                };
                let samples = samples.map_or(String::new(), |n| format!("{n} samples, "));
                let data = format!("{} ({samples}{} features)", self.name(), self.n_features());
                Failure::Library { error, data: Some(data) }
            }
            other => other,
        }
    }
}

impl Input<'_> {
    /// The data as the library takes them.
    pub fn data(&self) -> Result<AnyData<'_>, Failure> {
        let names = self.opened.feature_names();
        let data = match &self.loaded {
            Loaded::InMemory(read) => match &read.numbers {
                Numbers::F32(x) => AnyData::F32(Dataset::from(x)),
                Numbers::F64(x) => AnyData::F64(Dataset::from(x)),
            },
            Loaded::Streamed(rows) if rows.is_f32() => AnyData::F32(Dataset::streamed(rows)),
            Loaded::Streamed(rows) => AnyData::F64(Dataset::streamed(rows)),
        };
        Ok(match data {
            AnyData::F32(d) => AnyData::F32(self.weighed(d.with_feature_names(names)?)),
            AnyData::F64(d) => AnyData::F64(self.weighed(d.with_feature_names(names)?)),
        })
    }

    fn weighed<'d, T: eigenlens::Scalar>(&self, data: Dataset<'d, T>) -> Dataset<'d, T> {
        match &self.weights {
            Some(weights) => data.with_weights(weights.clone()),
            None => data,
        }
    }

    pub fn is_streamed(&self) -> bool {
        matches!(self.loaded, Loaded::Streamed(_))
    }

    /// The numbers, where they are in memory.
    pub fn numbers(&self) -> Option<&Numbers> {
        match &self.loaded {
            Loaded::InMemory(read) => Some(&read.numbers),
            Loaded::Streamed(_) => None,
        }
    }

    /// The labels of every sample, one entry for each label column; none where streamed.
    pub fn labels(&self) -> &[Labels] {
        &self.labels
    }

    /// Bytes held in memory.
    pub fn bytes(&self) -> u64 {
        match self.numbers() {
            Some(Numbers::F32(x)) => 4 * x.len() as u64,
            Some(Numbers::F64(x)) => 8 * x.len() as u64,
            None => 0,
        }
    }
}

fn weight_column(table: &Table, reading: &Reading) -> Result<Option<(usize, WeightKind)>, Failure> {
    let Some(name) = &reading.weights else { return Ok(None) };
    let found = table.columns().iter().position(|column| column.name == *name);
    match found {
        Some(index) if matches!(table.columns()[index].kind, Kind::Float | Kind::Integer) => {
            Ok(Some((index, reading.weight_kind)))
        }
        Some(_) => {
            Err(Failure::Data { what: format!("the weights `{name}` are no numbers"), hint: None })
        }
        None => Err(no_column(table, name)),
    }
}

/// The label columns of a table for a model: those asked for, else its text and what were labels
/// when the model was fitted.
fn model_labels(
    table: &Table,
    selection: &Selection,
    stored: &StoredModel,
    reading: &Reading,
) -> Result<Vec<usize>, Failure> {
    let at = |name: &String| table.columns().iter().position(|column| column.name == *name);
    if !reading.labels.is_empty() {
        let index = |name| at(name).ok_or_else(|| no_column(table, name));
        return reading.labels.iter().map(index).collect();
    }
    let mut labels = selection.wanted().labels.clone();
    labels.extend(stored.origin.labels.iter().filter_map(at));
    labels.sort_unstable();
    labels.dedup();
    labels.retain(|index| !selection.wanted().numbers.contains(index));
    Ok(labels)
}

fn no_column(table: &Table, name: &str) -> Failure {
    let names: Vec<String> = table.columns().iter().map(|c| c.name.clone()).collect();
    Failure::usage(format!("there is no column `{name}`"), format!("there are {}", listed(&names)))
}

fn read_options(reading: &Reading) -> Result<ReadOptions, Failure> {
    let delimiter = match reading.delimiter.as_deref() {
        None => None,
        Some("tab" | "\\t") => Some(b'\t'),
        Some(text) if text.len() == 1 => Some(text.as_bytes()[0]),
        Some(text) => {
            return Err(Failure::usage(
                format!("`--delimiter` is `{text}`, but it must be one character"),
                "use `--delimiter ';'` or `--delimiter tab`",
            ));
        }
    };
    let csv = CsvOptions {
        delimiter,
        header: if reading.no_header { Some(false) } else { reading.header.then_some(true) },
        decimal: reading.decimal.as_ref().and_then(|mark| mark.bytes().next()),
        missing: reading.missing_mark.clone(),
        skip_bad_rows: reading.skip_bad_rows,
        ..CsvOptions::default()
    };
    Ok(ReadOptions { csv, ..ReadOptions::default() })
}

/// Names with commas between them, not too many.
pub fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}
