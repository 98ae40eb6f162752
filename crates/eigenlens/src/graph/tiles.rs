//! Neighbours in higher dimension: products of tiles say who may be near, exact distances decide.

use super::neighbors::Collector;
use super::points::{Points, squared_distance};
use crate::linalg::simd::{GemmFlags, Left, Tile, vectorized};

/// The points, their mean taken out in passing: `‖a − b‖² = ‖a‖² + ‖b‖² − 2 a·b` cancels least
/// about it.
pub(super) struct Tiles<'a> {
    points: &'a Points,
    mean: Vec<f64>,
    /// ‖x − mean‖² of every point.
    squares: Vec<f64>,
}

/// Points of one tile.
const COLUMNS: usize = 256;
/// Points looked at together for one that may be near.
const GLANCE: usize = 16;

impl<'a> Tiles<'a> {
    pub fn new(points: &'a Points) -> Tiles<'a> {
        let (n, d) = points.view().dim();
        let mut mean = vec![0.0; d];
        for i in 0..n {
            for (m, x) in mean.iter_mut().zip(points.row(i)) {
                *m += x;
            }
        }
        mean.iter_mut().for_each(|m| *m /= n as f64);
        let squares = (0..n).map(|i| squared_distance(points.row(i), &mean)).collect();
        Tiles { points, mean, squares }
    }

    /// Offers every point that may be near enough to the queries from `first` on.
    pub fn search(&self, queries: &Points, first: usize, collectors: &mut [Collector]) {
        let (n, d) = self.points.view().dim();
        let m = collectors.len();
        // The products of rounded numbers are off by at most this share of the squares
        // (Higham 2002, section 3.1, and a margin for taking out the mean).
        let error = (4 * (d + 16)) as f64 * f64::EPSILON;
        let centered: Vec<f64> = (first..first + m)
            .flat_map(|q| queries.row(q).iter().zip(&self.mean).map(|(x, m)| x - m))
            .collect();
        let own: Vec<f64> =
            centered.chunks_exact(d).map(|row| row.iter().map(|v| v * v).sum()).collect();
        let mut right = vec![0.0; d * COLUMNS];
        let mut products = vec![0.0; m * COLUMNS];
        let mut lower = vec![0.0; COLUMNS];
        for start in (0..n).step_by(COLUMNS) {
            let columns = COLUMNS.min(n - start);
            for (j, i) in (start..start + columns).enumerate() {
                for (f, (x, m)) in self.points.row(i).iter().zip(&self.mean).enumerate() {
                    right[f * COLUMNS + j] = x - m;
                }
                lower[j] = self.squares[i] * (1.0 - error);
            }
            let left = Left::new(&centered, m, d, d, 1);
            let flags = GemmFlags { overwrite: true, ..GemmFlags::default() };
            f64::product(left, &right, COLUMNS, columns, &mut products, COLUMNS, flags);
            for (q, collector) in collectors.iter_mut().enumerate() {
                let row = &products[q * COLUMNS..q * COLUMNS + columns];
                let query = queries.row(first + q);
                for (g, glance) in row.chunks(GLANCE).enumerate() {
                    let at = g * GLANCE;
                    // The estimate, less its largest error, must be within reach.
                    let reach = collector.reach - own[q] * (1.0 - error);
                    let lower = &lower[at..at + glance.len()];
                    if !any_within(glance, lower, reach) {
                        continue;
                    }
                    for (j, (p, l)) in glance.iter().zip(lower).enumerate() {
                        if l - 2.0 * p <= reach {
                            let i = start + at + j;
                            let squared = squared_distance(query, self.points.row(i));
                            collector.offer(squared, i as u32);
                        }
                    }
                }
            }
        }
    }
}

fn any_within(products: &[f64], lower: &[f64], reach: f64) -> bool {
    vectorized(
        #[inline(always)]
        || products.iter().zip(lower).fold(false, |any, (p, l)| any | (l - 2.0 * p <= reach)),
    )
}
