//! A k-d tree (Bentley 1975) for points of low dimension, the dimension known only at run time.

use super::neighbors::Collector;
use super::points::{Points, squared_distance, sum_of_squares};

/// Boxes within boxes; every leaf's points lie together in memory.
pub(super) struct Tree {
    d: usize,
    /// The points, leaf after leaf.
    entries: Vec<f64>,
    /// Their numbers.
    numbers: Vec<u32>,
    nodes: Vec<Node>,
    /// Lower and upper corner of every node's box, 2 d numbers each.
    corners: Vec<f64>,
}

struct Node {
    start: u32,
    end: u32,
    /// The first of its two children, which follow each other; 0: a leaf.
    children: u32,
}

/// Points in a leaf.
const LEAF: usize = 16;

impl Tree {
    pub fn new(points: &Points) -> Tree {
        let (n, d) = points.view().dim();
        let mut numbers: Vec<u32> = (0..n as u32).collect();
        let (entries, nodes, corners) = (Vec::new(), Vec::new(), Vec::new());
        let mut tree = Tree { d, entries, numbers: Vec::new(), nodes, corners };
        tree.push(points, &numbers, 0);
        // Breadth first: a node is split when its turn comes.
        let mut next = 0;
        while next < tree.nodes.len() {
            let (start, end) = (tree.nodes[next].start as usize, tree.nodes[next].end as usize);
            let widest = tree.widest(next).filter(|_| end - start > LEAF);
            if let Some(f) = widest {
                let middle = (end - start) / 2;
                numbers[start..end].select_nth_unstable_by(middle, |&a, &b| {
                    let (x, y) = (points.row(a as usize)[f], points.row(b as usize)[f]);
                    x.total_cmp(&y).then(a.cmp(&b))
                });
                tree.nodes[next].children = tree.nodes.len() as u32;
                tree.push(points, &numbers[start..start + middle], start);
                tree.push(points, &numbers[start + middle..end], start + middle);
            }
            next += 1;
        }
        tree.entries =
            numbers.iter().flat_map(|&i| points.row(i as usize).iter().copied()).collect();
        tree.numbers = numbers;
        tree
    }

    /// Offers every point that may be near enough.
    pub fn search(&self, query: &[f64], collector: &mut Collector) {
        if !self.numbers.is_empty() {
            self.visit(0, query, collector);
        }
    }

    fn visit(&self, node: usize, query: &[f64], collector: &mut Collector) {
        let Node { start, end, children } = self.nodes[node];
        if children == 0 {
            for at in start as usize..end as usize {
                let row = &self.entries[at * self.d..(at + 1) * self.d];
                collector.offer(squared_distance(query, row), self.numbers[at]);
            }
            return;
        }
        let first = children as usize;
        let (left, right) = (self.to_box(first, query), self.to_box(first + 1, query));
        let nearer_first = if left <= right {
            [(left, first), (right, first + 1)]
        } else {
            [(right, first + 1), (left, first)]
        };
        for (distance, child) in nearer_first {
            // Equal distances count: their order is that of the rows.
            if distance <= collector.reach {
                self.visit(child, query, collector);
            }
        }
    }

    /// A lower bound of the squared distance to any point of a box, as it would be computed.
    fn to_box(&self, node: usize, query: &[f64]) -> f64 {
        let corners = &self.corners[node * 2 * self.d..(node + 1) * 2 * self.d];
        let (low, high) = corners.split_at(self.d);
        sum_of_squares(self.d, |f| (low[f] - query[f]).max(query[f] - high[f]).max(0.0))
    }

    fn push(&mut self, points: &Points, members: &[u32], start: usize) {
        let d = self.d;
        let at = self.corners.len();
        self.corners.resize(at + d, f64::INFINITY);
        self.corners.resize(at + 2 * d, f64::NEG_INFINITY);
        for &i in members {
            for (f, &v) in points.row(i as usize).iter().enumerate() {
                let corners = &mut self.corners[at..];
                corners[f] = corners[f].min(v);
                corners[d + f] = corners[d + f].max(v);
            }
        }
        let (start, end) = (start as u32, (start + members.len()) as u32);
        self.nodes.push(Node { start, end, children: 0 });
    }

    /// The feature along which a box is widest; `None` where all its points coincide.
    fn widest(&self, node: usize) -> Option<usize> {
        let corners = &self.corners[node * 2 * self.d..(node + 1) * 2 * self.d];
        let width = |f: usize| corners[self.d + f] - corners[f];
        (0..self.d)
            .reduce(|best, f| if width(f) > width(best) { f } else { best })
            .filter(|&f| width(f) > 0.0)
    }
}
