//! One part of the search tree: bounded, searched for a better vector, and split.

use super::bounds::{Fixed, Part, Relaxation, Shape, at_least, estimate, largest_positions};
use super::deadline::Deadline;
use super::gram::principal;
use super::local_search::evaluate;
use super::truncated_power::leading;
use super::vector::SparseVector;
use crate::error::Result;
use ndarray::{Array1, ArrayView2};

/// The whole problem.
pub(super) struct Problem<'a> {
    pub matrix: ArrayView2<'a, f64>,
    pub cardinality: usize,
    pub non_negative: bool,
    pub deadline: Deadline,
}

/// A part of the tree: β may use all features `inside` and at most so many of the `free` ones that
/// the cardinality is kept.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// No vector of this part has more variance.
    pub bound: f64,
    pub inside: Vec<u32>,
    pub free: Vec<u32>,
    /// The support of the best vector known here, the features inside among it.
    pub guess: Vec<u32>,
    /// Strength and floor of the penalty that bounded the part above best.
    pub penalty: Option<(f64, f64)>,
}

/// What came of a node.
pub(super) struct Outcome {
    /// The bound of what was dropped: everything that is not among the children.
    pub dropped: f64,
    pub better: Option<(f64, SparseVector)>,
    pub children: Vec<Node>,
}

/// Floors of the penalty's weights, relative to a flat vector.
const FLOORS: [f64; 4] = [0.9, 0.6, 0.35, 0.15];

