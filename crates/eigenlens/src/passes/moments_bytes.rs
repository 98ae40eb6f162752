//! The byte form of [`Moments`]: little-endian, versioned, with a checksum.
//!
//! `EIGMOM` · version u16 · d u64 · rows u64 · Σw f64 · exponents i32 × d · mean f64 × d ·
//! low f64 × d · lower triangle of the scatter, row by row, f64 × d(d+1)/2 · FNV-1a u64 of all that.
//!
//! That is version 1. Version 2 has the names of the features before the checksum, each as its
//! length in bytes, u32, and its text in UTF-8. Moments without names are written as version 1.

use super::columns::Columns;
use super::moments::Moments;
use crate::error::{Error, Result};
use ndarray::Array2;

const MAGIC: &[u8; 6] = b"EIGMOM";
/// Without names and with them.
const VERSIONS: [u16; 2] = [1, 2];
const HEAD: usize = 6 + 2 + 8 + 8 + 8;

pub(super) fn write(moments: &Moments) -> Vec<u8> {
    let d = moments.n_features();
    let mut out = Vec::with_capacity(HEAD + d * 20 + d * (d + 1) * 4 + 8);
    out.extend_from_slice(MAGIC);
    let version = VERSIONS[usize::from(moments.feature_names.is_some())];
    out.extend_from_slice(&version.to_le_bytes());
    out.extend_from_slice(&(d as u64).to_le_bytes());
    out.extend_from_slice(&(moments.columns.rows as u64).to_le_bytes());
    out.extend_from_slice(&moments.columns.weight.to_le_bytes());
    for e in &moments.exponents {
        out.extend_from_slice(&e.to_le_bytes());
    }
    for v in moments.columns.mean_hi.iter().chain(&moments.columns.mean_lo) {
        out.extend_from_slice(&v.to_le_bytes());
    }
    for i in 0..d {
        for j in 0..=i {
            out.extend_from_slice(&moments.scatter[[i, j]].to_le_bytes());
        }
    }
    for name in moments.feature_names.iter().flatten() {
        out.extend_from_slice(&(name.len() as u32).to_le_bytes());
        out.extend_from_slice(name.as_bytes());
    }
    out.extend_from_slice(&checksum(&out).to_le_bytes());
    out
}

pub(super) fn read(bytes: &[u8]) -> Result<Moments> {
    let mut reader = Reader { rest: bytes };
    if reader.take::<6>()? != *MAGIC {
        return Err(bad("they do not begin with `EIGMOM`"));
    }
    let version = u16::from_le_bytes(reader.take()?);
    if !VERSIONS.contains(&version) {
        let [plain, named] = VERSIONS;
        return Err(bad(format!("version {version} is not known, only {plain} and {named}")));
    }
    let has_names = version == VERSIONS[1];
    let d = u64::from_le_bytes(reader.take()?);
    // The least length follows from d; nothing is allocated before it is known to be there.
    let least = (|| {
        let triangle = d.checked_mul(d.checked_add(1)?)? / 2;
        let each = if has_names { 24 } else { 20 };
        triangle.checked_mul(8)?.checked_add(d.checked_mul(each)?)?.checked_add(HEAD as u64 + 8)
    })();
    let found = bytes.len() as u64;
    if least.is_none_or(|least| found < least || (!has_names && found > least)) {
        return Err(bad(format!("{found} bytes do not fit {d} features")));
    }
    let (body, sum) = bytes.split_at(bytes.len() - 8);
    if sum != checksum(body).to_le_bytes() {
        return Err(bad("the checksum does not match"));
    }
    reader.rest = &body[body.len() + 8 - reader.rest.len()..];
    let d = d as usize;
    let rows = u64::from_le_bytes(reader.take()?) as usize;
    let weight = reader.number()?;
    if weight < 0.0 {
        return Err(bad("the number of samples is negative"));
    }
    let exponents =
        (0..d).map(|_| reader.take().map(i32::from_le_bytes)).collect::<Result<Vec<i32>>>()?;
    if exponents.iter().any(|e| e.unsigned_abs() > 1100) {
        return Err(bad("an exponent is out of range"));
    }
    let mean = (0..d).map(|_| reader.number()).collect::<Result<Vec<f64>>>()?;
    let low = (0..d).map(|_| reader.number()).collect::<Result<Vec<f64>>>()?;
    let mut scatter = Array2::zeros((d, d));
    for i in 0..d {
        for j in 0..=i {
            let value = reader.number()?;
            if i == j && value < 0.0 {
                return Err(bad("a sum of squares is negative"));
            }
            scatter[[i, j]] = value;
            scatter[[j, i]] = value;
        }
    }
    let feature_names =
        has_names.then(|| (0..d).map(|_| reader.text()).collect::<Result<Vec<String>>>());
    let feature_names = feature_names.transpose()?;
    if !reader.rest.is_empty() {
        return Err(bad(format!("{} bytes follow the last name", reader.rest.len())));
    }
    let squares = scatter.diag().to_vec();
    // Whether a column of tiny squares is constant was looked into before it was written.
    let varies = squares.iter().map(|s| *s > 0.0).collect();
    let columns = Columns { weight, rows, mean_hi: mean, mean_lo: low, squares, varies };
    Ok(Moments { columns, exponents, scatter, feature_names })
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) =
            self.rest.split_first_chunk().ok_or_else(|| bad("they end too early"))?;
        self.rest = rest;
        Ok(*head)
    }

    fn text(&mut self) -> Result<String> {
        let length = u32::from_le_bytes(self.take()?) as usize;
        let (text, rest) = (self.rest.split_at_checked(length))
            .ok_or_else(|| bad("a name is longer than the bytes"))?;
        self.rest = rest;
        String::from_utf8(text.to_vec()).map_err(|_| bad("a name is not UTF-8"))
    }

    fn number(&mut self) -> Result<f64> {
        let value = f64::from_le_bytes(self.take()?);
        if value.is_finite() { Ok(value) } else { Err(bad("a number is not finite")) }
    }
}

/// FNV-1a, 64 bit.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &b| {
        (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn bad(reason: impl Into<String>) -> Error {
    Error::Bytes { what: "moments", reason: reason.into() }
}
