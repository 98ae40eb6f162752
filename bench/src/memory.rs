//! How much memory a piece of work needs beyond what was there before it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use std::{fs, io, thread};

/// Runs `work` and also returns by how many bytes the process grew at its peak.
///
/// This is the kernel's own high-water mark, reset before the work. It counts the pages of mapped
/// files too, which can be dropped at any time; so with `mapped_file` the anonymous memory is
/// sampled instead.
pub fn peak_growth<R>(mapped_file: bool, work: impl FnOnce() -> R) -> io::Result<(R, u64)> {
    if mapped_file {
        return sampled_growth(work);
    }
    // Where the mark cannot be reset, its own growth is what can be known.
    let reset = fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = status_bytes(if reset { "VmRSS" } else { "VmHWM" })?;
    let result = work();
    Ok((result, status_bytes("VmHWM")?.saturating_sub(before)))
}

fn sampled_growth<R>(work: impl FnOnce() -> R) -> io::Result<(R, u64)> {
    let before = status_bytes("RssAnon")?;
    let peak = AtomicU64::new(before);
    let done = AtomicBool::new(false);
    let sample = || {
        if let Ok(now) = status_bytes("RssAnon") {
            peak.fetch_max(now, Ordering::Relaxed);
        }
    };
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                sample();
                thread::sleep(Duration::from_millis(5));
            }
        });
        // On a panic too, or the scope would wait for the sampler for ever.
        let _stop = OnDrop(|| done.store(true, Ordering::Relaxed));
        let result = work();
        sample();
        result
    });
    Ok((result, peak.into_inner() - before))
}

/// Calls a function when it goes out of scope.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A size from `/proc/self/status`.
fn status_bytes(field: &str) -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    status
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
        .map(|kibibytes| kibibytes * 1024)
        .ok_or_else(|| io::Error::other(format!("`{field}` is not in /proc/self/status")))
}
