//! Whole numbers that doubles cannot hold.

use crate::source::Note;
use eigenlens::AnyArray;

/// Looks out for whole numbers of 2^53 and more, from where on doubles leave some out.
pub(crate) struct Rounded {
    /// Columns of 64-bit integers among the numbers read: where they are, and their names.
    columns: Vec<(usize, String)>,
    seen: Vec<bool>,
}

impl Rounded {
    pub(crate) fn new(columns: impl IntoIterator<Item = (usize, String)>) -> Rounded {
        let columns: Vec<(usize, String)> = columns.into_iter().collect();
        Rounded { seen: vec![false; columns.len()], columns }
    }

    /// Looks at the next block.
    pub(crate) fn look(&mut self, numbers: &AnyArray) {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let AnyArray::F64(numbers) = numbers else { return };
        for ((column, _), seen) in self.columns.iter().zip(&mut self.seen) {
            *seen = *seen || numbers.column(*column).iter().any(|x| x.abs() >= EXACT);
        }
    }

    /// What was seen.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let seen = self.columns.iter().zip(&self.seen).filter(|(_, seen)| **seen);
        seen.map(|((_, name), _)| {
            let found = "has whole numbers from 2^53 on, which are rounded to 53 bits";
            Note::new(format!("column `{name}`"), found)
        })
        .collect()
    }
}
