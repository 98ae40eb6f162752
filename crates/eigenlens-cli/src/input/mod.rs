//! The data: which columns become what, and the rows in memory or streamed.

mod columns;
mod matrix;
mod options;
mod rows;

pub use columns::{ReadColumns, two_sets};
pub use rows::{Input, Piece};

use crate::arguments::{Common, Reading, WeightKind};
use crate::failure::Failure;
use crate::reporter::Reporter;
use eigenlens::{AnyDataset, Hint, Missing, Options, Prepared};
use eigenlens_io::matrix_market::is_matrix_market;
use eigenlens_io::{
    ColumnChoice, Fate, ImageShape, Location, Note, OriginColumn, Place, Selection, StoredModel,
    Table, open,
};
use matrix::{Matrix, Rows};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Files that were looked at: their columns have their fate, rows of tables are not read.
pub struct Opened {
    body: Body,
    paths: Vec<PathBuf>,
    /// What was said about missing values.
    missing: Option<Missing>,
    most_missing: Option<f64>,
    /// Whether warnings are errors.
    strict: bool,
    /// Set when what only reading could find out has been told: another reading finds the same.
    told: OnceLock<()>,
    /// What helps where a value is missing and the data are for a model.
    for_model: Option<&'static str>,
}

enum Body {
    Table(Box<Chosen>),
    Matrix(Matrix),
}

