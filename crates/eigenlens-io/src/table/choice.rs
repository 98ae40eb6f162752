//! What becomes of every column, and why.

use super::Table;
use super::patterns::{Chosen, unknown};
use crate::error::{Error, Place, Result};
use crate::source::{Column, Kind, Wanted};
use eigenlens::AnyArray;
use ndarray::ArrayView1;
use std::borrow::Cow;

/// Which columns to use: names, numbers from 1, ranges (`a..c`, `2..5`), patterns (`gene_*`), each
/// taken out by a `!` before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnChoice {
    /// Features; nothing means every column of numbers that is no label.
    pub features: Vec<String>,
    /// Labels beside every column of text.
    pub labels: Vec<String>,
}

/// The columns to be read, and what becomes of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    fates: Vec<ColumnFate>,
    wanted: Wanted,
    feature_names: Vec<String>,
    label_names: Vec<String>,
}

/// What becomes of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnFate {
    /// Its name.
    pub name: String,
    /// What becomes of it.
    pub fate: Fate,
    /// Why.
    pub reason: Cow<'static, str>,
    /// What is suspicious about it.
    pub warning: Option<String>,
}

/// What can become of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is analysed.
    Feature,
    /// It is carried along to the outputs.
    Label,
    /// It is not read.
    Skipped,
}

impl Selection {
    /// Every column of the table with what becomes of it.
    pub fn fates(&self) -> &[ColumnFate] {
        &self.fates
    }

    /// The features and labels, as indices.
    pub fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// The names of the features, in the order they are read.
    pub fn feature_names(&self) -> &[String] {
        &self.feature_names
    }

    /// The names of the labels, in the order they are read.
    pub fn label_names(&self) -> &[String] {
        &self.label_names
    }

    /// The same without its labels, for those who would only hold them in memory.
    pub fn without_labels(mut self) -> Self {
        self.wanted.labels.clear();
        self.label_names.clear();
        for fate in self.fates.iter_mut().filter(|fate| fate.fate == Fate::Label) {
            fate.fate = Fate::Skipped;
        }
        self
    }

    /// The same, for rows that must hold numbers in these columns too (see [`Wanted::required`]).
    pub fn requiring(mut self, columns: Vec<usize>) -> Self {
        self.wanted.required = columns;
        self
    }

    fn new(table: &Table, fates: Vec<ColumnFate>, wanted: Wanted) -> Self {
        let names = |indices: &[usize]| {
            let columns = table.columns();
            indices.iter().filter_map(|&index| columns.get(index)).map(|c| c.name.clone()).collect()
        };
        let (feature_names, label_names) = (names(&wanted.numbers), names(&wanted.labels));
        Self { fates, wanted, feature_names, label_names }
    }
}

impl Table {
    /// Chooses columns, in the order of the file.
    ///
    /// Columns of text become labels unless they are taken out. Columns without any value are left
    /// out. Whole numbers that count rows are used, with a warning.
    pub fn select(&self, choice: &ColumnChoice) -> Result<Selection> {
        let columns = self.columns();
        let features = Chosen::of(&choice.features, columns, |_| true)?;
        let labels = Chosen::of(&choice.labels, columns, |column| column.kind == Kind::Text)?;
        let mut fates = Vec::with_capacity(columns.len());
        for (index, column) in columns.iter().enumerate() {
            let (fate, reason) = judge(column, index, choice, &features, &labels)?;
            let name = column.name.clone();
            fates.push(ColumnFate { name, fate, reason, warning: None });
        }
        for index in self.features_without_values(&fates) {
            if features.is_named[index] {
                return Err(not_a_feature(&columns[index], NO_VALUES));
            }
            fates[index].fate = Fate::Skipped;
            fates[index].reason = NO_VALUES.into();
        }
        let with = |fate| (0..fates.len()).filter(|&index| fates[index].fate == fate).collect();
        let (numbers, labels) = (with(Fate::Feature), with(Fate::Label));
        let wanted = Wanted { numbers, labels, required: Vec::new() };
        if wanted.numbers.is_empty() {
            return Err(self.no_numbers(&fates));
        }
        self.warn_of_identifiers(&mut fates);
        Ok(Selection::new(self, fates, wanted))
    }

