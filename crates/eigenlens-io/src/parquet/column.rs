//! One column in one row group, some rows at a time.

use super::meaning::Meaning;
use super::pages::{Buffers, Guarded, Positioned, Room};
use crate::calendar;
use crate::decimal::{big_endian, decimal_to_f64};
use crate::positioned::InputFile;
use crate::source::Labels;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::data_type::{AsBytes, DataType};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::ColumnChunkMetaData;
use half::f16;
use std::sync::Arc;

/// Reads one column chunk from its first row to its last.
pub(super) struct ColumnCursor {
    reader: ColumnReader,
    meaning: Meaning,
    /// Which rows have a value, where the column is nullable.
    levels: Vec<i16>,
    /// The rows read last.
    pub(super) cells: Cells,
}

/// Some rows of one column.
pub(super) enum Cells {
    F32(Vec<f32>),
    F64(Vec<f64>),
    Text(Labels),
}

impl Cells {
    pub(super) fn as_f32(&self) -> &[f32] {
        if let Cells::F32(values) = self { values } else { &[] }
    }

    pub(super) fn as_f64(&self) -> &[f64] {
        if let Cells::F64(values) = self { values } else { &[] }
    }

    pub(super) fn take_text(&mut self) -> Labels {
        if let Cells::Text(labels) = self { std::mem::take(labels) } else { Labels::default() }
    }
}

impl ColumnCursor {
    pub(super) fn open(
        input: &Arc<InputFile>,
        chunk: &ColumnChunkMetaData,
        n_rows: usize,
        meaning: Meaning,
        cells: Cells,
        room: Room,
        buffers: &Arc<Buffers>,
    ) -> Result<ColumnCursor> {
        let positioned = Positioned::of_chunk(input.clone(), chunk, room, buffers);
        let pages = Guarded::open(positioned, chunk, n_rows)?;
        let reader = get_column_reader(chunk.column_descr_ptr(), Box::new(pages));
        Ok(ColumnCursor { reader, meaning, levels: Vec::new(), cells })
    }

    /// Replaces the cells by the next `n` rows.
    pub(super) fn read(&mut self, n: usize) -> Result<()> {
        self.levels.clear();
        let levels = &mut self.levels;
        match &mut self.cells {
            Cells::F32(out) => {
                out.clear();
                match &mut self.reader {
                    ColumnReader::FloatColumnReader(reader) => same(reader, n, levels, out),
                    reader => converted(reader, self.meaning, n, levels, |cell, _| {
                        out.push(cell.number(self.meaning) as f32);
                    }),
                }
            }
            Cells::F64(out) => {
                out.clear();
                match &mut self.reader {
                    ColumnReader::DoubleColumnReader(reader) => same(reader, n, levels, out),
                    reader => converted(reader, self.meaning, n, levels, |cell, _| {
                        out.push(cell.number(self.meaning));
                    }),
                }
            }
            Cells::Text(out) => {
                converted(&mut self.reader, self.meaning, n, levels, |cell, text| {
                    cell.write(self.meaning, text);
                    out.push(text);
                })
            }
        }
    }
}

/// One cell of whatever type.
#[derive(Clone, Copy)]
enum Cell<'a> {
    Missing,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Wide(i128),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl Cell<'_> {
    #[inline]
    fn number(&self, meaning: Meaning) -> f64 {
        match (*self, meaning) {
            (Cell::Bool(value), _) => f64::from(u8::from(value)),
            (Cell::Integer(value), Meaning::Unsigned(64)) => value as u64 as f64,
            (Cell::Integer(value), Meaning::Decimal(scale)) => decimal_to_f64(value.into(), scale),
            (Cell::Integer(value), _) => value as f64,
            (Cell::Float(value), _) => value,
            (Cell::Wide(value), Meaning::Decimal(scale)) => decimal_to_f64(value, scale),
            _ => f64::NAN,
        }
    }

    fn write(&self, meaning: Meaning, out: &mut String) {
        match (*self, meaning) {
            (Cell::Missing, _) => {}
            (Cell::Text(text), _) => out.push_str(text),
            (Cell::Integer(days), Meaning::Date) => calendar::date(days, out),
            (Cell::Integer(count), Meaning::Time(unit)) => calendar::time(count, unit, out),
            (Cell::Integer(count), Meaning::Timestamp { unit, utc }) => {
                calendar::timestamp(count, unit, utc, out);
            }
            (Cell::Integer(value), Meaning::Unsigned(64)) => {
                out.push_str(&(value as u64).to_string());
            }
            (Cell::Integer(value), Meaning::Signed(_) | Meaning::Unsigned(_)) => {
                out.push_str(&value.to_string());
            }
            (Cell::Bool(value), _) => out.push_str(if value { "true" } else { "false" }),
            (Cell::Bytes(bytes), _) => {
                for (i, byte) in bytes.iter().enumerate() {
                    if matches!(i, 4 | 6 | 8 | 10) {
                        out.push('-');
                    }
                    out.push_str(&format!("{byte:02x}"));
                }
            }
            (_, Meaning::Float | Meaning::Half) => {
                out.push_str(&(self.number(meaning) as f32).to_string());
            }
            _ => out.push_str(&self.number(meaning).to_string()),
        }
    }
}

