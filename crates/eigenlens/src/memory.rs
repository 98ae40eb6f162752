//! Memory that may be refused: large buffers are asked for before they are filled.

use crate::error::{Error, Result};
use std::cell::Cell;
use std::collections::TryReserveError;
use std::hint::black_box;

thread_local! {
    static ASKING: Cell<Asking> = const { Cell::new(Asking::No) };
}

/// How this thread asks for memory.
#[derive(Clone, Copy, PartialEq)]
enum Asking {
    /// It must have it.
    No,
    /// It can do without.
    Fallibly,
    /// It only wants to know, and gives it back at once.
    Only,
}

/// Whether this thread asks for memory just now that it can do without.
///
/// For allocators that end the program where there is none: here they may refuse, and the caller gets an
/// error that says what the memory was for.
pub fn may_fail() -> bool {
    ASKING.get() != Asking::No
}

/// Whether this thread only asks if there is so much memory, and gives it back at once: for allocators that
/// count.
pub fn only_asks() -> bool {
    ASKING.get() == Asking::Only
}

/// Room for exactly so many values more, or an error.
pub fn try_reserve<T>(
    values: &mut Vec<T>,
    more: usize,
) -> std::result::Result<(), TryReserveError> {
    let before = ASKING.replace(Asking::Fallibly);
    let result = values.try_reserve_exact(more);
    ASKING.set(before);
    result
}

/// Whether so many bytes can be had beside all that there is, before the work that fills them.
pub fn try_bytes(bytes: u64) -> std::result::Result<(), TryReserveError> {
    ask(bytes, Asking::Fallibly)
}

fn ask(bytes: u64, asking: Asking) -> std::result::Result<(), TryReserveError> {
    let before = ASKING.replace(asking);
    let mut asked = Vec::<u8>::new();
    // What nobody looks at would not be asked for.
    let result =
        black_box(&mut asked).try_reserve_exact(usize::try_from(bytes).unwrap_or(usize::MAX));
    drop(asked);
    ASKING.set(before);
    result
}

/// Whether the system has as much memory as a plan says, of which some may be in use already.
pub(crate) fn check(what: &str, needed: u64) -> Result<()> {
    ask(needed, Asking::Only).map_err(|_| Error::OutOfMemory { what: what.into(), needed })
}

/// Zeros, or an error that says what they are for. Their pages are taken when they are written to.
pub(crate) fn zeros<T: Clone + Default>(what: &str, n: usize) -> Result<Vec<T>> {
    // Asked first, because the zeros themselves cannot be refused.
    check(what, (n as u64).saturating_mul(size_of::<T>() as u64))?;
    Ok(vec![T::default(); n])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn what_there_is_not_is_an_error() {
        let error = zeros::<f64>("scores", usize::MAX).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Memory);
        assert!(matches!(error, Error::OutOfMemory { needed: u64::MAX, .. }));
        assert!(check("a fit", u64::MAX).is_err() && check("a fit", 1 << 20).is_ok());
        assert_eq!(zeros::<f32>("scores", 3).unwrap(), [0.0; 3]);
        assert!(!may_fail());
    }
}
