//! The step that takes expectations: posterior of every row's latent scores, and their sums.

use super::chunk::{Chunk, for_each_chunk};
use super::maximization::Part;
use crate::data::{Prepared, Standardization};
use crate::error::Result;
use crate::linalg::simd::{How, Left, Tile};
use crate::linalg::small::{cholesky, inverse, multiply, packed_len};
use crate::scalar::Scalar;

/// Sums over rows that the maximisation needs, with `ẑ = (z, 1)` and q = (k + 1)(k + 2)/2.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    /// `Σ E[ẑ ẑᵀ]` over the rows that have feature f (q × d, packed).
    pub moments: Vec<f64>,
    /// `Σ x_f E[ẑ]` ((k + 1) × d).
    pub products: Vec<f64>,
    /// `Σ E[ẑ ẑᵀ]` over all rows with something observed (q).
    pub latent: Vec<f64>,
    /// `Σ x²` over observed entries.
    pub squares: f64,
}

impl Sums {
    fn zero(d: usize, k: usize) -> Sums {
        let q = packed_len(k + 1);
        Sums {
            moments: vec![0.0; q * d],
            products: vec![0.0; (k + 1) * d],
            latent: vec![0.0; q],
            squares: 0.0,
        }
    }

    fn add(&mut self, other: &Sums) {
        let pairs = [
            (&mut self.moments, &other.moments),
            (&mut self.products, &other.products),
            (&mut self.latent, &other.latent),
        ];
        for (sums, more) in pairs {
            for (s, m) in sums.iter_mut().zip(more) {
                *s += m;
            }
        }
        self.squares += other.squares;
    }

    /// The weight of the rows.
    pub fn weight(&self) -> f64 {
        self.latent.last().copied().unwrap_or(0.0)
    }
}

/// What a pass over the rows found.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// For each part.
    pub sums: Vec<Sums>,
    /// Log-likelihood of the observed entries (with a prior: the part of its bound that is a sum
    /// over rows).
    pub log_likelihood: f64,
}

/// Bytes of the sums of one unit.
pub(crate) fn sums_bytes(d: usize, k: usize, parts: usize) -> u64 {
    (parts * 8 * (d + 1) * (packed_len(k + 1) + k + 1)) as u64
}

/// Units of rows that may be summed side by side: as many as a quarter of a gigabyte holds.
pub(crate) fn units(d: usize, k: usize, parts: usize) -> usize {
    (((1 << 28) / sums_bytes(d, k, parts).max(1)) as usize).clamp(4, 32)
}

