//! The sums over pairs of samples that every estimate and test of HSIC is made of.

use super::hsic::HsicEstimate;
use super::side::{Side, add_product};
use crate::error::Result;
use crate::kernel::{Scratch, TILE};
use rayon::prelude::*;

/// What is known of one side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SideSums {
    /// tr K̃.
    pub trace: f64,
    /// tr K̃².
    pub squares: f64,
    /// Σ K̃_ii².
    pub diagonal_squares: f64,
}

/// Sums over all pairs of samples, of both centred kernels.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub n: usize,
    /// tr(K̃ L̃).
    pub cross: f64,
    /// Σ K̃_ii L̃_ii.
    pub diagonal: f64,
    pub x: SideSums,
    pub y: SideSums,
}

/// Samples whose sums are one term.
const PIECE: usize = 4096;

impl Sums {
    /// Thin where both sides are; otherwise a tile of both kernels at a time.
    pub fn of(x: &Side, y: &Side) -> Result<Sums> {
        let n = x.len();
        match (x.width(), y.width()) {
            // A factor wider than there are samples is no shorter than tiles.
            (Some(a), Some(b)) if a.max(b) <= n.max(64) => Ok(thin(x, y)),
            _ => Ok(tiled(x, y)),
        }
    }

    /// Gretton et al. 2005; Song et al. 2012, equation 5, from centred kernels: off the diagonal
    /// those differ from the kernels by terms of one index, which the estimate does not see, and the
    /// off-diagonal sum of row i is −K̃_ii.
    pub fn estimate(&self) -> HsicEstimate {
        let n = self.n as f64;
        let unbiased = (self.n >= 4).then(|| {
            let off = self.cross - self.diagonal;
            let sums = self.x.trace * self.y.trace / ((n - 1.0) * (n - 2.0));
            (off + sums - 2.0 * self.diagonal / (n - 2.0)) / (n * (n - 3.0))
        });
        let size = (self.x.squares * self.y.squares).sqrt();
        HsicEstimate {
            n_samples: self.n,
            biased: self.cross.max(0.0) / ((n - 1.0) * (n - 1.0)),
            unbiased,
            alignment: if size > 0.0 { (self.cross / size).clamp(0.0, 1.0) } else { 0.0 },
        }
    }
}

fn thin(x: &Side, y: &Side) -> Sums {
    let n = x.len();
    let pieces: Vec<usize> = (0..n).step_by(PIECE).collect();
    let parts: Vec<Sums> = pieces
        .par_iter()
        .map(|&start| {
            let mut sums = Sums::default();
            for i in start..(start + PIECE).min(n) {
                let (a, b) = (x.thin_diagonal(i), y.thin_diagonal(i));
                sums.x.trace += a;
                sums.x.diagonal_squares += a * a;
                sums.y.trace += b;
                sums.y.diagonal_squares += b * b;
                sums.diagonal += a * b;
            }
            sums
        })
        .collect();
    let mut total = Sums { n, ..Sums::default() };
    for part in &parts {
        total.add(part);
    }
    total.cross = squared_product(x, y, None);
    total.x.squares = squared_product(x, x, None);
    total.y.squares = squared_product(y, y, None);
    total
}

