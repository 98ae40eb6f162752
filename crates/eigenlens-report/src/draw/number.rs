//! Numbers as text: coordinates for the SVG, values for readers.

use std::fmt;

/// A coordinate with at most two decimals and no needless zeros.
pub(crate) fn px(value: f64) -> Px {
    Px(value)
}

pub(crate) struct Px(f64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Far outside any picture; keeps renderers with 32-bit coordinates out of trouble.
        let hundredths = (self.0.clamp(-1e5, 1e5) * 100.0).round() as i64;
        let sign = if hundredths < 0 { "-" } else { "" };
        let (whole, rest) = (hundredths.abs() / 100, hundredths.abs() % 100);
        match rest {
            0 => write!(f, "{sign}{whole}"),
            _ if rest % 10 == 0 => write!(f, "{sign}{whole}.{}", rest / 10),
            _ => write!(f, "{sign}{whole}.{rest:02}"),
        }
    }
}

/// A value with a number of decimals and a true minus sign.
pub(crate) fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// A value to about three significant digits, with a power of ten where plain digits would be long.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e5).contains(&size) {
        let text = format!("{value:.1e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa = mantissa.strip_suffix(".0").unwrap_or(mantissa).replace('-', "−");
        return format!("{mantissa}×10{}", superscript(exponent.parse().unwrap_or(0)));
    }
    let decimals = (2 - size.log10().floor() as i64).clamp(0, 5) as usize;
    decimal(value, decimals)
}

/// A value with the decimals that suit the largest of its column, so that the points line up; a
/// power of ten where that is extreme.
pub(crate) fn in_column(value: f64, largest: f64) -> String {
    let largest = largest.abs();
    if !(1e-3..1e5).contains(&largest) {
        return short(value);
    }
    decimal(value, (2 - largest.log10().floor() as i64).clamp(0, 5) as usize)
}

/// A share as a percentage: `72.8 %`.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    let decimals = if value.abs() >= 99.95 || value == 0.0 { 0 } else { 1 };
    if value > 0.0 && value < 0.05 {
        return "< 0.1 %".to_owned();
    }
    format!("{} %", decimal(value, decimals))
}

/// An exponent in raised figures.
pub(crate) fn superscript(exponent: i32) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' => '⁰',
        _ => char::from_u32(0x2070 + c as u32 - '0' as u32).unwrap_or(c),
    };
    exponent.to_string().chars().map(raised).collect()
}

/// A count with commas between thousands, from five digits on.
pub(crate) fn count(value: usize) -> String {
    let digits = value.to_string();
    if digits.len() <= 4 {
        return digits;
    }
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_stable() {
        for (value, text) in [
            (1.0, "1"),
            (-0.001, "0"),
            (12.345, "12.35"),
            (-3.10, "-3.1"),
            (0.05, "0.05"),
            (1e300, "100000"),
            (f64::NAN, "0"),
        ] {
            assert_eq!(px(value).to_string(), text);
        }
    }

    #[test]
    fn values_read_well() {
        for (value, text) in [
            (0.0, "0"),
            (-0.5831, "−0.583"),
            (72.77, "72.8"),
            (12345.6, "12346"),
            (1.5e-7, "1.5×10⁻⁷"),
            (-2e300, "−2×10³⁰⁰"),
        ] {
            assert_eq!(short(value), text);
        }
        assert_eq!(in_column(0.9898, 2.48), "0.99");
        assert_eq!(in_column(-0.0213, -0.167), "−0.021");
        assert_eq!(percent(0.7277), "72.8 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(1e-9), "< 0.1 %");
        assert_eq!(decimal(-0.0001, 2), "0.00");
        assert_eq!(count(1234567), "1,234,567");
        assert_eq!(count(1234), "1234");
    }
}
