//! A folder of images: one row of gray pixels each.
//!
//! PNG, JPEG, GIF (its first picture), BMP, TIFF, PNM and WebP, told apart by their content; files
//! with other extensions are counted in a note. Subfolders are classes.
//!
//! - Gray is 0.2126 R + 0.7152 G + 0.0722 B of the stored values (the weights of Rec. 709), from 0
//!   for black to 1 for white. Transparent pixels lie over white.
//! - The camera's orientation mark (Exif) is applied first.
//! - All images get one size: the one asked for, or the most frequent one. Others are stretched to
//!   it (triangle filter), and a note says how many.
//! - Pixels are columns `x1`, `x2`, … in the order of reading: rows from the top, each from the left.

mod decode;
mod folder;

use crate::error::{Error, Place, Result};
use crate::names::numbered_names;
use crate::positioned::Stamp;
use crate::source::{Block, BlockReader, Column, Kind, Labels, Note, Source, Wanted};
use crate::transpose::{chosen_columns, rows_per_block};
use eigenlens::AnyArray;
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How a folder of images is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageOptions {
    /// The size all images get; that of a model, else the most frequent one, if not given.
    pub size: Option<ImageShape>,
    /// The size that a model wants.
    pub model_size: Option<ImageShape>,
    /// Whether broken files are left out, with a note, instead of being an error. All images are
    /// then decoded once when the folder is opened.
    pub skip_broken: bool,
}

/// The size of every image of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImageShape {
    /// Pixels from top to bottom.
    pub height: usize,
    /// Pixels from left to right.
    pub width: usize,
}

/// Opens a folder and looks at the size of every image in it.
pub fn open(folder: &Path, options: &ImageOptions) -> Result<ImageFolder> {
    let listing = folder::list(folder)?;
    let looked: Vec<_> = listing.images.par_iter().map(|image| image.look(options)).collect();
    let mut broken = Vec::new();
    let mut images = Vec::new();
    for (image, found) in listing.images.into_iter().zip(looked) {
        match found {
            Ok((shape, stamp)) => images.push(Image { file: image, shape, stamp }),
            Err(what) => broken.push(format!("{}: {what}", image.label)),
        }
    }
    if !broken.is_empty() && (!options.skip_broken || images.is_empty()) {
        return Err(folder::error(folder, format!("broken images: {}", listed(&broken))));
    }
    let mut notes = Vec::new();
    if !broken.is_empty() {
        notes.push(Note::new("broken images left out", listed(&broken)));
    }
    if listing.n_others > 0 {
        let found = format!("{} without the extension of an image", listing.n_others);
        notes.push(Note::new("other files", found));
    }
    let shape = common_shape(folder, options, &images, &mut notes)?;
    let has_classes = images.iter().any(|image| !image.file.class.is_empty());
    let labels: &[&str] = if has_classes { &["file", "class"] } else { &["file"] };
    let text = labels.iter().map(|&name| Column { name: name.into(), kind: Kind::Text });
    let pixels = numbered_names(shape.height * shape.width);
    let pixels = pixels.map(|name| Column { name, kind: Kind::Float });
    let columns = text.chain(pixels).collect();
    let n_bytes = images.iter().map(|image| image.stamp.n_bytes()).sum();
    Ok(ImageFolder { images, shape, columns, n_labels: labels.len(), notes, n_bytes })
}

/// An open folder of images.
///
/// The first columns are labels: `file`, the path inside the folder, and, where there are
/// subfolders, `class`, the subfolder.
pub struct ImageFolder {
    images: Vec<Image>,
    shape: ImageShape,
    columns: Vec<Column>,
    n_labels: usize,
    notes: Vec<Note>,
    n_bytes: u64,
}

struct Image {
    file: folder::ImageFile,
    shape: ImageShape,
    stamp: Stamp,
}

impl ImageFolder {
    /// The size of every image.
    pub fn shape(&self) -> ImageShape {
        self.shape
    }
}

impl Source for ImageFolder {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_rows(&self) -> Option<usize> {
        Some(self.images.len())
    }

    fn rows_guess(&self) -> usize {
        self.images.len()
    }

    fn is_f32(&self) -> bool {
        true
    }

    fn notes(&self) -> &[Note] {
        &self.notes
    }

