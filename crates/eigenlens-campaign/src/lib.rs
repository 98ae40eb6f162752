//! Thousands of fits whose certificates are compared with the truth.
//!
//! A certificate is worth what its bounds are worth: none may be false, and none so wide that it says nothing. Every
//! family here draws data and requests from a seed, knows their true eigenpairs to thirty digits (in double-double
//! arithmetic from the stored numbers, or by construction) and compares every claim with them. Run as
//! `cargo xtask campaign`; a small version is one of the library's tests.

mod compare;
mod double_double;
mod exact;
mod families;
mod matrix;
mod problem;
mod random;
mod report;
mod truth;

pub use compare::{Check, Claim};
pub use families::{FAMILIES, Family, find};
pub use problem::Judged;
pub use report::{FamilyReport, Report};

use random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// About how many fits, over all families.
    pub fits: usize,
    /// One family alone.
    pub family: Option<&'static Family>,
    /// Seed of all data.
    pub seed: u64,
}

/// One case, and what came of it.
pub struct Outcome {
    /// Its family.
    pub family: &'static Family,
    /// Its number within the family: with the seed, all it takes to make it again.
    pub index: usize,
    /// The claims beside the truth, or why there was no fit.
    pub judged: Result<Judged, String>,
}

/// Runs the cases, one on each core at a time, and reports them in their order, whichever ends first. `progress` is
/// told how many are done, and of how many.
pub fn run(settings: &Settings, progress: &(dyn Fn(usize, usize) + Sync)) -> Report {
    let cases = cases(settings);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let outcomes = Mutex::new(Vec::with_capacity(cases.len()));
    // Plain threads: one of a pool's would take up another case while it waits for the fit of this one.
    let work = || {
        while let Some(&(family, index)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = run_case(family, index, settings.seed);
            if let Ok(mut outcomes) = outcomes.lock() {
                outcomes.push(outcome);
            }
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, cases.len());
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(work);
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    let place = |family: &Family| FAMILIES.iter().position(|f| f.name == family.name);
    outcomes.sort_by_key(|outcome: &Outcome| (place(outcome.family), outcome.index));
    Report::new(&outcomes)
}

/// The cases, those of all families in turn, so that slow families do not end the run alone.
fn cases(settings: &Settings) -> Vec<(&'static Family, usize)> {
    if let Some(family) = settings.family {
        return (0..settings.fits).map(|index| (family, index)).collect();
    }
    let shares: usize = FAMILIES.iter().map(|family| family.share).sum();
    let count = |family: &Family| (settings.fits * family.share).div_ceil(shares);
    let most = FAMILIES.iter().map(count).max().unwrap_or(0);
    let turn =
        |index: usize| FAMILIES.iter().filter(move |f| index < count(f)).map(move |f| (f, index));
    (0..most).flat_map(turn).collect()
}

/// One case; a panic is a finding like any other.
pub fn run_case(family: &'static Family, index: usize, seed: u64) -> Outcome {
    let mut random = Random::of_case(seed, family.name, index);
    let judged = catch_unwind(AssertUnwindSafe(|| (family.judge)(&mut random)));
    let judged = match judged {
        Ok(judged) => judged.map_err(|error| format!("error: {error}")),
        Err(_) => Err("panicked".into()),
    };
    Outcome { family, index, judged }
}
