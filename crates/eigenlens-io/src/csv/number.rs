//! Decimal text to binary numbers, correctly rounded.
//!
//! [`scan`] is the fast path: sixteen digits at a time, then one multiplication by a power of ten.
//! What it does not cover it hands to [`parse`], which ends in the standard library.

use super::decimal::scale;
use super::digits::{TENS, few_digits, non_digits, sixteen_digits};

/// What a whole field says, blanks at its ends removed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// A number with a fraction or an exponent, or an infinity spelled out.
    Float(f64),
    /// A whole number that is kept exactly.
    Integer(f64),
    /// A whole number beyond 2^53 that had to be rounded.
    Rounded(f64),
    /// A number too large for double precision.
    Overflow,
    /// Something else.
    Other,
}

/// Reads a number at `at` up to the first byte that is not part of it, and says where that is.
///
/// `None` means that [`parse`] must decide: unusual spelling, many digits, large exponents, whole
/// numbers beyond 2^53, no number at all, or too near to the end of the bytes.
#[inline(always)]
pub(super) fn scan(bytes: &[u8], at: usize, point: u8) -> Option<(f64, usize)> {
    let window = bytes.get(at..)?.first_chunk::<WINDOW>()?;
    let start = usize::from(window[0] == b'-');
    let others = non_digits(window.first_chunk()?) & !(start as u32);
    let first = others.trailing_zeros() as usize;
    let n_whole = first - start;
    if !(1..=15).contains(&n_whole) {
        return None;
    }
    let whole = match n_whole {
        1 => u64::from(window[start] - b'0'),
        _ => few_digits(sixteen(window, start)?, n_whole),
    };
    let (mut mantissa, mut power, mut end) = (whole, 0, first);
    if window[first] == point {
        end = (others & (others - 1)).trailing_zeros() as usize;
        let n = end - first - 1;
        if end == 32 {
            return None;
        }
        if n_whole > 3 {
            let digits =
                if n < 16 { few_digits(sixteen(window, first + 1)?, n) } else { return None };
            mantissa = whole.checked_mul(TENS[n])?.checked_add(digits)?;
            power = -(n as i32);
        } else {
            // As if there were sixteen digits: what is missing are zeros.
            mantissa = whole * TENS[16] + sixteen_digits(sixteen(window, first + 1)?, n);
            power = -16;
            if n > 16 {
                let more = few_digits(sixteen(window, first + 17)?, n - 16);
                mantissa = mantissa.checked_mul(TENS[n - 16])?.checked_add(more)?;
                power = -(n as i32);
            }
        }
    }
    end += at;
    if *bytes.get(end)? | 0x20 == b'e' {
        let (shift, next) = scan_exponent(bytes, end + 1)?;
        power += shift;
        end = next;
    }
    let value = if power == 0 {
        // At most fifteen digits, or an exponent that undid the fraction: rounded once either way.
        mantissa as f64
    } else {
        scale(mantissa, power)?
    };
    // Signs come and go: nothing that a processor could foresee.
    Some((f64::from_bits(value.to_bits() | (start as u64) << 63), end))
}

/// How far [`scan`] looks ahead: numbers of 31 characters, read sixteen bytes at a time.
const WINDOW: usize = 48;

#[inline(always)]
fn sixteen(window: &[u8; WINDOW], at: usize) -> Option<&[u8; 16]> {
    window.get(at..)?.first_chunk()
}

