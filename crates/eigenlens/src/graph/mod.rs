//! Graphs of samples: who is near whom, how far along the data, and how well an embedding keeps it.

mod bridges;
mod dijkstra;
mod distances;
mod elimination;
mod geodesics;
mod given;
mod neighbors;
mod network;
mod points;
mod quality;
#[cfg(test)]
mod tests;
mod tiles;
mod tree;

pub use distances::Metric;
pub use neighbors::Neighborhood;
pub use quality::{Quality, continuity, trustworthiness};

pub(crate) use distances::{check_distances, check_entries, squared_distances};
pub(crate) use geodesics::{Geodesics, Seeds};
pub(crate) use given::{for_each_given_row, given_neighbors, nearest_given};
pub(crate) use neighbors::{Neighbors, Search};
pub(crate) use network::{Network, Parts, parts};
pub(crate) use points::Points;
pub(crate) use quality::{Judged, Kept, Original, judge, subset};
