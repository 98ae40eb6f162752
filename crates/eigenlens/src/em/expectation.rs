//! The step that takes expectations: posterior of every row's latent scores, and their sums.

use super::bits::{Marked, gather_marked, scatter_marked};
use super::gather::{gather, gather_both, scatter, scatter_both};
use super::maximization::FactorGaussian;
use super::pieces::{Body, Rows, View};
use super::posterior::{Groups, Posterior};
use super::widths::{packed_width, width};
use crate::error::Result;
use crate::linalg::aligned::Aligned;
use crate::linalg::simd::{GemmFlags, Left, Tile};
use crate::linalg::small::packed_len;
use crate::scalar::Scalar;

/// Sums over rows that the maximisation needs, with `ẑ = (z, 1)` and q = (k + 1)(k + 2)/2.
pub(crate) struct Sums {
    /// `Σ x_f E[ẑ]`, then `Σ E[ẑ ẑᵀ]` over the rows that have feature f (d × ((k + 1) + q), each padded).
    features: Aligned<f64>,
    k: usize,
    /// `Σ E[ẑ ẑᵀ]` over all rows with something observed (q).
    pub latent: Vec<f64>,
    /// `Σ x²` over observed entries.
    pub squares: f64,
}

impl Sums {
    fn zero(d: usize, k: usize) -> Sums {
        Sums {
            features: Aligned::zeros(d * both_widths(k)),
            k,
            latent: vec![0.0; packed_len(k + 1)],
            squares: 0.0,
        }
    }

    fn add(&mut self, other: &Sums) {
        let pairs = [
            (&mut self.features[..], &other.features[..]),
            (&mut self.latent[..], &other.latent[..]),
        ];
        for (sums, more) in pairs {
            for (s, m) in sums.iter_mut().zip(more) {
                *s += m;
            }
        }
        self.squares += other.squares;
    }

    /// `Σ E[ẑ ẑᵀ]` over the rows that have a feature (q, packed).
    pub fn moments(&self, feature: usize) -> &[f64] {
        &self.features[feature * both_widths(self.k) + width(self.k)..][..packed_len(self.k + 1)]
    }

    /// `Σ x E[ẑ]` over the same rows (k + 1).
    pub fn products(&self, feature: usize) -> &[f64] {
        &self.features[feature * both_widths(self.k)..][..self.k + 1]
    }

    /// The weight of the rows.
    pub fn weight(&self) -> f64 {
        self.latent.last().copied().unwrap_or(0.0)
    }
}

/// What a pass over the rows found.
pub(crate) struct Expected {
    /// For each part.
    pub sums: Vec<Sums>,
    /// Log-likelihood of the observed entries (with a prior: the part of its bound that is a sum
    /// over rows).
    pub log_likelihood: f64,
}

/// Numbers of `ẑ` and of a packed `ẑ ẑᵀ`.
fn both_widths(k: usize) -> usize {
    width(k) + packed_width(k)
}

/// Bytes of the sums of one unit.
pub(crate) fn sums_bytes(d: usize, k: usize, parts: usize) -> u64 {
    (parts * 8 * (d + 2) * both_widths(k)) as u64
}

/// Units of rows that may be summed side by side: as many as a quarter of a gigabyte holds.
pub(crate) fn units(d: usize, k: usize, parts: usize) -> usize {
    (((1 << 28) / sums_bytes(d, k, parts).max(1)) as usize).clamp(4, 32)
}

/// Takes the expectations over all rows under a mixture of parts (or one).
pub(crate) fn expect<T: Scalar>(rows: &Rows<T>, parts: &[FactorGaussian]) -> Result<Expected> {
    let (d, k) = parts.first().map_or((0, 0), |p| p.w.dim());
    let tables: Vec<Tables> = parts.iter().map(Tables::new).collect();
    let zero =
        || Expected { sums: parts.iter().map(|_| Sums::zero(d, k)).collect(), log_likelihood: 0.0 };
    let mut total = zero();
    let steps = |groups: &Groups, marked: bool| {
        if marked {
            return parts.len() * Marked::steps(groups.of_row.len(), d, k);
        }
        let tiles = groups.of_row.len() * width(k).div_ceil(24)
            + groups.observed.len() * packed_width(k).div_ceil(24);
        2 * parts.len() * tiles * d.div_ceil(8)
    };
    rows.pass(
        units(d, k, parts.len()),
        steps,
        zero,
        |found, view| add_rows(&tables, view, found, &mut rows.buffers.acquire()),
        |found| {
            for (sums, more) in total.sums.iter_mut().zip(&found.sums) {
                sums.add(more);
            }
            total.log_likelihood += found.log_likelihood;
            Ok(())
        },
    )?;
    Ok(total)
}

