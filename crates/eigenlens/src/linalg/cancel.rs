//! Cancellation: work that nobody waits for any more ends at its next step.

use crate::error::{Error, Result};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends fits from another thread: those begun with it fail with [`Error::Cancelled`] at their next step.
/// Clones are the same token.
///
/// ```
/// use eigenlens::{AnyDataset, Cancel, Dataset, Error, Estimator, FitContext, Pca, ndarray};
/// let x = ndarray::array![[2.5, 2.4], [0.5, 0.7], [2.2, 2.9], [1.9, 2.2], [3.1, 3.0]];
/// let cancel = Cancel::new();
/// cancel.cancel(); // from whichever thread
/// let estimator: Box<dyn Estimator> = Box::new(Pca::new(1));
/// let mut context = FitContext::new().with_cancel(&cancel);
/// let ended = estimator.fit(&AnyDataset::from(Dataset::from(&x)), &mut context);
/// assert!(matches!(ended, Err(Error::Cancelled)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A token that has not been used.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Ends what was begun with this token.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`Cancel::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Runs `work`, whose steps look at this token.
    pub fn scope<R>(&self, work: impl FnOnce() -> R) -> R {
        with(Some(self.clone()), work)
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

thread_local! {
    /// The token of the work that this thread drives. A signature for it would have to go through every
    /// function between a surface and a loop.
    static CURRENT: RefCell<Option<Cancel>> = const { RefCell::new(None) };
}

/// The token of the work that this thread drives. Parts of a parallel loop take it along: the thread that
/// runs one may be driving other work.
pub(crate) fn current() -> Cancel {
    CURRENT.with_borrow(|current| current.clone()).unwrap_or_default()
}

/// An error once the work that this thread drives was cancelled: for the steps of sequential loops.
pub(crate) fn check() -> Result<()> {
    CURRENT.with_borrow(|current| current.as_ref().map_or(Ok(()), Cancel::check))
}

/// Takes the caller's token along to whichever thread runs `work`.
pub(super) fn carried<R>(work: impl FnOnce() -> R + Send) -> impl FnOnce() -> R + Send {
    let token = CURRENT.with_borrow(Option::clone);
    move || with(token, work)
}

fn with<R>(token: Option<Cancel>, work: impl FnOnce() -> R) -> R {
    let _before = Restore(CURRENT.replace(token));
    work()
}

/// Puts the token of before back, also when the work panics.
struct Restore(Option<Cancel>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

#[cfg(test)]
mod tests {
    use super::super::pool;
    use super::*;

    #[test]
    fn a_token_reaches_the_pool_and_no_further_than_its_scope() {
        let token = Cancel::new();
        token.scope(|| {
            check().unwrap();
            token.cancel();
            assert!(check().is_err());
            assert!(pool::run(Some(2), check).unwrap().is_err());
            Cancel::new().scope(|| check().unwrap());
            assert!(check().is_err());
        });
        check().unwrap();
        pool::run(Some(2), check).unwrap().unwrap();
    }

    #[test]
    fn a_panic_leaves_no_token_behind() {
        let token = Cancel::new();
        token.cancel();
        let panics = || token.scope(|| -> () { panic!("on purpose") });
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        check().unwrap();
    }
}
