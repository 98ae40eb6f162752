//! A description of nested names and values, as any structured text can hold it.

use super::wrong;
use crate::error::Result;
use std::collections::BTreeMap;

/// A value of a description.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not known, or does not apply.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A finite number.
    Number(f64),
    /// Text.
    Text(String),
    /// Values in order.
    List(Vec<Value>),
    /// Values by name.
    Map(BTreeMap<String, Value>),
}

impl Value {
    /// A map from names and values.
    pub fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, Value)>) -> Value {
        Value::Map(entries.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// A list from values.
    pub fn list<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Value {
        Value::List(values.into_iter().map(Into::into).collect())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Value {
        Value::from(value as u64)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Value {
        Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Value {
    /// Numbers that are not finite are not known.
    fn from(value: f64) -> Value {
        if value.is_finite() { Value::Number(value) } else { Value::Null }
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Text(value)
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Value {
        Value::Text(value.clone())
    }
}

impl<V: Into<Value>> From<Option<V>> for Value {
    fn from(value: Option<V>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

/// A map that is being read: every complaint names the path to the entry.
pub(crate) struct Entries<'a> {
    path: String,
    map: &'a BTreeMap<String, Value>,
}

impl<'a> Entries<'a> {
    pub fn new(path: &str, map: &'a BTreeMap<String, Value>) -> Entries<'a> {
        Entries { path: path.into(), map }
    }

    /// The path to an entry, for complaints.
    pub fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.into() } else { format!("{}.{name}", self.path) }
    }

    pub fn get(&self, name: &str) -> Result<&'a Value> {
        match self.map.get(name) {
            Some(value) => Ok(value),
            None => wrong(&self.path(name), "is missing".into()),
        }
    }

    pub fn map(&self, name: &str) -> Result<Entries<'a>> {
        match self.get(name)? {
            Value::Map(map) => Ok(Entries { path: self.path(name), map }),
            _ => self.must_be(name, "a map"),
        }
    }

    pub fn list(&self, name: &str) -> Result<&'a [Value]> {
        match self.get(name)? {
            Value::List(list) => Ok(list),
            _ => self.must_be(name, "a list"),
        }
    }

    pub fn text(&self, name: &str) -> Result<&'a str> {
        match self.get(name)? {
            Value::Text(text) => Ok(text),
            _ => self.must_be(name, "text"),
        }
    }

    pub fn texts(&self, name: &str) -> Result<Vec<String>> {
        let text = |value: &Value| match value {
            Value::Text(text) => Ok(text.clone()),
            _ => self.must_be(name, "a list of texts"),
        };
        self.list(name)?.iter().map(text).collect()
    }

    pub fn flag(&self, name: &str) -> Result<bool> {
        match self.get(name)? {
            Value::Bool(flag) => Ok(*flag),
            _ => self.must_be(name, "true or false"),
        }
    }

    pub fn number(&self, name: &str) -> Result<f64> {
        match self.get(name)? {
            Value::Number(number) if number.is_finite() => Ok(*number),
            Value::Integer(number) => Ok(*number as f64),
            _ => self.must_be(name, "a number"),
        }
    }

    pub fn optional_number(&self, name: &str) -> Result<Option<f64>> {
        match self.get(name)? {
            Value::Null => Ok(None),
            _ => self.number(name).map(Some),
        }
    }

    pub fn integer(&self, name: &str) -> Result<i64> {
        match self.get(name)? {
            Value::Integer(number) => Ok(*number),
            _ => self.must_be(name, "a whole number"),
        }
    }

    /// A whole number, at least 0.
    pub fn count(&self, name: &str) -> Result<usize> {
        match usize::try_from(self.integer(name)?) {
            Ok(count) => Ok(count),
            Err(_) => self.must_be(name, "at least 0"),
        }
    }

    /// A list of whole numbers, at least 0.
    pub fn counts(&self, name: &str) -> Result<Vec<usize>> {
        let count = |value: &Value| match value {
            Value::Integer(number) if *number >= 0 => Ok(*number as usize),
            _ => self.must_be(name, "a list of whole numbers"),
        };
        self.list(name)?.iter().map(count).collect()
    }

    pub fn must_be<T>(&self, name: &str, expected: &str) -> Result<T> {
        let found = match self.map.get(name) {
            None | Some(Value::Null) => "nothing".into(),
            Some(Value::Bool(flag)) => flag.to_string(),
            Some(Value::Integer(number)) => number.to_string(),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Text(text)) => format!("`{}`", text.chars().take(40).collect::<String>()),
            Some(Value::List(list)) => format!("a list of {}", list.len()),
            Some(Value::Map(_)) => "a map".into(),
        };
        wrong(&self.path(name), format!("is {found}, but it must be {expected}"))
    }
}
