//! Bytes in: files, pipes and standard input, compressed or not, always the same bytes again.

use crate::error::{Error, Place, Result};
use crate::file_kind::FileKind;
use flate2::bufread::MultiGzDecoder;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// How much compressed input may expand.
///
/// Table text compresses three to twentyfold; a file that goes far beyond is made to fill memory or
/// disk. Counted on the output of the decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpansionLimit {
    /// This many bytes are always allowed.
    pub always: u64,
    /// Beyond them, so many times the compressed bytes read.
    pub ratio: u64,
}

impl Default for ExpansionLimit {
    /// 1 GiB, then 1000 to 1.
    fn default() -> Self {
        Self { always: 1 << 30, ratio: 1000 }
    }
}

/// A file that can be read more than once.
///
/// What is not a regular file (standard input, a pipe) is first copied to an unnamed temporary file.
/// A file that changes while it is open here is an error, never a mixture.
#[derive(Clone, Debug)]
pub struct Input {
    path: PathBuf,
    spooled: Option<Arc<File>>,
    stamp: Stamp,
    compression: Option<Compression>,
    limit: ExpansionLimit,
}

/// A compression known by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// gzip, also of several members.
    Gzip,
    /// Zstandard.
    Zstd,
}

#[derive(Clone, Debug, PartialEq)]
struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self { len: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl Input {
    /// Opens a file, or standard input when the path is `-`.
    pub fn open(path: &Path, limit: ExpansionLimit) -> Result<Self> {
        let failed = |source| Error::Open { file: path.to_owned(), source };
        let (spooled, metadata) = if path == Path::new("-") {
            let (file, metadata) = spool(path, &mut io::stdin().lock())?;
            (Some(Arc::new(file)), metadata)
        } else {
            let mut file = File::open(path).map_err(failed)?;
            let metadata = file.metadata().map_err(failed)?;
            if metadata.is_dir() {
                return Err(failed(io::ErrorKind::IsADirectory.into()));
            }
            if metadata.is_file() {
                (None, metadata)
            } else {
                let (file, metadata) = spool(path, &mut file)?;
                (Some(Arc::new(file)), metadata)
            }
        };
        let stamp = Stamp::of(&metadata);
        let mut input = Self { path: path.to_owned(), spooled, stamp, compression: None, limit };
        input.compression = match FileKind::of(&input.head(FileKind::HEAD_BYTES)?) {
            Some(FileKind::Gzip) => Some(Compression::Gzip),
            Some(FileKind::Zstd) => Some(Compression::Zstd),
            _ => None,
        };
        Ok(input)
    }

    /// The name it was opened by, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path that opens the same bytes, for readers that want one. Unnamed temporary files have
    /// one on Linux only.
    pub fn readable_path(&self) -> Option<PathBuf> {
        match &self.spooled {
            None => Some(self.path.clone()),
            #[cfg(target_os = "linux")]
            Some(file) => {
                use std::os::fd::AsRawFd;
                Some(PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())))
            }
            #[cfg(not(target_os = "linux"))]
            Some(_) => None,
        }
    }

    /// Whether it was copied to a temporary file first.
    pub fn is_spooled(&self) -> bool {
        self.spooled.is_some()
    }

    /// How it is compressed.
    pub fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// The number of bytes, as stored.
    pub fn n_bytes(&self) -> u64 {
        self.stamp.len
    }

    /// The first bytes, as stored: as many as there are, at most `n`.
    pub fn head(&self, n: usize) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        let raw = RawReader::new(self)?;
        raw.take(n as u64)
            .read_to_end(&mut head)
            .map_err(|source| Error::Read { file: self.path.clone(), source })?;
        Ok(head)
    }

    /// Starts reading from the first byte, decompressed.
    pub fn reader(&self) -> Result<InputReader> {
        let raw = RawReader::new(self)?;
        let count = raw.count.clone();
        let check = raw.file.clone();
        let decoder = match self.compression {
            None => Decoder::Plain(raw),
            Some(Compression::Gzip) => {
                let buffered = BufReader::with_capacity(1 << 16, raw);
                Decoder::Gzip(Box::new(MultiGzDecoder::new(buffered)))
            }
            Some(Compression::Zstd) => {
                let buffered = BufReader::with_capacity(1 << 17, raw);
                let decoder = zstd::Decoder::with_buffer(buffered)
                    .map_err(|source| Error::Read { file: self.path.clone(), source })?;
                Decoder::Zstd(Box::new(decoder))
            }
        };
        Ok(InputReader {
            path: self.path.clone(),
            decoder,
            count,
            check,
            stamp: self.stamp.clone(),
            limit: self.limit,
            delivered: 0,
        })
    }

    fn file(&self) -> Result<Arc<File>> {
        if let Some(file) = &self.spooled {
            return Ok(file.clone());
        }
        let failed = |source| Error::Open { file: self.path.clone(), source };
        let file = File::open(&self.path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if Stamp::of(&metadata) != self.stamp {
            return Err(changed(&self.path));
        }
        Ok(Arc::new(file))
    }
}

