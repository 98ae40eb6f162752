//! Nearest neighbours, exact: the k nearest, or all within a radius.

use super::points::Points;
use super::tiles::Tiles;
use super::tree::Tree;
use crate::error::{Error, Result};
use crate::linalg::cancel;
use rayon::prelude::*;

/// Which samples are neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Neighborhood {
    /// The k nearest ones; equal distances in the order of the rows.
    Nearest(usize),
    /// Those at most this far away.
    Radius(f64),
}

impl Neighborhood {
    /// Refuses what cannot be meant for `n` samples.
    pub(crate) fn check(self, n: usize) -> Result<()> {
        match self {
            Neighborhood::Nearest(0) => Err(Error::Parameter {
                name: "n_neighbors",
                value: "0".into(),
                expected: "at least 1",
            }),
            Neighborhood::Nearest(k) if k >= n => {
                Err(Error::TooManyNeighbors { requested: k, limit: n.saturating_sub(1) })
            }
            Neighborhood::Radius(r) if !(r > 0.0 && r.is_finite()) => Err(Error::Parameter {
                name: "radius",
                value: r.to_string(),
                expected: "a finite number above 0",
            }),
            _ => Ok(()),
        }
    }
}

/// For each query the neighbours found, nearest first; equal distances in the order of the rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Neighbors {
    /// m + 1 positions.
    pub starts: Vec<usize>,
    pub indices: Vec<u32>,
    pub distances: Vec<f64>,
}

impl Neighbors {
    pub fn n_queries(&self) -> usize {
        self.starts.len() - 1
    }

    /// The neighbours of one query and their distances.
    pub fn of(&self, query: usize) -> (&[u32], &[f64]) {
        let range = self.starts[query]..self.starts[query + 1];
        (&self.indices[range.clone()], &self.distances[range])
    }
}

/// A neighbour that may have to give way to a nearer one.
pub(super) type Found = (f64, u32);

/// Collects the neighbours of one query.
pub(super) struct Collector {
    /// Sorted where a number is wanted.
    pub found: Vec<Found>,
    most: usize,
    /// Squared distances above this are of no interest.
    pub reach: f64,
    /// The query's own row among the points, which is no neighbour.
    own: Option<u32>,
}

impl Collector {
    fn new(wanted: Wanted, own: Option<u32>) -> Collector {
        let (most, reach) = match wanted {
            Wanted::Nearest(k) => (k, f64::INFINITY),
            Wanted::Within(squared) => (usize::MAX, squared),
        };
        Collector { found: Vec::new(), most, reach, own }
    }

    /// Offers a point at this squared distance.
    #[inline]
    pub fn offer(&mut self, squared: f64, index: u32) {
        if squared > self.reach || Some(index) == self.own {
            return;
        }
        if self.most == usize::MAX {
            self.found.push((squared, index));
            return;
        }
        let new = (squared, index);
        if self.found.len() == self.most {
            match self.found.last() {
                Some(last) if nearer(&new, last) => self.found.pop(),
                _ => return,
            };
        }
        let mut at = self.found.len();
        while at > 0 && nearer(&new, &self.found[at - 1]) {
            at -= 1;
        }
        self.found.insert(at, new);
        if self.found.len() == self.most {
            self.reach = self.found[self.most - 1].0;
        }
    }

    fn into_sorted(mut self) -> Vec<Found> {
        if self.most == usize::MAX {
            self.found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        self.found
    }
}

#[inline(always)]
fn nearer(a: &Found, b: &Found) -> bool {
    a.0 < b.0 || (a.0 == b.0 && a.1 < b.1)
}

/// What is searched for, in squared distances.
#[derive(Clone, Copy)]
enum Wanted {
    Nearest(usize),
    Within(f64),
}

/// Points made ready to be searched.
pub(crate) struct Search<'a> {
    points: &'a Points,
    index: Index<'a>,
}

enum Index<'a> {
    Tree(Tree),
    Tiles(Tiles<'a>),
}

/// Queries handled as one piece.
const PIECE: usize = 128;

impl<'a> Search<'a> {
    /// A tree where the dimension is low enough for it to pay, else products of tiles.
    pub fn new(points: &'a Points) -> Search<'a> {
        let (n, d) = points.view().dim();
        let tree = n >= 512 && (d <= 8 || (d <= 12 && n >= 50_000));
        let index =
            if tree { Index::Tree(Tree::new(points)) } else { Index::Tiles(Tiles::new(points)) };
        Search { points, index }
    }

    /// The neighbours of every point among the others.
    pub fn among_themselves(&self, which: Neighborhood) -> Result<Neighbors> {
        which.check(self.points.n_samples())?;
        self.run(self.points, self.wanted(which), true)
    }

    /// The neighbours of other points, in the same units.
    pub fn of(&self, queries: &Points, which: Neighborhood) -> Result<Neighbors> {
        which.check(self.points.n_samples() + 1)?;
        self.run(queries, self.wanted(which), false)
    }

    /// For each query the points within its own squared distance.
    pub fn closer_than(&self, queries: &Points, squared: &[f64]) -> Result<Neighbors> {
        gather(queries.n_samples(), |first, last| {
            let ask = |q: usize| Collector::new(Wanted::Within(squared[q]), None);
            self.piece(queries, (first..last).map(ask).collect(), first)
        })
    }

    fn wanted(&self, which: Neighborhood) -> Wanted {
        match which {
            Neighborhood::Nearest(k) => Wanted::Nearest(k),
            Neighborhood::Radius(r) => {
                let r = r * crate::linalg::dense::power_of_two(-self.points.exponent());
                Wanted::Within(r * r)
            }
        }
    }

    fn run(&self, queries: &Points, wanted: Wanted, own: bool) -> Result<Neighbors> {
        gather(queries.n_samples(), |first, last| {
            let ask = |q: usize| Collector::new(wanted, own.then_some(q as u32));
            self.piece(queries, (first..last).map(ask).collect(), first)
        })
    }

    fn piece(
        &self,
        queries: &Points,
        mut collectors: Vec<Collector>,
        first: usize,
    ) -> Vec<Vec<Found>> {
        match &self.index {
            Index::Tree(tree) => {
                for (q, collector) in collectors.iter_mut().enumerate() {
                    tree.search(queries.row(first + q), collector);
                }
            }
            Index::Tiles(tiles) => tiles.search(queries, first, &mut collectors),
        }
        collectors.into_iter().map(Collector::into_sorted).collect()
    }
}

/// Runs pieces of queries in parallel and puts their answers together in order.
fn gather(n: usize, piece: impl Fn(usize, usize) -> Vec<Vec<Found>> + Sync) -> Result<Neighbors> {
    if u32::try_from(n).is_err() {
        return Err(Error::Unsupported {
            what: format!("a graph of {n} samples"),
            why: "is larger than its 32-bit node numbers allow",
            instead: None,
        });
    }
    let cancel = cancel::current();
    let pieces: Vec<Vec<Vec<Found>>> = (0..n.div_ceil(PIECE))
        .into_par_iter()
        .map(|p| cancel.check().map(|()| piece(p * PIECE, ((p + 1) * PIECE).min(n))))
        .collect::<Result<_>>()?;
    let mut all = Neighbors { starts: vec![0], ..Neighbors::default() };
    for found in pieces.iter().flatten() {
        all.indices.extend(found.iter().map(|f| f.1));
        all.distances.extend(found.iter().map(|f| f.0.sqrt()));
        all.starts.push(all.indices.len());
    }
    Ok(all)
}
