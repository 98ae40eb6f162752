//! Models of earlier versions of the layout: the one place that knows their names.

use super::{Parts, Value, wrong};
use crate::error::Result;
use std::borrow::Cow;

/// Arrays of version 1, and what they are called since.
const ARRAYS: [(&str, &str); 2] = [("mean_low", "mean_lo"), ("weight", "inv_scale")];

/// Entries of version 1, wherever they stand in the description.
const ENTRIES: [(&str, &str); 3] = [
    ("n_useful_components", "rank"),
    ("centered", "center"),
    ("rows_with_holes", "rows_with_missing"),
];

impl Parts {
    /// The parts in the layout of this version; an unknown version is refused.
    pub(crate) fn upgraded(&self) -> Result<Cow<'_, Parts>> {
        match self.version {
            1 => Ok(Cow::Owned(upgrade_v1(self))),
            Parts::VERSION => Ok(Cow::Borrowed(self)),
            other => {
                let known = Parts::VERSION;
                wrong("version", format!("is {other}, but this program reads up to {known}"))
            }
        }
    }
}

fn upgrade_v1(old: &Parts) -> Parts {
    let arrays = old.arrays.iter().map(|(name, array)| (renamed(name, &ARRAYS), array.clone()));
    let entries = old.description.iter();
    let description = entries.map(|(name, value)| (renamed(name, &ENTRIES), upgraded(value)));
    Parts {
        version: Parts::VERSION,
        method: old.method.clone(),
        arrays: arrays.collect(),
        description: description.collect(),
    }
}

/// The new name; a model within a model has its name before a full stop.
fn renamed(name: &str, table: &[(&str, &str)]) -> String {
    let (within, last) = name
        .rsplit_once('.')
        .map_or(("", name), |(_, last)| name.split_at(name.len() - last.len()));
    let found = table.iter().find(|(old, _)| *old == last);
    found.map_or(name.into(), |(_, new)| format!("{within}{new}"))
}

/// A value with the entries of maps within it renamed.
fn upgraded(value: &Value) -> Value {
    match value {
        Value::Map(entries) => {
            let entries = entries.iter().map(|(name, v)| (renamed(name, &ENTRIES), upgraded(v)));
            Value::Map(entries.collect())
        }
        Value::List(values) => Value::List(values.iter().map(upgraded).collect()),
        other => other.clone(),
    }
}
