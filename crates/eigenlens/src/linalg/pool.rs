//! Thread pools, built from the options and kept for the next fit.

use super::cancel;
use crate::error::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Runs `work` on a pool of `threads` threads (`None`: one for each core).
///
/// The count is always given to rayon explicitly: left to itself it would read the environment.
pub(crate) fn run<R: Send>(threads: Option<usize>, work: impl FnOnce() -> R + Send) -> Result<R> {
    let threads = threads.unwrap_or_else(cores);
    Ok(pool(threads)?.install(cancel::carried(work)))
}

/// The same for work of about so many multiplications: where waking other threads would take longer than
/// their help saves, on one. Nothing but time depends on it.
pub(crate) fn run_sized<R: Send>(
    threads: Option<usize>,
    multiplications: f64,
    work: impl FnOnce() -> R + Send,
) -> Result<R> {
    const WORTH_WAKING: f64 = 4e6;
    run(if multiplications < WORTH_WAKING { Some(1) } else { threads }, work)
}

/// Runs `work`, whose threads wait for each other in a loop, on the pool of whoever calls; where that has
/// more threads than there are cores, or there is none, on one that has as many.
pub(crate) fn run_within_cores<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if rayon::current_thread_index().is_some() && rayon::current_num_threads() <= cores() {
        return work();
    }
    match pool(cores()) {
        Ok(pool) => pool.install(cancel::carried(work)),
        Err(_) => work(),
    }
}

fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
}

/// Process and threads: after a fork the threads of a pool are gone, and work given to it would wait
/// forever.
type Key = (u32, usize);

fn pool(threads: usize) -> Result<Arc<ThreadPool>> {
    static POOLS: OnceLock<Mutex<HashMap<Key, Arc<ThreadPool>>>> = OnceLock::new();
    let key = (std::process::id(), threads);
    let mut pools =
        POOLS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&key) {
        return Ok(pool.clone());
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("eigenlens-{index}"))
        .build()
        .map_err(|e| Error::Internal(format!("no thread pool: {e}")))?;
    let pool = Arc::new(pool);
    pools.insert(key, pool.clone());
    Ok(pool)
}
