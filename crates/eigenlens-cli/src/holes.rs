//! Data with holes: what makes them whole, and words for those that do not fit.

use crate::failure::Failure;
use crate::input::Opened;
use eigenlens::{AnyDataset, dispatch};
use eigenlens::{Missing, Options, Resolved, Treatment};

/// The data without their holes, for methods that do not know any.
pub enum Whole<'a> {
    F32(Resolved<'a, f32>),
    F64(Resolved<'a, f64>),
}

impl<'a> Whole<'a> {
    /// `None` where holes are an error anyway.
    pub fn of(
        data: &AnyDataset<'a>,
        opened: &Opened,
        options: &Options,
    ) -> Result<Option<Whole<'a>>, Failure> {
        if opened.missing() == Missing::Error {
            return Ok(None);
        }
        let resolved = match data {
            AnyDataset::F32(d) => d.resolve_missing(options).map(Whole::F32),
            AnyDataset::F64(d) => d.resolve_missing(options).map(Whole::F64),
        };
        resolved.map(Some).map_err(|e| opened.explain(e, 0))
    }

    pub fn data(&self) -> AnyDataset<'_> {
        match self {
            Whole::F32(x) => AnyDataset::F32(x.dataset()),
            Whole::F64(x) => AnyDataset::F64(x.dataset()),
        }
    }

    /// What was done.
    pub fn treatment(&self) -> Option<&Treatment> {
        match self {
            Whole::F32(x) => x.treatment(),
            Whole::F64(x) => x.treatment(),
        }
    }
}

/// An error about a hole says where the others are and what would go on.
pub fn where_holes_are(
    error: eigenlens::Error,
    data: &AnyDataset,
    integrates: bool,
    explain: impl Fn(eigenlens::Error) -> Failure,
) -> Failure {
    let is_hole = matches!(error, eigenlens::Error::MissingValue { .. });
    let holes = if is_hole { dispatch!(data, d => d.holes()).ok() } else { None };
    let mut failure = explain(error);
    if let (Failure::Data { what, hint }, Some(holes)) = (&mut failure, holes) {
        what.push_str(&format!("; {holes}"));
        let policies = if integrates {
            "`--missing em`, or drop-rows, drop-columns or mean"
        } else {
            "`--missing mean`, or drop-rows or drop-columns"
        };
        let leave = hint.take().map_or(String::new(), |hint| format!("; {hint}"));
        *hint = Some(format!("use {policies}{leave}"));
    }
    failure
}
