//! What was done about missing entries, as values and back.

use super::{Parts, wrong};
use crate::data::{Holes, Missing, Treatment};
use crate::error::Result;
use crate::model::summary::treatment_value;

pub(super) fn put(parts: &mut Parts, of: Option<&Treatment>) {
    // Models of data without holes are stored as they always were.
    let Some(of) = of else { return };
    parts.description.insert("missing".into(), treatment_value(of));
}

pub(super) fn read(parts: &Parts) -> Result<Option<Treatment>> {
    if !parts.description.contains_key("missing") {
        return Ok(None);
    }
    let entries = parts.entries().map("missing")?;
    let Some(policy) = Missing::from_name(entries.text("policy")?) else {
        return entries.must_be("policy", "a policy for missing values");
    };
    let mut treatment = Treatment::new(policy, &Holes::default());
    treatment.missing = entries.count("missing")?;
    treatment.entries = entries.count("entries")?;
    treatment.rows_with_holes = entries.count("rows_with_holes")?;
    treatment.empty_rows = entries.count("empty_rows")?;
    treatment.dropped_columns = entries.texts("dropped_columns")?;
    if treatment.missing > treatment.entries {
        return wrong("missing.missing", "is more than there are entries".into());
    }
    Ok(Some(treatment))
}
