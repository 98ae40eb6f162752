//! What was done about missing entries, as values and back.

use super::{Parts, wrong};
use crate::data::{Missing, MissingCounts, MissingReport};
use crate::error::Result;
use crate::model::summary::treatment_value;

pub(super) fn put(parts: &mut Parts, of: Option<&MissingReport>) {
    // Models of complete data are stored as they always were.
    let Some(of) = of else { return };
    parts.description.insert("missing".into(), treatment_value(of));
}

pub(super) fn read(parts: &Parts) -> Result<Option<MissingReport>> {
    if !parts.description.contains_key("missing") {
        return Ok(None);
    }
    let entries = parts.entries().map("missing")?;
    let Some(policy) = Missing::from_name(entries.text("policy")?) else {
        return entries.must_be("policy", "a policy for missing values");
    };
    let mut missing_report = MissingReport::new(policy, &MissingCounts::default());
    missing_report.missing = entries.count("missing")?;
    missing_report.entries = entries.count("entries")?;
    missing_report.rows_with_missing = entries.count("rows_with_missing")?;
    missing_report.empty_rows = entries.count("empty_rows")?;
    missing_report.dropped_columns = entries.texts("dropped_columns")?;
    if missing_report.missing > missing_report.entries {
        return wrong("missing.missing", "is more than there are entries".into());
    }
    Ok(Some(missing_report))
}
