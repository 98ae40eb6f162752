//! The shortest edges that join the parts of a graph.

use super::network::{Edge, Parts};
use super::points::{Points, squared_distance};
use rayon::prelude::*;

/// The bridges of a minimum spanning tree over the parts: the shortest edge that leaves a part is
/// always among them (the cut property), so the smallest part is joined to its nearest neighbour
/// until one is left.
pub(super) fn shortest(points: &Points, parts: Parts) -> Vec<Edge> {
    let Parts { mut part, mut sizes } = parts;
    let mut bridges = Vec::new();
    for _ in 1..sizes.len() {
        let Some(smallest) = (0..sizes.len() as u32)
            .filter(|&p| sizes[p as usize] > 0)
            .min_by_key(|&p| (sizes[p as usize], p))
        else {
            break;
        };
        let Some((squared, i, j)) = leaving(points, &part, smallest) else { break };
        bridges.push((i, j, squared.sqrt()));
        let other = part[j as usize];
        sizes[other as usize] += std::mem::take(&mut sizes[smallest as usize]);
        part.iter_mut().filter(|p| **p == smallest).for_each(|p| *p = other);
    }
    bridges
}

/// The shortest edge from a part to the rest; equal lengths by the numbers of their ends.
fn leaving(points: &Points, part: &[u32], from: u32) -> Option<(f64, u32, u32)> {
    let shorter = |a: (f64, u32, u32), b: (f64, u32, u32)| {
        let first = a.0 < b.0 || (a.0 == b.0 && (a.1, a.2) < (b.1, b.2));
        if first { a } else { b }
    };
    let nearest = |i: usize| {
        (0..part.len())
            .filter(|&j| part[j] != from)
            .map(|j| (squared_distance(points.row(i), points.row(j)), i as u32, j as u32))
            .reduce(shorter)
    };
    // The smaller of two edges does not depend on the order in which they are compared.
    (0..part.len())
        .into_par_iter()
        .filter(|&i| part[i] == from)
        .filter_map(nearest)
        .reduce_with(shorter)
}
