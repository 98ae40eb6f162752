//! Some rows at a time, standardised, with zeros in their holes, grouped by what they have.

use crate::data::{Prepared, Slab, Standardization, slab_rows, unit_rows};
use crate::error::Result;
use crate::linalg::aligned::Aligned;
use crate::linalg::simd::{Tile, vectorized};
use crate::scalar::Scalar;
use rayon::prelude::*;
use std::collections::HashMap;

/// Rows that are looked at together: few enough to stay in a core's cache, enough that rows of the
/// same pattern meet.
const ROWS: usize = 256;

/// Consecutive rows of the data.
pub(crate) struct Chunk<'c> {
    /// Number of the first row.
    pub first: usize,
    pub rows: usize,
    /// Features.
    pub d: usize,
    /// Distance between rows: d, padded.
    pub stride: usize,
    /// Standardised entries, 0 in holes (rows × stride).
    pub x: &'c [f64],
    /// Rows' weights.
    pub counts: &'c [f64],
    /// Rows of one pattern, in the order of their first row.
    pub groups: &'c [Group],
}

/// Rows that have the same entries.
pub(crate) struct Group {
    /// Rows of the chunk.
    pub rows: Vec<usize>,
    /// Which entries there are (d bits).
    pub bits: Vec<u64>,
    /// How many.
    pub observed: usize,
}

impl Group {
    /// Whether the rows have this feature.
    pub fn has(&self, f: usize) -> bool {
        self.bits[f / 64] >> (f % 64) & 1 == 1
    }
}

impl Chunk<'_> {
    /// One row, standardised, 0 in its holes.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.x[i * self.stride..i * self.stride + self.d]
    }
}

/// Buffers of one task.
struct Work<T> {
    scratch: Vec<T>,
    x: Aligned<f64>,
    counts: Vec<f64>,
    groups: Vec<Group>,
}

impl<T> Default for Work<T> {
    fn default() -> Self {
        Work { scratch: vec![], x: Aligned::default(), counts: vec![], groups: vec![] }
    }
}

/// Visits all rows in parallel: `begin` makes what a unit of rows sums into, `add` adds a chunk to
/// it, and `merge` takes the units' sums in the order of the rows. `units` may be held at once.
pub(crate) fn for_each_chunk<T: Scalar, S: Send>(
    prepared: &Prepared<T>,
    by: &Standardization,
    units: usize,
    begin: impl Fn() -> S + Sync,
    add: impl Fn(&mut S, &Chunk) + Sync,
    mut merge: impl FnMut(S) -> Result<()>,
) -> Result<usize> {
    let d = prepared.data.n_features();
    let unit = unit_rows(d);
    prepared.for_each_slab(slab_rows(d, units), |slab| {
        let starts: Vec<usize> = (0..slab.rows).step_by(unit).collect();
        let sums: Vec<S> = starts
            .par_iter()
            .map_init(Work::default, |work, &start| {
                let mut sums = begin();
                let end = (start + unit).min(slab.rows);
                for at in (start..end).step_by(ROWS) {
                    let rows = ROWS.min(end - at);
                    let stride = read(&slab, by, at, rows, work);
                    let chunk = Chunk {
                        first: slab.first + at,
                        rows,
                        d,
                        stride,
                        x: &work.x,
                        counts: &work.counts,
                        groups: &work.groups,
                    };
                    add(&mut sums, &chunk);
                }
                sums
            })
            .collect();
        sums.into_iter().try_for_each(&mut merge)
    })
}

/// The same for results that are kept, in the order of the rows.
pub(crate) fn map_chunks<T: Scalar, R: Send>(
    prepared: &Prepared<T>,
    by: &Standardization,
    each: impl Fn(&Chunk) -> Result<R> + Sync,
    mut take: impl FnMut(R) -> Result<()>,
) -> Result<usize> {
    for_each_chunk(
        prepared,
        by,
        16,
        Vec::new,
        |found: &mut Vec<Result<R>>, chunk| found.push(each(chunk)),
        |found| found.into_iter().try_for_each(|r| take(r?)),
    )
}

/// Standardises rows and finds their patterns; the distance between rows.
fn read<T: Scalar>(
    slab: &Slab<T>,
    by: &Standardization,
    at: usize,
    rows: usize,
    work: &mut Work<T>,
) -> usize {
    let d = slab.n_features;
    let stride = d.next_multiple_of(f64::PAD);
    let words = d.div_ceil(64);
    work.x.resize(ROWS * stride);
    work.counts.clear();
    work.groups.clear();
    let mut groups: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut bits = vec![0u64; words];
    let block = slab.block(at, at + rows, &mut work.scratch);
    for i in 0..rows {
        let out = &mut work.x[i * stride..(i + 1) * stride];
        out[d..].fill(0.0);
        let row = block.row(i);
        vectorized(
            #[inline(always)]
            || {
                for f in 0..d {
                    let x = row[f].to_f64();
                    let centered = ((x - by.mean[f]) - by.low[f]) * by.weight[f];
                    out[f] = if x.is_nan() { 0.0 } else { centered };
                }
            },
        );
        // A column that weighs 0 says nothing: it is a hole in every row.
        for (word, bits) in bits.iter_mut().enumerate() {
            let range = word * 64..(word * 64 + 64).min(d);
            *bits = row[range.clone()]
                .iter()
                .zip(&by.weight[range])
                .enumerate()
                .fold(0, |all, (bit, (x, w))| {
                    all | (u64::from(!x.to_f64().is_nan() && *w > 0.0) << bit)
                });
        }
        let next = work.groups.len();
        let group = match groups.get(&bits) {
            Some(&group) => group,
            None => {
                groups.insert(bits.clone(), next);
                let observed = bits.iter().map(|b| b.count_ones() as usize).sum();
                work.groups.push(Group { rows: Vec::new(), bits: bits.clone(), observed });
                next
            }
        };
        work.groups[group].rows.push(i);
        work.counts.push(block.count(i));
    }
    stride
}
