//! Work that threads take as they come to it, with results that are taken in order.

use super::cancel;
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Does `work` for every item, on the threads of the pool that are free, and hands what it returns to `take`
/// in the order of the items: sums have the same bits for any number of threads. A thread takes the next item as
/// it comes to it, and waits for others only where it is too far ahead of them. The first error, in the order
/// of the items, ends it; so does cancellation.
///
/// `work` has something of its own thread (from `begin`), its item, and the number of the item that the same
/// thread is likely to do next. It must not wait for other work of the pool. No more than `ahead` results wait
/// to be taken.
pub(crate) fn ordered_reduce<I: Send, S, R: Send>(
    items: impl ExactSizeIterator<Item = I> + Send,
    ahead: usize,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I, usize) -> Result<R> + Sync,
    take: impl FnMut(R) + Send,
) -> Result<()> {
    let threads = rayon::current_num_threads().min(items.len());
    let (items, cancel) = (Mutex::new(items.enumerate()), cancel::current());
    let results = Results {
        state: Mutex::new(State { taken: 0, waiting: BTreeMap::new(), stopped: None, take }),
        changed: Condvar::new(),
    };
    // Shares that no other thread has begun are done by this one: it never waits for a thread that is busy
    // with something else.
    (0..threads).into_par_iter().with_max_len(1).for_each(|_| {
        let mut own = begin();
        let next = || lock(&items).next();
        while let Some((index, item)) = next() {
            if !results.has_room_for(index, ahead) {
                return;
            }
            let mut share = Share { results: &results, done: false };
            let result = cancel.check().and_then(|()| work(&mut own, item, index + threads));
            results.add(index, result);
            share.done = true;
        }
    });
    let state = results.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match state.stopped {
        Some(Some(error)) => Err(error),
        _ => Ok(()),
    }
}

/// Results on their way.
struct Results<R, F> {
    state: Mutex<State<R, F>>,
    changed: Condvar,
}

struct State<R, F> {
    /// How many have been taken.
    taken: usize,
    waiting: BTreeMap<usize, Result<R>>,
    /// Set when nothing more is to be done, with the error if there was one.
    stopped: Option<Option<Error>>,
    take: F,
}

impl<R, F: FnMut(R)> Results<R, F> {
    /// Waits until the result of an item may be added; never, where the work has ended.
    fn has_room_for(&self, index: usize, ahead: usize) -> bool {
        let mut state = lock(&self.state);
        // Whoever has the next item to be taken does not wait here.
        while state.stopped.is_none() && index >= state.taken + ahead.max(1) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.stopped.is_none()
    }

    fn add(&self, index: usize, result: Result<R>) {
        let mut state = lock(&self.state);
        let State { taken, waiting, stopped, take } = &mut *state;
        waiting.insert(index, result);
        while let Some(result) = waiting.remove(taken).filter(|_| stopped.is_none()) {
            *taken += 1;
            match result {
                Ok(result) => take(result),
                Err(error) => *stopped = Some(Some(error)),
            }
        }
        drop(state);
        self.changed.notify_all();
    }
}

/// An item in work. Where it panics the other threads are let go, which would wait for its result.
struct Share<'r, R, F> {
    results: &'r Results<R, F>,
    done: bool,
}

impl<R, F> Drop for Share<'_, R, F> {
    fn drop(&mut self) {
        if !self.done {
            lock(&self.results.state).stopped.get_or_insert(None);
            self.results.changed.notify_all();
        }
    }
}

fn lock<S>(state: &Mutex<S>) -> MutexGuard<'_, S> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::pool;
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_order_and_not_too_many_wait() {
        for threads in [1, 2, 5] {
            let (begun, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let mut found = Vec::new();
            let work = |_: &mut (), i: usize, next: usize| {
                assert!(next > i);
                assert!(i < taken.load(Ordering::SeqCst) + 3, "{i} is too far ahead");
                begun.fetch_add(1, Ordering::SeqCst);
                // The first of every few take the longest.
                let steps = if i.is_multiple_of(4) { 20_000 } else { 10 };
                assert!((0..steps).map(std::hint::black_box).sum::<usize>() > 0);
                Ok(i)
            };
            let take = |i| {
                found.push(i);
                taken.fetch_add(1, Ordering::SeqCst);
            };
            pool::run(Some(threads), || ordered_reduce(0..200, 3, || (), work, take))
                .unwrap()
                .unwrap();
            assert_eq!(found, (0..200).collect::<Vec<_>>());
            assert_eq!(begun.into_inner(), 200);
        }
    }

    #[test]
    fn the_first_error_in_order_is_the_one() {
        for threads in [1, 3] {
            let mut sum = 0;
            let work = |_: &mut (), i: usize, _: usize| {
                if i >= 7 { Err(Error::Internal(i.to_string())) } else { Ok(i) }
            };
            let run = || ordered_reduce(0..100, 16, || (), work, |i| sum += i);
            let ended = pool::run(Some(threads), run).unwrap();
            assert!(matches!(ended, Err(Error::Internal(i)) if i == "7"));
            assert_eq!(sum, 21);
        }
    }

    /// Threads that wait for something of their own are not waited for.
    #[test]
    fn a_thread_that_is_busy_is_left_alone() {
        let (begun, ended) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                pool::run(Some(2), || {
                    begun.wait();
                    ended.wait();
                })
            });
            begun.wait();
            let mut sum = 0;
            let work = |_: &mut (), i: usize, _: usize| Ok(i);
            let run = || ordered_reduce(0..100, 4, || (), work, |i| sum += i);
            pool::run(Some(2), run).unwrap().unwrap();
            assert_eq!(sum, 4950);
            ended.wait();
        });
    }

    #[test]
    fn what_is_cancelled_ends_with_an_error() {
        let cancel = cancel::Cancel::new();
        let work = |_: &mut (), i: usize, _: usize| {
            if i == 20 {
                cancel.cancel();
            }
            Ok(i)
        };
        let mut taken = 0;
        let run = || ordered_reduce(0..1000, 4, || (), work, |_| taken += 1);
        let ended = cancel.scope(|| pool::run(Some(2), run)).unwrap();
        assert!(matches!(ended, Err(Error::Cancelled)));
        assert!((20..30).contains(&taken), "{taken} were taken");
    }

    #[test]
    fn a_panic_ends_the_others() {
        let work = |_: &mut (), i: usize, _: usize| {
            assert!(i != 5);
            Ok(())
        };
        let run = || pool::run(Some(2), || ordered_reduce(0..1000, 4, || (), work, |()| ()));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
