//! How a budget of memory is shared between the readers, the table and the fit.

use crate::error::{Error, Result};
use eigenlens::Plan;
use eigenlens::memory::try_reserve;
use std::path::Path;

/// A budget of memory, shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The bytes that the table may take in memory; it is streamed where it needs more.
    pub table: Option<u64>,
    /// The table and the fit together.
    pub all: Option<u64>,
}

impl Budget {
    /// What the program and its readers hold at a time, beside the table and the fit.
    pub const RESERVED: u64 = 40 << 20;

    /// No limit.
    pub const UNLIMITED: Budget = Budget { table: None, all: None };

    /// What `total` leaves for table and fit; an error where the readers alone need more.
    pub fn new(total: Option<u64>) -> Result<Budget> {
        let Some(budget) = total else { return Ok(Budget::UNLIMITED) };
        match budget.checked_sub(Budget::RESERVED) {
            None | Some(0) => Err(Error::Memory {
                what: "the program with its readers".into(),
                needed: Budget::RESERVED + (8 << 20),
                budget,
            }),
            all => Ok(Budget { table: None, all }),
        }
    }

    /// The same beside what is held in memory already, such as a target.
    pub fn beside(self, what: &str, held: u64) -> Result<Budget> {
        let Some(all) = self.all else { return Ok(self) };
        match all.checked_sub(held) {
            Some(all) => Ok(Budget { all: Some(all), ..self }),
            None => Err(Error::Memory {
                what: what.into(),
                needed: held.saturating_add(Budget::RESERVED),
                budget: all + Budget::RESERVED,
            }),
        }
    }

    /// The same with room for a table of `table` bytes in memory beside the fit of this plan, which was made
    /// without a budget; where they do not fit together the table is streamed.
    pub fn with_table(self, table: u64, plan: &Plan) -> Budget {
        self.with_table_beside(table, plan.likely_memory)
    }

    /// The same beside work that needs so many bytes.
    pub fn with_table_beside(self, table: u64, needed: u64) -> Budget {
        let Some(all) = self.all else { return self };
        let fits = table.saturating_add(needed) <= all;
        Budget { table: Some(if fits { all - needed } else { 0 }), ..self }
    }

    /// What is left for the fit beside a table that takes so many bytes.
    pub fn left(&self, table: u64) -> Option<u64> {
        self.all.map(|all| all.saturating_sub(table))
    }

    /// An error of the fit, with the whole budget that it would need: a hint must be enough.
    pub fn explain(&self, error: eigenlens::Error, table: u64) -> eigenlens::Error {
        match (error, self.all) {
            (eigenlens::Error::Memory { route, needed, .. }, Some(all)) => {
                eigenlens::Error::Memory {
                    route,
                    needed: needed.saturating_add(Budget::RESERVED + table),
                    budget: all + Budget::RESERVED,
                }
            }
            (error, _) => error,
        }
    }
}

/// Refuses what needs more than reading may take, before it is read.
pub(crate) fn check(memory: Option<u64>, needed: u64, what: impl FnOnce() -> String) -> Result<()> {
    match memory.filter(|&budget| needed > budget) {
        Some(budget) => Err(Error::Memory { what: what(), needed, budget }),
        None => Ok(()),
    }
}

/// What a column takes beside its numbers: its name in the table, in what becomes of it, in the data and in the
/// model.
pub(crate) const COLUMN_BYTES: u64 = 512;

/// Refuses more columns than a budget has room for, before they are named.
pub(crate) fn check_columns(memory: Option<u64>, n_columns: usize, path: &Path) -> Result<()> {
    // These are within what is set aside for the readers.
    const FEW: usize = 4096;
    let needed = match n_columns {
        0..=FEW => 0,
        _ => COLUMN_BYTES.saturating_mul(n_columns as u64),
    };
    check(memory, needed, || format!("{} with its {n_columns} columns", path.display()))
}

/// Room for so many values more, or an error that says what they are for.
pub(crate) fn reserve<T>(
    values: &mut Vec<T>,
    more: usize,
    what: impl FnOnce() -> String,
) -> Result<()> {
    let n = (values.len() as u64).saturating_add(more as u64);
    try_reserve(values, more).map_err(|_| Error::OutOfMemory {
        what: what(),
        needed: n.saturating_mul(size_of::<T>() as u64),
    })
}

/// So many values of nothing, or an error that says what they are for.
pub(crate) fn zeros<T: Clone + Default>(n: usize, what: impl FnOnce() -> String) -> Result<Vec<T>> {
    let mut zeros = Vec::new();
    reserve(&mut zeros, n, what)?;
    zeros.resize(n, T::default());
    Ok(zeros)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenlens::{DataShape, Options, Pca};

    #[test]
    fn a_table_stays_in_memory_where_the_fit_has_room_beside_it() {
        let pca = Pca::new(5).options(Options::default());
        let plan = pca.plan(DataShape::dense(10_000, 50)).unwrap();
        let table = 10_000 * 50 * 8;
        let needed = Budget::RESERVED + table + plan.likely_memory;
        let shared = |total| Budget::new(Some(total)).unwrap().with_table(table, &plan);
        assert_eq!(shared(needed).table, Some(table));
        assert_eq!(shared(needed - 1).table, Some(0));
        assert_eq!(shared(needed).left(table), Some(plan.likely_memory));
        assert_eq!(Budget::new(None).unwrap().with_table(table, &plan), Budget::UNLIMITED);
        assert!(Budget::new(Some(Budget::RESERVED)).is_err());
    }
}