/// Takes the expectations over all rows under a mixture of parts (or one).
pub(crate) fn expect<T: Scalar>(
    prepared: &Prepared<T>,
    by: &Standardization,
    parts: &[Part],
) -> Result<Expected> {
    let (d, k) = parts.first().map_or((0, 0), |p| p.w.dim());
    let tables: Vec<Tables> = parts.iter().map(Tables::new).collect();
    let zero =
        || Expected { sums: parts.iter().map(|_| Sums::zero(d, k)).collect(), log_likelihood: 0.0 };
    let mut total = zero();
    for_each_chunk(
        prepared,
        by,
        units(d, k, parts.len()),
        || (zero(), Buffers::default()),
        |(found, buffers), chunk| add_chunk(&tables, chunk, found, buffers),
        |(found, _)| {
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
    part: &'a Part,
    /// `(w_f, μ_f)` (d × width).
    right: Vec<f64>,
    width: usize,
    /// `E[ŵ_f ŵ_fᵀ]` (d × packed).
    outer: Vec<f64>,
    packed: usize,
}

impl<'a> Tables<'a> {
    fn new(part: &'a Part) -> Tables<'a> {
        let (d, k) = part.w.dim();
        let width = (k + 1).next_multiple_of(f64::PAD);
        let packed = packed_len(k + 1).next_multiple_of(f64::PAD);
        let mut right = vec![0.0; d * width];
        for (f, row) in right.chunks_exact_mut(width).enumerate() {
            row.iter_mut().zip(part.w.row(f)).for_each(|(r, w)| *r = *w);
            row[k] = part.mean[f];
        }
        Tables { part, right, width, outer: part.outer_products(packed), packed }
    }
}

#[derive(Default)]
struct Buffers {
    /// Zeros and ones of the groups (groups × stride).
    mask: Vec<f64>,
    /// Squared length of the rows.
    norms: Vec<f64>,
    parts: Vec<PartBuffers>,
    /// Logarithms of the parts' densities at one row.
    densities: Vec<f64>,
}

#[derive(Default)]
struct PartBuffers {
    /// `Σ ŵ x` of every row (rows × width); then weight × (z, 1).
    rows: Vec<f64>,
    /// `Σ E[ŵ ŵᵀ]` of every group (groups × packed); then `Σ E[ẑ ẑᵀ]`.
    groups: Vec<f64>,
    /// `M⁻¹` of every group.
    inverses: Vec<f64>,
    /// Logarithm of the density of every row.
    log_densities: Vec<f64>,
}

fn add_chunk(tables: &[Tables], chunk: &Chunk, found: &mut Expected, buffers: &mut Buffers) {
    let (d, stride) = (chunk.d, chunk.stride);
    buffers.parts.resize_with(tables.len(), PartBuffers::default);
    buffers.norms.clear();
    buffers.norms.extend((0..chunk.rows).map(|i| chunk.row(i).iter().map(|x| x * x).sum::<f64>()));
    buffers.mask.clear();
    buffers.mask.resize(chunk.groups.len() * stride, 0.0);
    for (group, mask) in chunk.groups.iter().zip(buffers.mask.chunks_exact_mut(stride)) {
        for (f, m) in mask.iter_mut().enumerate().take(d) {
            *m = f64::from(u8::from(group.has(f)));
        }
    }
    for (table, part) in tables.iter().zip(&mut buffers.parts) {
        posterior(table, chunk, &buffers.mask, &buffers.norms, part);
    }
    // Responsibilities: one part takes all.
    let densities = &mut buffers.densities;
    for group in chunk.groups.iter().filter(|g| g.observed > 0) {
        for &i in &group.rows {
            densities.clear();
            densities.extend(
                (tables.iter().zip(&buffers.parts))
                    .map(|(t, p)| p.log_densities[i] + t.part.share.ln()),
            );
            let all = responsibilities(densities);
            found.log_likelihood += chunk.counts[i] * all;
            for (part, r) in buffers.parts.iter_mut().zip(densities.iter()) {
                part.log_densities[i] = chunk.counts[i] * r;
            }
        }
    }
    for ((table, part), sums) in tables.iter().zip(&mut buffers.parts).zip(&mut found.sums) {
        accumulate(table, chunk, &buffers.mask, &buffers.norms, part, sums);
    }
}

/// Turns log densities into shares that sum to 1; the logarithm of their sum.
pub(crate) fn responsibilities(log_densities: &mut [f64]) -> f64 {
    let largest = log_densities.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
    let sum: f64 = log_densities.iter().map(|v| (v - largest).exp()).sum();
    let all = largest + sum.ln();
    log_densities.iter_mut().for_each(|v| *v = (*v - all).exp());
    all
}

/// Posterior means (left in `rows`), `M⁻¹` of the groups and log densities of the rows.
fn posterior(
    table: &Tables,
    chunk: &Chunk,
    mask: &[f64],
    norms: &[f64],
    buffers: &mut PartBuffers,
) {
    let k = table.part.k();
    let (width, packed, triangle) = (table.width, table.packed, packed_len(k));
    let noise = table.part.noise;
    let how = How { fresh: true, padded: true, ..How::default() };
    buffers.rows.resize(chunk.rows * width, 0.0);
    buffers.groups.resize(chunk.groups.len() * packed, 0.0);
    buffers.inverses.resize(chunk.groups.len() * triangle, 0.0);
    buffers.log_densities.resize(chunk.rows, 0.0);
    let left = Left::new(chunk.x, chunk.rows, chunk.d, chunk.stride, 1);
    f64::product(left, &table.right, width, width, &mut buffers.rows, width, how);
    let left = Left::new(mask, chunk.groups.len(), chunk.d, chunk.stride, 1);
    f64::product(left, &table.outer, packed, packed, &mut buffers.groups, packed, how);
    let mut z = vec![0.0; k];
    let mut room = Vec::new();
    for (g, group) in chunk.groups.iter().enumerate() {
        let sums = &mut buffers.groups[g * packed..(g + 1) * packed];
        for j in 0..k {
            sums[packed_len(j) + j] += noise;
        }
        // σ² > 0 keeps M definite; what rounding could still do to it costs no more than this row.
        let log_determinant = cholesky(&mut sums[..triangle], k).unwrap_or(f64::INFINITY);
        let inverted = &mut buffers.inverses[g * triangle..(g + 1) * triangle];
        if log_determinant.is_finite() {
            inverse(&sums[..triangle], k, inverted, &mut room);
        } else {
            inverted.fill(0.0);
        }
        let m = group.observed as f64;
        let constant =
            m * std::f64::consts::TAU.ln() + (m - k as f64) * noise.ln() + log_determinant;
        let (cross, mean_square) = (&sums[triangle..triangle + k], sums[triangle + k]);
        for &i in &group.rows {
            let row = &mut buffers.rows[i * width..(i + 1) * width];
            for j in 0..k {
                row[j] -= cross[j];
            }
            multiply(inverted, k, row, &mut z);
            let explained: f64 = z.iter().zip(row.iter()).map(|(z, b)| z * b).sum();
            let length = norms[i] - 2.0 * row[k] + mean_square;
            let squares = (length - explained).max(0.0) / noise;
            buffers.log_densities[i] = -0.5 * (constant + squares);
            row[..k].copy_from_slice(&z);
        }
    }
}

/// Adds the rows, weighted by what `log_densities` holds by now.
fn accumulate(
    table: &Tables,
    chunk: &Chunk,
    mask: &[f64],
    norms: &[f64],
    buffers: &mut PartBuffers,
    sums: &mut Sums,
) {
    let (d, k) = (chunk.d, table.part.k());
    let q = packed_len(k + 1);
    let (width, packed, triangle) = (table.width, table.packed, packed_len(k));
    let noise = table.part.noise;
    for (g, group) in chunk.groups.iter().enumerate() {
        let moments = &mut buffers.groups[g * packed..(g + 1) * packed];
        moments.fill(0.0);
        let mut weight = 0.0;
        for &i in &group.rows {
            let row = &mut buffers.rows[i * width..(i + 1) * width];
            let w = if group.observed > 0 { buffers.log_densities[i] } else { 0.0 };
            weight += w;
            sums.squares += w * norms[i];
            row[k] = 1.0;
            for p in 0..=k {
                let scaled = w * row[p];
                for (m, z) in moments[packed_len(p)..].iter_mut().zip(&row[..=p]) {
                    *m += scaled * z;
                }
            }
            row.iter_mut().for_each(|z| *z *= w);
        }
        // E[zzᵀ] = cov + E[z] E[z]ᵀ.
        let covariance = &buffers.inverses[g * triangle..(g + 1) * triangle];
        for (m, c) in moments.iter_mut().zip(covariance) {
            *m += weight * noise * c;
        }
        for (s, m) in sums.latent.iter_mut().zip(moments.iter()) {
            *s += m;
        }
    }
    let how = How { padded: true, ..How::default() };
    let left = Left::new(&buffers.groups, q, chunk.groups.len(), 1, packed);
    f64::product(left, mask, chunk.stride, d, &mut sums.moments, d, how);
    let left = Left::new(&buffers.rows, k + 1, chunk.rows, 1, width);
    f64::product(left, chunk.x, chunk.stride, d, &mut sums.products, d, how);
}
