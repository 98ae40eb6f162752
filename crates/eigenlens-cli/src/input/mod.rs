//! The data: which columns become what, and the rows in memory or streamed.

mod columns;
mod metadata;
mod options;
mod rows;

pub use columns::{ReadColumns, two_sets};
pub use rows::Input;

use crate::arguments::{Common, Reading, WeightKind};
use crate::failure::Failure;
use crate::reporter::Reporter;
use eigenlens::{AnyDataset, DataShape, Hint, Missing, Options, Prepared};
use eigenlens_io::{
    ColumnChoice, Fate, ImageShape, Location, Note, OriginColumn, Place, Selection, StoredModel,
    Table,
};
use metadata::JoinedMetadata;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Files that were looked at: their columns have their fate, their rows are not read.
pub struct Opened {
    table: Table,
    selection: Selection,
    /// Label columns, as indices; for a model they may be more than the selection's.
    labels: Vec<usize>,
    weights: Option<(usize, WeightKind)>,
    /// What was said about missing values.
    missing: Option<Missing>,
    most_missing: Option<f64>,
    /// Whether warnings are errors.
    strict: bool,
    /// The bytes of memory there are.
    memory: Option<u64>,
    /// Set when what only reading could find out has been told: another reading finds the same.
    told: OnceLock<()>,
    /// What helps where a value is missing and the data are for a model.
    for_model: Option<&'static str>,
    /// A second table, whose columns are labels too.
    metadata: Option<JoinedMetadata>,
}

impl Opened {
    /// Data to fit: every column of numbers is a feature unless something else is said. Target
    /// columns are labels.
    pub fn for_fit(
        paths: &[PathBuf],
        reading: &Reading,
        targets: &[String],
        common: &Common,
        reporter: &Reporter,
    ) -> Result<Opened, Failure> {
        let table = options::open(paths, reading, None, common)?;
        let weights = options::weight_column(&table, reading)?;
        let targets = options::target_columns(&table, reading, targets)?;
        let mut features = reading.columns.clone();
        features.extend(targets.iter().map(|&i| format!("!{}", table.columns()[i].name)));
        features.extend(weights.map(|(index, _)| format!("!{}", table.columns()[index].name)));
        let choice = ColumnChoice { features, labels: reading.labels.clone() };
        let selection = table.select(&choice)?;
        let mut labels = selection.wanted().labels.clone();
        let selection = options::requiring(selection, &table, &targets, weights);
        labels.extend(targets);
        labels.sort_unstable();
        labels.dedup();
        let opened = Opened::new(table, selection, labels, weights, reading, common);
        opened.tell(reporter)?;
        Ok(opened)
    }

    /// Data for a model: its features are found by name.
    pub fn for_model(
        paths: &[PathBuf],
        stored: &StoredModel,
        reading: &Reading,
        common: &Common,
        reporter: &Reporter,
    ) -> Result<Opened, Failure> {
        Opened::named(paths, stored, reading, false, common, reporter)
    }

    /// Data that a model completes: every other column is carried along, unless labels are named.
    pub fn for_filling(
        paths: &[PathBuf],
        stored: &StoredModel,
        reading: &Reading,
        common: &Common,
        reporter: &Reporter,
    ) -> Result<Opened, Failure> {
        Opened::named(paths, stored, reading, true, common, reporter)
    }

    fn named(
        paths: &[PathBuf],
        stored: &StoredModel,
        reading: &Reading,
        for_filling: bool,
        common: &Common,
        reporter: &Reporter,
    ) -> Result<Opened, Failure> {
        if !reading.columns.is_empty() {
            return Err(Failure::usage(
                "`--columns` does not fit a model, which finds its columns by name",
                "leave out `--columns`",
            ));
        }
        let names: Vec<String> = match stored.model.feature_names() {
            Some(names) => names.to_vec(),
            None => stored.origin.columns.iter().map(|column| column.name.clone()).collect(),
        };
        let table = options::open(paths, reading, stored.origin.image, common)?;
        let weights = options::weight_column(&table, reading)?;
        let selection = table.select_named(&names)?;
        let selection = options::requiring(selection, &table, &[], weights);
        let labels = match (for_filling, reading.labels.is_empty()) {
            (true, true) => options::other_columns(&table, &selection),
            (true, false) => options::named_labels(&table, reading)?,
            (false, _) => options::model_labels(&table, &selection, stored, reading)?,
        };
        let mut opened = Opened::new(table, selection, labels, weights, reading, common);
        opened.for_model = Some(against_missing_values(stored, reading.missing)?);
        opened.tell(reporter)?;
        Ok(opened)
    }

    fn new(
        table: Table,
        selection: Selection,
        labels: Vec<usize>,
        weights: Option<(usize, WeightKind)>,
        reading: &Reading,
        common: &Common,
    ) -> Opened {
        Opened {
            table,
            selection,
            labels,
            weights,
            missing: reading.missing,
            most_missing: reading.most_missing,
            strict: common.strict,
            memory: common.memory.map(|memory| memory.0),
            told: OnceLock::new(),
            for_model: None,
            metadata: None,
        }
    }

