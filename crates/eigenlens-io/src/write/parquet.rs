//! Tables as Parquet.

use super::gathered::{Columns, Gathered};
use super::{Complete, Header, NumbersView, Output, TableWriter};
use crate::error::{Error, Result};
use crate::source::Labels;
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType};
use ::parquet::errors::{ParquetError, Result as Encoded};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{ColumnPath, Type};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Writes Parquet: labels as text, numbers as they are, all compressed by Snappy.
pub struct ParquetWriter {
    path: PathBuf,
    state: State,
    rows: Gathered,
}

enum State {
    New(Option<Box<Output>>),
    Begun(Box<SerializedFileWriter<Output>>),
}

impl ParquetWriter {
    /// A writer to this output.
    pub fn new(output: Output) -> Self {
        let path = output.path().to_owned();
        ParquetWriter { path, state: State::New(Some(Box::new(output))), rows: Gathered::default() }
    }

    /// Writes what was gathered as one row group.
    fn flush(&mut self) -> Result<()> {
        let State::Begun(file) = &mut self.state else { return Ok(()) };
        if self.rows.n_rows > 0 {
            write_group(file, &self.rows).map_err(|error| failed(&self.path, error))?;
            self.rows.clear();
        }
        Ok(())
    }
}

impl TableWriter for ParquetWriter {
    fn begin(&mut self, header: &Header) -> Result<()> {
        if let State::New(output) = &mut self.state
            && let Some(output) = output.take()
        {
            let file = start(*output, header).map_err(|error| failed(&self.path, error))?;
            self.state = State::Begun(Box::new(file));
            self.rows = Gathered::new(header);
        }
        Ok(())
    }

    fn write(&mut self, labels: &[Labels], numbers: NumbersView<'_>) -> Result<()> {
        self.rows.add(&self.path, labels, numbers)?;
        if self.rows.n_bytes() >= GROUP_BYTES { self.flush() } else { Ok(()) }
    }

    fn complete(mut self: Box<Self>) -> Result<Complete> {
        self.flush()?;
        match self.state {
            State::New(Some(output)) => output.complete(),
            State::New(None) => Ok(Complete::nothing(self.path)),
            State::Begun(file) => {
                file.into_inner().map_err(|error| failed(&self.path, error))?.complete()
            }
        }
    }
}

/// A row group is held in memory until it is written.
const GROUP_BYTES: u64 = 16 << 20;

fn start(output: Output, header: &Header) -> Encoded<SerializedFileWriter<Output>> {
    let number = if header.is_f32 { Physical::FLOAT } else { Physical::DOUBLE };
    let labels = header.labels.iter().map(|name| {
        let text = Type::primitive_type_builder(name, Physical::BYTE_ARRAY);
        text.with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::String))
            .build()
    });
    let numbers = header.numbers.iter().map(|name| {
        let number = Type::primitive_type_builder(name, number);
        number.with_repetition(Repetition::REQUIRED).build()
    });
    let fields = labels.chain(numbers).map(|field| field.map(Arc::new)).collect::<Encoded<_>>()?;
    let schema = Type::group_type_builder("table").with_fields(fields).build()?;
    // Results of computations hardly repeat: a dictionary of them would be built for nothing.
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false);
    for name in &header.labels {
        let column = ColumnPath::new(vec![name.clone()]);
        properties = properties.set_column_dictionary_enabled(column, true);
    }
    SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties.build()))
}

fn write_group(file: &mut SerializedFileWriter<Output>, rows: &Gathered) -> Encoded<()> {
    let mut group = file.next_row_group()?;
    for labels in &rows.labels {
        let text: Vec<ByteArray> = labels.iter().map(ByteArray::from).collect();
        write_column::<ByteArrayType>(&mut group, &text)?;
    }
    match &rows.numbers {
        Columns::F32(columns) => {
            columns.iter().try_for_each(|c| write_column::<FloatType>(&mut group, c))?;
        }
        Columns::F64(columns) => {
            columns.iter().try_for_each(|c| write_column::<DoubleType>(&mut group, c))?;
        }
    }
    group.close().map(|_| ())
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Output>,
    values: &[T::T],
) -> Encoded<()> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, None, None)?;
        column.close()?;
    }
    Ok(())
}

fn failed(path: &std::path::Path, error: ParquetError) -> Error {
    let source = match error {
        ParquetError::External(source) => {
            source.downcast::<io::Error>().map_or_else(io::Error::other, |source| *source)
        }
        other => io::Error::other(other.to_string()),
    };
    Error::Write { file: path.to_owned(), created: true, source }
}