/// One reading of an [`Input`].
pub struct InputReader {
    path: PathBuf,
    decoder: Decoder,
    count: Arc<AtomicU64>,
    check: Arc<File>,
    stamp: Stamp,
    limit: ExpansionLimit,
    delivered: u64,
}

enum Decoder {
    Plain(RawReader),
    Gzip(Box<MultiGzDecoder<BufReader<RawReader>>>),
    Zstd(Box<zstd::Decoder<'static, BufReader<RawReader>>>),
}

impl InputReader {
    /// Fills the bytes as far as the input goes; fewer than asked for only at its end, where it is
    /// checked that the file is still the one that was opened.
    pub fn fill(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..)
            && !rest.is_empty()
        {
            let got = match &mut self.decoder {
                Decoder::Plain(raw) => raw.read(rest),
                Decoder::Gzip(decoder) => decoder.read(rest),
                Decoder::Zstd(decoder) => decoder.read(rest),
            };
            match got {
                Ok(0) => {
                    self.check_end()?;
                    break;
                }
                Ok(n) => {
                    filled += n;
                    self.delivered += n as u64;
                    self.check_expansion()?;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.read_error(source)),
            }
        }
        Ok(filled)
    }

    /// The stored bytes read so far.
    pub fn bytes_read(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The bytes delivered so far, decompressed.
    pub fn bytes_delivered(&self) -> u64 {
        self.delivered
    }

    fn check_expansion(&self) -> Result<()> {
        let is_compressed = !matches!(self.decoder, Decoder::Plain(_));
        let allowed = self.bytes_read().saturating_mul(self.limit.ratio).max(self.limit.always);
        if is_compressed && self.delivered > allowed {
            return Err(self.content(format!(
                "{} compressed bytes expand to more than {allowed}: \
                 this is not how tables compress, so it is taken for an attack",
                self.bytes_read()
            )));
        }
        Ok(())
    }

    fn check_end(&self) -> Result<()> {
        let metadata = self.check.metadata().map_err(|source| self.device_error(source))?;
        let is_short =
            matches!(self.decoder, Decoder::Plain(_)) && self.delivered != self.stamp.len;
        if Stamp::of(&metadata) != self.stamp || is_short {
            return Err(changed(&self.path));
        }
        Ok(())
    }

    /// A decoder's complaint is about the content; anything else about the device.
    fn read_error(&self, source: io::Error) -> Error {
        let is_device = source.raw_os_error().is_some();
        match self.decoder {
            Decoder::Gzip(_) if !is_device => {
                self.content(format!("the gzip stream is broken or ends too early: {source}"))
            }
            Decoder::Zstd(_) if !is_device => {
                self.content(format!("the Zstandard stream is broken or ends too early: {source}"))
            }
            _ => self.device_error(source),
        }
    }

    fn device_error(&self, source: io::Error) -> Error {
        Error::Read { file: self.path.clone(), source }
    }

    fn content(&self, what: String) -> Error {
        Error::Content { file: self.path.clone(), place: Place::default(), what }
    }
}

/// Positioned reads, so that several readings can share one file.
struct RawReader {
    file: Arc<File>,
    offset: u64,
    count: Arc<AtomicU64>,
}

impl RawReader {
    fn new(input: &Input) -> Result<Self> {
        Ok(Self { file: input.file()?, offset: 0, count: Arc::default() })
    }
}

impl Read for RawReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let n = std::os::unix::fs::FileExt::read_at(&*self.file, bytes, self.offset)?;
        #[cfg(windows)]
        let n = std::os::windows::fs::FileExt::seek_read(&*self.file, bytes, self.offset)?;
        self.offset += n as u64;
        self.count.store(self.offset, Ordering::Relaxed);
        Ok(n)
    }
}

fn changed(path: &Path) -> Error {
    Error::Content {
        file: path.to_owned(),
        place: Place::default(),
        what: String::from("the file has changed since it was opened; run again"),
    }
}

/// Copies everything to an unnamed temporary file.
fn spool(path: &Path, from: &mut dyn Read) -> Result<(File, Metadata)> {
    let directory = std::env::temp_dir();
    let unwritable = |source| Error::Write { file: directory.clone(), created: true, source };
    let mut file = tempfile::tempfile().map_err(|source| Error::Write {
        file: directory.clone(),
        created: false,
        source,
    })?;
    let mut from = BufReader::with_capacity(1 << 17, from);
    loop {
        let bytes = match from.fill_buf() {
            Ok([]) => break,
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(Error::Read { file: path.to_owned(), source }),
        };
        file.write_all(bytes).map_err(unwritable)?;
        let n = bytes.len();
        from.consume(n);
    }
    let metadata = file.metadata().map_err(unwritable)?;
    Ok((file, metadata))
}
