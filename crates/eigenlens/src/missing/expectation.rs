//! The step that takes expectations: posterior of every row's latent scores, and their sums.

use super::chunk::{Chunk, for_each_chunk};
use super::gather::{gather, scatter};
use super::lanes::{LANES, Room, invert};
use super::maximization::Part;
use crate::data::{Prepared, Standardization};
use crate::error::Result;
use crate::linalg::aligned::Aligned;
use crate::linalg::simd::{How, Left, Tile, vectorized};
use crate::linalg::small::packed_len;
use crate::scalar::Scalar;

/// Sums over rows that the maximisation needs, with `ẑ = (z, 1)` and q = (k + 1)(k + 2)/2.
pub(crate) struct Sums {
    /// `Σ E[ẑ ẑᵀ]` over the rows that have feature f (d × q, packed and padded).
    moments: Aligned<f64>,
    /// `Σ x_f E[ẑ]` (d × (k + 1), padded).
    products: Aligned<f64>,
    k: usize,
    /// `Σ E[ẑ ẑᵀ]` over all rows with something observed (q).
    pub latent: Vec<f64>,
    /// `Σ x²` over observed entries.
    pub squares: f64,
}

impl Sums {
    fn zero(d: usize, k: usize) -> Sums {
        Sums {
            moments: Aligned::zeros(d * packed_width(k)),
            products: Aligned::zeros(d * width(k)),
            k,
            latent: vec![0.0; packed_len(k + 1)],
            squares: 0.0,
        }
    }

