//! The rows as an iteration sees them, pass after pass: what need be found out only once is kept.

use super::chunk::{ROWS, Survey, standardize, standardized};
use super::expectation::Buffers;
use super::gather::ByFeature;
use super::posterior::Groups;
use crate::data::{Block, Prepared, Standardization, slab_rows, unit_rows};
use crate::error::Result;
use crate::linalg::aligned::Aligned;
use crate::linalg::simd::{Ahead, Tile, vectorized};
use crate::linalg::spares::Spares;
use crate::scalar::Scalar;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Data with holes, for one pass after the other.
pub(super) struct Rows<'a, 'p, T: Scalar> {
    prepared: &'a Prepared<'p, T>,
    by: &'a Standardization,
    /// 1 for columns that say something.
    live: Vec<f64>,
    /// What was found out about every `ROWS` rows of every unit. Kept or found again, it is the same, so
    /// it does not matter for which of them there was room.
    pieces: Vec<OnceLock<Piece>>,
    /// Bytes that may still be kept.
    room: AtomicU64,
    work: Spares<Work<T>>,
    /// Room for whoever sums.
    pub buffers: Spares<Buffers>,
}

/// Some rows, standardised.
pub(super) struct View<'v> {
    pub rows: usize,
    /// Features.
    pub d: usize,
    /// Rows' weights.
    pub counts: &'v [f64],
    pub groups: &'v Groups,
    pub body: Body<'v>,
    /// The next rows, to be fetched by the way.
    pub ahead: Ahead,
}

/// The form that makes sums over entries cheapest.
#[derive(Clone, Copy)]
pub(super) enum Body<'v> {
    /// Rows with zeros in their holes (rows × stride), and zeros and ones of the groups (groups × stride):
    /// the sums are products.
    Table { x: &'v [f64], mask: &'v [f64], stride: usize },
    /// What there is, where that is little.
    Entries(&'v Entries),
}

/// Entries one after the other.
#[derive(Clone, Default)]
pub(super) struct Entries {
    /// Where each row begins, and the last ends.
    starts: Vec<u32>,
    features: Vec<u32>,
    values: Vec<f64>,
    /// Squared length of every row.
    pub squares: Vec<f64>,
    /// The first row of every group.
    firsts: Vec<u8>,
    /// Where each feature begins in `holders`, and the last ends.
    feature_starts: Vec<u32>,
    /// The rows that have a feature, one feature after the other.
    holders: Vec<u8>,
}

impl Entries {
    /// The features of a row, and its entries as weights.
    #[inline(always)]
    pub fn of_row(&self, i: usize) -> (&[u32], impl Fn(usize, usize) -> f64) {
        let values = &self.values[self.range(i)];
        (&self.features[self.range(i)], move |place, _| values[place])
    }

    /// The features of a row, and its entries.
    #[inline(always)]
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        (&self.features[self.range(i)], &self.values[self.range(i)])
    }

    /// The same entries by features.
    pub fn by_feature(&self) -> ByFeature<'_> {
        ByFeature {
            starts: &self.feature_starts,
            holders: &self.holders,
            row_starts: &self.starts,
            values: &self.values,
        }
    }

    /// The features of a group, which weigh 1.
    #[inline(always)]
    pub fn of_group(&self, g: usize) -> (&[u32], impl Fn(usize, usize) -> f64) {
        (&self.features[self.range(usize::from(self.firsts[g]))], |_, _| 1.0)
    }

    /// Finds the rows of every feature.
    fn turn(&mut self, d: usize) {
        let Entries { starts, features, feature_starts, holders, .. } = self;
        feature_starts.clear();
        feature_starts.resize(d + 1, 0);
        for &f in &*features {
            feature_starts[f as usize + 1] += 1;
        }
        for f in 0..d {
            feature_starts[f + 1] += feature_starts[f];
        }
        holders.clear();
        holders.resize(features.len(), 0);
        for (i, ends) in starts.windows(2).enumerate() {
            for &f in &features[ends[0] as usize..ends[1] as usize] {
                let next = &mut feature_starts[f as usize];
                holders[*next as usize] = i as u8;
                *next += 1;
            }
        }
        // Every start stands where the next feature begins.
        feature_starts.rotate_right(1);
        feature_starts[0] = 0;
    }

    #[inline(always)]
    fn range(&self, i: usize) -> Range<usize> {
        self.starts[i] as usize..self.starts[i + 1] as usize
    }
}

