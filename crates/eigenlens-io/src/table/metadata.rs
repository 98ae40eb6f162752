//! A table about the samples beside their data, joined by a column that both have.

use super::Table;
use super::patterns::unknown;
use crate::error::{Error, Place, Result};
use crate::source::{Kind, Labels};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What a second table says of samples, found by their key.
#[derive(Debug)]
pub struct Metadata {
    names: Vec<String>,
    columns: Vec<Labels>,
    rows: HashMap<String, usize>,
}

/// The metadata of some samples.
#[derive(Debug)]
pub struct Joined {
    /// The text of every column for every sample; empty where the sample has no row.
    pub columns: Vec<Labels>,
    /// The samples without a row, counted from 0.
    pub unmatched: Vec<usize>,
}

impl Metadata {
    /// Reads every column of a table, whose rows the column `by` tells apart.
    pub fn read(table: &Table, by: &str) -> Result<Metadata> {
        let all = table.columns();
        let key = all.iter().position(|column| column.name == by);
        let key = key.ok_or_else(|| unknown(by, all))?;
        let is_read = |index: &usize| {
            *index != key && !matches!(all[*index].kind, Kind::Unusable(_) | Kind::Empty)
        };
        let others: Vec<usize> = (0..all.len()).filter(is_read).collect();
        let names = others.iter().map(|&index| all[index].name.clone()).collect();
        let mut columns = table.labels(&[&others[..], &[key]].concat(), &[])?;
        let keys = columns.pop().unwrap_or_default();
        Ok(Metadata { names, columns, rows: rows_by_key(table, by, &keys)? })
    }

    /// The names of the columns, without the key's.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// What is known of the samples with these keys.
    pub fn join(&self, keys: &Labels) -> Joined {
        let mut columns = vec![Labels::default(); self.columns.len()];
        let mut unmatched = Vec::new();
        for (sample, key) in keys.iter().enumerate() {
            let row = self.rows.get(key.trim()).copied();
            if row.is_none() {
                unmatched.push(sample);
            }
            for (joined, column) in columns.iter_mut().zip(&self.columns) {
                joined.push(row.and_then(|row| column.get(row)).unwrap_or_default());
            }
        }
        Joined { columns, unmatched }
    }
}

/// Where each key is; a key that is empty belongs to no sample.
fn rows_by_key(table: &Table, by: &str, keys: &Labels) -> Result<HashMap<String, usize>> {
    let mut rows = HashMap::new();
    for (row, key) in keys.iter().enumerate().filter(|(_, key)| !key.trim().is_empty()) {
        match rows.entry(key.trim().to_owned()) {
            Entry::Vacant(free) => free.insert(row),
            Entry::Occupied(first) => {
                return Err(Error::Content {
                    file: table.first_file().to_owned(),
                    place: Place { row: Some(row as u64 + 1), ..Place::default() },
                    what: format!(
                        "`{}` is in column `{by}` twice (row {} too), but it must name one row",
                        key.escape_debug(),
                        first.get() + 1
                    ),
                });
            }
        };
    }
    Ok(rows)
}