/// `‖Aᵀ B‖²_F` of two thin sides, the samples of the second in another order where one is given.
pub(super) fn squared_product(x: &Side, y: &Side, order: Option<&[u32]>) -> f64 {
    let n = x.len();
    let place = |i: usize| order.map_or(i, |o| o[i] as usize);
    match (x, y) {
        (Side::Classes { codes, sizes }, Side::Classes { codes: others, sizes: their }) => {
            // A table of counts, less what independence would give.
            let width = their.len();
            let mut table = vec![0.0; sizes.len() * width];
            for (i, &c) in codes.iter().enumerate() {
                table[c as usize * width + others[place(i)] as usize] += 1.0;
            }
            let mut sum = 0.0;
            for (line, size) in table.chunks_exact(width).zip(sizes) {
                for (count, their) in line.iter().zip(their) {
                    let excess = count - size * their / n as f64;
                    sum += excess * excess;
                }
            }
            sum
        }
        (Side::Rows(rows), Side::Classes { codes, sizes }) => {
            let width = rows.ncols();
            let mut sums = vec![0.0; sizes.len() * width];
            for (i, row) in rows.rows().into_iter().enumerate() {
                let class = codes[place(i)] as usize;
                let line = &mut sums[class * width..(class + 1) * width];
                line.iter_mut().zip(row).for_each(|(s, v)| *s += v);
            }
            // The rows sum to 0 but for rounding, so the mean of the classes takes nothing away.
            sums.iter().map(|s| s * s).sum()
        }
        (Side::Classes { codes, sizes }, Side::Rows(rows)) => {
            let width = rows.ncols();
            let mut sums = vec![0.0; sizes.len() * width];
            for (i, &class) in codes.iter().enumerate() {
                let line = &mut sums[class as usize * width..(class as usize + 1) * width];
                line.iter_mut().zip(rows.row(place(i))).for_each(|(s, v)| *s += v);
            }
            sums.iter().map(|s| s * s).sum()
        }
        (Side::Rows(a), Side::Rows(b)) => {
            let mut product = vec![0.0; a.ncols() * b.ncols()];
            let mut gathered = Vec::new();
            for start in (0..n).step_by(TILE) {
                let rows = TILE.min(n - start);
                gathered.clear();
                for i in start..start + rows {
                    gathered.extend(b.row(place(i)));
                }
                let (left, _) = crate::linalg::gemm::rows_of(&a.slice(ndarray::s![start.., ..]));
                add_product(left, a.ncols(), &gathered, b.ncols(), rows, &mut product);
            }
            product.iter().map(|p| p * p).sum()
        }
        _ => f64::NAN,
    }
}

/// Tiles below the diagonal count twice.
fn tiled(x: &Side, y: &Side) -> Sums {
    let n = x.len();
    let parts: Vec<Sums> = (0..x.n_panels())
        .into_par_iter()
        .map_init(
            || (Scratch::default(), vec![0.0; TILE * TILE], vec![0.0; TILE * TILE]),
            |(scratch, a, b), i| {
                let mut sums = Sums::default();
                for j in 0..=i {
                    x.tile(i, j, scratch, a);
                    y.tile(i, j, scratch, b);
                    let (rows, columns) = (TILE.min(n - i * TILE), TILE.min(n - j * TILE));
                    let (mut cross, mut left, mut right) = (0.0, 0.0, 0.0);
                    for r in 0..rows {
                        for c in 0..columns {
                            let (k, l) = (a[r * TILE + c], b[r * TILE + c]);
                            cross += k * l;
                            left += k * k;
                            right += l * l;
                        }
                    }
                    let times = if i == j { 1.0 } else { 2.0 };
                    sums.cross += times * cross;
                    sums.x.squares += times * left;
                    sums.y.squares += times * right;
                    if i == j {
                        for r in 0..rows {
                            let (k, l) = (a[r * TILE + r], b[r * TILE + r]);
                            sums.x.trace += k;
                            sums.y.trace += l;
                            sums.x.diagonal_squares += k * k;
                            sums.y.diagonal_squares += l * l;
                            sums.diagonal += k * l;
                        }
                    }
                }
                sums
            },
        )
        .collect();
    let mut total = Sums { n, ..Sums::default() };
    for part in &parts {
        total.add(part);
    }
    total
}

impl Sums {
    fn add(&mut self, part: &Sums) {
        self.cross += part.cross;
        self.diagonal += part.diagonal;
        for (to, from) in [(&mut self.x, &part.x), (&mut self.y, &part.y)] {
            to.trace += from.trace;
            to.squares += from.squares;
            to.diagonal_squares += from.diagonal_squares;
        }
    }
}
