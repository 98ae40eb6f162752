//! The kernel matrix as an operator: stored, or recomputed tile by tile at every application.

use super::Operator;
use crate::error::Result;
use crate::kernel::{Arithmetic, Points, ResolvedKernel, Scratch, TILE, tile};
use crate::linalg::aligned::Aligned;
use crate::linalg::cancel;
use crate::linalg::simd::{GROUP, WIDTH, fetch_line, symmetric_tile, vectorized};
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// `K` of some points, or `H K H` with `H = I − 11ᵀ/n`. Only tiles on and below the diagonal are
/// computed or kept; each serves both halves.
pub(crate) struct KernelGram<'a> {
    kernel: &'a ResolvedKernel,
    points: &'a Points,
    tiles: Option<Tiles>,
    /// The sum of every row, where the tiles have been computed.
    row_sums: Option<Vec<f64>>,
    center: bool,
    /// Blocks that earlier applications used: memory fresh from the system costs more than sums.
    blocks: Mutex<Vec<Aligned<f64>>>,
}

/// Tiles on and below the diagonal, row by row of tiles, groups of rows interleaved.
enum Tiles {
    F32(Aligned<f32>),
    F64(Aligned<f64>),
}

/// Partial sums that are held apart and added in order, so that the bits do not depend on threads.
const PARTS: usize = 16;

const SIZE: usize = TILE * TILE;

impl<'a> KernelGram<'a> {
    /// Tiles are recomputed whenever the operator is applied.
    pub fn recomputed(kernel: &'a ResolvedKernel, points: &'a Points) -> Self {
        KernelGram {
            kernel,
            points,
            tiles: None,
            row_sums: None,
            center: false,
            blocks: Mutex::default(),
        }
    }

    /// Tiles are computed once and kept: in f32 where the points are.
    pub fn stored(kernel: &'a ResolvedKernel, points: &'a Points) -> Result<Self> {
        let mut gram = Self::recomputed(kernel, points);
        let (tiles, sums) = match points.arithmetic() {
            Some(Arithmetic::F32) => {
                let (tiles, sums) = gram.all_tiles::<f32>()?;
                (Tiles::F32(tiles), sums)
            }
            _ => {
                let (tiles, sums) = gram.all_tiles::<f64>()?;
                (Tiles::F64(tiles), sums)
            }
        };
        (gram.tiles, gram.row_sums) = (Some(tiles), Some(sums));
        Ok(gram)
    }

    /// The same with rows and columns centred.
    pub fn centered(mut self) -> Self {
        self.center = true;
        self
    }

    /// Bytes of the stored tiles of n points.
    pub fn stored_memory(n: usize, arithmetic: Arithmetic) -> u64 {
        let panels = n.div_ceil(TILE) as u64;
        let element = if arithmetic == Arithmetic::F32 { 4 } else { 8 };
        (panels * (panels + 1) / 2)
            .saturating_mul(SIZE as u64 * element + size_of::<TileSums>() as u64)
    }

    /// Bytes one application to b vectors allocates.
    pub fn apply_memory(n: usize, b: usize) -> u64 {
        (n.next_multiple_of(TILE) as u64 * 8)
            .saturating_mul(((PARTS + 2) * b.next_multiple_of(WIDTH)) as u64 + b as u64)
    }

    /// `K 1`, before any centring.
    pub fn row_sums(&self) -> Result<Vec<f64>> {
        if let Some(sums) = &self.row_sums {
            return Ok(sums.clone());
        }
        let n = self.points.len();
        let mut sums = Array2::zeros((n, 1));
        self.apply(Array2::ones((n, 1)).view(), &mut sums)?;
        Ok(sums.into_raw_vec_and_offset().0)
    }

