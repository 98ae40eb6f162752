//! Words for data with missing entries that do not fit.

use crate::failure::Failure;
use eigenlens::{AnyDataset, dispatch};

/// An error about a missing entry says where the others are and what would go on.
pub fn where_values_are_missing(
    error: eigenlens::Error,
    data: &AnyDataset,
    integrates: bool,
    explain: impl Fn(eigenlens::Error) -> Failure,
) -> Failure {
    let is_hole = matches!(error, eigenlens::Error::MissingValue { .. });
    let missing_counts = if is_hole { dispatch!(data, d => d.missing_counts()).ok() } else { None };
    let mut failure = explain(error);
    if let (Failure::Data { what, hint }, Some(missing_counts)) = (&mut failure, missing_counts) {
        what.push_str(&format!("; {missing_counts}"));
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