    /// What goes into missing entries before a model sees the data, unless they are to be refused.
    pub fn fill<'s>(&self, stored: &'s StoredModel) -> Option<&'s [f64]> {
        stored.preprocessing.fill.as_deref().filter(|_| self.missing != Some(Missing::Error))
    }

    /// Data prepared as in training, as far as was not said otherwise.
    pub fn prepared<'a>(
        &self,
        stored: &StoredModel,
        data: &AnyDataset<'a>,
    ) -> eigenlens::Result<Prepared<'a>> {
        let options = Options::default();
        match self.fill(stored) {
            Some(_) => stored.preprocessing.apply(data, &options),
            None => stored.preprocessing.without_fill().apply(data, &options),
        }
    }

    /// The policy for missing values.
    pub fn missing(&self) -> Missing {
        self.missing.unwrap_or_default()
    }

    /// Data with the policy that was asked for.
    pub fn with_policy<'d>(&self, data: AnyDataset<'d>) -> AnyDataset<'d> {
        let data = data.with_missing(self.missing());
        match self.most_missing {
            Some(share) => data.with_most_missing(share),
            None => data,
        }
    }

    /// What was read, used, skipped, and why.
    fn tell(&self, reporter: &Reporter) -> Result<(), Failure> {
        let note = |note: &Note| format!("{}: {}", note.what, note.found);
        let notes: Vec<String> = self.table.notes().iter().map(note).collect();
        let notes =
            if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        reporter.info(format!("reading {}{notes}", self.name()));
        let features = self.feature_names();
        reporter.info(format!("features: {}: {}", features.len(), listed(features)));
        let labels = self.label_names();
        if !labels.is_empty() {
            reporter.info(format!("labels: {}", listed(&labels)));
        }
        if let Some((index, kind)) = self.weights {
            let kind = match kind {
                WeightKind::Frequency => "counts",
                WeightKind::Relative => "relative",
            };
            reporter.info(format!("weights: {} ({kind})", self.table.columns()[index].name));
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
            reporter.info(format!("skipped: {}", listed(&skipped)));
        }
        for fate in self.selection.fates() {
            if let Some(warning) = &fate.warning {
                let warning = format!("column `{}` {warning}", fate.name);
                if self.strict {
                    return Err(Failure::Check(warning));
                }
                reporter.warn(warning);
            }
        }
        Ok(())
    }

    /// What only reading could find out, once.
    fn tell_findings(&self, findings: &[Note], reporter: &Reporter) -> Result<(), Failure> {
        if self.told.set(()).is_err() {
            return Ok(());
        }
        for note in findings {
            let words = format!("{}: {}", note.what, note.found);
            match (note.is_warning, self.strict) {
                (true, true) => return Err(Failure::Check(words)),
                (true, false) => reporter.warn(words),
                (false, _) => reporter.info(words),
            }
        }
        Ok(())
    }

    /// The files in words.
    pub fn name(&self) -> String {
        let paths = self.table.files();
        let first = paths.first().map_or_else(String::new, |p| p.display().to_string());
        match paths.len() {
            0 | 1 => first,
            n => format!("{first} and {} more", n - 1),
        }
    }

    pub fn feature_names(&self) -> &[String] {
        self.selection.feature_names()
    }

    pub fn label_names(&self) -> Vec<String> {
        let columns = self.table.columns();
        let own = self.labels.iter().map(|&index| columns[index].name.clone());
        own.chain(self.metadata.iter().flat_map(JoinedMetadata::names)).collect()
    }

    /// Where a column is among the labels; else why it is not.
    pub fn label(&self, name: &str) -> Result<usize, Failure> {
        if let Some(index) = self.label_names().iter().position(|label| label == name) {
            return Ok(index);
        }
        if self.table.columns().iter().all(|c| c.name != name) {
            return Err(options::no_column(&self.table, name));
        }
        Err(Failure::usage(
            format!("`{name}` is no label column"),
            format!("use `--labels {name}` to make it one"),
        ))
    }

    /// The features, for the model file.
    pub fn origin_columns(&self) -> Vec<OriginColumn> {
        (self.selection.wanted().numbers.iter())
            .map(|&index| &self.table.columns()[index])
            .map(|found| OriginColumn { name: found.name.clone(), kind: found.kind.name().into() })
            .collect()
    }

    /// The size of the images, where all their pixels are features.
    pub fn image_shape(&self) -> Option<ImageShape> {
        let shape = self.table.source().image_shape()?;
        (shape.width.checked_mul(shape.height) == Some(self.n_features())).then_some(shape)
    }

    /// The number of samples: as known, and as guessed from the size of the files.
    pub fn n_samples(&self) -> (Option<usize>, usize) {
        let source = self.table.source();
        (source.n_rows(), source.n_rows().unwrap_or_else(|| source.rows_guess()))
    }

    pub fn n_features(&self) -> usize {
        self.feature_names().len()
    }

    pub fn is_f32(&self) -> bool {
        self.table.source().is_f32()
    }

    /// Whether entries that are 0 are not stored; those that are, are in memory then.
    pub fn is_sparse(&self) -> bool {
        self.table.source().sparse().is_some()
    }

    /// The shape of the table, as far as the beginning of the files tells.
    pub fn shape(&self) -> DataShape {
        self.table.shape(&self.selection)
    }

    /// Bytes of the weights in memory, as read and as the library holds them.
    pub fn weight_bytes(&self) -> u64 {
        self.weights.map_or(0, |_| 16 * self.n_samples().1 as u64)
    }

    /// Bytes of the features in memory, as far as known.
    pub fn table_bytes(&self) -> u64 {
        self.table.n_bytes(&self.selection)
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
            Error::InfiniteTarget { row, value } => {
                (*row, None, format!("the target is {value}, but it must be finite"))
            }
            Error::MissingLabels { rows } if !rows.is_empty() => {
                return self.unlabelled(rows);
            }
            _ => return self.about_all(error),
        };
        let row = row + first;
        let Location { file, mut place } = self.locate(row);
        let name = column.and_then(|c| self.feature_names().get(c));
        place.column = name.map(|name| format!("`{name}`"));
        let separator = if column.is_some() { "" } else { ":" };
        Failure::Data {
            what: format!("{}{place}{separator} {what}", file.display()),
            hint: self.hint_about(&error, name),
        }
    }

    /// What helps against a value that cannot be worked with.
    fn hint_about(&self, error: &eigenlens::Error, name: Option<&String>) -> Option<String> {
        match (self.for_model, error) {
            (Some(hint), eigenlens::Error::MissingValue { .. }) => {
                Some(format!("mend the value, or {hint}"))
            }
            // A model finds its columns by name: none of them can be left out.
            (Some(_), _) => Some("mend the value".into()),
            // A name that the shell or the option would read in another way makes no hint.
            (None, _) => name
                .filter(|n| !n.contains(['\'', ',', '*', '?', '!', '[', '.', '\n', '\u{1b}']))
                .map(|n| format!("mend the value, or leave the column out: `--columns '!{n}'`")),
        }
    }

    /// Where a row is.
    fn locate(&self, row: usize) -> Location {
        let found = self.table.locate(&self.selection, row).ok().flatten();
        found.unwrap_or_else(|| Location {
            file: self.table.files().first().cloned().unwrap_or_default(),
            place: Place { row: Some(row as u64 + 1), ..Place::default() },
        })
    }

    /// Rows without a target, the first few by their lines.
    fn unlabelled(&self, rows: &[usize]) -> Failure {
        const SHOWN: usize = 5;
        let places: Vec<String> = (rows.iter().take(SHOWN))
            .map(|&row| {
                let Location { file, place } = self.locate(row);
                format!("{}{place}", file.display())
            })
            .collect();
        let more = match rows.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Failure::Data {
            what: format!("the target is missing: {}{more}", places.join(", ")),
            hint: Some(
                "mend or leave out these rows, or use `--unlabelled keep`: they then count in means \
                 and variances only"
                    .into(),
            ),
        }
    }

    /// The columns with these names: numbers, or text where there is one column of it.
    pub fn columns_by_name(&self, names: &[String]) -> Result<ReadColumns, Failure> {
        columns::read(&self.table, names, &self.selection.wanted().required, self.memory)
    }

    /// The text of a column, whatever it holds.
    pub fn text_column(&self, name: &str) -> Result<ReadColumns, Failure> {
        let index = self.table.columns().iter().position(|column| column.name == name);
        let index = index.ok_or_else(|| Failure::Internal("a target that is nowhere".into()))?;
        columns::read_text(&self.table, index, &self.selection.wanted().required)
    }

    fn about_all(&self, error: eigenlens::Error) -> Failure {
        if let (Some(hint), Some(Hint::Set { option: "missing", .. })) =
            (self.for_model, error.hint())
        {
            return Failure::usage(error.to_string(), hint);
        }
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

/// What helps where a value is missing in data for a model.
fn against_missing_values(
    stored: &StoredModel,
    said: Option<Missing>,
) -> Result<&'static str, Failure> {
    let model = &*stored.model;
    match (&stored.preprocessing.fill, said) {
        (Some(_), None | Some(Missing::Mean | Missing::Error)) => {
            Ok("leave out `--missing error`: means of the training samples then stand in")
        }
        (Some(_), Some(policy)) => Err(Failure::usage(
            format!(
                "`--missing {}` does not fit this model, which puts the means of its training samples \
                 into missing entries",
                policy.name()
            ),
            format!("leave out `--missing {}`", policy.name()),
        )),
        (None, _) if model.uncertain_scores().is_some() || model.density().is_some() => {
            Ok("use `--missing em`: what is observed then speaks for the sample")
        }
        (None, _) => Ok(
            "fit the model with `--missing mean`: it then puts the means of its training samples \
                into missing entries",
        ),
    }
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
