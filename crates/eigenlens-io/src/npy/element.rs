//! The numbers of an NPY array, whatever their type and byte order.

use half::f16;

/// How one number is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Element {
    pub(super) numeral: Numeral,
    pub(super) is_big_endian: bool,
}

/// The types of numbers, as NumPy names them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Numeral {
    F2,
    F4,
    F8,
    I1,
    I2,
    I4,
    I8,
    U1,
    U2,
    U4,
    U8,
    Bool,
}

impl Element {
    /// Bytes of one number.
    pub(super) fn size(self) -> usize {
        match self.numeral {
            Numeral::I1 | Numeral::U1 | Numeral::Bool => 1,
            Numeral::F2 | Numeral::I2 | Numeral::U2 => 2,
            Numeral::F4 | Numeral::I4 | Numeral::U4 => 4,
            Numeral::F8 | Numeral::I8 | Numeral::U8 => 8,
        }
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self.numeral, Numeral::F2 | Numeral::F4 | Numeral::F8)
    }

    /// Whether it is a whole number that f64 may have to round.
    pub(super) fn is_long(self) -> bool {
        matches!(self.numeral, Numeral::I8 | Numeral::U8)
    }

    /// Whether blocks are single precision.
    pub(super) fn is_f32(self) -> bool {
        matches!(self.numeral, Numeral::F2 | Numeral::F4)
    }

    /// Whether the bytes can be used as numbers of this type as they are.
    pub(super) fn is_native(self, numeral: Numeral) -> bool {
        self.numeral == numeral && self.is_big_endian == cfg!(target_endian = "big")
    }

    /// Converts as many numbers as `out` has room for.
    pub(super) fn decode<T: Real>(self, bytes: &[u8], out: &mut [T]) {
        let big = self.is_big_endian;
        macro_rules! each {
            ($type:ty, $convert:expr) => {{
                let size = size_of::<$type>();
                for (out, bytes) in out.iter_mut().zip(bytes.chunks_exact(size)) {
                    let mut number = [0; size_of::<$type>()];
                    number.copy_from_slice(bytes);
                    let number = if big {
                        <$type>::from_be_bytes(number)
                    } else {
                        <$type>::from_le_bytes(number)
                    };
                    *out = T::from_f64($convert(number));
                }
            }};
        }
        match self.numeral {
            Numeral::F2 => each!(f16, |x: f16| x.to_f64()),
            Numeral::F4 => each!(f32, f64::from),
            Numeral::F8 => each!(f64, |x| x),
            Numeral::I1 => each!(i8, f64::from),
            Numeral::I2 => each!(i16, f64::from),
            Numeral::I4 => each!(i32, f64::from),
            Numeral::I8 => each!(i64, |x| x as f64),
            Numeral::U1 => each!(u8, f64::from),
            Numeral::U2 => each!(u16, f64::from),
            Numeral::U4 => each!(u32, f64::from),
            Numeral::U8 => each!(u64, |x| x as f64),
            Numeral::Bool => each!(u8, |x| f64::from(u8::from(x != 0))),
        }
    }
}

/// f32 or f64.
pub(super) trait Real: bytemuck::Pod + Default + Send + Sync {
    /// The element that needs no conversion.
    const NUMERAL: Numeral;
    fn from_f64(value: f64) -> Self;
}

impl Real for f32 {
    const NUMERAL: Numeral = Numeral::F4;
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Real for f64 {
    const NUMERAL: Numeral = Numeral::F8;
    fn from_f64(value: f64) -> Self {
        value
    }
}