/// A part laid out for products.
struct Tables<'a> {
    part: &'a FactorGaussian,
    /// `ŵ_f = (w_f, μ_f)`, then `E[ŵ_f ŵ_fᵀ]` (d × (width + packed)).
    features: Aligned<f64>,
    width: usize,
    packed: usize,
    log_share: f64,
}

impl<'a> Tables<'a> {
    fn new(part: &'a FactorGaussian) -> Tables<'a> {
        let (d, k) = part.w.dim();
        let (width, packed) = (width(k), packed_width(k));
        let mut features = Aligned::zeros(d * (width + packed));
        for (f, row) in features.chunks_exact_mut(width + packed).enumerate() {
            row.iter_mut().zip(part.w.row(f)).for_each(|(r, w)| *r = *w);
            row[k] = part.mean[f];
        }
        part.outer_products(width + packed, &mut features[width..]);
        Tables { part, features, width, packed, log_share: part.share.ln() }
    }
}

/// Room for the work on some rows.
#[derive(Default)]
pub(super) struct Buffers {
    parts: Vec<Posterior>,
    /// Logarithms of the parts' densities at one row.
    densities: Vec<f64>,
}

fn add_rows(tables: &[Tables], view: &View, found: &mut Expected, buffers: &mut Buffers) {
    let Buffers { parts, densities } = buffers;
    parts.resize_with(tables.len(), Posterior::default);
    for (table, part) in tables.iter().zip(&mut *parts) {
        let k = table.part.k();
        part.begin(view.groups, k);
        table.sum_over_entries(view, part);
        part.infer(view.groups, k, table.part.noise, view.norms);
    }
    // Responsibilities: one part takes all, and what nothing is known of counts for none.
    for (i, &g) in view.groups.of_row.iter().enumerate() {
        let count = match view.groups.observed[usize::from(g)] {
            0 => 0.0,
            _ => view.counts[i],
        };
        if let [part] = &mut parts[..] {
            let log_density = std::mem::replace(&mut part.log_densities[i], count);
            if count > 0.0 {
                found.log_likelihood += count * (log_density + tables[0].log_share);
            }
            continue;
        }
        densities.clear();
        let logs = tables.iter().zip(&*parts).map(|(t, p)| p.log_densities[i] + t.log_share);
        densities.extend(logs);
        let all = responsibilities(densities);
        if count > 0.0 {
            found.log_likelihood += count * all;
        }
        for (part, r) in parts.iter_mut().zip(densities.iter()) {
            part.log_densities[i] = if count > 0.0 { count * r } else { 0.0 };
        }
    }
    for ((table, part), sums) in tables.iter().zip(parts).zip(&mut found.sums) {
        part.weigh(view.groups, table.part.k(), table.part.noise, &mut sums.latent);
        let squares = part.log_densities.iter().zip(view.norms);
        sums.squares += squares.map(|(w, n)| w * n).sum::<f64>();
        table.sum_over_rows(view, part, sums);
    }
}

impl Tables<'_> {
    /// `Σ ŵ x` of every row and `Σ E[ŵ ŵᵀ]` of every group.
    fn sum_over_entries(&self, view: &View, part: &mut Posterior) {
        let (width, packed, stride) = (self.width, self.packed, self.width + self.packed);
        let (rows, groups) = (&mut part.rows, &mut part.groups);
        let (right, outer) = (&self.features[..], &self.features[width..]);
        match view.body {
            Body::Table { x, mask, stride: across } => {
                let ahead = Some(&view.ahead);
                let flags =
                    GemmFlags { overwrite: true, padded: true, ahead, ..GemmFlags::default() };
                let left = Left::new(x, view.rows, view.d, across, 1);
                f64::product(left, right, stride, width, rows, width, flags);
                let left = Left::new(mask, view.groups.observed.len(), view.d, across, 1);
                f64::product(left, outer, stride, packed, groups, packed, flags);
            }
            Body::Marked(marked) => gather_marked(marked, self.part.k(), right, rows, groups),
            Body::Entries(entries) if entries.by_feature().is_some() => {
                gather_both(|i| entries.row(i), self.part.k(), right, rows, groups);
            }
            Body::Entries(entries) => {
                gather(|i| entries.of_row(i), right, stride, width, rows);
                gather(|g| entries.of_group(g), outer, stride, packed, groups);
            }
        }
    }