    fn all_tiles<S: tile::TileValue>(&self) -> Result<(Aligned<S>, Vec<f64>)> {
        let panels = self.points.n_panels();
        let mut tiles = Aligned::<S>::zeros(panels * (panels + 1) / 2 * SIZE);
        let places: Vec<(usize, usize)> =
            (0..panels).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
        let cancel = cancel::current();
        let sums: Vec<TileSums> = tiles
            .par_chunks_mut(SIZE)
            .zip(&places)
            .map_init(Scratch::default, |scratch, (out, &(i, j))| {
                cancel.check()?;
                let (a, b) = (self.points.panel(i), self.points.panel(j));
                let values = tile::values::<S>(self.kernel, &a, &b, scratch);
                interleave(values, a.rows, b.rows, out);
                Ok(TileSums::of(values, a.rows, b.rows))
            })
            .collect::<Result<_>>()?;
        let mut total = vec![0.0; panels * TILE];
        for (&(i, j), sums) in places.iter().zip(&sums) {
            let mut add = |panel: usize, sums: &[f64]| {
                total[panel * TILE..].iter_mut().zip(sums).for_each(|(t, s)| *t += s);
            };
            add(i, &sums.rows);
            if i != j {
                add(j, &sums.columns);
            }
        }
        total.truncate(self.points.len());
        Ok((tiles, total))
    }

    /// `K X` for padded blocks of [`WIDTH`] columns.
    fn product(&self, x: &[Aligned<f64>]) -> Result<Vec<Aligned<f64>>> {
        let cancel = cancel::current();
        let panels = self.points.n_panels();
        let length = panels * TILE * WIDTH;
        let parts: Vec<Vec<Aligned<f64>>> = (0..PARTS.min(panels))
            .into_par_iter()
            .map(|part| {
                let mut y: Vec<_> = x.iter().map(|_| self.block(length)).collect();
                let mut scratch = Scratch::default();
                let mut room = Aligned::<f64>::zeros(SIZE);
                for i in (0..panels).filter(|&i| part_of(i, panels) == part) {
                    cancel.check()?;
                    for j in 0..=i {
                        self.one_tile((i, j), &mut scratch, &mut room, x, &mut y);
                    }
                }
                Ok(y)
            })
            .collect::<Result<_>>()?;
        let mut parts = parts.into_iter();
        let mut total = parts.next().unwrap_or_default();
        for part in parts {
            for (total, part) in total.iter_mut().zip(&part) {
                total.par_chunks_mut(1 << 14).zip(part.par_chunks(1 << 14)).for_each(
                    |(total, part)| total.iter_mut().zip(part).for_each(|(t, p)| *t += p),
                );
            }
            self.give_back(part);
        }
        Ok(total)
    }

    /// A block of zeros.
    fn block(&self, length: usize) -> Aligned<f64> {
        let used = self.blocks.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut block = used.unwrap_or_default();
        block.resize(length);
        block.fill(0.0);
        block
    }

    /// Frees what applications keep for the next one.
    pub fn rest(&self) {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn give_back(&self, blocks: Vec<Aligned<f64>>) {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner).extend(blocks);
    }

    fn one_tile(
        &self,
        (i, j): (usize, usize),
        scratch: &mut Scratch,
        room: &mut [f64],
        x: &[Aligned<f64>],
        y: &mut [Aligned<f64>],
    ) {
        let at = i * (i + 1) / 2 + j;
        match &self.tiles {
            Some(Tiles::F64(tiles)) => {
                add_tile(&tiles[at * SIZE..(at + 1) * SIZE], (i, j), x, y);
            }
            Some(Tiles::F32(tiles)) => {
                // A group at a time: widened, it stays in the first-level cache.
                let tile = &tiles[at * SIZE..(at + 1) * SIZE];
                for (group, narrow) in tile.chunks_exact(GROUP * TILE).enumerate() {
                    let wide = &mut room[..GROUP * TILE];
                    widen(narrow, tiles.get(at * SIZE + (group + 3) * GROUP * TILE..), wide);
                    add_rows(wide, group * GROUP, (i, j), x, y);
                }
            }
            None => {
                let (a, b) = (self.points.panel(i), self.points.panel(j));
                if self.points.arithmetic() == Some(Arithmetic::F32) {
                    let values = tile::values::<f32>(self.kernel, &a, &b, scratch);
                    interleave(values, a.rows, b.rows, room);
                } else {
                    let values = tile::values::<f64>(self.kernel, &a, &b, scratch);
                    interleave(values, a.rows, b.rows, room);
                }
                add_tile(room, (i, j), x, y);
            }
        }
    }

