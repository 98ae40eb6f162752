//! Record batches that are in memory already, from whichever program holds them.

use super::values::{self, Number};
use crate::contain::contained;
use crate::error::{Error, Result};
use crate::names::unique_names;
use crate::source::Kind;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ArrowError;
use eigenlens::AnyArray;
use ndarray::{Array2, ShapeBuilder};
use rayon::prelude::*;

/// All rows of all columns (rows × columns, column after column in memory) with the columns' names.
///
/// Missing values are NaN. A column that holds no numbers is an error that names it.
pub fn numbers(batches: impl RecordBatchReader) -> Result<(Vec<String>, AnyArray)> {
    let schema = batches.schema();
    let fields = schema.fields();
    if let Some(field) = fields.iter().find(|f| !is_number(&values::kind(f.data_type()))) {
        let what = format!(
            "the column `{}` should hold numbers, but its type is {}",
            field.name().escape_debug(),
            field.data_type()
        );
        return Err(Error::Usage { what, hint: None });
    }
    let collect = || batches.collect::<std::result::Result<_, ArrowError>>();
    let batches: Vec<RecordBatch> =
        contained(collect).map_err(unreadable)?.map_err(|error| unreadable(error.to_string()))?;
    let names = fields.iter().map(|field| field.name().clone()).collect();
    let (names, _) = unique_names(names);
    let numbers = if values::fits_f32(fields.iter().map(|field| field.data_type())) {
        AnyArray::F32(gathered(&batches, names.len())?)
    } else {
        AnyArray::F64(gathered(&batches, names.len())?)
    };
    Ok((names, numbers))
}

fn is_number(kind: &Kind) -> bool {
    matches!(kind, Kind::Float | Kind::Integer)
}

fn gathered<T: Number + Default>(batches: &[RecordBatch], n_columns: usize) -> Result<Array2<T>> {
    let n_rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let mut all = vec![T::default(); n_rows * n_columns];
    // Without rows there is nothing to fill, and a chunk may not be empty.
    all.par_chunks_mut(n_rows.max(1)).enumerate().try_for_each(|(column, mut out)| {
        for batch in batches {
            let array = batch.column(column);
            let (part, rest) = out.split_at_mut(array.len());
            let converted = contained(|| values::numbers::<T>(array, 0, array.len()))
                .map_err(unreadable)?
                .ok_or_else(|| unreadable("a column cannot be converted".into()))?;
            part.copy_from_slice(&converted);
            out = rest;
        }
        Ok(())
    })?;
    Array2::from_shape_vec((n_rows, n_columns).f(), all).map_err(|e| unreadable(e.to_string()))
}

fn unreadable(what: String) -> Error {
    Error::Usage { what: format!("the Arrow data cannot be read: {what}"), hint: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatchIterator, StringArray};
    use std::sync::Arc;

    fn read(batches: Vec<Vec<(&str, ArrayRef)>>) -> Result<(Vec<String>, AnyArray)> {
        let batches: Vec<RecordBatch> = batches
            .into_iter()
            .map(|columns| RecordBatch::try_from_iter_with_nullable(nullable(columns)).unwrap())
            .collect();
        let schema = batches[0].schema();
        numbers(RecordBatchIterator::new(batches.into_iter().map(Ok), schema))
    }

    fn nullable(columns: Vec<(&str, ArrayRef)>) -> Vec<(&str, ArrayRef, bool)> {
        columns.into_iter().map(|(name, array)| (name, array, true)).collect()
    }

    #[test]
    fn batches_become_columns_and_what_is_missing_nan() {
        let floats = |v: Vec<Option<f64>>| Arc::new(Float64Array::from(v)) as ArrayRef;
        let whole = |v: Vec<i32>| Arc::new(Int32Array::from(v)) as ArrayRef;
        let (names, numbers) = read(vec![
            vec![("a", floats(vec![Some(1.0), None])), ("b", whole(vec![3, 4]))],
            vec![("a", floats(vec![Some(5.0)])), ("b", whole(vec![6]))],
        ])
        .unwrap();
        let AnyArray::F64(numbers) = numbers else { panic!("double precision") };
        assert_eq!(names, ["a", "b"]);
        assert_eq!(numbers.column(1).to_vec(), [3.0, 4.0, 6.0]);
        assert!(numbers[[1, 0]].is_nan() && numbers[[2, 0]] == 5.0);
        assert_eq!(numbers.strides(), [1, 3]);
    }

    #[test]
    fn text_is_named() {
        let text = Arc::new(StringArray::from(vec!["x"])) as ArrayRef;
        let error = read(vec![vec![("city", text)]]).unwrap_err();
        assert!(error.to_string().contains("`city`"), "{error}");
    }
}