/// What is found out about some rows.
#[derive(Clone, Default)]
struct Piece {
    groups: Groups,
    /// Where few are there.
    entries: Option<Entries>,
}

impl Piece {
    fn find<T: Scalar>(&mut self, block: &Block<T>, by: &Standardization, survey: &mut Survey) {
        survey.look(block, by);
        let patterns = &survey.patterns;
        let Piece { groups, entries } = self;
        groups.of_row.clear();
        groups.of_row.extend(patterns.of_rows().iter().map(|&p| p as u8));
        groups.observed.clear();
        groups.observed.extend((0..patterns.len()).map(|p| patterns.group(p).observed() as u32));
        let observed = |i: usize| groups.observed[usize::from(groups.of_row[i])] as usize;
        // The micro-kernel does more additions in the same time, twice as many where rows and groups are
        // gathered one after the other.
        let all_differ = groups.all_differ();
        let most = if all_differ { 0.6 } else { 0.5 } * (block.rows * block.n_features) as f64;
        if (0..block.rows).map(observed).sum::<usize>() as f64 >= most {
            *entries = None;
            return;
        }
        let entries = entries.get_or_insert_default();
        let Entries { starts, features, values, squares, firsts, .. } = entries;
        starts.clear();
        starts.push(0);
        features.clear();
        values.clear();
        for i in 0..block.rows {
            let (row, has) = (block.row(i), patterns.of_row(i).features);
            features.extend(has);
            values.extend(has.iter().map(|&f| standardized(row[f as usize], by, f as usize)));
            starts.push(features.len() as u32);
        }
        squares.clear();
        let rows = starts.windows(2).map(|w| &values[w[0] as usize..w[1] as usize]);
        squares.extend(rows.map(|row| row.iter().map(|v| v * v).sum::<f64>()));
        firsts.clear();
        firsts.extend((0..patterns.len()).map(|p| patterns.group(p).rows[0] as u8));
        if all_differ {
            entries.turn(block.n_features);
        }
    }

    /// Bytes of a copy.
    fn bytes(&self) -> u64 {
        let Groups { of_row, observed } = &self.groups;
        let entries = self.entries.as_ref().map_or(0, |e| {
            4 * (e.starts.len() + e.features.len() + e.feature_starts.len())
                + 8 * (e.values.len() + e.squares.len())
                + e.firsts.len()
                + e.holders.len()
        });
        (of_row.len() + 4 * observed.len() + entries) as u64
    }
}

/// Buffers of one task.
#[derive(Default)]
struct Work<T> {
    scratch: Vec<T>,
    survey: Survey,
    piece: Piece,
    x: Aligned<f64>,
    mask: Aligned<f64>,
    counts: Vec<f64>,
}

impl<'a, 'p, T: Scalar> Rows<'a, 'p, T> {
    /// Keeps up to `room` bytes of what is found out.
    pub fn new(prepared: &'a Prepared<'p, T>, by: &'a Standardization, room: u64) -> Self {
        let unit = unit_rows(by.weight.len());
        let units = prepared.n_rows().unwrap_or(0).div_ceil(unit);
        let pieces = if room > 0 { units * unit.div_ceil(ROWS) } else { 0 };
        Rows {
            prepared,
            by,
            live: by.weight.iter().map(|w| f64::from(u8::from(*w > 0.0))).collect(),
            pieces: (0..pieces).map(|_| OnceLock::new()).collect(),
            room: AtomicU64::new(room),
            work: Spares::default(),
            buffers: Spares::default(),
        }
    }

