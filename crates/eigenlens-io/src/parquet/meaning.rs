//! What the bytes of a column mean.

use crate::calendar::TimeUnit;
use crate::source::Kind;
use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit as StoredUnit, Type as Physical};
use ::parquet::schema::types::{ColumnDescriptor, Type};

/// What the bytes of a column mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    Bool,
    Half,
    Float,
    Double,
    /// A signed whole number of at most this many bits.
    Signed(u8),
    Unsigned(u8),
    /// A whole number times 10 to the power of minus this.
    Decimal(u32),
    Text,
    /// Nothing but missing values.
    Nothing,
    Uuid,
    Date,
    Time(TimeUnit),
    Timestamp {
        unit: TimeUnit,
        utc: bool,
    },
}

impl Meaning {
    /// The meaning of a top-level field with one leaf, or why it is of no use.
    pub(super) fn of(field: &Type, leaf: &ColumnDescriptor) -> Result<Meaning, String> {
        if field.is_group() || leaf.max_rep_level() > 0 {
            return Err(nested(field));
        }
        let physical = leaf.physical_type();
        match leaf.logical_type_ref() {
            Some(logical) => Self::of_logical(logical, physical, leaf),
            None => Self::of_converted(leaf.converted_type(), physical, leaf),
        }
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Meaning::Half | Meaning::Float | Meaning::Double | Meaning::Decimal(_) => Kind::Float,
            Meaning::Bool | Meaning::Signed(_) | Meaning::Unsigned(_) => Kind::Integer,
            Meaning::Nothing => Kind::Empty,
            _ => Kind::Text,
        }
    }

    /// Whether it is a whole number that f64 may have to round.
    pub(super) fn is_long(self) -> bool {
        matches!(self, Meaning::Signed(bits) | Meaning::Unsigned(bits) if bits > 53)
    }

    fn of_logical(
        logical: &LogicalType,
        physical: Physical,
        leaf: &ColumnDescriptor,
    ) -> Result<Meaning, String> {
        let integer = matches!(physical, Physical::INT32 | Physical::INT64);
        match (logical, physical) {
            (LogicalType::String | LogicalType::Enum | LogicalType::Json, Physical::BYTE_ARRAY) => {
                Ok(Meaning::Text)
            }
            (LogicalType::Uuid, Physical::FIXED_LEN_BYTE_ARRAY) => Ok(Meaning::Uuid),
            (LogicalType::Float16, Physical::FIXED_LEN_BYTE_ARRAY) => Ok(Meaning::Half),
            (LogicalType::Decimal(decimal), _) => decimal_of(decimal.scale, physical, leaf),
            (LogicalType::Date, Physical::INT32) => Ok(Meaning::Date),
            (LogicalType::Time(time), _) if integer => Ok(Meaning::Time(unit(&time.unit))),
            (LogicalType::Timestamp(time), Physical::INT64) => {
                Ok(Meaning::Timestamp { unit: unit(&time.unit), utc: time.is_adjusted_to_u_t_c })
            }
            (LogicalType::Integer(int), _) if integer => {
                let bits = u8::try_from(int.bit_width).unwrap_or(64);
                Ok(if int.is_signed { Meaning::Signed(bits) } else { Meaning::Unsigned(bits) })
            }
            (LogicalType::Unknown, _) => Ok(Meaning::Nothing),
            _ => Self::of_converted(ConvertedType::NONE, physical, leaf),
        }
    }

    /// Older files, and columns that are just their physical type.
    fn of_converted(
        converted: ConvertedType,
        physical: Physical,
        leaf: &ColumnDescriptor,
    ) -> Result<Meaning, String> {
        let timestamp = |unit| Ok(Meaning::Timestamp { unit, utc: true });
        match (converted, physical) {
            (
                ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON,
                Physical::BYTE_ARRAY,
            ) => Ok(Meaning::Text),
            (ConvertedType::DECIMAL, _) => decimal_of(leaf.type_scale(), physical, leaf),
            (ConvertedType::DATE, Physical::INT32) => Ok(Meaning::Date),
            (ConvertedType::TIME_MILLIS, Physical::INT32) => {
                Ok(Meaning::Time(TimeUnit::Millisecond))
            }
            (ConvertedType::TIME_MICROS, Physical::INT64) => {
                Ok(Meaning::Time(TimeUnit::Microsecond))
            }
            (ConvertedType::TIMESTAMP_MILLIS, Physical::INT64) => timestamp(TimeUnit::Millisecond),
            (ConvertedType::TIMESTAMP_MICROS, Physical::INT64) => timestamp(TimeUnit::Microsecond),
            (ConvertedType::INT_8, Physical::INT32) => Ok(Meaning::Signed(8)),
            (ConvertedType::INT_16, Physical::INT32) => Ok(Meaning::Signed(16)),
            (ConvertedType::UINT_8, Physical::INT32) => Ok(Meaning::Unsigned(8)),
            (ConvertedType::UINT_16, Physical::INT32) => Ok(Meaning::Unsigned(16)),
            (ConvertedType::UINT_32, Physical::INT32) => Ok(Meaning::Unsigned(32)),
            (ConvertedType::UINT_64, Physical::INT64) => Ok(Meaning::Unsigned(64)),
            (_, Physical::BOOLEAN) => Ok(Meaning::Bool),
            (_, Physical::INT32) => Ok(Meaning::Signed(32)),
            (_, Physical::INT64) => Ok(Meaning::Signed(64)),
            (_, Physical::FLOAT) => Ok(Meaning::Float),
            (_, Physical::DOUBLE) => Ok(Meaning::Double),
            (_, Physical::INT96) => {
                Ok(Meaning::Timestamp { unit: TimeUnit::Nanosecond, utc: false })
            }
            (_, Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY) => {
                Err("it holds bytes, neither numbers nor text".into())
            }
        }
    }
}

