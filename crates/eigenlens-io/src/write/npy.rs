//! Numbers as an NPY file.

use super::gathered::misfit;
use super::{Complete, Header, NumbersView, Output, TableWriter};
use crate::error::Result;
use crate::source::Labels;
use ndarray::ArrayView2;

/// Writes an NPY file of version 1: the numbers (rows × columns) in C order, little-endian.
///
/// The format has neither names nor text: labels and the names of columns are left out. Ask
/// [`OutputFormat::keeps_names`](super::OutputFormat::keeps_names) to be able to say so.
pub struct NpyWriter {
    output: Output,
    is_f32: bool,
    n_columns: usize,
    n_rows: usize,
    announced: Option<usize>,
    /// Numbers that wait for their header, where it can be written neither first nor afterwards.
    held: Option<Vec<u8>>,
}

impl NpyWriter {
    /// A writer to this output.
    pub fn new(output: Output) -> Self {
        NpyWriter { output, is_f32: false, n_columns: 0, n_rows: 0, announced: None, held: None }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.held {
            Some(held) => {
                held.extend_from_slice(bytes);
                Ok(())
            }
            None => self.output.put(bytes),
        }
    }

    fn put_rows<T: Copy, const N: usize>(
        &mut self,
        numbers: ArrayView2<T>,
        bytes: impl Fn(T) -> [u8; N],
    ) -> Result<()> {
        // Some rows at a time, so that memory stays small whatever the number of rows.
        let rows = ((1 << 20) / (self.n_columns * N).max(1)).max(1);
        for part in numbers.axis_chunks_iter(ndarray::Axis(0), rows) {
            let part: Vec<u8> = part.iter().flat_map(|&value| bytes(value)).collect();
            self.put(&part)?;
        }
        Ok(())
    }
}

impl TableWriter for NpyWriter {
    fn begin(&mut self, header: &Header) -> Result<()> {
        self.is_f32 = header.is_f32;
        self.n_columns = header.numbers.len();
        self.announced = header.n_rows;
        if header.n_rows.is_none() && !self.output.can_rewrite_start() {
            self.held = Some(Vec::new());
            return Ok(());
        }
        self.output.put(&npy_header(self.is_f32, header.n_rows.unwrap_or(0), self.n_columns))
    }

    fn write(&mut self, labels: &[Labels], numbers: NumbersView<'_>) -> Result<()> {
        let (n_rows, n_columns) = numbers.dim();
        let is_short = labels.iter().any(|labels| labels.len() != n_rows);
        if n_columns != self.n_columns || is_short {
            return Err(misfit(self.output.path(), &format!("a block of {n_columns} columns")));
        }
        self.n_rows += n_rows;
        match (numbers, self.is_f32) {
            (NumbersView::F32(numbers), true) => self.put_rows(numbers, f32::to_le_bytes),
            (NumbersView::F32(numbers), false) => {
                self.put_rows(numbers, |value| f64::from(value).to_le_bytes())
            }
            (NumbersView::F64(numbers), false) => self.put_rows(numbers, f64::to_le_bytes),
            (NumbersView::F64(_), true) => {
                Err(misfit(self.output.path(), "a block of double precision"))
            }
        }
    }

    fn complete(mut self: Box<Self>) -> Result<Complete> {
        if let Some(announced) = self.announced.filter(|&n| n != self.n_rows) {
            let what = format!("{} rows, where {announced} are announced,", self.n_rows);
            return Err(misfit(self.output.path(), &what));
        }
        let header = npy_header(self.is_f32, self.n_rows, self.n_columns);
        if let Some(held) = self.held.take() {
            self.output.put(&header)?;
            self.output.put(&held)?;
        } else if self.announced.is_none() {
            self.output.rewrite_start(&header)?;
        }
        self.output.complete()
    }
}

/// A header of 128 bytes, whatever the number of rows, so that it can be replaced.
fn npy_header(is_f32: bool, n_rows: usize, n_columns: usize) -> Vec<u8> {
    let descr = if is_f32 { "<f4" } else { "<f8" };
    let text = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({n_rows}, {n_columns}), }}"
    );
    let mut header = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    header.extend_from_slice(format!("{text:<117}\n").as_bytes());
    header
}