    /// The other way: adds what rows and groups have to the sums of their features.
    fn sum_over_rows(&self, view: &View, part: &Posterior, sums: &mut Sums) {
        let (width, packed, stride) = (self.width, self.packed, self.width + self.packed);
        let (rows, groups, sums) = (&part.rows, &part.groups, &mut sums.features);
        match view.body {
            Body::Table { x, mask, stride: across } => {
                let flags =
                    GemmFlags { padded: true, ahead: Some(&view.ahead), ..GemmFlags::default() };
                let left = Left::new(mask, view.d, view.groups.observed.len(), 1, across);
                f64::product(left, groups, packed, packed, &mut sums[width..], stride, flags);
                let left = Left::new(x, view.d, view.rows, 1, across);
                f64::product(left, rows, width, width, sums, stride, flags);
            }
            Body::Marked(marked) => scatter_marked(marked, self.part.k(), rows, groups, sums),
            Body::Entries(entries) => match entries.by_feature() {
                Some(entries) => scatter_both(entries, self.part.k(), rows, groups, sums),
                None => {
                    scatter(|g| entries.of_group(g), groups, packed, &mut sums[width..], stride);
                    scatter(|i| entries.of_row(i), rows, width, sums, stride);
                }
            },
        }
    }
}

/// Turns log densities into shares that sum to 1; the logarithm of their sum.
pub(crate) fn responsibilities(log_densities: &mut [f64]) -> f64 {
    if let [only] = log_densities {
        return std::mem::replace(only, 1.0);
    }
    let largest = log_densities.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
    let sum: f64 = log_densities.iter().map(|v| (v - largest).exp()).sum();
    let all = largest + sum.ln();
    log_densities.iter_mut().for_each(|v| *v = (*v - all).exp());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Missing};
    use crate::linalg::random;
    use crate::passes::{Columns, RowGrid, Scaler};
    use ndarray::{Array1, Array2};

    /// `ẑ` ends with 1: the last sums of a feature are how often it is there, and its own sum. Also where
    /// rows were looked at for more dimensions than are left of them.
    #[test]
    fn every_entry_is_summed_in_every_form() {
        let (n, d) = (300, 22);
        let pick = random::normal_matrix(&mut random::stream(3, 0), n, d);
        for least in [-1.5, -0.4, 0.0, 0.3, 1.0] {
            let x = Array2::from_shape_fn((n, d), |(i, f)| {
                if pick[[i, f]] > least { ((i * 7 + f * 3) % 11) as f64 - 5.0 } else { f64::NAN }
            });
            let data = Dataset::from(&x).with_missing(Missing::Em);
            let grid = RowGrid::surveying(&data).unwrap();
            let columns = Columns { squares: vec![1.0; d], ..Columns::zero(d) };
            let scaler = Scaler::new::<f64>(&columns, None, true, false);
            for (k, most) in
                [(1, 1), (2, 20), (5, 5), (6, 14), (9, 9), (12, 12), (12, 13), (14, 14)]
            {
                let w = random::normal_matrix(&mut random::stream(k as u64, 0), d, k);
                let mean = Array1::zeros(d);
                let part = FactorGaussian { w, mean, noise: 0.5, share: 1.0, prior: None };
                for room in [0, u64::MAX] {
                    let rows = Rows::new(&grid, &scaler, most, room);
                    // Once found out, once kept.
                    for _ in 0..2 {
                        let found = expect(&rows, std::slice::from_ref(&part)).unwrap();
                        for f in 0..d {
                            let there = || x.column(f).into_iter().filter(|v| !v.is_nan());
                            let count = found.sums[0].moments(f)[packed_len(k + 1) - 1];
                            assert_eq!(count, there().count() as f64, "{k} of {most}, {least}");
                            assert_eq!(found.sums[0].products(f)[k], there().sum::<f64>());
                        }
                    }
                }
            }
        }
    }
}