    /// What products with unit vectors (n × ·) are off by, where kernel values are computed in f64 and none exceeds
    /// `size`: their norm, and along the vectors themselves. Errors of values add up as independent ones; those of
    /// sums are in proportion to the largest partial sum, which for values that are all alike is that of the vector.
    pub fn rounding(&self, size: f64, vectors: ArrayView2<f64>) -> Vec<(f64, f64)> {
        let root = (self.points.len() as f64).sqrt();
        let values = self.kernel.value_rounding(self.points, size);
        let of = |vector: ArrayView1<f64>| {
            let mut sum = 0.0;
            let partial = vector.iter().fold(1.0f64, |most, v| {
                sum += v;
                most.max(f64::abs(sum))
            });
            let sums = f64::EPSILON * size * partial * root;
            (2.0 * root * values + root * sums, 3.0 * values + 2.0 * sums)
        };
        vectors.columns().into_iter().map(of).collect()
    }

    pub fn diagonal(&self) -> Vec<f64> {
        let panels: Vec<Vec<f64>> = (0..self.points.n_panels())
            .into_par_iter()
            .map(|i| tile::diagonal(self.kernel, &self.points.panel(i)))
            .collect();
        panels.concat()
    }
}

/// The sums of a tile's rows and of its columns.
struct TileSums {
    rows: [f64; TILE],
    columns: [f64; TILE],
}

impl TileSums {
    fn of<S: Scalar>(tile: &[S], rows: usize, columns: usize) -> TileSums {
        const LANES: usize = 8;
        let mut sums = TileSums { rows: [0.0; TILE], columns: [0.0; TILE] };
        vectorized(
            #[inline(always)]
            || {
                for (line, sum) in tile.chunks_exact(TILE).zip(&mut sums.rows).take(rows) {
                    let (line, mut lanes) = (&line[..columns], [0.0; LANES]);
                    for (c, v) in sums.columns.iter_mut().zip(line) {
                        *c += v.to_f64();
                    }
                    let (whole, rest) = line.as_chunks::<LANES>();
                    for values in whole {
                        (0..LANES).for_each(|l| lanes[l] += values[l].to_f64());
                    }
                    *sum = lanes.iter().sum::<f64>() + rest.iter().map(|v| v.to_f64()).sum::<f64>();
                }
            },
        );
        sums
    }
}

/// Which partial sum a row of tiles belongs to: there and back, so that all have as many tiles.
fn part_of(row: usize, panels: usize) -> usize {
    let parts = PARTS.min(panels);
    let (round, place) = (row / parts, row % parts);
    if round.is_multiple_of(2) { place } else { parts - 1 - place }
}

/// Rearranges a tile so that [`GROUP`] rows are one stream; zeros past its rows and columns.
fn interleave<S: Scalar, O: Scalar>(tile: &[S], rows: usize, columns: usize, out: &mut [O]) {
    if rows == TILE && columns == TILE {
        for (tile, out) in tile.chunks_exact(GROUP * TILE).zip(out.chunks_exact_mut(GROUP * TILE)) {
            let (lines, _) = tile.as_chunks::<TILE>();
            for (j, out) in out.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
                for (r, out) in out.iter_mut().enumerate() {
                    *out = O::from_f64(lines[r][j].to_f64());
                }
            }
        }
        return;
    }
    out.fill(O::default());
    for i in 0..rows {
        let group = &mut out[i / GROUP * GROUP * TILE..];
        for j in 0..columns {
            group[j * GROUP + i % GROUP] = O::from_f64(tile[i * TILE + j].to_f64());
        }
    }
}

/// Widens a group, and fetches what comes later.
fn widen(narrow: &[f32], later: Option<&[f32]>, wide: &mut [f64]) {
    let later = later.unwrap_or_default();
    for line in later.iter().step_by(16).take(narrow.len() / 16) {
        fetch_line(line);
    }
    // A loop of its own: with the fetches in between it would convert one number at a time.
    vectorized(
        #[inline(always)]
        || {
            for (to, from) in wide.iter_mut().zip(narrow) {
                *to = f64::from(*from);
            }
        },
    );
}

fn add_tile(tile: &[f64], at: (usize, usize), x: &[Aligned<f64>], y: &mut [Aligned<f64>]) {
    add_rows(tile, 0, at, x, y);
}

