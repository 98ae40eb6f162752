//! Which route, and why; what it will cost. Never looks at the number of threads.
//!
//! A method states the routes it could take ([`Candidate`]); [`cheapest`] picks one within the budget.

mod covariance;
mod route;

pub(crate) use covariance::{Beside, CovarianceTask, likely_applications};
pub use route::Route;

use crate::error::{Bytes, Error, Result};
use crate::memory;
use crate::n_components::NComponents;
use std::fmt;

/// What will be done, known before the first row is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The route.
    pub route: Route,
    /// Why this one.
    pub reason: String,
    /// Passes over the data, where they can be counted beforehand; an iteration states its likely
    /// number.
    pub passes: usize,
    /// Bytes allocated at the peak, beyond the data and the scores returned: with as many components as the
    /// budget has room for, where their number depends on the data.
    pub peak_memory: u64,
    /// The same with as many components as are likely: what a program may count on where it decides
    /// whether the data stay in memory. The number asked for is as likely as can be.
    pub likely_memory: u64,
}

impl Plan {
    /// The same, if the system has the memory that is likely to be needed: asked before the first row is read.
    pub(crate) fn reserved(self) -> Result<Plan> {
        memory::check(&self.route.in_words(), self.likely_memory)?;
        Ok(self)
    }

    /// Of a route that needs as much memory as is likely.
    pub(crate) fn new(route: Route, reason: String, passes: usize, peak_memory: u64) -> Plan {
        Plan { route, reason, passes, peak_memory, likely_memory: peak_memory }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passes = if self.passes == 1 { "pass" } else { "passes" };
        let about = if matches!(self.route, Route::Iterative | Route::Em) { "about " } else { "" };
        write!(
            f,
            "{} route ({}): {about}{} {passes} over the data, at most {} of memory",
            self.route,
            self.reason,
            self.passes,
            Bytes(self.peak_memory)
        )
    }
}

/// A route that a method could take, and what it would cost.
pub(crate) struct Candidate<'a> {
    pub route: Route,
    /// Seconds on a nominal machine, or an order of preference: only their order matters.
    pub cost: f64,
    /// Passes over the data.
    pub passes: usize,
    /// Why it is taken.
    pub reason: String,
    /// Why, where a cheaper one is not within the budget.
    pub second: Option<String>,
    /// Bytes allocated at the peak with so many components.
    pub memory: Box<dyn Fn(usize) -> u64 + 'a>,
}

impl<'a> Candidate<'a> {
    /// Of no cost: the only one, or the first choice.
    pub fn new(
        route: Route,
        reason: String,
        passes: usize,
        memory: impl Fn(usize) -> u64 + 'a,
    ) -> Candidate<'a> {
        Candidate { route, cost: 0.0, passes, reason, second: None, memory: Box::new(memory) }
    }
}

/// What a plan must have room for.
pub(crate) struct Demand<'a> {
    pub n_components: &'a NComponents,
    /// So many components are likely.
    pub likely: usize,
    /// More than these there cannot be.
    pub limit: usize,
    pub budget: Option<u64>,
}

/// The error for more components than the budget has room for.
pub(crate) fn too_many(route: Route, k: usize, needed: u64, budget: Option<u64>) -> Error {
    let route = format!("{} with {k} components", route.in_words());
    Error::Memory { route, needed, budget: budget.unwrap_or(u64::MAX) }
}

/// The plan of a method with one route, whose memory does not depend on the components found.
pub(crate) fn only(
    route: Route,
    reason: String,
    passes: usize,
    memory: u64,
    budget: Option<u64>,
) -> Result<Plan> {
    let n_components = &NComponents::All;
    let demand = Demand { n_components, likely: 0, limit: 0, budget };
    cheapest(&[Candidate::new(route, reason, passes, |_| memory)], &demand)
}

