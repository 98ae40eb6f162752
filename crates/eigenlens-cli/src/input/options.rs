//! What was said about reading, in the words of the readers; what would be ignored is refused.

use crate::arguments::{Common, Reading, WeightKind};
use crate::failure::Failure;
use eigenlens::Missing;
use eigenlens_io::csv::CsvOptions;
use eigenlens_io::images::ImageOptions;
use eigenlens_io::{ImageShape, Kind, ReadOptions, Selection, StoredModel, Table, nearest};
use std::path::PathBuf;

/// The options of the readers of tables. Images get the size that a model wants.
pub fn for_tables(
    reading: &Reading,
    image: Option<ImageShape>,
    common: &Common,
) -> Result<ReadOptions, Failure> {
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
    if let (Some(said), Some(model)) = (reading.size, image)
        && said != model
    {
        return Err(Failure::usage(
            format!("the model is of images of {} × {} pixels", model.width, model.height),
            "leave out `--size`: images get the size of the model's",
        ));
    }
    let csv = CsvOptions {
        delimiter,
        header: if reading.no_header { Some(false) } else { reading.header.then_some(true) },
        decimal: reading.decimal.as_ref().and_then(|mark| mark.bytes().next()),
        missing: reading.missing_mark.clone(),
        skip_bad_rows: reading.skip_bad_rows,
        bad_cells_are_missing: reading.missing.is_some_and(|policy| policy != Missing::Error),
        ..CsvOptions::default()
    };
    let images = ImageOptions { size: reading.size.or(image), skip_broken: reading.skip_bad_rows };
    Ok(ReadOptions {
        csv,
        images,
        array: reading.array.clone(),
        memory: common.memory.map(|memory| memory.0 / 2),
        ..ReadOptions::default()
    })
}

/// Refuses what is said about one kind of file where another is read.
pub fn check_kind(paths: &[PathBuf], reading: &Reading, is_matrix: bool) -> Result<(), Failure> {
    let text = reading.delimiter.is_some()
        || reading.header
        || reading.no_header
        || reading.decimal.is_some()
        || !reading.missing_mark.is_empty();
    let folders = paths.iter().any(|path| path.is_dir());
    let said = [
        ("--columns", !reading.columns.is_empty(), !is_matrix),
        ("--labels", !reading.labels.is_empty(), !is_matrix),
        ("--weights", reading.weights.is_some(), !is_matrix),
        ("--array", reading.array.is_some(), !is_matrix && !folders),
        ("--skip-bad-rows", reading.skip_bad_rows, !is_matrix),
        ("--size", reading.size.is_some(), folders),
        ("--samples", reading.samples.is_some(), is_matrix),
        ("--row-names", reading.row_names.is_some(), is_matrix),
        ("--column-names", reading.column_names.is_some(), is_matrix),
        ("--delimiter and other words about text", text, !is_matrix && !folders),
    ];
    let kind = match (is_matrix, folders) {
        (true, _) => "a Matrix Market file",
        (false, true) => "a folder of images",
        (false, false) => "this kind of file",
    };
    match said.iter().find(|(_, said, fits)| *said && !fits) {
        Some((option, ..)) => Err(Failure::Usage {
            what: format!("`{option}` does not fit {kind}"),
            hint: Some(format!("leave out `{option}`")),
        }),
        None => Ok(()),
    }
}

/// The column of the weights, and what they mean.
pub fn weight_column(
    table: &Table,
    reading: &Reading,
) -> Result<Option<(usize, WeightKind)>, Failure> {
    let Some(name) = &reading.weights else { return Ok(None) };
    let found = table.columns().iter().position(|column| column.name == *name);
    match found {
        Some(index) if table.columns()[index].kind.is_number() => {
            Ok(Some((index, reading.weight_kind)))
        }
        Some(_) => {
            Err(Failure::Data { what: format!("the weights `{name}` are no numbers"), hint: None })
        }
        None => Err(no_column(table, name)),
    }
}

/// The columns of the target; none of them may be asked for as a feature.
pub fn target_columns(
    table: &Table,
    reading: &Reading,
    names: &[String],
) -> Result<Vec<usize>, Failure> {
    let index = |name: &String| {
        if reading.columns.contains(name) {
            return Err(eigenlens::Error::TargetIsFeature { name: name.clone() }.into());
        }
        let found = table.columns().iter().position(|column| column.name == *name);
        found.ok_or_else(|| no_column(table, name))
    };
    names.iter().map(index).collect()
}

/// A selection whose rows hold numbers in every column that is read as such, also in another
/// reading: where bad rows are left out, all readings must have the same.
pub fn requiring(
    selection: Selection,
    table: &Table,
    targets: &[usize],
    weights: Option<(usize, WeightKind)>,
) -> Selection {
    let is_number = |index: &&usize| table.columns()[**index].kind.is_number();
    let mut required = selection.wanted().numbers.clone();
    required.extend(targets.iter().filter(is_number));
    required.extend(weights.map(|(index, _)| index));
    selection.requiring(required)
}

/// The label columns of a table for a model: those asked for, else its text and what were labels
/// when the model was fitted.
pub fn model_labels(
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

/// Every column that is no feature and can be read.
pub fn other_columns(table: &Table, selection: &Selection) -> Vec<usize> {
    let columns = table.columns().iter().enumerate();
    columns
        .filter(|(index, _)| !selection.wanted().numbers.contains(index))
        .filter(|(_, column)| !matches!(column.kind, Kind::Unusable(_)))
        .map(|(index, _)| index)
        .collect()
}

/// The error for a column that does not exist: the most similar one, and those there are.
pub fn no_column(table: &Table, name: &str) -> Failure {
    let names: Vec<String> = table.columns().iter().map(|c| c.name.clone()).collect();
    let near = nearest(name, table.columns());
    let near = near.map_or(String::new(), |near| format!("`{near}` is near; "));
    Failure::usage(
        format!("there is no column `{name}`"),
        format!("{near}there are {}", super::listed(&names)),
    )
}