/// Reads a whole field. Thousands separators, underscores and other bases are not numbers.
pub(super) fn parse(field: &[u8], point: u8) -> Number {
    let mut padded = [0; 2 * WINDOW];
    if let Some(start) = padded[..WINDOW].get_mut(..field.len()) {
        start.copy_from_slice(field);
        if let Some((value, end)) = scan(&padded, 0, point)
            && end == field.len()
        {
            // At most fifteen digits, where there are digits only.
            let is_whole = !field.iter().any(|&byte| byte == point || byte | 0x20 == b'e');
            return if is_whole { Number::Integer(value) } else { Number::Float(value) };
        }
    }
    if let Some(infinity) = spelled_infinity(field) {
        return Number::Float(infinity);
    }
    let Some(is_whole) = shape(field, point) else { return Number::Other };
    // Only ASCII digits, signs, `e` and the decimal mark are left.
    let text = String::from_utf8_lossy(field);
    let text = if point == b'.' { text } else { text.replace(char::from(point), ".").into() };
    match text.parse::<f64>() {
        Ok(value) if !value.is_finite() => Number::Overflow,
        Ok(value) if !is_whole => Number::Float(value),
        Ok(value) if value.abs() < EXACT_INTEGERS || is_exact(&text, value) => {
            Number::Integer(value)
        }
        Ok(value) => Number::Rounded(value),
        Err(_) => Number::Other,
    }
}

/// Below 2^53 every whole number is a double, and none was rounded to it.
const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;

fn is_exact(text: &str, value: f64) -> bool {
    // Digits beyond an i128 (39 of them) are never meant as exact integers.
    text.parse::<i128>().is_ok_and(|whole| whole as f64 == value && value as i128 == whole)
}

/// Whether the field is spelled as a number, and then whether it is a whole one.
fn shape(field: &[u8], point: u8) -> Option<bool> {
    let unsigned = field.strip_prefix(b"-").or_else(|| field.strip_prefix(b"+")).unwrap_or(field);
    let (whole, rest) = take_digits(unsigned);
    let mut is_whole = true;
    let (fraction, rest) = match rest.split_first() {
        Some((&mark, rest)) if mark == point => {
            is_whole = false;
            take_digits(rest)
        }
        _ => (0, rest),
    };
    if whole + fraction == 0 {
        return None;
    }
    let Some((mark, rest)) = rest.split_first() else { return Some(is_whole) };
    if mark | 0x20 != b'e' {
        return None;
    }
    let exponent = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"+")).unwrap_or(rest);
    let (digits, rest) = take_digits(exponent);
    (digits > 0 && rest.is_empty()).then_some(false)
}

fn take_digits(bytes: &[u8]) -> (usize, &[u8]) {
    let n = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (n, bytes.get(n..).unwrap_or_default())
}

fn spelled_infinity(field: &[u8]) -> Option<f64> {
    let (sign, word) = match field.split_first()? {
        (b'-', word) => (-1.0, word),
        (b'+', word) => (1.0, word),
        _ => (1.0, field),
    };
    let is_infinity = word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"infinity");
    is_infinity.then_some(sign * f64::INFINITY)
}

