//! Files that appear whole or not at all.

use super::journal;
use super::temporary::{Temporary, directory_of};
use crate::error::{Error, Result};
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file being written: without a name, where the system has such files, or under a temporary one in the
/// directory of the final one, until [`commit`](Self::commit) gives it its name in one step.
///
/// The file is created at once, so that a path that cannot be written fails before the long work.
/// Dropping an output removes it, and the file that was there before stays as it was. What a killed
/// process could not remove, the next output in the same directory does.
/// Names that end in `.gz` or `.zst` are compressed. `-` is standard output; it and devices and
/// pipes are written directly.
pub struct Output {
    path: PathBuf,
    format: OutputFormat,
    sink: Sink,
}

/// The format of an output, by the extension of its name without `.gz` or `.zst`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFormat {
    /// `.csv`, `.txt`, no extension, and standard output.
    Csv,
    /// `.tsv`, `.tab`.
    Tsv,
    /// `.parquet`, `.pq`.
    Parquet,
    /// `.arrow`, `.feather`, `.ipc`.
    Arrow,
    /// `.npy`: numbers alone.
    Npy,
    /// Any other extension, in lower case.
    Other(String),
}

impl Output {
    /// Creates an output, which must not be one of the inputs.
    pub fn create(path: &Path, inputs: &[PathBuf]) -> Result<Self> {
        let failed = |source| {
            let source = without_temporary_name(source);
            Error::Write { file: path.to_owned(), created: false, source }
        };
        if let Some(input) = inputs.iter().find(|input| is_same_file(path, input)) {
            return Err(Error::Usage {
                what: format!("the output `{}` is the input `{}`", path.display(), input.display()),
                hint: Some(String::from("choose another name for the output")),
            });
        }
        let (stem, compression) = compression(path);
        let target = Target::open(path).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            format: OutputFormat::of(&stem),
            sink: Sink::new(target, compression).map_err(failed)?,
        })
    }

    /// The final name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The format, by the final name.
    pub fn format(&self) -> OutputFormat {
        self.format.clone()
    }

    /// Writes all these bytes; a failure names the file.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.sink.as_write().write_all(bytes).map_err(|source| self.write_error(source))
    }

    /// Whether [`rewrite_start`](Self::rewrite_start) works: not for what is compressed, nor for
    /// standard output, pipes and devices.
    pub fn can_rewrite_start(&self) -> bool {
        matches!(&self.sink, Sink::Plain(sink) if matches!(sink.get_ref(), Target::Temporary(_)))
    }

    /// Writes over the first bytes, for headers that are known only at the end.
    pub fn rewrite_start(&mut self, bytes: &[u8]) -> Result<()> {
        let rewritten = match &mut self.sink {
            Sink::Plain(sink) => sink.flush().and_then(|()| match sink.get_mut() {
                Target::Temporary(temporary) => temporary.rewrite_start(bytes),
                _ => Err(io::ErrorKind::NotSeekable.into()),
            }),
            _ => Err(io::ErrorKind::NotSeekable.into()),
        };
        rewritten.map_err(|source| self.write_error(source))
    }

    /// What a failed write of this file is, for writers that go through [`Write`].
    pub fn write_error(&self, source: io::Error) -> Error {
        Error::Write { file: self.path.clone(), created: true, source }
    }

    /// Completes the content: compressed stream ended, bytes on the disk. Only the name is missing.
    pub fn complete(self) -> Result<Complete> {
        let Output { path, sink, .. } = self;
        match sink.finish().and_then(Target::complete) {
            Ok(temporary) => Ok(Complete { path, temporary }),
            Err(source) => Err(Error::Write { file: path, created: true, source }),
        }
    }

    /// Completes the file and gives it its name.
    pub fn commit(self) -> Result<()> {
        self.complete()?.commit()
    }
}

/// A file whose content is complete, and whose name is still to be given: dropping it leaves nothing.
#[must_use = "the file has no name yet"]
pub struct Complete {
    path: PathBuf,
    /// None for standard output, pipes and devices, where the bytes are already.
    temporary: Option<Temporary>,
}

impl Complete {
    /// What is nowhere to be named.
    pub(super) fn nothing(path: PathBuf) -> Complete {
        Complete { path, temporary: None }
    }

    /// Gives the file its name.
    pub fn commit(self) -> Result<()> {
        commit_together(vec![self])
    }
}

/// Gives files that belong together their names: whenever the process is killed, the next command in one of
/// their directories sees all of them new or all of them as they were.
pub fn commit_together(files: Vec<Complete>) -> Result<()> {
    let (paths, temporaries): (Vec<PathBuf>, Vec<Temporary>) =
        (files.into_iter()).filter_map(|file| Some((file.path, file.temporary?))).unzip();
    journal::commit(temporaries).map_err(|(index, source)| Error::Write {
        file: paths.get(index).cloned().unwrap_or_default(),
        created: true,
        source: without_temporary_name(source),
    })
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.as_write().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.as_write().flush()
    }
}

impl OutputFormat {
    /// Whether labels and names of columns are kept; NPY has room for numbers only.
    pub fn keeps_names(&self) -> bool {
        *self != Self::Npy
    }

    /// The format of a name without its compression.
    fn of(stem: &Path) -> Self {
        let extension = stem.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            None | Some("" | "csv" | "txt") => Self::Csv,
            Some("tsv" | "tab") => Self::Tsv,
            Some("parquet" | "pq") => Self::Parquet,
            Some("arrow" | "feather" | "ipc") => Self::Arrow,
            Some("npy") => Self::Npy,
            Some(other) => Self::Other(other.to_owned()),
        }
    }
}

