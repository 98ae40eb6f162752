//! Work without Python's lock that Ctrl-C can end.

use eigenlens::Cancel;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often Python is asked whether a signal came: soon enough for whoever waits, too seldom to be felt.
const EVERY: Duration = Duration::from_millis(50);

/// Runs `work` without Python's lock, on a thread of its own: this one, which may be Python's main thread,
/// looks for signals. Where a handler raises (Ctrl-C), the work is cancelled and the exception comes back.
pub fn detached<R: Send, E: Send>(
    py: Python,
    work: impl FnOnce() -> Result<R, E> + Send,
) -> PyResult<R>
where
    PyErr: From<E>,
{
    let cancel = Cancel::new();
    let (raised, ended) = py.detach(|| {
        std::thread::scope(|scope| {
            // The sender is dropped when the work ends, however it ends.
            let (running, ended) = channel::<()>();
            let worker = scope.spawn(|| {
                let _running = running;
                cancel.scope(work)
            });
            let mut raised = None;
            while raised.is_none() && ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                raised = Python::attach(|py| py.check_signals()).err();
            }
            if raised.is_some() {
                cancel.cancel();
            }
            (raised, worker.join())
        })
    });
    match (raised, ended) {
        (Some(raised), _) => Err(raised),
        (None, Ok(done)) => Ok(done?),
        (None, Err(panic)) => std::panic::resume_unwind(panic),
    }
}
