//! Data with holes: what makes them whole, and words for those that do not fit.

use crate::failure::Failure;
use crate::input::Opened;
use eigenlens::{
    AnyDataset, Dataset, Missing, MissingReport, Options, Resolved, Scalar, Target, dispatch,
};

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

    /// The data with these numbers in their holes.
    pub fn filled(data: &AnyDataset<'a>, fill: &[f64]) -> eigenlens::Result<Whole<'a>> {
        let options = Options::default();
        match data {
            AnyDataset::F32(d) => d.fill_missing(fill, &options).map(Whole::F32),
            AnyDataset::F64(d) => d.fill_missing(fill, &options).map(Whole::F64),
        }
    }

    pub fn data(&self) -> AnyDataset<'_> {
        match self {
            Whole::F32(x) => AnyDataset::F32(x.dataset()),
            Whole::F64(x) => AnyDataset::F64(x.dataset()),
        }
    }

    /// What was put into holes, where that is the policy.
    pub fn fill(&self) -> Option<&[f64]> {
        match self {
            Whole::F32(x) => x.fill(),
            Whole::F64(x) => x.fill(),
        }
    }

    /// The data without the rows that have holes.
    pub fn complete_rows(data: &AnyDataset<'a>) -> eigenlens::Result<Whole<'a>> {
        fn complete<'d, T: Scalar>(data: &Dataset<'d, T>) -> eigenlens::Result<Resolved<'d, T>> {
            let data = data.clone().with_missing(Missing::DropRows).with_most_missing(1.0);
            data.resolve_missing(&Options::default())
        }
        match data {
            AnyDataset::F32(d) => complete(d).map(Whole::F32),
            AnyDataset::F64(d) => complete(d).map(Whole::F64),
        }
    }

    /// The target of the samples that are left.
    pub fn target(&self, target: &Target) -> eigenlens::Result<Target> {
        match self {
            Whole::F32(x) => x.target(target),
            Whole::F64(x) => x.target(target),
        }
    }

    /// An error about samples that are left, told of rows of the table.
    pub fn in_original_rows(&self, error: eigenlens::Error) -> eigenlens::Error {
        match self {
            Whole::F32(x) => x.in_original_rows(error),
            Whole::F64(x) => x.in_original_rows(error),
        }
    }

    /// What was done.
    pub fn missing_report(&self) -> Option<&MissingReport> {
        match self {
            Whole::F32(x) => x.missing_report(),
            Whole::F64(x) => x.missing_report(),
        }
    }
}

/// An error about a hole says where the others are and what would go on.
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