    /// Chooses the features with these names, in this order, as a model wants them. Columns of text
    /// become labels; the others are skipped.
    pub fn select_named(&self, names: &[String]) -> Result<Selection> {
        let columns = self.columns();
        let mut fates: Vec<ColumnFate> = columns
            .iter()
            .map(|column| {
                let (fate, reason) = match column.kind {
                    Kind::Text => (Fate::Label, "text"),
                    _ => (Fate::Skipped, "not among the features asked for"),
                };
                let (name, reason) = (column.name.clone(), Cow::Borrowed(reason));
                ColumnFate { name, fate, reason, warning: None }
            })
            .collect();
        let mut numbers = Vec::with_capacity(names.len());
        let by_name: std::collections::HashMap<&str, usize> =
            columns.iter().enumerate().map(|(index, c)| (c.name.as_str(), index)).collect();
        for name in names {
            let Some(&index) = by_name.get(name.as_str()) else {
                let Error::Usage { what, hint } = unknown(name, columns) else { continue };
                let similar = hint.map_or(String::new(), |name| format!("; there is `{name}`"));
                return Err(self.content(format!("{what}{similar}")));
            };
            if !columns[index].kind.is_number() {
                return Err(self.content(format!(
                    "the column `{}` should hold numbers, but {}",
                    name.escape_debug(),
                    why_not(&columns[index].kind)
                )));
            }
            fates[index].fate = Fate::Feature;
            fates[index].reason = "asked for by name".into();
            numbers.push(index);
        }
        let labels = (0..fates.len()).filter(|&i| fates[i].fate == Fate::Label).collect();
        Ok(Selection::new(self, fates, Wanted { numbers, labels, required: Vec::new() }))
    }

    fn no_numbers(&self, fates: &[ColumnFate]) -> Error {
        const LISTED: usize = 20;
        let mut reasons: Vec<String> = fates
            .iter()
            .take(LISTED)
            .map(|fate| format!("`{}`: {}", fate.name.escape_debug(), fate.reason))
            .collect();
        if fates.len() > LISTED {
            reasons.push(format!("and {} more", fates.len() - LISTED));
        }
        self.content(format!("no column can be a feature ({})", reasons.join("; ")))
    }

    fn content(&self, what: String) -> Error {
        Error::Content { file: self.first_file().to_owned(), place: Place::default(), what }
    }

    /// The features that have no value in any row. The first rows tell for nearly all that they
    /// have one; only the others are read on.
    fn features_without_values(&self, fates: &[ColumnFate]) -> Vec<usize> {
        let source = self.source();
        let is_feature = |&index: &usize| fates[index].fate == Fate::Feature;
        let (mut empty, mut unknown) = (Vec::new(), Vec::new());
        for index in (0..fates.len()).filter(is_feature) {
            match source.has_values(index) {
                Some(true) => {}
                Some(false) => empty.push(index),
                None => unknown.push(index),
            }
        }
        // A file that cannot be read says so when it is loaded.
        let first = self.without_values(unknown, Some(1)).unwrap_or_default();
        empty.extend(self.without_values(first, None).unwrap_or_default());
        empty
    }

    /// Those of the columns that have no value in so many blocks, or in all.
    fn without_values(&self, columns: Vec<usize>, n_blocks: Option<usize>) -> Result<Vec<usize>> {
        if columns.is_empty() {
            return Ok(columns);
        }
        let wanted = Wanted { numbers: columns, ..Wanted::default() };
        let mut is_empty = vec![true; wanted.numbers.len()];
        let mut reader = self.source().open(&wanted)?;
        let mut blocks = 0;
        while n_blocks.is_none_or(|most| blocks < most)
            && is_empty.contains(&true)
            && let Some(block) = reader.next_block()?
        {
            for (slot, is_empty) in is_empty.iter_mut().enumerate().filter(|(_, is)| **is) {
                *is_empty = match &block.numbers {
                    AnyArray::F32(numbers) => numbers.column(slot).iter().all(|v| v.is_nan()),
                    AnyArray::F64(numbers) => numbers.column(slot).iter().all(|v| v.is_nan()),
                };
            }
            blocks += 1;
        }
        let columns = wanted.numbers.into_iter().zip(is_empty);
        Ok(columns.filter(|(_, is_empty)| *is_empty).map(|(column, _)| column).collect())
    }

