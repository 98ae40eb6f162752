//! The rows as an iteration sees them, pass after pass: what need be found out only once is kept.

use super::bits::{Bits, Marked};
use super::chunk::{ROWS, Survey, standardize, standardized};
use super::expectation::Buffers;
use super::gather::ByFeature;
use super::posterior::Groups;
use super::widths::{LANES, most_at_once};
use crate::error::Result;
use crate::linalg::aligned::Aligned;
use crate::linalg::buffer_pool::BufferPool;
use crate::linalg::simd::{Ahead, fetch_lines, has_wide_registers, vectorized};
use crate::passes::{Block, RowGrid, Scaler, batch_rows, reduction_block_rows};
use crate::scalar::Scalar;
use rayon::prelude::*;
use std::cell::Cell;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Data with missing entries, for one pass after the other.
pub(super) struct Rows<'a, 'p, T: Scalar> {
    grid: &'a RowGrid<'p, T>,
    scaler: &'a Scaler,
    /// Latent dimensions, at most.
    k: usize,
    /// 1 for columns that say something.
    live: Vec<f64>,
    /// What was found out about every `ROWS` rows of every unit. Kept or found again, it is the same, so
    /// it does not matter for which of them there was room.
    pieces: Vec<OnceLock<Piece>>,
    /// Bytes that may still be kept.
    room: AtomicU64,
    work: BufferPool<Work<T>>,
    /// Room for whoever sums.
    pub buffers: BufferPool<Buffers>,
}

/// Some rows, standardised.
pub(super) struct View<'v> {
    pub rows: usize,
    /// Features.
    pub d: usize,
    /// Rows' weights.
    pub counts: &'v [f64],
    /// Squared lengths of the rows, and zeros up to whole vectors.
    pub norms: &'v [f64],
    pub groups: &'v Groups,
    pub body: Body<'v>,
    /// The next rows, to be fetched by the way.
    pub ahead: Ahead,
}

/// The form that makes sums over entries cheapest.
#[derive(Clone, Copy)]
pub(super) enum Body<'v> {
    /// Rows with zeros in their missing entries (rows × stride), and zeros and ones of the groups (groups × stride):
    /// the sums are products.
    Table { x: &'v [f64], mask: &'v [f64], stride: usize },
    /// Rows, and bits that say which of their entries there are; no two rows are a group.
    Marked(Marked<'v>),
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
    /// Squared lengths of the rows, and zeros up to whole vectors.
    squares: Vec<f64>,
    /// The first row of every group.
    firsts: Vec<u8>,
    /// Where each feature begins in `holders`, and the last ends.
    feature_starts: Vec<u32>,
    /// The rows that have a feature, one feature after the other.
    holders: Vec<u8>,
}

impl Entries {
    /// Of an entry: its feature, its value, its row.
    const BYTES: usize = size_of::<u32>() + size_of::<f64>() + size_of::<u8>();

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

