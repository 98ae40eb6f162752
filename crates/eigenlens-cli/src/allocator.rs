//! The memory of the program: counted where there is a budget, and where there is no more, an end with a sentence.
//!
//! Plans and readers say beforehand what they need and keep to it. This is for what they cannot know, above all
//! for code of others, which would abort: a budget is never exceeded, whoever asks.

use crate::options::Bytes;
use eigenlens::memory::{may_fail, only_asks};
use eigenlens_io::Budget;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

/// The allocator of the system, within a budget.
pub struct Allocator;

const UNLIMITED: isize = isize::MAX;

/// The bytes that may be in use.
static LIMIT: AtomicIsize = AtomicIsize::new(UNLIMITED);

/// The bytes in use since there is a limit; those of before may be given back, too.
static IN_USE: AtomicIsize = AtomicIsize::new(0);

/// What the program's own pages, its threads' stacks and the gaps between allocations take, of what is set aside
/// for the program with its readers.
const NOT_COUNTED: u64 = 14 << 20;

/// Keeps everything that is allocated from now on within a budget.
pub fn keep_within(Bytes(budget): Bytes) -> Result<(), eigenlens_io::Error> {
    Budget::new(Some(budget))?;
    let limit = isize::try_from(budget - NOT_COUNTED).unwrap_or(UNLIMITED);
    LIMIT.store(limit, Relaxed);
    Ok(())
}

/// faer keeps a packing buffer of twice the last-level cache for each thread that multiplies, of which it
/// touches what a product needs: it is told by its alignment, and not counted. Neither is what a plan only asks
/// the system for, which is within the budget by itself.
fn is_counted(layout: Layout) -> bool {
    layout.align() < 4096 && LIMIT.load(Relaxed) != UNLIMITED && !only_asks()
}

/// What the system's allocator takes for so many bytes.
fn with_overhead(size: usize) -> isize {
    (size.saturating_add(24) & !15).min(isize::MAX as usize) as isize
}

/// Counts bytes, if there are so many left.
fn take(size: isize) -> bool {
    let before = IN_USE.fetch_add(size, Relaxed);
    let is_within = before.saturating_add(size) <= LIMIT.load(Relaxed);
    if !is_within {
        IN_USE.fetch_sub(size, Relaxed);
    }
    is_within
}

fn give_back(layout: Layout, size: isize) {
    if is_counted(layout) {
        IN_USE.fetch_sub(size, Relaxed);
    }
}

/// Memory for a layout: counted, then asked for.
fn allocate(layout: Layout, ask: impl FnOnce() -> *mut u8) -> *mut u8 {
    let size = with_overhead(layout.size());
    if is_counted(layout) && !take(size) {
        return refuse(layout.size());
    }
    let memory = ask();
    if memory.is_null() {
        give_back(layout, size);
        return refuse(layout.size());
    }
    memory
}

// SAFETY: every call is passed on to the system's allocator unchanged, or answered with null.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        allocate(layout, || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        allocate(layout, || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        give_back(layout, with_overhead(layout.size()));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Large buffers grow where they are or by remapping their pages: they are there once.
        let more = with_overhead(size) - with_overhead(layout.size());
        if more > 0 && is_counted(layout) && !take(more) {
            return refuse(size);
        }
        // SAFETY: the caller's promise is passed on.
        let new = unsafe { System.realloc(memory, layout, size) };
        if new.is_null() {
            give_back(layout, more.max(0));
            return refuse(size);
        }
        give_back(layout, (-more).max(0));
        new
    }
}

/// Null for those who can do without; for all others this is the end, as they would abort.
fn refuse(size: usize) -> *mut u8 {
    if !may_fail() {
        end(size);
    }
    std::ptr::null_mut()
}

/// Says why, and ends the process without another allocation: files that are not complete have no name, or
/// one that the next run removes.
fn end(size: usize) -> ! {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    if IS_ENDING.swap(true, Relaxed) {
        // Another thread is at it.
        loop {
            std::thread::yield_now();
        }
    }
    let mut text = [0u8; 256];
    let room = text.len();
    let mut rest = &mut text[..];
    // Numbers are written without memory, and the sentence is shorter than its room.
    let _ = match LIMIT.load(Relaxed) {
        UNLIMITED => writeln!(rest, "error: the system has no memory for {size} bytes more"),
        limit => writeln!(
            rest,
            "error: {size} bytes more do not fit into the {} MiB that the budget leaves for data\n\
             hint: use a larger `--memory`",
            limit >> 20
        ),
    };
    let length = room - rest.len();
    #[cfg(unix)]
    // SAFETY: the bytes are there; nothing of this process runs after the second call.
    unsafe {
        libc::write(2, text.as_ptr().cast(), length);
        libc::_exit(71)
    }
    #[cfg(not(unix))]
    {
        let _ = std::io::stderr().write_all(&text[..length]);
        std::process::exit(71)
    }
}
