//! The one clock of the library: a limit on time that the user asked for.

use std::time::{Duration, Instant};

/// A moment after which work should end; or none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    /// So long from now; `None`, or too long to say: no limit.
    pub fn after(time: Option<Duration>) -> Deadline {
        Deadline(time.and_then(|time| Instant::now().checked_add(time)))
    }

    pub fn has_passed(self) -> bool {
        self.0.is_some_and(|moment| Instant::now() >= moment)
    }
}
