//! Columns that are read for themselves: targets, and the two sides of a comparison.

use super::options;
use crate::arguments::{Common, Reading};
use crate::failure::Failure;
use eigenlens_io::{Budget, ColumnChoice, Labels, Table};
use ndarray::Array2;
use std::path::PathBuf;

/// Columns that were read for themselves.
pub enum ReadColumns {
    /// n × q; NaN where one is missing.
    Numbers(Array2<f64>),
    /// The text of one column.
    Text(Labels),
}

/// The columns with these names: numbers, or text where there is one column of it. A row counts
/// where the `required` columns hold numbers.
pub fn read(
    table: &Table,
    names: &[String],
    required: &[usize],
    memory: Option<u64>,
) -> Result<ReadColumns, Failure> {
    let columns = table.columns();
    let at = |name: &String| columns.iter().position(|column| column.name == *name);
    let indices: Vec<usize> = names.iter().filter_map(at).collect();
    check_memory(table, indices.len(), memory)?;
    let text = indices.iter().find(|&&i| !columns[i].kind.is_number());
    match (text, &indices[..]) {
        (None, _) => Ok(ReadColumns::Numbers(table.numbers(&indices, required)?)),
        (Some(_), [one]) => read_text(table, *one, required),
        (Some(&text), _) => Err(Failure::usage(
            format!("several columns must hold numbers, but `{}` is text", columns[text].name),
            format!("use `{}` alone, or leave it out", columns[text].name),
        )),
    }
}

/// Refuses columns that do not fit a budget, as far as the number of rows is known.
fn check_memory(table: &Table, n_columns: usize, memory: Option<u64>) -> Result<(), Failure> {
    let source = table.source();
    let rows = source.n_rows().unwrap_or_else(|| source.rows_guess()) as u64;
    let bytes = rows.saturating_mul(8 * n_columns as u64);
    Budget::new(memory)?.beside("a target or set of columns with all its rows", bytes)?;
    Ok(())
}

/// The text of a column, whatever it holds.
pub fn read_text(table: &Table, column: usize, required: &[usize]) -> Result<ReadColumns, Failure> {
    let labels = table.labels(&[column], required)?.into_iter().next();
    Ok(ReadColumns::Text(labels.unwrap_or_default()))
}

/// Two sets of columns of one table, each with its names.
pub fn two_sets(
    paths: &[PathBuf],
    reading: &Reading,
    common: &Common,
    sets: [&[String]; 2],
) -> Result<[(Vec<String>, ReadColumns); 2], Failure> {
    let table = options::open(paths, reading, None, common)?;
    let first = chosen(&table, sets[0])?;
    let second = chosen(&table, sets[1])?;
    if let Some(both) = first.iter().find(|name| second.contains(name)) {
        return Err(Failure::usage(
            format!("the column `{both}` is in both sets"),
            format!("leave `{both}` out of one of them"),
        ));
    }
    let columns = table.columns().iter().enumerate();
    let required: Vec<usize> = columns
        .filter(|(_, c)| {
            c.kind.is_number() && (first.contains(&c.name) || second.contains(&c.name))
        })
        .map(|(index, _)| index)
        .collect();
    let memory = common.memory.map(|memory| memory.0);
    check_memory(&table, first.len() + second.len(), memory)?;
    let one = read(&table, &first, &required, memory)?;
    let other = read(&table, &second, &required, memory)?;
    Ok([(first, one), (second, other)])
}

/// Names, ranges and patterns as names; text only where it is one column.
fn chosen(table: &Table, words: &[String]) -> Result<Vec<String>, Failure> {
    if let [name] = words
        && table.columns().iter().any(|c| c.name == *name && !c.kind.is_number())
    {
        return Ok(words.to_vec());
    }
    let choice = ColumnChoice { features: words.to_vec(), labels: Vec::new() };
    Ok(table.select(&choice)?.feature_names().to_vec())
}
