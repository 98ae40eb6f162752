//! Which temporary files exist, so that an interrupted program can remove them.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

static TEMPORARIES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Held while files get their names: an interrupt waits, as half of the names must not be all there is.
static NAMING: Mutex<()> = Mutex::new(());

/// Removes every temporary file that an unfinished [`Output`](super::Output) of this process holds.
///
/// For the thread that handles an interrupt, just before the process ends: it takes a lock, so it
/// must not be called from within a signal handler itself.
pub fn cleanup_temporaries() {
    let _naming = naming();
    remove_all(&mut registry());
}

/// The same, and ends the process. Until it has ended no other thread can make or finish a file.
pub fn cleanup_temporaries_and_exit(code: i32) -> ! {
    let _naming = naming();
    let mut registry = registry();
    remove_all(&mut registry);
    std::process::exit(code)
}

fn remove_all(registry: &mut BTreeSet<PathBuf>) {
    for path in std::mem::take(registry) {
        // Nothing can be done about a file that does not go away, and nobody is left to be told.
        let _ = std::fs::remove_file(path);
    }
}

/// Makes a temporary file and remembers it, in one step as an interrupt sees it.
pub(super) fn make(file: impl FnOnce() -> io::Result<NamedTempFile>) -> io::Result<NamedTempFile> {
    let mut registry = registry();
    let file = file()?;
    registry.insert(file.path().to_owned());
    Ok(file)
}

/// Keeps an interrupt from ending the process as long as this is held.
pub(super) fn naming() -> MutexGuard<'static, ()> {
    NAMING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets a temporary file: it is gone, or has its final name.
pub(super) fn forget(path: &Path) {
    registry().remove(path);
}

fn registry() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}
