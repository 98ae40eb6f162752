//! How a budget of memory is shared between the readers, the table and the fit.

use crate::error::{Error, Result};
use eigenlens::Plan;

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

    /// The same with room for a table of `table` bytes in memory beside the fit of this plan, which was made
    /// without a budget; where they do not fit together the table is streamed.
    pub fn with_table(self, table: u64, plan: &Plan) -> Budget {
        self.beside(table, plan.likely_memory)
    }

    /// The same beside work that needs so many bytes.
    pub fn beside(self, table: u64, needed: u64) -> Budget {
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