/// Whether single precision holds every number of these columns, and some are floats at all.
pub(super) fn fits_f32(meanings: impl Iterator<Item = Meaning>) -> bool {
    let mut has_floats = false;
    for meaning in meanings {
        match meaning {
            Meaning::Half | Meaning::Float => has_floats = true,
            Meaning::Bool => {}
            Meaning::Signed(bits) | Meaning::Unsigned(bits) if bits <= 16 => {}
            Meaning::Double | Meaning::Decimal(_) | Meaning::Signed(_) | Meaning::Unsigned(_) => {
                return false;
            }
            _ => {}
        }
    }
    has_floats
}

/// Why a field with parts is of no use.
pub(super) fn nested(field: &Type) -> String {
    let logical = field.get_basic_info().logical_type_ref();
    match logical {
        Some(LogicalType::List) => "it holds lists",
        Some(LogicalType::Map) => "it holds maps",
        _ if field.is_group() => "it holds structures",
        _ => "it holds repeated values",
    }
    .into()
}

fn decimal_of(scale: i32, physical: Physical, leaf: &ColumnDescriptor) -> Result<Meaning, String> {
    if physical == Physical::FIXED_LEN_BYTE_ARRAY && leaf.type_length() > 16 {
        return Err(format!(
            "it holds decimals of {} digits, at most 38 are read",
            leaf.type_precision()
        ));
    }
    let scale = u32::try_from(scale).map_err(|_| format!("it is a decimal of scale {scale}"))?;
    match physical {
        Physical::INT32
        | Physical::INT64
        | Physical::BYTE_ARRAY
        | Physical::FIXED_LEN_BYTE_ARRAY => Ok(Meaning::Decimal(scale)),
        other => Err(format!("it is a decimal stored as {other}")),
    }
}

fn unit(unit: &StoredUnit) -> TimeUnit {
    match unit {
        StoredUnit::MILLIS => TimeUnit::Millisecond,
        StoredUnit::MICROS => TimeUnit::Microsecond,
        StoredUnit::NANOS => TimeUnit::Nanosecond,
    }
}
