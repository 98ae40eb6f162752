//! Shortest paths from many sources at once, by eliminating nodes.
//!
//! Nodes are taken out of the graph one after another; the shortest way through each is kept as an
//! edge between its remaining neighbours (a Cholesky factorisation with minimum and sum in place of
//! sum and product: Carré 1971). Every shortest path then rises to later nodes and falls again, so
//! that one sweep up and one down the order find all distances from a source (PHAST: Delling et al.
//! 2013), for eight sources in the lanes of a register. It pays where few edges are added: for
//! data that lie near a curve or a surface.

use super::network::Network;
use crate::error::Result;
use crate::linalg::simd::vectorized;
use crate::linalg::sparse::{Pattern, eliminate};

/// Sources of one sweep.
pub(super) const LANES: usize = 8;

pub(super) struct Elimination {
    /// Node i of the order is node `order[i]` of the graph.
    order: Vec<u32>,
    /// The other way.
    position: Vec<u32>,
    /// Later neighbours of every node in the order.
    starts: Vec<usize>,
    later: Vec<u32>,
    lengths: Vec<f64>,
}

impl Elimination {
    /// `None` where sweeps would cost more than searching from every source.
    pub fn new(network: &Network, sources: usize) -> Result<Option<Elimination>> {
        let n = network.n_nodes();
        if sources < 2 * LANES {
            return Ok(None);
        }
        let pattern = eliminate(&network.starts, &network.columns)?;
        let (starts, rows) = (&pattern.starts, &pattern.rows);
        let later_of = |i: usize| starts[i + 1] - starts[i];
        // In steps of eight lanes, and in steps of a search; prices of a nominal machine.
        let fill: f64 = (0..n).map(|i| (later_of(i) * later_of(i)) as f64).sum();
        let sweeps = rows.len() as f64 * 2.0 * sources.div_ceil(LANES) as f64;
        let search = sources as f64 * (n as f64 * 60.0 + network.columns.len() as f64 * 4.0);
        if 2.0 * fill + 1.5 * sweeps > search {
            return Ok(None);
        }
        Ok(Some(Elimination::along(network, pattern)))
    }

    #[cfg(test)]
    pub fn forced(network: &Network) -> Result<Elimination> {
        Ok(Elimination::along(network, eliminate(&network.starts, &network.columns)?))
    }

    fn along(network: &Network, pattern: Pattern) -> Elimination {
        let Pattern { order, starts, rows } = pattern;
        let n = network.n_nodes();
        let mut position = vec![0u32; n];
        order.iter().enumerate().for_each(|(i, &node)| position[node as usize] = i as u32);
        let mut lengths = vec![f64::INFINITY; rows.len()];
        for i in 0..n {
            let (columns, edges) = network.of(order[i] as usize);
            for (&node, &length) in columns.iter().zip(edges) {
                let j = position[node as usize];
                if let Ok(at) = rows[starts[i]..starts[i + 1]].binary_search(&j) {
                    lengths[starts[i] + at] = length;
                }
            }
        }
        let mut made = Elimination { order, position, starts, later: rows, lengths };
        made.contract();
        made
    }

    /// Takes the nodes out in order: for each pair of later neighbours, the way through it.
    fn contract(&mut self) {
        for i in 0..self.order.len() {
            let (first, end) = (self.starts[i], self.starts[i + 1]);
            for a in first..end {
                let (u, to_u) = (self.later[a] as usize, self.lengths[a]);
                // Both lists rise, and what is later than u of i's list is in u's list.
                let mut at = self.starts[u];
                for b in a + 1..end {
                    let w = self.later[b];
                    while self.later[at] < w {
                        at += 1;
                    }
                    let through = to_u + self.lengths[b];
                    if through < self.lengths[at] {
                        self.lengths[at] = through;
                    }
                }
            }
        }
    }

    /// Room for one sweep.
    pub fn room(&self) -> Vec<[f64; LANES]> {
        vec![[f64::INFINITY; LANES]; self.order.len()]
    }

    /// Writes the distances of every node from each of at most [`LANES`] sets of seeds.
    pub fn run(&self, seeds: &[&[(u32, f64)]], room: &mut [[f64; LANES]], out: &mut [&mut [f64]]) {
        room.fill([f64::INFINITY; LANES]);
        for (lane, seeds) in seeds.iter().enumerate() {
            for &(node, length) in *seeds {
                let known = &mut room[self.position[node as usize] as usize][lane];
                *known = length.min(*known);
            }
        }
        vectorized(
            #[inline(always)]
            || self.sweep(room),
        );
        for (lane, out) in out.iter_mut().enumerate() {
            for (node, to) in out.iter_mut().enumerate() {
                *to = room[self.position[node] as usize][lane];
            }
        }
    }

    #[inline(always)]
    fn sweep(&self, room: &mut [[f64; LANES]]) {
        let n = self.order.len();
        for i in 0..n {
            let here = room[i];
            if here.iter().all(|v| *v == f64::INFINITY) {
                continue;
            }
            let range = self.starts[i]..self.starts[i + 1];
            for (&j, &length) in self.later[range.clone()].iter().zip(&self.lengths[range]) {
                let there = &mut room[j as usize];
                for lane in 0..LANES {
                    there[lane] = least(there[lane], here[lane] + length);
                }
            }
        }
        for i in (0..n).rev() {
            let mut here = room[i];
            let range = self.starts[i]..self.starts[i + 1];
            for (&j, &length) in self.later[range.clone()].iter().zip(&self.lengths[range]) {
                let there = &room[j as usize];
                for lane in 0..LANES {
                    here[lane] = least(here[lane], there[lane] + length);
                }
            }
            room[i] = here;
        }
    }
}

/// The smaller of two numbers: one instruction, where `f64::min` minds NaN.
#[inline(always)]
fn least(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}