    /// Visits all rows in parallel: `begin` makes what a unit of rows sums into, `add` adds some rows to
    /// it, and `merge` takes the units' sums in the order of the rows. `units` may be held at once;
    /// `steps` says how many cache lines the products of some groups can fetch.
    pub fn pass<S: Send>(
        &self,
        units: usize,
        steps: impl Fn(&Groups) -> usize + Sync,
        begin: impl Fn() -> S + Sync,
        add: impl Fn(&mut S, &View) + Sync,
        mut merge: impl FnMut(S) -> Result<()>,
    ) -> Result<usize> {
        let d = self.by.weight.len();
        let unit = unit_rows(d);
        self.prepared.for_each_slab(slab_rows(d, units), |slab| {
            let starts: Vec<usize> = (0..slab.rows).step_by(unit).collect();
            let one = |&start: &usize| {
                let mut sums = begin();
                let mut work = self.work.lend();
                let Work { scratch, survey, piece, x, mask, counts } = &mut *work;
                let end = (start + unit).min(slab.rows);
                let places = (slab.first + start) / unit * unit.div_ceil(ROWS)..;
                for (at, place) in (start..end).step_by(ROWS).zip(places) {
                    let rows = ROWS.min(end - at);
                    let kept = self.pieces.get(place);
                    let known = kept.and_then(OnceLock::get);
                    if known.is_none() {
                        let block = slab.block(at, at + rows, scratch);
                        piece.find(&block, self.by, survey);
                        kept.inspect(|kept| self.keep(kept, piece));
                    }
                    let Piece { groups, entries } = known.unwrap_or(piece);
                    let (body, next) = match entries {
                        Some(entries) => (Body::Entries(entries), &[][..]),
                        None => {
                            let block = slab.block(at, at + rows, scratch);
                            let next = slab.upcoming(at + rows, ROWS, end);
                            (self.tabulate(&block, groups, x, mask), next)
                        }
                    };
                    let ahead = Ahead::new(next, steps(groups));
                    counts.clear();
                    counts.extend((at..at + rows).map(|i| slab.count(i)));
                    add(&mut sums, &View { rows, d, counts, groups, body, ahead });
                }
                sums
            };
            let sums: Vec<S> = starts.par_iter().map(one).collect();
            sums.into_iter().try_for_each(&mut merge)
        })
    }

    /// Keeps what was found, as long as there is room.
    fn keep(&self, kept: &OnceLock<Piece>, piece: &Piece) {
        let left = |room: u64| room.checked_sub(piece.bytes());
        if self.room.fetch_update(Relaxed, Relaxed, left).is_ok() {
            kept.get_or_init(|| piece.clone());
        }
    }

    fn tabulate<'v>(
        &self,
        block: &Block<T>,
        groups: &Groups,
        x: &'v mut Aligned<f64>,
        mask: &'v mut Aligned<f64>,
    ) -> Body<'v> {
        let d = block.n_features;
        let stride = d.next_multiple_of(f64::PAD);
        x.resize(ROWS * stride);
        mask.resize(ROWS * stride);
        let mut masks = mask.chunks_exact_mut(stride);
        let mut seen = 0;
        for (i, out) in x.chunks_exact_mut(stride).enumerate().take(block.rows) {
            let row = block.row(i);
            standardize(row, self.by, out);
            // Groups are numbered in the order of their first rows.
            if usize::from(groups.of_row[i]) == seen
                && let Some(mask) = masks.next()
            {
                seen += 1;
                vectorized(
                    #[inline(always)]
                    || {
                        for ((m, x), live) in mask.iter_mut().zip(row).zip(&self.live) {
                            *m = if x.to_f64().is_nan() { 0.0 } else { *live };
                        }
                    },
                );
            }
        }
        Body::Table { x, mask, stride }
    }
}
