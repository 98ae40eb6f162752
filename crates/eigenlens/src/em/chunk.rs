//! Some rows at a time, standardised, with zeros in their missing entries, grouped by what they have.

use super::patterns::{Group, Patterns};
use crate::error::Result;
use crate::linalg::aligned::Aligned;
use crate::linalg::simd::{Tile, vectorized};
use crate::passes::{Block, RowBatch, RowGrid, Scaler, batch_rows, reduction_block_rows};
use crate::scalar::Scalar;
use rayon::prelude::*;

/// Rows that are looked at together: few enough to stay in a core's cache, enough that rows of the
/// same pattern meet.
pub(super) const ROWS: usize = 128;

/// Consecutive rows of the data.
pub(crate) struct Chunk<'c> {
    /// Number of the first row.
    pub first: usize,
    pub rows: usize,
    /// Features.
    pub d: usize,
    /// Distance between rows: d, padded.
    pub stride: usize,
    /// Standardised entries, 0 in missing entries (rows × stride).
    pub x: &'c [f64],
    /// Rows' weights.
    pub counts: &'c [f64],
    pub(super) patterns: &'c Patterns,
}

impl Chunk<'_> {
    /// One row, standardised, 0 in its missing entries.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.x[i * self.stride..i * self.stride + self.d]
    }

    /// The features of a row, and their entries as weights.
    pub(super) fn row_entries(&self, i: usize) -> (&[u32], impl Fn(usize, usize) -> f64) {
        let row = self.row(i);
        (self.patterns.of_row(i).features, move |_, f| row[f])
    }

    /// The features of a group, which weigh 1.
    pub(super) fn group_entries(&self, g: usize) -> (&[u32], impl Fn(usize, usize) -> f64) {
        (self.patterns.group(g).features, |_, _| 1.0)
    }

    /// Rows of one pattern, in the order of their first row.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = Group<'_>> {
        (0..self.patterns.len()).map(|p| self.patterns.group(p))
    }
}

/// Buffers of one task.
struct Work<T> {
    scratch: Vec<T>,
    x: Aligned<f64>,
    counts: Vec<f64>,
    survey: Survey,
}

impl<T> Default for Work<T> {
    fn default() -> Self {
        Work { scratch: vec![], x: Aligned::default(), counts: vec![], survey: Survey::default() }
    }
}