/// The cheapest route within the budget; the error tells what the leanest one needs.
pub(crate) fn cheapest(candidates: &[Candidate], demand: &Demand) -> Result<Plan> {
    let budget = demand.budget.unwrap_or(u64::MAX);
    let needed = |c: &Candidate| (c.memory)(demand.likely);
    let cheapest_of = |fits: &dyn Fn(&&Candidate) -> bool| {
        let fitting = candidates.iter().enumerate().filter(|(_, c)| fits(c));
        fitting.min_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost)).map(|(at, _)| at)
    };
    let first = cheapest_of(&|_| true);
    let Some(at) = cheapest_of(&|c| needed(c) <= budget) else {
        let Some(leanest) = candidates.iter().min_by_key(|c| needed(c)) else {
            return Err(Error::Internal("a method without a route".into()));
        };
        let (route, needed) = (leanest.route.in_words(), needed(leanest));
        return Err(Error::Memory { route, needed, budget });
    };
    let chosen = &candidates[at];
    let reason = match &chosen.second {
        Some(second) if first != Some(at) => second,
        _ => &chosen.reason,
    };
    let mut plan = Plan::new(chosen.route, reason.clone(), chosen.passes, needed(chosen));
    if demand.n_components.grows() {
        // As many as the budget has room for may be needed.
        let most = most_within(demand.budget, demand.limit, &chosen.memory);
        plan.peak_memory = plan.likely_memory.max((chosen.memory)(most));
    }
    Ok(plan)
}

/// The most components, up to `limit`, whose memory is within the budget.
pub(crate) fn most_within(
    budget: Option<u64>,
    limit: usize,
    memory: impl Fn(usize) -> u64,
) -> usize {
    let Some(budget) = budget else { return limit };
    let (mut fits, mut too_many) = (0, limit.saturating_add(1));
    while too_many - fits > 1 {
        let k = fits + (too_many - fits) / 2;
        if memory(k) <= budget { fits = k } else { too_many = k }
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates() -> Vec<Candidate<'static>> {
        let of = |route, cost, each: u64| Candidate {
            cost,
            second: Some("leaner".into()),
            ..Candidate::new(route, "cheap".into(), 1, move |k| 100 + each * k as u64)
        };
        vec![of(Route::Covariance, 1.0, 50), of(Route::Svd, 3.0, 1), of(Route::Iterative, 2.0, 10)]
    }

    fn picked(n_components: NComponents, budget: Option<u64>) -> Result<Plan> {
        let likely = n_components.likely(20);
        let demand = Demand { n_components: &n_components, likely, limit: 20, budget };
        cheapest(&candidates(), &demand)
    }

    #[test]
    fn the_cheapest_within_the_budget() {
        let plan = picked(NComponents::Fixed(10), None).unwrap();
        assert_eq!((plan.route, plan.reason.as_str()), (Route::Covariance, "cheap"));
        assert_eq!((plan.peak_memory, plan.likely_memory), (600, 600));
        let plan = picked(NComponents::Fixed(10), Some(599)).unwrap();
        assert_eq!((plan.route, plan.reason.as_str()), (Route::Iterative, "leaner"));
        assert_eq!(picked(NComponents::Fixed(10), Some(199)).unwrap().route, Route::Svd);
    }

    #[test]
    fn a_refusal_tells_what_the_leanest_needs() {
        match picked(NComponents::Fixed(10), Some(109)) {
            Err(Error::Memory { route, needed: 110, budget: 109 }) => {
                assert_eq!(route, "the svd route");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn where_the_data_decide_the_peak_is_what_fits() {
        // Of 20 components at 10 bytes each, 310 bytes have room for all; of those at 50, for 4.
        let plan = picked(NComponents::VarianceShare(0.5), Some(310)).unwrap();
        assert_eq!((plan.route, plan.peak_memory), (Route::Iterative, 300));
        assert_eq!(most_within(Some(310), 20, |k| 100 + 50 * k as u64), 4);
        assert_eq!(most_within(Some(10), 20, |k| 100 + 50 * k as u64), 0);
        assert_eq!(most_within(None, 20, |_| u64::MAX), 20);
    }
}
