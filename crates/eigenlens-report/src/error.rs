//! What can be wrong with the data of a picture.

/// Why a picture cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field that must hold something is empty.
    #[error("`{what}` is empty: there is nothing to draw")]
    Empty {
        /// Name of the field.
        what: &'static str,
    },
    /// Two fields that belong together differ in length.
    #[error("`{what}` has {found} entries, but {expected} are needed")]
    Length {
        /// Name of the field.
        what: &'static str,
        /// Entries it has.
        found: usize,
        /// Entries it needs.
        expected: usize,
    },
    /// A number that has to be drawn is infinite or not a number.
    #[error("`{what}` entry {index} is {value}; only finite numbers can be drawn")]
    NotFinite {
        /// Name of the field.
        what: &'static str,
        /// Position, counted from 0.
        index: usize,
        /// The number.
        value: f64,
    },
    /// A number on a logarithmic axis is zero or negative.
    #[error("`{what}` entry {index} is {value}; a logarithmic axis needs positive numbers")]
    NotPositive {
        /// Name of the field.
        what: &'static str,
        /// Position, counted from 0.
        index: usize,
        /// The number.
        value: f64,
    },
    /// An index points past the end of the list it points into.
    #[error("`{what}` entry {index} is {found}, but there are only {bound}")]
    OutOfRange {
        /// Name of the field.
        what: &'static str,
        /// Position, counted from 0.
        index: usize,
        /// The index found there.
        found: usize,
        /// Number of things it may point at.
        bound: usize,
    },
    /// The picture has more pixels than a PNG of ours may have.
    #[error("a PNG of {width} × {height} pixels is too large; use a smaller scale")]
    TooManyPixels {
        /// Pixels across.
        width: f64,
        /// Pixels down.
        height: f64,
    },
    /// The drawing library refused a picture.
    #[error("the picture cannot be turned into a PNG: {reason}")]
    Png {
        /// What the library said.
        reason: String,
    },
}

/// Checks that a field holds something.
pub(crate) fn not_empty(what: &'static str, length: usize) -> Result<(), Error> {
    if length == 0 { Err(Error::Empty { what }) } else { Ok(()) }
}

/// Checks the length of a field.
pub(crate) fn length(what: &'static str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, found, expected }) }
}

/// Checks the length of a field that may be left empty.
pub(crate) fn length_or_empty(
    what: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), Error> {
    if found == 0 { Ok(()) } else { length(what, found, expected) }
}

/// Checks that all numbers are finite.
pub(crate) fn finite(
    what: &'static str,
    values: impl IntoIterator<Item = f64>,
) -> Result<(), Error> {
    match values.into_iter().enumerate().find(|(_, value)| !value.is_finite()) {
        Some((index, value)) => Err(Error::NotFinite { what, index, value }),
        None => Ok(()),
    }
}

/// Checks that all numbers are positive.
pub(crate) fn positive(
    what: &'static str,
    values: impl IntoIterator<Item = f64>,
) -> Result<(), Error> {
    match values.into_iter().enumerate().find(|(_, value)| *value <= 0.0) {
        Some((index, value)) => Err(Error::NotPositive { what, index, value }),
        None => Ok(()),
    }
}

/// Checks that all indices are below a bound.
pub(crate) fn below(
    what: &'static str,
    bound: usize,
    indices: impl IntoIterator<Item = usize>,
) -> Result<(), Error> {
    match indices.into_iter().enumerate().find(|(_, found)| *found >= bound) {
        Some((index, found)) => Err(Error::OutOfRange { what, index, found, bound }),
        None => Ok(()),
    }
}