/// Visits all rows in parallel: `begin` makes what a reduction block sums into, `add` adds a chunk to
/// it, and `merge` takes the units' sums in the order of the rows. `units` may be held at once.
pub(crate) fn for_each_chunk<T: Scalar, S: Send>(
    grid: &RowGrid<T>,
    scaler: &Scaler,
    units: usize,
    begin: impl Fn() -> S + Sync,
    add: impl Fn(&mut S, &Chunk) + Sync,
    mut merge: impl FnMut(S) -> Result<()>,
) -> Result<usize> {
    let d = grid.data.n_features();
    let unit = reduction_block_rows(d);
    grid.for_each_batch(batch_rows(d, units), |batch| {
        let starts: Vec<usize> = (0..batch.rows).step_by(unit).collect();
        let sums: Vec<S> = starts
            .par_iter()
            .map_init(Work::default, |work, &start| {
                let mut sums = begin();
                let end = (start + unit).min(batch.rows);
                for at in (start..end).step_by(ROWS) {
                    let rows = ROWS.min(end - at);
                    let stride = read(&batch, scaler, at, rows, work);
                    let chunk = Chunk {
                        first: batch.first + at,
                        rows,
                        d,
                        stride,
                        x: &work.x,
                        counts: &work.counts,
                        patterns: &work.survey.patterns,
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
    grid: &RowGrid<T>,
    scaler: &Scaler,
    each: impl Fn(&Chunk) -> Result<R> + Sync,
    mut take: impl FnMut(R) -> Result<()>,
) -> Result<usize> {
    for_each_chunk(
        grid,
        scaler,
        16,
        Vec::new,
        |found: &mut Vec<Result<R>>, chunk| found.push(each(chunk)),
        |found| found.into_iter().try_for_each(|r| take(r?)),
    )
}

/// Standardises rows and finds their patterns; the distance between rows.
fn read<T: Scalar>(
    batch: &RowBatch<T>,
    scaler: &Scaler,
    at: usize,
    rows: usize,
    work: &mut Work<T>,
) -> usize {
    let d = batch.n_features;
    let stride = d.next_multiple_of(f64::PAD);
    let block = batch.block(at, at + rows, &mut work.scratch);
    work.survey.look(&block, scaler);
    work.counts.clear();
    work.counts.extend((0..rows).map(|i| block.count(i)));
    work.x.resize(ROWS * stride);
    for (i, out) in work.x.chunks_exact_mut(stride).enumerate().take(rows) {
        standardize(block.row(i), scaler, out);
    }
    stride
}

/// A row, standardised, with zeros in its missing entries and after its end.
#[inline]
pub(super) fn standardize<T: Scalar>(row: &[T], scaler: &Scaler, out: &mut [f64]) {
    let d = row.len();
    let (out, padding) = out.split_at_mut(d);
    padding.fill(0.0);
    // Slices of one length: their bounds are checked once.
    let (mean, low, weight) = (&scaler.mean_hi[..d], &scaler.mean_lo[..d], &scaler.inv_scale[..d]);
    vectorized(
        #[inline(always)]
        || {
            for f in 0..d {
                let x = row[f].to_f64();
                let centered = ((x - mean[f]) - low[f]) * weight[f];
                out[f] = if x.is_nan() { 0.0 } else { centered };
            }
        },
    );
}

/// One entry, standardised as in a whole row.
#[inline(always)]
pub(super) fn standardized<T: Scalar>(x: T, scaler: &Scaler, f: usize) -> f64 {
    ((x.to_f64() - scaler.mean_hi[f]) - scaler.mean_lo[f]) * scaler.inv_scale[f]
}

/// Finds out which entries rows have.
#[derive(Default)]
pub(super) struct Survey {
    /// Columns that say something.
    live: Vec<u64>,
    /// Which entries of a row there are, as bytes and as bits.
    present: Vec<u8>,
    bits: Vec<u64>,
    /// What was found.
    pub patterns: Patterns,
}

impl Survey {
    pub fn look<T: Scalar>(&mut self, block: &Block<T>, scaler: &Scaler) {
        let d = block.n_features;
        self.patterns.begin(d, block.rows);
        self.present.clear();
        self.present.resize(d.next_multiple_of(64), 0);
        // A column that weighs 0 says nothing: it is a missing entry in every row.
        for (p, w) in self.present.iter_mut().zip(&scaler.inv_scale) {
            *p = u8::from(*w > 0.0);
        }
        self.live.clear();
        self.live.extend(packed_bits(&self.present));
        for i in 0..block.rows {
            let (row, present) = (&block.row(i)[..d], &mut self.present[..d]);
            vectorized(
                #[inline(always)]
                || {
                    for f in 0..d {
                        present[f] = u8::from(!row[f].to_f64().is_nan());
                    }
                },
            );
            self.bits.clear();
            let packed = packed_bits(&self.present).zip(&self.live);
            self.bits.extend(packed.map(|(bits, live)| bits & live));
            self.patterns.add(&self.bits);
        }
        self.patterns.end();
    }
}

/// Bytes that are 0 or 1 as bits, 64 to a word.
fn packed_bits(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let (words, _) = bytes.as_chunks::<64>();
    words.iter().map(|bytes| {
        let (eights, _) = bytes.as_chunks::<8>();
        // The product moves byte i to bit 56 + i; nothing is carried, as no two terms meet.
        let bits =
            |bytes: &[u8; 8]| u64::from_le_bytes(*bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        eights.iter().enumerate().fold(0, |word, (i, bytes)| word | bits(bytes) << (8 * i))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_bits() {
        let word = 0x8000_f00d_1234_5601u64;
        let bytes: Vec<u8> = (0..64).map(|b| (word >> b & 1) as u8).collect();
        let all = [bytes.clone(), vec![1; 64], bytes].concat();
        assert_eq!(packed_bits(&all).collect::<Vec<_>>(), [word, u64::MAX, word]);
    }
}
