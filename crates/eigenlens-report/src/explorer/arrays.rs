//! Numbers as blocks of base64, in the smallest form that keeps them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The numeric arrays of a page: a description of each, and its bytes.
#[derive(Default)]
pub(super) struct Arrays {
    blocks: Vec<String>,
    compact: bool,
}

/// How numbers are stored. The largest code of a whole-number form stands for a missing number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Whole numbers from `first` on.
    U8 {
        first: f64,
    },
    /// `first + step · code`.
    U16 {
        first: f64,
        step: f64,
    },
    F32,
    F64,
}

impl Arrays {
    /// `compact` rounds numbers that are not whole to 1/65534 of their range.
    pub fn new(compact: bool) -> Arrays {
        Arrays { compact, ..Arrays::default() }
    }

    /// Takes an array; gives its description.
    pub fn add(&mut self, values: &[f64]) -> Value {
        let form = Form::of(values, self.compact);
        let bytes = form.encode(values);
        let id = format!("a{}", self.blocks.len());
        self.blocks.push(STANDARD.encode(bytes));
        let (name, first, step) = match form {
            Form::U8 { first } => ("u8", first, 1.0),
            Form::U16 { first, step } => ("u16", first, step),
            Form::F32 => ("f32", 0.0, 1.0),
            Form::F64 => ("f64", 0.0, 1.0),
        };
        json!({"id": id, "form": name, "n": values.len(), "first": first, "step": step})
    }

    /// Takes several arrays of one kind.
    pub fn add_all(&mut self, arrays: &[Vec<f64>]) -> Value {
        arrays.iter().map(|values| self.add(values)).collect()
    }

    /// The base64 of each array, in the order in which they came.
    pub fn blocks(self) -> Vec<String> {
        self.blocks
    }
}

impl Form {
    fn of(values: &[f64], compact: bool) -> Form {
        let finite = || values.iter().copied().filter(|v| v.is_finite());
        let (low, high) =
            finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let range = high - low;
        if finite().all(|v| v.fract() == 0.0 && v.abs() < 1e15) && range <= 65534.0 {
            let first = if low.is_finite() { low } else { 0.0 };
            return if range <= 254.0 {
                Form::U8 { first }
            } else {
                Form::U16 { first, step: 1.0 }
            };
        }
        if compact && range.is_finite() && range / 65534.0 > 0.0 {
            return Form::U16 { first: low, step: range / 65534.0 };
        }
        // Beyond the comfortable range of float32 digits or whole numbers would be lost.
        let largest = low.abs().max(high.abs());
        if (1e-30..1e37).contains(&largest) { Form::F32 } else { Form::F64 }
    }

    fn encode(self, values: &[f64]) -> Vec<u8> {
        let code = |v: f64, first: f64, step: f64, missing: u16| {
            if v.is_finite() { ((v - first) / step).round().min(65534.0) as u16 } else { missing }
        };
        match self {
            Form::U8 { first } => values.iter().map(|&v| code(v, first, 1.0, 255) as u8).collect(),
            Form::U16 { first, step } => {
                values.iter().flat_map(|&v| code(v, first, step, 65535).to_le_bytes()).collect()
            }
            Form::F32 => values.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect(),
            Form::F64 => values.iter().flat_map(|&v| v.to_le_bytes()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_form_that_keeps_the_numbers_is_taken() {
        let form = |values: &[f64]| Form::of(values, false);
        assert_eq!(form(&[3.0, 257.0, f64::NAN]), Form::U8 { first: 3.0 });
        assert_eq!(form(&[3.0, 258.0]), Form::U16 { first: 3.0, step: 1.0 });
        assert_eq!(form(&[-1.0, 65534.0]), Form::F32);
        assert_eq!(form(&[0.5, 1.0]), Form::F32);
        assert_eq!(form(&[0.5e300, 1e300]), Form::F64);
        assert_eq!(form(&[0.5e-300, 1.5e-300]), Form::F64);
        assert_eq!(form(&[f64::NAN]), Form::U8 { first: 0.0 });
        assert_eq!(form(&[]), Form::U8 { first: 0.0 });
    }

    #[test]
    fn compact_numbers_are_within_half_a_step() {
        let values: Vec<f64> = (0..1000).map(|i| (f64::from(i) * 0.37).sin() * 3.0 - 1.0).collect();
        let form = Form::of(&values, true);
        let Form::U16 { first, step } = form else { panic!("{form:?}") };
        for (value, bytes) in values.iter().zip(form.encode(&values).chunks(2)) {
            let code = u16::from_le_bytes([bytes[0], bytes[1]]);
            assert!((first + step * f64::from(code) - value).abs() <= 0.5001 * step);
        }
        let missing = form.encode(&[f64::NAN]);
        assert_eq!(missing, 65535u16.to_le_bytes());
    }

    #[test]
    fn bytes_are_little_endian_base64() {
        let mut arrays = Arrays::new(false);
        let about = arrays.add(&[1.0, f64::NAN, 3.0]);
        assert_eq!(about["form"], "u8");
        arrays.add(&[0.5]);
        assert_eq!(arrays.blocks(), ["AP8C", "AAAAPw=="]);
    }
}