impl Problem<'_> {
    fn out_of_time(&self) -> bool {
        self.deadline.has_passed()
    }

    /// Bounds a node and splits it, where it may hold a vector better than `cut`.
    pub fn process(&self, mut node: Node, mut cut: f64) -> Result<Outcome> {
        let mut better = None;
        // Each round drops features for good; a round that drops few is the last.
        for _ in 0..6 {
            if node.inside.len() + node.free.len() <= self.cardinality {
                node.inside.append(&mut node.free);
            }
            if node.inside.len() >= self.cardinality || node.free.is_empty() {
                return self.leaf(node, cut, better);
            }
            let order: Vec<usize> =
                node.inside.iter().chain(&node.free).map(|&f| f as usize).collect();
            let part = Part {
                matrix: principal(self.matrix, &order),
                inside: node.inside.len(),
                more: self.cardinality - node.inside.len(),
                non_negative: self.non_negative,
            };
            // Step 1: a vector of this part, which shapes the penalty and may be better.
            let guess = self.improve_guess(&part, &order, &mut node, &mut cut, &mut better)?;
            // Step 2: bounds, the cheap one first.
            for floor in [1.0, 0.5] {
                node.bound = node.bound.min(part.row_bound(&part.weights(&guess, floor)));
            }
            if node.bound <= cut {
                return Ok(Outcome { dropped: node.bound, better, children: Vec::new() });
            }
            let (branch_on, fixed) = self.tighten(&part, &guess, &mut node, cut)?;
            if node.bound <= cut || node.inside.len() + fixed.inside.len() > self.cardinality {
                return Ok(Outcome { dropped: node.bound.min(cut), better, children: Vec::new() });
            }
            // Step 3: features decided by the bounds.
            let before = node.free.len();
            let name = |at: &usize| order[*at] as u32;
            let out: Vec<u32> = fixed.out.iter().map(name).collect();
            let inside: Vec<u32> = fixed.inside.iter().map(name).collect();
            node.free.retain(|f| !out.contains(f) && !inside.contains(f));
            node.inside.extend(&inside);
            let decided = before - node.free.len();
            let worth_a_round = 10 * decided > before || !inside.is_empty();
            if worth_a_round && !self.out_of_time() {
                continue;
            }
            // Step 4: split on the free feature that the relaxation wants most.
            if node.free.is_empty() || node.inside.len() >= self.cardinality {
                continue;
            }
            let wanted = order[branch_on] as u32;
            let on = if node.free.contains(&wanted) { wanted } else { node.free[0] };
            return Ok(Outcome { dropped: f64::MIN, better, children: split(node, on) });
        }
        // Rounds ran out: split on the first free feature, if any.
        match node.free.first().copied() {
            Some(on) if node.inside.len() < self.cardinality => {
                Ok(Outcome { dropped: f64::MIN, better, children: split(node, on) })
            }
            _ => self.leaf(node, cut, better),
        }
    }

    /// Everything is decided but, for β ≥ 0, which features end at 0.
    fn leaf(&self, node: Node, cut: f64, better: Option<(f64, SparseVector)>) -> Result<Outcome> {
        let mut inside: Vec<usize> = node.inside.iter().map(|&f| f as usize).collect();
        inside.sort_unstable();
        let mut leaf = Leaf { problem: self, best: None, least: cut, dropped: cut, budget: 20_000 };
        leaf.search(inside, 0)?;
        let mut better = better;
        if let Some(found) = leaf.best.filter(|f| better.as_ref().is_none_or(|b| f.0 > b.0)) {
            better = Some(found);
        }
        Ok(Outcome { dropped: leaf.dropped.min(node.bound.max(cut)), better, children: Vec::new() })
    }

    /// The strongest bound that a few penalties give, the feature to split on, and those decided.
    fn tighten(
        &self,
        part: &Part,
        guess: &Array1<f64>,
        node: &mut Node,
        cut: f64,
    ) -> Result<(usize, Fixed)> {
        let mut fixed = Fixed::default();
        let (plain, mut vector) = estimate(part.matrix.view())?;
        node.bound = node.bound.min(at_least(part.matrix.view(), plain)?);
        if node.bound <= cut || self.out_of_time() {
            return Ok((self.wanted(part, &vector), fixed));
        }
        let mut tightest = f64::INFINITY;
        let around = node.penalty;
        let floors: Vec<f64> = match around {
            // Close to what was best above.
            Some((_, floor)) => {
                FLOORS.iter().copied().filter(|f| (f / floor).ln().abs() < 0.6).collect()
            }
            None => FLOORS.to_vec(),
        };
        for floor in floors {
            let shape = Shape { guess, weights: part.weights(guess, floor) };
            let mut best = strongest(part, &shape, plain, around.map(|(strength, _)| strength))?;
            part.certify(&shape, &mut best)?;
            let decided = part.fixed_by(&shape, &best, cut);
            for (all, new) in [(&mut fixed.out, decided.out), (&mut fixed.inside, decided.inside)] {
                all.extend(new);
                all.sort_unstable();
                all.dedup();
            }
            if best.bound < tightest {
                tightest = best.bound;
                node.penalty = Some((best.strength, floor));
                vector = best.vector;
            }
            node.bound = node.bound.min(tightest);
            if node.bound <= cut || self.out_of_time() {
                break;
            }
        }
        Ok((self.wanted(part, &vector), fixed))
    }

    /// The free feature of largest weight in a vector.
    fn wanted(&self, part: &Part, vector: &Array1<f64>) -> usize {
        let free = &vector.to_vec()[part.inside..];
        part.inside + largest_positions(free, 1).first().copied().unwrap_or(0)
    }

    /// A vector of this part (p), by truncated power steps that keep the features inside.
    fn improve_guess(
        &self,
        part: &Part,
        order: &[usize],
        node: &mut Node,
        cut: &mut f64,
        better: &mut Option<(f64, SparseVector)>,
    ) -> Result<Array1<f64>> {
        let p = order.len();
        let mut support: Vec<usize> = (0..p)
            .filter(|&i| i < part.inside || node.guess.contains(&(order[i] as u32)))
            .collect();
        support.truncate(self.cardinality);
        if support.is_empty() {
            support = largest_positions(&part.matrix.diag().to_vec(), self.cardinality);
        }
        let mut full = Array1::zeros(p);
        for _ in 0..8 {
            let (value, vector) = leading(principal(part.matrix.view(), &support).view())?;
            full.fill(0.0);
            for (&i, v) in support.iter().zip(&vector) {
                full[i] = *v;
            }
            if value > *cut {
                let mut names: Vec<usize> = support.iter().map(|&i| order[i]).collect();
                names.sort_unstable();
                if let Some((value, vector)) =
                    evaluate(self.matrix, &names, self.non_negative)?.filter(|f| f.0 > *cut)
                {
                    *cut = value;
                    *better = Some((value, vector));
                }
            }
            let product = part.matrix.dot(&full);
            let outer = largest_positions(&product.to_vec()[part.inside..], part.more);
            let mut next: Vec<usize> = (0..part.inside).collect();
            next.extend(outer.into_iter().map(|i| i + part.inside));
            next.sort_unstable();
            if next == support {
                break;
            }
            support = next;
        }
        node.guess = (0..p).filter(|&i| full[i] != 0.0).map(|i| order[i] as u32).collect();
        Ok(full)
    }
}