#[derive(Clone, Copy)]
enum Compression {
    None,
    Gzip,
    Zstd,
}

/// The name without the extension of a compression, and the compression.
fn compression(path: &Path) -> (PathBuf, Compression) {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("gz") => (path.with_extension(""), Compression::Gzip),
        Some("zst") => (path.with_extension(""), Compression::Zstd),
        _ => (path.to_owned(), Compression::None),
    }
}

enum Sink {
    Plain(BufWriter<Target>),
    Gzip(BufWriter<GzEncoder<Target>>),
    Zstd(BufWriter<zstd::Encoder<'static, Target>>),
}

impl Sink {
    fn new(target: Target, compression: Compression) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Self::Plain(BufWriter::new(target)),
            Compression::Gzip => {
                Self::Gzip(BufWriter::new(GzEncoder::new(target, flate2::Compression::default())))
            }
            Compression::Zstd => {
                let mut encoder = zstd::Encoder::new(target, 0)?;
                // Without it a flipped bit would be read as another table.
                encoder.include_checksum(true)?;
                Self::Zstd(BufWriter::new(encoder))
            }
        })
    }

    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(sink) => sink,
            Self::Gzip(sink) => sink,
            Self::Zstd(sink) => sink,
        }
    }

    fn finish(self) -> io::Result<Target> {
        match self {
            Self::Plain(sink) => sink.into_inner().map_err(io::IntoInnerError::into_error),
            Self::Gzip(sink) => sink.into_inner().map_err(io::IntoInnerError::into_error)?.finish(),
            Self::Zstd(sink) => sink.into_inner().map_err(io::IntoInnerError::into_error)?.finish(),
        }
    }
}

/// Where the bytes go.
enum Target {
    Temporary(Temporary),
    /// A device or a pipe, which has no content that could be replaced.
    Direct(File),
    StandardOutput(io::Stdout),
}

impl Target {
    fn open(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::StandardOutput(io::stdout()));
        }
        // Through a symbolic link the file it points to is replaced, as an ordinary write would do.
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(e) if e.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(e) => return Err(e),
        };
        match fs::metadata(&target) {
            Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => {
                Ok(Self::Direct(File::options().write(true).open(&target)?))
            }
            Ok(_) => Ok(Self::Temporary(Temporary::create(target)?)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Ok(Self::Temporary(Temporary::create(target)?))
            }
            Err(e) => Err(e),
        }
    }

    /// Brings all bytes to where they belong; gives the file that waits for its name, if there is one.
    fn complete(self) -> io::Result<Option<Temporary>> {
        match self {
            Self::Temporary(mut temporary) => temporary.complete().map(|()| Some(temporary)),
            // A device or a pipe cannot be synced, but a failed close would go unnoticed otherwise.
            Self::Direct(mut file) => file.flush().map(|()| None),
            Self::StandardOutput(mut stdout) => stdout.flush().map(|()| None),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Temporary(temporary) => temporary.write(bytes),
            Self::Direct(file) => file.write(bytes),
            Self::StandardOutput(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Temporary(temporary) => temporary.flush(),
            Self::Direct(file) => file.flush(),
            Self::StandardOutput(stdout) => stdout.flush(),
        }
    }
}

/// What the system said, without the temporary name that nobody asked for.
fn without_temporary_name(error: io::Error) -> io::Error {
    if error.raw_os_error().is_some() { error } else { error.kind().into() }
}

/// Refuses outputs of which one would replace another: names that lead to one file, however they
/// are spelled and through links, too.
pub fn check_distinct(outputs: &[&Path]) -> Result<()> {
    for (i, path) in outputs.iter().enumerate() {
        if let Some(other) = outputs[..i].iter().find(|other| is_same_output(path, other)) {
            let what = match path == other {
                true => format!("two outputs would go to `{}`", path.display()),
                false => format!(
                    "two outputs would go to one file, `{}` and `{}`",
                    other.display(),
                    path.display()
                ),
            };
            let hint = Some(String::from("give each output a name of its own"));
            return Err(Error::Usage { what, hint });
        }
    }
    Ok(())
}

fn is_same_output(one: &Path, other: &Path) -> bool {
    one == other || is_same_file(one, other) || place_of(one) == place_of(other)
}

/// The one spelling of where an output goes, which need not exist yet.
fn place_of(path: &Path) -> PathBuf {
    if [Path::new("/dev/stdout"), Path::new("/dev/fd/1")].contains(&path) {
        return PathBuf::from("-");
    }
    let mut path = path.to_owned();
    // As many links as systems follow.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(to) => path = directory_of(&path).join(to),
            Err(_) => break,
        }
    }
    match (fs::canonicalize(directory_of(&path)), path.file_name()) {
        (Ok(directory), Some(name)) if path != Path::new("-") => directory.join(name),
        _ => path,
    }
}

/// Whether two names lead to one file: also through links.
fn is_same_file(output: &Path, input: &Path) -> bool {
    if output == Path::new("-") || input == Path::new("-") {
        return false;
    }
    let (Ok(output), Ok(input)) = (fs::canonicalize(output), fs::canonicalize(input)) else {
        return false;
    };
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (fs::metadata(&output), fs::metadata(&input)) {
        use std::os::unix::fs::MetadataExt;
        if a.is_file() && a.dev() == b.dev() && a.ino() == b.ino() {
            return true;
        }
    }
    output == input && output.is_file()
}
