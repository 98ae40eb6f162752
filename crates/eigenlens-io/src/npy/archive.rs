//! The directory of a ZIP archive, as far as NPZ files need it: where the members are.
//!
//! Members are never extracted and their names never become paths. Two members of one name are an
//! error: readers differ on which of them counts.

use crate::error::Result;
use crate::positioned::InputFile;
use std::collections::HashSet;

/// One file in the archive.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) is_deflated: bool,
    pub(super) checksum: u32,
    /// Where its bytes are.
    pub(super) start: u64,
    pub(super) stored_bytes: u64,
    pub(super) n_bytes: u64,
}

/// All members, in the order of the directory.
pub(super) fn members(input: &InputFile) -> Result<Vec<Member>> {
    let directory = Directory::find(input)?;
    if directory.n_members > MOST_MEMBERS {
        return Err(input.content(format!(
            "the archive has {} members, at most {MOST_MEMBERS} are read",
            directory.n_members
        )));
    }
    let bytes = input.read(directory.start, directory.n_bytes)?;
    let mut rest = bytes.as_slice();
    let mut members = Vec::new();
    let mut names = HashSet::new();
    for _ in 0..directory.n_members {
        let member = entry(input, &mut rest)?;
        if !names.insert(member.name.clone()) {
            return Err(input.content(format!("the archive has two members `{}`", member.name)));
        }
        members.push(member);
    }
    Ok(members)
}

/// More arrays than anyone keeps in one file.
const MOST_MEMBERS: u64 = 100_000;

/// Deflate cannot do better than 1032.
const LARGEST_RATIO: u64 = 1100;

struct Directory {
    n_members: u64,
    start: u64,
    n_bytes: u64,
}

impl Directory {
    /// The end record is the last thing in the file, before a comment of at most 64 KiB.
    fn find(input: &InputFile) -> Result<Directory> {
        const END_BYTES: usize = 22;
        let n = input.n_bytes().min((END_BYTES + (1 << 16)) as u64);
        let tail_at = input.n_bytes() - n;
        let tail = input.read(tail_at, n)?;
        let end = (0..=tail.len().saturating_sub(END_BYTES)).rev().find(|&at| {
            let record = &tail[at..];
            record.starts_with(b"PK\x05\x06")
                && u16_at(record, 20).is_some_and(|n| END_BYTES + n as usize == record.len())
        });
        let Some(end) = end else {
            return Err(input.content("the archive has no directory: it is cut off"));
        };
        let record = &tail[end..];
        let fields = (u16_at(record, 10), u32_at(record, 12), u32_at(record, 16));
        let (Some(n_members), Some(n_bytes), Some(start)) = fields else {
            return Err(input.content("the archive's directory is cut off"));
        };
        if n_members == u16::MAX || n_bytes == u32::MAX || start == u32::MAX {
            return Self::find_long(input, tail_at + end as u64);
        }
        Ok(Directory { n_members: n_members.into(), start: start.into(), n_bytes: n_bytes.into() })
    }

    /// The record for large archives, which a locator before the end record points to.
    fn find_long(input: &InputFile, end_at: u64) -> Result<Directory> {
        let wrong = || input.content("the archive's directory cannot be found");
        let locator = input.read(end_at.checked_sub(20).ok_or_else(wrong)?, 20)?;
        let at = u64_at(&locator, 8).filter(|_| locator.starts_with(b"PK\x06\x07"));
        let record = input.read(at.ok_or_else(wrong)?, 56)?;
        let fields = (u64_at(&record, 32), u64_at(&record, 40), u64_at(&record, 48));
        match fields {
            (Some(n_members), Some(n_bytes), Some(start)) if record.starts_with(b"PK\x06\x06") => {
                Ok(Directory { n_members, start, n_bytes })
            }
            _ => Err(wrong()),
        }
    }
}

/// Takes one entry of the directory.
fn entry(input: &InputFile, rest: &mut &[u8]) -> Result<Member> {
    let cut_off = || input.content("the archive's directory is cut off");
    let bytes = *rest;
    if !bytes.starts_with(b"PK\x01\x02") {
        return Err(cut_off());
    }
    let short = |at| u16_at(bytes, at).ok_or_else(cut_off);
    let long = |at| u32_at(bytes, at).ok_or_else(cut_off);
    let name_end = 46 + short(28)? as usize;
    let extra_end = name_end + short(30)? as usize;
    let entry_end = extra_end + short(32)? as usize;
    let name = bytes.get(46..name_end).ok_or_else(cut_off)?;
    let name = String::from_utf8_lossy(name).into_owned();
    let wrong = |what: String| input.content(format!("member `{name}` of the archive {what}"));
    let is_deflated = match short(10)? {
        0 => false,
        8 => true,
        method => return Err(wrong(format!("is compressed by method {method}, not read here"))),
    };
    if short(8)? & 1 != 0 {
        return Err(wrong("is encrypted".into()));
    }
    // A size of 2^32 − 1 stands in the extra field instead, those that do in this order.
    let extra = bytes.get(name_end..extra_end).ok_or_else(cut_off)?;
    let mut large = large_sizes(extra);
    let mut size = |at| {
        let small = long(at)?;
        if small == u32::MAX { large.next().ok_or_else(cut_off) } else { Ok(u64::from(small)) }
    };
    let (n_bytes, stored_bytes) = (size(24)?, size(20)?);
    let header_at = size(42)?;
    let header = input.read(header_at, 30)?;
    let lengths = u16_at(&header, 26).zip(u16_at(&header, 28));
    let Some((name_length, extra_length)) = lengths.filter(|_| header.starts_with(b"PK\x03\x04"))
    else {
        return Err(wrong("is not where the directory says".into()));
    };
    let start = header_at + 30 + u64::from(name_length) + u64::from(extra_length);
    if start.checked_add(stored_bytes).is_none_or(|end| end > input.n_bytes()) {
        return Err(wrong("is longer than the file".into()));
    }
    let possible =
        if is_deflated { n_bytes / LARGEST_RATIO <= stored_bytes } else { n_bytes == stored_bytes };
    if !possible {
        return Err(wrong(format!("claims {n_bytes} bytes, made from {stored_bytes}")));
    }
    let checksum = long(16)?;
    *rest = bytes.get(entry_end..).ok_or_else(cut_off)?;
    Ok(Member { name, is_deflated, checksum, start, stored_bytes, n_bytes })
}

/// The 64-bit sizes among the extra fields of an entry.
fn large_sizes(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut sizes = Vec::new();
    while let (Some(tag), Some(length)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let end = 4 + length as usize;
        if let (1, Some(field)) = (tag, extra.get(4..end)) {
            sizes.extend(field.chunks_exact(8).filter_map(|bytes| u64_at(bytes, 0)));
        }
        extra = extra.get(end..).unwrap_or(&[]);
    }
    sizes.into_iter()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}
