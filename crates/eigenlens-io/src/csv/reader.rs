//! Readings of a text table: pieces parsed side by side, handed out in order.

use super::chunks::{Chunk, ChunkFault, Chunks};
use super::ledger::Ledger;
use super::parse::{Layout, Parsed};
use crate::error::{Error, Result};
use crate::source::{Block, BlockReader, Note};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// One reading, from the first record to the last.
///
/// Tasks of the current thread pool take turns: each reads (and decompresses) the next piece while
/// it alone holds the file, then parses it while the others read theirs. At most two pieces for
/// each thread exist at any time.
pub(super) struct CsvReader {
    shared: Arc<Shared>,
    ledger: Ledger,
    in_flight: usize,
    /// The number of the piece to be handed out next.
    next: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Reading,
    Ended,
    Failed,
}

struct Shared {
    layout: Layout,
    /// Records before the first row.
    n_header: usize,
    /// The file, and the number of the piece that comes next.
    chunks: Mutex<(Chunks, u64)>,
    bytes_read: AtomicU64,
    is_cancelled: AtomicBool,
    finished: Mutex<BTreeMap<u64, Outcome>>,
    one_more: Condvar,
    buffers: Mutex<Vec<Chunk>>,
}

enum Outcome {
    Rows(Vec<f64>, Parsed),
    End,
    Fault(ChunkFault),
    Panic(Box<dyn std::any::Any + Send>),
}

impl CsvReader {
    pub(super) fn new(chunks: Chunks, layout: Layout, n_header: usize, ledger: Ledger) -> Self {
        let shared = Shared {
            layout,
            n_header,
            chunks: Mutex::new((chunks, 0)),
            bytes_read: AtomicU64::new(0),
            is_cancelled: AtomicBool::new(false),
            finished: Mutex::default(),
            one_more: Condvar::new(),
            buffers: Mutex::default(),
        };
        Self { shared: Arc::new(shared), ledger, in_flight: 0, next: 0, state: State::Reading }
    }

    /// Keeps the tasks busy and waits for the next piece.
    fn next_outcome(&mut self) -> Outcome {
        while self.in_flight < 2 * rayon::current_num_threads() {
            let shared = self.shared.clone();
            rayon::spawn(move || shared.work());
            self.in_flight += 1;
        }
        let outcome = self.shared.wait_for(self.next);
        self.in_flight -= 1;
        self.next += 1;
        outcome
    }

    fn next_rows(&mut self) -> Result<Option<Block>> {
        loop {
            match self.next_outcome() {
                Outcome::Rows(numbers, parsed) => {
                    self.ledger.enter(&parsed)?;
                    if parsed.n_rows > 0 {
                        let shape = (parsed.n_rows, self.shared.layout.n_numbers);
                        let numbers = self.ledger.matrix(shape, numbers)?;
                        return Ok(Some(Block { numbers, labels: parsed.labels }));
                    }
                }
                Outcome::End => return self.ledger.end().map(|()| None),
                Outcome::Fault(fault) => return Err(self.ledger.fault(fault)),
                Outcome::Panic(payload) => resume_unwind(payload),
            }
        }
    }
}

impl BlockReader for CsvReader {
    fn next_block(&mut self) -> Result<Option<Block>> {
        match self.state {
            State::Ended => return Ok(None),
            // What came before a failure must not pass for the whole table.
            State::Failed => {
                let file = self.ledger.file().display();
                let what = format!("{file}: this reading has failed before");
                return Err(Error::Usage { what, hint: None });
            }
            State::Reading => {}
        }
        let result = self.next_rows();
        self.state = match &result {
            Ok(Some(_)) => State::Reading,
            Ok(None) => State::Ended,
            Err(_) => State::Failed,
        };
        result
    }

    fn bytes_read(&self) -> u64 {
        self.shared.bytes_read.load(Ordering::Relaxed)
    }

    fn findings(&self) -> Vec<Note> {
        self.ledger.findings()
    }
}

impl Drop for CsvReader {
    fn drop(&mut self) {
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    /// Reads and parses the next piece.
    fn work(&self) {
        if self.is_cancelled.load(Ordering::Relaxed) {
            return;
        }
        let mut number = None;
        let mut chunk = lock(&self.buffers).pop().unwrap_or_default();
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            let fed = {
                let mut chunks = lock(&self.chunks);
                number = Some(chunks.1);
                chunks.1 += 1;
                let fed = chunks.0.next(&mut chunk);
                self.bytes_read.store(chunks.0.bytes_read(), Ordering::Relaxed);
                fed
            };
            match fed {
                Ok(true) => self.parse(&chunk, number == Some(0)),
                Ok(false) => Outcome::End,
                Err(fault) => Outcome::Fault(fault),
            }
        }));
        lock(&self.buffers).push(chunk);
        // Only a panic before the number was drawn leaves none; then the next to be waited for will do.
        let number = number.unwrap_or(0);
        lock(&self.finished).insert(number, attempt.unwrap_or_else(Outcome::Panic));
        self.one_more.notify_all();
    }

    fn parse(&self, chunk: &Chunk, is_first: bool) -> Outcome {
        let mut parsed = Parsed::default();
        let skip = if is_first { self.n_header } else { 0 };
        let n = self.layout.n_numbers;
        let mut numbers = vec![0.0; n * Layout::rows_at_most(chunk.records(), skip)];
        self.layout.parse(chunk.padded(), chunk.len(), skip, &mut numbers, &mut parsed);
        numbers.truncate(n * parsed.n_rows);
        Outcome::Rows(numbers, parsed)
    }

    fn wait_for(&self, number: u64) -> Outcome {
        loop {
            if let Some(outcome) = lock(&self.finished).remove(&number) {
                return outcome;
            }
            // On a thread of the pool, waiting would keep one of its own tasks from running.
            if rayon::yield_now() == Some(rayon::Yield::Executed) {
                continue;
            }
            let mut finished = lock(&self.finished);
            loop {
                if let Some(outcome) = finished.remove(&number) {
                    return outcome;
                }
                finished = self.one_more.wait(finished).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