/// A table with its columns chosen.
struct Chosen {
    table: Table,
    selection: Selection,
    /// Label columns, as indices; for a model they may be more than the selection's.
    labels: Vec<usize>,
    weights: Option<(usize, WeightKind)>,
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
        let is_matrix = paths.iter().any(|path| is_matrix_market(path));
        options::check_kind(paths, reading, is_matrix)?;
        let body = if is_matrix {
            if let Some(name) = targets.first() {
                return Err(Failure::usage(
                    format!("a Matrix Market file has no target `{name}`"),
                    "use a table with a column for it",
                ));
            }
            Body::Matrix(Matrix::read(paths, reading, common.memory.map(|m| m.0 / 2), None)?)
        } else {
            let table = open(paths, &options::for_tables(reading, None, common)?)?;
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
            Body::Table(Box::new(Chosen { table, selection, labels, weights }))
        };
        let opened = Opened::new(body, paths, reading, common);
        opened.tell(common, reporter)?;
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
        Opened::named(paths, stored, reading, reading.labels.is_empty(), common, reporter)
    }

    fn named(
        paths: &[PathBuf],
        stored: &StoredModel,
        reading: &Reading,
        keeps_all: bool,
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
        let is_matrix = paths.iter().any(|path| is_matrix_market(path));
        options::check_kind(paths, reading, is_matrix)?;
        let body = if is_matrix {
            let memory = common.memory.map(|m| m.0 / 2);
            Body::Matrix(Matrix::read(paths, reading, memory, Some(&names))?)
        } else {
            let read = options::for_tables(reading, stored.origin.image, common)?;
            let table = open(paths, &read)?;
            let weights = options::weight_column(&table, reading)?;
            let selection = table.select_named(&names)?;
            let selection = options::requiring(selection, &table, &[], weights);
            let labels = match keeps_all {
                true => options::other_columns(&table, &selection),
                false => options::model_labels(&table, &selection, stored, reading)?,
            };
            Body::Table(Box::new(Chosen { table, selection, labels, weights }))
        };
        let mut opened = Opened::new(body, paths, reading, common);
        opened.for_model = Some(against_missing_values(stored, reading.missing)?);
        opened.tell(common, reporter)?;
        Ok(opened)
    }

    fn new(body: Body, paths: &[PathBuf], reading: &Reading, common: &Common) -> Opened {
        let (missing, most_missing) = (reading.missing, reading.most_missing);
        let (paths, strict, told) = (paths.into(), common.strict, OnceLock::new());
        Opened { body, paths, missing, most_missing, strict, told, for_model: None }
    }

    /// What goes into holes before a model sees the data, unless they are to be refused.
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
    fn tell(&self, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
        let note = |note: &Note| format!("{}: {}", note.what, note.found);
        let notes: Vec<String> = match &self.body {
            Body::Table(chosen) => chosen.table.notes().iter().map(note).collect(),
            Body::Matrix(matrix) => matrix.notes.iter().map(note).collect(),
        };
        let notes =
            if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        reporter.info(format!("reading {}{notes}", self.name()));
        let features = self.feature_names();
        reporter.info(format!("features: {}: {}", features.len(), listed(features)));
        let labels = self.label_names();
        if !labels.is_empty() {
            reporter.info(format!("labels: {}", listed(&labels)));
        }
        match &self.body {
            Body::Table(chosen) => chosen.tell(common, reporter),
            Body::Matrix(_) => Ok(()),
        }
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
        let first = self.paths.first().map_or_else(String::new, |p| p.display().to_string());
        match self.paths.len() {
            0 | 1 => first,
            n => format!("{first} and {} more", n - 1),
        }
    }

    pub fn feature_names(&self) -> &[String] {
        match &self.body {
            Body::Table(chosen) => chosen.selection.feature_names(),
            Body::Matrix(matrix) => &matrix.feature_names,
        }
    }

    pub fn label_names(&self) -> Vec<String> {
        match &self.body {
            Body::Table(chosen) => {
                let columns = chosen.table.columns();
                chosen.labels.iter().map(|&index| columns[index].name.clone()).collect()
            }
            Body::Matrix(matrix) => matrix.names.iter().map(|_| "sample".to_string()).collect(),
        }
    }

    /// Where a column is among the labels; else why it is not.
    pub fn label(&self, name: &str) -> Result<usize, Failure> {
        if let Some(index) = self.label_names().iter().position(|label| label == name) {
            return Ok(index);
        }
        match &self.body {
            Body::Table(chosen) if chosen.table.columns().iter().all(|c| c.name != name) => {
                Err(options::no_column(&chosen.table, name))
            }
            _ => Err(Failure::usage(
                format!("`{name}` is no label column"),
                format!("use `--labels {name}` to make it one"),
            )),
        }
    }

    /// The features, for the model file.
    pub fn origin_columns(&self) -> Vec<OriginColumn> {
        let column =
            |name: &String, kind: &str| OriginColumn { name: name.clone(), kind: kind.into() };
        match &self.body {
            Body::Table(chosen) => (chosen.selection.wanted().numbers.iter())
                .map(|&index| &chosen.table.columns()[index])
                .map(|found| column(&found.name, found.kind.name()))
                .collect(),
            Body::Matrix(matrix) => {
                matrix.feature_names.iter().map(|name| column(name, "float")).collect()
            }
        }
    }

    /// The size of the images, where all their pixels are features.
    pub fn image_shape(&self) -> Option<ImageShape> {
        let Body::Table(chosen) = &self.body else { return None };
        let shape = chosen.table.source().image_shape()?;
        (shape.width.checked_mul(shape.height) == Some(self.n_features())).then_some(shape)
    }

    /// The number of samples: as known, and as guessed from the size of the files.
    pub fn n_samples(&self) -> (Option<usize>, usize) {
        match &self.body {
            Body::Table(chosen) => {
                let source = chosen.table.source();
                (source.n_rows(), source.n_rows().unwrap_or_else(|| source.rows_guess()))
            }
            Body::Matrix(matrix) => (Some(matrix.n_rows()), matrix.n_rows()),
        }
    }

    pub fn n_features(&self) -> usize {
        self.feature_names().len()
    }

    pub fn is_f32(&self) -> bool {
        match &self.body {
            Body::Table(chosen) => chosen.table.source().is_f32(),
            Body::Matrix(_) => false,
        }
    }

    /// The entries, where they are sparse; they are in memory then.
    pub fn sparse(&self) -> Option<&eigenlens::Csr<f64>> {
        match &self.body {
            Body::Matrix(Matrix { rows: Rows::Sparse(x), .. }) => Some(x),
            _ => None,
        }
    }

    /// Bytes of the features in memory, as far as known.
    pub fn table_bytes(&self) -> u64 {
        match &self.body {
            Body::Table(_) => {
                let size = if self.is_f32() { 4 } else { 8 };
                let entries = (self.n_samples().1 as u64).saturating_mul(self.n_features() as u64);
                entries.saturating_mul(size)
            }
            Body::Matrix(matrix) => matrix.bytes(),
        }
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
        let found = match &self.body {
            Body::Table(chosen) => chosen.table.locate(&chosen.selection, row).ok().flatten(),
            Body::Matrix(_) => None,
        };
        found.unwrap_or_else(|| Location {
            file: self.paths.first().cloned().unwrap_or_default(),
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
        match &self.body {
            Body::Table(chosen) => {
                columns::read(&chosen.table, names, &chosen.selection.wanted().required)
            }
            Body::Matrix(_) => Err(Failure::Internal("a matrix has no columns by name".into())),
        }
    }

    /// The text of a column, whatever it holds.
    pub fn text_column(&self, name: &str) -> Result<ReadColumns, Failure> {
        let Body::Table(chosen) = &self.body else {
            return Err(Failure::Internal("a matrix has no columns by name".into()));
        };
        let columns = chosen.table.columns();
        let index = columns.iter().position(|column| column.name == name);
        let index = index.ok_or_else(|| Failure::Internal("a target that is nowhere".into()))?;
        columns::read_text(&chosen.table, index, &chosen.selection.wanted().required)
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
                 into holes",
                policy.name()
            ),
            format!("leave out `--missing {}`", policy.name()),
        )),
        (None, _) if model.uncertain_scores().is_some() || model.density().is_some() => {
            Ok("use `--missing em`: what is observed then speaks for the sample")
        }
        (None, _) => Ok(
            "fit the model with `--missing mean`: it then puts the means of its training samples \
                into holes",
        ),
    }
}

impl Chosen {
    fn tell(&self, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
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
                if common.strict {
                    return Err(Failure::Check(warning));
                }
                reporter.warn(warning);
            }
        }
        Ok(())
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
