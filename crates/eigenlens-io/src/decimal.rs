//! Decimal numbers as binary ones.

/// `unscaled` × 10^−`scale`, correctly rounded.
pub(crate) fn decimal_to_f64(unscaled: i128, scale: u32) -> f64 {
    // Both exact, so that one division rounds once.
    const EXACT: u128 = 1 << 53;
    if unscaled.unsigned_abs() <= EXACT && scale <= 22 {
        return unscaled as f64 / POWERS[scale as usize];
    }
    decimal_text_to_f64(&unscaled.to_string(), scale)
}

/// The same for digits that fit no integer type.
pub(crate) fn decimal_text_to_f64(unscaled: &str, scale: u32) -> f64 {
    format!("{unscaled}e-{scale}").parse().unwrap_or(f64::NAN)
}

/// A two's complement number of at most 16 bytes, most significant first.
pub(crate) fn big_endian(bytes: &[u8]) -> Option<i128> {
    if bytes.len() > 16 {
        return None;
    }
    let sign = if bytes.first().is_some_and(|&b| b >= 0x80) { -1 } else { 0 };
    Some(bytes.iter().fold(sign, |number, &byte| number << 8 | i128::from(byte)))
}

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_the_nearest_doubles() {
        assert_eq!(decimal_to_f64(12_345, 2), 123.45);
        assert_eq!(decimal_to_f64(-1, 30), -1e-30);
        assert_eq!(decimal_to_f64(123_456_789_012_345_678_901, 3), 123_456_789_012_345_678.901);
        assert_eq!(big_endian(&[0xff, 0xfe]), Some(-2));
        assert_eq!(big_endian(&[0x01, 0x00]), Some(256));
        assert_eq!(big_endian(&[0; 17]), None);
    }
}
