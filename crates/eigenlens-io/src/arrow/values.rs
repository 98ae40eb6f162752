//! Arrow arrays as numbers and labels.

use crate::calendar::{self, TimeUnit};
use crate::decimal::{decimal_text_to_f64, decimal_to_f64};
use crate::source::{Kind, Labels};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use arrow_schema::{DataType, TimeUnit as StoredUnit};
use std::borrow::Cow;

/// What a column of this type is here.
pub(super) fn kind(data_type: &DataType) -> Kind {
    use DataType::*;
    let reason = match data_type {
        Float16 | Float32 | Float64 => return Kind::Float,
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => return Kind::Float,
        Boolean | Int8 | Int16 | Int32 | Int64 => return Kind::Integer,
        UInt8 | UInt16 | UInt32 | UInt64 | Duration(_) => return Kind::Integer,
        Utf8 | LargeUtf8 | Utf8View => return Kind::Text,
        Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..) => return Kind::Text,
        Dictionary(_, values) => return kind(values),
        Null => return Kind::Empty,
        Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => {
            "it holds bytes, neither numbers nor text"
        }
        List(_) | LargeList(_) | ListView(_) | LargeListView(_) | FixedSizeList(..) => {
            "it holds lists"
        }
        Struct(_) => "it holds structures",
        Map(..) => "it holds maps",
        Union(..) => "it holds values of several types",
        Interval(_) => "it holds calendar intervals",
        RunEndEncoded(..) => "it is run-end encoded",
    };
    Kind::Unusable(reason.into())
}

/// Whether single precision holds every number of these columns, and some are floats at all.
pub(super) fn fits_f32<'a>(types: impl Iterator<Item = &'a DataType>) -> bool {
    let mut has_floats = false;
    for data_type in types {
        let values =
            if let DataType::Dictionary(_, values) = data_type { values } else { data_type };
        match values {
            DataType::Float16 | DataType::Float32 => has_floats = true,
            DataType::Boolean
            | DataType::Int8
            | DataType::Int16
            | DataType::UInt8
            | DataType::UInt16 => {}
            wide if matches!(kind(wide), Kind::Float | Kind::Integer) => return false,
            _ => {}
        }
    }
    has_floats
}

/// Whether it is a whole number that f64 may have to round.
pub(super) fn is_long(data_type: &DataType) -> bool {
    match data_type {
        DataType::Int64 | DataType::UInt64 | DataType::Duration(_) => true,
        DataType::Dictionary(_, values) => is_long(values),
        _ => false,
    }
}

/// f32 or f64.
pub(super) trait Number: ArrowNativeType {
    type Stored: ArrowPrimitiveType<Native = Self>;
    const NAN: Self;
    fn from_f64(value: f64) -> Self;
}

impl Number for f32 {
    type Stored = Float32Type;
    const NAN: Self = f32::NAN;
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Number for f64 {
    type Stored = Float64Type;
    const NAN: Self = f64::NAN;
    fn from_f64(value: f64) -> Self {
        value
    }
}

/// Rows `start..start + n` as numbers, without a copy where they are stored as they are wanted.
pub(super) fn numbers<T: Number>(array: &ArrayRef, start: usize, n: usize) -> Option<Cow<'_, [T]>> {
    if let Some(same) = array.as_primitive_opt::<T::Stored>()
        && array.null_count() == 0
    {
        return same.values().get(start..start + n).map(Cow::Borrowed);
    }
    converted(&array.slice(start, n)).map(Cow::Owned)
}

/// All rows as text.
pub(super) fn labels(array: &ArrayRef) -> Option<Labels> {
    let mut labels = Labels::default();
    let mut text = String::new();
    let write = writer(array)?;
    for row in 0..array.len() {
        text.clear();
        if !array.is_null(row) {
            write(row, &mut text);
        }
        labels.push(&text);
    }
    Some(labels)
}

fn converted<T: Number>(array: &ArrayRef) -> Option<Vec<T>> {
    use DataType::*;
    macro_rules! each {
        ($type:ty, $convert:expr) => {{
            let array = array.as_primitive_opt::<$type>()?;
            Some(array.iter().map(|v| v.map_or(T::NAN, |v| T::from_f64($convert(v)))).collect())
        }};
    }
    let decimal = |scale: i8| u32::try_from(scale).ok();
    match array.data_type() {
        Null => Some(vec![T::NAN; array.len()]),
        Boolean => {
            let array = array.as_boolean_opt()?;
            let number = |v: bool| T::from_f64(f64::from(u8::from(v)));
            Some(array.iter().map(|v| v.map_or(T::NAN, number)).collect())
        }
        Int8 => each!(Int8Type, f64::from),
        Int16 => each!(Int16Type, f64::from),
        Int32 => each!(Int32Type, f64::from),
        Int64 => each!(Int64Type, |v| v as f64),
        UInt8 => each!(UInt8Type, f64::from),
        UInt16 => each!(UInt16Type, f64::from),
        UInt32 => each!(UInt32Type, f64::from),
        UInt64 => each!(UInt64Type, |v| v as f64),
        Float16 => each!(Float16Type, |v: half::f16| v.to_f64()),
        Float32 => each!(Float32Type, f64::from),
        Float64 => each!(Float64Type, |v| v),
        Decimal32(_, scale) => {
            let scale = decimal(*scale)?;
            each!(Decimal32Type, |v: i32| decimal_to_f64(v.into(), scale))
        }
        Decimal64(_, scale) => {
            let scale = decimal(*scale)?;
            each!(Decimal64Type, |v: i64| decimal_to_f64(v.into(), scale))
        }
        Decimal128(_, scale) => {
            let scale = decimal(*scale)?;
            each!(Decimal128Type, |v| decimal_to_f64(v, scale))
        }
        Decimal256(_, scale) => {
            let scale = decimal(*scale)?;
            let wide = |v: arrow_buffer::i256| decimal_text_to_f64(&v.to_string(), scale);
            each!(Decimal256Type, wide)
        }
        Duration(_) => {
            let counts = counts::<i64>(array)?;
            let row =
                |row| if array.is_null(row) { T::NAN } else { T::from_f64(counts[row] as f64) };
            Some((0..array.len()).map(row).collect())
        }
        Dictionary(..) => {
            let values = converted::<T>(array.as_any_dictionary_opt()?.values())?;
            let row = |key: Option<usize>| key.and_then(|k| values.get(k).copied());
            Some(keys(array)?.into_iter().map(|key| row(key).unwrap_or(T::NAN)).collect())
        }
        _ => None,
    }
}

