//! What was said about reading, in the words of the readers; what would be ignored is refused.

use crate::arguments::{Common, Reading, Side, WeightKind};
use crate::failure::Failure;
use eigenlens::Missing;
use eigenlens_io::csv::CsvOptions;
use eigenlens_io::images::ImageOptions;
use eigenlens_io::{
    Error, Fate, ImageShape, Kind, MatrixOptions, Orientation, ReadOptions, Selection, StoredModel,
    Table, nearest,
};
use std::path::PathBuf;

/// Opens the files as one table. Images get the size that a model wants.
pub fn open(
    paths: &[PathBuf],
    reading: &Reading,
    image: Option<ImageShape>,
    common: &Common,
) -> Result<Table, Failure> {
    eigenlens_io::open(paths, &read_options(reading, image, common)?).map_err(|error| match error {
        // Half of the budget is for reading: the hint must be enough.
        Error::Memory { what, needed, budget } => Failure::File(Error::Memory {
            what,
            needed: needed.saturating_mul(2),
            budget: common.memory.map_or(budget, |memory| memory.0),
        }),
        error => error.into(),
    })
}

fn read_options(
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
    let skip_broken = reading.skip_bad_rows;
    let images = ImageOptions { size: reading.size, model_size: image, skip_broken };
    let matrix = MatrixOptions {
        orientation: match reading.samples {
            None => Orientation::Auto,
            Some(Side::Rows) => Orientation::AsStored,
            Some(Side::Columns) => Orientation::Transposed,
        },
        row_names: reading.row_names.clone(),
        column_names: reading.column_names.clone(),
    };
    Ok(ReadOptions {
        csv,
        images,
        matrix,
        array: reading.array.clone(),
        memory: common.memory.map(|memory| memory.0 / 2),
        ..ReadOptions::default()
    })
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

/// The label columns that are asked for.
pub fn named_labels(table: &Table, reading: &Reading) -> Result<Vec<usize>, Failure> {
    let at = |name: &String| table.columns().iter().position(|column| column.name == *name);
    reading.labels.iter().map(|name| at(name).ok_or_else(|| no_column(table, name))).collect()
}

/// The label columns of a table for a model: its text, what were labels when the model was fitted, and those asked
/// for.
pub fn model_labels(
    table: &Table,
    selection: &Selection,
    stored: &StoredModel,
    reading: &Reading,
) -> Result<Vec<usize>, Failure> {
    let at = |name: &String| table.columns().iter().position(|column| column.name == *name);
    let is_free = |index: &usize| !selection.wanted().numbers.contains(index);
    let mut labels = selection.wanted().labels.clone();
    labels.extend(stored.origin.labels.iter().filter_map(at).filter(is_free));
    labels.extend(named_labels(table, reading)?);
    labels.sort_unstable();
    labels.dedup();
    Ok(labels)
}

/// Every column that is no feature and can be read.
pub fn other_columns(table: &Table, selection: &Selection) -> Vec<usize> {
    let columns = table.columns().iter().zip(selection.fates()).enumerate();
    columns
        .filter(|(_, (_, fate))| fate.fate != Fate::Feature)
        .filter(|(_, (column, _))| !matches!(column.kind, Kind::Unusable(_)))
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