    /// Looks at the first rows of whole-number features for ones that only count.
    fn warn_of_identifiers(&self, fates: &mut [ColumnFate]) {
        let columns = self.columns();
        let suspects: Vec<usize> = (0..columns.len())
            .filter(|&i| fates[i].fate == Fate::Feature && columns[i].kind == Kind::Integer)
            .collect();
        if suspects.is_empty() {
            return;
        }
        let wanted = Wanted { numbers: suspects.clone(), ..Wanted::default() };
        // A file that cannot be read says so when it is loaded.
        let first = self.source().open(&wanted).and_then(|mut reader| reader.next_block());
        let block = first.ok().flatten();
        for (slot, &index) in suspects.iter().enumerate() {
            let counts = match block.as_ref().map(|block| &block.numbers) {
                Some(AnyArray::F32(numbers)) => {
                    counts_up(numbers.column(slot).mapv(f64::from).view())
                }
                Some(AnyArray::F64(numbers)) => counts_up(numbers.column(slot)),
                None => false,
            };
            fates[index].warning = if counts {
                Some(String::from("looks like a row number: it goes up by one from row to row"))
            } else if is_named_like_an_identifier(&columns[index].name) {
                Some(String::from("is named like an identifier"))
            } else {
                None
            };
        }
    }
}

/// Why a column without any value is no feature.
const NO_VALUES: &str = "it has no values";

fn not_a_feature(column: &Column, why: &str) -> Error {
    Error::Usage {
        what: format!("the column `{}` cannot be a feature: {why}", column.name),
        hint: None,
    }
}

fn judge(
    column: &Column,
    index: usize,
    choice: &ColumnChoice,
    features: &Chosen,
    labels: &Chosen,
) -> Result<(Fate, Cow<'static, str>)> {
    let said = |fate, reason: &'static str| Ok((fate, Cow::Borrowed(reason)));
    if let Kind::Unusable(reason) = &column.kind {
        if features.is_named[index] {
            return Err(not_a_feature(column, reason));
        }
        return Ok((Fate::Skipped, Cow::Owned(reason.clone())));
    }
    if labels.is_chosen[index] {
        if features.is_named[index] {
            return Err(Error::Usage {
                what: format!("the column `{}` cannot be feature and label", column.name),
                hint: None,
            });
        }
        return said(Fate::Label, "chosen as a label");
    }
    if features.is_excluded[index] || labels.is_excluded[index] {
        return said(Fate::Skipped, "taken out");
    }
    if column.kind.is_number() {
        return match (choice.features.is_empty(), features.is_chosen[index]) {
            (true, _) => said(Fate::Feature, "numbers"),
            (false, true) => said(Fate::Feature, "chosen"),
            (false, false) => said(Fate::Skipped, "not chosen"),
        };
    }
    if features.is_named[index] {
        return Err(not_a_feature(column, "it is text"));
    }
    said(Fate::Label, "text")
}

fn why_not(kind: &Kind) -> &str {
    match kind {
        Kind::Unusable(reason) => reason,
        _ => "it is text",
    }
}

fn counts_up(values: ArrayView1<f64>) -> bool {
    values.len() >= 3 && values.iter().zip(values.iter().skip(1)).all(|(a, b)| *b == a + 1.0)
}

fn is_named_like_an_identifier(name: &str) -> bool {
    let name = name.to_lowercase();
    matches!(name.as_str(), "id" | "index" | "idx" | "row" | "rownum" | "key" | "unnamed: 0")
        || name.ends_with("_id")
        || name.starts_with("id_")
}
