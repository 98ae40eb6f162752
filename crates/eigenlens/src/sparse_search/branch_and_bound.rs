//! The exact search: best-first branch and bound with bounds that hold in floating point
//! (after Berk & Bertsimas 2019, with the relaxations of `bounds.rs`).

use super::deadline::Deadline;
use super::node::{Node, Outcome, Problem};
use super::truncated_power::{Found, SupportSearch};
use crate::error::{Error, Result};
use crate::linalg::cancel;
use ndarray::ArrayView2;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Duration;

/// When the exact search may stop before its proof is complete.
#[derive(Clone, Debug, PartialEq)]
pub struct ProofLimits {
    /// Time for each component; `None`: no limit. What is found when time runs out depends on the
    /// machine; every other limit gives the same answer everywhere.
    pub time: Option<Duration>,
    /// Parts of the search tree to look at, for each component.
    pub nodes: usize,
    /// A proven gap, relative to the upper bound, that is good enough.
    pub gap: f64,
}

impl Default for ProofLimits {
    fn default() -> Self {
        ProofLimits { time: Some(Duration::from_secs(60)), nodes: 1_000_000, gap: 0.0 }
    }
}

impl ProofLimits {
    /// Refuses what cannot be meant.
    pub(crate) fn check(&self) -> Result<()> {
        let wrong = |name, value: String, expected| Err(Error::Parameter { name, value, expected });
        if !(self.gap >= 0.0 && self.gap < 1.0) {
            return wrong("gap", self.gap.to_string(), "at least 0 and below 1");
        }
        if self.nodes == 0 {
            return wrong("nodes", "0".into(), "at least 1");
        }
        Ok(())
    }
}

/// What ended a search before its proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoppedBy {
    /// The time limit.
    Time,
    /// The limit on the parts of the tree.
    Nodes,
}

impl StoppedBy {
    /// The name of the limit.
    pub fn name(self) -> &'static str {
        match self {
            StoppedBy::Time => "time",
            StoppedBy::Nodes => "node",
        }
    }
}

/// The best vector, and what is proven of it.
#[derive(Clone, Debug)]
pub(crate) struct Proof {
    pub found: Found,
    /// No vector within the cardinality has more variance.
    pub upper_bound: f64,
    pub nodes: usize,
    pub stopped_by: Option<StoppedBy>,
}

/// Bounds this close to the best value, relative to it, are it: rounding is of this size.
pub(crate) const ROUNDING: f64 = 1e-10;

/// Nodes looked at together, whatever the number of threads.
const BATCH: usize = 8;

/// Proves how good `start` is, or finds better.
pub(crate) fn prove(
    matrix: ArrayView2<f64>,
    options: &SupportSearch,
    start: Found,
    limits: &ProofLimits,
) -> Result<Proof> {
    let deadline = Deadline::after(limits.time);
    let problem = Problem {
        matrix,
        cardinality: options.cardinality,
        non_negative: options.non_negative,
        deadline,
    };
    let mut found = start;
    let mut heap = BinaryHeap::new();
    heap.push(Ranked {
        number: 0,
        node: Node {
            bound: f64::INFINITY,
            inside: Vec::new(),
            free: (0..matrix.nrows() as u32).collect(),
            guess: found.vector.support.iter().map(|&f| f as u32).collect(),
            penalty: None,
        },
    });
    // The largest bound among what was dropped for being no better than the best.
    let mut dropped = f64::MIN;
    let (mut nodes, mut number, mut stopped_by) = (0, 0, None);
    let cut = |value: f64| (value * (1.0 + ROUNDING)).max(value / (1.0 - limits.gap));
    loop {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            let Some(Ranked { node, .. }) = heap.pop() else { break };
            if node.bound <= cut(found.value) {
                dropped = dropped.max(node.bound);
            } else {
                batch.push(node);
            }
        }
        if batch.is_empty() {
            break;
        }
        cancel::check()?;
        if nodes >= limits.nodes || (nodes > 0 && deadline.has_passed()) {
            stopped_by =
                Some(if nodes >= limits.nodes { StoppedBy::Nodes } else { StoppedBy::Time });
            dropped = batch.iter().fold(dropped, |m, node| m.max(node.bound));
            break;
        }
        nodes += batch.len();
        let now = cut(found.value);
        let outcomes: Vec<Result<Outcome>> =
            batch.into_par_iter().map(|node| problem.process(node, now)).collect();
        for outcome in outcomes {
            let outcome = outcome?;
            dropped = dropped.max(outcome.dropped);
            if let Some((value, vector)) = outcome.better.filter(|b| b.0 > found.value) {
                found = Found { vector, value, ..found };
            }
            for node in outcome.children {
                number += 1;
                heap.push(Ranked { number, node });
            }
        }
    }
    // Features decided on the way were decided against a cut of at most this.
    let upper_bound = dropped.max(cut(found.value));
    Ok(Proof { found, upper_bound, nodes, stopped_by })
}

/// A node in the queue: the largest bound first, of equal ones the earliest.
struct Ranked {
    number: u64,
    node: Node,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.node.bound.total_cmp(&other.node.bound).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}
