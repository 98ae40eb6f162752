//! The bytes of an array, wherever they are.

use super::archive::Member;
use super::header::Header;
use crate::budget;
use crate::error::{Error, Result};
use crate::positioned::{InputFile, PositionedRead};
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use rayon::prelude::*;
use std::io::{BufReader, Read};
use std::sync::Arc;

/// The numbers of an array as bytes; positions count from the first number.
pub(super) enum Bytes {
    /// In the file as they are.
    InPlace { input: Arc<InputFile>, at: u64 },
    /// Decompressed whole.
    Held(Vec<u8>),
    /// Decompressed on the way, from the first to the last.
    Inflating(Box<Inflater>),
}

impl Bytes {
    pub(super) fn in_place(input: Arc<InputFile>, at: u64) -> Bytes {
        Bytes::InPlace { input, at }
    }

    pub(super) fn held(
        input: &Arc<InputFile>,
        member: &Member,
        header: &Header,
        memory: Option<u64>,
    ) -> Result<Bytes> {
        let needed = header.data_bytes();
        let what = || format!("`{}`, deflated and in Fortran order,", member.name);
        budget::check(memory, needed, what)?;
        let mut bytes = budget::zeros(usize::try_from(needed).unwrap_or(usize::MAX), what)?;
        let mut inflater = Inflater::new(input, member);
        inflater.skip(header.data_at)?;
        inflater.fill(&mut bytes)?;
        inflater.finish()?;
        Ok(Bytes::Held(bytes))
    }

    pub(super) fn inflating(
        input: &Arc<InputFile>,
        member: &Member,
        header: &Header,
    ) -> Result<Bytes> {
        let mut inflater = Inflater::new(input, member);
        inflater.skip(header.data_at)?;
        Ok(Bytes::Inflating(Box::new(inflater)))
    }

    /// Fills `out` from a position; positions must rise without gaps where bytes are inflated.
    pub(super) fn fill(&mut self, position: u64, out: &mut [u8]) -> Result<()> {
        match self {
            Bytes::Inflating(inflater) => inflater.fill(out),
            shared => shared.fill_shared(position, out),
        }
    }

    /// The same for bytes at hand, by several threads at once.
    pub(super) fn fill_shared(&self, position: u64, out: &mut [u8]) -> Result<()> {
        match self {
            Bytes::InPlace { input, at } => {
                const PIECE: usize = 1 << 19;
                let pieces = out.par_chunks_mut(PIECE).enumerate();
                pieces.try_for_each(|(i, out)| input.fill(at + position + (i * PIECE) as u64, out))
            }
            Bytes::Held(bytes) => {
                let start = position as usize;
                if let Some(found) = bytes.get(start..start + out.len()) {
                    out.copy_from_slice(found);
                }
                Ok(())
            }
            Bytes::Inflating(inflater) => Err(inflater.wrong("is read out of order")),
        }
    }

    /// After the last number: whether all was as it should be.
    pub(super) fn finish(&mut self) -> Result<()> {
        if let Bytes::Inflating(inflater) = self { inflater.finish() } else { Ok(()) }
    }
}

/// The first bytes of a deflated member.
pub(super) fn beginning(input: &Arc<InputFile>, member: &Member, most: u64) -> Result<Vec<u8>> {
    let mut start = vec![0; member.n_bytes.min(most) as usize];
    Inflater::new(input, member).fill(&mut start)?;
    Ok(start)
}

/// All bytes of a member that must be short, checked.
pub(super) fn small(input: &Arc<InputFile>, member: &Member) -> Result<Vec<u8>> {
    if member.n_bytes > Header::MOST_BYTES as u64 {
        let (name, n) = (&member.name, member.n_bytes);
        return Err(input.content(format!("member `{name}` has {n} bytes, which cannot be right")));
    }
    if !member.is_deflated {
        check_stored(input, member)?;
        return input.read(member.start, member.n_bytes);
    }
    let mut bytes = vec![0; member.n_bytes as usize];
    let mut inflater = Inflater::new(input, member);
    inflater.fill(&mut bytes)?;
    inflater.finish()?;
    Ok(bytes)
}

/// Compares a stored member with its checksum.
pub(super) fn check_stored(input: &InputFile, member: &Member) -> Result<()> {
    let mut sum = Crc::new();
    let end = member.start + member.n_bytes;
    let mut at = member.start;
    while at < end {
        let n = (end - at).min(1 << 20);
        sum.update(&input.read(at, n)?);
        at += n;
    }
    check_sum(input, member, &sum)
}

fn check_sum(input: &InputFile, member: &Member, sum: &Crc) -> Result<()> {
    if sum.sum() == member.checksum {
        return Ok(());
    }
    Err(input.content(format!("member `{}` does not have its checksum", member.name)))
}

/// Decompresses a member from its beginning.
pub(super) struct Inflater {
    input: Arc<InputFile>,
    member: Member,
    decoder: DeflateDecoder<BufReader<PositionedRead>>,
    sum: Crc,
}

impl Inflater {
    fn new(input: &Arc<InputFile>, member: &Member) -> Inflater {
        let end = member.start + member.stored_bytes;
        let stored = PositionedRead::new(input.clone(), member.start, end);
        let decoder = DeflateDecoder::new(BufReader::with_capacity(1 << 16, stored));
        Inflater { input: input.clone(), member: member.clone(), decoder, sum: Crc::new() }
    }

    fn fill(&mut self, out: &mut [u8]) -> Result<()> {
        let filled = self.decoder.read_exact(out);
        filled.map_err(|error| self.wrong(&format!("cannot be decompressed: {error}")))?;
        self.sum.update(out);
        Ok(())
    }

    fn skip(&mut self, n_bytes: u64) -> Result<()> {
        // Headers are short: `Header::parse` sees to it.
        self.fill(&mut vec![0; n_bytes as usize])
    }

    /// After the last byte: that there are no more, and that they have their checksum.
    fn finish(&mut self) -> Result<()> {
        match self.decoder.read(&mut [0]) {
            Ok(0) => check_sum(&self.input, &self.member, &self.sum),
            Ok(_) => Err(self.wrong("is longer than it claims")),
            Err(error) => Err(self.wrong(&format!("cannot be decompressed: {error}"))),
        }
    }

    fn wrong(&self, what: &str) -> Error {
        self.input.content(format!("member `{}` {what}", self.member.name))
    }
}
