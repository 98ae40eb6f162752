//! Models as named arrays and a description, for whoever stores them.
//!
//! The library opens no file: [`Parts`] is everything a model is made of, in a form that any
//! container of arrays can hold. Going there and back loses no bit. Coming back, everything is
//! checked, because a file may come from anywhere.

mod embedding;
mod embedding_map;
mod kernel_pca;
mod kernel_supervised;
mod linear;
mod missing_report;
mod mixture;
mod pca;
mod ppca;
pub(crate) mod records;
mod sparse_pca;
mod supervised;
mod upgrade;
mod value;
mod warnings;

pub use value::Value;

pub(crate) use linear::{STANDARDIZATION, descending, not_negative, put_scaler, scaler};
pub(crate) use value::Entries;

use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// A model taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// The version of this layout: [`Parts::VERSION`] when made here.
    pub version: u64,
    /// The method that made the model, such as `pca`.
    pub method: String,
    /// Everything that is long or must keep its last bit. Empty arrays are not listed.
    pub arrays: BTreeMap<String, Array>,
    /// Everything else.
    pub description: BTreeMap<String, Value>,
}

/// An array of numbers in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its dimensions.
    pub shape: Vec<usize>,
    /// Its entries, as many as the product of the dimensions.
    pub numbers: Numbers,
}

/// Numbers of either type.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Floating-point numbers.
    F64(Vec<f64>),
    /// Whole numbers.
    I64(Vec<i64>),
}

impl Parts {
    /// The version of the layout that this library writes. It reads this and every earlier one.
    pub const VERSION: u64 = 2;

    pub(crate) fn new(method: &str) -> Parts {
        Parts {
            version: Parts::VERSION,
            method: method.into(),
            arrays: BTreeMap::new(),
            description: BTreeMap::new(),
        }
    }

    /// The method, where it is one of these.
    pub(crate) fn method_of(&self, known: &[&'static str]) -> Result<&'static str> {
        match known.iter().find(|method| **method == self.method) {
            Some(method) => Ok(method),
            None => {
                let known = known.join(", ");
                wrong("method", format!("is `{}`, but it must be one of {known}", self.method))
            }
        }
    }

    /// Refuses arrays nobody would read: a name that is misspelt or a part from another method.
    pub(crate) fn check_names(&self, known: &[&str]) -> Result<()> {
        match self.arrays.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => wrong(name, "is no array of this method".into()),
            None => Ok(()),
        }
    }

    pub(crate) fn put(&mut self, name: &str, values: &[f64]) {
        if !values.is_empty() {
            let array = Array { shape: vec![values.len()], numbers: Numbers::F64(values.to_vec()) };
            self.arrays.insert(name.into(), array);
        }
    }

    pub(crate) fn put_matrix(&mut self, name: &str, values: &ndarray::Array2<f64>) {
        let array = Array {
            shape: vec![values.nrows(), values.ncols()],
            numbers: Numbers::F64(values.iter().copied().collect()),
        };
        self.arrays.insert(name.into(), array);
    }

    pub(crate) fn put_whole(&mut self, name: &str, values: impl Iterator<Item = i64>) {
        let values: Vec<i64> = values.collect();
        if !values.is_empty() {
            let array = Array { shape: vec![values.len()], numbers: Numbers::I64(values) };
            self.arrays.insert(name.into(), array);
        }
    }

    /// A matrix of finite numbers.
    pub(crate) fn matrix(&self, name: &str) -> Result<ndarray::Array2<f64>> {
        let (shape, values) = self.floats(name)?;
        let &[rows, columns] = shape else {
            return wrong(
                name,
                format!("has the shape {shape:?}, but it must have two dimensions"),
            );
        };
        check_finite(name, values)?;
        ndarray::Array2::from_shape_vec((rows, columns), values.to_vec())
            .map_err(|e| Error::Model { part: name.into(), reason: format!("is wrong: {e}") })
    }

    /// A vector of finite numbers.
    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Vec<f64>> {
        let values = self.bounds(name, length)?;
        check_finite(name, &values)?;
        Ok(values)
    }

    /// A vector of numbers that may be infinite where nothing is known.
    pub(crate) fn bounds(&self, name: &str, length: usize) -> Result<Vec<f64>> {
        let values = if self.has(name) || length > 0 { self.floats(name)?.1 } else { &[] };
        if values.len() != length {
            return wrong(name, format!("has {} entries, but {length} belong there", values.len()));
        }
        self.any_length(name)
    }

    /// The same, of whatever length.
    pub(crate) fn any_length(&self, name: &str) -> Result<Vec<f64>> {
        if !self.has(name) {
            return Ok(Vec::new());
        }
        let (shape, values) = self.floats(name)?;
        if shape.len() != 1 {
            return wrong(name, format!("has the shape {shape:?}, but it must have one dimension"));
        }
        if let Some(at) = values.iter().position(|v| v.is_nan()) {
            return wrong(name, format!("is NaN at position {at}"));
        }
        Ok(values.to_vec())
    }

    /// A vector of whole numbers.
    pub(crate) fn whole(&self, name: &str) -> Result<&[i64]> {
        if !self.has(name) {
            return Ok(&[]);
        }
        let array = self.array(name)?;
        match (&array.numbers, array.shape.len()) {
            (Numbers::I64(values), 1) => Ok(values),
            (Numbers::I64(_), _) => wrong(name, "must have one dimension".into()),
            (Numbers::F64(_), _) => wrong(name, "must hold whole numbers".into()),
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    pub(crate) fn entries(&self) -> Entries<'_> {
        Entries::new("", &self.description)
    }

    fn floats(&self, name: &str) -> Result<(&[usize], &[f64])> {
        let array = self.array(name)?;
        match &array.numbers {
            Numbers::F64(values) => Ok((&array.shape, values)),
            Numbers::I64(_) => wrong(name, "must hold floating-point numbers".into()),
        }
    }

    fn array(&self, name: &str) -> Result<&Array> {
        let Some(array) = self.arrays.get(name) else { return wrong(name, "is missing".into()) };
        let length = match &array.numbers {
            Numbers::F64(values) => values.len(),
            Numbers::I64(values) => values.len(),
        };
        let product = array.shape.iter().try_fold(1usize, |all, &one| all.checked_mul(one));
        if length == 0 {
            return wrong(name, "is empty".into());
        }
        if product != Some(length) {
            let shape = &array.shape;
            return wrong(name, format!("has {length} entries, but the shape {shape:?}"));
        }
        Ok(array)
    }
}

/// The error of a stored model.
pub(crate) fn wrong<T>(part: &str, reason: String) -> Result<T> {
    Err(Error::Model { part: part.into(), reason })
}

fn check_finite(name: &str, values: &[f64]) -> Result<()> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(at) => wrong(name, format!("is {} at position {at}", values[at])),
        None => Ok(()),
    }
}
