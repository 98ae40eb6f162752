//! The graph of neighbours: symmetric, with a length on every edge.

use super::bridges;
use super::neighbors::{Neighborhood, Neighbors};
use super::points::Points;
use crate::error::{Error, Result};

/// An undirected graph by compressed rows: both directions of an edge are stored, column numbers
/// rise, and lengths may be 0 (samples that coincide are neighbours too).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Network {
    /// n + 1 positions.
    pub starts: Vec<usize>,
    pub columns: Vec<u32>,
    pub lengths: Vec<f64>,
}

/// An edge between two parts of a graph.
pub(super) type Edge = (u32, u32, f64);

impl Network {
    /// Two samples are joined if either is a neighbour of the other.
    pub fn new(neighbors: &Neighbors) -> Network {
        let n = neighbors.n_queries();
        let mut edges = Vec::with_capacity(2 * neighbors.indices.len());
        for i in 0..n {
            let (indices, distances) = neighbors.of(i);
            for (&j, &length) in indices.iter().zip(distances) {
                edges.push((i as u32, j, length));
                edges.push((j, i as u32, length));
            }
        }
        Network::from_directed(n, &edges)
    }

    /// The graph of these neighbours in one piece: parts are an error that names them, or joined by
    /// bridges. Returns the number of bridges.
    pub fn connected(
        neighbors: &Neighbors,
        points: &Points,
        which: Neighborhood,
        join: bool,
    ) -> Result<(Network, usize)> {
        let network = Network::new(neighbors);
        let parts = network.parts();
        if parts.sizes.len() == 1 {
            return Ok((network, 0));
        }
        if !join {
            return Err(parts.refused(which.in_words(), "bridges"));
        }
        let bridges = bridges::shortest(points, parts);
        let n = points.n_samples();
        let mut edges: Vec<Edge> = network.edges().collect();
        edges.extend(bridges.iter().flat_map(|&(i, j, length)| [(i, j, length), (j, i, length)]));
        Ok((Network::from_directed(n, &edges), bridges.len()))
    }

    pub fn n_nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The neighbours of one node and the lengths of the edges to them.
    #[inline(always)]
    pub fn of(&self, node: usize) -> (&[u32], &[f64]) {
        let range = self.starts[node]..self.starts[node + 1];
        (&self.columns[range.clone()], &self.lengths[range])
    }

    /// Whether column numbers rise in every row and every edge is stored both ways.
    pub fn is_undirected(&self) -> bool {
        let back = |i: u32, j: u32| self.of(j as usize).0.binary_search(&i).is_ok();
        let rising = |i: usize| self.of(i).0.windows(2).all(|pair| pair[0] < pair[1]);
        (0..self.n_nodes()).all(rising) && self.edges().all(|(i, j, _)| i != j && back(i, j))
    }

    fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        (0..self.n_nodes()).flat_map(|i| {
            let (columns, lengths) = self.of(i);
            columns.iter().zip(lengths).map(move |(&j, &length)| (i as u32, j, length))
        })
    }

    /// From edges in both directions; an edge that comes twice is kept once.
    fn from_directed(n: usize, edges: &[Edge]) -> Network {
        // Sorting by column and then, stably, by row: two passes of counting.
        let by_column = counted(n, edges, |e| e.1);
        let by_row = counted(n, &by_column, |e| e.0);
        let mut network = Network { starts: vec![0], columns: Vec::new(), lengths: Vec::new() };
        let mut at = 0;
        for i in 0..n as u32 {
            let first = network.columns.len();
            while at < by_row.len() && by_row[at].0 == i {
                let (_, j, length) = by_row[at];
                if network.columns.len() == first || network.columns.last() != Some(&j) {
                    network.columns.push(j);
                    network.lengths.push(length);
                }
                at += 1;
            }
            network.starts.push(network.columns.len());
        }
        network
    }

    /// Which part of the graph every node is in; parts are numbered by their first node.
    pub fn parts(&self) -> Parts {
        parts(self.n_nodes(), |node| self.of(node).0.iter().map(|&next| next as usize))
    }
}

/// The parts of n nodes that are joined to others.
pub(crate) fn parts<I: Iterator<Item = usize>>(n: usize, of: impl Fn(usize) -> I) -> Parts {
    let mut part = vec![u32::MAX; n];
    let mut sizes = Vec::new();
    let mut waiting = Vec::new();
    for root in 0..n {
        if part[root] != u32::MAX {
            continue;
        }
        let number = sizes.len() as u32;
        part[root] = number;
        waiting.push(root);
        let mut size = 0;
        while let Some(node) = waiting.pop() {
            size += 1;
            for next in of(node) {
                if part[next] == u32::MAX {
                    part[next] = number;
                    waiting.push(next);
                }
            }
        }
        sizes.push(size);
    }
    Parts { part, sizes }
}

/// The connected parts of a graph.
pub(crate) struct Parts {
    /// The part of every node.
    pub part: Vec<u32>,
    /// Nodes in every part.
    pub sizes: Vec<usize>,
}

impl Parts {
    /// The error that names them.
    pub fn refused(self, neighborhood: String, cure: &'static str) -> Error {
        let mut sizes = self.sizes;
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        Error::Disconnected { sizes, neighborhood, cure }
    }
}

impl Neighborhood {
    pub(crate) fn in_words(self) -> String {
        match self {
            Neighborhood::Nearest(1) => "1 neighbour each".into(),
            Neighborhood::Nearest(k) => format!("{k} neighbours each"),
            Neighborhood::Radius(r) => format!("neighbours within {r}"),
        }
    }
}

/// The edges in the order of a key below n, equal keys in the order they had.
fn counted(n: usize, edges: &[Edge], key: impl Fn(&Edge) -> u32) -> Vec<Edge> {
    let mut next = vec![0usize; n + 1];
    edges.iter().for_each(|e| next[key(e) as usize + 1] += 1);
    (0..n).for_each(|i| next[i + 1] += next[i]);
    let mut sorted = vec![(0, 0, 0.0); edges.len()];
    for e in edges {
        let to = &mut next[key(e) as usize];
        sorted[*to] = *e;
        *to += 1;
    }
    sorted
}
