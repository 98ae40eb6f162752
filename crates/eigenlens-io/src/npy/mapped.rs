//! Arrays that stay in the file.

use super::element::Numeral;
use super::header::Header;
use crate::error::{Error, Result};
use crate::positioned::InputFile;
use memmap2::{Mmap, MmapOptions};
use ndarray::{ArrayView2, ShapeBuilder};
use std::sync::Arc;

/// An array in a file, mapped into memory.
pub struct Mapped {
    input: Arc<InputFile>,
    map: Mmap,
    n_rows: usize,
    n_columns: usize,
    is_fortran: bool,
    is_f32: bool,
}

/// A mapped array as a matrix (rows × columns).
#[derive(Clone, Copy, Debug)]
pub enum MappedView<'a> {
    /// Single precision.
    F32(ArrayView2<'a, f32>),
    /// Double precision.
    F64(ArrayView2<'a, f64>),
}

impl Mapped {
    /// Maps the numbers, where they can be used as they are.
    pub(super) fn new(input: Arc<InputFile>, header: &Header, at: u64) -> Result<Option<Mapped>> {
        let is_f32 = header.element.is_native(Numeral::F4);
        if !is_f32 && !header.element.is_native(Numeral::F8) {
            return Ok(None);
        }
        input.check_unchanged()?;
        let n_bytes = header.data_bytes() as usize;
        // SAFETY: the map is only read, as plain numbers, for which any bytes are valid. What it
        // cannot guard against is another program that changes or shortens the file meanwhile:
        // numbers then change under the reader, or the process is stopped (SIGBUS). Such a program
        // is not this one, which replaces files and never changes them; `check_unchanged` tells.
        let map = unsafe { MmapOptions::new().offset(at).len(n_bytes).map(input.file()) };
        let map = map.map_err(|source| Error::Read { file: input.path().to_owned(), source })?;
        let mapped = Mapped {
            map,
            n_rows: header.n_rows,
            n_columns: header.n_columns,
            is_fortran: header.is_fortran,
            is_f32,
            input,
        };
        Ok(mapped.try_view().is_some().then_some(mapped))
    }

    /// The array, in place.
    pub fn view(&self) -> MappedView<'_> {
        // `new` has made this very view.
        self.try_view().unwrap_or(MappedView::F64(ArrayView2::from(&[[]; 0])))
    }

    /// An error where the file is not what it was when it was opened.
    pub fn check_unchanged(&self) -> Result<()> {
        self.input.check_unchanged()
    }

    fn try_view(&self) -> Option<MappedView<'_>> {
        let shape = (self.n_rows, self.n_columns).set_f(self.is_fortran);
        // Casting fails where the numbers are not aligned.
        if self.is_f32 {
            let numbers = bytemuck::try_cast_slice(&self.map).ok()?;
            ArrayView2::from_shape(shape, numbers).ok().map(MappedView::F32)
        } else {
            let numbers = bytemuck::try_cast_slice(&self.map).ok()?;
            ArrayView2::from_shape(shape, numbers).ok().map(MappedView::F64)
        }
    }
}
