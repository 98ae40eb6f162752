//! Arrays as `.npy` files (format version 1.0, little-endian, row-major): what NumPy opens.

use bytemuck::Pod;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// An element type with its NumPy name.
pub trait Element: Pod {
    /// The name in a header.
    const DESCR: &'static str;
}

impl Element for f32 {
    const DESCR: &'static str = "<f4";
}
impl Element for f64 {
    const DESCR: &'static str = "<f8";
}
impl Element for i32 {
    const DESCR: &'static str = "<i4";
}
impl Element for i64 {
    const DESCR: &'static str = "<i8";
}

const MAGIC: &[u8; 8] = b"\x93NUMPY\x01\x00";

/// Writes an array piece by piece.
pub struct Writer<T> {
    file: BufWriter<File>,
    left: usize,
    element: std::marker::PhantomData<T>,
}

impl<T: Element> Writer<T> {
    /// Starts an array of this shape.
    pub fn create(path: &Path, shape: &[usize]) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        let extents: String = shape.iter().map(|extent| format!("{extent},")).collect();
        let mut header =
            format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({extents}), }}", T::DESCR);
        // The data start at a multiple of 64 bytes, and the header ends with a line feed.
        let unpadded = MAGIC.len() + 2 + header.len() + 1;
        header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
        header.push('\n');
        let length = u16::try_from(header.len()).map_err(io::Error::other)?;
        file.write_all(MAGIC)?;
        file.write_all(&length.to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        Ok(Writer { file, left: shape.iter().product(), element: std::marker::PhantomData })
    }

    /// Appends elements.
    pub fn write(&mut self, elements: &[T]) -> io::Result<()> {
        self.left = self
            .left
            .checked_sub(elements.len())
            .ok_or_else(|| io::Error::other("more elements than the shape has"))?;
        self.file.write_all(bytemuck::cast_slice(elements))
    }

    /// Ends the array.
    pub fn finish(mut self) -> io::Result<()> {
        if self.left > 0 {
            return Err(io::Error::other(format!("{} elements are missing", self.left)));
        }
        self.file.flush()
    }
}