/// An exponent of at most three digits.
#[inline]
fn scan_exponent(bytes: &[u8], at: usize) -> Option<(i32, usize)> {
    let sign = *bytes.get(at)?;
    let start = at + usize::from(matches!(sign, b'-' | b'+'));
    let window = bytes.get(start..)?.first_chunk::<32>()?;
    let n = non_digits(window).trailing_zeros() as usize;
    if n == 0 || n > 3 {
        return None;
    }
    let size = few_digits(window.first_chunk()?, n) as i32;
    Some((if sign == b'-' { -size } else { size }, start + n))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fast path where it answers, else the slow one; the field is followed by a delimiter.
    fn read(text: &str, point: u8) -> Option<f64> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(b';');
        bytes.resize(bytes.len() + 64, 0);
        match scan(&bytes, 0, point) {
            Some((value, end)) if end == text.len() => Some(value),
            _ => match parse(text.as_bytes(), point) {
                Number::Float(value) | Number::Integer(value) | Number::Rounded(value) => {
                    Some(value)
                }
                Number::Overflow | Number::Other => None,
            },
        }
    }

    fn check(text: &str) {
        let expected: f64 = text.parse().expect("a number");
        let got = read(text, b'.').unwrap_or(f64::NAN);
        assert_eq!(got.to_bits(), expected.to_bits(), "{text}: {got:e} is not {expected:e}");
    }

    /// A small generator (SplitMix64), so that millions of cases cost little.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }
    }

    #[test]
    fn random_bits_written_in_many_ways_are_the_standard_librarys_numbers() {
        let mut random = Random(1);
        for _ in 0..150_000 {
            let value = f64::from_bits(random.next());
            if value.is_finite() {
                check(&format!("{value:e}"));
                check(&format!("{value:.16e}"));
                check(&format!("{value:.5e}"));
            }
            let unit = (random.next() >> 11) as f64 * 2f64.powi(-53);
            check(&format!("{unit}"));
            check(&format!("-{unit:.18e}"));
            check(&format!("{:.17}", unit * 1000.0));
            check(&format!("{}", unit * 1e-5));
        }
    }

    #[test]
    fn random_digits_are_the_standard_librarys_numbers() {
        let mut random = Random(2);
        for _ in 0..1_000_000 {
            let choice = random.next();
            let whole = random.next() % 10u64.pow((choice % 12) as u32 + 1);
            let fraction = random.next() % 10u64.pow((choice >> 8) as u32 % 19 + 1);
            let sign = if choice & (1 << 40) == 0 { "" } else { "-" };
            match (choice >> 48) % 4 {
                0 => check(&format!("{sign}{whole}")),
                1 => check(&format!("{sign}{whole}.{fraction}")),
                2 => check(&format!("{sign}0.{fraction:019}")),
                _ => check(&format!("{sign}{whole}.{fraction}e{}", (choice >> 20) as i8)),
            }
        }
    }

    #[test]
    fn halfway_cases_round_to_even() {
        // The middle between two neighbouring doubles, spelled exactly, and one digit to each side.
        let mut random = Random(3);
        for _ in 0..100_000 {
            let mantissa = (random.next() >> 11) | (1 << 52);
            for shift in [0, 1, 5, 9] {
                let middle = (u128::from(mantissa) << (shift + 1)) + (1 << shift);
                check(&format!("{middle}.0"));
                check(&format!("{middle}.00000001"));
                check(&format!("{}.9999999", middle - 1));
            }
            // Halves, quarters …: ties with a fraction.
            let small = (random.next() >> 10) | 1;
            for digits in 1..=4 {
                let scaled = small as f64 / 2f64.powi(digits);
                check(&format!("{scaled:.4}"));
            }
        }
    }

    #[test]
    fn special_spellings() {
        for text in ["0", "-0", "-0.0", "5.", ".5", "+1", "1e0", "1E+05", "00012", "4.9e-324"] {
            check(text);
        }
        check("179769313486231570000000000000000000000e270");
        check("2.4703282292062327208299439634110864618253e-324");
        assert_eq!(read("1,5", b','), Some(1.5));
        assert_eq!(read("1.5", b','), None);
        for text in ["1e400", "-1e400", "0x10", "1_000", "1,000", "1e", "e5", ".", "-", "", "1.2.3"]
        {
            assert_eq!(read(text, b'.'), None, "{text}");
        }
        assert_eq!(read("-Inf", b'.'), Some(f64::NEG_INFINITY));
        assert_eq!(parse(b"1e309", b'.'), Number::Overflow);
    }

    #[test]
    fn whole_numbers_that_lose_digits_are_told_apart() {
        assert_eq!(parse(b"9007199254740992", b'.'), Number::Integer(9_007_199_254_740_992.0));
        assert_eq!(parse(b"9007199254740993", b'.'), Number::Rounded(9_007_199_254_740_992.0));
        assert_eq!(parse(b"4611686018427387904", b'.'), Number::Integer(2f64.powi(62)));
        assert_eq!(parse(b"4611686018427387905", b'.'), Number::Rounded(2f64.powi(62)));
        // Never decided by the fast path.
        let mut bytes = b"9007199254740993,".to_vec();
        bytes.resize(96, 0);
        assert_eq!(scan(&bytes, 0, b'.'), None);
    }
}
