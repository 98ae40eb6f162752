//! Which encodings are not read, and how they are recognised.

use super::chunks::BOM;
use super::fields::count_lines;

/// What is wrong with the encoding of a sample from the start of a file, and in which line (from 0).
///
/// The last bytes of the sample may be half a character.
pub(super) fn complaint(sample: &[u8]) -> Option<(u64, String)> {
    let utf16 = |which: &str| {
        Some((0, format!("the file is {which}, but tables are read as UTF-8; convert it first")))
    };
    match sample {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => return utf16("UTF-32"),
        [0xff, 0xfe, ..] => return utf16("UTF-16 (little endian)"),
        [0xfe, 0xff, ..] => return utf16("UTF-16 (big endian)"),
        _ => {}
    }
    if let Some(at) = memchr::memchr(0, sample) {
        let head = sample.get(..64).unwrap_or(sample);
        let zeros = |parity: usize| {
            let half = head.iter().skip(parity).step_by(2);
            2 * half.clone().filter(|&&byte| byte == 0).count() > half.count()
        };
        return match (zeros(0), zeros(1)) {
            (false, true) => utf16("UTF-16 (little endian, without a mark)"),
            (true, false) => utf16("UTF-16 (big endian, without a mark)"),
            _ => {
                let what = "there is a NUL byte: this is a binary file, not a text table";
                Some((count_lines(&sample[..at]), what.to_owned()))
            }
        };
    }
    let error = std::str::from_utf8(sample.strip_prefix(BOM).unwrap_or(sample)).err()?;
    // Half a character at the end is whole in the file.
    error.error_len()?;
    let offset = error.valid_up_to() + if sample.starts_with(BOM) { BOM.len() } else { 0 };
    let byte = sample.get(offset).copied().unwrap_or_default();
    let what = format!(
        "the byte 0x{byte:02x} is not UTF-8: \
         the file is probably Latin-1 (ISO 8859-1) or Windows-1252; convert it to UTF-8"
    );
    Some((count_lines(sample.get(..offset).unwrap_or(sample)), what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_named() {
        let check = |sample: &[u8], expected: Option<(u64, &str)>| {
            let found = complaint(sample);
            match (&found, expected) {
                (None, None) => {}
                (Some((line, what)), Some((expected_line, word))) => {
                    assert_eq!(*line, expected_line);
                    assert!(what.contains(word), "{what}");
                }
                _ => panic!("{found:?} is not {expected:?}"),
            }
        };
        check("a,ü\n1,2\n".as_bytes(), None);
        check(b"\xef\xbb\xbfa,b\n", None);
        check(b"\xff\xfea\0,\0", Some((0, "UTF-16 (little")));
        check(b"\xfe\xff\0a\0,", Some((0, "UTF-16 (big")));
        check(b"a\0,\0b\0\n\0", Some((0, "without a mark")));
        check(b"a,b\n1,\x002\n", Some((1, "NUL")));
        check(b"a,b\n1,2\nM\xfcller,3\n", Some((2, "Latin-1")));
        check(&"a,ü".as_bytes()[..3], None);
    }
}