    fn open(&self, wanted: &Wanted) -> Result<Box<dyn BlockReader + Send + '_>> {
        let usage = |what| Error::Usage { what, hint: None };
        let mut all = wanted.numbers.iter().chain(&wanted.labels);
        if let Some(index) = all.find(|&&index| index >= self.columns.len()) {
            return Err(usage(format!("there is no column {}", index + 1)));
        }
        if let Some(&index) = wanted.numbers.iter().find(|&&index| index < self.n_labels) {
            return Err(usage(format!("column `{}` is text", self.columns[index].name)));
        }
        Ok(Box::new(Reader { source: self, wanted: wanted.clone(), next: 0, bytes_read: 0 }))
    }

    fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    fn has_values(&self, _: usize) -> Option<bool> {
        Some(true)
    }

    fn image_shape(&self) -> Option<ImageShape> {
        Some(self.shape)
    }
}

struct Reader<'a> {
    source: &'a ImageFolder,
    wanted: Wanted,
    next: usize,
    bytes_read: u64,
}

impl BlockReader for Reader<'_> {
    fn next_block(&mut self) -> Result<Option<Block>> {
        let ImageFolder { images, shape, n_labels, .. } = self.source;
        let n_pixels = shape.height * shape.width;
        let n = (images.len() - self.next).min(rows_per_block(n_pixels, 4));
        if n == 0 {
            return Ok(None);
        }
        let images = &images[self.next..self.next + n];
        let mut numbers = Array2::<f32>::zeros((n, n_pixels));
        let rows: Vec<_> = numbers.axis_iter_mut(Axis(0)).zip(images).collect();
        rows.into_par_iter().try_for_each(|(mut row, image)| {
            let pixels = image.file.pixels(*shape, image.stamp)?;
            row.iter_mut().zip(pixels).for_each(|(cell, pixel)| *cell = pixel);
            Ok(())
        })?;
        let labels = self.wanted.labels.iter().map(|&column| {
            let mut labels = Labels::default();
            for (row, image) in images.iter().enumerate() {
                match column.checked_sub(*n_labels) {
                    Some(pixel) => labels.push(&numbers[(row, pixel)].to_string()),
                    None if column == 0 => labels.push(&image.file.label),
                    None => labels.push(&image.file.class),
                }
            }
            labels
        });
        let labels = labels.collect();
        let columns: Vec<usize> = self.wanted.numbers.iter().map(|c| c - n_labels).collect();
        if !columns.iter().copied().eq(0..n_pixels) {
            numbers = chosen_columns(&numbers, &columns);
        }
        self.next += n;
        self.bytes_read += images.iter().map(|image| image.stamp.n_bytes()).sum::<u64>();
        Ok(Some(Block { numbers: AnyArray::F32(numbers), labels }))
    }

    fn bytes_read(&self) -> u64 {
        self.bytes_read
    }
}

/// The size that all images get, with a note about it.
fn common_shape(
    folder: &Path,
    options: &ImageOptions,
    images: &[Image],
    notes: &mut Vec<Note>,
) -> Result<ImageShape> {
    let mut sizes: BTreeMap<ImageShape, usize> = BTreeMap::new();
    for image in images {
        *sizes.entry(image.shape).or_default() += 1;
    }
    // Of equally frequent sizes the larger: shrinking loses less than it invents to enlarge.
    let frequent = sizes
        .iter()
        .max_by_key(|(shape, n)| (**n, shape.height * shape.width, **shape))
        .map(|(shape, _)| *shape);
    let wanted = options.size.or(options.model_size);
    let Some(shape) = wanted.or(frequent) else {
        return Err(folder::error(folder, "there are no images in this folder".into()));
    };
    let n_pixels = shape.height.saturating_mul(shape.width);
    if n_pixels == 0 || n_pixels > MOST_PIXELS {
        return Err(Error::Usage {
            what: format!(
                "images of {} × {} pixels: from 1 to {MOST_PIXELS} pixels can be features",
                shape.width, shape.height
            ),
            hint: Some("--size 128x128".into()),
        });
    }
    let n_resized = images.iter().filter(|image| image.shape != shape).count();
    let rule = if wanted.is_some() { "as asked for" } else { "the most frequent size" };
    let mut found = format!("{} × {} pixels (width × height), {rule}", shape.width, shape.height);
    if n_resized > 0 {
        found += &format!("; {n_resized} of {} images stretched to it", images.len());
    }
    notes.push(Note::new("size", found));
    Ok(shape)
}

/// More features than a table of pictures is likely to be meant to have.
const MOST_PIXELS: usize = 1 << 22;

/// The first few, and how many more.
fn listed(lines: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = lines.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
    if lines.len() > SHOWN {
        text += &format!("; and {} more", lines.len() - SHOWN);
    }
    text
}

/// The error that an image cannot be right.
fn broken(file: PathBuf, what: String) -> Error {
    Error::Content { file, place: Place::default(), what }
}
