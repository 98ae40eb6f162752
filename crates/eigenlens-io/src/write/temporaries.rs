//! Which temporary files exist, so that an interrupted program can remove them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static TEMPORARIES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Removes every temporary file that an unfinished [`Output`](super::Output) of this process holds.
///
/// For the thread that handles an interrupt, just before the process ends: it takes a lock, so it
/// must not be called from within a signal handler itself.
pub fn cleanup_temporaries() {
    for path in std::mem::take(&mut *registry()) {
        // Nothing can be done about a file that does not go away, and nobody is left to be told.
        let _ = std::fs::remove_file(path);
    }
}

/// Remembers a temporary file.
pub(super) fn remember(path: &Path) {
    registry().insert(path.to_owned());
}

/// Forgets a temporary file: it is gone, or has its final name.
pub(super) fn forget(path: &Path) {
    registry().remove(path);
}

fn registry() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}