type Writer<'a> = Box<dyn Fn(usize, &mut String) + 'a>;

/// Writes the text of a row that is not missing.
fn writer(array: &ArrayRef) -> Option<Writer<'_>> {
    use DataType::*;
    Some(match array.data_type() {
        Null => Box::new(|_, _| {}),
        Utf8 => {
            let array = array.as_string_opt::<i32>()?;
            Box::new(|row, out| out.push_str(array.value(row)))
        }
        LargeUtf8 => {
            let array = array.as_string_opt::<i64>()?;
            Box::new(|row, out| out.push_str(array.value(row)))
        }
        Utf8View => {
            let array = array.as_string_view_opt()?;
            Box::new(|row, out| out.push_str(array.value(row)))
        }
        Date32 => {
            let days = counts::<i32>(array)?;
            Box::new(move |row, out| calendar::date(days[row].into(), out))
        }
        Date64 => {
            let milliseconds = counts::<i64>(array)?;
            Box::new(move |row, out| calendar::date(milliseconds[row].div_euclid(86_400_000), out))
        }
        Time32(stored) => {
            let (counts, unit) = (counts::<i32>(array)?, unit(stored));
            Box::new(move |row, out| calendar::time(counts[row].into(), unit, out))
        }
        Time64(stored) => {
            let (counts, unit) = (counts::<i64>(array)?, unit(stored));
            Box::new(move |row, out| calendar::time(counts[row], unit, out))
        }
        Timestamp(stored, zone) => {
            let (counts, unit, utc) = (counts::<i64>(array)?, unit(stored), zone.is_some());
            Box::new(move |row, out| calendar::timestamp(counts[row], unit, utc, out))
        }
        Dictionary(..) => {
            let values = array.as_any_dictionary_opt()?.values();
            let (keys, write) = (keys(array)?, writer(values)?);
            Box::new(move |row, out| {
                if let Some(key) = keys[row].filter(|&key| !values.is_null(key)) {
                    write(key, out);
                }
            })
        }
        Boolean => {
            let array = array.as_boolean_opt()?;
            Box::new(|row, out| out.push_str(if array.value(row) { "true" } else { "false" }))
        }
        Float16 | Float32 => {
            let numbers = converted::<f32>(array)?;
            Box::new(move |row, out| out.push_str(&numbers[row].to_string()))
        }
        Int64 => {
            let numbers = counts::<i64>(array)?;
            Box::new(move |row, out| out.push_str(&numbers[row].to_string()))
        }
        UInt64 => {
            let numbers = counts::<u64>(array)?;
            Box::new(move |row, out| out.push_str(&numbers[row].to_string()))
        }
        _ => {
            let numbers = converted::<f64>(array)?;
            Box::new(move |row, out| out.push_str(&numbers[row].to_string()))
        }
    })
}

/// The integers that dates, times and the like are stored as.
fn counts<T: ArrowNativeType>(array: &ArrayRef) -> Option<ScalarBuffer<T>> {
    let data = array.to_data();
    let buffer = data.buffers().first()?.clone();
    Some(ScalarBuffer::new(buffer, data.offset(), data.len()))
}

fn keys(array: &ArrayRef) -> Option<Vec<Option<usize>>> {
    let dictionary = array.as_any_dictionary_opt()?;
    if dictionary.values().is_empty() {
        return Some(vec![None; array.len()]);
    }
    let keys = dictionary.normalized_keys();
    let key = |(row, key)| (!dictionary.keys().is_null(row)).then_some(key);
    Some(keys.into_iter().enumerate().map(key).collect())
}

fn unit(unit: &StoredUnit) -> TimeUnit {
    match unit {
        StoredUnit::Second => TimeUnit::Second,
        StoredUnit::Millisecond => TimeUnit::Millisecond,
        StoredUnit::Microsecond => TimeUnit::Microsecond,
        StoredUnit::Nanosecond => TimeUnit::Nanosecond,
    }
}
