//! What killed processes left in a directory.

use super::journal::{self, JOURNAL};
use super::temporary::{PREFIX, SUFFIX, directory_of};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Finishes what killed processes had begun to name together in the directory of this file.
///
/// For those who read a file of ours: of several that belong together they must not see half.
pub fn recover(file: &Path) {
    for path in left_in(directory_of(file), JOURNAL) {
        // What cannot be done now, another run can try.
        let _ = journal::roll_forward(&path);
    }
}

/// The same in a directory, and removes the temporary files of processes that are gone.
pub(super) fn remove(directory: &Path) {
    recover(&directory.join(PREFIX));
    for path in left_in(directory, SUFFIX) {
        let _ = remove_unless_held(&path);
    }
}

fn left_in(directory: &Path, suffix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let is_left = |name: &str| name.starts_with(PREFIX) && name.ends_with(suffix);
    (entries.flatten())
        .filter(|entry| entry.file_name().to_str().is_some_and(is_left))
        .map(|entry| entry.path())
        .collect()
}

fn remove_unless_held(path: &Path) -> io::Result<()> {
    if is_ours(path) && File::open(path)?.try_lock().is_ok() {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Whether it is a file of this user: in a directory of all nobody is to be led astray.
pub(super) fn is_ours(path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    #[cfg(unix)]
    let is_own = std::os::unix::fs::MetadataExt::uid(&found) == rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    let is_own = true;
    found.is_file() && is_own
}