/// Adds the products of some rows of the tile (i, j), from `first` on.
fn add_rows(
    rows: &[f64],
    first: usize,
    (i, j): (usize, usize),
    x: &[Aligned<f64>],
    y: &mut [Aligned<f64>],
) {
    const LINES: usize = TILE * WIDTH;
    let (from, skip) = (i * LINES, first * WIDTH);
    for (x, y) in x.iter().zip(y) {
        let (x_rows, x_columns) = (&x[from + skip..from + LINES], &x[j * LINES..(j + 1) * LINES]);
        if i == j {
            symmetric_tile(rows, TILE, x_rows, x_columns, &mut y[from + skip..from + LINES], None);
        } else {
            let (before, after) = y.split_at_mut(from);
            let y_columns = &mut before[j * LINES..(j + 1) * LINES];
            symmetric_tile(rows, TILE, x_rows, x_columns, &mut after[skip..LINES], Some(y_columns));
        }
    }
}

impl Operator for KernelGram<'_> {
    fn dim(&self) -> usize {
        self.points.len()
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        let (n, b) = v.dim();
        let means =
            if self.center { v.mean_axis(Axis(0)).unwrap_or_default() } else { Default::default() };
        let padded = self.points.n_panels() * TILE;
        let x: Vec<Aligned<f64>> = (0..b)
            .step_by(WIDTH)
            .map(|first| {
                let mut block = self.block(padded * WIDTH);
                let width = WIDTH.min(b - first);
                for (to, row) in block.chunks_exact_mut(WIDTH).zip(v.rows()) {
                    for c in 0..width {
                        to[c] = row[first + c] - if self.center { means[first + c] } else { 0.0 };
                    }
                }
                block
            })
            .collect();
        let y = self.product(&x)?;
        for (c, mut column) in out.columns_mut().into_iter().enumerate() {
            let from = &y[c / WIDTH];
            for i in 0..n {
                column[i] = from[i * WIDTH + c % WIDTH];
            }
        }
        self.give_back(x);
        self.give_back(y);
        if self.center {
            let means = out.mean_axis(Axis(0)).unwrap_or_default();
            *out -= &means;
        }
        Ok(())
    }

    fn fingerprint(&self) -> u64 {
        self.points.fingerprint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::kernel::{Gathering, center_kernel};
    use crate::linalg::random;

    #[test]
    fn stored_and_recomputed_are_the_matrix() {
        let kernel = ResolvedKernel::rbf(0.1);
        for n in [2, 7, 128, 300] {
            let x = random::normal_matrix(&mut random::stream(1, n as u64), n, 5);
            let data = Dataset::from(&x);
            let matrix = kernel.matrix(&data, &data).unwrap();
            let (centered, _, _) = center_kernel(matrix.view());
            let points = Gathering::new(&kernel, &data).unwrap().gather().unwrap();
            let narrow = x.mapv(|v| v as f32);
            let narrow =
                Gathering::new(&kernel, &Dataset::from(&narrow)).unwrap().gather().unwrap();
            for b in [1, 8, 11] {
                let v = random::normal_matrix(&mut random::stream(2, n as u64), n, b);
                let check = |gram: KernelGram, matrix: &Array2<f64>, within: f64| {
                    let mut product = Array2::zeros((n, b));
                    gram.apply(v.view(), &mut product).unwrap();
                    let off =
                        (&product - &matrix.dot(&v)).iter().fold(0.0f64, |m, d| m.max(d.abs()));
                    assert!(off < within * n as f64, "{n} {b}: {off:e}");
                };
                check(KernelGram::recomputed(&kernel, &points), &matrix, 1e-14);
                check(KernelGram::stored(&kernel, &points).unwrap(), &matrix, 1e-14);
                check(KernelGram::stored(&kernel, &points).unwrap().centered(), &centered, 1e-14);
                check(KernelGram::stored(&kernel, &narrow).unwrap(), &matrix, 1e-6);
                check(KernelGram::recomputed(&kernel, &narrow).centered(), &centered, 1e-6);
            }
            assert_eq!(KernelGram::recomputed(&kernel, &points).diagonal(), vec![1.0; n]);
            for (gram, within) in [
                (KernelGram::stored(&kernel, &points).unwrap(), 1e-14),
                (KernelGram::recomputed(&kernel, &points), 1e-14),
                (KernelGram::stored(&kernel, &narrow).unwrap(), 1e-6),
            ] {
                for (sum, row) in gram.row_sums().unwrap().iter().zip(matrix.rows()) {
                    assert!((sum - row.sum()).abs() < within * n as f64);
                }
                assert_eq!(gram.row_sums().unwrap().len(), n);
            }
        }
    }
}
