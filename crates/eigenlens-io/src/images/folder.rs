//! Which images are in a folder.

use super::{ImageOptions, ImageShape, broken, decode};
use crate::contain::contained;
use crate::error::{Error, Result};
use crate::positioned::{InputFile, Stamp};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The images of a folder and its subfolders.
pub(super) struct Listing {
    /// By path, in the order of bytes.
    pub(super) images: Vec<ImageFile>,
    pub(super) n_others: usize,
}

/// One file, not yet read.
pub(super) struct ImageFile {
    path: PathBuf,
    /// Its path inside the folder.
    pub(super) label: String,
    /// The subfolder it is in; empty for the folder itself.
    pub(super) class: String,
}

/// Lists a folder. Links to folders are not followed: they can lead in circles.
pub(super) fn list(folder: &Path) -> Result<Listing> {
    let mut listing = Listing { images: Vec::new(), n_others: 0 };
    visit(folder, "", 0, &mut listing)?;
    Ok(listing)
}

impl ImageFile {
    /// The size of the image when it lies right, and what the file looked like.
    pub(super) fn look(
        &self,
        options: &ImageOptions,
    ) -> std::result::Result<(ImageShape, Stamp), String> {
        let (bytes, stamp) = self.bytes().map_err(|error| match error {
            Error::Content { what, .. } => what,
            Error::Open { source, .. } | Error::Read { source, .. } => source.to_string(),
            other => other.to_string(),
        })?;
        let shape = contained(|| {
            if options.skip_broken {
                let (shape, _pixels) = decode::gray(&bytes)?;
                return Ok(shape);
            }
            decode::shape(&bytes)
        });
        Ok((shape.and_then(|shape| shape)?, stamp))
    }

    /// The gray pixels at this size.
    pub(super) fn pixels(&self, shape: ImageShape, stamp: Stamp) -> Result<Vec<f32>> {
        let (bytes, found) = self.bytes()?;
        if found != stamp {
            return Err(broken(self.path.clone(), "the file changed while it was read".into()));
        }
        contained(|| {
            let (stored, pixels) = decode::gray(&bytes)?;
            Ok(decode::resized(pixels, stored, shape))
        })
        .and_then(|pixels| pixels)
        .map_err(|what| broken(self.path.clone(), what))
    }

    fn bytes(&self) -> Result<(Vec<u8>, Stamp)> {
        let input = InputFile::open(&self.path)?;
        if input.n_bytes() > LARGEST_FILE {
            return Err(input.content(format!(
                "{} bytes, more than the {LARGEST_FILE} an image may have",
                input.n_bytes()
            )));
        }
        Ok((input.read(0, input.n_bytes())?, input.stamp()))
    }
}

/// An error about the folder as a whole.
pub(super) fn error(folder: &Path, what: String) -> Error {
    broken(folder.to_owned(), what)
}

const LARGEST_FILE: u64 = 256 << 20;
const DEEPEST: usize = 32;
const EXTENSIONS: &[&str] =
    &["png", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "webp", "pbm", "pgm", "ppm", "pnm", "pam"];

fn visit(folder: &Path, inside: &str, depth: usize, listing: &mut Listing) -> Result<()> {
    let failed = |source| Error::Open { file: folder.to_owned(), source };
    if depth > DEEPEST {
        return Err(error(folder, format!("folders are nested more than {DEEPEST} deep")));
    }
    let mut entries: Vec<(OsString, fs::DirEntry)> = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        entries.push((entry.file_name(), entry));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, entry) in entries {
        let name = name.to_string_lossy();
        let label = if inside.is_empty() { name.to_string() } else { format!("{inside}/{name}") };
        let kind = entry.file_type().map_err(failed)?;
        let path = entry.path();
        if kind.is_dir() {
            visit(&path, &label, depth + 1, listing)?;
        } else if is_image(&path) && path.is_file() {
            listing.images.push(ImageFile { path, label, class: inside.to_owned() });
        } else {
            listing.n_others += 1;
        }
    }
    Ok(())
}

fn is_image(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}
