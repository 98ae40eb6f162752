//! A file that has no name yet, or a temporary one.

use super::litter;
use super::temporaries;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use tempfile::{Builder, NamedTempFile, TempPath};

/// What the names of temporary files begin and end with.
pub(super) const PREFIX: &str = ".eigenlens-";
pub(super) const SUFFIX: &str = ".tmp";

/// A file in the directory of its final name, which goes when it is dropped.
///
/// It is locked as long as its process lives: a temporary name whose file nobody holds is litter.
pub(super) struct Temporary {
    file: File,
    name: Option<TempPath>,
    target: PathBuf,
    sync: EarlySync,
}

impl Temporary {
    pub(super) fn create(target: PathBuf) -> io::Result<Self> {
        if target.file_name().is_none() {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        let directory = directory_of(&target);
        // Asked first, because the system's words about a directory are better than about a file
        // that nobody named.
        fs::metadata(directory)?;
        litter::remove(directory);
        // Refused by some filesystems: then under a name.
        let (file, name) = match unnamed(directory) {
            Ok(file) => (file, None),
            Err(_) => {
                let (file, name) = named(directory)?;
                (file, Some(name))
            }
        };
        Ok(Self { file, name, target, sync: EarlySync::default() })
    }

    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.file.write(bytes)?;
        self.sync.written(&self.file, n)?;
        Ok(n)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    pub(super) fn rewrite_start(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.rewind()?;
        self.file.write_all(bytes)?;
        self.file.seek(SeekFrom::End(0)).map(|_| ())
    }

    /// Brings all bytes to the disk.
    pub(super) fn complete(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.sync.wait()?;
        #[cfg(unix)]
        if let Ok(old) = fs::metadata(&self.target) {
            // A file that is replaced keeps who may read it.
            self.file.set_permissions(old.permissions())?;
        }
        self.file.sync_all()
    }

    /// The temporary name; one is given where there was none.
    pub(super) fn name(&mut self) -> io::Result<&Path> {
        let name = match self.name.take() {
            Some(name) => name,
            None => {
                let directory = directory_of(&self.target);
                let link = |path: &Path| link(&self.file, path);
                named_like(SUFFIX).make_in(directory, link)?.into_temp_path()
            }
        };
        Ok(self.name.insert(name))
    }

    /// What tells the file from every other of its filesystem.
    #[cfg(unix)]
    pub(super) fn identity(&self) -> io::Result<u64> {
        use std::os::unix::fs::MetadataExt;
        Ok(self.file.metadata()?.ino())
    }

    #[cfg(not(unix))]
    pub(super) fn identity(&self) -> io::Result<u64> {
        Ok(0)
    }

    /// Gives the final name, in one step.
    pub(super) fn rename(&mut self) -> io::Result<()> {
        // Where nothing is replaced the name can be given without a temporary one before.
        if self.name.is_none() && link(&self.file, &self.target).is_ok() {
            return Ok(());
        }
        let target = self.target.clone();
        fs::rename(self.name()?, target)?;
        self.forget();
        Ok(())
    }

    /// The temporary name is no longer that of this file.
    fn forget(&mut self) {
        if let Some(name) = self.name.take() {
            temporaries::forget(&name);
            // It is not to be removed: another file could be called so by now.
            let _ = name.keep();
        }
    }

    /// Gives a name that ends like this and that no other file has.
    pub(super) fn publish(mut self, suffix: &str) -> io::Result<NamedTempFile<File>> {
        let directory = directory_of(&self.target).to_owned();
        let name_it = |path: &Path| match &self.name {
            None => link(&self.file, path),
            Some(_) if path.exists() => Err(io::ErrorKind::AlreadyExists.into()),
            Some(name) => fs::rename(name, path),
        };
        let published = named_like(suffix).make_in(directory, name_it)?.into_temp_path();
        self.forget();
        Ok(NamedTempFile::from_parts(self.file.try_clone()?, published))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            temporaries::forget(name);
        }
    }
}

/// Makes the names in a directory permanent: without this a power cut could lose them.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(directory)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = directory;
    Ok(())
}

pub(super) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn named_like(suffix: &str) -> Builder<'_, '_> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(suffix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What any new file gets; the process's mask still applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

/// A file without a name: it is gone when its process is, however that ends.
#[cfg(target_os = "linux")]
fn unnamed(directory: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(directory, flags, Mode::from_raw_mode(0o666))?);
    // It gets its name through this directory, which need not be there.
    fs::metadata(place_of(&file))?;
    hold(&file);
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Gives a file that has no name one that no other file has.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    rustix::fs::linkat(CWD, place_of(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn place_of(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// A file under a temporary name, held.
fn named(directory: &Path) -> io::Result<(File, TempPath)> {
    loop {
        let made = temporaries::make(|| named_like(SUFFIX).tempfile_in(directory))?;
        hold(made.as_file());
        // Before it was held it could be taken for litter.
        if made.path().exists() {
            return Ok(made.into_parts());
        }
        temporaries::forget(made.path());
    }
}

/// Locks a file for as long as it is open. Where that does not work nobody can take it for litter.
fn hold(file: &File) {
    let _ = file.try_lock();
}

/// Brings what is written to the disk while more is being made, so that little is left to wait for
/// at the end.
#[derive(Default)]
struct EarlySync {
    n_bytes: usize,
    running: Option<JoinHandle<io::Result<()>>>,
}

impl EarlySync {
    const EVERY: usize = 16 << 20;

    /// Told that so many bytes more have been written.
    fn written(&mut self, file: &File, n: usize) -> io::Result<()> {
        self.n_bytes += n;
        if self.n_bytes < Self::EVERY || self.running.as_ref().is_some_and(|r| !r.is_finished()) {
            return Ok(());
        }
        self.wait()?;
        self.n_bytes = 0;
        let file = file.try_clone()?;
        // Without a thread for it all is synced at the end.
        self.running = std::thread::Builder::new().spawn(move || file.sync_data()).ok();
        Ok(())
    }

    /// Waits for what is on its way. A failure is told here: the system says it only once.
    fn wait(&mut self) -> io::Result<()> {
        match self.running.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(io::Error::other("the thread that syncs has panicked")),
        }
    }
}
