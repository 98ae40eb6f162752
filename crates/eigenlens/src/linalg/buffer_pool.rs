//! Buffers that tasks hand on to each other. A buffer of some hundred kilobytes that is new for every
//! task costs more in page faults than it is used for; one that is read before it is written faults
//! twice, the second time stopping the other cores.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// Buffers that no task uses now: never more than there have been tasks at once.
pub(crate) struct BufferPool<W>(Mutex<Vec<W>>);

impl<W> Default for BufferPool<W> {
    fn default() -> Self {
        BufferPool(Mutex::default())
    }
}

impl<W: Default> BufferPool<W> {
    /// A buffer as the last task left it, or a new one.
    pub fn acquire(&self) -> PooledBuffer<'_, W> {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        PooledBuffer { buffer_pool: self, buffer: spare.unwrap_or_default() }
    }
}

/// A buffer in use; it goes back when dropped.
pub(crate) struct PooledBuffer<'s, W: Default> {
    buffer_pool: &'s BufferPool<W>,
    buffer: W,
}

impl<W: Default> Drop for PooledBuffer<'_, W> {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.buffer_pool.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}

impl<W: Default> Deref for PooledBuffer<'_, W> {
    type Target = W;

    fn deref(&self) -> &W {
        &self.buffer
    }
}

impl<W: Default> DerefMut for PooledBuffer<'_, W> {
    fn deref_mut(&mut self) -> &mut W {
        &mut self.buffer
    }
}
