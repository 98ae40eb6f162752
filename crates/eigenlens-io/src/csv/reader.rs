//! Readings of a text table: pieces parsed side by side, handed out in order.

use super::chunks::{Chunk, ChunkFault, Chunks};
use super::parse::{BadRows, Fault, Layout, Parsed};
use crate::error::{Error, Place, Result};
use crate::source::{Block, BlockReader, Note, Numbers};
use ndarray::Array2;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// One reading, from the first record to the last.
///
/// Tasks of the current thread pool take turns: each reads (and decompresses) the next piece while
/// it alone holds the file, then parses it while the others read theirs. At most two pieces for
/// each thread exist at any time.
pub(super) struct CsvReader {
    shared: Arc<Shared>,
    what: Described,
    in_flight: usize,
    /// The number of the piece to be handed out next.
    next: u64,
    state: State,
    lines: u64,
    bad_rows: BadRows,
    n_rounded: u64,
    n_rows: u64,
}

/// What messages need to know.
#[derive(Clone, Debug)]
pub(super) struct Described {
    /// The file.
    pub(super) file: PathBuf,
    /// The names of all columns.
    pub(super) names: Arc<[String]>,
}

impl Described {
    fn error(&self, fault: &Fault, lines_before: u64) -> Error {
        let column = fault.column.map(|column| match self.names.get(column) {
            Some(name) => format!("`{}`", name.escape_debug()),
            None => (column + 1).to_string(),
        });
        let line = Some(lines_before + fault.line + 1);
        let place = Place { line, row: None, column };
        Error::Content { file: self.file.clone(), place, what: fault.what.clone() }
    }
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
    /// The most numbers a piece has held so far: what the next will need.
    most_numbers: AtomicUsize,
    is_cancelled: AtomicBool,
    finished: Mutex<BTreeMap<u64, Outcome>>,
    one_more: Condvar,
    buffers: Mutex<Vec<Chunk>>,
}

enum Outcome {
    Rows(Parsed),
    End,
    Fault(ChunkFault),
    Panic(Box<dyn std::any::Any + Send>),
}

impl CsvReader {
    pub(super) fn new(chunks: Chunks, layout: Layout, n_header: usize, what: Described) -> Self {
        let shared = Shared {
            layout,
            n_header,
            chunks: Mutex::new((chunks, 0)),
            bytes_read: AtomicU64::new(0),
            most_numbers: AtomicUsize::new(0),
            is_cancelled: AtomicBool::new(false),
            finished: Mutex::default(),
            one_more: Condvar::new(),
            buffers: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
            what,
            in_flight: 0,
            next: 0,
            state: State::Reading,
            lines: 0,
            bad_rows: BadRows::default(),
            n_rounded: 0,
            n_rows: 0,
        }
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
                Outcome::Rows(parsed) => {
                    let lines_before = self.lines;
                    self.lines += parsed.n_lines;
                    self.n_rounded += parsed.n_rounded;
                    self.n_rows += parsed.n_rows as u64;
                    self.bad_rows.count += parsed.bad_rows.count;
                    if let (None, Some(first)) = (&self.bad_rows.first, &parsed.bad_rows.first) {
                        let line = lines_before + first.line;
                        self.bad_rows.first = Some(Fault { line, ..first.clone() });
                    }
                    if let Some(fault) = &parsed.fault {
                        return Err(self.what.error(fault, lines_before));
                    }
                    if parsed.n_rows > 0 {
                        return block(parsed, self.shared.layout.n_numbers, &self.what.file)
                            .map(Some);
                    }
                }
                Outcome::End if self.n_rows == 0 => {
                    let what = String::from("there are no rows");
                    let place = Place::default();
                    return Err(Error::Content { file: self.what.file.clone(), place, what });
                }
                Outcome::End => return Ok(None),
                Outcome::Fault(ChunkFault::Input(error)) => return Err(error),
                Outcome::Fault(ChunkFault::Record { line, what }) => {
                    let fault = Fault { line, column: None, what, is_fatal: true };
                    return Err(self.what.error(&fault, self.lines));
                }
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
                let what = format!("{}: this reading has failed before", self.what.file.display());
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
        let mut notes = Vec::new();
        let file = self.what.file.display();
        if let Some(first) = &self.bad_rows.first {
            let (count, line) = (self.bad_rows.count, first.line + 1);
            notes.push(Note {
                what: String::from("rows left out"),
                found: format!("{file}: {count}; the first is line {line}: {}", first.what),
            });
        }
        if self.n_rounded > 0 {
            notes.push(Note {
                what: String::from("whole numbers beyond 2^53"),
                found: format!("{file}: {} were rounded to double precision", self.n_rounded),
            });
        }
        notes
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
                Ok(true) => Outcome::Rows(self.parse(&chunk, number == Some(0))),
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

    fn parse(&self, chunk: &Chunk, is_first: bool) -> Parsed {
        let mut parsed = Parsed::default();
        let skip = if is_first { self.n_header } else { 0 };
        let expected = self.most_numbers.load(Ordering::Relaxed);
        parsed.numbers.reserve_exact(expected + expected / 32);
        self.layout.parse(chunk.padded(), chunk.len(), skip, &mut parsed);
        self.most_numbers.fetch_max(parsed.numbers.len(), Ordering::Relaxed);
        parsed
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

fn block(parsed: Parsed, columns: usize, file: &Path) -> Result<Block> {
    let numbers =
        Array2::from_shape_vec((parsed.n_rows, columns), parsed.numbers).map_err(|e| {
            Error::Content { file: file.to_owned(), place: Place::default(), what: e.to_string() }
        })?;
    Ok(Block { numbers: Numbers::F64(numbers), labels: parsed.labels })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
