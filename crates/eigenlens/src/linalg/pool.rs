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
    let threads =
        threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    Ok(pool(threads)?.install(cancel::carried(work)))
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