/// Values that are stored as they are wanted.
fn same<D: DataType>(
    reader: &mut ColumnReaderImpl<D>,
    n: usize,
    levels: &mut Vec<i16>,
    out: &mut Vec<D::T>,
) -> Result<()>
where
    D::T: Copy + From<f32>,
{
    read_exactly(reader, n, levels, out)?;
    if out.len() < n {
        // Spread from the back: a value never moves onto one that is still needed.
        let mut stored = out.len();
        out.resize(n, f32::NAN.into());
        for row in (0..n).rev() {
            out[row] = if levels[row] > 0 {
                stored -= 1;
                out[stored]
            } else {
                f32::NAN.into()
            };
        }
    }
    Ok(())
}

/// Calls `each` for every row in order, with an empty string to write to.
fn converted(
    reader: &mut ColumnReader,
    meaning: Meaning,
    n: usize,
    levels: &mut Vec<i16>,
    each: impl FnMut(Cell, &mut String),
) -> Result<()> {
    match reader {
        ColumnReader::BoolColumnReader(r) => walk(r, n, levels, each, |v| Ok(Cell::Bool(*v))),
        ColumnReader::Int32ColumnReader(r) => walk(r, n, levels, each, |v| {
            let value = if matches!(meaning, Meaning::Unsigned(_)) {
                i64::from(*v as u32)
            } else {
                i64::from(*v)
            };
            Ok(Cell::Integer(value))
        }),
        ColumnReader::Int64ColumnReader(r) => walk(r, n, levels, each, |v| Ok(Cell::Integer(*v))),
        ColumnReader::Int96ColumnReader(r) => {
            walk(r, n, levels, each, |v| Ok(Cell::Integer(v.to_nanos())))
        }
        ColumnReader::FloatColumnReader(r) => {
            walk(r, n, levels, each, |v| Ok(Cell::Float((*v).into())))
        }
        ColumnReader::DoubleColumnReader(r) => walk(r, n, levels, each, |v| Ok(Cell::Float(*v))),
        ColumnReader::ByteArrayColumnReader(r) => {
            walk(r, n, levels, each, |v| of_bytes(v.as_bytes(), meaning))
        }
        ColumnReader::FixedLenByteArrayColumnReader(r) => {
            walk(r, n, levels, each, |v| of_bytes(v.as_bytes(), meaning))
        }
    }
}

fn of_bytes(bytes: &[u8], meaning: Meaning) -> Result<Cell<'_>> {
    let wrong = |what: &str| ParquetError::General(what.into());
    match meaning {
        Meaning::Text => {
            std::str::from_utf8(bytes).map(Cell::Text).map_err(|_| wrong("text that is not UTF-8"))
        }
        Meaning::Half => <[u8; 2]>::try_from(bytes)
            .map(|bytes| Cell::Float(f16::from_le_bytes(bytes).to_f64()))
            .map_err(|_| wrong("a 16-bit float of another size")),
        Meaning::Decimal(_) => big_endian(bytes)
            .map(Cell::Wide)
            .ok_or_else(|| wrong("a decimal of more than 16 bytes")),
        _ => Ok(Cell::Bytes(bytes)),
    }
}

fn walk<D: DataType>(
    reader: &mut ColumnReaderImpl<D>,
    n: usize,
    levels: &mut Vec<i16>,
    mut each: impl FnMut(Cell, &mut String),
    cell: impl Fn(&D::T) -> Result<Cell<'_>>,
) -> Result<()> {
    let mut values = Vec::with_capacity(n);
    read_exactly(reader, n, levels, &mut values)?;
    let mut text = String::new();
    let mut values = values.iter();
    for row in 0..n {
        text.clear();
        let is_missing = levels.get(row).is_some_and(|&level| level == 0);
        let value = if is_missing { None } else { values.next() };
        each(value.map_or(Ok(Cell::Missing), &cell)?, &mut text);
    }
    Ok(())
}

/// Reads `n` rows: the values that are there, and for nullable columns where they are.
fn read_exactly<D: DataType>(
    reader: &mut ColumnReaderImpl<D>,
    n: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<D::T>,
) -> Result<()> {
    let (n_rows, n_values, n_levels) = reader.read_records(n, Some(levels), None, values)?;
    if n_rows != n || n_levels != n {
        return Err(ParquetError::General(format!("it ends {} rows early", n - n_rows.min(n))));
    }
    let expected = if levels.is_empty() { n } else { levels.iter().filter(|&&l| l > 0).count() };
    if n_values != expected || values.len() != expected {
        return Err(ParquetError::General(format!("{n_values} values where {expected} belong")));
    }
    Ok(())
}