/// The strength that gives the least bound: a coarse scan, then a few steps around its best.
fn strongest(part: &Part, shape: &Shape, plain: f64, around: Option<f64>) -> Result<Relaxation> {
    let unit: f64 = {
        let squares: Vec<f64> = shape.weights.iter().map(|w| w * w).collect();
        largest_positions(&squares, part.inside + part.more).iter().map(|&i| squares[i]).sum()
    };
    let scan: Vec<f64> = match around {
        Some(strength) => vec![0.8 * strength, strength, 1.25 * strength],
        None => [0.15, 0.3, 0.45, 0.6, 0.75].iter().map(|s| s * plain / unit).collect(),
    };
    let mut best: Option<Relaxation> = None;
    let try_one = |strength: f64, best: &mut Option<Relaxation>| -> Result<()> {
        let tried = part.relax(shape, strength)?;
        if best.as_ref().is_none_or(|b| tried.bound < b.bound) {
            *best = Some(tried);
        }
        Ok(())
    };
    for &strength in &scan {
        try_one(strength, &mut best)?;
    }
    let mut step = if around.is_some() { 1.1 } else { 1.2 };
    for _ in 0..3 {
        let center = best.as_ref().map_or(0.0, |b| b.strength);
        try_one(center / step, &mut best)?;
        try_one(center * step, &mut best)?;
        step = f64::sqrt(step);
    }
    match best {
        Some(best) => Ok(best),
        None => part.relax(shape, 0.0),
    }
}

fn split(node: Node, on: u32) -> Vec<Node> {
    let mut with = node.clone();
    with.free.retain(|&f| f != on);
    with.inside.push(on);
    let mut without = node;
    without.free.retain(|&f| f != on);
    without.guess.retain(|&f| f != on);
    vec![with, without]
}

/// The search among the features of a leaf. Where β ≥ 0 and the leading eigenvector has both signs,
/// the best vector has a 0 somewhere: one feature after the other is left out.
struct Leaf<'a, 'p> {
    problem: &'a Problem<'p>,
    best: Option<(f64, SparseVector)>,
    /// Vectors up to this variance are of no interest.
    least: f64,
    /// The bound of what was not looked at.
    dropped: f64,
    budget: usize,
}

impl Leaf<'_, '_> {
    /// `features`, of which the first `kept` are not left out again.
    fn search(&mut self, features: Vec<usize>, kept: usize) -> Result<()> {
        let mut sorted = features.clone();
        sorted.sort_unstable();
        let (value, vector) = leading(principal(self.problem.matrix, &sorted).view())?;
        if value <= self.least {
            return Ok(());
        }
        if !self.problem.non_negative || vector.iter().all(|v| *v >= 0.0) {
            self.least = value;
            self.dropped = self.dropped.max(value);
            self.best = Some((value, SparseVector::of_eigenvector(&sorted, vector.view())));
            return Ok(());
        }
        if self.budget == 0 {
            self.dropped = self.dropped.max(value);
            return Ok(());
        }
        self.budget -= 1;
        for leave in kept..features.len() {
            let mut rest = features.clone();
            rest.remove(leave);
            self.search(rest, leave)?;
        }
        Ok(())
    }
}
