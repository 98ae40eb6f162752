//! Tables as Arrow IPC files.

use super::gathered::{Columns, Gathered};
use super::{Complete, Header, NumbersView, Output, TableWriter};
use crate::error::{Error, Result};
use crate::source::Labels;
use arrow_array::{ArrayRef, Float32Array, Float64Array, LargeStringArray, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes an Arrow IPC file (Feather 2), not compressed, so that it can be used in place.
pub struct ArrowWriter {
    path: PathBuf,
    state: State,
    rows: Gathered,
}

enum State {
    New(Option<Box<Output>>),
    Begun(Box<FileWriter<Output>>, SchemaRef),
}

impl ArrowWriter {
    /// A writer to this output.
    pub fn new(output: Output) -> Self {
        let path = output.path().to_owned();
        ArrowWriter { path, state: State::New(Some(Box::new(output))), rows: Gathered::default() }
    }

    /// Writes what was gathered as one record batch.
    fn flush(&mut self) -> Result<()> {
        let State::Begun(file, schema) = &mut self.state else { return Ok(()) };
        if self.rows.n_rows > 0 {
            record_batch(schema, &self.rows)
                .and_then(|batch| file.write(&batch))
                .map_err(|error| failed(&self.path, error))?;
            self.rows.clear();
        }
        Ok(())
    }
}

impl TableWriter for ArrowWriter {
    fn begin(&mut self, header: &Header) -> Result<()> {
        if let State::New(output) = &mut self.state
            && let Some(output) = output.take()
        {
            let schema = Arc::new(schema(header));
            let file = FileWriter::try_new(*output, &schema);
            let file = file.map_err(|error| failed(&self.path, error))?;
            self.state = State::Begun(Box::new(file), schema);
            self.rows = Gathered::new(header);
        }
        Ok(())
    }

    fn write(&mut self, labels: &[Labels], numbers: NumbersView<'_>) -> Result<()> {
        self.rows.add(&self.path, labels, numbers)?;
        if self.rows.n_bytes() >= BATCH_BYTES { self.flush() } else { Ok(()) }
    }

    fn complete(mut self: Box<Self>) -> Result<Complete> {
        self.flush()?;
        match self.state {
            State::New(Some(output)) => output.complete(),
            State::New(None) => Ok(Complete::nothing(self.path)),
            State::Begun(file, _) => {
                file.into_inner().map_err(|error| failed(&self.path, error))?.complete()
            }
        }
    }
}

/// A record batch is held in memory until it is written, and again when it is read.
const BATCH_BYTES: u64 = 8 << 20;

fn schema(header: &Header) -> Schema {
    let number = if header.is_f32 { DataType::Float32 } else { DataType::Float64 };
    let labels = header.labels.iter().map(|name| Field::new(name, DataType::LargeUtf8, false));
    let numbers = header.numbers.iter().map(|name| Field::new(name, number.clone(), false));
    Schema::new(labels.chain(numbers).collect::<Vec<_>>())
}

fn record_batch(
    schema: &SchemaRef,
    rows: &Gathered,
) -> std::result::Result<RecordBatch, ArrowError> {
    let text =
        |labels: &Labels| Arc::new(LargeStringArray::from_iter_values(labels.iter())) as ArrayRef;
    let mut arrays: Vec<ArrayRef> = rows.labels.iter().map(text).collect();
    match &rows.numbers {
        Columns::F32(columns) => arrays.extend(
            columns
                .iter()
                .map(|c| Arc::new(Float32Array::from_iter_values(c.iter().copied())) as ArrayRef),
        ),
        Columns::F64(columns) => arrays.extend(
            columns
                .iter()
                .map(|c| Arc::new(Float64Array::from_iter_values(c.iter().copied())) as ArrayRef),
        ),
    }
    RecordBatch::try_new(schema.clone(), arrays)
}

fn failed(path: &Path, error: ArrowError) -> Error {
    let source = match error {
        ArrowError::IoError(_, source) => source,
        other => io::Error::other(other.to_string()),
    };
    Error::Write { file: path.to_owned(), created: true, source }
}
