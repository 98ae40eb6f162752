//! A whole selection at once: each task decodes a few columns of a row group from the first row to
//! the last, straight into the rows of the result. Only the pages of those few columns are held,
//! and nothing is copied twice.

use super::column::{Cells, ColumnCursor};
use super::pages::Buffers;
use super::{ParquetSource, malformed};
use crate::contain::contained;
use crate::error::{Error, Result};
use crate::source::{Block, Labels, Note, Told, Wanted};
use eigenlens::AnyArray;
use eigenlens::memory::try_bytes;
use ndarray::{Array2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Columns decoded side by side: enough to write several cache lines of a row together, few enough
/// that there is work for many cores and few pages are held.
const COLUMNS: usize = 24;

/// Rows decoded at a time: those columns of them stay in a core's own cache.
const ROWS: usize = 1024;

/// Columns that are one cache line of f64.
const LINE: usize = 8;

impl ParquetSource {
    pub(super) fn whole(&self, wanted: &Wanted, told: &Told) -> Result<(Block, Vec<Note>)> {
        self.input.check_unchanged()?;
        let (numbers, labels) = self.usable(wanted)?;
        let all = self.cells(&numbers, &labels);
        let reading = Reading { done: AtomicU64::new(0), all, told, buffers: Arc::default() };
        let rows = if self.is_f32 {
            AnyArray::F32(self.matrix(&numbers, Cells::as_f32, &reading)?)
        } else {
            AnyArray::F64(self.matrix(&numbers, Cells::as_f64, &reading)?)
        };
        let labels = self.texts(&labels, &reading)?;
        self.input.check_unchanged()?;
        let mut rounded = self.rounded(&numbers);
        rounded.look(&rows);
        Ok((Block { numbers: rows, labels }, rounded.notes()))
    }

    fn cells(&self, numbers: &[usize], labels: &[usize]) -> u64 {
        (self.n_rows as u64).saturating_mul((numbers.len() + labels.len()) as u64)
    }

    fn matrix<T: Copy + Default + Send>(
        &self,
        columns: &[usize],
        cells: fn(&Cells) -> &[T],
        reading: &Reading,
    ) -> Result<Array2<T>> {
        let shape = (self.n_rows, columns.len());
        let size = (size_of::<T>() as u64).saturating_mul((shape.0 as u64) * shape.1 as u64);
        // Asked for politely first: an allocation that fails ends the program.
        try_bytes(size)
            .map_err(|_| Error::OutOfMemory { what: "the table".into(), needed: size })?;
        if size >= LARGE_TABLE {
            keep_freed_pages();
        }
        let mut matrix = Array2::from_elem(shape, T::default());
        let mut tasks = Vec::new();
        let mut below = matrix.view_mut();
        for group in 0..self.metadata.num_row_groups() {
            let n_rows = self.metadata.row_group(group).num_rows() as usize;
            let (mut right, next) = below.split_at(Axis(0), n_rows);
            below = next;
            for columns in columns.chunks(COLUMNS) {
                let (piece, next) = right.split_at(Axis(1), columns.len());
                right = next;
                tasks.push((group, columns, piece));
            }
        }
        let done =
            tasks.into_par_iter().map(|(g, c, piece)| self.fill(g, c, piece, cells, reading));
        // The first failure in the order of the file, whichever thread met one first.
        done.collect::<Vec<_>>().into_iter().collect::<Result<()>>()?;
        Ok(matrix)
    }

    fn fill<T: Copy>(
        &self,
        group: usize,
        columns: &[usize],
        mut rows: ArrayViewMut2<T>,
        cells: fn(&Cells) -> &[T],
        reading: &Reading,
    ) -> Result<()> {
        let room = self.room(COLUMNS * rayon::current_num_threads());
        let open = |&column| self.cursor(group, column, false, room, &reading.buffers);
        let mut cursors = columns.iter().map(open).collect::<Result<Vec<_>>>()?;
        for start in (0..rows.nrows()).step_by(ROWS) {
            let n = ROWS.min(rows.nrows() - start);
            for (cursor, &column) in cursors.iter_mut().zip(columns) {
                self.read(cursor, column, n)?;
            }
            let columns: Vec<&[T]> = cursors.iter().map(|cursor| cells(&cursor.cells)).collect();
            put(&columns, rows.slice_mut(s![start..start + n, ..]));
            reading.add((n * columns.len()) as u64);
        }
        Ok(())
    }

    fn texts(&self, columns: &[usize], reading: &Reading) -> Result<Vec<Labels>> {
        let text = |&column: &usize| {
            let mut all = Labels::default();
            let room = self.room(rayon::current_num_threads());
            for group in 0..self.metadata.num_row_groups() {
                let n_rows = self.metadata.row_group(group).num_rows() as usize;
                let mut cursor = self.cursor(group, column, true, room, &reading.buffers)?;
                for start in (0..n_rows).step_by(ROWS) {
                    let n = ROWS.min(n_rows - start);
                    self.read(&mut cursor, column, n)?;
                    all.append(&cursor.cells.take_text());
                    reading.add(n as u64);
                }
            }
            Ok(all)
        };
        columns.par_iter().map(text).collect::<Vec<_>>().into_iter().collect()
    }

    /// Replaces the cells of a cursor by the next `n` rows.
    pub(super) fn read(&self, cursor: &mut ColumnCursor, column: usize, n: usize) -> Result<()> {
        let name = &self.columns[column].name;
        contained(|| cursor.read(n))
            .map_err(|panic| self.input.content_in(name, panic))?
            .map_err(|error| malformed(&self.input, Some(name), error))
    }
}

/// Teaches the allocator to keep the pages that the decoder frees for those to come.
///
/// glibc gives free memory back to the system beyond twice the largest block that it has seen come
/// and go, and memory fresh from the system costs more than decoding into it. This block comes and
/// goes untouched; elsewhere nothing happens.
fn keep_freed_pages() {
    drop(black_box(Vec::<u8>::with_capacity(KEPT_BYTES / 2)));
}

/// About a megabyte for each column of a task.
const KEPT_BYTES: usize = COLUMNS << 20;

/// Tables from this size on decode many pages. For small ones the allocator is left as it is.
const LARGE_TABLE: u64 = 64 << 20;

/// Writes columns side by side into rows.
fn put<T: Copy>(columns: &[&[T]], mut rows: ArrayViewMut2<T>) {
    let n = rows.nrows();
    let tiles = rows.axis_chunks_iter_mut(Axis(1), LINE).zip(columns.chunks(LINE));
    for (mut tile, columns) in tiles {
        // The common case without a check for every number.
        if let &[a, b, c, d, e, f, g, h] = columns {
            let (a, b, c, d) = (&a[..n], &b[..n], &c[..n], &d[..n]);
            let (e, f, g, h) = (&e[..n], &f[..n], &g[..n], &h[..n]);
            for (i, mut row) in tile.rows_mut().into_iter().enumerate() {
                if let Some(Ok(row)) = row.as_slice_mut().map(<&mut [T; LINE]>::try_from) {
                    *row = [a[i], b[i], c[i], d[i], e[i], f[i], g[i], h[i]];
                }
            }
        } else {
            for (i, mut row) in tile.rows_mut().into_iter().enumerate() {
                row.iter_mut().zip(columns).for_each(|(to, column)| *to = column[i]);
            }
        }
    }
}

/// How far the reading is, and the buffers its tasks share.
struct Reading<'a> {
    done: AtomicU64,
    all: u64,
    told: &'a Told<'a>,
    buffers: Arc<Buffers>,
}

impl Reading<'_> {
    fn add(&self, cells: u64) {
        let done = self.done.fetch_add(cells, Ordering::Relaxed) + cells;
        (self.told)(done as f64 / self.all.max(1) as f64);
    }
}
