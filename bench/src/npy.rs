//! Arrays as `.npy` files (format version 1.0, little-endian, row-major): what NumPy opens.

use bytemuck::Pod;
use memmap2::Mmap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::marker::PhantomData;
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
    element: PhantomData<T>,
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
        Ok(Writer { file, left: shape.iter().product(), element: PhantomData })
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

/// The elements of an array, row after row, read into memory.
pub fn read<T: Element>(path: &Path) -> io::Result<Vec<T>> {
    let mut file = File::open(path)?;
    let (length, _) = read_header::<T>(&mut file)?;
    let mut elements = vec![T::zeroed(); length];
    file.read_exact(bytemuck::cast_slice_mut(&mut elements))?;
    Ok(elements)
}

/// An array that stays in its file and is mapped into memory.
pub struct Mapped<T> {
    map: Mmap,
    data_start: usize,
    element: PhantomData<T>,
}

impl<T: Element> Mapped<T> {
    /// Maps the array of this file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let (length, data_start) = read_header::<T>(&mut file)?;
        // SAFETY: nothing writes to the benchmark's data while a run reads them.
        let map = unsafe { Mmap::map(&file)? };
        let needed = data_start + length * size_of::<T>();
        if map.len() != needed {
            let found = map.len();
            return Err(io::Error::other(format!("the file has {found} bytes, not {needed}")));
        }
        Ok(Mapped { map, data_start, element: PhantomData })
    }

    /// The elements, row after row.
    pub fn elements(&self) -> &[T] {
        bytemuck::cast_slice(&self.map[self.data_start..])
    }
}

/// How many elements there are, and where they start. Reads what [`Writer`] and NumPy write, and no more of the format.
fn read_header<T: Element>(file: &mut File) -> io::Result<(usize, usize)> {
    let mut start = [0; 10];
    file.read_exact(&mut start)?;
    let header_length = usize::from(u16::from_le_bytes([start[8], start[9]]));
    let mut header = vec![0; header_length];
    file.read_exact(&mut header)?;
    let header = String::from_utf8_lossy(&header);
    let length = header
        .strip_prefix(&format!("{{'descr': '{}', 'fortran_order': False, 'shape': (", T::DESCR))
        .and_then(|rest| rest.split_once(')'))
        .and_then(|(extents, _)| {
            extents
                .split_terminator(',')
                .map(|extent| extent.trim().parse::<usize>().ok())
                .product()
        });
    match length {
        Some(length) if start.starts_with(MAGIC) => Ok((length, start.len() + header_length)),
        _ => Err(io::Error::other(format!("not an array of `{}`: {header}", T::DESCR))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_mapped() {
        let name = format!("eigenlens-bench-npy-{}.npy", std::process::id());
        let path = std::env::temp_dir().join(name);
        let elements = [1.0, -2.5, f64::MIN_POSITIVE, 4.0, 5.0, 1e300];
        let mut file = Writer::<f64>::create(&path, &[3, 2]).unwrap();
        file.write(&elements[..4]).unwrap();
        file.write(&elements[4..]).unwrap();
        file.finish().unwrap();

        let read_back = read::<f64>(&path).unwrap();
        let mapped = Mapped::<f64>::open(&path).unwrap().elements().to_vec();
        let as_other_type = read::<f32>(&path);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read_back, elements);
        assert_eq!(mapped, elements);
        assert!(as_other_type.is_err());
    }

    #[test]
    fn an_array_has_as_many_elements_as_its_shape_says() {
        let name = format!("eigenlens-bench-short-{}.npy", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut file = Writer::<i32>::create(&path, &[3]).unwrap();
        assert!(file.write(&[1, 2, 3, 4]).is_err());
        file.write(&[1, 2]).unwrap();
        let unfinished = file.finish();
        std::fs::remove_file(&path).unwrap();
        assert!(unfinished.is_err());
    }
}
