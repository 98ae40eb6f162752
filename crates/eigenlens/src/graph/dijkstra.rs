//! Shortest paths from one source (Dijkstra 1959), with a heap of four children to a node.

use super::network::Network;

/// What one thread needs, used again for every source.
pub(super) struct Dijkstra<'a> {
    network: &'a Network,
    /// Nodes that have been reached and not left, nearest first.
    heap: Vec<(f64, u32)>,
    /// Where a node is in the heap; [`AWAY`] where it is not.
    place: Vec<u32>,
}

const AWAY: u32 = u32::MAX;
const CHILDREN: usize = 4;

impl<'a> Dijkstra<'a> {
    pub fn new(network: &'a Network) -> Dijkstra<'a> {
        Dijkstra { network, heap: Vec::new(), place: vec![AWAY; network.n_nodes()] }
    }

    /// The distance of every node from the nearest seed, each seed beginning at its own distance;
    /// infinite where no path leads.
    pub fn run(&mut self, seeds: &[(u32, f64)], distances: &mut [f64]) {
        distances.fill(f64::INFINITY);
        for &(node, length) in seeds {
            self.reach(node, length, distances);
        }
        while let Some((near, node)) = self.pop() {
            let (columns, lengths) = self.network.of(node as usize);
            for (&next, &length) in columns.iter().zip(lengths) {
                self.reach(next, near + length, distances);
            }
        }
    }

    #[inline(always)]
    fn reach(&mut self, node: u32, distance: f64, distances: &mut [f64]) {
        let known = &mut distances[node as usize];
        if distance < *known {
            *known = distance;
            let mut at = self.place[node as usize] as usize;
            if at == AWAY as usize {
                at = self.heap.len();
                self.heap.push((distance, node));
            }
            self.rise(at, (distance, node));
        }
    }

    fn rise(&mut self, mut at: usize, entry: (f64, u32)) {
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.heap[parent].0 <= entry.0 {
                break;
            }
            self.put(at, self.heap[parent]);
            at = parent;
        }
        self.put(at, entry);
    }

    fn pop(&mut self) -> Option<(f64, u32)> {
        let top = *self.heap.first()?;
        self.place[top.1 as usize] = AWAY;
        let last = self.heap.pop()?;
        if self.heap.is_empty() {
            return Some(top);
        }
        let mut at = 0;
        loop {
            let first = at * CHILDREN + 1;
            let end = (first + CHILDREN).min(self.heap.len());
            let Some(least) =
                (first..end).reduce(|a, b| if self.heap[b].0 < self.heap[a].0 { b } else { a })
            else {
                break;
            };
            if self.heap[least].0 >= last.0 {
                break;
            }
            self.put(at, self.heap[least]);
            at = least;
        }
        self.put(at, last);
        Some(top)
    }

    #[inline(always)]
    fn put(&mut self, at: usize, entry: (f64, u32)) {
        self.heap[at] = entry;
        self.place[entry.1 as usize] = at as u32;
    }
}