    /// The same entries by features, where rows and groups are to be summed together.
    pub fn by_feature(&self) -> Option<ByFeature<'_>> {
        (!self.feature_starts.is_empty()).then_some(ByFeature {
            starts: &self.feature_starts,
            holders: &self.holders,
            row_starts: &self.starts,
            values: &self.values,
        })
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

/// What is found out about some rows: of lists and bits the ones that are of use.
#[derive(Clone, Default)]
struct Piece {
    groups: Groups,
    /// Where most entries are there, and few rows have the same.
    bits: Option<Bits>,
    /// Where few are there.
    entries: Option<Entries>,
}

impl Piece {
    fn find<T: Scalar>(
        &mut self,
        block: &Block<T>,
        scaler: &Scaler,
        k: usize,
        survey: &mut Survey,
    ) {
        survey.look(block, scaler);
        let patterns = &survey.patterns;
        let Piece { groups, bits, entries } = self;
        groups.find(patterns);
        let together = k <= most_at_once() && groups.all_differ();
        let observed: usize = (0..block.rows).map(|i| patterns.of_row(i).observed()).sum();
        let share = observed as f64 / (block.rows * block.n_features) as f64;
        let by_bits = by_bits(k, size_of::<T>()).filter(|_| together && has_wide_registers());
        if by_bits.is_some_and(|from| share >= from) {
            *entries = None;
            return bits.get_or_insert_default().find(patterns, block.n_features);
        }
        // The micro-kernel does more additions in the same time, twice as many where rows and groups are
        // gathered one after the other.
        if by_bits.is_none() && share >= if together { 0.6 } else { 0.5 } {
            (*entries, *bits) = (None, None);
            return;
        }
        *bits = None;
        let entries = entries.get_or_insert_default();
        let Entries { starts, features, values, squares, firsts, feature_starts, .. } = entries;
        starts.clear();
        starts.push(0);
        features.clear();
        values.clear();
        for i in 0..block.rows {
            let (row, has) = (block.row(i), patterns.of_row(i).features);
            features.extend(has);
            values.extend(has.iter().map(|&f| standardized(row[f as usize], scaler, f as usize)));
            starts.push(features.len() as u32);
        }
        squares.clear();
        let rows = starts.windows(2).map(|w| &values[w[0] as usize..w[1] as usize]);
        squares.extend(rows.map(|row| row.iter().map(|v| v * v).sum::<f64>()));
        squares.resize(block.rows.next_multiple_of(LANES), 0.0);
        firsts.clear();
        feature_starts.clear();
        if together {
            entries.turn(block.n_features);
        } else {
            // Groups are numbered in the order of their first rows.
            for (i, &g) in groups.of_row.iter().enumerate() {
                if usize::from(g) == firsts.len() {
                    firsts.push(i as u8);
                }
            }
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
        let bits = self.bits.as_ref().map_or(0, Bits::bytes);
        (of_row.len() + 4 * observed.len() + entries + bits) as u64
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
    norms: Vec<f64>,
    counts: Vec<f64>,
}

impl<'a, 'p, T: Scalar> Rows<'a, 'p, T> {
    /// For up to k latent dimensions; keeps up to `room` bytes of what is found out.
    pub fn new(grid: &'a RowGrid<'p, T>, scaler: &'a Scaler, k: usize, room: u64) -> Self {
        let unit = reduction_block_rows(scaler.inv_scale.len());
        let units = grid.n_rows().unwrap_or(0).div_ceil(unit);
        let pieces = if room > 0 { units * unit.div_ceil(ROWS) } else { 0 };
        Rows {
            grid,
            scaler,
            k,
            live: scaler.inv_scale.iter().map(|w| f64::from(u8::from(*w > 0.0))).collect(),
            pieces: (0..pieces).map(|_| OnceLock::new()).collect(),
            room: AtomicU64::new(room),
            work: BufferPool::default(),
            buffers: BufferPool::default(),
        }
    }

    /// Visits all rows in parallel: `begin` makes what a reduction block sums into, `add` adds some rows to
    /// it, and `merge` takes the units' sums in the order of the rows. `units` may be held at once;
    /// `steps` says how often the sums of some groups can fetch something, by bits or as products.
    pub fn pass<S: Send>(
        &self,
        units: usize,
        steps: impl Fn(&Groups, bool) -> usize + Sync,
        begin: impl Fn() -> S + Sync,
        add: impl Fn(&mut S, &View) + Sync,
        mut merge: impl FnMut(S) -> Result<()>,
    ) -> Result<usize> {
        let d = self.scaler.inv_scale.len();
        let unit = reduction_block_rows(d);
        self.grid.for_each_batch(batch_rows(d, units), |batch| {
            let starts: Vec<usize> = (0..batch.rows).step_by(unit).collect();
            let one = |&start: &usize| {
                let mut sums = begin();
                let mut work = self.work.acquire();
                let Work { scratch, survey, piece, x, mask, norms, counts } = &mut *work;
                let end = (start + unit).min(batch.rows);
                let places = (batch.first + start) / unit * unit.div_ceil(ROWS)..;
                for (at, place) in (start..end).step_by(ROWS).zip(places) {
                    let rows = ROWS.min(end - at);
                    let kept = self.pieces.get(place);
                    let known = kept.and_then(OnceLock::get);
                    if known.is_none() {
                        let block = batch.block(at, at + rows, scratch);
                        piece.find(&block, self.scaler, self.k, survey);
                        kept.inspect(|kept| self.keep(kept, piece));
                    }
                    let Piece { groups, bits, entries } = known.unwrap_or(piece);
                    let next = match entries {
                        Some(_) => &[][..],
                        None => batch.upcoming(at + rows, ROWS, end),
                    };
                    let ahead = Ahead::new(next, steps(groups, false));
                    let fetch = fetching(next, bits.as_ref().map_or(1, |_| steps(groups, true)));
                    let (body, norms) = match (entries, bits) {
                        (Some(entries), _) => (Body::Entries(entries), &entries.squares[..]),
                        (None, Some(bits)) => {
                            let block = batch.block(at, at + rows, scratch);
                            let stride = apart(d);
                            self.standardize(&block, stride, x, norms);
                            (Body::Marked(Marked { bits, x, stride, ahead: &fetch }), &norms[..])
                        }
                        (None, None) => {
                            let block = batch.block(at, at + rows, scratch);
                            let stride = d.next_multiple_of(LANES);
                            self.standardize(&block, stride, x, norms);
                            self.mask(&block, groups, stride, mask);
                            (Body::Table { x, mask, stride }, &norms[..])
                        }
                    };
                    counts.clear();
                    counts.extend((at..at + rows).map(|i| batch.count(i)));
                    add(&mut sums, &View { rows, d, counts, norms, groups, body, ahead });
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

    /// Rows `stride` apart with zeros in their missing entries, and their squared lengths.
    fn standardize(
        &self,
        block: &Block<T>,
        stride: usize,
        x: &mut Aligned<f64>,
        norms: &mut Vec<f64>,
    ) {
        x.resize(ROWS * stride);
        norms.clear();
        norms.resize(block.rows.next_multiple_of(LANES), 0.0);
        let rows = x.chunks_exact_mut(stride).zip(&mut *norms).take(block.rows);
        for (i, (out, norm)) in rows.enumerate() {
            standardize(block.row(i), self.scaler, out);
            *norm = vectorized(
                #[inline(always)]
                || {
                    let mut sums = [0.0; LANES];
                    for x in out.as_chunks::<LANES>().0 {
                        for l in 0..LANES {
                            sums[l] += x[l] * x[l];
                        }
                    }
                    sums.iter().sum()
                },
            );
        }
    }

    /// Ones where the first rows of groups have an entry, zeros elsewhere.
    fn mask(&self, block: &Block<T>, groups: &Groups, stride: usize, mask: &mut Aligned<f64>) {
        mask.resize(ROWS * stride);
        let mut masks = mask.chunks_exact_mut(stride);
        let mut seen = 0;
        for i in 0..block.rows {
            // Groups are numbered in the order of their first rows.
            if usize::from(groups.of_row[i]) == seen
                && let Some(mask) = masks.next()
            {
                seen += 1;
                vectorized(
                    #[inline(always)]
                    || {
                        for ((m, x), live) in mask.iter_mut().zip(block.row(i)).zip(&self.live) {
                            *m = if x.to_f64().is_nan() { 0.0 } else { *live };
                        }
                    },
                );
            }
        }
    }
}

/// The share of entries from which on bits are fastest, as measured, for data of so many bytes an entry. By bits
/// all of a row is read and standardised, which weighs less the more is done with every entry; with one vector
/// or two products are faster. Lists that take more memory than the data are not kept, and would have to be
/// found again in every pass.
fn by_bits(k: usize, element: usize) -> Option<f64> {
    let kept = element as f64 / Entries::BYTES as f64;
    match k {
        ..=2 => None,
        3..=7 => Some(kept),
        _ => Some(kept.min(0.45)),
    }
}

/// The distance of rows of d numbers that are also read down their columns: an odd number of cache lines,
/// so that they do not crowd in a few places of the cache.
fn apart(d: usize) -> usize {
    (d.div_ceil(LANES) | 1) * LANES
}

/// Fetches an even share of what comes next whenever it is called, all of it in so many steps.
fn fetching<T>(next: &[T], steps: usize) -> impl Fn() {
    let line = 64 / size_of::<T>();
    let share = next.len().div_ceil(steps.max(1)).next_multiple_of(line);
    let left = Cell::new(next);
    move || {
        let (now, later) = left.get().split_at(share.min(left.get().len()));
        fetch_lines(now);
        left.set(later);
    }
}
