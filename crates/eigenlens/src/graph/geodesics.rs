//! Distances along a graph, from many sources, in parallel.

use super::dijkstra::Dijkstra;
use super::elimination::{Elimination, LANES};
use super::network::Network;
use crate::error::Result;
use crate::linalg::cancel;
use ndarray::{Array2, ArrayViewMut2};
use rayon::prelude::*;

/// Where a search begins: nodes, and how far they are from the source.
pub(crate) type Seeds = Vec<(u32, f64)>;

/// A graph made ready for searches.
pub(crate) struct Geodesics<'a> {
    network: &'a Network,
    elimination: Option<Elimination>,
}

impl<'a> Geodesics<'a> {
    /// For searches from about `sources` sources.
    pub fn new(network: &'a Network, sources: usize) -> Result<Geodesics<'a>> {
        Ok(Geodesics { network, elimination: Elimination::new(network, sources)? })
    }

    /// Distances of every node from each source (m × n).
    pub fn rows(&self, from: &[Seeds]) -> Result<Array2<f64>> {
        let mut distances = Array2::zeros((from.len(), self.network.n_nodes()));
        self.fill(from, distances.view_mut())?;
        Ok(distances)
    }

    /// Distances of every node from every node (n × n).
    pub fn all(&self) -> Result<Array2<f64>> {
        let itself = |i: u32| vec![(i, 0.0)];
        self.rows(&(0..self.network.n_nodes() as u32).map(itself).collect::<Vec<Seeds>>())
    }

    fn fill(&self, from: &[Seeds], mut out: ArrayViewMut2<f64>) -> Result<()> {
        let n = self.network.n_nodes();
        let Some(out) = out.as_slice_mut() else { return Ok(()) };
        let cancel = cancel::current();
        match &self.elimination {
            Some(elimination) => {
                out.par_chunks_mut(n * LANES).zip(from.par_chunks(LANES)).try_for_each_init(
                    || elimination.room(),
                    |room, (out, seeds)| {
                        cancel.check()?;
                        let seeds: Vec<&[(u32, f64)]> = seeds.iter().map(Vec::as_slice).collect();
                        let mut rows: Vec<&mut [f64]> = out.chunks_mut(n).collect();
                        elimination.run(&seeds, room, &mut rows);
                        Ok(())
                    },
                )
            }
            None => out.par_chunks_mut(n).zip(from.par_iter()).try_for_each_init(
                || Dijkstra::new(self.network),
                |search, (row, seeds)| cancel.check().map(|()| search.run(seeds, row)),
            ),
        }
    }
}
