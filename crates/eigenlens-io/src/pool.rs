//! The threads that read tables.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Arc, Mutex, PoisonError};

/// Runs `work` on threads of this process: those it is on already, else a pool kept for the purpose.
///
/// Not on the pool that rayon keeps for everybody: after a fork its threads are gone, and work given
/// to it would wait for ever.
pub(crate) fn run<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if rayon::current_thread_index().is_some() {
        return work();
    }
    match pool() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// `None` where the system gives no threads.
fn pool() -> Option<Arc<ThreadPool>> {
    /// The pool, and the process whose threads it has.
    static KEPT: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let process = std::process::id();
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((of, pool)) = &*kept
        && *of == process
    {
        return Some(pool.clone());
    }
    let pool = Arc::new(ThreadPoolBuilder::new().build().ok()?);
    // There is nobody left to end the threads of another process.
    std::mem::forget(kept.replace((process, pool.clone())));
    Some(pool)
}
