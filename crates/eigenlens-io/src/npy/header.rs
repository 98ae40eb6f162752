//! The header of an NPY array.

use super::element::{Element, Numeral};

/// What an NPY header says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Header {
    pub(super) element: Element,
    pub(super) is_fortran: bool,
    pub(super) n_rows: usize,
    pub(super) n_columns: usize,
    /// Where the numbers begin, counted from the magic bytes.
    pub(super) data_at: u64,
}

impl Header {
    /// Bytes of numbers.
    pub(super) fn data_bytes(&self) -> u64 {
        // `parse` has seen that this does not overflow.
        (self.n_rows * self.n_columns * self.element.size()) as u64
    }

    /// Reads a header from the beginning of an array. `start` must hold [`Header::MOST_BYTES`], or
    /// the whole file where that is shorter.
    pub(super) fn parse(start: &[u8]) -> Result<Header, String> {
        let Some(rest) = start.strip_prefix(MAGIC) else {
            return Err("it does not begin as an NPY array does".into());
        };
        let cut_off = || String::from("its header is cut off");
        let (&[major, _minor], rest) = rest.split_first_chunk().ok_or_else(cut_off)?;
        let (length_bytes, length) = match major {
            1 => (2, rest.first_chunk().map(|b| u16::from_le_bytes(*b).into())),
            2 | 3 => (4, rest.first_chunk().map(|b| u32::from_le_bytes(*b))),
            _ => return Err(format!("it is NPY of version {major}, which is not known")),
        };
        let length = length.ok_or_else(cut_off)? as usize;
        if length > Self::MOST_BYTES - 12 {
            return Err(format!("its header claims {length} bytes"));
        }
        let text = rest.get(length_bytes..length_bytes + length).ok_or_else(cut_off)?;
        let text = str::from_utf8(text).map_err(|_| "its header is not text".to_owned())?;
        let (element, is_fortran, shape) = Literal { rest: text }.dictionary()?;
        let (n_rows, n_columns) = match shape.as_slice() {
            &[n] => (n, 1),
            &[n, d] => (n, d),
            [] => return Err("it is a single number, not a table".into()),
            more => return Err(format!("it has {} dimensions, not 2", more.len())),
        };
        n_rows
            .checked_mul(n_columns)
            .and_then(|n| n.checked_mul(element.size()))
            .filter(|&bytes| bytes <= isize::MAX as usize)
            .ok_or_else(|| {
                format!("its shape ({n_rows}, {n_columns}) is larger than any memory")
            })?;
        let data_at = (MAGIC.len() + 2 + length_bytes + length) as u64;
        // One row in either order is the same; with one column too.
        Ok(Header { element, is_fortran, n_rows, n_columns, data_at })
    }

    /// NumPy itself refuses headers longer than 10,000 bytes.
    pub(super) const MOST_BYTES: usize = 1 << 16;
}

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// The Python literal in the header.
struct Literal<'a> {
    rest: &'a str,
}

impl<'a> Literal<'a> {
    /// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`, in any order.
    fn dictionary(mut self) -> Result<(Element, bool, Vec<usize>), String> {
        let (mut element, mut is_fortran, mut shape) = (None, None, None);
        self.expect("{")?;
        while !self.accept("}") {
            let key = self.text()?;
            self.expect(":")?;
            match key {
                "descr" => element = Some(self.element()?),
                "fortran_order" => is_fortran = Some(self.truth()?),
                "shape" => shape = Some(self.shape()?),
                other => return Err(format!("its header has the unknown key `{other}`")),
            }
            if !self.accept(",") {
                self.expect("}")?;
                break;
            }
        }
        if !self.rest.trim().is_empty() {
            return Err("its header goes on after its end".into());
        }
        match (element, is_fortran, shape) {
            (Some(element), Some(is_fortran), Some(shape)) => Ok((element, is_fortran, shape)),
            _ => Err("its header lacks `descr`, `fortran_order` or `shape`".into()),
        }
    }

