//! Columns that are read for themselves: targets, and the two sides of a comparison.

use super::options;
use crate::arguments::{Common, Reading};
use crate::failure::Failure;
use eigenlens_io::matrix_market::is_matrix_market;
use eigenlens_io::{AnyArray, ColumnChoice, Labels, Table, Wanted, open};
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
pub fn read(table: &Table, names: &[String], required: &[usize]) -> Result<ReadColumns, Failure> {
    let columns = table.columns();
    let at = |name: &String| columns.iter().position(|column| column.name == *name);
    let indices: Vec<usize> = names.iter().filter_map(at).collect();
    let text = indices.iter().find(|&&i| !columns[i].kind.is_number());
    match (text, &indices[..]) {
        (None, _) => {
            let (numbers, required) = (indices.clone(), required.to_vec());
            let wanted = Wanted { numbers, labels: Vec::new(), required };
            let mut reader = table.source().open(&wanted)?;
            let mut all = Vec::new();
            while let Some(block) = reader.next_block()? {
                match block.numbers {
                    AnyArray::F32(numbers) => all.extend(numbers.iter().map(|v| f64::from(*v))),
                    AnyArray::F64(numbers) => all.extend(numbers.iter()),
                }
            }
            let shape = (all.len() / indices.len().max(1), indices.len());
            let numbers = Array2::from_shape_vec(shape, all);
            numbers.map(ReadColumns::Numbers).map_err(|e| Failure::Internal(e.to_string()))
        }
        (Some(_), [one]) => read_text(table, *one, required),
        (Some(&text), _) => Err(Failure::usage(
            format!("several columns must hold numbers, but `{}` is text", columns[text].name),
            format!("use `{}` alone, or leave it out", columns[text].name),
        )),
    }
}

/// The text of a column, whatever it holds.
pub fn read_text(table: &Table, column: usize, required: &[usize]) -> Result<ReadColumns, Failure> {
    let (labels, required) = (vec![column], required.to_vec());
    let wanted = Wanted { numbers: Vec::new(), labels, required };
    let mut reader = table.source().open(&wanted)?;
    let mut all = Labels::default();
    while let Some(block) = reader.next_block()? {
        block.labels.iter().for_each(|more| all.append(more));
    }
    Ok(ReadColumns::Text(all))
}

/// Two sets of columns of one table, each with its names.
pub fn two_sets(
    paths: &[PathBuf],
    reading: &Reading,
    common: &Common,
    sets: [&[String]; 2],
) -> Result<[(Vec<String>, ReadColumns); 2], Failure> {
    if paths.iter().any(|path| is_matrix_market(path)) {
        return Err(Failure::usage(
            "a Matrix Market file has no columns by name",
            "use a table with named columns",
        ));
    }
    options::check_kind(paths, reading, false)?;
    let table = open(paths, &options::for_tables(reading, None, common)?)?;
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
    let one = read(&table, &first, &required)?;
    let other = read(&table, &second, &required)?;
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
