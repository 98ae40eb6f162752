//! A text table into memory: every piece is parsed straight into its place.

use super::chunks::{Chunk, ChunkFault, Chunks};
use super::ledger::Ledger;
use super::parse::{Layout, Parsed};
use crate::budget::reserve;
use crate::error::{Error, Result};
use crate::source::{Block, Labels, Note, Told};
use eigenlens::memory::try_bytes;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One reading of a table whose number of rows is not known.
///
/// Threads take turns: each reads the next piece while it alone holds the file, counts its lines,
/// which are at least as many as its rows, takes so much of the array, and parses into it while the
/// others read theirs.
pub(super) struct Whole<'a> {
    pub(super) chunks: Chunks,
    pub(super) layout: &'a Layout,
    /// Records before the first row.
    pub(super) n_header: usize,
    /// The length of the file, for `told`.
    pub(super) n_bytes: u64,
    pub(super) told: &'a Told<'a>,
}

impl Whole<'_> {
    /// Reads all of it; what the pieces held goes to the ledger.
    pub(super) fn read(self, rows_guess: usize, mut ledger: Ledger) -> Result<(Block, Vec<Note>)> {
        let n = self.layout.n_numbers;
        // A little more than the guess: memory that is never touched is never used, and most
        // guesses then need no second allocation.
        let expected = rows_guess.saturating_add(rows_guess / 64).saturating_add(1);
        let mut numbers = zeros(expected.saturating_mul(n))?;
        let mut feed = Feed {
            chunks: self.chunks,
            n_header: self.n_header,
            held: None,
            pieces: Vec::new(),
            n_rows: 0,
            is_over: false,
            fault: None,
        };
        loop {
            let rest = &mut numbers[n * feed.n_rows..];
            let turn = Mutex::new(Turn { feed: &mut feed, rest });
            rayon::scope(|scope| {
                for _ in 0..rayon::current_num_threads() {
                    scope.spawn(|_| work(self.layout, &turn, self.n_bytes, self.told));
                }
            });
            // After a fault nobody asks for the piece that found no room.
            let Some(held) = feed.held.as_ref().filter(|_| !feed.is_over) else { break };
            let more = n * Layout::rows_at_most(held.records(), feed.n_header);
            let more = more.max(numbers.len() / 16);
            extend(&mut numbers, more)?;
        }
        let mut labels = vec![Labels::default(); self.layout.n_labels];
        let mut n_rows = 0;
        for Piece { first, parsed } in &feed.pieces {
            ledger.enter(parsed)?;
            // Lines that were no rows have left gaps.
            if *first > n_rows {
                numbers.copy_within(n * first..n * (first + parsed.n_rows), n * n_rows);
            }
            n_rows += parsed.n_rows;
            for (all, more) in labels.iter_mut().zip(&parsed.labels) {
                all.append(more);
            }
        }
        if let Some(fault) = feed.fault {
            return Err(ledger.fault(fault));
        }
        ledger.end()?;
        numbers.truncate(n * n_rows);
        numbers.shrink_to_fit();
        let numbers = ledger.matrix((n_rows, n), numbers)?;
        Ok((Block { numbers, labels }, ledger.findings()))
    }
}

/// The file, and what has come of it so far.
struct Feed {
    chunks: Chunks,
    /// Records before the first row, until the first piece is taken.
    n_header: usize,
    /// A piece that found no room.
    held: Option<Chunk>,
    /// In the order of the file.
    pieces: Vec<Piece>,
    /// Rows of the array that are taken.
    n_rows: usize,
    is_over: bool,
    fault: Option<ChunkFault>,
}

struct Piece {
    /// The row of the array that is its first.
    first: usize,
    parsed: Parsed,
}

/// What a thread has while it is its turn.
struct Turn<'a> {
    feed: &'a mut Feed,
    /// The part of the array that is not taken.
    rest: &'a mut [f64],
}

/// A piece to be parsed.
struct Task<'a> {
    piece: usize,
    n_header: usize,
    room: &'a mut [f64],
}

fn work(layout: &Layout, turn: &Mutex<Turn>, n_bytes: u64, told: &Told) {
    let mut chunk = Chunk::default();
    loop {
        let Some(Task { piece, n_header, room }) = lock(turn).take(layout, &mut chunk) else {
            return;
        };
        let mut parsed = Parsed::default();
        layout.parse(chunk.padded(), chunk.len(), n_header, room, &mut parsed);
        let bytes_read = {
            let feed = &mut lock(turn).feed;
            feed.is_over |= parsed.fault.is_some();
            feed.pieces[piece].parsed = parsed;
            feed.chunks.bytes_read()
        };
        told(bytes_read as f64 / n_bytes.max(1) as f64);
    }
}

impl<'a> Turn<'a> {
    /// Reads the next piece and takes room for it; `None` when there is none of either.
    fn take(&mut self, layout: &Layout, chunk: &mut Chunk) -> Option<Task<'a>> {
        let feed = &mut *self.feed;
        if feed.is_over {
            return None;
        }
        match feed.held.take() {
            Some(held) => *chunk = held,
            None => match feed.chunks.next(chunk) {
                Ok(true) => {}
                end => {
                    feed.is_over = true;
                    feed.fault = end.err();
                    return None;
                }
            },
        }
        let n_rows = Layout::rows_at_most(chunk.records(), feed.n_header);
        let Some((room, rest)) =
            std::mem::take(&mut self.rest).split_at_mut_checked(n_rows * layout.n_numbers)
        else {
            feed.held = Some(std::mem::take(chunk));
            return None;
        };
        self.rest = rest;
        let piece = feed.pieces.len();
        feed.pieces.push(Piece { first: feed.n_rows, parsed: Parsed::default() });
        feed.n_rows += n_rows;
        Some(Task { piece, n_header: std::mem::take(&mut feed.n_header), room })
    }
}

/// Zeros that take memory only when they are written to.
fn zeros(n: usize) -> Result<Vec<f64>> {
    // Asked first, because the zeros themselves cannot be refused.
    let needed = 8u64.saturating_mul(n as u64);
    try_bytes(needed).map_err(|_| Error::OutOfMemory { what: TABLE.into(), needed })?;
    Ok(vec![0.0; n])
}

fn extend(numbers: &mut Vec<f64>, more: usize) -> Result<()> {
    reserve(numbers, more, || TABLE.into())?;
    numbers.resize(numbers.len() + more, 0.0);
    Ok(())
}

/// What the memory is for.
const TABLE: &str = "the table";

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