    fn element(&mut self) -> Result<Element, String> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with(['[', '{']) {
            return Err("it holds structures of several fields".into());
        }
        element_of(self.text()?)
    }

    fn truth(&mut self) -> Result<bool, String> {
        if self.accept("True") { Ok(true) } else { self.expect("False").map(|()| false) }
    }

    fn shape(&mut self) -> Result<Vec<usize>, String> {
        let mut shape = Vec::new();
        self.expect("(")?;
        while !self.accept(")") {
            self.rest = self.rest.trim_start();
            let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = self.rest.split_at(digits);
            let wrong = |_| format!("its shape has `{}`", shown(self.rest));
            shape.push(number.parse().map_err(wrong)?);
            // Python 2 wrote `3L`.
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            if !self.accept(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(shape)
    }

    fn text(&mut self) -> Result<&'a str, String> {
        let rest = self.rest.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let inside = quote.and_then(|quote| rest[1..].split_once(quote));
        let (text, rest) = inside.ok_or_else(|| format!("its header has `{}`", shown(rest)))?;
        self.rest = rest;
        Ok(text)
    }

    fn accept(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.accept(token) {
            return Ok(());
        }
        Err(format!("its header has `{}` where `{token}` belongs", shown(self.rest.trim_start())))
    }
}

fn element_of(descr: &str) -> Result<Element, String> {
    let unusable = |what: &str| Err(format!("it holds {what} (`{}`)", shown(descr)));
    let (order, kind) = match descr.chars().next() {
        Some(order @ ('<' | '>' | '|' | '=')) => (order, &descr[1..]),
        _ => ('=', descr),
    };
    let numeral = match kind {
        "f2" => Numeral::F2,
        "f4" => Numeral::F4,
        "f8" => Numeral::F8,
        "i1" => Numeral::I1,
        "i2" => Numeral::I2,
        "i4" => Numeral::I4,
        "i8" => Numeral::I8,
        "u1" => Numeral::U1,
        "u2" => Numeral::U2,
        "u4" => Numeral::U4,
        "u8" => Numeral::U8,
        "b1" | "?" => Numeral::Bool,
        _ => {
            return match kind.chars().next() {
                Some('O') => {
                    Err("it holds Python objects: pickle refused, for it can run any program"
                        .into())
                }
                Some('c') => unusable("complex numbers"),
                Some('S' | 'U' | 'a') => unusable("text"),
                Some('M' | 'm') => unusable("dates"),
                Some('V') => unusable("structures"),
                _ => unusable("numbers of a type that is not read here"),
            };
        }
    };
    let is_big_endian = match order {
        '>' => true,
        '<' | '|' => false,
        _ => cfg!(target_endian = "big"),
    };
    Ok(Element { numeral, is_big_endian })
}

/// The beginning of a text, for messages.
fn shown(text: &str) -> String {
    text.chars().take(20).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Result<Header, String> {
        let mut bytes = [MAGIC, &[1, 0], &(text.len() as u16).to_le_bytes()].concat();
        bytes.extend_from_slice(text.as_bytes());
        Header::parse(&bytes)
    }

    #[test]
    fn keys_come_in_any_order_and_quotes_of_both_kinds() {
        let found = header(r#"{"shape": (3L, 4L), 'fortran_order': True, 'descr': '>i2'}  "#);
        let expected = Header {
            element: Element { numeral: Numeral::I2, is_big_endian: true },
            is_fortran: true,
            n_rows: 3,
            n_columns: 4,
            data_at: 70,
        };
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn what_is_not_a_table_of_numbers_is_said() {
        let said = |descr: &str, shape: &str| {
            header(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"))
                .unwrap_err()
        };
        assert!(said("'|O'", "(1,)").contains("pickle refused"));
        assert!(said("[('a', '<f8')]", "(1,)").contains("structures"));
        assert!(said("'<f8'", "(-1, 2)").contains("`-1"));
        assert!(said("'<f8'", "(4294967296, 4294967296)").contains("larger than any memory"));
        assert!(said("'<f8'", "(2, 2, 2)").contains("3 dimensions"));
        assert!(said("'<f8'", "()").contains("single number"));
        assert!(said("'<c16'", "(1, 1)").contains("complex"));
        assert!(said("'<f16'", "(1, 1)").contains("not read"));
    }
}