    fn add(&mut self, other: &Sums) {
        let pairs = [
            (&mut self.moments[..], &other.moments[..]),
            (&mut self.products[..], &other.products[..]),
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
        &self.moments[feature * packed_width(self.k)..][..packed_len(self.k + 1)]
    }

    /// `Σ x E[ẑ]` over the same rows (k + 1).
    pub fn products(&self, feature: usize) -> &[f64] {
        &self.products[feature * width(self.k)..][..self.k + 1]
    }

    /// The weight of the rows.
    pub fn weight(&self) -> f64 {
        self.latent.last().copied().unwrap_or(0.0)
    }
}

/// Numbers from one `ẑ` to the next, and from one packed `ẑ ẑᵀ` to the next: whole vectors.
fn width(k: usize) -> usize {
    (k + 1).next_multiple_of(f64::PAD)
}

fn packed_width(k: usize) -> usize {
    packed_len(k + 1).next_multiple_of(f64::PAD)
}

/// What a pass over the rows found.
pub(crate) struct Expected {
    /// For each part.
    pub sums: Vec<Sums>,
    /// Log-likelihood of the observed entries (with a prior: the part of its bound that is a sum
    /// over rows).
    pub log_likelihood: f64,
}

/// Bytes of the sums of one unit.
pub(crate) fn sums_bytes(d: usize, k: usize, parts: usize) -> u64 {
    (parts * 8 * (d + 2) * (packed_width(k) + width(k))) as u64
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
    right: Aligned<f64>,
    width: usize,
    /// `E[ŵ_f ŵ_fᵀ]` (d × packed).
    outer: Aligned<f64>,
    packed: usize,
    log_share: f64,
}

impl<'a> Tables<'a> {
    fn new(part: &'a Part) -> Tables<'a> {
        let (d, k) = part.w.dim();
        let (width, packed) = (width(k), packed_width(k));
        let mut right = Aligned::zeros(d * width);
        for (f, row) in right.chunks_exact_mut(width).enumerate() {
            row.iter_mut().zip(part.w.row(f)).for_each(|(r, w)| *r = *w);
            row[k] = part.mean[f];
        }
        let mut outer = Aligned::zeros(d * packed);
        part.outer_products(packed, &mut outer);
        Tables { part, right, width, outer, packed, log_share: part.share.ln() }
    }
}

#[derive(Default)]
struct Buffers {
    /// Zeros and ones of the groups (groups × stride), where most entries are there.
    mask: Aligned<f64>,
    /// Squared length of the rows.
    norms: Vec<f64>,
    parts: Vec<PartBuffers>,
    /// Logarithms of the parts' densities at one row.
    densities: Vec<f64>,
}

#[derive(Default)]
struct PartBuffers {
    /// `Σ ŵ x` of every row (rows × width); then weight × (z, 1).
    rows: Aligned<f64>,
    /// `Σ E[ŵ ŵᵀ]` of every group (groups × packed); then `M⁻¹`; then `Σ E[ẑ ẑᵀ]`.
    groups: Aligned<f64>,
    /// Logarithm of the density of every row; then its weight.
    log_densities: Vec<f64>,
    /// One `M⁻¹` in full (k × width).
    full: Vec<f64>,
    z: Vec<f64>,
    /// One `ẑ ẑᵀ`, packed.
    outer: Vec<f64>,
    room: Room,
}

fn add_chunk(tables: &[Tables], chunk: &Chunk, found: &mut Expected, buffers: &mut Buffers) {
    let Buffers { mask, norms, parts, densities } = buffers;
    parts.resize_with(tables.len(), PartBuffers::default);
    norms.resize(chunk.rows, 0.0);
    vectorized(
        #[inline(always)]
        || {
            for (norm, row) in norms.iter_mut().zip(chunk.x.chunks_exact(chunk.stride)) {
                *norm = squared_length(row);
            }
        },
    );
    let mask = mostly_there(chunk).then(|| {
        zeros_and_ones(chunk, mask);
        &mask[..]
    });
    for (table, part) in tables.iter().zip(&mut *parts) {
        posterior(table, chunk, mask, norms, part);
    }
    // Responsibilities: one part takes all.
    for group in chunk.groups().filter(|g| g.observed() > 0) {
        for &i in group.rows {
            densities.clear();
            densities.extend(
                (tables.iter().zip(&*parts)).map(|(t, p)| p.log_densities[i] + t.log_share),
            );
            let all = responsibilities(densities);
            found.log_likelihood += chunk.counts[i] * all;
            for (part, r) in parts.iter_mut().zip(densities.iter()) {
                part.log_densities[i] = chunk.counts[i] * r;
            }
        }
    }
    for ((table, part), sums) in tables.iter().zip(parts).zip(&mut found.sums) {
        accumulate(table, chunk, mask, norms, part, sums);
    }
}

/// Whether products with zeros and ones are cheaper than going from entry to entry: the micro-kernel
/// does about twice as many additions in the same time.
fn mostly_there(chunk: &Chunk) -> bool {
    let observed: usize = chunk.groups().map(|g| g.rows.len() * g.observed()).sum();
    2 * observed >= chunk.rows * chunk.d
}

fn zeros_and_ones(chunk: &Chunk, mask: &mut Aligned<f64>) {
    mask.resize(chunk.groups().len() * chunk.stride);
    for (group, mask) in chunk.groups().zip(mask.chunks_exact_mut(chunk.stride)) {
        mask.fill(0.0);
        group.features.iter().for_each(|&f| mask[f as usize] = 1.0);
    }
}

/// Numbers as vectors, of which they are a whole number.
#[inline(always)]
fn vectors(numbers: &[f64]) -> &[[f64; f64::PAD]] {
    numbers.as_chunks().0
}

#[inline(always)]
fn vectors_mut(numbers: &mut [f64]) -> &mut [[f64; f64::PAD]] {
    numbers.as_chunks_mut().0
}

/// `Σ x²` of whole vectors.
#[inline(always)]
fn squared_length(x: &[f64]) -> f64 {
    let mut sums = [0.0; f64::PAD];
    for x in vectors(x) {
        for l in 0..f64::PAD {
            sums[l] += x[l] * x[l];
        }
    }
    sums.iter().sum()
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

/// Posterior means (left in `rows`), `M⁻¹` of the groups and log densities of the rows.
fn posterior(
    table: &Tables,
    chunk: &Chunk,
    mask: Option<&[f64]>,
    norms: &[f64],
    buffers: &mut PartBuffers,
) {
    let k = table.part.k();
    let (width, packed, triangle) = (table.width, table.packed, packed_len(k));
    let noise = table.part.noise;
    let PartBuffers { rows, groups, log_densities, full, z, room, .. } = buffers;
    rows.resize(chunk.rows * width);
    groups.resize(chunk.groups().len() * packed);
    log_densities.resize(chunk.rows, 0.0);
    full.resize(k * width, 0.0);
    z.resize(width, 0.0);
    let (log_tau, log_noise) = (std::f64::consts::TAU.ln(), noise.ln());
    if let Some(mask) = mask {
        let how = How { fresh: true, padded: true, ..How::default() };
        let left = Left::new(chunk.x, chunk.rows, chunk.d, chunk.stride, 1);
        f64::product(left, &table.right, width, width, rows, width, how);
        let left = Left::new(mask, chunk.groups().len(), chunk.d, chunk.stride, 1);
        f64::product(left, &table.outer, packed, packed, groups, packed, how);
    } else {
        gather(|i| chunk.row_entries(i), &table.right, width, rows);
        gather(|g| chunk.group_entries(g), &table.outer, packed, groups);
    }
    for (batch, sums) in groups.chunks_mut(LANES * packed).enumerate() {
        for sums in sums.chunks_exact_mut(packed) {
            for j in 0..k {
                sums[packed_len(j) + j] += noise;
            }
        }
        // σ² > 0 keeps M definite; what rounding could still do to it costs no more than this row.
        let log_determinants = invert(sums, packed, k, room);
        vectorized(
            #[inline(always)]
            || {
                for (lane, sums) in sums.chunks_exact(packed).enumerate() {
                    let group = chunk.patterns.group(batch * LANES + lane);
                    let m = group.observed() as f64;
                    let constant =
                        m * log_tau + (m - k as f64) * log_noise + log_determinants[lane];
                    let (cross, mean_square) = (&sums[triangle..triangle + k], sums[triangle + k]);
                    unpack(sums, k, width, full);
                    for &i in group.rows {
                        let row = &mut rows[i * width..(i + 1) * width];
                        let length = norms[i] - 2.0 * row[k] + mean_square;
                        row.iter_mut().zip(cross).for_each(|(b, c)| *b -= c);
                        let explained = multiply(full, row, z);
                        let squares = (length - explained).max(0.0) / noise;
                        log_densities[i] = -0.5 * (constant + squares);
                    }
                }
            },
        );
    }
}

/// A symmetric k × k matrix in full (k × width, the rest 0).
fn unpack(packed: &[f64], k: usize, width: usize, full: &mut [f64]) {
    for i in 0..k {
        for j in 0..=i {
            let value = packed[packed_len(i) + j];
            full[i * width + j] = value;
            full[j * width + i] = value;
        }
    }
}

/// Replaces b by `z = A b`, with A k × width and b of whole vectors; `zᵀ b`.
#[inline(always)]
fn multiply(a: &[f64], b: &mut [f64], z: &mut [f64]) -> f64 {
    let width = b.len();
    for (v, z) in vectors_mut(z).iter_mut().enumerate() {
        let mut sums = [0.0; f64::PAD];
        for (a, b) in a.chunks_exact(width).zip(&*b) {
            let a = &vectors(a)[v];
            for l in 0..f64::PAD {
                sums[l] += b * a[l];
            }
        }
        *z = sums;
    }
    let product = z.iter().zip(&*b).map(|(z, b)| z * b).sum();
    b.copy_from_slice(z);
    product
}

/// Adds the rows, weighted by what `log_densities` holds by now.
fn accumulate(
    table: &Tables,
    chunk: &Chunk,
    mask: Option<&[f64]>,
    norms: &[f64],
    buffers: &mut PartBuffers,
    sums: &mut Sums,
) {
    let (d, k) = (chunk.d, table.part.k());
    let (width, packed, triangle) = (table.width, table.packed, packed_len(k));
    let noise = table.part.noise;
    let PartBuffers { rows, groups, log_densities, outer, .. } = buffers;
    outer.resize(packed + f64::PAD, 0.0);
    for (group, moments) in chunk.groups().zip(groups.chunks_exact_mut(packed)) {
        // E[zzᵀ] = cov + E[z] E[z]ᵀ, with cov = σ²M⁻¹.
        let weigh = |i: usize| if group.observed() > 0 { log_densities[i] } else { 0.0 };
        let weight: f64 = group.rows.iter().map(|&i| weigh(i)).sum();
        moments[..triangle].iter_mut().for_each(|m| *m *= weight * noise);
        moments[triangle..].fill(0.0);
        vectorized(
            #[inline(always)]
            || {
                for &i in group.rows {
                    let row = &mut rows[i * width..(i + 1) * width];
                    let w = weigh(i);
                    sums.squares += w * norms[i];
                    row[k] = 1.0;
                    // A row of the triangle writes whole vectors; the next one writes over what is too much.
                    for p in 0..=k {
                        let scaled = w * row[p];
                        let whole = (p + 1).next_multiple_of(f64::PAD);
                        let out = &mut outer[packed_len(p)..packed_len(p) + whole];
                        for (m, z) in vectors_mut(out).iter_mut().zip(vectors(row)) {
                            for l in 0..f64::PAD {
                                m[l] = scaled * z[l];
                            }
                        }
                    }
                    for (m, o) in vectors_mut(moments).iter_mut().zip(vectors(outer)) {
                        for l in 0..f64::PAD {
                            m[l] += o[l];
                        }
                    }
                    row.iter_mut().for_each(|z| *z *= w);
                }
                for (s, m) in sums.latent.iter_mut().zip(&*moments) {
                    *s += m;
                }
            },
        );
    }
    if let Some(mask) = mask {
        let how = How { padded: true, ..How::default() };
        let left = Left::new(mask, d, chunk.groups().len(), 1, chunk.stride);
        f64::product(left, groups, packed, packed, &mut sums.moments, packed, how);
        let left = Left::new(chunk.x, d, chunk.rows, 1, chunk.stride);
        f64::product(left, rows, width, width, &mut sums.products, width, how);
    } else {
        scatter(|g| chunk.group_entries(g), groups, packed, &mut sums.moments);
        scatter(|i| chunk.row_entries(i), rows, width, &mut sums.products);
    }
}
