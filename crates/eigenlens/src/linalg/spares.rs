//! Buffers that tasks hand on to each other. A buffer of some hundred kilobytes that is new for every
//! task costs more in page faults than it is used for; one that is read before it is written faults
//! twice, the second time stopping the other cores.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// Buffers that no task uses now: never more than there have been tasks at once.
pub(crate) struct Spares<W>(Mutex<Vec<W>>);

impl<W> Default for Spares<W> {
    fn default() -> Self {
        Spares(Mutex::default())
    }
}

impl<W: Default> Spares<W> {
    /// A buffer as the last task left it, or a new one.
    pub fn lend(&self) -> Lent<'_, W> {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Lent { spares: self, buffer: spare.unwrap_or_default() }
    }
}

/// A buffer in use; it goes back when dropped.
pub(crate) struct Lent<'s, W: Default> {
    spares: &'s Spares<W>,
    buffer: W,
}

impl<W: Default> Drop for Lent<'_, W> {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.spares.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}

impl<W: Default> Deref for Lent<'_, W> {
    type Target = W;

    fn deref(&self) -> &W {
        &self.buffer
    }
}

impl<W: Default> DerefMut for Lent<'_, W> {
    fn deref_mut(&mut self) -> &mut W {
        &mut self.buffer
    }
}
